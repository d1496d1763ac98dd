//! What a code task gives back: the run's record, and the fields that older tools for code tasks know.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ordain_files::RefusedFile;
use ordain_planner::FileBrief;
use ordain_types::{RunRecord, RunState};
use serde::Serialize;
use serde_json::{Value, json};

/// The answer to a question about files.
#[derive(Debug, Clone)]
pub struct CodeAnswer {
    /// The run.
    pub record: RunRecord,
    /// What was found in the files.
    pub files: Vec<FileBrief>,
    /// The SHA-256 of each file that went in, by its name.
    pub hashes: BTreeMap<String, String>,
    /// Files that were refused or could not be read, by name.
    pub problems: Vec<RefusedFile>,
    /// The folder in which the files that the code left are kept.
    pub artifacts: Option<PathBuf>,
}

/// What kind of answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// Sentences.
    Text,
    /// One number.
    Number,
    /// Rows.
    Table,
    /// A picture.
    Figure,
}

impl CodeAnswer {
    /// Whether the code ran to its end and answered.
    pub fn is_success(&self) -> bool {
        let has_answered = matches!(self.record.state, RunState::Answered | RunState::Committed);
        let said = self.record.status.as_deref();
        has_answered && self.record.error.is_none() && matches!(said, Some("success" | "no_match") | None)
    }

    /// What kind of answer it is; a picture says more than the rows that it was drawn from.
    pub fn answer_type(&self) -> AnswerType {
        let record = &self.record;
        let is_picture = |artifact: &ordain_types::Artifact| artifact.media_type.starts_with("image/");
        if record.outcome.artifacts.iter().any(is_picture) {
            AnswerType::Figure
        } else if record.answer.rows.is_some() {
            AnswerType::Table
        } else if record.answer.json.as_ref().is_some_and(Value::is_number) {
            AnswerType::Number
        } else {
            AnswerType::Text
        }
    }

    /// What was found in a file, with its hash.
    fn told(&self, file: &FileBrief) -> Value {
        let mut told = serde_json::to_value(file).unwrap_or_default();
        if let Some(hash) = self.hashes.get(&file.name) {
            told["sha256"] = json!(hash);
        }
        told
    }

    /// The record with the fields that older tools for code tasks know: `success`, `code`, `output`, `error`,
    /// `execution_time` in seconds, `iterations`, `modifications` and `verification_history`.
    pub fn to_json(&self) -> Value {
        let record = &self.record;
        let mut value = serde_json::to_value(record).unwrap_or_default();
        let printed = record.outcome.stdout.trim_end();
        let output =
            if printed.is_empty() { record.answer.text.as_deref().unwrap_or_default() } else { printed };
        let fields = json!({
            "success": self.is_success(),
            "answer_type": self.answer_type(),
            "code": record.plan.steps.first().map(|step| step.code.as_str()),
            "output": output,
            "execution_time": record.timing_ms.run / 1e3,
            "iterations": record.verdict.iterations,
            "modifications": record.verdict.modifications,
            "verification_history": record.verdict.history,
            "files": self.files.iter().map(|file| self.told(file)).collect::<Vec<_>>(),
            "file_problems": self.problems,
        });
        if let (Some(value), Value::Object(fields)) = (value.as_object_mut(), fields) {
            value.entry("error").or_insert(Value::Null);
            value.extend(fields);
        }
        value
    }
}
