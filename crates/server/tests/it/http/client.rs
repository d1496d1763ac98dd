//! A client that writes requests byte by byte, so that tests can also write wrong ones.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What a server answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The code of a problem, which must be a whole one.
    #[track_caller]
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"));
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        problem["code"].as_str().unwrap().to_owned()
    }
}

/// Sends a request on a connection of its own. `headers` are whole lines.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &[u8],
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
        text.push_str("Host: localhost\r\n");
    }
    if !body.is_empty() || method == "POST" {
        text += format!("Content-Length: {}\r\n", body.len()).as_str();
    }
    for line in headers {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    raw(address, &bytes).await.expect("the server answers")
}

/// Sends bytes as they are. `None` if the server closes without an answer.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    parse(&answer)
}

/// Reads an answer that ends with its connection.
pub(crate) fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let body = &bytes[end + 4..];
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_vec() };
    Some(Answer { status, headers, body })
}

/// Joins the pieces of a chunked body; one that was cut off gives what there is.
pub(crate) fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size =
            std::str::from_utf8(&rest[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size @ 1..) = size else { break };
        let Some(piece) = rest.get(end + 2..end + 2 + size) else { break };
        body.extend_from_slice(piece);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}
