//! `ordain tables describe`: what data files hold, as declarations for `ordain.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_engine::EngineError;
use ordain_files::Prepared;
use ordain_planner::FileBrief;
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use super::code::setup::{FileArgs, Setup};
use super::python;
use crate::failure::{Failure, Outcome};
use crate::show::line;
use crate::workspace::WorkspaceArgs;
use crate::{engine, runtime};

const EXAMPLES: &str = "\
Examples:
  ordain tables describe orders.csv          how it is read, as a section for ordain.toml
  ordain tables describe data >> ordain.toml  the same for every file of a folder

What you keep of it wins over what a later look would find; correct it where it is wrong.";

/// Look into files and propose how `ordain.toml` can declare them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Files, or folders of files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain tables describe`.
pub(crate) fn run(args: &Args) -> Outcome {
    let prepared = look(args.workspace.load_or_own()?, &args.files)?;
    let mut out = io::stdout().lock();
    if args.json {
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
    python::ensure_for(&setup.workspace, setup.profile(false))?;
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

/// A section of `ordain.toml` for each file that holds tables. Files of one stem are told apart by their whole names.
pub(super) fn sections(prepared: &Prepared) -> String {
    let stem = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let all = prepared.briefs.iter().filter_map(|brief| {
        let tables = brief.facts["tables"].as_array()?.iter();
        let tables: Vec<&Value> =
            tables.filter(|table| table["columns"].as_array().is_some_and(|all| !all.is_empty())).collect();
        let is_twin = |other: &FileBrief| other.name != brief.name && stem(&other.name) == stem(&brief.name);
        let has_twin = prepared.briefs.iter().any(is_twin);
        let name = if has_twin { brief.name.clone() } else { stem(&brief.name) };
        (!tables.is_empty()).then(|| section(&brief.name, &key(&name), &brief.facts, &tables))
    });
    all.collect()
}

/// How the tables of a file are read, as a section of `ordain.toml`.
fn section(file: &str, name: &str, facts: &Value, tables: &[&Value]) -> String {
    let columns: Vec<&Value> =
        tables.iter().flat_map(|table| table["columns"].as_array().into_iter().flatten()).collect();
    let size = match tables {
        [table] => format!("{} rows", table["rows"]),
        _ => format!("{} tables", tables.len()),
    };
    let mut text = format!("\n[data.{name}]  # {}: {size}\n", line(file));
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{name} = {value}");
        }
    };
    if let [table] = tables {
        set("sheet", table["name"].as_str().filter(|_| facts.get("sheets").is_some()).map(Value::from));
    }
    set("encoding", facts["encoding"].as_str().filter(|name| *name != "utf-8").map(Value::from));
    set(
        "delimiter",
        facts["delimiter"].as_str().filter(|mark| *mark != "," && mark.len() == 1).map(Value::from),
    );
    let rows: BTreeSet<Option<u64>> = tables.iter().map(|table| table["header_row"].as_u64()).collect();
    set("header_row", rows.first().filter(|row| rows.len() == 1 && **row > Some(1)).map(|row| json!(row)));
    for (name, fact) in [("decimal", "decimal"), ("thousands", "thousands"), ("date_format", "order")] {
        // What could be read in two ways is nothing that anybody decided.
        let clear = columns.iter().filter(|column| column["unclear"] != true);
        let said: BTreeSet<&str> = clear.filter_map(|column| column[fact].as_str()).collect();
        set(name, (said.len() == 1).then(|| json!(said.first())));
    }
    let marks: BTreeSet<&str> = columns
        .iter()
        .flat_map(|column| column["null_values"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    set("null_values", (!marks.is_empty()).then(|| json!(marks)));
    for table in tables {
        for note in table["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let _ = writeln!(text, "# {}", line(note));
        }
    }
    let _ = writeln!(text, "\n[data.{name}.columns]");
    text + &declared_columns(&columns, tables)
}

/// The columns of a file's tables. One that its tables read differently cannot be declared for all of them.
fn declared_columns(columns: &[&Value], tables: &[&Value]) -> String {
    let name_of = |column: &Value| column["name"].as_str().unwrap_or_default().to_owned();
    let is_part = |name: &str| tables.iter().any(|table| table["part_column"] == name);
    let mut alike: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for column in columns {
        alike.entry(name_of(column)).or_default().insert(declared(column));
    }
    let names = columns.iter().map(|column| name_of(column)).filter(|name| !is_part(name));
    // Each stands where it comes first.
    let written =
        names.filter_map(|name| Some((alike.remove(&name)?, name))).map(|(told, name)| match told.first() {
            Some(one) if told.len() == 1 => one.clone(),
            _ => format!("# {}: its tables read it differently\n", line(&name)),
        });
    written.collect()
}

fn declared(column: &Value) -> String {
    let kind = column["type"].as_str().unwrap_or("text");
    // What is not known yet, or has no type that can be declared, stays open.
    if matches!(kind, "empty" | "json") {
        let why = if kind == "empty" { "it has no value yet" } else { "it holds lists or objects" };
        return format!("# {}: {why}\n", line(column["name"].as_str().unwrap_or_default()));
    }
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
