//! Files of other tools become checks; nothing is dropped silently, and what is written back is read again.

use ordain_checks::Check;
use ordain_checks::catalogue::kind;
use ordain_checks::export::{Target, export};
use ordain_checks::import::{Imported, Tool, import, import_workflows};
use serde_json::{Value, json};

#[track_caller]
fn read(tool: Tool, text: &str, table: Option<&str>) -> Imported {
    let imported = import(tool, text, table).unwrap();
    // Every check is of a kind that there is, with parameters that the kind takes.
    for check in &imported.checks {
        let spec = kind(&check.kind).unwrap_or_else(|| panic!("{check:?}"));
        for name in check.params.keys() {
            assert!(spec.params.iter().any(|param| param.name == name), "{} takes no `{name}`", spec.name);
        }
        for param in spec.params.iter().filter(|param| param.required) {
            assert!(check.params.contains_key(param.name), "{} needs `{}`: {check:?}", spec.name, param.name);
        }
    }
    imported
}

fn shown(checks: &[Check]) -> Vec<String> {
    checks
        .iter()
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
            r#"orders.status.in_set in_set {"column":"status","values":["placed","shipped"]}"#,
            r#"orders.user_id.foreign_key foreign_key {"columns":["user_id"],"references":{"columns":["id"],"table":"users"}}"#,
            r#"orders.user_id.range range {"column":"user_id","min":1}"#,
            r#"events.at.freshness freshness {"column":"at","max_age":"2d"}"#,
        ]
    );
    let unmapped: Vec<_> =
        imported.unmapped.iter().map(|left| (left.what.as_str(), left.place.as_str())).collect();
    assert_eq!(unmapped, [("my_project.looks_right", "orders.status")]);
    let by_id = |id: &str| imported.checks.iter().find(|check| check.check_id == id).unwrap();
    assert_eq!(by_id("orders.order_id.not_null").severity.name(), "medium");
    assert_eq!(by_id("orders.order_id.not_null").warn_if.unwrap().count, Some(10));
    assert_eq!(by_id("orders.order_id.not_null").tags, ["core"]);
    assert_eq!(by_id("orders.status.in_set").filter.as_deref(), Some("amount > 0"));
    assert_eq!(by_id("orders.user_id.range").fail_if.unwrap().percent, Some(10.0));
    assert_eq!(by_id("orders.user_id.range").unknown["dbt_where"], "status = 'x'");
    assert_eq!(by_id("orders.user_id.foreign_key").target_table, ["orders", "users"]);
}

const SODA: &str = r"
checks for orders:
  - row_count > 0
  - missing_count(email) = 0
  - missing_percent(phone) < 5 %
  - duplicate_count(order_id) = 0
  - invalid_count(status) = 0:
      valid values: [placed, shipped]
      name: Status is known
  - invalid_count(email) <= 3:
      valid format: email
  - avg(amount) between 10 and 100
  - freshness(created_at) < 36h
  - values in (user_id) must exist in users (id)
  - schema:
      fail:
        when required column missing: [order_id, amount]
        when forbidden column present: [ssn]
  - anomaly detection for row_count
filter orders [daily]:
  where: x
";

#[test]
fn checks_of_soda_become_checks() {
    let imported = read(Tool::Soda, SODA, None);
    assert_eq!(
        shown(&imported.checks),
        [
            r#"orders.row_count row_count {"min":1}"#,
            r#"orders.email.not_null not_null {"columns":["email"]}"#,
            r#"orders.phone.not_null not_null {"columns":["phone"]}"#,
            r#"orders.order_id.unique unique {"columns":["order_id"]}"#,
            r#"orders.status.in_set in_set {"column":"status","values":["placed","shipped"]}"#,
            r#"orders.email.dtype dtype {"column":"email","type":"email"}"#,
            r#"orders.amount.aggregate aggregate {"column":"amount","function":"mean","max":100.0,"min":10.0}"#,
            r#"orders.created_at.freshness freshness {"column":"created_at","max_age":"36h"}"#,
            r#"orders.user_id.foreign_key foreign_key {"columns":["user_id"],"references":{"columns":["id"],"table":"users"}}"#,
            r#"orders.schema schema {"columns":["order_id","amount"],"extra":"allow"}"#,
        ]
    );
    assert_eq!(imported.checks[2].fail_if.unwrap().percent, Some(5.0));
    assert_eq!(imported.checks[5].fail_if.unwrap().count, Some(3));
    let left: Vec<_> = imported.unmapped.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(
        left,
        ["schema: when forbidden column present", "anomaly detection for row_count", "filter orders [daily]"]
    );
}

#[test]
fn a_contract_of_soda_becomes_checks() {
    let text = "dataset: db/shop/orders\ncolumns:\n  - name: id\n    checks:\n      - missing:\n      - duplicate:\n  - name: size\n    checks:\n      - invalid: {valid_values: [S, M]}\n      - metric: {}\nchecks:\n  - row_count:\n";
    let imported = read(Tool::Soda, text, None);
    let kinds: Vec<_> = imported.checks.iter().map(|check| check.kind.as_str()).collect();
    assert_eq!(kinds, ["schema", "not_null", "unique", "in_set", "row_count"]);
    assert_eq!(imported.unmapped.len(), 1);
}

#[test]
fn a_schema_of_pandera_becomes_checks() {
    let text = r"
schema_type: dataframe
columns:
  price:
    dtype: float64
    nullable: false
    unique: false
    checks:
      greater_than_or_equal_to: 0
      in_range: {min_value: 0, max_value: 10, include_max: false}
  sku:
    dtype: str
    nullable: true
    unique: true
    checks:
      str_startswith: 'a.b'
      custom_thing: 1
  odd: {dtype: complex128, nullable: true}
strict: true
unique: [sku, price]
";
    let imported = read(Tool::Pandera, text, Some("items"));
    let kinds: Vec<_> = shown(&imported.checks);
    assert!(
        kinds.contains(&r#"items.price.range range {"column":"price","min":0}"#.to_owned()),
        "{kinds:#?}"
    );
    assert!(
        kinds.contains(
            &r#"items.price.range-2 range {"column":"price","max":10,"min":0,"strict_max":true}"#.to_owned()
        ),
        "{kinds:#?}"
    );
    assert!(
        kinds.contains(&r#"items.sku.regex regex {"column":"sku","pattern":"^a\\.b"}"#.to_owned()),
        "{kinds:#?}"
    );
    assert!(
        kinds.contains(&r#"items.schema schema {"columns":["odd","price","sku"],"extra":"deny"}"#.to_owned()),
        "{kinds:#?}"
    );
    let left: Vec<_> = imported.unmapped.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(left, ["dtype complex128", "custom_thing"]);
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
            r#"orders.z.regex regex {"column":"z","pattern":"^a"}"#,
        ]
    );
    assert_eq!(imported.checks[0].fail_if.unwrap().percent, Some(10.0));
    assert_eq!(imported.checks[0].description, "no gifts");
    assert_eq!(imported.checks[1].filter.as_deref(), Some("amount > 1"));
    assert_eq!(imported.checks[3].unknown["gx_house_rule"], 7);
    let left: Vec<_> =
        imported.unmapped.iter().map(|left| format!("{}: {}", left.place, left.reason)).collect();
    assert_eq!(
        left,
        [
            "orders.x: no kind means the same as `expect_something_of_their_own`",
            "orders.y: `min_value` is greater than `max_value`",
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
    assert_eq!(imported.checks.len(), 1, "{imported:?}");
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
    let suite = read(Tool::Gx, SUITE, None).checks;
    let written = export(Target::Gx, &suite);
    assert_eq!((written.exported, written.unmapped.len()), (4, 0));
    assert_eq!(core(&read(Tool::Gx, &written.text, None).checks), core(&suite));

    let models = read(Tool::Dbt, DBT, None).checks;
    let written = export(Target::Dbt, &models);
    // A freshness, a filter and a share have no test in dbt.
    assert_eq!((written.exported, written.unmapped.len()), (5, 3), "{}", written.text);
    let again = read(Tool::Dbt, &written.text, None);
    assert_eq!((again.checks.len(), again.unmapped.len()), (5, 0), "{}", written.text);

    let soda = read(Tool::Soda, SODA, None).checks;
    let written = export(Target::Soda, &soda);
    let again = read(Tool::Soda, &written.text, None);
    assert_eq!(again.unmapped, [], "{}", written.text);
    assert_eq!(again.checks.len(), written.exported);
    assert_eq!(written.unmapped.len() + written.exported, soda.len());
}

#[test]
fn our_own_records_survive_json_and_yaml() {
    let checks = read(Tool::Dbt, DBT, None).checks;
    let json_text = export(Target::Json, &checks).text;
    assert_eq!(serde_json::from_str::<Vec<Check>>(&json_text).unwrap(), checks);
    let yaml_text = export(Target::Yaml, &checks).text;
    let value = ordain_checks::yaml::read(&yaml_text).unwrap();
    assert_eq!(serde_json::from_value::<Vec<Check>>(value).unwrap(), checks);
    assert!(yaml_text.starts_with("- check_id: orders.unique\n  check_name:"), "{yaml_text}");
}

#[test]
fn every_kind_is_exported_or_named() {
    let checks: Vec<Check> = ordain_checks::catalogue::KINDS
        .iter()
        .map(|kind| {
            serde_json::from_value(
                json!({"check_id": kind.name, "check_name": "x", "target_table": ["t"], "kind": kind.name}),
            )
            .unwrap()
        })
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
        imported.checks.iter().map(|check| (check.check_id.as_str(), check.kind.as_str())).collect();
    assert_eq!(ids, [("CHK-002", "hint"), ("CHK-009", "hint")]);
    assert_eq!(imported.checks[0].target_table, ["events", "users"]);
    assert_eq!(imported.checks[0].unknown["custom"], 1);
    assert_eq!(imported.notes, ["CHK-002: `Old name` is now called `Unknown users in events`"]);
    assert_eq!(imported.plans[0].code.as_deref(), Some("import pandas as pd\n"));
    assert_eq!(imported.unmapped.len(), 1);
}

#[test]
fn files_that_are_something_else_are_refused_with_the_reason() {
    for (tool, text, part) in [
        (Tool::Gx, "{}", "no list `expectations`"),
        (Tool::Gx, "a: 1", "not JSON"),
        (Tool::Dbt, "a: 1", "none of `models`"),
        (Tool::Dbt, "a: [", "not YAML"),
        (Tool::Soda, "[1]", "not a map"),
        (Tool::Soda, "x: 1", "neither"),
        (Tool::Pandera, "columns: 3", "no map `columns`"),
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
    assert_eq!(imported.checks.len(), 1);
    assert!(imported.unmapped.len() >= 4, "{:?}", imported.unmapped);
    let odd = r#"{"expectations": [1, {}, {"type": 3}, {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": 3}}]}"#;
    let imported = read(Tool::Gx, odd, None);
    assert_eq!((imported.checks.len(), imported.unmapped.len()), (0, 4));
}
