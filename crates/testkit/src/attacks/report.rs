//! What a round found, for people and for programs.

use std::fmt;

use ordain_types::Cause;
use serde::Serialize;

use super::program::Class;

/// What a round found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The programs, in the order in which they ran.
    pub programs: Vec<Judged>,
    /// What was wrong with the end of the round: nothing, if the executor ended cleanly and left nothing behind.
    pub end_problems: Vec<String>,
    /// How many were contained.
    pub contained: usize,
    /// How many were skipped, because they are for another architecture.
    pub skipped: usize,
    /// How many there are.
    pub total: usize,
}

/// One program of a round.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// The file's name.
    pub file: String,
    /// What it attacks, if its header says so.
    pub class: Option<Class>,
    /// The cause that was seen.
    pub cause: Option<Cause>,
    /// Whether it was contained.
    pub verdict: Verdict,
    /// What speaks against it.
    pub problems: Vec<String>,
    /// From the start to the outcome.
    pub elapsed_ms: u64,
}

/// Whether a program was contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was.
    Contained,
    /// It was not.
    Failed,
    /// It is for another architecture.
    Skipped,
}

impl Judged {
    pub(super) fn new(
        file: &str,
        class: Option<Class>,
        cause: Option<Cause>,
        elapsed_ms: u64,
        problems: Vec<String>,
    ) -> Self {
        let verdict = if problems.is_empty() { Verdict::Contained } else { Verdict::Failed };
        Self { file: file.to_owned(), class, cause, verdict, problems, elapsed_ms }
    }
}

impl Report {
    pub(super) fn new(programs: Vec<Judged>, end_problems: Vec<String>) -> Self {
        let count = |verdict| programs.iter().filter(|judged| judged.verdict == verdict).count();
        Self {
            contained: count(Verdict::Contained),
            skipped: count(Verdict::Skipped),
            total: programs.len(),
            programs,
            end_problems,
        }
    }

    /// Whether every program was contained and the round ended cleanly.
    pub fn is_contained(&self) -> bool {
        self.end_problems.is_empty() && self.contained + self.skipped == self.total
    }
}

/// One line of the table.
impl fmt::Display for Judged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.class.and_then(|class| serde_json::to_value(class).ok());
        let class = class.as_ref().and_then(|class| class.as_str()).unwrap_or("-");
        let cause = self.cause.map_or("-", Cause::as_str);
        let verdict = match self.verdict {
            Verdict::Contained => "contained".to_owned(),
            Verdict::Skipped => "skipped: it is for another architecture".to_owned(),
            Verdict::Failed => format!("FAILED {}", self.problems.join("; ")),
        };
        let Self { file, elapsed_ms, .. } = self;
        write!(formatter, "{file:<36} {class:<9} {cause:<14} {elapsed_ms:>6} ms  {verdict}")
    }
}

/// The count, and what was wrong with the end.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.end_problems {
            writeln!(formatter, "end of round: FAILED {problem}")?;
        }
        let Self { contained, total, skipped, .. } = self;
        write!(formatter, "{contained} of {total} programs contained, {skipped} skipped")
    }
}
