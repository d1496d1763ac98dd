//! Expectations about each value of one column.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Mapped, invalid, unsupported};
use crate::catalogue::Kind;
use crate::import::draft::params;

pub(super) fn map(name: &str, arguments: &Arguments<'_>) -> Option<Mapped> {
    Some(match name {
        "column_values_to_not_be_null" => null(arguments, Value::Null),
        "column_values_to_be_null" => null(arguments, json!(true)),
        "column_values_to_be_unique" => {
            arguments.column("column").map(|column| (Kind::Unique, params([("columns", json!([column]))])))
        }
        "column_values_to_be_in_set" => in_set(arguments, Value::Null),
        "column_values_to_not_be_in_set" => in_set(arguments, json!(true)),
        "column_values_to_be_between" => between(arguments),
        "column_value_lengths_to_be_between" => lengths_between(arguments),
        "column_value_lengths_to_equal" => lengths_equal(arguments),
        "column_value_z_scores_to_be_less_than" => z_scores(arguments),
        "column_values_to_be_increasing" => monotonic(arguments, "increasing"),
        "column_values_to_be_decreasing" => monotonic(arguments, "decreasing"),
        "column_values_to_be_of_type" => {
            of_type(arguments, arguments.get("type_").map(|kind| vec![kind.clone()]))
        }
        "column_values_to_be_in_type_list" => {
            of_type(arguments, arguments.get("type_list").and_then(Value::as_array).cloned())
        }
        "column_values_to_be_dateutil_parseable" => text_type(arguments, "date_text"),
        "column_values_to_be_json_parseable" => text_type(arguments, "json"),
        "column_values_to_match_json_schema" => {
            Err(unsupported("a JSON Schema is more than a type; write it as a check with `kind` python"))
        }
        "column_values_to_match_strftime_format" => with(arguments, Kind::Dtype, "strftime_format", "format"),
        "column_values_to_match_regex" => with(arguments, Kind::Regex, "regex", "pattern"),
        "column_values_to_match_regex_list" => regex_list(arguments, false),
        "column_values_to_not_match_regex" => negated(with(arguments, Kind::Regex, "regex", "pattern")),
        "column_values_to_not_match_regex_list" => regex_list(arguments, true),
        "column_values_to_match_like_pattern" => like(arguments, false),
        "column_values_to_not_match_like_pattern" => like(arguments, true),
        "column_values_to_match_like_pattern_list" => like_list(arguments, false),
        "column_values_to_not_match_like_pattern_list" => like_list(arguments, true),
        _ => return None,
    })
}

fn null(arguments: &Arguments<'_>, negate: Value) -> Mapped {
    Ok((Kind::NotNull, params([("columns", json!([arguments.column("column")?])), ("negate", negate)])))
}

fn in_set(arguments: &Arguments<'_>, negate: Value) -> Mapped {
    let (column, values) = (arguments.column("column")?, arguments.list("value_set")?);
    Ok((Kind::InSet, params([("column", column), ("values", values), ("negate", negate)])))
}

fn between(arguments: &Arguments<'_>) -> Mapped {
    let (least, most) = arguments.bounds()?;
    if least.is_null() && most.is_null() {
        return Err(invalid("`min_value` and `max_value` are both missing"));
    }
    Ok((
        Kind::Range,
        params([
            ("column", arguments.column("column")?),
            ("min", least),
            ("max", most),
            ("strict_min", arguments.or_null("strict_min")),
            ("strict_max", arguments.or_null("strict_max")),
        ]),
    ))
}

fn lengths_between(arguments: &Arguments<'_>) -> Mapped {
    // Here a least length above the greatest is allowed, and nothing meets it.
    let (least, most) = arguments.counts(false)?;
    if least.is_null() && most.is_null() {
        return Err(invalid("`min_value` and `max_value` are both missing"));
    }
    let strict = |name: &str, bound: &Value, step: i64| {
        let number = bound.as_i64().filter(|_| arguments.is_set(name)).map(|number| json!(number + step));
        number.unwrap_or_else(|| bound.clone())
    };
    let (least, most) = (strict("strict_min", &least, 1), strict("strict_max", &most, -1));
    Ok((Kind::Length, params([("column", arguments.column("column")?), ("min", least), ("max", most)])))
}

fn lengths_equal(arguments: &Arguments<'_>) -> Mapped {
    let length = arguments.count()?;
    Ok((
        Kind::Length,
        params([("column", arguments.column("column")?), ("min", length.clone()), ("max", length)]),
    ))
}

fn z_scores(arguments: &Arguments<'_>) -> Mapped {
    let threshold = arguments.get("threshold").filter(|threshold| threshold.is_number());
    let Some(threshold) = threshold else {
        return Err(invalid("`threshold` is not a number"));
    };
    Ok((
        Kind::Anomaly,
        params([
            ("column", arguments.column("column")?),
            ("metric", json!("z_score")),
            ("sensitivity", threshold.clone()),
            ("two_sided", json!(arguments.is_set("double_sided"))),
        ]),
    ))
}

fn monotonic(arguments: &Arguments<'_>, direction: &str) -> Mapped {
    Ok((
        Kind::Monotonic,
        params([
            ("column", arguments.column("column")?),
            ("direction", json!(direction)),
            ("strict", arguments.or_null("strictly")),
        ]),
    ))
}

fn of_type(arguments: &Arguments<'_>, types: Option<Vec<Value>>) -> Mapped {
    let Some(types) = types else {
        return Err(unsupported("it asks for no type"));
    };
    let mut ours: Vec<&str> = Vec::new();
    for name in types.iter().map(|name| name.as_str().unwrap_or_default()) {
        let Some(known) = column_type(name) else {
            return Err(unsupported(&format!("the type `{name}` is not one that columns here can have")));
        };
        if !ours.contains(&known) {
            ours.push(known);
        }
    }
    let kind = if let [one] = ours[..] { json!(one) } else { json!(ours) };
    Ok((Kind::Dtype, params([("column", arguments.column("column")?), ("type", kind)])))
}

/// Our word for a type that Python, numpy or SQL calls so.
pub(in crate::import) fn column_type(name: &str) -> Option<&'static str> {
    let base = name.to_ascii_lowercase();
    let base = base.split(['(', '[']).next().unwrap_or_default().trim();
    Some(match base {
        "int" | "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64"
        | "integer" | "bigint" | "smallint" | "int_" | "integertype" | "longtype" => "integer",
        "float" | "float16" | "float32" | "float64" | "double" | "double precision" | "real" | "float_"
        | "floattype" | "doubletype" => "real",
        "number" | "numeric" | "decimal" => "number",
        "str" | "string" | "text" | "varchar" | "char" | "character varying" | "object" | "object_" | "o"
        | "stringtype" | "str_" => "text",
        "bool" | "boolean" | "bool_" | "booleantype" => "boolean",
        "datetime"
        | "datetime64"
        | "timestamp"
        | "datetimetzdtype"
        | "timestamptz"
        | "timestamp with time zone"
        | "timestamp without time zone"
        | "timestamptype" => "timestamp",
        "date" | "datetype" => "date",
        "json" | "jsonb" => "json",
        "uuid" => "uuid",
        _ => return None,
    })
}

fn text_type(arguments: &Arguments<'_>, kind: &str) -> Mapped {
    Ok((Kind::Dtype, params([("column", arguments.column("column")?), ("type", json!(kind))])))
}

/// A kind that takes one argument besides the column.
fn with(arguments: &Arguments<'_>, kind: Kind, theirs: &str, ours: &str) -> Mapped {
    let value = arguments.get(theirs).cloned().ok_or_else(|| invalid(&format!("`{theirs}` is missing")))?;
    Ok((kind, params([("column", arguments.column("column")?), (ours, value)])))
}

fn negated(kind: Mapped) -> Mapped {
    let (kind, mut params) = kind?;
    params.insert("negate".to_owned(), json!(true));
    Ok((kind, params))
}

fn regex_list(arguments: &Arguments<'_>, negate: bool) -> Mapped {
    let patterns = arguments.list("regex_list")?;
    patterns_of(arguments, patterns, negate)
}

fn patterns_of(arguments: &Arguments<'_>, patterns: Value, negate: bool) -> Mapped {
    let matching = match arguments.get("match_on").and_then(Value::as_str) {
        None | Some("any") => "any",
        Some("all") => "all",
        Some(other) => return Err(invalid(&format!("`match_on` is `{other}`"))),
    };
    let negate = if negate { json!(true) } else { Value::Null };
    Ok((
        Kind::Regex,
        params([
            ("column", arguments.column("column")?),
            ("pattern", patterns),
            ("match", json!(matching)),
            ("negate", negate),
        ]),
    ))
}

fn like(arguments: &Arguments<'_>, negate: bool) -> Mapped {
    let Some(pattern) = arguments.get("like_pattern").and_then(Value::as_str) else {
        return Err(invalid("`like_pattern` is not text"));
    };
    let kind = (
        Kind::Regex,
        params([("column", arguments.column("column")?), ("pattern", json!(like_to_regex(pattern)))]),
    );
    if negate { negated(Ok(kind)) } else { Ok(kind) }
}

fn like_list(arguments: &Arguments<'_>, negate: bool) -> Mapped {
    let patterns = arguments.list("like_pattern_list")?;
    let patterns: Vec<_> =
        patterns.as_array().into_iter().flatten().filter_map(Value::as_str).map(like_to_regex).collect();
    patterns_of(arguments, json!(patterns), negate)
}

/// SQL's LIKE as a regular expression over the whole text.
fn like_to_regex(pattern: &str) -> String {
    let mut regex = String::from(r"(?s)\A");
    for character in pattern.chars() {
        match character {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            _ if character.is_alphanumeric() || character.is_whitespace() => regex.push(character),
            _ => {
                regex.push('\\');
                regex.push(character);
            }
        }
    }
    regex.push_str(r"\Z");
    regex
}
