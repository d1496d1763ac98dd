//! `ordain config trust`: accepts a workspace that belongs to somebody else, or that names addresses.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_workspace::{Accepted, TrustList, Workspace, WorkspaceError};

use crate::failure::{Failure, Outcome};
use crate::show::line;

const EXAMPLES: &str = "\
Examples:
  ordain config trust shop            accept the workspace in `shop` as it is now
  ordain config trust                 what was accepted
  ordain config trust --remove shop   take it back

A workspace that belongs to another user, that names an address to which requests and your key would go, or that asks for
less isolation, is not used until you accept it. When it asks for something else later, it has to be accepted again.";

/// Accept a workspace that comes from somebody else
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The workspace's folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Take back what was accepted
    #[arg(long, requires = "folder")]
    remove: bool,
}

/// Carries out `ordain config trust`.
pub(crate) fn run(args: &Args) -> Outcome {
    let told = match &args.folder {
        None => list()?,
        Some(folder) if args.remove => remove(folder)?,
        Some(folder) => {
            require_workspace(folder)?;
            accept(folder)?
        }
    };
    io::stdout().write_all(told.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Says what is not there, before anything in it is read.
fn require_workspace(folder: &std::path::Path) -> Result<(), Failure> {
    let shown = line(&folder.display().to_string());
    let problem = if !folder.exists() {
        format!("there is no folder `{shown}`")
    } else if !folder.is_dir() {
        format!("`{shown}` is a file; a workspace is a folder")
    } else if !folder.join("ordain.toml").exists() && !folder.join("checks").is_dir() {
        format!("`{shown}` is no workspace: it has neither `ordain.toml` nor a folder `checks`")
    } else {
        return Ok(());
    };
    Err(Failure::usage(problem, "name the folder of the workspace that you want to accept"))
}

fn accept(folder: &std::path::Path) -> Result<String, WorkspaceError> {
    let asked = Workspace::asks_to_accept(folder)?;
    if asked.is_nothing() {
        return Ok(format!("{}: it is yours and asks for nothing special\n", shown(&asked)));
    }
    let told = told(&asked);
    TrustList::own()?.add(asked)?;
    Ok(format!("accepted\n{told}"))
}

fn remove(folder: &std::path::Path) -> Result<String, WorkspaceError> {
    let was = TrustList::own()?.remove(folder)?;
    Ok(if was { "taken back\n" } else { "it had not been accepted\n" }.to_owned())
}

fn list() -> Result<String, WorkspaceError> {
    let accepted = TrustList::own()?.read()?;
    if accepted.is_empty() {
        return Ok("no workspace was accepted\n".to_owned());
    }
    Ok(accepted.iter().map(told).collect())
}

fn told(accepted: &Accepted) -> String {
    let mut text = format!("{}\n", shown(accepted));
    for owner in &accepted.owners {
        let _ = writeln!(text, "  belongs to user {owner}");
    }
    for ask in &accepted.asks {
        let _ = writeln!(text, "  {}", line(ask));
    }
    text
}

fn shown(accepted: &Accepted) -> String {
    line(&accepted.root.display().to_string())
}
