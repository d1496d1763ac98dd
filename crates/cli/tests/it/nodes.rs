//! Several servers as nodes of one cluster: PostgreSQL, NATS and the real binary.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use ordain_testkit::clock::Clock;
use ordain_testkit::{nats, postgres};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cluster::{WRITING, bought, buy, slow_purchase};
use crate::command::{Ran, eventually, ordain, run};
use crate::executor::{Served, Shop};
use crate::serve::{Server, send};

const STOCK: u32 = 200;
const CLIENTS: usize = 6;
const PURCHASES: usize = 6;

/// A plan that goes on until it is stopped.
pub(crate) const ENDLESS: &str = "\
total = 0
for number in range(10**12):
    total += number
STATUS = 'success'
answer_text = 'Counted.'
";

/// Folders of one workspace on one database, and the NATS servers that their nodes meet at.
pub(crate) struct Nodes {
    url: String,
    pub(crate) nats: nats::Servers,
    pub(crate) shops: Vec<Shop>,
    /// What the nodes find in their environment besides.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Clocks of the nodes, where they are not the machine's.
    pub(crate) clocks: Vec<Clock>,
    stock: u32,
}

impl Nodes {
    pub(crate) fn new(nodes: usize, servers: usize) -> Self {
        Self::on(postgres::Server::shared().fresh_database(), nodes, servers, STOCK)
    }

    pub(crate) fn on(url: String, nodes: usize, servers: usize, stock: u32) -> Self {
        let shops = (0..nodes).map(|_| Shop::new(stock)).collect();
        let nats = nats::Servers::start(servers);
        Self { url, nats, shops, variables: Vec::new(), clocks: Vec::new(), stock }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// An executor that announces itself.
    pub(crate) fn executor(&self) -> Served {
        Served::start(&["--cluster", &self.nats.url(), "--wall-max", "30m"])
    }

    /// Has a folder sign with the key of the first one.
    pub(crate) fn share_key(&self, at: usize) {
        let state = |at: usize| Path::new(&self.shops[at].root).join(".ordain");
        if at > 0 {
            std::fs::create_dir_all(state(at)).unwrap();
            for name in ["ledger.key", "ledger.checkpoint"] {
                std::fs::copy(state(0).join(name), state(at).join(name)).unwrap();
            }
        }
    }

    pub(crate) fn start(&self, at: usize, arguments: &[&str]) -> Server {
        self.share_key(at);
        self.start_as_it_is(at, arguments)
    }

    /// The same without the key and the checkpoint of the first folder.
    pub(crate) fn start_as_it_is(&self, at: usize, arguments: &[&str]) -> Server {
        let cluster = self.nats.url();
        let arguments = [&["--cluster", cluster.as_str()], arguments].concat();
        Server::start(&self.shops[at].root, &arguments, |command| {
            command.env("ORDAIN_STORE_URL", &self.url).env("ORDAIN_LIMITS_WALL", "30m");
            command.current_dir(self.shops[0].folder.path()).envs(self.variables.iter().cloned());
            command.envs(self.clocks.get(at).into_iter().flat_map(Clock::variables));
        })
    }

    pub(crate) fn start_all(&self) -> Vec<Server> {
        (0..self.shops.len()).map(|at| self.start(at, &[])).collect()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_at(0, arguments)
    }

    /// A command in one of the folders.
    pub(crate) fn run_at(&self, at: usize, arguments: &[&str]) -> Ran {
        let mut command = ordain(arguments);
        command.current_dir(&self.shops[at].root).env("ORDAIN_STORE_URL", &self.url);
        command.env("ORDAIN_CLUSTER", self.nats.url()).envs(self.variables.iter().cloned());
        run(command)
    }

    pub(crate) fn status(&self) -> Value {
        self.run(&["serve", "cluster", "status", "--json"]).json()
    }

    fn classics(&self) -> i64 {
        let rows = self.run(&["tables", "inventory", "--rows", "--json"]).json();
        let classic = rows.as_array().unwrap().iter().find(|row| row["name"] == "Classic").unwrap();
        classic["quantity_in_stock"].as_i64().unwrap()
    }

    /// Stock, records and ledger agree with what the clients were told.
    pub(crate) fn assert_exact(&self, postgres: &postgres::Server, told: &BTreeSet<String>) {
        let listed = postgres.psql(&self.url, "SELECT run_id FROM ordain.runs WHERE state = 'committed'");
        let committed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
        assert_eq!(told, &committed, "each purchase is one run, and each run was told to its client");
        assert_eq!(self.classics(), i64::from(self.stock) - i64::try_from(committed.len()).unwrap());
        let verified = self.run(&["ledger", "verify", "--rows"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }
}

pub(crate) fn begin_endless(node: &Server) -> String {
    let body = json!({ "request": "count for ever", "plan": ENDLESS }).to_string();
    let head = "POST /v1/requests HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: respond-async\r\n";
    let begun = send(&node.address, head, &body);
    assert_eq!(begun.status, 202, "{begun:?}");
    begun.json()["run_id"].as_str().unwrap().to_owned()
}

/// Waits until a node carries out one run of the queue.
pub(crate) fn carries_out_one(node: &Server) -> bool {
    eventually(|| node.get("/metrics").body.contains("ordain_cluster_working 1\n"))
}

/// The events of a run behind a place, up to the first of that name.
fn events_until(node: &Server, run: &str, last: u64, name: &str) -> Vec<(u64, String)> {
    let mut stream = TcpStream::connect(&node.address).unwrap();
    let head = format!(
        "GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: {last}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut events = Vec::new();
    let mut id = 0;
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.parse().unwrap();
        } else if let Some(event) = line.strip_prefix("event: ") {
            events.push((id, event.to_owned()));
            if event == name {
                return events;
            }
        }
    }
    panic!("no `{name}` among {events:?}")
}

#[test]
fn a_run_is_seen_watched_and_cancelled_on_any_node() {
    let nodes = Nodes::new(2, 1);
    // The first node carries nothing out: its slot is taken by the first endless run.
    let servers = [nodes.start(0, &["--slots", "1"]), nodes.start(1, &["--slots", "1"])];
    let runs = [begin_endless(&servers[0]), begin_endless(&servers[0])];
    assert!(eventually(|| nodes.status()["working"] == 2), "{}", nodes.status());
    for run in &runs {
        let seen = servers[1].get(&format!("/v1/runs/{run}")).json();
        assert_eq!(seen["state"], "running", "{seen}");
    }
    let listed = servers[1].get("/v1/runs?state=running").json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2, "{listed}");
    for run in &runs {
        let cancelled = servers[1].post(&format!("/v1/runs/{run}/cancel"), &json!({}));
        assert_eq!(cancelled.json()["error"]["code"], "cancelled", "{cancelled:?}");
        // The same events have the same places on both, and a watcher comes back to either.
        let events = servers.each_ref().map(|node| events_until(node, run, 0, "finished"));
        assert_eq!(events[0], events[1]);
        let (last, _) = events[0].last().unwrap();
        assert_eq!(events_until(&servers[0], run, last - 1, "finished").len(), 1, "{events:?}");
    }
    assert!(eventually(|| nodes.status()["working"] == 0), "{}", nodes.status());
    let status = nodes.status();
    assert_eq!((&status["accepted"], status["nodes"].as_array().unwrap().len()), (&json!(0), 2), "{status}");
}

#[test]
fn a_node_that_stops_gives_its_runs_to_the_others_and_a_killed_one_loses_none() {
    let nodes = Nodes::new(2, 1);
    let mut first = nodes.start(0, &["--drain", "1s"]);
    let stopped = begin_endless(&first);
    assert!(eventually(|| nodes.status()["working"] == 1), "{}", nodes.status());
    let second = nodes.start(1, &[]);
    first.running.signal(Signal::TERM);
    assert!(carries_out_one(&second), "the second node begins what the first gave back");
    // Its folder is free again once it has ended.
    first.running.0.wait().unwrap();
    let third = nodes.start(0, &[]);
    second.running.signal(Signal::KILL);
    assert!(carries_out_one(&third), "the third node begins what the killed one had begun");
    let cancelled = third.post(&format!("/v1/runs/{stopped}/cancel"), &json!({}));
    assert_eq!(cancelled.json()["state"], "rolled_back", "{cancelled:?}");
}

#[test]
fn a_node_that_is_stopped_while_it_writes_does_not_keep_the_others_from_writing() {
    let (nodes, postgres) = (Nodes::new(2, 1), postgres::Server::shared());
    let first = nodes.start(0, &[]);
    let head = "POST /v1/requests HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: respond-async\r\n";
    let begun = send(&first.address, head, &slow_purchase().to_string());
    let begun = begun.json()["run_id"].as_str().unwrap().to_owned();
    assert!(eventually(|| !postgres.psql(&nodes.url, WRITING).is_empty()), "it never wrote");
    first.running.signal(Signal::STOP);
    // The second node has the first one's session ended, buys, and carries out what that one had begun.
    let second = nodes.start(1, &[]);
    let mut told = BTreeSet::from([bought(&[&second.address], "k"), begun.clone()]);
    let ended = || second.get(&format!("/v1/runs/{begun}")).json()["state"] == "committed";
    assert!(eventually(ended), "{}", second.get(&format!("/v1/runs/{begun}")).body);
    // What the first one believes to be at is not committed a second time.
    first.running.signal(Signal::CONT);
    told.insert(bought(&[&first.address], "again"));
    assert!(eventually(|| nodes.status()["working"] == 0), "{}", nodes.status());
    nodes.assert_exact(postgres, &told);
}

#[test]
fn a_node_with_another_workspace_takes_no_work() {
    let nodes = Nodes::new(2, 1);
    std::fs::write(Path::new(&nodes.shops[1].root).join("policy.md"), "Sell to grown-ups only.\n").unwrap();
    let (first, _second) = (nodes.start(0, &["--slots", "1"]), nodes.start(1, &[]));
    let (running, waiting) = (begin_endless(&first), begin_endless(&first));
    assert!(eventually(|| {
        let status = nodes.status();
        status["working"] == 1 && status["waiting"] == 1
    }));
    for run in [waiting, running] {
        let cancelled = first.post(&format!("/v1/runs/{run}/cancel"), &json!({}));
        assert_eq!(cancelled.json()["state"], "rolled_back", "{cancelled:?}");
    }
}

#[test]
fn purchases_are_made_once_although_a_node_and_a_nats_server_are_killed() {
    let nodes = Nodes::new(3, 3);
    let servers = nodes.start_all();
    let addresses: Vec<String> = servers.iter().map(|server| server.address.clone()).collect();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let mut addresses = addresses.clone();
            addresses.rotate_left(client % 3);
            std::thread::spawn(move || {
                let keys = (0..PURCHASES).map(|number| format!("{client}-{number}"));
                let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
                keys.map(|key| bought(&addresses, &key)).collect::<Vec<_>>()
            })
        })
        .collect();
    assert!(eventually(|| nodes.classics() < i64::from(STOCK) - 2), "nobody bought anything");
    servers[0].running.signal(Signal::KILL);
    nodes.nats.signal(1, Signal::KILL);
    let told: BTreeSet<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    assert_eq!(told.len(), CLIENTS * PURCHASES);
    nodes.assert_exact(postgres::Server::shared(), &told);
    assert!(eventually(|| nodes.status()["accepted"] == 0), "{}", nodes.status());
    let again = buy(&addresses[1], "0-0").unwrap();
    assert!(told.contains(again["run_id"].as_str().unwrap()), "{again}");
}

#[test]
fn a_node_that_starts_while_the_nats_servers_have_no_majority_waits_for_one() {
    let nodes = Nodes::new(1, 3);
    let signal_two = |signal| [1, 2].map(|at| nodes.nats.signal(at, signal));
    signal_two(Signal::STOP);
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| nodes.start(0, &[]));
        // Longer than a question to the servers may take.
        std::thread::sleep(Duration::from_secs(8));
        signal_two(Signal::CONT);
        assert_eq!(buy(&starting.join().unwrap().address, "k").unwrap()["state"], "committed");
    });
}

#[test]
fn work_goes_on_after_nats_came_back_with_an_empty_disk() {
    let mut nodes = Nodes::new(1, 1);
    let (_executor, node) = (nodes.executor(), nodes.start(0, &["--executor", "cluster"]));
    let mut told = BTreeSet::from([bought(&[&node.address], "before")]);
    nodes.nats.signal(0, Signal::KILL);
    assert!(eventually(|| node.get("/readyz").status == 503), "it says that it can work");
    nodes.nats.empty_disk(0);
    nodes.nats.start_again(0);
    told.insert(bought(&[&node.address], "after"));
    assert!(eventually(|| node.get("/readyz").status == 200), "{}", node.get("/readyz").body);
    nodes.assert_exact(postgres::Server::shared(), &told);
}

#[test]
fn nodes_use_the_executors_that_announce_themselves() {
    let nodes = Nodes::new(1, 1);
    let node = nodes.start(0, &["--executor", "cluster"]);
    // Until one comes, the run waits.
    let address = node.address.clone();
    let buying = std::thread::spawn(move || buy(&address, "k").unwrap());
    let executor = nodes.executor();
    let bought = buying.join().unwrap();
    assert_eq!(bought["state"], "committed", "{bought}");
    executor.wait_for("job");
    let status = nodes.status();
    assert_eq!(status["executors"][0]["address"], executor.url(), "{status}");
    executor.running.signal(Signal::TERM);
    assert!(eventually(|| nodes.status()["executors"] == json!([])), "{}", nodes.status());
}

#[test]
fn a_cluster_without_postgresql_or_nats_is_refused_with_what_to_do() {
    let shop = Shop::new(1);
    let serve = |cluster: &str| {
        run(ordain(["serve", "--listen", "127.0.0.1:0", "--workspace", &shop.root, "--cluster", cluster]))
    };
    let nobody = serve("nats://shop:secret@127.0.0.1:9");
    assert_eq!(nobody.code, Some(3), "{nobody:?}");
    assert!(nobody.stderr.contains("cannot connect to NATS at 127.0.0.1:9"), "{nobody:?}");
    assert!(nobody.stderr.contains("hint:") && !nobody.stderr.contains("secret"), "{nobody:?}");
    let sqlite = serve(&nats::Servers::start(1).url());
    assert_eq!(sqlite.code, Some(2), "{sqlite:?}");
    assert!(sqlite.stderr.contains("share a PostgreSQL database"), "{sqlite:?}");
}
