//! Actions: what a workspace's verbs do is the same in a cell of their own and in that of a plan of the reader's.

use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_engine::{Ask, Engine, EngineSettings, Mode};
use ordain_files::open_store;
use ordain_types::RunRecord;
use ordain_workspace::{Workspace, init};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rogue::Rogue;

struct Shop {
    _folder: TempDir,
    engine: Engine,
    executor: Arc<Rogue>,
}

impl Shop {
    /// The example, with helpers that were edited.
    async fn with(edit: (&str, &str), calls: Vec<(&'static str, Value)>) -> Self {
        let folder = TempDir::new().unwrap();
        init(folder.path(), Some("sunglasses")).unwrap();
        let helpers = folder.path().join("helpers.py");
        let source = fs_err::read_to_string(&helpers).unwrap();
        assert!(source.contains(edit.0), "{}", edit.0);
        fs_err::write(&helpers, source.replace(edit.0, edit.1)).unwrap();
        let workspace = Workspace::load(folder.path()).unwrap();
        let mut options = LocalOptions::new(DataDir::from_env().unwrap());
        options.idle_cells = 2;
        let executor = Rogue::new(Arc::new(LocalExecutor::new(options).unwrap()), calls);
        let store = open_store(&workspace).await.unwrap();
        let engine = Engine::new(store, executor.clone(), EngineSettings::of(&workspace));
        Self { _folder: folder, engine, executor }
    }

    async fn ask(&self, request: &str, plan: Option<&str>) -> (RunRecord, Vec<String>) {
        let ask = Ask { mode: Mode::DryRun, cache: false, ..Ask::new(request, "test", "test") };
        let ask = match plan {
            Some(code) => ask.with_plan(code, "given.py"),
            None => ask,
        };
        let record = self.engine.ask(ask).await.unwrap();
        (record, std::mem::take(&mut *self.executor.programs.lock().unwrap()))
    }
}

const GIVEN: &str = "done = sell('SG005', 2, 'Ann')\nanswer_text, STATUS = done['text'], done['status']\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_of_the_readers_shares_its_cell_with_the_action_and_comes_to_the_same() {
    let edits = [
        ("\"\"\"Sells items to a customer.\"\"\"", "print('selling')"),
        ("amount = round(row[\"price\"] * quantity, 2)", "raise ValueError('the till is shut')"),
        ("return {\"text\": f\"Sold", "return {\"words\": f\"Sold"),
        ("\"status\": \"success\"}\n\n\ndef _sold", "\"status\": \"not_permitted\"}\n\n\ndef _sold"),
    ];
    for edit in edits {
        let shop = Shop::with(edit, Vec::new()).await;
        let (own, programs) = shop.ask("buy 2 classic for customer Ann", None).await;
        assert_eq!(programs.len(), 1, "one cell: {programs:?}");
        let (given, programs) = shop.ask("buy 2 classic for customer Ann", Some(GIVEN)).await;
        assert_eq!(programs, ["given.py", "action.py"], "the action has a cell of its own");
        assert_eq!((own.state, &own.receipt.text), (given.state, &given.receipt.text), "{edit:?}");
        assert_eq!(own.status, given.status, "{edit:?}: {own:#?}");
        // The reader's plan names no line, because nobody who asked has written it; what follows the line is the same.
        let said = |record: &RunRecord| {
            let error = record.error.as_ref()?;
            let line = error.message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
            Some((error.class, line.map_or(error.message.as_str(), |(_, said)| said).to_owned()))
        };
        assert_eq!(said(&own), said(&given), "{edit:?}");
        assert_eq!(own.outcome.stdout, given.outcome.stdout, "{edit:?}");
        shop.executor.honest.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_actions_grant_ends_when_the_action_is_done() {
    let write = json!({ "table": "inventory", "all": true, "set": { "quantity_in_stock": 1 } });
    let calls = vec![
        ("table.update", write.clone()),
        ("action.done", json!({ "result": { "text": "t", "status": "success" } })),
        ("action.run", json!({ "name": "sell", "params": { "item": "SG001", "quantity": 1 } })),
        ("action.run", json!({ "name": "sell", "params": { "item": "SG001", "quantity": 1 } })),
        ("table.update", json!({ "table": "inventory", "all": true, "set": { "quantity_in_stock": 50 } })),
        ("action.done", json!({ "result": { "text": "t", "status": "success" } })),
        ("table.update", write),
    ];
    let shop = Shop::with(("Sells items", "Sells items"), calls).await;
    shop.ask("buy 2 classic", None).await;
    let answers = std::mem::take(&mut *shop.executor.answers.lock().unwrap());
    let kinds: Vec<&str> =
        answers.iter().map(|answer| answer.as_ref().map_or_else(String::as_str, |_| "ok")).collect();
    let refused = ["not_granted", "unknown_function", "ok", "not_granted", "ok", "ok", "not_granted"];
    assert_eq!(kinds, refused, "{answers:?}");
    shop.executor.honest.close().await;
}

const SAME: (&str, &str) = ("\"\"\"Sells items to a customer.\"\"\"", "\"\"\"Sells.\"\"\"");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_that_the_plan_does_not_name_is_refused_whoever_asks_for_it() {
    let params = json!({ "item": "SG005", "quantity": 2, "customer": "Ann" });
    let calls = vec![("action.run", json!({ "name": "sell", "params": params }))];
    let shop = Shop::with(SAME, calls).await;
    let reads = "answer_text, STATUS = f'There are {len(inventory_tbl)}.', 'success'\n";
    let (record, _) = shop.ask("how many?", Some(reads)).await;
    assert!(record.diff.is_empty(), "{record:#?}");
    let answers = shop.executor.answers.lock().unwrap().clone();
    assert_eq!(answers, [Err("not_granted".to_owned())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_another_type_than_a_param_has_never_reach_the_action() {
    let shop = Shop::with(SAME, Vec::new()).await;
    for (given, wanted) in [
        ("'SG005', '2', 'Ann'", "a whole number"),
        ("'SG005', True, 'Ann'", "a whole number"),
        ("'SG005', 2.5, 'Ann'", "a whole number"),
        ("'SG005', [2], 'Ann'", "a whole number"),
        ("'SG005', -1, 'Ann'", "a number of at least 1"),
        ("'SG005', 2, 7", "a text"),
        ("['SG005'], 2, 'Ann'", "one value"),
    ] {
        let code = format!("done = sell({given})\nanswer_text, STATUS = done['text'], done['status']\n");
        let (record, _) = shop.ask("x", Some(&code)).await;
        let message = record.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        assert!(message.contains(wanted), "{given}: {message}");
        assert!(record.diff.is_empty(), "{given}");
    }
}
