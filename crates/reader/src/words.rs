//! Says a meaning as a sentence of the language, so that reading it gives the meaning again.
//!
//! A name is said in plain words (`reorder quantity`), or exactly: in backquotes, columns of other tables with the columns
//! that lead to them. The sentences are in `grammar/words.txt`.

mod orders;
mod questions;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::algebra::{
    Calc, Claim, Cond, Day, Demand, Expr, Figure, Function, Link, Name, Number, Op, Path, Scalar, TextTest,
    Unit,
};
use crate::catalog::{Catalog, Holds};
use crate::query::{Chart, Meaning};
use crate::token::name_words;

pub(crate) use orders::{change, met};

static SENTENCES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("../grammar/words.txt").lines();
    lines.filter_map(|line| line.split_once(" = ")).collect()
});

/// Says a demand; nothing where the language has no words for it.
pub(crate) fn demand(demand: &Demand, catalog: &Catalog, is_exact: bool) -> Option<String> {
    Speaker { catalog, is_exact }.demand(demand)
}

/// Says what a request means; nothing where the language has no words for it.
pub(crate) fn meaning(meaning: &Meaning, catalog: &Catalog, is_exact: bool) -> Option<String> {
    let speaker = Speaker { catalog, is_exact };
    match meaning {
        Meaning::Query(query) => speaker.query(query),
        Meaning::Chart(kind, query) => {
            let key = match kind {
                Chart::Bar => "chart.bar",
                Chart::Line => "chart.line",
                Chart::Pie => "chart.pie",
            };
            say(key, &[("query", &speaker.query(query)?)])
        }
        Meaning::Computed(computed) => speaker.computed(computed),
    }
}

/// Says a condition in plain words.
pub(crate) fn condition(table: &Name, cond: &Cond, catalog: &Catalog) -> Option<String> {
    Speaker { catalog, is_exact: false }.cond(table, cond, false)
}

#[derive(Debug)]
struct Speaker<'a> {
    catalog: &'a Catalog,
    is_exact: bool,
}

/// What is said of a subject.
enum Said {
    /// After a form of `be`.
    Being(String),
    /// A verb in both of its forms.
    Doing(String, String),
}

fn say(key: &str, places: &[(&str, &str)]) -> Option<String> {
    let mut text = (*SENTENCES.get(key)?).to_owned();
    for (name, value) in places {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    Some(text)
}

const fn op(op: Op) -> &'static str {
    match op {
        Op::Equal => "==",
        Op::Below => "<",
        Op::AtMost => "<=",
        Op::Above => ">",
        Op::AtLeast => ">=",
    }
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Minute => "minute",
        Unit::Hour => "hour",
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
        Unit::Year => "year",
    }
}

const fn function(function: Function) -> &'static str {
    match function {
        Function::Count => "figure.count",
        Function::Distinct => "figure.distinct",
        Function::Sum => "figure.sum",
        Function::Average => "figure.average",
        Function::Median => "figure.median",
        Function::Maximum => "figure.maximum",
        Function::Minimum => "figure.minimum",
    }
}

impl Speaker<'_> {
    fn demand(&self, demand: &Demand) -> Option<String> {
        let table = &demand.table;
        let rows = self.rows(table, &demand.when)?;
        match &demand.claim {
            Claim::Every(Cond::Unique(columns)) => {
                let key = if columns.len() == 1 { "every.unique" } else { "every.together" };
                say(key, &[("columns", &self.list(columns, "and")?), ("rows", &rows)])
            }
            Claim::Every(Cond::Depends(left, right)) => {
                let (left, right) = (self.path(left)?, self.path(right)?);
                say("every.depends", &[("left", &left), ("right", &right), ("rows", &rows)])
            }
            Claim::Every(Cond::Apart { start, end, by }) => {
                let by = by.iter().map(|path| self.path(path)).collect::<Option<Vec<_>>>()?.join(", ");
                let (start, end) = (self.path(start)?, self.path(end)?);
                let places = [("by", by.as_str()), ("start", &start), ("end", &end), ("rows", &rows)];
                demand.when.is_always().then(|| say("every.apart", &places))?
            }
            Claim::Every(test) => self.every(table, &demand.when, test, &rows),
            Claim::Share(test, how, percent) => {
                let test = self.cond(table, test, false)?;
                let how = say(&format!("count.{}", op(*how)), &[])?;
                let percent = percent.to_string();
                say("share", &[("op", &how), ("percent", &percent), ("test", &test), ("rows", &rows)])
            }
            Claim::Bounds(figure, bounds) => self.bounds(&rows, figure, bounds),
        }
    }

    /// What one column must be is said of the column.
    fn every(&self, table: &Name, when: &Cond, test: &Cond, rows: &str) -> Option<String> {
        let (inner, is_so) = match test {
            Cond::Not(inner) => (&**inner, false),
            test => (test, true),
        };
        if let Some((subject, said)) = self.said(table, inner) {
            let predicate = match (&said, is_so) {
                (Said::Being(what), true) => say("be", &[("predicate", what)]),
                (Said::Being(what), false) => say("be.not", &[("predicate", what)]),
                (Said::Doing(verb, _), true) => say("do", &[("verb", verb)]),
                (Said::Doing(verb, _), false) => say("do.not", &[("verb", verb)]),
            }?;
            let places = [("subject", subject.as_str()), ("predicate", &predicate), ("rows", rows)];
            let is_named = !self.is_exact && when.is_always();
            return say(if is_named { "every.must" } else { "every.must.where" }, &places);
        }
        say("every", &[("test", &self.cond(table, test, false)?), ("rows", rows)])
    }

    fn bounds(&self, rows: &str, figure: &Figure, bounds: &[(Op, Number)]) -> Option<String> {
        let mut by = String::new();
        for path in &figure.by {
            by.push_str(&say("bounds.by", &[("column", &self.path(path)?)])?);
            by.push(' ');
        }
        let bounds = match bounds {
            [(how, value)] => format!("{} {value}", say(&format!("count.{}", op(*how)), &[])?),
            [(Op::AtMost, high), (Op::AtLeast, low)] | [(Op::AtLeast, low), (Op::AtMost, high)] => {
                say("bounds.two", &[("low", &low.to_string()), ("high", &high.to_string())])?
            }
            _ => return None,
        };
        match &figure.of {
            None => say("bounds.count", &[("bounds", &bounds), ("by", &by), ("rows", rows)]),
            Some(path) => {
                let (column, figure) = (self.path(path)?, say(function(figure.function), &[])?);
                let places = [("column", column.as_str()), ("figure", &figure), ("bounds", &bounds)];
                say("bounds.figure", &[places.as_slice(), &[("by", &by), ("rows", rows)]].concat())
            }
        }
    }

    fn name(&self, name: &str) -> String {
        if self.is_exact { format!("`{name}`") } else { name_words(name).join(" ") }
    }

    fn noun(&self, table: &str) -> Option<String> {
        let name = self.name(table);
        if self.is_exact { say("table", &[("table", &name)]) } else { Some(name) }
    }

    fn rows(&self, table: &Name, cond: &Cond) -> Option<String> {
        let noun = self.noun(table)?;
        if cond.is_always() {
            return Some(noun);
        }
        say("rows.where", &[("test", &self.cond(table, cond, true)?), ("rows", &noun)])
    }

    fn path(&self, path: &Path) -> Option<String> {
        let mut said = self.name(&path.column);
        for hop in path.hops.iter().rev() {
            said = say("of", &[("other", &self.name(&hop.column)), ("column", &said)])?;
        }
        Some(said)
    }

    fn list(&self, columns: &[Path], joint: &str) -> Option<String> {
        let names: Option<Vec<String>> = columns.iter().map(|path| self.path(path)).collect();
        series(&names?, joint)
    }

    fn holds(&self, table: &Name, path: &Path) -> Holds {
        self.catalog.column(path.owner(table), &path.column).map_or(Holds::Text, |column| column.holds)
    }

    /// A condition on one subject as what is said of it.
    fn said(&self, table: &Name, cond: &Cond) -> Option<(String, Said)> {
        let verb = |key: &str, places: &[(&str, &str)]| {
            Some(Said::Doing(say(key, places)?, say(&format!("{key}.s"), places)?))
        };
        Some(match cond {
            Cond::Null(path) => (
                self.path(path)?,
                Said::Being(say(if self.is_exact { "empty.exact" } else { "empty" }, &[])?),
            ),
            Cond::In { column, values } => {
                let values: Option<Vec<String>> = values.iter().map(scalar).collect();
                let values = series(&values?, "or")?;
                let is_one = !matches!(cond, Cond::In { values, .. } if values.len() > 1);
                let said = if is_one { values } else { say("oneof", &[("values", &values)])? };
                (self.path(column)?, Said::Being(said))
            }
            Cond::Weekday(path, days) => {
                let days: Option<Vec<String>> =
                    days.iter().map(|day| say(&format!("weekday.{day}"), &[])).collect();
                (self.path(path)?, Said::Being(say("weekday", &[("days", &days?.join(", "))])?))
            }
            Cond::Compare { left, op: how, right } => self.comparison(table, left, *how, right)?,
            Cond::Text(path, test) => {
                let said = match test {
                    TextTest::Contains(part) => verb("contains", &[("value", &quoted(part)?)])?,
                    TextTest::Starts(part) => verb("starts", &[("value", &quoted(part)?)])?,
                    TextTest::Ends(part) => verb("ends", &[("value", &quoted(part)?)])?,
                    TextTest::Word(part) => verb("word", &[("value", &quoted(part)?)])?,
                    TextTest::Matches(pattern) => verb("matches", &[("value", &quoted(pattern)?)])?,
                    TextTest::Length(low, high) => {
                        let end = |end: &Option<u32>| end.map(|end| end.to_string()).unwrap_or_default();
                        let clean = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
                        match verb("length", &[("low", &end(low)), ("high", &end(high))])? {
                            Said::Doing(one, other) => Said::Doing(clean(one), clean(other)),
                            being @ Said::Being(_) => being,
                        }
                    }
                    TextTest::Number => Said::Being(say("number", &[])?),
                    TextTest::Whole => Said::Being(say("whole", &[])?),
                    TextTest::Date => Said::Being(say("date", &[])?),
                };
                (self.path(path)?, said)
            }
            _ => return None,
        })
    }

    fn comparison(&self, table: &Name, left: &Expr, how: Op, right: &Expr) -> Option<(String, Said)> {
        if let (Expr::Calc(Calc::Remainder, parts), Op::Equal, Expr::Value(rest)) = (left, how, right) {
            let [of, Expr::Value(by)] = parts.as_slice() else { return None };
            let is = |scalar: &Scalar, count: u32| *scalar == Scalar::Number(Number::count(count));
            let being = match rest {
                rest if is(rest, 0) => say("multiple", &[("value", &scalar(by)?)])?,
                rest if is(rest, 1) && is(by, 2) => say("odd", &[])?,
                _ => return None,
            };
            return Some((self.expr(of)?, Said::Being(being)));
        }
        // What is moved on stands behind the subject.
        let is_moved = |expr: &Expr| matches!(expr, Expr::Calc(Calc::Moved(_), _));
        let (left, how, right) = if is_moved(left) && !is_moved(right) {
            (right, how.flipped(), left)
        } else {
            (left, how, right)
        };
        let is_day = matches!(left, Expr::Column(path) if self.holds(table, path) == Holds::Day);
        let value = match right {
            Expr::Column(path) => say("the", &[("column", &self.path(path)?)])?,
            right => self.expr(right)?,
        };
        let is_plain = how == Op::Equal && !matches!(right, Expr::Value(Scalar::Day(_)));
        let kind = if is_day && !is_plain { "day" } else { "op" };
        Some((self.expr(left)?, Said::Being(say(&format!("{kind}.{}", op(how)), &[("value", &value)])?)))
    }

    fn expr(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Column(path) => self.path(path),
            Expr::Value(value) => scalar(value),
            Expr::Fold(what, of, link, filter) => {
                let rows = self.rows(&link.table, filter)?;
                let (figure, column) = (say(function(*what), &[])?, self.path(of)?);
                say("fold", &[("figure", &figure), ("column", &column), ("rows", &rows)])
            }
            Expr::Calc(Calc::Moved(by), parts) => {
                let [from, Expr::Value(Scalar::Number(count))] = parts.as_slice() else { return None };
                let key = if count.value() < 0.0 { "moved.before" } else { "moved.after" };
                let count = Number::new(count.value().abs())?.to_string();
                let by = say(&format!("unit.{}", unit(*by)), &[])?;
                say(key, &[("count", &count), ("unit", &by), ("value", &self.expr(from)?)])
            }
            Expr::Calc(Calc::Part(of), parts) => {
                say(&format!("part.{}", unit(*of)), &[("value", &self.expr(parts.first()?)?)])
            }
            Expr::Calc(Calc::Length, parts) => say("part.length", &[("value", &self.expr(parts.first()?)?)]),
            Expr::Calc(Calc::Percent, parts) => {
                let [percent, whole] = parts.as_slice() else { return None };
                say("percent", &[("percent", &self.expr(percent)?), ("value", &self.part(whole)?)])
            }
            Expr::Calc(calc, parts) => {
                let by = match calc {
                    Calc::Sum => "sum",
                    Calc::Difference => "difference",
                    Calc::Product => "product",
                    Calc::Quotient => "quotient",
                    _ => "remainder",
                };
                let parts: Option<Vec<String>> = parts.iter().map(|part| self.part(part)).collect();
                Some(parts?.join(&format!(" {} ", say(by, &[])?)))
            }
        }
    }

    /// A part of a sum; what is joined itself stands in brackets.
    fn part(&self, expr: &Expr) -> Option<String> {
        let said = self.expr(expr)?;
        let is_joined = matches!(
            expr,
            Expr::Calc(Calc::Sum | Calc::Difference | Calc::Product | Calc::Quotient | Calc::Remainder, _)
        );
        Some(if is_joined { format!("({said})") } else { said })
    }

    fn cond(&self, table: &Name, cond: &Cond, is_part: bool) -> Option<String> {
        let said = |said: (String, Said), so: bool| {
            let (subject, said) = said;
            match (&said, so) {
                (Said::Being(what), true) => say("is", &[("subject", &subject), ("predicate", what)]),
                (Said::Being(what), false) => say("is.not", &[("subject", &subject), ("predicate", what)]),
                (Said::Doing(_, verb), true) => say("does", &[("subject", &subject), ("verb", verb)]),
                (Said::Doing(verb, _), false) => say("does.not", &[("subject", &subject), ("verb", verb)]),
            }
        };
        match cond {
            Cond::All(all) | Cond::Any(all) if all.is_empty() => None,
            Cond::All(all) | Cond::Any(all) => {
                let joint = say(if matches!(cond, Cond::All(_)) { "and" } else { "or" }, &[])?;
                let parts: Option<Vec<String>> = all
                    .iter()
                    .map(|part| {
                        let said = self.cond(table, part, true)?;
                        Some(if said.starts_with('(') { said } else { format!("({said})") })
                    })
                    .collect();
                let joined = parts?.join(&format!(" {joint} "));
                Some(if is_part { format!("({joined})") } else { joined })
            }
            Cond::Not(inner) => match self.said(table, inner) {
                Some(what) => said(what, false),
                None => say("not", &[("test", &format!("({})", self.cond(table, inner, false)?))]),
            },
            Cond::Unique(columns) => {
                let names: Option<Vec<String>> = columns.iter().map(|path| self.path(path)).collect();
                say("unique", &[("columns", &names?.join(", "))])
            }
            Cond::Exists { link, filter, op: how, count } => {
                let text = self.exists(table, link, filter, *how, *count)?;
                Some(format!("({text})"))
            }
            other => said(self.said(table, other)?, true),
        }
    }

    fn exists(&self, table: &Name, link: &Link, filter: &Cond, how: Op, count: u32) -> Option<String> {
        let links = self.catalog.backward(table, &link.table);
        let is_link = links.iter().any(|(column, key)| *column == link.column && *key == link.key);
        if !is_link {
            let is_plain = filter.is_always() && (how, count) == (Op::AtLeast, 1);
            let (column, other) = (self.name(&link.key), self.name(&link.column));
            let places =
                [("column", column.as_str()), ("other", &other), ("table", &self.noun(&link.table)?)];
            return is_plain.then(|| say("known", &places))?;
        }
        let via = if links.len() > 1 {
            format!(" {}", say("via", &[("column", &self.name(&link.column))])?)
        } else {
            String::new()
        };
        let rows = self.rows(&link.table, filter)?;
        match (how, count) {
            (Op::AtLeast, 1) => say("exists.one", &[("via", &via), ("rows", &rows)]),
            (Op::Equal, 0) => say("exists.none", &[("via", &via), ("rows", &rows)]),
            (how, count) => {
                let how = say(&format!("count.{}", op(how)), &[])?;
                say(
                    "exists.count",
                    &[("op", &how), ("count", &count.to_string()), ("via", &via), ("rows", &rows)],
                )
            }
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn series(parts: &[String], joint: &str) -> Option<String> {
    let (last, rest) = parts.split_last()?;
    if rest.is_empty() {
        return Some(last.clone());
    }
    Some(format!("{} {} {last}", rest.join(", "), say(joint, &[])?))
}

/// A text in quotes that it does not hold itself.
fn quoted(text: &str) -> Option<String> {
    if !text.contains('"') {
        return Some(format!("\"{text}\""));
    }
    (!text.contains('\u{201d}')).then(|| format!("\u{201c}{text}\u{201d}"))
}

fn scalar(value: &Scalar) -> Option<String> {
    match value {
        Scalar::Text(text) => quoted(text),
        Scalar::Number(number) => Some(number.to_string()),
        Scalar::Bool(true) => say("yes", &[]),
        Scalar::Bool(false) => say("no", &[]),
        Scalar::Time(time) => Some(time.clone()),
        Scalar::Day(Day::On(day)) => Some(day.clone()),
        Scalar::Day(Day::Relative(Unit::Day, shift)) => match shift {
            0 => say("today", &[]),
            -1 => say("yesterday", &[]),
            1 => say("tomorrow", &[]),
            shift => {
                let key = if *shift < 0 { "ago" } else { "ahead" };
                say(key, &[("count", &shift.unsigned_abs().to_string())])
            }
        },
        Scalar::Day(Day::Relative(of, shift)) => {
            let of = say(&format!("calendar.{}", unit(*of)), &[])?;
            say(&format!("first.{shift}"), &[("unit", &of)])
        }
    }
}
