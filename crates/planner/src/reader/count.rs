//! Questions that ask how many.

use super::form::{Asked, Cond, Measure, Path, Select};
use super::index::{Sort, What, split_name};
use super::lexicon::singular;
use super::parse::{All, Parser};
use super::phrase::Np;
use super::question::is_plain;
use super::token::Token;

impl Parser<'_> {
    /// `how many`, `the number of`.
    pub(crate) fn counted(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for begin in self.lex("how_many", start) {
            let is_kinds = self.tokens[begin - 1..]
                .iter()
                .take(2)
                .any(|token| matches!(token.lower.as_str(), "different" | "distinct"));
            // `how many different days`, in a table of days: the days, and not the rows.
            let has_values = is_kinds && !self.different(begin).is_empty();
            let is_open = has_values || self.counts_otherwise(begin);
            for (np, end, cost) in
                self.np(begin).iter().filter(|(np, ..)| !is_open && np.order.is_none() && np.number.is_none())
            {
                // `how many visits`, where a column of the visits says how many: it is asked which is meant.
                let cost = cost + u32::from(self.rows_and_column(begin).is_some());
                let done = self.done_to(np, *end);
                for (filter, end, more) in self.with_more(np, *end).into_iter().chain(done) {
                    for (after, total) in self.tails(end) {
                        // Of things that are kept in stock it is not known here whether pieces are meant.
                        if after != end && (self.files || self.role("quantity").is_none()) {
                            found.extend(self.counted_with(&filter, after, cost + more));
                        }
                        let (has_have, end) = (self.tokens[end..after].iter().any(is_have), after);
                        found.extend(
                            self.count_of(np, &filter, is_kinds, total, has_have)
                                .into_iter()
                                .map(|s| (s, end, cost + more)),
                        );
                        if let (Some(left), Some(_)) = (self.stock("stock_yes", end), self.role("quantity")) {
                            found.extend(
                                self.count_of(np, &filter, is_kinds, true, false).into_iter().flat_map(
                                    |select| {
                                        let ends = self.tails(left).into_iter();
                                        ends.map(move |(end, _)| (select.clone(), end, cost + more))
                                    },
                                ),
                            );
                        }
                        for ((by, cond), end, less) in self.per_rows(end) {
                            let asked = Asked::Figure { measure: Measure::Count, by, best: None };
                            let filter = Cond::all(vec![filter.clone(), cond]);
                            found.push((self.select(filter, asked), end, cost + more + less));
                        }
                    }
                }
            }
            // `how many copies of Emma do we have`, `how many beds does the Sky Suite have`
            for (path, end, cost) in self
                .columns(begin)
                .into_iter()
                .filter(|(path, ..)| self.is_quantity(path) && path.hops.is_empty())
            {
                for (np, end, more) in self.of_rows(end) {
                    let asked = if np.names.len() == 1 && !self.files {
                        Asked::Columns(vec![path.clone()])
                    } else {
                        sum(&path)
                    };
                    let select = Select { limit: None, ..np.select(self.focus, asked) };
                    found.extend(
                        self.tails(end).into_iter().map(|(end, _)| (select.clone(), end, cost + more)),
                    );
                }
                // Of files it is not known whether `how many visits` are rows or the sum of a column, unless its name says it.
                let rows =
                    if self.files && !self.is_additive(&path) { Vec::new() } else { self.with_spoken(end) };
                for (filter, end, more) in rows {
                    // `how many bags do we sell`, `were sold`: of those in stock nothing says how many were.
                    let is_sold = |after: usize| {
                        let mut said = self.tokens[end..after].iter();
                        filter.asks_others() || said.any(|token| token.lower == "sell")
                    };
                    let is_stock = self.is_stock(&path);
                    for (end, _) in
                        self.tails(end).into_iter().filter(|(after, _)| !(is_stock && is_sold(*after)))
                    {
                        found.push((self.select(filter.clone(), sum(&path)), end, cost + more + 1));
                        for (by, end, less) in self.per(end) {
                            let asked =
                                Asked::Figure { measure: Measure::Of("sum", path.clone()), by, best: None };
                            found.push((self.select(filter.clone(), asked), end, cost + more + less + 1));
                        }
                    }
                }
            }
            found.extend(self.different(begin));
            if self.files {
                found.extend(self.gaps(begin));
                if self.index.tables.len() == 1 {
                    found.extend(self.counted_with(&Cond::always(), begin, 1));
                }
            }
        }
        found
    }

    /// What rows are put together by, and perhaps which rows: `per region for widgets`, `by product in March 2026`.
    pub(crate) fn per_rows(&self, place: usize) -> All<(Vec<Path>, Cond)> {
        let mut found: All<(Vec<Path>, Cond)> = Vec::new();
        for (by, end, cost) in self.per(place) {
            found.push(((by.clone(), Cond::always()), end, cost));
            // A bound may be about the rows or about the figures, so it is not read here.
            let rows = self.of_rows(end).into_iter().filter(|(np, ..)| np.order.is_none());
            let named = rows.map(|(np, end, more)| (Cond::all(np.conds), end, more));
            for (cond, end, more) in self.conds(end).into_iter().chain(named) {
                if is_part(&cond) && !cond.is_always() {
                    found.push(((by.clone(), cond), end, cost + more + 1));
                }
            }
        }
        found
    }

    /// How many rows there are for which something more is said: `were placed in March`, by groups if so said.
    fn counted_with(&self, filter: &Cond, place: usize, cost: u32) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for (cond, end, more) in self.conds(place) {
            let filter = Cond::all(vec![filter.clone(), cond]);
            let count = |by: Vec<Path>| Asked::Figure { measure: Measure::Count, by, best: None };
            found.push((self.select(filter.clone(), count(Vec::new())), end, cost + more));
            let groups = self.per(end).into_iter();
            found
                .extend(groups.map(|(by, end, less)| {
                    (self.select(filter.clone(), count(by)), end, cost + more + less)
                }));
        }
        found
    }

    /// `how many different authors are there`; of files also `how many customers ordered in each region`.
    fn different(&self, begin: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let said = begin;
        let begin = self.determiners(begin);
        // `how many frames`, where the texts of another table speak of frames: values, or those rows?
        let is_word =
            |(what, ..): &(What, usize, u32)| matches!(what, What::Word(table, ..) if *table != self.focus);
        let is_said = self.tokens[said - 1..begin]
            .iter()
            .any(|token| matches!(token.lower.as_str(), "different" | "distinct"));
        if !is_said && self.mentions(begin).iter().any(is_word) {
            return found;
        }
        for (path, end, cost) in self.columns(begin).into_iter().filter(|(path, ..)| path.hops.is_empty()) {
            let is_id = self.files && self.is_number(&path) && !self.is_quantity(&path);
            let is_day = cost == 0 && self.is_day(&path);
            if self.sort(&path) != Sort::Text && !is_id && !is_day {
                continue;
            }
            let rows = if self.files { self.with_verb(end) } else { vec![(Cond::always(), end, 0)] };
            for (filter, end, more) in rows {
                let measure = Measure::Distinct(path.clone());
                let asked = |by: Vec<Path>| Asked::Figure { measure: measure.clone(), by, best: None };
                for (end, _) in self.tails(end) {
                    found.push((self.select(filter.clone(), asked(Vec::new())), end, cost + more + 1));
                    let groups = self.per(end).into_iter().filter(|_| self.files);
                    found.extend(groups.map(|(by, end, less)| {
                        (self.select(filter.clone(), asked(by)), end, cost + more + less + 1)
                    }));
                }
            }
        }
        found
    }

    /// Whether a column has days, and not the times of one.
    fn is_day(&self, path: &Path) -> bool {
        self.sort(path) == Sort::Day && !self.index.tables[path.table].columns[path.column].has_time
    }

    /// Whether `how many docks` may ask for the rows or for the sum of a column that is called so and is not known to be added
    /// up.
    fn counts_otherwise(&self, place: usize) -> bool {
        let is_several = |column: usize| {
            let words = split_name(&self.index.tables[self.focus].columns[column].name);
            words.last().is_some_and(|last| singular(last) != *last)
        };
        let column = self.rows_and_column(place).map(|(column, _)| column);
        column.is_some_and(|column| is_several(column) && !self.is_additive(&self.own(column)))
            && self.says_rows_or_column(place)
    }

    /// The column of numbers that a word names which is the noun of the rows as well, and the end of the word.
    pub(crate) fn rows_and_column(&self, place: usize) -> Option<(usize, usize)> {
        let mentions = self.mentions(place);
        let rows = mentions.iter().find(|(what, ..)| *what == What::Table(self.focus));
        mentions.iter().find_map(|(what, end, cost)| match what {
            What::Column(table, column) => {
                let is_same = rows.is_some_and(|(_, at, _)| at == end) && (*table, *cost) == (self.focus, 0);
                (is_same && self.is_quantity(&self.own(*column))).then_some((*column, *end))
            }
            _ => None,
        })
    }

    /// Whether a word is both, which is said if nothing else is read.
    pub(crate) fn says_rows_or_column(&self, place: usize) -> bool {
        let Some((column, end)) = self.rows_and_column(place) else { return false };
        let (token, name) = (&self.tokens[end - 1], super::words::column(self.index, &self.own(column)));
        let reason = format!(
            "“{}” may be the rows or a column of theirs: say “how many rows”, or “total {name}”",
            token.text
        );
        self.trace.leaves_open(token, &reason);
        true
    }

    /// `how many reviews are missing`.
    fn gaps(&self, begin: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for (path, end, cost) in self.columns(begin).into_iter().filter(|(path, ..)| path.hops.is_empty()) {
            let Some(end) = self.one("be", end).and_then(|end| self.one("rule.null", end)) else { continue };
            let asked = Asked::Figure { measure: Measure::Count, by: Vec::new(), best: None };
            found.push((self.select(Cond::Null(path), asked), end, cost));
        }
        found
    }

    /// What is said after a column; if nothing is, the rows that the conversation was about.
    fn with_spoken(&self, place: usize) -> All<Cond> {
        let spoken = self.context.as_ref().filter(|rows| rows.table == self.focus && rows.order.is_none());
        let rows = spoken.map_or_else(Cond::always, |rows| rows.filter.clone());
        let said = self.with_verb(place).into_iter();
        said.map(|(cond, end, cost)| (if cond.is_always() { rows.clone() } else { cond }, end, cost))
            .collect()
    }

    /// What is said after a column: `were sold in March`, or nothing.
    pub(crate) fn with_verb(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = vec![(Cond::always(), place, 0)];
        found.extend(self.conds(place));
        found
    }

    /// Counts rows; of things that are kept in stock, pieces, where that is what was asked.
    fn count_of(&self, np: &Np, filter: &Cond, is_kinds: bool, total: bool, has_have: bool) -> Vec<Select> {
        let rows = || {
            self.select(filter.clone(), Asked::Figure { measure: Measure::Count, by: Vec::new(), best: None })
        };
        let Some(stock) = self.role("quantity").filter(|_| !is_kinds) else { return vec![rows()] };
        if let Some(pieces) = self.pieces_done(filter, np.is_named()) {
            return vec![pieces];
        }
        // `how many books are on loan`: titles, or copies? How many are in stock says nothing.
        if let Some(others) = self.others(filter) {
            return vec![rows(), others];
        }
        let stock = self.own(stock);
        // `how many wayfarers do you have left`: the stock, whether there is any or not.
        let is_stock =
            |cond: &Cond| matches!(cond, Cond::Cmp(path, super::form::Op::Gt, _) if *path == stock);
        let rest: Vec<Cond> = match filter {
            Cond::And(all) => all.iter().filter(|cond| !is_stock(cond)).cloned().collect(),
            one if is_stock(one) => Vec::new(),
            one => vec![one.clone()],
        };
        let rest = Cond::all(rest);
        let asks_stock = rest != *filter;
        let pieces = match np.names.len() {
            1 if !self.files => self.select(rest.clone(), Asked::Columns(vec![stock])),
            _ => self.select(rest.clone(), sum(&stock)),
        };
        let conds = if let Cond::And(all) = &rest { all.as_slice() } else { std::slice::from_ref(&rest) };
        let is_of_one = asks_stock && conds.iter().any(|cond| self.is_name(cond));
        if np.is_named() || total || is_of_one || self.is_called_by(np) {
            vec![pieces]
        } else if asks_stock || has_have {
            vec![pieces, rows()]
        } else {
            vec![rows()]
        }
    }

    /// Whether rows are called by a word of their names: `chains`, for the Deore Chain and others.
    fn is_called_by(&self, np: &Np) -> bool {
        let label = self.index.tables[self.focus].label;
        let is_label = |cond: &Cond| matches!(cond, Cond::Word(path, _) if path.hops.is_empty() && Some(path.column) == label);
        !np.has_table() && np.conds.iter().any(is_label)
    }

    /// The rows of another table that a filter speaks of, counted instead.
    fn others(&self, filter: &Cond) -> Option<Select> {
        let conds = match filter {
            Cond::And(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        conds.iter().find_map(|cond| match cond {
            Cond::Some(link, inner) => {
                let asked = Asked::Figure { measure: Measure::Count, by: Vec::new(), best: None };
                Some(Select { table: link.table, ..self.select(inner.as_ref().clone(), asked) })
            }
            _ => None,
        })
    }

    /// The rows of a phrase with what is said of them after it: `are on loan`, `does Emil Roth have`.
    pub(crate) fn with_more(&self, np: &Np, end: usize) -> All<Cond> {
        let filter = Cond::all(np.conds.clone());
        let mut found: All<Cond> = vec![(filter.clone(), end, 0)];
        for start in self.lex("do", end).into_iter().chain(self.lex("have", end)) {
            for (subject, end, cost) in self.conds(start).into_iter().filter(|(cond, ..)| is_plain(cond)) {
                // `how many bikes does Ann Lee have`: not those that she had.
                let have = self.one("have", end).filter(|_| !self.may_be_over(&subject));
                let both = Cond::all(vec![filter.clone(), subject]);
                found.extend(have.map(|end| (both.clone(), end, cost)));
                for (verb, after, _) in self.verbs(end) {
                    found.push((Cond::all(vec![both.clone(), verb.means.clone()]), after, cost));
                }
            }
        }
        found
    }
}

/// `how many sunglasses do we have`: kinds, or pieces?
fn is_have(token: &Token) -> bool {
    matches!(token.lower.as_str(), "have" | "carry" | "stock" | "sell")
}

/// Values and days, and nothing else.
fn is_part(cond: &Cond) -> bool {
    match cond {
        Cond::And(all) => all.iter().all(is_part),
        Cond::Not(one) => is_plain(one),
        Cond::Days(..) => true,
        one => is_plain(one),
    }
}

fn sum(path: &Path) -> Asked {
    Asked::Figure { measure: Measure::Of("sum", path.clone()), by: Vec::new(), best: None }
}
