//! Runs that could not be carried out leave a record too: also if the executor hung up.

use ordain_cell::CellError;
use ordain_store::EntryNote;
use ordain_types::{ErrorClass, RunError, RunId, RunRecord, RunState};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::work::Order;

impl Engine {
    /// Records a run that ended in an error, unless it has come to its end after all.
    pub(crate) async fn record_lost(&self, run_id: &RunId, order: &Order<'_>, error: &EngineError) {
        let Some((code, message)) = told(error) else { return };
        let mut record = RunRecord::new(run_id.clone(), order.kind, order.request);
        record.started_at = self.store.timestamp();
        record.state = RunState::Failed;
        let class = ErrorClass::Internal;
        record.error = Some(RunError { class, code: code.to_owned(), message, hint: error.hint() });
        // The error is reported in any case; a store that is not there cannot record it.
        let note = EntryNote::by(&order.origin.who, &order.origin.through);
        let _ = self.store.record_unless_there(record, note).await;
    }
}

/// What a record says of an error; nothing of one that was no run. Addresses of executors are the operator's.
fn told(error: &EngineError) -> Option<(&'static str, String)> {
    let said = |text: &str| text.to_owned();
    match error {
        EngineError::Cell(CellError::Busy { .. }) => Some(("cells_busy", error.to_string())),
        EngineError::Cell(CellError::Sessions { .. }) => Some(("sessions_full", error.to_string())),
        EngineError::Cell(CellError::File { .. }) => Some(("bad_file", error.to_string())),
        EngineError::Cell(CellError::Cut { .. } | CellError::SessionLost { .. }) => Some((
            "executor_lost",
            said("the executor was lost before the run had ended; nothing was changed"),
        )),
        EngineError::Cell(CellError::NotOffered { said, .. }) => {
            Some(("not_offered", format!("no executor takes the job: {said}")))
        }
        EngineError::Cell(_) => Some(("no_cell", said("no cell could be had, so no code ran"))),
        EngineError::Store(error) => Some((error.code(), said("the store failed; nothing was changed"))),
        EngineError::Contended { .. } => Some(("contended", error.to_string())),
        EngineError::Running { .. }
        | EngineError::KeyReused { .. }
        | EngineError::Decision { .. }
        | EngineError::RequestTooLong { .. }
        | EngineError::NotRebased { .. }
        | EngineError::Artifacts(_) => None,
    }
}
