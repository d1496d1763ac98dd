//! The planner: one face for the rule planner and for models.

use crate::brief::Brief;
use crate::exchange::{Exchange, Reply, Trouble};
use crate::rules;

/// Who writes plans.
#[derive(Debug, Clone)]
pub enum Planner {
    /// The rule planner: always there, deterministic, without a model.
    Rules,
}

/// Takes what a model says as it says it, for live display.
pub trait Progress: Send {
    /// Takes one piece of the model's text.
    fn text(&mut self, piece: &str);
    /// Something begins: `planning`, `repairing`, `reviewing` …
    fn stage(&mut self, name: &str);
}

/// Takes progress and shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn text(&mut self, _piece: &str) {}
    fn stage(&mut self, _name: &str) {}
}

/// Why no plan could be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlannerError {
    /// A stable name of the kind of error.
    pub code: &'static str,
    /// What went wrong.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
    /// Whether the same call may succeed a little later.
    pub is_passing: bool,
}

impl Planner {
    /// The name under which records know it: `rules`, or `provider:model`.
    pub fn name(&self) -> String {
        match self {
            Self::Rules => "rules".to_owned(),
        }
    }

    /// Whether it can put a plan right when told what was wrong.
    pub fn can_repair(&self) -> bool {
        !matches!(self, Self::Rules)
    }

    /// Opens an exchange about a brief.
    pub fn begin(&self, brief: &Brief) -> Exchange {
        let _ = brief;
        Exchange::default()
    }

    /// The next reply: the first plan, or the repaired one after [`Planner::complain`].
    pub async fn next(
        &self,
        brief: &Brief,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Reply, PlannerError> {
        let _ = (&exchange, &progress);
        match self {
            Self::Rules => Ok(rules::plan(brief)),
        }
    }

    /// Tells the exchange what was wrong with the last reply. Gives `false` if the same was wrong before.
    pub fn complain(&self, exchange: &mut Exchange, trouble: &Trouble) -> bool {
        let mark = trouble.fingerprint();
        let is_new = !exchange.troubles.contains(&mark);
        exchange.troubles.push(mark);
        is_new
    }

    /// Asks a second opinion of the code: does it do what was asked? `None` if nothing is wrong, or nobody can tell.
    pub async fn review(
        &self,
        brief: &Brief,
        code: &str,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Option<Trouble>, PlannerError> {
        let _ = (brief, code, exchange, progress);
        Ok(None)
    }
}
