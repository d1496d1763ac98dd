//! Carries out one request with a plan: verify, run in a transaction, commit or roll back, record.

use std::time::Instant;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Discard, Execution, Job};
use ordain_store::{BeginOptions, Claim, EntryNote, Intent, StoreError, Transaction};
use ordain_types::{
    Cause, PlanRecord, PlanSource, RunError, RunId, RunRecord, RunState, Schema, StepRecord, VerdictRecord,
};
use ordain_verify::{
    CORE_IMPORTS, Contract, DATA_IMPORTS, FULL_IMPORTS, Policy, Verdict, VerifiedCode, verify,
};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::host::TransactionHost;
use crate::outcome;

/// The longest request.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// How often a run is tried when other runs change the same rows at the same time.
const TRIES_MAX: u32 = 12;

/// One request with the plan for it.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked, in words.
    pub request: String,
    /// The plan's Python.
    pub code: String,
    /// The name of the plan's file, for tracebacks.
    pub name: String,
    /// What becomes of the changes.
    pub mode: Mode,
    /// Repeating a request with the same key gives the first outcome again.
    pub idempotency_key: Option<String>,
    /// Who asks.
    pub who: String,
    /// Through what: `cli`, `http` …
    pub through: String,
}

/// What becomes of a plan's changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are committed, or wait for approval where the workspace says so.
    #[default]
    Commit,
    /// They wait for approval.
    Hold,
    /// They are shown and rolled back.
    DryRun,
}

impl Engine {
    /// Carries out a request with its plan. A refused or failed run has a record too, and a ledger entry.
    pub async fn ask(&self, ask: Ask) -> Result<RunRecord, EngineError> {
        if ask.request.len() > REQUEST_BYTES_MAX {
            let bytes = ask.request.len();
            return Err(EngineError::RequestTooLong { bytes, bytes_max: REQUEST_BYTES_MAX });
        }
        let run_id = self.store.new_run_id()?;
        if let Some(key) = &ask.idempotency_key {
            match self.store.claim(key, &run_id).await? {
                Claim::Taken => {}
                Claim::Finished(record) => return Ok(*record),
                Claim::Running(run) => return Err(EngineError::Running { run: run.to_string() }),
            }
        }
        // The run is a large future; callers should not have to carry it on their stacks.
        let outcome = Box::pin(self.carry_out(&ask, run_id.clone())).await;
        if let (Err(_), Some(key)) = (&outcome, &ask.idempotency_key) {
            // Nothing was done, so the key is free for another try.
            let _ = self.store.release(key, &run_id).await;
        }
        outcome
    }

    async fn carry_out(&self, ask: &Ask, run_id: RunId) -> Result<RunRecord, EngineError> {
        let started = Instant::now();
        let mut record = RunRecord::new(run_id, "ask", &ask.request);
        record.started_at = self.store.timestamp();
        record.plan = plan_record(ask);
        let schema = self.store.schema();
        let policy = self.policy();
        let verdict = verify(&ask.code, &policy, &schema);
        record.timing_ms.verify = millis(started);
        record.verdict = verdict_record(&verdict);
        let Some(code) = verdict.verified().cloned() else {
            record.state = RunState::Rejected;
            record.error = Some(rejection(&verdict));
            return self.write_down(record, ask, started).await;
        };
        let profile = profile_for(&verdict, &ask.code);
        let intent = if verdict.effects.may_write { Intent::Write } else { Intent::Read };
        for _ in 0..TRIES_MAX {
            let job = self.job(ask, code.clone(), profile, &schema);
            match self.attempt(ask, record.clone(), job, intent, started, &policy.statuses).await {
                Err(EngineError::Store(StoreError::Conflict)) => {}
                done => return done,
            }
        }
        Err(EngineError::Contended { tries: TRIES_MAX })
    }

    /// One try: one transaction, one cell.
    async fn attempt(
        &self,
        ask: &Ask,
        mut record: RunRecord,
        job: Job,
        intent: Intent,
        started: Instant,
        statuses: &[String],
    ) -> Result<RunRecord, EngineError> {
        let begin = BeginOptions { run_id: record.run_id.clone(), intent };
        let mut transaction = self.store.begin(begin).await?;
        let running = Instant::now();
        let execution = match self.run_job(&mut transaction, job).await {
            Ok(execution) => execution,
            Err(error) => {
                transaction.roll_back().await?;
                return Err(error);
            }
        };
        record.timing_ms.run = millis(running);
        record.outcome = outcome::record(&execution);
        record.status = outcome::status(&execution);
        record.answer = outcome::answer(&execution);
        let diff = transaction.diff();
        if let Some(step) = record.plan.steps.first_mut() {
            let state = if execution.cause == Cause::Ok { "done" } else { "failed" };
            state.clone_into(&mut step.state);
        }
        if let Some(error) = outcome::broken_promise(&execution, &diff, statuses) {
            record.state = if execution.cause == Cause::Ok { RunState::RolledBack } else { RunState::Failed };
            record.error = Some(error);
            transaction.roll_back().await?;
            return self.write_down(record, ask, started).await;
        }
        self.settle(ask, record, transaction, started).await
    }

    async fn run_job(&self, transaction: &mut Transaction, job: Job) -> Result<Execution, EngineError> {
        let mut host = TransactionHost::new(transaction);
        let execution = self.executor.run(job, &mut host, &mut Discard).await;
        match host.into_failure() {
            Some(failure) => Err(failure.into()),
            None => execution.map_err(|error: CellError| error.into()),
        }
    }

    /// Commits, holds or shows what the plan did.
    async fn settle(
        &self,
        ask: &Ask,
        mut record: RunRecord,
        mut transaction: Transaction,
        started: Instant,
    ) -> Result<RunRecord, EngineError> {
        let committing = Instant::now();
        let rows = transaction.diff().rows();
        let before = record.clone();
        record.timing_ms.total = millis(started);
        let settled = match ask.mode {
            Mode::DryRun => {
                let review = transaction.review().await?;
                transaction.roll_back().await?;
                record.state = RunState::RolledBack;
                record.diff = review.diff;
                record.invariants = review.invariants;
                record.error = violated(&review.violations);
                return self.write_down(record, ask, started).await;
            }
            Mode::Hold => transaction.hold(record, note(ask)).await,
            Mode::Commit if self.settings.approval.holds(rows) => transaction.hold(record, note(ask)).await,
            Mode::Commit => transaction.commit(record, note(ask)).await,
        };
        match settled {
            Ok(mut record) => {
                record.timing_ms.commit = millis(committing);
                record.timing_ms.total = millis(started);
                Ok(record)
            }
            Err(StoreError::Violated { violations }) => {
                let mut record = before;
                record.state = RunState::RolledBack;
                record.error = violated(&violations);
                record.invariants = violations
                    .iter()
                    .filter(|violation| violation.rule == "invariant")
                    .map(|violation| ordain_types::InvariantResult {
                        name: violation.name.clone(),
                        holds: false,
                        rows: violation.rows.clone(),
                    })
                    .collect();
                self.write_down(record, ask, started).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Records a run that changed nothing.
    async fn write_down(
        &self,
        mut record: RunRecord,
        ask: &Ask,
        started: Instant,
    ) -> Result<RunRecord, EngineError> {
        record.timing_ms.total = millis(started);
        Ok(self.store.record(record, note(ask)).await?)
    }

    fn policy(&self) -> Policy {
        let mut policy = Policy::for_contract(Contract::Ask).with_packages(FULL_IMPORTS.iter().copied());
        policy.statuses.extend(self.settings.statuses.iter().cloned());
        // A file that is not Python gives no helpers; a plan that calls one is then told that it is unknown.
        policy.helpers = ordain_verify::helpers_of(&self.settings.helpers).unwrap_or_default();
        policy
    }

    fn job(&self, ask: &Ask, code: VerifiedCode, profile: Profile, schema: &Schema) -> Job {
        let mut job = Job::new(code, profile);
        job.name.clone_from(&ask.name);
        job.limits = self.settings.limits.clone();
        job.values.insert("user_request".to_owned(), Value::from(ask.request.as_str()));
        job.tables = schema.tables.iter().map(|table| table.name.clone()).collect();
        job.helpers.clone_from(&self.settings.helpers);
        job.collect = outcome::COLLECTED.map(str::to_owned).to_vec();
        job
    }
}

fn note(ask: &Ask) -> EntryNote {
    let mode = match ask.mode {
        Mode::Commit => "commit",
        Mode::Hold => "hold",
        Mode::DryRun => "dry_run",
    };
    EntryNote {
        detail: json!({ "plan": ask.name, "mode": mode }),
        claim: ask.idempotency_key.clone(),
        ..EntryNote::by(&ask.who, &ask.through)
    }
}

/// The smallest profile that has what the code imports.
fn profile_for(verdict: &Verdict, code: &str) -> Profile {
    let top = |import: &str| import.split('.').next().unwrap_or_default().to_owned();
    let has = |packages: &[&str], import: &str| packages.contains(&top(import).as_str());
    let imports = &verdict.effects.imports;
    let beyond =
        |packages: &[&str]| imports.iter().any(|import| !has(packages, import) && has(FULL_IMPORTS, import));
    if beyond(DATA_IMPORTS) {
        Profile::Full
    } else if beyond(CORE_IMPORTS) || code.contains("frame(") {
        Profile::Data
    } else {
        Profile::Core
    }
}

fn plan_record(ask: &Ask) -> PlanRecord {
    PlanRecord {
        source: PlanSource::File,
        model: None,
        goal: ask.request.chars().take(500).collect(),
        steps: vec![StepRecord {
            id: "1".to_owned(),
            title: ask.name.clone(),
            needs: Vec::new(),
            success: String::new(),
            code: ask.code.clone(),
            state: "waiting".to_owned(),
        }],
    }
}

fn verdict_record(verdict: &Verdict) -> VerdictRecord {
    let findings: Vec<Value> =
        verdict.findings.iter().filter_map(|finding| serde_json::to_value(finding).ok()).collect();
    VerdictRecord {
        accepted: verdict.is_accepted(),
        iterations: 1,
        history: vec![json!({ "accepted": verdict.is_accepted(), "findings": findings })],
        findings,
        modifications: Vec::new(),
    }
}

fn rejection(verdict: &Verdict) -> RunError {
    let first = verdict.findings.iter().find(|finding| finding.severity == ordain_verify::Severity::Error);
    match first {
        Some(finding) => outcome::run_error(
            &finding.code.to_string(),
            format!("line {}: {}", finding.line, finding.message),
            finding.hint.as_deref(),
        ),
        None => outcome::run_error("rejected", "the plan was refused".to_owned(), None),
    }
}

fn violated(violations: &[ordain_store::Violation]) -> Option<RunError> {
    let first = violations.first()?;
    let messages: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let code = if first.rule == "invariant" { "invariant-broken" } else { "rule-broken" };
    Some(outcome::run_error(
        code,
        messages.join("; "),
        Some("nothing was changed; `ordain runs show` has the rows"),
    ))
}

fn millis(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
