//! The kinds of work. What holds for each is in its [terms](crate::terms).

use ordain_planner::Planner;
use ordain_types::{RunId, RunKind, SourceFile, Strategy};
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::code::CodeTask;
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
    /// What an idempotency key stands for: what is asked, and what is to become of it.
    pub(crate) async fn fingerprint(&self) -> String {
        match self {
            Self::Ask(ask) => ask.fingerprint(),
            Self::Code(task) => task.fingerprint().await,
            Self::Exec(exec) => exec.fingerprint().await,
        }
    }
}
