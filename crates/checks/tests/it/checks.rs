//! Checks of a workspace, with real tables, a real store and real cells.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_checks::{
    CheckOptions, CheckProgress, CheckResult, CheckRun, CheckStatus, Checks, ChecksError, CodeFrom,
    Selection, read_checks,
};
use ordain_engine::{Engine, EngineSettings, Progress, Quiet};
use ordain_files::open_store;
use ordain_types::BoxFuture;
use ordain_workspace::{Workspace, init};

/// A workspace in a folder of its own.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// The example with planted errors.
    pub(crate) fn example() -> Self {
        let folder = tempfile::tempdir().unwrap();
        init(&folder.path().join("w"), Some("data-quality")).unwrap();
        Self { folder }
    }

    /// A workspace with these checks and files.
    pub(crate) fn with(checks: &str, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        std::fs::create_dir_all(world.root().join("data")).unwrap();
        std::fs::create_dir_all(world.root().join("checks")).unwrap();
        world.write("ordain.toml", "[workspace]\nname = \"w\"\n");
        world.write("checks/checks.json", checks);
        for (name, content) in files {
            std::fs::write(world.root().join("data").join(name), content).unwrap();
        }
        world
    }

    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("w")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root().join(path), text).unwrap();
    }

    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.root().join(path)).unwrap();
        assert!(text.contains(from), "{path} does not hold {from}");
        self.write(path, &text.replacen(from, to, 1));
    }

    pub(crate) async fn checks(&self) -> Checks {
        Checks::new(self.workspace(), self.engine().await)
    }

    pub(crate) async fn engine(&self) -> Engine {
        let executor = LocalExecutor::new(LocalOptions::new(DataDir::from_env().unwrap())).unwrap();
        let workspace = self.workspace();
        let store = open_store(&workspace).await.unwrap();
        Engine::new(store, Arc::new(executor), EngineSettings::of(&workspace))
    }

    fn workspace(&self) -> Arc<Workspace> {
        Arc::new(Workspace::load(&self.root()).unwrap())
    }

    pub(crate) async fn try_run(&self, options: &CheckOptions) -> Result<CheckRun, ChecksError> {
        self.run_with(&self.checks().await, options, &mut Quiet).await
    }

    pub(crate) async fn run_with(
        &self,
        checks: &Checks,
        options: &CheckOptions,
        progress: &mut dyn CheckProgress,
    ) -> Result<CheckRun, ChecksError> {
        let mut task = checks.task(read_checks(&self.root())?, "me", "test");
        task.options = options.clone();
        Ok(checks.run(task, progress).await?.1.unwrap())
    }

    pub(crate) async fn run(&self) -> BTreeMap<String, CheckResult> {
        by_id(self.try_run(&CheckOptions::default()).await.unwrap())
    }

    pub(crate) async fn run_if_changed(&self) -> BTreeMap<String, CheckResult> {
        let options = CheckOptions { if_changed: true, ..CheckOptions::default() };
        by_id(self.try_run(&options).await.unwrap())
    }
}

pub(crate) fn by_id(run: CheckRun) -> BTreeMap<String, CheckResult> {
    run.report.results.into_iter().map(|result| (result.check_id.clone(), result)).collect()
}

/// Keys of failing rows, as text.
pub(crate) fn keys(result: &CheckResult) -> Vec<String> {
    let key = |row: &ordain_checks::FailedRow| row.key.values().next().unwrap().as_str().unwrap().to_owned();
    result.samples.iter().map(key).collect()
}

#[track_caller]
pub(crate) fn stands(results: &BTreeMap<String, CheckResult>, id: &str, status: CheckStatus, reason: &str) {
    let result = &results[id];
    assert_eq!(result.status, status, "{result:?}");
    assert!(result.reason.as_deref().unwrap_or_default().contains(reason), "{result:?}");
}

#[tokio::test]
async fn the_example_finds_exactly_the_planted_errors_and_then_keeps_its_code() {
    let world = World::example();
    let results = world.run().await;
    let failing: BTreeMap<&str, Vec<String>> = results
        .iter()
        .filter(|(_, result)| result.failed.unwrap_or_default() > 0 && !result.samples.is_empty())
        .map(|(id, result)| (id.as_str(), keys(result)))
        .collect();
    let expected: BTreeMap<&str, Vec<String>> = [
        ("CHK-002", "E005 E016"),
        ("CHK-010", "O0008 O0034 O0062"),
        ("CHK-011", "O0015"),
        ("CHK-020", "U021"),
        ("CHK-021", "U004 U031"),
        ("CHK-022", "U007 U013"),
        ("CHK-023", "U018"),
        ("CHK-030", "O0052 O0052"),
        ("CHK-032", "O0022 O0041"),
        ("CHK-034", "O0067"),
        ("CHK-035", "O0071"),
        ("CHK-036", "O0016"),
        ("CHK-037", "O0004"),
        ("CHK-040", "E010"),
        ("CHK-041", "E002 E005 E011 E012 E015 E018 E024 E025"),
    ]
    .into_iter()
    .map(|(id, keys)| (id, keys.split(' ').map(str::to_owned).collect()))
    .collect();
    assert_eq!(failing, expected);
    stands(&results, "CHK-020", CheckStatus::Warn, "");
    stands(&results, "CHK-050", CheckStatus::Skipped, "upstream_failed: `CHK-030`");
    for id in ["CHK-031", "CHK-033", "CHK-060", "CHK-061"] {
        stands(&results, id, CheckStatus::Pass, "");
    }
    assert_eq!(results["CHK-021"].samples[0].values["email"], "•••", "masked where the owner says so");
    assert!(Path::new(&results["CHK-010"].artifacts[0]).is_file());
    assert_eq!(results["CHK-002"].code_from, Some(CodeFrom::Rules));

    // A second run plans nothing.
    let again = world.run().await;
    for (id, result) in again.iter().filter(|(_, result)| result.status != CheckStatus::Skipped) {
        assert_eq!((result.code_from, &result.recompiled), (Some(CodeFrom::Cache), &None), "{id}");
        assert_eq!(result.status, results[id].status, "{id}");
    }

    // Editing an owner recompiles nothing; renaming a column recompiles exactly the check that uses it.
    world.edit("checks/checks.json", "crm@company.com", "new@company.com");
    world.edit("data/users.csv", "plan\n", "tariff\n");
    let renamed = world.run().await;
    stands(&renamed, "CHK-023", CheckStatus::Error, "no column `plan`");
    assert!(renamed["CHK-023"].reason.as_ref().unwrap().contains("renamed to tariff?"));
    world.edit("checks/checks.json", "\"column\": \"plan\"", "\"column\": \"tariff\"");
    let mended = world.run().await;
    stands(&mended, "CHK-023", CheckStatus::Fail, "");
    let anew: Vec<&str> = mended
        .iter()
        .filter(|(_, result)| result.code_from.is_some_and(|from| from != CodeFrom::Cache))
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(anew, ["CHK-023"]);

    // Of the many checks on orders, one uses the price by name, one in code of its owner's, and one, which was blocked but
    // compiled all the same, in an expression.
    world.edit("data/orders.csv", "price", "unit_price");
    let checks = world.checks().await;
    let changes = checks.changes(&read_checks(&world.root()).unwrap(), 2).await.unwrap();
    let stale: Vec<&str> = changes
        .iter()
        .filter(|change| change.why.contains("column price of orders is gone (renamed to unit_price?)"))
        .map(|change| change.check_id.as_str())
        .collect();
    assert_eq!(stale, ["CHK-033", "CHK-035", "CHK-050"]);
    for name in ["schema_cols.json", "workflows.json", "checks_last.csv", "checks_rollup.csv"] {
        assert!(world.root().join(".ordain/contracts").join(name).is_file(), "{name}");
    }
}

const RANGE: &str = r#"[{"check_id": "r", "kind": "range", "target_table": "t", "params": {"column": "price", "min": 0},
    "key_columns": ["id"], "severity": "high"}]"#;
const ROWS: &[u8] = b"id,price,note\na,1,x\nb,-2,y\nc,-3,z\nd,4,w\n";

#[tokio::test]
async fn each_change_does_what_the_matrix_says() {
    let world = World::with(RANGE, &[("t.csv", ROWS)]);
    assert_eq!(world.run().await["r"].failed, Some(2));
    // What failed has failed still, though it is not run again.
    let kept = &world.run_if_changed().await["r"];
    assert_eq!(
        (kept.status, kept.failed, keys(kept)),
        (CheckStatus::Fail, Some(2), vec!["b".to_owned(), "c".to_owned()])
    );
    assert!(kept.kept_from.is_some() && kept.notes[0].starts_with("not run again: "), "{kept:?}");
    assert!(Path::new(&kept.artifacts[0]).is_file());

    // Thresholds: graded anew from the counts, without a run.
    world.edit(
        "checks/checks.json",
        "\"severity\": \"high\"",
        "\"severity\": \"high\", \"fail_if\": \"failed > 2\"",
    );
    let graded = &world.run_if_changed().await["r"];
    assert_eq!((graded.status, graded.failed), (CheckStatus::Pass, Some(2)));
    assert!(graded.notes[0].starts_with("graded anew from the counts of run "), "{graded:?}");

    // A column that the code does not use: noted.
    world.write("data/t.csv", "id,price,note,vat\na,1,x,1\nb,-2,y,1\n");
    let noted = &world.run_if_changed().await["r"];
    assert_eq!((noted.code_from, noted.failed), (Some(CodeFrom::Cache), Some(1)));
    assert_eq!(noted.notes, ["column vat of t is new; the code does not use it"]);

    // A used column of another type: rebuilt, and why; one that cannot be compared is reported.
    world.write("data/t.csv", "id,price,note\na,one,x\nb,2,y\n");
    let because = "column `price` holds text, and its bounds are numbers; declare its type under `[data.t.columns]`, or correct the bounds (column price of t changed integer → text)";
    stands(&world.run().await, "r", CheckStatus::Error, because);
    world.write("data/t.csv", "id,price,note\na,-1.5,x\nb,2,y\n");
    let retyped = &world.run().await["r"];
    assert_eq!(retyped.recompiled.as_deref(), Some("column price of t changed integer → real"));
    assert_eq!(retyped.failed, Some(1));

    // The rule: rebuilt.
    world.edit("checks/checks.json", "\"min\": 0", "\"min\": 5");
    assert_eq!(world.run().await["r"].recompiled.as_deref(), Some("params changed"));

    // A used column that is gone, and then the table: never an old PASS.
    world.write("data/t.csv", "id,note\na,x\n");
    stands(&world.run().await, "r", CheckStatus::Error, "table `t` has no column `price`");
    std::fs::remove_file(world.root().join("data/t.csv")).unwrap();
    stands(&world.run().await, "r", CheckStatus::Skipped, "missing_table: there is no table `t`");
}

#[tokio::test]
async fn bad_files_are_errors_that_say_what_is_wrong_and_where() {
    let checks = |names: &[&str]| {
        let record = |name: &&str| {
            format!(
                r#"{{"check_id": "{name}", "kind": "row_count", "target_table": "{name}", "params": {{"min": 0}}}}"#
            )
        };
        format!("[{}]", names.iter().map(record).collect::<Vec<_>>().join(","))
    };
    let names = [
        "empty", "ragged", "short", "binary", "latin", "bom", "twice", "mixed", "header", "lines", "packed",
        "both",
    ];
    let world = World::with(
        &checks(&names),
        &[
            ("empty.csv", b""),
            ("ragged.csv", b"a,b\n1,2\n1,2,3\n"),
            ("short.csv", b"a,b\n1,2\n3\n"),
            ("binary.csv", b"a,b\n\x00\x01\n"),
            ("latin.csv", b"name\nJos\xe9\n"),
            ("bom.csv", b"\xef\xbb\xbfa,b\n1,2\n"),
            ("twice.csv", b"a,a\n1,2\n"),
            ("mixed.json", br#"[{"a": 1}, {"a": "x"}, {"a": null}]"#),
            ("header.csv", b"a,b\n"),
            ("lines.jsonl", b"{\"a\": 1}\n{\"a\": \n"),
            ("packed.csv.gz", b"not gzip at all"),
            ("both.csv", b"a\n1\n"),
            ("both.json", br#"[{"a": 1}]"#),
        ],
    );
    let results = world.run().await;
    for (id, reason) in [
        ("empty", "data/empty.csv: the file is empty"),
        ("ragged", "line 3 has 3 fields where the header has 2"),
        ("short", "line 3 has 1 fields where the header has 2"),
        ("binary", "NUL bytes"),
        ("lines", "line 2 is not JSON"),
        ("packed", "cannot be unpacked"),
        ("both", "has two sources: data/both.csv and data/both.json"),
    ] {
        stands(&results, id, CheckStatus::Error, reason);
    }
    for (id, note) in [
        ("latin", "line 2 is not UTF-8"),
        ("bom", "byte order mark"),
        ("twice", "two columns are called 'a'"),
        ("mixed", "several kinds"),
    ] {
        stands(&results, id, CheckStatus::Pass, "");
        assert!(results[id].notes.iter().any(|text| text.contains(note)), "{:?}", results[id]);
    }
    stands(&results, "header", CheckStatus::Pass, "");
}

#[tokio::test]
async fn code_that_loops_eats_memory_lies_or_is_refused_is_an_error() {
    let check = |id: &str, code: &str| serde_json::json!({"check_id": id, "kind": "python", "target_table": "t", "params": {"code": code}});
    let checks = serde_json::json!([
        check("loops", "number = 1\nwhile number > 0:\n    number += 1\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n"),
        check("eats", "rows = frame(\"t\")\nkept = []\nfor n in range(10**6):\n    kept.append(\"x\" * 10**7 + str(n))\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n"),
        check("lies", "result = {\"status\": \"PASS\", \"summary\": \"x\", \"evaluated\": 3, \"failed\": 2}\n"),
        check("raises", "rows = frame(\"t\")\nresult = {\"status\": \"PASS\", \"summary\": str(1 / 0)}\n"),
        check("imports", "import socket\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n"),
        check("fine", "rows = frame(\"t\")\nrows.loc[0, \"price\"] = 100\nresult = {\"status\": \"PASS\", \"summary\": str(rows[\"price\"].max())}\n"),
        {"check_id": "nonsense", "target_table": "t", "calculation_hint": "make it beautiful"}
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", ROWS)]);
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[limits]\nwall = \"3s\"\nmemory = \"256MiB\"\n");
    let results = world.run().await;
    stands(&results, "loops", CheckStatus::Error, "timeout");
    stands(&results, "eats", CheckStatus::Error, "memory_limit");
    stands(&results, "lies", CheckStatus::Error, "the code says PASS and counts 2 failing rows");
    stands(&results, "raises", CheckStatus::Error, "ZeroDivisionError");
    stands(&results, "imports", CheckStatus::Error, "its code was refused");
    stands(&results, "fine", CheckStatus::Pass, "");
    assert_eq!(results["fine"].summary, "100", "a frame can be changed, and nobody else sees it");
    stands(&results, "nonsense", CheckStatus::Skipped, "not_understood: the reader does not understand");
}

#[tokio::test]
async fn checks_that_share_a_cell_do_not_see_each_other() {
    let checks = r#"[
        {"check_id": "a", "kind": "range", "target_table": "t", "params": {"column": "n", "max": 2}},
        {"check_id": "b", "kind": "range", "target_table": "t", "params": {"column": "n", "max": 2.5}},
        {"check_id": "c", "kind": "regex", "target_table": "t", "params": {"column": "s", "pattern": "^(a+)+$"}},
        {"check_id": "d", "kind": "not_null", "target_table": "t", "params": {"columns": ["s"]}},
        {"check_id": "e", "kind": "range", "target_table": "t", "params": {"column": "n", "max": 2}}
    ]"#;
    let slow = format!("n,s\n1,x\n2,y\n3,{}!\n", "a".repeat(60));
    let world = World::with(checks, &[("t.csv", slow.as_bytes())]);
    world.write("ordain.toml", "[workspace]\nname = \"shared\"\n[limits]\nwall = \"2s\"\n");
    let results = by_id(world.try_run(&CheckOptions { jobs: 1, ..CheckOptions::default() }).await.unwrap());
    // The same failing rows are kept for each of them.
    for id in ["a", "b", "e"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert_eq!(results[id].failed, Some(1), "{:?}", results[id]);
        assert_eq!(results[id].artifacts.len(), 1, "{id}");
    }
    // One that never ends is reported alone; the others are not affected.
    stands(&results, "c", CheckStatus::Error, "timeout");
    stands(&results, "d", CheckStatus::Pass, "");
}

/// Stops at once.
struct Stopped;

impl Progress for Stopped {
    fn stage(&mut self, _name: &str) {}
}

impl CheckProgress for Stopped {
    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn frozen_selected_and_stopped_runs_say_so() {
    let world = World::example();
    let mut options = CheckOptions { frozen: true, ..CheckOptions::default() };
    options.selection.add("id:CHK-002,id:CHK-011").unwrap();
    let run = world.try_run(&options).await.unwrap();
    let results = by_id(run);
    assert_eq!(results.len(), 2, "others are not told of");
    stands(&results, "CHK-002", CheckStatus::Skipped, "frozen: it needs compiling, which --frozen forbids");
    stands(&results, "CHK-011", CheckStatus::Fail, "");

    let checks = world.checks().await;
    let files = read_checks(&world.root()).unwrap();
    let stopped = world.run_with(&checks, &CheckOptions::default(), &mut Stopped).await.unwrap();
    assert!(stopped.is_interrupted && stopped.report.results.len() < files.entries.len());
    let entries = checks.store().newest_entries(u64::MAX >> 1, 5).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.kind == "check").count(), 2, "each run is in the ledger");
    assert!(Selection::default().add("colour:red").is_err());
}

#[tokio::test]
async fn tables_of_the_store_are_checked_like_files() {
    let world = World::with(
        r#"[{"check_id": "s", "kind": "range", "target_table": "stock", "params": {"column": "left", "min": 1}, "key_columns": ["item"]},
            {"check_id": "f", "kind": "foreign_key", "target_table": "t", "params": {"columns": ["id"], "references": {"table": "stock", "columns": ["item"]}}}]"#,
        &[("t.csv", ROWS)],
    );
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write(
        "tables/stock.json",
        r#"[{"item": "a", "left": 0}, {"item": "b", "left": 3}, {"item": "c", "left": null}]"#,
    );
    world.write(
        "ordain.toml",
        "[workspace]\nname = \"w\"\n[tables.stock]\nseed = \"tables/stock.json\"\nkey = \"item\"\n",
    );
    let results = world.run().await;
    assert_eq!(
        (results["s"].evaluated, results["s"].failed, keys(&results["s"])),
        (Some(2), Some(1), vec!["a".to_owned()])
    );
    assert_eq!(results["f"].failed, Some(1), "{:?}", results["f"]);
}

#[test]
fn a_report_that_goes_to_a_pipe_or_a_device_does_not_replace_it() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    ordain_checks::write_file(&pipe, b"told").unwrap();
    assert_eq!(reader.join().unwrap(), "told");
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    ordain_checks::write_file(std::path::Path::new("/dev/null"), b"told").unwrap();
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}
