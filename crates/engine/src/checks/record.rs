//! One ledger entry for each run of checks, and the files that other tools read.

use std::collections::{BTreeMap, HashMap};

use ordain_checks::change;
use ordain_checks::contracts::{self, Workflow};
use ordain_checks::file::CheckFiles;
use ordain_checks::{Check, CheckResult, CheckStatus, CodeFrom, RunReport};
use ordain_types::{Answer, ErrorClass, PlanSource, RunState, Schema, StepRecord, StepState};
use serde_json::{Value, json};

use super::Checks;
use super::compile::{Kept, declared};
use super::error::ChecksError;
use super::read::write_file;
use super::sources::hash_text;
use super::state::State;
use super::tables::Tables;
use super::task::CheckRun;
use crate::outcome::run_error;
use crate::story::{Attempt, End};

/// The files that other tools read.
pub(super) const CONTRACT_FILES: [&str; 5] =
    ["schema_cols.json", "workflows.json", "checks_last.csv", "checks_rollup.csv", "ai_table_summaries.json"];

/// The tables that a run looked at.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) schema: Schema,
    /// A few words about each.
    pub(super) summaries: BTreeMap<String, String>,
}

impl Seen {
    pub(super) fn of(tables: &Tables) -> Self {
        let ready = tables.states.keys().filter_map(|name| tables.ready(name));
        let summaries = ready.map(|facts| (facts.table.name.clone(), facts.summary())).collect();
        Self { schema: tables.schema().clone(), summaries }
    }
}

impl CheckRun {
    /// What the ledger keeps of it besides the record.
    pub(crate) fn note(&self) -> Value {
        let results = self.report.results.iter().map(|result| {
            json!({
                "check_id": result.check_id,
                "status": result.status,
                "reason": result.reason,
                "evaluated": result.evaluated,
                "failed": result.failed,
                "code_hash": result.code_hash,
                "data_fingerprint": result.data_fingerprint,
                "recompiled": result.recompiled,
            })
        });
        json!({ "results": results.collect::<Value>() })
    }
}

/// How the run ended, for its record.
pub(super) fn end(run: &CheckRun) -> End {
    let counts = &run.report.counts;
    let count = |status: CheckStatus| counts.get(&status).copied().unwrap_or_default();
    let told = counts.iter().filter(|(_, count)| **count > 0);
    let told: Vec<String> = told.map(|(status, count)| format!("{count} {}", status.name())).collect();
    let is_clean = count(CheckStatus::Fail) + count(CheckStatus::Error) == 0;
    let answer = Answer { text: Some(told.join(", ")), json: Some(json!(counts)), ..Answer::default() };
    let attempt = Attempt { answer, calls: run.messages.clone(), ..Attempt::default() };
    if run.is_interrupted {
        // What was not looked at has not passed.
        let finished = run.report.results.len();
        let message = format!("the run was stopped when {finished} checks had finished");
        let hint = Some("what they gave is kept; run the checks again for the others");
        let error = run_error(ErrorClass::Cancelled, "cancelled", message, hint);
        return End::Stopped { error, state: RunState::RolledBack, attempt: Some(Box::new(attempt)) };
    }
    let status = Some(if is_clean { "PASS" } else { "FAIL" }.to_owned());
    End::Ended { state: RunState::Answered, attempt: Box::new(Attempt { status, ..attempt }) }
}

/// The checks as steps of the run.
pub(super) fn steps(report: &RunReport) -> Vec<StepRecord> {
    let step = |result: &CheckResult| {
        Some(StepRecord {
            id: result.check_id.clone(),
            title: result.check_name.clone(),
            code: result.code.clone()?,
            state: match result.status {
                CheckStatus::Error => StepState::Failed,
                CheckStatus::Skipped => StepState::Skipped,
                CheckStatus::Pass | CheckStatus::Warn | CheckStatus::Fail => StepState::Done,
            },
            ..StepRecord::default()
        })
    };
    report.results.iter().filter_map(step).collect()
}

impl Checks {
    /// Writes the files that other tools read, each whole or not at all.
    pub(super) fn write_contracts(
        &self,
        files: &CheckFiles,
        report: &RunReport,
        kept: &Kept,
        seen: &Seen,
        state: &State,
    ) -> Result<(), ChecksError> {
        let folder = self.contracts_folder();
        let failed = || ChecksError::state("write the contract files");
        let results: HashMap<&str, &CheckResult> =
            report.results.iter().map(|result| (result.check_id.as_str(), result)).collect();
        let hashes: HashMap<&str, String> = files
            .entries
            .iter()
            .map(|entry| {
                (entry.check.check_id.as_str(), hash_text(&json!(change::rule_of(&entry.check)).to_string()))
            })
            .collect();
        let workflows: Vec<Workflow<'_>> = files
            .entries
            .iter()
            .filter_map(|entry| {
                let check = &entry.check;
                let kept = kept.of(&check.check_id).first()?;
                let result = results.get(check.check_id.as_str());
                let looked_at =
                    seen.schema.tables.iter().filter(|table| check.target_table.contains(&table.name));
                let columns = looked_at.map(|table| {
                    (table.name.clone(), table.columns.iter().map(|column| column.name.clone()).collect())
                });
                Some(Workflow {
                    check,
                    plan: declared(kept),
                    code: &kept.code,
                    stdout: state.last.get(&check.check_id).map_or("", |last| last.found.stdout.as_str()),
                    has_ended: result.is_none_or(|result| result.status != CheckStatus::Error),
                    status: result.map_or(CheckStatus::Skipped, |result| result.status),
                    summary: result.map_or("", |result| result.summary.as_str()),
                    compiled_at: &kept.created_at,
                    checks_hash: &hashes[check.check_id.as_str()],
                    schema_cols: columns.collect(),
                })
            })
            .collect();
        let checks: Vec<Check> = files.entries.iter().map(|entry| entry.check.clone()).collect();
        let rollup = folder.join("checks_rollup.csv");
        let earlier = fs_err::read_to_string(&rollup).unwrap_or_default();
        let texts = [
            contracts::schema_cols(&seen.schema),
            contracts::workflows(&workflows),
            contracts::checks_last(&checks),
            contracts::checks_rollup(&earlier, report),
            contracts::ai_table_summaries(&seen.summaries),
        ];
        for (name, text) in CONTRACT_FILES.into_iter().zip(texts) {
            write_file(&folder.join(name), text.as_bytes()).map_err(failed())?;
        }
        let log = folder.join("plan_prompt_log.jsonl");
        if !log.exists() {
            write_file(&log, b"").map_err(failed())?;
        }
        Ok(())
    }
}

/// Who wrote the code.
pub(super) fn source(report: &RunReport) -> PlanSource {
    let from = |wanted: CodeFrom| report.results.iter().any(|result| result.code_from == Some(wanted));
    if from(CodeFrom::Planner) {
        PlanSource::Model
    } else if from(CodeFrom::Rules) || from(CodeFrom::Builtin) {
        PlanSource::Rules
    } else {
        PlanSource::Cache
    }
}
