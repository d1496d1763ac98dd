//! Boundary cases of a rule, made from its form: which value just passes, and which just fails.

use ordain_types::{ColumnType, Side, Table, Test};
use serde_json::Value;

use crate::check::Check;

/// What a person can hold against what was meant, at most a few sentences.
pub(super) fn of(check: &Check, table: &Table) -> Vec<String> {
    let text = |name: &str| check.params.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_set = |name: &str| check.params.get(name).and_then(Value::as_bool).unwrap_or_default();
    let unjudged = "a missing value is not judged".to_owned();
    match check.kind.as_str() {
        "range" => {
            let edge = Edge::of(table, text("column"));
            let bounds = [("min", is_set("strict_min"), -1), ("max", is_set("strict_max"), 1)];
            let cases = bounds.into_iter().filter_map(|(name, is_strict, outward)| {
                edge.cases(check.params.get(name)?, outward, is_strict)
            });
            cases.chain([unjudged]).collect()
        }
        "length" => counts(check, "characters").into_iter().chain([unjudged]).collect(),
        "in_set" => {
            let listed =
                check.params.get("values").and_then(Value::as_array).and_then(|values| values.first());
            let (one, other) = if is_set("negate") { ("fails", "passes") } else { ("passes", "fails") };
            let case = listed.map(|value| format!("{value} {one}, a value that is not listed {other}"));
            case.into_iter().chain([unjudged]).collect()
        }
        "not_null" if is_set("negate") => vec!["a missing value passes, any other fails".to_owned()],
        "not_null" => vec!["a missing value fails, any other passes".to_owned()],
        "unique" => vec!["the same value twice: both rows fail".to_owned(), unjudged],
        "row_count" => counts(check, "rows"),
        "condition" => of_test(check, table),
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
    let Some(Test::Compare { left: Side::Column(name), op, right: Side::Value(bound) }) = must else {
        return Vec::new();
    };
    let outward = if op.starts_with('<') { 1 } else { -1 };
    if !matches!(op.as_str(), "<" | "<=" | ">" | ">=") {
        return Vec::new();
    }
    let cases = Edge::of(table, &name).cases(&bound, outward, !op.ends_with('='));
    let missing = "a missing value is not judged".to_owned();
    if ["min_share", "max_share"].iter().any(|share| check.params.contains_key(*share)) {
        // The share is that of the rows where the condition holds, whether they are wanted or not.
        let counted = |case: String| case.replace(" passes", " counts").replace(" fails", " does not count");
        return cases.map(counted).into_iter().chain(["a missing value does not count".to_owned()]).collect();
    }
    cases.into_iter().chain([missing]).collect()
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
            Some(ColumnType::Real) => Self::Fraction,
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
            (
                "range",
                json!({"column": "units", "max": 9_007_199_254_740_992_i64}),
                "9007199254740992 passes, 9007199254740993 fails",
            ),
        ] {
            let record = json!({"check_id": "A", "check_name": "a", "target_table": ["orders"], "kind": kind, "params": params});
            let check: Check = serde_json::from_value(record).unwrap();
            assert_eq!(of(&check, &table)[0], expected);
        }
    }
}
