//! Held changes whose rows have moved on: shown cell by cell, made again on the rows of today, or committed in part.

use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_engine::{Ask, Engine, EngineSettings, Mode};
use ordain_files::open_store;
use ordain_store::{EntryNote, StoreError};
use ordain_types::{RunRecord, RunState};
use ordain_workspace::{Workspace, init};

struct Shop {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Shop {
    /// The example's shop; `edit` changes its `ordain.toml`.
    async fn open(edit: impl FnOnce(String) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        init(&root, Some("sunglasses")).unwrap();
        let path = root.join("ordain.toml");
        let text = edit(fs_err::read_to_string(&path).unwrap());
        fs_err::write(&path, text).unwrap();
        let workspace = Workspace::load(&root).unwrap();
        let mut options = LocalOptions::new(DataDir::from_env().unwrap());
        options.idle_cells = 2;
        let executor = Arc::new(LocalExecutor::new(options).unwrap());
        let engine =
            Engine::new(open_store(&workspace).await.unwrap(), executor, EngineSettings::of(&workspace));
        Self { engine, _folder: folder }
    }

    async fn hold(&self, request: &str) -> RunRecord {
        let ask = Ask { mode: Mode::Hold, ..Ask::new(request, "clerk", "test") };
        let held = self.engine.ask(ask).await.unwrap();
        assert_eq!(held.state, RunState::Held, "{held:?}");
        held
    }

    async fn rebase(&self, held: &RunRecord) -> RunRecord {
        self.engine.approve_rebased(held.run_id.as_str(), note()).await.unwrap()
    }

    /// A number that a question is answered with.
    async fn number(&self, code: &str) -> f64 {
        let plan = format!("answer_json = {code}\nanswer_text = 'done'\nSTATUS = 'success'\n");
        let record =
            self.engine.ask(Ask::new("x", "test", "test").with_plan(&plan, "plan.py")).await.unwrap();
        record
            .answer
            .json
            .as_ref()
            .and_then(serde_json::Value::as_f64)
            .unwrap_or_else(|| panic!("{record:?}"))
    }
}

fn note() -> EntryNote {
    EntryNote::by("owner", "test")
}

const BALANCE: &str = "db.query('SELECT balance_after_transaction AS b FROM transactions ORDER BY doc_id DESC LIMIT 1')[0]['b']";
const STOCK: &str = "inventory_tbl.get(where('name') == 'Moon')['quantity_in_stock']";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_held_sales_are_approved_in_any_order_with_the_till_exact() {
    let shop = Shop::open(|text| text).await;
    shop.engine.ask(Ask::new("restock 100 moons", "test", "test")).await.unwrap();
    let (stock, balance) = (shop.number(STOCK).await, shop.number(BALANCE).await);
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(shop.hold("buy 1 moon").await);
    }
    // From the middle outwards, so that neither end comes first.
    held.sort_by_key(|held| held.run_id.as_str().bytes().rev().collect::<Vec<_>>());
    for run in &held {
        let approved = shop.rebase(run).await;
        assert_eq!(approved.state, RunState::Committed, "{approved:?}");
        // However often it is approved, a sale is made once.
        if approved.run_id != run.run_id {
            assert_eq!(shop.rebase(run).await.run_id, approved.run_id);
        }
    }
    assert!((shop.number(STOCK).await - stock + 100.0).abs() < 0.5);
    let price =
        held[0].diff.tables["transactions"].added[0].get("transaction_amount").unwrap().as_f64().unwrap();
    assert!((shop.number(BALANCE).await - balance - 100.0 * price).abs() < 0.005);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebase_that_differs_in_more_than_derived_columns_waits_and_shows_what_differs() {
    let shop = Shop::open(|text| text.replace("derived = [\"quantity_in_stock\"]", "derived = []")).await;
    let (first, second) = (shop.hold("buy 1 moon").await, shop.hold("buy 1 moon").await);
    shop.engine.store().approve(first.run_id.as_str(), note()).await.unwrap();
    let error = shop.engine.store().approve(second.run_id.as_str(), note()).await.unwrap_err();
    let StoreError::RowsConflict { conflicts } = error else { panic!("{error:?}") };
    let cells: Vec<_> = conflicts.iter().flat_map(ordain_store::RowConflict::cells).collect();
    assert!(cells.iter().any(|cell| cell.column.as_deref() == Some("quantity_in_stock")), "{cells:?}");
    let again = shop.rebase(&second).await;
    let rebase = again.rebases.as_ref().unwrap();
    assert_eq!((again.state, &rebase.run, rebase.is_derived), (RunState::Held, &second.run_id, false));
    let columns: Vec<_> = rebase.differences.iter().filter_map(|cell| cell.column.as_deref()).collect();
    assert!(
        columns.contains(&"quantity_in_stock") && columns.contains(&"balance_after_transaction"),
        "{columns:?}"
    );
    let approved = shop.engine.store().approve(again.run_id.as_str(), note()).await.unwrap();
    assert_eq!(approved.state, RunState::Committed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_held_diff_is_committed_and_the_receipt_says_so() {
    let shop = Shop::open(|text| text).await;
    let plan = "for item in ['SG001', 'SG005']:\n    inventory_tbl.update({'price': 77}, where('item_id') == item)\n\
                answer_text = 'Two prices are changed.'\nSTATUS = 'success'\n";
    let ask = Ask { mode: Mode::Hold, ..Ask::new("x", "clerk", "test").with_plan(plan, "plan.py") };
    let held = shop.engine.ask(ask).await.unwrap();
    let store = shop.engine.store();
    let except = |row: &str| vec![row.to_owned()];
    let wrong =
        store.approve_except(held.run_id.as_str(), &except("inventory/SG999"), note()).await.unwrap_err();
    assert!(wrong.to_string().contains("is no row of the diff"), "{wrong}");
    let part = store.approve_except(held.run_id.as_str(), &except("inventory/SG005"), note()).await.unwrap();
    assert_eq!((part.state, part.diff.rows(), part.left_out), (RunState::Committed, 1, 1));
    assert!(part.receipt.text.ends_with("1 row was left out by the approver."), "{}", part.receipt.text);
    assert_eq!(part.said().as_deref(), Some("Not all of it was approved: Two prices are changed."));
    // The invariants are run again on the part: a till whose entry stands alone adds up, one that skips an entry does not.
    let two = shop.hold("buy 1 moon and 1 classic").await;
    let rows = &two.diff.tables["transactions"].added;
    let first = rows[0].get("transaction_id").unwrap().as_str().unwrap();
    let broken =
        store.approve_except(two.run_id.as_str(), &except(&format!("transactions/{first}")), note()).await;
    assert!(matches!(broken, Err(StoreError::Violated { .. })), "{broken:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_is_never_given_again_after_an_undo_and_an_undone_sale_leaves_the_till_exact() {
    let shop = Shop::open(|text| text).await;
    let id = |record: &RunRecord| {
        assert_eq!(record.state, RunState::Committed, "{record:?}");
        record.diff.tables["transactions"].added[0]
            .get("transaction_id")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    let buy = async || shop.engine.ask(Ask::new("buy 1 moon", "test", "test")).await.unwrap();
    let first = buy().await;
    shop.engine.store().undo(first.run_id.as_str(), note()).await.unwrap();
    let second = buy().await;
    assert_ne!(id(&second), id(&first));
    let third = buy().await;
    // The earlier sale moved the balance that the later one starts from.
    let error = shop.engine.store().undo(second.run_id.as_str(), note()).await.unwrap_err();
    assert!(!matches!(error, StoreError::Database { .. }), "{error:?}");
    shop.engine.store().undo(third.run_id.as_str(), note()).await.unwrap();
    shop.engine.store().undo(second.run_id.as_str(), note()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_is_returned_than_was_sold_by_the_action_by_a_plan_or_by_an_undo() {
    let shop = Shop::open(|text| text).await;
    let ask = async |request: &str| shop.engine.ask(Ask::new(request, "test", "test")).await.unwrap();
    let earlier = ask("return 1 moon").await;
    assert_eq!(earlier.state, RunState::Committed, "bought before this record began: {earlier:?}");
    let sold = ask("buy 2 moons").await;
    assert_eq!(ask("return 1 moon").await.state, RunState::Committed);
    let second = ask("return 2 moons").await;
    assert!(second.answer.text.as_deref().unwrap().contains("only 1 Moon can be returned"), "{second:?}");
    assert!(shop.engine.store().undo(sold.run_id.as_str(), note()).await.is_err());
    let plan = "transactions_tbl.insert({'transaction_id': 'X', 'customer_name': 'Eve', 'transaction_amount': -240.0, \
                'transaction_summary': 'Return: 2 x Moon', 'balance_after_transaction': 260.0, 'timestamp': '2026-01-01'})\n\
                answer_text = 'Refunded.'\nSTATUS = 'success'\n";
    let forced = shop.engine.ask(Ask::new("x", "test", "test").with_plan(plan, "plan.py")).await.unwrap();
    let broken: Vec<_> =
        forced.invariants.iter().filter(|one| !one.holds).map(|one| one.name.as_str()).collect();
    assert_eq!(broken, ["no more is returned than was sold"], "{forced:?}");
    assert_eq!(forced.state, RunState::RolledBack);
}

/// A plan that sets a column of the Aviator.
fn sets(column: &str, value: &str) -> String {
    format!(
        "row = inventory_tbl.get(where('item_id') == 'SG001')\n\
         inventory_tbl.update({{'{column}': {value}}}, where('item_id') == 'SG001')\n\
         answer_text = 'Done.'\nSTATUS = 'success'\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebase_that_would_overwrite_another_change_of_the_same_column_waits_and_shows_it() {
    let shop = Shop::open(|text| text).await;
    let ask = |price: &str, mode: Mode| Ask {
        mode,
        ..Ask::new("x", "clerk", "test").with_plan(&sets("price", price), "plan.py")
    };
    let held = shop.engine.ask(ask("75", Mode::Hold)).await.unwrap();
    assert_eq!(shop.engine.ask(ask("99", Mode::Commit)).await.unwrap().state, RunState::Committed);
    let again = shop.rebase(&held).await;
    assert_eq!(again.state, RunState::Held, "{again:#?}");
    let shown = &again.rebases.as_ref().unwrap().differences[0];
    assert_eq!(shown.column.as_deref(), Some("price"));
    let number = |value: &Option<serde_json::Value>| value.as_ref().and_then(serde_json::Value::as_f64);
    assert_eq!((number(&shown.was), number(&shown.is)), (Some(80.0), Some(99.0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebase_sees_what_the_asker_may_see_whoever_approves_it() {
    let shop = Shop::open(|text| text).await;
    let limits =
        ordain_store::CallerLimits { hide: vec!["inventory.price".to_owned()], ..Default::default() };
    let code = sets("quantity_in_stock", "int(row.get('pri' + 'ce', 5))");
    let ask = Ask { mode: Mode::Hold, ..Ask::new("x", "clerk", "test").with_plan(&code, "plan.py") };
    let held = shop.engine.limited(limits).ask(ask).await.unwrap();
    assert_eq!(held.state, RunState::Held, "{held:#?}");
    let other = Ask::new("x", "other", "test").with_plan(&sets("quantity_in_stock", "7"), "plan.py");
    assert_eq!(shop.engine.ask(other).await.unwrap().state, RunState::Committed);
    let again = shop.rebase(&held).await;
    let left = again.diff.tables["inventory"].changed[0].after.get("quantity_in_stock").cloned();
    assert_eq!(left, Some(serde_json::json!(5)), "{again:#?}");
}
