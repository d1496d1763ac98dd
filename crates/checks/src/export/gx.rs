//! Expectation suites of Great Expectations.

use serde_json::{Map, Value, json};

use super::{is_grouped, is_set, left_out, names, param, text};
use crate::catalogue::Kind;
use crate::check::{Check, Severity};
use crate::import::Unmapped;

/// One suite for each table; one alone is the file itself.
pub(super) fn export(checks: &[Check]) -> (Value, Vec<Unmapped>) {
    let mut suites: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut unmapped = Vec::new();
    for check in checks {
        let Some((kind, kwargs)) = expectation(check) else {
            unmapped.push(left_out(check, "no expectation means the same"));
            continue;
        };
        let table = check.target_table.first().map_or("table", String::as_str);
        let entry = entry(check, kind, kwargs);
        match suites.iter_mut().find(|(name, _)| *name == table) {
            Some((_, entries)) => entries.push(entry),
            None => suites.push((table, vec![entry])),
        }
    }
    let mut suites: Vec<_> = suites
        .into_iter()
        .map(|(table, entries)| json!({"name": table, "expectations": entries, "meta": {}}))
        .collect();
    let value = if suites.len() == 1 { suites.remove(0) } else { Value::Array(suites) };
    (value, unmapped)
}

fn entry(check: &Check, kind: &str, mut kwargs: Map<String, Value>) -> Value {
    kwargs.retain(|_, value| !value.is_null());
    if let Some(percent) = check.fail_if.and_then(|threshold| threshold.percent) {
        kwargs.insert("mostly".to_owned(), json!(((1.0 - percent / 100.0) * 1e9).round() / 1e9));
    }
    if let Some(filter) = &check.filter {
        kwargs.insert("row_condition".to_owned(), json!(filter));
        kwargs.insert("condition_parser".to_owned(), json!("pandas"));
    }
    let severity = match check.severity {
        Severity::Info => "info",
        Severity::Low | Severity::Medium => "warning",
        Severity::High | Severity::Critical => "critical",
    };
    json!({"type": kind, "kwargs": kwargs, "severity": severity, "meta": {"check_id": check.check_id, "check_name": check.check_name}})
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn expectation(check: &Check) -> Option<(&'static str, Map<String, Value>)> {
    let column = ("column", param(check, "column"));
    let columns = names(check, "columns");
    Some(match (check.kind, &columns[..]) {
        _ if is_grouped(check) => return None,
        (Kind::NotNull, [one]) if is_set(check, "negate") => {
            ("expect_column_values_to_be_null", map([("column", json!(one))]))
        }
        (Kind::NotNull, [one]) => ("expect_column_values_to_not_be_null", map([("column", json!(one))])),
        (Kind::Unique, [one]) => ("expect_column_values_to_be_unique", map([("column", json!(one))])),
        (Kind::Unique, [_, _, ..]) => (
            "expect_compound_columns_to_be_unique",
            map([("column_list", json!(columns)), ("ignore_row_if", ignore(check, true)?)]),
        ),
        (Kind::InSet, _) if is_set(check, "negate") => {
            ("expect_column_values_to_not_be_in_set", map([column, ("value_set", param(check, "values"))]))
        }
        (Kind::InSet, _) => {
            ("expect_column_values_to_be_in_set", map([column, ("value_set", param(check, "values"))]))
        }
        (Kind::Range, _) => ("expect_column_values_to_be_between", bounds(check, column)),
        (Kind::Length, _) => (
            "expect_column_value_lengths_to_be_between",
            map([column, ("min_value", param(check, "min")), ("max_value", param(check, "max"))]),
        ),
        (Kind::Regex, _) => regex(check, column),
        (Kind::Monotonic, _) => {
            let kind = if text(check, "direction") == Some("decreasing") {
                "expect_column_values_to_be_decreasing"
            } else {
                "expect_column_values_to_be_increasing"
            };
            (kind, map([column, ("strictly", param(check, "strict"))]))
        }
        (Kind::Dtype, _) => return dtype(check, column),
        (Kind::RowCount, _) => match text(check, "same_as") {
            Some(other) => {
                ("expect_table_row_count_to_equal_other_table", map([("other_table_name", json!(other))]))
            }
            None => (
                "expect_table_row_count_to_be_between",
                map([("min_value", param(check, "min")), ("max_value", param(check, "max"))]),
            ),
        },
        (Kind::Schema, _) => return schema(check, &columns),
        (Kind::Aggregate, _) => return aggregate(check, column),
        (Kind::TwoColumns, _) => return two_columns(check, &columns),
        _ => return None,
    })
}

fn bounds(check: &Check, column: (&str, Value)) -> Map<String, Value> {
    map([
        column,
        ("min_value", param(check, "min")),
        ("max_value", param(check, "max")),
        ("strict_min", param(check, "strict_min")),
        ("strict_max", param(check, "strict_max")),
    ])
}

fn regex(check: &Check, column: (&str, Value)) -> (&'static str, Map<String, Value>) {
    let pattern = param(check, "pattern");
    match (pattern.is_array(), is_set(check, "negate")) {
        (false, false) => ("expect_column_values_to_match_regex", map([column, ("regex", pattern)])),
        (false, true) => ("expect_column_values_to_not_match_regex", map([column, ("regex", pattern)])),
        (true, false) => (
            "expect_column_values_to_match_regex_list",
            map([column, ("regex_list", pattern), ("match_on", param(check, "match"))]),
        ),
        (true, true) => {
            ("expect_column_values_to_not_match_regex_list", map([column, ("regex_list", pattern)]))
        }
    }
}

fn dtype(check: &Check, column: (&str, Value)) -> Option<(&'static str, Map<String, Value>)> {
    if let Some(format) = text(check, "format") {
        return Some((
            "expect_column_values_to_match_strftime_format",
            map([column, ("strftime_format", json!(format))]),
        ));
    }
    Some(match text(check, "type")? {
        "date_text" => ("expect_column_values_to_be_dateutil_parseable", map([column])),
        "json" => ("expect_column_values_to_be_json_parseable", map([column])),
        kind => {
            let name = match kind {
                "integer" => "int",
                "real" => "float",
                "text" => "str",
                "boolean" => "bool",
                "timestamp" => "datetime64",
                _ => return None,
            };
            ("expect_column_values_to_be_of_type", map([column, ("type_", json!(name))]))
        }
    })
}

fn schema(check: &Check, columns: &[String]) -> Option<(&'static str, Map<String, Value>)> {
    let is_closed = text(check, "extra") == Some("deny");
    if check.params.contains_key("min_columns") || check.params.contains_key("max_columns") {
        return Some((
            "expect_table_column_count_to_be_between",
            map([("min_value", param(check, "min_columns")), ("max_value", param(check, "max_columns"))]),
        ));
    }
    match (columns, text(check, "order")) {
        ([], _) => None,
        (_, Some("exact")) if is_closed => {
            Some(("expect_table_columns_to_match_ordered_list", map([("column_list", json!(columns))])))
        }
        (_, Some("exact")) => None,
        ([one], _) if !is_closed => Some((
            "expect_column_to_exist",
            map([("column", json!(one)), ("column_index", param(check, "index"))]),
        )),
        _ => Some((
            "expect_table_columns_to_match_set",
            map([("column_set", json!(columns)), ("exact_match", json!(is_closed))]),
        )),
    }
}

fn aggregate(check: &Check, column: (&str, Value)) -> Option<(&'static str, Map<String, Value>)> {
    let kind = match text(check, "function")? {
        "min" => "expect_column_min_to_be_between",
        "max" => "expect_column_max_to_be_between",
        "mean" => "expect_column_mean_to_be_between",
        "median" => "expect_column_median_to_be_between",
        "sum" => "expect_column_sum_to_be_between",
        "stdev" => "expect_column_stdev_to_be_between",
        "distinct_count" => "expect_column_unique_value_count_to_be_between",
        "distinct_share" => "expect_column_proportion_of_unique_values_to_be_between",
        "most_common" => {
            return Some((
                "expect_column_most_common_value_to_be_in_set",
                map([
                    column,
                    ("value_set", param(check, "subset_of")),
                    ("ties_okay", param(check, "ties_okay")),
                ]),
            ));
        }
        "quantiles" => {
            let ranges =
                json!({"quantiles": param(check, "quantiles"), "value_ranges": param(check, "ranges")});
            return Some((
                "expect_column_quantile_values_to_be_between",
                map([column, ("quantile_ranges", ranges)]),
            ));
        }
        "distinct_values" => {
            let relations = [
                ("subset_of", "expect_column_distinct_values_to_be_in_set"),
                ("contains", "expect_column_distinct_values_to_contain_set"),
                ("equals", "expect_column_distinct_values_to_equal_set"),
            ];
            let (name, kind) = relations.into_iter().find(|(name, _)| check.params.contains_key(*name))?;
            return Some((kind, map([column, ("value_set", param(check, name))])));
        }
        _ => return None,
    };
    Some((kind, bounds(check, column)))
}

fn two_columns(check: &Check, columns: &[String]) -> Option<(&'static str, Map<String, Value>)> {
    let pair = [
        ("column_A", param(check, "left")),
        ("column_B", param(check, "right")),
        ("ignore_row_if", ignore(check, false)?),
    ];
    let [left, right, ignored] = pair;
    Some(match text(check, "op")? {
        "==" => ("expect_column_pair_values_to_be_equal", map([left, right, ignored])),
        op @ (">" | ">=") => (
            "expect_column_pair_values_a_to_be_greater_than_b",
            map([left, right, ignored, ("or_equal", json!(op == ">="))]),
        ),
        op @ ("<" | "<=") => (
            "expect_column_pair_values_a_to_be_greater_than_b",
            map([("column_A", right.1), ("column_B", left.1), ignored, ("or_equal", json!(op == "<="))]),
        ),
        "in_pairs" => (
            "expect_column_pair_values_to_be_in_set",
            map([left, right, ignored, ("value_pairs_set", param(check, "pairs"))]),
        ),
        "sum_equals" => (
            "expect_multicolumn_sum_to_equal",
            map([
                ("column_list", json!(columns)),
                ("sum_total", param(check, "value")),
                ("ignore_row_if", ignore(check, true)?),
            ]),
        ),
        "all_different" => (
            "expect_select_column_values_to_be_unique_within_record",
            map([("column_list", json!(columns)), ("ignore_row_if", ignore(check, true)?)]),
        ),
        _ => return None,
    })
}

fn ignore(check: &Check, is_list: bool) -> Option<Value> {
    Some(json!(match (text(check, "ignore_row_if").unwrap_or("any_null"), is_list) {
        ("any_null", true) => "any_value_is_missing",
        ("all_null", true) => "all_values_are_missing",
        ("never", true) => "never",
        ("any_null", false) => "either_value_is_missing",
        ("all_null", false) => "both_values_are_missing",
        ("never", false) => "neither",
        _ => return None,
    }))
}
