//! Shows tables: what a column is called, means and holds, in as much detail as there is room for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ordain_types::{Column, ColumnNotes, ColumnType};
use serde_json::Value;

use super::text;
use crate::brief::{Brief, ColumnBrief, TableBrief};

/// Texts longer than this are excerpts, which stand apart among the data.
const SHORT_CHARS: usize = 40;
const EXCERPT_CHARS: usize = 160;
const ABOUT_CHARS: usize = 200;
const SHAPE_CHARS: usize = 500;
/// What is shown of tables that the request is about, where the schema had to leave it out.
const RELEVANT_CHARS_MAX: usize = 5_000;
const RELEVANT_TABLES_MAX: usize = 50;
/// As much of a request as is compared with the tables.
const REQUEST_BYTES_MAX: usize = 4_096;

/// How much of the tables is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    samples: usize,
    distinct: usize,
    columns: usize,
    tables: usize,
    has_notes: bool,
    pub(super) has_excerpts: bool,
}

impl Detail {
    const ALL: Self =
        Self { samples: 2, distinct: 16, columns: 400, tables: 200, has_notes: true, has_excerpts: true };
    /// Columns with their types, and the smallest domains.
    pub(super) const NAMES: Self =
        Self { samples: 0, distinct: 4, columns: 80, tables: 60, has_notes: false, has_excerpts: false };
    /// From everything to little more than names.
    pub(super) const LEVELS: [Self; 4] = [
        Self::ALL,
        Self { samples: 1, distinct: 8, columns: 200, tables: 100, ..Self::ALL },
        Self::NAMES,
        Self { samples: 0, distinct: 0, columns: 25, tables: 20, has_notes: false, has_excerpts: false },
    ];

    /// Whether it shows more than another one.
    pub(super) fn is_fuller_than(self, other: Self) -> bool {
        self.columns > other.columns
    }

    /// Whether something is left out that the first level shows.
    pub(super) fn is_short(self) -> bool {
        self.samples < Self::ALL.samples
    }
}

/// Every table with its columns.
pub(super) fn tables(brief: &Brief, detail: Detail) -> String {
    let mut text = String::new();
    for table in shown(brief).take(detail.tables) {
        one_table(&mut text, brief, table, detail);
    }
    let left_out: Vec<String> =
        shown(brief).skip(detail.tables).map(|brief| text::line(&brief.table.name, 60)).collect();
    if !left_out.is_empty() {
        let _ = writeln!(text, "more tables: {}", text::cut(&left_out.join(", "), 2000));
    }
    if detail.is_short() {
        text.push_str("Sample values and some notes are left out here; a look shows them.\n");
    }
    text
}

fn shown(brief: &Brief) -> impl Iterator<Item = &TableBrief> {
    brief.tables.iter().filter(|brief| !brief.table.hidden)
}

/// The tables that the request speaks of in all detail, where the schema is short.
pub(super) fn relevant(brief: &Brief) -> String {
    let request = &brief.request[..brief.request.floor_char_boundary(REQUEST_BYTES_MAX)];
    let words: BTreeSet<String> = words(request).collect();
    let mut ranked: Vec<(usize, &TableBrief)> = shown(brief)
        .map(|table| (relevance(brief, table, &words), table))
        .filter(|(rank, _)| *rank > 0)
        .collect();
    ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    let mut text = String::new();
    for (_, table) in ranked.into_iter().take(RELEVANT_TABLES_MAX) {
        let mut one = String::new();
        one_table(&mut one, brief, table, Detail::ALL);
        if text.len() + one.len() <= RELEVANT_CHARS_MAX {
            text.push_str(&one);
        }
    }
    text
}

/// How many words of the request stand among the table's names and short values.
fn relevance(brief: &Brief, table: &TableBrief, words: &BTreeSet<String>) -> usize {
    let notes = brief.catalog.tables.get(&table.table.name);
    let columns = table.table.columns.iter().map(|column| column.name.as_str());
    let synonyms = notes.into_iter().flat_map(|notes| &notes.synonyms).map(String::as_str);
    let values = table.columns.iter().filter_map(|column| column.values.as_ref()).flatten();
    let values = values.filter_map(Value::as_str).filter(|text| text.len() <= SHORT_CHARS);
    let known = [table.table.name.as_str()].into_iter().chain(columns).chain(synonyms).chain(values);
    let shared: BTreeSet<String> = known.flat_map(self::words).filter(|word| words.contains(word)).collect();
    shared.len()
}

/// Words of four letters and more, in lower case and in the singular.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() >= 4);
    words.map(|word| word.to_lowercase().trim_end_matches('s').to_owned())
}

fn one_table(text: &mut String, brief: &Brief, table: &TableBrief, detail: Detail) {
    let shape = &table.table;
    let notes = brief.catalog.tables.get(&shape.name);
    let about = notes.and_then(|notes| notes.description.as_deref()).filter(|_| detail.has_notes);
    let mut rules = vec![format!("{} rows", table.rows)];
    if !shape.key.is_empty() {
        rules.push(format!("key {}", text::line(&shape.key.join(", "), 200)));
    }
    let indexed: Vec<&str> =
        table.indexes.iter().filter_map(|columns| columns.first()).map(String::as_str).collect();
    let indexed: Vec<&str> =
        indexed.into_iter().filter(|column| !shape.key.iter().any(|key| key == column)).collect();
    if !indexed.is_empty() {
        rules.push(format!("indexed by {}", text::line(&indexed.join(", "), 200)));
    }
    if shape.append_only {
        rules.push("append-only: rows are inserted, never updated or removed".to_owned());
    }
    if shape.read_only {
        rules.push("read-only".to_owned());
    }
    let name = text::line(&shape.name, 100);
    let variable = if shape.read_only && !is_name(&shape.name) {
        format!(" as frame({})", text::value(&Value::from(shape.name.as_str()), 100))
    } else {
        String::new()
    };
    let about = about.map(|about| format!(": {}", text::line(about, ABOUT_CHARS))).unwrap_or_default();
    let _ = writeln!(text, "table {name}{variable} ({}){about}", rules.join("; "));
    let columns = shape.columns.iter().filter(|column| !column.hidden);
    let column_notes = notes.map(|notes| &notes.columns);
    for column in columns.clone().take(detail.columns) {
        let _ = writeln!(text, "  {}", one_column(table, column, column_notes, detail));
    }
    let more = columns.count().saturating_sub(detail.columns);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more columns");
    }
}

fn is_name(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || character == '_')
}

fn one_column(
    table: &TableBrief,
    column: &Column,
    notes: Option<&BTreeMap<String, ColumnNotes>>,
    detail: Detail,
) -> String {
    let notes = notes.and_then(|notes| notes.get(&column.name));
    let mut kind = type_name(column.column_type).to_owned();
    if let Some(unit) = notes.and_then(|notes| notes.unit.as_deref()) {
        let _ = write!(kind, " {}", text::line(unit, 20));
    }
    let mut facts = vec![kind];
    let is_key = table.table.key.contains(&column.name);
    let declared = notes.and_then(|notes| notes.references.as_ref());
    let declared = declared.map(|there| (there.table.as_str(), there.column.as_str()));
    let foreign = table.references.iter().filter(|(from, _, _)| *from == column.name);
    let foreign = foreign.map(|(_, table, there)| (table.as_str(), there.as_str()));
    let reference = declared.into_iter().chain(foreign).next();
    if let Some((table, there)) = reference {
        facts.push(format!("of {}.{}", text::line(table, 60), text::line(there, 60)));
    }
    if !column.nullable && !is_key {
        facts.push("required".to_owned());
    }
    for (role, _) in table.roles.iter().filter(|(_, name)| **name == column.name) {
        facts.push(format!("is the {}", text::line(role, 40)));
    }
    if let Some(about) = notes.and_then(|notes| notes.description.as_deref()).filter(|_| detail.has_notes) {
        facts.push(text::line(about, ABOUT_CHARS));
    }
    if let Some(known) = table.columns.iter().find(|known| known.name == column.name) {
        if known.null_share > 0.0 {
            facts.push(format!("{:.0} % missing", (known.null_share * 100.0).max(1.0)));
        }
        // Of keys the form counts; what refers to them has it too.
        if is_key && detail.samples > 0 {
            facts.extend(samples(known, detail));
        } else if reference.is_none() && !is_key {
            facts.extend(values(known, column.column_type, detail));
        }
    }
    format!("{}: {}", text::line(&column.name, 100), facts.join(", "))
}

/// What a column holds: all values of a small domain, the range of numbers and times, the shape of JSON, else samples.
fn values(known: &ColumnBrief, column_type: ColumnType, detail: Detail) -> Option<String> {
    if column_type == ColumnType::Boolean {
        return None;
    }
    if let Some(shape) = &known.shape {
        return Some(text::line(shape, SHAPE_CHARS));
    }
    let all = known.values.as_ref().filter(|all| !all.is_empty());
    if matches!(
        column_type,
        ColumnType::Integer | ColumnType::Real | ColumnType::Decimal | ColumnType::Timestamp
    ) {
        // By type, not by text; single numbers change too often to be worth listing.
        let (least, most) = all.and_then(|all| range(all)).filter(|_| detail.samples > 0)?;
        if least == most {
            return Some(format!("always {}", text::value(least, SHORT_CHARS)));
        }
        return Some(format!("{} to {}", text::value(least, SHORT_CHARS), text::value(most, SHORT_CHARS)));
    }
    if let Some(all) =
        all.filter(|all| all.len() <= detail.distinct && all.iter().all(|value| !is_long(value)))
    {
        return Some(format!("all values {}", text::value(&Value::from(all.clone()), SHORT_CHARS)));
    }
    samples(known, detail)
}

/// A few values that are short enough.
fn samples(known: &ColumnBrief, detail: Detail) -> Option<String> {
    let short = known.samples.iter().filter(|value| !is_long(value));
    let some: Vec<Value> = short.take(detail.samples).cloned().collect();
    (!some.is_empty()).then(|| format!("such as {}", text::value(&Value::from(some), SHORT_CHARS)))
}

/// The least and the greatest of values of one type.
fn range(values: &[Value]) -> Option<(&Value, &Value)> {
    let before = |left: &&Value, right: &&Value| match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        _ => left.as_str().cmp(&right.as_str()),
    };
    Some((values.iter().min_by(before)?, values.iter().max_by(before)?))
}

fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().count() > SHORT_CHARS,
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    }
}

fn type_name(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "text",
        ColumnType::Integer => "integer",
        ColumnType::Real => "real",
        ColumnType::Boolean => "boolean",
        ColumnType::Timestamp => "timestamp (ISO 8601 text)",
        ColumnType::Decimal => "decimal (Python's Decimal)",
        ColumnType::Json => "json",
        ColumnType::Any => "any (what was written)",
    }
}

/// Longer texts from rows: where people write what they like.
pub(super) fn excerpts(brief: &Brief) -> String {
    let mut text = String::new();
    for table in shown(brief) {
        let is_shown = |name: &str| table.table.column(name).is_some_and(|column| !column.hidden);
        for column in table.columns.iter().filter(|column| is_shown(&column.name) && column.shape.is_none()) {
            let long: Vec<Value> =
                column.samples.iter().filter(|value| is_long(value)).take(2).cloned().collect();
            if !long.is_empty() {
                let (name, of) = (text::line(&column.name, 100), text::line(&table.table.name, 100));
                let _ = writeln!(text, "{of}.{name}: {}", text::value(&Value::from(long), EXCERPT_CHARS));
            }
        }
    }
    text
}
