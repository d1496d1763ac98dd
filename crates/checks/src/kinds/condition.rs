//! A condition that every row must meet, or that a share of them may: comparisons, gaps, lists, patterns and formulas, joined.
//!
//! A comparison with a value that is not there is neither true nor false. A row fails only if its condition is false, and
//! it is judged only if its condition is true or false.

use std::collections::BTreeSet;

use ordain_types::{Asked, ColumnType, Side, Table, Test};
use serde_json::Value;

use super::emit::{Code, column};
use super::figures::seconds_of;
use super::literal;
use super::params::{CompileError, Params, column_of};
use super::values::{hint_for, may_hold, points, sort_of, times, type_words};

/// The comparisons, each with its opposite.
const OPPOSITES: [(&str, &str); 6] =
    [("==", "!="), ("!=", "=="), ("<", ">="), (">=", "<"), (">", "<="), ("<=", ">")];

/// What can be computed with: a truth value counts as one or none.
const FIGURES: [&str; 2] = ["numbers", "truth values"];

/// The comparison that is so where another one is not.
pub(super) fn opposite(op: &str) -> Option<&'static str> {
    OPPOSITES.iter().find(|(known, _)| *known == op).map(|(_, opposite)| *opposite)
}

/// Keeps the rows to which a rule applies, where `when` says so.
pub(super) fn when(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let Some(when) = test(params, "when")? else { return Ok(()) };
    let columns = columns_of(&when, table)?;
    let writer = Writer { table };
    if writer.needs_pandas(&when) {
        code.import("import pandas as pd");
    }
    code.uses(&columns);
    code.line(format!("applies = ({}).fillna(False).astype(\"bool\")", writer.python(&when, true)?));
    match code.unclear(&columns) {
        None => code.line("rows = rows[applies]"),
        Some(unclear) => {
            code.line(format!("is_out = ({}).fillna(False).astype(\"bool\")", writer.python(&when, false)?));
            code.line(format!("rows = rows[applies | {unclear} & ~is_out]"));
        }
    }
    code.step(format!("keep the rows where {}", when.words()));
    code.only_where(when);
    Ok(())
}

/// Every row meets `must`, or a share of them does.
pub(super) fn condition(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let must = test(params, "must")?.ok_or_else(|| params.wrong("must", "a condition"))?;
    let (min, max) = (params.number("min_share")?, params.number("max_share")?);
    let judged = columns_of(&must, table)?;
    code.uses(&judged);
    let writer = Writer { table };
    if writer.needs_pandas(&must) {
        code.import("import pandas as pd");
    }
    let rule = must.words();
    code.line(format!("holds = ({}).fillna(False).astype(\"bool\")", writer.python(&must, true)?));
    code.step(format!("mark the rows where {rule}"));
    if min.is_some() || max.is_some() {
        code.asks(Asked::Share(must));
        return share(code, &rule, min, max);
    }
    code.line(format!("failing = ({}).fillna(False).astype(\"bool\")", writer.python(&must, false)?));
    code.line("judged = holds | failing");
    code.asks(Asked::Every(must));
    code.end_with_rows(&format!("in every row {rule}"), &format!("break the rule: {rule}"), &judged);
    Ok(())
}

/// The columns that a condition looks at, all of them there.
fn columns_of(test: &Test, table: &Table) -> Result<Vec<String>, CompileError> {
    let mut columns = BTreeSet::new();
    test.columns(&mut columns);
    for name in &columns {
        column_of(table, name)?;
    }
    Ok(columns.into_iter().collect())
}

fn share(code: &mut Code, rule: &str, min: Option<f64>, max: Option<f64>) -> Result<(), CompileError> {
    code.line("observed = float(holds.mean()) if len(rows) else None");
    code.counted_line("observed = counted[\"holds\"] / counted[\"rows\"] if counted[\"rows\"] else None");
    let (mut tests, mut wanted) = (Vec::new(), Vec::new());
    for (bound, sign, words) in [(min, ">=", "at least"), (max, "<=", "at most")] {
        if let Some(bound) = bound {
            if !(0.0..=1.0).contains(&bound) {
                return Err(CompileError::param(
                    format!("the share {bound} is not between 0 and 1"),
                    "write 0.05 for 5 %",
                ));
            }
            tests.push(format!("observed {sign} {bound}"));
            wanted.push(format!("{words} {} %", (bound * 1e6).round() / 1e4));
        }
    }
    code.line_of_both(format!("holds = observed is None or {}", tests.join(" and ")));
    code.line_of_both("found = \"none\" if observed is None else f\"{observed:.2%} of the rows\"");
    let wanted = wanted.join(" and ");
    let rule = format!("in {wanted} of the rows {rule}");
    code.end_with_verdict(&rule, &format!("{{found}}; {} expected", literal::spoken(&wanted)));
    Ok(())
}

pub(super) fn test(params: &mut Params<'_>, name: &'static str) -> Result<Option<Test>, CompileError> {
    const FORM: &str = "a condition, such as {\"null\": \"email\"}, {\"in\": {\"column\": \"status\", \"values\": [\"paid\"]}} or {\"compare\": {\"left\": {\"column\": \"price\"}, \"op\": \">\", \"right\": {\"value\": 0}}}; `all`, `any` and `not` join several";
    let Some(given) = params.get(name) else { return Ok(None) };
    serde_json::from_value(given.clone()).map(Some).map_err(|_| params.wrong(name, FORM))
}

/// Writes conditions on `rows`.
struct Writer<'a> {
    table: &'a Table,
}

impl Writer<'_> {
    fn needs_pandas(&self, test: &Test) -> bool {
        let mut columns = BTreeSet::new();
        test.columns(&mut columns);
        columns.iter().any(|name| self.type_of(name) == ColumnType::Timestamp)
    }

    fn type_of(&self, name: &str) -> ColumnType {
        self.table.column(name).map_or(ColumnType::Text, |column| column.column_type)
    }

    /// An expression that is true in the rows where a condition is so: true, or false.
    fn python(&self, test: &Test, so: bool) -> Result<String, CompileError> {
        Ok(match (test, so) {
            (Test::Not(inner), so) => self.python(inner, !so)?,
            (Test::All(all), true) | (Test::Any(all), false) => self.joined(all, so, " & ")?,
            (Test::Any(all), true) | (Test::All(all), false) => self.joined(all, so, " | ")?,
            (Test::Compare { left, op, right }, so) => self.compare(left, op, right, so)?,
            (Test::Null(name), so) => format!("{}.{}()", column(name), if so { "isna" } else { "notna" }),
            (Test::In { column: name, values }, so) => {
                may_hold(name, values, self.table)?;
                let listed = literal::value(&Value::Array(values.clone()));
                let found = if self.type_of(name) == ColumnType::Timestamp {
                    format!("{}.isin({})", times(&column(name)), points(&listed))
                } else {
                    format!("{}.isin({listed})", column(name))
                };
                among(&column(name), &found, so)
            }
            (Test::Matches { column: name, pattern }, so) => {
                let found =
                    format!("{}.astype(\"str\").str.contains({})", column(name), literal::pattern(pattern));
                among(&column(name), &found, so)
            }
            (Test::Length { column: name, min, max }, so) => {
                self.holds_text(name)?;
                let length = format!("{}.str.len()", column(name));
                let bounds = [min.map(|min| (">=", "<", min)), max.map(|max| ("<=", ">", max))];
                let tests: Vec<String> = bounds
                    .into_iter()
                    .flatten()
                    .map(|(yes, no, bound)| format!("({length} {} {bound})", if so { yes } else { no }))
                    .collect();
                format!("({})", tests.join(if so { " & " } else { " | " }))
            }
            (Test::Weekend(name), so) => {
                if self.type_of(name) != ColumnType::Timestamp {
                    return Err(self.unlike(name, "days"));
                }
                let day = format!("{}.dt.dayofweek", times(&column(name)));
                format!("({day} {} 5)", if so { ">=" } else { "<" })
            }
        })
    }

    fn joined(&self, all: &[Test], so: bool, by: &str) -> Result<String, CompileError> {
        let parts: Result<Vec<String>, CompileError> = all.iter().map(|test| self.python(test, so)).collect();
        let parts = parts?;
        if parts.is_empty() {
            return Err(CompileError::param(
                "a condition names nothing",
                "give at least one test in `all` and `any`",
            ));
        }
        Ok(format!("({})", parts.join(by)))
    }

    fn compare(&self, left: &Side, op: &str, right: &Side, so: bool) -> Result<String, CompileError> {
        let Some((op, opposite)) = OPPOSITES.iter().find(|(known, _)| *known == op) else {
            return Err(CompileError::param(
                format!("there is no comparison `{op}`"),
                "use ==, !=, <, <=, > or >=",
            ));
        };
        self.alike(left, right)?;
        let op = if so { op } else { opposite };
        let is_time = self.is_time(left) || self.is_time(right);
        let (a, b) = (side_of(left, is_time), side_of(right, is_time));
        if left.is_formula() || right.is_formula() {
            // Sums and products of fractions are not exact to the last digit. What cannot be computed is unequal to nothing.
            let difference = format!("({a} - {b}).round(6)");
            return Ok(match *op {
                "!=" => format!("({difference}.abs() > 0)"),
                op => format!("({difference} {op} 0)"),
            });
        }
        let is_there =
            |side: &Side, text: &str| matches!(side, Side::Column(_)).then(|| format!(" & {text}.notna()"));
        let there = if *op == "!=" { [is_there(left, &a), is_there(right, &b)] } else { [None, None] };
        Ok(format!("(({a} {op} {b}){})", there.into_iter().flatten().collect::<String>()))
    }

    fn is_time(&self, side: &Side) -> bool {
        match side {
            Side::Column(name) => self.type_of(name) == ColumnType::Timestamp,
            Side::Now | Side::Ago(_) => true,
            _ => false,
        }
    }

    /// Nothing is converted: two sides of different types are an error that names both.
    fn alike(&self, left: &Side, right: &Side) -> Result<(), CompileError> {
        let (one, other) = (self.sort(left)?, self.sort(right)?);
        let are_figures = [one, other].iter().all(|sort| FIGURES.contains(sort));
        if one == other || are_figures {
            return Ok(());
        }
        if let (Side::Column(name), Side::Value(value)) | (Side::Value(value), Side::Column(name)) =
            (left, right)
            && self.type_of(name) == ColumnType::Boolean
        {
            return Err(CompileError::param(
                format!(
                    "`{name}` holds truth values and {value} is {}: they cannot be compared",
                    sort_of(value)
                ),
                hint_for(ColumnType::Boolean, value, self.table),
            ));
        }
        Err(CompileError::param(
            format!("{} holds {one} and {} is {other}: they cannot be compared", left.words(), right.words()),
            format!(
                "declare the type of the column under `[data.{}.columns]`, or correct the rule",
                self.table.name
            ),
        ))
    }

    fn sort(&self, side: &Side) -> Result<&'static str, CompileError> {
        Ok(match side {
            Side::Column(name) => match self.type_of(name) {
                ColumnType::Integer | ColumnType::Real | ColumnType::Decimal => "numbers",
                other => type_words(other),
            },
            Side::Value(Value::String(text)) if ordain_types::is_timestamp(text) => "points in time",
            Side::Value(Value::String(_)) => "text",
            Side::Value(Value::Bool(_)) => type_words(ColumnType::Boolean),
            Side::Value(_) => "numbers",
            Side::Now => "points in time",
            Side::Ago(span) if seconds_ago(span).is_some() => "points in time",
            Side::Ago(span) => {
                return Err(CompileError::param(
                    format!("`{span}` is no length of time"),
                    "give one such as 36h or 7d",
                ));
            }
            Side::Sum(sides) | Side::Difference(sides) | Side::Product(sides) | Side::Quotient(sides) => {
                for side in sides.iter() {
                    if !FIGURES.contains(&self.sort(side)?) {
                        return Err(CompileError::param(
                            format!("{} is no number, so nothing can be computed from it", side.words()),
                            "name columns that hold numbers",
                        ));
                    }
                }
                "numbers"
            }
        })
    }

    fn holds_text(&self, name: &str) -> Result<(), CompileError> {
        match self.type_of(name) {
            ColumnType::Text | ColumnType::Json | ColumnType::Any => Ok(()),
            _ => Err(self.unlike(name, "text")),
        }
    }

    fn unlike(&self, name: &str, wanted: &str) -> CompileError {
        CompileError::param(
            format!(
                "column `{name}` holds {}, and the rule asks for {wanted}",
                type_words(self.type_of(name))
            ),
            format!("declare its type under `[data.{}.columns]`, or correct the rule", self.table.name),
        )
    }
}

/// One side as Python.
fn side_of(side: &Side, is_time: bool) -> String {
    match side {
        Side::Column(name) if is_time => times(&column(name)),
        Side::Column(name) => column(name),
        Side::Value(value) if is_time => format!("pd.Timestamp({}, tz=\"UTC\")", literal::value(value)),
        Side::Value(value) => literal::value(value),
        Side::Now => "pd.Timestamp(inputs[\"now\"])".to_owned(),
        Side::Ago(span) => {
            let seconds = seconds_ago(span).unwrap_or_default();
            let day = if Side::is_in_days(span) { ".normalize()" } else { "" };
            format!("(pd.Timestamp(inputs[\"now\"]) - pd.Timedelta(seconds={seconds})){day}")
        }
        Side::Sum(sides) | Side::Difference(sides) | Side::Product(sides) | Side::Quotient(sides) => {
            format!("({} {} {})", side_of(&sides[0], false), side.sign(), side_of(&sides[1], false))
        }
    }
}

/// How many seconds ago something was that was so long ago; fewer than none for what is to come.
fn seconds_ago(span: &str) -> Option<f64> {
    span.strip_prefix('-').map_or_else(|| seconds_of(span), |span| seconds_of(span).map(|seconds| -seconds))
}

fn among(values: &str, found: &str, so: bool) -> String {
    if so { format!("({values}.notna() & {found})") } else { format!("({values}.notna() & ~{found})") }
}
