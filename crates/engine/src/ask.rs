//! Carries out one request: find or write a plan, try it in a transaction, record it, keep the plan.

use std::time::Instant;

use ordain_planner::{Brief, Draft, Exchange, Planner, Progress, Quiet, Turn};
use ordain_store::{Claim, ConversationTurn, EntryNote};
use ordain_types::{BoxFuture, PlanSource, RunId, RunRecord, RunState};
use ordain_verify::Policy;

use crate::attempt::{StoreTrial, error_of, is_planners};
use crate::cache::Under;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::fingerprint::hash;
use crate::rounds::{self, Accepted, Ended, Last, Patience, Trial, Tried, millis};

/// The longest request.
const REQUEST_BYTES_MAX: usize = 1 << 20;
/// Turns of a conversation that a planner is shown.
const TURNS_MAX: u64 = 12;
/// Words that refer to what was said before: such a request means something else in another conversation.
const BACKWARD: [&str; 26] = [
    "it", "its", "that", "those", "them", "they", "these", "this", "ones", "same", "instead", "also", "too",
    "more", "another", "again", "yes", "yeah", "ok", "okay", "no", "first", "second", "latter", "former",
    "cheaper",
];

/// One request, and how it is to be carried out.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked, in words.
    pub request: String,
    /// The plan, where the caller gives it.
    pub plan: Option<PlanFile>,
    /// Who writes the plan otherwise.
    pub planner: Planner,
    /// Whether plans are taken from the cache and kept in it.
    pub cache: bool,
    /// The conversation that the request is a turn of.
    pub conversation: Option<String>,
    /// The earlier turns, where the caller keeps them itself. Those of the conversation are then not looked at.
    pub turns: Option<Vec<Turn>>,
    /// What becomes of the changes.
    pub mode: Mode,
    /// Repeating a request with the same key gives the first outcome again.
    pub idempotency_key: Option<String>,
    /// The id that the run is to have, where the caller has told somebody already.
    pub run_id: Option<RunId>,
    /// Who asks.
    pub who: String,
    /// Through what: `cli`, `http` …
    pub through: String,
}

/// A plan that the caller gives.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// The Python.
    pub code: String,
    /// The name of the file, for tracebacks.
    pub name: String,
}

/// What becomes of a plan's changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
            mode: Mode::Commit,
            idempotency_key: None,
            run_id: None,
            who: who.to_owned(),
            through: through.to_owned(),
        }
    }

    /// The same request with the plan for it.
    #[must_use]
    pub fn with_plan(self, code: &str, name: &str) -> Self {
        let plan = PlanFile { code: code.to_owned(), name: name.to_owned() };
        Self { plan: Some(plan), ..self }
    }

    /// What an idempotency key stands for: what is asked, and what is to become of it.
    fn fingerprint(&self) -> String {
        let plan = self.plan.as_ref().map_or("", |plan| plan.code.as_str());
        let conversation = self.conversation.as_deref().unwrap_or_default();
        let turns = self.turns.as_ref().map_or_else(String::new, |turns| format!("\0{turns:?}"));
        hash(&format!("{}\0{plan}\0{conversation}\0{:?}{turns}", self.request, self.mode))
    }
}

impl Engine {
    /// Carries out a request. A refused or failed run has a record too, and a ledger entry.
    pub fn ask(&self, ask: Ask) -> BoxFuture<'_, Result<RunRecord, EngineError>> {
        Box::pin(async move { self.ask_once(ask, &mut Quiet).await })
    }

    /// The same, showing what goes on.
    pub fn ask_with<'a>(
        &'a self,
        ask: Ask,
        progress: &'a mut dyn Progress,
    ) -> BoxFuture<'a, Result<RunRecord, EngineError>> {
        Box::pin(self.ask_once(ask, progress))
    }

    async fn ask_once(&self, ask: Ask, progress: &mut dyn Progress) -> Result<RunRecord, EngineError> {
        if ask.request.len() > REQUEST_BYTES_MAX {
            let bytes = ask.request.len();
            return Err(EngineError::RequestTooLong { bytes, bytes_max: REQUEST_BYTES_MAX });
        }
        let run_id = match &ask.run_id {
            Some(run_id) => run_id.clone(),
            None => self.store.new_run_id()?,
        };
        if let Some(key) = &ask.idempotency_key
            && let Some(record) = self.claim(key, &ask.fingerprint(), &run_id).await?
        {
            return Ok(record);
        }
        // The run is a large future; callers should not have to carry it on their stacks.
        let outcome = Box::pin(self.carry_out(&ask, run_id.clone(), progress)).await;
        let is_over = outcome.as_ref().is_ok_and(|record| !is_planners(record));
        if let (false, Some(key)) = (is_over, &ask.idempotency_key) {
            // Nothing was done, so the key is free for another try.
            let _ = self.store.release(key, &run_id).await;
        }
        if let Err(error) = &outcome {
            let note = EntryNote::by(&ask.who, &ask.through);
            self.record_lost(&run_id, ("ask", &ask.request), note, error).await;
        }
        if let (Ok(record), Some(conversation)) = (&outcome, &ask.conversation) {
            self.store.add_turn(conversation, &turn_of(record)).await?;
        }
        outcome
    }

    /// Claims an idempotency key; gives the record of the run that had it before, if that has finished.
    pub(crate) async fn claim(
        &self,
        key: &str,
        fingerprint: &str,
        run_id: &RunId,
    ) -> Result<Option<RunRecord>, EngineError> {
        match self.store.claim_for(key, fingerprint, run_id).await? {
            Claim::Taken => Ok(None),
            Claim::Finished(record) => Ok(Some(*record)),
            Claim::Running(run) => Err(EngineError::Running { run: run.to_string() }),
            Claim::Other(run) => Err(EngineError::KeyReused { run: run.to_string() }),
        }
    }

    async fn carry_out(
        &self,
        ask: &Ask,
        run_id: RunId,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let started = Instant::now();
        let mut record = RunRecord::new(run_id, "ask", &ask.request);
        record.started_at = self.store.timestamp();
        record.plan.goal = ask.request.chars().take(500).collect();
        let mut trial = StoreTrial {
            engine: self,
            ask,
            policy: Policy::clone(&self.policy),
            schema: self.store.schema(),
            started,
            brief_hash: None,
            plan_id: None,
            params: serde_json::Map::new(),
        };
        if let Some(plan) = &ask.plan {
            let draft = Draft { code: plan.code.clone(), title: plan.name.clone(), ..Draft::default() };
            record.plan.source = PlanSource::File;
            return self.with_code(draft, record, &mut trial).await;
        }
        rounds::signed(&mut record, &ask.planner);
        if ask.request.trim().is_empty() {
            record.state = RunState::Declined;
            record.status = Some("invalid_request".to_owned());
            record.answer.text =
                Some("The request is empty; say what you would like to know or change.".to_owned());
            return trial.write_down(record, &Exchange::default()).await;
        }
        self.with_planner(ask, record, trial, progress).await
    }

    /// Tries the code that the caller gave: nobody can put it right.
    async fn with_code(
        &self,
        draft: Draft,
        mut record: RunRecord,
        trial: &mut StoreTrial<'_>,
    ) -> Result<RunRecord, EngineError> {
        let started = Instant::now();
        let verdict = ordain_verify::verify(&draft.code, trial.policy(), trial.schema());
        record.timing_ms.verify = millis(started);
        rounds::note(&mut record, 1, &draft, &verdict);
        let exchange = Exchange::default();
        let Some(code) = verdict.verified().cloned() else {
            record.state = RunState::Rejected;
            record.error = Some(error_of(&rounds::refused(&verdict.findings)));
            return trial.write_down(record, &exchange).await;
        };
        let accepted = Accepted::plain(code, verdict.effects.clone());
        let last = Last { is_last: true, exchange: &exchange };
        match trial.run(accepted, record, last).await? {
            Tried::Done(record) => Ok(*record),
            Tried::Trouble(trouble, mut record) => {
                record.error = Some(error_of(&trouble));
                trial.write_down(*record, &exchange).await
            }
        }
    }

    async fn with_planner(
        &self,
        ask: &Ask,
        mut record: RunRecord,
        mut trial: StoreTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let planning = Instant::now();
        let turns = self.turns(ask).await?;
        let (brief, brief_hash) = self.brief(&ask.request, turns).await?;
        let key = match &ask.planner {
            Planner::Rules => read_key(&brief, &mut trial),
            Planner::Model(_) => Key::of(&brief),
        };
        trial.brief_hash = Some(brief_hash);
        // A planner is held to the packages that it is told of; a plan from a file may use what is set up.
        trial.policy.packages.clone_from(&brief.packages);
        record.timing_ms.plan = millis(planning);
        let keeps = ask.cache && key.is_usable;
        if keeps {
            let (tried, history) = self.try_kept(key.under(), &ask.planner, &record, &mut trial).await?;
            match tried {
                Some(record) => return Ok(record),
                None => record.verdict.history.extend(history),
            }
        }
        record.timing_ms.plan = millis(planning);
        let patience = Patience { rounds: self.settings.rounds, review: self.settings.review };
        match rounds::rounds(&ask.planner, &brief, record, &mut trial, patience, progress).await? {
            Ended::Done { mut record, accepted, draft } => {
                if keeps && self.is_worth_keeping(&record) {
                    let kept = self.keep(key.under(), &record, &accepted, &draft).await?;
                    record.plan.plan_id = Some(kept);
                }
                Ok(*record)
            }
            Ended::Over { record, exchange } => trial.write_down(*record, &exchange).await,
        }
    }

    /// Whether a plan has shown that it does what was asked.
    fn is_worth_keeping(&self, record: &RunRecord) -> bool {
        let has_ended = matches!(record.state, RunState::Committed | RunState::Answered | RunState::Held)
            || (record.state == RunState::RolledBack && record.error.is_none());
        let is_answer = record.status.as_deref().is_some_and(|status| {
            matches!(status, "success" | "no_match" | "insufficient_stock")
                || self.settings.statuses.iter().any(|own| own == status)
        });
        // A plan whose answer had to be replaced would need it replaced again.
        let is_true =
            !record.verdict.modifications.iter().any(|done| done["what"] == "replaced a false answer");
        has_ended && is_answer && is_true
    }

    async fn turns(&self, ask: &Ask) -> Result<Vec<Turn>, EngineError> {
        if let Some(turns) = &ask.turns {
            let most = usize::try_from(TURNS_MAX).unwrap_or(usize::MAX);
            return Ok(turns[turns.len().saturating_sub(most)..].to_vec());
        }
        let Some(conversation) = &ask.conversation else { return Ok(Vec::new()) };
        let turns = self.store.turns(conversation, TURNS_MAX).await?;
        let shown = turns.into_iter().map(|turn| Turn {
            request: turn.request,
            answer: turn.answer,
            status: turn.status,
            run_id: Some(turn.run_id),
        });
        Ok(shown.collect())
    }
}

/// The key of what the reader reads: requests share a plan if the same code comes of both, with values of their own.
fn read_key(brief: &Brief, trial: &mut StoreTrial<'_>) -> Key {
    let ordain_planner::Reply::Plan(draft) = ordain_planner::reader::plan(brief) else {
        return Key { exact: String::new(), is_usable: false };
    };
    // The first line is the reading in words, which holds the values.
    let code = draft.code.split_once('\n').map_or("", |(_, code)| code);
    trial.params = draft.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
    let is_usable = draft.hold.is_none() && draft.reading.is_some();
    Key { exact: hash(&format!("ask\0read\0{code}")), is_usable }
}

/// What a request is found by in the plan cache: its exact words and signs.
struct Key {
    exact: String,
    /// A request that refers to earlier turns means nothing without them.
    is_usable: bool,
}

impl Key {
    fn under(&self) -> Under<'_> {
        Under { kind: "ask", exact: &self.exact, shape: None }
    }

    fn of(brief: &Brief) -> Self {
        let words = ordain_planner::reader::spoken(&brief.request);
        let refers = words
            .iter()
            .any(|word| BACKWARD.contains(&word.trim_matches(|sign: char| !sign.is_alphanumeric())))
            || words.first().is_some_and(|first| first == "and" || first == "what")
                && words.get(1).is_some_and(|second| second == "about");
        Self {
            exact: hash(&format!("ask\0{}", words.join(" "))),
            is_usable: brief.turns.is_empty() || !refers,
        }
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
