//! Checks that are compiled in one place and run in another, from files that are committed.

use std::sync::Arc;

use ordain_checks::{COMPILED, CheckOptions, CheckStatus, SkipReason, read_checks};
use ordain_engine::Quiet;
use ordain_planner::provider::{Call, Completion, Heard, ModelRequest, Provider};
use ordain_planner::{Model, ModelSettings, Planner};
use serde_json::json;

use crate::checks::{World, by_id, stands};

const ROWS: &[u8] = b"id,price,status\na,1,open\nb,-2,paid\n";

/// A model that always writes the same code.
#[derive(Debug)]
struct Writes(&'static str);

impl Provider for Writes {
    fn name(&self) -> String {
        "test:writer".to_owned()
    }

    fn call<'a>(&'a self, _request: &'a ModelRequest, _heard: &'a mut Heard<'_>) -> Call<'a> {
        let text = format!("<execute_python>{}</execute_python>", self.0);
        Box::pin(async move { Ok(Completion { text, ..Completion::default() }) })
    }
}

fn writer(code: &'static str) -> Planner {
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    Planner::Model(Model::new(Arc::new(Writes(code)), settings))
}

fn words(rule: &str) -> String {
    json!([{"check_id": "w", "target_table": "t", "key_columns": ["id"], "calculation_hint": rule},
        {"check_id": "k", "target_table": "t", "kind": "unique", "params": {"columns": "id"}}])
    .to_string()
}

/// Compiles a workspace's checks, and gives the workspace's public key.
async fn compiled(world: &World, planner: Planner) -> String {
    let checks = world.checks().await;
    let options = CheckOptions { planner, is_trial: true, ..CheckOptions::default() };
    let report = world.run_with(&checks, &options, &mut Quiet).await.unwrap().report;
    let files = read_checks(&world.root()).unwrap();
    checks.write_compiled(&files, &report).await.unwrap().unwrap().key
}

/// What a clone with these files gives that has no state of its own.
async fn cloned(world: &World) -> std::collections::BTreeMap<String, ordain_checks::CheckResult> {
    let clone = World::with("[]", &[("t.csv", ROWS)]);
    for file in ["ordain.toml", "checks/checks.json", COMPILED] {
        clone.write(file, &std::fs::read_to_string(world.root().join(file)).unwrap());
    }
    by_id(clone.try_run(&CheckOptions { frozen: true, ..CheckOptions::default() }).await.unwrap())
}

#[tokio::test]
async fn a_clone_runs_code_of_the_reader_and_no_code_that_was_changed() {
    let world = World::with(&words("price must not be negative"), &[("t.csv", ROWS)]);
    compiled(&world, Planner::Rules).await;
    let results = cloned(&world).await;
    stands(&results, "w", CheckStatus::Fail, "");
    stands(&results, "k", CheckStatus::Pass, "");
    // The same again writes the same file.
    let text = std::fs::read_to_string(world.root().join(COMPILED)).unwrap();
    compiled(&world, Planner::Rules).await;
    assert_eq!(std::fs::read_to_string(world.root().join(COMPILED)).unwrap(), text);
    assert!(!text.contains("open") && !text.contains("paid"), "no data: {text}");
    // Whatever is edited in the file: its code, or what it says about itself.
    for (from, to) in [
        ("\"status\\\": \\\"FAIL\\\"", "\"status\\\": \\\"PASS\\\""),
        ("\"tables\":", "\"judges_empty\": true, \"tables\":"),
    ] {
        assert!(text.contains(from), "{text}");
        world.write(COMPILED, &text.replacen(from, to, 1));
        stands(&cloned(&world).await, "w", CheckStatus::Error, "changed_code");
    }
    world.write(COMPILED, &text);
    // A rule that is newer than its code is not run, and is named.
    world.edit("checks/checks.json", "negative", "null");
    let results = cloned(&world).await;
    assert_eq!(results["w"].skipped, Some(SkipReason::Frozen), "{:?}", results["w"]);
    stands(&results, "w", CheckStatus::Skipped, "ordain check compile");
    stands(&results, "k", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_clone_runs_code_of_a_model_only_with_the_seal_of_the_key_in_ordain_toml() {
    const CODE: &str = "\nrows = frame(\"t\")\nwrong = rows[rows[\"price\"] < 0]\nresult = {\"status\": \"FAIL\" if len(wrong) else \"PASS\", \"summary\": f\"{len(wrong)} are wrong\", \"evaluated\": len(rows), \"failed_rows\": wrong}\n";
    let world = World::with(&words("the moon shines on every price"), &[("t.csv", ROWS)]);
    let key = compiled(&world, writer(CODE)).await;
    let with_key = |key: &str| {
        world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n[checks]\nkey = \"{key}\"\n"));
    };
    stands(&cloned(&world).await, "w", CheckStatus::Error, "changed_code");
    with_key(&"0".repeat(64));
    stands(&cloned(&world).await, "w", CheckStatus::Error, "changed_code");
    with_key(&key);
    stands(&cloned(&world).await, "w", CheckStatus::Fail, "");
    let text = std::fs::read_to_string(world.root().join(COMPILED)).unwrap();
    world.write(COMPILED, &text.replacen("< 0", "< -9", 1));
    stands(&cloned(&world).await, "w", CheckStatus::Error, "changed_code");
    // What it calls itself does not matter.
    world.write(COMPILED, &text.replacen("\"source\": \"model\"", "\"source\": \"rules\"", 1));
    stands(&cloned(&world).await, "w", CheckStatus::Error, "changed_code");
}
