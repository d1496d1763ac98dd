//! Questions about files: what goes in, the rules for their code, and what comes back.
//!
//! A code task is a run like any other: its code is verified, runs in a cell, and is an entry of the ledger. It sees
//! files, and the workspace's tables to read; it changes nothing outside of its own artifacts.

mod answer;
mod session;

use std::path::PathBuf;

use ordain_cell::{Discard, InputFile};
use ordain_files::Prepared;
use ordain_planner::{Brief, FileBrief, Planner, Progress, Quiet, Task};
use ordain_types::{Limits, SourceFile};
use ordain_verify::{Contract, Policy, module_name};
use serde::{Deserialize, Serialize};

pub use answer::{AnswerType, CodeAnswer};
pub(crate) use session::cell_name;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::identity::Identity;
use crate::work::{Origin, Work};

/// A question about files.
///
/// Written down, it is without the planner and the files: those are found again where it is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CodeTask {
    /// What is asked, in words.
    pub request: String,
    /// The files.
    #[serde(skip)]
    pub files: Vec<PathBuf>,
    /// Names of those files that the executor has mounted in every cell.
    #[serde(skip)]
    pub mounted: Vec<String>,
    /// The plan, where the caller gives it.
    pub plan: Option<SourceFile>,
    /// Further modules, which the plan can import by their names.
    pub modules: Vec<SourceFile>,
    /// Who writes the plan otherwise.
    #[serde(skip)]
    pub planner: Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub cache: bool,
    /// The session whose Python state the code shares.
    pub session: Option<String>,
    /// Whether what was computed before a failure is kept, marked as partial.
    pub allow_partial: bool,
    /// The conversation that it is a turn of, besides its session.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Why a request is carried out as a code task, where the engine chose that.
    pub reason: Option<String>,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
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
            conversation: None,
            reason: None,
            origin: Origin::new(who, through),
        }
    }

    /// What an idempotency key stands for.
    pub async fn fingerprint(&self) -> String {
        // The same file may lie elsewhere when it is sent again; one that cannot be read is refused later.
        let input = |path: &PathBuf| InputFile {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.clone(),
        };
        let files: Vec<InputFile> = self.files.iter().map(input).collect();
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let files: Vec<_> = names.into_iter().zip(ordain_cell::hash_files(files).await).collect();
        Identity::of("code")
            .with("request", &self.request)
            .with("plan", &self.plan.as_ref().map(|plan| &plan.code))
            .with("modules", &self.modules)
            .with("session", &self.session)
            .with("files", &files)
            .digest()
    }

    /// Whether it is Python that is typed into a session.
    pub(crate) fn is_typed(&self) -> bool {
        self.session.is_some() && self.plan.is_some()
    }
}

impl Engine {
    /// Answers a question about files. A refused or failed run has a record too, and a ledger entry.
    pub async fn code(&self, task: CodeTask) -> Result<CodeAnswer, EngineError> {
        self.code_with(task, &mut Quiet).await
    }

    /// The same, showing what goes on.
    pub async fn code_with(
        &self,
        task: CodeTask,
        progress: &mut dyn Progress,
    ) -> Result<CodeAnswer, EngineError> {
        let finished = self.carry_out(Work::Code(task), progress, &mut Discard).await?;
        let (record, prepared) = (finished.record, finished.prepared);
        let folder = self.settings.artifacts.as_ref().map(|folder| folder.join(record.run_id.as_str()));
        let artifacts = folder.filter(|folder| !record.outcome.artifacts.is_empty() && folder.is_dir());
        let problems = prepared.problems();
        Ok(CodeAnswer { record, problems, files: prepared.shown(), hashes: prepared.hashes, artifacts })
    }

    /// Checks names and sizes of files and looks into them, in a cell. Files whose names are among `mounted` are in
    /// every cell of the executor already.
    pub async fn prepare_files(
        &self,
        paths: &[PathBuf],
        mounted: &[String],
        limits: &Limits,
    ) -> Result<Prepared, EngineError> {
        let executor = self.executor.as_ref();
        Ok(ordain_files::prepare(executor, &self.settings.catalog, paths, mounted, limits).await?)
    }

    /// Hashes what goes in, and looks into it where a planner is to know it.
    pub(crate) async fn prepare(
        &self,
        work: &Work,
        progress: &mut dyn Progress,
    ) -> Result<Prepared, EngineError> {
        let task = match work {
            Work::Ask(_) => return Ok(Prepared::default()),
            Work::Exec(exec) => {
                let hashes = ordain_files::hashes(&exec.files).await;
                return Ok(Prepared { files: exec.files.clone(), hashes, ..Prepared::default() });
            }
            Work::Code(task) => task,
        };
        if !task.files.is_empty() {
            progress.stage("looking into the files");
        }
        let limits = &self.settings.limits;
        let admitted = ordain_files::admit(&task.files, &task.mounted, limits);
        let hashing = ordain_files::hashes(&admitted.files);
        if task.is_typed() {
            // A person who writes Python looks into the files themselves.
            let hashes = hashing.await;
            return Ok(Prepared { hashes, ..admitted });
        }
        let looking = self.prepare_files(&task.files, &task.mounted, limits);
        let (hashes, prepared) = futures_util::future::join(hashing, looking).await;
        Ok(Prepared { hashes, ..prepared? })
    }

    /// The brief of a question about files.
    pub(crate) async fn code_brief(
        &self,
        task: &CodeTask,
        files: Vec<FileBrief>,
        policy: &Policy,
    ) -> Result<Brief, EngineError> {
        let mut brief = Brief::new(Task::Code, &task.request);
        brief.files = files;
        brief.catalog = self.settings.catalog.clone();
        self.settings.helpers.source().clone_into(&mut brief.helpers);
        brief.policy.clone_from(&self.settings.policy);
        brief.statuses = self.settings.told_statuses();
        brief.packages.clone_from(&policy.packages);
        brief.limits = self.settings.limits.clone();
        brief.turns = self.session_turns(task).await?;
        Ok(brief)
    }

    /// The rules for code about files: it reads, and writes nothing but artifacts.
    pub(crate) fn code_policy(&self, task: &CodeTask) -> Policy {
        let mut policy = Policy::for_contract(Contract::Code);
        policy.statuses.extend(self.settings.statuses.keys().cloned());
        policy.helpers = self.settings.helpers.known().to_vec();
        policy.read_only = true;
        policy.packages.extend(task.modules.iter().map(|module| module_name(&module.name)));
        policy
    }
}
