//! `ordain check schema|import|export|suggest`, as users and scripts see them.

use std::fs;
use std::path::PathBuf;

use crate::command::{Ran, ordain, run};

/// The example workspace in a folder of its own.
struct Quality {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Quality {
    fn new() -> Self {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().join("quality");
        let made = run(ordain(["init", "--example", "data-quality", root.to_str().unwrap()]));
        assert_eq!(made.code, Some(0), "{made:?}");
        Self { _folder: folder, root }
    }

    fn check(&self, arguments: &[&str]) -> Ran {
        let mut command = ordain(["check"]);
        command.args(arguments).current_dir(&self.root).env_remove("ORDAIN_WORKSPACE").env("NO_COLOR", "1");
        run(command)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    fn checks(&self) -> String {
        fs::read_to_string(self.root.join("checks/checks.json")).unwrap()
    }
}

const DBT: &str = "models:\n  - name: orders\n    columns:\n      - name: order_id\n        tests: [unique, not_null, my.own]\n";

#[test]
fn the_schemas_are_printed_without_a_workspace() {
    let folder = tempfile::TempDir::new().unwrap();
    for arguments in [vec!["check", "schema"], vec!["check", "schema", "--report"]] {
        let mut command = ordain(arguments);
        command.current_dir(folder.path()).env_remove("ORDAIN_WORKSPACE");
        let ran = run(command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.json()["$schema"].is_string(), "{ran:?}");
    }
}

#[test]
fn an_import_prints_checks_and_names_what_has_none() {
    let world = Quality::new();
    world.write("schema.yml", DBT);
    let before = world.checks();
    let ran = world.check(&["import", "--from", "dbt", "schema.yml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ids: Vec<_> = ran.json().as_array().unwrap().iter().map(|check| check["check_id"].clone()).collect();
    assert_eq!(ids, ["orders.order_id.unique", "orders.order_id.not_null", "orders.order_id.my_own"]);
    assert!(
        ran.stderr
            .contains("no check that runs for my.own (orders.order_id): it is a test of the project's own"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("2 rules became checks, 1 did not (1 of the checks are turned off)"),
        "{ran:?}"
    );
    assert_eq!(world.checks(), before);
}

#[test]
fn imported_checks_are_added_once_and_run() {
    let world = Quality::new();
    world.write("schema.yml", DBT);
    let before = world.checks();
    let ran = world.check(&["import", "--from", "dbt", "schema.yml", "--add"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("added 3 checks to checks/checks.json"), "{ran:?}");
    // What was there is there, comments included.
    let text = world.checks();
    assert!(text.starts_with(before.trim_end().trim_end_matches(']').trim_end()), "{text}");
    let again = world.check(&["import", "--from", "dbt", "schema.yml", "--add"]);
    assert!(again.stderr.contains("added 0 checks"), "{again:?}");
    assert_eq!(world.checks(), text);
    let ran = world.check(&["run", "--select", "id:orders.order_id.not_null", "--json"]);
    let report = ran.json();
    let result =
        report["results"].as_array().unwrap().iter().find(|it| it["check_id"] == "orders.order_id.not_null");
    assert_eq!(result.unwrap()["status"], "PASS", "{report}");
}

#[test]
fn an_imported_rule_is_not_lost_because_another_one_has_its_made_up_id() {
    let world = Quality::new();
    let import = |most: u32| {
        let suite = format!(
            r#"{{"expectations": [{{"expectation_type": "expect_column_values_to_be_between",
            "kwargs": {{"column": "price", "min_value": 0, "max_value": {most}}}}}]}}"#
        );
        world.write("suite.json", &suite);
        world.check(&["import", "--from", "gx", "suite.json", "--table", "orders", "--add"]).stderr
    };
    assert!(import(8).contains("added 1 check"));
    let other = import(9);
    assert!(
        other.contains("orders.price.range is another rule, so it is added as orders.price.range-2"),
        "{other}"
    );
    for again in [import(8), import(9)] {
        assert!(
            again.contains("added 0 checks to checks/checks.json; there already: orders.price.range"),
            "{again}"
        );
    }
}

#[test]
fn a_file_that_is_something_else_is_a_usage_error_with_a_hint() {
    let world = Quality::new();
    world.write("odd.yml", "a: [");
    for arguments in [
        ["import", "--from", "dbt", "odd.yml"],
        ["import", "--from", "gx", "odd.yml"],
        ["import", "--from", "dbt", "missing.yml"],
        ["import", "--from", "excel", "odd.yml"],
        ["export", "--to", "excel", "--json"],
    ] {
        let ran = world.check(&arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("error:") && ran.stdout.is_empty(), "{ran:?}");
    }
}

#[test]
fn checks_are_exported_and_what_cannot_be_is_named() {
    let world = Quality::new();
    let total = world.check(&["list", "--json"]).json().as_array().unwrap().len();
    for target in ["gx", "dbt", "json"] {
        let ran = world.check(&["export", "--to", target]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let left_out = ran.stderr.lines().filter(|line| line.starts_with("left out ")).count();
        assert!(
            ran.stderr.contains(&format!("{} checks written, {left_out} left out", total - left_out)),
            "{ran:?}"
        );
    }
    let ran = world.check(&["export", "--to", "json", "--select", "id:CHK-020", "--output", "one.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    let text = fs::read_to_string(world.root.join("one.json")).unwrap();
    let checks: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0]["check_id"], "CHK-020");
}

#[test]
fn proposals_hold_on_the_table_they_are_made_from() {
    let world = Quality::new();
    let ran = world.check(&["suggest", "users", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let proposals = ran.json();
    let kinds: Vec<_> =
        proposals.as_array().unwrap().iter().map(|it| it["check"]["kind"].as_str().unwrap()).collect();
    assert!(
        kinds.contains(&"schema") && kinds.contains(&"row_count") && kinds.contains(&"not_null"),
        "{proposals}"
    );
    assert!(
        proposals
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["evidence"].as_str().is_some_and(|text| !text.is_empty()))
    );
    // On their own, each of them passes on the rows it was proposed from.
    world.write("checks/checks.json", "[]\n");
    let ran = world.check(&["suggest", "users", "--add", "all"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = world.check(&["run", "--json"]);
    let report = ran.json();
    assert_eq!(report["counts"]["PASS"].as_u64(), Some(kinds.len() as u64), "{report}");
}

#[test]
fn a_table_that_is_not_there_is_told_with_the_nearest_one() {
    let world = Quality::new();
    let ran = world.check(&["suggest", "usres"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("there is no table `usres`") && ran.stderr.contains("did you mean `users`?"),
        "{ran:?}"
    );
}

#[test]
fn parameters_that_a_kind_does_not_take_are_told_before_a_run() {
    let world = Quality::new();
    for (kind, params, said) in [
        ("aggregate", r#"{"column": "price", "function": "std", "min": 1}"#, "function"),
        ("range", r#"{"column": "price", "min": 1, "when": {"price": 1, "total": 2}}"#, "when"),
    ] {
        let check = format!(
            r#"[{{"check_id": "X", "check_name": "x", "target_table": "orders", "kind": "{kind}", "params": {params}}}]"#
        );
        world.write("checks/checks.json", &check);
        let ran = world.check(&["validate"]);
        assert_eq!(ran.code, Some(2), "{kind} {params}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(said), "{kind} {params}: {ran:?}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("map with a single key"), "{ran:?}");
    }
}

#[test]
fn a_folder_with_checks_and_data_alone_is_a_workspace() {
    let folder = tempfile::TempDir::new().unwrap();
    for name in ["checks", "data"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let check = r#"[{"check_id": "CHK-1", "check_name": "prices", "description": "", "target_table": "orders",
        "calculation_hint": "price must not be negative"}]"#;
    fs::write(folder.path().join("checks/checks.json"), check).unwrap();
    fs::write(folder.path().join("data/orders.csv"), "id,price\n1,5\n2,-1\n").unwrap();
    let at = |arguments: &[&str]| {
        let mut command = ordain(arguments);
        command.current_dir(folder.path()).env_remove("ORDAIN_WORKSPACE");
        run(command)
    };
    let ran = at(&["check", "run", "--model", "rules", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.json()["results"][0]["failed"], 1);
    let summaries =
        fs::read_to_string(folder.path().join(".ordain/contracts/ai_table_summaries.json")).unwrap();
    assert!(summaries.contains("2 rows, from data/orders.csv. id (integer, unique)"), "{summaries}");
    // A data file that is gone is not green.
    fs::remove_file(folder.path().join("data/orders.csv")).unwrap();
    let gone = at(&["check", "run", "--model", "rules"]);
    assert!(gone.code == Some(3) && gone.stdout.contains("there is no table `orders`"), "{gone:?}");
}
