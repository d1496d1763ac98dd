//! A small client that keeps its connection: it writes one request again and again and reads whole answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::sample::Sample;

/// The bytes of a request with a JSON body.
pub(crate) fn post(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The same, for work that nobody waits for.
pub(crate) fn begin(path: &str, body: &Value) -> Vec<u8> {
    let request = String::from_utf8_lossy(&post(path, body)).into_owned();
    request.replacen("\r\n", "\r\nPrefer: respond-async\r\n", 1).into_bytes()
}

/// Sends one request on a connection of its own.
pub(crate) async fn once(address: SocketAddr, request: &[u8]) -> anyhow::Result<(u16, String)> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    stream.get_mut().write_all(request).await?;
    answer(&mut stream).await
}

/// The bytes of a request without a body.
pub(crate) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// Lets so many clients each send a request so often, and checks that every answer holds the wanted text.
pub(crate) async fn clients(
    address: SocketAddr,
    request: &[u8],
    wanted: &str,
    clients: usize,
    each: usize,
) -> anyhow::Result<Sample> {
    let (request, wanted): (Arc<[u8]>, Arc<str>) = (request.into(), wanted.into());
    let tasks: Vec<_> = (0..clients)
        .map(|_| tokio::spawn(client(address, Arc::clone(&request), Arc::clone(&wanted), each)))
        .collect();
    let mut sample = Sample::default();
    for task in tasks {
        sample.join(task.await??);
    }
    Ok(sample)
}

async fn client(
    address: SocketAddr,
    request: Arc<[u8]>,
    wanted: Arc<str>,
    rounds: usize,
) -> anyhow::Result<Sample> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut sample = Sample::default();
    for _ in 0..rounds {
        let started = Instant::now();
        stream.get_mut().write_all(&request).await?;
        let (status, body) = answer(&mut stream).await?;
        sample.add(started.elapsed());
        if status != 200 || !body.contains(&*wanted) {
            bail!("the server answered {status}: {}", body.chars().take(300).collect::<String>());
        }
    }
    Ok(sample)
}

async fn answer(stream: &mut BufReader<TcpStream>) -> anyhow::Result<(u16, String)> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    let mut length = 0_usize;
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}
