//! `ordain verify`.

use std::fs;

use serde_json::Value;

use crate::command::{self, Folder, Ran};

fn ordain(arguments: &[&str], input: &str) -> Ran {
    command::run_with_input(command::ordain(arguments), input.as_bytes())
}

/// The codes of a verdict's findings.
fn codes(verdict: &Value) -> Vec<&str> {
    let findings = verdict["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

/// A workspace with two tables, a helper and a status of its own.
fn workspace() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.join("tables")).expect("a folder");
    folder.file(
        "ordain.toml",
        "[workspace]\nname = \"sunglasses\"\nstatuses = [\"needs_manager\"]\n\n[tables.inventory]\n\
         seed = \"tables/inventory.json\"\nkey = \"item_id\"\n\n[tables.transactions]\nseed = \"tables/transactions.jsonl\"\n\
         key = [\"transaction_id\"]\nappend_only = true\nhidden_columns = [\"card\"]\n\n[limits]\nwall = \"30s\"\n",
    );
    folder.file(
        "tables/inventory.json",
        r#"[{"item_id": "SG001", "name": "Aviator", "description": "Metal", "quantity_in_stock": 23, "price": 80}]"#,
    );
    folder.file(
        "tables/transactions.jsonl",
        "{\"transaction_id\": \"T1\", \"amount\": 500.0, \"timestamp\": \"2025-10-03T09:16:59\", \"card\": \"x\"}\n",
    );
    folder.file("helpers.py", "def current_balance(tbl):\n    return sum(row['amount'] for row in tbl)\n");
    folder
}

#[test]
fn an_accepted_program_is_one_line_and_exit_code_0() {
    let output = ordain(&["verify", "-"], "print(1)\n");
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "accepted: 0 errors, 0 warnings\n"));
    assert_eq!(output.stderr, "");
}

#[test]
fn a_rejected_program_is_shown_with_its_lines_and_exit_code_1() {
    let folder = Folder::new();
    let file = folder.file("plan.py", "import sys\n\nprint(eval('1'), sys)\n");
    let output = ordain(&["verify", &file], "");
    assert_eq!(output.code, Some(1));
    let expected = format!(
        "error[blocked-call]: `eval` may not be used: it runs text as code, which cannot be judged\n --> {file}:3:7\n  |\n\
         3 | print(eval('1'), sys)\n  |       ^^^^\n  = hint: write the expression itself; for data use `json.loads` or \
         `ast.literal_eval`\n\nrejected: 1 error, 0 warnings\n"
    );
    assert_eq!(output.stdout, expected);
}

#[test]
fn the_contract_decides() {
    let code = "import socket\nprint(socket)\n";
    assert_eq!(ordain(&["verify", "-"], code).code, Some(1));
    assert_eq!(ordain(&["verify", "-", "--contract", "open"], code).code, Some(0));
    let output = ordain(&["verify", "-", "--contract", "ask", "--json"], "print(1)");
    let verdict = output.json();
    assert_eq!(output.code, Some(1));
    assert_eq!(verdict["accepted"], false);
    assert_eq!(verdict["file"], "-");
    assert_eq!(codes(&verdict), ["missing-answer", "missing-status"]);
}

#[test]
fn a_workspace_gives_its_tables_helpers_and_statuses() {
    let workspace = workspace();
    let code = "ACTION = 'read'\nprint(current_balance(transactions_tbl))\n\
                rows = inventory_tbl.search(Query().colour == 'red')\nanswer_text = f'{len(rows)}'\nSTATUS = 'needs_manager'\n";
    let output = ordain(&["verify", "-", "--contract", "ask", "--workspace", &workspace.join("")], code);
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("error[unknown-column]: table `inventory` has no column `colour`"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("stdin:3:37"), "{}", output.stdout);
    assert!(output.stdout.contains("the columns are: item_id, name, description, quantity_in_stock, price"));
    assert!(output.stdout.ends_with("rejected: 1 error, 0 warnings\n"), "{}", output.stdout);
}

#[test]
fn what_the_workspace_forbids_is_refused() {
    let workspace = workspace();
    let code = "transactions_tbl.remove()\nprint([row['card'] for row in transactions_tbl])\n\
                answer_text = 'x'\nSTATUS = 'success'\n";
    let output =
        ordain(&["verify", "-", "--contract", "ask", "--json", "--workspace", &workspace.join("")], code);
    let verdict = output.json();
    assert_eq!(codes(&verdict), ["append-only-update", "hidden-column"]);
    assert_eq!(verdict["effects"]["may_write"], true);
}

#[test]
fn fix_changes_the_file_and_says_what_it_did() {
    let workspace = workspace();
    let folder = Folder::new();
    let file = folder.file(
        "plan.py",
        "rows = inventory_tbl.search(Query().Price < 100)\nanswer_text = json.dumps(len(rows))\nStatus = 'success'\n",
    );
    let arguments = ["verify", &file, "--contract", "ask", "--fix", "--workspace", &workspace.join("")];
    let output = ordain(&arguments, "");
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert_eq!(
        fs::read_to_string(&file).expect("the file"),
        "import json\nrows = inventory_tbl.search(Query().price < 100)\nanswer_text = json.dumps(len(rows))\nSTATUS = 'success'\n"
    );
    assert_eq!(
        output.stderr,
        "fixed: line 1: write `price` for `Price` [unknown-column]\nfixed: line 2: add `import json` [missing-import]\n\
         fixed: line 3: rename `Status` to `STATUS` [missing-status]\n"
    );
    assert_eq!(output.stdout, "accepted: 0 errors, 0 warnings\n");
}

#[test]
fn fix_of_stdin_gives_the_code_on_stdout() {
    let output = ordain(&["verify", "-", "--fix"], "print(re.sub('a', 'b', 'c'))\n");
    assert_eq!(output.code, Some(0));
    assert_eq!(output.stdout, "import re\nprint(re.sub('a', 'b', 'c'))\n");
    let output = ordain(&["verify", "-", "--fix", "--json"], "print(re.sub('a', 'b', 'c'))\n");
    let verdict = output.json();
    assert_eq!(verdict["modifications"][0]["title"], "add `import re`");
    assert_eq!(verdict["code"], "import re\nprint(re.sub('a', 'b', 'c'))\n");
}

#[test]
fn what_cannot_be_read_is_exit_code_2_with_a_reason() {
    let folder = Folder::new();
    let output = ordain(&["verify", &folder.join("absent.py")], "");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.starts_with("error: ") && output.stderr.contains("absent.py"), "{}", output.stderr);
    let output = ordain(&["verify", &folder.join("")], "");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("is a folder"), "{}", output.stderr);
    let output = ordain(&["verify", "-", "--workspace", &folder.join("")], "");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("ordain.toml"), "{}", output.stderr);
    let output = ordain(&["verify", "-", "--contract", "asks"], "");
    assert_eq!(output.code, Some(2));
    let output = ordain(&["verify", "-", "--python", "2.7"], "");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("from 3.10 to 3.14"), "{}", output.stderr);
}

#[test]
fn a_wrong_workspace_says_where_and_what() {
    for (toml, says) in
        [("[tables.a]\nsed = \"x\"\n", "sed"), ("[tables.a]\nseed = \"absent.json\"\n", "absent.json")]
    {
        let folder = Folder::new();
        folder.file("ordain.toml", toml);
        let output = ordain(&["verify", "-", "--workspace", &folder.join("")], "");
        assert_eq!(output.code, Some(2), "{toml}");
        assert!(
            output.stderr.starts_with("error: ") && output.stderr.contains(says),
            "{toml}: {}",
            output.stderr
        );
    }
}

#[test]
fn any_bytes_get_a_verdict() {
    let folder = Folder::new();
    let file = folder.file("a.py", b"x = '\xff'\n");
    let output = ordain(&["verify", &file], "");
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("error[not-utf8]"), "{}", output.stdout);
    let file = folder.file("b.py", vec![b'('; 3_000_000]);
    let output = ordain(&["verify", &file], "");
    assert!(output.stdout.contains("error[too-long]"), "{}", output.stdout);
    let output = ordain(&["verify", &file, "--contract", "open"], "");
    assert!(output.stdout.contains("error[too-deep]"), "{}", output.stdout);
    assert!(output.stdout.len() < 2000);
}
