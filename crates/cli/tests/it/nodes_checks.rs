//! One run of checks on several nodes of a cluster.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::mpsc;

use ordain_testkit::postgres;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::bought;
use crate::command::{Running, eventually, ordain};
use crate::executor::Shop;
use crate::nodes::Nodes;
use crate::serve::{Answer, Server, send};

const CHECKS: usize = 400;

/// Goes on for ever while nothing was bought.
const GATE: &str = "\
total = 0
if all(row['quantity_in_stock'] == 200 for row in inventory_tbl.all()):
    for number in range(10**12):
        total += number
result = {'status': 'PASS', 'summary': 'open', 'evaluated': 1, 'failed': 0}
";

/// Many checks of a table from a file, every tenth of which finds failing rows. Those at both ends read the store, and wait there.
fn write_checks(shop: &Shop) {
    let root = Path::new(&shop.root);
    let mut rows = "n,amount\n".to_owned();
    for n in 0..100 {
        writeln!(rows, "{n},{}", n * 2).unwrap();
    }
    std::fs::create_dir_all(root.join("data")).unwrap();
    std::fs::write(root.join("data/numbers.csv"), rows).unwrap();
    let _ = std::fs::remove_dir_all(root.join("checks"));
    std::fs::create_dir_all(root.join("checks")).unwrap();
    let gate = |id: &str| json!({ "check_id": id, "kind": "python", "target_table": "inventory", "params": { "code": GATE } });
    let range = |at: usize| {
        let most = if at.is_multiple_of(10) { 197 } else { 198 + at };
        json!({ "check_id": format!("m{at:04}"), "kind": "range", "target_table": "numbers", "severity": "high",
            "key_columns": ["n"], "params": { "column": "amount", "min": 0, "max": most } })
    };
    let mut checks: Vec<Value> = (0..CHECKS).map(range).collect();
    checks.insert(0, gate("a-gate"));
    checks.push(gate("z-gate"));
    std::fs::write(root.join("checks/checks.json"), json!(checks).to_string()).unwrap();
}

fn figure(node: &Server, name: &str) -> u64 {
    let metrics = node.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

fn parts_taken(nodes: &[Server]) -> Vec<u64> {
    nodes.iter().map(|node| figure(node, "ordain_cluster_parts_total")).collect()
}

/// Runs all checks once, however often it is asked.
fn run_checks(node: &Server, prefer: &str) -> Answer {
    let head = "POST /v1/checks/run HTTP/1.1\r\nContent-Type: application/json\r\nIdempotency-Key: once\r\n";
    send(&node.address, &format!("{head}Prefer: {prefer}\r\n"), "{}")
}

/// Waits also for what takes long on a busy machine.
fn patiently(mut holds: impl FnMut() -> bool) -> bool {
    (0..10).any(|_| eventually(&mut holds))
}

#[test]
fn a_run_of_many_checks_is_judged_by_all_nodes_and_goes_on_after_they_were_killed() {
    let nodes = Nodes::new(2, 1);
    nodes.shops.iter().for_each(write_checks);
    let postgres = postgres::Server::shared();
    let kept = |beginning: &str| {
        let sql = format!("SELECT count(*) FROM ordain.files WHERE part = 0 AND name LIKE '{beginning}/%'");
        postgres.psql(nodes.url(), &sql).trim().parse::<u64>().unwrap()
    };
    let servers = nodes.start_all();
    assert!(eventually(|| nodes.status()["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2)));
    let begun = run_checks(&servers[0], "respond-async");
    assert_eq!(begun.status, 202, "{begun:?}");
    let run = begun.json()["run_id"].as_str().unwrap().to_owned();
    // Each node stands before one gate, and cannot take the other.
    assert!(
        patiently(|| kept("part") > 2 && kept("judged") == kept("part") - 2),
        "{} of {} parts are judged",
        kept("judged"),
        kept("part")
    );
    let parts = kept("part");
    assert!(parts_taken(&servers).iter().all(|taken| *taken > 0), "{:?}", parts_taken(&servers));
    assert_eq!(parts_taken(&servers).iter().sum::<u64>(), parts);
    let addresses: Vec<&str> = servers.iter().map(|server| server.address.as_str()).collect();
    bought(&addresses, "opens the gates");
    for server in &servers {
        server.running.signal(Signal::KILL);
    }
    drop(servers);

    let servers = nodes.start_all();
    let place = format!("/v1/runs/{run}");
    assert!(
        patiently(|| servers[0].get(&place).json()["state"] == "answered"),
        "{:?}",
        servers[0].get(&place)
    );
    assert!(parts_taken(&servers).iter().sum::<u64>() < parts, "what was judged is not judged again");
    for (node, shop) in servers.iter().zip(&nodes.shops) {
        let report = run_checks(node, "wait=300").json();
        let results = report["results"].as_array().unwrap_or_else(|| panic!("{report}"));
        let mut ids: Vec<&str> = results.iter().map(|result| result["check_id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), CHECKS + 2);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CHECKS + 2, "each check has one result");
        assert_eq!(
            (&report["counts"]["PASS"], &report["counts"]["FAIL"]),
            (&json!(362), &json!(40)),
            "{report}"
        );
        for result in results.iter().filter(|result| result["status"] == "FAIL") {
            let file = Path::new(result["artifacts"][0].as_str().unwrap_or_else(|| panic!("{result}")));
            assert!(file.starts_with(&shop.root), "{file:?}");
            let rows = std::fs::read_to_string(file).unwrap();
            assert!(rows.contains("198"), "{rows}");
        }
        let rollup = Path::new(&shop.root).join(".ordain/contracts/checks_rollup.csv");
        assert!(std::fs::read_to_string(rollup).unwrap().contains("m0001"));
    }
    assert_eq!(kept("part") + kept("judged"), 0, "parts go with their run");
    let runs = postgres.psql(nodes.url(), "SELECT count(*) FROM ordain.runs WHERE kind = 'check'");
    assert_eq!(runs.trim(), "1");
    let verified = nodes.run(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn what_is_due_by_the_clock_is_carried_out_once_while_nodes_restart() {
    let nodes = Nodes::new(2, 1);
    let schedules = "\n[[schedules]]\nname = \"stock\"\nschedule = \"@yearly\"\nask = \"show all items\"\n\
        [[schedules]]\nname = \"stock again\"\nschedule = \"@monthly Europe/Berlin\"\nask = \"show all items\"\n";
    for shop in &nodes.shops {
        let path = Path::new(&shop.root).join("ordain.toml");
        let settings = std::fs::read_to_string(&path).unwrap() + schedules;
        std::fs::write(path, settings).unwrap();
    }
    let postgres = postgres::Server::shared();
    let ask = |sql: &str| postgres.psql(nodes.url(), sql).trim().to_owned();
    let seen = "SELECT count(*) FROM ordain.schedules WHERE name LIKE 'stock%'";
    let servers = nodes.start_all();
    assert!(eventually(|| ask(seen) == "2"), "{}", ask(seen));
    drop(servers);
    ask("UPDATE ordain.schedules SET at_s = 0");
    // Both begin with it at once, and one of them dies over it.
    let mut servers = nodes.start_all();
    servers[0].running.signal(Signal::KILL);
    // Its folder is free when it has ended.
    servers[0].running.0.wait().unwrap();
    let again = nodes.start(0, &[]);
    let done = "SELECT count(*) FROM ordain.schedules WHERE name LIKE 'stock%' AND at_s > 0";
    assert!(patiently(|| ask(done) == "2"), "{}", ask(done));
    drop((servers, again));
    let servers = nodes.start_all();
    assert!(eventually(|| ask("SELECT count(*) FROM ordain.queue") == "0"));
    drop(servers);
    let of_clock =
        ask("SELECT count(*) FROM ordain.claims WHERE claim LIKE 'schedule stock%' AND finished = 1");
    assert_eq!((of_clock.as_str(), ask("SELECT count(*) FROM ordain.runs").as_str()), ("2", "2"));
}

/// `ordain check watch` in a copy of the workspace, and where its lines go.
fn watch(nodes: &Nodes, at: usize, lines: mpsc::Sender<String>) -> Running {
    let mut command = ordain(["check", "watch"]);
    command.current_dir(&nodes.shops[at].root).env("ORDAIN_STORE_URL", nodes.url());
    let mut running = Running::start(command);
    let stderr = running.0.stderr.take().unwrap();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    running
}

#[test]
fn a_change_of_files_that_several_machines_watch_is_run_once() {
    let nodes = Nodes::new(2, 1);
    let check = json!([{ "check_id": "c", "kind": "range", "target_table": "numbers", "severity": "high",
        "params": { "column": "amount", "min": 0 }, "key_columns": ["n"] }]);
    let write = |folder: &str, file: &str, text: &str| {
        for shop in &nodes.shops {
            let folder = Path::new(&shop.root).join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file), text).unwrap();
        }
    };
    write("data", "numbers.csv", "n,amount\n1,1\n");
    for shop in &nodes.shops {
        let _ = std::fs::remove_dir_all(Path::new(&shop.root).join("checks"));
    }
    write("checks", "checks.json", &check.to_string());
    assert_eq!(nodes.run(&["tables"]).code, Some(0));
    nodes.share_key(1);
    let (sender, lines) = mpsc::channel();
    let _watching = [watch(&nodes, 0, sender.clone()), watch(&nodes, 1, sender)];
    let hear = |text: &str| lines.iter().find(|line| line.contains(text)).expect("they go on");
    hear("watching");
    hear("watching");
    // The second change is one back to what was run before.
    for (runs, rows) in [(1, "1,1\n2,2\n"), (2, "1,1\n"), (3, "1,1\n2,2\n")] {
        write("data", "numbers.csv", &format!("n,amount\n{rows}"));
        // One of them says that it was not the one.
        hear("another process");
        let listed = postgres::Server::shared().psql(nodes.url(), "SELECT run_id FROM ordain.runs");
        assert_eq!(listed.lines().count(), runs, "{listed}");
    }
}
