//! The part of the tour that asks and changes data: a shop in a throw-away folder.

use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_checks::{Checks, CodeFrom, read_checks};
use ordain_engine::{Ask, Engine, EngineSettings, Quiet};
use ordain_files::open_store;
use ordain_store::EntryNote;
use ordain_types::RunRecord;
use ordain_workspace::{Workspace, init};
use serde_json::json;

use super::stage::{self, Stage};

const QUESTION: &str = "Do you have any round sunglasses in stock that are under $100?";
const PURCHASE: &str = "I want to buy 3 pairs of classic sunglasses and 1 pair of aviator sunglasses.";
const AGAIN: &str = "I want to buy 2 pairs of moon sunglasses and 4 pairs of sport sunglasses.";
const UNKNOWN: &str = "Buy 2 moons and 1 unicorn";
const TOO_MUCH: &str = "Buy 500 aviators";

/// A plan that says one thing and does another.
const FORGED: &str = "\
inventory_tbl.update({'quantity_in_stock': -5}, where('name') == 'Classic')
answer_text = 'Sold 12 Classic, all is well.'
STATUS = 'success'
";

/// A check of the shop's owner: code of its own that reads the store, as a plan does.
const CHECK: &str = "\
# The balance after each transaction is the one before it and what was paid.
wrong, balance = [], 0
for row in transactions_tbl.all():
    balance += row['transaction_amount']
    if abs(balance - row['balance_after_transaction']) > 0.005:
        wrong.append(row)
result = {
    'status': 'FAIL' if wrong else 'PASS',
    'summary': f'{len(wrong)} of {len(transactions_tbl)} balances do not add up',
    'evaluated': len(transactions_tbl),
    'failed_rows': wrong,
}
";

/// Asks, buys, is refused, is stopped by an invariant, takes back, checks, buys from the cache, and looks at the ledger.
pub(super) async fn tour(executor: Arc<LocalExecutor>, stage: &mut Stage) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("shop");
    init(&root, Some("sunglasses"))?;
    let workspace = Arc::new(Workspace::load(&root)?);
    let engine = Engine::new(open_store(&workspace).await?, executor, EngineSettings::of(&workspace));
    question(&engine, stage).await?;
    let bought = purchase(&engine, stage).await?;
    refusals(&engine, stage).await?;
    undo(&engine, stage, &bought).await?;
    check(workspace, &engine, stage).await?;
    cached(&engine, stage, &bought).await?;
    ledger(&engine, stage).await
}

async fn question(engine: &Engine, stage: &mut Stage) -> anyhow::Result<()> {
    stage.scene("A question becomes a program: the code is the plan")?;
    stage::asks(QUESTION)?;
    let run = engine.ask(request(QUESTION)).await?;
    show(stage, &run)?;
    stage::line(
        "Without a key the reader writes the plan, if it understands every word; a model understands more.",
    )?;
    Ok(())
}

async fn purchase(engine: &Engine, stage: &mut Stage) -> anyhow::Result<RunRecord> {
    stage.scene("A purchase of two items: one transaction, and the diff shows every row that changed")?;
    stage::asks(PURCHASE)?;
    let run = engine.ask(request(PURCHASE)).await?;
    show(stage, &run)?;
    Ok(run)
}

async fn refusals(engine: &Engine, stage: &mut Stage) -> anyhow::Result<()> {
    stage.scene("A word that nobody knows here: the request is declined, and says for which word")?;
    stage::asks(UNKNOWN)?;
    let run = engine.ask(request(UNKNOWN)).await?;
    stage::outcome(&run)?;
    stage.scene("More than there is: nothing is changed unless everything can be")?;
    stage::asks(TOO_MUCH)?;
    let run = engine.ask(request(TOO_MUCH)).await?;
    stage::outcome(&run)?;
    stage.scene("A plan that lies is stopped by an invariant of the workspace, whoever wrote it")?;
    stage::asks("buy 12 classic")?;
    stage.code(FORGED)?;
    let run = engine.ask(request("buy 12 classic").with_plan(FORGED, "forged.py")).await?;
    stage::outcome(&run)?;
    Ok(())
}

async fn undo(engine: &Engine, stage: &mut Stage, bought: &RunRecord) -> anyhow::Result<()> {
    stage.scene("Undo applies the inverse diff")?;
    let undone = engine.store().undo(bought.run_id.as_str(), EntryNote::by("demo", "cli")).await?;
    stage::line(&undone.receipt.text)?;
    Ok(())
}

async fn check(workspace: Arc<Workspace>, engine: &Engine, stage: &mut Stage) -> anyhow::Result<()> {
    stage.scene("A check is a rule that stands: compiled once, run in a cell whenever you like")?;
    let record = json!([{
        "check_id": "CHK-1",
        "check_name": "The till adds up",
        "kind": "python",
        "target_table": "transactions",
        "key_columns": ["transaction_id"],
        "params": {"code": CHECK},
    }]);
    let folder = workspace.root.join("checks");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("checks.json"), serde_json::to_vec_pretty(&record)?)?;
    let files = read_checks(&workspace.root)?;
    let checks = Checks::new(workspace, engine.clone());
    stage.code(CHECK)?;
    for _ in 0..2 {
        let (_, ran) = checks.run(checks.task(files.clone(), "demo", "cli"), &mut Quiet).await?;
        for result in ran.iter().flat_map(|ran| &ran.report.results) {
            let code = if result.code_from == Some(CodeFrom::Cache) { "kept" } else { "compiled" };
            let (status, name) = (result.status.name(), &result.check_name);
            stage::line(&format!("{status:<8} {name}: {}; its code was {code}", result.summary))?;
        }
    }
    stage::line(
        "Rules in words and twenty built-in kinds look at files too: `ordain init --example data-quality d`",
    )?;
    Ok(())
}

async fn cached(engine: &Engine, stage: &mut Stage, bought: &RunRecord) -> anyhow::Result<()> {
    stage.scene("The same shape with other values: the kept plan runs again, and nobody plans anything")?;
    stage::asks(AGAIN)?;
    let run = engine.ask(request(AGAIN)).await?;
    stage::verdict(&run)?;
    stage::outcome(&run)?;
    let (first, second) = (bought.timing_ms.total, run.timing_ms.total);
    stage::line(&format!(
        "{second:.1} ms from words to committed rows; the first purchase took {first:.1} ms"
    ))?;
    Ok(())
}

async fn ledger(engine: &Engine, stage: &mut Stage) -> anyhow::Result<()> {
    stage.scene("Everything is in the ledger: who, what, the code, the diff, chained and signed")?;
    let store = engine.store();
    for entry in store.newest_entries(u64::MAX, 4).await? {
        let hash: String = entry.hash.chars().take(16).collect();
        let run = entry.run_id.unwrap_or_default();
        stage::line(&format!("entry {:>2}  {:<8} {hash}…  run {run}", entry.seq, entry.kind))?;
    }
    let report = store.verify_ledger().await?;
    let verdict = if report.findings.is_empty() { "whole" } else { "broken" };
    stage::line(&format!("ledger verify: it is {verdict}, {} entries", report.entries))?;
    Ok(())
}

fn request(text: &str) -> Ask {
    Ask::new(text, "demo", "cli")
}

fn show(stage: &Stage, run: &RunRecord) -> anyhow::Result<()> {
    if let Some(step) = run.plan.steps.first() {
        stage.code(&step.code)?;
    }
    stage::verdict(run)?;
    stage::outcome(run)?;
    Ok(())
}
