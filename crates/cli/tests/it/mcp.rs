//! `ordain mcp`, the real binary, spoken to over its stdin and stdout.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::command::{ordain, run, run_with_input};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/clients/mcp");

fn shop(folder: &Path) -> String {
    let shop = folder.join("shop").to_str().unwrap().to_owned();
    let made = run(ordain(["init", "--example", "sunglasses", &shop]));
    assert_eq!(made.code, Some(0), "{made:?}");
    shop
}

/// The answers to calls of `run`'s tools, sent all at once; then the client leaves.
fn talk(shop: &str, calls: &[Value]) -> Vec<Value> {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    let line = |(id, call): (usize, &Value)| {
        let mut params = call.clone();
        params["_meta"] = meta.clone();
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    let input: String = calls.iter().enumerate().map(line).collect();
    let ran = run_with_input(ordain(["mcp", "--model", "rules", "-w", shop]), input.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_agent_on_this_machine_may_not_approve_its_own_change_unless_it_is_let() {
    let folder = tempfile::tempdir().unwrap();
    let shop = shop(folder.path());
    let held = json!({ "request": "Purchase 2 Wayfarer sunglasses for customer Alice.", "hold": true });
    let answers = talk(&shop, &[json!({ "name": "ask", "arguments": held })]);
    let result = &answers[0]["result"];
    assert_eq!(result["structuredContent"]["state"], "held", "{answers:?}");
    let run_id = result["structuredContent"]["run_id"].as_str().unwrap();
    assert!(result["content"][0]["text"].as_str().unwrap().contains(&format!("ordain approve {run_id}")));
    let answers =
        talk(&shop, &[json!({ "name": "run", "arguments": { "run": run_id, "action": "approve" } })]);
    assert_eq!(answers[0]["result"]["structuredContent"]["code"], "scope_missing", "{answers:?}");
    let approved = run(ordain(["approve", run_id, "-w", &shop]));
    assert_eq!(approved.code, Some(0), "{approved:?}");
}

#[test]
fn a_client_that_says_nothing_or_nonsense_is_left_in_peace() {
    let folder = tempfile::tempdir().unwrap();
    let shop = shop(folder.path());
    assert_eq!(talk(&shop, &[]).len(), 0);
    let ran = run_with_input(ordain(["mcp", "--model", "rules", "-w", &shop]), b"hello\n{\n\xff\xfe\n");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
}

#[test]
fn the_python_library_asks_approves_and_undoes_over_stdin_with_both_revisions() {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python_mcp");
    let requirements = format!("{FOLDER}/requirements.txt");
    let Some(python) = ordain_testkit::clients::python(&tools, "import mcp", &requirements) else { return };
    let folder = tempfile::tempdir().unwrap();
    let shop = shop(folder.path());
    let server = format!("{} mcp --approve --model rules -w {shop}", env!("CARGO_BIN_EXE_ordain"));
    for (mode, revision) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut command = Command::new(&python);
        command.arg(format!("{FOLDER}/agent.py")).env("ORDAIN_MCP", &server).env("ORDAIN_MCP_MODE", mode);
        let ran = run(command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(&format!("revision {revision}")), "{ran:?}");
        assert!(ran.stdout.contains("committed then undone"), "{ran:?}");
    }
}

/// The official suite plays servers, and a program of the shell calls their first verb through a workspace.
#[test]
fn the_conformance_suite_finds_a_client_of_the_newest_revision() {
    let programs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("node_mcp");
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/mcp/package.json");
    let Some(programs) = ordain_testkit::clients::node(&programs, package) else { return };
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("client.sh");
    let script = format!(
        "#!/bin/sh\nset -e\nfor url; do :; done\nexport ORDAIN_WORKSPACE=$(mktemp -d {0}/XXXXXX)/w\n\
         export ORDAIN_TRUST=$ORDAIN_WORKSPACE\n{1} init $ORDAIN_WORKSPACE\n{1} tools add suite --url $url\n\
         {1} tools review suite --accept\nif [ -n \"$VERB\" ]; then {1} tools call suite $VERB '{{\"a\": 5, \"b\": 3}}'; fi\n",
        folder.path().display(),
        env!("CARGO_BIN_EXE_ordain"),
    );
    std::fs::write(&client, script).unwrap();
    for (scenario, verb) in [
        ("initialize", ""),
        ("tools_call", "add_numbers"),
        ("http-standard-headers", ""),
        ("json-schema-ref-no-deref", ""),
        ("request-metadata", ""),
    ] {
        let mut command = Command::new(programs.join("node"));
        command.arg(programs.join("conformance")).args(["client", "--scenario", scenario, "--command"]);
        command.arg(format!("sh {}", client.display())).env("VERB", verb).env("NO_PROXY", "127.0.0.1");
        let ran = run(command);
        assert!(ran.stderr.contains(", 0 failed, 0 warnings"), "{scenario}: {ran:?}");
        assert!(!ran.stderr.contains("Passed: 0/0"), "{scenario}: {ran:?}");
    }
}
