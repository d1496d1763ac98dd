//! Boundary cases of a rule, made from its form: which value just passes, and which just fails.

use ordain_types::{ColumnType, Side, Table, Test};
use serde_json::Value;

use super::condition;
use crate::catalogue::Kind;
use crate::check::Check;

/// What a person can hold against what was meant, at most a few sentences.
pub(super) fn of(check: &Check, table: &Table) -> Vec<String> {
    let text = |name: &str| check.params.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_set = |name: &str| check.params.get(name).and_then(Value::as_bool).unwrap_or_default();
    let unjudged = "a missing value is not judged".to_owned();
    match check.kind {
        Kind::Range => {
            let edge = Edge::of(table, text("column"));
            let bounds = [("min", is_set("strict_min"), -1), ("max", is_set("strict_max"), 1)];
            let cases = bounds.into_iter().filter_map(|(name, is_strict, outward)| {
                edge.cases(check.params.get(name)?, outward, is_strict)
            });
            cases.chain([unjudged]).collect()
        }
        Kind::Length => counts(check, "characters").into_iter().chain([unjudged]).collect(),
        Kind::InSet => {
            let listed =
                check.params.get("values").and_then(Value::as_array).and_then(|values| values.first());
            let (one, other) = if is_set("negate") { ("fails", "passes") } else { ("passes", "fails") };
            let case = listed.map(|value| format!("{value} {one}, a value that is not listed {other}"));
            case.into_iter().chain([unjudged]).collect()
        }
        Kind::NotNull if is_set("negate") => vec!["a missing value passes, any other fails".to_owned()],
        Kind::NotNull => vec!["a missing value fails, any other passes".to_owned()],
        Kind::Unique => vec!["the same value twice: both rows fail".to_owned(), unjudged],
        Kind::RowCount => counts(check, "rows"),
        Kind::Monotonic => {
            let equal = if is_set("strict") { "fails" } else { "passes" };
            let is_time = matches!(Edge::of(table, text("column")), Edge::Time);
            let wrong = match (text("direction"), is_time) {
                ("decreasing", false) => "a greater",
                ("decreasing", true) => "a later",
                (_, false) => "a smaller",
                (_, true) => "an earlier",
            };
            vec![format!("the same value as before {equal}, {wrong} one fails"), unjudged]
        }
        Kind::Condition => of_test(check, table),
        _ => Vec::new(),
    }
}

fn counts(check: &Check, what: &str) -> Vec<String> {
    let bounds = [("min", -1_i64), ("max", 1)];
    let cases = bounds.into_iter().filter_map(|(name, outward)| {
        let bound = check.params.get(name)?.as_i64()?;
        let outside = bound + outward;
        let outside = if outside >= 0 { format!(", {outside} fail") } else { String::new() };
        Some(format!("{bound} {what} pass{outside}"))
    });
    cases.collect()
}

fn of_test(check: &Check, table: &Table) -> Vec<String> {
    let must = check.params.get("must").and_then(|must| serde_json::from_value::<Test>(must.clone()).ok());
    let mut found = Vec::new();
    if let Some(must) = &must {
        parts(must, true, table, &mut found);
    }
    if found.is_empty() {
        return Vec::new();
    }
    let (is_one, is_any) = (found.len() == 1, must.as_ref().is_some_and(has_choice));
    let mut cases: Vec<String> = found
        .into_iter()
        .take(PARTS_MAX)
        .map(|(name, case)| match (is_one, is_any) {
            (true, _) => case,
            (false, false) => format!("`{name}`: {case}"),
            (false, true) => format!("`{name}`: {case}, unless another part of the rule decides"),
        })
        .collect();
    let is_about_gaps = cases.iter().any(|case| case.contains("a missing value"));
    let is_share = ["min_share", "max_share"].iter().any(|share| check.params.contains_key(*share));
    if is_share {
        // The share is that of the rows where the condition holds, whether they are wanted or not.
        let counted = |case: String| case.replace(" passes", " counts").replace(" fails", " does not count");
        cases = cases.into_iter().map(counted).collect();
    }
    let missing = if is_share { "a missing value does not count" } else { "a missing value is not judged" };
    cases.extend((!is_about_gaps).then(|| missing.to_owned()));
    cases
}

/// Parts of a condition that are shown.
const PARTS_MAX: usize = 6;

/// Whether one part of a condition may make up for another.
fn has_choice(test: &Test) -> bool {
    match test {
        Test::Any(all) => all.len() > 1 || all.iter().any(has_choice),
        Test::All(all) => all.iter().any(has_choice),
        Test::Not(inner) => matches!(inner.as_ref(), Test::All(all) if all.len() > 1) || has_choice(inner),
        _ => false,
    }
}

/// The boundary cases of each part of a condition that is to be so, or not so, with its column.
fn parts(test: &Test, so: bool, table: &Table, found: &mut Vec<(String, String)>) {
    let (yes, no) = if so { ("passes", "fails") } else { ("fails", "passes") };
    match test {
        Test::All(all) | Test::Any(all) => all.iter().for_each(|test| parts(test, so, table, found)),
        Test::Not(inner) => parts(inner, !so, table, found),
        Test::Compare { left: Side::Column(name), op, right: Side::Value(bound) } => {
            found.extend(compared(name, op, bound, so, table).map(|case| (name.clone(), case)));
        }
        Test::Compare { left: Side::Column(name), op, right: Side::Column(other) } => {
            let is_so = op.contains('=') == (op != "!=");
            let verdict = if is_so == so { "passes" } else { "fails" };
            found.push((name.clone(), format!("the same value as `{other}` {verdict}")));
        }
        Test::Null(name) => found.push((name.clone(), format!("a missing value {yes}, any other {no}"))),
        Test::In { column, values } => {
            let listed = values
                .first()
                .map(|value| (column.clone(), format!("{value} {yes}, a value that is not listed {no}")));
            found.extend(listed);
        }
        Test::Length { column, min, max } => {
            let bounds = [min.map(|min| (min, min.checked_sub(1))), max.map(|max| (max, max.checked_add(1)))];
            for (bound, outside) in bounds.into_iter().flatten() {
                let outside = outside.map(|outside| format!(", one of {outside} {no}")).unwrap_or_default();
                found.push((column.clone(), format!("a text of {bound} characters {yes}{outside}")));
            }
        }
        Test::Weekend(name) => found.push((name.clone(), format!("a Saturday {yes}, a Friday {no}"))),
        Test::Compare { .. } | Test::Matches { .. } => {}
    }
}

fn compared(name: &str, op: &str, bound: &Value, so: bool, table: &Table) -> Option<String> {
    let op = if so { op } else { condition::opposite(op)? };
    match op {
        "==" | "!=" => {
            let at = bound.as_str().map_or_else(|| bound.to_string(), str::to_owned);
            let (same, other) = if op == "==" { ("passes", "fails") } else { ("fails", "passes") };
            Some(format!("{at} {same}, any other value {other}"))
        }
        _ => {
            let outward = if op.starts_with('<') { 1 } else { -1 };
            Edge::of(table, name).cases(bound, outward, !op.ends_with('='))
        }
    }
}

/// How far the next value of a column is from another.
enum Edge {
    Whole,
    Fraction,
    Time,
    Other,
}

impl Edge {
    fn of(table: &Table, column: &str) -> Self {
        match table.column(column).map(|column| column.column_type) {
            Some(ColumnType::Integer) => Self::Whole,
            Some(ColumnType::Real | ColumnType::Decimal) => Self::Fraction,
            Some(ColumnType::Timestamp) => Self::Time,
            _ => Self::Other,
        }
    }

    /// `100 passes, 100.01 fails`. `outward` is the direction in which values fail.
    fn cases(&self, bound: &Value, outward: i32, is_strict: bool) -> Option<String> {
        let at = bound.as_str().map_or_else(|| bound.to_string(), str::to_owned);
        let beside = |steps: i32| self.beside(bound, steps);
        if is_strict {
            let inside = beside(-outward).map(|inside| format!(", {inside} passes")).unwrap_or_default();
            return Some(format!("{at} fails{inside}"));
        }
        Some(format!("{at} passes, {} fails", beside(outward)?))
    }

    fn beside(&self, bound: &Value, steps: i32) -> Option<String> {
        match self {
            Self::Whole => {
                if let Some(whole) = bound.as_i64() {
                    return Some(whole.saturating_add(i64::from(steps)).to_string());
                }
                let whole = bound.as_f64()?;
                let next = if steps > 0 { (whole + 1.0).floor() } else { (whole - 1.0).ceil() };
                Some(next.to_string())
            }
            Self::Fraction => {
                let number = bound.as_f64()?;
                let next = (number + f64::from(steps) * 0.01) * 1e6;
                Some((next.round() / 1e6).to_string())
            }
            Self::Time => Some(if steps > 0 { "a later time" } else { "an earlier time" }.to_owned()),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ordain_types::Column;
    use serde_json::json;

    use super::*;

    #[test]
    fn cases_lie_on_both_sides_of_a_bound() {
        let column = |name: &str, column_type| Column {
            name: name.to_owned(),
            column_type,
            nullable: true,
            hidden: false,
        };
        let table = Table {
            name: "orders".to_owned(),
            columns: vec![
                column("units", ColumnType::Integer),
                column("price", ColumnType::Real),
                column("at", ColumnType::Timestamp),
            ],
            ..Table::default()
        };
        for (kind, params, expected) in [
            ("range", json!({"column": "price", "max": 100}), "100 passes, 100.01 fails"),
            ("range", json!({"column": "units", "min": 1}), "1 passes, 0 fails"),
            ("range", json!({"column": "price", "min": 0, "strict_min": true}), "0 fails, 0.01 passes"),
            (
                "range",
                json!({"column": "at", "min": "2024-01-01"}),
                "2024-01-01 passes, an earlier time fails",
            ),
            ("length", json!({"column": "x", "max": 5}), "5 characters pass, 6 fail"),
            ("row_count", json!({"min": 0}), "0 rows pass"),
            (
                "condition",
                json!({"must": {"compare": {"left": {"column": "units"}, "op": "<", "right": {"value": 10}}}}),
                "10 fails, 9 passes",
            ),
            // A share of rows that may be bad: the bounds are those of what is counted.
            (
                "condition",
                json!({"must": {"compare": {"left": {"column": "price"}, "op": "<", "right": {"value": 0}}}, "max_share": 0.005}),
                "0 does not count, -0.01 counts",
            ),
            // Each part of a rule has a bound of its own.
            (
                "condition",
                json!({"must": {"all": [
                    {"compare": {"left": {"column": "units"}, "op": "<", "right": {"value": 10}}},
                    {"not": {"compare": {"left": {"column": "price"}, "op": "<", "right": {"value": 5}}}},
                ]}}),
                "`units`: 10 fails, 9 passes | `price`: 5 passes, 4.99 fails | a missing value is not judged",
            ),
            (
                "condition",
                json!({"must": {"any": [
                    {"null": "at"},
                    {"compare": {"left": {"column": "units"}, "op": "==", "right": {"value": 3}}},
                ]}}),
                "`at`: a missing value passes, any other fails, unless another part of the rule decides | `units`: 3 passes, any other value fails, unless another part of the rule decides",
            ),
            (
                "range",
                json!({"column": "units", "max": 9_007_199_254_740_992_i64}),
                "9007199254740992 passes, 9007199254740993 fails",
            ),
        ] {
            let record = json!({"check_id": "A", "check_name": "a", "target_table": ["orders"], "kind": kind, "params": params});
            let check: Check = serde_json::from_value(record).unwrap();
            assert!(of(&check, &table).join(" | ").starts_with(expected), "{:?}", of(&check, &table));
        }
    }
}
