//! What a caller sees of the workspace, and of what others did there.
//!
//! Callers do not meet: runs, their events and files, conversations, sessions and kept plans belong to the key that
//! asked for them. `approve` also sees every run that waits for a decision, with its diff, and those that it decided on;
//! `admin` sees everything. What somebody may not see is as unknown as what is not there. The matrix stands in
//! docs/serve.md and is tried, cell by cell, in `tests/it/http/scopes.rs`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use ordain_engine::Engine;
use ordain_store::{CallerLimits, Owned, RunFilter, SeenBy, Store, StoreError};
use ordain_types::{Diff, RunRecord, RunState};

use super::caller::{Caller, Scope};
use super::live::LiveRun;
use super::problem::Problem;
use super::service::Service;

/// Engines of callers whose keys have limits, by the keys' ids.
#[derive(Debug, Default)]
pub(crate) struct LimitedEngines(Mutex<HashMap<String, (CallerLimits, Engine)>>);

impl Caller {
    /// Whether it sees what others did.
    pub(crate) fn sees_all(&self) -> bool {
        self.may(Scope::Admin)
    }

    /// Whether its key limits what it may see and change.
    pub(crate) fn is_limited(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.limits.is_limited())
    }

    /// Whose runs it sees; everybody's if that is not given.
    pub(crate) fn seen_by(&self) -> Option<SeenBy> {
        let sees_held = self.may(Scope::Approve);
        (!self.sees_all()).then(|| SeenBy { who: self.id.clone(), sees_held })
    }

    /// The one whose things it sees; everybody's if that is not given.
    pub(crate) fn whose(&self) -> Option<&str> {
        (!self.sees_all()).then_some(self.id.as_str())
    }

    /// A name that nobody else can name.
    pub(crate) fn own(&self, name: &str) -> String {
        if self.key.is_some() { format!("{}:{name}", self.id) } else { name.to_owned() }
    }

    /// Refuses a caller whose key limits what it sees, where what it asks for knows no such limits.
    pub(crate) fn must_see_every_table(&self) -> Result<(), Problem> {
        if !self.is_limited() {
            return Ok(());
        }
        let detail = "this key may see a part of the data only, and this route knows no parts";
        Err(Problem::new(StatusCode::FORBIDDEN, "key_limited", detail)
            .hint("make a key without --tables, --hide, --actions and --rows-max for it"))
    }

    fn sees_live(&self, run: &LiveRun) -> bool {
        self.sees_all() || run.about.who == self.id
    }

    fn sees(&self, run: &Owned) -> bool {
        let is_own = |who: &Option<String>| who.as_deref() == Some(self.id.as_str());
        self.sees_all()
            || is_own(&run.who)
            || is_own(&run.decided_by)
            || (run.record.state == RunState::Held && self.may(Scope::Approve))
    }
}

impl Service {
    /// The engine for a caller's work: what the key may not see is not there for it.
    pub(crate) fn engine_for(&self, caller: &Caller) -> Engine {
        let Some(key) = caller.key.as_ref().filter(|_| caller.is_limited()) else {
            return self.engine().clone();
        };
        let mut engines = self.inner.limited.0.lock().unwrap_or_else(PoisonError::into_inner);
        match engines.get(&caller.id) {
            Some((limits, engine)) if *limits == key.limits => engine.clone(),
            _ => {
                let engine = self.engine().limited(key.limits.clone());
                engines.insert(caller.id.clone(), (key.limits.clone(), engine.clone()));
                engine
            }
        }
    }

    /// The store as a caller sees it.
    pub(crate) fn store_for(&self, caller: &Caller) -> Store {
        self.engine_for(caller).store().clone()
    }

    /// The record of a run that the caller may see.
    pub(crate) async fn run_seen_by(&self, caller: &Caller, run: &str) -> Result<RunRecord, Problem> {
        let found = self.engine().store().owned_run(run).await?;
        if caller.sees(&found) { Ok(self.as_seen(caller, found.record)) } else { Err(unknown(run)) }
    }

    /// A record as a caller sees it.
    pub(crate) fn as_seen(&self, caller: &Caller, record: RunRecord) -> RunRecord {
        self.store_for(caller).seen(record)
    }

    /// A record as its asker sees it, whose run another node carried out.
    pub(crate) async fn as_asked(&self, who: &str, record: RunRecord) -> RunRecord {
        match self.inner.keys.find(who).await {
            Ok(None) => record,
            Ok(key) => self.as_seen(&Caller { id: who.to_owned(), key }, record),
            // Without its limits nothing of what it may see is certain.
            Err(_) => RunRecord { diff: Diff::default(), invariants: Vec::new(), rebases: None, ..record },
        }
    }

    /// The records of the runs that a caller sees and that meet a filter, newest first.
    pub(crate) async fn runs_seen_by(
        &self,
        caller: &Caller,
        filter: RunFilter,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let filter = RunFilter { seen_by: caller.seen_by(), ..filter };
        let found = self.engine().store().find_runs(filter).await?;
        Ok(found.into_iter().map(|record| self.as_seen(caller, record)).collect())
    }

    /// A run that goes on, here or on another node, or ended here a moment ago, if the caller asked for it.
    pub(crate) async fn live_seen_by(&self, caller: &Caller, run: &str) -> Option<Arc<LiveRun>> {
        let found = match self.inner.live.find(run) {
            Some(found) => found,
            None => self.find_elsewhere(run).await?,
        };
        caller.sees_live(&found).then_some(found)
    }

    /// The runs that go on, here or on other nodes, and that the caller asked for; the newest first.
    pub(crate) async fn going_on_seen_by(&self, caller: &Caller) -> Result<Vec<Arc<LiveRun>>, StoreError> {
        let mut going_on = self.inner.live.going_on();
        going_on.extend(self.queued_elsewhere().await?);
        going_on.retain(|run| caller.sees_live(run));
        going_on.sort_by(|one, other| other.about.run_id.cmp(&one.about.run_id));
        Ok(going_on)
    }
}

/// The same words as for a run that is not there.
fn unknown(run: &str) -> Problem {
    StoreError::UnknownRun { run: super::requests::shortened(run) }.into()
}
