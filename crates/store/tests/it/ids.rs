//! Keys for new rows.

use ordain_store::{Intent, Store, Transaction};
use serde_json::{Value, json};

use crate::world::{begin, commit, note, on_both};

async fn next(transaction: &mut Transaction, table: &str) -> Result<Value, String> {
    let reply = transaction.call("next_id", json!({ "table": table })).await;
    reply.map(|reply| reply["key"].clone()).map_err(|error| error.to_string())
}

async fn add(store: &Store, table: &str) -> (Value, ordain_types::RunId) {
    let mut transaction = begin(store, Intent::Write).await;
    let id = next(&mut transaction, table).await.unwrap();
    transaction.call("insert", json!({ "table": table, "rows": [{ "id": id, "what": "x" }] })).await.unwrap();
    let record = commit(transaction).await.unwrap();
    (id, record.run_id)
}

on_both! {
    async fn a_key_goes_on_in_the_form_of_the_others(world: World) {
        let cases = [
            ("texts", r#"[{"id": "RT-0099", "what": "a"}, {"id": "RT-0007", "what": "b"}]"#, json!("RT-0100"), json!("RT-0101")),
            ("numbers", r#"[{"id": 7, "what": "a"}, {"id": 3, "what": "b"}]"#, json!(8), json!(9)),
        ];
        for (name, seed, first, second) in cases {
            let store = world.with_table(name, "id", seed).await;
            let mut transaction = begin(&store, Intent::Read).await;
            assert_eq!(next(&mut transaction, name).await, Ok(first));
            assert_eq!(next(&mut transaction, name).await, Ok(second), "a second key in the same run");
        }
    }

    async fn a_key_is_never_given_again(world: World) {
        let store = world.with_table("returns", "id", r#"[{"id": "R9", "what": "a"}]"#).await;
        let (first, run) = add(&store, "returns").await;
        assert_eq!(first, json!("R10"));
        store.undo(run.as_str(), note()).await.unwrap();
        assert_eq!(add(&store, "returns").await.0, json!("R11"), "the row of R10 is gone, its key is not free");
    }

    async fn keys_that_do_not_count_are_refused_with_the_reason(world: World) {
        let store = world.with_table("names", "id", r#"[{"id": "anna", "what": "a"}]"#).await;
        let mut transaction = begin(&store, Intent::Read).await;
        let error = next(&mut transaction, "names").await.unwrap_err();
        assert!(error.contains("its keys do not end in a number"), "{error}");
        assert!(next(&mut transaction, "nowhere").await.is_err());
    }

    async fn a_key_that_others_have_taken_meanwhile_is_passed_over(world: World) {
        let store = world.with_table("returns", "id", r#"[{"id": "R9", "what": "a"}]"#).await;
        assert_eq!(add(&store, "returns").await.0, json!("R10"));
        let mut transaction = begin(&store, Intent::Write).await;
        let own: Vec<Value> = (11..40).map(|n| json!({ "id": format!("R{n}"), "what": "mine" })).collect();
        transaction.call("insert", json!({ "table": "returns", "rows": own })).await.unwrap();
        transaction.call("insert", json!({ "table": "returns", "rows": [{ "id": "R5", "what": "late" }] })).await.unwrap();
        assert_eq!(next(&mut transaction, "returns").await, Ok(json!("R40")));
        commit(transaction).await.unwrap();
        assert_eq!(add(&store, "returns").await.0, json!("R41"));
    }

    async fn the_largest_key_counts_wherever_its_row_is(world: World) {
        let seed: Vec<Value> = [3, 700, 12, 5, 8, 1, 9].map(|n| json!({ "id": format!("R{n}"), "what": "x" })).into();
        let store = world.with_table("returns", "id", &Value::from(seed).to_string()).await;
        assert_eq!(add(&store, "returns").await.0, json!("R701"));
    }
}
