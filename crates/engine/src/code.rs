//! Answers a question about files with code: look into the files, find or write a plan, try it, record it.
//!
//! A code task is a run like any other: its code is verified, runs in a cell, and is an entry of the ledger. It sees
//! files, and the workspace's tables to read; it changes nothing outside of its own artifacts.

mod answer;
mod key;
mod modules;
mod session;
mod trial;

use std::path::PathBuf;
use std::time::Instant;

use ordain_cell::InputFile;
use ordain_planner::{Brief, Draft, Exchange, FileBrief, Planner, Progress, Quiet, Task};
use ordain_store::EntryNote;
use ordain_types::{BoxFuture, ModuleRecord, PlanSource, RunId, RunRecord, RunState};
use ordain_verify::{Contract, Policy};

pub use answer::{AnswerType, CodeAnswer};
pub use modules::ModuleProblem;

use crate::ask::PlanFile;
use crate::attempt::error_of;
use crate::cache::Under;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::Prepared;
use crate::fingerprint::hash;
use crate::rounds::{self, Accepted, Ended, Last, Patience, Trial, Tried, millis};

use trial::FileTrial;

/// The longest request.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// A question about files.
#[derive(Debug, Clone)]
pub struct CodeTask {
    /// What is asked, in words.
    pub request: String,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Names of those files that the executor has mounted in every cell.
    pub mounted: Vec<String>,
    /// The plan, where the caller gives it.
    pub plan: Option<PlanFile>,
    /// Further modules, which the plan can import by their names.
    pub modules: Vec<PlanFile>,
    /// Who writes the plan otherwise.
    pub planner: Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub cache: bool,
    /// The session whose Python state the code shares.
    pub session: Option<String>,
    /// Whether what was computed before a failure is kept, marked as partial.
    pub allow_partial: bool,
    /// The run's id, where the caller has told it already.
    pub run_id: Option<RunId>,
    /// Repeating a task with the same key gives the first outcome again.
    pub idempotency_key: Option<String>,
    /// Who asks.
    pub who: String,
    /// Through what: `cli`, `http` …
    pub through: String,
}

impl CodeTask {
    /// A question without files that the reader answers.
    pub fn new(request: &str, who: &str, through: &str) -> Self {
        Self {
            request: request.to_owned(),
            files: Vec::new(),
            mounted: Vec::new(),
            plan: None,
            modules: Vec::new(),
            planner: Planner::Rules,
            cache: true,
            session: None,
            allow_partial: false,
            run_id: None,
            idempotency_key: None,
            who: who.to_owned(),
            through: through.to_owned(),
        }
    }

    /// What an idempotency key stands for.
    async fn fingerprint(&self) -> String {
        let plan = self.plan.as_ref().map_or("", |plan| plan.code.as_str());
        let session = self.session.as_deref().unwrap_or_default();
        // The same file may lie elsewhere when it is sent again; one that cannot be read is refused later.
        let input = |path: &PathBuf| InputFile {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.clone(),
        };
        let files: Vec<InputFile> = self.files.iter().map(input).collect();
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let hashes = ordain_cell::hash_files(files).await;
        let modules: Vec<ModuleRecord> = self.module_records().collect();
        let files = format!("{names:?}\0{hashes:?}");
        hash(&format!("code\0{}\0{plan}\0{modules:?}\0{session}\0{files}", self.request))
    }

    /// The modules as a record keeps them.
    pub(crate) fn module_records(&self) -> impl Iterator<Item = ModuleRecord> {
        self.modules
            .iter()
            .map(|module| ModuleRecord { name: module.name.clone(), code: module.code.clone() })
    }

    /// Whether it is Python that is typed into a session.
    pub(crate) fn is_typed(&self) -> bool {
        self.session.is_some() && self.plan.is_some()
    }
}

impl Engine {
    /// Answers a question about files. A refused or failed run has a record too, and a ledger entry.
    pub fn code(&self, task: CodeTask) -> BoxFuture<'_, Result<CodeAnswer, EngineError>> {
        Box::pin(async move { self.code_once(task, &mut Quiet).await })
    }

    /// The same, showing what goes on.
    pub fn code_with<'a>(
        &'a self,
        task: CodeTask,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<CodeAnswer, EngineError>> {
        Box::pin(self.code_once(task, progress))
    }

    async fn code_once(
        &self,
        task: CodeTask,
        progress: &mut dyn Progress,
    ) -> Result<CodeAnswer, EngineError> {
        if task.request.len() > REQUEST_BYTES_MAX {
            let bytes = task.request.len();
            return Err(EngineError::RequestTooLong { bytes, bytes_max: REQUEST_BYTES_MAX });
        }
        let run_id = match &task.run_id {
            Some(run_id) => run_id.clone(),
            None => self.store.new_run_id()?,
        };
        if let Some(key) = &task.idempotency_key
            && let Some(record) = self.claim(key, &task.fingerprint().await, &run_id).await?
        {
            return Ok(self.answer(record, &Prepared::default()));
        }
        // The run is a large future; callers should not have to carry it on their stacks.
        let outcome = Box::pin(self.solve(&task, run_id.clone(), progress)).await;
        if let (Err(_), Some(key)) = (&outcome, &task.idempotency_key) {
            // Nothing was done, so the key is free for another try.
            let _ = self.store.release(key, &run_id).await;
        }
        if let Err(error) = &outcome {
            let note = EntryNote::by(&task.who, &task.through);
            self.record_lost(&run_id, ("code", &task.request), note, error).await;
        }
        if let (Ok(answer), Some(session)) = (&outcome, &task.session) {
            self.remember(session, &answer.record).await?;
        }
        outcome
    }

    async fn solve(
        &self,
        task: &CodeTask,
        run_id: RunId,
        progress: &mut dyn Progress,
    ) -> Result<CodeAnswer, EngineError> {
        let started = Instant::now();
        let mut record = RunRecord::new(run_id, "code", &task.request);
        record.started_at = self.store.timestamp();
        record.plan.goal = task.request.chars().take(500).collect();
        if !task.files.is_empty() {
            progress.stage("looking into the files");
        }
        let prepared = self.prepare(task).await?;
        record.timing_ms.plan = millis(started);
        let mut policy = self.code_policy(task);
        self.extend_by_session(&mut policy, task).await?;
        let mut trial = FileTrial::new(self, task, &prepared, policy, started);
        if let Some(problem) = unreadable(task, &prepared) {
            record.state = RunState::Failed;
            record.error = Some(problem);
            let record = trial.write_down(record, &Exchange::default()).await?;
            return Ok(self.answer(record, &prepared));
        }
        if let Err(trouble) = trial.bring(&[]) {
            record.state = RunState::Rejected;
            record.error = Some(error_of(&trouble));
            let record = trial.write_down(record, &Exchange::default()).await?;
            return Ok(self.answer(record, &prepared));
        }
        self.restore(task, &trial).await?;
        let record = match &task.plan {
            Some(plan) => {
                let (code, title) = (plan.code.clone(), plan.name.clone());
                let modules = task.module_records().collect();
                let draft = Draft { code, title, modules, ..Draft::default() };
                record.plan.source = PlanSource::File;
                self.given(draft, record, &mut trial).await?
            }
            None => self.planned(task, &prepared.briefs, record, &mut trial, progress).await?,
        };
        Ok(self.answer(record, &prepared))
    }

    /// Looks into the files, and hashes what goes in.
    async fn prepare(&self, task: &CodeTask) -> Result<Prepared, EngineError> {
        let limits = &self.settings.limits;
        let admitted = crate::files::admit(&task.files, &task.mounted, limits);
        let hashing = crate::files::hashes(&admitted.files);
        if task.is_typed() {
            // Whoever types Python looks into the files by themselves.
            let hashes = hashing.await;
            return Ok(Prepared { hashes, ..admitted });
        }
        let looking = self.prepare_files(&task.files, &task.mounted, limits);
        let (hashes, prepared) = futures_util::future::join(hashing, looking).await;
        Ok(Prepared { hashes, ..prepared? })
    }

    /// Tries the code that the caller gave: nobody can put it right.
    async fn given(
        &self,
        draft: Draft,
        mut record: RunRecord,
        trial: &mut FileTrial<'_>,
    ) -> Result<RunRecord, EngineError> {
        let (draft, verdict) = rounds::judge(draft, trial.policy(), trial.schema(), &mut record);
        rounds::note(&mut record, 1, &draft, &verdict);
        let exchange = Exchange::default();
        let Some(code) = verdict.verified().cloned() else {
            record.state = RunState::Rejected;
            record.error = Some(error_of(&rounds::refused(&verdict.findings)));
            return trial.write_down(record, &exchange).await;
        };
        let accepted = Accepted::plain(code, verdict.effects.clone());
        match trial.run(accepted, record, Last { is_last: true, exchange: &exchange }).await? {
            Tried::Done(record) => Ok(*record),
            Tried::Trouble(trouble, mut record) => {
                record.error = Some(error_of(&trouble));
                trial.write_down(*record, &exchange).await
            }
        }
    }

    async fn planned(
        &self,
        task: &CodeTask,
        files: &[FileBrief],
        mut record: RunRecord,
        trial: &mut FileTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let brief = self.code_brief(task, files, trial.policy()).await?;
        let exact = key::of(&brief);
        // Only the files' schemas are part of the key; questions about files have no shape.
        let under = Under { kind: "code", exact: &exact, shape: None };
        trial.brief_hash = Some(hash(&format!("{brief:?}")));
        // A turn of a session means something else after other turns.
        let is_cached = task.cache && brief.turns.is_empty() && task.modules.is_empty();
        if is_cached {
            let (done, history) = self.try_kept(under, &task.planner, &record, trial).await?;
            match done {
                Some(record) => return Ok(record),
                None => record.verdict.history.extend(history),
            }
        }
        rounds::signed(&mut record, &task.planner);
        let patience = Patience { rounds: self.settings.rounds, review: self.settings.review };
        match rounds::rounds(&task.planner, &brief, record, trial, patience, progress).await? {
            Ended::Done { mut record, accepted, draft } => {
                let is_answer = matches!(record.status.as_deref(), Some("success" | "no_match"));
                // A plan of several files is not kept: the cache holds single programs.
                let is_kept = is_cached && draft.modules.is_empty();
                if is_kept && is_answer && record.error.is_none() {
                    record.plan.plan_id = Some(self.keep(under, &record, &accepted, &draft).await?);
                }
                Ok(*record)
            }
            Ended::Over { record, exchange } => trial.write_down(*record, &exchange).await,
        }
    }

    async fn code_brief(
        &self,
        task: &CodeTask,
        files: &[FileBrief],
        policy: &Policy,
    ) -> Result<Brief, EngineError> {
        let mut brief = Brief::new(Task::Code, &task.request);
        brief.files = files.to_vec();
        brief.helpers.clone_from(&self.settings.helpers);
        brief.policy.clone_from(&self.settings.policy);
        brief.statuses.clone_from(&policy.statuses);
        brief.packages.clone_from(&policy.packages);
        brief.limits = self.settings.limits.clone();
        brief.turns = self.session_turns(task).await?;
        Ok(brief)
    }

    /// The rules for code about files: it reads, and writes nothing but artifacts.
    pub(crate) fn code_policy(&self, task: &CodeTask) -> Policy {
        let mut policy = Policy::for_contract(Contract::Code);
        policy.statuses.extend(self.settings.statuses.iter().cloned());
        policy.helpers = ordain_verify::helpers_of(&self.settings.helpers).unwrap_or_default();
        policy.read_only = true;
        policy.packages.extend(task.modules.iter().map(|module| modules::name(&module.name)));
        policy
    }

    fn answer(&self, record: RunRecord, prepared: &Prepared) -> CodeAnswer {
        let folder = self.settings.artifacts.as_ref().map(|folder| folder.join(record.run_id.as_str()));
        let folder = folder.filter(|folder| !record.outcome.artifacts.is_empty() && folder.is_dir());
        CodeAnswer {
            record,
            problems: prepared.problems(),
            files: prepared.briefs.clone(),
            hashes: prepared.hashes.clone(),
            artifacts: folder,
        }
    }
}

/// All files were refused: there is nothing to answer from.
fn unreadable(task: &CodeTask, prepared: &Prepared) -> Option<ordain_types::RunError> {
    if task.files.is_empty() || !prepared.files.is_empty() {
        return None;
    }
    let problems: Vec<String> = prepared
        .refused
        .iter()
        .take(5)
        .map(|refused| format!("{}: {}", refused.name, refused.problem))
        .collect();
    Some(crate::outcome::run_error(
        "no-readable-file",
        problems.join("; "),
        Some("give files that can be read"),
    ))
}
