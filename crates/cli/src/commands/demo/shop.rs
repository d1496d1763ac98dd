//! The part of the tour that changes data: a shop in a throw-away folder.

use std::io::{self, Write};
use std::sync::Arc;

use ordain_cell::LocalExecutor;
use ordain_engine::{Ask, Engine, Workspace, init};
use ordain_store::EntryNote;
use ordain_types::RunRecord;

use crate::show::diff;

const BUY: &str = "\
item = inventory_tbl.get(where('name') == 'Classic')
inventory_tbl.update({'quantity_in_stock': item['quantity_in_stock'] - 3}, where('name') == 'Classic')
balance = get_current_balance(transactions_tbl)
transactions_tbl.insert({
    'transaction_id': next_transaction_id(transactions_tbl), 'customer_name': 'WALK_IN',
    'transaction_summary': 'Sold 3 Classic', 'transaction_amount': 3 * item['price'],
    'balance_after_transaction': balance + 3 * item['price'], 'timestamp': '2026-01-05T10:00:00',
})
answer_text = f\"Sold 3 Classic for ${3 * item['price']:.0f}.\"
STATUS = 'success'
";

const FORGED: &str = "\
inventory_tbl.update({'quantity_in_stock': -5}, where('name') == 'Classic')
answer_text = 'Sold 12 Classic, all is well.'
STATUS = 'success'
";

/// Buys, is stopped by an invariant, takes back, and looks at the ledger.
pub(super) async fn tour(executor: Arc<LocalExecutor>, mut number: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("shop");
    init(&root, Some("sunglasses"))?;
    let workspace = Workspace::load(&root)?;
    let engine = Engine::new(workspace.open_store().await?, executor, workspace.settings());
    let mut scene = |title: &str, code: &str| {
        number += 1;
        super::show_code(number, title, code)
    };
    scene("A plan changes a shop's data in one transaction, and the diff shows exactly what", BUY)?;
    let bought = ask(&engine, "buy 3 classic", BUY).await?;
    show(&bought)?;
    scene("A plan that lies is stopped by an invariant of the workspace, and nothing is changed", FORGED)?;
    show(&ask(&engine, "buy 12 classic", FORGED).await?)?;
    scene("Undo applies the inverse diff, and the ledger has all of it", "")?;
    let store = engine.store();
    let undone = store.undo(bought.run_id.as_str(), EntryNote::by("demo", "cli")).await?;
    let report = store.verify_ledger().await?;
    let verdict = if report.findings.is_empty() { "whole" } else { "broken" };
    let mut out = io::stdout().lock();
    writeln!(out, "     → {} rows are as they were; the ledger is {verdict}", undone.diff.rows())?;
    Ok(())
}

async fn ask(engine: &Engine, request: &str, code: &str) -> anyhow::Result<RunRecord> {
    let ask = Ask::new(request, "demo", "cli").with_plan(code, "plan.py");
    Ok(engine.ask(ask).await?)
}

fn show(record: &RunRecord) -> io::Result<()> {
    let mut text = Vec::new();
    diff::write(&mut text, &record.diff)?;
    let mut out = io::stdout().lock();
    for line in String::from_utf8_lossy(&text).lines() {
        writeln!(out, "     {line}")?;
    }
    let why = record.error.as_ref().map(|error| format!(": {}", error.message)).unwrap_or_default();
    writeln!(out, "     → {}{why} ({:.1} ms)", record.state, record.timing_ms.total)
}
