//! Checks from other tools' files: Great Expectations, dbt, and the contracts of earlier workflows.
//!
//! Nothing is dropped silently: every rule of a file becomes a check, or is named in `unmapped` with the reason and stands among
//! the checks turned off, with its own text; and each key of the source is accounted for.

mod dbt;
pub(crate) mod draft;
mod expectation;
mod gx;
mod workflows;

use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use crate::check::Check;
use crate::yaml;

pub use expectation::{Expected, NotMapped, map_expectation};
pub use workflows::{ImportedPlan, import_workflows};

/// A tool whose files can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `schema.yml` with models and sources.
    Dbt,
    /// An expectation suite as JSON.
    Gx,
    /// The contracts of an earlier workflow: a folder.
    Workflows,
}

ordain_types::names!(Tool, name {
    Dbt = "dbt", Gx = "gx", Workflows = "workflows",
});

/// A word that is not the name of a tool.
#[derive(Debug, thiserror::Error)]
#[error("nothing is known about files of `{0}`; write dbt, gx or workflows")]
pub struct UnknownTool(String);

impl FromStr for Tool {
    type Err = UnknownTool;

    fn from_str(text: &str) -> Result<Self, UnknownTool> {
        Self::named(text).ok_or_else(|| UnknownTool(text.chars().take(40).collect()))
    }
}

/// What a file gave.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// The rules that became checks.
    pub checks: Vec<Check>,
    /// The rules that did not: most of them are among the checks, turned off, with their own text.
    pub unmapped: Vec<Unmapped>,
    /// Every key of the source, and whether it was carried over.
    pub keys: Vec<KeyOf>,
    /// What was understood a little differently.
    pub notes: Vec<String>,
    /// Plans and code that came with the checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<ImportedPlan>,
}

/// A key of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyOf {
    /// Where it stands.
    pub place: String,
    /// What it is called.
    pub key: String,
    /// Whether a check has what it says.
    pub is_carried_over: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A rule that did not become a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmapped {
    /// The rule, as its tool calls it.
    pub what: String,
    /// Where it stands: table and column.
    pub place: String,
    /// Why it has no check.
    pub reason: String,
}

/// Why a file was not read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not what files of the tool are written in.
    #[error("the file is not {format}: {message}")]
    Syntax {
        /// JSON or YAML.
        format: &'static str,
        /// What is wrong, and where.
        message: String,
    },
    /// The text can be read, but is something else.
    #[error("the file is not one of {tool}'s: {message}")]
    Shape {
        /// The tool.
        tool: Tool,
        /// What is missing.
        message: String,
    },
}

/// Reads a file of a tool. `table` names the table where the file itself does not.
pub fn import(tool: Tool, text: &str, table: Option<&str>) -> Result<Imported, ImportError> {
    if tool == Tool::Dbt && dbt::is_singular(text) {
        return Ok(dbt::import_singular(text, table));
    }
    let value = if tool == Tool::Gx { json(text)? } else { json(text).or_else(|_| of_yaml(text))? };
    let mut imported = match tool {
        Tool::Dbt => dbt::import(&value),
        Tool::Gx => gx::import(&value, table),
        Tool::Workflows => import_workflows(text, None),
    }?;
    imported.leave_out_wrong();
    draft::number_ids(&mut imported.checks);
    Ok(imported)
}

fn json(text: &str) -> Result<Value, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text)
        .map_err(|error| ImportError::Syntax { format: "JSON", message: error.to_string() })
}

fn of_yaml(text: &str) -> Result<Value, ImportError> {
    yaml::read(text).map_err(|error| ImportError::Syntax { format: "YAML", message: error.to_string() })
}
