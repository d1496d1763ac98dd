//! `ordain check` from outside: exit codes and their priority, what goes where, and selections.

use serde_json::json;

use crate::command::{Folder, Ran, run_in};

/// A workspace with one table and these checks.
pub(crate) fn workspace(checks: &serde_json::Value) -> Folder {
    let folder = Folder::new();
    for name in ["data", "checks"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder.file("ordain.toml", "[workspace]\nname = \"w\"\n");
    folder.file("data/t.csv", "id,price\na,1\nb,-2\n");
    folder.file("checks/checks.json", checks.to_string());
    folder
}

pub(crate) fn check(folder: &Folder, arguments: &[&str]) -> Ran {
    run_in(folder.path(), &[&["check"], arguments].concat())
}

pub(crate) fn range(id: &str, column: &str, severity: &str) -> serde_json::Value {
    json!({"check_id": id, "kind": "range", "target_table": "t", "severity": severity, "tags": [severity],
           "params": {"column": column, "min": 0}, "key_columns": ["id"]})
}

#[test]
fn exit_codes_tell_failures_errors_and_frozen_runs_apart() {
    let words = json!({"check_id": "w", "target_table": "t", "calculation_hint": "price must not be null", "tags": ["words"]});
    let folder = workspace(&json!([
        range("f", "price", "high"),
        range("i", "price", "info"),
        range("e", "prise", "low"),
        words
    ]));
    for (arguments, code) in [
        (["--select", "id:w", "--frozen"].as_slice(), 4),
        (&["--select", "id:w", "--model", "rules"], 0),
        (&["--select", "id:f"], 1),
        (&["--select", "id:i"], 0),
        (&["--select", "id:i", "--fail-on", "info"], 1),
        (&["--select", "id:f", "--fail-on", "critical"], 0),
        (&["--select", "id:f", "--fail-on", "never"], 0),
        (&["--select", "id:f,id:e"], 3),
        (&["--select", "id:nobody"], 2),
        (&["--select", "colour:red"], 2),
        (&["--fail-on", "sometimes"], 2),
        (&["--format", "junt"], 2),
        (&["--json", "--format", "csv"], 2),
    ] {
        let ran = check(&folder, &[&["run"], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    }
    let ran = check(&folder, &["run", "--json", "--select", "id:f"]);
    let result = &ran.json()["results"][0];
    assert_eq!(
        (&result["status"], &result["failed"], &result["code_from"]),
        (&json!("FAIL"), &json!(1), &json!("cache"))
    );
    assert_eq!(result["samples"][0]["key"], json!({"id": "b"}));
}

#[test]
fn check_files_that_do_not_read_are_told_with_their_lines() {
    let folder = workspace(&json!([]));
    folder.file(
        "checks/checks.json",
        "[\n  {\"check_id\": \"a\", \"kind\": \"rnge\",\n   \"target_table\": \"t\"}\n]\n",
    );
    let ran = check(&folder, &["run"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("checks/checks.json:2: there is no kind `rnge`"), "{ran:?}");
    assert!(ran.stderr.contains("hint: did you mean `range`?"), "{ran:?}");
    let validated = check(&folder, &["validate", "--json"]);
    assert_eq!((validated.code, &validated.json()["errors"]), (Some(2), &json!(1)));
    std::fs::remove_file(folder.path().join("checks/checks.json")).unwrap();
    assert!(check(&folder, &["run"]).stderr.contains("there is no check file"));
}

#[test]
fn files_get_every_format_and_the_rest_shows_what_is_kept() {
    let folder = workspace(&json!([range("f", "price", "high")]));
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let ran = check(
        &folder,
        &[
            "run",
            "--format",
            "junit=out/report.xml",
            "--format",
            "html=out/report.html",
            "--format",
            "sarif=out/r.sarif",
        ],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    for (name, mark) in
        [("report.xml", "<testsuite"), ("report.html", "<!DOCTYPE html>"), ("r.sarif", "2.1.0")]
    {
        let text = std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
        assert!(text.contains(mark), "{name}");
    }
    let shown = check(&folder, &["show", "f"]);
    assert!(shown.stdout.contains("failing = judged & ~((values >= 0))"), "{shown:?}");
    assert_eq!(check(&folder, &["diff"]).stdout, "nothing changed: every check runs its kept code\n");
    folder.file("data/t.csv", "id,cost\na,1\n");
    let diff = check(&folder, &["diff"]);
    assert!(
        diff.stdout
            .contains("f: plan re-plan, code rebuild, run: column price of t is gone (renamed to cost?)"),
        "{diff:?}"
    );
    let history = check(&folder, &["history", "f", "--json"]);
    assert_eq!(history.json()[0]["status"], json!("FAIL"));
    assert!(check(&folder, &["list"]).stdout.contains("range"));
}
