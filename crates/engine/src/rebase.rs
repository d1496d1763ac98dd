//! Approves a held change whose rows have moved on: the same code and params on today's rows.

use ordain_store::{EntryNote, StoreError};
use ordain_types::{BoxFuture, CellDifference, Diff, Rebase, RunKind, RunRecord, RunState, SourceFile};

use crate::ask::Ask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::trial::RunTrial;
use crate::work::Work;

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
            let held = self.store.run(run).await?;
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
            self.ask(ask).await
        })
    }
}

fn not_rebased(held: &RunRecord) -> EngineError {
    EngineError::NotRebased { run: held.run_id.to_string() }
}

impl RunTrial<'_> {
    /// How a change that is made again differs from the one that was held.
    pub(crate) fn rebase(&self, diff: &Diff) -> Option<Rebase> {
        let Work::Ask(Ask { rebases: Some(held), .. }) = self.work else { return None };
        let differences = held.diff.differences(diff);
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
