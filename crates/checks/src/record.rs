//! One ledger entry for each run of checks, and the files that other tools read.

use std::collections::{BTreeMap, HashMap};

use ordain_engine::Programs;
use ordain_store::Call as TableCall;
use ordain_types::{Answer, Call, ErrorClass, PlanSource, RunError, Schema, StepRecord, StepState};
use serde_json::{Value, json};

use crate::compile::{Kept, declared};
use crate::contracts::{self, Workflow};
use crate::file::CheckFiles;
use crate::read::write_file;
use crate::sources::hash_text;
use crate::state::State;
use crate::tables::Tables;
use crate::task::CheckRun;
use crate::{Check, CheckResult, CheckStatus, Checks, ChecksError, CodeFrom, RunReport, change};

/// The files that other tools read.
pub(crate) const CONTRACT_FILES: [&str; 5] =
    ["schema_cols.json", "workflows.json", "checks_last.csv", "checks_rollup.csv", "ai_table_summaries.json"];

/// The tables that a run looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) schema: Schema,
    /// A few words about each.
    pub(crate) summaries: BTreeMap<String, String>,
}

impl Seen {
    pub(crate) fn of(tables: &Tables) -> Self {
        let ready = tables.states.keys().filter_map(|name| tables.ready(name));
        let summaries = ready.map(|facts| (facts.table.name.clone(), facts.summary())).collect();
        Self { schema: tables.schema().clone(), summaries }
    }
}

/// What the ledger keeps of a run besides its record.
fn detail(report: &RunReport) -> Value {
    let results = report.results.iter().map(|result| {
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

/// What the run came to, for its record.
pub(crate) fn ran(run: &CheckRun, messages: Vec<Call>, writes: Vec<TableCall>, is_trial: bool) -> Programs {
    let counts = &run.report.counts;
    let told = counts.iter().filter(|(_, count)| **count > 0);
    let told: Vec<String> = told.map(|(status, count)| format!("{count} {}", status.name())).collect();
    let stopped = run.is_interrupted.then(|| RunError {
        class: ErrorClass::Cancelled,
        code: "cancelled".to_owned(),
        message: format!("the run was stopped when {} checks had finished", run.report.results.len()),
        hint: Some("what they gave is kept; run the checks again for the others".to_owned()),
    });
    Programs {
        steps: steps(&run.report),
        source: source(&run.report),
        status: (!run.is_interrupted).then(|| status(&run.report).name().to_owned()),
        answer: Answer { text: Some(told.join(", ")), json: Some(json!(counts)), ..Answer::default() },
        stopped,
        messages,
        writes,
        detail: detail(&run.report),
        is_trial,
    }
}

/// How a run stands as a whole: as what says most about whether its answer can be trusted. What was not looked at has not
/// passed.
fn status(report: &RunReport) -> CheckStatus {
    let has = |status: CheckStatus| report.results.iter().any(|result| result.status == status);
    if report.not_evaluated() > 0 {
        return CheckStatus::Error;
    }
    let by_weight = [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::Pass];
    by_weight.into_iter().find(|status| has(*status)).unwrap_or(CheckStatus::Skipped)
}

/// The checks as steps of the run.
fn steps(report: &RunReport) -> Vec<StepRecord> {
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
    pub(crate) fn write_contracts(
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
