//! What `--if-changed` and `state:changed` do with checks for which nothing changed, and what a stopped run keeps.

use std::sync::Arc;

use ordain_checks::exit::{Gate, exit_code};
use ordain_checks::{CheckOptions, CheckProgress, CheckResult, CheckStatus, SkipReason};
use ordain_engine::Progress;
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
    let frozen = world.try_run(&frozen).await.unwrap().report;
    assert!(frozen.results.iter().all(|result| result.skipped != Some(SkipReason::Frozen)));
    assert!(second["gate"].kept_from.is_some(), "{:?}", second["gate"]);
    // What looks at the clock, and what could not be evaluated, is run again.
    assert_eq!((&second["clock"].kept_from, &second["raises"].kept_from), (&None, &None));
    assert!(second["clock"].summary != first["clock"].summary);
    stands(&second, "raises", CheckStatus::Error, "ZeroDivisionError");
    let kept: Vec<CheckResult> = vec![second["gate"].clone()];
    assert_eq!(exit_code(&kept, Gate::default()), 1);

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
}

impl CheckProgress for First {
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
        let mut task = checks.task(ordain_checks::read_checks(&world.root()).unwrap(), "me", "test");
        task.origin.idempotency_key = Some("once".to_owned());
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
async fn a_rule_whose_value_moved_to_another_column_does_not_pass() {
    let hint =
        json!([{"check_id": "h", "target_table": "z", "calculation_hint": "open z must have n above 5"}]);
    let rows =
        |kind: &str, state: &str| format!("kind,state,n\n{kind},{state},7\nshut,done,1\n{kind},{state},3\n");
    let world = World::with(&hint.to_string(), &[("z.csv", rows("open", "new").as_bytes())]);
    stands(&world.run().await, "h", CheckStatus::Fail, "");
    // In no column any more: the rule means what it meant, and no row is concerned.
    world.write("data/z.csv", &rows("late", "new"));
    stands(&world.run().await, "h", CheckStatus::Skipped, "no_rows");
    world.write("data/z.csv", &rows("late", "open"));
    let moved = &world.run().await["h"];
    assert_ne!(moved.status, CheckStatus::Pass, "{moved:?}");
}

fn hints(rules: &[(&str, &str)]) -> String {
    let all =
        rules.iter().map(|(id, rule)| json!({"check_id": id, "target_table": "t", "calculation_hint": rule}));
    all.collect::<Value>().to_string()
}

#[tokio::test]
async fn a_rule_never_becomes_another_rule_when_its_column_is_gone() {
    let rules = hints(&[
        ("quantity", "quantity must be positive"),
        ("ship", "ship date must not be in the future"),
        ("rows", "id must not be null"),
    ]);
    let world =
        World::with(&rules, &[("t.csv", b"id,quantity,ship_date\n1,-5,2020-01-01\n2,3,2999-01-01\n")]);
    let before = world.run().await;
    stands(&before, "quantity", CheckStatus::Fail, "");
    stands(&before, "ship", CheckStatus::Fail, "");
    world.write("data/t.csv", "id,menge,qty,ship\n1,-5,1,2020-01-01\n2,3,2,2020-01-01\n");
    let after = world.run().await;
    stands(&after, "quantity", CheckStatus::Skipped, "would now be read as");
    stands(&after, "ship", CheckStatus::Skipped, "not_understood");
    stands(&after, "rows", CheckStatus::Pass, "");
    // The owner may accept the new reading, which holds from then on.
    let checks = world.checks().await;
    let note = ordain_store::EntryNote::default();
    let planner = ordain_planner::Planner::Rules;
    let proposal = checks.propose_change("quantity", serde_json::Map::new(), &planner, &note).await.unwrap();
    checks.save(&proposal.change, Some("quantity"), note).await.unwrap();
    stands(&world.run().await, "quantity", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_value_that_rows_have_in_another_case_is_not_passed_over() {
    let rules = hints(&[
        ("never", "status must not be cancelled"),
        ("share", "at most 20% of rows may have a status of cancelled"),
        ("one_of", "status must be one of open, cancelled"),
    ]);
    let world = World::with(&rules, &[("t.csv", b"id,status\n1,open\n2,cancelled\n3,open\n")]);
    stands(&world.run().await, "never", CheckStatus::Fail, "");
    world.write("data/t.csv", "id,status\n1,open\n2,CANCELLED\n3,open\n");
    let results = world.run().await;
    stands(&results, "never", CheckStatus::Skipped, "`status` has \"CANCELLED\" instead");
    assert_ne!(results["share"].status, CheckStatus::Pass, "{:?}", results["share"]);
    stands(&results, "one_of", CheckStatus::Fail, "");
}

#[tokio::test]
async fn an_empty_delivery_keeps_the_code_of_its_checks() {
    let mut allowed = range("allowed");
    allowed["allow_empty"] = json!(true);
    let world = World::with(&json!([range("asked"), allowed]).to_string(), &[("t.csv", ROWS)]);
    stands(&world.run().await, "allowed", CheckStatus::Fail, "");
    world.write("data/t.csv", "id,price\n");
    let results = world.run().await;
    stands(&results, "asked", CheckStatus::Skipped, "empty_table");
    stands(&results, "allowed", CheckStatus::Pass, "");
    // A column that is gone is no matter of rows.
    world.write("data/t.csv", "id,cost\n");
    assert_ne!(world.run().await["allowed"].status, CheckStatus::Pass);
}

#[tokio::test]
async fn a_transformation_does_not_leave_out_what_cannot_be_read() {
    let record = json!([{"check_id": "t1", "kind": "transform", "target_table": "t",
        "calculation_hint": "total v by g", "params": {"output": "out/by_g.csv"}}]);
    let body: Vec<String> = (1..40).map(|id| format!("{id},a,{id}\n")).collect();
    let rows = format!("id,g,v\n{}", body.concat());
    let world = World::with(&record.to_string(), &[("t.csv", format!("{rows}40,b,many\n").as_bytes())]);
    stands(&world.run().await, "t1", CheckStatus::Error, "row 41 ('many')");
    assert!(!world.root().join("out/by_g.csv").exists());
    world.write("data/t.csv", &rows);
    stands(&world.run().await, "t1", CheckStatus::Pass, "");
    let written = std::fs::read_to_string(world.root().join("out/by_g.csv")).unwrap();
    assert_eq!(written, "g,total_v\na,780\n");
}

#[tokio::test]
async fn a_rule_is_not_run_on_another_unit_than_it_was_compiled_for() {
    let mut limit = range("weight");
    limit["params"] = json!({"column": "weight", "max": 1000});
    let world = World::with(&json!([limit]).to_string(), &[("t.csv", b"id,weight\na,600 g\nb,1500 g\n")]);
    stands(&world.run().await, "weight", CheckStatus::Fail, "");
    world.write("data/t.csv", "id,weight\na,0.6 kg\nb,1.5 kg\n");
    stands(
        &world.run().await,
        "weight",
        CheckStatus::Skipped,
        "`weight` must be at most 1000 (`weight` in kg)",
    );
}

#[tokio::test]
async fn a_transformation_puts_its_rows_into_a_table() {
    let record = |output: &str| {
        json!([{"check_id": "t1", "kind": "transform", "target_table": "t", "calculation_hint": "total v by g",
            "params": {"output": output}}])
    };
    let world = World::with(&record("table:sums").to_string(), &[("t.csv", b"g,v\na,1\nb,2\na,4\n")]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write("tables/sums.json", r#"[{"g": "old", "total_v": 9}]"#);
    world.write("tables/other.json", r#"[{"name": "x"}]"#);
    world.write(
        "ordain.toml",
        "[workspace]\nname = \"w\"\n[tables.sums]\nseed = \"tables/sums.json\"\nkey = \"g\"\n[tables.other]\nseed = \"tables/other.json\"\n",
    );
    let results = world.run().await;
    stands(&results, "t1", CheckStatus::Pass, "");
    assert_eq!(results["t1"].summary, "written to table sums: 2 rows.");
    let checks = world.checks().await;
    let sums = &checks.all_tables().await.unwrap()["sums"].told("sums");
    assert_eq!((&sums["rows"], &sums["columns"][0]["samples"]), (&json!(2), &json!(["a", "b"])), "{sums}");
    // Rows that do not fit are refused, and nothing of the run is lost.
    world.write("checks/checks.json", &record("table:other").to_string());
    stands(&world.run().await, "t1", CheckStatus::Error, "its rows do not fit table `other`");
    world.write("checks/checks.json", &record("table:nowhere").to_string());
    stands(&world.run().await, "t1", CheckStatus::Error, "nowhere");
}

#[tokio::test]
async fn a_demanded_value_in_another_case_than_the_rows_does_not_pass() {
    let rules = hints(&[
        ("is", "country must be CH"),
        ("list", "country must be one of CH, DE"),
        ("never", "country must not be CH"),
        ("quoted", "country must be 'CH'"),
        ("same", "country must be ch"),
    ]);
    let results = World::with(&rules, &[("t.csv", b"id,country\n1,ch\n2,ch\n3,ch\n")]).run().await;
    for id in ["is", "list", "never"] {
        stands(&results, id, CheckStatus::Skipped, "the rule names \"CH\", and `country` has \"ch\"");
    }
    assert_eq!((results["quoted"].status, results["quoted"].failed), (CheckStatus::Fail, Some(3)));
    stands(&results, "same", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_column_that_a_later_delivery_has_twice_is_judged_by_no_kept_code() {
    let record = |id: &str, kind: &str, params: serde_json::Value| json!({"check_id": id, "kind": kind, "target_table": "t", "params": params});
    let own = "rows = frame('t')\nresult = {'status': 'PASS', 'summary': str(rows['amt'].sum()), 'evaluated': 1, 'failed': 0}\n";
    let words = |id: &str, rule: &str| json!({"check_id": id, "target_table": "t", "calculation_hint": rule});
    let rules = json!([
        words("words", "amt must be at least 5"),
        words("sum", "the sum of amt must be below 1000"),
        record("range", "range", json!({"column": "amt", "min": 5})),
        record("sql", "sql", json!({"query": "SELECT * FROM t WHERE amt < 5"})),
        record("python", "python", json!({"code": own})),
        record("other", "unique", json!({"columns": "id"})),
    ]);
    let world = World::with(&rules.to_string(), &[("t.csv", b"id,amt\n1,5\n2,7\n")]);
    let before = world.run().await;
    assert!(before.values().all(|result| result.status == CheckStatus::Pass), "{before:?}");
    world.write("data/t.csv", "id,amt,amt\n1,5,1\n2,7,1\n");
    let results = world.run().await;
    for id in ["words", "sum", "range", "sql", "python"] {
        stands(&results, id, CheckStatus::Skipped, "two columns that are called `amt`");
    }
    stands(&results, "other", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_new_column_that_a_rule_names_exactly_is_not_passed_over_by_kept_code() {
    let rules = hints(&[("amount", "amount must be at least 5"), ("day", "ship date must not be null")]);
    let world = World::with(&rules, &[("t.csv", b"id,amt,ship_date\n1,5,2024-01-01\n2,7,2024-01-02\n")]);
    let before = world.run().await;
    world.write("data/t.csv", "id,amt,ship_date,amount,ship date\n1,5,2024-01-01,1,\n2,7,2024-01-02,1,\n");
    let results = world.run().await;
    for id in ["amount", "day"] {
        assert_ne!(results[id].status, CheckStatus::Pass, "{:?} {:?}", before[id], results[id]);
    }
}

#[tokio::test]
async fn if_changed_does_not_stay_green_when_files_are_read_otherwise() {
    let rules = json!([
        {"check_id": "there", "kind": "not_null", "target_table": "t", "params": {"columns": "note"}},
        {"check_id": "late", "kind": "range", "target_table": "t", "params": {"column": "day", "max": "2024-12-31"}},
        {"check_id": "other", "kind": "unique", "target_table": "u", "params": {"columns": "id"}},
    ]);
    let rows = b"id,note,day\n1,none,01/02/2024\n2,paid,03/12/2024\n";
    let world = World::with(&rules.to_string(), &[("t.csv", rows), ("u.csv", b"id\n1\n2\n")]);
    let settings = |lines: &str| world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n{lines}"));
    settings("[data.t]\ndate_format = \"day-first\"\ncolumns = { day = \"date\" }\n");
    let first = world.run().await;
    for id in ["there", "late", "other"] {
        stands(&first, id, CheckStatus::Pass, "");
    }
    assert!(world.run_if_changed().await["there"].kept_from.is_some());
    settings(
        "[data.t]\ndate_format = \"day-first\"\nnull_values = [\"none\"]\ncolumns = { day = \"date\" }\n",
    );
    let checks = world.checks().await;
    let files = ordain_checks::read_checks(&world.root()).unwrap();
    let changes = checks.changes(&files, 1).await.unwrap();
    let of = |id: &str| changes.iter().find(|change| change.check_id == id).unwrap();
    assert_eq!((of("there").run, of("there").why.as_str()), ("run", "its data changed"));
    assert_eq!(of("other").run, "keep");
    let results = world.run_if_changed().await;
    stands(&results, "there", CheckStatus::Fail, "");
    assert!(results["other"].kept_from.is_some(), "{:?}", results["other"]);
}

#[tokio::test]
async fn samples_that_were_not_kept_are_taken_again_and_the_rest_is_graded_from_counts() {
    let check = |change: Value| {
        let mut check = range("price");
        check["samples"] = json!({"max_rows": 1, "mask": ["price"]});
        check.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        json!([check]).to_string()
    };
    let world = World::with(&check(json!({})), &[("t.csv", b"id,price\na,-1\nb,-2\nc,-3\n")]);
    world.run().await;
    for (change, is_kept) in [
        (json!({"warn_if": "failed > 0"}), true),
        (json!({"samples": {"max_rows": 0, "mask": ["price", "id"]}}), true),
        (json!({"samples": {"max_rows": 3, "mask": ["price", "id"]}}), false),
        (json!({"samples": {"max_rows": 3}}), false),
        (json!({"samples": {"max_rows": 2}}), true),
        (json!({"samples": {"max_rows": 2}, "key_columns": ["price"]}), false),
    ] {
        world.write("checks/checks.json", &check(change.clone()));
        let results = world.run_if_changed().await;
        assert_eq!(results["price"].kept_from.is_some(), is_kept, "{change} {:?}", results["price"]);
        let rows = change["samples"]["max_rows"].as_u64().unwrap_or(1);
        assert_eq!(results["price"].samples.len() as u64, rows, "{change} {:?}", results["price"]);
    }
}
