//! Several runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use ordain_store::{BeginOptions, Claim, Intent, Store, StoreError, StoreLimits, Transaction};
use serde_json::json;

use crate::world::{World, begin, buy, commit, objects, on_both, rows};

/// A whole run, tried again when another one was faster: first as a reader that writes after all, then in line.
async fn purchase(store: &Store, conflicts: &AtomicU32) -> bool {
    for attempt in 0..5 {
        let intent = if attempt == 0 { Intent::Read } else { Intent::Write };
        let mut transaction = begin(store, intent).await;
        let result = match buy(&mut transaction, "Classic", 1).await {
            Ok(false) => return false,
            Ok(true) => commit(transaction).await.map(|_| ()),
            Err(error) => Err(error),
        };
        match result {
            Ok(()) => return true,
            Err(StoreError::Conflict) => drop(conflicts.fetch_add(1, Ordering::Relaxed)),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("a run that waits in line must get through");
}

/// A writer that has its turn needs threads for its calls; those who wait for theirs may not hold them all.
#[test]
fn writers_that_wait_do_not_hold_the_threads_that_the_one_before_them_needs() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).max_blocking_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = crate::world::World::sqlite();
        let store = world.shop().await;
        let before = rows(&store, "transactions").await.len();
        let runs = (0..12).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                // Some only answer, and are written down when their turn comes.
                let intent = if number % 3 == 0 { Intent::Read } else { Intent::Write };
                let mut transaction = begin(&store, intent).await;
                let has_bought =
                    intent == Intent::Write && buy(&mut transaction, "Classic", 1).await.unwrap();
                commit(transaction).await.unwrap();
                has_bought
            })
        });
        let mut bought = 0;
        for run in runs.collect::<Vec<_>>() {
            bought += usize::from(run.await.unwrap());
        }
        assert!(bought > 1, "{bought}");
        assert_eq!(rows(&store, "transactions").await.len(), before + bought);
    });
}

/// The first has stopped in the middle of a run: nobody looks after its transaction any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_stands_still_does_not_keep_others_from_writing() {
    for intent in [Intent::Write, Intent::Beside] {
        let world = World::postgres();
        let mut options = world.shop_options();
        let (lock_hold, lock_wait) = (Duration::from_millis(50), Duration::from_millis(900));
        options.limits = StoreLimits { lock_hold, lock_wait, ..StoreLimits::default() };
        let store = Store::open(options.clone()).await.unwrap();
        // A second store knows no more of the first one than a second process does.
        let other = Store::open(options).await.unwrap();
        let mut stopped = begin(&store, intent).await;
        assert!(buy(&mut stopped, "Classic", 1).await.unwrap());
        bought_at_last(&other, intent).await;
        let late = commit(stopped).await;
        assert!(matches!(late, Err(StoreError::Unreachable { .. })), "{late:?}");
        bought_at_last(&store, intent).await;
        assert_eq!(rows(&other, "inventory").await[1]["quantity_in_stock"], 8);
        let report = other.verify_ledger().await.unwrap();
        assert!(report.is_whole() && report.entries == 3, "{report:?}");
    }
}

/// Each of the two that wait has the other one behind it, and gives way to it before it has waited for long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_that_give_way_to_each_other_get_past_a_process_that_stands_still() {
    let world = World::postgres();
    let mut options = world.shop_options();
    let (lock_hold, lock_wait) = (Duration::from_millis(400), Duration::from_secs(1));
    options.limits = StoreLimits { lock_hold, lock_wait, ..StoreLimits::default() };
    let store = Store::open(options.clone()).await.unwrap();
    let other = Store::open(options).await.unwrap();
    let mut stopped = begin(&store, Intent::Beside).await;
    assert!(buy(&mut stopped, "Classic", 1).await.unwrap());
    let both = futures_util::future::join(bought_giving_way(&other), bought_giving_way(&other));
    tokio::time::timeout(Duration::from_mins(1), both).await.expect("one of the two gets through");
    assert_eq!(rows(&other, "inventory").await[1]["quantity_in_stock"], 8);
}

/// Buys, and begins again whenever it has kept others waiting for too long.
async fn bought_giving_way(store: &Store) {
    loop {
        let mut transaction = begin(store, Intent::Beside).await;
        let overdue = transaction.overdue();
        let bought = async {
            assert!(buy(&mut transaction, "Classic", 1).await?);
            commit(transaction).await
        };
        let bought = tokio::select! {
            bought = bought => bought,
            overdue = overdue => overdue.map(|never| match never {}),
        };
        match bought {
            Ok(_) => return,
            Err(StoreError::Busy | StoreError::Conflict | StoreError::LockLimit { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Buys as soon as nobody is in the way any more.
async fn bought_at_last(store: &Store, intent: Intent) {
    loop {
        let begun = BeginOptions { run_id: store.new_run_id().unwrap(), intent };
        let bought = async {
            let mut transaction = store.begin(begun).await?;
            assert!(buy(&mut transaction, "Classic", 1).await?);
            commit(transaction).await
        };
        match bought.await {
            Ok(_) => return,
            Err(StoreError::Busy | StoreError::Conflict) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

on_both! {
    async fn thirty_two_clients_sell_exactly_what_there_is(world: World) {
        let mut options = world.shop_options();
        world.file("inventory.json", r#"[{"item_id": "SG005", "name": "Classic", "price": 60.0, "quantity_in_stock": 100}]"#);
        options.limits = StoreLimits { lock_wait: Duration::from_mins(1), ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let (sold, conflicts) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicU32::new(0)));
        let clients = (0..32).map(|_| {
            let (store, sold, conflicts) = (store.clone(), sold.clone(), conflicts.clone());
            tokio::spawn(async move {
                while purchase(&store, &conflicts).await {
                    sold.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await.unwrap();
        }
        assert_eq!(sold.load(Ordering::Relaxed), 100);
        assert_eq!(rows(&store, "inventory").await[0]["quantity_in_stock"], 0);
        let transactions = rows(&store, "transactions").await;
        assert_eq!(transactions.len(), 101);
        assert_eq!(transactions.last().unwrap()["balance"], 500.0 + 100.0 * 60.0);
        let report = store.verify_ledger().await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        // Every client that found nothing left has ended with an answer, not with an entry: 1 seed, 100 sales.
        assert_eq!(report.entries, 101);
    }

    async fn a_reader_that_writes_after_somebody_else_is_told_to_start_again(world: World) {
        let store = world.shop().await;
        let mut late = begin(&store, Intent::Read).await;
        let page = late.call("search", json!({"table": "inventory"})).await.unwrap();
        assert_eq!(page["rows"].as_array().unwrap().len(), 3);
        let mut fast = begin(&store, Intent::Write).await;
        assert!(buy(&mut fast, "Classic", 1).await.unwrap());
        commit(fast).await.unwrap();
        let result = match buy(&mut late, "Classic", 1).await {
            Ok(_) => commit(late).await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}");
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 9);
    }

    async fn a_reader_neither_waits_for_a_writer_nor_makes_it_wait(world: World) {
        let store = world.shop().await;
        let mut reader = begin(&store, Intent::Read).await;
        assert_eq!(crate::world::all(&mut reader, json!({"table": "inventory"})).await.len(), 3);
        let mut writer = begin(&store, Intent::Write).await;
        writer.call("remove", json!({"table": "inventory", "all": true})).await.unwrap();
        // The reader still sees its own moment, before and after the writer's commit.
        assert_eq!(crate::world::all(&mut reader, json!({"table": "inventory"})).await.len(), 3);
        commit(writer).await.unwrap();
        assert_eq!(crate::world::all(&mut reader, json!({"table": "inventory"})).await.len(), 3);
        assert_eq!(rows(&store, "inventory").await.len(), 0);
        commit(reader).await.unwrap();
    }

    async fn a_writer_waits_no_longer_than_it_may(world: World) {
        let mut options = world.shop_options();
        options.limits = StoreLimits { lock_wait: Duration::from_millis(200), ..StoreLimits::default() };
        let store = Store::open(options.clone()).await.unwrap();
        // Another process, as far as this store can tell.
        let other = Store::open(options).await.unwrap();
        let mut writer = begin(&other, Intent::Write).await;
        assert!(buy(&mut writer, "Classic", 1).await.unwrap());
        let run_id = store.new_run_id().unwrap();
        let error = store.begin(BeginOptions { run_id, intent: Intent::Write }).await.unwrap_err();
        assert!(matches!(error, StoreError::Busy), "{error}");
        commit(writer).await.unwrap();
        let mut writer = begin(&store, Intent::Write).await;
        assert!(buy(&mut writer, "Classic", 1).await.unwrap());
        commit(writer).await.unwrap();
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 8);
    }

    async fn a_statement_that_nobody_waits_for_is_ended(world: World) {
        let mut options = world.shop_options();
        options.limits = StoreLimits { query_wall: Duration::from_mins(10), ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let task = {
            let store = store.clone();
            tokio::spawn(async move {
                let mut writer = begin(&store, Intent::Write).await;
                let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
                writer.call("query", json!({"sql": endless})).await.unwrap();
            })
        };
        tokio::time::sleep(Duration::from_millis(200)).await;
        task.abort();
        let _ = task.await;
        // The next writer would wait for its lock until the statement's own limit.
        let mut writer = begin(&store, Intent::Write).await;
        assert!(buy(&mut writer, "Classic", 1).await.unwrap());
        commit(writer).await.unwrap();
    }

    async fn a_caller_that_goes_away_in_the_middle_leaves_nothing(world: World) {
        let store = world.shop().await;
        let before = rows(&store, "inventory").await;
        for _ in 0..20 {
            let store = store.clone();
            let task = tokio::spawn(async move {
                let mut transaction = begin(&store, Intent::Write).await;
                loop {
                    let args = json!({"table": "inventory", "all": true, "set": {"price": 1.0}});
                    transaction.call("update", args).await.unwrap();
                    let args = json!({"table": "inventory", "all": true, "set": {"price": 2.0}});
                    transaction.call("update", args).await.unwrap();
                }
            });
            tokio::time::sleep(Duration::from_millis(15)).await;
            task.abort();
            let _ = task.await;
        }
        assert_eq!(rows(&store, "inventory").await, before);
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        commit(transaction).await.unwrap();
    }
}

/// Takes so many away from the stock of an item that is found by its key.
async fn take(transaction: &mut Transaction, item_id: &str, quantity: i64) -> Result<(), StoreError> {
    let by_key = json!({"op": "eq", "path": ["item_id"], "value": item_id});
    let page = transaction.call("search", json!({"table": "inventory", "where": by_key, "limit": 1})).await?;
    let item = objects(&page).remove(0);
    let stock = item["quantity_in_stock"].as_i64().unwrap();
    let set = json!({"quantity_in_stock": stock - quantity});
    let args = json!({"table": "inventory", "doc_ids": [item["doc_id"]], "set": set});
    transaction.call("update", args).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_touch_different_rows_go_on_side_by_side_on_postgres() {
    let world = World::postgres();
    let store = world.shop().await;
    let mut one = begin(&store, Intent::Beside).await;
    let mut other = begin(&store, Intent::Beside).await;
    take(&mut one, "SG001", 1).await.unwrap();
    take(&mut other, "SG005", 2).await.unwrap();
    // Who began later may end earlier; neither waits for the other nor starts again.
    commit(other).await.unwrap();
    commit(one).await.unwrap();
    let left: Vec<_> =
        rows(&store, "inventory").await.iter().map(|row| row["quantity_in_stock"].clone()).collect();
    assert_eq!(left, [22, 8, 0]);
    let report = store.verify_rows().await.unwrap();
    assert!(report.is_whole() && report.entries == 3, "{report:?}");
}

/// A change of an indexed column writes to the pages of every index of its table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_on_neighbouring_rows_do_not_meet_in_an_index_of_what_they_change() {
    let world = World::postgres();
    let store = world.shop().await;
    let mut runs =
        [("SG001", begin(&store, Intent::Beside).await), ("SG005", begin(&store, Intent::Beside).await)];
    // Both have looked before either changes anything.
    for (item_id, run) in &mut runs {
        let by_key = json!({"op": "eq", "path": ["item_id"], "value": item_id});
        run.call("search", json!({"table": "inventory", "where": by_key, "limit": 1})).await.unwrap();
    }
    for (item_id, run) in &mut runs {
        take(run, item_id, 1).await.unwrap();
    }
    for (_, run) in runs {
        commit(run).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_runs_that_touch_one_row_one_starts_again_and_gets_through() {
    let world = World::postgres();
    let store = world.shop().await;
    let mut one = begin(&store, Intent::Beside).await;
    let mut other = begin(&store, Intent::Beside).await;
    // Both see the moment before either has changed anything.
    other.call("count", json!({"table": "inventory"})).await.unwrap();
    take(&mut one, "SG005", 1).await.unwrap();
    let second = tokio::spawn(async move {
        match take(&mut other, "SG005", 1).await {
            Ok(()) => commit(other).await.map(drop),
            Err(error) => Err(error),
        }
    });
    commit(one).await.unwrap();
    let refused = second.await.unwrap();
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    let mut again = begin(&store, Intent::Write).await;
    take(&mut again, "SG005", 1).await.unwrap();
    commit(again).await.unwrap();
    assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_writes_alone_waits_for_those_beside_each_other_and_they_for_it() {
    let world = World::postgres();
    let store = world.shop().await;
    let mut beside = begin(&store, Intent::Beside).await;
    take(&mut beside, "SG001", 1).await.unwrap();
    let alone = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut alone = begin(&store, Intent::Write).await;
            take(&mut alone, "SG001", 1).await.unwrap();
            commit(alone).await
        })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!alone.is_finished(), "it did not wait");
    // What Ordain keeps for itself waits for neither.
    let run = store.new_run_id().unwrap();
    assert_eq!(store.claim("key", &run).await.unwrap(), Claim::Taken);
    commit(beside).await.unwrap();
    alone.await.unwrap().unwrap();
    assert_eq!(rows(&store, "inventory").await[0]["quantity_in_stock"], 21);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_two_processes_side_by_side_lose_nothing_and_leave_one_chain() {
    const ITEMS: usize = 40;
    let world = World::postgres();
    let seed: Vec<_> = (0..ITEMS)
        .map(
            |at| json!({"item_id": format!("I{at:03}"), "name": "x", "price": 1.0, "quantity_in_stock": 100}),
        )
        .collect();
    let options = world.shop_options();
    world.file("inventory.json", &json!(seed).to_string());
    // Another process, as far as the first store can tell.
    let stores = [Store::open(options.clone()).await.unwrap(), Store::open(options).await.unwrap()];
    let writers = (0..8).map(|writer| {
        let store = stores[writer % 2].clone();
        tokio::spawn(async move {
            for round in 0..10 {
                let item = format!("I{:03}", (writer * 5 + round) % ITEMS);
                let mut intent = Intent::Beside;
                loop {
                    let mut transaction = begin(&store, intent).await;
                    let done = match take(&mut transaction, &item, 1).await {
                        Ok(()) => commit(transaction).await.map(drop),
                        Err(error) => Err(error),
                    };
                    match done {
                        Ok(()) => break,
                        Err(StoreError::Conflict) => intent = Intent::Write,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let left: i64 = rows(&stores[0], "inventory")
        .await
        .iter()
        .map(|row| row["quantity_in_stock"].as_i64().unwrap())
        .sum();
    assert_eq!(left, 100 * 40 - 80);
    for store in &stores {
        let report = store.verify_rows().await.unwrap();
        assert!(report.is_whole() && report.entries == 81, "{report:?}");
    }
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_named() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("store.db"), "this is no database, and longer than a header of one hundred bytes, which is what SQLite reads first").unwrap();
    let error = Store::open(ordain_store::StoreOptions::sqlite(folder.path())).await.unwrap_err();
    assert!(matches!(error, StoreError::File { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("ordain tables restore")), "{error}");
    let folder = tempfile::TempDir::new().unwrap();
    for url in [
        "postgres://nobody@127.0.0.1:1/none",
        "postgres://x@/y?host=/nowhere",
        "postgres://a?nonsense=1",
        "nonsense",
    ] {
        let error = Store::open(ordain_store::StoreOptions::postgres(url, folder.path())).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{url}: {error}");
        assert!(error.hint().is_some());
    }
    let error =
        Store::open(ordain_store::StoreOptions::postgres("postgres://ann:hush@127.0.0.1:1/x", folder.path()))
            .await
            .unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"));
}
