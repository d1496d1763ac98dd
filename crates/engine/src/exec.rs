//! Runs code that a caller gives, in a cell and without the workspace's tables, and records it as a run.

use std::sync::Arc;
use std::time::Instant;

use ordain_cell::profile::Profile;
use ordain_cell::{Execution, InputFile, Job, JudgedBy, NoHost, Output};
use ordain_store::EntryNote;
use ordain_types::{
    BoxFuture, Cause, Limits, PlanSource, RunError, RunId, RunRecord, RunState, Schema, StepRecord,
};
use ordain_verify::{CORE_IMPORTS, Contract, DATA_IMPORTS, FULL_IMPORTS, Policy, Verdict};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::exec_sessions::Defined;
use crate::fingerprint::hash;
use crate::outcome::{self, run_error};
use crate::rounds::millis;

/// Code to run, and how.
#[derive(Debug, Clone)]
pub struct Exec {
    /// The code.
    pub given: Given,
    /// What the verifier asks of it.
    pub judgement: Judgement,
    /// The Python packages it finds.
    pub profile: Profile,
    /// What it may use.
    pub limits: Limits,
    /// Files that it can read by their names.
    pub files: Vec<InputFile>,
    /// The session whose variables it shares.
    pub session: Option<String>,
    /// Repeating it with the same key gives the first outcome again.
    pub idempotency_key: Option<String>,
    /// The id that the run is to have, where the caller has told somebody already.
    pub run_id: Option<RunId>,
    /// Who gives it.
    pub who: String,
    /// Through what.
    pub through: String,
}

/// Code and the name that tracebacks show.
#[derive(Debug, Clone)]
pub struct Given {
    /// The Python.
    pub code: String,
    /// The name of the file.
    pub name: String,
}

/// What the verifier asks of given code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Judgement {
    /// Imports of the profile, no calls that cannot work in a cell.
    #[default]
    Exec,
    /// Syntax and size only: the jail alone defends.
    Open,
}

impl Engine {
    /// Runs given code. Refused and failed code has a record too, and a ledger entry.
    pub fn exec<'a>(
        &'a self,
        exec: Exec,
        output: &'a mut dyn Output,
    ) -> BoxFuture<'a, Result<RunRecord, EngineError>> {
        Box::pin(self.exec_once(exec, output))
    }

    async fn exec_once(&self, exec: Exec, output: &mut dyn Output) -> Result<RunRecord, EngineError> {
        let run_id = match &exec.run_id {
            Some(run_id) => run_id.clone(),
            None => self.store.new_run_id()?,
        };
        if let Some(key) = &exec.idempotency_key
            && let Some(record) = self.claim(key, &exec.fingerprint().await, &run_id).await?
        {
            return Ok(record);
        }
        let outcome = Box::pin(self.run_given(&exec, run_id.clone(), output)).await;
        if let (Err(_), Some(key)) = (&outcome, &exec.idempotency_key) {
            // Nothing was done, so the key is free for another try.
            let _ = self.store.release(key, &run_id).await;
        }
        if let Err(error) = &outcome {
            let note = EntryNote::by(&exec.who, &exec.through);
            self.record_lost(&run_id, ("exec", &exec.given.name), note, error).await;
        }
        outcome
    }

    /// Ends the cell of a session; `false` if there is none of that name.
    pub async fn end_session(&self, name: &str) -> bool {
        self.exec_sessions.ended(name);
        self.executor.end_session(name).await
    }

    async fn run_given(
        &self,
        exec: &Exec,
        run_id: RunId,
        output: &mut dyn Output,
    ) -> Result<RunRecord, EngineError> {
        let started = Instant::now();
        let mut record = RunRecord::new(run_id, "exec", &exec.given.name);
        record.started_at = self.store.timestamp();
        record.plan.source = PlanSource::File;
        record.plan.goal.clone_from(&exec.given.name);
        let defined = self.exec_sessions.of(exec.session.as_deref());
        let verdict = exec.judge(&defined);
        record.timing_ms.verify = millis(started);
        note_verdict(&mut record, exec, &verdict);
        let Some(code) = verdict.into_verified() else {
            record.state = RunState::Rejected;
            let hint = Some("the findings say where and why; nothing ran");
            record.error = Some(run_error("rejected", "the verifier refused the code".to_owned(), hint));
            return self.write_exec(exec, record, started).await;
        };
        let mut job = Job::new(code, exec.profile);
        job.name.clone_from(&exec.given.name);
        job.limits = exec.limits.clone();
        job.files.clone_from(&exec.files);
        job.session.clone_from(&exec.session);
        job.judged_by = Some(Arc::new(JudgedBy { policy: exec.policy(&defined), schema: Schema::default() }));
        let running = Instant::now();
        let execution = self.executor.run(job, &mut NoHost, output).await?;
        if let Some(session) = &exec.session {
            self.exec_sessions.ran(session, &exec.given.code);
        }
        record.timing_ms.run = millis(running);
        self.keep_artifacts(&record.run_id, &execution)?;
        note_execution(&mut record, &execution);
        self.write_exec(exec, record, started).await
    }

    async fn write_exec(
        &self,
        exec: &Exec,
        mut record: RunRecord,
        started: Instant,
    ) -> Result<RunRecord, EngineError> {
        record.timing_ms.total = millis(started);
        let hashes = ordain_cell::hash_files(exec.files.clone()).await;
        let files: Vec<Value> = exec
            .files
            .iter()
            .zip(hashes)
            .map(|(file, hash)| json!({ "name": file.name, "sha256": hash }))
            .collect();
        let note = EntryNote {
            detail: json!({ "files": files, "profile": exec.profile, "session": exec.session }),
            claim: exec.idempotency_key.clone(),
            ..EntryNote::by(&exec.who, &exec.through)
        };
        Ok(self.store.record(record, note).await?)
    }
}

impl Exec {
    fn judge(&self, defined: &Defined) -> Verdict {
        match self.judgement {
            Judgement::Open => ordain_verify::verify(&self.given.code, &self.rules(), &Schema::default()),
            Judgement::Exec => defined.judge(&self.given.code, self.rules()),
        }
    }

    /// The rules by which the code is judged on another machine, with the names that its session has.
    fn policy(&self, defined: &Defined) -> Policy {
        let mut policy = self.rules();
        if self.judgement == Judgement::Exec {
            policy.names.extend(defined.names());
        }
        policy
    }

    fn rules(&self) -> Policy {
        match self.judgement {
            Judgement::Open => Policy::for_contract(Contract::Open),
            Judgement::Exec => {
                let packages = match self.profile {
                    Profile::Core => CORE_IMPORTS,
                    Profile::Data => DATA_IMPORTS,
                    Profile::Full => FULL_IMPORTS,
                };
                Policy::for_contract(Contract::Exec).with_packages(packages.iter().copied())
            }
        }
    }

    async fn fingerprint(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        // A file that cannot be read is refused later, with its reason.
        let hashes = ordain_cell::hash_files(self.files.clone()).await;
        let files = format!("{names:?}\0{hashes:?}");
        hash(&format!("exec\0{}\0{files}\0{:?}\0{:?}", self.given.code, self.profile, self.session))
    }
}

fn note_verdict(record: &mut RunRecord, exec: &Exec, verdict: &Verdict) {
    let findings = verdict.findings.iter().map(|finding| json!(finding)).collect();
    record.verdict.accepted = verdict.is_accepted();
    record.verdict.iterations = 1;
    record.verdict.findings = findings;
    record.plan.steps = vec![StepRecord {
        id: "1".to_owned(),
        title: exec.given.name.clone(),
        needs: Vec::new(),
        success: "the code runs to its end".to_owned(),
        code: exec.given.code.clone(),
        modules: Vec::new(),
        state: "waiting".to_owned(),
    }];
}

fn note_execution(record: &mut RunRecord, execution: &Execution) {
    let is_ok = execution.cause == Cause::Ok;
    record.outcome = outcome::record(execution);
    record.state = if is_ok { RunState::Answered } else { RunState::Failed };
    if let Some(step) = record.plan.steps.first_mut() {
        if is_ok { "done" } else { "failed" }.clone_into(&mut step.state);
    }
    if !is_ok {
        let message = outcome::problem(execution);
        record.error = Some(RunError { code: execution.cause.as_str().to_owned(), message, hint: None });
    }
}
