//! What the files hold, as the rules see it: tables with columns, and where they lie.

use serde_json::Value;

use super::lexicon::name_parts;
use crate::brief::FileBrief;

/// All tables of all files.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    pub(super) sources: Vec<Source>,
}

/// One table in one file, or the same table in several files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    /// The files that hold it; usually one.
    pub(super) files: Vec<String>,
    /// What kind of file it is.
    pub(super) kind: String,
    /// The sheet, key, member or element that it is, where the file has several.
    pub(super) table: Option<String>,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) columns: Vec<Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) parts: Vec<String>,
    pub(super) kind: ColumnKind,
    /// Its distinct texts, where they are few.
    pub(super) values: Vec<String>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Number,
    Date,
    Text,
    Boolean,
    Other,
}

impl Catalog {
    /// The tables of these files. Files with the same columns are one table in several pieces.
    pub(super) fn of(files: &[&FileBrief]) -> Self {
        let mut sources: Vec<Source> = Vec::new();
        for file in files {
            let tables = file.facts.get("tables").and_then(Value::as_array);
            for table in tables.into_iter().flatten() {
                let Some(source) = source(file, table) else { continue };
                match sources.iter_mut().find(|known| known.is_same_table(&source)) {
                    Some(known) => {
                        known.files.extend(source.files);
                        known.rows += source.rows;
                        known.bytes += source.bytes;
                        merge_values(&mut known.columns, &source.columns);
                    }
                    None => sources.push(source),
                }
            }
        }
        Self { sources }
    }
}

impl Source {
    /// What it is called in answers.
    pub(super) fn label(&self) -> String {
        let files = match self.files.as_slice() {
            [one] => one.clone(),
            several => format!("{} files", several.len()),
        };
        match &self.table {
            Some(table) if self.kind != "xml" => format!("{table} of {files}"),
            _ => files,
        }
    }

    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    fn is_same_table(&self, other: &Self) -> bool {
        let names = |source: &Self| -> Vec<String> {
            source.columns.iter().map(|column| column.name.clone()).collect()
        };
        // The sheets of one workbook are different things even when their columns are alike; files are not.
        self.kind == other.kind
            && self.files != other.files
            && self.table == other.table
            && names(self) == names(other)
    }
}

fn merge_values(known: &mut [Column], more: &[Column]) {
    for (column, other) in known.iter_mut().zip(more) {
        for value in &other.values {
            if !column.values.contains(value) {
                column.values.push(value.clone());
            }
        }
        if column.kind != other.kind && other.kind != ColumnKind::Other {
            column.kind = ColumnKind::Text;
        }
    }
}

fn source(file: &FileBrief, table: &Value) -> Option<Source> {
    let columns: Vec<Column> = table.get("columns")?.as_array()?.iter().filter_map(column).collect();
    if columns.is_empty() {
        return None;
    }
    Some(Source {
        files: vec![file.name.clone()],
        kind: file.kind.clone(),
        table: table.get("name").and_then(Value::as_str).map(str::to_owned),
        rows: table.get("rows").and_then(Value::as_u64).unwrap_or_default(),
        bytes: file.bytes,
        columns,
    })
}

fn column(facts: &Value) -> Option<Column> {
    let name = facts.get("name")?.as_str()?.to_owned();
    let kind = match facts.get("type").and_then(Value::as_str).unwrap_or_default() {
        "integer" | "real" | "decimal" | "percent" | "duration" => ColumnKind::Number,
        "date" | "timestamp" => ColumnKind::Date,
        "text" | "category" | "identifier" => ColumnKind::Text,
        "boolean" => ColumnKind::Boolean,
        _ => ColumnKind::Other,
    };
    let values = facts.get("values").and_then(Value::as_array);
    let values = values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Column { parts: name_parts(&name), name, kind, values })
}
