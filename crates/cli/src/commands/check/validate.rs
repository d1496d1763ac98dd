//! `ordain check validate`: looks at check files and touches no data.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_checks::read_checks;
use ordain_workspace::Workspace;
use serde_json::json;

use crate::failure::{Outcome, USAGE};

/// Look at check files without touching data
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the problems as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check validate`.
pub(super) fn run(args: &Args, workspace: &Workspace) -> Outcome {
    let files = read_checks(&workspace.root)?;
    let errors = files.problems.len();
    let mut stdout = io::stdout().lock();
    if args.json {
        let problems: Vec<_> = files
            .problems
            .iter()
            .map(|problem| {
                json!({
                    "file": problem.file,
                    "line": problem.line,
                    "check_id": problem.check_id,
                    "message": problem.message,
                    "hint": problem.hint,
                    "level": "error",
                })
            })
            .collect();
        let shown = json!({"checks": files.entries.len(), "errors": errors, "problems": problems});
        writeln!(stdout, "{}", serde_json::to_string_pretty(&shown)?)?;
    } else {
        for problem in &files.problems {
            writeln!(stdout, "error: {}", crate::show::line(&problem.to_string()))?;
            if let Some(hint) = &problem.hint {
                writeln!(stdout, "  hint: {}", crate::show::line(hint))?;
            }
        }
        let of = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        writeln!(stdout, "{}, {}", of(files.entries.len(), "check"), of(errors, "error"))?;
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(USAGE) })
}
