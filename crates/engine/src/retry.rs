//! The one retry: what is done when another run, the database or an executor gets in the way of an attempt.
//!
//! An attempt is one transaction, or a part of one. It left nothing when it was cut off, so that it can be made again.

use std::time::Duration;

use ordain_cell::CellError;
use ordain_store::StoreError;

use crate::error::EngineError;

/// How often something is attempted, whatever gets in the way.
const TRIES_MAX: u32 = 12;
/// How often it is attempted where the executor is lost each time.
const EXECUTORS_MAX: u32 = 4;
/// How long to wait before the attempt that follows a lost connection to the database: together longer than a restart of
/// the database takes.
const DATABASE_WAITS_MS: [u64; 7] = [0, 200, 500, 1000, 2000, 4000, 8000];

/// What got in the way of an attempt.
#[derive(Debug)]
pub enum Obstacle {
    /// Another run changed the same rows at the same time.
    Conflict,
    /// The connection to the database was lost.
    Database,
    /// The executor was lost.
    Executor(CellError),
}

/// How often attempts of one piece of work have failed so far.
#[derive(Debug, Default)]
pub struct Retry {
    tries: u32,
    database_lost: usize,
    executors_lost: u32,
}

impl Retry {
    /// What got in the way, after the time that it takes to pass; then the attempt may be made again. The error, if it may
    /// not.
    pub async fn after(&mut self, error: EngineError) -> Result<Obstacle, EngineError> {
        let obstacle = match error {
            EngineError::Store(StoreError::Conflict) => Obstacle::Conflict,
            // Nothing was committed: what is not certain of a commit is looked up by the store.
            EngineError::Store(StoreError::Unreachable { .. }) => {
                let Some(wait) = DATABASE_WAITS_MS.get(self.database_lost) else { return Err(error) };
                self.database_lost += 1;
                tokio::time::sleep(Duration::from_millis(*wait)).await;
                Obstacle::Database
            }
            EngineError::Cell(error) => Obstacle::Executor(self.after_lost(error)?),
            error => return Err(error),
        };
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            return Err(EngineError::Contended { tries: TRIES_MAX });
        }
        Ok(obstacle)
    }

    /// The same where nothing but an executor can be lost.
    pub fn after_lost(&mut self, error: CellError) -> Result<CellError, CellError> {
        self.executors_lost += 1;
        if error.may_run_again() && self.executors_lost < EXECUTORS_MAX { Ok(error) } else { Err(error) }
    }
}

/// Makes an attempt until nothing gets in its way.
pub(crate) async fn retry<T, A: Future<Output = Result<T, EngineError>>>(
    attempt: impl Fn() -> A,
) -> Result<T, EngineError> {
    let mut retry = Retry::default();
    loop {
        match attempt().await {
            Err(error) => retry.after(error).await?,
            done => return done,
        };
    }
}
