//! Text to reading.

#[cfg(test)]
use std::collections::BTreeSet;

use crate::algebra::{Cond, Demand, Name, Path};
use crate::catalog::Catalog;
use crate::chart::Chart;
use crate::context::Context;
use crate::index::Index;
use crate::mention::Mentions;
use crate::pandas::{self, Program};
use crate::query::{Meaning, Query};
use crate::sql::{self, Dialect, Select};
use crate::token::tokens;
use crate::value::Value;
use crate::words;

/// Longer texts are not looked at.
pub(crate) const BYTES_MAX: usize = 4096;
/// Texts of more tokens are not read.
pub(crate) const TOKENS_MAX: usize = 120;

/// What a sentence was read as.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading<M> {
    /// It has one meaning.
    Certain(Box<M>),
    /// It has several.
    Choose(Vec<M>),
    /// It has none.
    Silent {
        /// The first word that nothing is called by, or else the one at which it stops, if it is not its end.
        at: Option<String>,
        /// Where that word stands, in bytes.
        span: (usize, usize),
        /// Words and kinds of names that could have stood there.
        expected: Vec<&'static str>,
        /// A name that is spelled like the word.
        nearest: Option<String>,
    },
}

/// Reads sentences about a catalog.
#[derive(Debug)]
pub struct Reader {
    catalog: Catalog,
    index: Index,
    judged: Option<Name>,
}

/// What became of one text: its meanings, and how far it was understood.
#[derive(Debug)]
pub(crate) struct Read<M> {
    pub(crate) meanings: Vec<M>,
    /// The token to blame where there is no meaning.
    stopped: usize,
    expected: Vec<&'static str>,
    #[cfg(test)]
    pub(crate) used: BTreeSet<usize>,
    #[cfg(test)]
    pub(crate) lost: BTreeSet<&'static str>,
}

impl Reader {
    /// A reader of rules about the rows of one table, or of any where none is named.
    pub fn new(catalog: Catalog, judged: Option<&str>) -> Self {
        let judged = judged.map(Name::from);
        let index = Index::new(&catalog, judged.as_ref());
        Self { catalog, index, judged }
    }

    /// A reader of requests.
    pub fn of_requests(catalog: Catalog) -> Self {
        let index = Index::of_questions(&catalog);
        Self { catalog, index, judged: None }
    }

    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    /// What sentences are read against.
    pub(crate) fn context(&self) -> Context<'_> {
        Context { catalog: &self.catalog, index: &self.index, judged: self.judged.clone() }
    }

    /// What it reads against.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Reads a rule.
    pub fn rule(&self, text: &str) -> Reading<Demand> {
        self.reading(text, self.demands(text))
    }

    /// Reads a request.
    pub fn request(&self, text: &str) -> Reading<Meaning> {
        self.reading(text, self.meanings(text))
    }

    /// Reads a condition on the rows of a table.
    pub fn condition(&self, table: &str, text: &str) -> Option<Cond> {
        let table: Name = table.into();
        let read = self.read(text, "conds", |value, context| match value {
            Value::Cond(cond) => context.bound(&cond, &table).into_iter().map(Cond::normal).collect(),
            _ => Vec::new(),
        })?;
        match <[Cond; 1]>::try_from(read.meanings) {
            Ok([one]) => Some(one),
            Err(_) => None,
        }
    }

    pub(crate) fn reading<M>(&self, text: &str, read: Option<Read<M>>) -> Reading<M> {
        let Some(Read { mut meanings, expected, stopped, .. }) = read else {
            return Reading::Silent { at: None, span: (0, text.len()), expected: Vec::new(), nearest: None };
        };
        let at = tokens(text).into_iter().nth(stopped);
        match meanings.len() {
            0 => Reading::Silent {
                nearest: at.as_ref().and_then(|token| self.index.nearest(&token.lower)),
                span: at.as_ref().map_or((text.len(), text.len()), |token| token.at),
                at: at.map(|token| token.text),
                expected,
            },
            1 => Reading::Certain(Box::new(meanings.remove(0))),
            _ => Reading::Choose(meanings),
        }
    }

    /// A demand as a sentence: in plain words where they are read as just that, else with exact names. Nothing where there
    /// are no words for it that read back.
    pub fn words(&self, demand: &Demand) -> Option<String> {
        let said =
            [false, true].into_iter().filter_map(|is_exact| words::demand(demand, &self.catalog, is_exact));
        let mut read =
            said.filter(|text| self.demands(text).is_some_and(|read| read.meanings == [demand.clone()]));
        read.next()
    }

    /// A meaning as a sentence, in the same way.
    pub fn words_of(&self, meaning: &Meaning) -> Option<String> {
        let said =
            [false, true].into_iter().filter_map(|is_exact| words::meaning(meaning, &self.catalog, is_exact));
        let mut read =
            said.filter(|text| self.meanings(text).is_some_and(|read| read.meanings == [meaning.clone()]));
        read.next()
    }

    /// The code of a check that judges a demand. The sentence is what it says, for the reader of the code; the lines of
    /// `narrowed` leave fewer rows in `rows`.
    pub fn program(&self, demand: &Demand, sentence: &str, narrowed: &[String]) -> Program {
        pandas::program(demand, &self.catalog, sentence, narrowed)
    }

    /// A condition as a clause: `price is below 50`. Nothing where it always holds, or the language has no words for it.
    pub fn condition_words(&self, table: &str, cond: &Cond) -> Option<String> {
        words::condition(&table.into(), cond, &self.catalog)
    }

    /// A question as SQL; nothing where the dialect has no words for it. `shown` are the columns of rows of which the
    /// question names none.
    pub fn select(&self, query: &Query, shown: &[Path], dialect: Dialect) -> Option<Select> {
        sql::select(query, shown, &self.catalog, dialect)
    }

    /// Every meaning of a rule; nothing where there were too many to look at.
    pub(crate) fn demands(&self, text: &str) -> Option<Read<Demand>> {
        self.read(text, "rule", |value, _| match value {
            Value::Demand(demand) => vec![*demand],
            _ => Vec::new(),
        })
    }

    /// Every meaning of a request; nothing where there were too many to look at.
    pub(crate) fn meanings(&self, text: &str) -> Option<Read<Meaning>> {
        self.read(text, "request", |value, _| match value {
            Value::Meaning(meaning) => vec![*meaning],
            _ => Vec::new(),
        })
    }

    pub(crate) fn read<M: Ord>(
        &self,
        text: &str,
        symbol: &str,
        meanings: impl Fn(Value, &Context<'_>) -> Vec<M>,
    ) -> Option<Read<M>> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let tokens = tokens(text);
        if tokens.is_empty() || tokens.len() > TOKENS_MAX {
            return None;
        }
        let mentions = Mentions::new(&self.index, &tokens, text);
        let context = self.context();
        let mut chart = Chart::new(&context, &tokens, &mentions);
        let values = chart.all(symbol)?;
        let mut meanings: Vec<M> = values.into_iter().flat_map(|value| meanings(value, &context)).collect();
        meanings.sort();
        meanings.dedup();
        let strange = (0..tokens.len()).find(|at| mentions.is_strange(*at, &tokens[*at], symbol == "change"));
        let expected = if strange.is_some() { Vec::new() } else { chart.expected.iter().copied().collect() };
        Some(Read {
            meanings,
            stopped: strange.unwrap_or(chart.furthest),
            expected,
            #[cfg(test)]
            used: std::mem::take(&mut chart.used),
            #[cfg(test)]
            lost: std::mem::take(&mut chart.lost),
        })
    }
}
