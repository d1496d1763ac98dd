//! `ordain approve`.

use crate::commands::decide;
use crate::executor::ExecutorArgs;
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain approve 06ewdk                          the run's id, or the beginning of it
  ordain approve 06ewdk --rebase                 if its rows have moved on: the same code on the rows of today
  ordain approve 06ewdk --except inventory/SG001 all of it but this row

A key of several columns has commas in between, and a comma within one of them is written \\,. Rows that one action wrote are
left out together.

If a row that the diff touches has changed meanwhile, nothing is changed, and the cells are named.
With --rebase the new diff is committed if it differs in columns alone that `ordain.toml` lists as derived; otherwise it
waits for approval, and what differs is shown.";

/// Commit the very diff that a held run showed
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    decision: decide::RunArgs,
    /// Where rows have moved on: run the same code and params on the rows of today
    #[arg(long, conflicts_with = "except")]
    rebase: bool,
    /// Rows to leave out, each as `table/key`; may be given more than once
    #[arg(long, value_name = "TABLE/KEY")]
    except: Vec<String>,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain approve`.
pub(crate) fn run(args: &Args) -> Outcome {
    if args.rebase {
        return decide::rebase(&args.decision, &args.executor);
    }
    decide::run(&args.decision, decide::Decision::Approve { except: &args.except })
}
