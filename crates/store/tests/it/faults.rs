//! The n-th operation fails, for every n; and the process is killed at any moment.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ordain_store::{Faults, Intent, RunFilter, Store, StoreError};
use ordain_types::RunState;
use serde_json::{Value, json};

use crate::world::{begin, buy, commit, hold, note, on_both, rows};

/// Far more operations than any of these runs has.
const FAULTS_MAX: u32 = 400;

/// Fails one operation, counted from when it was armed.
#[derive(Debug, Default)]
struct FailNth {
    left: AtomicU32,
}

impl FailNth {
    fn arm(&self, nth: u32) {
        self.left.store(nth, Ordering::SeqCst);
    }
}

impl Faults for FailNth {
    fn strike(&self, _operation: &'static str) -> bool {
        let before = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        before == Ok(1)
    }
}

async fn snapshot(store: &Store) -> (Vec<Value>, Vec<Value>, u64) {
    let entries = store.verify_ledger().await.unwrap();
    assert!(entries.is_whole(), "{entries:?}");
    (rows(store, "inventory").await, rows(store, "transactions").await, entries.entries)
}

async fn one_purchase(store: &Store) -> Result<(), StoreError> {
    let run_id = store.new_run_id()?;
    let mut transaction = store.begin(ordain_store::BeginOptions { run_id, intent: Intent::Write }).await?;
    assert!(buy(&mut transaction, "Aviator", 1).await?);
    commit(transaction).await.map(drop)
}

on_both! {
    async fn every_failure_leaves_the_store_as_it_was(world: World) {
        let faults = Arc::new(FailNth::default());
        let store = world.shop_with_faults(faults.clone()).await.unwrap();
        for nth in 1..=FAULTS_MAX {
            let before = snapshot(&store).await;
            faults.arm(nth);
            let result = one_purchase(&store).await;
            let untouched = faults.left.load(Ordering::SeqCst) > 0;
            faults.arm(0);
            let after = snapshot(&store).await;
            match result {
                Ok(()) if untouched => return,
                // The acknowledgement of the commit was lost, and the store found out that it had taken place.
                Ok(()) => assert_eq!(after.2, before.2 + 1, "after failing operation {nth}"),
                Err(StoreError::Injected { .. }) => assert_eq!(after, before, "after failing operation {nth}"),
                Err(error) => panic!("{nth}: {error}"),
            }
        }
        panic!("no run got through within {FAULTS_MAX} operations");
    }

    async fn every_failure_of_approval_and_undo_leaves_the_store_as_it_was(world: World) {
        let faults = Arc::new(FailNth::default());
        let store = world.shop_with_faults(faults.clone()).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        let held = hold(transaction).await.unwrap();
        for (operation, done) in [("approve", RunState::Committed), ("undo", RunState::Undone)] {
            for nth in 1..=FAULTS_MAX {
                let before = snapshot(&store).await;
                faults.arm(nth);
                let result = match operation {
                    "approve" => store.approve(held.run_id.as_str(), note()).await,
                    _ => store.undo(held.run_id.as_str(), note()).await,
                };
                faults.arm(0);
                if let Ok(record) = result {
                    assert_eq!(record.state, done);
                    break;
                }
                assert_eq!(snapshot(&store).await, before, "{operation} after failing operation {nth}");
                assert!(nth < FAULTS_MAX, "{operation} never got through");
            }
            assert_eq!(store.run(held.run_id.as_str()).await.unwrap().state, done);
        }
    }

    async fn every_failure_of_the_first_opening_can_be_tried_again(world: World) {
        for nth in 1..=FAULTS_MAX {
            let faults = Arc::new(FailNth::default());
            faults.arm(nth);
            let Ok(store) = world.shop_with_faults(faults.clone()).await else { continue };
            faults.arm(0);
            let (inventory, transactions, entries) = snapshot(&store).await;
            assert_eq!((inventory.len(), transactions.len(), entries), (3, 1, 1));
            return;
        }
        panic!("the store never opened");
    }
}

/// Names the database that a child process works on; without it the child's test does nothing.
const CHILD: &str = "ORDAIN_TEST_CHILD";

/// Not a test: what the killed process does. It buys one pair after another and says so.
#[tokio::test]
async fn child_that_is_killed() {
    let Ok(place) = std::env::var(CHILD) else { return };
    let (folder, url) = place.split_once('|').unwrap();
    let options = if url.is_empty() {
        ordain_store::StoreOptions::sqlite(folder)
    } else {
        ordain_store::StoreOptions::postgres(url, folder)
    };
    let mut options = options;
    for (name, key) in [("inventory", "item_id"), ("transactions", "transaction_id")] {
        options.tables.push(ordain_store::TableDeclaration {
            name: name.to_owned(),
            seed: Some(std::path::Path::new(folder).join(format!("{name}.json"))),
            key: vec![key.to_owned()],
            append_only: name == "transactions",
            ..ordain_store::TableDeclaration::default()
        });
    }
    let store = Store::open(options).await.unwrap();
    loop {
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        let record = commit(transaction).await.unwrap();
        announce(&format!("bought {}", record.run_id));
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn announce(line: &str) {
    println!("\n{line}");
}

on_both! {
    async fn a_killed_process_leaves_a_whole_number_of_runs(world: World) {
        world.file("inventory.json", &json!([{"item_id": "SG005", "name": "Classic", "price": 1.0, "quantity_in_stock": 1_000_000}]).to_string());
        world.file("transactions.json", crate::world::TRANSACTIONS);
        let place = format!("{}|{}", world.folder.path().display(), world.url.clone().unwrap_or_default());
        let mut announced = 0;
        let rounds = ordain_testkit::long::times(12) as usize;
        for round in 0..rounds as u64 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "faults::child_that_is_killed", "--nocapture"])
                .env(CHILD, &place)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            // Let it buy something, then kill it at a moment that moves from round to round.
            let bought = |line: &str| line.starts_with("bought ");
            assert!(lines.by_ref().any(|line| bought(&line.unwrap())), "the child has bought nothing");
            announced += 1;
            std::thread::sleep(Duration::from_micros(round * 1733 % 9000));
            child.kill().unwrap();
            child.wait().unwrap();
            announced += lines.map_while(Result::ok).filter(|line| bought(line)).count();
        }
        let mut options = world.options();
        options.tables = vec![
            world.table("inventory", "item_id", "[]"),
            world.table("transactions", "transaction_id", "[]"),
        ];
        let store = Store::open(options).await.unwrap();
        let report = store.verify_ledger().await.unwrap();
        assert!(report.is_whole(), "{:?}", report.findings);
        let (inventory, transactions) = (rows(&store, "inventory").await, rows(&store, "transactions").await);
        let runs = transactions.len() - 1;
        assert!(runs >= announced && runs <= announced + rounds, "{runs} runs, {announced} announced");
        assert_eq!(inventory[0]["quantity_in_stock"], 1_000_000 - runs);
        assert_eq!(transactions.last().unwrap()["balance"].as_f64(), Some(500.0 + f64::from(u32::try_from(runs).unwrap())));
        assert_eq!(report.entries, runs as u64 + 1);
        let committed = store.find_runs(RunFilter { states: vec![RunState::Committed], ..RunFilter::newest(1_000_000) }).await.unwrap();
        assert_eq!(committed.len(), runs);
    }
}
