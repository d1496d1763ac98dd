//! A request about the tables: what it says, how it is to be carried out, and the conversation that it is a turn of.

use ordain_cell::Discard;
use ordain_planner::{Planner, Progress, Quiet, Turn, reader};
use ordain_store::ConversationTurn;
use ordain_types::{Outline, RunRecord, SourceFile, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::code::CodeTask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::identity::Identity;
use crate::steps::Continued;
use crate::terms::Terms;
use crate::work::{Origin, Work};

/// Turns of a conversation that a planner is shown.
const TURNS_MAX: u64 = 12;

/// One request, and how it is to be carried out.
///
/// Written down, it is without the planner and what other runs gave: those are found again where it is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// What is asked, in words.
    pub request: String,
    /// The plan, where the caller gives it.
    pub plan: Option<SourceFile>,
    /// Who writes the plan otherwise.
    #[serde(skip)]
    pub planner: Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub cache: bool,
    /// The conversation that the request is a turn of.
    pub conversation: Option<String>,
    /// The earlier turns, where the caller keeps them itself. Those of the conversation are then not looked at.
    pub turns: Option<Vec<Turn>>,
    /// How the plan grows.
    pub strategy: Strategy,
    /// The outline to carry out, where the caller gives it.
    pub outline: Option<Outline>,
    /// Whether the run waits for a person when it has an outline.
    pub show_plan: bool,
    /// The run that goes on, where it has waited for a person.
    #[serde(skip)]
    pub resumed: Option<Box<Resumed>>,
    /// What the run goes on from, where another one was committed before it.
    #[serde(skip)]
    pub continues: Option<Box<Continued>>,
    /// What becomes of the changes.
    pub mode: Mode,
    /// The values that a given plan takes from `params`.
    pub params: Map<String, Value>,
    /// The run whose change is made again on newer rows.
    #[serde(skip)]
    pub rebases: Option<Box<RunRecord>>,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
}

/// A run that waited for a person, and what the person decided.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The run as it waited.
    pub record: RunRecord,
    /// What was decided.
    pub decision: Decision,
}

/// What a person decided about a run that waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on as it stands.
    Approve,
    /// Go on with another outline.
    Edit(Outline),
    /// An answer to the question, or a remark about the outline.
    Respond(String),
}

/// What becomes of a plan's changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They are committed, or wait for approval where the workspace says so.
    #[default]
    Commit,
    /// They wait for approval.
    Hold,
    /// They are shown and rolled back.
    DryRun,
}

impl Ask {
    /// A request that the reader answers.
    pub fn new(request: &str, who: &str, through: &str) -> Self {
        Self {
            request: request.to_owned(),
            plan: None,
            planner: Planner::Rules,
            cache: true,
            conversation: None,
            turns: None,
            strategy: Strategy::Direct,
            outline: None,
            show_plan: false,
            resumed: None,
            continues: None,
            mode: Mode::Commit,
            params: Map::new(),
            rebases: None,
            origin: Origin::new(who, through),
        }
    }

    /// The same request with the plan for it.
    #[must_use]
    pub fn with_plan(self, code: &str, name: &str) -> Self {
        let plan = SourceFile { code: code.to_owned(), name: name.to_owned() };
        Self { plan: Some(plan), ..self }
    }

    /// What an idempotency key stands for: what is asked, and what is to become of it.
    pub fn fingerprint(&self) -> String {
        let plan = self.plan.as_ref().map(|plan| &plan.code);
        let continues = self.continues.as_ref().map(|continued| &continued.run);
        let decision = self.resumed.as_ref().map(|resumed| &resumed.decision);
        Identity::of("ask")
            .with("request", &self.request)
            .with("plan", &plan)
            .with("params", &self.params)
            .with("conversation", &self.conversation)
            .with("turns", &self.turns)
            .with("mode", &self.mode)
            .with("strategy", &self.strategy)
            .with("show_plan", &self.show_plan)
            .with("outline", &self.outline)
            .with("continues", &continues)
            .with("decision", &decision)
            .digest()
    }
}

impl Engine {
    /// Carries out a request. A refused or failed run has a record too, and a ledger entry.
    pub async fn ask(&self, ask: Ask) -> Result<RunRecord, EngineError> {
        self.ask_with(ask, &mut Quiet).await
    }

    /// The same, showing what goes on.
    pub async fn ask_with(&self, ask: Ask, progress: &mut dyn Progress) -> Result<RunRecord, EngineError> {
        if self.store.schema().tables.is_empty() {
            self.store.refresh().await?;
        }
        if let Some(task) = self.as_code(&ask) {
            return Ok(self.carry_out(Work::Code(task), progress, &mut Discard).await?.record);
        }
        let mut record = self.carry_out(Work::Ask(ask.clone()), progress, &mut Discard).await?.record;
        while let Some(next) = self.after_milestone(&ask, &record).await? {
            record = self.carry_out(Work::Ask(next), progress, &mut Discard).await?.record;
        }
        Ok(record)
    }

    /// The same request as a code task, where the strategy is open and no table can be meant: the workspace has none,
    /// or every word is part of a calculation.
    fn as_code(&self, ask: &Ask) -> Option<CodeTask> {
        let is_open = ask.strategy == Strategy::Auto && !ask.show_plan;
        let is_own =
            ask.plan.is_some() || ask.outline.is_some() || ask.resumed.is_some() || ask.continues.is_some();
        if !is_open || is_own || ask.request.trim().is_empty() {
            return None;
        }
        let reason = if self.store.schema().tables.is_empty() && self.policy.tools.is_empty() {
            "the workspace has no tables"
        } else if reader::is_calculation(&ask.request) {
            "every word is part of a calculation"
        } else {
            return None;
        };
        Some(CodeTask {
            planner: ask.planner.clone(),
            cache: ask.cache,
            reason: Some(reason.to_owned()),
            conversation: ask.conversation.clone(),
            origin: ask.origin.clone(),
            ..CodeTask::new(&ask.request, "", "")
        })
    }

    /// The turns before a request.
    pub(crate) async fn turns_before(&self, ask: &Ask) -> Result<Vec<Turn>, EngineError> {
        if let Some(continued) = &ask.continues {
            return Ok(vec![continued.turn()]);
        }
        if let Some(turns) = &ask.turns {
            let most = usize::try_from(TURNS_MAX).unwrap_or(usize::MAX);
            return Ok(turns[turns.len().saturating_sub(most)..].to_vec());
        }
        let Some(conversation) = &ask.conversation else { return Ok(Vec::new()) };
        self.turns_of(conversation, TURNS_MAX).await
    }

    /// The last turns of a conversation, as planners are shown them.
    pub(crate) async fn turns_of(&self, conversation: &str, most: u64) -> Result<Vec<Turn>, EngineError> {
        let turns = self.store.turns(conversation, most).await?;
        let shown = turns.into_iter().map(|turn| Turn {
            request: turn.request,
            answer: turn.answer,
            status: turn.status,
            run_id: Some(turn.run_id),
        });
        Ok(shown.collect())
    }

    /// Remembers a run as a turn of its conversation and its session.
    pub(crate) async fn remember(&self, terms: &Terms<'_>, record: &RunRecord) -> Result<(), EngineError> {
        for turns in terms.conversation.iter().chain(terms.remembered_session()) {
            self.store.add_turn(turns, &turn_of(record)).await?;
        }
        self.sessions().extend(terms.remembered_session().cloned());
        Ok(())
    }
}

/// A run as a turn of a conversation.
pub fn turn_of(record: &RunRecord) -> ConversationTurn {
    let said = record.answer.text.clone();
    let said = said.or_else(|| record.error.as_ref().map(|error| error.message.clone()));
    ConversationTurn {
        seq: 0,
        at: String::new(),
        run_id: record.run_id.to_string(),
        request: record.request.clone(),
        answer: said.unwrap_or_default(),
        status: record.status.clone(),
    }
}
