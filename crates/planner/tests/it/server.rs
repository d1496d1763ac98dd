//! A small HTTP server that answers as it is told: one script entry for each connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one connection.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Sends a whole answer: status line, further headers, body.
    Answer(&'static str, &'static str, String),
    /// Sends the beginning of a longer stream and closes.
    CutOff(String),
    /// Sends the beginning of a stream and then nothing more.
    Stall(String),
    /// Reads the request and never answers.
    Silent,
    /// Sends a stream of so many pieces of text.
    Flood(usize),
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for act in acts {
                let Ok((stream, _)) = listener.accept().await else { return };
                let seen = Arc::clone(&seen);
                tokio::spawn(serve(stream, act, seen));
            }
        });
        Self { url, requests }
    }

    /// The requests so far: head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) fn json(status: &'static str, body: &str) -> Act {
    Act::Answer(status, "content-type: application/json\r\n", body.to_owned())
}

/// A whole stream of events.
pub(crate) fn events(events: &[&str]) -> Act {
    Act::Answer("200 OK", "content-type: text/event-stream\r\n", stream(events))
}

pub(crate) fn stream(events: &[&str]) -> String {
    format!("data: {}\n\n", events.join("\n\ndata: "))
}

async fn serve(mut stream: TcpStream, act: Act, seen: Arc<Mutex<Vec<String>>>) {
    let request = read(&mut stream).await;
    seen.lock().unwrap().push(request);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    match act {
        Act::Answer(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).await;
            // In small pieces, as networks do.
            for piece in body.as_bytes().chunks(37) {
                let _ = stream.write_all(piece).await;
            }
        }
        Act::CutOff(body) => {
            let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len() + 1000);
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Act::Stall(body) => {
            let _ = stream.write_all(format!("{head}content-length: 100000\r\n\r\n{body}").as_bytes()).await;
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        Act::Silent => tokio::time::sleep(Duration::from_mins(1)).await,
        Act::Flood(pieces) => {
            let _ = stream.write_all(format!("{head}\r\n").as_bytes()).await;
            let event = format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
                "x".repeat(10_000)
            );
            for _ in 0..pieces {
                if stream.write_all(event.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
