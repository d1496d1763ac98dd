//! `ordain import`: a data file as a table of the workspace.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ordain_files::{Units, open_store, open_with_units};
use ordain_store::TableInfo;
use ordain_types::format_bytes;
use ordain_workspace::Workspace;
use serde_json::json;

use super::data::key;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain import orders.csv --table orders --key order_id
  ordain import prices.xlsx --table prices --json

The file is copied to tables/ if it is elsewhere, `[tables.NAME]` is added to ordain.toml, with the currencies and units
of its columns, and the table is made from it.
If a value does not fit, nothing is changed: the error names its line.";

/// A larger file is announced, because it takes a while.
const LONG_BYTES: u64 = 8 << 20;

/// Make a table of the workspace from a data file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The file: CSV, JSON, a workbook, Parquet …
    file: PathBuf,
    /// What the table is called
    #[arg(long, value_name = "NAME")]
    table: String,
    /// The column that identifies a row; may be given several times
    #[arg(long, value_name = "COLUMN")]
    key: Vec<String>,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain import`.
pub(crate) fn run(args: &Args) -> Outcome {
    runtime::on_one_thread(Box::pin(import(args)))?
}

async fn import(args: &Args) -> Outcome {
    let workspace = args.workspace.load()?;
    check_usage(args, &workspace).await?;
    let change = Change::make(args, &workspace)?;
    let bytes = fs_err::metadata(&args.file)?.len();
    if bytes > LONG_BYTES {
        writeln!(io::stderr(), "reading {}; a minute for each 30 MiB or so", format_bytes(bytes))?;
    }
    match made(&workspace.root, &args.table).await {
        Ok((info, units)) => {
            change.keep_units(args, &units)?;
            told(&info, args.json)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            change.take_back()?;
            Err(change.copy_is_called(error, &args.file))
        }
    }
}

async fn check_usage(args: &Args, workspace: &Workspace) -> Result<(), Failure> {
    if !args.file.is_file() {
        let problem = format!("there is no file `{}`", args.file.display());
        return Err(Failure::usage(problem, "look at the path; it is relative to the current folder"));
    }
    let copy = Path::new("tables").join(args.file.file_name().unwrap_or_default());
    let is_outside = !fs_err::canonicalize(&args.file)?.starts_with(fs_err::canonicalize(&workspace.root)?);
    if is_outside && workspace.root.join(&copy).exists() {
        let problem = format!("there is a file `{}` in the workspace already", copy.display());
        return Err(Failure::usage(problem, "give the file another name, or name the one in the workspace"));
    }
    let known = open_store(workspace).await?.schema();
    if known.table(&args.table).is_some() {
        let problem = format!("there is a table `{}` already", args.table);
        let hint = "choose another name; `ordain tables reseed` replaces the rows of a table by its seed file, and removes what runs changed";
        return Err(Failure::usage(problem, hint));
    }
    Ok(())
}

/// What was changed in the workspace's folder, so that it can be taken back.
struct Change {
    settings: PathBuf,
    before: String,
    copy: Option<PathBuf>,
}

impl Change {
    fn make(args: &Args, workspace: &Workspace) -> io::Result<Self> {
        let root = fs_err::canonicalize(&workspace.root)?;
        let file = fs_err::canonicalize(&args.file)?;
        let (seed, copy) = if let Ok(inside) = file.strip_prefix(&root) {
            (inside.to_owned(), None)
        } else {
            let seed = Path::new("tables").join(file.file_name().unwrap_or_default());
            let copy = root.join(&seed);
            fs_err::create_dir_all(root.join("tables"))?;
            // Nothing is overwritten.
            io::copy(&mut fs_err::File::open(&file)?, &mut fs_err::File::create_new(&copy)?)?;
            (seed, Some(copy))
        };
        let settings = root.join("ordain.toml");
        let before = fs_err::read_to_string(&settings)?;
        let mut text = before.clone();
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let seed = json!(seed.to_string_lossy());
        let _ = write!(text, "{gap}\n[tables.{}]\nseed = {seed}\n", key(&args.table));
        if !args.key.is_empty() {
            let _ = writeln!(text, "key = {}", json!(args.key));
        }
        fs_err::write(&settings, text)?;
        Ok(Self { settings, before, copy })
    }

    /// Declares what the numbers of the table count, so that amounts of another currency are not compared with them.
    fn keep_units(&self, args: &Args, units: &Units) -> io::Result<()> {
        let Some(units) = units.get(&args.table).filter(|units| !units.is_empty()) else { return Ok(()) };
        let mut text = fs_err::read_to_string(&self.settings)?;
        let _ = writeln!(text, "\n[tables.{}.columns]", key(&args.table));
        for (column, unit) in units {
            let _ = writeln!(text, "{} = {{ unit = {} }}", key(column), json!(unit));
        }
        fs_err::write(&self.settings, text)
    }

    /// The error with the file's own path in place of the copy's, which is gone.
    fn copy_is_called(&self, error: Failure, file: &Path) -> Failure {
        let name = self.copy.as_ref().and_then(|copy| copy.file_name()).map(|name| name.to_string_lossy());
        match name {
            Some(name) => error.naming(&format!("tables/{name}"), &file.display().to_string()),
            None => error,
        }
    }

    fn take_back(&self) -> io::Result<()> {
        fs_err::write(&self.settings, &self.before)?;
        self.copy.as_ref().map_or(Ok(()), fs_err::remove_file)
    }
}

async fn made(root: &Path, table: &str) -> Result<(TableInfo, Units), Failure> {
    let (store, units) = open_with_units(&Workspace::load(root)?).await?;
    let found = store.tables().await?.into_iter().find(|info| info.table.name == table);
    let missing = || io::Error::other(format!("the table `{table}` was not made"));
    Ok((found.ok_or_else(missing)?, units))
}

fn told(info: &TableInfo, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        return writeln!(out, "{:#}", json!(info));
    }
    writeln!(out, "{}: {} rows", line(&info.table.name), info.rows)?;
    for column in &info.table.columns {
        let column_type = json!(column.column_type);
        writeln!(out, "  {}  {}", line(&column.name), column_type.as_str().unwrap_or_default())?;
    }
    for note in &info.notes {
        writeln!(io::stderr(), "note: {}", line(note))?;
    }
    Ok(())
}
