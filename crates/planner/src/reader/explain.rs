//! What the reader understands of a request, word by word, and what could come next while it is being typed.

use ordain_reader::Reading;
use ordain_types::BoundParam;
use serde::Serialize;

use super::known::{self, Readers};
use super::{files, orders, plan};
use crate::brief::{Brief, Task};
use crate::exchange::Reply;

/// Words that are offered as the next one, at most.
const NEXT_MAX: usize = 40;

/// What the reader understands of a request.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Explained {
    /// The request.
    pub request: String,
    /// Its words and signs.
    pub tokens: Vec<Classified>,
    /// What it means: one reading is acted on, several are asked about.
    pub readings: Vec<ReadAs>,
    /// Where the reader stopped, if there is no reading.
    pub not_understood: Option<Unknown>,
    /// What may come next.
    pub next: Vec<Next>,
}

/// A word or a sign.
#[derive(Debug, Clone, Serialize)]
pub struct Classified {
    /// As it is written.
    pub text: String,
    /// Where it is, in bytes.
    pub at: (usize, usize),
    /// `action`, `table`, `column`, `metric`, `value`, `number`, `day`, `time`, `text`, `sign`, `filler`, `word` or `unknown`.
    pub kind: &'static str,
    /// Everything that it may mention.
    pub mentions: Vec<String>,
}

/// One reading.
#[derive(Debug, Clone, Serialize)]
pub struct ReadAs {
    /// In words.
    pub reading: String,
    /// The code, where there is some.
    pub code: Option<String>,
    /// The values that the code takes from the request.
    pub params: Vec<BoundParam>,
}

/// The word at which the reader stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// As it is written.
    pub text: String,
    /// Where it is, in bytes.
    pub at: (usize, usize),
    /// Whether the word itself is known, and only not in this place.
    pub is_known: bool,
    /// A word that is spelled almost like it.
    pub nearest: Option<String>,
    /// Why it cannot be taken, where it is understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Unknown {
    /// The word at which a reading stops; none of what has one.
    pub(super) fn at<M>(reading: Reading<M>) -> Self {
        let Reading::Silent { at, span, expected, nearest } = reading else {
            return Self { text: String::new(), at: (0, 0), is_known: true, nearest: None, reason: None };
        };
        let text = at.unwrap_or_default();
        Self { is_known: text.is_empty() || !expected.is_empty(), text, at: span, nearest, reason: None }
    }

    /// As the beginning of a sentence.
    pub(crate) fn sentence(&self) -> String {
        let text = &self.text;
        if let Some(reason) = &self.reason {
            return reason.clone();
        }
        match (&self.nearest, self.is_known) {
            (Some(nearest), _) => format!("I do not understand “{text}” in that (did you mean “{nearest}”?)"),
            (None, false) => format!("I do not understand “{text}” in that"),
            (None, true) => {
                format!("I do not understand how “{text}” belongs to what is before it")
            }
        }
    }
}

/// Something that may come next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The words to add; empty where it is a number or a day.
    pub text: String,
    /// `action`, `table`, `column`, `metric`, `value`, `number`, `day` or `word`.
    pub kind: &'static str,
}

/// What a request, or a question about files, means, without carrying it out.
pub fn explain(brief: &Brief) -> Explained {
    if brief.task != Task::Ask {
        return explain_as(brief, plan(brief));
    }
    let readers = known::readers(brief);
    let (next, readings) = (next(&readers, brief), orders::readings(brief));
    if !readings.is_empty() {
        return Explained { readings, next, ..described(&readers, brief) };
    }
    let mut shown = explain_as(brief, plan(brief));
    if shown.readings.is_empty() {
        let stopped = super::stopped(&readers, &brief.request);
        // A word that is being typed is not yet wrong.
        let is_typed = stopped.at.1 == brief.request.len() && !next.is_empty();
        shown.not_understood = Some(stopped).filter(|stopped| stopped.is_known || !is_typed);
    }
    Explained { next, ..shown }
}

/// The words of a request, each with what it is.
fn described(readers: &Readers, brief: &Brief) -> Explained {
    let words = match brief.task {
        Task::Code => files::reader(brief).words_in(&brief.request),
        Task::Ask | Task::Check => readers.questions.words_in(&brief.request),
    };
    let tokens = words
        .into_iter()
        .map(|word| Classified { text: word.text, at: word.at, kind: word.kind, mentions: word.mentions })
        .collect();
    Explained { request: brief.request.clone(), tokens, ..Explained::default() }
}

/// The same for files and rules, of which the plan says what was read.
pub fn explain_as(brief: &Brief, reply: Reply) -> Explained {
    let mut shown = described(&known::readers(brief), brief);
    match reply {
        Reply::Plan(draft) => shown.readings.push(ReadAs {
            reading: draft.reading.unwrap_or(draft.title),
            code: Some(draft.code),
            params: draft.params,
        }),
        Reply::Refusal(said) | Reply::Question(said) => {
            shown.not_understood =
                Some(Unknown { text: said, at: (0, 0), is_known: true, nearest: None, reason: None });
        }
        _ => {}
    }
    shown
}

/// What may follow a request that is still being typed; its last word may not be whole.
fn next(readers: &Readers, brief: &Brief) -> Vec<Next> {
    let request = brief.request.as_str();
    let is_open = request.ends_with(|last: char| last.is_alphanumeric());
    let start = request.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let start = if is_open && request.is_char_boundary(start) { start } else { request.len() };
    let (before, typed) = (&request[..start], request[start..].to_lowercase());
    let orders = readers.changes.next(true, before, &typed).into_iter();
    let mut found: Vec<Next> = Vec::new();
    for (text, kind) in orders.chain(readers.questions.next(false, before, &typed)) {
        let next = Next { text, kind };
        if !found.contains(&next) {
            found.push(next);
        }
    }
    found.truncate(NEXT_MAX);
    found
}
