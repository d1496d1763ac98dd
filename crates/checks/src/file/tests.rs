//! Check files as people write them, rightly and wrongly.

use serde_json::json;

use super::*;
use crate::check::Severity;

fn read(text: &str) -> CheckFiles {
    let mut files = CheckFiles::default();
    files.read("checks/checks.json", text);
    files.finish();
    files
}

/// What is wrong, each as `line: message (hint)`.
fn told(text: &str) -> Vec<String> {
    let say = |problem: &Problem| {
        format!("{}: {} ({})", problem.line, problem.message, problem.hint.as_deref().unwrap_or(""))
    };
    read(text).problems.iter().map(say).collect()
}

#[test]
fn a_record_as_data_teams_write_it_is_read() {
    let files = read(
        r#"// the rules
        [{"check_id": "CHK-002", "check_name": "Unknown users in events", "target_table": "events,users",
          "calculation_hint": "Flag events rows whose user_id is missing from users.", "severity": "medium",
          "enabled": true, "owner": "data-quality@company.com", "tags": ["integrity", "join"],
          "key_columns": {"events": ["event_id"]}, "fail_if": "failed_pct > 1", "runbook": "https://x"},]"#,
    );
    assert_eq!(files.problems, []);
    let entry = &files.entries[0];
    assert_eq!((entry.line, entry.check.kind.name()), (2, "hint"));
    assert_eq!(entry.check.target_table, ["events", "users"]);
    assert_eq!(entry.check.key_columns, ["event_id"]);
    assert_eq!(entry.check.severity, Severity::Medium);
    assert_eq!(entry.check.fail_if.unwrap().percent, Some(1.0));
    assert_eq!(entry.check.unknown["runbook"], json!("https://x"), "unknown fields are kept");
}

#[test]
fn every_slip_of_the_pen_is_told_with_its_line_and_the_nearest_name() {
    assert_eq!(
        told(
            "[\n {\"check_id\": \"a\",\n  \"kind\": \"not_nul\",\n  \"target_table\": \"t\",\n  \"severity\": \"hihg\"}\n]"
        ),
        [
            "3: there is no kind `not_nul` (did you mean `not_null`?)",
            "5: `hihg` is no severity (did you mean `high`?)"
        ]
    );
    assert_eq!(
        told(
            "[{\"check_id\": \"a\", \"kind\": \"row_count\", \"params\": {\"min\": 1}, \"target_table\": \"t\",\n\"severty\": \"high\"}]"
        ),
        ["2: `severty` is no field of a check (did you mean `severity`?)"]
    );
    assert_eq!(told("[{\"kind\": \"unique\", \"target_table\": 3.5, \"tags\": {}}]").len(), 4);
    assert_eq!(told("[1]"), ["1: a check is a record, not a number (write {\"check_id\": …})"]);
    assert_eq!(
        told("[\n{\"a\": 1\n\"b\": 2}]"),
        ["3: a `,` or `}` is missing here (separate the members of a record by commas)"]
    );
    assert_eq!(told(""), ["1: the text ends where a value must be (close every bracket and quote)"]);
    assert_eq!(told("[\"abc"), ["1: a text does not end in its line (close the double quote)"]);
    assert_eq!(told(&"[".repeat(1000)).len(), 1, "depth is bounded");
}

#[test]
fn checks_of_one_id_unknown_dependencies_and_circles_are_told() {
    let check = |id: &str, on: &str| {
        format!(
            "{{\"check_id\": \"{id}\", \"kind\": \"row_count\", \"params\": {{\"min\": 1}}, \"target_table\": \"t\", \"depends_on\": \"{on}\"}}"
        )
    };
    assert_eq!(
        told(&format!("[{},\n{}]", check("a", ""), check("a", ""))),
        ["2: `a` is the id of another check too, at checks/checks.json:1 (give each check an id of its own)"]
    );
    assert_eq!(told(&format!("[{}]", check("abc", "abd"))).len(), 1);
    assert_eq!(
        told(&format!("[{}]", check("a", "a"))),
        ["1: it depends on itself (take one of them out of `depends_on`)"]
    );
    let circle = told(&format!("[{},{},{}]", check("a", "b"), check("b", "c"), check("c", "a")));
    assert_eq!(circle.len(), 1, "{circle:?}");
}

#[test]
fn adding_a_check_leaves_every_byte_that_was_there() {
    let added = [json!({"check_id": "new"})];
    let same = |text: &str| text.split_whitespace().collect::<String>();
    for (text, expected) in [
        ("[]", "[NEW]"),
        (
            "[\n  // first\n  {\"check_id\": \"a\", \"x\": [1]}\n]\n",
            "[// first {\"check_id\": \"a\", \"x\": [1]}, NEW]",
        ),
        ("[\n  {\"check_id\": \"a\"}, // why\n]\n", "[{\"check_id\": \"a\"}, // why NEW]"),
        ("[\n  {\"check_id\": \"a\"} // why\n]\n", "[{\"check_id\": \"a\"}, // why NEW]"),
        (
            "{\"owner\": \"me\", \"checks\": [ {\"check_id\": \"a\"} ], \"more\": 1}",
            "{\"owner\": \"me\", \"checks\": [ {\"check_id\": \"a\"}, NEW ], \"more\": 1}",
        ),
        ("", "[NEW]"),
    ] {
        let longer = append(text, &added).unwrap();
        assert_eq!(same(&longer), same(&expected.replace("NEW", "{\"check_id\": \"new\"}")));
        let root = json::parse(&longer).unwrap_or_else(|error| panic!("{error:?}: {longer}")).to_value();
        let list = root.get("checks").unwrap_or(&root).as_array().unwrap().clone();
        assert_eq!(list.last().unwrap(), &added[0], "{longer}");
    }
    assert_eq!(append("17", &added), None);
}

#[test]
fn a_field_is_changed_and_the_rest_of_the_file_stays() {
    let text = "[\n  // the first\n  {\"check_id\": \"a\", \"kind\": \"unique\"},\n  {\n    \"check_id\": \"b\", // keep\n    \
                \"severity\": \"low\",\n    \"params\": { \"max\" : 5 } // five\n  }\n]\n";
    let fields = |value: serde_json::Value| value.as_object().unwrap().clone();
    let same = fields(json!({"severity": "low", "params": {"max": 5}, "owner": null}));
    assert_eq!(change(text, "b", &same).as_deref(), Some(text));
    let other =
        fields(json!({"severity": "high", "params": {"max": 7, "of": ["x", "y"]}, "owner": "ada \"x\""}));
    let expected = text.replace("\"low\"", "\"high\"").replace(
        "{ \"max\" : 5 } // five",
        "{\"max\": 7, \"of\": [\"x\", \"y\"]}, // five\n    \"owner\": \"ada \\\"x\\\"\"",
    );
    assert_eq!(change(text, "b", &other).unwrap(), expected);
    let short = change(text, "a", &fields(json!({"owner": "bob"}))).unwrap();
    assert_eq!(read(&short).entries.len(), 0, "no table is named, which the change left as it was");
    assert!(short.contains("\"owner\": \"bob\"") && short.contains("// the first"), "{short}");
    assert_eq!(change(text, "c", &same), None);
    assert_eq!(
        change("{\"check_id\": \"a\"}", "a", &fields(json!({"owner": "bob"})))
            .unwrap()
            .matches("bob")
            .count(),
        1
    );
}

#[test]
fn ten_thousand_checks_are_read() {
    let records: Vec<String> = (0..10_000)
        .map(|n| format!("{{\"check_id\": \"c{n}\", \"kind\": \"row_count\", \"params\": {{\"min\": 1}}, \"target_table\": \"t\"}}"))
        .collect();
    let files = read(&format!("[{}]", records.join(",\n")));
    assert_eq!((files.entries.len(), files.problems.len()), (10_000, 0));
    assert_eq!(files.entries[9_999].line, 10_000);
}

#[test]
fn yaml_is_read_with_the_lines_of_its_slips() {
    let text = "# rules\n- check_id: a\n  kind: unique\n  target_table: users\n  params:\n    columns: [email]\n\
                - check_id: b\n  kind: unik\n  target_table: [users]\n  severity: high\n";
    let mut files = CheckFiles::default();
    files.read("checks/more.yaml", text);
    assert_eq!(files.entries.len(), 1);
    assert_eq!(
        (files.entries[0].line, files.entries[0].check.params["columns"].clone()),
        (2, json!(["email"]))
    );
    let problem = &files.problems[0];
    assert_eq!((problem.line, problem.check_id.as_deref()), (8, Some("b")), "{problem:?}");
    let mut broken = CheckFiles::default();
    broken.read("checks/more.yml", "a: [1,\nb: }");
    assert_eq!(broken.problems.len(), 1);
}

#[test]
fn a_check_is_taken_out_and_the_rest_stays_as_it_is() {
    let text = "// ours\n[\n  {\"check_id\": \"a\"}, // first\n  // about b\n  {\"check_id\": \"b\"},\n  {\"check_id\": \"c\"} // last\n]\n";
    let without = |id: &str| super::remove(text, id).unwrap();
    let (first, second) = ("  {\"check_id\": \"a\"}, // first\n  // about b\n", "  {\"check_id\": \"b\"},\n");
    assert_eq!(without("a"), text.replace("{\"check_id\": \"a\"}, // first", " // first"));
    assert_eq!(without("b"), text.replace(second, ""));
    let last = without("c");
    assert!(
        last.contains(first) && last.contains("{\"check_id\": \"b\"} ") && last.contains("// last"),
        "{last}"
    );
    assert!(super::json::parse(&last).is_ok(), "{last}");
    assert_eq!(super::remove("[{\"check_id\": \"a\"},]", "a").as_deref(), Some("[]"));
    assert_eq!(super::remove(text, "d"), None);
    assert_eq!(super::remove("{\"check_id\": \"a\"}", "a"), None, "there would be no list left");
}

#[test]
fn a_record_that_can_never_run_does_not_validate() {
    for (kind, params, wanted) in [
        ("range", r#"{"column": "v"}"#, "`range` has none of the parameters min, max"),
        (
            "unique",
            r#"{"columns": ["v"], "when": "v > 1000"}"#,
            "the parameter `when` of `unique` is \"v > 1000\"",
        ),
    ] {
        let record = format!(
            r#"[{{"check_id": "A", "check_name": "a", "target_table": "t", "kind": "{kind}", "params": {params}}}]"#
        );
        let told = told(&record);
        assert!(told.iter().any(|problem| problem.contains(wanted)), "{told:?}");
    }
}
