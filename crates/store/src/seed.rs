//! The first rows of a table, from a file.
//!
//! JSON is read here ([`json`]): its values have their types already, and are kept exactly as TinyDB would keep them.
//! Every other file is read by the [`SeedReader`] that the caller brings. Then [`shape`] holds every value against its
//! column. Nothing is guessed at: a value that does not fit is an error that names the file and the line.

mod json;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::pin::Pin;

use ordain_types::{Column, ColumnType, Table, is_timestamp};
use serde_json::Value;

use crate::options::TableDeclaration;
use crate::relation::{ABSENT, DOC_ID, Image};
use crate::value;

/// Larger files are loaded by other means.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// PostgreSQL cuts longer names without a word.
const NAME_BYTES_MAX: usize = 63;
const COLUMNS_MAX: usize = 500;

/// Why a seed file was not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct SeedError {
    /// The file, as the workspace names it.
    pub file: String,
    /// The line, counted from one, where the fault has one.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

/// Reads seed files that are not JSON.
pub trait SeedReader: fmt::Debug + Send + Sync {
    /// Reads a file. Columns that the table declares have the declared type.
    fn read<'a>(&'a self, path: &'a Path, declaration: &'a TableDeclaration) -> SeedFuture<'a>;
}

/// What a [`SeedReader`] gives, when it is done.
pub type SeedFuture<'a> = Pin<Box<dyn Future<Output = Result<SeedTable, SeedError>> + Send + 'a>>;

/// A table as a [`SeedReader`] found it in a file.
#[derive(Debug, Clone, Default)]
pub struct SeedTable {
    /// The columns and what they hold.
    pub columns: Vec<(String, ColumnType)>,
    /// The line of each row, and a value for each column.
    pub rows: Vec<(u64, Vec<Value>)>,
    /// How the file was read, where that is worth saying.
    pub notes: Vec<String>,
}

/// A file's rows before they are held against their columns.
#[derive(Debug, Default)]
struct Raw {
    /// All field names, in the order in which they first occur.
    names: Vec<String>,
    /// Their types, where the reader of the file knows them.
    types: Option<Vec<ColumnType>>,
    rows: Vec<RawRow>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct RawRow {
    line: u64,
    doc_id: Option<i64>,
    /// One place for each of [`Raw::names`]; shorter rows lack the last ones.
    values: Vec<Option<Value>>,
}

/// A table and its rows, ready to be stored.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) table: Table,
    pub(crate) rows: Vec<Image>,
    /// How the file was read, where that is worth saying.
    pub(crate) notes: Vec<String>,
}

/// Whether a file is one that the store reads by itself.
pub(crate) fn is_json(path: &Path) -> bool {
    matches!(extension(path).as_deref(), Some("json" | "jsonl" | "ndjson"))
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

/// The seed of a declared table from what a [`SeedReader`] read.
pub(crate) fn from_table(
    path: &Path,
    read: SeedTable,
    declaration: &TableDeclaration,
) -> Result<Seed, SeedError> {
    let file = shown_name(path);
    let (names, types) = read.columns.into_iter().unzip();
    let row = |(line, values): (u64, Vec<Value>)| RawRow {
        line,
        doc_id: None,
        values: values.into_iter().map(Some).collect(),
    };
    let rows = read.rows.into_iter().map(row).collect();
    let source = Source { file: &file, text: "", counted: Cell::new((0, 1)) };
    shape(&source, Raw { names, types: Some(types), rows, notes: read.notes }, declaration)
}

/// Reads the JSON seed of a declared table.
pub(crate) fn read(path: &Path, declaration: &TableDeclaration) -> Result<Seed, SeedError> {
    let file = shown_name(path);
    let at = |line, message: String| SeedError { file: file.clone(), line, message, hint: None };
    // A pipe that is opened would be waited for, so the kind is looked at before.
    let metadata = std::fs::metadata(path).map_err(|error| at(None, unreadable(&error)))?;
    if !metadata.is_file() {
        return Err(at(None, "it is not an ordinary file".to_owned()));
    }
    let too_large = || at(None, format!("the file has more than {FILE_BYTES_MAX} bytes"));
    if metadata.len() > FILE_BYTES_MAX {
        return Err(too_large());
    }
    let opened = fs_err::File::open(path).map_err(|error| at(None, error.to_string()))?;
    let mut bytes = Vec::new();
    let read = opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| at(None, error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large());
    }
    parse(&file, &bytes, declaration)
}

fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => format!("it cannot be read: {error}"),
    }
}

/// Reads a seed from the bytes of a JSON file; the name tells which form.
pub(crate) fn parse(file: &str, bytes: &[u8], declaration: &TableDeclaration) -> Result<Seed, SeedError> {
    let source = Source::new(file, bytes)?;
    let raw = match extension(Path::new(file)).as_deref() {
        Some("json") => json::document(&source, &declaration.name)?,
        _ => json::lines(&source)?,
    };
    shape(&source, raw, declaration)
}

/// A file's text, with a way to say where something in it is.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// The last place asked for in order, and its line: rows are asked for in order, and counting from the start
    /// for each would take quadratic time.
    counted: Cell<(usize, u64)>,
}

impl<'a> Source<'a> {
    fn new(file: &'a str, bytes: &'a [u8]) -> Result<Self, SeedError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = line_at(&bytes[..error.valid_up_to()]);
            let message = "the text is not UTF-8".to_owned();
            SeedError { file: file.to_owned(), line: Some(line), message, hint: None }
        })?;
        Ok(Self { file, text, counted: Cell::new((0, 1)) })
    }

    /// The line of a place that lies behind the one asked for last.
    fn line_of_next(&self, offset: usize) -> u64 {
        let (from, line) = self.counted.get();
        if offset < from || offset > self.text.len() {
            return self.line_of(offset);
        }
        let line = line + line_at(&self.text.as_bytes()[from..offset]) - 1;
        self.counted.set((offset, line));
        line
    }

    fn line_of(&self, offset: usize) -> u64 {
        line_at(&self.text.as_bytes()[..offset.min(self.text.len())])
    }

    fn error(&self, line: Option<u64>, message: impl Into<String>) -> SeedError {
        SeedError { file: self.file.to_owned(), line, message: message.into(), hint: None }
    }
}

impl SeedError {
    /// A fault of a whole file.
    pub fn new(path: &Path, message: &str) -> Self {
        Self { file: shown_name(path), line: None, message: message.to_owned(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A file's name with its folder, which is how the workspace names it.
fn shown_name(path: &Path) -> String {
    let mut parts: Vec<_> = path.iter().rev().take(2).collect();
    parts.reverse();
    parts.iter().collect::<std::path::PathBuf>().display().to_string()
}

fn line_at(before: &[u8]) -> u64 {
    before.split(|byte| *byte == b'\n').count() as u64
}

impl Raw {
    /// The place of a field, which is made when it is new.
    fn place(&mut self, places: &mut HashMap<String, usize>, name: &str) -> usize {
        if let Some(place) = places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.to_owned());
        places.insert(name.to_owned(), place);
        place
    }

    /// The narrowest type that holds every value of a column. One that is null in every row holds any value.
    fn column_type(&self, place: usize) -> ColumnType {
        let values = self.rows.iter().filter_map(|row| row.values.get(place)?.as_ref());
        let mut values = values.filter(|value| !value.is_null()).peekable();
        if let Some(types) = &self.types
            && (values.peek().is_some() || self.rows.is_empty())
        {
            return types[place];
        }
        let types = values.map(type_of);
        types.reduce(wider).unwrap_or(ColumnType::Any)
    }
}

fn type_of(value: &Value) -> ColumnType {
    match value {
        Value::Bool(_) => ColumnType::Boolean,
        Value::Number(number) if number.is_f64() => ColumnType::Real,
        Value::Number(_) => ColumnType::Integer,
        Value::String(text) if is_timestamp(text) => ColumnType::Timestamp,
        Value::String(_) => ColumnType::Text,
        Value::Null | Value::Array(_) | Value::Object(_) => ColumnType::Json,
    }
}

/// The type that holds the values of both.
fn wider(one: ColumnType, other: ColumnType) -> ColumnType {
    use ColumnType::{Any, Integer, Real, Text, Timestamp};
    match (one, other) {
        _ if one == other => one,
        (Integer, Real) | (Real, Integer) => Real,
        (Text, Timestamp) | (Timestamp, Text) => Text,
        _ => Any,
    }
}

fn shape(source: &Source<'_>, mut raw: Raw, declaration: &TableDeclaration) -> Result<Seed, SeedError> {
    let table = table_of(source, &raw, declaration)?;
    let untyped = untyped(&raw, declaration);
    raw.notes.extend(untyped);
    check_names(source, &table)?;
    // The raw rows hold the file's fields; the table may have declared columns that no row mentions.
    let places: Vec<Option<usize>> =
        table.columns.iter().map(|column| raw.names.iter().position(|name| *name == column.name)).collect();
    let mut rows = Vec::with_capacity(raw.rows.len());
    let mut lines = Vec::with_capacity(raw.rows.len());
    let mut next_id = 1;
    for mut row in raw.rows {
        let mut values = Vec::with_capacity(table.columns.len());
        for (column, place) in std::iter::zip(&table.columns, &places) {
            let given = place.and_then(|place| row.values.get_mut(place).and_then(Option::take));
            values.push(typed(source, &table, column, given, row.line)?);
        }
        let doc_id = row.doc_id.unwrap_or(next_id);
        next_id = next_id.max(doc_id + 1);
        rows.push(Image { doc_id, values });
        lines.push(row.line);
    }
    check_key(source, &table, &rows, &lines)?;
    Ok(Seed { table, rows, notes: raw.notes })
}

/// What to say of columns that no row has a value in, and whose type nobody declared.
fn untyped(raw: &Raw, declaration: &TableDeclaration) -> Vec<String> {
    let is_null = |place: usize| {
        let mut values = raw.rows.iter().map(|row| row.values.get(place).and_then(Option::as_ref));
        values.all(|value| value.is_none_or(Value::is_null))
    };
    let names = raw.names.iter().enumerate().filter(|(place, name)| {
        !raw.rows.is_empty() && !declaration.columns.contains_key(*name) && is_null(*place)
    });
    let note = |(_, name): (usize, &String)| {
        format!(
            "{name}: no row of the seed has a value in it, so it takes any value unless its type is declared under `[tables.{}.columns]`",
            declaration.name
        )
    };
    names.map(note).collect()
}

fn typed(
    source: &Source<'_>,
    table: &Table,
    column: &Column,
    given: Option<Value>,
    line: u64,
) -> Result<Option<Value>, SeedError> {
    let wrong = |message: String| {
        source
            .error(Some(line), format!("column `{}` cannot hold {message}", column.name))
            .hint(format!("declare its type in `[tables.{}.columns]`, or correct the value", table.name))
    };
    match given {
        None if column.nullable => Ok(None),
        None => Err(wrong("nothing, and the row leaves it out".to_owned())),
        Some(value) => value::check(column.column_type, column.nullable, value).map(Some).map_err(wrong),
    }
}

fn table_of(source: &Source<'_>, raw: &Raw, declaration: &TableDeclaration) -> Result<Table, SeedError> {
    let mut columns = Vec::new();
    for (place, name) in raw.names.iter().enumerate() {
        let (column_type, nullable) = match declaration.columns.get(name) {
            Some(declared) => (declared.column_type, declared.nullable),
            None => (raw.column_type(place), true),
        };
        columns.push(column(name, column_type, nullable, declaration));
    }
    for (name, declared) in &declaration.columns {
        if !raw.names.contains(name) {
            columns.push(column(name, declared.column_type, declared.nullable, declaration));
        }
    }
    // A double would lose digits, and text would not be compared as a number.
    if let Some(column) = columns.iter().find(|column| column.column_type == ColumnType::Decimal) {
        let message = format!(
            "column `{}` is declared as a decimal, which tables with a seed do not have",
            column.name
        );
        return Err(source
            .error(None, message)
            .hint("declare it as `real`, or as `integer` of the smallest unit"));
    }
    if columns.is_empty() {
        let hint = format!("declare its columns in `[tables.{}.columns]`", declaration.name);
        return Err(source.error(None, "there is no row to infer columns from").hint(hint));
    }
    Ok(Table {
        name: declaration.name.clone(),
        columns,
        key: declaration.key.clone(),
        append_only: declaration.append_only,
        read_only: declaration.read_only,
        hidden: declaration.hidden,
    })
}

fn column(name: &str, column_type: ColumnType, nullable: bool, declaration: &TableDeclaration) -> Column {
    let is_key = declaration.key.iter().any(|key| key == name);
    Column {
        name: name.to_owned(),
        column_type,
        nullable: nullable && !is_key,
        hidden: declaration.hidden_columns.iter().any(|hidden| hidden == name),
    }
}

fn check_names(source: &Source<'_>, table: &Table) -> Result<(), SeedError> {
    if table.columns.len() > COLUMNS_MAX {
        return Err(source.error(None, format!("there are more than {COLUMNS_MAX} columns")));
    }
    let mut seen = HashMap::new();
    for column in &table.columns {
        let name = &column.name;
        let shown = crate::relation::shortened(name);
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            let message =
                format!("`{shown}` is not a column name: it has 1 to {NAME_BYTES_MAX} bytes of text");
            return Err(source.error(None, message));
        }
        if [DOC_ID, ABSENT].contains(&name.to_lowercase().as_str()) {
            return Err(source
                .error(None, format!("the column name `{shown}` is reserved"))
                .hint("rename the field"));
        }
        if let Some(other) = seen.insert(name.to_lowercase(), name) {
            let message = format!("the columns `{other}` and `{shown}` differ only in case");
            return Err(source.error(None, message).hint("rename one of them"));
        }
    }
    for key in &table.key {
        if table.column(key).is_none() {
            let names = table.columns.iter().map(|column| column.name.as_str());
            let error = source.error(None, format!("the key column `{key}` is in no row"));
            return Err(match ordain_types::nearest(key, names) {
                Some(nearest) => error.hint(format!("did you mean `{nearest}`?")),
                None => error.hint(format!("correct `key` in `[tables.{}]`", table.name)),
            });
        }
    }
    Ok(())
}

fn check_key(source: &Source<'_>, table: &Table, rows: &[Image], lines: &[u64]) -> Result<(), SeedError> {
    let positions: Vec<usize> = table
        .key
        .iter()
        .filter_map(|key| table.columns.iter().position(|column| column.name == *key))
        .collect();
    let (mut keys, mut ids) = (HashMap::new(), HashMap::new());
    for (row, line) in std::iter::zip(rows, lines) {
        if let Some(first) = ids.insert(row.doc_id, *line) {
            let message = format!("document {} was given already in line {first}", row.doc_id);
            return Err(source.error(Some(*line), message));
        }
        if positions.is_empty() {
            continue;
        }
        let key: Vec<String> = positions
            .iter()
            .map(|position| row.values[*position].as_ref().map_or_else(String::new, Value::to_string))
            .collect();
        let key = key.join(", ");
        if let Some(first) = keys.insert(key.clone(), *line) {
            let message = format!("the key {key} was given already in line {first}");
            return Err(source.error(Some(*line), message).hint("every row needs a key of its own"));
        }
    }
    Ok(())
}
