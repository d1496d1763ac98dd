//! `cargo xtask bench verify`: how long a verdict takes, against the same kind of checks by Python's `ast`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use ordain_types::{Column, ColumnType, Table};
use ordain_verify::{Contract, Helper, Policy, Schema, verify};
use serde::Serialize;
use serde_json::Value;

use crate::sample::{Sample, rounded};

/// Measure verdicts on programs of 20, 200 and 2 000 lines, against Python's `ast`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench verify            a table
  cargo xtask bench verify --json     the same numbers for tools
  cargo xtask bench verify --quick    a rough number in about a second")]
pub(crate) struct Args {
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
    /// Fewer rounds
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Serialize)]
struct Numbers {
    p50_ms: Sizes,
    p95_ms: Sizes,
    /// The same checks by Python's `ast` in a running interpreter; `null` without a `python3`.
    python_ast_p50_ms: Option<Sizes>,
    /// One check of 200 lines by a fresh `python3`.
    python_process_p50_ms: Option<f64>,
    ratios: Ratios,
    rounds: usize,
    optimised: bool,
}

#[expect(clippy::struct_field_names, reason = "the fields are the keys of the JSON output")]
#[derive(Debug, Clone, Copy, Serialize)]
struct Sizes {
    lines_20: f64,
    lines_200: f64,
    lines_2000: f64,
}

/// How many times as long the peer takes for 200 lines.
#[derive(Debug, Serialize)]
struct Ratios {
    vs_python_ast: Option<f64>,
    vs_python_process: Option<f64>,
}

const PEER: &str = include_str!("verify.py");

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let rounds = if args.quick { 100 } else { 1000 };
    let (policy, schema) = world();
    let mut ours = Vec::new();
    for lines in [20, 200, 2000] {
        let program = program(lines);
        let verdict = verify(&program, &policy, &schema);
        if !verdict.is_accepted() {
            bail!("the program of {lines} lines is not accepted: {:?}", verdict.findings);
        }
        // A 2 000-line program takes about a hundred times as long as one of 20.
        ours.push(measure(rounds.min(200_000 / lines), || {
            std::hint::black_box(verify(std::hint::black_box(&program), &policy, &schema));
        }));
    }
    let peer = peer(args.quick).inspect_err(|error| {
        let _ = writeln!(io::stderr(), "note: no comparison with Python: {error:#}");
    });
    let (ast, process) = peer.map_or((None, None), |(ast, process)| (Some(ast), Some(process)));
    let p50 = sizes(&ours, Sample::p50);
    let numbers = Numbers {
        p50_ms: p50,
        p95_ms: sizes(&ours, Sample::p95),
        python_ast_p50_ms: ast,
        python_process_p50_ms: process,
        ratios: Ratios {
            vs_python_ast: ast.map(|ast| round(ast.lines_200 / p50.lines_200)),
            vs_python_process: process.map(|process| round(process / p50.lines_200)),
        },
        rounds,
        optimised: !cfg!(debug_assertions),
    };
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &numbers)?;
        writeln!(out)?;
    } else {
        out.write_all(table(&numbers)?.as_bytes())?;
    }
    Ok(())
}

fn table(numbers: &Numbers) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "{:<34}{:>10}{:>10}{:>10}", "one verdict, ms", "20 lines", "200", "2 000")?;
    let mut row = |name: &str, sizes: &Sizes| {
        writeln!(
            text,
            "{name:<34}{:>10.3}{:>10.3}{:>10.3}",
            sizes.lines_20, sizes.lines_200, sizes.lines_2000
        )
    };
    row("ordain verify, median", &numbers.p50_ms)?;
    row("ordain verify, 95th percentile", &numbers.p95_ms)?;
    if let Some(sizes) = &numbers.python_ast_p50_ms {
        row("python3 with ast, median", sizes)?;
    }
    if let Some(process) = numbers.python_process_p50_ms {
        writeln!(text, "{:<34}{:>20.3}", "a fresh python3, median", process)?;
    }
    if let (Some(ast), Some(process)) = (numbers.ratios.vs_python_ast, numbers.ratios.vs_python_process) {
        writeln!(text, "200 lines: {ast} times as fast as ast, {process} times as fast as a fresh python3")?;
    }
    if !numbers.optimised {
        writeln!(text, "note: this is a debug build; build with --release for numbers that count")?;
    }
    Ok(text)
}

/// Times of single calls, after some that do not count.
fn measure(rounds: usize, mut work: impl FnMut()) -> Sample {
    for _ in 0..rounds.div_ceil(10) {
        work();
    }
    let mut sample = Sample::default();
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        work();
        sample.add(start.elapsed());
    }
    sample
}

fn sizes(samples: &[Sample], pick: impl Fn(&Sample) -> f64) -> Sizes {
    let at = |index: usize| samples.get(index).map_or(f64::NAN, |sample| rounded(pick(sample)));
    Sizes { lines_20: at(0), lines_200: at(1), lines_2000: at(2) }
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// The peer's times: inside a running interpreter, and for a fresh one.
fn peer(quick: bool) -> anyhow::Result<(Sizes, f64)> {
    let rounds = if quick { 20 } else { 100 };
    let median = |lines: usize| -> anyhow::Result<f64> {
        let rounds = (rounds * 200 / lines).clamp(5, rounds * 2);
        let output = python(&[&rounds.to_string()], &program(lines))?;
        let value: Value = serde_json::from_slice(&output).context("python3 gave no JSON")?;
        ensure!(value["found"].as_array().is_some_and(Vec::is_empty), "the peer finds {}", value["found"]);
        value["p50_ms"].as_f64().map(rounded).context("python3 gave no time")
    };
    let sizes = Sizes { lines_20: median(20)?, lines_200: median(200)?, lines_2000: median(2000)? };
    let program = program(200);
    let mut sample = Sample::default();
    for _ in 0..if quick { 5 } else { 20 } {
        let start = Instant::now();
        python(&["--once"], &program)?;
        sample.add(start.elapsed());
    }
    Ok((sizes, rounded(sample.p50())))
}

fn python(arguments: &[&str], input: &str) -> anyhow::Result<Vec<u8>> {
    let mut child = Command::new("python3")
        .args(["-I", "-c", PEER])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("failed to start python3")?;
    child.stdin.take().context("python3 has no stdin")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "python3 failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(output.stdout)
}

/// The tables and the policy that the programs are written for.
fn world() -> (Policy, Schema) {
    use ColumnType::{Integer, Real, Text, Timestamp};

    let table = |name: &str, columns: &[(&str, ColumnType)]| Table {
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|&(name, column_type)| Column {
                name: name.to_owned(),
                column_type,
                nullable: false,
                hidden: false,
            })
            .collect(),
        key: vec![columns[0].0.to_owned()],
        ..Table::default()
    };
    let inventory = [
        ("item_id", Text),
        ("name", Text),
        ("description", Text),
        ("quantity_in_stock", Integer),
        ("price", Real),
    ];
    let transactions = [
        ("transaction_id", Text),
        ("customer_name", Text),
        ("transaction_summary", Text),
        ("transaction_amount", Real),
        ("balance_after_transaction", Real),
        ("timestamp", Timestamp),
    ];
    let schema =
        Schema { tables: vec![table("inventory", &inventory), table("transactions", &transactions)] };
    let helpers = vec![Helper::reads("get_current_balance"), Helper::reads("next_transaction_id")];
    (Policy { helpers, ..Policy::for_contract(Contract::Ask) }, schema)
}

const HEAD: &str = "\
import re
from datetime import datetime

request = user_request.lower()
match = re.search(r\"under (\\d+)\", request)
limit = float(match.group(1)) if match else 100.0
Item = Query()
condition = (Item.price < limit) & (Item.quantity_in_stock > 0)
if \"round\" in request:
    condition = condition & Item.description.test(lambda text: \"round\" in text)
rows = inventory_tbl.search(condition)
ACTION = \"read\" if \"buy\" not in request else \"mutate\"
";

const TAIL: &str = "\
if rows:
    best = min(rows, key=lambda row: row[\"price\"])
    answer_text = f\"{best['name']} costs ${best['price']:.2f}.\"
    STATUS = \"success\"
else:
    answer_text = \"Nothing matches right now.\"
    STATUS = \"no_match\"
print(f\"LOG: {STATUS} {len(rows)}\")
";

/// One step of a plan: a function that looks up, checks, writes and reports, and its call.
const STEP: &str = "

def step_§(text, limit=§):
    # §) Look for the style, check the stock, write the sale.
    found = inventory_tbl.get(Item.name == text.title())
    if found is None or found[\"quantity_in_stock\"] < limit:
        return None
    total = round(found[\"price\"] * limit, 2)
    left = found[\"quantity_in_stock\"] - limit
    inventory_tbl.update({\"quantity_in_stock\": left}, Item.item_id == found[\"item_id\"])
    entry = {\"transaction_id\": next_transaction_id(transactions_tbl), \"transaction_amount\": total}
    entry[\"transaction_summary\"] = f\"sold {limit} x {found['name']}\"
    entry[\"timestamp\"] = datetime.now().isoformat()
    transactions_tbl.insert(entry)
    return total


if re.search(r\"\\bstep §\\b\", request):
    print(step_§(request.split()[-1]))
";

/// A plan of about that many lines.
fn program(lines: usize) -> String {
    let mut text = HEAD.to_owned();
    let fixed = HEAD.lines().count() + TAIL.lines().count();
    let steps = lines.saturating_sub(fixed).div_ceil(STEP.lines().count());
    // The shortest program is head and tail alone.
    let steps = if lines < 40 { 0 } else { steps };
    for step in 1..=steps {
        text.push_str(&STEP.replace('§', &step.to_string()));
    }
    text.push_str(TAIL);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_as_long_as_they_say_and_accepted() {
        let (policy, schema) = world();
        for (lines, allowed) in [(20, 19..=21), (200, 190..=220), (2000, 1990..=2020)] {
            let program = program(lines);
            assert!(allowed.contains(&program.lines().count()), "{lines}: {}", program.lines().count());
            let verdict = verify(&program, &policy, &schema);
            assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
            assert!(lines < 40 || verdict.effects.writes.contains_key("transactions"));
        }
    }
}
