//! The kinds of work, and what differs between them: data, not roads of their own.

use ordain_planner::Planner;
use ordain_types::{RunId, RunKind, SourceFile, Strategy};
use serde::{Deserialize, Serialize};

use crate::ask::{Ask, Mode};
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
}

/// Where a piece of work comes from.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Origin {
    /// Repeating work with the same key gives the first outcome again.
    pub idempotency_key: Option<String>,
    /// Whether the run holds its key already: it was accepted under it, and that was just looked up.
    #[serde(skip)]
    pub is_claimed: bool,
    /// The id that the run is to have, where the caller has told somebody already.
    pub run_id: Option<RunId>,
    /// Who asks.
    pub who: String,
    /// Through what: `cli`, `http` …
    pub through: String,
}

impl Origin {
    /// Work that somebody asks for, under no key.
    pub fn new(who: &str, through: &str) -> Self {
        Self { who: who.to_owned(), through: through.to_owned(), ..Self::default() }
    }
}

/// What every kind of work has.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// Its kind.
    pub kind: RunKind,
    /// What is asked; of given code, its name.
    pub request: &'a str,
    /// How it is carried out.
    pub strategy: Strategy,
    /// The plan, where it is given.
    pub plan: Option<&'a SourceFile>,
    /// Who writes it otherwise.
    pub planner: &'a Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub cache: bool,
    /// Where it comes from.
    pub origin: &'a Origin,
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
                origin: &ask.origin,
            },
            Self::Code(task) => Order {
                kind: RunKind::Code,
                request: &task.request,
                strategy: Strategy::Direct,
                plan: task.plan.as_ref(),
                planner: &task.planner,
                cache: task.cache,
                origin: &task.origin,
            },
            Self::Exec(exec) => Order {
                kind: RunKind::Exec,
                request: &exec.given.name,
                strategy: Strategy::Direct,
                plan: Some(&exec.given),
                planner: &Planner::Rules,
                cache: false,
                origin: &exec.origin,
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
            Self::Ask(_) => None,
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
        }
    }
}
