//! Work as data: what a caller wants carried out, here or by another node.
//!
//! Every transport turns what it was sent into a [`WorkOrder`] and begins it ([`Service::begin`]). A cluster sends the same
//! order, and [`Service::perform`] is the only place where one meets the engine, whether this node accepted it or took it
//! from the queue.

mod sent;

use std::path::PathBuf;
use std::sync::Arc;

use ordain_cell::InputFile;
use ordain_checks::{CheckTask, Schedules};
use ordain_engine::{Ask, CodeTask, Decision, Exec, Identity, Origin, Planner};
use ordain_store::QueuedRun;
use ordain_types::{RunId, RunKind, RunRecord};
use serde::{Deserialize, Serialize};

pub(super) use sent::SentOrder;

use super::caller::Caller;
use super::checks::served;
use super::live::{About, LiveRun};
use super::problem::Problem;
use super::service::Service;
use super::telling::Telling;

/// What a caller wants carried out. Written down, it is without what every node has of its own, such as planners and check
/// files.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkOrder {
    /// A request about the tables.
    Ask(Box<Ask>),
    /// A question about files.
    Code(Box<CodeTask>),
    /// Given code.
    Exec(Box<Exec>),
    /// Checks of the workspace.
    Check(Box<CheckTask>),
    /// A run that waits, and what a person decided on it, once for its claim.
    Resume {
        run: RunId,
        kind: RunKind,
        request: String,
        claim: String,
        decision: Decision,
        #[serde(skip)]
        planner: Box<Planner>,
    },
    /// Work that is due by the clock, by the name of its schedule, once for its claim.
    Scheduled { name: String, kind: RunKind, request: String, claim: String },
}

impl WorkOrder {
    /// The whole name of the session that it is carried out in.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::Code(task) => task.session.as_deref(),
            Self::Exec(exec) => exec.session.as_deref(),
            _ => None,
        }
    }

    /// What an idempotency key stands for.
    pub(super) async fn fingerprint(&self) -> String {
        match self {
            Self::Ask(ask) => ask.fingerprint(),
            Self::Code(task) => task.fingerprint().await,
            Self::Exec(exec) => exec.fingerprint().await,
            Self::Check(task) => task.fingerprint(),
            Self::Resume { decision, .. } => Identity::of("resume").with("decision", decision).digest(),
            Self::Scheduled { name, .. } => name.clone(),
        }
    }

    /// Who writes plans for it.
    fn planner(&mut self) -> Option<&mut Planner> {
        match self {
            Self::Ask(ask) => Some(&mut ask.planner),
            Self::Code(task) => Some(&mut task.planner),
            Self::Resume { planner, .. } => Some(planner),
            Self::Exec(_) | Self::Check(_) | Self::Scheduled { .. } => None,
        }
    }

    /// The files that came with it, by the names that its code sees.
    pub(super) fn files(&self) -> Vec<InputFile> {
        let named = |path: &PathBuf| InputFile {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.clone(),
        };
        match self {
            Self::Code(task) => task.files.iter().map(named).collect(),
            Self::Exec(exec) => exec.files.clone(),
            _ => Vec::new(),
        }
    }

    /// What its run is about. The id is set here, so that it can be told before the run has ended.
    fn about(&self, service: &Service, caller: &Caller) -> Result<About, Problem> {
        let is_queued = service.inner.options.cluster.is_shared();
        let (kind, request, claim, conversation) = match self {
            Self::Ask(ask) => {
                (RunKind::Ask, &ask.request, ask.origin.idempotency_key.clone(), ask.conversation.clone())
            }
            Self::Code(task) => {
                (RunKind::Code, &task.request, task.origin.idempotency_key.clone(), task.conversation.clone())
            }
            Self::Exec(exec) => (RunKind::Exec, &exec.given.name, exec.origin.idempotency_key.clone(), None),
            Self::Check(task) => (RunKind::Check, &task.request, task.origin.idempotency_key.clone(), None),
            // Alone, the engine takes the key when the run goes on.
            Self::Resume { kind, request, claim, .. } => {
                (*kind, request, is_queued.then(|| claim.clone()), None)
            }
            Self::Scheduled { kind, request, claim, .. } => (*kind, request, Some(claim.clone()), None),
        };
        let run_id = match self {
            Self::Resume { run, .. } => run.clone(),
            _ => service.engine().store().new_run_id()?,
        };
        let claim = claim.or_else(|| is_queued.then(|| QueuedRun::own_claim(&run_id)));
        let (request, who) = (request.clone(), caller.id.clone());
        Ok(About { run_id, kind, request, who, claim, conversation, is_queued })
    }

    /// Where it comes from; `None` where the engine knows its id and its key by itself.
    fn origin(&mut self) -> Option<&mut Origin> {
        match self {
            Self::Ask(ask) => Some(&mut ask.origin),
            Self::Code(task) => Some(&mut task.origin),
            Self::Exec(exec) => Some(&mut exec.origin),
            Self::Check(task) => Some(&mut task.origin),
            Self::Resume { .. } | Self::Scheduled { .. } => None,
        }
    }

    /// The same order for the run that it has become.
    fn of_run(mut self, about: &About) -> Self {
        if let Some(origin) = self.origin() {
            (origin.run_id, origin.idempotency_key) = (Some(about.run_id.clone()), about.claim.clone());
        }
        self
    }

    /// The same order for a run that holds its claim.
    pub(super) fn claimed(mut self, is_claimed: bool) -> Self {
        if let Some(origin) = self.origin() {
            origin.is_claimed = is_claimed;
        }
        self
    }
}

impl Service {
    /// What a run will be about, and the order for it.
    pub(super) fn prepare(
        &self,
        caller: &Caller,
        mut order: WorkOrder,
    ) -> Result<(About, WorkOrder), Problem> {
        // A kept plan was written for somebody who may see more, or less.
        match &mut order {
            WorkOrder::Ask(ask) => ask.cache &= !caller.is_limited(),
            WorkOrder::Code(task) => task.cache &= !caller.is_limited(),
            _ => {}
        }
        let about = order.about(self, caller)?;
        let order = order.of_run(&about);
        Ok((about, order))
    }

    /// Carries out an order on this node.
    pub(super) async fn perform(
        &self,
        caller: &Caller,
        order: WorkOrder,
        run: &Arc<LiveRun>,
    ) -> Result<RunRecord, Problem> {
        let engine = self.engine_for(caller);
        let mut telling = Telling(Arc::clone(run));
        let (record, checked) = match order {
            WorkOrder::Ask(ask) => (engine.ask_with(*ask, &mut telling).await?, None),
            WorkOrder::Code(task) => (engine.code_with(*task, &mut telling).await?.record, None),
            // Given code sees no tables, so that limits of the key are none for it.
            WorkOrder::Exec(exec) => (self.engine().exec(*exec, &mut telling).await?.record, None),
            WorkOrder::Check(task) => served(self)?.run(*task, &mut telling).await?,
            WorkOrder::Resume { run, decision, planner, .. } => {
                let ask = Ask { planner: *planner, ..Ask::new("", &caller.id, "http") };
                (engine.resume_run(run.as_str(), decision, ask, &mut telling).await?, None)
            }
            WorkOrder::Scheduled { name, claim, .. } => {
                let checks = served(self)?;
                let all = Schedules::of(checks.workspace())?;
                let Some(scheduled) = all.into_iter().find(|scheduled| scheduled.name == name) else {
                    let message = format!("there is no schedule `{name}` any more");
                    return Err(Problem::unprocessable("unknown_schedule", "/schedule", message));
                };
                let runner = Schedules::new(checks.clone(), self.inner.planner.clone());
                let run_id = Some(run.about.run_id.clone());
                runner.run(scheduled.task, (Some(claim), run_id), &mut telling).await?
            }
        };
        if let Some(checked) = checked {
            self.inner.metrics.checks(&checked.report);
        }
        Ok(record)
    }
}

impl From<Ask> for WorkOrder {
    fn from(ask: Ask) -> Self {
        Self::Ask(Box::new(ask))
    }
}
