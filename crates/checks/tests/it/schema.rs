//! The JSON Schema of files of checks accepts what is right and says what is wrong.

use ordain_checks::catalogue::Kind;
use ordain_checks::checks_schema;
use serde_json::{Value, json};

use crate::validators::{assert_json, is_json_valid};

fn check(kind: &str, params: &Value) -> Value {
    json!([{"check_id": "A", "check_name": "a", "target_table": "t", "kind": kind, "params": params}])
}

#[test]
fn records_as_people_write_them_are_accepted() {
    let schema = checks_schema().to_string();
    for file in [
        json!([{"check_id": "A", "check_name": "a", "target_table": "events,users", "calculation_hint": "no orphans", "house": 1}]),
        json!({"checks": [{"check_id": "A", "check_name": "a", "target_table": ["t"], "kind": "hint", "calculation_hint": "x",
            "severity": "high", "warn_if": "failed > 0", "fail_if": {"percent": 1.5}, "samples": {"max_rows": 5, "mask": ["email"]}}]}),
        check("range", &json!({"column": "a", "min": 0, "max": "2024-01-01"})),
        check("unique", &json!({"columns": "a", "ignore_row_if": "never"})),
        check("row_count", &json!({"min": 1})),
    ] {
        assert_json(&schema, &file.to_string());
    }
}

#[test]
fn slips_of_the_pen_are_refused() {
    let schema = checks_schema().to_string();
    for file in [
        json!([{"check_name": "a", "target_table": "t"}]),
        json!([{"check_id": "A", "check_name": "a", "target_table": "t"}]),
        check("rnage", &json!({})),
        check("range", &json!({"column": "a", "mim": 0})),
        check("in_set", &json!({"column": "a"})),
        check("length", &json!({"column": "a", "min": -1})),
        check("two_columns", &json!({"left": "a", "op": "=", "right": "b"})),
    ] {
        assert_ne!(is_json_valid(&schema, &file.to_string()), Some(true), "{file}");
    }
}

#[test]
fn every_kind_has_a_rule() {
    let rules = &checks_schema()["$defs"]["check"]["allOf"];
    assert_eq!(rules.as_array().unwrap().len(), Kind::ALL.len());
}
