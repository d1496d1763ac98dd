//! Every output of a run, made from one [`RunReport`].
//!
//! Whatever comes from data or from a check's owner (names, summaries, cell values) is hostile: each format escapes it
//! in its own way, and none of them lets it act.

mod compare;
mod csv;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;
pub mod words;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use compare::{Difference, differences};
pub(crate) use csv::harmless;
pub use csv::render_csv;
pub use json::{render_json, run_report_schema};
pub use junit::render_junit;
pub use markdown::render_markdown;
pub use sarif::render_sarif;
pub use text::{TextOptions, render_summary, render_text};

use crate::exit::Gate;
use crate::mark::Mark;
use crate::result::{CheckResult, CheckStatus, RunReport, SkipReason};

/// A format that a run can be shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A table for people.
    Text,
    /// The report itself.
    Json,
    /// For continuous integration.
    Junit,
    /// For a job summary or a comment.
    Markdown,
    /// For code scanning.
    Sarif,
    /// One line for each check.
    Csv,
    /// One file that opens in a browser, without a network.
    Html,
}

ordain_types::names!(Format, name {
    Text = "text", Json = "json", Junit = "junit", Markdown = "markdown", Sarif = "sarif", Csv = "csv",
    Html = "html",
});

/// A word that is not the name of a format.
#[derive(Debug, thiserror::Error)]
#[error("unknown format `{name}`; the formats are text, json, junit, markdown, sarif, csv and html")]
pub struct UnknownFormat {
    name: String,
    /// The format that was probably meant.
    pub nearest: Option<String>,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::named(text).ok_or_else(|| UnknownFormat {
            name: text.chars().take(40).collect(),
            nearest: ordain_types::nearest(text, Self::ALL.map(Self::name)).map(ToString::to_string),
        })
    }
}

/// What a check gave in an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PastResult {
    /// Names the check.
    pub check_id: String,
    /// The run it was part of.
    pub run_id: String,
    /// When that run began.
    pub started_at: String,
    /// Its grade.
    pub status: CheckStatus,
    /// Why it was skipped, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkipReason>,
    /// How many rows failed.
    #[serde(default)]
    pub failed: Option<u64>,
    /// The same as a share, in percent.
    #[serde(default)]
    pub failed_pct: Option<f64>,
}

impl PastResult {
    /// How it stood.
    pub const fn mark(&self) -> Mark {
        Mark::of(self.status, self.skipped)
    }

    /// What is kept of one result of a run.
    pub fn of(report: &RunReport, result: &CheckResult) -> Self {
        Self {
            check_id: result.check_id.clone(),
            run_id: report.run_id.clone(),
            started_at: report.started_at.clone(),
            status: result.status,
            skipped: result.skipped,
            failed: result.failed,
            failed_pct: result.failed_pct,
        }
    }
}

/// The report in a format. `None` for HTML, which is made of the parts of the web UI (`ordain_ui::report`).
pub fn render(report: &RunReport, format: Format, text: TextOptions, gate: Gate) -> Option<String> {
    Some(match format {
        Format::Text => render_text(report, text),
        Format::Json => render_json(report),
        Format::Junit => render_junit(report, gate),
        Format::Markdown => render_markdown(report),
        Format::Sarif => render_sarif(report, gate),
        Format::Csv => render_csv(report),
        Format::Html => return None,
    })
}
