//! The engine and how it is set up.

use std::sync::Arc;

use ordain_cell::Executor;
use ordain_store::Store;
use ordain_types::Limits;

/// When a change waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approval {
    /// Never: a verified change whose invariants hold is committed.
    #[default]
    Auto,
    /// Always.
    Hold,
    /// When it touches more rows than this.
    AboveRows(usize),
}

impl Approval {
    /// Whether a change of so many rows waits.
    pub(crate) fn holds(self, rows: usize) -> bool {
        match self {
            Self::Auto => false,
            Self::Hold => rows > 0,
            Self::AboveRows(limit) => rows > limit,
        }
    }
}

/// What a workspace says about its runs.
#[derive(Debug, Clone, Default)]
pub struct EngineSettings {
    /// When a change waits for a person.
    pub approval: Approval,
    /// What a run may use.
    pub limits: Limits,
    /// Statuses that plans may give besides the five of every workspace.
    pub statuses: Vec<String>,
    /// The source of `helpers.py`.
    pub helpers: String,
}

/// Carries out requests on one workspace's store.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) settings: EngineSettings,
}

impl Engine {
    /// An engine over a store and an executor.
    pub fn new(store: Store, executor: Arc<dyn Executor>, settings: EngineSettings) -> Self {
        Self { store, executor, settings }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}
