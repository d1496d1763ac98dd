//! `ordain data`: what data files hold, as declarations for `ordain.toml`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use ordain_engine::{EngineError, Prepared, Workspace};
use serde_json::{Value, json};

use super::code::setup::{FileArgs, Setup};
use super::python;
use crate::failure::{Failure, Outcome};
use crate::show::line;
use crate::workspace::WorkspaceArgs;
use crate::{engine, runtime};

const EXAMPLES: &str = "\
Examples:
  ordain data describe orders.csv                  how it is read, as a section for ordain.toml
  ordain data describe data >> ordain.toml         the same for every file of a folder

What you keep of it wins over what a later look would find; correct it where it is wrong.";

/// What data files hold
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Describe(DescribeArgs),
}

/// Look into files and propose how `ordain.toml` can declare them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct DescribeArgs {
    /// Files, or folders of files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain data …`.
pub(crate) fn run(args: &Args) -> Outcome {
    let Command::Describe(wanted) = &args.command;
    let workspace = args.workspace.load_or_own()?;
    let prepared = look(workspace, &wanted.files)?;
    let mut out = io::stdout().lock();
    if wanted.json {
        let told = json!({ "files": prepared.briefs, "problems": prepared.problems() });
        writeln!(out, "{told:#}")?;
    } else {
        out.write_all(sections(&prepared).as_bytes())?;
    }
    warn(&prepared)?;
    Ok(if prepared.problems().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Looks into files.
pub(super) fn look(workspace: Workspace, files: &[PathBuf]) -> Result<Prepared, Failure> {
    let mut given = FileArgs::default();
    files.clone_into(&mut given.file);
    let setup = Setup::new(&given, workspace)?;
    python::ensure(setup.profile(false))?;
    runtime::on_one_thread(Box::pin(async {
        let executor = setup.executor()?;
        let looked = look_with(&setup, std::sync::Arc::clone(&executor)).await;
        executor.close().await;
        Ok(looked?)
    }))?
}

async fn look_with(
    setup: &Setup,
    executor: std::sync::Arc<ordain_cell::LocalExecutor>,
) -> Result<Prepared, EngineError> {
    let engine = engine::open(&setup.workspace, executor, setup.settings()).await?;
    let mut task = ordain_engine::CodeTask::new("", "", "cli");
    setup.give(&mut task);
    engine.prepare_files(&task.files, &task.mounted, &setup.settings().limits).await
}

/// Says which files could not be looked into.
pub(super) fn warn(prepared: &Prepared) -> io::Result<()> {
    for problem in prepared.problems() {
        writeln!(io::stderr(), "warning: {}: {}", line(&problem.name), line(&problem.problem))?;
    }
    Ok(())
}

/// A section of `ordain.toml` for each table of the files.
pub(super) fn sections(prepared: &Prepared) -> String {
    let tables = prepared.briefs.iter().flat_map(|brief| {
        let tables = brief.facts["tables"].as_array().into_iter().flatten();
        tables.map(|table| section(&brief.name, &brief.facts, table))
    });
    tables.collect()
}

/// A table as a section of `ordain.toml`.
fn section(file: &str, facts: &Value, table: &Value) -> String {
    let stem = file.split('.').next().unwrap_or(file);
    let columns: Vec<&Value> = table["columns"].as_array().into_iter().flatten().collect();
    let mut text = format!("\n[data.{}]  # {}: {} rows\n", key(stem), line(file), table["rows"]);
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{name} = {value}");
        }
    };
    set("sheet", table["name"].as_str().filter(|_| facts.get("sheets").is_some()).map(Value::from));
    set("encoding", facts["encoding"].as_str().filter(|name| *name != "utf-8").map(Value::from));
    set(
        "delimiter",
        facts["delimiter"].as_str().filter(|mark| *mark != "," && mark.len() == 1).map(Value::from),
    );
    set("header_row", table["skip"].as_u64().filter(|row| *row > 1).map(Value::from));
    for (name, fact) in [("decimal", "decimal"), ("thousands", "thousands"), ("date_format", "order")] {
        let said: BTreeSet<&str> = columns.iter().filter_map(|column| column[fact].as_str()).collect();
        set(name, (said.len() == 1).then(|| json!(said.first())));
    }
    let marks: BTreeSet<&str> = columns
        .iter()
        .flat_map(|column| column["null_values"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    set("null_values", (!marks.is_empty()).then(|| json!(marks)));
    for note in table["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "# {}", line(note));
    }
    let _ = writeln!(text, "\n[data.{}.columns]", key(stem));
    for column in columns {
        text.push_str(&declared(column));
    }
    text
}

fn declared(column: &Value) -> String {
    let kind = column["type"].as_str().filter(|kind| !matches!(*kind, "empty" | "json")).unwrap_or("text");
    let name = key(column["name"].as_str().unwrap_or_default());
    let unit = column["currency"].as_str().or_else(|| column["unit"].as_str()).filter(|unit| *unit != "%");
    let value = unit.map_or_else(
        || json!(kind).to_string(),
        |unit| format!("{{ type = {}, unit = {} }}", json!(kind), json!(unit)),
    );
    let notes = column["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let notes: Vec<String> = notes.map(line).collect();
    let remark = if notes.is_empty() { String::new() } else { format!("  # {}", notes.join("; ")) };
    format!("{name} = {value}{remark}\n")
}

/// A name as a key of TOML.
pub(super) fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { json!(name).to_string() }
}
