//! Expectations about several columns of a row, and about the table itself.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::{Mapped, invalid};
use crate::catalogue::Kind;
use crate::import::draft::params;

pub(super) fn map(name: &str, arguments: &Arguments<'_>) -> Option<Mapped> {
    Some(match name {
        "compound_columns_to_be_unique" => compound(arguments),
        "column_pair_values_a_to_be_greater_than_b" | "column_pair_values_A_to_be_greater_than_B" => {
            pair(arguments, if arguments.is_set("or_equal") { ">=" } else { ">" })
        }
        "column_pair_values_to_be_equal" => pair(arguments, "=="),
        "column_pair_values_to_be_in_set" => pairs(arguments),
        "multicolumn_sum_to_equal" => sum(arguments),
        "select_column_values_to_be_unique_within_record" => all_different(arguments),
        "column_to_exist" => exists(arguments),
        "table_column_count_to_be_between" => arguments
            .counts(true)
            .map(|(least, most)| (Kind::Schema, params([("min_columns", least), ("max_columns", most)]))),
        "table_column_count_to_equal" => arguments
            .count()
            .map(|count| (Kind::Schema, params([("min_columns", count.clone()), ("max_columns", count)]))),
        "table_columns_to_match_ordered_list" => Ok((Kind::Schema, ordered(arguments))),
        "table_columns_to_match_set" => Ok((Kind::Schema, set(arguments))),
        "table_row_count_to_be_between" => arguments
            .counts(true)
            .map(|(least, most)| (Kind::RowCount, params([("min", least), ("max", most)]))),
        "table_row_count_to_equal" => {
            arguments.count().map(|count| (Kind::RowCount, params([("min", count.clone()), ("max", count)])))
        }
        "table_row_count_to_equal_other_table" => {
            arguments.column("other_table_name").map(|table| (Kind::RowCount, params([("same_as", table)])))
        }
        _ => return None,
    })
}

fn compound(arguments: &Arguments<'_>) -> Mapped {
    let columns = arguments.list("column_list")?;
    Ok((
        Kind::Unique,
        params([("columns", columns), ("ignore_row_if", arguments.ignore_row_if("all_null")?)]),
    ))
}

fn pair(arguments: &Arguments<'_>, op: &str) -> Mapped {
    Ok((
        Kind::TwoColumns,
        params([
            ("left", arguments.column("column_A")?),
            ("op", json!(op)),
            ("right", arguments.column("column_B")?),
            ("ignore_row_if", arguments.ignore_row_if("all_null")?),
        ]),
    ))
}

fn pairs(arguments: &Arguments<'_>) -> Mapped {
    let (kind, mut params) = pair(arguments, "in_pairs")?;
    params.insert("pairs".to_owned(), arguments.list("value_pairs_set")?);
    Ok((kind, params))
}

fn sum(arguments: &Arguments<'_>) -> Mapped {
    let total = arguments.get("sum_total").filter(|total| total.is_number()).cloned();
    Ok((
        Kind::TwoColumns,
        params([
            ("op", json!("sum_equals")),
            ("columns", arguments.list("column_list")?),
            ("value", total.ok_or_else(|| invalid("`sum_total` is not a number"))?),
            ("ignore_row_if", arguments.ignore_row_if("all_null")?),
        ]),
    ))
}

fn all_different(arguments: &Arguments<'_>) -> Mapped {
    Ok((
        Kind::TwoColumns,
        params([
            ("op", json!("all_different")),
            ("columns", arguments.list("column_list")?),
            ("ignore_row_if", arguments.ignore_row_if("all_null")?),
        ]),
    ))
}

fn exists(arguments: &Arguments<'_>) -> Mapped {
    Ok((
        Kind::Schema,
        params([
            ("columns", json!([arguments.column("column")?])),
            ("extra", json!("allow")),
            ("index", arguments.or_null("column_index")),
        ]),
    ))
}

fn ordered(arguments: &Arguments<'_>) -> Map<String, Value> {
    match arguments.get("column_list") {
        // Without a list nothing is asked.
        None => params([("extra", json!("allow"))]),
        Some(columns) => {
            params([("columns", columns.clone()), ("order", json!("exact")), ("extra", json!("deny"))])
        }
    }
}

fn set(arguments: &Arguments<'_>) -> Map<String, Value> {
    let is_exact = arguments.get("exact_match").and_then(Value::as_bool).unwrap_or(true);
    let columns = arguments.get("column_set").cloned().unwrap_or_else(|| json!([]));
    let extra = if is_exact { "deny" } else { "allow" };
    params([("columns", columns), ("extra", json!(extra))])
}
