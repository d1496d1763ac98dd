//! `ordain check show`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_types::nearest;
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::{line, lines};

/// Show a check: its rule, its plan, its code and what it last saw
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The check's id
    check: String,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `ordain check show`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let files = super::files(workspace)?;
    let Some(entry) = files.entries.iter().find(|entry| entry.check.check_id == args.check) else {
        let ids = files.entries.iter().map(|entry| entry.check.check_id.as_str());
        let hint = nearest(&args.check, ids)
            .map_or_else(|| "see `ordain check list`".to_owned(), |id| format!("did you mean `{id}`?"));
        return Err(Failure::usage(format!("there is no check `{}`", line(&args.check)), &hint));
    };
    let (kept, last) = runtime::on_one_thread(Box::pin(async {
        let checks = super::open(Arc::clone(workspace), &ExecutorArgs::default()).await?;
        let last = checks.state()?.last.remove(&args.check);
        let kept = checks.kept_code(&args.check).await?;
        Ok::<_, Failure>((kept, last))
    }))??;
    let mut stdout = io::stdout().lock();
    if args.json {
        let shown =
            json!({"check": entry.check, "file": entry.file, "line": entry.line, "kept": kept, "last": last});
        writeln!(stdout, "{}", serde_json::to_string_pretty(&shown)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let check = &entry.check;
    writeln!(stdout, "{}  {}", line(&check.check_id), line(&check.check_name))?;
    writeln!(stdout, "  {}:{}", entry.file, entry.line)?;
    writeln!(
        stdout,
        "  kind {}, severity {}, tables {}",
        line(check.kind.name()),
        check.severity.name(),
        line(&check.target_table.join(", "))
    )?;
    if let Some(hint) = &check.calculation_hint {
        writeln!(stdout, "  rule: {}", line(hint))?;
    }
    for (name, value) in &check.unknown {
        writeln!(stdout, "  {} (kept, unknown to Ordain): {}", line(name), line(&value.to_string()))?;
    }
    let Some(kept) = kept else {
        writeln!(stdout, "\nnot compiled yet: `ordain check compile --select id:{}`", line(&check.check_id))?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(stdout, "\nplan")?;
    if let Some(intent) = kept.plan.get("intent").and_then(Value::as_str) {
        writeln!(stdout, "  {}", line(intent))?;
    }
    for step in kept.plan.get("steps").and_then(Value::as_array).into_iter().flatten() {
        writeln!(stdout, "  - {}", line(step.as_str().unwrap_or_default()))?;
    }
    writeln!(stdout, "\ncode (compiled {})", kept.at)?;
    for text in lines(&kept.code).lines() {
        writeln!(stdout, "  {text}")?;
    }
    if let Some(last) = last {
        writeln!(stdout, "\nlast run {}: {}", last.run_id, line(&last.found.summary))?;
    }
    Ok(ExitCode::SUCCESS)
}
