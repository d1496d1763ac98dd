//! What happened to one row: found by the row, whatever else happened.

use ordain_store::{Intent, RowEvent, SeenBy, Store};
use ordain_types::RunState;
use serde_json::{Value, json};

use crate::world::{World, begin, buy, commit, hold, note, on_both};

async fn set(store: &Store, doc_id: i64, set: Value) -> ordain_types::RunRecord {
    let mut transaction = begin(store, Intent::Write).await;
    let args = json!({"table": "inventory", "doc_ids": [doc_id], "set": set});
    transaction.call("update", args).await.unwrap();
    commit(transaction).await.unwrap()
}

async fn events(store: &Store, row: &str) -> Vec<RowEvent> {
    store.row_history("inventory", row, None, None, 50).await.unwrap().events
}

fn stock(event: &RowEvent) -> [Option<Value>; 2] {
    [&event.before, &event.after].map(|row| row.as_ref()?.get("quantity_in_stock").cloned())
}

on_both! {
    async fn the_history_of_a_row_has_its_runs_alone_and_says_which_were_undone(world: World) {
        let store = world.shop().await;
        let first = set(&store, 2, json!({"quantity_in_stock": 9})).await;
        set(&store, 1, json!({"quantity_in_stock": 1})).await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let held = hold(transaction).await.unwrap();
        assert_eq!(events(&store, "SG005").await.len(), 1, "what waits has changed nothing");
        store.approve(held.run_id.as_str(), note()).await.unwrap();
        store.undo(held.run_id.as_str(), note()).await.unwrap();

        let found = events(&store, "SG005").await;
        let runs: Vec<_> = found.iter().map(|event| (&event.run_id, event.state)).collect();
        assert_eq!(runs, [(&held.run_id, RunState::Undone), (&first.run_id, RunState::Committed)]);
        assert_eq!(stock(&found[0]), [Some(json!(9)), Some(json!(6))]);
        assert_eq!(stock(&found[1]), [Some(json!(10)), Some(json!(9))]);
        assert!(found[0].undone_at.is_some() && found[1].undone_at.is_none());
        assert_eq!((found[1].who.as_str(), found[1].through.as_str()), (note().who.as_str(), note().through.as_str()));
        assert_eq!(events(&store, "SG007").await.len(), 0);
        assert!(store.row_history("nothing", "SG005", None, None, 1).await.is_err());
    }

    async fn a_row_that_got_another_key_is_found_by_both_and_pages_go_on(world: World) {
        let store = world.shop().await;
        set(&store, 3, json!({"item_id": "SG 7,b"})).await;
        set(&store, 3, json!({"quantity_in_stock": 4})).await;
        assert_eq!(events(&store, "SG007").await.len(), 1);
        let page = store.row_history("inventory", "SG 7,b", None, None, 1).await.unwrap();
        assert_eq!((page.events.len(), stock(&page.events[0])), (1, [Some(json!(0)), Some(json!(4))]));
        let rest = store.row_history("inventory", "SG 7,b", None, page.next.as_ref(), 5).await.unwrap();
        assert_eq!((rest.events.len(), rest.next), (1, None));
        assert_eq!(rest.events[0].before.as_ref().unwrap().get("item_id"), Some(&json!("SG007")));
        let stranger = SeenBy { who: "somebody else".to_owned(), sees_held: true };
        let unseen = store.row_history("inventory", "SG007", Some(&stranger), None, 5).await.unwrap();
        assert!(unseen.events.is_empty(), "{unseen:?}");
    }
}

#[tokio::test]
async fn only_the_rows_own_changes_are_read_for_its_history() {
    let world = World::sqlite();
    let store = world.shop().await;
    set(&store, 2, json!({"quantity_in_stock": 9})).await;
    drop(store);
    let database = world.folder.path().join("store.db");
    let plan = |sql: &str| -> Vec<String> {
        let database = rusqlite::Connection::open(&database).unwrap();
        let mut steps = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        steps.query_map([], |step| step.get(3)).unwrap().map(Result::unwrap).collect()
    };
    let steps = plan(
        "SELECT run_id FROM ordain_row_runs WHERE table_name = 'inventory' AND row_name = 'SG005' \
         ORDER BY run_id DESC LIMIT 50",
    );
    assert_eq!(steps.len(), 1, "nothing is sorted: {steps:?}");
    assert!(steps[0].contains("SEARCH") && steps[0].contains("row_name=?"), "{steps:?}");
}
