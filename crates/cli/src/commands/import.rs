//! `ordain import`: tables of files as tables of a workspace.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_files::open_store;
use ordain_types::nearest;
use ordain_workspace::Workspace;
use serde_json::json;

use super::init::from::Looked;
use super::init::proposal::{ProposedTable, sections, write_table};
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain import orders.csv                                   as the table `orders`
  ordain import 2024.csv --table orders --key order_id       under another name, with the key that you say
  ordain import dump.sqlite --json                           every table of a file

Files are looked at as by `ordain init --from`; the rows are copied to tables/, and `[tables.NAME]` is added to
ordain.toml with what was found. If a value does not fit, nothing is changed: the error names its line.";

/// Add tables to the workspace from data files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Files (CSV, workbooks, JSON, Parquet, SQLite …), folders of files, or patterns
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// What the table is called, where there is one
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// The column that identifies a row; may be given several times
    #[arg(long, value_name = "COLUMN", requires = "table")]
    key: Vec<String>,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain import`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = args.workspace.load()?;
    let mut looked = Looked::whole(&args.files)?;
    if let Some(name) = &args.table {
        let [table] = &mut looked.tables[..] else {
            let names: Vec<String> = looked.tables.iter().map(|table| line(&table.name)).collect();
            let problem = format!("there are several tables: {}", names.join(", "));
            return Err(Failure::usage(problem, "leave --table out to import all of them under their names"));
        };
        rename(table, name, &args.key)?;
    }
    let change = Change::make(&workspace, &mut looked)?;
    if let Err(error) = runtime::on_one_thread(Box::pin(async {
        open_store(&Workspace::load(&workspace.root)?).await?;
        Ok::<_, Failure>(())
    }))? {
        change.take_back()?;
        return Err(looked
            .tables
            .iter()
            .fold(error, |error, table| error.naming(&table.seed, &table.source)));
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json!(looked.tables))?;
    } else {
        write_table(&mut out, &looked.tables)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the name and the key that were said.
fn rename(table: &mut ProposedTable, name: &str, key: &[String]) -> Result<(), Failure> {
    name.clone_into(&mut table.name);
    let columns = || table.columns.iter().map(|column| column.name.as_str());
    if let Some(missing) = key.iter().find(|key| columns().all(|column| column != *key)) {
        let problem = format!("there is no column `{}`", line(missing));
        let near = nearest(missing, columns()).map(|near| format!("did you mean `{near}`?"));
        return Err(Failure::usage(
            problem,
            &near.unwrap_or_else(|| columns().collect::<Vec<_>>().join(", ")),
        ));
    }
    if !key.is_empty() {
        table.key = key.to_vec();
        for column in &mut table.columns {
            column.is_key = key.contains(&column.name);
        }
    }
    Ok(())
}

/// What was changed in the workspace's folder, so that it can be taken back.
struct Change {
    settings: PathBuf,
    before: String,
    copies: Vec<PathBuf>,
}

impl Change {
    fn make(workspace: &Workspace, looked: &mut Looked) -> Result<Self, Failure> {
        let known = runtime::on_one_thread(Box::pin(async {
            Ok::<_, Failure>(open_store(workspace).await?.schema())
        }))??;
        let is_there = |table: &&ProposedTable| known.table(&table.name).is_some();
        if let Some(table) = looked.tables.iter().find(is_there) {
            let problem = format!("there is a table `{}` already", line(&table.name));
            let hint = "choose another name with --table; `ordain tables reseed` replaces the rows of a table by its \
                        file, and removes what runs changed";
            return Err(Failure::usage(problem, hint));
        }
        let settings = workspace.root.join("ordain.toml");
        let before = fs_err::read_to_string(&settings)?;
        let copies = looked.place_rows(&workspace.root).map_err(|error| {
            Failure::usage(error.to_string(), "give the file another name, or name the one in the workspace")
        })?;
        let mut text = before.clone();
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(text, "{gap}{}", sections(&looked.tables));
        fs_err::write(&settings, text)?;
        Ok(Self { settings, before, copies })
    }

    fn take_back(&self) -> io::Result<()> {
        fs_err::write(&self.settings, &self.before)?;
        self.copies.iter().try_for_each(fs_err::remove_file)
    }
}
