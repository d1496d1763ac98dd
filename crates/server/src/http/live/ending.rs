//! How runs come to their end: by themselves, cancelled, or with a problem; each leaves a record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use ordain_store::{EntryNote, StoreError};
use ordain_types::{CallerName, ErrorClass, RunError, RunKind, RunRecord, RunState};

use super::{Ended, LiveRun, kept_bytes, run_error};
use crate::http::caller::LOCAL;
use crate::http::problem::{
    CELLS_LIMIT, DRAINING, KEY_REUSED, Problem, QUEUE_FULL, REQUEST_TOO_LONG, SESSIONS_LIMIT, STILL_RUNNING,
};
use crate::http::service::Service;

const STOP_TIME_MAX: Duration = Duration::from_secs(10);

impl Service {
    /// Carries out a run to its end, and records it if it came to a problem.
    pub(crate) async fn carry_out(
        &self,
        run: &Arc<LiveRun>,
        work: impl Future<Output = Ended> + Send,
    ) -> Ended {
        let ended = self.try_out(run, work).await;
        if let Err(problem) = &ended {
            // The problem is reported in any case; a store that is not there cannot record it.
            let _ = self.could_not(run, problem).await;
        }
        ended
    }

    /// The same for a run that may be tried again after a problem: that leaves no record.
    pub(crate) async fn try_out(
        &self,
        run: &Arc<LiveRun>,
        work: impl Future<Output = Ended> + Send,
    ) -> Ended {
        // Cells and turns to write go round by key; who calls without one has the machine to itself.
        let key = Some(run.about.who.as_str()).filter(|who| *who != LOCAL).map(CallerName::from);
        let work = ordain_types::of_caller(key, work);
        let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
        let ended = tokio::select! {
            // A run that has ended has ended, also when it was cancelled at the same moment.
            biased;
            ended = &mut work => Some(ended),
            () = run.cancel.notified(), if run.about.kind == RunKind::Check => {
                // Checks have nothing to roll back, and what they found is worth keeping.
                if run.about.is_queued {
                    self.inner.options.cluster.cancel(&run.about.run_id).await;
                } else {
                    run.stop.notify_one();
                }
                tokio::time::timeout(STOP_TIME_MAX, &mut work).await.ok()
            }
            () = run.cancel.notified() => None,
        };
        // What was cancelled ends here: its transaction is rolled back before the run is recorded.
        drop(work);
        match ended {
            Some(Ok(ended)) => ended,
            Some(Err(_panic)) => {
                let error =
                    run_error(ErrorClass::Internal, "internal", "the run failed inside the server", None);
                let recorded = self.cut_short(run, RunState::Failed, error, run.about.claim.clone()).await;
                recorded.map_err(Problem::from)
            }
            None => {
                let hint = "ask again to have it carried out";
                let error = run_error(
                    ErrorClass::Cancelled,
                    "cancelled",
                    "the run was cancelled and rolled back",
                    Some(hint),
                );
                let recorded =
                    self.cut_short(run, RunState::RolledBack, error, run.about.claim.clone()).await;
                self.cancel_elsewhere(run).await;
                recorded.map_err(Problem::from)
            }
        }
    }

    /// Records a run that could not be carried out. What was refused at the door was none.
    pub(crate) async fn could_not(&self, run: &Arc<LiveRun>, problem: &Problem) -> Result<(), StoreError> {
        let is_none = matches!(
            problem.code.as_str(),
            STILL_RUNNING
                | KEY_REUSED
                | REQUEST_TOO_LONG
                | QUEUE_FULL
                | CELLS_LIMIT
                | DRAINING
                | SESSIONS_LIMIT
        );
        if !is_none {
            let error =
                run_error(ErrorClass::Internal, &problem.code, &problem.detail, problem.hint.as_deref());
            let record = self.cut_short(run, RunState::Failed, error, None).await?;
            self.inner.rates.store(&run.about.who, kept_bytes(&record));
        }
        Ok(())
    }

    pub(crate) async fn cut_short(
        &self,
        run: &Arc<LiveRun>,
        state: RunState,
        error: RunError,
        claim: Option<String>,
    ) -> Result<RunRecord, StoreError> {
        let mut record = run.record();
        record.state = state;
        record.error = Some(error);
        let note = EntryNote { claim, ..EntryNote::by(&run.about.who, "http") };
        let store = self.engine().store();
        let recorded = store.record_unless_there(record.clone(), note.clone()).await;
        match recorded {
            // The key was not claimed yet, or not by this run.
            Err(StoreError::KeyHeld { .. }) => {
                store.record_unless_there(record, EntryNote { claim: None, ..note }).await
            }
            recorded => recorded,
        }
    }
}
