//! A workspace's data: opening it, beginning transactions, and everything a person may ask of it.

use std::sync::{Arc, PoisonError, RwLock};

use ordain_types::{Column, RunId, RunRecord, RunState, Schema, Table};
use serde::Serialize;
use serde_json::json;

use crate::Answer;
use crate::access::Access;
use crate::bookkeeping;
use crate::catalog::{self, Catalog};
use crate::claims::{self, Claim};
use crate::conversations::{self, Conversation, ConversationTurn};
use crate::error::StoreError;
use crate::ledger::{self, Checkpoint, EntryNote, Ledger, LedgerEntry, LedgerReport, NewEntry};
use crate::options::{Clock, Database, Invariant, StoreLimits, StoreOptions, TableDeclaration};
use crate::plans::{self, CachedPlan, PlanMark};
use crate::relation::{ForeignKey, Identity, Relation, Storage};
use crate::review;
use crate::runs::{self, Owned, RunFilter};
use crate::seed::{self, Seed};
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
    pub(crate) limits: StoreLimits,
    pub(crate) clock: Clock,
    declarations: Vec<TableDeclaration>,
    catalog: RwLock<Arc<Catalog>>,
}

/// What is known of one table.
#[derive(Debug, Clone, Serialize)]
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
            check_declarations(&options.tables)?;
            make_state(&options.state)
                .map_err(|error| StoreError::Unreachable { message: error.to_string() })?;
            let pool = Pool::new(&options)?;
            bookkeeping::prepare(&pool).await?;
            let inner = Arc::new(Inner {
                pool,
                ledger: Ledger::open(&options.state)?,
                invariants: options.invariants,
                limits: options.limits,
                clock: options.clock,
                declarations: options.tables,
                catalog: RwLock::default(),
            });
            let only = match options.database {
                Database::Postgres { only, .. } => only,
                Database::Sqlite { .. } => None,
            };
            inner.open_tables(only.as_deref()).await?;
            inner.check_invariants().await?;
            Ok(Self { inner, access: None })
        })
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

    /// All tables that plans may see.
    pub fn schema(&self) -> Schema {
        self.catalog().schema()
    }

    /// What is known of each table.
    pub fn tables(&self) -> Answer<'_, Vec<TableInfo>> {
        Box::pin(async move {
            let catalog = self.catalog();
            let mut session = self.inner.pool.session().await?;
            let mut tables = Vec::new();
            for relation in catalog.relations() {
                let mut sql = session.sql("SELECT ");
                sql.result("count(*)").push(" FROM ").push(&relation.sql_name());
                let rows = session.read(sql).await?;
                let rows = rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default();
                tables.push(table_info(relation, u64::try_from(rows).unwrap_or_default()));
            }
            Ok(tables)
        })
    }

    /// Begins a transaction.
    pub fn begin(&self, options: BeginOptions) -> Answer<'_, Transaction> {
        Box::pin(self.begin_limited(options.run_id, options.intent))
    }

    /// Records a run that changed nothing: refused, failed, rolled back, or a dry run.
    pub fn record(&self, record: RunRecord, note: EntryNote) -> Answer<'_, RunRecord> {
        Box::pin(async move { runs::record(&self.inner, record, None, note).await })
    }

    /// Records a run that was cut short, unless it has come to its end after all; then that record is given back.
    pub fn record_unless_there(&self, record: RunRecord, note: EntryNote) -> Answer<'_, RunRecord> {
        Box::pin(async move { runs::record_unless_there(&self.inner, record, note).await })
    }

    /// Claims an idempotency key for a run, durably, before anything else happens.
    pub fn claim<'a>(&'a self, key: &'a str, run: &'a RunId) -> Answer<'a, Claim> {
        Box::pin(async move { claims::claim(&self.inner, key, None, run).await })
    }

    /// The same, for a caller who says by a fingerprint what is asked: the same key with another one is
    /// [`Claim::Other`].
    pub fn claim_for<'a>(&'a self, key: &'a str, fingerprint: &'a str, run: &'a RunId) -> Answer<'a, Claim> {
        Box::pin(async move { claims::claim(&self.inner, key, Some(fingerprint), run).await })
    }

    /// The record of the finished run that holds an idempotency key.
    pub fn claimed<'a>(&'a self, key: &'a str) -> Answer<'a, Option<RunRecord>> {
        Box::pin(async move { claims::finished(&self.inner, key).await })
    }

    /// Gives an idempotency key back, for a run that could not be carried out and may be tried again.
    pub fn release<'a>(&'a self, key: &'a str, run: &'a RunId) -> Answer<'a, ()> {
        Box::pin(async move { claims::release(&self.inner, key, run).await })
    }

    /// The record of a run, by its id or by the beginning of it, if that is unique.
    pub fn run<'a>(&'a self, run: &'a str) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::find(&mut self.inner.pool.session().await?, run).await })
    }

    /// Records of runs, newest first; `before` continues behind a run.
    pub fn runs<'a>(
        &'a self,
        state: Option<RunState>,
        before: Option<&'a RunId>,
        limit: u64,
    ) -> Answer<'a, Vec<RunRecord>> {
        Box::pin(async move { runs::list(&mut self.inner.pool.session().await?, state, before, limit).await })
    }

    /// The same, of the runs that meet a filter. A page ends early where its records are large.
    pub fn find_runs(&self, filter: RunFilter) -> Answer<'_, Vec<RunRecord>> {
        Box::pin(async move { runs::page(&mut self.inner.pool.session().await?, &filter).await })
    }

    /// The record of a run, with who asked for it and who decided on it.
    pub fn owned_run<'a>(&'a self, run: &'a str) -> Answer<'a, Owned> {
        Box::pin(async move { runs::owned(&mut self.inner.pool.session().await?, run).await })
    }

    /// How many runs are in a state.
    pub fn count_runs(&self, state: RunState) -> Answer<'_, u64> {
        Box::pin(async move { runs::count(&mut self.inner.pool.session().await?, state).await })
    }

    /// Applies the diff of a held run: the very diff that was shown.
    pub fn approve<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::approve(&self.inner, run, note).await })
    }

    /// Says no to a held run.
    pub fn reject<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::reject(&self.inner, run, note).await })
    }

    /// Takes back a committed run.
    pub fn undo<'a>(&'a self, run: &'a str, note: EntryNote) -> Answer<'a, RunRecord> {
        Box::pin(async move { runs::undo(&self.inner, run, note).await })
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
        Box::pin(async move { ledger::of_run(&mut self.inner.pool.session().await?, run).await })
    }

    /// Checks the whole ledger.
    pub fn verify_ledger(&self) -> Answer<'_, LedgerReport> {
        Box::pin(async move { self.inner.ledger.verify(&mut self.inner.pool.session().await?).await })
    }

    /// Keeps a verified plan for later requests.
    pub fn keep_plan<'a>(&'a self, plan: &'a CachedPlan) -> Answer<'a, ()> {
        Box::pin(async move { plans::keep(&self.inner, plan).await })
    }

    /// Cached plans of a kind for exactly this key, or for its shape; the best one first.
    pub fn find_plans<'a>(
        &'a self,
        kind: &'a str,
        exact: &'a str,
        shape: Option<&'a str>,
    ) -> Answer<'a, Vec<CachedPlan>> {
        Box::pin(async move { plans::find(&mut self.inner.pool.session().await?, kind, exact, shape).await })
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
        Box::pin(
            async move { plans::list(&mut self.inner.pool.session().await?, kind, who, after, limit).await },
        )
    }

    /// The cached plan of that id, or the only one whose id begins so.
    pub fn plan<'a>(&'a self, id: &'a str) -> Answer<'a, CachedPlan> {
        Box::pin(async move { plans::get(&mut self.inner.pool.session().await?, id).await })
    }

    /// Pins a cached plan, or lets it go.
    pub fn pin_plan<'a>(&'a self, id: &'a str, pinned: bool) -> Answer<'a, CachedPlan> {
        Box::pin(async move { plans::pin(&self.inner, id, pinned).await })
    }

    /// Removes a cached plan.
    pub fn evict_plan<'a>(&'a self, id: &'a str) -> Answer<'a, CachedPlan> {
        Box::pin(async move { plans::evict(&self.inner, id).await })
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

    /// Changes whenever rows change through this store, in whatever process; not when a run only reads.
    pub fn data_version(&self) -> Answer<'_, u64> {
        Box::pin(async move { bookkeeping::data_version(&mut self.inner.pool.session().await?).await })
    }

    /// The place of the newest ledger entry: it grows with every change that goes through this store.
    pub fn newest_seq(&self) -> Answer<'_, u64> {
        Box::pin(async move { ledger::newest_seq(&mut self.inner.pool.session().await?).await })
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
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says what became of a commit whose acknowledgement did not arrive.
    pub(crate) async fn settle(
        &self,
        committed: Result<(), StoreError>,
        checkpoint: &Checkpoint,
        run: &str,
    ) -> Result<(), StoreError> {
        let Err(StoreError::CommitUnknown { .. }) = committed else { return committed };
        for wait_ms in [10, 100, 1000] {
            tokio::time::sleep(std::time::Duration::from_millis(wait_ms)).await;
            let Ok(mut session) = self.pool.session().await else { continue };
            let Ok(entries) = ledger::entries(&mut session, checkpoint.seq - 1, 1).await else { continue };
            let arrived = entries.first().is_some_and(|entry| entry.hash == checkpoint.hash);
            return if arrived { Ok(()) } else { Err(StoreError::Conflict) };
        }
        Err(StoreError::CommitUnknown { run: run.to_owned() })
    }

    async fn open_tables(&self, only: Option<&[String]>) -> Result<(), StoreError> {
        let mut session = self.pool.session().await?;
        let (mut relations, missing) = self.known_tables(&mut session, only).await?;
        drop(session);
        let unindexed = relations.iter().any(|relation| !self.missing_indexes(relation).is_empty());
        if !missing.is_empty() || unindexed {
            relations = self.make_tables(only).await?;
        }
        // Declared order first, then what else the database has.
        let place = |relation: &Relation| {
            let names = self.declarations.iter().position(|declared| declared.name == relation.table.name);
            names.unwrap_or(usize::MAX)
        };
        relations.sort_by_key(place);
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Catalog::new(relations));
        Ok(())
    }

    /// The tables that are there, with the declared rules, and the declarations of those that are not.
    async fn known_tables(
        &self,
        session: &mut Session,
        only: Option<&[String]>,
    ) -> Result<(Vec<Relation>, Vec<TableDeclaration>), StoreError> {
        let definitions = catalog::definitions(session).await?;
        let kept: Vec<Relation> = definitions.into_iter().map(catalog::Definition::relation).collect();
        let in_place = match session.dialect() {
            crate::sql::Dialect::Sqlite => Vec::new(),
            crate::sql::Dialect::Postgres => catalog::introspect(session).await?,
        };
        let is_kept = |name: &str| kept.iter().any(|relation| relation.table.name == name);
        let mut found: Vec<Relation> =
            in_place.into_iter().filter(|relation| !is_kept(&relation.table.name)).collect();
        if let Some(only) = only {
            found.retain(|relation| {
                only.contains(&relation.table.name) || self.declaration(&relation.table.name).is_some()
            });
        }
        let declared = kept.into_iter().filter(|relation| self.declaration(&relation.table.name).is_some());
        let (mut relations, mut missing) = (Vec::new(), Vec::new());
        for relation in declared.chain(found) {
            relations.push(self.with_rules(relation)?);
        }
        for declaration in &self.declarations {
            if !relations.iter().any(|relation| relation.table.name == declaration.name) {
                missing.push(declaration.clone());
            }
        }
        Ok((relations, missing))
    }

    fn with_rules(&self, mut relation: Relation) -> Result<Relation, StoreError> {
        let Some(declaration) = self.declaration(&relation.table.name) else { return Ok(relation) };
        if relation.is_kept() {
            catalog::check_unchanged(&relation, declaration)?;
        } else {
            if !declaration.key.is_empty() && declaration.key != relation.table.key {
                return Err(StoreError::Declaration {
                    what: format!("table `{}`", declaration.name),
                    message: format!("its primary key is ({})", relation.table.key.join(", ")),
                    hint: Some("leave `key` out for a table that is used in place".to_owned()),
                });
            }
            if declaration.seed.is_some() {
                relation.notes.push("it was there before, so its seed is not used".to_owned());
            }
            if declaration.accept_triggers && !relation.table.key.is_empty() {
                relation.read_only_reason = None;
            }
        }
        catalog::apply_rules(&mut relation, declaration)?;
        Ok(relation)
    }

    fn declaration(&self, table: &str) -> Option<&TableDeclaration> {
        self.declarations.iter().find(|declaration| declaration.name == table)
    }

    fn missing_indexes(&self, relation: &Relation) -> Vec<Vec<String>> {
        let Some(declaration) = self.declaration(&relation.table.name) else { return Vec::new() };
        if !relation.is_kept() {
            return Vec::new();
        }
        let mut wanted = catalog::wanted_indexes(relation, declaration, &self.invariants);
        wanted.retain(|columns| !relation.indexes.contains(columns));
        wanted
    }

    /// Makes missing tables and indexes, in one transaction with their ledger entry.
    async fn make_tables(&self, only: Option<&[String]>) -> Result<Vec<Relation>, StoreError> {
        let mut session = self.pool.begin(Intent::Write).await?;
        // Another process may have made them meanwhile.
        let (mut relations, missing) = self.known_tables(&mut session, only).await?;
        let mut made = Vec::new();
        for declaration in missing {
            let seed = read_seed(&declaration).await?;
            let relation = self.make_table(&mut session, &declaration, &seed).await?;
            made.push(Reseeded { table: declaration.name, removed: 0, added: seed.rows.len() as u64 });
            relations.push(relation);
        }
        for relation in &mut relations {
            let wanted = self.missing_indexes(relation);
            catalog::create_missing_indexes(&mut session, relation, wanted).await?;
        }
        if made.is_empty() {
            session.commit().await?;
            return Ok(relations);
        }
        self.check_seeded(&mut session, &relations).await?;
        self.finish_seed(session, "seed", made, EntryNote::by("ordain", "open")).await?;
        Ok(relations)
    }

    async fn make_table(
        &self,
        session: &mut Session,
        declaration: &TableDeclaration,
        seed: &Seed,
    ) -> Result<Relation, StoreError> {
        let mut relation = relation_of(&seed.table);
        relation.namespace = current_schema(session).await?;
        catalog::create(session, &relation).await?;
        catalog::load(session, &relation, &seed.rows).await?;
        catalog::apply_rules(&mut relation, declaration)?;
        let wanted = catalog::wanted_indexes(&relation, declaration, &self.invariants);
        catalog::create_missing_indexes(session, &mut relation, wanted).await?;
        Ok(relation)
    }

    /// A seed that breaks an invariant would make every later run fail.
    async fn check_seeded(&self, session: &mut Session, relations: &[Relation]) -> Result<(), StoreError> {
        let catalog = Catalog::new(relations.to_vec());
        let (_, violations) = review::invariants(session, &catalog, &self.invariants, &self.limits).await?;
        if violations.is_empty() { Ok(()) } else { Err(StoreError::Violated { violations }) }
    }

    async fn finish_seed(
        &self,
        mut session: Session,
        kind: &str,
        tables: Vec<Reseeded>,
        note: EntryNote,
    ) -> Result<Vec<Reseeded>, StoreError> {
        let content = json!({ "tables": tables });
        let entry = NewEntry { kind: kind.to_owned(), run_id: None, note, content };
        let checkpoint = self.ledger.append(&mut session, &self.clock, entry).await?;
        bookkeeping::rows_changed(&mut session, checkpoint.seq).await?;
        let committed = session.commit().await;
        self.settle(committed, &checkpoint, kind).await?;
        self.ledger.remember(&checkpoint);
        Ok(tables)
    }

    async fn reseed(&self, tables: &[String], note: EntryNote) -> Result<Vec<Reseeded>, StoreError> {
        let catalog = self.catalog();
        for table in tables {
            catalog.place(table)?;
        }
        let mut session = self.pool.begin(Intent::Write).await?;
        let mut relations: Vec<Relation> = catalog.relations().cloned().collect();
        let mut done = Vec::new();
        for relation in &mut relations {
            let name = relation.table.name.clone();
            let wanted = tables.is_empty() || tables.contains(&name);
            let Some(declaration) = self.declaration(&name).filter(|declaration| declaration.seed.is_some())
            else {
                if tables.contains(&name) {
                    return Err(no_seed(&name));
                }
                continue;
            };
            if !wanted || !relation.is_kept() {
                continue;
            }
            let seed = read_seed(declaration).await?;
            let removed = catalog::remove_rows(&mut session, relation).await?;
            if same_shape(&relation.table, &seed.table) {
                catalog::load(&mut session, relation, &seed.rows).await?;
            } else {
                *relation = self.make_table(&mut session, declaration, &seed).await?;
            }
            done.push(Reseeded { table: name, removed, added: seed.rows.len() as u64 });
        }
        self.check_seeded(&mut session, &relations).await?;
        let done = self.finish_seed(session, "reseed", done, note).await?;
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Catalog::new(relations));
        Ok(done)
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
            review::invariants(&mut session, &catalog, &[probe], &limits).await?;
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

async fn current_schema(session: &mut Session) -> Result<Option<String>, StoreError> {
    if session.dialect() == crate::sql::Dialect::Sqlite {
        return Ok(None);
    }
    let sql = session.sql("SELECT current_schema()::text");
    let rows = session.read(sql).await?;
    rows.first().and_then(|row| row[0].as_text()).map(|name| Some(name.to_owned())).ok_or_else(|| {
        StoreError::Unreachable { message: "the database has no schema to make tables in".to_owned() }
    })
}

async fn read_seed(declaration: &TableDeclaration) -> Result<Seed, StoreError> {
    let declaration = declaration.clone();
    let read = move || match &declaration.seed {
        Some(path) => seed::read(path, &declaration),
        // A table may be declared by its columns alone.
        None => seed::parse("ordain.toml.json", b"[]", &declaration),
    };
    let joined = tokio::task::spawn_blocking(read).await;
    Ok(joined.map_err(|error| StoreError::Database { message: error.to_string() })??)
}

fn relation_of(table: &Table) -> Relation {
    Relation {
        storage: table.columns.iter().map(|column| Storage::kept(column.column_type)).collect(),
        table: table.clone(),
        identity: Identity::DocId,
        namespace: None,
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        max_rows_changed: None,
        read_only_reason: None,
        notes: Vec::new(),
    }
}

fn same_shape(left: &Table, right: &Table) -> bool {
    let shape = |column: &Column| (column.name.clone(), column.column_type, column.nullable);
    left.key == right.key && left.columns.iter().map(shape).eq(right.columns.iter().map(shape))
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
        notes: relation.notes.clone(),
    }
}

fn no_seed(table: &str) -> StoreError {
    StoreError::Declaration {
        what: format!("table `{table}`"),
        message: "it has no seed to load".to_owned(),
        hint: Some(format!("set `seed` in `[tables.{table}]`")),
    }
}

/// Names become SQL, Python variables and parts of file names, so they are plain words.
fn check_declarations(declarations: &[TableDeclaration]) -> Result<(), StoreError> {
    for (index, declaration) in declarations.iter().enumerate() {
        let name = &declaration.name;
        let wrong = |message: String, hint: &str| StoreError::Declaration {
            what: format!("table `{}`", crate::relation::shortened(name)),
            message,
            hint: Some(hint.to_owned()),
        };
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name.is_empty() || name.len() > 60 || !plain || name.as_bytes()[0].is_ascii_digit() {
            return Err(wrong("the name is not a plain word".to_owned(), "use letters, digits and `_`"));
        }
        let lower = name.to_lowercase();
        if ["ordain_", "sqlite_", "pg_"].iter().any(|reserved| lower.starts_with(reserved)) {
            return Err(wrong("the name is reserved".to_owned(), "choose another one"));
        }
        if declarations[..index].iter().any(|other| other.name.to_lowercase() == lower) {
            return Err(wrong(
                "it is declared twice".to_owned(),
                "names that differ only in case are the same",
            ));
        }
    }
    Ok(())
}
