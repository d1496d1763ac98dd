//! Sends one request and reads its answer piece by piece, within limits of time and size.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use super::remote::{Dialect, Gathered};
use super::sse::Events;
use super::{Completion, Heard, Piece, ProviderError, REPLY_BYTES_MAX, Timeouts, retry};
use crate::prompt::text;

/// The most bytes of an answer: events carry much more than their text.
const RAW_BYTES_MAX: usize = 64 * 1024 * 1024;
const WHOLE_BYTES_MAX: usize = 8 * 1024 * 1024;
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A client that follows no redirects: a key must not travel to where we did not send it. The system's certificates are
/// hundreds of files, so they are read only where the connection is encrypted.
pub(super) fn client(connect: Duration, is_encrypted: bool) -> Result<Client, ProviderError> {
    let agent = concat!("ordain/", env!("CARGO_PKG_VERSION"));
    let builder = Client::builder().connect_timeout(connect).redirect(reqwest::redirect::Policy::none());
    builder
        .tls_built_in_root_certs(is_encrypted)
        .user_agent(agent)
        .build()
        .map_err(|error| network("the client", &error))
}

/// One attempt.
pub(super) async fn converse(
    dialect: &dyn Dialect,
    request: RequestBuilder,
    timeouts: &Timeouts,
    heard: &mut Heard<'_>,
) -> Result<Completion, ProviderError> {
    let provider = dialect.endpoint().provider.as_str();
    let sent = timeout(timeouts.first_byte, request.send()).await;
    let response = sent
        .map_err(|_| ProviderError::Timeout {
            what: "the first byte of the reply",
            after: timeouts.first_byte,
        })?
        .map_err(|error| network(provider, &error))?;
    if !response.status().is_success() {
        return Err(failure(dialect, response, timeouts).await);
    }
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        // A server that cannot stream sends everything at once.
        return whole(dialect, response, timeouts, heard).await;
    }
    stream(dialect, response, timeouts, heard).await
}

async fn stream(
    dialect: &dyn Dialect,
    mut response: Response,
    timeouts: &Timeouts,
    heard: &mut Heard<'_>,
) -> Result<Completion, ProviderError> {
    let mut events = Events::default();
    let mut gathered = Gathered::default();
    let mut size = 0;
    while let Some(piece) = piece(&mut response, timeouts).await? {
        size += piece.len();
        if size > RAW_BYTES_MAX {
            return Err(ProviderError::TooLarge { limit: RAW_BYTES_MAX as u64 });
        }
        for event in events.push(&piece)? {
            take(dialect, &event, &mut gathered, heard)?;
        }
        if gathered.is_done {
            return Ok(gathered.completion());
        }
    }
    if let Some(event) = events.finish() {
        take(dialect, &event, &mut gathered, heard)?;
    }
    if gathered.is_done || gathered.finish.is_some() {
        return Ok(gathered.completion());
    }
    if gathered.events == 0 {
        return Err(ProviderError::BadReply { message: "the stream holds no event".to_owned() });
    }
    Err(ProviderError::Closed)
}

fn take(
    dialect: &dyn Dialect,
    event: &str,
    gathered: &mut Gathered,
    heard: &mut Heard<'_>,
) -> Result<(), ProviderError> {
    if event.trim() == "[DONE]" {
        gathered.is_done = true;
        return Ok(());
    }
    // A line of rubbish does not spoil the rest: the end of the reply says whether it is whole.
    let Ok(event) = serde_json::from_str::<Value>(event) else { return Ok(()) };
    gathered.events += 1;
    let before = gathered.text.len();
    dialect.take(&event, gathered)?;
    if gathered.size() > REPLY_BYTES_MAX {
        return Err(ProviderError::TooLarge { limit: REPLY_BYTES_MAX as u64 });
    }
    let thought = std::mem::take(&mut gathered.thought);
    if !thought.is_empty() {
        heard(Piece::Thought(&thought));
    }
    if gathered.text.len() > before {
        heard(Piece::Reply(&gathered.text[before..]));
    }
    Ok(())
}

async fn whole(
    dialect: &dyn Dialect,
    mut response: Response,
    timeouts: &Timeouts,
    heard: &mut Heard<'_>,
) -> Result<Completion, ProviderError> {
    let mut body = Vec::new();
    while let Some(piece) = piece(&mut response, timeouts).await? {
        body.extend_from_slice(&piece);
        if body.len() > WHOLE_BYTES_MAX {
            return Err(ProviderError::TooLarge { limit: WHOLE_BYTES_MAX as u64 });
        }
    }
    let value: Value = serde_json::from_slice(&body)
        .map_err(|error| ProviderError::BadReply { message: format!("it is not JSON: {error}") })?;
    let mut gathered = Gathered::default();
    dialect.take(&value, &mut gathered)?;
    if gathered.size() > REPLY_BYTES_MAX {
        return Err(ProviderError::TooLarge { limit: REPLY_BYTES_MAX as u64 });
    }
    if gathered.finish.is_none() && gathered.size() == 0 {
        return Err(ProviderError::BadReply { message: "it holds no message".to_owned() });
    }
    heard(Piece::Reply(&gathered.text));
    Ok(gathered.completion())
}

async fn piece(response: &mut Response, timeouts: &Timeouts) -> Result<Option<Vec<u8>>, ProviderError> {
    match timeout(timeouts.idle, response.chunk()).await {
        Err(_) => Err(ProviderError::Timeout { what: "the next piece of the reply", after: timeouts.idle }),
        Ok(Ok(piece)) => Ok(piece.map(|piece| piece.to_vec())),
        Ok(Err(_)) => Err(ProviderError::Closed),
    }
}

/// What an answer that is no success means.
async fn failure(dialect: &dyn Dialect, mut response: Response, timeouts: &Timeouts) -> ProviderError {
    let status = response.status();
    let retry_after =
        retry::asked_delay(|name| Some(response.headers().get(name)?.to_str().ok()?.to_owned()));
    let mut body = Vec::new();
    while let Ok(Some(piece)) = piece(&mut response, timeouts).await {
        body.extend_from_slice(&piece);
        if body.len() > ERROR_BYTES_MAX {
            break;
        }
    }
    let body = String::from_utf8_lossy(&body);
    classify(dialect, status, &message(&body), retry_after)
}

/// The words in the body of an error, whatever its form.
fn message(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let value = if value.is_array() { value[0].clone() } else { value };
    let error = &value["error"];
    let parts = [&error["message"], error, &value["message"], &value["detail"]];
    let said = parts.iter().find_map(|part| part.as_str()).unwrap_or(if value.is_null() { body } else { "" });
    let kind = [&error["code"], &error["type"], &error["status"]].iter().find_map(|part| part.as_str());
    let said = text::line(said, 300);
    match kind {
        Some(kind) if !said.contains(kind) => format!("{said} ({})", text::line(kind, 60)),
        _ => said,
    }
}

fn classify(
    dialect: &dyn Dialect,
    status: StatusCode,
    said: &str,
    retry_after: Option<Duration>,
) -> ProviderError {
    let provider = dialect.endpoint().provider.clone();
    let message = dialect.without_key(said);
    let lower = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_too_long = says(&[
        "context length",
        "context_length",
        "context size",
        "context window",
        "exceed_context",
        "prompt is too long",
        "too many tokens",
        "maximum number of tokens",
        "input is too long",
        "max_model_len",
    ]);
    let status_code = status.as_u16();
    if is_too_long && status.is_client_error() {
        return ProviderError::ContextTooLong { message };
    }
    match status_code {
        401 | 403 => ProviderError::RefusedKey { provider, message },
        400 if says(&["api key", "api_key"]) => ProviderError::RefusedKey { provider, message },
        402 => ProviderError::NoCredit { provider, message },
        429 if says(&["insufficient_quota", "billing"]) => ProviderError::NoCredit { provider, message },
        429 => ProviderError::RateLimit { provider, message, retry_after },
        404 => ProviderError::UnknownModel { provider, model: dialect.endpoint().model.clone(), message },
        400 | 422
            if lower.contains("model")
                && says(&["not found", "does not exist", "not a valid", "unknown model", "not exist"]) =>
        {
            ProviderError::UnknownModel { provider, model: dialect.endpoint().model.clone(), message }
        }
        400 | 422 => match dialect.adapt(&lower) {
            Some(parameter) => ProviderError::Unsupported { parameter },
            None => ProviderError::Rejected { provider, status: status_code, message },
        },
        413 => ProviderError::ContextTooLong { message },
        408 | 409 | 425 | 500.. => {
            ProviderError::Unavailable { provider, status: status_code, message, retry_after }
        }
        _ => ProviderError::Rejected { provider, status: status_code, message },
    }
}

/// Why a server was not reached, without the address: that may hold a secret.
pub(super) fn network(provider: &str, error: &reqwest::Error) -> ProviderError {
    let mut message = String::new();
    let mut source: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = source {
        message = cause.to_string();
        source = cause.source();
    }
    if error.is_timeout() {
        "no connection within the time for it".clone_into(&mut message);
    } else if message.is_empty() {
        "the request could not be sent".clone_into(&mut message);
    }
    ProviderError::Network { provider: provider.to_owned(), message: text::line(&message, 200) }
}
