//! Runs that go on after another one that is committed: what that one gave, results of its calls included, is their
//! input. The steps behind a milestone are such a run, and so is a plan that needs what a call gave.

use std::collections::BTreeMap;
use std::time::Duration;

use ordain_planner::Turn;
use ordain_store::{OutboxState, Outgoing};
use ordain_types::{Call, RunId, RunRecord, RunState, StepRecord, StepState, Strategy, Usage};
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tools::CALLS_MAX;
use crate::work::Origin;

/// The name under which code finds what the earlier run gave, in `inputs`.
const EARLIER: &str = "earlier";
/// Runs before it that are counted.
const RUNS_MAX: usize = 200;
/// As much of it as a planner is shown.
const SHOWN_BYTES_MAX: usize = 8_000;

/// What a run goes on from.
#[derive(Debug, Clone)]
pub struct Continued {
    pub(crate) run: RunId,
    pub(crate) steps: Vec<StepRecord>,
    /// What the runs before have used and changed: limits hold for all runs of a request together.
    pub(crate) used: Used,
    /// What code finds: `answer`, `calls` and the results of `steps`.
    earlier: Value,
    turn: Turn,
}

/// What runs that were committed one after the other have used and changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    pub(crate) usage: Usage,
    pub(crate) dollars: f64,
    pub(crate) took: Duration,
    /// Rows that were changed, by table.
    pub(crate) rows: BTreeMap<String, u64>,
}

impl Used {
    fn add(&mut self, record: &RunRecord) {
        self.usage.model_calls += record.usage.model_calls;
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(record.usage.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(record.usage.output_tokens);
        self.dollars += ordain_planner::cost_of(record).unwrap_or_default();
        self.took += Duration::try_from_secs_f64(record.timing_ms.total / 1e3).unwrap_or_default();
        if record.state == RunState::Committed {
            for (table, part) in &record.diff.tables {
                let rows = part.added.len() + part.changed.len() + part.removed.len();
                *self.rows.entry(table.clone()).or_default() += rows as u64;
            }
        }
    }

    /// Rows of all tables.
    pub(crate) fn rows_together(&self) -> usize {
        usize::try_from(self.rows.values().sum::<u64>()).unwrap_or(usize::MAX)
    }
}

impl Continued {
    /// The run that it goes on from.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// What code finds in `inputs`.
    pub(crate) fn inputs(&self) -> Map<String, Value> {
        Map::from_iter([(EARLIER.to_owned(), self.earlier.clone())])
    }

    /// The earlier run as a planner is shown it.
    pub(crate) fn turn(&self) -> Turn {
        let shown = self.earlier.to_string();
        let shown = &shown[..shown.floor_char_boundary(SHOWN_BYTES_MAX)];
        let answer =
            format!("{}\nThe program finds this in inputs[\"{EARLIER}\"]: {shown}", self.turn.answer);
        Turn { answer, ..self.turn.clone() }
    }
}

impl Engine {
    /// What there is to go on from: a run that is committed, has answered or asked back, and whose calls were sent.
    pub async fn continued(&self, run: &str) -> Result<Continued, EngineError> {
        let record = self.store.run(run).await?;
        if !matches!(record.state, RunState::Committed | RunState::Answered | RunState::Declined) {
            return Err(EngineError::Decision {
                message: format!("run `{}` is {}, so nothing goes on from it", record.run_id, record.state),
                hint: "name a run that is committed, or that has answered or asked back".to_owned(),
            });
        }
        let sent = self.store.outbox(Some(&record.run_id), CALLS_MAX as u64).await?;
        let calls: Result<Vec<Value>, EngineError> =
            record.calls.iter().map(|call| given(call, &sent)).collect();
        let results = record.plan.steps.iter().filter(|step| step.state == StepState::Done);
        let results: Map<String, Value> =
            results.filter_map(|step| Some((step.id.clone(), step.result.clone()?))).collect();
        let earlier = json!({ "answer": record.answer.text, "calls": calls?, "steps": results });
        let whole = record.clone();
        let turn = Turn {
            request: record.request,
            answer: record.answer.text.unwrap_or_default(),
            status: record.status,
            run_id: Some(record.run_id.to_string()),
        };
        let mut used = Used::default();
        used.add(&whole);
        let mut before = whole.continues.clone();
        for _ in 0..RUNS_MAX {
            let Some(run) = before.take() else { break };
            let record = self.store.run(run.as_str()).await?;
            used.add(&record);
            before = record.continues;
        }
        Ok(Continued { run: whole.run_id, steps: whole.plan.steps, used, earlier, turn })
    }

    /// The run that carries out what is left behind a milestone. `None` if nothing is, or if calls have no results yet.
    pub(crate) async fn after_milestone(
        &self,
        ask: &Ask,
        record: &RunRecord,
    ) -> Result<Option<Ask>, EngineError> {
        let is_done =
            matches!(record.state, RunState::Committed | RunState::Answered) && record.error.is_none();
        let is_left = record.plan.steps.iter().any(|step| step.state == StepState::Waiting);
        let Some(outline) = record.plan.outline.clone().filter(|_| is_done && is_left) else {
            return Ok(None);
        };
        self.deliver().await?;
        let continues = match self.continued(record.run_id.as_str()).await {
            Ok(continues) => Some(Box::new(continues)),
            Err(EngineError::Decision { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Ask {
            outline: Some(outline),
            strategy: Strategy::Plan,
            continues,
            resumed: None,
            origin: Origin {
                run_id: None,
                // However often the request is repeated, what is left is carried out once.
                idempotency_key: Some(format!("continues:{}", record.run_id)),
                ..ask.origin.clone()
            },
            ..ask.clone()
        }))
    }
}

/// A call with what it gave.
fn given(call: &Call, sent: &[Outgoing]) -> Result<Value, EngineError> {
    let outgoing = sent.iter().find(|outgoing| outgoing.n == call.n);
    let result = match (&call.result, outgoing) {
        (Some(result), _) => result.clone(),
        (None, Some(Outgoing { state: OutboxState::Sent, result, .. })) => result.clone().unwrap_or_default(),
        (None, outgoing) => {
            let state = outgoing.map_or("not there", |outgoing| outgoing.state.as_str());
            return Err(EngineError::Decision {
                message: format!("the call `{}` has no result: it is {state}", call.name),
                hint: "send it with `ordain tools outbox send`, then go on".to_owned(),
            });
        }
    };
    Ok(json!({ "name": call.name, "arguments": call.arguments, "result": result }))
}
