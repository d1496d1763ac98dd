//! Where models are served: one streaming call behind one trait.
//!
//! A provider sends messages and gives back the text that came, why it ended and what it used. It knows nothing of
//! briefs and plans. Everything that it receives is bounded in size and time.

mod anthropic;
mod error;
mod gemini;
mod http;
mod openai;
mod price;
pub(crate) mod probe;
mod remote;
mod replay;
mod retry;
mod sse;

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::exchange::Message;

pub use anthropic::anthropic;
pub use error::ProviderError;
pub use gemini::gemini;
pub use openai::openai;
pub use price::{cost_usd, prices_as_of};
pub use remote::{Endpoint, Remote};
pub use replay::Replay;

/// The most text that is taken from one reply.
pub const REPLY_BYTES_MAX: usize = 1024 * 1024;

/// Serves a model.
pub trait Provider: fmt::Debug + Send + Sync {
    /// The name under which records know it: `provider:model`.
    fn name(&self) -> String;

    /// Sends the messages and gives the whole reply; `heard` gets each piece as it comes.
    fn call<'a>(&'a self, request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a>;
}

/// Takes each piece as it comes.
pub type Heard<'a> = dyn FnMut(Piece<'_>) + Send + 'a;
/// A piece of what a model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Of its reply.
    Reply(&'a str),
    /// Of what it thinks before, where the provider tells.
    Thought(&'a str),
}

/// A call of a model that is under way. Dropping it ends it.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<Completion, ProviderError>> + Send + 'a>>;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Everything that was said so far.
    pub messages: Vec<Message>,
    /// What the reply is for.
    pub purpose: Purpose,
    /// The most tokens that the reply may have.
    pub tokens_max: u32,
    /// How freely the model chooses its words; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// How much it thinks before it replies: `low`, `medium`, `high` …; `None` leaves it to the provider.
    pub effort: Option<String>,
}

/// What a reply is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A plan's code.
    #[default]
    Plan,
    /// A second opinion of code.
    Review,
    /// How a check would be judged.
    Outline,
    /// Whether a step met its criterion.
    Criterion,
    /// The text of a step that is no program.
    Text,
    /// A better sentence for a run that is done.
    Sentence,
    /// What is wrong with a policy.
    Policy,
}

impl Purpose {
    /// The form of a reply that is one JSON object and nothing else.
    pub(crate) fn schema(self) -> Option<serde_json::Value> {
        let (text, number) = (serde_json::json!(["string", "null"]), serde_json::json!(["integer", "null"]));
        let members = match self {
            Self::Review => serde_json::json!({ "ok": { "type": "boolean" }, "problem": { "type": text },
                "line": { "type": number }, "hint": { "type": text } }),
            Self::Criterion => {
                serde_json::json!({ "ok": { "type": "boolean" }, "problem": { "type": text } })
            }
            _ => return None,
        };
        let required: Vec<&String> =
            members.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        Some(serde_json::json!({ "type": "object", "properties": members, "required": required,
            "additionalProperties": false }))
    }
}

/// What a model replied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// The model's own word that it refuses, where the provider tells it apart.
    pub refusal: Option<String>,
    /// Tokens given to the model.
    pub input_tokens: u64,
    /// Tokens that it gave.
    pub output_tokens: u64,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model had said everything, and its provider says so.
    #[default]
    Stop,
    /// It was cut off, or nothing says that it was not.
    Length,
    /// A filter of the provider stopped it.
    Filtered,
}

impl Finish {
    /// What the providers' many names for it mean.
    fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "stop_sequence" | "tool_calls" | "tool_use" | "function_call" | "eos"
            | "eos_token" => Self::Stop,
            "content_filter" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii"
            | "refusal" => Self::Filtered,
            _ => Self::Length,
        }
    }
}

/// How long each part of a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Reaching the server.
    pub connect: Duration,
    /// From the question to the first byte of the answer.
    pub first_byte: Duration,
    /// From one piece of the answer to the next.
    pub idle: Duration,
    /// The whole call, all attempts included.
    pub total: Duration,
}

impl Timeouts {
    /// Fitting parts for a whole.
    pub fn within(total: Duration) -> Self {
        let part = |seconds| Duration::from_secs(seconds).min(total);
        Self { connect: part(10), first_byte: part(90), idle: part(60), total }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::within(Duration::from_mins(3))
    }
}

/// A key that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Keeps a key; blanks around it are slips of the hand.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}
