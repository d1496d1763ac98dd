//! A server at an address: one POST for each message, the answer as JSON or as the first fitting event of a stream.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use serde_json::Value;

use crate::session::{ANSWER_BYTES_MAX, Message, WireError, answers, too_large};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// A server's address, and how it is called.
#[derive(Debug)]
pub(crate) struct HttpWire {
    client: Client,
    url: String,
    token: Option<String>,
    session: Option<HeaderValue>,
}

impl HttpWire {
    /// A client that follows no redirects: what the owner wrote is where calls go.
    pub(crate) fn new(url: &str, token: Option<String>) -> Result<Self, WireError> {
        let client = Client::builder().redirect(redirect::Policy::none()).no_proxy().build();
        let client = client.map_err(|error| WireError::NotSent(error.to_string()))?;
        Ok(Self { client, url: url.to_owned(), token, session: None })
    }

    pub(crate) async fn exchange(&mut self, message: &Message<'_>) -> Result<Value, WireError> {
        let mut request = self.client.post(&self.url).headers(self.headers(message));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.body(message.body.to_string()).send().await.map_err(|error| {
            // The address of an error may hold what only the server should see.
            let text = error.without_url();
            if text.is_connect() {
                WireError::NotSent(text.to_string())
            } else {
                WireError::NoAnswer(text.to_string())
            }
        })?;
        if let Some(session) = response.headers().get(SESSION) {
            self.session = Some(session.clone());
        }
        let status = response.status();
        if status.is_redirection() {
            return Err(WireError::NotSent(
                "it sends callers to another address, which is not followed".to_owned(),
            ));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(WireError::NotSent(format!("it answered {status}: check the token")));
        }
        if message.id.is_none() {
            return Ok(Value::Null);
        }
        let found = answer(response, message.id).await?;
        found.ok_or_else(|| {
            let text = format!("it answered {status} and no message");
            if status.is_server_error() { WireError::NoAnswer(text) } else { WireError::NotTaken(text) }
        })
    }

    fn headers(&self, message: &Message<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let method = message.body["method"].as_str();
        let named = [
            ("mcp-protocol-version", Some(message.revision).filter(|_| method != Some("initialize"))),
            ("mcp-method", method),
            ("mcp-name", message.body["params"]["name"].as_str()),
            ("idempotency-key", message.key),
        ];
        for (name, value) in named {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        headers
    }
}

/// The message in a response that answers a request.
async fn answer(mut response: Response, id: Option<u64>) -> Result<Option<Value>, WireError> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_stream = kind.starts_with("text/event-stream");
    let mut body = Vec::new();
    let mut seen = 0;
    loop {
        let piece =
            response.chunk().await.map_err(|error| WireError::NoAnswer(error.without_url().to_string()))?;
        let Some(piece) = piece else { break };
        body.extend_from_slice(&piece);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(too_large());
        }
        // A stream may stay open after its answer.
        while let Some(end) = body[seen..].iter().position(|byte| *byte == b'\n').filter(|_| is_stream) {
            let line = &body[seen..seen + end];
            let data = line.strip_prefix(b"data:").unwrap_or_default();
            let found = serde_json::from_slice::<Value>(data.trim_ascii());
            if let Some(found) = found.ok().filter(|found| answers(found, id)) {
                return Ok(Some(found));
            }
            seen += end + 1;
        }
    }
    let found = serde_json::from_slice::<Value>(&body).ok();
    // An error may come without the id of the request, as when the request was not understood.
    Ok(found.filter(|found| answers(found, id) || found.get("error").is_some()))
}
