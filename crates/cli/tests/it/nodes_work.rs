//! Every kind of work on nodes of a cluster: files, checks, conversations, limits of keys, runs that go on.

use std::path::Path;
use std::time::Duration;

use ordain_testkit::clock::Clock;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::eventually;
use crate::executor::BUY_ONE;
use crate::nodes::{ENDLESS, Nodes, begin_endless, carries_out_one};
use crate::serve::{Answer, Server, send};

const POST: &str = "POST /v1/requests HTTP/1.1\r\nContent-Type: application/json\r\n";

/// Two nodes, of which the first has no slot left: what it accepts is carried out by the second.
fn busy_and_free(nodes: &Nodes) -> [Server; 2] {
    let busy = nodes.start(0, &["--slots", "1"]);
    begin_endless(&busy);
    assert!(carries_out_one(&busy));
    [busy, nodes.start(1, &["--slots", "2"])]
}

/// Sends work and waits for its end, also on a busy machine.
pub(crate) fn post(node: &Server, path: &str, body: &Value) -> Answer {
    let head = format!("POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: wait=300\r\n");
    send(&node.address, &head, &body.to_string())
}

fn taken(node: &Server) -> bool {
    node.get("/metrics").body.contains("ordain_cluster_taken_total 1\n")
}

#[test]
fn work_whose_profile_no_executor_offers_is_refused_at_once_and_by_name() {
    let nodes = Nodes::new(1, 1);
    let _executor = nodes.executor();
    let node = nodes.start(0, &["--executor", "cluster"]);
    assert!(eventually(|| nodes.status()["executors"].as_array().is_some_and(|all| all.len() == 1)));
    let answer = post(&node, "/v1/exec", &json!({ "code": "print(1)", "profile": "data" }));
    let problem = answer.json();
    assert_eq!((answer.status, &problem["code"]), (501, &json!("not_offered")), "{answer:?}");
    let detail = "no executor takes the job: this executor does not offer the profile `data`, only core";
    assert_eq!(problem["detail"], detail);
    assert!(problem["hint"].as_str().unwrap().contains("ordain executor --profiles core,data"), "{problem}");
    assert!(!node.logged().contains("run failed"), "it is not tried again: {}", node.logged());
}

#[test]
fn files_come_and_go_with_runs_on_any_node() {
    let nodes = Nodes::new(2, 1);
    let [busy, free] = busy_and_free(&nodes);
    let code = "text = files['in.txt'].read_text()\n(artifacts / 'out.txt').write_text(text.upper())";
    let body = json!({ "code": code, "files": [{ "name": "in.txt", "text": "hello" }] });
    let record = post(&busy, "/v1/exec", &body).json();
    assert_eq!(record["state"], "answered", "{record}");
    assert!(taken(&free), "the node without a slot carried it out");
    let run = record["run_id"].as_str().unwrap();
    for node in [&busy, &free] {
        let file = node.get(&format!("/v1/runs/{run}/artifacts/out.txt"));
        assert_eq!((file.status, file.body.as_str()), (200, "HELLO"), "{file:?}");
    }
    let plan = "answer_text = files['text.txt'].read_text().strip()\nSTATUS = 'success'\n(artifacts / 'a.txt').write_text('a')";
    let files = json!([{ "name": "text.txt", "text": "seven" }]);
    let body = json!({ "request": "what does it say?", "plan": plan, "files": files });
    let record = post(&busy, "/v1/code", &body).json();
    assert_eq!(
        (&record["state"], &record["answer"]["text"]),
        (&json!("answered"), &json!("seven")),
        "{record}"
    );
    let run = record["run_id"].as_str().unwrap();
    assert_eq!(busy.get(&format!("/v1/runs/{run}/artifacts/a.txt")).body, "a");
}

#[test]
fn results_of_checks_are_the_same_on_every_node() {
    let nodes = Nodes::new(2, 1);
    let check = json!([{ "check_id": "c", "kind": "range", "target_table": "inventory", "severity": "high",
        "params": { "column": "price", "min": 0 }, "key_columns": ["item_id"] }]);
    for shop in &nodes.shops {
        let folder = Path::new(&shop.root).join("checks");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("checks.json"), check.to_string()).unwrap();
    }
    let servers = nodes.start_all();
    let mut runs = Vec::new();
    for node in servers.iter().cycle().take(4) {
        let report = post(node, "/v1/checks/run", &json!({})).json();
        assert_eq!(report["results"][0]["status"], "PASS", "{report}");
        runs.push(report["run_id"].clone());
    }
    for node in &servers {
        let history = node.get("/v1/checks/c/history").json();
        let seen = history.as_array().unwrap_or_else(|| panic!("{history}"));
        let seen: Vec<Value> = seen.iter().map(|past| past["run_id"].clone()).collect();
        assert!(runs.iter().all(|run| seen.iter().filter(|known| *known == run).count() == 1), "{history}");
    }
}

fn ask(node: &Server, key: Option<&str>, body: &Value) -> Answer {
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    send(&node.address, &format!("{POST}Prefer: respond-async\r\n{key}"), &body.to_string())
}

#[test]
fn turns_of_a_conversation_follow_one_another_on_different_nodes() {
    let nodes = Nodes::new(2, 1);
    let servers = nodes.start_all();
    let turn = |plan: &str| json!({ "request": "my turn", "plan": plan, "conversation": "c" });
    let first = ask(&servers[0], None, &turn(ENDLESS)).json()["run_id"].clone();
    assert!(eventually(|| nodes.status()["working"] == 1), "{}", nodes.status());
    let second = ask(&servers[1], None, &turn(BUY_ONE)).json()["run_id"].clone();
    // What came later and is no turn of the conversation overtakes it.
    let other = post(&servers[1], "/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE })).json();
    assert_eq!(other["state"], "committed", "{other}");
    let status = nodes.status();
    assert_eq!((&status["waiting"], &status["accepted"]), (&json!(0), &json!(2)), "{status}");
    let first = first.as_str().unwrap();
    let cancelled = servers[1].post(&format!("/v1/runs/{first}/cancel"), &json!({}));
    assert_eq!(cancelled.json()["state"], "rolled_back", "{cancelled:?}");
    let place = format!("/v1/runs/{}", second.as_str().unwrap());
    assert!(
        eventually(|| servers[0].get(&place).json()["state"] == "committed"),
        "{}",
        servers[0].get(&place).body
    );
}

#[test]
fn a_key_has_its_runs_at_once_on_all_nodes_together_and_keeps_no_other_waiting() {
    let nodes = Nodes::new(2, 1);
    let key = |arguments: &[&str]| {
        let made = nodes.run(&[&["keys", "--json", "create", "--scope", "run"], arguments].concat()).json();
        made["secret"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let (greedy, modest) = (key(&["--cells", "2"]), key(&[]));
    let servers = [nodes.start(0, &["--require-keys"]), nodes.start(1, &["--require-keys"])];
    let endless = json!({ "request": "count for ever", "plan": ENDLESS });
    for node in &servers {
        assert_eq!(ask(node, Some(&greedy), &endless).status, 202);
    }
    assert!(eventually(|| nodes.status()["accepted"] == 2), "{}", nodes.status());
    for node in &servers {
        let refused =
            send(&node.address, &format!("{POST}Authorization: Bearer {greedy}\r\n"), &endless.to_string());
        assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("cells_limit")), "{refused:?}");
    }
    let bought = ask(&servers[0], Some(&modest), &json!({ "request": "buy one", "plan": BUY_ONE })).json();
    let place = format!("/v1/runs/{}", bought["run_id"].as_str().unwrap());
    assert!(eventually(|| node_get(&servers[1], &place, &modest).json()["state"] == "committed"), "{bought}");
}

#[test]
fn what_a_key_used_at_one_node_counts_at_the_others() {
    let nodes = Nodes::new(2, 1);
    let key = || {
        let made = nodes.run(&["keys", "--json", "create", "--scope", "read", "--requests-per-minute", "1"]);
        made.json()["secret"].as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned()
    };
    let keys = [(); 10].map(|()| key());
    let servers = [nodes.start(0, &["--require-keys"]), nodes.start(1, &["--require-keys"])];
    // Nodes tell each other a moment later; a key that was faster proves nothing, and the next one waits for longer.
    let is_counted = keys.iter().zip(0..).any(|(key, pauses)| {
        assert_eq!(node_get(&servers[0], "/v1/runs", key).status, 200);
        std::thread::sleep(Duration::from_millis(200 * pauses));
        node_get(&servers[1], "/v1/runs", key).status == 429
    });
    assert!(is_counted, "the second node knows nothing of the requests at the first one");
}

fn node_get(node: &Server, path: &str, key: &str) -> Answer {
    send(&node.address, &format!("GET {path} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n"), "")
}

#[test]
fn a_run_that_waited_goes_on_at_another_node() {
    let mut nodes = Nodes::new(2, 1);
    nodes.variables.push(("ORDAIN_MODEL_OTHERS", "replay:outline.jsonl, replay:step.jsonl".to_owned()));
    let [busy, free] = busy_and_free(&nodes);
    let model = |name: &str, replies: &[&str]| {
        let lines: Vec<String> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
        for shop in &nodes.shops {
            std::fs::write(Path::new(&shop.root).join(name), lines.join("\n")).unwrap();
        }
        format!("replay:{name}")
    };
    let outline = json!({ "goal": "count and tell", "steps": [{ "id": "tell", "title": "say how many" }] });
    let outline = model("outline.jsonl", &[&format!("<outline>{outline}</outline>")]);
    let step = "<execute_python>\nanswer_text = f'There are {len(inventory_tbl)} kinds.'\nSTATUS = 'success'\nresult = 1\n</execute_python>";
    let step = model("step.jsonl", &[step]);
    let request = json!({ "request": "Do the whole evening routine and tell me how it went", "model": outline,
        "strategy": "plan", "show_plan": true });
    let waiting = post(&busy, "/v1/requests", &request).json();
    assert_eq!(waiting["state"], "waiting", "{waiting}");
    let place = format!("/v1/runs/{}", waiting["run_id"].as_str().unwrap());
    let done = post(&busy, &format!("{place}/answer"), &json!({ "model": step })).json();
    assert_eq!(done["state"], "answered", "{done}");
    assert_eq!(free.get(&place).json()["answer"], done["answer"]);
}

#[test]
fn a_run_is_offered_again_although_the_clock_of_the_node_that_accepted_it_was_an_hour_ahead() {
    let mut nodes = Nodes::new(2, 1);
    nodes.clocks.push(Clock::new());
    nodes.clocks[0].set_ahead(3600);
    let first = nodes.start(0, &[]);
    let run = begin_endless(&first);
    assert!(carries_out_one(&first), "nobody took it");
    first.running.signal(Signal::KILL);
    // The message is for nodes with the first one's workspace, of which none is left.
    std::fs::write(Path::new(&nodes.shops[1].root).join("policy.md"), "Sell to grown-ups only.\n").unwrap();
    let second = nodes.start(1, &[]);
    // A node is forgotten after a while, and a run is offered again when it was seen twice.
    assert!((0..3).any(|_| carries_out_one(&second)), "the run was not offered again: {}", nodes.status());
    let cancelled = second.post(&format!("/v1/runs/{run}/cancel"), &json!({}));
    assert_eq!(cancelled.json()["state"], "rolled_back", "{cancelled:?}");
}
