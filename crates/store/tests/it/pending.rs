//! Changes that wait outside of the database between the steps of a run.

use ordain_store::{Intent, ReadDigest, StoreError};
use serde_json::json;

use crate::world::{begin, buy, commit, on_both, rows};

on_both! {
    async fn pending_changes_are_seen_when_laid_and_kept_only_by_a_commit(world: World) {
        let store = world.shop().await;
        let mut step = begin(&store, Intent::Write).await;
        assert!(buy(&mut step, "Classic", 2).await.unwrap());
        let pending = step.pending();
        let diff = step.diff();
        step.roll_back().await.unwrap();
        let before = rows(&store, "transactions").await;

        let mut next = begin(&store, Intent::Write).await;
        next.lay(&pending).await.unwrap();
        assert_eq!(next.diff(), diff);
        assert!(buy(&mut next, "Classic", 1).await.unwrap());
        let both = next.pending();
        next.roll_back().await.unwrap();
        assert_eq!(rows(&store, "transactions").await, before, "nothing is kept yet");

        let mut last = begin(&store, Intent::Write).await;
        last.lay(&both).await.unwrap();
        commit(last).await.unwrap();
        assert_eq!(rows(&store, "transactions").await.len(), before.len() + 2);
    }

    async fn rows_that_changed_meanwhile_are_named_and_nothing_is_written(world: World) {
        let store = world.shop().await;
        let mut step = begin(&store, Intent::Write).await;
        assert!(buy(&mut step, "Classic", 2).await.unwrap());
        let pending = step.pending();
        step.roll_back().await.unwrap();
        let mut other = begin(&store, Intent::Write).await;
        assert!(buy(&mut other, "Classic", 1).await.unwrap());
        commit(other).await.unwrap();

        let mut late = begin(&store, Intent::Write).await;
        let error = late.lay(&pending).await.unwrap_err();
        assert!(matches!(&error, StoreError::RowsConflict { conflicts } if !conflicts.is_empty()), "{error}");
        assert!(!late.has_changes());
        late.roll_back().await.unwrap();
    }

    async fn what_was_read_is_compared_with_the_rows_of_now(world: World) {
        let store = world.shop().await;
        let mut step = begin(&store, Intent::Write).await;
        assert!(buy(&mut step, "Classic", 2).await.unwrap());
        let pending = step.pending();
        let arguments = json!({ "table": "inventory" });
        let reply = step.call("search", arguments.clone()).await.unwrap();
        let reads = vec![ReadDigest::of("search", &arguments, &reply).unwrap()];
        assert!(ReadDigest::of("insert", &arguments, &reply).is_none());
        step.roll_back().await.unwrap();

        let mut same = begin(&store, Intent::Write).await;
        assert_eq!(same.compare(&pending, &reads).await.unwrap(), None);
        assert!(!same.has_changes(), "comparing leaves nothing behind");
        same.roll_back().await.unwrap();

        // Somebody changes a row that was only read.
        let mut other = begin(&store, Intent::Write).await;
        assert!(buy(&mut other, "Aviator", 1).await.unwrap());
        commit(other).await.unwrap();
        let mut late = begin(&store, Intent::Write).await;
        let differs = late.compare(&ordain_store::Pending::default(), &reads).await.unwrap();
        assert_eq!(differs.as_deref(), Some("what was read from `inventory`"));
        late.roll_back().await.unwrap();
    }
}
