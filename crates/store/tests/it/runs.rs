//! How runs end: committed, held, approved, rejected, undone, reseeded — and claimed once.

use std::time::Duration;

use ordain_store::{
    Claim, Clock, EntryNote, Intent, Invariant, RunFilter, SeenBy, Store, StoreError, StoreLimits,
};
use ordain_types::{Grade, Row, RunId, RunKind, RunRecord, RunState};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::world::{World, begin, buy, commit, hold, note, on_both, record, rows};

async fn set_stock(store: &Store, doc_id: i64, stock: i64) {
    let mut transaction = begin(store, Intent::Write).await;
    let args = json!({"table": "inventory", "doc_ids": [doc_id], "set": {"quantity_in_stock": stock}});
    transaction.call("update", args).await.unwrap();
    commit(transaction).await.unwrap();
}

async fn held_purchase(store: &Store) -> ordain_types::RunRecord {
    let mut transaction = begin(store, Intent::Write).await;
    assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
    hold(transaction).await.unwrap()
}

on_both! {
    async fn the_rows_version_moves_with_the_rows_and_not_with_runs_that_read(world: World) {
        let store = world.shop().await;
        let seeded = store.data_version().await.unwrap();
        commit(begin(&store, Intent::Read).await).await.unwrap();
        let held = held_purchase(&store).await;
        assert_eq!(store.data_version().await.unwrap(), seeded, "nothing has changed yet");

        let approved = store.approve(held.run_id.as_str(), note()).await.unwrap();
        let bought = store.data_version().await.unwrap();
        store.undo(approved.run_id.as_str(), note()).await.unwrap();
        let undone = store.data_version().await.unwrap();
        // Another process sees the same.
        let elsewhere = Store::open(world.shop_options()).await.unwrap();
        elsewhere.reseed(&[], note()).await.unwrap();
        let reseeded = store.data_version().await.unwrap();
        assert!(seeded < bought && bought < undone && undone < reseeded, "{seeded} {bought} {undone} {reseeded}");
    }

    async fn conflicts_of_a_held_run_are_told_before_anybody_approves_it(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        assert_eq!(store.conflicts(std::slice::from_ref(&held.run_id)).await.unwrap(), [[]]);
        set_stock(&store, 2, 1).await;
        let conflicts = store.conflicts(std::slice::from_ref(&held.run_id)).await.unwrap().remove(0);
        assert_eq!(conflicts.len(), 1, "{conflicts:?}");
        let stock = |row: &Option<Row>| row.as_ref().and_then(|row| row.get("quantity_in_stock").cloned());
        assert_eq!((stock(&conflicts[0].expected), stock(&conflicts[0].found)), (Some(json!(10)), Some(json!(1))));
        assert_eq!(store.run(held.run_id.as_str()).await.unwrap().state, RunState::Held);
    }

    async fn runs_are_counted_by_day_and_state(world: World) {
        let store = world.shop().await;
        held_purchase(&store).await;
        let second = held_purchase(&store).await;
        let bounds = [0, 1, u64::MAX >> 16].map(|millis| RunId::from_parts(millis, [0; 10]));
        let counts = store.run_counts(&bounds).await.unwrap();
        assert_eq!(counts, [vec![], vec![(RunState::Held, 2)]]);
        let newest = store.run_ids(RunState::Held, 1).await.unwrap();
        assert_eq!(newest, [second.run_id]);
    }

    async fn an_invariant_that_does_not_hold_rolls_everything_back(world: World) {
        let store = world.shop().await;
        let before = (rows(&store, "inventory").await, rows(&store, "transactions").await);
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        let args = json!({"table": "inventory", "doc_ids": [2], "set": {"quantity_in_stock": -1}});
        transaction.call("update", args).await.unwrap();
        let error = commit(transaction).await.unwrap_err();
        let StoreError::Violated { violations } = &error else { panic!("{error}") };
        assert_eq!(violations[0].name, "stock never below zero");
        assert_eq!(serde_json::to_value(&violations[0].rows).unwrap(), json!([{"item_id": "SG005", "quantity_in_stock": -1}]));
        assert_eq!((rows(&store, "inventory").await, rows(&store, "transactions").await), before);
    }

    async fn a_run_that_changes_nothing_is_answered_and_recorded(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Read).await;
        assert!(!buy(&mut transaction, "Moon", 1).await.unwrap());
        let answered = commit(transaction).await.unwrap();
        assert_eq!(answered.state, RunState::Answered);
        assert_eq!(store.run(answered.run_id.as_str()).await.unwrap().state, RunState::Answered);
        assert_eq!(store.entries_of_run(&answered.run_id).await.unwrap().len(), 1);
    }

    async fn a_held_run_changes_nothing_until_it_is_approved(world: World) {
        let store = world.shop().await;
        let before = rows(&store, "inventory").await;
        let held = held_purchase(&store).await;
        assert_eq!(held.state, RunState::Held);
        assert_eq!(rows(&store, "inventory").await, before);
        assert_eq!(store.count_runs(RunState::Held).await.unwrap(), 1);
        let approved = store.approve(&held.run_id.as_str()[..12], note()).await.unwrap();
        assert_eq!((approved.state, &approved.diff), (RunState::Committed, &held.diff));
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 7);
        assert_eq!(rows(&store, "transactions").await.len(), 2);
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::WrongState { state: RunState::Committed, .. }), "{error}");
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }

    async fn a_held_run_is_conflicted_when_a_row_changed_meanwhile(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        set_stock(&store, 2, 9).await;
        let before = (rows(&store, "inventory").await, rows(&store, "transactions").await);
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        let StoreError::RowsConflict { conflicts } = &error else { panic!("{error}") };
        assert_eq!(conflicts.len(), 1);
        assert_eq!(serde_json::to_value(&conflicts[0].key).unwrap(), json!({"item_id": "SG005"}));
        assert_eq!(conflicts[0].found.as_ref().and_then(|row| row.get("quantity_in_stock")), Some(&json!(9)));
        assert_eq!((rows(&store, "inventory").await, rows(&store, "transactions").await), before);
        assert_eq!(store.run(held.run_id.as_str()).await.unwrap().state, RunState::Conflicted);
    }

    async fn an_added_row_whose_key_was_taken_meanwhile_is_a_conflict(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        commit(transaction).await.unwrap();
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        let StoreError::RowsConflict { conflicts } = &error else { panic!("{error}") };
        assert_eq!((conflicts[0].table.as_str(), conflicts[0].expected.as_ref()), ("transactions", None));
    }

    async fn approval_is_refused_when_an_invariant_no_longer_holds(world: World) {
        let mut options = world.shop_options();
        options.invariants.push(Invariant {
            name: "at most 30 pairs".to_owned(),
            sql: "SELECT sum(quantity_in_stock) AS pairs FROM inventory HAVING sum(quantity_in_stock) > 35".to_owned(),
        });
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let args = json!({"table": "inventory", "doc_ids": [3], "set": {"quantity_in_stock": 2}});
        transaction.call("update", args).await.unwrap();
        let held = hold(transaction).await.unwrap();
        set_stock(&store, 2, 12).await;
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::Violated { .. }), "{error}");
        assert_eq!(store.run(held.run_id.as_str()).await.unwrap().state, RunState::Held);
        set_stock(&store, 2, 1).await;
        store.approve(held.run_id.as_str(), note()).await.unwrap();
    }

    async fn a_rating_is_in_the_record_and_in_the_ledger_and_decides_nothing(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        let run = held.run_id.as_str();
        store.rate(run, Grade::Bad, Some(" too slow "), EntryNote::by("anna", "test")).await.unwrap();
        let rated = store.rate(run, Grade::Good, None, EntryNote::by("anna", "test")).await.unwrap();
        assert_eq!(rated.rating.as_ref().map(|rating| rating.grade), Some(Grade::Good));
        let kinds: Vec<_> = store.entries_of_run(&held.run_id).await.unwrap().into_iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [held.kind.as_str(), "rate", "rate"]);
        let owned = store.owned_run(run).await.unwrap();
        assert_eq!((owned.record, owned.decided_by), (rated, None));
        let committed = store.approve(run, note()).await.unwrap();
        assert_eq!((committed.state, committed.rating.is_some()), (RunState::Committed, true));
        let long = "x".repeat(2001);
        let error = store.rate(run, Grade::Bad, Some(&long), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::BadCall { .. }), "{error}");
        assert!(matches!(store.rate("zz", Grade::Bad, None, note()).await, Err(StoreError::UnknownRun { .. })));
    }

    async fn a_rejected_run_stays_rejected(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        assert_eq!(store.reject(held.run_id.as_str(), note()).await.unwrap().state, RunState::Rejected);
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::WrongState { .. }), "{error}");
        let kinds: Vec<String> = store.entries_of_run(&held.run_id).await.unwrap().into_iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, ["ask", "reject"]);
    }

    async fn held_changes_that_somebody_edited_are_not_applied(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        let runs = world.own("runs");
        world.tamper(&format!("UPDATE {runs} SET changes = replace(changes, '\"amount\":180.0', '\"amount\":1.0')"));
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::Ledger { .. }), "{error}");
        assert_eq!(rows(&store, "transactions").await.len(), 1);
    }

    async fn undo_restores_every_row_and_is_in_the_ledger(world: World) {
        let store = world.shop().await;
        let before = (rows(&store, "inventory").await, rows(&store, "transactions").await);
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        transaction.call("remove", json!({"table": "inventory", "doc_ids": [3]})).await.unwrap();
        transaction.call("insert", json!({"table": "inventory", "rows": [{"item_id": "NEW"}]})).await.unwrap();
        let args = json!({"table": "inventory", "doc_ids": [1], "set": {"item_id": "SG777"}, "unset": ["name"]});
        transaction.call("update", args).await.unwrap();
        let done = commit(transaction).await.unwrap();
        let undone = store.undo(done.run_id.as_str(), note()).await.unwrap();
        assert_eq!(undone.state, RunState::Undone);
        assert_eq!((rows(&store, "inventory").await, rows(&store, "transactions").await), before);
        let kinds: Vec<String> = store.entries_of_run(&done.run_id).await.unwrap().into_iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, ["ask", "undo"]);
        let error = store.undo(done.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::WrongState { .. }), "{error}");
    }

    async fn undo_does_not_overwrite_what_changed_since(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let done = commit(transaction).await.unwrap();
        set_stock(&store, 2, 5).await;
        let error = store.undo(done.run_id.as_str(), note()).await.unwrap_err();
        let StoreError::RowsConflict { conflicts } = &error else { panic!("{error}") };
        assert_eq!(conflicts[0].to_string(), "row {\"item_id\":\"SG005\"} of table `inventory`");
        assert_eq!(store.run(done.run_id.as_str()).await.unwrap().state, RunState::Committed);
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 5);
    }

    async fn keys_that_two_rows_swap_can_be_undone(world: World) {
        let store = world.shop().await;
        let before = rows(&store, "inventory").await;
        let mut transaction = begin(&store, Intent::Write).await;
        for (doc_id, key) in [(1, "TMP"), (2, "SG001"), (1, "SG005")] {
            let args = json!({"table": "inventory", "doc_ids": [doc_id], "set": {"item_id": key}});
            transaction.call("update", args).await.unwrap();
        }
        let done = commit(transaction).await.unwrap();
        store.undo(done.run_id.as_str(), note()).await.unwrap();
        assert_eq!(rows(&store, "inventory").await, before);
    }

    async fn reseed_brings_the_seeds_back_and_is_in_the_ledger(world: World) {
        let store = world.shop().await;
        let before = (rows(&store, "inventory").await, rows(&store, "transactions").await);
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        commit(transaction).await.unwrap();
        let done = store.reseed(&["inventory".to_owned()], note()).await.unwrap();
        assert_eq!((done.len(), done[0].removed, done[0].added), (1, 3, 3));
        assert_eq!((rows(&store, "inventory").await, rows(&store, "transactions").await.len()), (before.0.clone(), 2));
        store.reseed(&[], note()).await.unwrap();
        assert_eq!((rows(&store, "inventory").await, rows(&store, "transactions").await), before);
        let newest = store.newest_entries(u64::MAX, 1).await.unwrap();
        assert_eq!(newest[0].kind, "reseed");
        assert!(store.verify_ledger().await.unwrap().is_whole());
        let error = store.reseed(&["inventry".to_owned()], note()).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownTable { .. }), "{error}");
    }

    async fn a_seed_with_new_columns_makes_the_table_anew(world: World) {
        let store = world.with_table("things", "id", r#"[{"id": 1}]"#).await;
        world.file("things.json", r#"[{"id": 1, "colour": "red"}, {"id": 2, "colour": "blue"}]"#);
        store.reseed(&[], note()).await.unwrap();
        assert_eq!(rows(&store, "things").await[1], json!({"doc_id": 2, "id": 2, "colour": "blue"}));
        assert!(store.schema().tables[0].column("colour").is_some());
    }

    async fn a_seed_that_breaks_an_invariant_is_refused(world: World) {
        let mut options = world.shop_options();
        world.file("inventory.json", r#"[{"item_id": "SG001", "name": "Aviator", "price": 80.0, "quantity_in_stock": -3}]"#);
        let error = Store::open(options.clone()).await.unwrap_err();
        assert!(matches!(&error, StoreError::Violated { violations } if violations[0].rule == "invariant"), "{error}");
        options.invariants = vec![Invariant { name: "typo".to_owned(), sql: "SELECT * FROM inventroy".to_owned() }];
        let error = Store::open(options.clone()).await.unwrap_err();
        assert!(error.to_string().starts_with("invariant `typo`"), "{error}");
        for sql in ["DELETE FROM inventory", "SELECT 1; DELETE FROM inventory", "nonsense"] {
            options.invariants = vec![Invariant { name: "odd".to_owned(), sql: sql.to_owned() }];
            let error = Store::open(options.clone()).await.unwrap_err();
            assert!(matches!(error, StoreError::Declaration { .. }), "{sql}: {error}");
        }
        options.invariants.clear();
        let store = Store::open(options).await.unwrap();
        assert_eq!(rows(&store, "inventory").await.len(), 1);
    }

    async fn a_claimed_key_runs_once_and_a_repeat_gets_the_first_outcome(world: World) {
        let store = world.shop().await;
        let (first, second) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        assert_eq!(store.claim("order-1", &first).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim("order-1", &second).await.unwrap(), Claim::Running(first.clone()));
        let mut transaction = store.begin(ordain_store::BeginOptions { run_id: first.clone(), intent: Intent::Write }).await.unwrap();
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        let claimed = EntryNote { claim: Some("order-1".to_owned()), ..note() };
        let done = transaction.commit(record(&first), claimed).await.unwrap();
        assert_eq!(store.claim("order-1", &second).await.unwrap(), Claim::Finished(Box::new(done)));
        assert!(store.claim("", &second).await.is_err());
        assert_eq!(store.claim("order-2", &second).await.unwrap(), Claim::Taken);
        store.release("order-2", &second).await.unwrap();
        assert_eq!(store.claim("order-2", &first).await.unwrap(), Claim::Taken);
    }

    async fn a_run_whose_lease_was_taken_over_cannot_commit(world: World) {
        let now = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(1_700_000_000_000));
        let mut options = world.shop_options();
        let clock = now.clone();
        options.clock = Clock::new(move || clock.load(std::sync::atomic::Ordering::Relaxed));
        options.limits = StoreLimits { claim_lease: Duration::from_mins(1), ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let (first, second) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        assert_eq!(store.claim("k", &first).await.unwrap(), Claim::Taken);
        now.fetch_add(61_000, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(store.claim("k", &second).await.unwrap(), Claim::Taken);
        let mut transaction = store.begin(ordain_store::BeginOptions { run_id: first.clone(), intent: Intent::Write }).await.unwrap();
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        let claimed = EntryNote { claim: Some("k".to_owned()), ..note() };
        let error = transaction.commit(record(&first), claimed).await.unwrap_err();
        assert!(matches!(error, StoreError::KeyHeld { .. }), "{error}");
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 10);
    }

    async fn a_caller_sees_its_own_runs_and_those_it_decided_on_and_no_others(world: World) {
        let store = world.shop().await;
        let held = held_purchase(&store).await;
        let decided = held_purchase(&store).await;
        store.reject(decided.run_id.as_str(), EntryNote::by("boss", "test")).await.unwrap();
        let own = record(&store.new_run_id().unwrap());
        let own = store.record(own, EntryNote::by("boss", "test")).await.unwrap();
        for (sees_held, states, seen) in [
            (false, vec![], vec![&own, &decided]),
            (true, vec![], vec![&own, &decided, &held]),
            (true, vec![RunState::Held, RunState::Rejected], vec![&decided, &held]),
        ] {
            let seen_by = Some(SeenBy { who: "boss".to_owned(), sees_held });
            let filter = RunFilter { states, seen_by, ..RunFilter::newest(10) };
            let found = store.find_runs(filter.clone()).await.unwrap();
            let found: Vec<_> = found.iter().map(|run| &run.run_id).collect();
            assert_eq!(found, seen.iter().map(|run| &run.run_id).collect::<Vec<_>>());
            assert_eq!(store.find_runs(RunFilter { limit: 1, ..filter }).await.unwrap().len(), 1);
        }
    }

    async fn runs_are_found_by_words_of_their_requests_and_by_their_ids(world: World) {
        let store = world.shop().await;
        let mut ids = Vec::new();
        for request in ["buy 2 Aviator", "say \"hi\" to 100% of them", "strategy: größe"] {
            let record = RunRecord::new(store.new_run_id().unwrap(), RunKind::Ask, request);
            ids.push(store.record(record, note()).await.unwrap().run_id);
        }
        for (words, found) in [
            ("aviator", vec![0]),
            ("\"HI\"", vec![1]),
            ("%", vec![1]),
            ("größe", vec![2]),
            ("ask", vec![]),
            ("strategy", vec![2]),
            (ids[0].as_str(), vec![0]),
            ("", vec![2, 1, 0]),
        ] {
            let filter = RunFilter { words: words.to_owned(), ..RunFilter::newest(10) };
            let runs: Vec<_> = store.find_runs(filter).await.unwrap().into_iter().map(|run| run.run_id).collect();
            assert_eq!(runs, found.iter().map(|place: &usize| ids[*place].clone()).collect::<Vec<_>>(), "{words}");
        }
        assert_eq!(store.run_behind(None, 2).await.unwrap().as_ref(), Some(&ids[1]));
        assert_eq!(store.run_behind(Some(&ids[1]), 2).await.unwrap(), None);
        let since = RunFilter { since: Some(ids[1].clone()), ..RunFilter::newest(10) };
        assert_eq!(store.find_runs(since).await.unwrap().len(), 2);
    }

    async fn runs_are_found_by_a_unique_beginning_only(world: World) {
        let store = world.shop().await;
        let first = held_purchase(&store).await;
        let second = store.record(record(&store.new_run_id().unwrap()), note()).await.unwrap();
        assert_eq!(store.run(first.run_id.as_str()).await.unwrap(), first);
        for wrong in ["", "%", "_", "nothing", "0; DROP TABLE x"] {
            assert!(matches!(store.run(wrong).await, Err(StoreError::UnknownRun { .. })), "{wrong}");
        }
        assert!(matches!(store.run("0").await, Err(StoreError::AmbiguousRun { .. })), "both begin so");
        let newest: Vec<_> = store.find_runs(RunFilter::newest(10)).await.unwrap().into_iter().map(|run| run.run_id).collect();
        assert_eq!(newest.len(), 2);
        let older = RunFilter { before: Some(newest[0].clone()), limit: 10, ..RunFilter::default() };
        let older = store.find_runs(older).await.unwrap();
        assert_eq!((older.len(), &older[0].run_id), (1, &newest[1]));
        assert!(newest.contains(&second.run_id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_runs_and_conversations_follow_an_index() {
    let world = World::sqlite();
    let _store = world.shop().await;
    let database = rusqlite::Connection::open(world.folder.path().join("store.db")).unwrap();
    for (sql, index) in [
        ("SELECT count(*) FROM ordain_runs WHERE state = 'held'", "ordain_runs_in_state"),
        (
            "SELECT run_id FROM ordain_runs WHERE state = 'x' AND run_id < 'y' ORDER BY run_id DESC",
            "ordain_runs_in_state",
        ),
        ("SELECT run_id FROM ordain_runs WHERE who = 'x' ORDER BY run_id DESC", "ordain_runs_of_caller"),
        ("SELECT run_id FROM ordain_runs WHERE decided_by = 'x' ORDER BY run_id DESC", "ordain_runs_decided"),
        (
            "SELECT record FROM ordain_runs WHERE run_id >= 'a' AND run_id <= 'b' ORDER BY run_id",
            "sqlite_autoindex_ordain_runs_1",
        ),
        ("SELECT conversation FROM ordain_turns ORDER BY at DESC, conversation", "ordain_turns_by_time"),
    ] {
        let mut plan = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> = plan.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].contains(index), "{sql}: {plan:?}");
    }
}

/// One random write.
#[derive(Debug, Clone)]
enum Write {
    Insert(i64, Option<i64>, Value),
    Update(Vec<i64>, Value, bool),
    Remove(Vec<i64>),
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let value =
        prop::sample::select(vec![json!(1), json!("x"), json!(null), json!({"a": [1, 2]}), json!(2.5)]);
    let ids = prop::collection::vec(1_i64..12, 0..4);
    let write = prop_oneof![
        (1_i64..12, prop::option::of(1_i64..30), value.clone())
            .prop_map(|(key, id, value)| Write::Insert(key, id, value)),
        (ids.clone(), value, any::<bool>()).prop_map(|(ids, value, unset)| Write::Update(ids, value, unset)),
        ids.prop_map(Write::Remove),
    ];
    prop::collection::vec(write, 0..12)
}

fn undo_takes_back_any_run(world: &World) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seed: Vec<Value> = (1..6).map(|n| json!({"key": n, "value": {"n": n}, "note": "seed"})).collect();
    let store = runtime.block_on(world.with_table("things", "key", &json!(seed).to_string()));
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&writes(), |writes| {
        runtime.block_on(async {
            let before = rows(&store, "things").await;
            let mut transaction = begin(&store, Intent::Write).await;
            for write in writes {
                // Refused writes change nothing, which is part of what is tested.
                let _ = match write {
                    Write::Insert(key, id, value) => {
                        let args = json!({"table": "things", "rows": [{"key": key, "value": value}], "doc_ids": [id]});
                        transaction.call("insert", args).await
                    }
                    Write::Update(ids, value, unset) => {
                        let unset = if unset { json!(["note"]) } else { json!([]) };
                        let args = json!({"table": "things", "doc_ids": ids, "set": {"value": value}, "unset": unset});
                        transaction.call("update", args).await
                    }
                    Write::Remove(ids) => transaction.call("remove", json!({"table": "things", "doc_ids": ids})).await,
                };
            }
            let diff = transaction.diff();
            let run = commit(transaction).await.unwrap();
            let after = rows(&store, "things").await;
            prop_assert_eq!(run.state == RunState::Committed, !diff.is_empty());
            if diff.is_empty() {
                prop_assert_eq!(&after, &before);
                return Ok(());
            }
            // The diff is what changed, no more and no less.
            let plain = |rows: &[Value]| -> Vec<Value> {
                rows.iter().cloned().map(|mut row| { row.as_object_mut().unwrap().remove("doc_id"); row }).collect()
            };
            let (mut expected, is) = (plain(&before), plain(&after));
            let value = |row: &Row| serde_json::to_value(row).unwrap();
            let part = &diff.tables["things"];
            for gone in part.removed.iter().chain(part.changed.iter().map(|change| &change.before)) {
                let place = expected.iter().position(|row| *row == value(gone)).unwrap();
                expected.remove(place);
            }
            expected.extend(part.added.iter().chain(part.changed.iter().map(|change| &change.after)).map(value));
            let sorted = |mut rows: Vec<Value>| { rows.sort_by_key(|row| row["key"].as_i64()); rows };
            prop_assert_eq!(sorted(expected), sorted(is));
            store.undo(run.run_id.as_str(), note()).await.unwrap();
            prop_assert_eq!(rows(&store, "things").await, before);
            Ok(())
        })
    });
    outcome.unwrap();
    assert!(runtime.block_on(store.verify_ledger()).unwrap().is_whole());
}

#[test]
fn a_diff_and_then_its_inverse_change_nothing_on_sqlite() {
    undo_takes_back_any_run(&World::sqlite());
}

#[test]
fn a_diff_and_then_its_inverse_change_nothing_on_postgres() {
    undo_takes_back_any_run(&World::postgres());
}
