//! The tables of a store: found, made from their seeds, filled again.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use ordain_types::{Column, ColumnType, Table};
use serde_json::json;

use super::{Inner, Reseeded, Seen};
use crate::catalog::{self, Catalog};
use crate::error::StoreError;
use crate::ledger::{EntryNote, NewEntry};
use crate::options::TableDeclaration;
use crate::relation::{Identity, Relation, Shape, Storage, shortened};
use crate::review;
use crate::row_sums;
use crate::seed::{self, Seed};
use crate::session::{Intent, Session};
use crate::sql::Dialect;

impl Inner {
    pub(super) async fn open_tables(&self) -> Result<(), StoreError> {
        let mut session = self.pool.session().await?;
        let (relations, missing) = self.known_tables(&mut session).await?;
        drop(session);
        let is_unfinished = |relation: &Relation| {
            !self.missing_indexes(relation).is_empty() || !self.newly_typed(relation).is_empty()
        };
        if (!missing.is_empty() || relations.iter().any(is_unfinished)) && self.may_write() {
            // No transaction is open while files are read.
            let mut seeds = HashMap::new();
            for declaration in missing {
                let seed = self.read_seed(&declaration).await?;
                seeds.insert(declaration.name, seed);
            }
            self.make_tables(&seeds).await?;
        }
        self.refresh().await?;
        self.check_only().await
    }

    /// Refuses a list of tables that names one which is not there.
    async fn check_only(&self) -> Result<(), StoreError> {
        let catalog = self.catalog();
        let is_missing = |name: &&String| catalog.relations().all(|relation| relation.table.name != **name);
        let Some(name) = self.only.iter().flatten().find(is_missing) else { return Ok(()) };
        let found = catalog::introspect(&mut self.pool.session().await?).await?;
        let names = found.iter().map(|relation| relation.table.name.as_str());
        Err(StoreError::Declaration {
            what: "`[store] tables`".to_owned(),
            message: format!(
                "there is no table or view `{}` in the schema of the connection",
                shortened(name)
            ),
            hint: ordain_types::nearest(name, names).map(|nearest| format!("did you mean `{nearest}`?")),
        })
    }

    /// Looks whether the tables are still those that were last read.
    pub(crate) async fn refresh(&self) -> Result<(), StoreError> {
        let mut session = self.pool.session().await?;
        if self.is_read_at(&catalog::version(&mut session).await?) {
            return Ok(());
        }
        session.begin(Intent::Read).await?;
        self.catalog_of(&mut session).await?;
        session.roll_back().await
    }

    fn is_read_at(&self, version: &str) -> bool {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).version == version
    }

    /// The tables as a transaction sees them.
    pub(crate) async fn catalog_of(&self, session: &mut Session) -> Result<Seen, StoreError> {
        let version = catalog::version(session).await?;
        session.keep_statements_of(&version);
        let last = self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone();
        if last.version == version {
            return Ok(last);
        }
        let (mut relations, _) = self.known_tables(session).await?;
        // Declared order first, then what else the database has.
        let place = |relation: &Relation| {
            let names = self.declarations.iter().position(|declared| declared.name == relation.table.name);
            names.unwrap_or(usize::MAX)
        };
        relations.sort_by_key(place);
        let seen = Seen { version, catalog: Arc::new(Catalog::new(relations)) };
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = seen.clone();
        Ok(seen)
    }

    /// The tables that are there, with the declared rules, and the declarations of those that are not.
    async fn known_tables(
        &self,
        session: &mut Session,
    ) -> Result<(Vec<Relation>, Vec<TableDeclaration>), StoreError> {
        let definitions = catalog::definitions(session).await?;
        let made: Vec<Relation> = definitions.into_iter().map(catalog::Definition::relation).collect();
        let in_place = match session.dialect() {
            Dialect::Sqlite => Vec::new(),
            Dialect::Postgres => catalog::introspect(session).await?,
        };
        let kept = catalog::as_they_are(session, made, &in_place).await?;
        let is_kept = |name: &str| kept.iter().any(|relation| relation.table.name == name);
        let mut found: Vec<Relation> =
            in_place.into_iter().filter(|relation| !is_kept(&relation.table.name)).collect();
        if let Some(only) = &self.only {
            found.retain(|relation| {
                only.contains(&relation.table.name) || self.declaration(&relation.table.name).is_some()
            });
        }
        let declared = kept.into_iter().filter(|relation| self.declaration(&relation.table.name).is_some());
        let (mut relations, mut missing) = (Vec::new(), Vec::new());
        for relation in declared.chain(found) {
            relations.push(self.with_rules(relation)?);
        }
        let hidden = relations.iter().filter(|relation| relation.hides());
        let hidden = hidden.map(|relation| relation.table.name.clone()).collect();
        catalog::hide_what_is_made_of(&mut relations, hidden, |view| self.declaration(view).is_some());
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
        }
        catalog::apply_rules(&mut relation, declaration)?;
        Ok(relation)
    }

    fn declaration(&self, table: &str) -> Option<&TableDeclaration> {
        self.declarations.iter().find(|declaration| declaration.name == table)
    }

    fn newly_typed(&self, relation: &Relation) -> Vec<(usize, ColumnType)> {
        self.declaration(&relation.table.name)
            .map(|declaration| catalog::newly_typed(relation, declaration))
            .unwrap_or_default()
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
    async fn make_tables(&self, seeds: &HashMap<String, Seed>) -> Result<(), StoreError> {
        let mut session = self.pool.begin(Intent::Write).await?;
        // Another process may have made them meanwhile.
        let (mut relations, missing) = self.known_tables(&mut session).await?;
        let mut made = Vec::new();
        for declaration in missing {
            let Some(seed) = seeds.get(&declaration.name) else { continue };
            let relation = self.make_table(&mut session, &declaration, seed).await?;
            made.push(Reseeded { table: declaration.name, removed: 0, added: seed.rows.len() as u64 });
            relations.push(relation);
        }
        let is_seeded = !made.is_empty();
        for relation in &mut relations {
            let columns = self.newly_typed(relation);
            if !columns.is_empty() {
                catalog::retype(&mut session, relation, columns).await?;
                made.push(Reseeded { table: relation.table.name.clone(), removed: 0, added: 0 });
            }
            let wanted = self.missing_indexes(relation);
            catalog::create_missing_indexes(&mut session, relation, wanted).await?;
        }
        if made.is_empty() {
            return session.commit().await;
        }
        self.check_seeded(&mut session, &relations).await?;
        let kind = if is_seeded { "seed" } else { "retype" };
        self.finish_seed(session, kind, &relations, made, EntryNote::by("ordain", "open")).await.map(drop)
    }

    async fn read_seed(&self, declaration: &TableDeclaration) -> Result<Seed, StoreError> {
        if let Some(path) = declaration.seed.as_deref().filter(|path| !seed::is_json(path)) {
            let reader = self.seeds.as_ref().ok_or_else(|| StoreError::Declaration {
                what: format!("table `{}`", declaration.name),
                message: "its seed is not JSON, and this store was opened without a reader for other files"
                    .to_owned(),
                hint: None,
            })?;
            let read = reader.read(path, declaration).await?;
            return Ok(seed::from_table(path, read, declaration)?);
        }
        let declaration = declaration.clone();
        let read = move || match &declaration.seed {
            Some(path) => seed::read(path, &declaration),
            // A table may be declared by its columns alone.
            None => seed::parse("ordain.toml.json", b"[]", &declaration),
        };
        let joined = tokio::task::spawn_blocking(read).await;
        Ok(joined.map_err(|error| StoreError::Database { message: error.to_string() })??)
    }

    async fn make_table(
        &self,
        session: &mut Session,
        declaration: &TableDeclaration,
        seed: &Seed,
    ) -> Result<Relation, StoreError> {
        let mut relation = relation_of(&seed.table);
        relation.namespace = current_schema(session).await?;
        relation.seed_notes.clone_from(&seed.notes);
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
        let (_, violations) =
            review::invariants(session, &catalog, &self.invariants, None, &self.limits).await?;
        if violations.is_empty() { Ok(()) } else { Err(StoreError::Violated { violations }) }
    }

    async fn finish_seed(
        &self,
        mut session: Session,
        kind: &str,
        relations: &[Relation],
        tables: Vec<Reseeded>,
        note: EntryNote,
    ) -> Result<Vec<Reseeded>, StoreError> {
        let is_filled = |relation: &&Relation| tables.iter().any(|done| done.table == relation.table.name);
        let filled: Vec<&Relation> = relations.iter().filter(is_filled).collect();
        let sums = row_sums::renew(&self.ledger, &mut session, &filled).await?;
        let content = json!({ "tables": tables, "rows": sums });
        let entry = NewEntry { kind: kind.to_owned(), run_id: None, note, content };
        let checkpoint = self.ledger.append(&mut session, &self.clock, entry).await?;
        let kept = row_sums::keep(&self.ledger, session.dialect(), checkpoint.seq, &sums);
        session.write(kept).await?;
        let committed = session.commit().await;
        self.settle(committed, &checkpoint, kind).await?;
        self.ledger.remember(&checkpoint);
        Ok(tables)
    }

    pub(super) async fn reseed(
        &self,
        tables: &[String],
        note: EntryNote,
    ) -> Result<Vec<Reseeded>, StoreError> {
        let catalog = self.catalog();
        for table in tables {
            catalog.place(table)?;
        }
        let mut relations: Vec<Relation> = catalog.relations().cloned().collect();
        let mut seeds = HashMap::new();
        for relation in relations.iter().filter(|relation| relation.is_kept()) {
            let name = &relation.table.name;
            let declared = self.declaration(name).filter(|declaration| declaration.seed.is_some());
            match declared {
                Some(declared) if tables.is_empty() || tables.contains(name) => {
                    seeds.insert(name.clone(), self.read_seed(declared).await?);
                }
                _ => {}
            }
        }
        if let Some(name) = tables.iter().find(|name| !seeds.contains_key(*name)) {
            return Err(no_seed(name));
        }
        let mut session = self.pool.begin(Intent::Write).await?;
        let mut done = Vec::new();
        for relation in &mut relations {
            let name = relation.table.name.clone();
            let (Some(seed), Some(declaration)) = (seeds.get(&name), self.declaration(&name)) else {
                continue;
            };
            let removed = catalog::remove_rows(&mut session, relation).await?;
            if same_shape(&relation.table, &seed.table) {
                catalog::load(&mut session, relation, &seed.rows).await?;
            } else {
                *relation = self.make_table(&mut session, declaration, seed).await?;
            }
            done.push(Reseeded { table: name, removed, added: seed.rows.len() as u64 });
        }
        self.check_seeded(&mut session, &relations).await?;
        let done = self.finish_seed(session, "reseed", &relations, done, note).await?;
        self.refresh().await?;
        Ok(done)
    }
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

fn relation_of(table: &Table) -> Relation {
    Relation {
        storage: table.columns.iter().map(|column| Storage::kept(column.column_type)).collect(),
        table: table.clone(),
        identity: Identity::DocId,
        shape: Shape::Table,
        namespace: None,
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        followers: Vec::new(),
        made_of: Vec::new(),
        max_rows_changed: None,
        read_only_reason: None,
        is_lockable: false,
        allows_triggers: false,
        notes: Vec::new(),
        seed_notes: Vec::new(),
    }
}

fn same_shape(left: &Table, right: &Table) -> bool {
    let shape = |column: &Column| (column.name.clone(), column.column_type, column.nullable);
    left.key == right.key && left.columns.iter().map(shape).eq(right.columns.iter().map(shape))
}

fn no_seed(table: &str) -> StoreError {
    StoreError::Declaration {
        what: format!("table `{table}`"),
        message: "it has no seed to load".to_owned(),
        hint: Some(format!("set `seed` in `[tables.{table}]`")),
    }
}

/// Names become SQL, Python variables and parts of file names, so they are plain words.
pub(super) fn check_declarations(declarations: &[TableDeclaration]) -> Result<(), StoreError> {
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
