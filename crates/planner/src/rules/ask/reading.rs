//! Reads what a request asks for: its intent and the kinds of its slots. The values themselves are read by the plan.

mod limits;
mod look;
mod past;
mod talk;
mod trade;

use super::intent::{Intent, Say};
use super::lexicon::{LEADS, QUESTION, STOCK, WANT};
use super::tokens::{Mark, Shop, Tokens, named};
use crate::rules::roles::Role;

/// A request with what is known of its words.
pub(super) struct Reader<'a> {
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) shop: &'a Shop<'a>,
    /// The items that are named: one, or several that the words do not tell apart.
    named: usize,
    is_question: bool,
}

/// Requests beyond this are not read: a person's request is a few sentences.
const WORDS_MAX: usize = 300;

/// Reads a request.
pub(super) fn read(tokens: &Tokens<'_>, shop: &Shop<'_>) -> Intent {
    if tokens.list.is_empty() {
        return Intent::Say(Say::Empty);
    }
    if tokens.list.len() > WORDS_MAX {
        return Intent::Say(Say::TooLong);
    }
    let reader = Reader::new(tokens, shop);
    reader
        .plain_talk()
        .or_else(|| reader.change())
        .or_else(|| reader.unknown_verb())
        .or_else(|| reader.trade())
        .or_else(|| reader.history())
        .or_else(|| reader.other_table())
        .or_else(|| reader.items())
        .unwrap_or(Intent::Say(Say::Unsupported))
}

impl<'a> Reader<'a> {
    fn new(tokens: &'a Tokens<'a>, shop: &'a Shop<'a>) -> Self {
        let is_polite = tokens.has_any(&["can you", "could you", "would you", "will you"]);
        let starts = QUESTION.contains(&tokens.word(first_word(tokens)));
        let ends = tokens.source.trim_end().ends_with('?');
        let named = count_named(tokens, shop);
        Self { tokens, shop, named, is_question: (starts || ends) && !is_polite }
    }

    fn is_named(&self) -> bool {
        self.tokens.any(|mark| matches!(mark, Mark::Name(_))) || self.named == 1
    }

    /// Whether a number is said, other than by an article.
    fn has_number(&self) -> bool {
        self.tokens.any(|mark| *mark == Mark::Number)
    }

    /// Whether one of the verbs stands where a request has its verb.
    fn commands(&self, verbs: &[&str]) -> bool {
        (0..self.tokens.list.len()).any(|at| self.is_command(at, verbs))
    }

    fn is_command(&self, at: usize, verbs: &[&str]) -> bool {
        let token = &self.tokens.list[at];
        let is_verb = verbs.contains(&token.word.as_str()) && !matches!(token.mark, Mark::Name(_));
        is_verb && (at == 0 || LEADS.contains(&self.tokens.word(at - 1)) || self.follows_a_break(at))
    }

    /// Whether a comma or a full stop stands before a word.
    fn follows_a_break(&self, at: usize) -> bool {
        let before = self.tokens.source[..self.tokens.list[at].start].trim_end();
        before.ends_with([',', ';', '.', '!', ':', '?'])
    }

    /// Whether the request speaks of how many there are.
    fn is_stock(&self) -> bool {
        let column = self.shop.items.as_ref().and_then(|items| items.column(Role::Quantity));
        self.tokens.has_any(STOCK) || column.is_some_and(|column| self.tokens.has(&column.replace('_', " ")))
    }

    /// Whether something is wished for.
    fn wants(&self) -> bool {
        self.tokens.has_any(WANT)
    }

    fn items_have(&self, role: Role) -> bool {
        self.shop.items.as_ref().is_some_and(|items| items.has(role))
    }

    fn has_customer(&self) -> bool {
        let column = self.customer_column();
        self.tokens.any(|mark| match mark {
            Mark::Customer => true,
            Mark::Value(kind) => column.as_deref() == Some(kind) || self.is_person(kind),
            _ => false,
        })
    }

    fn customer_column(&self) -> Option<String> {
        let ledger = self.shop.transactions.as_ref()?;
        Some(format!("{}.{}", ledger.name(), ledger.column(Role::Customer)?))
    }

    /// Whether a value is the name of a row in a table of people.
    fn is_person(&self, kind: &str) -> bool {
        self.shop.others.iter().any(|other| {
            let name = other.column(Role::Name).or_else(|| other.column(Role::Customer));
            name.is_some_and(|name| kind == format!("{}.{name}", other.name()))
        })
    }
}

/// The first word that is no courtesy.
fn first_word(tokens: &Tokens<'_>) -> usize {
    let skip = |word: &str| {
        matches!(
            word,
            "hi" | "hello"
                | "hey"
                | "please"
                | "and"
                | "so"
                | "ok"
                | "okay"
                | "yes"
                | "well"
                | "good"
                | "morning"
                | "also"
        )
    };
    (0..tokens.list.len()).find(|at| !skip(tokens.word(*at))).unwrap_or(0)
}

/// How many items the words name best in the part of the request that names any.
fn count_named(tokens: &Tokens<'_>, shop: &Shop<'_>) -> usize {
    let names = &shop.names;
    if names.is_empty() {
        // The table is too large to know its names here: a strange word may be one.
        let large = shop.items.as_ref().is_some_and(|items| items.brief.rows > 0);
        return usize::from(large && tokens.any(|mark| *mark == Mark::Unknown));
    }
    let parts = tokens.list.split(|token| matches!(token.word.as_str(), "and" | "or" | "plus"));
    parts
        .map(|part| {
            let told = part.iter().filter(|token| {
                matches!(token.mark, Mark::Name(_) | Mark::Value(_) | Mark::Describing | Mark::Unknown)
            });
            let told: Vec<&str> = told.map(|token| token.word.as_str()).collect();
            named(&told, names).len()
        })
        .find(|count| *count > 0)
        .unwrap_or(0)
}
