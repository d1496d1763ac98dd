//! `ordain config resident`: the helpers that keep Python warm between commands.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ordain_cell::Level;
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::resident::{self, Helper, Resident};
use ordain_types::format_duration;
use serde_json::json;

use crate::commands::python;
use crate::failure::{Failure, Outcome, UNAVAILABLE};
use crate::runtime;
use crate::show::grid::Grid;

const EXAMPLES: &str = "\
Examples:
  ordain config resident status               which helpers run
  ordain config resident stop                 end them
  ORDAIN_RESIDENT=off ordain exec a.py        start Python for this command alone

A helper is started by the first `exec`, `code`, `ask` or `check`, keeps warm cells for the commands after it, and ends
ten minutes after the last one. ORDAIN_RESIDENT=off has none started or used.";

/// Helpers that keep Python warm between commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// The helpers of this user that run
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End the helpers of this build of the program, with the cells that commands have from them
    Stop {
        /// End those of other builds too
        #[arg(long)]
        all: bool,
    },
    /// Become a helper; commands start it so
    #[command(hide = true)]
    Serve {
        #[arg(value_parser = python::read_profile)]
        profile: Profile,
        #[arg(value_parser = read_level)]
        minimum: Level,
    },
}

/// Carries out `ordain config resident …`.
pub(crate) fn run(args: &Args) -> Outcome {
    if let Command::Serve { profile, minimum } = args.command {
        return serve(profile, minimum);
    }
    let Some(resident) = Resident::of_this_user() else {
        let hint = "set XDG_RUNTIME_DIR to a folder that is yours alone, and remove what has its place";
        let problem = "there is no folder for helpers that you alone may enter";
        return Err(Failure::new(UNAVAILABLE, problem, Some(hint)));
    };
    let helpers = resident::list(&resident)?;
    let mut out = io::stdout().lock();
    match args.command {
        Command::Status { json: true } => {
            writeln!(out, "{:#}", json!({ "helpers": helpers }))?;
        }
        _ if helpers.is_empty() => writeln!(out, "no helper runs")?,
        Command::Stop { all } => stop(&mut out, &helpers, all)?,
        _ => print(&mut out, &helpers)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn stop(out: &mut impl Write, helpers: &[Helper], all: bool) -> io::Result<()> {
    let (ended, others): (Vec<_>, Vec<_>) =
        helpers.iter().partition(|helper| all || helper.is_of_this_build());
    for helper in ended {
        helper.stop()?;
        writeln!(out, "stopped the helper of `{}`, process {}", helper.note.profile, helper.note.process)?;
    }
    if !others.is_empty() {
        let count = others.len();
        writeln!(
            out,
            "helpers of other builds that run on: {count}; `ordain config resident stop --all` ends them too"
        )?;
    }
    Ok(())
}

fn print(out: &mut impl Write, helpers: &[Helper]) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let mut grid = Grid::new(["PROFILE", "PROCESS", "RUNS FOR"]);
    for Helper { note, .. } in helpers {
        let age = Duration::from_secs(now.saturating_sub(note.started_unix_s));
        grid.row([note.profile.to_string(), note.process.to_string(), format_duration(age)]);
    }
    grid.write(out, "")
}

fn serve(profile: Profile, minimum: Level) -> Outcome {
    let folder = resident::detach()?;
    let Some(resident) = folder.map_or_else(Resident::of_this_user, Resident::at) else {
        return Ok(ExitCode::from(UNAVAILABLE));
    };
    runtime::on_one_thread(Box::pin(async {
        let data_dir = DataDir::from_env()?;
        resident::serve(&resident, profile, minimum, data_dir, resident::IDLE_TIME_MAX).await?;
        Ok(ExitCode::SUCCESS)
    }))?
}

fn read_level(text: &str) -> Result<Level, String> {
    Level::named(text).ok_or_else(|| "no such level".to_owned())
}
