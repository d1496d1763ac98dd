//! An execution as a record: one shape, and one way to write it down, for everyone who keeps or prints it.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use ordain_types::{Cause, Limits};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use crate::artifact::{Artifact, Refusal, is_deceptive};
use crate::isolation::Level;
use crate::job::{Execution, Raised, Timing};

/// What is written down about an execution. Output that is not UTF-8 is shown with replacement characters.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    cause: Cause,
    exit: Option<i32>,
    signal: Option<i32>,
    detail: Option<&'a str>,
    stdout: Cow<'a, str>,
    stderr: Cow<'a, str>,
    output_truncated: bool,
    error: Option<&'a Raised>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    values: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    notes: &'a Map<String, Value>,
    artifacts: &'a [Artifact],
    artifacts_refused: &'a [Refusal],
    left_behind: &'a [String],
    limits: &'a Limits,
    timing_ms: TimingMs,
    isolation: Level,
    host_calls: u64,
}

#[derive(Debug, Serialize)]
struct TimingMs {
    queue: f64,
    run: f64,
    total: f64,
}

impl Execution {
    /// The record of this execution.
    pub fn record(&self) -> Record<'_> {
        Record {
            cause: self.cause,
            exit: self.exit,
            signal: self.signal,
            detail: self.detail.as_deref(),
            stdout: String::from_utf8_lossy(&self.stdout),
            stderr: String::from_utf8_lossy(&self.stderr),
            output_truncated: self.output_truncated,
            error: self.error.as_ref(),
            values: &self.values,
            notes: &self.notes,
            artifacts: &self.artifacts,
            artifacts_refused: &self.refused,
            left_behind: &self.left_behind,
            limits: &self.limits,
            timing_ms: TimingMs::from(self.timing),
            isolation: self.isolation,
            host_calls: self.host_calls,
        }
    }
}

impl From<Timing> for TimingMs {
    fn from(timing: Timing) -> Self {
        let millis = |duration: Duration| (duration.as_secs_f64() * 1e6).round() / 1e3;
        Self { queue: millis(timing.queue), run: millis(timing.run), total: millis(timing.total) }
    }
}

/// Writes a value as one line of JSON in which every character can be shown: what a terminal would act on, or what
/// would change the order in which text is read, is escaped. Nothing is lost, since JSON reads it back.
pub fn write_json_line(to: impl io::Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(to, Printable);
    value.serialize(&mut serializer)?;
    io::Write::write_all(&mut serializer.into_inner(), b"\n")
}

/// Writes JSON as usual, but escapes deceptive characters too. The usual writer escapes only those below U+0020.
struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_deceptive) {
            let (before, after) = rest.split_at(at);
            let mut characters = after.chars();
            writer.write_all(before.as_bytes())?;
            // Every deceptive character lies in the basic plane, so one unit stands for it.
            if let Some(character) = characters.next() {
                write!(writer, "\\u{:04x}", u32::from(character))?;
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_every_character_and_reads_back_as_it_was() {
        let hostile = "a\n\u{1b}[1A\u{7f}\u{9b}2J\u{202e}gnp\u{2066}\u{feff}é漢😀\"\\";
        let value = serde_json::json!({ hostile: [hostile, ""] });
        let mut line = Vec::new();
        write_json_line(&mut line, &value).unwrap();
        let line = String::from_utf8(line).unwrap();
        let (text, end) = line.split_at(line.len() - 1);
        assert_eq!(end, "\n");
        assert!(!text.contains(is_deceptive), "{text:?}");
        assert!(text.contains("é漢😀"), "what can be shown is shown: {text}");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    }
}
