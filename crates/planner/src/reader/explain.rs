//! What the reader understands of a request, word by word, and what could come next while it is being typed.

use std::cmp::Reverse;

use ordain_types::BoundParam;
use serde::Serialize;

use super::follow;
use super::index::Index;
use super::lexicon::LEXICON;
use super::parse::Parser;
use super::token::{self, Kind, Token};
use super::trace::{Naming, Trace, Wanted};
use super::{Reading, TOKENS_MAX, indexed, params, plan};
use crate::brief::{Brief, Task};
use crate::exchange::Reply;

/// Words that are offered as the next one, at most.
const NEXT_MAX: usize = 40;
/// Words of one class that are offered before the first letter is typed.
const ALIKE_MAX: usize = 2;

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
    /// A word that is understood, and why it cannot be taken.
    pub(super) fn because(token: &Token, reason: &str) -> Self {
        let (text, at) = (token.text.clone(), token.at);
        Self { text, at, is_known: true, nearest: None, reason: Some(reason.to_owned()) }
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

/// What a request, a question about files or a rule means, without carrying it out.
pub fn explain(brief: &Brief) -> Explained {
    match brief.task {
        Task::Ask => explain_ask(brief),
        Task::Check | Task::Code => explain_as(brief, plan(brief)),
    }
}

fn explain_ask(brief: &Brief) -> Explained {
    let index = indexed(brief);
    let tokens = token::tokens(&brief.request);
    let next = next_words(&index, &brief.request, &tokens);
    let (readings, unknown) = match follow::read(&index, &brief.request, &brief.turns) {
        Reading::One(meaning) => (vec![*meaning], None),
        Reading::Several(all) => (all, None),
        Reading::None(unknown) => (Vec::new(), unknown),
    };
    let readings = readings.into_iter().map(|meaning| ReadAs {
        params: meaning.written.as_ref().map(|written| params(&brief.request, written)).unwrap_or_default(),
        code: meaning.written.map(|written| written.code),
        reading: meaning.words,
    });
    let is_typed = |unknown: &Unknown| unknown.at.1 == brief.request.len() && !next.is_empty();
    Explained {
        request: brief.request.clone(),
        tokens: classified(&index, &tokens),
        readings: readings.collect(),
        // A word that is being typed is not yet wrong.
        not_understood: unknown.filter(|unknown| unknown.is_known || !is_typed(unknown)),
        next,
    }
}

/// The same for files and rules, of which the plan says what was read.
pub fn explain_as(brief: &Brief, reply: Reply) -> Explained {
    let tokens = token::tokens(&brief.request);
    let mut shown = Explained { request: brief.request.clone(), ..Explained::default() };
    let index = if brief.task == Task::Code {
        super::files::indexed(brief, &brief.files.iter().collect::<Vec<_>>(), &tokens).1
    } else {
        Index::of(brief, &super::files::described(&brief.catalog))
    };
    shown.tokens = classified(&index, &tokens);
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

fn classified(index: &Index, tokens: &[Token]) -> Vec<Classified> {
    let mut found: Vec<Classified> = Vec::new();
    let mut covered = (0, "");
    for (at, token) in tokens.iter().enumerate() {
        let mentions = index.at(tokens, at);
        let plainest = mentions
            .iter()
            .max_by_key(|(what, length, cost)| (*length, Reverse(*cost), Reverse(Naming::of(what))));
        if let Some((what, length, _)) = plainest
            && at >= covered.0
        {
            covered = (at + length, Naming::of(what).word());
        }
        let kind = if at < covered.0 { covered.1 } else { class(token) };
        let mut mentions: Vec<String> = mentions.iter().map(|(what, ..)| index.describe(what)).collect();
        mentions.dedup();
        found.push(Classified { text: token.text.clone(), at: token.at, kind, mentions });
    }
    found
}

/// What a token is that mentions nothing.
fn class(token: &Token) -> &'static str {
    match token.kind {
        Kind::Number(_) | Kind::Unclear(_) => "number",
        Kind::Days(..) => "day",
        Kind::Time(_) => "time",
        Kind::Quoted => "text",
        Kind::Sign(_) => "sign",
        Kind::Word if !LEXICON.matches("filler", &[token.word()]).is_empty() => "filler",
        Kind::Word if LEXICON.is_operator(token.word()) || LEXICON.knows(token.word()) => "word",
        Kind::Word => "unknown",
    }
}

/// What may follow a request that is still being typed; its last word may not be whole.
fn next_words(index: &Index, request: &str, tokens: &[Token]) -> Vec<Next> {
    let is_open = request.ends_with(|last: char| last.is_alphanumeric());
    let last = tokens.last().filter(|token| is_open && token.kind == Kind::Word);
    let typed = last.map(|token| token.text.to_lowercase()).unwrap_or_default();
    let before = &tokens[..tokens.len() - usize::from(last.is_some())];
    if before.len() > TOKENS_MAX {
        return Vec::new();
    }
    let trace = Trace::of_next();
    for focus in 0..index.tables.len() {
        let parser = Parser::new(index, before, focus, &trace);
        parser.questions();
        if focus == 0 {
            parser.orders();
        }
    }
    let mut found = offered(index, &trace, &typed);
    found.truncate(NEXT_MAX);
    found
}

/// What was looked for, as words that begin with what is typed.
fn offered(index: &Index, trace: &Trace, typed: &str) -> Vec<Next> {
    let mut found: Vec<Next> = Vec::new();
    let mut offer = |text: String, kind: &'static str| {
        let lower = text.to_lowercase();
        let next = Next { text, kind };
        if lower.starts_with(typed) && (lower != typed || typed.is_empty()) && !found.contains(&next) {
            found.push(next);
        }
    };
    for wanted in trace.wanted() {
        match wanted {
            Wanted::Named(naming, focus) => {
                let most = if typed.is_empty() { NEXT_MAX / 4 } else { NEXT_MAX };
                for text in index.names(naming, focus, typed, most) {
                    offer(text, naming.word());
                }
            }
            Wanted::Rest(naming, text) => offer(text, naming.word()),
            Wanted::Number => offer(String::new(), "number"),
            Wanted::Day => offer(String::new(), "day"),
            Wanted::Word(order, text) => {
                if !typed.is_empty() || order < ALIKE_MAX {
                    offer(text, "word");
                }
            }
        }
    }
    found
}
