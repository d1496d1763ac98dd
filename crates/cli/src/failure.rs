//! Prints failures the same way everywhere: the error with its causes, then a hint.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use ordain_cell::CellError;

use crate::show::line;

/// Refused or failed.
pub(crate) const FAILED: u8 = 1;
/// Wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Could not be carried out.
pub(crate) const UNAVAILABLE: u8 = 3;
/// Waits for approval.
pub(crate) const WAITING: u8 = 4;
/// Interrupted by the user.
pub(crate) const INTERRUPTED: u8 = 130;

/// Prints the error with its causes, and the hint, to stderr.
pub(crate) fn print(error: &dyn Error, hint: Option<&str>) {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some errors already end with their cause.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    print_text(&text, hint);
}

/// Prints an error in words, and a hint, to stderr.
pub(crate) fn print_text(text: &str, hint: Option<&str>) {
    let mut stderr = io::stderr().lock();
    // Nothing is left to tell if stderr is closed.
    let _ = writeln!(stderr, "error: {}", line(text));
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "hint: {}", line(hint));
    }
}

/// Prints why no job ran, and gives the exit code that says so.
pub(crate) fn of_cell(error: &CellError) -> ExitCode {
    print(error, error.hint().as_deref());
    ExitCode::from(match error {
        CellError::File { .. } => USAGE,
        _ => UNAVAILABLE,
    })
}
