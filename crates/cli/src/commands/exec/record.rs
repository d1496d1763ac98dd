//! What is printed about an execution, for people and for programs.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use ordain_cell::{Execution, Record, write_json_line};
use ordain_types::{Cause, format_bytes};
use ordain_verify::{FindingCode, Verdict};
use serde::Serialize;
use serde_json::json;

use super::Args;

/// What came of saving the artifacts, one by one.
type Saved = [Result<PathBuf, String>];

/// The record of an execution, with what only this command knows.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    artifacts_not_saved: Vec<&'a String>,
}

/// Prints the record to stdout.
pub(super) fn print_json(execution: &Execution, saved: &Saved) {
    let artifacts_not_saved = saved.iter().filter_map(|saved| saved.as_ref().err()).collect();
    let printed = Printed { record: execution.record(), artifacts_not_saved };
    // Nothing is left to tell if stdout is closed.
    let _ = write_json_line(io::stdout().lock(), &printed);
}

/// Prints cause, timings and artifacts to stderr.
pub(super) fn print_summary(execution: &Execution, saved: &Saved, is_saving: bool) {
    let mut stderr = io::stderr().lock();
    // Nothing is left to tell if stderr is closed.
    let _ = write_summary(&mut stderr, execution, saved, is_saving);
}

fn write_summary(
    to: &mut dyn Write,
    execution: &Execution,
    saved: &Saved,
    is_saving: bool,
) -> io::Result<()> {
    let timing = &execution.timing;
    let detail = execution.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    writeln!(
        to,
        "{}{detail} · run {:.1} ms, waited {:.1} ms, total {:.1} ms · isolation {}",
        execution.cause,
        millis(timing.run),
        millis(timing.queue),
        millis(timing.total),
        execution.isolation
    )?;
    for (at, artifact) in execution.artifacts.iter().enumerate() {
        let warnings: Vec<_> = artifact.warnings.iter().map(|warning| format!(" [{warning}]")).collect();
        let warnings = warnings.concat();
        let place = match saved.get(at) {
            Some(Ok(path)) => format!(" → {}", path.display()),
            _ => String::new(),
        };
        let (size, media_type) = (format_bytes(artifact.bytes), artifact.media_type);
        writeln!(to, "artifact {} ({size}, {media_type}){warnings}{place}", artifact.name)?;
    }
    for failure in saved.iter().filter_map(|saved| saved.as_ref().err()) {
        writeln!(to, "error: artifact {failure}")?;
        writeln!(to, "hint: choose another --out folder, or move the file that is there")?;
    }
    for refusal in &execution.refused {
        writeln!(to, "refused {}: {}", refusal.name, refusal.reason)?;
    }
    if !execution.artifacts.is_empty() && !is_saving {
        writeln!(to, "hint: add --out DIR to keep the artifacts")?;
    }
    if !execution.left_behind.is_empty() {
        let names = execution.left_behind.join(", ");
        writeln!(to, "hint: the work folder is gone with {names}; write to `artifacts` to keep files")?;
    }
    if let (Cause::Error, Some(exit), None) = (execution.cause, execution.exit, &execution.error) {
        writeln!(to, "the program ended with exit code {exit}")?;
    }
    if let Some(hint) = hint(execution.cause) {
        writeln!(to, "hint: {hint}")?;
    }
    Ok(())
}

/// What to do about a cause.
fn hint(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::Timeout => "raise --timeout, or do less at once",
        Cause::CpuLimit => "raise --cpu",
        Cause::MemoryLimit => "raise --memory, or read the data in pieces",
        Cause::OutputLimit => "print less, write a file to `artifacts` instead, or raise --output",
        Cause::ArtifactLimit => "write fewer or smaller files to `artifacts`",
        Cause::ProcessLimit => "start fewer threads",
        Cause::NoResult => "let the program come to its end instead of calling os._exit",
        Cause::Ok
        | Cause::Error
        | Cause::Crash
        | Cause::ProtocolError
        | Cause::Rejected
        | Cause::DiskLimit
        | Cause::LockLimit
        | Cause::StoreFailed => return None,
    })
}

/// Says that a program was refused before it ran, and why.
pub(super) fn print_rejected(args: &Args, name: &str, verdict: &Verdict) {
    // Nothing is left to tell if the stream is closed.
    let _ = if args.json { write_rejected_json(verdict) } else { write_rejected(name, verdict) };
}

fn write_rejected_json(verdict: &Verdict) -> io::Result<()> {
    let record = json!({
        "cause": Cause::Rejected,
        "exit": null,
        "stdout": "",
        "stderr": "",
        "error": null,
        "findings": verdict.findings,
        "artifacts": [],
    });
    writeln!(io::stdout(), "{record}")
}

fn write_rejected(name: &str, verdict: &Verdict) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    for finding in &verdict.findings {
        let (severity, code) = (finding.severity, finding.code);
        writeln!(
            stderr,
            "{name}:{}:{}: {severity}[{code}]: {}",
            finding.line, finding.column, finding.message
        )?;
        if let Some(hint) = &finding.hint {
            writeln!(stderr, "  hint: {hint}")?;
        }
    }
    writeln!(stderr, "rejected: {name} was not run")?;
    if verdict.findings.iter().any(|finding| finding.code == FindingCode::UnknownImport) {
        writeln!(
            stderr,
            "hint: --profile data has pandas and numpy, --profile full some forty packages more"
        )?;
    }
    if verdict
        .findings
        .iter()
        .any(|finding| !matches!(finding.code, FindingCode::SyntaxError | FindingCode::UnknownImport))
    {
        writeln!(
            stderr,
            "hint: --policy open asks only for syntax and size, and leaves the rest to the jail"
        )?;
    }
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
