//! What `--if-changed` and `state:changed` do with checks for which nothing changed, and what a stopped run keeps.

use std::sync::Arc;

use ordain_checks::exit::{Circumstances, FailOn, exit_code};
use ordain_checks::{CheckResult, CheckStatus};
use ordain_engine::Progress;
use ordain_engine::checks::CheckOptions;
use ordain_types::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::checks::{World, by_id, stands};

const ROWS: &[u8] = b"id,price\na,1\nb,-2\n";

fn range(id: &str) -> Value {
    json!({"check_id": id, "kind": "range", "target_table": "t", "params": {"column": "price", "min": 0},
           "key_columns": ["id"], "severity": "high"})
}

fn python(id: &str, code: &str) -> Value {
    json!({"check_id": id, "kind": "python", "target_table": "t", "params": {"code": code}})
}

#[tokio::test]
async fn an_unchanged_failure_keeps_counts_and_exit_code_true() {
    let behind = json!({"check_id": "behind", "target_table": "t", "calculation_hint": "price must be at least -9",
        "depends_on": ["gate"]});
    let mut gate = range("gate");
    gate["blocking"] = json!(true);
    let clock = "import datetime\nnow = datetime.datetime.now()\nresult = {\"status\": \"PASS\", \"summary\": str(now)}\n";
    let checks = json!([
        gate,
        behind,
        python("clock", clock),
        python("raises", "rows = frame(\"t\")\nresult = {\"status\": \"PASS\", \"summary\": str(1 / 0)}\n")
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    let first = world.run().await;
    let second = world.run_if_changed().await;
    for (id, result) in &second {
        assert_eq!(result.status, first[id].status, "{result:?}");
    }
    stands(&second, "gate", CheckStatus::Fail, "");
    stands(&second, "behind", CheckStatus::Skipped, "upstream_failed");
    // What was blocked is compiled all the same, so that a frozen run has its code.
    let frozen = CheckOptions { frozen: true, ..CheckOptions::default() };
    assert!(!world.try_run(&frozen).await.unwrap().is_frozen);
    assert!(second["gate"].kept_from.is_some(), "{:?}", second["gate"]);
    // What looks at the clock, and what could not be evaluated, is run again.
    assert_eq!((&second["clock"].kept_from, &second["raises"].kept_from), (&None, &None));
    assert!(second["clock"].summary != first["clock"].summary);
    stands(&second, "raises", CheckStatus::Error, "ZeroDivisionError");
    let kept: Vec<CheckResult> = vec![second["gate"].clone()];
    assert_eq!(exit_code(&kept, FailOn::default(), Circumstances::default()), 1);

    // A selection of what changed leaves the rest out, but what depends on it still knows how it stands.
    let mut options = CheckOptions::default();
    options.selection.add("state:changed").unwrap();
    world.edit("checks/checks.json", "-9", "-8");
    let changed = by_id(world.try_run(&options).await.unwrap());
    stands(&changed, "gate", CheckStatus::Skipped, "filtered: neither its rule nor its data changed");
    stands(&changed, "behind", CheckStatus::Skipped, "upstream_failed: `gate`, which it depends on, is FAIL");

    // A check that was left out keeps its last result: fourteen failures are not hidden by a run of none.
    let history = world.checks().await.state().unwrap().history().unwrap();
    let last = history.iter().rev().find(|past| past.result.check_id == "gate").unwrap();
    assert_eq!(last.result.status, CheckStatus::Fail, "{last:?}");

    // Data that changed is looked at.
    world.write("data/t.csv", "id,price\na,1\nb,2\n");
    let mended = world.run_if_changed().await;
    assert_eq!((mended["gate"].status, &mended["gate"].kept_from), (CheckStatus::Pass, &None));
    stands(&mended, "behind", CheckStatus::Pass, "");
}

/// Says when the first check is done.
struct First(Arc<Notify>);

impl Progress for First {
    fn stage(&mut self, _text: &str) {}
    fn checked(&mut self, _result: &CheckResult) {
        self.0.notify_one();
    }
    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(Arc::clone(&self.0).notified_owned())
    }
}

#[tokio::test]
async fn a_stopped_run_keeps_what_finished() {
    let endless = "number = 1\nwhile number > 0:\n    number += 1\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n";
    let world =
        World::with(&json!([python("endless", endless), range("quick")]).to_string(), &[("t.csv", ROWS)]);
    let checks = world.checks().await;
    let mut progress = First(Arc::new(Notify::new()));
    let mut run = world.run_with(&checks, &CheckOptions::default(), &mut progress).await.unwrap();
    assert!(run.is_interrupted);
    // Places in files are those of the files as they are now, so a kept report has none.
    run.report.results.iter_mut().for_each(|result| result.location = None);
    let state = checks.state().unwrap();
    assert_eq!(state.report("latest").unwrap(), run.report);
    let results = by_id(run);
    assert_eq!(results.keys().collect::<Vec<_>>(), ["quick"]);
    stands(&results, "quick", CheckStatus::Fail, "");
    // The code of the other is kept, and nothing of what it did not come to say.
    assert!(state.last.contains_key("quick") && !state.last.contains_key("endless"));
    assert!(checks.kept_code("endless").await.unwrap().is_some());
    let history: Vec<String> =
        state.history().unwrap().into_iter().map(|past| past.result.check_id).collect();
    assert_eq!(history, ["quick"]);
}

#[tokio::test]
async fn a_better_rule_recompiles_a_check_and_a_frozen_run_says_why() {
    let hint =
        json!([{"check_id": "h", "target_table": "t", "calculation_hint": "price must be at least -9"}]);
    let world = World::with(&hint.to_string(), &[("t.csv", ROWS)]);
    stands(&world.run().await, "h", CheckStatus::Pass, "");
    // What an earlier reader read.
    let checks = world.checks().await;
    let mut plan = checks.store().plans(Some("check"), 10).await.unwrap().remove(0);
    plan.components.insert("reader".to_owned(), "0".to_owned());
    checks.store().keep_plans(&[plan]).await.unwrap();
    drop(checks);
    let frozen = CheckOptions { frozen: true, ..CheckOptions::default() };
    stands(&by_id(world.try_run(&frozen).await.unwrap()), "h", CheckStatus::Skipped, "the reader is version");
    let again = world.run().await;
    assert!(
        again["h"].recompiled.as_deref().unwrap().starts_with("the reader is version"),
        "{:?}",
        again["h"]
    );
    assert_eq!(world.run().await["h"].recompiled, None);
    // The policy is part of what code is written by.
    world.write("policy.md", "Prices are in euros.\n");
    assert_eq!(world.run().await["h"].recompiled.as_deref(), Some("the policy changed"));
    assert_eq!(world.run().await["h"].recompiled, None);
}

#[tokio::test]
async fn an_idempotency_key_runs_checks_once() {
    let world = World::with(&json!([range("gate")]).to_string(), &[("t.csv", ROWS)]);
    let checks = world.checks().await;
    let task = || {
        let mut task = checks.task(ordain_engine::checks::read_checks(&world.root()).unwrap(), "me", "test");
        task.idempotency_key = Some("once".to_owned());
        task
    };
    let (first, ran) = checks.run(task(), &mut ordain_engine::Quiet).await.unwrap();
    assert!(ran.is_some());
    let (second, ran) = checks.run(task(), &mut ordain_engine::Quiet).await.unwrap();
    assert!(ran.is_none());
    assert_eq!(first.run_id, second.run_id);
    assert_eq!(first.request, "run all checks");
}

#[tokio::test]
async fn a_rule_whose_value_moved_to_another_column_is_read_anew() {
    let hint =
        json!([{"check_id": "h", "target_table": "z", "calculation_hint": "open z must have n above 5"}]);
    let rows =
        |kind: &str, state: &str| format!("kind,state,n\n{kind},{state},7\nshut,done,1\n{kind},{state},3\n");
    let world = World::with(&hint.to_string(), &[("z.csv", rows("open", "new").as_bytes())]);
    stands(&world.run().await, "h", CheckStatus::Fail, "");
    // In no column any more: the rule means what it meant, and no row is concerned.
    world.write("data/z.csv", &rows("late", "new"));
    stands(&world.run().await, "h", CheckStatus::Pass, "");
    world.write("data/z.csv", &rows("late", "open"));
    let moved = &world.run().await["h"];
    assert_ne!(moved.status, CheckStatus::Pass, "{moved:?}");
}
