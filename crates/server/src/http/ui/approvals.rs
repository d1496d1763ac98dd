//! What waits for a person.

use std::collections::BTreeMap;

use axum::response::Response;
use ordain_store::{RowConflict, RunFilter};
use ordain_types::{Row, RunId, RunRecord, RunState, row_name};
use ordain_ui::Place;
use ordain_ui::approvals::{Conflict, Waiting};

use super::counts::changes;
use super::reply;
use super::visit::{Turned, Visit};
use crate::http::caller::Read;

/// Runs that the page shows whole; the others come when these are decided.
const SHOWN_MAX: u64 = 20;

/// The queue.
pub(super) async fn page(visit: Visit<Read>) -> Result<Response, Turned> {
    let service = &visit.service;
    let store = &service.store_for(&visit.caller);
    let filter =
        RunFilter { states: vec![RunState::Held, RunState::Waiting], ..RunFilter::newest(SHOWN_MAX) };
    let known = service.inner.usual_changes.get(store).await?;
    let records = service.runs_seen_by(&visit.caller, filter).await?;
    let held = records.iter().filter(|record| record.state == RunState::Held);
    let held: Vec<RunId> = held.map(|record| record.run_id.clone()).collect();
    let conflicts = store.conflicts(&held).await?;
    let conflicts: BTreeMap<&RunId, _> = held.iter().zip(conflicts).collect();
    let wait = |record: RunRecord| Waiting {
        conflicts: conflicts.get(&record.run_id).into_iter().flatten().map(shown).collect(),
        unheard: changes(&record.diff).difference(&known).cloned().collect(),
        record,
    };
    let mut waiting: Vec<Waiting> = records.into_iter().map(wait).collect();
    waiting.sort_by_key(|one| one.unheard.is_empty());
    let shell = visit.shell(None).await?;
    let content =
        ordain_ui::approvals::page(&waiting, shell.waiting.max(waiting.len() as u64), &visit.viewer);
    Ok(reply::html(visit.headers(), shell.page(Place::Approvals, "Approvals", &content)))
}

/// The cells in which the row that is there differs from the one that the run saw.
pub(super) fn shown(conflict: &RowConflict) -> Conflict {
    let none = Row::default();
    let (expected, found) = (conflict.expected.as_ref(), conflict.found.as_ref());
    let (before, now) = (expected.unwrap_or(&none), found.unwrap_or(&none));
    let differs = |name: &&str| before.get(name) != now.get(name);
    let both = expected.is_some() && found.is_some();
    let names = before.names().filter(differs).filter(|_| both);
    Conflict {
        table: conflict.table.clone(),
        row: row_name(&conflict.key),
        cells: names
            .map(|name| (name.to_owned(), before.get(name).cloned(), now.get(name).cloned()))
            .collect(),
    }
}
