//! Sends a file to an address by PUT, in pieces, so that a large one takes no memory.

use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use axum::body::Bytes;
use fs_err::File;
use futures_util::stream;
use http_body_util::StreamBody;
use http_body_util::combinators::BoxBody;
use hyper::body::Frame;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Body, Client, redirect};

/// How much of the file is read at once.
const PIECE_BYTES: usize = 256 << 10;
/// How long a connection, and then an answer, may take.
const ANSWER_TIME: Duration = Duration::from_mins(1);
/// How long a whole file may take.
const FILE_TIME: Duration = Duration::from_hours(1);

/// Sends a file below an address, under its own name. Redirects are not followed, and an error holds neither the token
/// nor the address.
pub async fn put_file(address: &str, file: &Path, token: Option<&str>) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let not_sent = |message: String| io::Error::other(format!("`{name}` was not sent: {message}"));
    let opened = File::open(file)?;
    let length = opened.metadata()?.len();
    let client = Client::builder().redirect(redirect::Policy::none()).connect_timeout(ANSWER_TIME);
    let client = client.read_timeout(ANSWER_TIME).timeout(FILE_TIME).build();
    let client = client.map_err(|error| not_sent(error.to_string()))?;
    let url = format!("{}/{name}", address.trim_end_matches('/'));
    let mut request = client.put(url).header(CONTENT_LENGTH, length).body(Body::wrap(pieces(opened)));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.map_err(|error| not_sent(with_cause(&error.without_url())))?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(not_sent(format!("the server there answered {status}"))),
    }
}

/// An error with what it came from at last, such as a name that is not known.
fn with_cause(error: &dyn std::error::Error) -> String {
    let cause = std::iter::successors(error.source(), |cause| cause.source()).last();
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn pieces(file: File) -> BoxBody<Bytes, io::Error> {
    let pieces = stream::try_unfold(file, |mut file| async move {
        let read = move || -> io::Result<_> {
            let mut piece = vec![0; PIECE_BYTES];
            let length = file.read(&mut piece)?;
            piece.truncate(length);
            Ok((piece, file))
        };
        let (piece, file) = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        Ok((!piece.is_empty()).then(|| (Frame::data(Bytes::from(piece)), file)))
    });
    BoxBody::new(StreamBody::new(pieces))
}
