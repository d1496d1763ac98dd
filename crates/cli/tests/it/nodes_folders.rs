//! The folders of the nodes of a cluster: a change of them is rolled out one node at a time, and the end of the ledger is
//! known to all of them.

use std::path::Path;

use ordain_testkit::postgres;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::buy;
use crate::command::{Ran, eventually, ordain, run};
use crate::nodes::{Nodes, begin_endless};
use crate::serve::Server;

fn serve(nodes: &Nodes, at: usize) -> Ran {
    let root = &nodes.shops[at].root;
    let mut command = ordain(["serve", "--listen", "127.0.0.1:0", "--model", "rules", "--workspace", root]);
    command.args(["--cluster", &nodes.nats.url()]).env("ORDAIN_STORE_URL", nodes.url());
    command.envs(nodes.variables.iter().cloned());
    run(command)
}

#[test]
fn folders_are_rolled_out_node_by_node_and_the_last_old_one_leaves_its_runs_to_the_new_ones() {
    let nodes = Nodes::new(2, 1);
    let write_policy = |at: usize| {
        let path = Path::new(&nodes.shops[at].root).join("policy.md");
        std::fs::write(path, "Sell to grown-ups only.\n").unwrap();
    };
    write_policy(1);
    let mut old = nodes.start(0, &["--drain", "1s", "--slots", "1"]);
    let new = nodes.start(1, &[]);
    // Both serve at the same time, and what was accepted under the old policy is carried out under it.
    let runs = [begin_endless(&old), begin_endless(&old)];
    let is_left_to_the_old = |status: &Value| status["working"] == 1 && status["waiting"] == 1;
    assert!(eventually(|| is_left_to_the_old(&nodes.status())), "{}", nodes.status());
    assert_eq!(buy(&new.address, "k").unwrap()["state"], "committed");
    // The new node has room, and takes neither.
    assert!(eventually(|| is_left_to_the_old(&nodes.status())), "{}", nodes.status());

    old.running.signal(Signal::TERM);
    old.running.0.wait().unwrap();
    let takes_both = || new.get("/metrics").body.contains("ordain_cluster_working 2\n");
    assert!(eventually(takes_both), "{}", nodes.status());
    for run in &runs {
        let cancelled = new.post(&format!("/v1/runs/{run}/cancel"), &json!({}));
        assert_eq!(cancelled.json()["state"], "rolled_back", "{cancelled:?}");
    }
    write_policy(0);
    let again = nodes.start(0, &[]);
    let fingerprints = || -> Vec<Value> {
        let status = nodes.status();
        let of = |server: &Server| {
            let members = status["nodes"].as_array().unwrap();
            let member = members.iter().find(|member| member["address"] == server.address);
            member.map_or(Value::Null, |member| member["workspace"].clone())
        };
        vec![of(&new), of(&again)]
    };
    assert!(eventually(|| fingerprints()[0] == fingerprints()[1]), "{:?}", fingerprints());
}

#[test]
fn a_database_that_is_older_than_another_node_knows_is_refused_until_somebody_accepts_it() {
    let (nodes, postgres) = (Nodes::new(2, 1), postgres::Server::shared());
    // The first command makes the key.
    assert_eq!(nodes.run(&["tables"]).code, Some(0));
    nodes.share_key(1);
    let checkpoint = Path::new(&nodes.shops[1].root).join(".ordain/ledger.checkpoint");
    let old = std::fs::read(&checkpoint).unwrap();
    let first = nodes.start(0, &[]);
    for key in ["a", "b", "c"] {
        assert_eq!(buy(&first.address, key).unwrap()["state"], "committed");
    }
    // A node without a checkpoint learns from the others where the ledger ends.
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
