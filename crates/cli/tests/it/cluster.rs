//! Several servers on one PostgreSQL database.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ordain_testkit::postgres;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::{Ran, eventually, ordain, run};
use crate::executor::{BUY_ONE, Shop};
use crate::serve::Server;

const STOCK: u32 = 50;
const CLIENTS: usize = 4;
const PURCHASES: usize = 5;

/// Finds a run that has written to the inventory and has not ended.
pub(crate) const WRITING: &str =
    "SELECT 1 FROM pg_locks WHERE relation = 'inventory'::regclass AND mode = 'RowExclusiveLock'";

/// A purchase that takes a while after it has written.
pub(crate) fn slow_purchase() -> Value {
    json!({ "request": "buy one slowly", "plan": format!("{BUY_ONE}\nimport time\ntime.sleep(2)\n") })
}

/// Two workspaces' folders on one database, which sign with one key.
struct Pair {
    url: String,
    shops: [Shop; 2],
}

impl Pair {
    fn new() -> Self {
        Self { url: postgres::Server::shared().fresh_database(), shops: [Shop::new(STOCK), Shop::new(STOCK)] }
    }

    fn start(&self, shop: &Shop) -> Server {
        Server::start(&shop.root, &[], |command| {
            command.env("ORDAIN_STORE_URL", &self.url);
        })
    }

    fn start_both(&self) -> (Server, Server) {
        let first = self.start(&self.shops[0]);
        let state = |shop: &Shop| std::path::Path::new(&shop.root).join(".ordain");
        std::fs::create_dir_all(state(&self.shops[1])).unwrap();
        for name in ["ledger.key", "ledger.checkpoint"] {
            std::fs::copy(state(&self.shops[0]).join(name), state(&self.shops[1]).join(name)).unwrap();
        }
        (first, self.start(&self.shops[1]))
    }

    /// A command in the second folder.
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = ordain(arguments);
        command.current_dir(&self.shops[1].root).env("ORDAIN_STORE_URL", &self.url);
        run(command)
    }

    fn classics(&self) -> i64 {
        let rows = self.run(&["tables", "inventory", "--rows", "--json"]).json();
        let classic = rows.as_array().unwrap().iter().find(|row| row["name"] == "Classic").unwrap();
        classic["quantity_in_stock"].as_i64().unwrap()
    }
}

/// Buys one under an idempotency key. `None` if the server is gone.
pub(crate) fn buy(address: &str, key: &str) -> Option<Value> {
    let body = json!({ "request": "buy one", "plan": BUY_ONE }).to_string();
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: {key}\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
}

/// Asks one server after the other, under the same key, until one says that the purchase is committed.
pub(crate) fn bought(servers: &[&str], key: &str) -> String {
    let (deadline, mut last) = (Instant::now() + Duration::from_mins(2), None);
    for address in servers.iter().cycle() {
        assert!(Instant::now() < deadline, "{key} was never bought: {last:?}");
        match buy(address, key) {
            Some(record) if record["state"] == "committed" => {
                return record["run_id"].as_str().unwrap().to_owned();
            }
            // The server is gone, or the database has not noticed yet that another one is.
            other => last = other,
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    unreachable!("there is a server to ask")
}

#[test]
fn a_request_runs_once_whichever_server_it_is_sent_to() {
    let pair = Pair::new();
    let (first, second) = pair.start_both();
    let one = buy(&first.address, "k").unwrap();
    assert_eq!(one["state"], "committed", "{one}");
    let again = buy(&second.address, "k").unwrap();
    assert_eq!(again["run_id"], one["run_id"], "{again}");
    let other = buy(&second.address, "other").unwrap();
    assert_eq!(other["state"], "committed", "{other}");
    assert_eq!(pair.classics(), i64::from(STOCK) - 2);
    let verified = pair.run(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn a_run_whose_database_is_restarted_begins_again_and_is_made_once() {
    let postgres = postgres::Server::of_its_own();
    let pair = Pair { url: postgres.fresh_database(), shops: [Shop::new(STOCK), Shop::new(STOCK)] };
    let (first, _second) = pair.start_both();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| first.post("/v1/requests", &slow_purchase()).json());
        assert!(eventually(|| !postgres.psql(&pair.url, WRITING).is_empty()), "it never wrote");
        postgres.restart();
        let record = asked.join().unwrap();
        assert_eq!(record["state"], "committed", "{record}");
    });
    assert_eq!(pair.classics(), i64::from(STOCK) - 1);
    let verified = pair.run(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn each_purchase_is_made_once_although_a_server_is_killed_in_the_middle() {
    let pair = Pair::new();
    let (first, second) = pair.start_both();
    let (first_address, second_address) = (first.address.clone(), second.address.clone());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (first, second) = (first_address.clone(), second_address.clone());
            std::thread::spawn(move || {
                let keys = (0..PURCHASES).map(|number| format!("{client}-{number}"));
                keys.map(|key| bought(&[&first, &second], &key)).collect::<Vec<_>>()
            })
        })
        .collect();
    assert!(eventually(|| pair.classics() < i64::from(STOCK) - 2), "nobody bought anything");
    first.running.signal(Signal::KILL);
    let told: BTreeSet<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let listed = pair.run(&["runs", "list", "--state", "committed", "--limit", "100", "--json"]).json();
    let committed: BTreeSet<String> =
        listed.as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, committed, "each purchase is one run, and each run was told to its client");
    assert_eq!(committed.len(), CLIENTS * PURCHASES);
    assert_eq!(pair.classics(), i64::from(STOCK) - i64::try_from(committed.len()).unwrap());
    let verified = pair.run(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
