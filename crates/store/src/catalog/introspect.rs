//! Tables that were in a PostgreSQL database before Ordain came.

use std::collections::BTreeMap;

use ordain_types::{Column, ColumnType, Table};

use crate::error::StoreError;
use crate::relation::{
    Filled, Follow, Follower, ForeignKey, Identity, Item, Kind, MadeOf, Relation, Shape, Storage,
};
use crate::session::{Rows, Session};

/// A domain is its base type. Types come without their length: a cast to `varchar(10)` would cut a longer text without a
/// word, whereas storing it in such a column is refused.
const COLUMNS: &str = "
SELECT c.relname::text, a.attname::text, pg_catalog.format_type(b.oid, -1), t.typname::text,
       a.attnotnull::text, CASE WHEN a.attgenerated <> '' THEN 'calculated' WHEN a.attidentity = 'a' THEN 'numbered' ELSE '' END,
       coalesce(o.collisdeterministic, true)::text, c.oid::text, n.nspname::text,
       c.relkind::text, coalesce(e.typname, '')::text, has_table_privilege(c.oid, 'SELECT')::text
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN LATERAL (
  WITH RECURSIVE base (oid) AS (
    SELECT a.atttypid
    UNION ALL SELECT d.typbasetype
    FROM base JOIN pg_catalog.pg_type d ON d.oid = base.oid AND d.typtype = 'd')
  SELECT base.oid FROM base) b ON true
JOIN pg_catalog.pg_type t ON t.oid = b.oid AND t.typtype <> 'd'
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname = current_schema() AND NOT c.relispartition
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e
    WHERE e.classid = 'pg_catalog.pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
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
       k.confdeltype::text, k.confupdtype::text, (c.relnamespace = f.relnamespace)::text
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

/// What views read, and what columns are calculated from.
const MADE_OF: &str = "
SELECT c.relname::text, NULL::text, f.relname::text
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
JOIN pg_catalog.pg_class f ON f.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_class'::regclass AND f.oid <> c.oid
WHERE c.relkind IN ('v', 'm')
UNION
SELECT c.relname::text, a.attname::text, f.attname::text
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attgenerated <> '' AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = c.oid AND e.adnum = a.attnum
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = c.oid
  AND (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = e.oid
    OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.objsubid = a.attnum)
JOIN pg_catalog.pg_attribute f ON f.attrelid = c.oid AND f.attnum = d.refobjsubid AND f.attnum <> a.attnum
ORDER BY 1, 2, 3";

/// The tables of the current schema.
pub(crate) async fn introspect(session: &mut Session) -> Result<Vec<Relation>, StoreError> {
    let statements = [COLUMNS, KEYS, INDEXES, FOREIGN_KEYS, TRIGGERS, MADE_OF].map(|text| session.sql(text));
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
            relation.notes.push(trigger_note(text(&row, 1)));
        }
    }
    for row in next() {
        let from = text(&row, 2).to_owned();
        let made_of = match text(&row, 1) {
            "" => MadeOf::Table(from),
            column => MadeOf::Column { column: column.to_owned(), from },
        };
        relations.entry(text(&row, 0).to_owned()).and_modify(|relation| relation.made_of.push(made_of));
    }
    Ok(relations.into_values().collect())
}

/// What an owner should know of a trigger.
pub(super) fn trigger_note(trigger: &str) -> String {
    format!(
        "trigger `{trigger}`: a run is refused in which it writes other rows, unless `triggers = \"allow\"`"
    )
}

/// What an owner should know of a foreign key with a cascade.
pub(super) fn followers_note(from: &str) -> String {
    format!("rows of `{from}` follow changes of this table")
}

fn columns(rows: Rows) -> BTreeMap<String, Relation> {
    let mut relations = BTreeMap::new();
    for row in rows {
        let name = text(&row, 0).to_owned();
        let relation = relations.entry(name.clone()).or_insert_with(|| Relation {
            table: Table { name, ..Table::default() },
            storage: Vec::new(),
            identity: Identity::Key,
            shape: match text(&row, 9) {
                "r" => Shape::Table,
                "p" => Shape::Partitioned,
                _ => Shape::View,
            },
            namespace: Some(text(&row, 8).to_owned()),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            followers: Vec::new(),
            made_of: Vec::new(),
            max_rows_changed: None,
            read_only_reason: None,
            is_lockable: text(&row, 11) == "true" && matches!(text(&row, 9), "r" | "p"),
            allows_triggers: false,
            notes: Vec::new(),
            seed_notes: Vec::new(),
        });
        let (kind, column_type) = match text(&row, 10) {
            "" => kind_of(text(&row, 3), text(&row, 6) == "true"),
            items => (Kind::Array { of: item_of(items) }, ColumnType::Json),
        };
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
fn kind_of(typname: &str, deterministic: bool) -> (Kind, ColumnType) {
    match typname {
        "int2" | "int4" | "int8" => (Kind::Integer, ColumnType::Integer),
        "numeric" => (Kind::Numeric, ColumnType::Decimal),
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

/// What the items of an array are, by the name of their type.
fn item_of(typname: &str) -> Item {
    match typname {
        "int2" | "int4" | "int8" => Item::Integer,
        "numeric" => Item::Numeric,
        "float8" | "float4" => Item::Double,
        "bool" => Item::Boolean,
        "json" | "jsonb" => Item::Json,
        "timestamptz" | "timestamp" => Item::Instant,
        _ => Item::Text,
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
            _ if relation.shape == Shape::View => {
                relation.identity = Identity::RowNumber;
                relation.read_only_reason = Some("it is a view".to_owned());
            }
            [] => {
                relation.notes.push("it has no primary key, so it is read-only".to_owned());
                relation.read_only_reason =
                    Some("it has no primary key, so no row can be found again".to_owned());
            }
            [position] if relation.storage[*position].kind == Kind::Integer => {
                relation.identity = Identity::IntegerKey(*position);
            }
            // Where a row lies is told within its partition only.
            _ if relation.shape == Shape::Partitioned => {
                relation.identity = Identity::RowNumber;
                relation.read_only_reason =
                    Some("its rows lie in partitions, and its key is not one whole number".to_owned());
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
        let (removal, change) = (Follow::of(text(row, 4)), Follow::of(text(row, 5)));
        if let Some(relation) = relations.get_mut(&to)
            && (removal.is_some() || change.is_some())
        {
            relation.notes.push(followers_note(&from));
            if text(row, 6) == "true" {
                let (columns, references) = (names(row, 1), names(row, 3));
                relation.followers.push(Follower { table: from, columns, references, removal, change });
            }
        }
    }
}

fn text(row: &[crate::sql::Datum], index: usize) -> &str {
    row.get(index).and_then(crate::sql::Datum::as_text).unwrap_or_default()
}

fn names(row: &[crate::sql::Datum], index: usize) -> Vec<String> {
    serde_json::from_str(text(row, index)).unwrap_or_default()
}
