//! Files of other tools become checks; nothing is dropped silently, and what is written back is read again.

use ordain_checks::Check;
use ordain_checks::catalogue::Kind;
use ordain_checks::export::{Target, export};
use ordain_checks::import::{Imported, Tool, import, import_workflows};
use serde_json::{Value, json};

#[track_caller]
fn read(tool: Tool, text: &str, table: Option<&str>) -> Imported {
    let imported = import(tool, text, table).unwrap();
    // Every check is of a kind that there is, with parameters that the kind takes.
    for check in imported.checks.iter().filter(|check| check.enabled) {
        let spec = check.kind.spec();
        for name in check.params.keys() {
            assert!(spec.params.iter().any(|param| param.name == name), "{} takes no `{name}`", check.kind);
        }
        for param in spec.params.iter().filter(|param| param.required) {
            assert!(
                check.params.contains_key(param.name),
                "{} needs `{}`: {check:?}",
                check.kind,
                param.name
            );
        }
    }
    imported
}

/// The checks that run.
fn shown(checks: &[Check]) -> Vec<String> {
    checks
        .iter()
        .filter(|check| check.enabled)
        .map(|check| format!("{} {} {}", check.check_id, check.kind, Value::Object(check.params.clone())))
        .collect()
}

const DBT: &str = r#"
version: 2
models:
  - name: orders
    data_tests:
      - dbt_utils.unique_combination_of_columns:
          arguments:
            combination_of_columns: [order_id, line]
      - dbt_utils.equal_rowcount:
          compare_model: ref('order_lines')
    columns:
      - name: order_id
        tests:
          - unique
          - not_null:
              config: {severity: warn, warn_if: ">10", tags: [core]}
      - name: status
        data_tests:
          - accepted_values:
              values: ['placed', 'shipped']
              where: "amount > 0"
          - my_project.looks_right
      - name: user_id
        data_tests:
          - relationships: {to: ref('users'), field: id}
          - dbt_expectations.expect_column_values_to_be_between:
              min_value: 1
              mostly: 0.9
              row_condition: "status = 'x'"
sources:
  - name: shop
    tables:
      - name: events
        columns:
          - name: at
            tests:
              - dbt_utils.recency: {datepart: day, interval: 2, field: at}
"#;

#[test]
fn tests_of_dbt_become_checks() {
    let imported = read(Tool::Dbt, DBT, None);
    assert_eq!(
        shown(&imported.checks),
        [
            r#"orders.unique unique {"columns":["order_id","line"],"ignore_row_if":"never"}"#,
            r#"orders.row_count row_count {"same_as":"order_lines"}"#,
            r#"orders.order_id.unique unique {"columns":["order_id"]}"#,
            r#"orders.order_id.not_null not_null {"columns":["order_id"]}"#,
            r#"orders.status.sql sql {"query":"SELECT * FROM (SELECT * FROM \"orders\" WHERE (amount > 0)) AS chosen WHERE \"status\" NOT IN ('placed', 'shipped')"}"#,
            r#"orders.user_id.foreign_key foreign_key {"columns":["user_id"],"references":{"columns":["id"],"table":"users"}}"#,
            r#"events.at.freshness freshness {"column":"at","max_age":"2d"}"#,
        ]
    );
    let unmapped: Vec<_> =
        imported.unmapped.iter().map(|left| (left.what.as_str(), left.place.as_str())).collect();
    let own = "dbt_expectations.expect_column_values_to_be_between";
    assert_eq!(unmapped, [("my_project.looks_right", "orders.status"), (own, "orders.user_id")]);
    // What has no check stands there turned off, with its own text.
    let off: Vec<&Check> = imported.checks.iter().filter(|check| !check.enabled).collect();
    assert_eq!(off.len(), 2, "{off:?}");
    assert_eq!(off[0].calculation_hint.as_deref(), Some("my_project.looks_right"));
    assert!(off[1].calculation_hint.as_ref().unwrap().contains("row_condition"), "{off:?}");
    let of = |key: &str| imported.keys.iter().find(|one| one.key == key).unwrap_or_else(|| panic!("{key}"));
    for key in ["version", "severity", "warn_if", "tags", "where", "values", "to", "combination_of_columns"] {
        assert!(of(key).is_carried_over, "{:?}", of(key));
    }
    assert!(!of("row_condition").is_carried_over && !of("mostly").is_carried_over);
    let by_id = |id: &str| imported.checks.iter().find(|check| check.check_id == id).unwrap();
    assert_eq!(by_id("orders.order_id.not_null").severity.name(), "medium");
    assert_eq!(by_id("orders.order_id.not_null").warn_if.unwrap().count, Some(10));
    assert_eq!(by_id("orders.order_id.not_null").tags, ["core"]);
    assert_eq!(by_id("orders.user_id.foreign_key").target_table, ["orders", "users"]);
}

const SUITE: &str = r#"{"expectation_suite_name": "orders", "expectations": [
  {"expectation_type": "expect_column_values_to_be_between", "kwargs": {"column": "amount", "min_value": 0, "mostly": 0.9, "result_format": "BASIC"}, "meta": {"notes": "no gifts"}},
  {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "status", "value_set": ["a"], "row_condition": "amount > 1", "condition_parser": "pandas"}, "severity": "warning"},
  {"type": "expect_column_pair_values_a_to_be_greater_than_b", "kwargs": {"column_A": "a", "column_B": "b", "or_equal": true}},
  {"type": "expect_something_of_their_own", "kwargs": {"column": "x"}},
  {"type": "expect_column_values_to_be_between", "kwargs": {"column": "y", "min_value": 3, "max_value": 1}},
  {"type": "expect_column_values_to_match_regex", "kwargs": {"column": "z", "regex": "^a", "house_rule": 7}}
]}"#;

#[test]
fn expectations_become_checks() {
    let imported = read(Tool::Gx, SUITE, None);
    assert_eq!(
        shown(&imported.checks),
        [
            r#"orders.amount.range range {"column":"amount","min":0}"#,
            r#"orders.status.in_set in_set {"column":"status","values":["a"]}"#,
            r#"orders.a.two_columns two_columns {"ignore_row_if":"all_null","left":"a","op":">=","right":"b"}"#,
        ]
    );
    assert_eq!(imported.checks[0].fail_if.unwrap().percent, Some(10.0));
    assert_eq!(imported.checks[0].description, "no gifts");
    assert_eq!(imported.checks[1].filter.as_deref(), Some("amount > 1"));
    let left: Vec<_> =
        imported.unmapped.iter().map(|left| format!("{}: {}", left.place, left.reason)).collect();
    assert_eq!(
        left,
        [
            "orders.x: no kind means the same as `expect_something_of_their_own`",
            "orders.y: `min_value` is greater than `max_value`",
            "orders.z: nothing here means its argument `house_rule`",
        ]
    );
}

#[test]
fn an_expectation_that_asks_nothing_spoils_no_check_file() {
    let suite = r#"{"expectation_suite_name": "orders", "expectations": [
        {"type": "expect_table_row_count_to_be_between", "kwargs": {}},
        {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "x", "min_value": null}},
        {"type": "expect_column_most_common_value_to_be_in_set", "kwargs": {"column": "x", "value_set": [1]}}
    ]}"#;
    let imported = read(Tool::Gx, suite, None);
    assert_eq!(shown(&imported.checks).len(), 1, "{imported:?}");
    let left: Vec<_> = imported.unmapped.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(
        left,
        [
            "`row_count` has none of the parameters min, max, same_as",
            "`aggregate` has none of the parameters min, max",
        ]
    );
}

/// Checks without what an export does not carry.
fn core(checks: &[Check]) -> Vec<Value> {
    let mut core: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!([check.kind, check.params, check.target_table, check.filter, check.fail_if, check.warn_if])
        })
        .collect();
    core.sort_by_key(ToString::to_string);
    core
}

#[test]
fn what_is_exported_is_imported_as_the_same_rules() {
    let running = |mut imported: Imported| {
        imported.checks.retain(|check| check.enabled);
        imported.checks
    };
    let suite = running(read(Tool::Gx, SUITE, None));
    let written = export(Target::Gx, &suite);
    assert_eq!((written.exported, written.unmapped.len()), (3, 0));
    assert_eq!(core(&read(Tool::Gx, &written.text, None).checks), core(&suite));

    let models = running(read(Tool::Dbt, DBT, None));
    let written = export(Target::Dbt, &models);
    // A freshness and a SELECT have no test in dbt.
    assert_eq!((written.exported, written.unmapped.len()), (5, 2), "{}", written.text);
    let again = read(Tool::Dbt, &written.text, None);
    assert_eq!((again.checks.len(), again.unmapped.len()), (5, 0), "{}", written.text);
}

#[test]
fn our_own_records_survive_json() {
    let checks = read(Tool::Dbt, DBT, None).checks;
    let json_text = export(Target::Json, &checks).text;
    assert_eq!(serde_json::from_str::<Vec<Check>>(&json_text).unwrap(), checks);
}

#[test]
fn every_kind_is_exported_or_named() {
    let checks: Vec<Check> = Kind::ALL
        .into_iter()
        .map(|kind| Check::new(kind.name().to_owned(), "t", kind, serde_json::Map::new()))
        .collect();
    for target in Target::ALL {
        let written = export(target, &checks);
        assert_eq!(written.exported + written.unmapped.len(), checks.len());
    }
}

#[test]
fn workflows_are_matched_by_id_although_the_name_changed() {
    let workflows = json!({
        "CHK-002::Old name": [
            {"type": "plan", "artifact": {"intent": "x"}, "compiled_at": "2025-08-31T10:40:00Z", "compiled_against": {"checks_hash": "h", "schema_cols": {"events": ["id"]}}},
            {"type": "execution", "artifact": {"python_repls": [{"python_repl": "import pandas as pd\n", "stdout": "", "exit_code": 0}], "result": {"status": "PASS", "summary": ""}}, "compiled_against": {"schema_cols": {"events": ["id"]}}},
        ],
        "CHK-009::Told by its plan": [{"type": "plan", "artifact": {"intent": "no nulls"}, "compiled_against": {"schema_cols": {"users": ["id"]}}}],
        "CHK-010::Nothing known": [],
    })
    .to_string();
    let checks = json!([{"check_id": "CHK-002", "check_name": "Unknown users in events", "target_table": "events,users",
        "calculation_hint": "Flag events rows whose user_id is missing from users.", "severity": "medium", "enabled": true, "tags": ["join"], "custom": 1}])
    .to_string();
    let imported = import_workflows(&workflows, Some(&checks)).unwrap();
    let ids: Vec<_> =
        imported.checks.iter().map(|check| (check.check_id.as_str(), check.kind.name())).collect();
    assert_eq!(ids, [("CHK-002", "hint"), ("CHK-009", "hint"), ("CHK-010", "hint")]);
    assert_eq!(imported.checks.iter().map(|check| check.enabled).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(imported.checks[0].target_table, ["events", "users"]);
    assert_eq!(imported.checks[0].unknown["custom"], 1);
    assert_eq!(imported.notes, ["CHK-002: `Old name` is now called `Unknown users in events`"]);
    assert_eq!(imported.plans[0].code.as_deref(), Some("import pandas as pd\n"));
    assert_eq!(imported.unmapped.len(), 1);
    let left: Vec<_> =
        imported.keys.iter().filter(|key| !key.is_carried_over).map(|key| key.key.as_str()).collect();
    assert_eq!(left, ["custom", "plan compiled_at", "execution artifact.result"]);
}

#[test]
fn a_filter_and_thresholds_of_an_earlier_workflow_are_carried_over_and_a_wrong_record_is_turned_off() {
    let checks = json!([
        {"check_id": "A", "check_name": "a", "target_table": "orders", "kind": "range", "params": {"column": "price", "min": 0},
            "filter": "status == 'paid'", "fail_if": "failed_pct > 5", "key_columns": ["id"]},
        {"check_id": "B", "check_name": "b", "target_table": "orders", "kind": "rnage", "params": {"column": "price", "min": 0}},
    ]);
    let imported = import_workflows("{}", Some(&checks.to_string())).unwrap();
    let first = &imported.checks[0];
    assert_eq!((first.filter.as_deref(), first.key_columns.len()), (Some("status == 'paid'"), 1));
    assert_eq!(first.fail_if.and_then(|threshold| threshold.percent), Some(5.0));
    assert!(
        !imported.checks[1].enabled && imported.unmapped[0].reason.contains("rnage"),
        "{:?}",
        imported.unmapped
    );
}

#[test]
fn files_that_are_something_else_are_refused_with_the_reason() {
    for (tool, text, part) in [
        (Tool::Gx, "{}", "no list `expectations`"),
        (Tool::Gx, "a: 1", "not JSON"),
        (Tool::Dbt, "a: 1", "none of `models`"),
        (Tool::Dbt, "a: [", "not YAML"),
        (Tool::Workflows, "[]", "not a map"),
    ] {
        let error = import(tool, text, None).unwrap_err().to_string();
        assert!(error.contains(part), "{tool}: {error}");
    }
}

#[test]
fn odd_shapes_inside_a_file_are_named_and_do_not_stop_the_rest() {
    let odd = "models: [1, {name: t, columns: [7, {name: a, tests: [not_null, 3, {}, null]}], tests: [{unique: }]}]";
    let imported = read(Tool::Dbt, odd, None);
    assert_eq!(shown(&imported.checks).len(), 1);
    assert!(imported.unmapped.len() >= 4, "{:?}", imported.unmapped);
    let odd = r#"{"expectations": [1, {}, {"type": 3}, {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": 3}}]}"#;
    let imported = read(Tool::Gx, odd, None);
    assert_eq!((shown(&imported.checks).len(), imported.unmapped.len()), (0, 4));
}

#[test]
fn tests_of_dbt_with_conditions_and_sql_become_the_select_that_dbt_runs() {
    let text = r#"
sources:
  - name: shop
    loaded_at_field: loaded_at
    freshness:
      warn_after: {count: 12, period: hour}
      error_after: {count: 2, period: day}
    tables:
      - name: events
      - name: raw
        freshness: null
models:
  - name: orders
    data_tests:
      - dbt_utils.expression_is_true:
          arguments: {expression: "total = qty * price"}
          config: {where: "status = 'paid'", severity: warn}
    columns:
      - name: user_id
        data_tests:
          - dbt_utils.relationships_where:
              to: ref('users')
              field: id
              to_condition: "active = 1"
          - relationships:
              to: ref('users')
              field: id
              config: {where: "user_id > 0", warn_if: ">5"}
          - not_null: {fail_calc: "sum(n)"}
          - unique: {where: "day = '{{ var(\"day\") }}'"}
          - not_null: {error_if: "between 1 and 5"}
"#;
    let imported = read(Tool::Dbt, text, None);
    let among = |chosen: &str| format!(r#"(SELECT * FROM \"orders\" WHERE ({chosen})) AS chosen"#);
    let unknown = |own: &str| {
        format!(
            r#"\"user_id\" IS NOT NULL AND \"user_id\" NOT IN (SELECT \"id\" FROM \"users\" WHERE \"id\" IS NOT NULL{own})"#
        )
    };
    assert_eq!(
        shown(&imported.checks),
        [
            format!(
                r#"orders.sql sql {{"query":"SELECT * FROM {} WHERE NOT (total = qty * price)"}}"#,
                among("status = 'paid'")
            ),
            format!(
                r#"orders.user_id.sql sql {{"query":"SELECT * FROM (SELECT * FROM \"orders\" WHERE true) AS chosen WHERE {}"}}"#,
                unknown(" AND (active = 1)")
            ),
            format!(
                r#"orders.user_id.sql-2 sql {{"query":"SELECT * FROM {} WHERE {}"}}"#,
                among("user_id > 0"),
                unknown("")
            ),
            r#"events.loaded_at.freshness freshness {"column":"loaded_at","max_age":"2d"}"#.to_owned(),
            r#"events.loaded_at.freshness-2 freshness {"column":"loaded_at","max_age":"12h"}"#.to_owned(),
        ]
    );
    let by_id = |id: &str| imported.checks.iter().find(|check| check.check_id == id).unwrap();
    let any = Some(0);
    assert_eq!((by_id("orders.sql").warn_if.unwrap().count, by_id("orders.sql").fail_if), (any, None));
    // dbt fails on any row although it warns from some on.
    let both = by_id("orders.user_id.sql-2");
    assert_eq!((both.warn_if.unwrap().count, both.fail_if.unwrap().count), (Some(5), any));
    assert_eq!(both.target_table, ["orders", "users"]);
    let reasons: Vec<&str> = imported.unmapped.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    for (reason, part) in reasons.iter().zip(["fail_calc", "Jinja", "error_if"]) {
        assert!(reason.contains(part), "{reasons:?}");
    }
    assert_eq!(imported.checks.iter().filter(|check| !check.enabled).count(), 3);
}

#[test]
fn a_test_of_dbt_that_is_one_select_becomes_a_check() {
    let text = "-- no negative totals\n{{ config(severity='warn', tags='money') }}\nselect o.* from {{ ref('orders') }} o\njoin {{ source('shop', 'users') }} u on o.user_id = u.id\nwhere o.total < 0;\n";
    let imported = read(Tool::Dbt, text, None);
    let check = &imported.checks[0];
    assert_eq!((check.kind.name(), check.target_table.join(",").as_str()), ("sql", "orders,users"));
    let query = check.params["query"].as_str().unwrap();
    assert!(
        query.contains("from \"orders\" o\njoin \"users\" u") && query.ends_with("o.total < 0"),
        "{query}"
    );
    assert_eq!((check.warn_if.unwrap().count, &check.fail_if, check.tags.len()), (Some(0), &None, 1));
    let looped = read(Tool::Dbt, "select * from {{ ref('a') }} where {% if x %} y {% endif %}", Some("a"));
    assert!(looped.checks.iter().all(|check| !check.enabled) && looped.unmapped.len() == 1, "{looped:?}");
}
