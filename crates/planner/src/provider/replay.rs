//! Replays recorded replies from a cassette, and matches what is asked, too.
//!
//! A cassette is a file of JSON lines, one for each call in order; blank lines and lines that begin with `#` are
//! skipped. `expect` says what the last message must and must not contain; then comes the `reply`, the `chunks` of
//! one, or an `error`. A call that is not expected is an error that says what differs.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use serde::Deserialize;

use super::{
    Call, Completion, Finish, Heard, ModelRequest, Piece, Provider, ProviderError, Purpose, REPLY_BYTES_MAX,
};
use crate::exchange::Speaker;
use crate::prompt::text;

const CASSETTE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A provider that replays a cassette.
#[derive(Debug)]
pub struct Replay {
    name: String,
    entries: Vec<Entry>,
    next: Mutex<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, rename = "for")]
    purpose: Purpose,
    #[serde(default)]
    expect: Expect,
    reply: Option<String>,
    chunks: Option<Vec<String>>,
    error: Option<Failure>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    /// The reply, so many times in a row: for replies that nobody wants to keep on disk.
    #[serde(default)]
    repeat: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    contains: Vec<String>,
    not_contains: Vec<String>,
    system_contains: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    #[serde(default)]
    message: String,
}

impl Replay {
    /// Reads a cassette.
    pub fn open(path: &Path) -> Result<Self, ProviderError> {
        let wrong =
            |message: String| ProviderError::Replay { message: format!("`{}`: {message}", path.display()) };
        let metadata = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
        if !metadata.is_file() {
            return Err(wrong("it is not an ordinary file".to_owned()));
        }
        let length = metadata.len();
        if length > CASSETTE_BYTES_MAX {
            return Err(wrong(format!("it has {length} bytes, at most {CASSETTE_BYTES_MAX} are read")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self::parse(&name, &text)
    }

    /// Reads a cassette's text.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProviderError> {
        let is_entry =
            |line: &&(usize, &str)| !line.1.trim().is_empty() && !line.1.trim_start().starts_with('#');
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|line| is_entry(&line)) {
            let wrong = |what: String| ProviderError::Replay {
                message: format!("`{name}` line {}: {what}", index + 1),
            };
            let entry: Entry = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let replies = [
                entry.reply.is_some(),
                entry.chunks.is_some(),
                entry.error.is_some(),
                entry.refusal.is_some(),
            ];
            if replies.iter().filter(|is_there| **is_there).count() != 1 {
                return Err(wrong(
                    "it needs exactly one of `reply`, `chunks`, `refusal` and `error`".to_owned(),
                ));
            }
            entries.push(entry);
        }
        Ok(Self { name: text::line(name, 100), entries, next: Mutex::new(0) })
    }

    /// Whether every recorded reply was asked for.
    pub fn is_used_up(&self) -> bool {
        *self.position() >= self.entries.len()
    }

    fn position(&self) -> std::sync::MutexGuard<'_, usize> {
        // A panic elsewhere cannot leave a number half written.
        self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn answer(&self, request: &ModelRequest, heard: &mut Heard<'_>) -> Result<Completion, ProviderError> {
        let mut next = self.position();
        let entry = self.entries.get(*next);
        if request.purpose == Purpose::Review && entry.is_none_or(|entry| entry.purpose != Purpose::Review) {
            // Most cassettes are not about reviews: nobody objects.
            return Ok(Completion { text: "{\"ok\": true}".to_owned(), ..Completion::default() });
        }
        let Some(entry) = entry else {
            let message =
                format!("there is no reply {}; `{}` has {}", *next + 1, self.name, self.entries.len());
            return Err(ProviderError::Replay { message });
        };
        if let Some(difference) = difference(entry, request) {
            return Err(ProviderError::Replay {
                message: format!("`{}` reply {}: {difference}", self.name, *next + 1),
            });
        }
        *next += 1;
        entry.completion(heard)
    }
}

impl Provider for Replay {
    fn name(&self) -> String {
        format!("replay:{}", self.name)
    }

    fn call<'a>(&'a self, request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a> {
        let answer = self.answer(request, heard);
        Box::pin(std::future::ready(answer))
    }
}

/// What differs between the call that is expected and the one that came.
fn difference(entry: &Entry, request: &ModelRequest) -> Option<String> {
    if entry.purpose != request.purpose {
        return Some(format!("it is for {:?}, but the call is for {:?}", entry.purpose, request.purpose));
    }
    let last = request.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
    let rules = request.messages.iter().filter(|message| message.speaker == Speaker::System);
    let rules: String = rules.map(|message| message.text.as_str()).collect();
    let shown = || text::cut(&text::harmless(last), 2000);
    let expect = &entry.expect;
    if let Some(missing) = expect.contains.iter().find(|part| !last.contains(part.as_str())) {
        return Some(format!("the last message does not contain {missing:?}; it is: {}", shown()));
    }
    if let Some(extra) = expect.not_contains.iter().find(|part| last.contains(part.as_str())) {
        return Some(format!("the last message contains {extra:?}; it is: {}", shown()));
    }
    let missing = expect.system_contains.iter().find(|part| !rules.contains(part.as_str()))?;
    Some(format!("the rules do not contain {missing:?}"))
}

impl Entry {
    fn completion(&self, heard: &mut Heard<'_>) -> Result<Completion, ProviderError> {
        if let Some(failure) = &self.error {
            return Err(failure.error());
        }
        let pieces: Vec<&str> = match (&self.reply, &self.chunks) {
            (Some(reply), _) => vec![reply],
            (_, Some(chunks)) => chunks.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let mut text = String::new();
        for piece in pieces.iter().cycle().take(pieces.len() * self.repeat.unwrap_or(1)) {
            text.push_str(piece);
            if text.len() > REPLY_BYTES_MAX {
                return Err(ProviderError::TooLarge { limit: REPLY_BYTES_MAX as u64 });
            }
            heard(Piece::Reply(piece));
        }
        Ok(Completion {
            // Nobody counted; about four characters are a token.
            output_tokens: text.len().div_ceil(4) as u64,
            text,
            finish: self.finish_reason.as_deref().map_or(Finish::Stop, Finish::of),
            refusal: self.refusal.clone(),
            input_tokens: 0,
        })
    }
}

impl Failure {
    fn error(&self) -> ProviderError {
        let (provider, message) = ("replay".to_owned(), self.message.clone());
        match self.code.as_str() {
            "model-no-key" => ProviderError::NoKey { provider, variable: "ORDAIN_API_KEY" },
            "model-refused-key" => ProviderError::RefusedKey { provider, message },
            "model-no-credit" => ProviderError::NoCredit { provider, message },
            "model-unknown" => ProviderError::UnknownModel { provider, model: "replay".to_owned(), message },
            "model-rate-limit" => ProviderError::RateLimit { provider, message, retry_after: None },
            "model-context-too-long" => ProviderError::ContextTooLong { message },
            "model-unavailable" => {
                ProviderError::Unavailable { provider, status: 503, message, retry_after: None }
            }
            "model-network" => ProviderError::Network { provider, message },
            "model-timeout" => ProviderError::Timeout { what: "the reply", after: Duration::from_mins(1) },
            "model-bad-reply" => ProviderError::BadReply { message },
            "model-reply-too-large" => ProviderError::TooLarge { limit: REPLY_BYTES_MAX as u64 },
            "model-reply-cut-off" => ProviderError::Closed,
            other => ProviderError::Replay { message: format!("`{other}` is not the code of an error") },
        }
    }
}
