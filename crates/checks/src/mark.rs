//! What a result is on every surface: one table, from which reports, pages, messages and the exit code are made.
//!
//! Green is PASS, and PASS is "looked at rows, and none breaks the rule". Whatever was not looked at has a word and a
//! colour of its own.

use crate::result::{CheckResult, CheckStatus, SkipReason};

/// How a result stands, wherever it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What people read.
    pub word: &'static str,
    /// Its colour.
    pub tone: Tone,
    /// One letter, where many runs stand in a line.
    pub letter: char,
    /// Whether it is unknown if the rule holds, though it should be known.
    pub is_open: bool,
}

/// A colour, by what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Green: rows were looked at, and none breaks the rule.
    Good,
    /// The rule is broken a little.
    Wait,
    /// The rule is broken.
    Bad,
    /// It could not be evaluated.
    Error,
    /// It should have been evaluated, and was not.
    Open,
    /// It was not evaluated, and nobody expected it.
    Off,
}

impl Tone {
    /// The class that pages give it.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wait => "wait",
            Self::Bad => "bad",
            Self::Error => "error",
            Self::Open => "open",
            Self::Off => "off",
        }
    }

    /// Its colour on a terminal.
    pub(crate) const fn ansi(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Wait => "33",
            Self::Bad => "1;31",
            Self::Error => "1;35",
            Self::Open => "35",
            Self::Off => "2",
        }
    }

    /// Its sign in Markdown, which has no colours.
    pub(crate) const fn icon(self) -> &'static str {
        match self {
            Self::Good => "✅",
            Self::Wait => "⚠️",
            Self::Bad => "❌",
            Self::Error => "💥",
            Self::Open => "❓",
            Self::Off => "⏭️",
        }
    }
}

impl Mark {
    /// The table.
    pub const fn of(status: CheckStatus, skipped: Option<SkipReason>) -> Self {
        let (word, tone, letter) = match (status, skipped) {
            (CheckStatus::Pass, _) => ("passed", Tone::Good, '.'),
            (CheckStatus::Warn, _) => ("warned", Tone::Wait, 'w'),
            (CheckStatus::Fail, _) => ("failed", Tone::Bad, 'F'),
            (CheckStatus::Error, _) => ("error", Tone::Error, 'E'),
            (CheckStatus::Skipped, None) => ("skipped", Tone::Off, '-'),
            (CheckStatus::Skipped, Some(reason)) => match reason {
                SkipReason::Disabled => ("turned off", Tone::Off, '-'),
                SkipReason::NoRows => ("no rows", Tone::Off, '0'),
                SkipReason::Learning => ("learning", Tone::Off, '-'),
                SkipReason::UpstreamFailed => ("held back", Tone::Off, '-'),
                SkipReason::Filtered => ("left out", Tone::Off, '-'),
                SkipReason::MissingTable => ("no table", Tone::Open, '?'),
                SkipReason::EmptyTable => ("empty table", Tone::Open, '?'),
                SkipReason::NotUnderstood => ("not understood", Tone::Open, '?'),
                SkipReason::NotCompiled => ("not compiled", Tone::Open, '?'),
                SkipReason::Frozen => ("not compiled: frozen", Tone::Open, '?'),
            },
        };
        Self { word, tone, letter, is_open: matches!(tone, Tone::Error | Tone::Open) }
    }
}

impl CheckResult {
    /// How it stands.
    pub const fn mark(&self) -> Mark {
        Mark::of(self.status, self.skipped)
    }

    /// Whether it could not be evaluated, though it should have been.
    pub const fn is_open(&self) -> bool {
        self.mark().is_open
    }
}
