//! What others have put into a database: triggers, cascades, changed definitions.
//!
//! This is an early hint for the owner. What they write is found by what the database counts, before a commit.

use ordain_types::{Column, ColumnType};

use crate::error::StoreError;
use crate::relation::{ABSENT, DOC_ID, Relation, Storage};
use crate::session::Session;
use crate::sql::{Datum, Dialect};

use super::introspect::{followers_note, trigger_note};
use super::keep;

/// Ordain's own triggers, which keep the ledger from being edited by mistake.
const OWN_TRIGGERS: [&str; 2] = ["ordain_entries_stay", "ordain_entries_keep"];

/// Another text as soon as a table, column, type, key, constraint, default, index, trigger, rule or policy is another one.
/// The number of the transaction that wrote a row of the server's own tables stands for what is in it.
const VERSION: &str = "
WITH n AS (SELECT oid, xmin, nspname FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
c AS (SELECT k.oid, k.xmin FROM pg_catalog.pg_class k JOIN n ON n.oid = k.relnamespace WHERE k.relkind IN ('r', 'p', 'v', 'm', 'f')),
parts (kind, id, part, mark) AS (
  SELECT 1, oid, 0, xmin FROM n
  UNION ALL SELECT 2, oid, 0, xmin FROM c
  UNION ALL SELECT 3, attrelid, attnum, a.xmin FROM pg_catalog.pg_attribute a JOIN c ON c.oid = attrelid WHERE attnum > 0
  UNION ALL SELECT 4, k.oid, 0, k.xmin FROM pg_catalog.pg_constraint k JOIN c ON c.oid = conrelid
  UNION ALL SELECT 5, indexrelid, 0, i.xmin FROM pg_catalog.pg_index i JOIN c ON c.oid = indrelid
  UNION ALL SELECT 6, d.oid, 0, d.xmin FROM pg_catalog.pg_attrdef d JOIN c ON c.oid = adrelid
  UNION ALL SELECT 7, t.oid, 0, t.xmin FROM pg_catalog.pg_trigger t JOIN c ON c.oid = tgrelid WHERE NOT tgisinternal
  UNION ALL SELECT 8, w.oid, 0, w.xmin FROM pg_catalog.pg_rewrite w JOIN c ON c.oid = ev_class
  UNION ALL SELECT 9, inhrelid, inhseqno, h.xmin FROM pg_catalog.pg_inherits h JOIN c ON c.oid = inhrelid
  UNION ALL SELECT 10, p.oid, 0, p.xmin FROM pg_catalog.pg_policy p JOIN c ON c.oid = polrelid
  UNION ALL SELECT 11, t.oid, 0, t.xmin FROM pg_catalog.pg_type t JOIN n ON n.oid = typnamespace WHERE typtype IN ('d', 'e')
  UNION ALL SELECT 12, e.oid, 0, e.xmin FROM pg_catalog.pg_enum e)
SELECT coalesce(sum(hashtextextended(concat_ws(':', kind, id, part, mark::text), 0)), 0)::text FROM parts";

/// Triggers and rules on Ordain's own tables that are not Ordain's.
const ON_OWN_TABLES: &str = "
SELECT t.tgname::text, c.relname::text FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'ordain' AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgname <> 'entries_stay'
UNION ALL
SELECT rulename::text, tablename::text FROM pg_catalog.pg_rules WHERE schemaname = 'ordain'";

/// What the schema is compared by: read in a transaction, it says whether the tables are those of an earlier one.
pub(crate) async fn version(session: &mut Session) -> Result<String, StoreError> {
    let sql = session.sql(match session.dialect() {
        Dialect::Sqlite => "SELECT CAST(schema_version AS TEXT) FROM pragma_schema_version",
        Dialect::Postgres => VERSION,
    });
    let rows = session.read(sql).await?;
    Ok(rows.first().and_then(|row| row[0].as_text()).unwrap_or_default().to_owned())
}

/// The same as of now, on PostgreSQL, whatever the moment is that the transaction sees.
pub(crate) async fn newest_version(session: &mut Session) -> Result<String, StoreError> {
    let sql = session.sql(VERSION);
    let rows = session.read_aside(sql).await?;
    Ok(rows.first().and_then(|row| row[0].as_text()).unwrap_or_default().to_owned())
}

/// The tables that Ordain made, as they are in the database by now. What is no longer there is left out; `in_place` is
/// what PostgreSQL has.
pub(crate) async fn as_they_are(
    session: &mut Session,
    made: Vec<Relation>,
    in_place: &[Relation],
) -> Result<Vec<Relation>, StoreError> {
    match session.dialect() {
        Dialect::Sqlite => as_sqlite_has_them(session, made).await,
        Dialect::Postgres => {
            let sql = session.sql(ON_OWN_TABLES);
            if let Some(row) = session.read(sql).await?.first() {
                return Err(not_ours(text(&row[0]), text(&row[1])));
            }
            let there = |relation: &Relation| {
                in_place.iter().find(|there| {
                    there.table.name == relation.table.name && there.namespace == relation.namespace
                })
            };
            let made = made.into_iter().filter_map(|relation| {
                let there = there(&relation)?;
                Some(as_postgres_has_it(relation, there))
            });
            Ok(made.collect())
        }
    }
}

fn as_postgres_has_it(mut made: Relation, there: &Relation) -> Relation {
    made.notes.clone_from(&there.notes);
    made.is_lockable = there.is_lockable;
    let columns: Vec<(Column, Storage)> = std::iter::zip(&there.table.columns, &there.storage)
        .filter(|(column, _)| ![DOC_ID, ABSENT].contains(&column.name.as_str()))
        .map(|(column, storage)| (column.clone(), storage.clone()))
        .collect();
    let is_same = columns.len() == made.table.columns.len()
        && std::iter::zip(&columns, std::iter::zip(&made.table.columns, &made.storage)).all(
            |((column, storage), (own, kept))| {
                column.name == own.name && storage.native.as_deref() == Some(kept.postgres_type())
            },
        );
    if !is_same {
        (made.table.columns, made.storage) = columns.into_iter().unzip();
        changed(&mut made);
    }
    made
}

async fn as_sqlite_has_them(session: &mut Session, made: Vec<Relation>) -> Result<Vec<Relation>, StoreError> {
    let sql = session.sql("SELECT type, name, lower(tbl_name), coalesce(sql, '') FROM sqlite_schema");
    let schema = session.read(sql).await?;
    let mut relations = Vec::new();
    for mut relation in made {
        let name = relation.table.name.to_lowercase();
        let is_it = |row: &&Vec<Datum>| {
            matches!(text(&row[0]), "table" | "view") && text(&row[1]).to_lowercase() == name
        };
        let Some(found) = schema.iter().find(is_it) else { continue };
        let expected = keep::definition_sql(Dialect::Sqlite, &relation);
        if plain(text(&found[3])) != plain(&expected) {
            if !take_columns(session, &mut relation).await? {
                continue;
            }
            changed(&mut relation);
        }
        relations.push(relation);
    }
    for row in &schema {
        let (kind, name, table, sql) = (text(&row[0]), text(&row[1]), text(&row[2]), text(&row[3]));
        if kind != "trigger" || is_own(name, table, sql) {
            continue;
        }
        match relations.iter_mut().find(|relation| relation.table.name.to_lowercase() == table) {
            Some(relation) => relation.notes.push(trigger_note(name)),
            None if table.starts_with("ordain_") => return Err(not_ours(name, table)),
            None => {}
        }
    }
    followers(session, &mut relations).await?;
    Ok(relations)
}

/// Takes the columns that a table of Ordain's has by now; `false` if it is no longer one of Ordain's.
async fn take_columns(session: &mut Session, relation: &mut Relation) -> Result<bool, StoreError> {
    let mut sql = session.sql("SELECT name, upper(type), \"notnull\" FROM pragma_table_info(");
    sql.text_param(&relation.table.name).push(")");
    let mut columns = Vec::new();
    let mut own = 0;
    for row in session.read(sql).await? {
        let name = text(&row[0]);
        if [DOC_ID, ABSENT].contains(&name) {
            own += 1;
            continue;
        }
        let column_type = match text(&row[1]) {
            "INTEGER" | "INT" => ColumnType::Integer,
            "REAL" => ColumnType::Real,
            _ => ColumnType::Text,
        };
        let column = relation.table.column(name).cloned().unwrap_or_else(|| Column {
            name: name.to_owned(),
            column_type,
            nullable: row[2].as_integer() == Some(0),
            hidden: false,
        });
        columns.push(column);
    }
    relation.storage = columns.iter().map(|column| Storage::kept(column.column_type)).collect();
    relation.table.columns = columns;
    Ok(own == 2)
}

fn changed(relation: &mut Relation) {
    let reason = "its definition in the database is not the one that Ordain made".to_owned();
    relation.table.key.retain(|key| relation.table.columns.iter().any(|column| column.name == *key));
    relation.notes.push(reason.clone());
    relation.read_only_reason = Some(reason);
}

fn text(datum: &Datum) -> &str {
    datum.as_text().unwrap_or_default()
}

/// Rows of other tables that follow changes of ours.
async fn followers(session: &mut Session, relations: &mut [Relation]) -> Result<(), StoreError> {
    let sql = session.sql(
        "SELECT m.name, lower(f.\"table\") FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
         WHERE m.type = 'table' AND (f.on_delete NOT IN ('NO ACTION', 'RESTRICT')
           OR f.on_update NOT IN ('NO ACTION', 'RESTRICT'))",
    );
    for row in session.read(sql).await? {
        let (from, to) = (row[0].as_text().unwrap_or_default(), row[1].as_text().unwrap_or_default());
        if let Some(relation) = relations.iter_mut().find(|own| own.table.name.to_lowercase() == to) {
            relation.notes.push(followers_note(from));
        }
    }
    Ok(())
}

fn is_own(name: &str, table: &str, sql: &str) -> bool {
    let sql = plain(sql);
    OWN_TRIGGERS.contains(&name)
        && table == "ordain_entries"
        && sql.contains(" BEFORE ")
        && sql.ends_with("ON ordain_entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END")
}

/// Without differences in spaces and at the end.
fn plain(sql: &str) -> String {
    let words: Vec<&str> = sql.trim().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

fn not_ours(trigger: &str, table: &str) -> StoreError {
    StoreError::Declaration {
        what: "the store".to_owned(),
        message: format!(
            "trigger `{trigger}` on `{table}` is not Ordain's, and may change rows that no diff shows"
        ),
        hint: Some(format!("look at it, then remove it with DROP TRIGGER \"{trigger}\" (or DROP RULE)")),
    }
}
