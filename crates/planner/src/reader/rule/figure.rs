//! Rules about the table as a whole: figures, shares, numbers of rows.

use ordain_types::{Side, Test};
use serde_json::{Value, json};

use super::claim::{Claim, Demand, params};
use super::made::{Age, share};
use super::sentence::with_when;
use crate::reader::index::What;
use crate::reader::parse::{All, Parser};
use crate::reader::token::Unit;

impl Parser<'_> {
    /// `the sum of net_amount must be at least 10000`, `the number of rows for each sensor_id must be at least 90`.
    pub(super) fn of_figure(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        let start = self.fill(start);
        if let Some((end, function)) = self.meaning("rule_figures", start) {
            for (column, end, cost) in self.own_column(self.one("of", end).unwrap_or(end)) {
                for (by, end, more) in self.groups(end) {
                    for (bounds, end) in self.figure_bounds(end) {
                        let rule = params([
                            ("column", Some(json!(self.name_of(column)))),
                            ("function", Some(json!(function))),
                            ("by", by.clone().map(Value::from)),
                        ]);
                        found.push((
                            Claim::Whole("aggregate", merged(rule, &bounds)).demand(true),
                            end,
                            cost + more,
                        ));
                    }
                }
                found.extend(
                    self.totals(function, column, end)
                        .into_iter()
                        .map(|(demand, end, more)| (demand, end, cost + more)),
                );
            }
        }
        if let Some(end) = self.one("rule.newest", start) {
            found.extend(self.newest(end));
        }
        if let Some(end) = self.one("rule.number_of", start) {
            for (when, end, cost) in self.judged_rows(end) {
                let end = self.in_table(end).unwrap_or(end);
                for (by, end, more) in self.groups(end) {
                    for (bounds, end) in self.figure_bounds(end) {
                        if let Some(bounds) = counted(&bounds) {
                            let rule = merged(params([("by", by.clone().map(Value::from))]), &bounds);
                            found.push((
                                with_when(Claim::Whole("row_count", rule).demand(true), when.clone()),
                                end,
                                cost + more,
                            ));
                        }
                    }
                }
            }
        }
        found
    }

    /// `the newest order_date must be at most 2 days old`.
    fn newest(&self, place: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (column, end, cost) in self.own_column(place) {
            for (start, so, is_said) in self.modals(end) {
                let Some(begin) = self.one("be", start).filter(|_| is_said) else { continue };
                for (age, span, end) in self.ages(begin) {
                    if so == (age != Age::Older) {
                        let rule = json!({"column": self.name_of(column), "max_age": span});
                        found.push((Claim::Whole("freshness", rule).demand(true), end, cost));
                    }
                }
            }
        }
        found
    }

    /// Bounds of a figure after `must be`.
    fn figure_bounds(&self, place: usize) -> Vec<(Value, usize)> {
        let mut found = Vec::new();
        for (start, so, is_said) in self.modals(place) {
            let be = self.one("be", start);
            if be.is_none() && !is_said {
                continue;
            }
            let side = Side::Column("figure".to_owned());
            let begin = be.unwrap_or(start);
            for (test, end, _) in
                self.compared_with(&side, begin).into_iter().chain(self.signed(&side, begin))
            {
                let rule = Claim::Test(test).demand(so).rule("");
                if let Some(rule) = rule.filter(|rule| rule.kind == "range") {
                    let mut bounds = rule.params;
                    if let Value::Object(bounds) = &mut bounds {
                        bounds.remove("column");
                    }
                    found.push((bounds, end));
                }
            }
        }
        found
    }

    /// `the sum of total in orders must equal the sum of amount in payments`.
    fn totals(&self, function: &str, column: usize, end: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (start, so, _) in self.modals(end).into_iter().filter(|(_, so, _)| *so) {
            let Some(start) = self.one("rule.agrees", self.one("be", start).unwrap_or(start)) else {
                continue;
            };
            let Some((after, second)) = self.meaning("rule_figures", start) else { continue };
            for other in 0..self.index.tables.len() {
                let there = self.about(other);
                for (theirs, end, cost) in there.own_column(there.one("of", after).unwrap_or(after)) {
                    let is_named = other == self.focus
                        || self.tokens[after..end].iter().any(|token| {
                            token.stem == self.index.tables[other].noun
                                || token.lower == self.index.tables[other].name
                        });
                    if !is_named {
                        continue;
                    }
                    let side = |table: &str, column: String, function: &str| json!({"table": table, "column": column, "function": function});
                    let rule = json!({
                        "left": side(&self.index.tables[self.focus].name, self.name_of(column), function),
                        "right": side(&self.index.tables[other].name, there.name_of(theirs), second),
                        "tolerance": 0.005,
                    });
                    found.push((Claim::Whole("reconcile_totals", rule).demand(so), end, cost));
                }
            }
        }
        found
    }

    /// `at most 2% of rows may have a net_amount below 1`, `at most 5% of status may be null`.
    pub(super) fn of_share(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        let Some((end, op)) = self.meaning("rule_signs", start) else { return found };
        let Some((number, _, end)) = self.number(end).filter(|(number, ..)| number.unit == Unit::Percent)
        else {
            return found;
        };
        let bound = match op {
            "<=" => "max_share",
            ">=" => "min_share",
            _ => return found,
        };
        let Some(of) = self.one("of", end) else { return found };
        let push = |test: Test, when: Option<Test>, end: usize, cost: u32, found: &mut All<Demand>| {
            let when = when.map(|when| json!(when));
            let mut rule = params([("must", Some(json!(test))), ("when", when)]);
            rule[bound] = share(number.value);
            found.push((Claim::Whole("condition", rule).demand(true), end, cost));
        };
        for (when, end, cost) in self.judged_rows(of) {
            for begin in self.allowed(end) {
                for (demand, end, more) in self.said_of_rows(begin) {
                    if let Some(test) = demand.test() {
                        push(test, when.clone(), end, cost + more, &mut found);
                    }
                }
            }
        }
        for (column, end, cost) in self.own_column(of) {
            for begin in self.allowed(end) {
                for (demand, end, more) in self.said_of(column, begin) {
                    match demand.test() {
                        Some(Test::Null(name)) => {
                            let bound = if bound == "max_share" { "max" } else { "min" };
                            let mut rule = json!({"column": name, "function": "null_share"});
                            rule[bound] = share(number.value);
                            found.push((Claim::Whole("aggregate", rule).demand(true), end, cost + more));
                        }
                        Some(test) => push(test, None, end, cost + more, &mut found),
                        None => {}
                    }
                }
            }
        }
        found
    }

    /// After `may`, `can` or `must`; or where the verb itself follows.
    fn allowed(&self, place: usize) -> Vec<usize> {
        let mut found = self.lex("rule.may", place);
        found.extend(self.lex("rule.must", place));
        if found.is_empty() {
            found.push(place);
        }
        found
    }

    /// `orders must have at least 10 rows`, `there must be at least 10 rows`, `orders must not be empty`.
    pub(super) fn of_table(&self, start: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        if let Some(begin) = self.one("rule.there_must_be", start) {
            found.extend(self.rows_counted(begin, true).into_iter().map(|(demand, end)| (demand, end, 0)));
        }
        let start = self.fill(self.one("rule.table", self.fill(start)).unwrap_or(start));
        for (what, end, cost) in self.mentions(start) {
            if what != What::Table(self.focus) {
                continue;
            }
            let end = self.one("rule.table", end).unwrap_or(end);
            for (begin, so, is_said) in self.modals(end) {
                if let Some(end) =
                    self.one("be", begin).and_then(|end| self.one("rule.null", end)).filter(|_| is_said)
                {
                    found.push((
                        Claim::Missing(Box::new(Claim::Whole("row_count", json!({"min": 1})))).demand(so),
                        end,
                        cost,
                    ));
                }
                let Some(have) = self.one("have", begin) else { continue };
                let counts = self.rows_counted(have, so).into_iter();
                found.extend(counts.map(|(demand, end)| (demand, end, cost)));
                if let Some((_, lit, end)) = self.number(self.one("rule.exactly", have).unwrap_or(have))
                    && let Some(end) = self.one("rule.rows", end).filter(|_| so)
                {
                    found.push((
                        Claim::Whole("row_count", json!({"min": lit.value, "max": lit.value})).demand(true),
                        end,
                        cost,
                    ));
                }
                if let Some(many) = self.one("rule.as_many", have) {
                    for (what, end, _) in self.mentions(self.fill(many)) {
                        if let What::Table(other) = what {
                            let rule = json!({"same_as": self.index.tables[other].name});
                            found.push((Claim::Whole("row_count", rule).demand(so), end, cost));
                        }
                    }
                }
            }
        }
        found
    }

    /// `at least 10 rows`.
    fn rows_counted(&self, place: usize, so: bool) -> Vec<(Demand, usize)> {
        let side = Side::Column("rows".to_owned());
        let said = self.compared_with(&side, place).into_iter();
        let counts = said.filter_map(|(test, end, _)| {
            let end = self.one("rule.rows", end)?;
            let rule = Claim::Test(test).demand(so).rule("").filter(|rule| rule.kind == "range")?;
            Some((Claim::Whole("row_count", counted(&rule.params)?).demand(true), end))
        });
        counts.collect()
    }

    /// `sensor_id values with fewer than 90 readings`.
    pub(super) fn rare(&self, place: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (column, end, cost) in self.own_column(place) {
            for with in self.lex("have", end) {
                let side = Side::Column("rows".to_owned());
                for (test, end, _) in self.compared_with(&side, with) {
                    let rule = Claim::Test(test).demand(false).rule("").filter(|rule| rule.kind == "range");
                    let Some(bounds) = rule.and_then(|rule| counted(&rule.params)) else { continue };
                    for (when, end, more) in self.judged_rows(end) {
                        let rule = merged(params([("by", Some(json!([self.name_of(column)])))]), &bounds);
                        let claim = Claim::Missing(Box::new(Claim::Whole("row_count", rule)));
                        found.push((with_when(claim.demand(true), when), end, cost + more));
                    }
                }
            }
        }
        found
    }
}

fn merged(mut params: Value, more: &Value) -> Value {
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more.clone());
    }
    params
}

/// Bounds of a number as bounds of a count, which have no fractions.
fn counted(bounds: &Value) -> Option<Value> {
    let is_set = |name: &str| bounds.get(name).and_then(Value::as_bool).unwrap_or_default();
    let whole = |name: &str| match bounds.get(name) {
        None => Some(None),
        Some(bound) => bound.as_u64().map(Some),
    };
    let (min, max) = (whole("min")?, whole("max")?);
    let min = min.map(|min| min + u64::from(is_set("strict_min")));
    let max = max.map(|max| if is_set("strict_max") { max.saturating_sub(1) } else { max });
    Some(params([("min", min.map(Value::from)), ("max", max.map(Value::from))]))
}
