//! One ledger entry for each run of checks, and the files that other tools read.

use std::collections::{BTreeMap, HashMap};

use ordain_checks::change;
use ordain_checks::contracts::{self, Workflow};
use ordain_checks::file::CheckFiles;
use ordain_checks::{Check, CheckResult, CheckStatus, CodeFrom, RunReport};
use ordain_store::EntryNote;
use ordain_types::{
    ErrorClass, PlanSource, RunError, RunId, RunKind, RunRecord, RunState, Schema, StepRecord, StepState,
};
use serde_json::json;

use super::Checks;
use super::error::ChecksError;
use super::read::write_file;
use super::sources::hash_text;
use super::state::State;

impl Checks {
    /// Writes a run down: its code, its results and its counts.
    pub(super) async fn write_down(
        &self,
        report: &RunReport,
        is_interrupted: bool,
        mut note: EntryNote,
    ) -> Result<(), ChecksError> {
        let words = format!("run {} checks", report.results.len());
        let mut record = RunRecord::new(RunId(report.run_id.clone()), RunKind::Check, &words);
        record.started_at.clone_from(&report.started_at);
        record.state = RunState::Answered;
        let count = |status: CheckStatus| report.counts.get(&status).copied().unwrap_or_default();
        let is_clean = count(CheckStatus::Fail) + count(CheckStatus::Error) == 0;
        record.status = Some(if is_clean { "PASS" } else { "FAIL" }.to_owned());
        if is_interrupted {
            // What was not looked at has not passed.
            record.state = RunState::RolledBack;
            record.status = None;
            record.error = Some(RunError {
                class: ErrorClass::Cancelled,
                code: "cancelled".to_owned(),
                message: format!("the run was stopped when {} checks had finished", report.results.len()),
                hint: Some("what they gave is kept; run the checks again for the others".to_owned()),
            });
        }
        let counts: Vec<String> = report
            .counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(status, count)| format!("{count} {}", format!("{status:?}").to_uppercase()))
            .collect();
        record.answer.text = Some(counts.join(", "));
        record.answer.json = Some(json!(report.counts));
        record.verdict.accepted = true;
        record.plan.goal = words;
        record.plan.source = source(report);
        record.plan.steps = report
            .results
            .iter()
            .filter_map(|result| {
                Some(StepRecord {
                    id: result.check_id.clone(),
                    title: result.check_name.clone(),
                    needs: Vec::new(),
                    success: String::new(),
                    code: result.code.clone()?,
                    modules: Vec::new(),
                    state: match result.status {
                        CheckStatus::Error => StepState::Failed,
                        CheckStatus::Skipped => StepState::Skipped,
                        CheckStatus::Pass | CheckStatus::Warn | CheckStatus::Fail => StepState::Done,
                    },
                })
            })
            .collect();
        record.timing_ms.total = report.duration_ms;
        let results: Vec<_> = report
            .results
            .iter()
            .map(|result| {
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
            })
            .collect();
        note.detail = json!({"results": results});
        self.store.record(record, note).await?;
        Ok(())
    }

    /// Writes the files that other tools read, each whole or not at all.
    pub(super) fn write_contracts(
        &self,
        files: &CheckFiles,
        report: &RunReport,
        state: &State,
        schema: &Schema,
    ) -> Result<(), ChecksError> {
        let folder = self.workspace.state().join("contracts");
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
                let kept = state.checks.get(&check.check_id)?;
                let result = results.get(check.check_id.as_str());
                let columns = kept.against.schema.iter().map(|(table, columns)| {
                    (table.clone(), columns.iter().map(|(name, _)| name.clone()).collect())
                });
                Some(Workflow {
                    check,
                    plan: kept.plan.clone(),
                    code: &kept.code,
                    stdout: result.map_or("", |result| result.summary.as_str()),
                    has_ended: result.is_none_or(|result| result.status != CheckStatus::Error),
                    status: result.map_or(CheckStatus::Skipped, |result| result.status),
                    summary: result.map_or("", |result| result.summary.as_str()),
                    compiled_at: &kept.compiled_at,
                    checks_hash: &hashes[check.check_id.as_str()],
                    schema_cols: columns.collect(),
                })
            })
            .collect();
        let checks: Vec<Check> = files.entries.iter().map(|entry| entry.check.clone()).collect();
        let rollup = folder.join("checks_rollup.csv");
        let earlier = fs_err::read_to_string(&rollup).unwrap_or_default();
        let summaries: BTreeMap<String, String> = schema
            .tables
            .iter()
            .map(|table| {
                let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                (table.name.clone(), format!("{} columns: {}", columns.len(), columns.join(", ")))
            })
            .collect();
        for (name, text) in [
            ("schema_cols.json", contracts::schema_cols(schema)),
            ("workflows.json", contracts::workflows(&workflows)),
            ("checks_last.csv", contracts::checks_last(&checks)),
            ("checks_rollup.csv", contracts::checks_rollup(&earlier, report)),
            ("ai_table_summaries.json", contracts::ai_table_summaries(&summaries)),
        ] {
            write_file(&folder.join(name), text.as_bytes()).map_err(failed())?;
        }
        let log = folder.join("plan_prompt_log.jsonl");
        if !log.exists() {
            write_file(&log, b"").map_err(failed())?;
        }
        Ok(())
    }
}

fn source(report: &RunReport) -> PlanSource {
    let from = |wanted: CodeFrom| report.results.iter().any(|result| result.code_from == Some(wanted));
    if from(CodeFrom::Planner) {
        PlanSource::Model
    } else if from(CodeFrom::Rules) || from(CodeFrom::Builtin) {
        PlanSource::Rules
    } else {
        PlanSource::Cache
    }
}
