//! A verdict is enforced: whatever runs in the place of the judged code gets what the verdict says and no more.

use std::sync::Arc;

use ordain_engine::Engine;
use ordain_types::RunState;
use serde_json::{Value, json};

use crate::rogue::Rogue;
use crate::world::{World, on_both, world};

/// What the store answers to an executor that makes these calls while it runs the code.
async fn answers(
    world: &mut World,
    code: &str,
    calls: Vec<(&'static str, Value)>,
) -> (RunState, Vec<Result<Value, String>>) {
    let rogue = Rogue::new(Arc::clone(&world.executor), calls);
    let settings = world.engine.settings().clone();
    world.engine = Engine::new(world.engine.store().clone(), rogue.clone(), settings);
    let record = world.ask(code).await;
    assert!(record.state != RunState::Committed || !record.diff.is_empty());
    let answers = rogue.answers.lock().unwrap().clone();
    (record.state, answers)
}

fn refused(answer: &Result<Value, String>) -> bool {
    matches!(answer, Err(kind) if kind == "not_granted")
}

const COUNT: &str = "answer_text = f'There are {len(inventory_tbl)} kinds.'\nSTATUS = 'success'\n";
const PRICE: &str = "inventory_tbl.update({'price': 81}, Query().name == 'Aviator')\nanswer_text = 'Done.'\nSTATUS = 'success'\n";

on_both! {
async fn an_executor_cannot_write_under_a_plan_that_was_judged_to_read(database: Database) {
    let mut world = world(database).await;
    let calls = vec![
        ("table.update", json!({"table": "inventory", "all": true, "set": {"quantity_in_stock": 77}})),
        ("table.update_rows", json!({"table": "inventory", "rows": [{"doc_id": 1, "set": {"price": 1}}]})),
        ("table.remove", json!({"table": "inventory", "all": true})),
        ("table.insert", json!({"table": "transactions", "rows": [{"transaction_id": "T9"}]})),
        ("table.upsert", json!({"table": "inventory", "where": {"op": "eq", "path": ["name"], "value": "Classic"}, "row": {"price": 1}})),
    ];
    let (state, answers) = answers(&mut world, COUNT, calls).await;
    assert_eq!(state, RunState::Answered);
    // The last one may be malformed for this store, which is an error too.
    assert!(answers[..4].iter().all(refused) && answers[4].is_err(), "{answers:?}");
    assert_eq!(world.stock("Classic").await, 10);
    world.executor.close().await;
}

async fn an_executor_cannot_read_tables_that_the_plan_never_names(database: Database) {
    let mut world = world(database).await;
    let calls = vec![
        ("table.search", json!({"table": "transactions"})),
        ("table.get", json!({"table": "transactions", "doc_ids": [1]})),
        ("table.count", json!({"table": "transactions"})),
        ("table.query", json!({"sql": "SELECT * FROM transactions"})),
        ("table.query", json!({"sql": "SELECT count(*) AS n FROM inventory"})),
    ];
    let (_, answers) = answers(&mut world, COUNT, calls).await;
    assert!(answers[..3].iter().all(refused), "{answers:?}");
    assert!(answers[3..].iter().all(refused), "a plan without queries asks none: {answers:?}");
    world.executor.close().await;
}

async fn an_executor_cannot_do_more_to_a_table_than_the_plan_does(database: Database) {
    let mut world = world(database).await;
    let calls = vec![
        ("table.remove", json!({"table": "inventory", "all": true})),
        ("table.insert", json!({"table": "inventory", "rows": [{"item_id": "X", "name": "X"}]})),
        ("table.insert", json!({"table": "transactions", "rows": [{"transaction_id": "T9"}]})),
        ("table.update", json!({"table": "inventory", "all": true, "set": {"quantity_in_stock": 77}})),
        ("table.update", json!({"table": "inventory", "all": true, "unset": ["quantity_in_stock"]})),
    ];
    let (state, answers) = answers(&mut world, PRICE, calls).await;
    assert!(answers.iter().all(refused), "{answers:?}");
    assert_eq!(state, RunState::Committed, "what the plan does itself still happens");
    assert_eq!(world.stock("Classic").await, 10);
    world.executor.close().await;
}
}
