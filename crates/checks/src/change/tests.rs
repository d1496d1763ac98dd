//! The change matrix, row by row.

use ordain_types::{Column, Table};
use serde_json::json;

use super::*;
use crate::check::{Severity, Threshold};

const VERIFIER: u32 = 7;

type Change = fn(&mut Check);

fn check() -> Check {
    serde_json::from_value(json!({
        "check_id": "c", "check_name": "n", "target_table": ["orders"], "kind": "range",
        "params": {"column": "price", "min": 0}, "severity": "high", "owner": "me"
    }))
    .unwrap()
}

fn orders(columns: &[(&str, ColumnType)]) -> Schema {
    let column = |(name, column_type): &(&str, ColumnType)| Column {
        name: (*name).to_owned(),
        column_type: *column_type,
        nullable: true,
        hidden: false,
    };
    let table = Table {
        name: "orders".to_owned(),
        columns: columns.iter().map(column).collect(),
        ..Table::default()
    };
    Schema { tables: vec![table] }
}

fn usual() -> Schema {
    orders(&[("order_id", ColumnType::Integer), ("price", ColumnType::Real), ("note", ColumnType::Text)])
}

fn against() -> CompiledAgainst {
    let tables = BTreeSet::from(["orders".to_owned()]);
    CompiledAgainst {
        rule: rule_of(&check()),
        schema: columns_of(&usual(), &tables),
        uses: BTreeMap::from([("orders".to_owned(), Some(BTreeSet::from(["price".to_owned()])))]),
        verifier: VERIFIER,
        plan_api: PLAN_API_VERSION,
    }
}

#[track_caller]
fn judged(check: &Check, schema: &Schema, expected: Staleness, notes: &[&str]) {
    assert_eq!(
        staleness(check, &against(), schema, VERIFIER),
        (expected, notes.iter().map(|&note| note.to_owned()).collect())
    );
}

#[track_caller]
fn recompiled(check: &Check, schema: &Schema, why: &str) {
    judged(check, schema, Staleness::Recompile(why.to_owned()), &[]);
}

#[test]
fn name_owner_tags_description_and_schedule_keep_everything() {
    let mut other = check();
    other.check_name = "new".to_owned();
    other.owner = None;
    other.tags = vec!["x".to_owned()];
    other.description = "why".to_owned();
    other.schedule = Some("@daily".to_owned());
    judged(&other, &usual(), Staleness::Fresh, &[]);
    assert_eq!(grading_of(&other), grading_of(&check()), "and the grade");
}

#[test]
fn severity_thresholds_and_samples_keep_the_code_and_change_the_grade() {
    let changes: [Change; 4] = [
        |check| check.severity = Severity::Low,
        |check| check.warn_if = Some(Threshold { count: Some(1), percent: None }),
        |check| check.fail_if = Some(Threshold { count: None, percent: Some(1.0) }),
        |check| check.samples.max_rows = 3,
    ];
    for change in changes {
        let mut other = check();
        change(&mut other);
        judged(&other, &usual(), Staleness::Fresh, &[]);
        assert_ne!(grading_of(&other), grading_of(&check()));
    }
}

#[test]
fn hint_kind_params_filter_and_target_rebuild_it() {
    let changes: [(Change, &str); 5] = [
        (|check| check.calculation_hint = Some("x".to_owned()), "calculation_hint changed"),
        (|check| check.kind = "not_null".to_owned(), "kind changed"),
        (|check| drop(check.params.insert("max".to_owned(), json!(3))), "params changed"),
        (|check| check.filter = Some("price > 1".to_owned()), "filter changed"),
        (|check| check.target_table = vec!["events".to_owned()], "target_table changed"),
    ];
    for (change, why) in changes {
        let mut other = check();
        change(&mut other);
        recompiled(&other, &usual(), why);
    }
}

#[test]
fn a_new_column_that_the_code_does_not_use_is_noted() {
    let mut schema = usual();
    schema.tables[0].columns.push(orders(&[("vat", ColumnType::Real)]).tables.remove(0).columns.remove(0));
    judged(&check(), &schema, Staleness::Fresh, &["column vat of orders is new; the code does not use it"]);
}

#[test]
fn a_used_column_removed_renamed_or_retyped_rebuilds_it() {
    use ColumnType::{Integer, Real, Text};
    recompiled(&check(), &orders(&[("order_id", Integer), ("note", Text)]), "column price of orders is gone");
    recompiled(
        &check(),
        &orders(&[("order_id", Integer), ("cost", Real), ("note", Text)]),
        "column price of orders is gone (renamed to cost?)",
    );
    recompiled(
        &check(),
        &orders(&[("order_id", Integer), ("price", Text), ("note", Text)]),
        "column price of orders changed real → text",
    );
    judged(
        &check(),
        &orders(&[("order_id", Integer), ("price", Real), ("note", Integer)]),
        Staleness::Fresh,
        &["column note of orders changed text → integer; the code does not use it"],
    );
    recompiled(&check(), &Schema::default(), "table orders is gone");
}

#[test]
fn another_verifier_or_plan_api_judges_the_code_again() {
    let (found, _) = staleness(&check(), &against(), &usual(), VERIFIER + 1);
    assert_eq!(found, Staleness::VerifyAgain("the verifier changed from version 7 to 8".to_owned()));
    let mut older = against();
    older.plan_api = 0;
    let (found, _) = staleness(&check(), &older, &usual(), VERIFIER);
    assert!(matches!(found, Staleness::VerifyAgain(_)), "{found:?}");
}
