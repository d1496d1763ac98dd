//! `ordain tables --types`: how the columns of tables are read.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::{TableFacts, TableState};
use ordain_types::nearest;
use serde_json::{Value, json};

use crate::commands::check;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome, USAGE};
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::{Colour, coloured, line};
use crate::workspace::WorkspaceArgs;

/// What a reading says besides the type, in the order in which it is shown.
const DETAILS: [&str; 7] = ["currency", "unit", "decimal", "thousands", "order", "format", "zone"];

/// Carries out `ordain tables --types`.
pub(super) fn run(name: Option<&str>, as_json: bool, args: &WorkspaceArgs) -> Outcome {
    let workspace = Arc::new(args.load()?);
    check::ensure_python(&workspace)?;
    let (mut tables, unused, others) = runtime::on_two_threads(Box::pin(async {
        let checks = check::open(workspace, &ExecutorArgs::default()).await?;
        let tables = checks.all_tables().await?;
        let others = checks.files_without_tables(&tables);
        Ok::<_, Failure>((tables, checks.unused_declarations()?, others))
    }))??;
    if let Some(name) = name {
        if !tables.contains_key(name) {
            let hint = nearest(name, tables.keys().map(String::as_str))
                .map(|near| format!("did you mean `{near}`?"));
            return Err(Failure::new(USAGE, format!("there is no table `{}`", line(name)), hint.as_deref()));
        }
        tables.retain(|known, _| known == name);
    }
    write(&tables, as_json)?;
    for file in others.iter().filter(|_| name.is_none()) {
        writeln!(io::stderr(), "note: data/{}: no table was found in it", line(file))?;
    }
    for section in unused.into_iter().filter(|_| name.is_none()) {
        let section = line(&section);
        writeln!(
            io::stderr(),
            "note: `[data.{section}]` of ordain.toml names no file in `data` and no seed"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(tables: &BTreeMap<String, TableState>, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        let told: Vec<Value> = tables.iter().map(|(name, state)| state.told(name)).collect();
        return writeln!(out, "{:#}", json!(told));
    }
    for (name, state) in tables {
        let bold = coloured(Colour::Bold, &line(name));
        match state {
            TableState::Broken { reason } => writeln!(out, "{bold}: {}", line(reason))?,
            TableState::Ready(facts) => {
                writeln!(out, "{bold}: {} rows of {}", facts.rows, line(&facts.source))?;
                grid(facts).write(&mut out, "  ")?;
                for note in &facts.notes {
                    writeln!(out, "  note: {}", line(note))?;
                }
            }
        }
    }
    Ok(())
}

fn grid(facts: &TableFacts) -> Grid {
    let mut grid = Grid::new(["column", "type", "read with", "missing", "examples"]);
    for reading in facts.readings() {
        let text = |name: &str| match &reading[name] {
            Value::String(text) => line(text),
            Value::Null => String::new(),
            other => line(&other.to_string()),
        };
        let details: Vec<String> = DETAILS
            .iter()
            .filter(|name| !reading[**name].is_null())
            .map(|name| format!("{name} {}", text(name)))
            .collect();
        let share = reading["null_share"].as_f64().unwrap_or_default() * 100.0;
        let samples = reading["samples"].as_array().into_iter().flatten().take(3);
        let samples: Vec<String> =
            samples.map(|value| line(value.as_str().unwrap_or(&value.to_string()))).collect();
        grid.row([
            text("name"),
            text("type"),
            details.join(", "),
            if share > 0.0 { format!("{share:.1} %") } else { String::new() },
            samples.join(", "),
        ]);
    }
    grid
}
