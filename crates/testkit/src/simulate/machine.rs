//! Carries out steps on a store.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use ordain_store::{
    BeginOptions, Clock, ColumnDeclaration, EntryNote, Faults, Intent, Store, StoreError, StoreOptions,
    TableDeclaration, Transaction,
};
use ordain_types::{ColumnType, RunId, RunKind, RunRecord};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::checker::{Checker, Place};
use super::faults;
use super::schedule::{Base, Call, End, Fault, Step};
use crate::postgres::Server;

const LOCK_WAIT: Duration = Duration::from_millis(400);
const STOCK: &str = r#"[{"id": "S1", "name": "lamp", "price": 80.5, "n": 23}, {"id": "S2", "name": "chair", "price": 0.1, "n": 10},
    {"id": "S3", "name": "desk", "price": 120.25, "n": 0}]"#;
const ORDERS: &str = r#"[{"id": 1, "item": "S1", "note": {"a": 1}}, {"id": 2, "item": "S2"}]"#;
const TABLES: &str = "
CREATE TABLE stock (id text PRIMARY KEY, name text, price numeric(12,4), n int NOT NULL DEFAULT 0, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE orders (id int PRIMARY KEY, item text REFERENCES stock ON DELETE CASCADE ON UPDATE CASCADE, note jsonb);
CREATE TABLE audit (n int);
INSERT INTO stock VALUES ('S1', 'lamp', 80.5, 23), ('S2', 'chair', 0.1, 10), ('S3', 'desk', 120.25, 0);
INSERT INTO orders VALUES (1, 'S1', '{\"a\": 1}'), (2, 'S2', NULL);";

/// Fails the operation of a number, counted from when it was armed.
#[derive(Debug, Default)]
struct Armed(AtomicU32);

impl Faults for Armed {
    fn strike(&self, _operation: &'static str) -> bool {
        let before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        before == Ok(1)
    }
}

/// A store and all that is around it.
pub(super) struct Machine {
    base: Base,
    folder: TempDir,
    place: Place,
    store: Option<Store>,
    checker: Checker,
    armed: Arc<Armed>,
    /// How many hours the clock is ahead.
    ahead: Arc<AtomicI64>,
    held: Vec<RunId>,
    committed: Vec<RunId>,
    /// Whether the newest commit of ours is the last thing that happened to the tables, so that it can be taken back.
    is_newest: bool,
    /// Whether others have changed the schema: then a run may be refused.
    is_altered: bool,
}

type Told = Result<Option<String>>;

impl Machine {
    pub(super) async fn new(base: Base) -> Result<Self> {
        faults::set(false, 0)?;
        let folder = tempfile::tempdir()?;
        let place = match base {
            Base::Sqlite => Place::File(folder.path().join("store.db")),
            Base::Postgres => {
                let url = Server::shared().fresh_database();
                Server::shared().psql(&url, TABLES);
                Place::Url(url)
            }
        };
        let (armed, ahead) = (Arc::<Armed>::default(), Arc::<AtomicI64>::default());
        let store = open(base, &folder, &place, &armed, &ahead).await?;
        let checker = Checker::new(&place)?;
        let (held, committed) = (Vec::new(), Vec::new());
        let store = Some(store);
        Ok(Self {
            base,
            folder,
            place,
            store,
            checker,
            armed,
            ahead,
            held,
            committed,
            is_newest: false,
            is_altered: false,
        })
    }

    /// Carries out a step; gives what went otherwise than it must.
    pub(super) async fn step(&mut self, step: &Step) -> Told {
        let told = match step {
            Step::Plan(calls, end, fault) => self.plan(calls, *end, *fault).await,
            Step::Two(one, other) => self.two(one, other).await,
            Step::Approve(place, fault) => self.approve(*place, *fault).await,
            Step::Undo(place, fault) => self.undo(*place, *fault).await,
            Step::Outside(item, number) => self.outside(*item, *number).map(|()| None),
            Step::Schema(number) => self.alter(*number).map(|()| None),
            Step::Clock(hours) => {
                self.ahead.fetch_add(*hours, Ordering::SeqCst);
                Ok(None)
            }
            Step::Kill(calls) => self.kill(calls).await.map(|()| None),
            Step::Restart => {
                self.store = None;
                Ok(None)
            }
        }?;
        self.disarm()?;
        if told.is_some() {
            return Ok(told);
        }
        let (difference, committed) = self.checker.follow(&self.place)?;
        if difference.is_some() {
            return Ok(difference);
        }
        // What the ledger says was committed can be taken back, whether or not its client got to know.
        let new = committed.into_iter().map(RunId).filter(|run| !self.committed.contains(run));
        self.committed.extend(new.collect::<Vec<_>>());
        Ok(None)
    }

    async fn store(&mut self) -> Result<Store> {
        if self.store.is_none() {
            self.store = Some(open(self.base, &self.folder, &self.place, &self.armed, &self.ahead).await?);
        }
        self.store.clone().context("a store")
    }

    fn arm(&self, fault: Fault) -> Result<()> {
        match fault {
            Fault::Operation(number) => self.armed.0.store(number, Ordering::SeqCst),
            Fault::FullDisk => faults::set(true, 0)?,
            Fault::Flush => faults::set(false, 1)?,
            Fault::Connection => self.lose_connections(),
            Fault::None => {}
        }
        Ok(())
    }

    fn disarm(&self) -> Result<()> {
        self.armed.0.store(0, Ordering::SeqCst);
        faults::set(false, 0)
    }

    fn lose_connections(&self) {
        if let Place::Url(url) = &self.place {
            let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
            Server::shared().psql(url, sql);
        }
    }

    async fn begin(&mut self) -> Result<Result<Transaction, StoreError>> {
        let store = self.store().await?;
        let run_id = store.new_run_id()?;
        Ok(store.begin(BeginOptions { run_id, intent: Intent::Beside }).await)
    }

    async fn plan(&mut self, calls: &[Call], end: End, fault: Fault) -> Told {
        let mut transaction = match self.begin().await? {
            Ok(transaction) => transaction,
            Err(error) => return Ok(self.judged(&error, fault)),
        };
        let (first, last) = calls.split_at(calls.len() / 2);
        for call in first {
            if let Err(error) = self.call(&mut transaction, call).await? {
                return Ok(self.judged(&error, fault));
            }
        }
        // Half of a plan is done when something goes wrong.
        self.arm(fault)?;
        for call in last {
            if let Err(error) = self.call(&mut transaction, call).await? {
                return Ok(self.judged(&error, fault));
            }
        }
        self.end(transaction, end, fault).await
    }

    async fn end(&mut self, transaction: Transaction, end: End, fault: Fault) -> Told {
        let record = RunRecord::new(transaction.run_id().clone(), RunKind::Ask, "simulated");
        let (run, has_changes) = (record.run_id.clone(), transaction.has_changes());
        let done = match end {
            End::Drop => return Ok(None),
            End::Commit => transaction.commit(record, note()).await,
            End::Hold => transaction.hold(record, note()).await,
        };
        self.disarm()?;
        match done {
            Ok(_) if !has_changes => Ok(None),
            Ok(_) if end == End::Hold => {
                self.held.push(run);
                Ok(None)
            }
            Ok(_) => self.acknowledged(run),
            Err(StoreError::CommitUnknown { .. }) if fault != Fault::None => Ok(None),
            Err(error) => self.refused(&run, &error, fault),
        }
    }

    /// A commit that was acknowledged is in the ledger.
    fn acknowledged(&mut self, run: RunId) -> Told {
        let (difference, committed) = self.checker.follow(&self.place)?;
        if difference.is_some() {
            return Ok(difference);
        }
        let is_there = committed.contains(&run.0);
        self.committed.retain(|other| *other != run);
        self.committed.push(run);
        self.is_newest = true;
        Ok((!is_there).then(|| "a commit was acknowledged that the ledger does not have".to_owned()))
    }

    /// A run that was refused is not in the ledger as one that was committed.
    fn refused(&mut self, run: &RunId, error: &StoreError, fault: Fault) -> Told {
        let (difference, committed) = self.checker.follow(&self.place)?;
        if difference.is_some() {
            return Ok(difference);
        }
        if committed.contains(&run.0) {
            return Ok(Some(format!("a run was committed and its client was told: {error}")));
        }
        Ok(self.judged(error, fault))
    }

    /// What is wrong about an error: without a fault nothing of the store's own may fail.
    fn judged(&self, error: &StoreError, fault: Fault) -> Option<String> {
        let is_expected = error.is_callers()
            || matches!(
                error,
                StoreError::Conflict
                    | StoreError::Busy
                    | StoreError::RowsConflict { .. }
                    | StoreError::Violated { .. }
                    | StoreError::WrongState { .. }
            );
        let by_schema = matches!(
            error,
            StoreError::HiddenWrites { .. } | StoreError::LaterColumn { .. } | StoreError::NotAsShown { .. }
        );
        let is_right = is_expected || fault != Fault::None || (self.is_altered && by_schema);
        (!is_right).then(|| format!("an error without a cause: {} ({error})", error.code()))
    }

    async fn two(&mut self, one: &[Call], other: &[Call]) -> Told {
        let mut first = match self.begin().await? {
            Ok(transaction) => transaction,
            Err(error) => return Ok(self.judged(&error, Fault::None)),
        };
        let mut second = match self.begin().await? {
            Ok(transaction) => transaction,
            // SQLite has one writer at a time.
            Err(error) => return Ok(self.judged(&error, Fault::None)),
        };
        for place in 0..one.len().max(other.len()) {
            for (transaction, calls) in [(&mut first, one), (&mut second, other)] {
                let Some(call) = calls.get(place) else { continue };
                if let Err(error) = self.call(transaction, call).await? {
                    return Ok(self.judged(&error, Fault::None));
                }
            }
        }
        let told = self.end(first, End::Commit, Fault::None).await?;
        if told.is_some() {
            return Ok(told);
        }
        self.end(second, End::Commit, Fault::None).await
    }

    async fn approve(&mut self, place: usize, fault: Fault) -> Told {
        let Some(at) = self.held.len().checked_sub(place + 1) else { return Ok(None) };
        let run = self.held[at].clone();
        let store = self.store().await?;
        self.arm(fault)?;
        let done = store.approve(run.as_str(), note()).await;
        self.disarm()?;
        match done {
            Ok(_) => {
                self.held.remove(at);
                self.acknowledged(run)
            }
            Err(StoreError::CommitUnknown { .. }) if fault != Fault::None => Ok(None),
            Err(error) => {
                if matches!(error, StoreError::RowsConflict { .. }) {
                    self.held.remove(at);
                }
                self.refused(&run, &error, fault)
            }
        }
    }

    async fn undo(&mut self, place: usize, fault: Fault) -> Told {
        let Some(at) = self.committed.len().checked_sub(place + 1) else { return Ok(None) };
        let run = self.committed[at].clone();
        let store = self.store().await?;
        self.arm(fault)?;
        let done = store.undo(run.as_str(), note()).await;
        self.disarm()?;
        let was_newest = place == 0 && std::mem::replace(&mut self.is_newest, false);
        match done {
            Ok(_) | Err(StoreError::WrongState { .. }) => {
                self.committed.remove(at);
                Ok(None)
            }
            Err(error) if was_newest && fault == Fault::None && !self.is_altered => {
                Ok(Some(format!("nothing came in between, and the run cannot be taken back: {error}")))
            }
            Err(error) => Ok(self.judged(&error, fault)),
        }
    }

    /// One call of a plan, or what somebody else does meanwhile. The plan goes on after an error of its own.
    async fn call(&mut self, transaction: &mut Transaction, call: &Call) -> Result<Result<(), StoreError>> {
        let item = |number: u64| format!("S{number}");
        let by = |key: Value| json!({"op": "eq", "path": ["id"], "value": key});
        let stock = |number: u64| by(item(number).into());
        let (operation, args) = match call {
            Call::Outside(number, value) => {
                self.outside(*number, *value)?;
                return Ok(Ok(()));
            }
            Call::Insert(number) => {
                let row = json!({"id": item(*number), "name": "new", "price": 9.75, "n": 1});
                ("insert", json!({"table": "stock", "rows": [row]}))
            }
            Call::InsertNext => {
                let key = match transaction.call("next_id", json!({"table": "stock"})).await {
                    Ok(reply) => reply["key"].clone(),
                    Err(error) if error.is_callers() => return Ok(Ok(())),
                    Err(error) => return Ok(Err(error)),
                };
                let row = json!({"id": key, "name": "next", "price": 0.5, "n": 2});
                ("insert", json!({"table": "stock", "rows": [row]}))
            }
            Call::Order(number, of) => {
                let row = json!({"id": number, "item": item(*of), "note": {"by": number}});
                ("insert", json!({"table": "orders", "rows": [row]}))
            }
            Call::Update(number, value) => {
                let set = json!({"n": value, "price": f64::from(*value) / 8.0});
                ("update", json!({"table": "stock", "where": stock(*number), "set": set}))
            }
            Call::UpdateAll => ("update", json!({"table": "stock", "all": true, "set": {"n": 7}})),
            Call::Rename(from, to) => {
                ("update", json!({"table": "stock", "where": stock(*from), "set": {"id": item(*to)}}))
            }
            Call::Note(number, value) => {
                let set = json!({"note": {"a": value, "b": [1, "x"]}});
                ("update", json!({"table": "orders", "where": by((*number).into()), "set": set}))
            }
            Call::Remove(number) => ("remove", json!({"table": "stock", "where": stock(*number)})),
            Call::RemoveOrder(number) => {
                ("remove", json!({"table": "orders", "where": by((*number).into())}))
            }
            Call::Query => ("query", json!({"sql": "SELECT count(*) AS n FROM stock", "params": []})),
        };
        Ok(match transaction.call(operation, args).await {
            Err(error) if !error.is_callers() => Err(error),
            _ => Ok(()),
        })
    }

    /// Somebody else writes a row, unless it is locked. What is there afterwards counts.
    fn outside(&mut self, item: u64, number: i32) -> Result<()> {
        self.write(&format!("UPDATE stock SET n = {number} WHERE id = 'S{item}'"))?;
        self.is_newest = false;
        Ok(())
    }

    fn write(&mut self, sql: &str) -> Result<()> {
        // What the ledger says so far comes first.
        if let (Some(difference), _) = self.checker.follow(&self.place)? {
            anyhow::bail!("{difference}");
        }
        match &self.place {
            Place::File(path) => {
                let connection = rusqlite::Connection::open(path)?;
                connection.busy_timeout(Duration::ZERO)?;
                let _ = connection.execute_batch(sql);
            }
            Place::Url(url) => {
                let sql = format!("SET lock_timeout = '200ms'; {sql}");
                Server::shared().try_psql(url, &sql);
            }
        }
        self.checker.take(&self.place)
    }

    /// Somebody else changes the schema.
    fn alter(&mut self, number: u64) -> Result<()> {
        let sql = match (self.base, number) {
            (Base::Postgres, 0) => "ALTER TABLE stock ADD COLUMN late text DEFAULT 'late'",
            (Base::Postgres, 1) => "ALTER TABLE stock DROP COLUMN IF EXISTS late",
            (Base::Postgres, 2) => {
                "CREATE OR REPLACE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS
                   $$ BEGIN INSERT INTO orders VALUES (900 + (random() * 90)::int, NULL, NULL) ON CONFLICT DO NOTHING; RETURN NEW; END $$;
                 CREATE TRIGGER noted AFTER UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION noted()"
            }
            (Base::Sqlite, 2) => {
                "CREATE TRIGGER noted AFTER UPDATE ON stock BEGIN UPDATE orders SET note = '{\"x\": 1}' WHERE id = 1; END"
            }
            (Base::Postgres, 3) => "DROP TRIGGER IF EXISTS noted ON stock",
            (Base::Sqlite, 3) => "DROP TRIGGER IF EXISTS noted",
            (_, 4) => "CREATE INDEX IF NOT EXISTS by_number ON stock (n)",
            _ => "DROP INDEX IF EXISTS by_number",
        };
        self.write(sql)?;
        self.is_newest = false;
        self.is_altered = true;
        Ok(())
    }

    /// The process is killed in the middle of a plan: what it has written so far is all that is there.
    async fn kill(&mut self, calls: &[Call]) -> Result<()> {
        let Ok(mut transaction) = self.begin().await? else { return Ok(()) };
        for call in calls {
            if self.call(&mut transaction, call).await?.is_err() {
                return Ok(());
            }
        }
        match self.base {
            Base::Postgres => self.lose_connections(),
            Base::Sqlite => {
                // Another process would find the files like this.
                let folder = tempfile::tempdir()?;
                let copied = Command::new("cp")
                    .arg("-a")
                    .arg(self.folder.path().join("."))
                    .arg(folder.path())
                    .status()?;
                anyhow::ensure!(copied.success(), "cp");
                self.place = Place::File(folder.path().join("store.db"));
                drop(transaction);
                self.store = None;
                self.folder = folder;
                return Ok(());
            }
        }
        drop(transaction);
        self.store = None;
        Ok(())
    }
}

fn note() -> EntryNote {
    EntryNote::by("simulator", "test")
}

async fn open(
    base: Base,
    folder: &TempDir,
    place: &Place,
    armed: &Arc<Armed>,
    ahead: &Arc<AtomicI64>,
) -> Result<Store> {
    let mut options = match place {
        Place::File(_) => StoreOptions::sqlite(folder.path()),
        Place::Url(url) => StoreOptions::postgres(url, folder.path()),
    };
    options.faults = Some(armed.clone());
    options.limits.lock_wait = LOCK_WAIT;
    let (now, ahead) = (Clock::default(), Arc::clone(ahead));
    options.clock = Clock::new(move || {
        let ahead_ms = ahead.load(Ordering::SeqCst) * 3_600_000;
        now.unix_millis().saturating_add_signed(ahead_ms)
    });
    if base == Base::Sqlite {
        let table = |name: &str, rows: &str, columns: &[(&str, ColumnType)]| -> Result<TableDeclaration> {
            let path: PathBuf = folder.path().join(format!("{name}.json"));
            fs_err::write(&path, rows)?;
            let declared = |holds| ColumnDeclaration { column_type: holds, nullable: true };
            Ok(TableDeclaration {
                name: name.to_owned(),
                seed: Some(path),
                key: vec!["id".to_owned()],
                columns: columns.iter().map(|(name, holds)| ((*name).to_owned(), declared(*holds))).collect(),
                ..TableDeclaration::default()
            })
        };
        let stock = [("price", ColumnType::Real), ("n", ColumnType::Integer)];
        options.tables =
            vec![table("stock", STOCK, &stock)?, table("orders", ORDERS, &[("note", ColumnType::Json)])?];
    }
    Ok(Store::open(options).await?)
}
