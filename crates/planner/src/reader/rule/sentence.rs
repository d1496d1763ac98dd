//! Rules as sentences: what must hold, what is to be flagged, for which rows.

use std::collections::BTreeSet;

use ordain_types::{Side, Test};
use serde_json::json;

use super::claim::{Claim, Demand, Rule};
use super::made::compare;
use crate::reader::index::{Sort, What};
use crate::reader::parse::{All, Parser, prune};
use crate::reader::phrase::Np;
use crate::reader::token::Kind;

impl Parser<'_> {
    /// Every rule that the sentence states in full, with what it costs.
    pub(crate) fn rules(&self) -> Vec<(Rule, u32)> {
        let table = &self.index.tables[self.focus].name;
        let whole = self
            .sentences(self.fill(0))
            .into_iter()
            .filter(|(_, end, _)| self.is_end(*end) && !self.is_question());
        whole.filter_map(|(demand, _, cost)| Some((demand.rule(table)?, cost))).collect()
    }

    /// A rule with the condition before or after it: `when status is new, …`, `… unless paid_at is empty`.
    fn sentences(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (demand, end, cost) in self.demands(start) {
            let comma = self.sign(',', end).unwrap_or(end);
            for (class, so) in [("rule.when", true), ("rule.unless", false)] {
                for after in self.lex(class, comma) {
                    for (when, end, more) in self.clauses(after) {
                        found.push((demand.clone().only_when(so_or_not(when, so)), end, cost + more));
                    }
                }
            }
            for after in self.lex("rule.for", comma) {
                for (when, end, more) in self.rows_with(after) {
                    found.push((demand.clone().only_when(when), end, cost + more));
                }
            }
            found.push((demand, end, cost));
        }
        for (class, so) in [("rule.when", true), ("rule.unless", false)] {
            for after in self.lex(class, start) {
                for (when, end, cost) in self.clauses(after) {
                    found.extend(self.after_condition(&so_or_not(when, so), end, cost));
                }
            }
        }
        for after in self.lex("rule.for", start) {
            for (when, end, cost) in self.rows_with(after) {
                found.extend(self.after_condition(&when, end, cost));
            }
        }
        found
    }

    fn after_condition(&self, when: &Test, end: usize, cost: u32) -> All<Demand> {
        let start = self.sign(',', end).unwrap_or(end);
        let start = self.one("rule.then", start).unwrap_or(start);
        let rest = self.demands(start).into_iter();
        rest.map(|(demand, end, more)| (demand.only_when(when.clone()), end, cost + more)).collect()
    }

    /// One rule, or two with `and`. What is to be flagged goes on with `and`, unless that is to be flagged as well.
    fn demands(&self, start: usize) -> All<Demand> {
        let mut found = self.demand(start);
        let goes_on = |after: &usize| self.flags(start).is_empty() || !self.flags(*after).is_empty();
        for (first, end, cost) in found.clone() {
            for after in self.lex("and", self.sign(',', end).unwrap_or(end)).into_iter().filter(goes_on) {
                for (second, end, more) in self.demand(after) {
                    found.extend(first.and(&second).map(|both| (both, end, cost + more)));
                }
            }
        }
        prune(found)
    }

    fn demand(&self, start: usize) -> All<Demand> {
        let mut found = self.of_columns(start);
        found.extend(self.of_rows_demanded(start));
        found.extend(self.of_formula(start));
        found.extend(self.of_figure(start));
        found.extend(self.of_share(start));
        found.extend(self.of_table(start));
        for end in self.flags(start) {
            found.extend(self.flagged(self.each(end)));
        }
        found.extend(self.bad(start).into_iter().map(|(demand, end, cost)| (demand.opposite(), end, cost)));
        found.extend(self.only(start));
        found.extend(self.none_may(start));
        prune(found)
    }

    /// Where what is to be flagged begins: after `flag`, after `there must be no`.
    fn flags(&self, start: usize) -> Vec<usize> {
        ["rule.flag", "rule.there_must_be_no"].iter().flat_map(|class| self.lex(class, start)).collect()
    }

    /// `status must be …`, `either coupon_code or notes must be filled in`, `the combination of a and b must be unique`.
    fn of_columns(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        if let Some(begin) = self.one("rule.combination", start) {
            for (columns, end, cost) in self.column_list(begin, "and") {
                for (end, so, _) in self.modals(self.one("rule.together", end).unwrap_or(end)) {
                    let end = self.one("be", end).unwrap_or(end);
                    let names: Vec<String> = columns.iter().map(|column| self.name_of(*column)).collect();
                    let unique = Claim::Unique(names);
                    found.extend(
                        self.one("rule.unique", end)
                            .filter(|_| so)
                            .map(|end| (unique.clone().demand(true), end, cost)),
                    );
                    found.extend(
                        self.one("rule.repeated", end)
                            .filter(|_| !so)
                            .map(|end| (unique.demand(true), end, cost)),
                    );
                }
            }
        }
        let either = self.one("either", start);
        for (joint, begin) in [("and", start), ("or", either.unwrap_or(start))] {
            for (columns, end, cost) in self.column_list(begin, joint) {
                let is_either = joint == "or" && columns.len() > 1;
                // `a or b must not be null` is not clear without `either`; two columns may be unique each, or together.
                if is_either && either.is_none() {
                    continue;
                }
                found.extend(
                    self.all_say(&columns, end, is_either)
                        .into_iter()
                        .map(|(demand, end, more)| (demand, end, cost + more)),
                );
            }
        }
        found
    }

    /// The same predicate of several columns, in all of them or in one.
    fn all_say(&self, columns: &[usize], place: usize, is_either: bool) -> All<Demand> {
        let Some((first, rest)) = columns.split_first() else { return Vec::new() };
        let said = self.said_of(*first, place);
        if rest.is_empty() {
            return said;
        }
        let mut found: All<Demand> = Vec::new();
        for (demand, end, cost) in said {
            let Some(test) = demand.test() else { continue };
            let others: Option<Vec<Test>> = rest
                .iter()
                .map(|column| {
                    let same = self
                        .said_of(*column, place)
                        .into_iter()
                        .find(|(_, other, more)| (*other, *more) == (end, cost));
                    same.and_then(|(demand, ..)| demand.test())
                })
                .collect();
            let Some(others) = others else { continue };
            let all = [vec![test], others].concat();
            let test = if is_either { Test::Any(all) } else { Test::All(all) };
            found.push((Claim::Test(test).demand(true), end, cost));
        }
        found
    }

    /// `a`, `a and b`, `a, b and c`.
    fn column_list(&self, place: usize, joint: &str) -> All<Vec<usize>> {
        let mut found: All<Vec<usize>> = Vec::new();
        let mut open: All<Vec<usize>> = vec![(Vec::new(), place, 0)];
        while let Some((columns, end, cost)) = open.pop() {
            let starts = if columns.is_empty() {
                vec![end]
            } else {
                let comma = self.sign(',', end);
                [comma, self.one(joint, comma.unwrap_or(end))].into_iter().flatten().collect()
            };
            for start in starts {
                for (column, end, more) in self.own_column(start) {
                    if columns.len() < 8 && !columns.contains(&column) {
                        let next = ([columns.clone(), vec![column]].concat(), end, cost + more);
                        found.push(next.clone());
                        open.push(next);
                    }
                }
            }
        }
        found
    }

    /// `the margin (list_price minus cost_price) must be positive`, `qty times unit_price must be above 0`.
    fn of_formula(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        let start = self.fill(start);
        let named = self
            .tokens
            .get(start)
            .filter(|token| token.kind == Kind::Word)
            .and_then(|_| self.sign('(', start + 1));
        for (begin, is_named) in [(Some(start), false), (named, true)] {
            let Some(begin) = begin else { continue };
            for (side, end, cost) in self.side(begin) {
                if matches!(side, Side::Column(_) | Side::Value(_) | Side::Now) {
                    continue;
                }
                let Some(end) = (if is_named { self.sign(')', end) } else { Some(end) }) else { continue };
                for (after, so, _) in self.modals(end) {
                    for be in self.lex("be", after).into_iter().chain([after]) {
                        let (be, is_not) = self.one("not", be).map_or((be, false), |end| (end, true));
                        let tests = self.signed(&side, be).into_iter().chain(self.compared_with(&side, be));
                        found.extend(tests.map(|(test, end, more)| {
                            (Claim::Test(test).demand(so != is_not), end, cost + more)
                        }));
                    }
                }
            }
        }
        found
    }

    /// `gold customers must have a credit limit of at least 5000`, `every order must be paid`.
    fn of_rows_demanded(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (when, end, cost) in self.judged_rows(start) {
            for (begin, so, is_said) in self.modals(end) {
                if is_said || self.one("be", begin).is_some() || self.one("have", begin).is_some() {
                    for (demand, end, more) in self.said_of_rows(begin) {
                        let demand = if so { demand } else { demand.opposite() };
                        found.push((with_when(demand, when.clone()), end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// Rows of the judged table, and what holds for them.
    pub(super) fn judged_rows(&self, place: usize) -> All<Option<Test>> {
        let mut found: All<Option<Test>> = Vec::new();
        for (np, end, cost) in self.np(self.each(place)).iter().filter(|(np, ..)| is_plain(np)) {
            let test = if np.conds.is_empty() {
                Some(None)
            } else {
                self.test_of(&crate::reader::form::Cond::all(np.conds.clone())).map(Some)
            };
            let end = self.one("rule.rows", *end).unwrap_or(*end);
            found.extend(test.map(|test| (test, end, *cost)));
        }
        found.extend(self.one("rule.rows", self.each(place)).map(|end| (None, end, 0)));
        found
    }

    /// Rows with a condition: `paid orders`, `orders where status is paid`.
    fn rows_with(&self, place: usize) -> All<Test> {
        let mut found: All<Test> = Vec::new();
        for (test, end, cost) in self.judged_rows(place) {
            for after in self.lex("rule.where", end) {
                found.extend(self.clauses(after).into_iter().map(|(clause, end, more)| {
                    let both = test
                        .clone()
                        .map_or_else(|| clause.clone(), |test| Test::All(vec![test, clause.clone()]));
                    (both, end, cost + more)
                }));
            }
            found.extend(test.map(|test| (test, end, cost)));
        }
        found
    }

    /// What is said of rows: `have a credit limit of at least 5000`, `be cancelled`, `have at least one reading`.
    pub(super) fn said_of_rows(&self, place: usize) -> All<Demand> {
        self.said_of_some(place, false)
    }

    /// The same, where it may be denied of every row: `no lot has a discount`.
    fn said_of_some(&self, place: usize, is_denied: bool) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for have in self.lex("have", place) {
            let none = self.exact("no", self.fill(have)).into_iter().max();
            let is_none = is_denied || none.is_some();
            let start = none.unwrap_or(have);
            let unique = self.one("rule.unique", start);
            for (column, end, cost) in self.own_column(unique.unwrap_or(start)) {
                let name = self.name_of(column);
                if unique.is_some() {
                    found.push((Claim::Unique(vec![name]).demand(true), end, cost));
                    continue;
                }
                // `must not have a fine` is said of the same rows as `must have no fine`.
                let is_not = place.checked_sub(1).is_some_and(|at| self.one("not", at) == Some(place));
                let some = self.has_some(column, start, end, is_none || is_not);
                let demand = some.map(|some| if none.is_some() { some.opposite() } else { some });
                found.extend(demand.map(|demand| (demand, end, cost)));
                if none.is_none() {
                    let of = self.one("of", end).unwrap_or(end);
                    found.extend(
                        self.tests(column, of)
                            .into_iter()
                            .map(|(test, end, more)| (Claim::Test(test).demand(true), end, cost + more)),
                    );
                }
            }
            if none.is_none() {
                found.extend(
                    self.with_bad(have)
                        .into_iter()
                        .map(|(test, end, cost)| (Claim::Test(test).demand(true), end, cost)),
                );
                found.extend(self.referred_to(have));
            }
        }
        if let Some(start) = self.one("rule.belongs", place) {
            found.extend(self.belonging(self.each(start)));
        }
        for be in self.lex("be", place) {
            let conds = self.conds(be).into_iter();
            found.extend(conds.filter_map(|(cond, end, cost)| {
                let test = self.test_of(&cond)?;
                self.names_days(&test, be, end).then(|| (Claim::Test(test).demand(true), end, cost))
            }));
        }
        found
    }

    /// Whether the words of a demand name every column of days in it: `active since 2020` demands nothing of `joined`.
    fn names_days(&self, test: &Test, from: usize, end: usize) -> bool {
        let mut names = BTreeSet::new();
        test.columns(&mut names);
        let columns = self.index.tables[self.focus].columns.iter().enumerate();
        let mut days = columns.filter(|(_, column)| column.sort == Sort::Day && names.contains(&column.name));
        let is_named =
            |column: usize| (from..end).any(|at| self.own_column(at).iter().any(|own| own.0 == column));
        days.all(|(column, _)| is_named(column))
    }

    /// `belong to a customer`, where one column says to which.
    fn belonging(&self, place: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (what, end, cost) in self.mentions(place) {
            let What::Table(other) = what else { continue };
            let columns = 0..self.index.tables[self.focus].columns.len();
            let ids = columns.filter(|column| self.name_of(*column).ends_with("_id") && other != self.focus);
            for column in ids {
                for (theirs, end, more) in self.their_column(column, other, end) {
                    found.push((self.known_claim(column, other, theirs).demand(true), end, cost + more));
                }
            }
        }
        found
    }

    /// `at least one reading`: rows of another table that refer to the row.
    fn referred_to(&self, place: usize) -> All<Demand> {
        let Some(start) = self.one("rule.at_least_one", place) else { return Vec::new() };
        let mut found: All<Demand> = Vec::new();
        for (what, end, cost) in self.mentions(start) {
            let What::Table(other) = what else { continue };
            let theirs = &self.index.tables[other];
            for (at, column) in theirs.columns.iter().enumerate() {
                let own =
                    self.index.tables[self.focus].columns.iter().position(|own| own.name == column.name);
                let refers = column.refers.filter(|(table, _)| *table == self.focus).map(|(_, own)| own);
                let is_id = column.name.ends_with("_id") || column.name == "id";
                if let Some(own) = refers.or(own.filter(|_| is_id)) {
                    let claim =
                        Claim::Known(self.name_of(own), theirs.name.clone(), theirs.columns[at].name.clone());
                    found.push((claim.demand(true), end, cost));
                }
            }
        }
        found
    }

    /// What is to be flagged: `orders where price > 1000`, `orders with a negative quantity`.
    fn flagged(&self, place: usize) -> All<Demand> {
        let mut found: All<Demand> = self.bad(place);
        for (test, end, cost) in self.judged_rows(place) {
            for after in self.lex("rule.where", end) {
                for (column, begin, more) in self.own_column(after) {
                    let said = self.said_of(column, begin).into_iter();
                    found.extend(said.map(|(demand, end, less)| {
                        (with_when(demand, test.clone()), end, cost + more + less)
                    }));
                }
                for (clause, end, more) in self.clauses(after) {
                    found.push((with_when(Claim::Test(clause).demand(true), test.clone()), end, cost + more));
                }
            }
            for with in self.lex("have", end).into_iter().chain(self.exact("no", end)) {
                found.extend(self.with_bad(with).into_iter().map(|(bad, end, more)| {
                    (with_when(Claim::Test(bad).demand(true), test.clone()), end, cost + more)
                }));
            }
            if let Some(after) = self.one("rule.without", end) {
                for (column, end, more) in self.own_column(after) {
                    let none = self.has_some(column, after, end, true).map(Demand::opposite);
                    found.extend(none.map(|none| (with_when(none, test.clone()), end, cost + more)));
                }
            }
            found.extend(test.map(|test| (Claim::Test(test).demand(true), end, cost)));
        }
        found.extend(self.rare(place));
        found.into_iter().map(|(demand, end, cost)| (demand.opposite(), end, cost)).collect()
    }

    /// What is bad by itself: `duplicate order_id values`, `orders for unknown users`, `negative prices`.
    fn bad(&self, place: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        let place = self.each(place);
        if let Some(start) = self.one("rule.duplicate", place) {
            for (columns, end, cost) in
                self.column_list(self.one("rule.value_of", start).unwrap_or(start), "and")
            {
                let names: Vec<String> = columns.iter().map(|column| self.name_of(*column)).collect();
                if names.len() == 1 {
                    found.push((Claim::Missing(Box::new(Claim::Unique(names))).demand(true), end, cost));
                }
            }
        }
        found.extend(
            self.bad_value(place)
                .into_iter()
                .map(|(test, end, cost)| (Claim::Test(test).demand(true), end, cost)),
        );
        for (test, end, cost) in self.judged_rows(place).into_iter().filter(|(test, ..)| test.is_none()) {
            let _ = test;
            let Some(unknown) = self
                .one("rule.for", end)
                .or_else(|| self.one("have", end))
                .and_then(|end| self.one("rule.unknown", self.fill(end)))
            else {
                continue;
            };
            for (demand, end, more) in self.belonging(unknown) {
                found.push((demand.opposite(), end, cost + more));
            }
        }
        found
    }

    /// `a negative quantity`, `missing prices`.
    fn bad_value(&self, place: usize) -> All<Test> {
        let mut found: All<Test> = Vec::new();
        let place = self.fill(place);
        if let Some(start) = self.one("rule.null", place) {
            found.extend(
                self.own_column(start)
                    .into_iter()
                    .map(|(column, end, cost)| (Test::Null(self.name_of(column)), end, cost)),
            );
        }
        if let Some((start, op)) = self.meaning("rule_zero", place) {
            found.extend(self.own_column(start).into_iter().map(|(column, end, cost)| {
                (compare(Side::Column(self.name_of(column)), op, Side::Value(json!(0))), end, cost)
            }));
        }
        found
    }

    /// The same, and `a price above 5`.
    fn with_bad(&self, place: usize) -> All<Test> {
        let mut found = self.bad_value(place);
        for (column, end, cost) in self.own_column(place) {
            let of = self.one("of", end).unwrap_or(end);
            found
                .extend(self.tests(column, of).into_iter().map(|(test, end, more)| (test, end, cost + more)));
        }
        found
    }

    /// `only active customers may have a credit_limit above 5000`.
    fn only(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        let Some(start) = self.one("rule.only", start) else { return found };
        for (rows, end, cost) in self.judged_rows(start) {
            let Some(rows) = rows else { continue };
            for begin in self.lex("rule.may", end) {
                for (demand, end, more) in self.said_of_rows(begin) {
                    if let Some(when) = demand.test() {
                        found.push((
                            Claim::Test(rows.clone()).demand(true).only_when(when),
                            end,
                            cost + more,
                        ));
                    }
                }
            }
        }
        found
    }

    /// `no order may have a negative price`, `no order has a negative price`, `no two rows may share the same a`.
    fn none_may(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for begin in self.exact("no", self.fill(start)) {
            for (when, end, cost) in self.judged_rows(begin) {
                let said = self.lex("rule.may", end).into_iter().chain(self.lex("rule.must", end));
                for after in said.chain([end]) {
                    for (demand, end, more) in self.said_of_some(after, true) {
                        found.push((with_when(demand.opposite(), when.clone()), end, cost + more));
                    }
                }
            }
            for (column, end, cost) in self.own_column(begin) {
                for after in self.lex("rule.may", end).into_iter().chain(self.lex("rule.must", end)) {
                    for (demand, end, more) in self.said_of(column, after) {
                        found.push((demand.opposite(), end, cost + more));
                    }
                }
            }
        }
        if let Some(begin) = self.one("rule.no_two", start) {
            for (columns, end, cost) in self.column_list(begin, "and") {
                let names = columns.iter().map(|column| self.name_of(*column)).collect();
                found.push((Claim::Unique(names).demand(true), end, cost));
            }
        }
        found
    }

    /// Conditions on a row: `status is new`, `discount_pct is greater than 30 and status is paid`.
    fn clauses(&self, place: usize) -> All<Test> {
        let mut found = self.clause(place);
        for (first, end, cost) in found.clone() {
            let comma = self.sign(',', end).unwrap_or(end);
            for (joint, is_all) in [("and", true), ("or", false)] {
                for after in self.lex(joint, comma) {
                    for (second, end, more) in self.clause(after) {
                        let both = vec![first.clone(), second];
                        found.push((
                            if is_all { Test::All(both) } else { Test::Any(both) },
                            end,
                            cost + more,
                        ));
                    }
                }
            }
        }
        found
    }

    fn clause(&self, place: usize) -> All<Test> {
        let mut found: All<Test> = Vec::new();
        for (joint, is_either) in [("and", false), ("or", true)] {
            for (columns, end, cost) in
                self.column_list(place, joint).into_iter().filter(|(all, ..)| all.len() > 1)
            {
                // `a or b is not there`: one of them, or both? That is not clear.
                let said = self.all_say(&columns, end, is_either).into_iter();
                let tests = said.filter_map(|(demand, end, more)| Some((demand.test()?, end, cost + more)));
                found.extend(tests.filter(|(test, ..)| !is_either || !has_not(test)));
            }
        }
        for (column, end, cost) in self.own_column(place) {
            for (demand, end, more) in self.said_of(column, end) {
                found.extend(demand.test().map(|test| (test, end, cost + more)));
            }
        }
        for (rows, end, cost) in self.judged_rows(place).into_iter().filter(|(rows, ..)| rows.is_none()) {
            let _ = rows;
            for (demand, end, more) in self.said_of_rows(end) {
                found.extend(demand.test().map(|test| (test, end, cost + more)));
            }
        }
        found
    }
}

/// Whether a phrase names rows by what holds for them, and by nothing else.
fn is_plain(np: &Np) -> bool {
    np.has_table() && np.order.is_none() && np.number.is_none() && !np.is_named() && !np.single
}

/// Whether something in a condition is denied.
fn has_not(test: &Test) -> bool {
    match test {
        Test::Not(_) => true,
        Test::All(all) | Test::Any(all) => all.iter().any(has_not),
        _ => false,
    }
}

fn so_or_not(test: Test, so: bool) -> Test {
    if so { test } else { Test::Not(Box::new(test)) }
}

pub(super) fn with_when(demand: Demand, when: Option<Test>) -> Demand {
    match when {
        Some(when) => demand.only_when(when),
        None => demand,
    }
}
