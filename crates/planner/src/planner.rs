//! The planner: one face for the reader and for models.

use ordain_types::{BoxFuture, Diff, ErrorClass, Event, RunError, Trouble};
use serde_json::{Value, json};

use crate::brief::Brief;
use crate::consent::Opinion;
use crate::exchange::{Exchange, Reply, fingerprint};
use crate::model::Model;
use crate::policy_check::PolicyFinding;
use crate::prompt::Reviewed;
use crate::provider::ProviderError;
use crate::{reader, repair};

/// Who writes plans.
#[derive(Debug, Clone, Default)]
pub enum Planner {
    /// The reader: always there, deterministic, without a model.
    #[default]
    Rules,
    /// A model behind a provider.
    Model(Model),
}

/// Takes what happens in a run as it happens, for live display.
pub trait Progress: Send {
    /// Takes one piece of the model's text.
    fn text(&mut self, _piece: &str) {}
    /// Something begins: `planning`, `repairing`, `reviewing` …
    fn stage(&mut self, name: &str);
    /// Something happened in a run of several steps.
    fn event(&mut self, _event: &Event) {}
}

/// Takes progress and shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn stage(&mut self, _name: &str) {}
}

/// What a model says of a step's success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the criterion is met.
    pub holds: bool,
    /// Why, in the model's words.
    pub why: Option<String>,
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

impl From<PlannerError> for RunError {
    fn from(PlannerError { code, message, hint, .. }: PlannerError) -> Self {
        Self { class: ErrorClass::Planner, code: code.to_owned(), message, hint }
    }
}

impl Planner {
    /// The name under which records know it: `rules`, or `provider:model`.
    pub fn name(&self) -> String {
        self.model().unwrap_or_else(|| "rules".to_owned())
    }

    /// The model that writes plans, as `provider:model`; none where the reader alone does.
    pub fn model(&self) -> Option<String> {
        match self {
            Self::Rules => None,
            Self::Model(model) => Some(model.name()),
        }
    }

    /// Whether it can put a plan right when told what was wrong.
    pub fn can_repair(&self) -> bool {
        !matches!(self, Self::Rules)
    }

    /// Opens an exchange about a brief.
    pub fn begin(&self, brief: &Brief) -> Exchange {
        match self {
            Self::Rules => Exchange::default(),
            Self::Model(model) => model.begin(brief),
        }
    }

    /// The next reply: the first plan, or the repaired one after [`Planner::complain`].
    pub fn next<'a>(
        &'a self,
        brief: &'a Brief,
        exchange: &'a mut Exchange,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<Reply, PlannerError>> {
        self.ask(|| Ok(reader::plan(brief)), |model| model.next(brief, exchange, progress))
    }

    /// Tells the exchange what was wrong with the last reply. Gives `false` if the same was wrong before.
    pub fn complain(&self, exchange: &mut Exchange, trouble: &Trouble) -> bool {
        let mark = fingerprint(trouble);
        let is_new = !exchange.troubles.contains(&mark);
        exchange.troubles.push(mark);
        if let Self::Model(_) = self
            && is_new
        {
            Model::complain(exchange, trouble);
        }
        is_new
    }

    /// Whether it gives second opinions of code.
    pub fn reviews(&self) -> bool {
        matches!(self, Self::Model(model) if model.reviews())
    }

    /// Asks a second opinion of code, and of what it did when it was tried, or of an outline: does it do what was asked?
    pub fn review<'a>(
        &'a self,
        brief: &'a Brief,
        what: Reviewed<'a>,
        exchange: &'a mut Exchange,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Opinion> {
        let nobody = || Opinion::Missing("there is no model to give one".to_owned());
        self.ask(nobody, |model| model.review(brief, what, exchange, progress))
    }

    /// Asks for a better sentence in the place of an answer that the rows do not show, and for nothing else: what the run
    /// did is kept. `None` if none is to be had.
    pub fn reword<'a>(
        &'a self,
        (answer, changes): (&'a str, Option<&'a Diff>),
        trouble: &'a Trouble,
        exchange: &'a mut Exchange,
    ) -> BoxFuture<'a, Option<String>> {
        self.ask(|| None, |model| model.reword((answer, changes), trouble, exchange))
    }

    /// Shows the exchange what a look or a step printed, and says how to go on.
    pub fn show(&self, exchange: &mut Exchange, printed: &str, what_now: &str) {
        if let Self::Model(_) = self {
            repair::show(exchange, printed, what_now);
        }
    }

    /// Asks whether what the step of a brief gave meets its criterion.
    pub fn judge<'a>(
        &'a self,
        brief: &'a Brief,
        result: &'a Value,
        exchange: &'a mut Exchange,
    ) -> BoxFuture<'a, Result<Judgement, PlannerError>> {
        self.ask(|| Err(no_model("judge a criterion in words")), |model| model.judge(brief, result, exchange))
    }

    /// Has the text of a step written, from the results of the steps that it needs.
    pub fn write_text<'a>(
        &'a self,
        brief: &'a Brief,
        exchange: &'a mut Exchange,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<String, PlannerError>> {
        self.ask(|| Err(no_model("write a text")), |model| model.write_text(brief, exchange, progress))
    }

    /// What a model says of the policy of a brief, as one who would have to follow it; nothing without a model.
    pub fn read_policy<'a>(
        &'a self,
        brief: &'a Brief,
    ) -> BoxFuture<'a, Result<Vec<PolicyFinding>, PlannerError>> {
        self.ask(|| Ok(Vec::new()), |model| model.read_policy(brief))
    }

    /// Lays out how a check would be judged, before its code is written: `goal`, `tables`, `steps` and more.
    pub fn outline<'a>(
        &'a self,
        brief: &'a Brief,
        exchange: &'a mut Exchange,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<Value, PlannerError>> {
        let by_rules = || {
            let tables: Vec<_> = brief.tables.iter().map(|brief| brief.table.name.as_str()).collect();
            let steps = ["find the rows that break the rule", "count and list them"];
            Ok(json!({ "goal": brief.request, "tables": tables, "steps": steps }))
        };
        self.ask(by_rules, |model| model.outline(brief, exchange, progress))
    }

    /// What the rules say, or what the model will.
    fn ask<'a, T: Send + 'a, F: Future<Output = T> + Send + 'a>(
        &'a self,
        by_rules: impl FnOnce() -> T,
        of_model: impl FnOnce(&'a Model) -> F,
    ) -> BoxFuture<'a, T> {
        match self {
            Self::Rules => Box::pin(std::future::ready(by_rules())),
            Self::Model(model) => Box::pin(of_model(model)),
        }
    }
}

fn no_model(what: &str) -> PlannerError {
    ProviderError::BadReply { message: format!("only a model can {what}") }.into()
}
