//! A process that is killed at any moment leaves a whole number of runs behind.

use std::process::{Command, Stdio};
use std::time::Duration;

use ordain_store::{Store, StoreOptions};
use ordain_types::RunState;
use serde_json::Value;

use crate::world::{ask, on_both, options_at, world_at};

/// Tells a copy of this test binary that it is the process to be killed, and where its store is.
const VICTIM: &str = "ORDAIN_TEST_VICTIM";

const BUY_ONE: &str = "\
Item = Query()
item = inventory_tbl.get(Item.name == 'Classic')
inventory_tbl.update({'quantity_in_stock': item['quantity_in_stock'] - 1}, Item.name == 'Classic')
number = len(transactions_tbl) + 1
last = transactions_tbl.all()[-1]['balance_after_transaction']
transactions_tbl.insert({
    'transaction_id': f'T{number}', 'customer_name': 'x', 'transaction_summary': 'one Classic',
    'transaction_amount': 60.0, 'balance_after_transaction': last + 60.0, 'timestamp': '2026-01-01T00:00:00',
})
answer_text = 'Sold one.'
STATUS = 'success'
";

/// Buys until it is killed. Does nothing unless it was started to be the victim.
#[tokio::test]
async fn victim() {
    let Ok(place) = std::env::var(VICTIM) else { return };
    let (folder, url) = place.split_once('\n').unwrap();
    let world = world_at(options_at(folder.as_ref(), Some(url).filter(|url| !url.is_empty()))).await;
    loop {
        world.engine.ask(ask(BUY_ONE, ordain_engine::Mode::Commit)).await.unwrap();
        fs_err::write(started(folder.as_ref()), "").unwrap();
    }
}

/// The file that tells of the first run.
fn started(folder: &std::path::Path) -> std::path::PathBuf {
    folder.join("started")
}

on_both! {
async fn a_killed_process_leaves_a_whole_number_of_runs(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = database.fresh_url();
    drop(Store::open(options_at(folder.path(), url.as_deref())).await.unwrap());
    let mut bought = 0;
    for round in 0..ordain_testkit::long::times(12) {
        let _ = fs_err::remove_file(started(folder.path()));
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::victim", "--nocapture"])
            .env(VICTIM, format!("{}\n{}", folder.path().display(), url.as_deref().unwrap_or_default()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From its first run on it is always in the middle of something, and each time somewhere else.
        while !started(folder.path()).exists() && victim.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(13 * u64::from(round))).await;
        victim.kill().unwrap();
        victim.wait().unwrap();
        bought = look_at(options_at(folder.path(), url.as_deref()), bought).await;
    }
    assert!(bought > 0, "no run was ever committed");
}
}

/// Sees that the rows are what a whole number of runs makes, and that the ledger knows exactly those.
async fn look_at(options: StoreOptions, bought_before: i64) -> i64 {
    let world = world_at(options).await;
    let stock = world.stock("Classic").await;
    let sales: Vec<Value> = world.rows("transactions").await;
    let bought = i64::try_from(sales.len()).unwrap() - 1;
    assert_eq!(stock, 100_000 - bought, "stock and sales tell of different numbers of runs");
    assert!(bought >= bought_before, "a committed run was lost");
    let balance = sales.last().unwrap()["balance_after_transaction"].as_f64().unwrap();
    assert!((balance - (500.0 + 60.0 * f64::from(i32::try_from(bought).unwrap()))).abs() < 1e-6);
    let store = world.engine.store();
    let report = store.verify_ledger().await.unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    let mut committed = 0;
    let mut after = 0;
    loop {
        let entries = store.ledger_entries(after, 500).await.unwrap();
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            if let Some(run) = &entry.run_id
                && entry.kind == "ask"
            {
                committed += i64::from(store.run(run).await.unwrap().state == RunState::Committed);
            }
        }
    }
    assert_eq!(committed, bought, "the ledger claims another number of runs than the rows show");
    world.executor.close().await;
    bought
}
