//! One ledger entry for each run of checks, and the files that other tools read.

use ordain_checks::{CheckStatus, CodeFrom, RunReport};
use ordain_store::EntryNote;
use ordain_types::{PlanSource, RunId, RunRecord, RunState, StepRecord};
use serde_json::json;

use super::Checks;
use super::error::ChecksError;
use super::state::State;

impl Checks {
    /// Writes a run down: its code, its results and its counts.
    pub(super) async fn write_down(
        &self,
        report: &RunReport,
        state: &State,
        mut note: EntryNote,
    ) -> Result<(), ChecksError> {
        let _ = state;
        let words = format!("run {} checks", report.results.len());
        let mut record = RunRecord::new(RunId(report.run_id.clone()), "check", &words);
        record.started_at.clone_from(&report.started_at);
        record.state = RunState::Answered;
        let count = |status: CheckStatus| report.counts.get(&status).copied().unwrap_or_default();
        let is_clean = count(CheckStatus::Fail) + count(CheckStatus::Error) == 0;
        record.status = Some(if is_clean { "PASS" } else { "FAIL" }.to_owned());
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
                    state: format!("{:?}", result.status).to_uppercase(),
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
