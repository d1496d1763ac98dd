//! The workspace's files on all nodes of a cluster: published once, taken in by each.

use std::path::{Path, PathBuf};

use ordain_testkit::postgres;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::buy;
use crate::command::{Ran, eventually, ordain, run};
use crate::nodes::Nodes;
use crate::serve::Server;

/// A cluster whose first folder has everything and whose second one has the key of the ledger and nothing else.
fn one_full_one_empty() -> Nodes {
    let nodes = Nodes::new(2, 1);
    write(&nodes, 0, "data/numbers.csv", "n\n1\n2\n");
    let check = json!([{ "check_id": "positive", "kind": "range", "target_table": "numbers",
        "params": { "column": "n", "min": 0 } }]);
    write(&nodes, 0, "checks/checks.json", &check.to_string());
    write(&nodes, 0, ".env", "OPENAI_API_KEY=secret\n");
    // The first command makes the key.
    assert_eq!(nodes.run(&["tables"]).code, Some(0));
    empty(&nodes, 1);
    nodes
}

/// Removes everything from a folder, and gives it the key of the ledger.
fn empty(nodes: &Nodes, at: usize) {
    std::fs::remove_dir_all(&nodes.shops[at].root).unwrap();
    std::fs::create_dir_all(&nodes.shops[at].root).unwrap();
    nodes.share_key(at);
}

fn path(nodes: &Nodes, at: usize, name: &str) -> PathBuf {
    Path::new(&nodes.shops[at].root).join(name)
}

fn write(nodes: &Nodes, at: usize, name: &str, text: &str) {
    let path = path(nodes, at, name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(nodes: &Nodes, at: usize, name: &str) -> Option<String> {
    std::fs::read_to_string(path(nodes, at, name)).ok()
}

#[track_caller]
fn publish(nodes: &Nodes) -> Value {
    let published = nodes.run(&["serve", "cluster", "publish", "--json"]);
    assert_eq!(published.code, Some(0), "{published:?}");
    published.json()
}

/// Starts a node that does not come to serve.
#[track_caller]
fn refused(nodes: &Nodes, at: usize) -> String {
    let refused = serve(nodes, at);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("hint:"), "{refused:?}");
    refused.stderr
}

fn serve(nodes: &Nodes, at: usize) -> Ran {
    let root = &nodes.shops[at].root;
    let mut command = ordain(["serve", "--listen", "127.0.0.1:0", "--model", "rules", "--workspace", root]);
    command.args(["--cluster", &nodes.nats.url()]).env("ORDAIN_STORE_URL", nodes.url());
    command.envs(nodes.variables.iter().cloned());
    run(command)
}

/// The version that each node has, by its address.
fn versions(nodes: &Nodes, servers: &[&Server]) -> Vec<Value> {
    let status = nodes.status();
    let members = status["nodes"].as_array().unwrap();
    let of = |server: &&Server| members.iter().find(|member| member["address"] == server.address).cloned();
    servers.iter().map(|server| of(server).map_or(Value::Null, |member| member["files"].clone())).collect()
}

#[test]
fn a_folder_with_nothing_but_the_key_becomes_a_node_that_takes_work() {
    let mut nodes = one_full_one_empty();
    let shared = nodes.shops[0].folder.path().join("shared").display().to_string();
    nodes.variables.push(("ORDAIN_STORE_FILES", shared));
    let published = publish(&nodes);
    assert_eq!((&published["version"], &published["is_new"]), (&json!(1), &json!(true)), "{published}");
    let servers = [nodes.start(0, &[]), nodes.start(1, &[])];
    for name in ["ordain.toml", "policy.md", "helpers.py", "checks/checks.json", "data/numbers.csv"] {
        assert!(read(&nodes, 0, name).is_some(), "{name}");
        assert_eq!(read(&nodes, 0, name), read(&nodes, 1, name), "{name}");
    }
    assert_eq!(read(&nodes, 1, ".env"), None, "secrets stay where they are");
    assert!(eventually(|| versions(&nodes, &[&servers[0], &servers[1]]) == [json!(1), json!(1)]));
    let status = nodes.status();
    assert_eq!(status["nodes"][0]["workspace"], status["nodes"][1]["workspace"], "{status}");
    assert_eq!(status["published"]["version"], 1, "{status}");
    assert_eq!(buy(&servers[1].address, "k").unwrap()["state"], "committed");
    let checked = servers[1].post("/v1/checks/run", &json!({})).json();
    assert_eq!(checked["results"][0]["status"], "PASS", "{checked}");
    let shown = nodes.run(&["serve", "cluster", "status"]).stdout;
    assert!(shown.contains("workspace: version 1 is published, by "), "{shown}");
    let verified = nodes.run(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn changed_data_reaches_nodes_that_serve_and_a_changed_policy_waits_for_their_restart() {
    let nodes = one_full_one_empty();
    publish(&nodes);
    let first = nodes.start(0, &[]);
    let mut second = nodes.start(1, &[]);
    // A large file goes in pieces, of which only those that differ are sent again.
    let row = "1234567\n".repeat(2 << 20);
    write(&nodes, 0, "data/large.csv", &format!("n\n{row}"));
    std::fs::remove_file(path(&nodes, 0, "data/numbers.csv")).unwrap();
    let published = publish(&nodes);
    assert_eq!((&published["version"], &published["is_data_only"]), (&json!(2), &json!(true)), "{published}");
    let are_at = |version: u64, second: &Server| {
        eventually(|| versions(&nodes, &[&first, second]) == [json!(version), json!(version)])
    };
    assert!(are_at(2, &second), "{}", nodes.status());
    assert!(read(&nodes, 1, "data/large.csv") == read(&nodes, 0, "data/large.csv"), "it differs");
    assert_eq!(read(&nodes, 1, "data/numbers.csv"), None, "what was removed is removed everywhere");
    let told = "took up version 2 of the workspace; new: data/large.csv; removed: data/numbers.csv";
    assert!(eventually(|| second.logged().contains(told)), "{}", second.logged());
    write(&nodes, 0, "data/large.csv", &format!("n\n{row}7\n"));
    let published = publish(&nodes);
    assert!(published["sent_bytes"].as_u64().unwrap() < 9 << 20, "{published}");
    assert!(are_at(3, &second), "{}", nodes.status());
    // The same again is no new version.
    assert_eq!(publish(&nodes)["is_new"], false);

    let counts = |node: &Server| {
        let asked = node.post("/v1/requests", &json!({ "request": "How many Classic are in stock?" }));
        asked.json()["plan"]["source"].clone()
    };
    counts(&first);
    assert_eq!(counts(&second), "cache", "what one node planned, another one runs");
    write(&nodes, 0, "policy.md", "Sell to grown-ups only.\n");
    let published = publish(&nodes);
    assert_eq!(
        (&published["version"], &published["is_data_only"]),
        (&json!(4), &json!(false)),
        "{published}"
    );
    assert_eq!(versions(&nodes, &[&first, &second]), [json!(3), json!(3)]);
    assert_eq!(buy(&second.address, "k").unwrap()["state"], "committed", "they serve what they have");
    second.running.signal(Signal::TERM);
    second.running.0.wait().unwrap();
    let second = nodes.start(1, &[]);
    assert_eq!(read(&nodes, 1, "policy.md").unwrap(), "Sell to grown-ups only.\n");
    let told = "took in version 4 of the workspace; changed: policy.md";
    assert!(eventually(|| second.logged().contains(told)), "{}", second.logged());
    // A plan that was made under the old policy counts where that is in force, and nowhere else.
    assert_eq!(counts(&first), "cache");
    assert_ne!(counts(&second), "cache");
    assert!(
        eventually(|| versions(&nodes, &[&first, &second]) == [json!(3), json!(4)]),
        "{}",
        nodes.status()
    );
}

#[test]
fn a_file_that_was_changed_on_a_node_is_told_and_never_replaced() {
    let nodes = one_full_one_empty();
    publish(&nodes);
    drop(nodes.start(1, &[]));
    let before = read(&nodes, 0, "policy.md").unwrap();
    write(&nodes, 0, "policy.md", "Sell to grown-ups only.\n");
    write(&nodes, 0, "data/numbers.csv", "n\n3\n");
    publish(&nodes);
    write(&nodes, 1, "policy.md", "Mine.\n");
    write(&nodes, 1, "checks/mine.json", "[]");
    let told = refused(&nodes, 1);
    assert!(told.contains("checks/mine.json: ") && told.contains("policy.md"), "{told}");
    assert!(told.contains("version 2") && told.contains("ordain serve cluster publish"), "{told}");
    assert_eq!(read(&nodes, 1, "policy.md").unwrap(), "Mine.\n");
    assert_eq!(read(&nodes, 1, "data/numbers.csv").unwrap(), "n\n1\n2\n", "nothing else is taken in either");
    // What is behind the newest version is not published by mistake.
    let behind = nodes.run_at(1, &["serve", "cluster", "publish"]);
    assert_eq!(behind.code, Some(2), "{behind:?}");
    assert!(
        behind.stderr.contains("comes from version 1") && behind.stderr.contains("--replace"),
        "{behind:?}"
    );
    std::fs::remove_file(path(&nodes, 1, "checks/mine.json")).unwrap();
    write(&nodes, 1, "policy.md", &before);
    let second = nodes.start(1, &[]);
    assert_eq!(read(&nodes, 1, "policy.md"), read(&nodes, 0, "policy.md"));
    // While it serves, too.
    write(&nodes, 1, "data/numbers.csv", "n\n99\n");
    write(&nodes, 0, "data/numbers.csv", "n\n4\n");
    publish(&nodes);
    std::thread::sleep(std::time::Duration::from_secs(7));
    assert_eq!(read(&nodes, 1, "data/numbers.csv").unwrap(), "n\n99\n");
    assert_eq!(versions(&nodes, &[&second]), [json!(2)]);
}

#[test]
fn a_version_that_was_altered_or_is_incomplete_is_not_taken_in() {
    let (nodes, postgres) = (one_full_one_empty(), postgres::Server::shared());
    publish(&nodes);
    // Somebody who can write to the database makes contents and digests agree.
    let spoil = "UPDATE ordain.files SET data = 'c3BvaWx0', parts = 1, sha256 = encode(sha256('spoilt'), 'hex') \
        WHERE owner = 'workspace' AND part = 0";
    postgres.psql(nodes.url(), spoil);
    let told = refused(&nodes, 1);
    assert!(told.contains("version 1") && told.contains("not the one that was published"), "{told}");
    postgres.psql(nodes.url(), "DELETE FROM ordain.files WHERE owner = 'workspace'");
    assert!(refused(&nodes, 1).contains("not in the store"));
    assert_eq!(read(&nodes, 1, "ordain.toml"), None, "nothing was taken in");
    assert_eq!(publish(&nodes)["is_new"], false, "publishing again puts back what is missing");
    let piece = "DELETE FROM ordain.files WHERE owner = 'workspace' AND name = (SELECT encode(sha256('n\n1\n2\n'), 'hex'))";
    postgres.psql(nodes.url(), piece);
    assert!(refused(&nodes, 1).contains("data/numbers.csv: a piece of it is not in the store"));
    assert_eq!(read(&nodes, 1, "ordain.toml"), None, "half a version is none");
    publish(&nodes);
    drop(nodes.start(1, &[]));
}

#[test]
fn a_folder_without_the_key_and_a_key_of_its_own_are_told_what_to_do() {
    let nodes = one_full_one_empty();
    publish(&nodes);
    std::fs::remove_dir_all(path(&nodes, 1, ".ordain")).unwrap();
    assert!(refused(&nodes, 1).contains("ledger.key"));
    assert_eq!(read(&nodes, 1, ".ordain/ledger.key"), None, "no key is made by mistake");
    // One that says where the store is has a key of its own, which signed nothing that was published.
    write(&nodes, 1, "ordain.toml", "[store]\nurl = \"env:ORDAIN_STORE_URL\"\n");
    let own = serve(&nodes, 1);
    assert!(own.stderr.contains("not signed with a key that is trusted here"), "{own:?}");
    // With the right key, its address stays if the published file has none.
    std::fs::remove_dir_all(path(&nodes, 1, ".ordain")).unwrap();
    nodes.share_key(1);
    assert!(refused(&nodes, 1).contains("ordain.toml: "));
    let full = read(&nodes, 0, "ordain.toml").unwrap();
    write(&nodes, 0, "ordain.toml", &full.replace("url = \"sqlite\"", "url = \"env:ORDAIN_STORE_URL\""));
    publish(&nodes);
    drop(nodes.start(1, &[]));
    assert_eq!(read(&nodes, 0, "ordain.toml"), read(&nodes, 1, "ordain.toml"));
}

#[test]
fn what_must_not_leave_the_folder_is_not_published() {
    let nodes = one_full_one_empty();
    let refuses = |expected: &str| {
        let refused = nodes.run(&["serve", "cluster", "publish"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(expected) && refused.stderr.contains("hint:"), "{refused:?}");
    };
    write(&nodes, 0, "data/server.pem", "-----BEGIN PRIVATE KEY-----\n");
    refuses("data/server.pem: it may hold a secret");
    std::fs::remove_file(path(&nodes, 0, "data/server.pem")).unwrap();
    let full = read(&nodes, 0, "ordain.toml").unwrap();
    let address = "url = \"postgres://shop:hush@db/shop\"";
    write(&nodes, 0, "ordain.toml", &full.replace("url = \"sqlite\"", address));
    refuses("`store.url` holds a password");
    write(&nodes, 0, "ordain.toml", &full.replace("[workspace]\n", "[workspace]\nfiles = [\"tools\"]\n"));
    refuses("tools: there is no such file");
    write(&nodes, 0, "tools/mail.py", "print('ready')\n");
    publish(&nodes);
    drop(nodes.start(1, &[]));
    assert_eq!(read(&nodes, 1, "tools/mail.py").unwrap(), "print('ready')\n");
    let alone = crate::executor::Shop::new(1);
    let sqlite = run(ordain(["serve", "cluster", "publish", "--workspace", &alone.root]));
    assert!(sqlite.code == Some(2) && sqlite.stderr.contains("share a PostgreSQL database"), "{sqlite:?}");
}

#[test]
fn a_database_that_is_older_than_another_node_knows_is_refused_until_somebody_accepts_it() {
    let (nodes, postgres) = (one_full_one_empty(), postgres::Server::shared());
    publish(&nodes);
    nodes.share_key(1);
    let checkpoint = path(&nodes, 1, ".ordain/ledger.checkpoint");
    let old = std::fs::read(&checkpoint).unwrap();
    let first = nodes.start(0, &[]);
    for key in ["a", "b", "c"] {
        assert_eq!(buy(&first.address, key).unwrap()["state"], "committed");
    }
    // A node with the key alone learns from the others where the ledger ends.
    let newest = postgres.psql(nodes.url(), "SELECT max(seq) FROM ordain.entries");
    let known = || {
        let text = std::fs::read_to_string(&checkpoint).unwrap_or_default();
        serde_json::from_str::<Value>(&text).map_or(Value::Null, |known| known["seq"].clone()).to_string()
    };
    std::thread::sleep(std::time::Duration::from_secs(4));
    std::fs::remove_file(&checkpoint).unwrap();
    let mut second = nodes.start_as_it_is(1, &[]);
    assert!(eventually(|| known() == newest.trim()), "{} is not {newest}", known());
    for server in [&mut second, &mut { first }] {
        server.running.signal(Signal::TERM);
        server.running.0.wait().unwrap();
    }
    // The last entries are lost, and this folder's own checkpoint does not show it.
    let lost = format!("DELETE FROM ordain.entries WHERE seq > {} - 2", newest.trim());
    postgres.psql(nodes.url(), &format!("SET session_replication_role = replica; {lost}"));
    std::fs::write(&checkpoint, &old).unwrap();
    let refused = serve(&nodes, 1);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("older than a node of the cluster knows"), "{refused:?}");
    assert!(refused.stderr.contains("ordain ledger accept-restore"), "{refused:?}");
    let accepted = nodes.run(&["ledger", "accept-restore", "--reason", "the last two are lost"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    let nodes_again = [nodes.start(0, &[]), nodes.start_as_it_is(1, &[])];
    assert_eq!(buy(&nodes_again[1].address, "d").unwrap()["state"], "committed");
    assert!(eventually(|| known() != "null" && nodes_again[0].get("/readyz").status == 200));
}
