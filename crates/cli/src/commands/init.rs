//! `ordain init`: a new workspace.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ordain_standing::is_data_file;
use ordain_workspace::{EXAMPLES as READY, Workspace, init, init_around};
use serde_json::json;

use super::data;
use crate::failure::Outcome;
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain init --example sunglasses shop    a shop with stock, sales and rules, ready to be asked
  ordain init my-workspace                 an empty workspace
  ordain init .                            a workspace around the data files of this folder, described as they are read

Examples to start from: sunglasses, bike-parts, library, bank, clinic, data-quality, sales-files.";

/// Make a new workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to make: new, empty, or one with data files and no ordain.toml
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Start from an example
    #[arg(long, value_name = "NAME")]
    example: Option<String>,
    /// Print what was made as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain init`.
pub(crate) fn run(args: &Args) -> Outcome {
    let found = if args.example.is_none() { data_files(&args.folder) } else { Vec::new() };
    if !found.is_empty() && !args.folder.join("ordain.toml").exists() {
        return around(args, &found);
    }
    let files = init(&args.folder, args.example.as_deref())?;
    let example = READY.iter().find(|example| Some(example.name) == args.example.as_deref());
    told(args, &files, example.map_or("edit ordain.toml", |example| example.first))
}

fn told(args: &Args, files: &[PathBuf], first: &str) -> Outcome {
    if args.json {
        writeln!(io::stdout(), "{:#}", json!({ "workspace": args.folder, "files": files }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut stdout = io::stdout().lock();
    for file in files {
        writeln!(stdout, "{}", args.folder.join(file).display())?;
    }
    writeln!(io::stderr(), "next: cd {} && {first}", args.folder.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The data files of a folder and of its folder `data`.
fn data_files(folder: &Path) -> Vec<PathBuf> {
    let entries = [folder.to_owned(), folder.join("data")]
        .into_iter()
        .filter_map(|folder| fs_err::read_dir(folder).ok());
    let paths = entries.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file() && is_data_file(path)).collect();
    files.sort();
    files
}

/// Makes a workspace around data files: how each is read goes into its `ordain.toml`.
fn around(args: &Args, files: &[PathBuf]) -> Outcome {
    let own = WorkspaceArgs::default().load_or_own()?;
    let prepared = data::look(own, files)?;
    data::warn(&prepared)?;
    let written = init_around(&args.folder, &data::sections(&prepared))?;
    // What was written is read back before it is called done.
    Workspace::load(&args.folder)?;
    let beside = files.iter().filter(|path| path.parent() == Some(args.folder.as_path()));
    let beside: Vec<String> = beside.filter_map(|path| Some(quoted(path.file_name()?.to_str()?))).collect();
    let first = if beside.is_empty() {
        "ordain tables --types".to_owned()
    } else {
        format!("mkdir -p data && mv {} data/ && ordain tables --types", beside.join(" "))
    };
    told(args, &written, &first)
}

/// A name as a word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_')) && !name.is_empty();
    if is_plain { name.to_owned() } else { format!("'./{}'", name.replace('\'', r"'\''")) }
}
