//! `ordain check run` where it is stopped, kept waiting, unchanged or of many checks; and what it leaves.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{check, range, workspace};
use crate::command::{Folder, Ran, Running, eventually, ordain, receiver, run, run_in};

const ENDLESS: &str =
    "number = 1\nwhile number > 0:\n    number += 1\nresult = {\"status\": \"PASS\", \"summary\": \"x\"}\n";

fn endless(id: &str) -> Value {
    json!({"check_id": id, "kind": "python", "target_table": "t", "params": {"code": ENDLESS}})
}

/// A check of `t` that is due by a schedule.
pub(crate) fn due(id: &str, schedule: &str) -> Value {
    let mut record = range(id, "price", "info");
    record["schedule"] = json!(schedule);
    record
}

fn statuses(ran: &Ran) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let report = ran.json();
    let results = report["results"].as_array().unwrap();
    results.iter().map(|result| (text(&result["check_id"]), text(&result["status"]))).collect()
}

fn pair(id: &str, status: &str) -> (String, String) {
    (id.to_owned(), status.to_owned())
}

#[test]
fn of_several_exit_codes_the_one_that_says_most_wins() {
    let words =
        json!({"check_id": "words", "target_table": "t", "calculation_hint": "price must not be null"});
    let mut warns = range("warns", "price", "high");
    warns["warn_if"] = json!("failed > 0");
    warns["fail_if"] = json!("failed > 5");
    let folder = workspace(&json!([
        range("fails", "price", "high"),
        range("errs", "prise", "low"),
        range("holds", "price", "low"),
        warns,
        words
    ]));
    for (arguments, code) in [
        (["--select", "id:warns"].as_slice(), 0),
        (&["--select", "id:warns", "--fail-on", "warn"], 1),
        // An error weighs more than a failure, a failure more than what could not be compiled.
        (&["--select", "id:errs,id:fails,id:words", "--frozen"], 3),
        (&["--select", "id:errs", "--fail-on", "never"], 3),
        (&["--select", "id:fails,id:words", "--frozen"], 1),
        (&["--select", "id:fails,id:words", "--frozen", "--fail-on", "never"], 4),
        // Wrong usage weighs most, whatever the checks would have given.
        (&["--select", "id:errs", "--format", "junt"], 2),
    ] {
        let ran = check(&folder, &[&["run"], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_run_that_selects_only_what_changed_does_not_hide_earlier_failures() {
    let folder = workspace(&json!([range("fails", "price", "high")]));
    assert_eq!(check(&folder, &["run"]).code, Some(1));
    let again = check(&folder, &["run", "--select", "state:changed", "--json"]);
    assert_eq!(statuses(&again), [pair("fails", "SKIPPED")]);
    let history = check(&folder, &["history", "fails", "--json"]).json();
    assert_eq!((history.as_array().unwrap().len(), &history[0]["status"]), (1, &json!("FAIL")), "{history}");
}

#[test]
fn a_log_says_what_failed_where_the_results_go_to_files() {
    let folder =
        workspace(&json!([range("fails", "price", "high"), range("fails too", "price", "critical")]));
    let ran = check(&folder, &["run", "--format", "junit=report.xml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("FAIL critical: fails too"), "{ran:?}");
    assert!(lines[1].starts_with("FAIL high: fails"), "{ran:?}");
    assert!(ran.stderr.contains("2 checks · 2 fail"), "{ran:?}");
    let astray = check(&folder, &["run", "--format", "junit=reports/report.xml"]);
    assert!(astray.code == Some(2) && astray.stderr.contains("there is no folder `reports`"), "{astray:?}");
    let unknown = check(&folder, &["run", "--select", "banana"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("no check fits `banana`"), "{unknown:?}");
    // Without key columns a row is known by its number in the file, whose header is row 1.
    let keyless = json!({"check_id": "k", "kind": "range", "target_table": "t", "params": {"column": "price", "min": 0}});
    folder.file("checks/checks.json", json!([keyless]).to_string());
    let report = check(&folder, &["run", "--json"]).json();
    assert_eq!(report["results"][0]["samples"][0]["key"], json!({"row": 3}), "{report}");
    let never = check(&folder, &["history", "banana"]);
    assert!(never.code == Some(2) && never.stderr.contains("`banana`"), "{never:?}");
}

#[test]
fn a_frozen_run_uses_code_that_a_run_with_a_planner_left() {
    let words =
        json!({"check_id": "w", "target_table": "t", "calculation_hint": "price must not be negative"});
    let folder = workspace(&json!([words]));
    let frozen = check(&folder, &["run", "--frozen", "--json"]);
    assert_eq!(frozen.code, Some(4), "{frozen:?}");
    assert!(frozen.json()["results"][0]["reason"].as_str().unwrap().starts_with("frozen"), "{frozen:?}");
    assert_eq!(check(&folder, &["compile", "--model", "rules"]).code, Some(0));
    let ran = check(&folder, &["run", "--frozen", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.json()["results"][0]["code_from"], "cache");
    // A rule that changed is not run with the code of the old one.
    let text = fs::read_to_string(folder.path().join("checks/checks.json")).unwrap();
    folder.file("checks/checks.json", text.replace("negative", "null"));
    assert_eq!(check(&folder, &["run", "--frozen"]).code, Some(4));
}

#[test]
fn an_unchanged_failure_is_a_failure_though_it_is_not_run_again() {
    let folder = workspace(&json!([range("f", "price", "high"), range("i", "price", "info")]));
    assert_eq!(check(&folder, &["run"]).code, Some(1));
    let again = check(&folder, &["run", "--if-changed"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stdout.contains("2 fail · 2 not run again"), "{again:?}");
    let json = check(&folder, &["run", "--if-changed", "--json"]).json();
    assert_eq!(json["counts"]["FAIL"], 2);
    assert!(json["results"][0]["kept_from"].is_string(), "{json}");
    // Mended data is looked at, and the exit code follows.
    folder.file("data/t.csv", "id,price\na,1\nb,2\n");
    let mended = check(&folder, &["run", "--if-changed", "--json"]);
    assert_eq!((mended.code, &mended.json()["results"][0]["kept_from"]), (Some(0), &Value::Null));
}

/// The file of all failing rows, once a check has left it.
fn artifact(folder: &Folder, id: &str) -> Option<PathBuf> {
    let runs = fs::read_dir(folder.path().join(".ordain/checks/artifacts")).ok()?;
    let files = runs.flatten().map(|run| run.path().join(id).join("failed_rows.csv"));
    files.into_iter().find(|path| path.is_file())
}

#[test]
fn control_c_keeps_what_finished_and_says_so() {
    let folder = workspace(&json!([endless("endless"), range("quick", "price", "high")]));
    let mut command = ordain(["check", "run", "--json", "--jobs", "2"]);
    command.current_dir(folder.path());
    let mut running = Running::start(command);
    assert!(eventually(|| artifact(&folder, "quick").is_some()), "the quick check did not finish");
    running.signal(Signal::INT);
    assert_eq!(running.exit_code(), Some(130));
    let shown = check(&folder, &["history", "--json"]);
    let history = shown.json();
    let ids: Vec<_> = history.as_array().unwrap().iter().map(|past| &past["check_id"]).collect();
    assert_eq!(ids, ["quick"], "{shown:?}");
    // Nothing is left locked, and what was cut off is not taken for done.
    let again = check(&folder, &["run", "--select", "id:quick", "--if-changed", "--json"]);
    assert_eq!(statuses(&again), [pair("quick", "FAIL")]);
    assert!(again.json()["results"][0]["kept_from"].is_string());
}

#[test]
fn a_run_never_overlaps_another() {
    let folder = workspace(&json!([due("d", "* * * * *")]));
    fs::create_dir_all(folder.path().join(".ordain/checks")).unwrap();
    let lock = fs::File::create(folder.path().join(".ordain/checks/lock")).unwrap();
    lock.lock().unwrap();
    let refused = check(&folder, &["run"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{refused:?}");
    assert!(refused.stderr.contains("another run of checks is going on"), "{refused:?}");
    // What is due waits instead, so that it is not lost.
    let mut command = ordain(["schedule", "run", "checks: * * * * *"]);
    command.current_dir(folder.path());
    let mut running = Running::start(command);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(running.0.try_wait().unwrap().is_none(), "it did not wait");
    drop(lock);
    assert_eq!(running.exit_code(), Some(0));
    assert!(check(&folder, &["history"]).stdout.contains('d'));
}

#[test]
fn every_subcommand_tells_how_it_is_used() {
    for name in [
        "run", "compile", "list", "show", "diff", "history", "validate", "watch", "suggest", "schema",
        "import", "export", "accept", "add",
    ] {
        let ran = run(ordain(["check", name, "--help"]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(&format!("Usage: ordain check {name}")), "{ran:?}");
    }
}

#[test]
fn a_check_that_depends_on_itself_is_told() {
    let mut alone = range("alone", "price", "low");
    alone["depends_on"] = json!(["alone"]);
    let (mut one, mut two) = (range("one", "price", "low"), range("two", "price", "low"));
    one["depends_on"] = json!(["two"]);
    two["depends_on"] = json!(["one"]);
    let folder = workspace(&json!([alone, one, two]));
    let ran = check(&folder, &["run"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("alone") && ran.stderr.contains("depends on"), "{ran:?}");
    assert!(ran.stderr.contains("one") && ran.stderr.contains("two"), "{ran:?}");
}

#[test]
fn ten_thousand_checks_are_validated_listed_and_selected_from() {
    let records: Vec<Value> =
        (0..10_000).map(|number| range(&format!("C{number}"), "price", "low")).collect();
    let folder = workspace(&json!(records));
    let validated = check(&folder, &["validate", "--json"]);
    assert_eq!((validated.code, &validated.json()["errors"]), (Some(0), &json!(0)), "{validated:?}");
    let listed = check(&folder, &["list", "--json"]);
    assert_eq!(listed.json().as_array().unwrap().len(), 10_000);
    let one = check(&folder, &["run", "--select", "id:C9999", "--json"]);
    assert_eq!(statuses(&one), [pair("C9999", "FAIL")]);
}

#[test]
fn the_files_that_other_tools_read_are_written_whole_by_a_run() {
    let words = json!({"check_id": "CHK-1", "check_name": "No price is negative", "target_table": "t",
        "calculation_hint": "price must not be negative", "owner": "me", "tags": ["x"]});
    let folder = workspace(&json!([words, range("r", "price", "high")]));
    assert_eq!(check(&folder, &["run", "--model", "rules"]).code, Some(1));
    assert_eq!(check(&folder, &["run", "--model", "rules"]).code, Some(1));
    let contracts = folder.path().join(".ordain/contracts");
    let text = |name: &str| fs::read_to_string(contracts.join(name)).unwrap();
    let value = |name: &str| serde_json::from_str::<Value>(&text(name)).unwrap();
    assert_eq!(value("schema_cols.json"), json!({"t": ["id", "price"]}));
    let workflows = value("workflows.json");
    let entries = workflows["CHK-1::No price is negative"].as_array().unwrap();
    assert_eq!(entries.iter().map(|entry| &entry["type"]).collect::<Vec<_>>(), ["plan", "execution"]);
    for entry in entries {
        assert!(entry["compiled_at"].as_str().unwrap().contains('T'), "{entry}");
        assert_eq!(entry["compiled_against"]["schema_cols"], json!({"t": ["id", "price"]}));
        assert!(entry["compiled_against"]["checks_hash"].is_string());
    }
    let execution = &entries[1]["artifact"];
    assert!(
        execution["python_repls"][0]["python_repl"].as_str().unwrap().contains("frame(\"t\")"),
        "{execution}"
    );
    assert_eq!(
        (&execution["python_repls"][0]["exit_code"], &execution["result"]["status"]),
        (&json!(0), &json!("FAIL"))
    );
    let baseline = text("checks_last.csv");
    assert!(
        baseline.lines().next().unwrap().contains("check_id") && baseline.lines().count() == 3,
        "{baseline}"
    );
    // One line for each check and run.
    assert_eq!(text("checks_rollup.csv").lines().count(), 1 + 2 * 2);
    assert!(value("ai_table_summaries.json")["t"].is_string());
    // The second run planned nothing, so there is one line.
    let log = text("plan_prompt_log.jsonl");
    assert_eq!(log.lines().count(), 1, "{log}");
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    for (name, expected) in
        [("check_id", "CHK-1"), ("model", "rules"), ("prompt", "price must not be negative")]
    {
        assert_eq!(line[name], expected, "{line}");
    }
    assert!(line["response"].as_str().unwrap().contains("result"), "{line}");
    assert_eq!(line["inputs"]["schema_cols"], json!({"t": ["id", "price"]}));
    // Nothing half written is left, and what was written can be read back.
    let names =
        fs::read_dir(&contracts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.starts_with('.')));
    let mut command = ordain(["check", "import", "--from", "workflows"]);
    command.arg(&contracts).current_dir(folder.path());
    let imported = run(command);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert!(
        imported.json().as_array().unwrap().iter().any(|check| check["check_id"] == "CHK-1"),
        "{imported:?}"
    );
}

#[test]
fn a_rule_is_read_back_tried_and_pinned_before_it_is_added() {
    let folder = workspace(&json!([]));
    let rule = ["add", "price must not be negative", "--table", "t", "--model", "rules"];
    let shown = check(&folder, &rule);
    assert_eq!(shown.code, Some(2), "{shown:?}");
    for says in ["read as: t: ", "today:   FAIL 1 of ", "0 passes, ", "a missing value is not judged"] {
        assert!(shown.stdout.contains(says), "{says}: {shown:?}");
    }
    assert!(check(&folder, &["list"]).stdout.lines().count() < 2, "nothing was added");
    let added = check(&folder, &[&rule[..], &["--yes"]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("checks/checks.json")).unwrap()).unwrap();
    let reading = record[0]["accepted_reading"].as_str().unwrap();
    assert!(added.stdout.contains(reading), "{record}");
    assert_eq!(check(&folder, &["run"]).code, Some(1));
    let compiled = check(&folder, &["compile", "--model", "rules"]);
    assert!(compiled.code == Some(0) && compiled.stdout.contains("today:   FAIL 1 of "), "{compiled:?}");
    let odd = check(&folder, &["add", "the moon is blue", "--table", "t", "--model", "rules", "--yes"]);
    assert_eq!(odd.code, Some(3), "{odd:?}");
}

#[test]
fn a_rule_that_was_edited_by_hand_is_accepted_again_changed_and_removed() {
    let folder = workspace(&json!([range("other", "price", "low")]));
    let model = ["--model", "rules", "--yes"];
    let rule = ["add", "price must not be negative", "--table", "t", "--id", "r"];
    assert_eq!(check(&folder, &[&rule[..], &model].concat()).code, Some(0));
    let path = folder.path().join("checks/checks.json");
    let text = fs::read_to_string(&path).unwrap();
    let by_hand = text.replace(
        "\"calculation_hint\": \"price must not be negative\"",
        "\"calculation_hint\": \"price must be above 1\"",
    );
    fs::write(&path, by_hand).unwrap();
    let refused = check(&folder, &["run", "--model", "rules", "--select", "id:r"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stdout.contains("`ordain check edit r`"), "{refused:?}");
    let accepted = check(&folder, &[&["edit", "r"][..], &model].concat());
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert!(accepted.stdout.contains("read as: t: "), "{accepted:?}");
    assert_eq!(check(&folder, &["run", "--model", "rules", "--select", "id:r"]).code, Some(1));
    let again = check(&folder, &[&["edit", "r"][..], &model].concat());
    assert!(again.stderr.contains("is as it was"), "{again:?}");
    let changed =
        [&["edit", "r", "--rule", "price must be above -100", "--set", "severity=high"][..], &model].concat();
    assert_eq!(check(&folder, &changed).code, Some(0));
    assert!(check(&folder, &["show", "r"]).stdout.contains("-100"));
    let unknown = check(&folder, &["edit", "r", "--set", "severty=low"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("did you mean `severity`?"), "{unknown:?}");
    assert_eq!(check(&folder, &["remove", "r"]).code, Some(2), "nobody agreed");
    assert_eq!(check(&folder, &["remove", "r", "--yes"]).code, Some(0));
    let left = check(&folder, &["list"]).stdout;
    assert!(left.contains("other") && !left.contains("price must be above"), "{left}");
    assert!(check(&folder, &["remove", "othr", "--yes"]).stderr.contains("did you mean `other`?"));
}

#[test]
fn a_check_of_a_table_that_is_not_there_says_where_tables_are_listed() {
    let folder = workspace(&json!([]));
    let missing =
        check(&folder, &["add", "price must not be negative", "--table", "nosuch", "--model", "rules"]);
    assert!(missing.code == Some(3) && missing.stderr.contains("ordain tables --types"), "{missing:?}");
    let empty = check(&folder, &["add", "", "--table", "t", "--model", "rules"]);
    assert!(empty.code == Some(2) && !empty.stderr.contains("checks.json:"), "{empty:?}");
}

#[test]
fn failing_rows_are_in_the_table_that_the_owner_named_until_they_are_put_right() {
    let folder = workspace(&json!([range("fails", "price", "high")]));
    folder.file("ordain.toml", "[checks]\nfailures_table = \"check_failures\"\n");
    let rows = || {
        let tables = ["tables", "check_failures", "--rows", "5", "--json"];
        run_in(folder.path(), &tables).json().as_array().unwrap().clone()
    };
    assert_eq!(rows(), Vec::<Value>::new());
    assert_eq!(check(&folder, &["run"]).code, Some(1));
    let found = rows();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["failure_id"], &found[0]["severity"]), (&json!("fails/1"), &json!("high")));
    assert!(found[0]["row_values"]["price"].is_number(), "{found:?}");
    assert_eq!(check(&folder, &["run"]).code, Some(1));
    assert_eq!(rows().len(), 1, "the last run's rows are in place of those before");
    folder.file("data/t.csv", "id,price\n1,5\n");
    assert_eq!(check(&folder, &["run"]).code, Some(0));
    assert_eq!(rows(), Vec::<Value>::new());
}

fn check_with_notify(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = ordain(arguments);
    command.current_dir(folder.path()).env("ORDAIN_TRUST", folder.path()).env("HOOK_SECRET", "Jefe");
    run(command)
}

#[test]
fn results_are_sent_signed_to_the_addresses_that_want_them() {
    let folder = workspace(&json!([range("fails", "price", "high")]));
    let (port, received) = receiver("204 No Content", 2);
    let address = format!("url = \"http://127.0.0.1:{port}/hook\"");
    let slack = format!("[notify.slack]\n{address}\nform = \"slack\"\non = \"change\"\n");
    folder.file("ordain.toml", format!("[notify.json]\n{address}\nsecret = \"HOOK_SECRET\"\n{slack}"));
    assert_eq!(check(&folder, &["run"]).code, Some(2), "an address has to be accepted");
    let ran = check_with_notify(&folder, &["check", "run", "--select", "id:fails"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let received = received.join().unwrap();
    let (_, signed) = received.iter().find(|(head, _)| head.contains("x-ordain-signature: sha256=")).unwrap();
    let body: Value = serde_json::from_slice(signed).unwrap();
    assert_eq!(body["counts"]["FAIL"], 1, "{body}");
    assert_eq!(body["results"][0]["check_id"], "fails");
    assert!(body["results"][0].get("samples").is_none(), "rows stay here: {body}");
    let bodies: Vec<_> = received.iter().map(|(_, body)| String::from_utf8_lossy(body)).collect();
    let slack = bodies.iter().find(|body| body.contains("\"text\"")).unwrap();
    assert!(slack.contains("FAIL (high) fails: "), "{slack}");
    assert!(check_with_notify(&folder, &["tools", "outbox", "list"]).stderr.contains("nothing waits"));
    // Nothing changed since, and the receiver is gone: the one that asks for problems waits for another try.
    let again = check_with_notify(&folder, &["check", "run", "--select", "status:fail"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    let waiting = check_with_notify(&folder, &["tools", "outbox", "list", "--json"]).json();
    assert_eq!(
        (waiting.as_array().unwrap().len(), &waiting[0]["name"]),
        (1, &json!("notify.json")),
        "{waiting}"
    );
    assert_eq!(waiting[0]["state"], "queued");
    let none = check_with_notify(&folder, &["check", "run", "--select", "status:warn", "--json"]).json();
    assert_eq!(none["results"].as_array().unwrap().len(), 0, "{none}");
}

#[test]
fn an_address_for_results_does_not_make_rules_stale() {
    let words =
        json!({"check_id": "words", "target_table": "t", "calculation_hint": "price must be at least -99"});
    let folder = workspace(&json!([words]));
    let ran = check(&folder, &["run", "--select", "id:words"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder.file("ordain.toml", "[notify.hook]\nurl = \"http://127.0.0.1:9/\"\n");
    let again = check_with_notify(&folder, &["check", "run", "--frozen", "--select", "id:words"]);
    assert_eq!(again.code, Some(0), "{again:?}");
}
