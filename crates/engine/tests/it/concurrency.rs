//! Many clients at once.

use ordain_engine::{EngineSettings, Mode};
use ordain_types::RunState;
use serde_json::json;

use crate::world::{ask, on_both, open, options_with};

const BUY_ONE: &str = "\
Item = Query()
item = inventory_tbl.get(Item.item_id == 'X')
if item['quantity_in_stock'] < 1:
    answer_text = 'Sold out.'
    STATUS = 'insufficient_stock'
else:
    inventory_tbl.update({'quantity_in_stock': item['quantity_in_stock'] - 1}, Item.item_id == 'X')
    answer_text = 'Sold one.'
    STATUS = 'success'
";

on_both! {
async fn thirty_two_clients_sell_exactly_what_is_in_stock(database: Database) {
    let inventory = json!([{"item_id": "X", "name": "Last", "description": "", "quantity_in_stock": 100, "price": 1}]);
    // Thirty-one wait while one writes, which takes long on a busy machine.
    let patience = std::time::Duration::from_mins(10);
    let mut settings = EngineSettings::default();
    settings.limits.wall = patience;
    let folder = tempfile::tempdir().unwrap();
    let mut options = options_with(folder.path(), database.fresh_url().as_deref(), &inventory);
    options.limits.lock_wait = patience;
    let world = open(options, settings).await;
    let mut clients = Vec::new();
    for _ in 0..32 {
        let engine = world.engine.clone();
        clients.push(tokio::spawn(async move {
            let mut sold = 0;
            for _ in 0..5 {
                let record = engine.ask(ask(BUY_ONE, Mode::Commit)).await.unwrap();
                sold += i64::from(record.state == RunState::Committed);
            }
            sold
        }));
    }
    let mut sold = 0;
    for client in clients {
        sold += client.await.unwrap();
    }
    assert_eq!(sold, 100);
    assert_eq!(world.stock("Last").await, 0);
    assert!(world.engine.store().verify_ledger().await.unwrap().findings.is_empty());
    world.executor.close().await;
}
}
