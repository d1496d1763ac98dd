//! What is acknowledged is there: files that are taken away from under an open store, disks that take no flush, restores
//! that are interrupted.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ordain_store::{Claim, Faults, Intent, RestoreAt, Store, StoreError, StoreOptions};
use ordain_types::{RunId, RunRecord};

use crate::world::{World, begin, buy, commit, note, on_both, rows};

async fn bought(store: &Store) -> Result<RunRecord, StoreError> {
    let mut transaction = begin(store, Intent::Write).await;
    assert!(buy(&mut transaction, "Aviator", 1).await?);
    commit(transaction).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_committed_to_a_database_that_was_replaced_and_it_goes_on_when_it_is_back() {
    for replaced in [false, true] {
        let world = World::sqlite();
        let store = world.shop().await;
        bought(&store).await.unwrap();
        let before = rows(&store, "inventory").await;
        let [path, elsewhere] = ["store.db", "elsewhere.db"].map(|name| world.folder.path().join(name));
        fs::rename(&path, &elsewhere).unwrap();
        if replaced {
            fs::copy(&elsewhere, &path).unwrap();
        }
        for _ in 0..3 {
            let error = bought(&store).await.unwrap_err();
            assert!(matches!(error, StoreError::File { .. }), "{error:?}");
            assert!(error.to_string().contains("not the file any more"), "{error}");
        }
        assert!(store.check().await.is_err());
        fs::rename(&elsewhere, &path).unwrap();
        store.check().await.unwrap();
        assert_eq!(rows(&store, "inventory").await, before, "what was refused is not there");
        bought(&store).await.unwrap();
        drop(store);
        assert!(world.shop().await.verify_rows().await.unwrap().is_whole());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_was_removed_takes_no_acknowledged_commit_with_it() {
    let world = World::sqlite();
    let store = world.shop().await;
    bought(&store).await.unwrap();
    fs::remove_file(world.folder.path().join("store.db-wal")).unwrap();
    let error = bought(&store).await.unwrap_err();
    assert!(error.to_string().contains("the log beside the database was removed"), "{error}");
    store.check().await.unwrap();
    bought(&store).await.unwrap();
    let before = rows(&store, "transactions").await;
    drop(store);
    let store = world.shop().await;
    assert_eq!(rows(&store, "transactions").await, before);
    assert_eq!(before.len(), 3, "the opening and two purchases");
    assert!(store.verify_rows().await.unwrap().is_whole());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_stop_when_the_ledgers_end_cannot_be_written_down_and_go_on_when_it_can() {
    let world = World::sqlite();
    let kept = world.folder.path().join("kept");
    fs::create_dir(&kept).unwrap();
    let options = || StoreOptions { checkpoint: Some(kept.join("c.checkpoint")), ..world.shop_options() };
    let store = Store::open(options()).await.unwrap();
    bought(&store).await.unwrap();
    let away = world.folder.path().join("away");
    fs::rename(&kept, &away).unwrap();
    fs::write(&kept, "no folder").unwrap();
    bought(&store).await.unwrap();
    let error = bought(&store).await.unwrap_err();
    assert!(error.to_string().contains("checkpoint cannot be written"), "{error}");
    assert!(store.check().await.is_err());
    fs::remove_file(&kept).unwrap();
    fs::rename(&away, &kept).unwrap();
    store.check().await.unwrap();
    bought(&store).await.unwrap();
    assert!(store.verify_ledger().await.unwrap().is_whole());
}

/// A database that is lost until it is said to be there again.
#[derive(Debug, Default)]
struct Lost(AtomicBool);

impl Faults for Lost {
    fn strike(&self, _operation: &'static str) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

on_both! {
    async fn the_key_of_a_run_that_ended_while_the_store_was_lost_is_free_when_it_is_back(world: World) {
        let faults = Arc::new(Lost::default());
        let store = world.shop_with_faults(faults.clone()).await.unwrap();
        let [first, second] = ["01", "02"].map(|run| RunId(run.to_owned()));
        assert_eq!(store.claim("key", &first).await.unwrap(), Claim::Taken);
        faults.0.store(true, Ordering::SeqCst);
        assert!(store.release("key", &first).await.is_err());
        assert!(store.claim("key", &second).await.is_err());
        faults.0.store(false, Ordering::SeqCst);
        assert_eq!(store.claim("key", &second).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim("key", &first).await.unwrap(), Claim::Running(second));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_that_was_ended_before_its_checkpoint_is_finished_by_the_next_one_who_opens_the_store() {
    let world = World::sqlite();
    let store = world.shop().await;
    bought(&store).await.unwrap();
    let folder = world.folder.path().join("copies");
    store.back_up(&folder).await.unwrap();
    let before = rows(&store, "inventory").await;
    let wrong = bought(&store).await.unwrap();
    drop(store);
    let checkpoint = world.folder.path().join("ledger.checkpoint");
    let old = fs::read(&checkpoint).unwrap();
    let at = RestoreAt::Run(wrong.run_id.to_string());
    let (_, aside) = ordain_store::restore(world.shop_options(), &folder, at, note()).await.unwrap();
    fs::write(&checkpoint, &old).unwrap();
    let store = world.shop().await;
    assert_eq!(rows(&store, "inventory").await, before);
    bought(&store).await.unwrap();
    assert!(store.verify_rows().await.unwrap().is_whole());
    drop(store);
    // The store that was put aside is no newer one for that.
    fs::rename(aside, world.folder.path().join("store.db")).unwrap();
    let refused = Store::open(world.shop_options()).await;
    assert!(matches!(refused, Err(StoreError::Ledger { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_right_after_a_run_is_not_from_before_it_whatever_the_clock_said() {
    let world = World::sqlite();
    let store = world.shop().await;
    let folder = world.folder.path().join("copies");
    let early = store.back_up(&folder).await.unwrap();
    let wrong = bought(&store).await.unwrap();
    store.back_up(&folder).await.unwrap();
    drop(store);
    let at = RestoreAt::Run(wrong.run_id.to_string());
    let (restored, _) = ordain_store::restore(world.shop_options(), &folder, at, note()).await.unwrap();
    assert_eq!((restored.at, restored.entries), (early.at, early.entries));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_are_their_owners_alone_and_a_link_is_no_copy() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::sqlite();
    let store = world.shop().await;
    let folder = world.folder.path().join("copies");
    let copy = store.back_up(&folder).await.unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&copy.folder)), (0o700, 0o700));
    let [database, manifest] = ["store.db", "backup.json"].map(|name| copy.folder.join(name));
    assert_eq!((mode(&database), mode(&manifest)), (0o600, 0o600));
    let wrong = bought(&store).await.unwrap();
    drop(store);
    fs::remove_file(&database).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &database).unwrap();
    let at = RestoreAt::Run(wrong.run_id.to_string());
    let refused = ordain_store::restore(world.shop_options(), &folder, at, note()).await;
    assert!(matches!(refused, Err(StoreError::Declaration { .. })), "{refused:?}");
}
