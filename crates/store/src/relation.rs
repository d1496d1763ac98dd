//! A table as the database holds it.
//!
//! A table is *kept* by Ordain (made from a seed, with a `doc_id` column and a column that remembers which fields a
//! document does not have at all) or used *in place* (it was there before, and nothing about it is changed).

use ordain_types::{Column, ColumnType, Row, Table};
use serde_json::Value;

use crate::error::StoreError;
use crate::sql::{Datum, Dialect, Sql, quoted};
use crate::value;

/// The column of a kept table that holds the document's id.
pub(crate) const DOC_ID: &str = "doc_id";
/// The column of a kept table that lists, as JSON, the fields which a document lacks and the form of values that their
/// column does not tell (`name`, a tab, the form); NULL when there is nothing to list.
pub(crate) const ABSENT: &str = "ordain_absent";
/// The number of a row where nothing else tells rows apart.
pub(crate) const ROW_NUMBER: &str = "ordain_row";

/// One table.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// What everybody else sees of it.
    pub(crate) table: Table,
    /// How each column is stored, in the order of `table.columns`.
    pub(crate) storage: Vec<Storage>,
    /// How a row is found again.
    pub(crate) identity: Identity,
    /// What it is.
    pub(crate) shape: Shape,
    /// The schema that it is in, on PostgreSQL.
    pub(crate) namespace: Option<String>,
    /// Indexed column lists, the key among them.
    pub(crate) indexes: Vec<Vec<String>>,
    /// What its columns refer to.
    pub(crate) foreign_keys: Vec<ForeignKey>,
    /// What refers to it, and follows its changes.
    pub(crate) followers: Vec<Follower>,
    /// What its values are made of, where they are not its own.
    pub(crate) made_of: Vec<MadeOf>,
    /// How many of its rows one run may touch.
    pub(crate) max_rows_changed: Option<u64>,
    /// Why nothing may be written, where the database and not the declaration is the reason.
    pub(crate) read_only_reason: Option<String>,
    /// Whether it can be kept as it is while it is read: a table of PostgreSQL that may be read.
    pub(crate) is_lockable: bool,
    /// Whether its triggers may write rows that no diff shows.
    pub(crate) allows_triggers: bool,
    /// What an owner should know, such as triggers.
    pub(crate) notes: Vec<String>,
    /// How its seed was read, where that is worth saying.
    pub(crate) seed_notes: Vec<String>,
}

/// What values are made of that the database calculates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MadeOf {
    /// A view reads a table.
    Table(String),
    /// A column is calculated from another one of its row.
    Column { column: String, from: String },
}

/// What has the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A table.
    Table,
    /// A table whose rows lie in its partitions.
    Partitioned,
    /// A view or a materialized view, or a table that is only read.
    View,
}

/// How a row is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// By the `doc_id` column: a kept table.
    DocId,
    /// By its integer key, which serves as `doc_id` too.
    IntegerKey(usize),
    /// By its key; `doc_id` is where the row lies (PostgreSQL's `ctid`), good for one transaction.
    Key,
    /// Not at all: rows are counted as they are read.
    RowNumber,
}

/// How a column is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Storage {
    pub(crate) kind: Kind,
    /// The type's name, where the column was there before.
    pub(crate) native: Option<String>,
    /// Whether the database itself fills it.
    pub(crate) filled: Filled,
}

/// Whether the database itself fills a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// It stores what it is given.
    No,
    /// It numbers the rows, and takes a given number only where it is forced to.
    Numbered,
    /// It calculates the value from other columns.
    Calculated,
}

/// What the database makes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Double,
    Boolean,
    Json,
    /// Whatever was written, each value as what it is.
    Any,
    /// Exact decimals.
    Numeric,
    /// Single precision.
    Single,
    Uuid,
    /// A point in time, with or without a zone.
    Instant {
        zoned: bool,
    },
    Date,
    /// A list of values of one kind.
    Array {
        of: Item,
    },
    /// Anything else: read and written as text.
    Other,
}

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Text,
    Integer,
    Double,
    Boolean,
    Numeric,
    Json,
    Instant,
}

/// What columns refer to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ForeignKey {
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table that they refer to.
    pub table: String,
    /// The columns there.
    pub references: Vec<String>,
}

/// Rows of a table that follow changes of the rows that they refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Follower {
    /// The table.
    pub(crate) table: String,
    /// The columns that refer.
    pub(crate) columns: Vec<String>,
    /// The columns that they refer to.
    pub(crate) references: Vec<String>,
    /// What they do when the row is removed.
    pub(crate) removal: Option<Follow>,
    /// What they do when it is changed.
    pub(crate) change: Option<Follow>,
}

/// What a row does when the one is changed or removed that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// The same.
    Along,
    /// It refers to none.
    Null,
    /// It refers to what its columns hold by default.
    Default,
}

impl Follow {
    /// PostgreSQL's letter for it.
    pub(crate) fn of(letter: &str) -> Option<Self> {
        match letter {
            "c" => Some(Self::Along),
            "n" => Some(Self::Null),
            "d" => Some(Self::Default),
            _ => None,
        }
    }
}

/// One row: a value for each column, or nothing where the document lacks the field.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Image {
    pub(crate) doc_id: i64,
    pub(crate) values: Vec<Option<Value>>,
}

impl Storage {
    /// How a table that Ordain keeps stores a type.
    pub(crate) fn kept(column_type: ColumnType) -> Self {
        let kind = match column_type {
            // A timestamp stays the text it was, so that a plan reads back what it wrote.
            ColumnType::Text | ColumnType::Timestamp => Kind::Text,
            ColumnType::Integer => Kind::Integer,
            ColumnType::Real => Kind::Double,
            ColumnType::Boolean => Kind::Boolean,
            ColumnType::Json => Kind::Json,
            ColumnType::Any => Kind::Any,
            ColumnType::Decimal => Kind::Numeric,
        };
        Self { kind, native: None, filled: Filled::No }
    }

    /// The column's type on PostgreSQL.
    pub(crate) fn postgres_type(&self) -> &str {
        if let Some(native) = &self.native {
            return native;
        }
        match self.kind {
            Kind::Integer => "bigint",
            Kind::Double => "double precision",
            Kind::Boolean => "boolean",
            Kind::Json => "jsonb",
            _ => "text",
        }
    }
}

impl Relation {
    pub(crate) fn is_kept(&self) -> bool {
        self.identity == Identity::DocId
    }

    /// The table's name in SQL.
    pub(crate) fn sql_name(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{}.{}", quoted(namespace), quoted(&self.table.name)),
            None => quoted(&self.table.name),
        }
    }

    /// The rows of the table in SQL: its own, and not those of tables that inherit from it.
    pub(crate) fn sql_rows(&self) -> String {
        let name = self.sql_name();
        match self.shape {
            _ if self.identity == Identity::RowNumber => format!(
                "(SELECT row_number() OVER () AS {ROW_NUMBER}, * FROM {name}) AS {}",
                quoted(&self.table.name)
            ),
            Shape::Table if self.namespace.is_some() => format!("ONLY {name}"),
            Shape::Table | Shape::Partitioned | Shape::View => name,
        }
    }

    /// The column that a plan means, which is never a hidden one.
    pub(crate) fn visible(&self, name: &str) -> Result<usize, StoreError> {
        let found = self.table.columns.iter().position(|column| column.name == name && !column.hidden);
        found.ok_or_else(|| {
            let known = self.table.columns.iter().filter(|column| !column.hidden);
            let nearest = ordain_types::nearest(name, known.map(|column| column.name.as_str()));
            StoreError::UnknownColumn {
                table: self.table.name.clone(),
                column: shortened(name),
                nearest: nearest.map(str::to_owned),
            }
        })
    }

    /// Whether there is anything in it that is not shown.
    pub(crate) fn hides(&self) -> bool {
        self.table.hidden || self.table.columns.iter().any(|column| column.hidden)
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.table.columns.iter().position(|column| column.name == name)
    }

    pub(crate) fn key_positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.table.key.iter().filter_map(|name| self.position(name))
    }

    /// Positions and columns that plans may see.
    pub(crate) fn visible_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden)
    }

    /// Adds the result columns of an image: the id, the values, and the list of absent fields.
    pub(crate) fn push_image(&self, sql: &mut Sql) {
        match self.identity {
            Identity::DocId => sql.result(&quoted(DOC_ID)),
            Identity::IntegerKey(position) => sql.result(&quoted(&self.table.columns[position].name)),
            Identity::Key => sql.result("ctid"),
            Identity::RowNumber => sql.result(ROW_NUMBER),
        };
        for column in &self.table.columns {
            sql.push(", ").result(&quoted(&column.name));
        }
        if self.is_kept() {
            sql.push(", ").result(&quoted(ABSENT));
        }
    }

    /// Reads what [`Relation::push_image`] asked for.
    pub(crate) fn image(&self, row: Vec<Datum>) -> Result<Image, StoreError> {
        let mut row = row.into_iter();
        let doc_id = row.next().as_ref().and_then(|datum| match self.identity {
            Identity::Key => datum.as_text().and_then(doc_id_of_address),
            _ => datum.as_integer(),
        });
        let doc_id = doc_id.ok_or_else(|| self.broken("its id is not a number"))?;
        let mut values = Vec::with_capacity(self.storage.len());
        for (position, storage) in self.storage.iter().enumerate() {
            let datum = row.next().ok_or_else(|| self.broken("a column is missing"))?;
            let column_type = self.table.columns[position].column_type;
            let decoded = value::decode(storage, column_type, datum);
            values.push(Some(decoded.map_err(|message| self.broken(&message))?));
        }
        if let Some(Datum::Text(listed)) = row.next() {
            let listed: Vec<String> =
                serde_json::from_str(&listed).map_err(|error| self.broken(&error.to_string()))?;
            for entry in &listed {
                let (name, form) =
                    entry.split_once('\t').map_or((entry.as_str(), None), |(name, form)| (name, Some(form)));
                let Some(position) = self.position(name) else { continue };
                values[position] = match form {
                    None => None,
                    Some(_) if self.storage[position].kind != Kind::Any => continue,
                    Some(form) => values[position].take().map(|value| value::with_form(form, value)),
                };
            }
        }
        Ok(Image { doc_id, values })
    }

    /// The list of absent fields and of forms as it is stored. No column's name has a tab.
    pub(crate) fn absent(&self, dialect: Dialect, values: &[Option<Value>]) -> Datum {
        let columns = std::iter::zip(&self.table.columns, &self.storage);
        let listed: Vec<String> = std::iter::zip(columns, values)
            .filter_map(|((column, storage), value)| match value {
                None => Some(column.name.clone()),
                Some(value) if storage.kind == Kind::Any => {
                    value::form(dialect, value).map(|form| format!("{}\t{form}", column.name))
                }
                Some(_) => None,
            })
            .collect();
        if listed.is_empty() {
            return Datum::Null;
        }
        Datum::Text(serde_json::to_string(&listed).expect("a list of names is JSON"))
    }

    /// Adds the condition that finds one row again.
    pub(crate) fn push_row_condition(&self, sql: &mut Sql, image: &Image) {
        match self.identity {
            Identity::DocId => {
                sql.name(DOC_ID).push(" = ").integer_param(image.doc_id);
            }
            Identity::RowNumber => {
                sql.name(ROW_NUMBER).push(" = ").integer_param(image.doc_id);
            }
            Identity::IntegerKey(_) | Identity::Key => {
                let positions: Vec<usize> = self.key_positions().collect();
                sql.list(" AND ", positions, |sql, position| {
                    sql.name(&self.table.columns[position].name).push(" = ");
                    self.push_value(sql, position, image.values[position].as_ref());
                });
            }
        }
    }

    /// Adds a value as a parameter, as it came from an image: nothing is checked.
    pub(crate) fn push_value(&self, sql: &mut Sql, position: usize, value: Option<&Value>) {
        let storage = &self.storage[position];
        sql.bind(value::encode(storage, value.unwrap_or(&Value::Null)), storage.postgres_type());
    }

    /// The row as people see it.
    pub(crate) fn row(&self, image: &Image) -> Row {
        self.visible_columns()
            .filter_map(|(position, column)| Some((column.name.clone(), self.shown(position, image)?)))
            .collect()
    }

    /// The row as the database holds it, hidden columns too.
    pub(crate) fn kept_row(&self, image: &Image) -> Row {
        std::iter::zip(&self.table.columns, &image.values)
            .filter_map(|(column, value)| Some((column.name.clone(), value.clone()?)))
            .collect()
    }

    /// A value as people and plans see it; nothing where the row lacks the field.
    pub(crate) fn shown(&self, position: usize, image: &Image) -> Option<Value> {
        Some(value::shown(&self.storage[position], image.values[position].clone()?))
    }

    /// What identifies a row for people: its key, or its `doc_id` where none is declared.
    pub(crate) fn key_row(&self, image: &Image) -> Row {
        if self.table.key.is_empty() {
            return Row { fields: vec![(DOC_ID.to_owned(), Value::from(image.doc_id))] };
        }
        self.key_positions()
            .map(|position| {
                let value = self.shown(position, image).unwrap_or_default();
                (self.table.columns[position].name.clone(), value)
            })
            .collect()
    }

    /// The order in which rows are read, which is also what pages continue by.
    pub(crate) fn order(&self) -> Vec<String> {
        match self.identity {
            Identity::DocId => vec![quoted(DOC_ID)],
            Identity::RowNumber => vec![quoted(ROW_NUMBER)],
            _ => self.table.key.iter().map(|name| quoted(name)).collect(),
        }
    }

    pub(crate) fn broken(&self, message: &str) -> StoreError {
        StoreError::Database { message: format!("table `{}`: {message}", self.table.name) }
    }

    /// Adds the SQL that is true where a field is present.
    pub(crate) fn present(&self, position: usize, dialect: Dialect) -> String {
        if !self.is_kept() {
            return "TRUE".to_owned();
        }
        let name = serde_json::to_string(&self.table.columns[position].name).expect("a name is JSON");
        let needle = crate::sql::literal(&name);
        let (absent, find) = (quoted(ABSENT), if dialect == Dialect::Sqlite { "instr" } else { "strpos" });
        format!("({absent} IS NULL OR {find}({absent}, {needle}) = 0)")
    }
}

/// `(block,offset)` as one number: an offset has at most 16 bits.
pub(crate) fn doc_id_of_address(address: &str) -> Option<i64> {
    let (block, offset) = address.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let (block, offset): (i64, i64) = (block.parse().ok()?, offset.parse().ok()?);
    Some((block << 16) | offset)
}

/// The other way round.
pub(crate) fn address_of_doc_id(doc_id: i64) -> Option<String> {
    let (block, offset) = (doc_id >> 16, doc_id & 0xffff);
    (0..=i64::from(u32::MAX)).contains(&block).then(|| format!("({block},{offset})"))
}

/// A name from outside, cut so that an error message stays readable.
pub(crate) fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_its_doc_id_are_the_same_thing() {
        for address in ["(0,1)", "(7,65535)", "(4294967295,12)"] {
            let doc_id = doc_id_of_address(address).unwrap();
            assert_eq!(address_of_doc_id(doc_id).as_deref(), Some(address));
        }
        assert_eq!(doc_id_of_address("nonsense"), None);
        assert_eq!(address_of_doc_id(-1), None);
    }
}
