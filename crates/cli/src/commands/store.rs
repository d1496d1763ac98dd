//! `ordain store`: what the database itself can do for the workspace.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::failure::Outcome;
use crate::runtime;
use crate::workspace::{Group, WorkspaceArgs, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain store role            the SQL for a role that may read what plans may see
  ordain store role --apply    make it, or bring its rights up to date
  ordain store export FOLDER   write every table that Ordain made into FOLDER, also of a store of another format

Then set `plan_role` in `[store]`, and plan SQL runs under it.";

pub(crate) type Args = Group<WorkspaceArgs, Command>;

/// A role of PostgreSQL for plan SQL
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Print or apply the SQL for a role with rights on the columns that plans may see
    Role {
        /// The role's name
        #[arg(long, default_value = "ordain_plans")]
        name: String,
        /// Run the SQL instead of printing it
        #[arg(long)]
        apply: bool,
    },
    /// Write every table that Ordain made into a file of its own, one JSON object a line
    Export {
        /// The folder for the files
        folder: PathBuf,
    },
}

/// Carries out `ordain store`.
pub(crate) fn run(args: &Args) -> Outcome {
    let (name, apply) = match &args.command {
        Command::Role { name, apply } => (name, apply),
        Command::Export { folder } => return export(&args.shared, folder),
    };
    with_store(&args.shared, async |store| {
        if *apply {
            store.apply_role(name).await?;
            writeln!(
                io::stdout(),
                "the role `{name}` may read what plans may see; set `plan_role` in `[store]`"
            )?;
        } else {
            write!(io::stdout(), "{}", store.role_sql(name))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn export(workspace: &WorkspaceArgs, folder: &Path) -> Outcome {
    let options = workspace.load()?.store_options();
    let written = runtime::on_one_thread(ordain_store::export(options, folder.to_owned()))??;
    for (table, rows) in written {
        writeln!(
            io::stdout(),
            "{rows} rows of {table} in {}",
            folder.join(format!("{table}.jsonl")).display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
