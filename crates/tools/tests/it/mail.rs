//! E-mail to a mail server on this machine: what arrives, and what the server's answers mean.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread::{JoinHandle, spawn};

use ordain_tools::{Notify, ToolError, Toolbox};
use serde_json::{Value, json};

/// A mail server for one letter, which answers a sender with `answer`. Gives its port, and all that it was sent.
fn server(answer: &'static str) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let (mut all, mut is_letter) = (String::new(), false);
        stream.write_all(b"220 here\r\n").unwrap();
        while let Some(Ok(line)) = lines.next() {
            all.push_str(&line);
            all.push('\n');
            let answer = match line.as_str() {
                "." if is_letter => {
                    is_letter = false;
                    "250 kept"
                }
                _ if is_letter => continue,
                "DATA" => {
                    is_letter = true;
                    "354 go on"
                }
                "QUIT" => "221 bye",
                _ if line.starts_with("MAIL") => answer,
                _ => "250 well",
            };
            // A sender may leave without waiting for the last answer.
            if stream.write_all(format!("{answer}\r\n").as_bytes()).is_err() {
                break;
            }
        }
        all
    });
    (port, received)
}

async fn sent(port: u16) -> Result<Value, ToolError> {
    let settings = json!({
        "url": format!("smtp://127.0.0.1:{port}"), "form": "mail", "from": "ordain@example.com",
        "to": ["ann@example.com", "bob@example.com"],
    });
    let notify = Notify::new(serde_json::from_value(settings).unwrap(), |_| None).unwrap();
    let toolbox = Toolbox::default().with_notify(BTreeMap::from([("owner".to_owned(), notify)]));
    let message = json!({
        "subject": "shop: 1 FAIL\r\nBcc: eve@example.com", "text": "FAIL (high) prices: Größe\n.\nend",
    });
    toolbox.send_results("owner", &message, "run:1").await
}

#[tokio::test]
async fn a_letter_arrives_whole_and_nothing_in_it_is_taken_for_a_command() {
    let (port, received) = server("250 well");
    sent(port).await.unwrap();
    let received = received.join().unwrap();
    for wanted in [
        "MAIL FROM:<ordain@example.com>",
        "RCPT TO:<ann@example.com>",
        "RCPT TO:<bob@example.com>",
        "Subject: shop: 1 FAIL  Bcc: eve@example.com",
        "Message-ID: <run.1@ordain>",
        "Date: ",
    ] {
        assert!(received.contains(wanted), "no `{wanted}` in {received}");
    }
    assert!(!received.contains("\nBcc:"), "{received}");
    // The whole text, in base64.
    assert!(received.contains("\n\nRkFJTCAoaGlnaCkgcHJpY2VzOiBHcsO2w59lCi4KZW5k\n.\n"), "{received}");
    assert_eq!(received.matches("\n.\n").count(), 1, "the letter ends once: {received}");
}

#[tokio::test]
async fn what_a_mail_server_refuses_for_good_is_not_sent_again() {
    let (port, received) = server("550 no such sender");
    let error = sent(port).await.unwrap_err();
    assert!(matches!(error, ToolError::Refused { .. }), "{error}");
    drop(received);
    let (port, received) = server("451 later");
    let error = sent(port).await.unwrap_err();
    assert!(matches!(error, ToolError::Unreachable { .. }), "{error}");
    drop(received);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = sent(nobody).await.unwrap_err();
    assert!(matches!(error, ToolError::Unreachable { .. }), "{error}");
}
