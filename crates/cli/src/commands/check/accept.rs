//! `ordain check accept`: a person says that the figures of a run are usual.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_checks::State;
use ordain_workspace::Workspace;

use crate::failure::{Failure, Outcome};
use crate::show::line;

/// Accept the figures of a run as usual, so that `anomaly` learns from them although it failed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: its id, the beginning of it, or `latest`
    run: String,
}

/// Carries out `ordain check accept`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> Outcome {
    let accepted =
        State::open(&workspace.state().join("checks")).and_then(|state| state.accept_run(&args.run));
    let Some(run) = accepted? else {
        let problem = format!("no single run is called `{}`", line(&args.run));
        return Err(Failure::usage(problem, "see `ordain check history CHECK` for ids"));
    };
    writeln!(io::stderr(), "the figures of run {run} count as usual from now on")?;
    Ok(ExitCode::SUCCESS)
}
