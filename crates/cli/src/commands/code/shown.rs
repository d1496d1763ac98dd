//! Shows the answer to a question about files: the answer to stdout, everything about it to stderr.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ordain_cell::write_json_line;
use ordain_engine::CodeAnswer;
use ordain_types::format_bytes;

use super::figure;
use super::setup::Setup;
use crate::engine;
use crate::failure::FAILED;
use crate::show::{behind, line, lines, rows, run as show_run};

/// What came of saving each artifact.
pub(crate) type Saved = Vec<Result<PathBuf, String>>;

/// Copies the artifacts to where the user wants them. Nothing is overwritten.
pub(crate) fn save(answer: &CodeAnswer, out: Option<&Path>) -> Saved {
    let Some(kept) = &answer.artifacts else { return Vec::new() };
    answer
        .record
        .outcome
        .artifacts
        .iter()
        .map(|artifact| {
            let from = kept.join(&artifact.name);
            let Some(out) = out else { return Ok(from) };
            let to = out.join(&artifact.name);
            copy_new(&from, &to).map(|()| to).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("`{}` already exists in {}", artifact.name, out.display())
                }
                _ => format!("`{}` could not be saved: {error}", artifact.name),
            })
        })
        .collect()
}

fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = std::fs::File::open(from)?;
    let mut target = std::fs::File::create_new(to)?;
    io::copy(&mut source, &mut target).map(|_| ())
}

/// Prints the record as JSON.
pub(crate) fn write_json(answer: &CodeAnswer) -> io::Result<()> {
    write_json_line(io::stdout().lock(), &answer.to_json())
}

/// Prints the answer for a person.
pub(crate) fn write(answer: &CodeAnswer, saved: &Saved, with_code: bool, setup: &Setup) -> io::Result<()> {
    let record = &answer.record;
    let mut stdout = io::stdout().lock();
    if record.outcome.partial && record.error.is_some() {
        writeln!(stdout, "partial result, computed before the code failed:")?;
    }
    if let Some(text) = &record.answer.text {
        writeln!(stdout, "{}", lines(text))?;
    }
    rows::write(&mut stdout, &record.answer)?;
    let mut stderr = io::stderr().lock();
    for problem in &answer.problems {
        writeln!(stderr, "warning: {}: {}", line(&problem.name), line(&problem.problem))?;
    }
    let is_told = |note: &&String| answer.problems.iter().any(|problem| problem.to_string() == **note);
    for note in record.answer.notes.iter().filter(|note| !is_told(note)) {
        writeln!(stderr, "note: {}", line(note))?;
    }
    if let Some(error) = &record.error {
        writeln!(stderr, "{}", behind("error: ", &crate::show::run::error_words(error)))?;
        if let Some(hint) = &error.hint {
            writeln!(stderr, "{}", behind("hint: ", hint))?;
        }
    }
    write_artifacts(&mut stdout, &mut stderr, answer, saved)?;
    if with_code {
        show_run::write_code(&mut stderr, record)?;
    }
    let (id, plan) = (&record.run_id, show_run::plan(record));
    writeln!(stderr, "receipt: {}", line(&record.receipt.text))?;
    writeln!(stderr, "run {id} · {plan} · {}", show_run::took(record))?;
    if !with_code {
        let folder = setup.workspace.root.display();
        writeln!(stderr, "hint: `ordain runs show {id} --code -w {folder}` shows the code")?;
    }
    Ok(())
}

/// Prints what one input of a session gave: what Python printed, or the answer to a question.
pub(crate) fn write_turn(answer: &CodeAnswer, is_python: bool) -> io::Result<()> {
    let record = &answer.record;
    let mut stdout = io::stdout().lock();
    if is_python {
        if !record.outcome.stdout.is_empty() {
            writeln!(stdout, "{}", lines(&record.outcome.stdout))?;
        }
    } else if let Some(text) = &record.answer.text {
        writeln!(stdout, "{}", lines(text))?;
    }
    if !is_python {
        rows::write(&mut stdout, &record.answer)?;
    }
    let mut stderr = io::stderr().lock();
    if let Some(error) = &record.error {
        writeln!(stderr, "{}", lines(&error.message))?;
        if let Some(hint) = &error.hint {
            writeln!(stderr, "{}", behind("hint: ", hint))?;
        }
    }
    write_artifacts(&mut stdout, &mut stderr, answer, &save(answer, None))
}

fn write_artifacts(
    stdout: &mut impl Write,
    stderr: &mut impl Write,
    answer: &CodeAnswer,
    saved: &Saved,
) -> io::Result<()> {
    for (artifact, saved) in answer.record.outcome.artifacts.iter().zip(saved) {
        let warnings: Vec<String> = artifact.warnings.iter().map(|warning| format!(" [{warning}]")).collect();
        let warnings = warnings.concat();
        let size = format_bytes(artifact.bytes);
        match saved {
            Ok(path) => {
                figure::show(stdout, path, artifact)?;
                writeln!(
                    stderr,
                    "artifact {} ({size}, {}){warnings} → {}",
                    line(&artifact.name),
                    artifact.media_type,
                    path.display()
                )?;
            }
            Err(problem) => {
                writeln!(stderr, "error: artifact {}", line(problem))?;
                writeln!(stderr, "hint: choose another --out folder, or move the file that is there")?;
            }
        }
    }
    Ok(())
}

/// The exit code: an artifact that was not saved is a failure.
pub(crate) fn exit_code(answer: &CodeAnswer, saved: &Saved) -> ExitCode {
    if answer.record.error.is_none() && saved.iter().any(Result::is_err) {
        return ExitCode::from(FAILED);
    }
    engine::exit_code(&answer.record)
}
