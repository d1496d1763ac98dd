//! Tries accepted code on files: one cell, the tables to read, and the judgement of what it gave.

use std::sync::Arc;
use std::time::Instant;

use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Execution, Job, JudgedBy};
use ordain_planner::{Exchange, Trouble, TroubleClass};
use ordain_store::{BeginOptions, EntryNote, Intent};
use ordain_types::{Answer, Cause, ModuleRecord, RunRecord, RunState, Schema};
use ordain_verify::Policy;
use serde_json::{Value, json};

use super::{CodeTask, modules, session};
use crate::attempt::profile_for;
use crate::claims::Evidence;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::{Prepared, profile_for_files};
use crate::grant::Grant;
use crate::host::TransactionHost;
use crate::outcome;
use crate::rounds::{Accepted, Last, Trial, Tried, millis};

/// The longest answer that is taken from what a program printed.
const PRINTED_BYTES_MAX: usize = 2_000;
/// The variable in which a cell tells what it found when it read the values of files.
const READING_NOTES: &str = "reading_notes";

/// A trial on files.
pub(super) struct FileTrial<'a> {
    engine: &'a Engine,
    task: &'a CodeTask,
    prepared: &'a Prepared,
    policy: Policy,
    schema: Schema,
    started: Instant,
    /// Code that makes the modules which the plan imports.
    modules: String,
    /// Whether one of them imports something.
    has_imports: bool,
    /// The hash of the brief, for the ledger.
    pub(super) brief_hash: Option<String>,
    /// The cached plan that is tried, to be counted.
    pub(super) plan_id: Option<String>,
}

impl Trial for FileTrial<'_> {
    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn bring(&mut self, modules: &[ModuleRecord]) -> Result<(), Trouble> {
        let all: Vec<ModuleRecord> = self.task.module_records().chain(modules.iter().cloned()).collect();
        self.modules = modules::load(&all, &self.policy)?;
        // A name that another draft brought may stay: whoever imports what is not there is told by Python.
        self.policy.packages.extend(modules.iter().map(|module| modules::name(&module.name)));
        self.has_imports = all.iter().any(|module| module.code.contains("import"));
        Ok(())
    }

    fn counts(&mut self, plan_id: Option<String>) {
        self.plan_id = plan_id;
    }

    async fn run(
        &mut self,
        accepted: Accepted,
        mut record: RunRecord,
        last: Last<'_>,
    ) -> Result<Tried, EngineError> {
        let running = Instant::now();
        let execution = self.execute(self.job(&accepted), &record).await?;
        record.timing_ms.run = millis(running);
        record.outcome = outcome::record(&execution);
        record.status = outcome::status(&execution);
        record.answer = outcome::answer(&execution);
        record.answer.notes = self.notes(&accepted, &execution);
        if let Some(step) = record.plan.steps.first_mut() {
            let state = if execution.cause == Cause::Ok { "done" } else { "failed" };
            state.clone_into(&mut step.state);
        }
        if let Some(trouble) = self.trouble(&execution, &mut record) {
            let is_partial = self.task.allow_partial && execution.cause != Cause::Ok;
            record.state = RunState::Failed;
            record.outcome.partial = is_partial;
            if is_partial && last.is_last {
                self.engine.keep_artifacts(&record.run_id, &execution)?;
            }
            return Ok(Tried::Trouble(trouble, Box::new(record)));
        }
        record.state = RunState::without_changes(record.status.as_deref());
        record.error = None;
        self.engine.keep_artifacts(&record.run_id, &execution)?;
        self.engine.mark_formulas(&mut record).await?;
        self.write_down(record, last.exchange).await.map(|record| Tried::Done(Box::new(record)))
    }
}

impl<'a> FileTrial<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        task: &'a CodeTask,
        prepared: &'a Prepared,
        policy: Policy,
        started: Instant,
    ) -> Self {
        let mut schema = engine.store.schema();
        schema.tables.extend(prepared.tables());
        let (modules, has_imports, brief_hash, plan_id) = (String::new(), false, None, None);
        Self { engine, task, prepared, policy, schema, started, modules, has_imports, brief_hash, plan_id }
    }

    /// What there is to run.
    fn job(&self, accepted: &Accepted) -> Job {
        self.job_with(accepted, &self.modules)
    }

    /// The same with other modules than those of the task and its draft.
    pub(super) fn job_with(&self, accepted: &Accepted, modules: &str) -> Job {
        let settings = &self.engine.settings;
        let mut job = Job::new(accepted.code.clone(), self.profile(accepted));
        "plan.py".clone_into(&mut job.name);
        if let Some(plan) = &self.task.plan {
            job.name.clone_from(&plan.name);
        }
        job.limits = settings.limits.clone();
        job.files = self.prepared.copied();
        if self.task.session.is_some() {
            // What an earlier turn answered is not what this one answers.
            job.values.extend(outcome::COLLECTED.map(|name| (name.to_owned(), Value::Null)));
        }
        job.values.insert("user_request".to_owned(), Value::from(self.task.request.as_str()));
        job.tables = self.engine.store.schema().tables.into_iter().map(|table| table.name).collect();
        job.values.insert("readings".to_owned(), self.prepared.readings());
        job.judged_by = Some(Arc::new(JudgedBy { policy: self.policy.clone(), schema: self.schema.clone() }));
        job.helpers = format!("{}\n{modules}", settings.helpers);
        job.collect = outcome::COLLECTED.into_iter().chain([READING_NOTES]).map(str::to_owned).collect();
        job.session = self.task.session.as_deref().map(session::cell_name);
        job
    }

    /// How the columns that the code names were read, and what reading all their values told.
    fn notes(&self, accepted: &Accepted, execution: &Execution) -> Vec<String> {
        let mut notes = self.prepared.notes(accepted.code.code());
        let told = execution.values.get(READING_NOTES).and_then(Value::as_array).into_iter().flatten();
        for note in told.filter_map(Value::as_str) {
            if !notes.iter().any(|known| known == note) {
                notes.push(note.to_owned());
            }
        }
        notes
    }

    /// The smallest profile that has what the code imports and what its files need. A session keeps its first one, so
    /// it gets all packages.
    fn profile(&self, accepted: &Accepted) -> Profile {
        if self.task.session.is_some() {
            return Profile::Full;
        }
        let names = self.prepared.files.iter().map(|file| file.name.as_str());
        let of_files = profile_for_files(names);
        match profile_for(&accepted.effects, &accepted.code) {
            Profile::Core if self.has_imports => Profile::Full,
            // Libraries look for readers by themselves: pandas imports the one that a file needs.
            Profile::Data => of_files,
            profile => profile,
        }
    }

    /// Runs a job with the tables to read.
    async fn execute(&self, job: Job, record: &RunRecord) -> Result<Execution, EngineError> {
        let begin = BeginOptions { run_id: record.run_id.clone(), intent: Intent::Read };
        let mut transaction = self.engine.store.begin(begin).await?;
        let mut evidence = Evidence::default();
        let mut host = TransactionHost::new(&mut transaction, Grant::read_only(), &mut evidence, None);
        let execution = self.engine.executor.run(job, &mut host, &mut Discard).await;
        let execution = host.settle(execution);
        transaction.roll_back().await?;
        execution
    }

    /// What is wrong with what the code gave. What it did not set is taken from what it printed.
    fn trouble(&self, execution: &Execution, record: &mut RunRecord) -> Option<Trouble> {
        if execution.cause == Cause::Ok {
            fill_in(record);
        }
        let error = match execution.cause {
            // A statement that is typed into a session need not say anything.
            Cause::Ok if record.answer.text.is_none() && !self.task.is_typed() => {
                let hint = "set answer_text to one or two sentences, or print the result";
                outcome::run_error("missing-answer", "the code gave no answer".to_owned(), Some(hint))
            }
            Cause::Ok => {
                let status = record.status.clone().unwrap_or_default();
                if self.policy.statuses.contains(&status) {
                    return None;
                }
                let hint = format!("the statuses are {}", self.policy.statuses.join(", "));
                let shown: String = status.chars().take(60).collect();
                outcome::run_error("unknown-status", format!("the code set STATUS to `{shown}`"), Some(&hint))
            }
            _ => outcome::broken_promise(execution, &ordain_types::Diff::default(), &self.policy.statuses)?,
        };
        let class = match execution.cause {
            Cause::Ok => TroubleClass::Contract,
            Cause::Error => TroubleClass::Runtime,
            _ => TroubleClass::Limit,
        };
        let line = execution.error.as_ref().and_then(|raised| raised.line);
        let hint = error.hint.or_else(|| limit_hint(execution.cause));
        Some(Trouble { class, code: error.code, message: error.message, line, hint })
    }

    /// Records a run.
    pub(super) async fn write_down(
        &self,
        mut record: RunRecord,
        exchange: &Exchange,
    ) -> Result<RunRecord, EngineError> {
        record.timing_ms.total = millis(self.started);
        forget_unfinished(&mut record);
        Ok(self.engine.store.record(record, self.note(exchange)).await?)
    }

    /// What the ledger keeps of a file: enough to tell whether another one is the same.
    fn file_note(&self, name: &str) -> Value {
        let mut note = json!({ "name": name, "sha256": self.prepared.hashes.get(name) });
        // Files that are typed about were not looked into.
        if let Some(brief) = self.prepared.briefs.iter().find(|brief| brief.name == name) {
            note["bytes"] = json!(brief.bytes);
            note["kind"] = json!(brief.kind);
        }
        note
    }

    fn note(&self, exchange: &Exchange) -> EntryNote {
        let task = self.task;
        let files: Vec<Value> = self.prepared.files.iter().map(|file| self.file_note(&file.name)).collect();
        let mut detail = json!({ "files": files });
        if !self.prepared.refused.is_empty() {
            detail["files_refused"] = json!(self.prepared.refused);
        }
        if let Some(plan) = &task.plan {
            detail["plan"] = json!(plan.name);
        }
        if let Some(hash) = &self.brief_hash {
            detail["brief_sha256"] = json!(hash);
        }
        if let Some(session) = &task.session {
            detail["session"] = json!(session);
        }
        if !exchange.messages.is_empty() {
            detail["exchange"] = json!(exchange.messages);
        }
        EntryNote {
            detail,
            claim: task.idempotency_key.clone(),
            plan: self.plan_id.clone(),
            ..EntryNote::by(&task.who, &task.through)
        }
    }
}

/// A run that failed has no answer unless what was computed may be kept.
fn forget_unfinished(record: &mut RunRecord) {
    if record.state == RunState::Failed && !record.outcome.partial && record.error.is_some() {
        record.answer = Answer::default();
        record.status = None;
    }
}

/// A program that only prints has answered with what it printed.
fn fill_in(record: &mut RunRecord) {
    if record.answer.text.as_deref().is_none_or(|text| text.trim().is_empty()) {
        let printed = record.outcome.stdout.trim();
        let end = printed.floor_char_boundary(PRINTED_BYTES_MAX);
        record.answer.text = (!printed.is_empty()).then(|| printed[..end].to_owned());
        if record.answer.text.is_none() && !record.outcome.artifacts.is_empty() {
            let names: Vec<&str> =
                record.outcome.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
            record.answer.text = Some(format!("The result is in {}.", names.join(", ")));
        }
    }
    if record.status.is_none() {
        record.status = Some("success".to_owned());
    }
}

fn limit_hint(cause: Cause) -> Option<String> {
    let hint = match cause {
        Cause::MemoryLimit => "read the file in pieces or only the columns that are needed",
        Cause::Timeout | Cause::CpuLimit => "do less work: fewer rows, fewer columns, vectorised",
        Cause::OutputLimit => "print less; write files to artifacts",
        Cause::ArtifactLimit => "write fewer or smaller files",
        _ => return None,
    };
    Some(hint.to_owned())
}
