//! Tables that were in a PostgreSQL database before Ordain came.

use std::collections::BTreeMap;

use ordain_types::{Column, ColumnType, Table};

use crate::error::StoreError;
use crate::relation::{Filled, ForeignKey, Identity, Kind, Relation, Storage};
use crate::session::{Rows, Session};

/// Types come without their length: a cast to `varchar(10)` would cut a longer text without a word, whereas storing it
/// in such a column is refused.
const COLUMNS: &str = "
SELECT c.relname::text, a.attname::text, pg_catalog.format_type(a.atttypid, -1), t.typname::text,
       a.attnotnull::text, CASE WHEN a.attgenerated <> '' THEN 'calculated' WHEN a.attidentity = 'a' THEN 'numbered' ELSE '' END,
       coalesce(information_schema._pg_numeric_scale(a.atttypid, a.atttypmod)::text, ''),
       coalesce(o.collisdeterministic, true)::text, c.oid::text, n.nspname::text,
       (t.typtype = 'd')::text
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
WHERE c.relkind = 'r' AND n.nspname = current_schema() AND NOT c.relispartition
ORDER BY c.relname, a.attnum";

const KEYS: &str = "
SELECT c.relname::text, array_to_json(ARRAY(
         SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS p(attnum, place)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.attnum ORDER BY p.place))::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'p' AND n.nspname = current_schema()";

const INDEXES: &str = "
SELECT c.relname::text, array_to_json(ARRAY(
         SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS p(attnum, place)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.attnum ORDER BY p.place))::text
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND i.indexprs IS NULL AND i.indpred IS NULL AND i.indisvalid";

/// Foreign keys in both directions: what a table refers to, and what refers to it and would follow its changes.
const FOREIGN_KEYS: &str = "
SELECT c.relname::text, array_to_json(ARRAY(
         SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS p(attnum, place)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.attnum ORDER BY p.place))::text,
       f.relname::text, array_to_json(ARRAY(
         SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS p(attnum, place)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND a.attnum = p.attnum ORDER BY p.place))::text,
       (k.confdeltype IN ('c', 'n', 'd'))::text, (k.confupdtype IN ('c', 'n', 'd'))::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace
WHERE k.contype = 'f' AND n.nspname = current_schema()
ORDER BY c.relname, k.conname";

const TRIGGERS: &str = "
SELECT c.relname::text, t.tgname::text
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND n.nspname = current_schema()
UNION ALL
SELECT tablename::text, rulename::text FROM pg_catalog.pg_rules WHERE schemaname = current_schema()
ORDER BY 1, 2";

/// The tables of the current schema.
pub(crate) async fn introspect(session: &mut Session) -> Result<Vec<Relation>, StoreError> {
    let statements = [COLUMNS, KEYS, INDEXES, FOREIGN_KEYS, TRIGGERS].map(|text| session.sql(text));
    let mut results = session.read_all(statements.into()).await?.into_iter();
    let mut next = || results.next().unwrap_or_default();
    let mut relations = columns(next());
    keys(&mut relations, &next());
    for row in next() {
        if let Some(relation) = relations.get_mut(text(&row, 0)) {
            relation.indexes.push(names(&row, 1));
        }
    }
    foreign_keys(&mut relations, &next());
    for row in next() {
        if let Some(relation) = relations.get_mut(text(&row, 0)) {
            let note = format!("trigger `{}` may change rows that no diff shows", text(&row, 1));
            relation.read_only_reason = Some(hidden_writes_hint(&relation.table.name));
            relation.notes.push(note);
        }
    }
    Ok(relations.into_values().collect())
}

/// Why a table with triggers or cascades is not written to.
pub(super) fn hidden_writes_hint(table: &str) -> String {
    format!(
        "triggers or cascades of the database may change rows that no diff shows; set `accept_triggers = true` in \
         `[tables.{table}]` to write nevertheless"
    )
}

fn columns(rows: Rows) -> BTreeMap<String, Relation> {
    let mut relations = BTreeMap::new();
    for row in rows {
        let name = text(&row, 0).to_owned();
        let relation = relations.entry(name.clone()).or_insert_with(|| Relation {
            table: Table { name, ..Table::default() },
            storage: Vec::new(),
            identity: Identity::Key,
            namespace: Some(text(&row, 9).to_owned()),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            max_rows_changed: None,
            read_only_reason: None,
            notes: Vec::new(),
            seed_notes: Vec::new(),
        });
        let is_domain = text(&row, 10) == "true";
        let (kind, column_type) = kind_of(text(&row, 3), text(&row, 6), text(&row, 7) == "true", is_domain);
        let filled = match text(&row, 5) {
            "calculated" => Filled::Calculated,
            "numbered" => Filled::Numbered,
            _ => Filled::No,
        };
        relation.storage.push(Storage { kind, native: Some(text(&row, 2).to_owned()), filled });
        relation.table.columns.push(Column {
            name: text(&row, 1).to_owned(),
            column_type,
            nullable: text(&row, 4) != "true",
            hidden: false,
        });
    }
    relations
}

/// What PostgreSQL's types are to us. A type that is not known is text: every type has a text form.
fn kind_of(typname: &str, scale: &str, deterministic: bool, is_domain: bool) -> (Kind, ColumnType) {
    match typname {
        _ if is_domain => (Kind::Other, ColumnType::Text),
        "int2" | "int4" | "int8" => (Kind::Integer, ColumnType::Integer),
        "numeric" if scale == "0" => (Kind::Numeric, ColumnType::Integer),
        "numeric" => (Kind::Numeric, ColumnType::Real),
        "float8" => (Kind::Double, ColumnType::Real),
        "float4" => (Kind::Single, ColumnType::Real),
        "bool" => (Kind::Boolean, ColumnType::Boolean),
        "text" | "varchar" if deterministic => (Kind::Text, ColumnType::Text),
        "uuid" => (Kind::Uuid, ColumnType::Text),
        "timestamptz" => (Kind::Instant { zoned: true }, ColumnType::Timestamp),
        "timestamp" => (Kind::Instant { zoned: false }, ColumnType::Timestamp),
        "date" => (Kind::Date, ColumnType::Timestamp),
        "json" | "jsonb" => (Kind::Json, ColumnType::Json),
        _ => (Kind::Other, ColumnType::Text),
    }
}

fn keys(relations: &mut BTreeMap<String, Relation>, rows: &Rows) {
    for row in rows {
        if let Some(relation) = relations.get_mut(text(row, 0)) {
            relation.table.key = names(row, 1);
        }
    }
    for relation in relations.values_mut() {
        let positions: Vec<usize> = relation.key_positions().collect();
        match positions.as_slice() {
            [] => {
                relation.notes.push("it has no primary key, so it is read-only".to_owned());
                relation.read_only_reason =
                    Some("it has no primary key, so no row can be found again".to_owned());
            }
            [position] if relation.storage[*position].kind == Kind::Integer => {
                relation.identity = Identity::IntegerKey(*position);
            }
            _ => {}
        }
    }
}

fn foreign_keys(relations: &mut BTreeMap<String, Relation>, rows: &Rows) {
    for row in rows {
        let (from, to) = (text(row, 0).to_owned(), text(row, 2).to_owned());
        if let Some(relation) = relations.get_mut(&from) {
            let references = names(row, 3);
            relation.foreign_keys.push(ForeignKey { columns: names(row, 1), table: to.clone(), references });
        }
        let follows = text(row, 4) == "true" || text(row, 5) == "true";
        if let Some(relation) = relations.get_mut(&to)
            && follows
        {
            let note = format!("rows of `{from}` follow changes of this table, and no diff shows them");
            relation.read_only_reason = Some(hidden_writes_hint(&relation.table.name));
            relation.notes.push(note);
        }
    }
}

fn text(row: &[crate::sql::Datum], index: usize) -> &str {
    row.get(index).and_then(crate::sql::Datum::as_text).unwrap_or_default()
}

fn names(row: &[crate::sql::Datum], index: usize) -> Vec<String> {
    serde_json::from_str(text(row, index)).unwrap_or_default()
}
