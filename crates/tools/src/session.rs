//! One conversation with a server: requests and answers, over whichever wire.

use serde_json::{Value, json};

use crate::http::HttpWire;
use crate::stdio::StdioWire;

/// The largest message that a server may send.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;
/// The revision with a handshake that is offered.
pub(crate) const WITH_HANDSHAKE: &str = "2025-11-25";
/// The revision without one.
pub(crate) const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// The code of an error by which a server rejects a revision.
const UNSUPPORTED_VERSION: i64 = -32022;

/// Why a message had no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WireError {
    /// It did not arrive.
    NotSent(String),
    /// It may have arrived.
    NoAnswer(String),
    /// Something is there that takes no such message.
    NotTaken(String),
}

/// A message on its way, and what else the wire should tell.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) body: Value,
    /// The answer's id; a notification has none.
    pub(crate) id: Option<u64>,
    /// The revision that it follows.
    pub(crate) revision: &'a str,
    /// The key under which a call may be repeated.
    pub(crate) key: Option<&'a str>,
}

/// How messages travel.
#[derive(Debug)]
pub(crate) enum Wire {
    Stdio(StdioWire),
    Http(HttpWire),
}

/// A conversation that has begun.
#[derive(Debug)]
pub(crate) struct Session {
    wire: Wire,
    next_id: u64,
    revision: &'static str,
}

/// What a server says to a request: a result, or an error in its own words.
pub(crate) type Said = Result<Value, String>;

impl Session {
    /// Begins. A server at an address is asked first whether it needs no handshake; a program might end at such a
    /// question, so it is given the handshake, unless it knows none.
    pub(crate) async fn begin(wire: Wire) -> Result<Self, WireError> {
        let mut session = Self { wire, next_id: 1, revision: WITHOUT_HANDSHAKE };
        if matches!(session.wire, Wire::Http(_)) && session.needs_no_handshake().await? {
            return Ok(session);
        }
        session.revision = WITH_HANDSHAKE;
        let client = json!({ "name": "ordain", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": client });
        match session.ask("initialize", hello, None).await? {
            Ok(_) => session.notify("notifications/initialized").await?,
            Err(_) => session.revision = WITHOUT_HANDSHAKE,
        }
        Ok(session)
    }

    /// Whether the server knows the revision without a handshake. One that rejects it, and names it among those that it
    /// supports, is asked once more.
    async fn needs_no_handshake(&mut self) -> Result<bool, WireError> {
        for _ in 0..2 {
            match self.request("server/discover", json!({}), None).await {
                Ok(Ok(found)) => return Ok(has_revision(&found["supportedVersions"])),
                Ok(Err(error))
                    if error["code"] == UNSUPPORTED_VERSION && has_revision(&error["data"]["supported"]) => {}
                Ok(Err(_)) | Err(WireError::NotTaken(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Sends a request and waits for its answer. The caller bounds the time.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        params: Value,
        key: Option<&str>,
    ) -> Result<Said, WireError> {
        let said = self.request(method, params, key).await?;
        Ok(said.map_err(|error| error["message"].as_str().unwrap_or("an error without words").to_owned()))
    }

    /// The same, with the whole error that the server answers.
    async fn request(
        &mut self,
        method: &str,
        mut params: Value,
        key: Option<&str>,
    ) -> Result<Result<Value, Value>, WireError> {
        let id = self.next_id;
        self.next_id += 1;
        if let Some(key) = key {
            params["_meta"]["idempotencyKey"] = Value::from(key);
        }
        if self.revision == WITHOUT_HANDSHAKE {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = Value::from(WITHOUT_HANDSHAKE);
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "ordain", "version": env!("CARGO_PKG_VERSION") });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let message = Message { body, id: Some(id), revision: self.revision, key };
        let mut answer = self.wire.exchange(&message).await?;
        Ok(match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["result"].take()),
        })
    }

    async fn notify(&mut self, method: &str) -> Result<(), WireError> {
        let body = json!({ "jsonrpc": "2.0", "method": method });
        let message = Message { body, id: None, revision: self.revision, key: None };
        self.wire.exchange(&message).await.map(drop)
    }
}

impl Wire {
    async fn exchange(&mut self, message: &Message<'_>) -> Result<Value, WireError> {
        match self {
            Self::Stdio(wire) => wire.exchange(message).await,
            Self::Http(wire) => wire.exchange(message).await,
        }
    }
}

/// Whether the revision without a handshake is among those of a list.
fn has_revision(revisions: &Value) -> bool {
    revisions.as_array().is_some_and(|revisions| revisions.iter().any(|known| known == WITHOUT_HANDSHAKE))
}

/// Whether a message is the answer to a request.
pub(crate) fn answers(message: &Value, id: Option<u64>) -> bool {
    message.get("method").is_none() && message["id"].as_u64() == id && id.is_some()
}

/// The words for an answer that is too large.
pub(crate) fn too_large() -> WireError {
    let limit = ordain_types::format_bytes(ANSWER_BYTES_MAX as u64);
    WireError::NoAnswer(format!("its answer is larger than {limit}"))
}
