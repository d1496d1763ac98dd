//! Records of runs, and what a person may do with them: approve, reject, undo.

mod dangling;
mod except;
mod list;

use std::sync::Arc;

use ordain_types::{Grade, Rating, Receipt, RunId, RunKind, RunRecord, RunState};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use except::leave_out;
pub(crate) use list::altered;
pub use list::{RunFilter, SeenBy};

use crate::Answer;
use crate::apply;
use crate::bookkeeping::own;
use crate::changes::ChangeSet;
use crate::error::{RowConflict, StoreError};
use crate::ledger::{self, EntryNote, Ledger, LedgerEntry, NewEntry};
use crate::options::Clock;
use crate::outbox;
use crate::plans;
use crate::progress;
use crate::row_sums;
use crate::sealed::{self, People};
use crate::session::{Intent, Rows, Session};
use crate::sql::{Datum, Dialect, Sql};
use crate::store::{Inner, Store};
use crate::transaction::Transaction;

/// Ids that a short form may stand for before it counts as unclear.
const MATCHES_MAX: i64 = 2;
/// Characters of an id.
const ID_LENGTH: usize = 26;
/// Characters of the note of a rating.
const RATING_CHARS_MAX: usize = 2000;
/// Runs of one request beyond this many are not looked for.
const REQUEST_RUNS_MAX: usize = 200;

/// A run, who asked for it and who decided on it.
#[derive(Debug, Clone)]
pub struct Owned {
    /// The run.
    pub record: RunRecord,
    /// Who asked.
    pub who: Option<String>,
    /// Who approved, rejected or undid it last.
    pub decided_by: Option<String>,
}

/// Whether an entry of this kind records a decision on a run.
pub(crate) fn is_decision(kind: &str) -> bool {
    matches!(kind, "approve" | "reject" | "undo" | "conflict")
}

/// Writes a record and its entry in a transaction of their own: for runs that changed nothing.
pub(crate) async fn record(
    store: &Arc<Inner>,
    record: RunRecord,
    changes: Option<ChangeSet>,
    note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let session = store.pool.line_up(Intent::Own).await?;
    let inner = Arc::clone(store);
    let work = async move { record_on(session, &inner, record, changes, note).await };
    store.pool.together(Box::pin(work)).await
}

async fn record_on(
    mut session: Session,
    store: &Inner,
    record: RunRecord,
    changes: Option<ChangeSet>,
    note: EntryNote,
) -> Result<RunRecord, StoreError> {
    session.begin(Intent::Own).await?;
    finish(store, session, record.kind.as_str(), record, changes.as_ref(), note).await
}

/// Writes a record and its entry, and commits.
pub(crate) async fn finish(
    store: &Inner,
    mut session: Session,
    kind: &str,
    record: RunRecord,
    changes: Option<&ChangeSet>,
    note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let record = with_receipt(record);
    write(&mut session, &record, changes, kind, &note).await?;
    if record.kind == RunKind::Check && record.state == RunState::Answered {
        // Results go where the owner wants them if and only if the run is recorded.
        outbox::put(&mut session, &record, 0, &store.clock.timestamp()).await?;
    }
    let upkeep = Upkeep { plan: note.plan.clone(), changed: None };
    upkeep.with_run(&mut session, &store.clock).await?;
    let entry = entry(kind, &record, changes, note);
    let checkpoint = store.ledger.append(&mut session, &store.clock, entry).await?;
    let committed = session.commit().await;
    store.settle(committed, &checkpoint, record.run_id.as_str()).await?;
    store.ledger.remember(&checkpoint);
    upkeep.after_run(store).await;
    Ok(record)
}

/// Writes the record of a run that was cut short, unless the run has come to its end after all: that is looked at in
/// the same transaction, so that a commit which was on its way is not overwritten.
pub(crate) async fn record_unless_there(
    store: &Arc<Inner>,
    record: RunRecord,
    note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    progress::forget(&mut session, &record.run_id).await?;
    match find(&store.ledger, &mut session, record.run_id.as_str()).await {
        Ok(there) => {
            session.commit().await?;
            return Ok(there);
        }
        Err(StoreError::UnknownRun { .. }) => {}
        Err(error) => return Err(error),
    }
    let kind = record.kind.as_str();
    finish(store, session, kind, record, None, note).await
}

/// The record with the receipt of its state and diff. Whatever stood there before is not looked at.
pub(crate) fn with_receipt(mut record: RunRecord) -> RunRecord {
    record.receipt = Receipt::of(&record);
    record
}

/// Writes a record over the one that is there, and ends the claim of its run.
pub(crate) async fn write(
    session: &mut Session,
    record: &RunRecord,
    changes: Option<&ChangeSet>,
    kind: &str,
    note: &EntryNote,
) -> Result<(), StoreError> {
    let runs = own(session.dialect(), "runs");
    let json = |error: serde_json::Error| StoreError::Database { message: error.to_string() };
    let text = serde_json::to_string(record).map_err(json)?;
    let changes = changes.map(serde_json::to_string).transpose().map_err(json)?;
    let mut sql = session.sql(&format!(
        "INSERT INTO {runs} (run_id, state, kind, started_at, record, changes, who, decided_by) VALUES ("
    ));
    sql.text_param(record.run_id.as_str());
    for part in [record.state.as_str(), record.kind.as_str(), &record.started_at, &text] {
        sql.push(", ").text_param(part);
    }
    sql.push(", ").bind(changes.map_or(Datum::Null, Datum::Text), "text");
    let who = Datum::Text(note.who.clone());
    let (asked, decided) = if is_decision(kind) { (Datum::Null, who) } else { (who, Datum::Null) };
    sql.push(", ").bind(asked, "text").push(", ").bind(decided, "text");
    sql.push(&format!(
        ") ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, record = excluded.record, \
         changes = excluded.changes, decided_by = coalesce(excluded.decided_by, {runs}.decided_by)"
    ));
    let mut statements = vec![sql];
    statements.extend(finishing(session.dialect(), note, &record.run_id));
    let done = session.write_batch(statements).await?;
    check_claim(note, done.get(1))
}

/// What the ledger says of a run.
pub(crate) fn entry(
    kind: &str,
    record: &RunRecord,
    changes: Option<&ChangeSet>,
    note: EntryNote,
) -> NewEntry {
    // The hash ties the kept changes, which hold hidden columns too, to the entry, which does not.
    let content = json!({ "run": record, "changes_sha256": changes.map(digest) });
    NewEntry { kind: kind.to_owned(), run_id: Some(record.run_id.clone()), note, content }
}

pub(crate) fn digest(changes: &ChangeSet) -> String {
    let value = serde_json::to_value(changes).unwrap_or_default();
    ordain_types::hex(&Sha256::digest(ledger::canonical(&value).as_bytes()))
}

/// Ends the claim of a run: its idempotency key is marked as finished, its place in the queue and its progress go. Fails if
/// another run has taken the key over.
pub(crate) async fn finish_claim(
    session: &mut Session,
    note: &EntryNote,
    run: &RunId,
) -> Result<(), StoreError> {
    let statements = finishing(session.dialect(), note, run);
    let done = session.write_batch(statements).await?;
    check_claim(note, done.first())
}

fn finishing(dialect: Dialect, note: &EntryNote, run: &RunId) -> Vec<Sql> {
    let [claims, queue] = ["claims", "queue"].map(|table| own(dialect, table));
    let mut statements = Vec::new();
    if let Some(claim) = &note.claim {
        let mut sql = Sql::new(dialect, &format!("UPDATE {claims} SET finished = 1 WHERE claim = "));
        // Two nodes may carry out the same run, each for fear that the other is gone; one of them ends it.
        sql.text_param(claim).push(" AND finished = 0 AND run_id = ").text_param(run.as_str());
        sql.push(" RETURNING run_id");
        statements.push(sql);
        let mut sql = Sql::new(dialect, &format!("DELETE FROM {queue} WHERE run_id = "));
        sql.text_param(run.as_str());
        statements.push(sql);
    }
    statements.extend(note.has_progress.then(|| progress::forgetting(dialect, run)));
    statements
}

fn check_claim(note: &EntryNote, finished: Option<&Rows>) -> Result<(), StoreError> {
    if note.claim.is_some() && finished.is_none_or(Vec::is_empty) {
        return Err(StoreError::KeyHeld { run: "another".to_owned() });
    }
    Ok(())
}

/// What every run would write to the same rows: the uses of a kept plan, and the removal of old sums of rows. Where there
/// is one writer at a time it is done with the run, elsewhere after it. If it is lost, plans are forgotten in another order,
/// and old sums stay a little longer.
pub(crate) struct Upkeep {
    pub(crate) plan: Option<String>,
    /// The place of the entry with which rows changed.
    pub(crate) changed: Option<u64>,
}

impl Upkeep {
    fn statements(&self, dialect: Dialect, clock: &Clock) -> Vec<Sql> {
        let used = self.plan.as_deref().map(|plan| plans::used(dialect, plan, &clock.timestamp()));
        let removed = self.changed.and_then(|seq| row_sums::remove_older(dialect, seq));
        used.into_iter().chain(removed).collect()
    }

    pub(crate) async fn with_run(&self, session: &mut Session, clock: &Clock) -> Result<(), StoreError> {
        if session.dialect() == Dialect::Postgres {
            return Ok(());
        }
        session.write_batch(self.statements(Dialect::Sqlite, clock)).await.map(drop)
    }

    pub(crate) async fn after_run(&self, store: &Inner) {
        let statements = self.statements(Dialect::Postgres, &store.clock);
        if !store.pool.has_many_writers() || statements.is_empty() {
            return;
        }
        if let Ok(mut session) = store.pool.session().await {
            let _ = session.write_batch(statements).await;
        }
    }
}

/// The record of a run, by its id or by the beginning of it, if that is unique.
pub(crate) async fn find(ledger: &Ledger, session: &mut Session, run: &str) -> Result<RunRecord, StoreError> {
    let found = stored(session, run).await?;
    sealed::check(ledger, &found.entries, &found.record.run_id, &found.text, None)?;
    Ok(found.record)
}

/// The same, with who asked for it and who decided on it.
pub(crate) async fn owned(ledger: &Ledger, session: &mut Session, run: &str) -> Result<Owned, StoreError> {
    let found = stored(session, run).await?;
    let told = sealed::check(ledger, &found.entries, &found.record.run_id, &found.text, None)?;
    let People { asked_by: who, decided_by } = told.people;
    Ok(Owned { record: found.record, who, decided_by })
}

/// All that is kept of a run.
pub(crate) struct Told {
    pub(crate) record: RunRecord,
    pub(crate) changes: ChangeSet,
    pub(crate) people: People,
    pub(crate) entries: Vec<LedgerEntry>,
}

/// All that is kept of a run, held against the ledger.
pub(crate) async fn told(ledger: &Ledger, session: &mut Session, run: &str) -> Result<Told, StoreError> {
    let Stored { record, text, changes, entries } = stored(session, run).await?;
    let changes = changes.map(|text| serde_json::from_str::<ChangeSet>(&text)).transpose();
    let changes = changes.map_err(|error| StoreError::Database { message: error.to_string() })?;
    let people = sealed::check(ledger, &entries, &record.run_id, &text, changes.as_ref())?.people;
    Ok(Told { record, changes: changes.unwrap_or_default(), people, entries })
}

/// Applies the diff of a held run without the rows that are named `table/key`, if every other row that it touches is
/// still what it was.
pub(crate) async fn approve(
    store: &Arc<Inner>,
    run: &str,
    except: &[String],
    mut note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let (mut transaction, mut record, mut changes) =
        opened(store, run, &[RunState::Held], "approved").await?;
    if !except.is_empty() {
        record.left_out = leave_out(&transaction, &mut changes, except)?;
        note.detail = json!({ "left_out": except, "detail": note.detail });
    }
    let conflicts = apply::apply(&mut transaction, changes, apply::Purpose::Approve).await?;
    if !conflicts.is_empty() {
        transaction.roll_back().await?;
        return Err(conflicted(store, run, conflicts, note).await?);
    }
    let review = transaction.review().await?;
    if !review.violations.is_empty() {
        transaction.roll_back().await?;
        return Err(StoreError::Violated { violations: review.violations });
    }
    record.state = RunState::Committed;
    record.diff = review.diff;
    record.invariants = review.invariants;
    Box::pin(transaction.commit_as("approve", record, note)).await
}

impl Store {
    /// Notes what a person thinks of a run, and why, in the ledger and in the run's record.
    pub fn rate<'a>(
        &'a self,
        run: &'a str,
        grade: Grade,
        why: Option<&'a str>,
        note: EntryNote,
    ) -> Answer<'a, RunRecord> {
        Box::pin(rate(&self.inner, run, grade, why, note))
    }

    /// For each of these held runs, the rows that changed since it saw them, so that it could not be committed as it
    /// stands.
    pub fn conflicts<'a>(&'a self, runs: &'a [RunId]) -> Answer<'a, Vec<Vec<RowConflict>>> {
        Box::pin(async move {
            let (mut found, catalog) = (conflicts(&self.inner, runs).await?, self.catalog());
            for conflict in found.iter_mut().flatten() {
                let RowConflict { table, key, expected, found } = conflict;
                let rows = [Some(key), expected.as_mut(), found.as_mut()].into_iter().flatten();
                rows.for_each(|row| row.fields.retain(|(name, _)| catalog.shows(table, name)));
            }
            Ok(found)
        })
    }
}

async fn conflicts(store: &Arc<Inner>, runs: &[RunId]) -> Result<Vec<Vec<RowConflict>>, StoreError> {
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let mut transaction = Transaction::begin(store, first.clone(), Intent::Read).await?;
    let mut found = Vec::new();
    for run in runs {
        let (_, changes, _) = load(&store.ledger, &mut transaction.session, run.as_str()).await?;
        found.push(apply::conflicts(&mut transaction, changes.unwrap_or_default()).await?);
    }
    transaction.roll_back().await?;
    Ok(found)
}

/// Says no to a run that is held or waits for a person.
pub(crate) async fn reject(store: &Arc<Inner>, run: &str, note: EntryNote) -> Result<RunRecord, StoreError> {
    restate(store, run, "reject", note, |record| {
        must_be(record, &[RunState::Held, RunState::Waiting], "rejected")?;
        record.state = RunState::Rejected;
        Ok(())
    })
    .await
}

/// Writes what a person thinks of a run into its record.
async fn rate(
    store: &Arc<Inner>,
    run: &str,
    grade: Grade,
    why: Option<&str>,
    mut note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let why = why.map(str::trim).filter(|why| !why.is_empty());
    if why.is_some_and(|why| why.chars().count() > RATING_CHARS_MAX) {
        let message = format!("the note of a rating has at most {RATING_CHARS_MAX} characters");
        return Err(StoreError::BadCall { message });
    }
    note.detail = json!({ "rating": grade, "comment": why });
    let rating =
        Rating { grade, note: why.map(str::to_owned), by: note.who.clone(), at: store.clock.timestamp() };
    restate(store, run, "rate", note, |record| {
        record.rating = Some(rating);
        Ok(())
    })
    .await
}

/// Takes back every commit of the request that a run belongs to, the newest first, if every row that they touch is still as
/// they left it; or nothing.
pub(crate) async fn undo(
    store: &Arc<Inner>,
    run: &str,
    purpose: apply::Purpose,
    note: EntryNote,
) -> Result<RunRecord, StoreError> {
    let (mut transaction, record, changes) = opened(store, run, &[RunState::Committed], "undone").await?;
    let mut runs = of_request(store, &mut transaction, record, changes).await?;
    transaction.rules_lifted = true;
    for (_, changes) in &mut runs {
        let inverse = std::mem::take(changes).inverse();
        let conflicts = apply::apply(&mut transaction, inverse, purpose).await?;
        if !conflicts.is_empty() {
            transaction.roll_back().await?;
            return Err(StoreError::RowsConflict { conflicts });
        }
    }
    if let Some(([from, to], count)) = dangling::left_behind(&mut transaction).await? {
        transaction.roll_back().await?;
        let rows = if count == 1 { "a row".to_owned() } else { format!("{count} rows") };
        let message = format!(
            "{rows} of `{}` would name in `{}` what is no longer there; undo or change that first",
            from.table, from.column
        );
        return Err(StoreError::Constraint { table: to.table, message });
    }
    let review = transaction.review().await?;
    if !review.violations.is_empty() {
        transaction.roll_back().await?;
        return Err(StoreError::Violated { violations: review.violations });
    }
    let (mut asked, mut others) = (None, Vec::new());
    for (mut record, _) in runs {
        record.state = RunState::Undone;
        outbox::take_back(&mut transaction.session, &mut record, &store.clock.timestamp()).await?;
        if record.run_id == transaction.run_id {
            asked = Some(record);
        } else {
            others.push(record);
        }
    }
    let mut note = note;
    let with: Vec<&RunId> = others.iter().map(|record| &record.run_id).collect();
    note.detail = json!({ "undone": review.diff, "with": with, "detail": note.detail });
    let asked = asked.ok_or_else(|| StoreError::UnknownRun { run: crate::relation::shortened(run) })?;
    transaction.commit_all("undo", asked, others, note).await
}

/// The committed runs of one request with their changes, the newest first: those that a run goes on from, and those that go
/// on from it, where they were asked for by the same words.
async fn of_request(
    store: &Arc<Inner>,
    transaction: &mut Transaction,
    record: RunRecord,
    changes: ChangeSet,
) -> Result<Vec<(RunRecord, ChangeSet)>, StoreError> {
    let request = record.request.clone();
    let is_same = |other: &RunRecord| other.request == request && other.state == RunState::Committed;
    let mut earlier = record.continues.clone();
    let mut last = record.run_id.clone();
    let mut runs = std::collections::VecDeque::from([(record, changes)]);
    while let Some(run) = earlier.take().filter(|_| runs.len() < REQUEST_RUNS_MAX) {
        let (record, changes, _) = load(&store.ledger, &mut transaction.session, run.as_str()).await?;
        if !is_same(&record) {
            break;
        }
        earlier.clone_from(&record.continues);
        runs.push_back((record, changes.unwrap_or_default()));
    }
    while let Some(next) =
        next_of(&mut transaction.session, &last).await?.filter(|_| runs.len() < REQUEST_RUNS_MAX)
    {
        let (record, changes, _) = load(&store.ledger, &mut transaction.session, next.as_str()).await?;
        if record.continues.as_ref() != Some(&last) || record.request != request {
            break;
        }
        last = record.run_id.clone();
        if is_same(&record) {
            runs.push_front((record, changes.unwrap_or_default()));
        }
    }
    Ok(runs.into())
}

/// The run that goes on from a run: it claimed the key that says so.
async fn next_of(session: &mut Session, run: &RunId) -> Result<Option<RunId>, StoreError> {
    let claims = own(session.dialect(), "claims");
    let mut sql = session.sql(&format!("SELECT run_id FROM {claims} WHERE claim = "));
    sql.text_param(&format!("continues:{run}"));
    let rows = session.read(sql).await?;
    Ok(rows.first().and_then(|row| row[0].as_text()).map(|run| RunId(run.to_owned())))
}

async fn opened(
    store: &Arc<Inner>,
    run: &str,
    wanted: &[RunState],
    operation: &'static str,
) -> Result<(Transaction, RunRecord, ChangeSet), StoreError> {
    let changes = check_ledger_since(store, run).await?;
    let tables = changes.tables.into_keys().collect();
    let run_id = RunId(run.to_owned());
    let mut transaction = Transaction::begin_on(store, run_id, Intent::Write, Some(&tables)).await?;
    let (record, changes, _) = load(&store.ledger, &mut transaction.session, run).await?;
    must_be(&record, wanted, operation)?;
    transaction.run_id = record.run_id.clone();
    Ok((transaction, record, changes.unwrap_or_default()))
}

/// What the ledger says of a run counts only if nothing was taken out of it since. That is looked at first, without
/// keeping others from writing. Gives what the run changed.
async fn check_ledger_since(store: &Arc<Inner>, run: &str) -> Result<ChangeSet, StoreError> {
    let mut session = store.pool.begin(Intent::Read).await?;
    let (_, changes, seq) = load(&store.ledger, &mut session, run).await?;
    store.ledger.check_since(&mut session, seq).await?;
    session.roll_back().await?;
    Ok(changes.unwrap_or_default())
}

fn must_be(record: &RunRecord, wanted: &[RunState], operation: &'static str) -> Result<(), StoreError> {
    if wanted.contains(&record.state) {
        return Ok(());
    }
    Err(StoreError::WrongState { run: record.run_id.to_string(), state: record.state, operation })
}

async fn conflicted(
    store: &Arc<Inner>,
    run: &str,
    conflicts: Vec<RowConflict>,
    mut note: EntryNote,
) -> Result<StoreError, StoreError> {
    note.detail = serde_json::to_value(&conflicts).unwrap_or_default();
    restate(store, run, "conflict", note, |record| {
        must_be(record, &[RunState::Held], "approved")?;
        record.state = RunState::Conflicted;
        Ok(())
    })
    .await?;
    Ok(StoreError::RowsConflict { conflicts })
}

/// Changes the record of a run, and nothing else. It is read and written in one transaction, so that what others decide
/// meanwhile is not overwritten.
async fn restate(
    store: &Arc<Inner>,
    run: &str,
    kind: &str,
    note: EntryNote,
    change: impl FnOnce(&mut RunRecord) -> Result<(), StoreError>,
) -> Result<RunRecord, StoreError> {
    check_ledger_since(store, run).await?;
    let mut session = store.pool.begin(Intent::Own).await?;
    let (mut record, changes, _) = load(&store.ledger, &mut session, run).await?;
    change(&mut record)?;
    finish(store, session, kind, record, changes.as_ref(), note).await
}

/// The record and the kept changes of a run, as its newest ledger entry has them, and the place of that.
async fn load(
    ledger: &Ledger,
    session: &mut Session,
    run: &str,
) -> Result<(RunRecord, Option<ChangeSet>, u64), StoreError> {
    let found = stored(session, run).await?;
    let changes = found.changes.map(|text| serde_json::from_str::<ChangeSet>(&text)).transpose();
    let changes = changes.map_err(|error| StoreError::Database { message: error.to_string() })?;
    let told = sealed::check(ledger, &found.entries, &found.record.run_id, &found.text, changes.as_ref())?;
    Ok((found.record, changes, told.seq))
}

/// A run as the table has it, before it was held against the ledger.
struct Stored {
    record: RunRecord,
    text: String,
    changes: Option<String>,
    /// What the ledger says about it.
    entries: Vec<LedgerEntry>,
}

async fn stored(session: &mut Session, run: &str) -> Result<Stored, StoreError> {
    let unknown = || StoreError::UnknownRun { run: crate::relation::shortened(run) };
    // Ids have these characters only, and `z` is the last of them in every order of text.
    if run.is_empty() || run.len() > ID_LENGTH || !run.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(unknown());
    }
    let runs = own(session.dialect(), "runs");
    let mut sql = session.sql(&format!("SELECT record, changes, run_id FROM {runs} WHERE run_id >= "));
    let first = run.to_ascii_lowercase();
    sql.text_param(&first).push(" AND run_id <= ").text_param(&format!("{first:z<ID_LENGTH$}"));
    sql.push(" ORDER BY run_id LIMIT ");
    sql.integer_param(MATCHES_MAX);
    // Whose id is whole has its entries read on the same way to the server and back.
    let mut statements = vec![sql];
    if first.len() == ID_LENGTH {
        statements.push(ledger::about_run(session, &first));
    }
    let mut read = session.read_all(statements).await?.into_iter();
    let (rows, entries) = (read.next().unwrap_or_default(), read.next());
    let row = match rows.as_slice() {
        [row] => row,
        [] => return Err(unknown()),
        _ => return Err(StoreError::AmbiguousRun { run: crate::relation::shortened(run) }),
    };
    let mut record = parse(&row[0])?;
    // Another run's record in this one's place is held against this one's entry.
    row[2].as_text().unwrap_or_default().clone_into(&mut record.run_id.0);
    let entries = match entries {
        Some(entries) => ledger::decode(entries)?,
        None => ledger::of_runs(session, &[record.run_id.as_str()]).await?.pop().unwrap_or_default(),
    };
    let text = |at: usize| row[at].as_text().map(str::to_owned);
    Ok(Stored { record, text: text(0).unwrap_or_default(), changes: text(1), entries })
}

fn parse(datum: &Datum) -> Result<RunRecord, StoreError> {
    let text = datum.as_text().unwrap_or_default();
    let record = serde_json::from_str(text);
    record.map(with_receipt).map_err(|error| StoreError::Database { message: error.to_string() })
}
