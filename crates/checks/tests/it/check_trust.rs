//! Results that nobody has to doubt: what was not evaluated, what is read otherwise than it was accepted, and baselines.

use ordain_checks::exit::{Gate, exit_code};
use ordain_checks::{CheckResult, CheckStatus, SkipReason};
use serde_json::json;

use crate::checks::{World, stands};

const ROWS: &[u8] = b"id,price,city\na,1,Bern\nb,2,Rome\n";

fn code(results: &[CheckResult]) -> u8 {
    exit_code(results, Gate::default())
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
    assert_eq!(results["words"].skipped, Some(SkipReason::NotUnderstood));
    assert_eq!(results["gone"].skipped, Some(SkipReason::MissingTable));
    for id in ["words", "gone"] {
        assert_eq!(code(&[results[id].clone()]), 3, "{id}");
    }
    assert_eq!(code(&[results["off"].clone()]), 0);
    let wanted = "its filter compares `city`, which holds text, with the number 5";
    stands(&results, "filter", CheckStatus::Error, wanted);
    // A rule that looked at no row has not passed, and does not end the run otherwise: rules for rare cases would be red on
    // most days.
    assert_eq!(results["none"].skipped, Some(SkipReason::NoRows));
    stands(&results, "none", CheckStatus::Skipped, "no_rows: no row of `t` is one that the rule looks at");
    assert_eq!(code(&[results["none"].clone()]), 0);
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
    stands(&results, "r", CheckStatus::Skipped, "would now be read as “t: `price` must be at most 1”");
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
    // What was not judged is no pass, and a jump is not learnt.
    for count in [2, 3, 2, 3] {
        world.write("data/t.csv", &rows(count));
        stands(&world.run().await, "a", CheckStatus::Skipped, "learning: ");
    }
    world.write("data/t.csv", &rows(30));
    stands(&world.run().await, "a", CheckStatus::Fail, "");
    for (count, status) in [(2, CheckStatus::Skipped), (3, CheckStatus::Pass)] {
        world.write("data/t.csv", &rows(count));
        stands(&world.run().await, "a", status, "");
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

#[tokio::test]
async fn an_empty_first_delivery_is_not_learnt_as_what_is_usual() {
    let checks =
        json!([{"check_id": "a", "kind": "anomaly", "target_table": "t", "params": {"metric": "row_count"}}]);
    let world = World::with(&checks.to_string(), &[("t.csv", b"id,price,city\n".as_slice())]);
    for _ in 0..2 {
        stands(&world.run().await, "a", CheckStatus::Fail, "");
    }
    world.write("data/t.csv", std::str::from_utf8(ROWS).unwrap());
    let first = world.run().await;
    stands(&first, "a", CheckStatus::Skipped, "0 of 5 runs seen, nothing to compare with yet");
}

#[tokio::test]
async fn no_rows_are_not_usual_because_a_person_accepted_a_low_day() {
    let checks =
        json!([{"check_id": "a", "kind": "anomaly", "target_table": "t", "params": {"metric": "row_count"}}]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    let rows = |count: usize| format!("id,price,city\n{}", "a,1,Bern\n".repeat(count));
    for count in [100, 98, 101, 99, 100] {
        world.write("data/t.csv", &rows(count));
        world.run().await;
    }
    world.write("data/t.csv", &rows(30));
    stands(&world.run().await, "a", CheckStatus::Fail, "");
    let state = world.checks().await.state().unwrap();
    let low = state.runs().last().unwrap().clone();
    assert!(state.accept_run(&low).unwrap().is_some());
    world.write("data/t.csv", &rows(0));
    stands(&world.run().await, "a", CheckStatus::Fail, "");
}

#[tokio::test]
async fn a_delivery_without_rows_is_not_green() {
    let share = json!({"must": {"compare": {"left": {"column": "price"}, "op": "<", "right": {"value": 0}}}, "max_share": 0.1});
    let checks = json!([
        {"check_id": "range", "kind": "range", "target_table": "t", "params": {"column": "price", "min": 0}},
        {"check_id": "sum", "kind": "aggregate", "target_table": "t", "params": {"column": "price", "function": "sum", "max": 9}},
        {"check_id": "share", "kind": "condition", "target_table": "t", "params": share},
        {"check_id": "allowed", "kind": "range", "target_table": "t", "allow_empty": true, "params": {"column": "price", "min": 0}},
        {"check_id": "columns", "kind": "schema", "target_table": "t", "params": {"columns": ["id", "price"]}},
        {"check_id": "rows", "kind": "row_count", "target_table": "t", "params": {"min": 1}},
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[data.t]\ncolumns = { price = \"integer\" }\n");
    world.run().await;
    world.write("data/t.csv", "id,price,city\n");
    // Neither what was seen before nor trying again makes it green.
    for results in [world.run().await, world.run_if_changed().await] {
        for id in ["range", "sum", "share"] {
            stands(&results, id, CheckStatus::Skipped, "empty_table: table `t` has no rows");
            assert_eq!(code(&[results[id].clone()]), 3, "{id}");
        }
        for id in ["allowed", "columns"] {
            stands(&results, id, CheckStatus::Pass, "");
        }
        stands(&results, "rows", CheckStatus::Fail, "");
        let report = ordain_checks::RunReport {
            run_id: "r".to_owned(),
            schema_version: 1,
            workspace: "w".to_owned(),
            started_at: String::new(),
            duration_ms: 0.0,
            counts: std::collections::BTreeMap::new(),
            results: results.into_values().collect(),
        };
        let junit = ordain_checks::report::render_junit(&report, Gate::default());
        assert!(junit.contains("errors=\"3\" skipped=\"0\""), "{junit}");
    }
}

#[tokio::test]
async fn a_line_break_at_the_end_and_other_digits_do_not_pass_a_pattern() {
    let words = |id: &str, hint: &str| json!({"check_id": id, "target_table": "z", "calculation_hint": hint});
    let checks = json!([
        words("digits", "zip must have exactly 5 digits"),
        words("pattern", "zip must match ^[0-9]{5}$"),
        words("ending", "mail must end with .com"),
        words("when", "when zip is not null, mail must end with .com"),
    ]);
    let rows = "zip,mail\n\"12345\n\",a@x.com\n\u{ff11}\u{ff12}\u{ff13}\u{ff14}\u{ff15},\"b@x.com\n\"\n01067,c@x.com\n";
    let world = World::with(&checks.to_string(), &[("z.csv", rows.as_bytes())]);
    let results = world.run().await;
    let failed = |id: &str| results[id].failed;
    assert_eq!(
        ["digits", "pattern", "ending", "when"].map(failed),
        [Some(2), Some(2), Some(1), Some(1)],
        "{results:#?}"
    );
}

#[tokio::test]
async fn whole_numbers_beyond_two_to_the_53_are_compared_exactly() {
    let checks = json!([
        {"check_id": "words", "target_table": "n", "calculation_hint": "n must be at most 9007199254740992"},
        {"check_id": "real", "kind": "range", "target_table": "n", "params": {"column": "n", "max": 9_007_199_254_740_992.0_f64}},
    ]);
    let rows = b"n\n9007199254740993\n9007199254740992\n5\n";
    let results = World::with(&checks.to_string(), &[("n.csv", rows)]).run().await;
    for id in ["words", "real"] {
        assert_eq!(results[id].failed, Some(1), "{:?}", results[id]);
    }
}

#[tokio::test]
async fn a_rule_in_words_finds_the_other_table_that_it_names_and_is_not_added_twice() {
    let files: [(&str, &[u8]); 2] =
        [("orders.csv", b"order_no,user_id\n1,a\n2,x\n"), ("users.csv", b"user_id\na\nb\n")];
    let world = World::with("[]", &files);
    let checks = world.checks().await;
    let note = ordain_store::EntryNote::default();
    let rule = |id: &str| {
        let record = json!({"check_id": id, "check_name": id, "target_table": "orders",
            "calculation_hint": "every user_id must exist in users"});
        ordain_checks::file::read_record(&record).unwrap()
    };
    let proposal = checks.propose(rule("A"), &ordain_planner::Planner::Rules, &note).await.unwrap();
    let result = proposal.result.unwrap();
    assert_eq!((result.status, result.failed), (CheckStatus::Fail, Some(1)), "{result:?}");
    checks.save(&proposal.change, Some("A"), note.clone()).await.unwrap();
    assert_eq!(world.run().await["A"].failed, Some(1));
    let again = checks.propose(rule("B"), &ordain_planner::Planner::Rules, &note).await.unwrap_err();
    assert!(again.to_string().contains("check `A` says the same"), "{again}");
}

#[tokio::test]
async fn what_state_changed_leaves_out_is_told_if_it_failed() {
    let checks = json!([{"check_id": "r", "kind": "range", "target_table": "t", "params": {"column": "price", "max": 1}}]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    stands(&world.run().await, "r", CheckStatus::Fail, "");
    let mut selection = ordain_checks::Selection::default();
    selection.add("state:changed").unwrap();
    let options = ordain_checks::CheckOptions { selection, ..Default::default() };
    let report = world.try_run(&options).await.unwrap().report;
    let text = ordain_checks::report::render_summary(&report);
    assert!(text.contains("1 left out that failed last time"), "{text}");
}
