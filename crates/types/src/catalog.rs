//! What the owner of a workspace says about its data and its verbs: the catalog that the reader and the briefs share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Approval;

/// Everything that `ordain.toml` declares about meanings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Catalog {
    /// What store tables are about, by name.
    pub tables: BTreeMap<String, TableNotes>,
    /// How data files are read and what they are about, by table name.
    pub data: BTreeMap<String, DataNotes>,
    /// The verbs by which requests change data.
    pub actions: Vec<Action>,
    /// What may change data at all.
    pub policy: ChangePolicy,
    /// Terms with a formula.
    pub metrics: Vec<Metric>,
    /// Words that stand for a condition or for the rows of a table.
    pub phrasings: Vec<Phrasing>,
}

impl Catalog {
    /// The name of the section about a data file: the file's name as it is, or without one ending after the other, as
    /// `orders.csv` and `orders` of `orders.csv.gz`.
    pub fn section_of(&self, file: &str) -> Option<&String> {
        let mut names = std::iter::successors(Some(file), |name| Some(name.rsplit_once('.')?.0));
        names.find_map(|name| Some(self.data.get_key_value(name)?.0))
    }

    /// Whether fractions of a table's numbers are written with a comma: in the file of this name, or the one that it was
    /// made from.
    pub fn has_decimal_comma(&self, table: &str) -> bool {
        let of_file = self.data.get(table).and_then(|notes| notes.decimal);
        let of_seed = self.tables.get(table).and_then(|notes| notes.decimal);
        of_seed.or(of_file) == Some(',')
    }

    /// The columns of store tables that name rows of another table, each with the column that it names them by.
    pub fn references(&self) -> Vec<[Reference; 2]> {
        let columns = self.tables.iter().flat_map(|(table, notes)| {
            notes.columns.iter().map(move |(column, notes)| (table, column, notes))
        });
        let pairs = columns.filter_map(|(table, column, notes)| {
            let from = Reference { table: table.clone(), column: column.clone() };
            Some([from, notes.references.clone()?])
        });
        pairs.collect()
    }
}

/// What a table is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableNotes {
    /// What its rows are, in a sentence.
    pub description: Option<String>,
    /// Other words for its rows, in the singular or the plural.
    pub synonyms: Vec<String>,
    /// What its columns hold, where the owner says so.
    pub columns: BTreeMap<String, ColumnNotes>,
    /// Columns whose values follow from rows that come and go: a running balance, the next id.
    pub derived: Vec<String>,
    /// The decimal mark that is declared for the file with its first rows.
    pub decimal: Option<char>,
}

/// What a column holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnNotes {
    /// Its type in a data file; a store column's type is the store's.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub data_type: Option<DataType>,
    /// What it means, in a sentence.
    pub description: Option<String>,
    /// Other words for it.
    pub synonyms: Vec<String>,
    /// What its numbers count: `USD`, `kg`, `h`.
    pub unit: Option<String>,
    /// The column of another table whose values it repeats.
    pub references: Option<Reference>,
    /// How its texts end, where they name a row of another table: `{quantity} x {inventory.name}`.
    pub ends: Option<Ending>,
}

/// How texts end: a number, perhaps, then fixed words, then the name of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Ending {
    /// What the number is called.
    pub number: Option<String>,
    /// The text before the name.
    pub before: String,
    /// The column that holds the names.
    pub names: Reference,
}

/// `table.column`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Reference {
    /// The table.
    pub table: String,
    /// Its column.
    pub column: String,
}

/// What a column of a data file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataType {
    /// Text.
    Text,
    /// Digits that are no quantity: postal codes, phone numbers, ids.
    Identifier,
    /// One of a few texts.
    Category,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// An exact number, mostly of money.
    Decimal,
    /// A share, written with or without `%`.
    Percent,
    /// True or false.
    Boolean,
    /// A day.
    Date,
    /// A point in time.
    Timestamp,
    /// A span of time.
    Duration,
}

/// How a data file is read where the file does not say it, and what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataNotes {
    /// What its rows are, in a sentence.
    pub description: Option<String>,
    /// Other words for its rows.
    pub synonyms: Vec<String>,
    /// What its columns hold: a type such as `"identifier"`, or `{ type = …, unit = … }`.
    #[serde(deserialize_with = "data_columns")]
    #[schemars(schema_with = "data_columns_schema")]
    pub columns: BTreeMap<String, ColumnNotes>,
    /// `day-first`, `month-first`, `year-first`, or a pattern such as `%d.%m.%Y`.
    pub date_format: Option<String>,
    /// The decimal mark: `.` or `,`.
    pub decimal: Option<char>,
    /// The mark between thousands: `,`, `.`, `'` or a space.
    pub thousands: Option<char>,
    /// The separator between two cells.
    pub delimiter: Option<char>,
    /// The text's encoding: `utf-8`, `latin-1` …
    pub encoding: Option<String>,
    /// The sheet of a workbook.
    pub sheet: Option<String>,
    /// The row with the columns' names, counted from one.
    pub header_row: Option<u32>,
    /// Texts that mean that there is no value.
    pub null_values: Vec<String>,
}

/// A verb of the workspace: a function of `helpers.py` that changes data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The function.
    pub name: String,
    /// The verbs that ask for it.
    pub words: Vec<String>,
    /// What it does, in a sentence.
    #[serde(default)]
    pub description: Option<String>,
    /// Params that a list in the request gives several times, with a call for each.
    #[serde(default)]
    pub each: Vec<String>,
    /// What it is called with.
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    /// What must be so; models are shown it, and the function checks it.
    #[serde(default)]
    pub requires: Option<String>,
    /// When its changes wait for a person; the workspace's own rule holds too.
    #[serde(default)]
    pub approval: Approval,
    /// Words that may follow and change nothing, with a time after them or not: `I bought`, `that arrived`.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The tables that it may write; those that its source names as `<table>_tbl` if none is listed.
    #[serde(default)]
    pub writes: Vec<String>,
    /// The rows that tell what it did, for questions in its words: `who bought …`.
    #[serde(default)]
    pub records: Option<Records>,
}

/// The rows that an action leaves behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// The table.
    pub table: String,
    /// Which of its rows, such as `amount > 0`; all if it is not said.
    #[serde(default, rename = "where")]
    pub filter: Option<String>,
    /// Those of the action's words that the customer does (`buy`); the others are done by the workspace's own people (`sell`).
    #[serde(default)]
    pub by: Vec<String>,
    /// What such a row is called: `sale`.
    #[serde(default)]
    pub nouns: Vec<String>,
}

/// What a function is called with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Param {
    /// A row of this table, given as its key.
    pub table: Option<String>,
    /// A value of this column.
    pub column: Option<Reference>,
    /// What kind of value it is, if it is neither a row nor a column's value.
    #[serde(rename = "type")]
    pub kind: Option<ParamKind>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
    /// Words that stand before it.
    pub after: Vec<String>,
    /// What it is if the request does not say it. Without one, the request must.
    pub default: Option<Value>,
    /// What becomes of a name that no row has in `column`, or that stands alone.
    pub new: NewNames,
}

/// What becomes of a name that no row has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewNames {
    /// It is asked back whether it is a new one.
    #[default]
    Ask,
    /// It is taken as it is.
    Take,
}

/// The kind of a value that an action is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// A whole number of things.
    Count,
    /// A number.
    Number,
    /// An amount of money.
    Money,
    /// A share, as `10` for 10 %.
    Percent,
    /// Somebody's or something's name, in free words.
    Name,
    /// Any text, in quotes or to the end of the request.
    Text,
    /// A day, as `2026-03-14`.
    Date,
    /// A time of day, as `14:30`.
    Time,
}

/// A value that a plan takes from the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundParam {
    /// Its name in `params`.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The words that it came from; empty if it is a default.
    pub said: String,
    /// Where they stand in the request, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(usize, usize)>,
}

/// What may change data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangePolicy {
    /// Whether plans may write outside of actions.
    pub changes: Changes,
    /// What becomes of `set COLUMN of ROW to VALUE`, `add` and `remove`.
    pub direct_changes: DirectChanges,
}

/// Whether plans may write outside of actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// They may, where the tables' rules allow it.
    #[default]
    Any,
    /// Plans write inside actions only.
    Actions,
}

/// What becomes of a change that no action covers and that the reader was asked for in so many words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectChanges {
    /// It waits for a person.
    #[default]
    Hold,
    /// It is committed.
    Commit,
}

/// A term with a formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The term.
    pub name: String,
    /// Other words for it.
    #[serde(default)]
    pub synonyms: Vec<String>,
    /// The table it is about.
    pub table: String,
    /// `sum(quantity * price)`, `count()`, or a ratio of two such: `sum(won) / count()`.
    pub formula: String,
    /// The rows that count: a condition such as `status = "paid"`.
    #[serde(default)]
    pub filter: Option<String>,
    /// The columns by which it may be split; any if none is listed.
    #[serde(default)]
    pub by: Vec<String>,
    /// What it comes to on the rows of the seed; another value is an error until the first run has changed rows.
    #[serde(default)]
    pub anchor: Option<f64>,
}

/// Words that stand for a condition (`cheap`), or for rows of a table (`borrowed`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phrasing {
    /// The words.
    pub words: Vec<String>,
    /// The table it is about.
    pub table: String,
    /// The condition, such as `price < 50`; rows of the table in general if there is none.
    #[serde(default)]
    pub means: Option<String>,
}

impl Action {
    /// The params in the order in which a person would say them: those of `each` first.
    pub fn ordered(&self) -> Vec<(&str, &Param)> {
        let mut all: Vec<(&str, &Param)> =
            self.params.iter().map(|(name, param)| (name.as_str(), param)).collect();
        let place = |name: &str| self.each.iter().position(|each| each == name).unwrap_or(usize::MAX);
        all.sort_by_key(|(name, _)| place(name));
        all
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.table, self.column)
    }
}

impl From<Reference> for String {
    fn from(reference: Reference) -> Self {
        reference.to_string()
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.rsplit_once('.') {
            Some((table, column)) if !table.is_empty() && !column.is_empty() => {
                Ok(Self { table: table.to_owned(), column: column.to_owned() })
            }
            _ => Err(serde::de::Error::custom(format!("`{text}` names no column; write \"table.column\""))),
        }
    }
}

fn data_columns_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let forms = [generator.subschema_for::<DataType>(), generator.subschema_for::<ColumnNotes>()];
    schemars::json_schema!({ "type": "object", "additionalProperties": { "anyOf": forms } })
}

crate::written_as_text!(Reference);
crate::written_as_text!(Ending);

impl std::fmt::Display for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(number) = &self.number {
            write!(formatter, "{{{number}}}")?;
        }
        write!(formatter, "{}{{{}}}", self.before, self.names)
    }
}

impl From<Ending> for String {
    fn from(ending: Ending) -> Self {
        ending.to_string()
    }
}

impl std::str::FromStr for Ending {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is no ending; write it as \"{{quantity}} x {{table.column}}\"");
        let (before, names) =
            text.strip_suffix('}').and_then(|text| text.rsplit_once('{')).ok_or_else(fault)?;
        let (table, column) = names.rsplit_once('.').ok_or_else(fault)?;
        let (number, before) = match before.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((number, before)) => (Some(number.to_owned()), before),
            None => (None, before),
        };
        let is_empty = |name: &str| name.trim().is_empty();
        if [table, column, before].into_iter().chain(number.as_deref()).any(is_empty)
            || before.contains(['{', '}'])
        {
            return Err(fault());
        }
        let names = Reference { table: table.to_owned(), column: column.to_owned() };
        Ok(Self { number, before: before.to_owned(), names })
    }
}

impl<'de> Deserialize<'de> for Ending {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

fn data_columns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ColumnNotes>, D::Error> {
    let written = BTreeMap::<String, Value>::deserialize(deserializer)?;
    let read = |value: Value| match value {
        Value::String(_) => {
            let data_type = DataType::deserialize(value).map_err(serde::de::Error::custom)?;
            Ok(ColumnNotes { data_type: Some(data_type), ..ColumnNotes::default() })
        }
        other => ColumnNotes::deserialize(other).map_err(serde::de::Error::custom),
    };
    written.into_iter().map(|(name, value)| Ok((name, read(value)?))).collect()
}
