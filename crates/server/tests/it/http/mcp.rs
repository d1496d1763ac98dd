//! The workspace as tools for agents: messages written by hand, and the real client libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use ordain_engine::Planner;
use serde_json::{Value, json};

use super::client::{self, Answer};
use super::clients::run;
use super::world::{BUY, SLOW, Served, served, served_example, served_with};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/clients/mcp");

/// What a client of the newest revision can do.
fn asking() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Sends a message of the newest revision, from a client that can do this.
async fn message(shop: &Served, key: &str, method: &str, mut params: Value, can: &Value) -> Answer {
    let named = params["name"].as_str().or(params["uri"].as_str()).or(params["taskId"].as_str());
    let named = named.map(|name| format!("Mcp-Name: {name}"));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can.clone();
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let method = format!("Mcp-Method: {method}");
    let mut lines = vec!["Content-Type: application/json", "MCP-Protocol-Version: 2026-07-28", key, &method];
    lines.push("Accept: application/json, text/event-stream");
    lines.extend(named.as_deref());
    client::send(shop.address, "POST", "/mcp", &lines, body.to_string().as_bytes()).await
}

/// The result of a message, whether it came as one piece or as events.
fn result(answer: &Answer) -> Value {
    let text = answer.text();
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    let whole: Value =
        serde_json::from_str(last.unwrap_or(&text)).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(whole.get("error").is_none(), "{whole}");
    whole["result"].clone()
}

async fn call(shop: &Served, tool: &str, arguments: Value) -> Value {
    result(&call_as(shop, "X-None: 1", tool, arguments, &json!({})).await)
}

async fn call_as(shop: &Served, key: &str, tool: &str, arguments: Value, can: &Value) -> Answer {
    message(shop, key, "tools/call", json!({ "name": tool, "arguments": arguments }), can).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_gives_the_record_of_a_run_and_its_receipt() {
    let shop = served().await;
    let listed = result(&message(&shop, "X-None: 1", "tools/list", json!({}), &json!({})).await);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ask", "code", "exec", "check", "run", "tables"]);
    let before = shop.stock().await;
    let bought = call(&shop, "ask", json!({ "request": "buy an Aviator", "plan": BUY })).await;
    assert_eq!(bought["structuredContent"]["state"], "committed", "{bought}");
    assert!(text(&bought).starts_with("⟦") && text(&bought).contains("Sold 1 Aviator."), "{bought}");
    assert_eq!(shop.stock().await, before - 1);
    let run = &bought["structuredContent"]["run_id"];
    let undone = call(&shop, "run", json!({ "run": run, "action": "undo" })).await;
    assert_eq!((undone["structuredContent"]["state"].as_str(), shop.stock().await), (Some("undone"), before));
    let shown = call(&shop, "run", json!({ "run": run })).await;
    assert_eq!(shown["structuredContent"]["state"], "undone");
    let files = json!([{ "name": "sales.csv", "text": "item,qty\nclassic,3\nmoon,4\n" }]);
    let counted = call(&shop, "code", json!({ "request": "what is the sum of qty?", "files": files })).await;
    assert!(text(&counted).contains('7'), "{counted}");
    let ledger = shop.get("/v1/ledger?limit=5").await.text();
    assert!(ledger.contains("\"mcp\""), "{ledger}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checks_give_their_report_and_tell_of_each_on_the_way() {
    let quality = served_example("data-quality", Planner::Rules, |_| {}).await;
    let params = json!({ "name": "check", "arguments": { "select": ["severity:high"] },
        "_meta": { "progressToken": "p1" } });
    let answer = message(&quality, "X-None: 1", "tools/call", params, &json!({})).await;
    assert!(answer.text().contains("notifications/progress"), "{}", answer.text());
    let checked = result(&answer);
    let results = checked["structuredContent"]["report"]["results"].as_array().unwrap();
    assert!(!results.is_empty() && checked["isError"] == false, "{checked}");
    let failed = results.iter().find(|result| result["status"] == "FAIL").unwrap();
    assert!(text(&checked).contains(failed["check_id"].as_str().unwrap()), "{checked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_code_left_is_a_resource() {
    let shop = served().await;
    let code = "(artifacts / 'a b.txt').write_text('hello'); (artifacts / 'raw.bin').write_bytes(bytes([0, 255])); print(42)";
    let ran = call(&shop, "exec", json!({ "code": code })).await;
    assert!(text(&ran).contains("stdout:\n42"), "{ran}");
    let links: Vec<&str> =
        ran["content"].as_array().unwrap().iter().filter_map(|block| block["uri"].as_str()).collect();
    assert_eq!(links.len(), 2, "{ran}");
    let listed = result(&message(&shop, "X-None: 1", "resources/list", json!({}), &json!({})).await);
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2, "{listed}");
    let mut seen = Vec::new();
    for uri in links {
        let read =
            result(&message(&shop, "X-None: 1", "resources/read", json!({ "uri": uri }), &json!({})).await);
        let content = &read["contents"][0];
        seen.push(content["text"].as_str().or(content["blob"].as_str()).unwrap().to_owned());
    }
    seen.sort();
    assert_eq!(seen, ["AP8=", "hello"]);
    let missing = json!({ "uri": "ordain://runs/nobody/artifacts/../x" });
    let answer = message(&shop, "X-None: 1", "resources/read", missing, &json!({})).await.text();
    assert!(answer.contains("-32602"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_change_is_asked_about_with_its_diff_and_approved_as_it_was_shown() {
    let shop = served().await;
    let before = shop.stock().await;
    let held = json!({ "request": "buy an Aviator", "plan": BUY, "hold": true });
    let asked = result(&call_as(&shop, "X-None: 1", "ask", held.clone(), &asking()).await);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = asked["inputRequests"]["approve"]["params"]["message"].as_str().unwrap();
    assert!(question.contains("quantity_in_stock=") && question.contains("Waits for approval"), "{question}");
    let answer = |state: &Value, answer: Value| json!({ "name": "ask", "arguments": held, "requestState": state, "inputResponses": { "approve": answer } });
    let yes = json!({ "action": "accept", "content": { "decision": "approve" } });
    let state = &asked["requestState"];
    let run = state.as_str().unwrap().split(':').next().unwrap().to_owned();
    // Another change than the one shown, a bare yes, and a closed question decide nothing.
    let forged = answer(&json!(format!("{run}:{}", "0".repeat(64))), yes.clone());
    let came = message(&shop, "X-None: 1", "tools/call", forged, &asking()).await.text();
    assert!(came.contains("-32602") && came.contains("another change"), "{came}");
    assert_eq!(shop.stock().await, before, "{came}");
    for (state, said, is_error) in [
        (state, json!({ "action": "accept", "content": {} }), true),
        (state, json!({ "action": "cancel" }), false),
    ] {
        let came = result(&message(&shop, "X-None: 1", "tools/call", answer(state, said), &asking()).await);
        assert_eq!(came["isError"], is_error, "{came}");
        assert_eq!(shop.stock().await, before, "{came}");
    }
    let came =
        result(&message(&shop, "X-None: 1", "tools/call", answer(state, yes.clone()), &asking()).await);
    assert_eq!(
        (came["structuredContent"]["state"].as_str(), shop.stock().await),
        (Some("committed"), before - 1)
    );
    // The same answer again changes nothing more.
    let again = result(&message(&shop, "X-None: 1", "tools/call", answer(state, yes), &asking()).await);
    assert_eq!((again["isError"].as_bool(), shop.stock().await), (Some(true), before - 1));
    let no = result(&call_as(&shop, "X-None: 1", "ask", held.clone(), &asking()).await);
    let declined = answer(&no["requestState"], json!({ "action": "decline" }));
    let came = result(&message(&shop, "X-None: 1", "tools/call", declined, &asking()).await);
    assert_eq!(came["structuredContent"]["state"], "rejected", "{came}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_and_verbs_are_listed_and_a_row_tells_its_history() {
    let shop = served().await;
    let listed = call(&shop, "tables", json!({})).await;
    let found = &listed["structuredContent"];
    assert!(found["verbs"].is_array() && text(&listed).contains("quantity_in_stock"), "{listed}");
    let bought = call(&shop, "ask", json!({ "request": "buy an Aviator", "plan": BUY })).await;
    let history = call(&shop, "tables", json!({ "table": "inventory", "key": "SG001" })).await;
    let newest = &history["structuredContent"]["events"][0];
    assert_eq!(newest["run_id"], bought["structuredContent"]["run_id"], "{history}");
    let none = call(&shop, "tables", json!({ "table": "nothing" })).await;
    assert!(none["isError"] == true && text(&none).contains("nothing"), "{none}");
    let by_condition = |condition: &str| format!("/v1/tables/inventory/rows?where={condition}");
    let one = "%7B%22op%22:%22eq%22,%22path%22:%5B%22item_id%22%5D,%22value%22:%22SG001%22%7D";
    assert_eq!(shop.get(&by_condition(one)).await.json()["rows"].as_array().unwrap().len(), 1);
    assert_eq!(shop.get(&by_condition("price")).await.json()["code"], "bad_query");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_cannot_ask_is_told_where_a_person_decides() {
    let shop = served().await;
    let held = call(&shop, "ask", json!({ "request": "buy an Aviator", "plan": BUY, "hold": true })).await;
    let run = held["structuredContent"]["run_id"].as_str().unwrap();
    assert_eq!(held["structuredContent"]["state"], "held");
    assert!(text(&held).contains(&format!("http://localhost/runs/{run}")), "{held}");
    let said = held["structuredContent"]["answer"]["text"].as_str().unwrap();
    assert!(
        text(&held).contains(said) && said.starts_with("Nothing is changed until it is approved; then: "),
        "not told as done: {held}"
    );
    assert_eq!(shop.get(&format!("/v1/runs/{run}")).await.json()["answer"]["text"], said);
    let decided = call(&shop, "run", json!({ "run": run, "action": "approve" })).await;
    assert_eq!(decided["structuredContent"]["state"], "committed", "{decided}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scopes_hold_for_tools_as_for_routes() {
    let shop = served_with(|options| options.keys_required = true).await;
    let key = async |scope: &str| shop.key(|new| new.scopes = vec![scope.to_owned()]).await.1;
    let (read, running, approving) = (key("read").await, key("run").await, key("approve").await);
    let unknown = message(&shop, "X-None: 1", "tools/list", json!({}), &json!({})).await;
    assert_eq!((unknown.status, unknown.problem().as_str()), (401, "key_missing"));
    let held = json!({ "request": "buy an Aviator", "plan": BUY, "hold": true });
    for (tool, arguments) in [("ask", held.clone()), ("exec", json!({ "code": "1" })), ("check", json!({}))] {
        for key in [&read, &approving] {
            let refused = result(&call_as(&shop, key, tool, arguments.clone(), &asking()).await);
            assert_eq!(refused["structuredContent"]["code"], "scope_missing", "{refused}");
        }
    }
    // A key that may not approve is not asked, even if its client could.
    let waits = result(&call_as(&shop, &running, "ask", held, &asking()).await);
    assert_eq!(waits["structuredContent"]["state"], "held", "{waits}");
    let run = waits["structuredContent"]["run_id"].clone();
    for action in ["approve", "reject", "undo"] {
        let about = json!({ "run": run, "action": action });
        let refused = result(&call_as(&shop, &running, "run", about, &json!({})).await);
        assert_eq!(refused["structuredContent"]["code"], "scope_missing", "{refused}");
    }
    let unseen = result(&call_as(&shop, &read, "run", json!({ "run": run }), &json!({})).await);
    assert_eq!(unseen["isError"], true, "{unseen}");
    let about = json!({ "run": run, "action": "approve" });
    let done = result(&call_as(&shop, &approving, "run", about, &json!({})).await);
    assert_eq!(done["structuredContent"]["state"], "committed", "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_run_is_a_task_under_its_own_id_and_can_be_cancelled() {
    let shop = served().await;
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let slow = json!({ "request": "sell for long", "plan": SLOW });
    let begun = result(&call_as(&shop, "X-None: 1", "ask", slow, &tasks).await);
    assert_eq!(
        (begun["resultType"].as_str(), begun["status"].as_str()),
        (Some("task"), Some("working")),
        "{begun}"
    );
    let about = json!({ "taskId": begun["taskId"] });
    let task = result(&message(&shop, "X-None: 1", "tasks/get", about.clone(), &tasks).await);
    assert_eq!(task["status"], "working", "{task}");
    result(&message(&shop, "X-None: 1", "tasks/cancel", about.clone(), &tasks).await);
    let task = result(&message(&shop, "X-None: 1", "tasks/get", about, &tasks).await);
    assert_eq!(task["status"], "cancelled", "{task}");
    let run = shop.get(&format!("/v1/runs/{}", begun["taskId"].as_str().unwrap())).await.json();
    assert_eq!(run["state"], "rolled_back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_cancels_its_call() {
    let shop = served().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        { "name": "ask", "arguments": { "request": "sell for long", "plan": SLOW } } });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(shop.address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
    let running = async || shop.get("/v1/runs?limit=1").await.json()["runs"][0].clone();
    while running().await["state"] != "running" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    drop(stream);
    while running().await["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(running().await["error"]["code"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_calls_are_named_and_nothing_runs() {
    let shop = served().await;
    for (tool, arguments, part) in [
        ("ask", json!({}), "request"),
        ("ask", json!({ "request": "x", "colour": 1 }), "colour"),
        ("ask", json!({ "request": "x", "hold": true, "dry_run": true }), "nothing to hold"),
        ("exec", json!({ "code": "1", "profile": "huge" }), "there is no profile"),
        ("exec", json!({ "code": "1", "files": [{ "name": "a" }] }), "content_base64"),
        ("exec", json!({ "code": "1", "policy": "open" }), "open"),
        ("check", json!({}), "there is no check file"),
        ("check", json!({ "select": ["nonsense:1"] }), "/select/0"),
        ("run", json!({ "run": "nobody" }), "nobody"),
        ("run", json!({ "run": "nobody", "action": "delete" }), "action"),
    ] {
        let refused = call(&shop, tool, arguments).await;
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused["content"].to_string().contains(part), "{part}: {refused}");
    }
    let unknown = call_as(&shop, "X-None: 1", "drop_tables", json!({}), &json!({})).await.text();
    assert!(unknown.contains("-32602") && unknown.contains("ask, code, exec, check, run"), "{unknown}");
    let lines = ["Content-Type: application/json", "Accept: application/json, text/event-stream"];
    for body in ["", "{", "[]", "[[[[", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}"] {
        let answer = client::send(shop.address, "POST", "/mcp", &lines, body.as_bytes()).await;
        assert!((400..500).contains(&answer.status), "{body}: {} {}", answer.status, answer.text());
    }
    let get = client::send(shop.address, "GET", "/mcp", &lines[1..], b"").await;
    assert_eq!(get.status, 405);
    let foreign = client::send(shop.address, "POST", "/mcp", &["Origin: https://evil.example"], b"{}").await;
    assert_eq!(foreign.status, 403, "{}", foreign.text());
    assert_eq!(shop.get("/v1/runs").await.json()["runs"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_further_run_goes_on_from_another_one_over_http_and_mcp() {
    let shop = served().await;
    let first = json!({ "request": "count", "plan": "answer_text = 'forty-two'\nSTATUS = 'success'\n" });
    let first = shop.post("/v1/requests", &first).await.json()["run_id"].as_str().unwrap().to_owned();
    let plan = "answer_text = 'it was ' + inputs['earlier']['answer']\nSTATUS = 'success'\n";
    let further = json!({ "request": "and then?", "plan": plan, "continues": first });
    let over_mcp = call(&shop, "ask", further.clone()).await["structuredContent"].clone();
    for record in [shop.post("/v1/requests", &further).await.json(), over_mcp] {
        assert_eq!(record["continues"], json!(first), "{record}");
        assert_eq!(record["answer"]["text"], "it was forty-two", "{record}");
    }
    let held = json!({ "request": "buy 2 pairs of Aviator", "hold": true });
    let held = shop.post("/v1/requests", &held).await.json()["run_id"].as_str().unwrap().to_owned();
    for (run, status, said) in [(held.as_str(), 422, "is held"), ("nope", 404, "nope")] {
        let answer = shop.post("/v1/requests", &json!({ "request": "and then?", "continues": run })).await;
        assert!(
            answer.status == status && answer.text().contains(said),
            "{} {}",
            answer.status,
            answer.text()
        );
    }
    // A run that a key may not see is not there for it either.
    let (_, key) = shop.key(|_| {}).await;
    let body = json!({ "request": "and then?", "continues": first });
    assert_eq!(shop.post_with("/v1/requests", &[&key], &body).await.status, 404);
}

/// A Python with the library.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python_mcp");
    ordain_testkit::clients::python(&folder, "import mcp", &format!("{FOLDER}/requirements.txt"))
}

/// The programs for Node: Node itself, the inspector and the conformance suite.
fn node() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("node_mcp");
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/package.json");
    ordain_testkit::clients::node(&folder, package)
}

/// Runs one of the programs for Node against the shop.
pub(super) async fn run_node(shop: &Served, program: &str, arguments: &[&str]) -> Option<String> {
    let programs = tokio::task::spawn_blocking(node).await.unwrap()?;
    let mut command = Command::new(programs.join("node"));
    command.arg(if program.contains('/') { PathBuf::from(program) } else { programs.join(program) });
    command.args(arguments).env("ORDAIN_MCP", format!("http://{}/mcp", shop.address));
    Some(run(shop, command).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_library_asks_approves_and_undoes_over_both_revisions() {
    let shop = served().await;
    let Some(python) = tokio::task::spawn_blocking(python).await.unwrap() else { return };
    for (mode, revision, approves) in [("auto", "2026-07-28", true), ("legacy", "2025-11-25", false)] {
        let mut command = Command::new(&python);
        command.arg(format!("{FOLDER}/agent.py")).env("ORDAIN_MCP_MODE", mode);
        command.env("ORDAIN_MCP", format!("http://{}/mcp", shop.address));
        // Without a session there is no way to ask an older client over HTTP: its change stays held.
        let printed = run(&shop, command).await;
        assert!(printed.contains(&format!("revision {revision}")), "{printed}");
        // The second time the plan is a kept one, and there is nothing to tell on the way.
        assert_eq!(printed.contains("stage: planning"), approves, "{printed}");
        assert_eq!(printed.contains("committed then undone"), approves, "{printed}");
        assert!(
            printed.contains("file: from a cell") && printed.contains("error the call is not"),
            "{printed}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_typescript_library_asks_approves_and_undoes() {
    let shop = served().await;
    let Some(programs) = tokio::task::spawn_blocking(node).await.unwrap() else { return };
    // A module is looked for beside the program that imports it.
    let program = programs.join("../../agent.mjs");
    std::fs::copy(format!("{FOLDER}/agent.mjs"), &program).unwrap();
    let printed = run_node(&shop, program.to_str().unwrap(), &[]).await.unwrap();
    assert!(printed.contains("tools ask code exec check run tables"), "{printed}");
    assert!(
        printed.contains("Approve this change?") && printed.contains("committed then undone"),
        "{printed}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_lists_and_calls() {
    let shop = served().await;
    let url = format!("http://{}/mcp", shop.address);
    let ask = ["--cli", &url, "--transport", "http", "--method", "tools/call", "--tool-name", "ask"];
    let ask = [&ask[..], &["--tool-arg", "request=Do you have Moon sunglasses?"]].concat();
    let Some(printed) = run_node(&shop, "mcp-inspector", &ask).await else { return };
    let result: Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert_eq!(result["structuredContent"]["state"], "answered", "{printed}");
}

/// What the official suite can try without tools of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_passes_what_needs_no_tools_of_its_own() {
    let shop = served().await;
    let url = format!("http://{}/mcp", shop.address);
    for scenario in [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
    ] {
        let arguments = ["server", "--url", &url, "--scenario", scenario];
        let Some(printed) = run_node(&shop, "conformance", &arguments).await else { return };
        assert!(printed.contains(", 0 failed, 0 warnings"), "{scenario}: {printed}");
    }
}

/// What the suite finds wrong of the newest revision is about things that this server does not claim to have: tools that
/// belong to the suite, and prompts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_finds_nothing_wrong_with_what_is_claimed_of_the_newest_revision() {
    let shop = served().await;
    let Some(programs) = tokio::task::spawn_blocking(node).await.unwrap() else { return };
    let found = tempfile::tempdir().unwrap();
    for scenario in ["server-stateless", "caching", "input-required-result-unsupported-methods"] {
        let mut command = Command::new(programs.join("node"));
        command.arg(programs.join("conformance")).args(["server", "--scenario", scenario, "--url"]);
        command.arg(format!("http://{}/mcp", shop.address)).arg("-o").arg(found.path());
        command.env("NO_PROXY", "127.0.0.1");
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    }
    let mut passed = 0;
    for folder in std::fs::read_dir(found.path()).unwrap() {
        let checks = std::fs::read_to_string(folder.unwrap().path().join("checks.json")).unwrap();
        for check in serde_json::from_str::<Vec<Value>>(&checks).unwrap() {
            let why = check["errorMessage"].as_str().unwrap_or_default();
            let is_claimed = !why.starts_with("Not testable") && !why.starts_with("prompts/list");
            assert!(check["status"] != "FAILURE" || !is_claimed, "{check:#}");
            passed += u32::from(check["status"] == "SUCCESS");
        }
    }
    assert!(passed >= 25, "{passed}");
}

/// The tokens are counted by a rule that needs no model: one for every four bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_figures_have_the_size_of_the_list_of_tools() {
    let shop = served().await;
    let listed = result(&message(&shop, "X-None: 1", "tools/list", json!({}), &json!({})).await);
    let read = |tool: &Value| {
        let [name, description, takes] = ["name", "description", "inputSchema"].map(|part| &tool[part]);
        json!({ "name": name, "description": description, "inputSchema": takes }).to_string().len()
    };
    let read: usize = listed["tools"].as_array().unwrap().iter().map(read).sum();
    let size = format!(
        "The list of MCP tools has {} bytes, of which models usually read {read} (names, descriptions, arguments): {} \
         tokens at four bytes each.",
        listed["tools"].to_string().len(),
        read.div_ceil(4)
    );
    let page = std::fs::read_to_string(format!("{FOLDER}/../../../docs/benchmarks.md")).unwrap();
    assert!(page.contains(&size), "docs/benchmarks.md should say: {size}");
}

#[test]
fn the_page_shows_the_clients_that_are_tested() {
    let page = std::fs::read_to_string(format!("{FOLDER}/../../../docs/mcp.md")).unwrap();
    for name in ["agent.py", "agent.mjs"] {
        assert!(page.contains(&std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()), "{name}");
    }
}
