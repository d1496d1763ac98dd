//! Evaluations: the examples' cases come out right, and the command says what does not.

use std::path::{Path, PathBuf};

use crate::command::{Ran, init, ordain, run};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn eval(file: &Path, arguments: &[&str]) -> Ran {
    let mut command = ordain(["models", "eval"]);
    command.arg(file).args(["--model", "rules"]).args(arguments).env_remove("ORDAIN_WORKSPACE");
    run(command)
}

/// Asserts that an example's cases reach their target with the reader, and that the example is left alone.
fn check(name: &str, cases: u64, percent: &str) {
    let ran = eval(&example(name).join("eval.jsonl"), &["--json", "--min", percent]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.json();
    assert!(report["cases"].as_u64().unwrap() >= cases, "{report}");
    assert_eq!(report["model_calls"], 0);
    assert!(!example(name).join(".ordain").exists(), "the example has a state now");
}

#[test]
fn the_reader_answers_the_sunglasses_shop() {
    check("sunglasses", 60, "95");
}

#[test]
fn the_reader_answers_a_shop_of_another_trade() {
    check("bike-parts", 40, "90");
}

#[test]
fn recorded_replies_leave_the_returns_desk_in_its_end_states() {
    let desk = example("returns-desk");
    let replies = format!("replay:{}", desk.join("replies/desk.jsonl").display());
    let mut command = ordain(["models", "eval"]);
    command.arg(desk.join("eval.jsonl")).args(["--model", &replies, "--no-cache"]);
    command.args(["--json", "--min", "100"]).env_remove("ORDAIN_WORKSPACE");
    let ran = run(command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.json();
    assert_eq!((&report["cases"], &report["false_alarms"]), (&40.into(), &0.into()), "{report}");
    assert!(report["calls_each"].as_f64().unwrap() <= 2.2, "{report}");
    assert!(report["model_calls"].as_u64().unwrap() > 50, "{report}");
    assert!(report["change_lines_p50"].as_u64().unwrap() <= 40, "{report}");
}

#[test]
fn a_failure_is_listed_with_what_was_expected_and_what_came() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("cases.jsonl");
    let cases = concat!(
        "{\"request\": \"How much is the Moon?\", \"expect\": {\"answer_contains\": \"$120\", \"unchanged\": true}}\n",
        "{\"request\": \"Buy 2 moons\", \"expect\": {\"diff\": {\"inventory\": {\"SG006\": {\"quantity_in_stock\": [12, 11]}}}}}\n",
    );
    std::fs::write(&file, cases).unwrap();
    let shop = example("sunglasses");
    let workspace = ["--workspace", shop.to_str().unwrap()];
    let ran = eval(&file, &[&workspace[..], &["--runs", "2", "--min", "60"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("cases.jsonl:2: Buy 2 moons"), "{ran:?}");
    assert!(ran.stdout.contains("expected 12 → 11, got 12"), "{ran:?}");
    assert!(ran.stdout.contains("transactions: expected no change, got 1 rows"), "{ran:?}");
    assert!(ran.stdout.contains("right     2 of 4 runs, 50.0 %"), "{ran:?}");
    assert!(ran.stdout.contains("pass^2    50.0 % of 2 cases"), "{ran:?}");
    // The second run of each case needs no new plan.
    assert!(ran.stdout.contains("cache     2 runs"), "{ran:?}");
}

#[test]
fn a_plan_that_is_shared_by_shape_gives_what_a_new_one_would() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("cases.jsonl");
    let cases = concat!(
        "{\"request\": \"Buy 2 moons for customer Alice\", \"expect\": {\"diff\": {\"inventory\": {\"SG006\": {\"quantity_in_stock\": [12, 10]}}, \"transactions\": {\"added\": [{\"customer_name\": \"Alice\", \"transaction_amount\": 240}]}}}}\n",
        "{\"request\": \"Buy 5 aviators for customer Zed\", \"expect\": {\"diff\": {\"inventory\": {\"SG001\": {\"quantity_in_stock\": [23, 18]}}, \"transactions\": {\"added\": [{\"customer_name\": \"Zed\", \"transaction_amount\": 400}]}}}}\n",
        "{\"request\": \"Buy 7 wayfarers for customer Mia\", \"expect\": {\"status\": \"insufficient_stock\", \"unchanged\": true}}\n",
        "{\"request\": \"Any round frames under $100?\", \"expect\": {\"answer_contains\": \"Classic\", \"answer_not_contains\": \"Moon\"}}\n",
        "{\"request\": \"Any square frames under $96?\", \"expect\": {\"answer_contains\": \"Wayfarer\", \"answer_not_contains\": \"Classic\"}}\n",
        "{\"request\": \"Any wraparound frames under $90?\", \"expect\": {\"status\": \"no_match\"}}\n",
    );
    std::fs::write(&file, cases).unwrap();
    let shop = example("sunglasses");
    let ran = eval(&file, &["--workspace", shop.to_str().unwrap(), "--json", "--min", "100"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The two later orders. The plan of a question names the request's own values in its answer, so it serves that
    // question alone.
    assert_eq!(ran.json()["from_cache"], 2, "{ran:?}");
}

#[test]
fn a_malformed_case_is_an_error_with_its_line() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("cases.jsonl");
    std::fs::write(&file, "\n{\"request\": \"a\", \"expect\": {\"stats\": 1}}\n").unwrap();
    let ran = eval(&file, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("line 2: unknown field `stats`"), "{ran:?}");
    let ran = eval(&folder.path().join("none.jsonl"), &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_policy_is_looked_through_for_what_no_plan_can_follow() {
    let (_folder, root) = init("returns-desk");
    let check = || run(ordain(["config", "policy", "--workspace", root.to_str().unwrap()]));
    let clean = check();
    assert_eq!((clean.code, clean.stdout.as_str()), (Some(0), "Nothing was found.\n"), "{clean:?}");
    let policy = std::fs::read_to_string(root.join("policy.md")).unwrap();
    let wrong = "14. Before a refund, call the tool `refund_payment()` and ask for explicit confirmation.\n";
    std::fs::write(root.join("policy.md"), policy + wrong).unwrap();
    let found = check();
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stdout.contains("policy.md:14: `refund_payment()` is no table"), "{found:?}");
    assert!(found.stdout.contains("[no-dialogue]"), "{found:?}");
}

#[test]
fn a_model_is_asked_about_the_policy_and_its_opinions_are_told_apart() {
    let (_folder, root) = init("returns-desk");
    let replies = root.join("opinion.jsonl");
    let opinion = serde_json::json!({ "findings": [{ "rule": 7, "kind": "leaves_open", "problem": "whole lines or pieces?", "hint": "say it" }] });
    let reply = serde_json::json!({ "for": "policy", "expect": { "contains": ["P7: A line can be exchanged"], "system_contains": ["<schema>", "<api>"] }, "reply": opinion.to_string() });
    std::fs::write(&replies, reply.to_string()).unwrap();
    let model = format!("replay:{}", replies.display());
    let check = |more: &[&str]| {
        let mut command =
            ordain(["config", "policy", "--workspace", root.to_str().unwrap(), "--model", &model]);
        command.args(more);
        run(command)
    };
    let found = check(&[]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(
        found.stdout.contains("opinion.jsonl says:\npolicy.md:7: whole lines or pieces? [leaves-open]"),
        "{found:?}"
    );
    let found = check(&["--json"]).json();
    assert_eq!(
        (&found["findings"], &found["opinions"][0]["code"]),
        (&serde_json::json!([]), &"leaves-open".into())
    );
}
