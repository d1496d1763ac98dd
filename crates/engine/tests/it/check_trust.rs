//! Results that nobody has to doubt: what was not evaluated, what is read otherwise than it was accepted, and baselines.

use ordain_checks::exit::{Circumstances, FailOn, exit_code};
use ordain_checks::{CheckResult, CheckStatus, SkipReason};
use serde_json::json;

use crate::checks::{World, stands};

const ROWS: &[u8] = b"id,price,city\na,1,Bern\nb,2,Rome\n";

fn code(results: &[CheckResult]) -> u8 {
    exit_code(results, FailOn::default(), Circumstances::default())
}

#[tokio::test]
async fn a_run_is_not_green_when_nothing_was_evaluated() {
    let checks = json!([
        {"check_id": "words", "target_table": "t", "calculation_hint": "make it beautiful"},
        {"check_id": "gone", "kind": "unique", "target_table": "u", "params": {"columns": ["id"]}},
        {"check_id": "off", "kind": "unique", "target_table": "t", "params": {"columns": ["id"]}, "enabled": false},
        {"check_id": "filter", "kind": "range", "target_table": "t", "filter": "city == 5", "params": {"column": "price", "max": 0}},
        {"check_id": "none", "kind": "range", "target_table": "t", "filter": "price > 5", "params": {"column": "price", "max": 0}},
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    let results = world.run().await;
    assert_eq!(results["words"].skipped, Some(SkipReason::NotCompiled));
    assert_eq!(results["gone"].skipped, Some(SkipReason::MissingTable));
    for id in ["words", "gone"] {
        assert_eq!(code(&[results[id].clone()]), 3, "{id}");
    }
    assert_eq!(code(&[results["off"].clone()]), 0);
    let wanted = "its filter compares `city`, which holds text, with the number 5";
    stands(&results, "filter", CheckStatus::Error, wanted);
    // A check of no rows says so.
    assert_eq!((results["none"].status, results["none"].evaluated), (CheckStatus::Pass, Some(0)));
    assert!(results["none"].summary.ends_with("it looked at no row"), "{:?}", results["none"]);
    assert_eq!(results["none"].rule, "range column: \"price\", max: 0");
    assert_eq!(results["none"].understood.as_deref(), Some("t: `price` must be at most 0, where price > 5"));
}

#[tokio::test]
async fn a_rule_that_is_read_otherwise_than_it_was_accepted_is_not_run() {
    let check = |reading: &str| {
        json!([{"check_id": "r", "kind": "range", "target_table": "t", "accepted_reading": reading,
            "params": {"column": "price", "max": 5}}])
    };
    let world = World::with(&check("t: `price` must be at most 5").to_string(), &[("t.csv", ROWS)]);
    stands(&world.run().await, "r", CheckStatus::Pass, "");
    world.edit("checks/checks.json", "\"max\":5", "\"max\":1");
    let results = world.run().await;
    stands(&results, "r", CheckStatus::Skipped, "is now read as “t: `price` must be at most 1”");
    assert_eq!(code(&[results["r"].clone()]), 3);
}

#[tokio::test]
async fn a_rule_whose_column_was_renamed_says_so_when_it_is_not_run() {
    let checks = json!([{"check_id": "w", "target_table": "t", "calculation_hint": "price must be above 0"}]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    stands(&world.run().await, "w", CheckStatus::Pass, "");
    world.write("data/t.csv", "id,cost,city\na,1,Bern\nb,2,Rome\n");
    stands(&world.run().await, "w", CheckStatus::Skipped, "renamed to cost");
}

#[tokio::test]
async fn an_anomaly_learns_nothing_from_its_own_failures_but_from_what_a_person_accepts() {
    let checks =
        json!([{"check_id": "a", "kind": "anomaly", "target_table": "t", "params": {"metric": "row_count"}}]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    let rows = |count: usize| format!("id,price,city\n{}", "a,1,Bern\n".repeat(count));
    for count in [2, 3, 2, 3, 2, 3] {
        world.write("data/t.csv", &rows(count));
        stands(&world.run().await, "a", CheckStatus::Pass, "");
    }
    world.write("data/t.csv", &rows(50));
    // Trying again does not turn it green.
    for _ in 0..6 {
        stands(&world.run().await, "a", CheckStatus::Fail, "");
    }
    let state = world.checks().await.state().unwrap();
    assert_eq!(state.accept_run("no such run").unwrap(), None);
    for run in state.runs().iter().rev().take(6) {
        assert!(state.accept_run(run).unwrap().is_some());
    }
    stands(&world.run().await, "a", CheckStatus::Pass, "");
}
