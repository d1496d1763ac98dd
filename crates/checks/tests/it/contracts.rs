//! The contract files, in the shapes that their readers know.

use std::collections::BTreeMap;

use ordain_checks::contracts::{
    PlanPrompt, ROLLUP_LINES_MAX, Workflow, ai_table_summaries, checks_last, checks_rollup, plan_prompt_line,
    schema_cols, workflows,
};
use ordain_checks::import::import_workflows;
use ordain_checks::{Check, CheckStatus};
use ordain_types::{Column, ColumnType, Schema, Table};
use serde_json::{Value, json};

use crate::fixture::{hostile, ordinary};

fn check() -> Check {
    serde_json::from_value(json!({
        "check_id": "CHK-002", "check_name": "Unknown users in events", "target_table": ["events", "users"], "kind": "hint",
        "calculation_hint": "Flag events rows whose user_id is missing from users.", "severity": "medium",
        "owner": "data-quality@company.com", "tags": ["integrity", "join"],
    }))
    .unwrap()
}

#[test]
fn schema_cols_lists_columns_in_order() {
    let column = |name: &str| Column {
        name: name.into(),
        column_type: ColumnType::Text,
        nullable: true,
        hidden: false,
    };
    let table =
        Table { name: "users".into(), columns: vec![column("user_id"), column("email")], ..Table::default() };
    let value: Value = serde_json::from_str(&schema_cols(&Schema { tables: vec![table] })).unwrap();
    assert_eq!(value, json!({"users": ["user_id", "email"]}));
}

#[test]
fn workflows_have_a_plan_and_an_execution_and_are_read_back() {
    let check = check();
    let workflow = Workflow {
        check: &check,
        plan: json!({"intent": "rows missing in another table"}),
        code: "import pandas as pd\n",
        stdout: "3 unknown users",
        has_ended: true,
        status: CheckStatus::Warn,
        summary: "3 unknown users",
        compiled_at: "2026-03-01T08:00:00Z",
        checks_hash: "sha256",
        schema_cols: BTreeMap::from([("events".to_owned(), vec!["user_id".to_owned()])]),
    };
    let text = workflows(&[workflow]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let entries = &value["CHK-002::Unknown users in events"];
    assert_eq!(entries[0]["type"], "plan");
    assert_eq!(entries[0]["artifact"]["intent"], "rows missing in another table");
    assert_eq!(
        entries[0]["compiled_against"],
        json!({"checks_hash": "sha256", "schema_cols": {"events": ["user_id"]}})
    );
    assert_eq!(
        entries[1]["artifact"]["python_repls"][0],
        json!({"python_repl": "import pandas as pd\n", "stdout": "3 unknown users", "exit_code": 0})
    );
    assert_eq!(entries[1]["artifact"]["result"], json!({"status": "WARN", "summary": "3 unknown users"}));
    let imported = import_workflows(&text, Some(&checks_last(std::slice::from_ref(&check)))).unwrap();
    assert_eq!(imported.checks, std::slice::from_ref(&check));
    let whole: Check = serde_json::from_value(json!({
        "check_id": "R", "check_name": "=r", "target_table": ["t"], "kind": "range", "params": {"column": "a", "min": 0},
        "filter": "a > 1", "fail_if": {"percent": 1.5}, "depends_on": ["S"], "blocking": true, "house": {"x": 1},
    }))
    .unwrap();
    let again = import_workflows("{}", Some(&checks_last(std::slice::from_ref(&whole)))).unwrap();
    assert_eq!(again.checks, [whole]);
    assert_eq!(imported.plans[0].code.as_deref(), Some("import pandas as pd\n"));
}

#[test]
fn the_rollup_grows_by_run_and_the_same_run_is_there_once() {
    let report = ordinary();
    let once = checks_rollup("", &report);
    assert_eq!(once.lines().count(), 6);
    assert!(once.contains("run-0007,2026-03-01T08:00:00Z,CHK-002,Few e-mail addresses are missing,users,low,WARN,120,1,0.83,1 of 120"), "{once}");
    assert_eq!(checks_rollup(&once, &report), once);
    let mut next = report.clone();
    next.run_id = "run-0008".to_owned();
    let twice = checks_rollup(&once, &next);
    assert!(twice.starts_with(&once) && twice.lines().count() == 11, "{twice}");
    assert_eq!(checks_rollup("something,else\n1,2\n\"", &report), once);
}

#[test]
fn the_rollup_has_a_limit() {
    let report = ordinary();
    let mut text = checks_rollup("", &report);
    let line = text.lines().nth(1).unwrap().replace("run-0007", "run-0001");
    text += &format!("{line}\n").repeat(ROLLUP_LINES_MAX + 50);
    let text = checks_rollup(&text, &ordinary());
    assert_eq!(text.lines().count(), ROLLUP_LINES_MAX + 1);
    assert!(
        text.ends_with(&checks_rollup("", &report).lines().last().unwrap().to_owned())
            || text.contains("run-0007")
    );
}

#[test]
fn hostile_text_keeps_every_file_readable() {
    let text = checks_rollup(&checks_rollup("", &hostile()), &ordinary());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.records().flatten().count(), 10);
    let line = plan_prompt_line(&PlanPrompt {
        timestamp: "t".into(),
        check_id: "a\nb".into(),
        check_name: String::new(),
        model: "rules".into(),
        prompt: "line\nbreak".into(),
        response: "\u{2028}\"".into(),
        inputs: json!({}),
    });
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(serde_json::from_str::<PlanPrompt>(&line).unwrap().prompt, "line\nbreak");
    let summaries =
        ai_table_summaries(&BTreeMap::from([("users".to_owned(), "who has an account".to_owned())]));
    assert_eq!(serde_json::from_str::<Value>(&summaries).unwrap(), json!({"users": "who has an account"}));
}
