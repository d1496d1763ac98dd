//! Says questions.

use super::{Speaker, function, quoted, say, series, unit};
use crate::algebra::{Calc, Expr, Function};
use crate::query::{Ask, Computed, Group, Measure, Order, Part, Query, Top};

impl Speaker<'_> {
    pub(super) fn computed(&self, computed: &Computed) -> Option<String> {
        let (key, count, text) = match computed {
            Computed::Primes(count) => ("computed.primes", count, None),
            Computed::FirstPrimes(count) => ("computed.primes.first", count, None),
            Computed::Fibonacci(count) => ("computed.fibonacci", count, None),
            Computed::FirstFibonacci(count) => ("computed.fibonacci.first", count, None),
            Computed::Frequent(count, text) => ("computed.frequent", count, Some(quoted(text)?)),
            Computed::FrequentIn(count, name) => ("computed.frequent", count, Some(self.noun(name)?)),
        };
        say(key, &[("count", &count.to_string()), ("text", &text.unwrap_or_default())])
    }

    pub(super) fn query(&self, query: &Query) -> Option<String> {
        let table = &query.table;
        let rows = self.rows(table, &query.filter)?;
        match &query.ask {
            Ask::Rows(columns, order) => {
                let rows = match order {
                    Some(order) => self.ordered(&rows, order)?,
                    None => rows,
                };
                if columns.is_empty() {
                    return say("query.rows", &[("rows", &rows)]);
                }
                let columns: Option<Vec<String>> = columns.iter().map(|path| self.path(path)).collect();
                say("query.columns", &[("columns", &series(&columns?, "and")?), ("rows", &rows)])
            }
            Ask::Figure(measure, by, top) => {
                let said = self.measured(measure, &rows)?;
                let top = top.map_or(Some(String::new()), of_groups)?;
                Some(format!("{said}{}{top}", self.groups(by)?))
            }
            Ask::Share(part, by) => {
                let test = self.cond(table, part, true)?;
                let said = say("query.share", &[("test", &test), ("rows", &rows)])?;
                Some(format!("{said}{}", self.groups(by)?))
            }
            Ask::Holds(cond) => {
                say("query.holds", &[("test", &self.cond(table, cond, true)?), ("rows", &rows)])
            }
        }
    }

    fn ordered(&self, rows: &str, order: &Order) -> Option<String> {
        let column = self.path(&order.by)?;
        let (key, count) = match order.top.part {
            Part::All => ("order.all", 0),
            Part::First(count) => ("order.first", count),
            Part::Place(place) => ("order.place", place),
        };
        let key = format!("{key}.{}", if order.top.is_down { "down" } else { "up" });
        say(&key, &[("column", &column), ("count", &count.to_string()), ("rows", rows)])
    }

    fn groups(&self, by: &[Group]) -> Option<String> {
        let mut said = String::new();
        for (at, group) in by.iter().enumerate() {
            let column = self.path(&group.of)?;
            let group = match group.per {
                None => column,
                Some(per) => say("group.per", &[("unit", unit(per)), ("column", &column)])?,
            };
            said.push_str(&say(if at == 0 { "group" } else { "group.more" }, &[("group", &group)])?);
        }
        Some(if said.is_empty() { said } else { format!(" {said}") })
    }

    fn measured(&self, measure: &Measure, rows: &str) -> Option<String> {
        let places =
            |one: &str, other: &str, key: &str| say(key, &[("one", one), ("other", other), ("rows", rows)]);
        match measure {
            Measure::One(Function::Count, _) => say("query.count", &[("rows", rows)]),
            Measure::One(..) => say("query.figure", &[("figure", &self.figure(measure)?), ("rows", rows)]),
            Measure::Quotient(one, other) => {
                places(&self.figure(one)?, &self.figure(other)?, "query.quotient")
            }
            Measure::Difference(one, other) => {
                places(&self.figure(one)?, &self.figure(other)?, "query.difference")
            }
        }
    }

    fn figure(&self, measure: &Measure) -> Option<String> {
        let Measure::One(what, of) = measure else { return None };
        let Some(of) = of else { return say("query.number", &[]) };
        Some(format!("{} {}", say(function(*what), &[])?, self.measured_expr(of)?))
    }

    fn measured_expr(&self, expr: &Expr) -> Option<String> {
        let said = self.expr(expr)?;
        let is_joined = matches!(expr, Expr::Calc(Calc::Sum | Calc::Difference | Calc::Quotient, _));
        Some(if is_joined { format!("({said})") } else { said })
    }
}

fn of_groups(top: Top) -> Option<String> {
    let way = if top.is_down { "down" } else { "up" };
    match top.part {
        Part::All => say(&format!("groups.all.{way}"), &[]),
        Part::First(count) => say(&format!("groups.first.{way}"), &[("count", &count.to_string())]),
        Part::Place(_) => None,
    }
}
