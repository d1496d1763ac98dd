//! What a chat client sends, and what of it counts here.
//!
//! Clients send many fields that steer a model; here a plan is written by whom the server chose and judged by the
//! workspace's own policy, so those are taken and left alone. What cannot be kept (several answers, tool calls, a
//! JSON schema) is refused by name instead of being ignored.

mod parts;

use axum::http::{HeaderMap, StatusCode};
use ordain_engine::{Mode, Turn};
use ordain_types::Strategy;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::models;
use crate::http::problem::Problem;
use crate::http::requests::{shortened, strategy_named};

/// More messages are no conversation.
const MESSAGES_MAX: usize = 10_000;
/// Messages before a request in which files are looked for.
const EARLIER_MESSAGES_MAX: usize = 20;
/// The strategy, for clients that can add a header and no field.
const AGENT_TYPE: &str = "x-agent-type";

/// A conversation that ends with a request. Fields that are not named here are taken and left alone.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub(crate) struct NewCompletion {
    /// `ordain-auto`, `ordain-direct`, `ordain-plan` or `ordain-react`: the strategy. Another name is taken if `agent_type` is given.
    #[serde(default)]
    #[schema(example = "ordain-auto")]
    model: Option<String>,
    /// The conversation, oldest first. The last message is the request; system messages are not looked at.
    messages: Vec<Message>,
    /// The strategy: `auto`, `direct`, `plan` or `react`. The header `X-Agent-Type` says the same.
    #[serde(default)]
    #[schema(example = "auto")]
    agent_type: Option<String>,
    /// Answer with server-sent chunks.
    #[serde(default)]
    stream: Option<bool>,
    /// What the chunks tell.
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    /// How many answers: 1.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1)]
    n: Option<u64>,
    /// `{"type": "json_object"}` gives answer, status, rows and run as a JSON object in the text.
    #[serde(default)]
    response_format: Option<ResponseFormat>,
    /// Tools are not called here; asking for a call is an error.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    tool_choice: Option<Value>,
    /// Keep the change for approval.
    #[serde(default)]
    hold: Option<bool>,
    /// Show what would change, and change nothing.
    #[serde(default)]
    dry_run: Option<bool>,
}

/// One message.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Message {
    /// Who speaks: `user`, `assistant`, `system`, `developer`, `tool`.
    #[schema(example = "user")]
    role: String,
    /// What is said.
    #[serde(default)]
    content: Option<Content>,
}

/// What a message says: text, or parts of it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Content {
    /// Text.
    #[schema(example = "I want to buy 1 Moon")]
    Text(String),
    /// Parts.
    Parts(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Part {
    /// The kind: `text`, `file` or `image_url`.
    #[serde(rename = "type")]
    #[schema(example = "text")]
    kind: String,
    /// The text.
    #[serde(default)]
    text: Option<String>,
    /// A file: `filename`, and `file_data` as a data URI or base64.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    file: Option<Value>,
    /// A picture: `url` as a data URI.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    image_url: Option<Value>,
    /// The name of a file that is given without `file`.
    #[serde(default)]
    filename: Option<String>,
    /// The content of a file that is given without `file`.
    #[serde(default)]
    file_data: Option<String>,
}

/// What the chunks tell.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// Tell the usage in a chunk of its own, at the end.
    #[serde(default)]
    include_usage: Option<bool>,
}

/// How the text of the answer is written.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct ResponseFormat {
    /// `text` or `json_object`.
    #[serde(rename = "type")]
    #[schema(example = "text")]
    kind: String,
}

/// What counts of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chat {
    /// What is asked.
    pub(super) request: String,
    /// The files that come with it: then it is a question about them.
    pub(super) files: Vec<GivenFile>,
    /// The files that came with the last message before it that had some.
    pub(super) earlier_files: Vec<GivenFile>,
    /// What was said before.
    pub(super) turns: Vec<Turn>,
    /// The name that the answer carries as its model.
    pub(super) model: String,
    /// Whether the answer is streamed, and whether its usage is sent.
    pub(super) stream: Option<Stream>,
    /// Whether the text of the answer is JSON.
    pub(super) is_json: bool,
    /// How the plan grows.
    pub(super) strategy: Strategy,
    /// What becomes of changes.
    pub(super) mode: Mode,
    /// Stands for everything that the client asked: equal calls have equal ones.
    pub(super) fingerprint: String,
    /// Stands for all that the user has said so far.
    pub(super) asked: String,
    /// Stands for all that the user had said before this request.
    pub(super) asked_before: String,
}

/// A file that comes with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GivenFile {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

/// A streamed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) has_usage: bool,
}

impl NewCompletion {
    /// Reads what counts, and refuses what cannot be kept.
    pub(super) fn read(self, headers: &HeaderMap) -> Result<Chat, Problem> {
        let strategy = self.strategy(headers)?;
        self.check()?;
        let mode = match (self.dry_run.unwrap_or(false), self.hold.unwrap_or(false)) {
            (true, true) => {
                return Err(refused("/hold", "a dry run changes nothing, so there is nothing to hold"));
            }
            (true, false) => Mode::DryRun,
            (false, true) => Mode::Hold,
            (false, false) => Mode::Commit,
        };
        let is_json = match self.response_format.as_ref().map(|format| format.kind.as_str()) {
            None | Some("text") => false,
            Some("json_object") => true,
            Some(_) => {
                let message = "answers are text or a JSON object of their own shape";
                return Err(refused("/response_format/type", message).hint("there are text and json_object"));
            }
        };
        let stream = self.stream.unwrap_or(false).then(|| Stream {
            has_usage: self.stream_options.and_then(|options| options.include_usage).unwrap_or(false),
        });
        let spoken = spoken(&self.messages)?;
        let files = parts::files(self.messages.last().and_then(Message::parts), self.messages.len())?;
        let earlier_files = if files.is_empty() { earlier_files(&self.messages)? } else { Vec::new() };
        let fingerprint = fingerprint(spoken.iter(), &files, &format!("{strategy}\0{mode:?}\0{is_json}"));
        // What assistants and systems say is the client's word for it, so the user's own words name a conversation.
        let own = || spoken.iter().filter(|(role, _)| *role == "user");
        let asked = self::fingerprint(own(), &[], "");
        let asked_before = self::fingerprint(own().take(own().count().saturating_sub(1)), &[], "");
        let (request, turns) = turns(spoken)?;
        Ok(Chat {
            request,
            files,
            earlier_files,
            turns,
            model: format!("ordain-{strategy}"),
            strategy,
            stream,
            is_json,
            mode,
            fingerprint,
            asked,
            asked_before,
        })
    }

    /// The strategy: from the body, else from the header, else from the model's name.
    fn strategy(&self, headers: &HeaderMap) -> Result<Strategy, Problem> {
        let from_header = headers.get(AGENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        let model = self.model.as_deref().unwrap_or("ordain-auto");
        let (name, pointer) = match (self.agent_type.as_deref(), from_header) {
            (Some(name), _) => (name, "/agent_type"),
            (None, Some(name)) => (name, AGENT_TYPE),
            (None, None) => (models::strategy(model).ok_or_else(|| models::unknown(model))?, "/model"),
        };
        strategy_named(Some(name)).map_err(|mut problem| {
            for part in &mut problem.errors {
                pointer.clone_into(&mut part.pointer);
            }
            problem
        })
    }

    fn check(&self) -> Result<(), Problem> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(refused("/n", "a request is carried out once, so there is one answer: `n` is 1"));
        }
        let wants_tool = match &self.tool_choice {
            None | Some(Value::Null) => false,
            Some(Value::String(choice)) => choice != "auto" && choice != "none",
            Some(_) => true,
        };
        if wants_tool {
            let message = "the plan's own code does the work; tools of the client are not called here";
            return Err(refused("/tool_choice", message).hint("leave `tool_choice` out, or send \"none\""));
        }
        if self.messages.len() > MESSAGES_MAX {
            let message = format!("a conversation has at most {MESSAGES_MAX} messages");
            return Err(refused("/messages", &message));
        }
        Ok(())
    }
}

impl Message {
    fn parts(&self) -> Option<&[Part]> {
        match &self.content {
            Some(Content::Parts(parts)) => Some(parts),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
                texts.join("\n")
            }
        }
    }
}

impl Part {
    fn as_text(&self) -> Option<&str> {
        let is_text = matches!(self.kind.as_str(), "text" | "input_text" | "output_text");
        is_text.then_some(self.text.as_deref().unwrap_or_default())
    }
}

/// The files of the last of a few messages before the request that has some.
fn earlier_files(messages: &[Message]) -> Result<Vec<GivenFile>, Problem> {
    let before = messages.split_last().map_or(&[][..], |(_, before)| before);
    let near = before.iter().enumerate().rev().take(EARLIER_MESSAGES_MAX);
    for (place, message) in near.filter(|(_, message)| message.role == "user") {
        let files = parts::files(message.parts(), place + 1)?;
        if !files.is_empty() {
            return Ok(files);
        }
    }
    Ok(Vec::new())
}

/// The messages as role and text.
fn spoken(messages: &[Message]) -> Result<Vec<(&str, String)>, Problem> {
    let said = messages.iter().enumerate();
    said.map(|(place, message)| Ok((role(message, place)?, message.text()))).collect()
}

fn role(message: &Message, place: usize) -> Result<&str, Problem> {
    let role = message.role.as_str();
    if ["user", "assistant", "system", "developer", "tool", "function"].contains(&role) {
        return Ok(role);
    }
    let message = format!("there is no role `{}`", shortened(role));
    Err(refused(&format!("/messages/{place}/role"), &message))
}

/// The request and the turns before it.
fn turns(spoken: Vec<(&str, String)>) -> Result<(String, Vec<Turn>), Problem> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut is_open = false;
    for (role, text) in spoken {
        match (role, turns.last_mut()) {
            ("user", _) => {
                turns.push(Turn { request: text, answer: String::new(), status: None, run_id: None });
                is_open = true;
            }
            ("assistant", Some(turn)) => {
                if !turn.answer.is_empty() {
                    turn.answer.push('\n');
                }
                // What was told to happen to the data is the engine's word, not the plan's.
                turn.answer.push_str(ordain_types::without_receipt(&text));
                is_open = false;
            }
            ("tool" | "function", _) => is_open = false,
            // The workspace's policy is what rules here, and an assistant's greeting answers nothing.
            _ => {}
        }
    }
    match turns.pop() {
        Some(request) if is_open => Ok((request.request, turns)),
        _ => Err(refused("/messages", "the last message must be the user's: it is the request")),
    }
}

fn fingerprint<'a>(
    spoken: impl Iterator<Item = &'a (&'a str, String)>,
    files: &[GivenFile],
    more: &str,
) -> String {
    let mut hasher = Sha256::new();
    hasher.update(more);
    for (role, text) in spoken {
        // Lengths keep two messages apart from one that contains both.
        hasher.update(format!("\0{role}\0{}\0", text.len()));
        hasher.update(text);
    }
    for file in files {
        hasher.update(format!("\0{}\0{}\0", file.name, file.content.len()));
        hasher.update(&file.content);
    }
    ordain_types::hex(&hasher.finalize()[..16])
}

pub(super) fn refused(pointer: &str, message: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_body", message).about(pointer, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<Chat, Problem> {
        serde_json::from_value::<NewCompletion>(body).unwrap().read(&HeaderMap::new())
    }

    #[test]
    fn the_last_message_is_the_request_and_the_others_are_turns() {
        let chat = read(json!({ "model": "ordain-direct", "temperature": 0.2, "max_completion_tokens": 9,
            "messages": [
                { "role": "system", "content": "be brief" },
                { "role": "assistant", "content": "Hello!" },
                { "role": "user", "content": "is the Moon in stock?" },
                { "role": "assistant", "content": "Yes." , "refusal": null },
                { "role": "user", "content": [{ "type": "text", "text": "buy" }, { "type": "text", "text": "one" }] },
            ] }))
        .unwrap();
        assert_eq!((chat.request.as_str(), chat.model.as_str()), ("buy\none", "ordain-direct"));
        assert_eq!(chat.turns.len(), 1);
        assert_eq!(
            (chat.turns[0].request.as_str(), chat.turns[0].answer.as_str()),
            ("is the Moon in stock?", "Yes.")
        );
        assert_eq!(chat.stream, None);
    }

    #[test]
    fn what_cannot_be_kept_is_refused_by_name() {
        let user = json!([{ "role": "user", "content": "hi" }]);
        for (body, param) in [
            (json!({ "messages": user, "n": 2 }), "/n"),
            (json!({ "messages": user, "agent_type": "odd" }), "/agent_type"),
            (json!({ "messages": user, "model": "ordain-odd" }), "/model"),
            (json!({ "messages": user, "model": "gpt-4o" }), "/model"),
            (json!({ "messages": user, "tool_choice": "required" }), "/tool_choice"),
            (
                json!({ "messages": user, "response_format": { "type": "json_schema" } }),
                "/response_format/type",
            ),
            (json!({ "messages": [] }), "/messages"),
            (json!({ "messages": [{ "role": "assistant", "content": "hi" }] }), "/messages"),
            (json!({ "messages": [{ "role": "king", "content": "hi" }] }), "/messages/0/role"),
            (
                json!({ "messages": [{ "role": "user", "content": [{ "type": "input_audio" }] }] }),
                "/messages/0/content/0",
            ),
        ] {
            let problem = read(body.clone()).unwrap_err();
            assert_eq!(problem.errors[0].pointer, param, "{body}");
        }
    }

    #[test]
    fn equal_calls_have_equal_fingerprints_and_longer_conversations_do_not() {
        let one = read(json!({ "messages": [{ "role": "user", "content": "buy 1 Moon" }] })).unwrap();
        let same =
            read(json!({ "messages": [{ "role": "user", "content": "buy 1 Moon" }], "seed": 7 })).unwrap();
        assert_eq!(one.fingerprint, same.fingerprint);
        let longer = read(json!({ "messages": [
            { "role": "user", "content": "buy 1 Moon" },
            { "role": "assistant", "content": "Sold." },
            { "role": "user", "content": "buy 1 Moon" },
        ] }))
        .unwrap();
        assert_ne!(one.fingerprint, longer.fingerprint);
    }

    #[test]
    fn another_model_name_is_taken_with_an_agent_type() {
        let body = json!({ "model": "gpt-oss:20b", "agent_type": "auto",
            "messages": [{ "role": "user", "content": "hi" }] });
        assert_eq!(read(body).unwrap().model, "ordain-auto");
    }
}
