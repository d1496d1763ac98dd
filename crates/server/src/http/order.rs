//! Work as data: what a caller wants carried out, here or by another node.
//!
//! Every transport turns what it was sent into an [`Order`] and begins it ([`Service::begin`]). [`Service::perform`] is the
//! only place where an order meets the engine, whether this node accepted it or took it from the queue.

mod written;

use std::path::PathBuf;
use std::sync::Arc;

use ordain_cell::InputFile;
use ordain_checks::{CheckTask, Schedules};
use ordain_engine::{Ask, CodeTask, Decision, Engine, Exec, Identity, Origin, Planner};
use ordain_store::QueuedRun;
use ordain_types::{RunKind, RunRecord};
use ordain_workspace::Scheduled;

pub(super) use written::Written;

use super::caller::Caller;
use super::checks::served;
use super::live::{About, LiveRun};
use super::problem::Problem;
use super::service::Service;
use super::telling::Telling;

/// What a caller wants carried out.
#[derive(Debug)]
pub(crate) enum Order {
    /// A request about the tables.
    Ask(Box<Ask>),
    /// A question about files, perhaps as a turn of a conversation.
    Code(Box<CodeTask>, Option<String>),
    /// Given code.
    Exec(Box<Exec>),
    /// Checks of the workspace.
    Check(Box<CheckTask>),
    /// A run that waits, and what a person decided on it.
    Resume { waiting: Box<RunRecord>, decision: Decision, planner: Planner },
    /// Work that is due by the clock, once for its key.
    Scheduled { scheduled: Box<Scheduled>, claim: String },
}

impl Order {
    /// The whole name of the session that it is carried out in.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::Code(task, _) => task.session.as_deref(),
            Self::Exec(exec) => exec.session.as_deref(),
            _ => None,
        }
    }

    /// What an idempotency key stands for.
    pub(super) async fn fingerprint(&self) -> String {
        match self {
            Self::Ask(ask) => ask.fingerprint(),
            Self::Code(task, _) => task.fingerprint().await,
            Self::Exec(exec) => exec.fingerprint().await,
            Self::Check(task) => task.fingerprint(),
            Self::Resume { decision, .. } => Identity::of("resume").with("decision", decision).digest(),
            Self::Scheduled { scheduled, .. } => scheduled.name.clone(),
        }
    }

    /// The files that came with it, by the names that its code sees.
    pub(super) fn files(&self) -> Vec<InputFile> {
        let named = |path: &PathBuf| InputFile {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: path.clone(),
        };
        match self {
            Self::Code(task, _) => task.files.iter().map(named).collect(),
            Self::Exec(exec) => exec.files.clone(),
            _ => Vec::new(),
        }
    }

    /// What its run is about. The id is set here, so that it can be told before the run has ended.
    fn about(&self, service: &Service, caller: &Caller) -> Result<About, Problem> {
        let is_queued = service.inner.options.cluster.is_shared();
        let (kind, request, claim, conversation) = match self {
            Self::Ask(ask) => (
                RunKind::Ask,
                ask.request.as_str(),
                ask.origin.idempotency_key.clone(),
                ask.conversation.clone(),
            ),
            Self::Code(task, conversation) => (
                RunKind::Code,
                task.request.as_str(),
                task.origin.idempotency_key.clone(),
                conversation.clone(),
            ),
            Self::Exec(exec) => {
                (RunKind::Exec, exec.given.name.as_str(), exec.origin.idempotency_key.clone(), None)
            }
            Self::Check(task) => {
                (RunKind::Check, task.request.as_str(), task.origin.idempotency_key.clone(), None)
            }
            Self::Resume { waiting, .. } => {
                // Alone, the engine takes the key when the run goes on.
                let claim = is_queued.then(|| Engine::resume_key(waiting));
                (waiting.kind, waiting.request.as_str(), claim, None)
            }
            Self::Scheduled { scheduled, claim } => {
                (scheduled.task.kind(), scheduled.task.request(), Some(claim.clone()), None)
            }
        };
        let run_id = match self {
            Self::Resume { waiting, .. } => waiting.run_id.clone(),
            _ => service.engine().store().new_run_id()?,
        };
        let claim = claim.or_else(|| is_queued.then(|| QueuedRun::own_claim(&run_id)));
        let (request, who) = (request.to_owned(), caller.id.clone());
        Ok(About { run_id, kind, request, who, claim, conversation, is_queued })
    }

    /// Where it comes from; `None` where the engine knows its id and its key by itself.
    fn origin(&mut self) -> Option<&mut Origin> {
        match self {
            Self::Ask(ask) => Some(&mut ask.origin),
            Self::Code(task, _) => Some(&mut task.origin),
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
    pub(super) fn prepare(&self, caller: &Caller, mut order: Order) -> Result<(About, Order), Problem> {
        // A kept plan was written for somebody who may see more, or less.
        match &mut order {
            Order::Ask(ask) => ask.cache &= !caller.is_limited(),
            Order::Code(task, _) => task.cache &= !caller.is_limited(),
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
        order: Order,
        run: &Arc<LiveRun>,
    ) -> Result<RunRecord, Problem> {
        let engine = self.engine_for(caller);
        let mut telling = Telling(Arc::clone(run));
        let (record, checked) = match order {
            Order::Ask(ask) => (engine.ask_with(*ask, &mut telling).await?, None),
            Order::Code(task, conversation) => {
                let record = engine.code_with(*task, &mut telling).await?.record;
                if let Some(conversation) = conversation {
                    let turn = ordain_engine::turn_of(&record);
                    engine.store().add_turn(&conversation, &turn).await?;
                }
                (record, None)
            }
            // Given code sees no tables, so that limits of the key are none for it.
            Order::Exec(exec) => (self.engine().exec(*exec, &mut telling).await?.record, None),
            Order::Check(task) => served(self)?.run(*task, &mut telling).await?,
            Order::Resume { waiting, decision, planner } => {
                let ask = Ask { planner, ..Ask::new("", &caller.id, "http") };
                let run_id = waiting.run_id.as_str();
                (engine.resume_run(run_id, decision, ask, &mut telling).await?, None)
            }
            Order::Scheduled { scheduled, claim } => {
                let schedules = Schedules::new(served(self)?.clone(), self.inner.planner.clone());
                let run_id = Some(run.about.run_id.clone());
                schedules.run(scheduled.task, (Some(claim), run_id), &mut telling).await?
            }
        };
        if let Some(checked) = checked {
            self.inner.metrics.checks(&checked.report);
        }
        Ok(record)
    }
}

impl From<Ask> for Order {
    fn from(ask: Ask) -> Self {
        Self::Ask(Box::new(ask))
    }
}
