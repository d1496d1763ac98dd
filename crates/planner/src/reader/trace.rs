//! How far a grammar came, and what it looked for where a request that is still being typed ends.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::explain::Unknown;
use super::index::{Index, What};
use super::lexicon::LEXICON;
use super::token::Token;

/// What a grammar tried.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    furthest: Cell<usize>,
    open: RefCell<Option<Unknown>>,
    wanted: Option<RefCell<BTreeSet<Wanted>>>,
}

/// What a grammar looked for after the last word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    /// Something of a table that can be named.
    Named(Naming, usize),
    /// The rest of a name: what it names, and the words that are left.
    Rest(Naming, String),
    /// A number.
    Number,
    /// A day.
    Day,
    /// A word of the language, and its place among the words that would do as well.
    Word(usize, String),
}

/// What can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Naming {
    /// A declared action.
    Action,
    /// Rows of a table.
    Table,
    /// A column.
    Column,
    /// A declared metric.
    Metric,
    /// A column's value, or a declared phrasing.
    Value,
}

impl Naming {
    /// What is named by a mention.
    pub(crate) fn of(what: &What) -> Self {
        match what {
            What::Action(_) => Self::Action,
            What::Table(_) | What::Deeds(_) => Self::Table,
            What::Column(..) => Self::Column,
            What::Metric(_) => Self::Metric,
            What::Value(..) | What::Word(..) | What::Verb(_) => Self::Value,
        }
    }
}

impl Trace {
    /// A token was understood, up to a place.
    pub(crate) fn reached(&self, place: usize) {
        self.furthest.set(self.furthest.get().max(place));
    }

    /// The first token that was not understood.
    pub(crate) fn furthest(&self) -> usize {
        self.furthest.get()
    }

    /// A word is understood, and leaves open what is asked: what to say instead, if nothing else is read.
    pub(crate) fn leaves_open(&self, token: &Token, reason: &str) {
        self.open.borrow_mut().get_or_insert_with(|| Unknown::because(token, reason));
    }

    /// The first word that leaves open what is asked.
    pub(crate) fn open(&self) -> Option<Unknown> {
        self.open.borrow().clone()
    }

    fn note(&self, wanted: impl FnOnce() -> Vec<Wanted>) {
        if let Some(noted) = &self.wanted {
            noted.borrow_mut().extend(wanted());
        }
    }

    /// Something was looked for, at the end if there is no token left.
    pub(crate) fn wants(&self, tokens: &[Token], place: usize, wanted: Wanted) {
        if place == tokens.len() {
            self.note(|| vec![wanted]);
        }
    }

    /// A phrase of the lexicon was looked for: what is left of it, if the words so far are its beginning.
    pub(crate) fn wants_phrase(&self, class: &str, tokens: &[Token], place: usize, words: &[&str]) {
        if place + words.len() == tokens.len() {
            let rest = || LEXICON.rest(class, words).map(|(order, rest)| Wanted::Word(order, rest)).collect();
            self.note(rest);
        }
    }

    /// A name was looked for: what is left of it, if the words so far are its beginning.
    pub(crate) fn wants_name(&self, index: &Index, tokens: &[Token], place: usize) {
        if place < tokens.len() {
            self.note(|| {
                let rest = index.rest(&tokens[place..]).into_iter();
                rest.map(|(what, rest)| Wanted::Rest(Naming::of(&what), rest)).collect()
            });
        }
    }
}
