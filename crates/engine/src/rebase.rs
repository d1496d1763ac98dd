//! Approves a held change whose rows have moved on: the same code and params on today's rows.

use ordain_store::{CallerLimits, EntryNote, StoreError};
use ordain_types::{BoxFuture, Call, CellDifference, Diff, Rebase, RunKind, RunRecord, RunState, SourceFile};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::trial::RunTrial;

impl Engine {
    /// Commits a held change. Where its rows have moved on, its code runs again on the rows of today, as a run of its own;
    /// that is committed if the new diff differs in columns alone which the owner lists as derived, and held otherwise.
    pub fn approve_rebased<'a>(
        &'a self,
        run: &'a str,
        note: EntryNote,
    ) -> BoxFuture<'a, Result<RunRecord, EngineError>> {
        Box::pin(async move {
            let (who, through) = (note.who.clone(), note.through.clone());
            match self.store.approve(run, note).await {
                Err(
                    StoreError::RowsConflict { .. }
                    | StoreError::WrongState { state: RunState::Conflicted, .. },
                ) => {}
                approved => return Ok(approved?),
            }
            // The code is the asker's, so it sees what the asker may see and no more; so does the diff that it is compared with.
            let mut held = self.store.run(run).await?;
            let asker = self.limits_of(&held).await?.map(|limits| self.limited(limits));
            let asker = asker.as_ref().unwrap_or(self);
            held = asker.store.seen(held);
            let [step] = held.plan.steps.as_slice() else { return Err(not_rebased(&held)) };
            if held.kind != RunKind::Ask {
                return Err(not_rebased(&held));
            }
            let plan = SourceFile { code: step.code.clone(), name: "plan.py".to_owned() };
            let mut ask = Ask {
                plan: Some(plan),
                params: held.plan.params.clone(),
                rebases: Some(Box::new(held.clone())),
                ..Ask::new(&held.request, &who, &through)
            };
            // The same change is never made twice, however often it is approved.
            ask.origin.idempotency_key = Some(format!("rebase {}", held.run_id));
            asker.ask(ask).await
        })
    }

    /// The limits of who asked for a run, as its first entry in the ledger has them.
    async fn limits_of(&self, held: &RunRecord) -> Result<Option<CallerLimits>, EngineError> {
        let entries = self.store.entries_of_run(&held.run_id).await?;
        let body = entries.first().and_then(|entry| serde_json::from_str::<Value>(entry.body.get()).ok());
        match body.map(|mut body| body["detail"]["limits"].take()) {
            Some(Value::Null) => Ok(None),
            Some(limits) => serde_json::from_value(limits).map(Some).map_err(|_| not_rebased(held)),
            None => Err(not_rebased(held)),
        }
    }
}

fn not_rebased(held: &RunRecord) -> EngineError {
    EngineError::NotRebased { run: held.run_id.to_string() }
}

impl RunTrial<'_> {
    /// How a change that is made again differs from the one that was held.
    pub(crate) fn rebase(&self, diff: &Diff, calls: &[Call]) -> Option<Rebase> {
        let held = self.terms.ask?.rebases.as_ref()?;
        let mut differences = held.diff.differences(diff);
        differences.extend(calls_differ(&held.calls, calls));
        let is_derived = self.are_derived(&differences);
        Some(Rebase { run: held.run_id.clone(), differences, is_derived })
    }

    /// Whether every difference is in a column that follows from other ones.
    pub(crate) fn are_derived(&self, differences: &[CellDifference]) -> bool {
        let notes = &self.engine.settings.catalog.tables;
        differences.iter().all(|cell| {
            let derived = notes.get(&cell.table).map(|notes| &notes.derived);
            cell.column.as_ref().is_some_and(|column| derived.is_some_and(|derived| derived.contains(column)))
        })
    }
}

/// Where later calls of a change that is made again are others than those that were shown. What was asked on the way does
/// not count: what rests on it is in the rows and in the later calls.
fn calls_differ(was: &[Call], is: &[Call]) -> Vec<CellDifference> {
    let later = |calls: &[Call]| -> Vec<(String, Value)> {
        let later = calls.iter().filter(|call| call.is_later());
        later.map(|call| (call.name.clone(), call.arguments.clone())).collect()
    };
    let (was, is) = (later(was), later(is));
    let differs = |place: &usize| was.get(*place) != is.get(*place);
    let difference = |place: usize| {
        let [was, is] = [was.get(place), is.get(place)];
        CellDifference {
            table: was.or(is).map(|(name, _)| name.clone()).unwrap_or_default(),
            row: format!("call {}", place + 1),
            column: None,
            was: was.map(|(name, arguments)| json!({ "call": name, "arguments": arguments })),
            is: is.map(|(name, arguments)| json!({ "call": name, "arguments": arguments })),
        }
    };
    (0..was.len().max(is.len())).filter(differs).map(difference).collect()
}
