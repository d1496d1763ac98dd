//! Text to reading.

#[cfg(test)]
use std::collections::BTreeSet;

use crate::algebra::{Demand, Name};
use crate::catalog::Catalog;
use crate::chart::Chart;
use crate::context::Context;
use crate::index::Index;
use crate::mention::Mentions;
use crate::pandas::{self, Program};
use crate::token::tokens;
use crate::value::Value;
use crate::words;

/// Longer texts are not read.
const TOKENS_MAX: usize = 120;

/// What a sentence was read as.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// It has one meaning.
    Certain(Box<Demand>),
    /// It has several.
    Choose(Vec<Demand>),
    /// It has none.
    Silent {
        /// The word at which it stops, if it is not its end.
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
pub(crate) struct Read {
    pub(crate) demands: Vec<Demand>,
    furthest: usize,
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

    /// What it reads against.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Reads a rule.
    pub fn rule(&self, text: &str) -> Reading {
        let read = self.read(text);
        let at = tokens(text).into_iter().nth(read.as_ref().map_or(0, |read| read.furthest));
        let Some(Read { mut demands, expected, .. }) = read else {
            return Reading::Silent { at: None, span: (0, text.len()), expected: Vec::new(), nearest: None };
        };
        match demands.len() {
            0 => Reading::Silent {
                nearest: at.as_ref().and_then(|token| self.index.nearest(&token.lower)),
                span: at.as_ref().map_or((text.len(), text.len()), |token| token.at),
                at: at.map(|token| token.text),
                expected,
            },
            1 => Reading::Certain(Box::new(demands.remove(0))),
            _ => Reading::Choose(demands),
        }
    }

    /// A demand as a sentence: in plain words where they are read as just that, else with exact names. Nothing where there
    /// are no words for it that read back.
    pub fn words(&self, demand: &Demand) -> Option<String> {
        let said =
            [false, true].into_iter().filter_map(|is_exact| words::demand(demand, &self.catalog, is_exact));
        let mut read =
            said.filter(|text| self.read(text).is_some_and(|read| read.demands == [demand.clone()]));
        read.next()
    }

    /// The code of a check that judges a demand. The sentence is what it says, for the reader of the code; the lines of
    /// `narrowed` leave fewer rows in `rows`.
    pub fn program(&self, demand: &Demand, sentence: &str, narrowed: &[String]) -> Program {
        pandas::program(demand, &self.catalog, sentence, narrowed)
    }

    /// Every meaning of a rule; nothing where there were too many to look at.
    pub(crate) fn read(&self, text: &str) -> Option<Read> {
        let tokens = tokens(text);
        if tokens.is_empty() || tokens.len() > TOKENS_MAX {
            return None;
        }
        let mentions = Mentions::new(&self.index, &tokens, text);
        let context = Context { catalog: &self.catalog, index: &self.index, judged: self.judged.clone() };
        let mut chart = Chart::new(&context, &tokens, &mentions);
        let values = chart.all("rule")?;
        let mut demands: Vec<Demand> = Vec::new();
        for value in values {
            if let Value::Demand(demand) = value
                && !demands.contains(&demand)
            {
                demands.push(*demand);
            }
        }
        demands.sort();
        let expected = chart.expected.iter().copied().collect();
        Some(Read {
            demands,
            furthest: chart.furthest,
            expected,
            #[cfg(test)]
            used: std::mem::take(&mut chart.used),
            #[cfg(test)]
            lost: std::mem::take(&mut chart.lost),
        })
    }
}
