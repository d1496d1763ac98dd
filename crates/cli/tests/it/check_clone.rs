//! Checks in a fresh clone, as a pipeline runs them: no state, an empty home, no model.

use std::path::Path;
use std::process::Command;

use ordain_cell::profile::DataDir;
use serde_json::Value;

use crate::command::{Ran, ordain, run, run_in};

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=me", "-c", "user.email=me@example.com"])
        .args(arguments)
        .current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?} {output:?}");
}

/// Clones what is committed, and runs its checks with nothing else.
fn frozen_in_a_clone(origin: &Path, arguments: &[&str], edit: impl Fn(&Path)) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["clone", "-q", origin.to_str().unwrap(), "clone"]);
    let clone = folder.path().join("clone");
    assert!(!clone.join(".ordain").exists());
    edit(&clone);
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let profiles = DataDir::from_env().unwrap();
    let mut command = ordain(["check", "run", "--frozen", "--json"]);
    let kept = ["PATH", "ORDAIN_RESIDENT"].map(|name| (name, std::env::var_os(name)));
    command.args(arguments).env_clear().current_dir(&clone).env("HOME", &home).env("ORDAIN_RESIDENT", "off");
    command.envs(kept.into_iter().filter_map(|(name, value)| Some((name, value?))));
    command.env("ORDAIN_DATA_DIR", profiles.root());
    run(command)
}

fn verdicts(report: &Value) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = report["results"].as_array().unwrap().iter();
    results.map(|one| (text(&one["check_id"]), text(&one["status"]), one["failed"].clone())).collect()
}

#[test]
fn a_fresh_clone_gives_the_same_verdicts_and_names_a_rule_that_is_newer_than_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let origin = folder.path().join("quality");
    let made = run(ordain(["init", "--example", "data-quality", origin.to_str().unwrap()]));
    assert_eq!(made.code, Some(0), "{made:?}");
    git(&origin, &["init", "-q"]);
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "-q", "-m", "rules"]);
    let ran = run_in(&origin, &["check", "run", "--model", "rules", "--json"]);
    let expected = verdicts(&ran.json());
    // Nothing is compiled that a clone would have.
    let bare = frozen_in_a_clone(&origin, &[], |_| {});
    assert!(bare.stdout.contains("\"frozen\""), "{bare:?}");

    let compiled = run_in(&origin, &["check", "compile", "--model", "rules"]);
    assert_eq!(compiled.code, Some(0), "{compiled:?}");
    assert!(compiled.stderr.contains("checks/compiled.json"), "{compiled:?}");
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "-q", "-m", "compiled"]);
    let cloned = frozen_in_a_clone(&origin, &[], |_| {});
    assert_eq!((cloned.code, verdicts(&cloned.json())), (ran.code, expected), "{}", cloned.stderr);

    let newer = frozen_in_a_clone(&origin, &["--fail-on", "never"], |clone| {
        let path = clone.join("checks/checks.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let rule = "Flag events rows whose user_id is missing from users.";
        assert!(text.contains(rule), "{text}");
        std::fs::write(&path, text.replace(rule, "Flag events rows whose user_id is missing.")).unwrap();
    });
    assert_eq!(newer.code, Some(4), "{newer:?}");
    let report = newer.json();
    let left_out = report["results"].as_array().unwrap().iter().filter(|one| one["skipped"] == "frozen");
    let left_out: Vec<&str> = left_out.map(|one| one["check_id"].as_str().unwrap()).collect();
    assert_eq!(left_out, ["CHK-002"], "{report}");
    assert!(newer.stderr.contains("CHK-002"), "{newer:?}");
}
