//! The same purchase in TinyDB with JSON storage, in a plain interpreter.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use ordain_cell::profile::Installed;

use crate::sample::Sample;

/// Makes a database of so many rows, buys a few times, and prints the seconds that each purchase took.
const PROGRAM: &str = "\
import sys, time, uuid
from tinydb import TinyDB, Query
path, rows, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
db = TinyDB(path)
inventory, transactions = db.table('inventory'), db.table('transactions')
inventory.insert_multiple({'item_id': f'I{at:07}', 'name': f'Item {at:07}', 'description': 'a thing to buy',
                           'quantity_in_stock': 1000000, 'price': at % 90 + 10.5} for at in range(rows))
Item = Query()
for turn in range(rounds):
    started = time.perf_counter()
    item = inventory.get(Item.name == f'Item {turn * 7919 % rows:07}')
    inventory.update({'quantity_in_stock': item['quantity_in_stock'] - 1}, Item.item_id == item['item_id'])
    transactions.insert({'transaction_id': uuid.uuid4().hex, 'item_id': item['item_id'], 'amount': item['price']})
    print(time.perf_counter() - started)
";

pub(crate) fn measure(core: &Installed, folder: &Path, rows: usize) -> anyhow::Result<Sample> {
    let rounds = if rows > 10_000 { 5 } else { 15 };
    let output = Command::new(&core.interpreter.executable)
        .env("PYTHONPATH", &core.site)
        .args(["-c", PROGRAM])
        .arg(folder.join("tinydb.json"))
        .args([rows.to_string(), rounds.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("cannot start the interpreter for TinyDB")?;
    if !output.status.success() {
        bail!("TinyDB's program ended with {}", output.status);
    }
    let mut sample = Sample::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        sample
            .add(Duration::from_secs_f64(line.trim().parse().context("TinyDB's program printed no number")?));
    }
    Ok(sample)
}
