//! How a transaction ends, and what becomes of its connection.

use std::sync::{Arc, PoisonError};

use tokio_postgres::NoTls;

use super::{CommitLock, FLUSH, Phase, PostgresSession, store_error};
use crate::error::StoreError;
use crate::session::COMMITTING;

impl PostgresSession {
    /// Commits. Who holds the commit lock gives it back before the commit is on the disk, so that the next one need not wait
    /// for that, and many reach the disk at once. The log of the database has an order: a commit is never on the disk without
    /// those before it.
    pub(in crate::session) async fn commit(&mut self) -> Result<(), StoreError> {
        self.phase = Phase::Unknown;
        let end = match self.commit_lock {
            CommitLock::Free => format!("COMMIT; {}", self.unlocking()),
            CommitLock::FromBegin | CommitLock::Late => {
                format!("{COMMITTING}; {}; {FLUSH}", self.unlocking())
            }
        };
        let committing = self.pool.begin_commit();
        let committed = self.client()?.batch_execute(&end).await;
        drop(committing);
        committed.map_err(|error| match store_error(&error) {
            StoreError::Unreachable { .. } | StoreError::Database { .. } | StoreError::DiskFull => {
                StoreError::CommitUnknown { run: String::new() }
            }
            other => other,
        })?;
        self.ended();
        Ok(())
    }

    /// Rolls back. A connection that is lost, or on which a statement still runs, is given up, and the server rolls back.
    pub(in crate::session) async fn roll_back(&mut self) -> Result<(), StoreError> {
        let is_lost = self.kept.as_ref().is_none_or(|kept| kept.client.is_closed());
        if self.busy || is_lost {
            return Ok(());
        }
        self.phase = Phase::Unknown;
        let end = format!("ROLLBACK; {}", self.unlocking());
        self.client()?.batch_execute(&end).await.map_err(|error| store_error(&error))?;
        self.ended();
        Ok(())
    }

    /// Gives back every lock that outlives a transaction.
    fn unlocking(&self) -> &'static str {
        if self.locked { "SELECT pg_advisory_unlock_all()" } else { "" }
    }

    fn ended(&mut self) {
        (self.phase, self.locked, self.commit_lock) = (Phase::Idle, false, CommitLock::Free);
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        let (pool, locked, unlock) = (Arc::clone(&self.pool), self.locked, self.unlocking());
        let place = self.place.take();
        if self.busy {
            // The caller no longer waits for the statement. The server is asked to end it; the connection is closed, and
            // with it the transaction rolled back and the lock given back.
            let token = kept.client.cancel_token();
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move {
                    let _ = match &pool.tls {
                        Some(tls) => token.cancel_query(tls.clone()).await,
                        None => token.cancel_query(NoTls).await,
                    };
                    drop((kept, place));
                });
            }
            return;
        }
        match self.phase {
            Phase::Idle if !locked => pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(kept),
            // An open transaction is rolled back in the background; without a runtime the connection is closed,
            // and the server rolls back.
            Phase::Open | Phase::Idle => {
                let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
                runtime.spawn(async move {
                    let end = format!("ROLLBACK; {unlock}");
                    if kept.client.batch_execute(&end).await.is_ok() {
                        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
                    }
                    drop(place);
                });
            }
            Phase::Unknown => {}
        }
    }
}
