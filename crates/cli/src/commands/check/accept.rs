//! `ordain check accept`: a person says that the figures of a run are usual.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_engine::Workspace;
use ordain_engine::checks::State;

use crate::failure::{self, USAGE};
use crate::show::line;

/// Accept the figures of a run as usual, so that `anomaly` learns from them although it failed
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: its id, the beginning of it, or `latest`
    run: String,
}

/// Carries out `ordain check accept`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let accepted =
        State::open(&workspace.state().join("checks")).and_then(|state| state.accept_run(&args.run));
    match accepted {
        Ok(Some(run)) => {
            writeln!(io::stderr(), "the figures of run {run} count as usual from now on")?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(None) => {
            let problem = format!("no single run is called `{}`", line(&args.run));
            failure::print_text(&problem, Some("see `ordain check history CHECK` for ids"));
            Ok(ExitCode::from(USAGE))
        }
        Err(error) => Ok(super::of_checks(&error)),
    }
}
