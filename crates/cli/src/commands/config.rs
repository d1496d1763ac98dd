//! `ordain config`: the settings that hold, and where each comes from.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_workspace::Resolved;

use crate::commands::{policy, python, resident, store, trust};
use crate::failure::Outcome;
use crate::show::grid::Grid;
use crate::show::{Colour, coloured, line};
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain config                        every setting, its value and where that comes from
  ORDAIN_MODEL=rules ordain config     a variable comes before ordain.toml
  ordain config --json                 with the variables and the meaning of each
  ordain config schema                 the JSON Schema of ordain.toml, for editors
  ordain config trust shop             accept a workspace that comes from somebody else
  ordain config python setup data      set up the packages for tables, spreadsheets and charts

A value comes from the first place that has one: flags, the environment, the workspace's .env,
ordain.toml, the default. Keys and connection strings are never shown.";

/// Show the settings that hold, and where each comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the JSON Schema of ordain.toml; `init` writes it to ordain.schema.json
    Schema,
    Trust(trust::Args),
    Python(python::Args),
    Policy(policy::Args),
    StoreRole(store::RoleArgs),
    Resident(resident::Args),
}

/// Carries out `ordain config`.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.command {
        None => {}
        Some(Command::Schema) => {
            writeln!(io::stdout().lock(), "{:#}", ordain_workspace::config_schema())?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(Command::Trust(args)) => return trust::run(args),
        Some(Command::Python(args)) => return python::run(args),
        Some(Command::Policy(args)) => return policy::run(args),
        Some(Command::StoreRole(args)) => return store::role(args),
        Some(Command::Resident(args)) => return resident::run(args),
    }
    let resolved = args.workspace.load().and_then(|workspace| workspace.resolved())?;
    let mut stdout = io::stdout().lock();
    let written = if args.json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&resolved)?)
    } else {
        show(&mut stdout, &resolved)
    };
    written?;
    Ok(ExitCode::SUCCESS)
}

fn show(out: &mut impl Write, resolved: &[Resolved]) -> io::Result<()> {
    let mut grid = Grid::new(["setting", "value", "from"]);
    for setting in resolved {
        let source = match setting.variable {
            Some(variable) => format!("{} ({variable})", setting.source),
            None if setting.value.is_none() => String::new(),
            None => setting.source.to_owned(),
        };
        let value = setting.value.as_deref().map_or_else(|| "not set".to_owned(), line);
        grid.row([setting.key.to_owned(), value, source]);
    }
    grid.write(out, "")?;
    writeln!(
        out,
        "{}",
        coloured(Colour::Dim, "`ordain config --json` tells what each means and which variables give it")
    )
}
