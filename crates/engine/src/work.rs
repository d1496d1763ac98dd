//! The kinds of work, and what differs between them: data, not roads of their own.

use ordain_planner::Planner;
use ordain_types::{RunId, RunKind, SourceFile, Strategy};

use crate::ask::{Ask, Mode};
use crate::checks::CheckTask;
use crate::code::{CodeTask, cell_name};
use crate::exec::Exec;

/// One piece of work.
#[derive(Debug)]
pub(crate) enum Work {
    /// A request about the tables.
    Ask(Ask),
    /// A question about files.
    Code(CodeTask),
    /// Given code, without the workspace's tables.
    Exec(Exec),
    /// Standing rules about the tables and the files with data.
    Check(CheckTask),
}

/// What every kind of work has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) kind: RunKind,
    /// What is asked; of given code, its name.
    pub(crate) request: &'a str,
    pub(crate) strategy: Strategy,
    /// The plan, where it is given.
    pub(crate) plan: Option<&'a SourceFile>,
    /// Who writes it otherwise.
    pub(crate) planner: &'a Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub(crate) cache: bool,
    pub(crate) idempotency_key: Option<&'a str>,
    pub(crate) run_id: Option<&'a RunId>,
    pub(crate) who: &'a str,
    pub(crate) through: &'a str,
}

impl Work {
    /// What it has in common with other work.
    pub(crate) fn order(&self) -> Order<'_> {
        match self {
            Self::Ask(ask) => Order {
                kind: RunKind::Ask,
                request: &ask.request,
                strategy: ask.strategy,
                plan: ask.plan.as_ref(),
                planner: &ask.planner,
                cache: ask.cache,
                idempotency_key: ask.idempotency_key.as_deref(),
                run_id: ask.run_id.as_ref(),
                who: &ask.who,
                through: &ask.through,
            },
            Self::Code(task) => Order {
                kind: RunKind::Code,
                request: &task.request,
                strategy: Strategy::Direct,
                plan: task.plan.as_ref(),
                planner: &task.planner,
                cache: task.cache,
                idempotency_key: task.idempotency_key.as_deref(),
                run_id: task.run_id.as_ref(),
                who: &task.who,
                through: &task.through,
            },
            Self::Exec(exec) => Order {
                kind: RunKind::Exec,
                request: &exec.given.name,
                strategy: Strategy::Direct,
                plan: Some(&exec.given),
                planner: &Planner::Rules,
                cache: false,
                idempotency_key: exec.idempotency_key.as_deref(),
                run_id: exec.run_id.as_ref(),
                who: &exec.who,
                through: &exec.through,
            },
            Self::Check(task) => Order {
                kind: RunKind::Check,
                request: &task.request,
                strategy: Strategy::Direct,
                plan: None,
                planner: &task.options.planner,
                cache: !task.options.force,
                idempotency_key: task.idempotency_key.as_deref(),
                run_id: task.run_id.as_ref(),
                who: &task.who,
                through: &task.through,
            },
        }
    }

    /// What becomes of changes; `None` where there can be none.
    pub(crate) fn mode(&self) -> Option<Mode> {
        match self {
            Self::Ask(ask) => Some(ask.mode),
            _ => None,
        }
    }

    /// The cell that is kept from one piece of work to the next.
    pub(crate) fn session(&self) -> Option<String> {
        match self {
            Self::Ask(_) | Self::Check(_) => None,
            Self::Code(task) => task.session.as_deref().map(cell_name),
            Self::Exec(exec) => exec.session.clone(),
        }
    }

    /// Whether what was computed before a failure is kept, also where the settings say so.
    pub(crate) fn allows_partial(&self, by_default: bool) -> bool {
        matches!(self, Self::Code(task) if task.allow_partial || by_default)
    }

    /// What an idempotency key stands for: what is asked, and what is to become of it.
    pub(crate) async fn fingerprint(&self) -> String {
        match self {
            Self::Ask(ask) => ask.fingerprint(),
            Self::Code(task) => task.fingerprint().await,
            Self::Exec(exec) => exec.fingerprint().await,
            Self::Check(task) => task.fingerprint(),
        }
    }
}
