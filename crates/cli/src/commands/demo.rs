//! `ordain demo`: a guided tour, offline, in which every step is really run.

mod jail;
mod shop;
mod stage;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{CellError, LocalExecutor, LocalOptions};

use crate::commands::python;
use crate::failure::Outcome;
use crate::runtime;

use stage::Stage;

const EXAMPLES: &str = "\
Examples:
  ordain demo            the whole tour, in a few seconds
  ordain demo --pause    wait for Enter after each scene
  ordain demo --full     show every line of every plan

Nothing outside a throw-away folder is touched, and no network is used.";

/// Show, in a few seconds, what Ordain does
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Wait for Enter after each scene
    #[arg(long)]
    pause: bool,
    /// Show every line of every plan
    #[arg(long)]
    full: bool,
}

/// Carries out `ordain demo`.
pub(crate) fn run(args: &Args) -> Outcome {
    python::ensure(Profile::Core)?;
    runtime::on_two_threads(Box::pin(async {
        match tour(args).await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(match error.downcast::<CellError>() {
                Ok(error) => error.into(),
                Err(error) => error.into(),
            }),
        }
    }))?
}

async fn tour(args: &Args) -> anyhow::Result<()> {
    let executor = Arc::new(LocalExecutor::new(LocalOptions::new(DataDir::from_env()?))?);
    executor.warm(Profile::Core).await?;
    let mut stage = Stage::new(args.pause, args.full);
    let toured = async {
        shop::tour(Arc::clone(&executor), &mut stage).await?;
        jail::tour(&executor, &mut stage).await
    }
    .await;
    executor.close().await;
    toured?;
    writeln!(
        io::stdout(),
        "\nTry next:\n  \
         ordain init --example sunglasses shop && cd shop && ordain chat\n  \
         ordain ask \"Purchase 3 Wayfarer sunglasses for customer Alice\" --dry-run\n  \
         ordain models                    who could write plans here, from rules to the model of your choice"
    )?;
    Ok(())
}
