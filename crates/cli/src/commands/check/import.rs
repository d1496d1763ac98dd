//! `ordain check import`: checks from other tools' files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ordain_checks::export::{Target, export};
use ordain_checks::import::{ImportError, Imported, Tool, import, import_workflows};
use ordain_workspace::Workspace;

use super::add;
use crate::failure::{Failure, Outcome};
use crate::given;
use crate::show::line;

/// Larger files are not files of rules.
const BYTES_MAX: u64 = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  ordain check import --from dbt models/schema.yml                 print them as checks
  ordain check import --from gx suite.json --table orders --add    add them to checks/checks.json
  ordain check import --from workflows ../old/cached_mem           the contracts of an earlier workflow

Checks go to standard output, or with --add to the workspace. Every rule that has no check is named on standard error
with the reason; settings that have no place in a check are kept as fields of their own.";

/// Read checks from another tool's file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The tool: dbt, gx or workflows
    #[arg(long, value_name = "TOOL")]
    from: Tool,
    /// The file; for `workflows`, the folder with `workflows.json`
    path: PathBuf,
    /// The table that the rules are about, where the file does not say
    #[arg(long)]
    table: Option<String>,
    /// Add the checks to the workspace's `checks/checks.json`
    #[arg(long)]
    add: bool,
    /// Print checks, what has none and why, as one JSON record
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether a workspace is written to.
    pub(super) fn needs_workspace(&self) -> bool {
        self.add
    }
}

/// Carries out `ordain check import`.
pub(super) fn run(args: &Args, workspace: Option<&Workspace>) -> Outcome {
    let imported = read(args)?;
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&imported)?)?;
    } else {
        tell(&imported)?;
    }
    match workspace.filter(|_| args.add) {
        Some(workspace) => {
            let added = add::add(workspace, &imported.checks, args.from == Tool::Workflows)?;
            writeln!(io::stderr(), "{}", line(&add::told(&added)))?;
        }
        None if !args.json => {
            io::stdout().lock().write_all(export(Target::Json, &imported.checks).text.as_bytes())?;
        }
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(imported: &Imported) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    for left in &imported.unmapped {
        writeln!(
            stderr,
            "no check that runs for {} ({}): {}",
            line(&left.what),
            line(&left.place),
            line(&left.reason)
        )?;
    }
    for key in imported.keys.iter().filter(|key| !key.is_carried_over) {
        let reason = key.reason.as_deref().unwrap_or_default();
        writeln!(stderr, "not carried over: {} of {}: {}", line(&key.key), line(&key.place), line(reason))?;
    }
    for note in &imported.notes {
        writeln!(stderr, "note: {}", line(note))?;
    }
    let off = imported.checks.iter().filter(|check| !check.enabled).count();
    writeln!(
        stderr,
        "{} rules became checks, {} did not ({off} of the checks are turned off)",
        imported.checks.len() - off,
        imported.unmapped.len()
    )
}

/// What the file gives.
fn read(args: &Args) -> Result<Imported, Failure> {
    let hint = format!("name a file of {}; see `ordain check import --help`", args.from);
    let wrong = |problem: String| Failure::usage(problem, &hint);
    let of_import = |error: ImportError| wrong(format!("{}: {error}", args.path.display()));
    if args.from == Tool::Workflows {
        let folder = if args.path.is_dir() {
            args.path.as_path()
        } else {
            args.path.parent().unwrap_or(Path::new("."))
        };
        let workflows = text_of(&folder.join("workflows.json")).map_err(wrong)?;
        return import_workflows(&workflows, checks_beside(folder).as_deref()).map_err(of_import);
    }
    let text = text_of(&args.path).map_err(wrong)?;
    import(args.from, &text, args.table.as_deref()).map_err(of_import)
}

/// The checks that a workflow was made from: beside it, or where such projects keep them.
fn checks_beside(folder: &Path) -> Option<String> {
    let places = ["checks.json", "../checks/checks.json", "checks_last.csv"];
    places.iter().find_map(|place| text_of(&folder.join(place)).ok())
}

fn text_of(path: &Path) -> Result<String, String> {
    if !path.exists() {
        return Err(format!("there is no file `{}`", path.display()));
    }
    given::text(path, BYTES_MAX)
}
