//! Changes that no action covers, said in so many words: `set the price of Moon to 90`, `add a part called Bell with sku B1`,
//! `remove the Shield`.

use serde_json::{Value, json};

use super::form::{Argument, Asked, Cond, Form, Lit, Op, Operand, Path, Select, Set, To};
use super::index::{Sort, What};
use super::parse::{All, Parser, as_json};
use super::phrase::Np;
use super::token::{Kind, Unit};

/// Values that a new row may be given.
const VALUES_MAX: usize = 12;

impl Parser<'_> {
    /// Every complete reading as a row that is added or removed.
    pub(crate) fn rows_changed(&self, start: usize) -> Vec<(Form, u32)> {
        let mut found = Vec::new();
        for table in 0..self.index.tables.len() {
            let parser = self.about(table);
            // `remove all doubt` speaks of no row, nor does `remove that` after a figure.
            let is_row = |place: &usize| !self.says_several() && !self.is_figure(*place);
            for place in self.lex("direct.remove", start).into_iter().filter(is_row) {
                for (np, end, cost) in parser.np(place).iter() {
                    let is_one = np.names.len() == 1 && np.conds.len() == 1 && !self.is_plural(&np.conds[0]);
                    let is_certain = is_one && !parser.is_loosely_named(np);
                    if is_certain && np.number.is_none() && np.order.is_none() && self.is_end(*end) {
                        found.push((Form::Remove(Box::new(np.select(table, Asked::Rows))), cost + 1));
                    }
                }
            }
            for place in self.lex("direct.add", start) {
                let place = self.determiners(place);
                let place = self.determiners(self.one("direct.new", place).unwrap_or(place));
                let nouns = self.mentions(place).into_iter().filter(|(what, ..)| *what == What::Table(table));
                for (_, end, cost) in nouns {
                    let rows = parser.new_rows(end).into_iter().filter(|(_, end, _)| self.is_end(*end));
                    found.extend(rows.map(|(values, _, more)| (Form::Add(table, values), cost + more)));
                }
            }
        }
        found
    }

    /// Whether a pronoun stands for the figure that was asked for, and not for the row that it was a figure of.
    fn is_figure(&self, place: usize) -> bool {
        let is_that =
            self.tokens.get(place).is_some_and(|token| matches!(token.lower.as_str(), "that" | "this"));
        let is_row = |rows: &Select| matches!(rows.asked, Asked::Rows | Asked::Any | Asked::Holds(_));
        is_that && self.is_end(place + 1) && self.context.as_ref().is_some_and(|rows| !is_row(rows))
    }

    /// The values of a new row, from a place on.
    fn new_rows(&self, place: usize) -> All<Vec<(usize, Argument)>> {
        let mut done: All<Vec<(usize, Argument)>> = Vec::new();
        let mut open: All<Vec<(usize, Argument)>> = vec![(Vec::new(), place, 0)];
        while let Some((values, place, cost)) = open.pop() {
            let comma = self.sign(',', place).unwrap_or(place);
            let and = self.one("and", comma).unwrap_or(comma);
            let start = self.one("direct.with", and).unwrap_or(and);
            for (column, value, end, more) in self.new_value(start, values.is_empty()) {
                if values.len() < VALUES_MAX && !values.iter().any(|(known, _)| *known == column) {
                    open.push(([values.clone(), vec![(column, value)]].concat(), end, cost + more));
                }
            }
            if !values.is_empty() {
                done.push((values, place, cost));
            }
        }
        done
    }

    /// `called Bell`, `price 12`, `city is "Rome"`, `owner Mark Stone`.
    fn new_value(&self, place: usize, is_first: bool) -> Vec<(usize, Argument, usize, u32)> {
        let mut found = Vec::new();
        let called = self.one("direct.called", place);
        let named = called.or(Some(place).filter(|_| is_first));
        if let (Some(label), Some(start)) = (self.index.tables[self.focus].label, named)
            && let Some((lit, end)) = self.free_name(self.fill(start), false)
        {
            found.push((label, Argument::Value(lit), end, 0));
        }
        for (path, end, cost) in self.columns(place).into_iter().filter(|(path, ..)| self.is_kept(path)) {
            let after = self.one("be", end).or_else(|| self.one("of", end)).or_else(|| self.one("to", end));
            let start = self.fill(after.unwrap_or(end));
            let Some(token) = self.tokens.get(start) else { continue };
            // A row that another one refers to must be there.
            if self.index.tables[path.table].columns[path.column].refers.is_some() {
                let rows = self.referred(&path, start).into_iter();
                found.extend(rows.map(|(row, end)| (path.column, Argument::Row(Box::new(row)), end, cost)));
                continue;
            }
            let lit = match (self.sort(&path), &token.kind) {
                (Sort::Number | Sort::Whole, _) => self.number(start).map(|(_, lit, end)| (lit, end)),
                (Sort::Day, Kind::Days(day, _)) => Some((Lit { value: json!(day), at: token.at }, start + 1)),
                (Sort::Time, Kind::Time(time)) => Some((Lit { value: json!(time), at: token.at }, start + 1)),
                (Sort::Text | Sort::Prose, Kind::Quoted) => {
                    Some((Lit { value: json!(token.text), at: token.at }, start + 1))
                }
                (Sort::Text, _) => {
                    let own = self.mentions(start).into_iter().find_map(|(what, end, _)| match what {
                        What::Value(table, column, value) if (table, column) == (path.table, path.column) => {
                            let lit = self.lit(value, start, end);
                            let said = Cond::Cmp(path.clone(), Op::Eq, Operand::Lit(lit.clone()));
                            (!self.is_plural(&said)).then_some((lit, end))
                        }
                        _ => None,
                    });
                    let own = own.or_else(|| self.small_value(&path, start));
                    // An id is written in one piece with a digit in it.
                    let is_id = self.index.is_id(path.table, path.column)
                        && token.text.bytes().any(|byte| byte.is_ascii_digit());
                    own.or_else(|| is_id.then(|| (Lit { value: json!(token.text), at: token.at }, start + 1)))
                        .or_else(|| self.free_name(start, false))
                }
                _ => None,
            };
            found.extend(lit.map(|(lit, end)| (path.column, Argument::Value(lit), end, cost)));
        }
        found
    }

    /// The row that a column is to refer to, by its name or its key. Whether there is one is looked up when it is changed.
    fn referred(&self, path: &Path, place: usize) -> Vec<(Select, usize)> {
        let Some((table, to)) = self.index.tables[path.table].columns[path.column].refers else {
            return Vec::new();
        };
        let other = self.about(table);
        let named = other.np(place);
        let fits = |np: &Np| {
            np.names.len() == 1 && np.conds.len() == 1 && np.number.is_none() && !self.is_plural(&np.conds[0])
        };
        let rows: Vec<(Select, usize)> = named
            .iter()
            .filter(|(np, ..)| fits(np) && np.order.is_none())
            .map(|(np, end, _)| (np.select(table, Asked::Rows), *end))
            .collect();
        // Of a large table the keys are not known here.
        let is_key = self.index.tables[table].key == Some(to) && self.index.texts(&other.own(to)).is_empty();
        let token = self.tokens.get(place).filter(|token| {
            let has_digit = token.text.bytes().any(|byte| byte.is_ascii_digit());
            rows.is_empty() && is_key && token.kind == Kind::Word && has_digit
        });
        let unknown = token.map(|token| {
            let lit = Lit { value: json!(token.text), at: token.at };
            let key = Cond::Cmp(other.own(to), Op::Eq, Operand::Lit(lit));
            (Np { conds: vec![key], ..Np::default() }.select(table, Asked::Rows), place + 1)
        });
        rows.into_iter().chain(unknown).collect()
    }

    /// Changes that are said in so many words, one after the other.
    pub(crate) fn set_list(&self, start: usize) -> All<Vec<Set>> {
        let mut done: All<Vec<Set>> = Vec::new();
        for table in 0..self.index.tables.len() {
            let parser = self.about(table);
            for (set, end, cost) in parser.set(start, true) {
                done.push((vec![set.clone()], end, cost));
                for next in parser.lex("and", end) {
                    for (second, end, more) in
                        parser.set(next, true).into_iter().chain(parser.set(next, false))
                    {
                        done.push((vec![set.clone(), second], end, cost + more));
                    }
                }
            }
        }
        done
    }

    /// `set the price of Sport to 15`, `raise the estimate of Login page by 10%`, `set Moon stock to 5`.
    fn set(&self, start: usize, needs_verb: bool) -> All<Set> {
        let mut found: All<Set> = Vec::new();
        let mut begins: Vec<(usize, Option<f64>)> = Vec::new();
        if needs_verb {
            begins.extend(self.lex("direct.set", start).into_iter().map(|end| (end, None)));
            if let Some((end, sign)) = self.meaning("directions", start) {
                begins.push((end, Some(if sign == "+" { 1.0 } else { -1.0 })));
            }
        } else {
            begins.push((start, None));
        }
        for (begin, direction) in begins {
            for (np, column, end, cost) in self.cell(begin) {
                let path = self.own(column);
                for (to, end) in self.to(&path, direction, end) {
                    let rows = np.select(self.focus, Asked::Rows);
                    found.push((Set { rows, column, to }, end, cost));
                }
            }
            // `add 2 copies of Dune`
            if let (Some(sign), Some((number, mut lit, after))) = (direction, self.number(begin))
                && number.unit != Unit::Percent
            {
                lit.value = signed(&lit.value, sign);
                for (np, column, end, cost) in self.cell(after) {
                    if self.is_number(&self.own(column)) && np.is_named() {
                        let rows = np.select(self.focus, Asked::Rows);
                        found.push((Set { rows, column, to: To::By(lit.clone()) }, end, cost));
                    }
                }
            }
            // `add 5 to the stock of Moon`, `add 10% to the price of the Classic`
            if let (Some(sign), Some((number, lit, after))) = (direction, self.number(begin))
                && sign > 0.0
                && let Some(after) = self.one("to", after)
            {
                for (np, column, end, cost) in self.cell(after) {
                    let is_percent = number.unit == Unit::Percent;
                    if !self.is_number(&self.own(column))
                        || is_percent && self.counts_percents(&self.own(column), begin)
                    {
                        continue;
                    }
                    let to = if number.unit == Unit::Percent {
                        To::Percent(lit.clone())
                    } else {
                        To::By(lit.clone())
                    };
                    found.push((Set { rows: np.select(self.focus, Asked::Rows), column, to }, end, cost));
                }
            }
        }
        found
    }

    /// A column of named rows: `the price of Sport`, `Moon stock`, `Chen Yu's team`.
    fn cell(&self, place: usize) -> Vec<(Np, usize, usize, u32)> {
        let mut found = Vec::new();
        let fits = |np: &Np| {
            let is_open = !np.is_named() && matches!(np.conds.as_slice(), [Cond::Or(_)]);
            !np.conds.is_empty()
                && np.number.is_none()
                && np.order.is_none()
                && !is_open
                && !self.is_loosely_named(np)
                && !self.is_named_by_value(np)
        };
        for (path, end, cost) in self.columns(place).into_iter().filter(|(path, ..)| self.is_kept(path)) {
            for start in self.lex("of", end).into_iter().chain(self.exact("in", end)) {
                for (np, end, more) in self.np(start).iter().filter(|(np, ..)| fits(np)) {
                    let each = self.alternatives(np, start, *end).into_iter();
                    found.extend(each.map(|np| (np, path.column, *end, cost + more)));
                }
            }
        }
        for (np, end, cost) in self.np(place).iter().filter(|(np, ..)| fits(np) && np.conds.len() == 1) {
            let after = self.sign('\'', *end).unwrap_or(*end);
            for (path, end, more) in self.columns(after).into_iter().filter(|(path, ..)| self.is_kept(path)) {
                let each = self.alternatives(np, place, end).into_iter();
                found.extend(each.map(|np| (np, path.column, end, cost + more)));
            }
        }
        found
    }

    /// Whether a column is one of the row's own, and not worked out from another.
    fn is_kept(&self, path: &Path) -> bool {
        path.hops.is_empty() && self.index.tables[path.table].columns[path.column].cut.is_none()
    }

    /// `Sport or Moon` is one of them, and it is asked which; `Sport and Moon` are both.
    fn alternatives(&self, np: &Np, start: usize, end: usize) -> Vec<Np> {
        let has_or = self.tokens[start..end].iter().any(|token| token.lower == "or");
        if np.names.len() < 2 || !has_or {
            return vec![np.clone()];
        }
        let all = Cond::any(np.names.clone());
        let only = |name: &Cond| Np {
            conds: np.conds.iter().map(|cond| if *cond == all { name } else { cond }).cloned().collect(),
            names: vec![name.clone()],
            ..np.clone()
        };
        np.names.iter().map(only).collect()
    }

    /// What a column becomes: `to 15`, `by 10%`.
    fn to(&self, path: &Path, direction: Option<f64>, place: usize) -> Vec<(To, usize)> {
        let mut found = Vec::new();
        if let Some(after) = self.one("to", place) {
            let rows = self.referred(path, self.fill(after)).into_iter().filter(|_| direction.is_none());
            found.extend(rows.map(|(row, end)| (To::Row(Box::new(row)), end)));
            if let Some((number, lit, end)) = self.number(after)
                && self.is_number(path)
                && matches!(number.unit, Unit::Plain | Unit::Money(_))
            {
                let to = match direction {
                    Some(sign) => To::Moved(lit, sign > 0.0),
                    None => To::Value(lit),
                };
                found.push((to, end));
            }
            if let (Some((from, _, end)), Sort::Day) = (self.days(after), self.sort(path)) {
                found.push((To::Value(from), end));
            }
            for (cond, end, _) in self.value(after) {
                // `tandems`, where the data says tandem, is another value.
                let is_other = self.is_plural(&cond);
                if let Cond::Cmp(of, Op::Eq, Operand::Lit(lit)) = cond
                    && of == *path
                    && !is_other
                {
                    found.push((To::Value(lit), end));
                }
            }
            found.extend(self.small_value(path, after).map(|(lit, end)| (To::Value(lit), end)));
            let start = self.fill(after);
            if let Some(token) = self.tokens.get(start)
                && token.kind == Kind::Quoted
                && matches!(self.sort(path), Sort::Text | Sort::Prose)
            {
                found.push((To::Value(Lit { value: json!(token.text), at: token.at }), start + 1));
            }
        }
        if let (Some(sign), Some(after)) = (direction, self.one("direct.by", place))
            && let Some((number, mut lit, end)) = self.number(after)
            && self.is_number(path)
        {
            lit.value = signed(&lit.value, sign);
            if number.unit == Unit::Percent && self.counts_percents(path, after) {
                return found;
            }
            found.push((if number.unit == Unit::Percent { To::Percent(lit) } else { To::By(lit) }, end));
        }
        found
    }
}

fn signed(value: &Value, sign: f64) -> Value {
    as_json(value.as_f64().unwrap_or_default() * sign)
}
