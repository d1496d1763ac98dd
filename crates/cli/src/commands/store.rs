//! `ordain config store-role`, and `ordain tables export`: what the database itself can do for the workspace.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::failure::Outcome;
use crate::runtime;
use crate::workspace::{WorkspaceArgs, with_store};

const ROLE_EXAMPLES: &str = "\
Examples:
  ordain config store-role            the SQL for a role that may read what plans may see
  ordain config store-role --apply    make it, or bring its rights up to date

Then set `plan_role` in `[store]`, and plan SQL runs under it.";

/// Print or apply the SQL for a role of PostgreSQL with rights on the columns that plans may see
#[derive(Debug, clap::Args)]
#[command(after_help = ROLE_EXAMPLES)]
pub(crate) struct RoleArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The role's name
    #[arg(long, default_value = "ordain_plans")]
    name: String,
    /// Run the SQL instead of printing it
    #[arg(long)]
    apply: bool,
}

/// Write every table that Ordain made into a file of its own, one JSON object a line
///
/// Also tables of a store that is of another format.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The folder for the files
    folder: PathBuf,
}

/// Carries out `ordain config store-role`.
pub(crate) fn role(args: &RoleArgs) -> Outcome {
    let name = &args.name;
    with_store(&args.workspace, async |store| {
        if args.apply {
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

/// Carries out `ordain tables export`.
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    let options = args.workspace.load()?.store_options();
    let written = runtime::on_one_thread(ordain_store::export(options, args.folder.clone()))??;
    for (table, rows) in written {
        let file = args.folder.join(format!("{table}.jsonl"));
        writeln!(io::stdout(), "{rows} rows of {table} in {}", file.display())?;
    }
    Ok(ExitCode::SUCCESS)
}
