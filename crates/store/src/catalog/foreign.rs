//! What others have put into a database: triggers, cascades, changed definitions.
//!
//! They would change rows that no diff shows, so that a table with such a thing is not written to, unless its owner
//! says `accept_triggers`.

use crate::error::StoreError;
use crate::relation::Relation;
use crate::session::Session;
use crate::sql::{Datum, Dialect};

use super::introspect::hidden_writes_hint;
use super::keep;

/// Ordain's own triggers, which keep the ledger from being edited by mistake.
const OWN_TRIGGERS: [&str; 2] = ["ordain_entries_stay", "ordain_entries_keep"];

/// A number that is another one as soon as a trigger, a rule or a foreign key is added.
const VERSION: &str = "
SELECT ((SELECT coalesce(sum(oid::bigint + ascii(tgenabled)), 0) FROM pg_catalog.pg_trigger WHERE NOT tgisinternal)
  + (SELECT coalesce(sum(oid::bigint), 0) FROM pg_catalog.pg_rewrite)
  + (SELECT coalesce(sum(oid::bigint), 0) FROM pg_catalog.pg_constraint WHERE contype = 'f'))::bigint::text";

/// Triggers and rules on Ordain's own tables that are not Ordain's.
const ON_OWN_TABLES: &str = "
SELECT t.tgname::text, c.relname::text FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'ordain' AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgname <> 'entries_stay'
UNION ALL
SELECT rulename::text, tablename::text FROM pg_catalog.pg_rules WHERE schemaname = 'ordain'";

/// Changes whenever a table, an index, a trigger or a view does; on PostgreSQL with triggers, rules and foreign keys.
pub(crate) async fn schema_version(session: &mut Session) -> Result<i64, StoreError> {
    let sql = session.sql(match session.dialect() {
        Dialect::Sqlite => "SELECT schema_version FROM pragma_schema_version",
        Dialect::Postgres => VERSION,
    });
    let rows = session.read(sql).await?;
    Ok(rows.first().and_then(|row| row[0].as_integer()).unwrap_or_default())
}

/// Marks the tables that must not be written to. Those of PostgreSQL are marked where they are looked at.
pub(crate) async fn mark(session: &mut Session, relations: &mut [Relation]) -> Result<(), StoreError> {
    if session.dialect() == Dialect::Postgres {
        let sql = session.sql(ON_OWN_TABLES);
        let found = session.read(sql).await?;
        let text = |datum: &Datum| datum.as_text().unwrap_or_default().to_owned();
        return found.first().map_or(Ok(()), |row| Err(not_ours(&text(&row[0]), &text(&row[1]))));
    }
    let sql = session.sql("SELECT type, name, lower(tbl_name), coalesce(sql, '') FROM sqlite_schema");
    let schema = session.read(sql).await?;
    let text = |datum: &Datum| datum.as_text().unwrap_or_default().to_owned();
    for row in &schema {
        let (kind, name, table, sql) = (text(&row[0]), text(&row[1]), text(&row[2]), text(&row[3]));
        if kind != "trigger" || is_own(&name, &table, &sql) {
            continue;
        }
        let note = format!("trigger `{name}` may change rows that no diff shows");
        match relations.iter_mut().find(|relation| relation.table.name.to_lowercase() == table) {
            Some(relation) => forbid(relation, note),
            // A trigger on a table of Ordain's own, or on one that nobody declared, may reach any other.
            None if table.starts_with("ordain_") => return Err(not_ours(&name, &table)),
            None => {}
        }
    }
    for relation in &mut *relations {
        let name = relation.table.name.to_lowercase();
        let found =
            schema.iter().find(|row| text(&row[0]) == "table" && text(&row[1]).to_lowercase() == name);
        let expected = keep::definition_sql(Dialect::Sqlite, relation);
        if found.is_none_or(|row| plain(&text(&row[3])) != plain(&expected)) {
            forbid(relation, "its definition in the database is not the one that Ordain made".to_owned());
        }
    }
    followers(session, relations).await
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
        let note = format!("rows of `{from}` follow changes of this table, and no diff shows them");
        if let Some(relation) = relations.iter_mut().find(|own| own.table.name.to_lowercase() == to) {
            forbid(relation, note);
        }
    }
    Ok(())
}

fn forbid(relation: &mut Relation, note: String) {
    relation.read_only_reason = Some(hidden_writes_hint(&relation.table.name));
    relation.notes.push(note);
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
