//! Calls that are sent after the commit: never without it, never out of order, and never lost.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ordain_store::{
    Clock, Faults, Intent, OutboxState, RunFilter, SendOutcome, Store, StoreError, StoreOptions, Taken,
};
use ordain_types::{Call, RunRecord, RunState, TakenBack, UndoCall};
use serde_json::{Value, json};

use crate::world::{begin, buy, commit, hold, note, on_both, record, rows};

const LEASE: Duration = Duration::from_mins(1);
const FAULTS_MAX: u32 = 400;

/// Fails one operation, counted from when it was armed.
#[derive(Debug, Default)]
struct FailNth(AtomicU32);

impl Faults for FailNth {
    fn strike(&self, _operation: &'static str) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) == Ok(1)
    }
}

/// A clock that the test moves.
fn clock() -> (Clock, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(1_800_000_000_000));
    let read = Arc::clone(&now);
    (Clock::new(move || read.load(Ordering::SeqCst)), now)
}

fn call(name: &str, lane: &str) -> Call {
    let undo = UndoCall { name: format!("{name}_back"), takes: vec!["id".to_owned()] };
    Call {
        n: 0,
        kind: "tool".to_owned(),
        name: name.to_owned(),
        arguments: json!({ "to": lane }),
        lane: lane.to_owned(),
        undo: Some(undo).filter(|_| name == "ticket.open"),
        result: None,
        undoes: None,
        taken_back: None,
    }
}

/// Commits a run with calls.
async fn bought(store: &Store, calls: &[(&str, &str)]) -> Result<RunRecord, StoreError> {
    let run_id = store.new_run_id()?;
    let mut transaction = store.begin(ordain_store::BeginOptions { run_id, intent: Intent::Write }).await?;
    for (name, lane) in calls {
        transaction.note_call(call(name, lane));
    }
    commit(transaction).await
}

async fn states(store: &Store, run: &RunRecord) -> Vec<OutboxState> {
    let calls = store.outbox(Some(&run.run_id), 100).await.unwrap();
    calls.iter().map(|call| call.state).collect()
}

async fn sent(store: &Store, result: Value) -> Option<Taken> {
    let taken = store.take_call(LEASE).await.unwrap()?;
    assert!(store.settle_call(&taken, SendOutcome::Sent(result)).await.unwrap());
    Some(taken)
}

on_both! {
    async fn a_call_is_in_the_outbox_if_and_only_if_its_run_is_committed(world: World) {
        let faults = Arc::new(FailNth::default());
        let store = world.shop_with_faults(faults.clone()).await.unwrap();
        for nth in 1..=FAULTS_MAX {
            faults.0.store(nth, Ordering::SeqCst);
            let result = bought(&store, &[("mail.send", "mail")]).await;
            let untouched = faults.0.swap(0, Ordering::SeqCst) > 0;
            let runs = store.find_runs(RunFilter { states: vec![RunState::Committed], ..RunFilter::newest(1000) }).await.unwrap();
            let waiting = store.outbox(None, 1000).await.unwrap();
            assert_eq!(waiting.len(), runs.len(), "after failing operation {nth}");
            if result.is_ok() && untouched {
                return;
            }
        }
        panic!("no run got through");
    }

    async fn a_held_call_waits_for_the_approval_and_a_rejected_one_is_never_sent(world: World) {
        let store = world.shop().await;
        for approve in [true, false] {
            let mut transaction = begin(&store, Intent::Write).await;
            transaction.note_call(call("mail.send", "mail"));
            let held = hold(transaction).await.unwrap();
            assert_eq!((held.state, held.calls.len()), (RunState::Held, 1));
            assert!(held.receipt.text.contains("To send: 1 × mail.send."), "{}", held.receipt.text);
            assert_eq!(store.outbox(None, 10).await.unwrap(), []);
            let run = held.run_id.as_str();
            if approve {
                let done = store.approve(run, note()).await.unwrap();
                assert_eq!(states(&store, &done).await, [OutboxState::Queued]);
                assert_eq!(sent(&store, json!({})).await.unwrap().key, format!("{run}:1"));
            } else {
                store.reject(run, note()).await.unwrap();
                assert_eq!(store.take_call(LEASE).await.unwrap().map(|taken| taken.key), None);
            }
        }
    }

    async fn every_failure_while_sending_loses_nothing_and_repeats_only_under_the_same_key(world: World) {
        let faults = Arc::new(FailNth::default());
        let (clock, now) = clock();
        let options = StoreOptions { faults: Some(faults.clone()), clock, ..world.shop_options() };
        let store = Store::open(options).await.unwrap();
        for nth in 1..=FAULTS_MAX {
            let run = bought(&store, &[("mail.send", "mail")]).await.unwrap();
            let mut received: BTreeMap<String, u32> = BTreeMap::new();
            faults.0.store(nth, Ordering::SeqCst);
            // A sender that fails anywhere is gone; the next one comes when the lease has ended.
            let mut is_untouched = false;
            for _ in 0..3 {
                let once = async {
                    let Some(taken) = store.take_call(LEASE).await? else { return Ok(()) };
                    *received.entry(taken.key.clone()).or_default() += 1;
                    store.settle_call(&taken, SendOutcome::Sent(json!({ "id": "1" }))).await.map(drop)
                };
                let result: Result<(), StoreError> = once.await;
                is_untouched = faults.0.swap(0, Ordering::SeqCst) > 0 || is_untouched;
                let is_gone = matches!(result, Err(StoreError::Injected { .. } | StoreError::CommitUnknown { .. }));
                assert!(result.is_ok() || is_gone, "{result:?}");
                now.fetch_add(120_000, Ordering::SeqCst);
            }
            assert_eq!(states(&store, &run).await, [OutboxState::Sent], "after failing operation {nth}");
            assert_eq!(received.len(), 1, "{received:?}");
            assert!(store.verify_ledger().await.unwrap().is_whole());
            if is_untouched {
                return;
            }
        }
        panic!("no call got through");
    }

    async fn a_sender_that_was_too_slow_writes_nothing_down(world: World) {
        let (clock, now) = clock();
        let store = Store::open(StoreOptions { clock, ..world.shop_options() }).await.unwrap();
        let run = bought(&store, &[("mail.send", "mail")]).await.unwrap();
        let slow = store.take_call(LEASE).await.unwrap().unwrap();
        assert!(store.take_call(LEASE).await.unwrap().is_none(), "it is held");
        now.fetch_add(61_000, Ordering::SeqCst);
        let quick = store.take_call(LEASE).await.unwrap().unwrap();
        assert_eq!(quick.key, slow.key);
        assert!(!store.settle_call(&slow, SendOutcome::Refused("late".to_owned())).await.unwrap());
        assert!(store.settle_call(&quick, SendOutcome::Sent(json!({ "id": "7" }))).await.unwrap());
        assert!(!store.settle_call(&slow, SendOutcome::Refused("late".to_owned())).await.unwrap());
        let there = store.outbox(Some(&run.run_id), 10).await.unwrap().remove(0);
        assert_eq!((there.state, there.result, there.attempts), (OutboxState::Sent, Some(json!({ "id": "7" })), 2));
    }

    async fn calls_of_a_lane_keep_their_order_and_wait_behind_a_dead_one(world: World) {
        let store = world.shop().await;
        let first = bought(&store, &[("mail.send", "a"), ("mail.send", "b")]).await.unwrap();
        let second = bought(&store, &[("mail.send", "a")]).await.unwrap();
        let dead = store.take_call(LEASE).await.unwrap().unwrap();
        assert_eq!(dead.key, format!("{}:1", first.run_id));
        store.settle_call(&dead, SendOutcome::Refused("no such address".to_owned())).await.unwrap();
        assert_eq!(sent(&store, json!({})).await.unwrap().key, format!("{}:2", first.run_id));
        assert!(store.take_call(LEASE).await.unwrap().is_none(), "the second run waits behind the dead call");
        assert_eq!(states(&store, &first).await, [OutboxState::Dead, OutboxState::Sent]);
        store.retry_call(&dead.key, note()).await.unwrap();
        let again = store.take_call(LEASE).await.unwrap().unwrap();
        assert_eq!(again.key, dead.key);
        let error = store.drop_call(&dead.key, note()).await.unwrap_err();
        assert!(matches!(error, StoreError::CallUnderWay { .. }), "{error}");
        store.settle_call(&again, SendOutcome::Refused("no".to_owned())).await.unwrap();
        assert_eq!(store.drop_call(&dead.key, note()).await.unwrap().state, OutboxState::Cancelled);
        assert_eq!(sent(&store, json!({})).await.unwrap().key, format!("{}:1", second.run_id));
        let error = store.retry_call(&dead.key, note()).await.unwrap_err();
        assert!(matches!(error, StoreError::CallDone { .. }), "{error}");
        assert!(matches!(store.drop_call("nobody:1", note()).await, Err(StoreError::UnknownCall { .. })));
    }

    async fn failures_are_tried_again_after_growing_pauses_and_then_wait_for_a_person(world: World) {
        let (clock, now) = clock();
        let store = Store::open(StoreOptions { clock, ..world.shop_options() }).await.unwrap();
        let run = bought(&store, &[("mail.send", "mail")]).await.unwrap();
        let mut pauses = Vec::new();
        for attempt in 1..=8_u32 {
            let taken = store.take_call(LEASE).await.unwrap().unwrap();
            let outcome = if attempt % 2 == 0 {
                SendOutcome::Unknown("no answer".to_owned())
            } else {
                SendOutcome::Failed("not reached".to_owned())
            };
            store.settle_call(&taken, outcome).await.unwrap();
            assert!(store.take_call(LEASE).await.unwrap().is_none());
            let Some(next) = store.next_call_ms().await.unwrap() else { break };
            let wait = next - now.load(Ordering::SeqCst);
            let expected = if attempt % 2 == 0 { OutboxState::Unknown } else { OutboxState::Queued };
            assert_eq!(states(&store, &run).await, [expected]);
            pauses.push(wait);
            now.fetch_add(wait, Ordering::SeqCst);
        }
        assert_eq!(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000]);
        assert_eq!(states(&store, &run).await, [OutboxState::Dead]);
    }

    async fn undo_cancels_what_was_not_sent_and_takes_back_what_was(world: World) {
        let store = world.shop().await;
        let before = rows(&store, "inventory").await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        for (name, lane) in [("ticket.open", "t"), ("mail.send", "m"), ("ticket.open", "u")] {
            transaction.note_call(call(name, lane));
        }
        let run = commit(transaction).await.unwrap();
        assert_eq!(sent(&store, json!({ "id": "T1" })).await.unwrap().call.n, 1);
        assert_eq!(sent(&store, json!({ "id": "M1" })).await.unwrap().call.n, 2);
        let undone = store.undo(run.run_id.as_str(), note()).await.unwrap();
        assert_eq!(rows(&store, "inventory").await, before);
        let became: Vec<_> = undone.calls.iter().map(|call| call.taken_back).collect();
        let expected = [Some(TakenBack::Compensated), Some(TakenBack::Final), Some(TakenBack::Cancelled), None];
        assert_eq!(became, expected);
        let told = &undone.receipt.text;
        assert!(told.contains("Never sent: 1 × ticket.open.") && told.contains("Final: 1 × mail.send."), "{told}");
        let back = sent(&store, json!({})).await.unwrap();
        assert_eq!((back.call.name.as_str(), &back.call.arguments), ("ticket.open_back", &json!({ "id": "T1" })));
        assert!(store.take_call(LEASE).await.unwrap().is_none());
    }

    async fn a_call_that_may_have_arrived_is_not_undone_until_it_is_known_and_is_then_taken_back(world: World) {
        let store = world.shop().await;
        let run = bought(&store, &[("ticket.open", "t")]).await.unwrap();
        let taken = store.take_call(LEASE).await.unwrap().unwrap();
        store.settle_call(&taken, SendOutcome::Unknown("no answer".to_owned())).await.unwrap();
        let error = store.undo(run.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::CallUnderWay { .. }), "{error}");
        assert!(store.take_call(LEASE).await.unwrap().is_none(), "its pause goes on");
        assert!(store.hurry_unknown(&run.run_id).await.unwrap());
        sent(&store, json!({ "id": "T1" })).await.unwrap();
        assert!(!store.hurry_unknown(&run.run_id).await.unwrap());
        let undone = store.undo(run.run_id.as_str(), note()).await.unwrap();
        assert_eq!(undone.calls[0].taken_back, Some(TakenBack::Compensated));
        assert_eq!(sent(&store, json!({})).await.unwrap().call.name, "ticket.open_back");
    }

    async fn a_call_that_failed_while_the_clock_was_ahead_is_tried_when_it_is_right_again(world: World) {
        let (clock, now) = clock();
        let store = Store::open(StoreOptions { clock, ..world.shop_options() }).await.unwrap();
        bought(&store, &[("mail.send", "mail")]).await.unwrap();
        now.fetch_add(30 * 86_400_000, Ordering::SeqCst);
        let taken = store.take_call(LEASE).await.unwrap().unwrap();
        store.settle_call(&taken, SendOutcome::Failed("not reached".to_owned())).await.unwrap();
        now.fetch_sub(30 * 86_400_000, Ordering::SeqCst);
        assert_eq!(sent(&store, json!({})).await.unwrap().call.name, "mail.send");
    }

    async fn a_call_under_way_is_not_undone_and_an_edited_one_is_not_sent(world: World) {
        let store = world.shop().await;
        let run = bought(&store, &[("mail.send", "m")]).await.unwrap();
        world.tamper(&format!("UPDATE {} SET name = 'bank.pay', kind = 'evil'", world.own("outbox")));
        let taken = store.take_call(LEASE).await.unwrap().unwrap();
        assert_eq!((taken.call.name.as_str(), taken.call.kind.as_str()), ("mail.send", "tool"));
        let error = store.undo(run.run_id.as_str(), note()).await.unwrap_err();
        assert!(matches!(error, StoreError::CallUnderWay { .. }), "{error}");
        store.settle_call(&taken, SendOutcome::Sent(json!({}))).await.unwrap();
        let run = bought(&store, &[("mail.send", "m")]).await.unwrap();
        world.tamper(&format!(
            "UPDATE {} SET record = replace(record, 'mail.send', 'bank.pay') WHERE run_id = '{}'",
            world.own("runs"),
            run.run_id
        ));
        assert!(store.take_call(LEASE).await.unwrap().is_none(), "the record is not the ledger's");
        assert_eq!(states(&store, &run).await, [OutboxState::Dead]);
    }

    async fn a_read_only_run_keeps_what_it_asked_and_sends_nothing(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Read).await;
        let mut asked = call("mail.find", "mail");
        asked.result = Some(json!({ "address": "a@example.org" }));
        transaction.note_call(asked);
        let kept = record(transaction.run_id());
        let run = transaction.commit(kept, note()).await.unwrap();
        assert_eq!((run.state, run.calls.len()), (RunState::Answered, 1));
        assert!(run.receipt.text.contains("Asked outside: 1 × mail.find."), "{}", run.receipt.text);
        assert_eq!(store.outbox(Some(&run.run_id), 10).await.unwrap(), []);
    }
}

/// Names the database that a child process works on; without it the child's test does nothing.
const CHILD: &str = "ORDAIN_TEST_SENDER";

/// A receiver that honours keys: it writes down each key once.
fn receive(folder: &Path, key: &str) {
    let path = folder.join("received");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    if !known.lines().any(|line| line == key) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{key}\n").as_bytes()).unwrap();
    }
}

/// Not a test: what the killed process does. It buys, and sends what it bought; its leases end at once.
#[tokio::test]
async fn child_that_is_killed_while_sending() {
    let Ok(place) = std::env::var(CHILD) else { return };
    let (folder, url) = place.split_once('|').unwrap();
    let options =
        if url.is_empty() { StoreOptions::sqlite(folder) } else { StoreOptions::postgres(url, folder) };
    let store = Store::open(options).await.unwrap();
    loop {
        let mut transaction = begin(&store, Intent::Write).await;
        transaction.note_call(call("mail.send", "mail"));
        commit(transaction).await.unwrap();
        announce();
        while let Some(taken) = store.take_call(Duration::ZERO).await.unwrap() {
            receive(Path::new(folder), &taken.key);
            store.settle_call(&taken, SendOutcome::Sent(json!({}))).await.unwrap();
        }
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn announce() {
    println!("\nbought");
}

on_both! {
    async fn a_process_that_is_killed_at_any_moment_loses_no_call_and_none_arrives_twice(world: World) {
        let place = format!("{}|{}", world.folder.path().display(), world.url.clone().unwrap_or_default());
        drop(world.shop().await);
        for round in 0..8_u64 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "outbox::child_that_is_killed_while_sending", "--nocapture"])
                .env(CHILD, &place)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.by_ref().any(|line| line.unwrap() == "bought"), "the child has bought nothing");
            std::thread::sleep(Duration::from_micros(round * 2_711 % 13_000));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let store = world.shop().await;
        while let Some(taken) = store.take_call(Duration::ZERO).await.unwrap() {
            receive(world.folder.path(), &taken.key);
            store.settle_call(&taken, SendOutcome::Sent(json!({}))).await.unwrap();
        }
        let received = std::fs::read_to_string(world.folder.path().join("received")).unwrap();
        let mut received: Vec<&str> = received.lines().collect();
        let count = received.len();
        received.sort_unstable();
        received.dedup();
        let runs = store.find_runs(RunFilter { states: vec![RunState::Committed], ..RunFilter::newest(1_000_000) }).await.unwrap();
        assert!(count >= 8 && received.len() == count && runs.len() == count, "{} runs, {count} received", runs.len());
        assert_eq!(store.outbox(None, 10).await.unwrap(), []);
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }
}
