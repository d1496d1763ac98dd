//! A workspace's data: opening it, beginning transactions, and everything a person may ask of it.

mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use ordain_types::{Diff, Reference, RunId, RunRecord, Schema, Table};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Answer;
use crate::access::Access;
use crate::alive::Alive;
use crate::apply::Purpose;
use crate::bookkeeping;
use crate::catalog::Catalog;
use crate::claims::{self, Claim};
use crate::conversations::{self, Conversation, ConversationTurn};
use crate::error::{StoreError, UNWRITABLE};
use crate::ledger::{self, Checkpoint, EntryNote, Ledger, LedgerEntry, LedgerReport, NewEntry};
use crate::options::{Clock, Database, Invariant, StoreLimits, StoreOptions, TableDeclaration};
use crate::plans::{self, CachedPlan, PlanMark};
use crate::progress;
use crate::query::RowWise;
use crate::relation::{ForeignKey, Relation};
use crate::review;
use crate::row_sums;
use crate::runs::{self, Owned};
use crate::schedules::{self, ScheduleMark};
use crate::seed::SeedReader;
use crate::session::{Intent, Pool, Session};
use crate::transaction::Transaction;

/// A workspace's data. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// What the caller may see and change that this one is used for.
    pub(crate) access: Option<Arc<Access>>,
}

/// What transactions share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) pool: Pool,
    pub(crate) ledger: Ledger,
    pub(crate) invariants: Vec<Invariant>,
    pub(crate) references: Vec<[Reference; 2]>,
    /// Which of them look at single rows.
    pub(crate) row_wise: Vec<Option<RowWise>>,
    pub(crate) limits: StoreLimits,
    pub(crate) clock: Clock,
    /// Folder for what is kept outside the database.
    pub(crate) state: PathBuf,
    /// Where the content of files is, if not in the database.
    pub(crate) files: Option<PathBuf>,
    declarations: Vec<TableDeclaration>,
    seeds: Option<Arc<dyn SeedReader>>,
    /// The tables of the database that are used in place; `None`: all.
    only: Option<Vec<String>>,
    /// The tables as they were last read. A transaction compares whether they are the same.
    catalog: RwLock<Seen>,
    /// Says that this process is alive, once it has claimed a key.
    alive: OnceLock<Option<Alive>>,
    /// Counts runs that began again because another one had got in their way.
    pub(crate) started_again: AtomicU64,
    /// Idempotency keys of runs that ended when nothing could be written, to be given back.
    pub(crate) keys_left: Mutex<Vec<(String, RunId)>>,
}

/// The tables as they were read, and what the schema was compared by then.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) version: String,
    pub(crate) catalog: Arc<Catalog>,
}

/// What is known of one table.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct TableInfo {
    /// Its shape and rules.
    #[serde(flatten)]
    pub table: Table,
    /// How many rows it has.
    pub rows: u64,
    /// Indexed column lists.
    pub indexes: Vec<Vec<String>>,
    /// What its columns refer to.
    pub foreign_keys: Vec<ForeignKey>,
    /// How many of its rows one run may touch.
    pub max_rows_changed: Option<u64>,
    /// Whether it was in the database before Ordain came.
    pub in_place: bool,
    /// What an owner should know, such as triggers.
    pub notes: Vec<String>,
}

/// How a transaction begins.
#[derive(Debug, Clone)]
pub struct BeginOptions {
    /// The run that it belongs to.
    pub run_id: RunId,
    /// Whether it is known to write.
    pub intent: Intent,
}

/// What reloading the seeds did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reseeded {
    /// The table.
    pub table: String,
    /// Rows that were there.
    pub removed: u64,
    /// Rows that the seed has.
    pub added: u64,
}

impl Store {
    /// Opens a store. Tables that are declared with a seed and are not there yet are made from it.
    pub fn open(options: StoreOptions) -> Answer<'static, Self> {
        Box::pin(async move {
            tables::check_declarations(&options.tables)?;
            make_state(&options.state)
                .map_err(|error| StoreError::File { message: error.to_string(), hint: UNWRITABLE })?;
            let pool = Pool::new(&options)?;
            bookkeeping::prepare(&pool).await?;
            let ledger = Ledger::open(&options.state, options.checkpoint.as_deref())?;
            if let Some(problem) = ledger.check_end(&mut pool.session().await?).await? {
                if !options.allow_older {
                    return Err(ledger::not_accepted(&problem));
                }
                ledger.refuse(problem);
            }
            let only = match &options.database {
                Database::Postgres { only, .. } => only.clone(),
                Database::Sqlite { .. } => None,
            };
            let inner = Arc::new(Inner {
                pool,
                only,
                ledger,
                state: options.state,
                files: options.files,
                row_wise: options.invariants.iter().map(|rule| RowWise::of(&rule.sql)).collect(),
                invariants: options.invariants,
                references: options.references,
                limits: options.limits,
                clock: options.clock,
                declarations: options.tables,
                seeds: options.seeds,
                catalog: RwLock::default(),
                alive: OnceLock::new(),
                started_again: AtomicU64::default(),
                keys_left: Mutex::default(),
            });
            inner.open_tables().await?;
            if inner.may_write() {
                inner.check_invariants().await?;
                claims::release_dead(&inner).await?;
            }
            Ok(Self { inner, access: None })
        })
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// A new id, for a run that begins now.
    pub fn new_run_id(&self) -> Result<RunId, StoreError> {
        let mut random = [0; 10];
        getrandom::fill(&mut random).map_err(|error| StoreError::Database { message: error.to_string() })?;
        Ok(RunId::from_parts(self.inner.clock.unix_millis(), random))
    }

    /// The time as the store's clock has it, for records.
    pub fn timestamp(&self) -> String {
        self.inner.clock.timestamp()
    }

    /// Looks whether the tables are still those that were last read; [`Self::schema`] gives them afterwards.
    pub fn refresh(&self) -> Answer<'_, ()> {
        Box::pin(self.inner.refresh())
    }

    /// All tables that plans may see, as they were last read.
    pub fn schema(&self) -> Schema {
        self.catalog().schema()
    }

    /// What was decided when a table was made from its file; what concerns a column begins with its name and a colon.
    pub fn seed_notes(&self, table: &str) -> Vec<String> {
        let catalog = self.catalog();
        let relation = catalog.relations().find(|relation| relation.table.name == table);
        relation.map(|relation| relation.seed_notes.clone()).unwrap_or_default()
    }

    /// What is known of each table.
    pub fn tables(&self) -> Answer<'_, Vec<TableInfo>> {
        Box::pin(async move {
            self.refresh().await?;
            let catalog = self.catalog();
            let mut session = self.inner.pool.session().await?;
            let mut tables = Vec::new();
            for relation in catalog.relations() {
                let mut sql = session.sql("SELECT ");
                sql.result("count(*)").push(" FROM ").push(&relation.sql_rows());
                let rows = session.read(sql).await?;
                let rows = rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default();
                tables.push(table_info(relation, u64::try_from(rows).unwrap_or_default()));
            }
            Ok(tables)
        })
    }

    /// Begins a transaction.
    pub fn begin(&self, options: BeginOptions) -> Answer<'_, Transaction> {
        Box::pin(self.begin_limited(options, None))
    }

    /// Begins a transaction that touches these tables. Where others change a schema meanwhile, they wait for these alone;
    /// one that is not among them may be touched too, and costs a look at the schema.
    pub fn begin_on<'a>(
        &'a self,
        options: BeginOptions,
        tables: &'a BTreeSet<String>,
    ) -> Answer<'a, Transaction> {
        Box::pin(self.begin_limited(options, Some(tables)))
    }

    /// Records a run that changed nothing: refused, failed, rolled back, or a dry run.
    pub fn record(&self, record: RunRecord, note: EntryNote) -> Answer<'_, RunRecord> {
        Box::pin(async move { runs::record(&self.inner, record, None, note).await })
    }

    /// Records a run that was cut short, unless it has come to its end after all; then that record is given back.
    pub fn record_unless_there(&self, record: RunRecord, note: EntryNote) -> Answer<'_, RunRecord> {
        Box::pin(async move { runs::record_unless_there(&self.inner, record, note).await })
    }

    /// Keeps what a run of several steps has come to: the record that it has if it is cut short now.
    pub fn keep_progress(&self, record: RunRecord, note: EntryNote) -> Answer<'_, ()> {
        Box::pin(progress::keep(&self.inner, record, note))
    }

    /// Records a run that was cut short as far as it came. `None` if nothing of it was kept.
    pub fn cut_short<'a>(&'a self, run: &'a RunId) -> Answer<'a, Option<RunRecord>> {
        Box::pin(progress::cut_short(&self.inner, run))
    }

    /// Claims an idempotency key for a run, durably, before anything else happens.
    pub fn claim<'a>(&'a self, key: &'a str, run: &'a RunId) -> Answer<'a, Claim> {
        Box::pin(async move { Ok(self.seen_claim(claims::claim(&self.inner, key, None, run).await?)) })
    }

    /// The same, for a caller who says by a fingerprint what is asked: the same key with another one is
    /// [`Claim::Other`].
    pub fn claim_for<'a>(&'a self, key: &'a str, fingerprint: &'a str, run: &'a RunId) -> Answer<'a, Claim> {
        Box::pin(async move {
            Ok(self.seen_claim(claims::claim(&self.inner, key, Some(fingerprint), run).await?))
        })
    }

    fn seen_claim(&self, claim: Claim) -> Claim {
        match claim {
            Claim::Finished(record) => Claim::Finished(Box::new(self.seen(*record))),
            other => other,
        }
    }

    /// The record of the finished run that holds an idempotency key.
    pub fn claimed<'a>(&'a self, key: &'a str) -> Answer<'a, Option<RunRecord>> {
        Box::pin(async move { Ok(claims::finished(&self.inner, key).await?.map(|record| self.seen(record))) })
    }

    /// Gives an idempotency key back, for a run that could not be carried out and may be tried again.
    pub fn release<'a>(&'a self, key: &'a str, run: &'a RunId) -> Answer<'a, ()> {
        Box::pin(async move { claims::release(&self.inner, key, run).await })
    }

    /// The record of a run, by its id or by the beginning of it, if that is unique.
    pub fn run<'a>(&'a self, run: &'a str) -> Answer<'a, RunRecord> {
        Box::pin(
            async move { runs::find(&self.inner.ledger, &mut self.inner.pool.session().await?, run).await },
        )
    }

    /// The record of a run, with who asked for it and who decided on it.
    pub fn owned_run<'a>(&'a self, run: &'a str) -> Answer<'a, Owned> {
        Box::pin(
            async move { runs::owned(&self.inner.ledger, &mut self.inner.pool.session().await?, run).await },
        )
    }

    /// Applies the diff of a held run: the very diff that was shown.
    pub fn approve<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        self.approve_except(run, &[], note)
    }

    /// Applies the diff of a held run without the rows that are named `table/key`.
    pub fn approve_except<'a>(
        &'a self,
        run: &'a str,
        except: &'a [String],
        note: EntryNote,
    ) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::approve(&self.inner, run, except, note).await })
    }

    /// Says no to a held run.
    pub fn reject<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::reject(&self.inner, run, note).await })
    }

    /// Takes back a committed run.
    pub fn undo<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(runs::undo(&self.inner, run, Purpose::Undo, note))
    }

    /// Takes back a committed run as far as its columns go: what rows had in columns that came after it is not restored.
    pub fn undo_rest<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(runs::undo(&self.inner, run, Purpose::UndoRest, note))
    }

    /// Loads the seeds again: all tables that have one, or the named ones.
    pub fn reseed<'a>(&'a self, tables: &'a [String], note: EntryNote) -> Answer<'a, Vec<Reseeded>> {
        Box::pin(async move { self.inner.reseed(tables, note).await })
    }

    /// Entries of the ledger in order, behind `after`.
    pub fn ledger_entries(&self, after: u64, limit: u64) -> Answer<'_, Vec<LedgerEntry>> {
        Box::pin(async move { ledger::entries(&mut self.inner.pool.session().await?, after, limit).await })
    }

    /// Entries of the ledger, newest first, before `before`.
    pub fn newest_entries(&self, before: u64, limit: u64) -> Answer<'_, Vec<LedgerEntry>> {
        Box::pin(async move { ledger::newest(&mut self.inner.pool.session().await?, before, limit).await })
    }

    /// Entries of the ledger about one run, in order.
    pub fn entries_of_run<'a>(&'a self, run: &'a RunId) -> Answer<'a, Vec<LedgerEntry>> {
        Box::pin(async move {
            {
                let found = ledger::of_runs(&mut self.inner.pool.session().await?, &[run.as_str()]).await?;
                Ok(found.into_iter().flatten().collect())
            }
        })
    }

    /// Checks the whole ledger.
    pub fn verify_ledger(&self) -> Answer<'_, LedgerReport> {
        Box::pin(async move { self.inner.ledger.verify(&mut self.inner.pool.session().await?).await })
    }

    /// Keeps verified plans for later runs.
    pub fn keep_plans<'a>(&'a self, plans: &'a [CachedPlan]) -> Answer<'a, ()> {
        Box::pin(async move { plans::keep(&self.inner, plans).await })
    }

    /// Cached plans of a kind, all of them or those for exactly this key; the best one first.
    pub fn find_plans<'a>(&'a self, kind: &'a str, exact: Option<&'a str>) -> Answer<'a, Vec<CachedPlan>> {
        Box::pin(async move {
            let mut session = self.inner.pool.session().await?;
            plans::find(&self.inner.ledger, &mut session, kind, exact).await
        })
    }

    /// Cached plans, pinned ones first, then the last used.
    pub fn plans<'a>(&'a self, kind: Option<&'a str>, limit: u64) -> Answer<'a, Vec<CachedPlan>> {
        self.plans_after(kind, None, None, limit)
    }

    /// The same list from behind a plan that was seen; only those whose run `who` asked for, if that is given.
    pub fn plans_after<'a>(
        &'a self,
        kind: Option<&'a str>,
        who: Option<&'a str>,
        after: Option<&'a PlanMark>,
        limit: u64,
    ) -> Answer<'a, Vec<CachedPlan>> {
        Box::pin(async move {
            let mut session = self.inner.pool.session().await?;
            plans::list(&self.inner.ledger, &mut session, kind, who, after, limit).await
        })
    }

    /// The cached plan of that id, or the only one whose id begins so.
    pub fn plan<'a>(&'a self, id: &'a str) -> Answer<'a, CachedPlan> {
        Box::pin(
            async move { plans::get(&self.inner.ledger, &mut self.inner.pool.session().await?, id).await },
        )
    }

    /// Pins a cached plan, or lets it go.
    pub fn pin_plan<'a>(&'a self, id: &'a str, pinned: bool) -> Answer<'a, CachedPlan> {
        Box::pin(async move { plans::pin(&self.inner, id, pinned).await })
    }

    /// Removes a cached plan.
    pub fn evict_plan<'a>(&'a self, id: &'a str) -> Answer<'a, CachedPlan> {
        Box::pin(async move { plans::evict(&self.inner, id).await })
    }

    /// Notes in the ledger that a rule of a check was changed: its file, and the file's text before and after.
    pub fn note_rule<'a>(
        &'a self,
        file: &'a str,
        before: &'a str,
        after: &'a str,
        note: EntryNote,
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let session = self.inner.pool.begin(Intent::Write).await?;
            let content = json!({ "file": file, "before": before, "after": after });
            self.inner.commit_with_entry(session, "rule", content, note).await
        })
    }

    /// Adds a turn to a conversation.
    pub fn add_turn<'a>(&'a self, conversation: &'a str, turn: &'a ConversationTurn) -> Answer<'a, ()> {
        Box::pin(async move { conversations::add(&self.inner, conversation, turn).await })
    }

    /// The last turns of a conversation, oldest first.
    pub fn turns<'a>(&'a self, conversation: &'a str, limit: u64) -> Answer<'a, Vec<ConversationTurn>> {
        Box::pin(async move {
            conversations::turns(&mut self.inner.pool.session().await?, conversation, limit).await
        })
    }

    /// The conversations, the latest first: those behind the one with this name and time, and those whose names begin
    /// so, where that is given.
    pub fn conversations<'a>(
        &'a self,
        beginnings: &'a [String],
        after: Option<(&'a str, &'a str)>,
        limit: u64,
    ) -> Answer<'a, Vec<Conversation>> {
        Box::pin(async move {
            conversations::list(&mut self.inner.pool.session().await?, beginnings, after, limit).await
        })
    }

    /// How far every schedule has come, by its name.
    pub fn schedule_marks(&self) -> Answer<'_, BTreeMap<String, ScheduleMark>> {
        Box::pin(async move { schedules::marks(&mut self.inner.pool.session().await?).await })
    }

    /// Notes how far a schedule has come. A schedule that is still the same goes back from the
    /// future alone.
    pub fn mark_schedule<'a>(&'a self, name: &'a str, mark: &'a ScheduleMark) -> Answer<'a, ()> {
        Box::pin(async move { schedules::mark(&self.inner, name, mark).await })
    }

    /// Changes whenever rows change through this store, in whatever process; not when a run only reads.
    pub fn data_version(&self) -> Answer<'_, u64> {
        Box::pin(async move { row_sums::version(&mut self.inner.pool.session().await?).await })
    }

    /// How rows changed between two versions: the diff of each run, with the hash of its entry. `None` where that cannot
    /// be told, and for a caller with limits.
    pub fn changes_between(&self, from: u64, to: u64) -> Answer<'_, Option<Vec<(String, Diff)>>> {
        Box::pin(async move {
            if self.access.is_some() {
                return Ok(None);
            }
            row_sums::changes_between(&mut self.inner.pool.session().await?, from, to).await
        })
    }

    /// The place of the newest ledger entry: it grows with every change that goes through this store.
    pub fn newest_seq(&self) -> Answer<'_, u64> {
        Box::pin(async move { ledger::newest_seq(&mut self.inner.pool.session().await?).await })
    }

    /// A seal of the workspace on a text: who sealed it, and the signature.
    pub fn seal(&self, text: &str) -> String {
        self.inner.ledger.seal(text)
    }

    /// The public half of the workspace's key.
    pub fn public_key(&self) -> String {
        self.inner.ledger.public_key()
    }

    /// Signs the newest entry, for the end of an export.
    pub fn checkpoint(&self) -> Answer<'_, Option<Checkpoint>> {
        Box::pin(async move {
            let newest = self.newest_entries(u64::MAX, 1).await?;
            Ok(newest.into_iter().next().map(|entry| self.inner.ledger.sign(entry.seq, entry.hash)))
        })
    }
}

impl Inner {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner).catalog)
    }

    /// Appends an entry that is about no run, and commits.
    pub(crate) async fn commit_with_entry(
        &self,
        mut session: Session,
        kind: &str,
        content: Value,
        note: EntryNote,
    ) -> Result<(), StoreError> {
        let entry = NewEntry { kind: kind.to_owned(), run_id: None, note, content };
        let checkpoint = self.ledger.append(&mut session, &self.clock, entry).await?;
        let committed = session.commit().await;
        self.settle(committed, &checkpoint, "").await?;
        self.ledger.remember(&checkpoint);
        Ok(())
    }

    /// Says what became of a commit whose acknowledgement did not arrive.
    pub(crate) async fn settle(
        &self,
        committed: Result<(), StoreError>,
        checkpoint: &Checkpoint,
        run: &str,
    ) -> Result<(), StoreError> {
        let Err(StoreError::CommitUnknown { .. }) = committed else { return committed };
        for wait_ms in [10, 100, 1000, 5000] {
            tokio::time::sleep(std::time::Duration::from_millis(wait_ms)).await;
            if let Ok(has_arrived) = Box::pin(self.has_arrived(checkpoint)).await {
                return if has_arrived { Ok(()) } else { Err(StoreError::Conflict) };
            }
        }
        Err(StoreError::CommitUnknown { run: run.to_owned() })
    }

    /// Whether an entry is committed. The server may still be at it, so it is looked up under the lock that a commit holds
    /// to its end; and what is found is on the disk before it is told.
    async fn has_arrived(&self, checkpoint: &Checkpoint) -> Result<bool, StoreError> {
        let mut session = self.pool.begin(Intent::Own).await?;
        let entries = ledger::entries(&mut session, checkpoint.seq - 1, 1).await?;
        session.commit().await?;
        Ok(entries.first().is_some_and(|entry| entry.hash == checkpoint.hash))
    }

    /// Whether anything can be written: the ledger's end is the right one, and the medium takes it.
    fn may_write(&self) -> bool {
        self.ledger.refusal().is_none() && !self.pool.is_read_only()
    }

    /// The name under which this process holds idempotency keys.
    pub(crate) fn process(&self) -> Option<&str> {
        let alive = self.alive.get_or_init(|| Alive::begin(&self.state).ok());
        alive.as_ref().map(|alive| alive.id.as_str())
    }

    /// Finds an invariant that cannot be run before a run depends on it.
    async fn check_invariants(&self) -> Result<(), StoreError> {
        if self.invariants.is_empty() {
            return Ok(());
        }
        let mut session = self.pool.begin(Intent::Read).await?;
        let catalog = self.catalog();
        let limits = StoreLimits { query_wall: std::time::Duration::from_mins(1), ..self.limits };
        for invariant in &self.invariants {
            // Nothing but the first row is of interest; broken data is reported by the runs that break it.
            let probe = Invariant {
                name: invariant.name.clone(),
                sql: format!(
                    "SELECT * FROM ({}\n) AS probe LIMIT 0",
                    invariant.sql.trim().trim_end_matches(';')
                ),
            };
            review::invariants(&mut session, &catalog, &[probe], None, &limits).await?;
        }
        session.roll_back().await
    }
}

/// The folder with the data and the key is its owner's alone.
fn make_state(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    if folder.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(folder)?;
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

fn table_info(relation: &Relation, rows: u64) -> TableInfo {
    let mut indexes = relation.indexes.clone();
    if relation.is_kept() && !relation.table.key.is_empty() {
        indexes.insert(0, relation.table.key.clone());
    }
    let mut table = relation.table.clone();
    table.read_only |= relation.read_only_reason.is_some();
    TableInfo {
        table,
        rows,
        indexes,
        foreign_keys: relation.foreign_keys.clone(),
        max_rows_changed: relation.max_rows_changed,
        in_place: !relation.is_kept(),
        notes: [relation.notes.as_slice(), &relation.seed_notes].concat(),
    }
}
