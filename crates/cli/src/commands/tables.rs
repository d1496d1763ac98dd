//! `ordain tables`: what tables there are, and their rows.

mod types;

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_store::{BeginOptions, Call, Intent, Page, Reply, RowHistory, Store, StoreError, TableInfo};
use ordain_types::{Diff, Row, RowChange, TableDiff};
use serde_json::json;

use crate::commands::{backup, data, reseed, store};
use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::{Colour, coloured, diff, line};
use crate::workspace::{WorkspaceArgs, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain tables                       every table with its rows, key and rules
  ordain tables inventory             its columns, indexes and a few rows
  ordain tables inventory --rows      the first 20 rows
  ordain tables inventory --rows 500 --json
  ordain tables inventory --history SG001      who changed this row, and what it was before
  ordain tables --types               how the columns of data files are read, and what did not fit
  ordain tables backup                a signed copy of the store; `restore` goes back to one
  ordain tables -- backup             the table that has such a name";

/// Rows that a table's description shows.
const SAMPLES: u64 = 3;
/// Changes of one row that are shown.
const EVENTS_SHOWN: u64 = 100;

/// Show the workspace's tables
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// One table
    name: Option<String>,
    /// Print rows of the table, at most N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", requires = "name", value_parser = clap::value_parser!(u64).range(1..))]
    rows: Option<u64>,
    /// What happened to the row with this key: when, by whom, by which run; several columns have commas in between
    #[arg(long, value_name = "KEY", requires = "name", conflicts_with = "rows")]
    history: Option<String>,
    /// Show how the columns of data files and tables are read: types, marks, orders, what did not fit
    #[arg(long, conflicts_with = "rows")]
    types: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Backup(backup::Args),
    Restore(backup::RestoreArgs),
    Reseed(reseed::Args),
    Describe(data::Args),
    Export(store::ExportArgs),
}

/// Carries out `ordain tables`.
pub(crate) fn run(args: Args) -> Outcome {
    if let Some(command) = &args.command {
        if let Some(name) = &args.name {
            let problem = format!("`{name}` is a table, and a command follows it");
            return Err(Failure::usage(problem, "name tables after the command"));
        }
        return match command {
            Command::Backup(args) => backup::run(args),
            Command::Restore(args) => backup::restore(args),
            Command::Reseed(args) => reseed::run(args),
            Command::Describe(args) => data::run(args),
            Command::Export(args) => store::export(args),
        };
    }
    if args.types {
        return types::run(args.name.as_deref(), args.json, &args.workspace);
    }
    let workspace = args.workspace.clone();
    with_store(&workspace, |store| show(store, args))
}

async fn show(store: Store, args: Args) -> Outcome {
    let mut stdout = io::stdout().lock();
    if let (Some(name), Some(limit)) = (&args.name, args.rows) {
        let rows = rows(&store, name, limit).await?;
        if args.json {
            writeln!(stdout, "{}", serde_json::to_string_pretty(&rows).map_err(io::Error::from)?)?;
        } else {
            diff::grid_of(&rows).write(&mut stdout, "")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(name), Some(row)) = (&args.name, &args.history) {
        let found = store.row_history(name, row, None, None, EVENTS_SHOWN).await?;
        if args.json {
            writeln!(stdout, "{}", serde_json::to_string_pretty(&found).map_err(io::Error::from)?)?;
        } else {
            history(&mut stdout, (name, row), &found)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut tables = store.tables().await?;
    if let Some(name) = &args.name {
        // The store knows best what an unknown table is called.
        rows(&store, name, 1).await?;
        tables.retain(|info| info.table.name == *name);
    }
    if args.json {
        let mut described = Vec::new();
        for info in &tables {
            let mut value = serde_json::to_value(info).map_err(io::Error::from)?;
            value["samples"] = json!(samples(&store, info).await?);
            described.push(value);
        }
        writeln!(stdout, "{:#}", json!(described))?;
        return Ok(ExitCode::SUCCESS);
    }
    match (&args.name, tables.as_slice()) {
        (Some(_), [info]) => describe(&mut stdout, info, &samples(&store, info).await?)?,
        (None, []) => {
            let told = "this workspace declares no tables; `ordain tables --types` shows the files that checks look at";
            writeln!(io::stderr(), "{told}")?;
        }
        _ => list(&mut stdout, &tables)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn history(out: &mut impl Write, (table, row): (&str, &str), found: &RowHistory) -> io::Result<()> {
    if found.events.is_empty() {
        writeln!(out, "no run changed the row `{}` of {}", line(row), line(table))?;
    }
    for event in &found.events {
        let undone = event.undone_at.as_ref().map(|at| format!(", undone {at}")).unwrap_or_default();
        let decided =
            event.decided_by.as_ref().map(|who| format!(", decided by {}", line(who))).unwrap_or_default();
        let (at, who, through) = (&event.at, line(&event.who), line(&event.through));
        writeln!(out, "{at}  {who} through {through}{decided}{undone}  {}", event.run_id)?;
        writeln!(out, "  {}", line(&event.request))?;
        let mut diff = TableDiff::default();
        match (event.before.clone(), event.after.clone()) {
            (Some(before), Some(after)) => {
                diff.changed.push(RowChange { key: event.key.clone(), before, after });
            }
            (before, after) => {
                diff.removed.extend(before);
                diff.added.extend(after);
            }
        }
        let diff = Diff { tables: [(table.to_owned(), diff)].into() };
        diff::write(out, &diff, diff::Extent::All)?;
    }
    if found.next.is_some() {
        writeln!(
            io::stderr(),
            "these are the newest {EVENTS_SHOWN}; the web UI and `/v1/tables` show the rest"
        )?;
    }
    Ok(())
}

pub(crate) fn list(out: &mut impl Write, tables: &[TableInfo]) -> io::Result<()> {
    let mut grid = Grid::new(["table", "rows", "key", "columns", "rules"]);
    for info in tables {
        grid.row([
            line(&info.table.name),
            info.rows.to_string(),
            line(&info.table.key.join(", ")),
            info.table.columns.len().to_string(),
            rules(info).join(", "),
        ]);
    }
    grid.write(out, "")
}

fn rules(info: &TableInfo) -> Vec<String> {
    let table = &info.table;
    let flags = [
        (table.append_only, "append-only"),
        (table.read_only, "read-only"),
        (table.hidden, "hidden from plans"),
        (info.in_place, "in place"),
    ];
    let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned());
    flags.chain(info.max_rows_changed.map(|most| format!("at most {most} rows a run"))).collect()
}

fn describe(out: &mut impl Write, info: &TableInfo, samples: &[Row]) -> io::Result<()> {
    writeln!(out, "{}: {} rows", coloured(Colour::Bold, &line(&info.table.name)), info.rows)?;
    let mut grid = Grid::new(["column", "type", ""]);
    for column in &info.table.columns {
        let column_type = serde_json::to_value(column.column_type).unwrap_or_default();
        let mut about = Vec::new();
        if info.table.key.contains(&column.name) {
            about.push("key");
        } else if !column.nullable {
            about.push("required");
        }
        if column.hidden {
            about.push("hidden from plans");
        }
        grid.row([line(&column.name), column_type.as_str().unwrap_or_default().to_owned(), about.join(", ")]);
    }
    grid.write(out, "  ")?;
    let listed = |lists: &[Vec<String>]| {
        lists.iter().map(|columns| format!("({})", line(&columns.join(", ")))).collect::<Vec<_>>().join(" ")
    };
    if !info.indexes.is_empty() {
        writeln!(out, "indexes: {}", listed(&info.indexes))?;
    }
    for key in &info.foreign_keys {
        let (from, to) = (line(&key.columns.join(", ")), line(&key.references.join(", ")));
        writeln!(out, "refers:  ({from}) to {}({to})", line(&key.table))?;
    }
    let rules = rules(info);
    if !rules.is_empty() {
        writeln!(out, "rules:   {}", rules.join(", "))?;
    }
    for note in &info.notes {
        writeln!(out, "note:    {}", line(note))?;
    }
    if !samples.is_empty() {
        writeln!(out, "first rows:")?;
        diff::grid_of(samples).write(out, "  ")?;
    }
    Ok(())
}

/// The first rows of a table; none of one that plans may not see.
async fn samples(store: &Store, info: &TableInfo) -> Result<Vec<Row>, StoreError> {
    if info.table.hidden { Ok(Vec::new()) } else { rows(store, &info.table.name, SAMPLES).await }
}

async fn rows(store: &Store, table: &str, limit: u64) -> Result<Vec<Row>, StoreError> {
    let mut transaction =
        store.begin(BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read }).await?;
    let (mut rows, mut after, mut as_of) = (Vec::new(), None, None);
    while (rows.len() as u64) < limit {
        let left = limit - rows.len() as u64;
        let call = Call::Search { table: table.to_owned(), condition: None, after, as_of, limit: Some(left) };
        let Reply::Rows(page) = transaction.carry_out(call).await? else { break };
        (after, as_of) = (page.last, Some(page.as_of));
        let more = page.more;
        rows.extend(as_rows(page));
        if !more {
            break;
        }
    }
    transaction.roll_back().await?;
    Ok(rows)
}

fn as_rows(page: Page) -> impl Iterator<Item = Row> {
    let columns = page.columns;
    page.rows.into_iter().map(move |row| {
        let fields = std::iter::zip(columns.iter().cloned(), row.values);
        fields.filter_map(|(name, value)| Some((name, value?))).collect()
    })
}
