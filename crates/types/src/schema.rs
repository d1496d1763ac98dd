//! The shape of a workspace's tables, as the verifier, the planner and the store see it.

use serde::{Deserialize, Serialize};

/// All tables of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The tables, in the order in which they were declared.
    pub tables: Vec<Table>,
}

/// One table and the rules that hold for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Table {
    /// The table's name; plans see it as `<name>_tbl`.
    pub name: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The columns that identify a row.
    #[serde(default)]
    pub key: Vec<String>,
    /// Rows may be added, never changed or removed.
    #[serde(default)]
    pub append_only: bool,
    /// Nothing may be written. File tables are always read-only.
    #[serde(default)]
    pub read_only: bool,
    /// Plans may neither see nor write it.
    #[serde(default)]
    pub hidden: bool,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Whether a row may leave it out.
    #[serde(default)]
    pub nullable: bool,
    /// Whether plans may not see it.
    #[serde(default)]
    pub hidden: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Boolean,
    /// A point in time, written in ISO 8601.
    Timestamp,
    /// A decimal, exact to its last digit.
    Decimal,
    /// A nested value: a list or an object.
    Json,
    /// Whatever was written: text, a number, a truth value or a nested one.
    Any,
}

/// Describes types that stand in a file as one text, for editors.
#[macro_export]
#[doc(hidden)]
macro_rules! written_as_text {
    ($($name:ident),+) => {
        $(impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        })+
    };
}

impl Schema {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
