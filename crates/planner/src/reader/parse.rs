//! What the grammar stands on: tokens, the lexicon's phrases, mentions, and how tables reach each other.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::amounts;
use super::form::{Cond, Hop, Link, Lit, Path};
use super::index::{Column, Index, Sort, What};
use super::lexicon::LEXICON;
use super::phrase::Np;
use super::token::{Kind, Number, Token};
use super::trace::{Naming, Trace, Wanted};

/// Everything that fits from a place on: what it means, where it ends, and what it costs.
pub(crate) type All<T> = Vec<(T, usize, u32)>;

/// More alternatives than this for one place are not looked at.
const ALTERNATIVES_MAX: usize = 48;
/// References are followed so far.
const HOPS_MAX: usize = 2;

/// Reads tokens as being about one table.
pub(crate) struct Parser<'a> {
    pub(crate) index: &'a Index,
    pub(crate) tokens: &'a [Token],
    /// The table that is asked about.
    pub(crate) focus: usize,
    /// The rows that the conversation was about.
    pub(crate) context: Option<super::form::Select>,
    /// These, and those that it named before.
    pub(crate) several: Option<super::form::Select>,
    /// The rows that the last answer listed, in that order.
    pub(crate) listed: &'a [Cond],
    /// The request as it is written.
    pub(crate) text: &'a str,
    /// Columns are known by their whole names alone, and none by what it probably means.
    pub(crate) strict: bool,
    /// The tables are files.
    pub(crate) files: bool,
    /// The words are a condition of an order: a value is one of the row or of rows that it refers to, never of rows
    /// that refer to it.
    pub(crate) is_condition: bool,
    /// How deep tables are nested.
    pub(crate) depth: usize,
    /// How far the words were understood.
    pub(crate) trace: &'a Trace,
    pub(super) atoms: RefCell<HashMap<usize, Rc<All<Cond>>>>,
    pub(super) phrases: RefCell<HashMap<usize, Rc<All<Np>>>>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(index: &'a Index, tokens: &'a [Token], focus: usize, trace: &'a Trace) -> Self {
        Self {
            index,
            tokens,
            focus,
            context: None,
            several: None,
            listed: &[],
            text: "",
            strict: false,
            files: false,
            is_condition: false,
            depth: 0,
            trace,
            atoms: RefCell::default(),
            phrases: RefCell::default(),
        }
    }

    /// The same tokens, read as being about another table.
    pub(crate) fn about(&self, focus: usize) -> Parser<'a> {
        Parser {
            context: self.context.clone(),
            several: self.several.clone(),
            listed: self.listed,
            text: self.text,
            strict: self.strict,
            files: self.files,
            is_condition: self.is_condition,
            depth: self.depth + 1,
            ..Parser::new(self.index, self.tokens, focus, self.trace)
        }
    }

    /// Something of the table in question was looked for, after fillers.
    pub(crate) fn wants(&self, naming: Naming, place: usize) {
        self.trace.wants(self.tokens, self.fill(place), Wanted::Named(naming, self.focus));
    }

    /// The words from a place on, as far as they are words.
    pub(crate) fn words(&self, place: usize) -> Vec<&str> {
        let rest = self.tokens.get(place..).unwrap_or_default();
        rest.iter().take(6).take_while(|token| !matches!(token.kind, Kind::Quoted)).map(Token::word).collect()
    }

    /// Ends of the phrases of a class that begin at a place.
    pub(crate) fn exact(&self, class: &str, place: usize) -> Vec<usize> {
        let words = self.words(place);
        self.trace.wants_phrase(class, self.tokens, place, &words);
        let found: Vec<usize> =
            LEXICON.matches(class, &words).into_iter().map(|(length, _)| place + length).collect();
        if let Some(end) = found.first() {
            self.trace.reached(*end);
        }
        found
    }

    /// The same after fillers.
    pub(crate) fn lex(&self, class: &str, place: usize) -> Vec<usize> {
        let mut ends = self.exact(class, place);
        let after = self.fill(place);
        if after != place {
            ends.extend(self.exact(class, after));
        }
        ends
    }

    /// The end of the longest phrase of a class, after fillers.
    pub(crate) fn one(&self, class: &str, place: usize) -> Option<usize> {
        self.lex(class, place).into_iter().max()
    }

    /// The longest phrase of a class and its meaning, after fillers.
    pub(crate) fn meaning(&self, class: &str, place: usize) -> Option<(usize, &'static str)> {
        let place = self.fill(place);
        let words = self.words(place);
        self.trace.wants_phrase(class, self.tokens, place, &words);
        let found = LEXICON.matches(class, &words).into_iter().next();
        found.map(|(length, meaning)| {
            self.trace.reached(place + length);
            (place + length, meaning)
        })
    }

    /// Passes over fillers.
    pub(crate) fn fill(&self, mut place: usize) -> usize {
        while let Some((length, _)) = LEXICON.matches("filler", &self.words(place)).first() {
            if self.is_letter(place) {
                break;
            }
            // An article before a word of the tables may be part of a name: mentions are looked up first.
            place += length;
        }
        place
    }

    /// Whether an `a` is no article but a value, as in `grade A`: no noun follows it.
    fn is_letter(&self, place: usize) -> bool {
        let is_a = |token: &Token| matches!(token.lower.as_str(), "a" | "an");
        let closes = |token: &Token| matches!(token.kind, Kind::Sign('.' | '!' | '?' | ',' | ';' | ')'));
        let goes_on = || {
            let words = self.words(place + 1);
            let verbs = ["be", "have", "do", "not", "and", "or", "rule.must", "rule.may"];
            verbs.iter().any(|class| !LEXICON.matches(class, &words).is_empty())
        };
        // `A-1` is one thing.
        let is_joined = |token: &Token| {
            self.tokens.get(place + 1).is_some_and(|next| {
                next.at.0 == token.at.1
                    && matches!(next.kind, Kind::Sign('-' | '_' | '/' | '[' | '\\' | '+' | '*'))
            })
        };
        self.tokens.get(place).is_some_and(|token| {
            is_a(token) && (is_joined(token) || self.tokens.get(place + 1).is_none_or(closes) || goes_on())
        })
    }

    /// The first place after fillers and an interjection: `hello, …`, `great, …`.
    pub(crate) fn opening(&self) -> usize {
        let after_sign =
            |end: usize| self.fill(self.sign(',', end).or_else(|| self.sign('!', end)).unwrap_or(end));
        let first = self.fill(0);
        let first = if first > 0 { after_sign(first) } else { first };
        self.exact("interjection", first).into_iter().max().map_or(first, after_sign)
    }

    /// Passes over fillers, `all` and `any`.
    pub(crate) fn determiners(&self, place: usize) -> usize {
        let mut place = self.fill(place);
        while let Some(end) = self.exact("all", place).into_iter().max() {
            place = self.fill(end);
        }
        place
    }

    /// Whether nothing but closing signs, fillers and a question mark is left: `, please!`.
    pub(crate) fn is_end(&self, place: usize) -> bool {
        let mut place = self.fill(place);
        while let Some(Kind::Sign('.' | '!' | '?' | ',')) = self.tokens.get(place).map(|token| &token.kind) {
            place = self.fill(place + 1);
        }
        place >= self.tokens.len()
    }

    /// A sign at a place.
    pub(crate) fn sign(&self, sign: char, place: usize) -> Option<usize> {
        (self.tokens.get(place)?.kind == Kind::Sign(sign)).then_some(place + 1)
    }

    /// What is mentioned at a place, before or after fillers.
    pub(crate) fn mentions(&self, place: usize) -> Vec<(What, usize, u32)> {
        self.trace.wants_name(self.index, self.tokens, self.fill(place));
        let mut found: Vec<(What, usize, u32)> = self
            .index
            .at(self.tokens, place)
            .into_iter()
            .map(|(what, length, cost)| (what, place + length, cost))
            .collect();
        let after = self.fill(place);
        if after != place {
            // `The Price` is more than `Price` after an article.
            let known = found.iter().map(|(_, end, _)| *end).max().unwrap_or(place);
            let more = self.index.at(self.tokens, after).into_iter();
            let more = more.filter(|(_, length, _)| after + length != known);
            found.extend(more.map(|(what, length, cost)| (what, after + length, cost)));
        }
        if self.strict {
            found.retain(|(what, _, cost)| *cost == 0 || !matches!(what, What::Column(..)));
        }
        // `a booking`, where bookings are a table: the row, and not that somebody did it.
        let nouns: Vec<(usize, usize)> = found
            .iter()
            .filter_map(|(what, end, _)| match what {
                What::Table(table) if self.tokens[end - 1].stem.ends_with("ing") => Some((*table, *end)),
                _ => None,
            })
            .collect();
        found.retain(|(what, end, _)| {
            !matches!(what, What::Verb(which) if nouns.contains(&(self.index.verbs[*which].table, *end)))
        });
        // The longest mention wins.
        let longest = found.iter().map(|(_, end, _)| *end).max().unwrap_or(place);
        self.trace.reached(longest);
        // `horses born in 2018`: the horses, and a day of theirs.
        let is_day = |(what, end, _): &(What, usize, u32)| {
            matches!(what, What::Column(table, column) if self.index.tables[*table].columns[*column].sort == Sort::Day)
                && *end == longest
        };
        let has_day = found.iter().any(is_day);
        found.retain(|(what, end, _)| {
            let is_kept = matches!(what, What::Column(..) | What::Action(_))
                || has_day && matches!(what, What::Table(_));
            *end == longest || is_kept
        });
        found
    }

    /// A number at a place, after fillers.
    pub(crate) fn number(&self, place: usize) -> Option<(Number, Lit, usize)> {
        let mut place = self.fill(place);
        self.trace.wants(self.tokens, place, Wanted::Number);
        let negative = matches!(self.tokens.get(place).map(|token| &token.kind), Some(Kind::Sign('-' | '−')));
        if negative {
            place += 1;
        }
        let token = self.tokens.get(place).filter(|_| !self.index.is_called(self.tokens, place))?;
        let mut number = match token.kind {
            Kind::Number(number) => number,
            Kind::Unclear(number) if amounts::is_fraction(self.index, self.tokens, token) => number,
            _ => return None,
        };
        if negative {
            number.value = -number.value;
        }
        self.trace.reached(place + 1);
        let at = (token.at.0 - usize::from(negative), token.at.1);
        Some((number, Lit { value: exact(&token.text, number.value), at }, place + 1))
    }

    /// Whether a column is in the currency of a number, as far as both are known.
    pub(crate) fn is_in(&self, path: &Path, number: &Number) -> bool {
        amounts::is_same(&self.index.tables[path.table].columns[path.column], number)
    }

    /// Days at a place.
    pub(crate) fn days(&self, place: usize) -> Option<(Lit, Lit, usize)> {
        let place = self.fill(place);
        self.trace.wants(self.tokens, place, Wanted::Day);
        let token = self.tokens.get(place)?;
        if let Kind::Days(from, until) = &token.kind {
            self.trace.reached(place + 1);
            let lit = |day: &str| Lit { value: json!(day), at: token.at };
            return Some((lit(from), lit(until), place + 1));
        }
        None
    }

    /// A value and the place that it came from.
    pub(crate) fn lit(&self, value: Value, from: usize, end: usize) -> Lit {
        let from = self.fill(from).min(end.saturating_sub(1));
        Lit { value, at: (self.tokens[from].at.0, self.tokens[end - 1].at.1) }
    }

    /// A column of the table in question.
    pub(crate) fn own(&self, column: usize) -> Path {
        Path { hops: Vec::new(), table: self.focus, column }
    }

    /// The references that lead from a table to another, shortest first; none if it is the same.
    pub(crate) fn hops(&self, from: usize, to: usize) -> Vec<Vec<Hop>> {
        let mut found = Vec::new();
        let mut open = vec![(from, Vec::new())];
        while let Some((table, hops)) = open.pop() {
            if table == to {
                found.push(hops);
                continue;
            }
            if hops.len() == HOPS_MAX {
                continue;
            }
            for (at, column) in self.index.tables[table].columns.iter().enumerate() {
                if let Some((next, key)) = column.refers.filter(|(next, _)| *next != from) {
                    let hop = Hop { column: at, table: next, to: key };
                    open.push((next, [hops.clone(), vec![hop]].concat()));
                }
            }
        }
        found.sort_by_key(Vec::len);
        let shortest = found.first().map_or(0, Vec::len);
        found.retain(|hops| hops.len() == shortest);
        found
    }

    /// The tables whose rows refer to rows of the one in question.
    pub(crate) fn links(&self) -> Vec<Link> {
        let tables = self.index.tables.iter().enumerate();
        tables
            .flat_map(|(table, shape)| {
                shape.columns.iter().enumerate().filter_map(move |(column, of)| {
                    let (other, to) = of.refers?;
                    (other == self.focus && table != other).then_some(Link { table, column, to })
                })
            })
            .collect()
    }

    /// A condition on a column of any table, as a condition on rows of the table in question.
    pub(crate) fn reach(&self, table: usize, make: &dyn Fn(Path) -> Cond, column: usize) -> Vec<(Cond, u32)> {
        if table == self.focus {
            return vec![(make(self.own(column)), 0)];
        }
        let over = |hops: Vec<Hop>| make(Path { hops, table, column });
        let direct = self.hops(self.focus, table);
        if !direct.is_empty() || self.is_condition {
            return direct.into_iter().map(|hops| (over(hops), 1)).collect();
        }
        let mut found: Vec<(usize, Cond)> = Vec::new();
        for link in self.links() {
            for hops in self.hops(link.table, table) {
                found.push((hops.len(), Cond::Some(link, Box::new(over(hops)))));
            }
        }
        let shortest = found.iter().map(|(length, _)| *length).min().unwrap_or(0);
        found.into_iter().filter(|(length, _)| *length == shortest).map(|(_, cond)| (cond, 2)).collect()
    }

    /// The column that is meant by a price, a stock or a date.
    pub(crate) fn role(&self, role: &str) -> Option<usize> {
        if self.strict {
            return None;
        }
        if role == "age" && self.index.tables[self.focus].is_people {
            // Somebody is old by the day of birth, not by the day of joining.
            let columns = &self.index.tables[self.focus].columns;
            let is_birth = |column: &Column| {
                let words = super::index::split_name(&column.name);
                column.sort == Sort::Day && words.iter().any(|word| LEXICON.has("birth_words", word))
            };
            return columns.iter().position(is_birth);
        }
        if role == "date" || role == "age" {
            let table = &self.index.tables[self.focus];
            let is_year = |column: &Column| column.cut.is_none() && column.name == "year";
            let year = || table.columns.iter().position(is_year);
            let day =
                self.index.day(self.focus).filter(|day| self.files || self.index.says_age(self.focus, *day));
            return day.or_else(year);
        }
        // What was sold is in no stock.
        let is_record = |focus: usize| {
            let mut verbs = self.index.verbs.iter();
            self.index.tables[focus].append_only
                || verbs.any(|verb| verb.table == focus && verb.action.is_some())
        };
        let is_stock = role != "quantity" || self.files || !is_record(self.focus);
        self.index.role(self.focus, role).filter(|_| is_stock)
    }

    /// The columns that may say what a row costs: the price; where so many were sold at that price, their total too.
    pub(crate) fn costs(&self) -> impl Iterator<Item = usize> {
        let price = self.role("price");
        let total = price.and(self.role("quantity")).and_then(|_| self.role("amount"));
        price.into_iter().chain(total)
    }

    /// Whether a column holds numbers.
    pub(crate) fn is_number(&self, path: &Path) -> bool {
        matches!(self.sort(path), Sort::Number | Sort::Whole)
    }

    /// Whether a column holds numbers that can be added up: an id, a number of a house or a year is none.
    pub(crate) fn is_quantity(&self, path: &Path) -> bool {
        self.is_number(path) && !self.index.is_id(path.table, path.column)
    }

    /// What a column holds.
    pub(crate) fn sort(&self, path: &Path) -> Sort {
        self.index.tables[path.table].columns[path.column].sort
    }
}

/// A number as it is written: a whole one may have more digits than a fraction can hold.
fn exact(text: &str, value: f64) -> Value {
    let whole = text.replace(',', "").parse::<i64>().ok().filter(|_| value.abs() >= 9e15);
    whole.map_or_else(|| as_json(value), |whole| json!(if value < 0.0 { -whole } else { whole }))
}

/// A number as JSON writes it: whole ones without a fraction.
pub(crate) fn as_json(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Keeps the cheapest alternatives, each end and meaning once.
pub(crate) fn prune<T: PartialEq>(mut all: All<T>) -> All<T> {
    all.sort_by_key(|(_, end, cost)| (*cost, std::cmp::Reverse(*end)));
    let mut kept: All<T> = Vec::new();
    for (meaning, end, cost) in all {
        if !kept.iter().any(|(known, at, _)| *at == end && *known == meaning) {
            kept.push((meaning, end, cost));
        }
        if kept.len() == ALTERNATIVES_MAX {
            break;
        }
    }
    kept
}
