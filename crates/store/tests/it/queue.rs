//! Runs that any node of a cluster may carry out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ordain_store::{BeginOptions, Claim, Clock, EntryNote, Intent, QueuedRun, Store, StoreError};
use ordain_types::{RunId, RunKind};

use crate::world::{World, buy, note, on_both, record, rows};

fn queued(run: &RunId, claim: &str) -> QueuedRun {
    QueuedRun {
        run_id: run.clone(),
        claim: claim.to_owned(),
        kind: RunKind::Ask,
        who: "anna".to_owned(),
        request: "buy one".to_owned(),
        work: "{}".to_owned(),
        workspace: "w".to_owned(),
        accepted_at: "2026-01-01T00:00:00Z".to_owned(),
        conversation: None,
    }
}

async fn purchase(store: &Store, run: &RunId, claim: &str) -> Result<(), StoreError> {
    let begin = BeginOptions { run_id: run.clone(), intent: Intent::Write };
    let mut transaction = store.begin(begin).await?;
    assert!(buy(&mut transaction, "Classic", 1).await?);
    let note = EntryNote { claim: Some(claim.to_owned()), ..note() };
    transaction.commit(record(run), note).await.map(drop)
}

on_both! {
    async fn an_accepted_run_holds_its_key_until_it_ends(world: World) {
        let store = world.shop().await;
        let (run, other) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        let first = queued(&run, "k");
        assert_eq!(store.enqueue(&first, "f").await.unwrap(), Claim::Taken);
        assert_eq!(store.queued(&run).await.unwrap(), Some(first.clone()));
        assert_eq!(store.queue(10).await.unwrap(), [first]);
        assert_eq!(store.enqueue(&queued(&other, "k"), "f").await.unwrap(), Claim::Running(run.clone()));
        assert_eq!(store.enqueue(&queued(&other, "k"), "g").await.unwrap(), Claim::Other(run.clone()));
        assert_eq!(store.queued(&other).await.unwrap(), None);
        assert_eq!(store.claim_for("k", "f", &run).await.unwrap(), Claim::Taken, "any node carries it out");
        purchase(&store, &run, "k").await.unwrap();
        assert_eq!(store.queued(&run).await.unwrap(), None, "it left the queue with its commit");
        assert!(matches!(store.enqueue(&queued(&other, "k"), "f").await.unwrap(), Claim::Finished(_)));
    }

    async fn turns_of_a_conversation_come_one_after_the_other(world: World) {
        let store = world.shop().await;
        let runs = [(); 3].map(|()| store.new_run_id().unwrap());
        for run in &runs {
            let turn =
                QueuedRun { conversation: Some("c".to_owned()), ..queued(run, &QueuedRun::own_claim(run)) };
            assert_eq!(store.enqueue(&turn, "f").await.unwrap(), Claim::Taken);
        }
        assert_eq!(store.queued_by("anna").await.unwrap(), 3);
        assert_eq!(store.queued_by("bert").await.unwrap(), 0);
        for run in &runs {
            assert_eq!(store.next_turn("c").await.unwrap().map(|turn| turn.run_id).as_ref(), Some(run));
            store.dequeue(run).await.unwrap();
        }
        assert_eq!(store.next_turn("c").await.unwrap(), None);
    }

    async fn files_of_runs_that_are_not_accepted_are_forgotten(world: World) {
        let store = world.shop().await;
        let [accepted, other] = [(); 2].map(|()| store.new_run_id().unwrap());
        store.enqueue(&queued(&accepted, "k"), "f").await.unwrap();
        for run in [&accepted, &other] {
            store.keep_file(&QueuedRun::uploads(run), "0", b"a").await.unwrap();
        }
        store.forget_uploads(60_000).await.unwrap();
        assert!(store.kept_file(&QueuedRun::uploads(&other), "0").await.unwrap().is_some(), "it is fresh");
        store.forget_uploads(0).await.unwrap();
        assert!(store.kept_file(&QueuedRun::uploads(&other), "0").await.unwrap().is_none());
        assert!(store.kept_file(&QueuedRun::uploads(&accepted), "0").await.unwrap().is_some());
    }

    async fn two_nodes_that_carry_out_the_same_run_commit_it_once(world: World) {
        let store = world.shop().await;
        let run = store.new_run_id().unwrap();
        let claim = QueuedRun::own_claim(&run);
        assert_eq!(store.enqueue(&queued(&run, &claim), "f").await.unwrap(), Claim::Taken);
        purchase(&store, &run, &claim).await.unwrap();
        let error = purchase(&store, &run, &claim).await.unwrap_err();
        assert!(matches!(error, StoreError::KeyHeld { .. }), "{error}");
        store.dequeue(&run).await.unwrap();
        let error = purchase(&store, &run, &claim).await.unwrap_err();
        assert!(matches!(error, StoreError::KeyHeld { .. }), "{error}");
        let claimed = store.claim_for(&claim, "f", &run).await.unwrap();
        assert!(matches!(claimed, Claim::Finished(_)), "a node that was late is not given the run again: {claimed:?}");
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 9);
    }

    async fn a_clock_that_jumps_has_no_run_accepted_or_carried_out_twice(world: World) {
        const DAY_MS: u64 = 86_400_000;
        let now = Arc::new(AtomicU64::new(20_000 * DAY_MS));
        let (read, mut options) = (Arc::clone(&now), world.shop_options());
        options.clock = Clock::new(move || read.load(Ordering::SeqCst));
        let store = Store::open(options).await.unwrap();
        let (run, other) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        assert_eq!(store.enqueue(&queued(&run, "k"), "f").await.unwrap(), Claim::Taken);
        for day in [20_001, 19_000] {
            now.store(day * DAY_MS, Ordering::SeqCst);
            assert_eq!(store.enqueue(&queued(&other, "k"), "f").await.unwrap(), Claim::Running(run.clone()));
            assert_eq!(store.claim_for("k", "f", &run).await.unwrap(), Claim::Taken);
        }
        purchase(&store, &run, "k").await.unwrap();
        now.store(20_002 * DAY_MS, Ordering::SeqCst);
        assert!(matches!(store.enqueue(&queued(&other, "k"), "f").await.unwrap(), Claim::Finished(_)));
    }

    async fn many_who_accept_under_one_key_at_once_accept_one_run(world: World) {
        let store = world.shop().await;
        let accepted = (0..16).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let run = store.new_run_id().unwrap();
                (store.enqueue(&queued(&run, "k"), "f").await.unwrap(), run)
            })
        });
        let mut claims = Vec::new();
        for one in accepted.collect::<Vec<_>>() {
            claims.push(one.await.unwrap());
        }
        let taken: Vec<&RunId> =
            claims.iter().filter(|(claim, _)| *claim == Claim::Taken).map(|(_, run)| run).collect();
        let [taken] = taken[..] else { panic!("{claims:?}") };
        let running = Claim::Running(taken.clone());
        assert!(claims.iter().all(|(claim, run)| run == taken || *claim == running), "{claims:?}");
        assert_eq!(store.queue(20).await.unwrap().len(), 1);
    }

    async fn a_run_that_found_no_place_in_the_queue_gives_its_key_back(world: World) {
        let store = world.shop().await;
        let (run, other) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        store.enqueue(&queued(&run, "k"), "f").await.unwrap();
        store.dequeue(&run).await.unwrap();
        assert_eq!(store.enqueue(&queued(&other, "k"), "g").await.unwrap(), Claim::Taken);
    }

    async fn every_store_has_a_name_of_its_own(world: World) {
        let (store, other) = (world.shop().await, World::sqlite());
        let name = store.id().await.unwrap();
        assert_eq!(name.len(), 16, "{name}");
        assert_ne!(name, other.shop().await.id().await.unwrap());
        assert_eq!(name, world.shop().await.id().await.unwrap());
    }
}
