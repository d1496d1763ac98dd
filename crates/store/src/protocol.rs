//! The table interface as messages: what a cell may ask of the transaction, and what it gets.
//!
//! A cell sends an operation's name and its arguments. Both are hostile: [`Call::parse`] takes nothing that it does
//! not know, and every name, value and number in it is checked again where it is used.

use ordain_types::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::condition::Condition;
use crate::error::StoreError;

/// One call of the table interface.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// The tables and their visible columns.
    Tables {},
    /// One page of the rows that meet a condition, in order.
    Search {
        /// The table.
        table: String,
        /// The condition; every row when absent.
        #[serde(default, rename = "where")]
        condition: Option<Condition>,
        /// The last row of the page before.
        #[serde(default)]
        after: Option<i64>,
        /// What the first page said; rows that were added later are left out.
        #[serde(default)]
        as_of: Option<u64>,
        /// At most so many rows.
        #[serde(default)]
        limit: Option<u64>,
    },
    /// Rows by their ids; ids without a row are left out.
    Get {
        /// The table.
        table: String,
        /// The ids.
        doc_ids: Vec<i64>,
    },
    /// How many rows meet a condition, if SQL alone can tell.
    Count {
        /// The table.
        table: String,
        /// The condition; every row when absent.
        #[serde(default, rename = "where")]
        condition: Option<Condition>,
    },
    /// Adds rows: all of them or none.
    Insert {
        /// The table.
        table: String,
        /// The rows.
        rows: Vec<Row>,
        /// Ids for them, where the plan gives some; as many as rows.
        #[serde(default)]
        doc_ids: Option<Vec<Option<i64>>>,
    },
    /// Sets and unsets fields of rows.
    Update {
        /// The table.
        table: String,
        /// Which rows.
        #[serde(flatten)]
        target: Target,
        /// Fields and their new values.
        #[serde(default)]
        set: Row,
        /// Fields that the rows lose.
        #[serde(default)]
        unset: Vec<String>,
    },
    /// Sets and unsets fields of each row in its own way: all rows or none.
    UpdateRows {
        /// The table.
        table: String,
        /// The rows.
        rows: Vec<RowUpdate>,
    },
    /// Updates the rows that meet a condition, or adds one.
    Upsert {
        /// The table.
        table: String,
        /// The condition, which SQL alone must be able to tell.
        #[serde(rename = "where")]
        condition: Condition,
        /// Fields and their values.
        row: Row,
    },
    /// Removes rows.
    Remove {
        /// The table.
        table: String,
        /// Which rows.
        #[serde(flatten)]
        target: Target,
    },
    /// A key for a new row, which no row has or had.
    NextId {
        /// The table.
        table: String,
    },
    /// Reads with SQL.
    Query {
        /// One `SELECT`.
        sql: String,
        /// A list or an object of parameters.
        #[serde(default)]
        params: Value,
    },
}

/// Which rows a write is about. Exactly one of the fields is given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Target {
    /// Rows by their ids; ids without a row are left out.
    #[serde(default)]
    pub doc_ids: Option<Vec<i64>>,
    /// Rows that meet a condition, which SQL alone must be able to tell.
    #[serde(default, rename = "where")]
    pub condition: Option<Condition>,
    /// All rows.
    #[serde(default)]
    pub all: bool,
}

/// How one row changes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowUpdate {
    /// The row.
    pub doc_id: i64,
    /// Fields and their new values.
    #[serde(default)]
    pub set: Row,
    /// Fields that the row loses.
    #[serde(default)]
    pub unset: Vec<String>,
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The tables.
    Tables {
        /// One for each table.
        tables: Vec<TableView>,
    },
    /// Rows of a table.
    Rows(Page),
    /// A number of rows. When SQL cannot tell, the number is absent and the caller counts what it finds.
    Count {
        /// The number.
        count: Option<u64>,
        /// Whether the number is there.
        exact: bool,
    },
    /// The rows that were written. When SQL cannot tell which they are, nothing was written, and the caller finds
    /// them and names them.
    Written {
        /// Their ids.
        doc_ids: Vec<i64>,
        /// Whether the write was carried out.
        exact: bool,
    },
    /// A key for a new row.
    Key {
        /// The key.
        key: Value,
    },
    /// What a query found.
    Found {
        /// The rows.
        rows: Vec<Row>,
        /// The columns of decimals, as in a page.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        decimals: Vec<String>,
    },
}

/// A page of rows, without their names, which are the same for all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Page {
    /// The visible columns, in order.
    pub columns: Vec<String>,
    /// The places of columns of decimals, which are numbers here where those have the same digits, and else text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decimals: Vec<usize>,
    /// The rows.
    pub rows: Vec<PageRow>,
    /// Whether these are the very rows that meet the condition; otherwise Python still has to decide on each.
    pub exact: bool,
    /// Whether there may be more rows behind the last one.
    pub more: bool,
    /// To be given with the next page's call.
    pub as_of: u64,
    /// The last row that was looked at, to be given as `after` with the next page's call.
    pub last: Option<i64>,
}

/// One row of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRow {
    /// Its id.
    pub doc_id: i64,
    /// A value for each column; `None` where the row lacks the field.
    pub values: Vec<Option<Value>>,
}

/// A table as a cell sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableView {
    /// Its name.
    pub name: String,
    /// Its visible columns and what they hold.
    pub columns: Vec<(String, ordain_types::ColumnType)>,
    /// The columns that identify a row.
    pub key: Vec<String>,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Whether rows may only be added.
    pub append_only: bool,
}

impl Serialize for PageRow {
    /// `[doc_id, [values]]`, or `[doc_id, [values], [positions]]` where fields are lacking.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values: Vec<&Value> =
            self.values.iter().map(|value| value.as_ref().unwrap_or(&Value::Null)).collect();
        let absent = self.values.iter().enumerate().filter(|(_, value)| value.is_none());
        let absent: Vec<usize> = absent.map(|(position, _)| position).collect();
        if absent.is_empty() {
            return (self.doc_id, values).serialize(serializer);
        }
        (self.doc_id, values, absent).serialize(serializer)
    }
}

impl Call {
    /// Reads a call from an operation's name and its arguments.
    pub fn parse(op: &str, args: Value) -> Result<Self, StoreError> {
        let bad = |message: String| StoreError::BadCall { message: message.chars().take(300).collect() };
        let Value::Object(mut members) = args else {
            return Err(bad("the arguments are not an object".to_owned()));
        };
        if members.insert("op".to_owned(), json!(op)).is_some() {
            return Err(bad("`op` is not an argument".to_owned()));
        }
        Self::deserialize(Value::Object(members)).map_err(|error| bad(error.to_string()))
    }
}

impl Reply {
    /// The reply as it travels.
    pub fn into_value(self) -> Value {
        // A reply holds nothing that JSON could not, so there is no error to report.
        serde_json::to_value(self).unwrap_or_default()
    }
}
