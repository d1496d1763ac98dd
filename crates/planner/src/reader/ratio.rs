//! `fee per minute`: what is counted or measured divides, what rows are of puts them together. Where both are possible
//! nothing is read, and the refusal says how to say either.

use super::form::{Cond, Measure, Path};
use super::index::{Sort, What, split_name};
use super::lexicon::{LEXICON, singular};
use super::parse::Parser;

/// What it costs that each row is a group of its own: more than any other reading.
const EACH_COST: u32 = 10;

/// What `per` asks for with the name of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Per {
    /// The rows of each value together.
    Groups,
    /// One total divided by that of the column.
    Ratio,
    /// It may be either.
    Open,
}

impl Parser<'_> {
    /// Whether `per`, or `by`, puts rows together by a column that is named from a place to an end.
    pub(super) fn is_group(&self, path: &Path, says_by: bool, start: usize, end: usize) -> bool {
        let per = self.said_per(path, says_by, start, end);
        if per != Per::Groups {
            let counted = self.counter(start, end);
            self.says_both(&counted.unwrap_or_else(|| path.clone()), start, end);
        }
        per == Per::Groups
    }

    fn said_per(&self, path: &Path, says_by: bool, start: usize, end: usize) -> Per {
        let counted = self.counter(start, end);
        if !(path.hops.is_empty() && self.is_quantity(path)) {
            // `rate per day`, where a column counts days, and another one has them.
            return if counted.is_some() && !says_by { Per::Open } else { Per::Groups };
        }
        let name = split_name(&self.index.tables[path.table].columns[path.column].name);
        let is_measured = name.iter().any(|word| LEXICON.has("measure_words", word));
        let said = self.tokens[self.fill(start)..end].iter().map(|token| token.lower.as_str());
        let is_whole_name = said.eq(name.iter().map(String::as_str));
        match (says_by, counted.is_some()) {
            // `by minute`, of a column of minutes, is no group of so many minutes.
            (true, true) if !is_whole_name => Per::Open,
            (true, _) => Per::Groups,
            (false, true) => Per::Ratio,
            (false, false) if self.sort(path) == Sort::Whole && !is_measured => Per::Groups,
            (false, false) => Per::Open,
        }
    }

    /// The column whose numbers count what is said: `minutes`, `weight_kg` of a `kg`, what has its unit.
    fn counter(&self, start: usize, end: usize) -> Option<Path> {
        let said = &self.tokens[self.fill(start)..end];
        let last = said.last()?;
        let columns = self.index.tables[self.focus].columns.iter().enumerate();
        let counts = |name: &str, unit: Option<&str>| {
            let words = split_name(name);
            let Some(noun) = words.last() else { return false };
            let is_name =
                said.iter().map(|token| token.stem.clone()).eq(words.iter().map(|word| singular(word)));
            let is_noun = said.len() == 1 && last.stem == singular(noun);
            let is_unit = LEXICON.has("unit_words", noun);
            let has_unit = unit.is_some_and(|unit| said.len() == 1 && last.lower == unit.to_lowercase());
            let is_several = singular(noun) != *noun;
            has_unit || is_name && (is_several || is_unit) || is_noun && (is_unit || is_several)
        };
        let fits = columns.filter(|(at, column)| {
            self.is_quantity(&self.own(*at)) && counts(&column.name, column.unit.as_deref())
        });
        let mut fits = fits.map(|(at, _)| self.own(at));
        fits.next().filter(|_| fits.next().is_none())
    }

    /// `total fee per minute`, `total fee divided by total minutes`: of the rows that have both.
    pub(super) fn ratios(&self, place: usize) -> Vec<(Measure, Vec<Cond>, usize, u32)> {
        let said = self.function(place);
        let start = said.map_or(place, |(end, _)| self.one("of", end).unwrap_or(end));
        let mut found = Vec::new();
        let columns = self.columns(start).into_iter();
        for (left, end, cost) in columns.filter(|(left, ..)| self.is_own_quantity(left)) {
            // What is no total is not known to be added up: of prices it may be the average of each one's own.
            let is_total = match said {
                Some((_, function)) => function == "sum",
                None => self.files && self.is_additive(&left),
            };
            for (right, end, more) in self.divisors(&left, end, is_total) {
                let has_gaps = |path: &&Path| self.index.tables[path.table].columns[path.column].has_nulls;
                let both = [&left, &right].into_iter().filter(has_gaps);
                let there = both.map(|path| Cond::Not(Box::new(Cond::Null(path.clone())))).collect();
                let totals = (Measure::Of("sum", left.clone()), Measure::Of("sum", right));
                found.push((Measure::Pair(Box::new(totals), '/'), there, end, cost + more));
            }
        }
        found
    }

    /// What a total is divided by, from a place on.
    fn divisors(&self, left: &Path, place: usize, is_total: bool) -> Vec<(Path, usize, u32)> {
        let mut found = Vec::new();
        for start in self.lex("divided", place) {
            let total = self.function(start).filter(|(_, function)| *function == "sum");
            let start = total.map_or(start, |(end, _)| self.one("of", end).unwrap_or(end));
            let columns = self.columns(start).into_iter();
            let columns =
                columns.filter(|(right, ..)| self.is_own_quantity(right) && is_total && total.is_some());
            found.extend(columns);
        }
        for start in self.lex("per", place) {
            let says_by = self.tokens[start - 1].lower == "by";
            let end = self.fill(start) + 1;
            let unit =
                Some(end).filter(|end| *end <= self.tokens.len()).and_then(|end| self.counter(start, end));
            let named = self.columns(start).into_iter().filter(|(right, ..)| self.is_own_quantity(right));
            let all = named.chain(unit.map(|right| (right, end, 0)));
            for (right, end, cost) in all.filter(|(right, ..)| right != left) {
                // `rate per day`, where rows have a day, and a number of them.
                let mut groups = self.grouping(start).into_iter();
                let is_open = groups.any(|(path, at, _)| at == end && !self.is_quantity(&path));
                match self.said_per(&right, says_by, start, end) {
                    Per::Ratio if is_total && !is_open => found.push((right, end, cost)),
                    Per::Ratio | Per::Open => self.says_both(&right, start, end),
                    Per::Groups => {}
                }
            }
        }
        found.dedup();
        found
    }

    fn is_own_quantity(&self, path: &Path) -> bool {
        path.hops.is_empty() && self.is_quantity(path)
    }

    /// Says that `per` may divide or put together.
    fn says_both(&self, path: &Path, start: usize, end: usize) {
        let name = split_name(&self.index.tables[path.table].columns[path.column].name).join(" ");
        let token = &self.tokens[self.fill(start)];
        let said: Vec<&str> = self.tokens[start - 1..end].iter().map(|token| token.text.as_str()).collect();
        let reason = format!(
            "“{}” may divide by {name}, or put rows together: say “total … divided by total {name}”, or “by {name}”",
            said.join(" ")
        );
        self.trace.leaves_open(token, &reason);
    }

    /// Where `per call` ends, in a table of calls, and whether a column is called so too.
    pub(super) fn per_row(&self, place: usize) -> Option<(usize, bool)> {
        let starts = self.lex("per", place).into_iter();
        let mut starts = starts.filter(|start| self.tokens[start - 1].lower != "by");
        starts.find_map(|start| {
            let mentions = self.mentions(start);
            let own = mentions.iter().find(|(what, ..)| *what == What::Table(self.focus));
            let end = own.map(|(_, end, _)| *end).filter(|end| self.is_singular(*end))?;
            let is_column = |(what, at, _): &(What, usize, u32)| {
                *at == end && matches!(what, What::Column(table, _) if *table == self.focus)
            };
            Some((end, mentions.iter().any(is_column)))
        })
    }

    /// `by station`, in a table of stations: each of its rows, by what tells them apart and what they are called.
    pub(super) fn each_row(&self, start: usize) -> Option<(Vec<Path>, usize, u32)> {
        let mentions = self.mentions(start);
        let own = mentions.iter().find(|(what, ..)| *what == What::Table(self.focus));
        let (end, cost) =
            own.map(|(_, end, cost)| (*end, *cost)).filter(|(end, _)| self.is_singular(*end))?;
        // A column that is called so says what is meant.
        let is_column = |(what, at, _): &(What, usize, u32)| {
            *at == end && matches!(what, What::Column(table, _) if *table == self.focus)
        };
        let table = &self.index.tables[self.focus];
        let first = Some(0).filter(|first| self.files && self.index.is_id(self.focus, *first));
        let key = table.key.or(first).filter(|_| !mentions.iter().any(is_column))?;
        let label = table.label.filter(|label| *label != key);
        // Rows of another table that are put together by these are meant before each of them.
        let cost = cost + EACH_COST;
        Some((label.into_iter().chain([key]).map(|column| self.own(column)).collect(), end, cost))
    }

    fn is_singular(&self, end: usize) -> bool {
        self.tokens[end - 1].lower == self.tokens[end - 1].stem
    }

    /// Says that an average for each row may be one figure, or one of each row.
    pub(super) fn says_each(&self, measure: &Measure, end: usize) {
        let Measure::Of(_, path) = measure else { return };
        let (token, name) = (&self.tokens[end - 1], super::words::column(self.index, path));
        let reason = format!(
            "“per {0}” may ask for one figure of all of them, or for one of each: say “average {name}”, or “{name} by {0}”",
            token.text
        );
        self.trace.leaves_open(token, &reason);
    }
}
