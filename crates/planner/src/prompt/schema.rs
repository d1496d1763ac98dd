//! Shows tables: what a column is called and holds, in as much detail as there is room for.

use std::fmt::Write as _;

use ordain_types::{Column, ColumnType};
use serde_json::Value;

use super::text;
use crate::brief::{Brief, ColumnBrief, TableBrief};

/// Texts longer than this are excerpts, which stand apart among the data.
const SHORT_CHARS: usize = 40;
const EXCERPT_CHARS: usize = 160;

/// How much of the tables is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    samples: usize,
    distinct: usize,
    columns: usize,
    tables: usize,
    pub(super) has_excerpts: bool,
    pub(super) has_own_examples: bool,
}

impl Detail {
    /// From everything to little more than names.
    pub(super) const LEVELS: [Self; 4] = [
        Self {
            samples: 3,
            distinct: 12,
            columns: 400,
            tables: 200,
            has_excerpts: true,
            has_own_examples: true,
        },
        Self {
            samples: 2,
            distinct: 6,
            columns: 200,
            tables: 100,
            has_excerpts: true,
            has_own_examples: false,
        },
        Self {
            samples: 1,
            distinct: 0,
            columns: 80,
            tables: 60,
            has_excerpts: false,
            has_own_examples: false,
        },
        Self {
            samples: 0,
            distinct: 0,
            columns: 25,
            tables: 20,
            has_excerpts: false,
            has_own_examples: false,
        },
    ];
}

/// Every table with its columns.
pub(super) fn tables(brief: &Brief, detail: Detail) -> String {
    let shown = brief.tables.iter().filter(|brief| !brief.table.hidden);
    let mut text = String::new();
    for table in shown.clone().take(detail.tables) {
        one_table(&mut text, table, detail);
    }
    let left_out: Vec<String> =
        shown.skip(detail.tables).map(|brief| text::line(&brief.table.name, 60)).collect();
    if !left_out.is_empty() {
        let _ = writeln!(text, "more tables: {}", text::cut(&left_out.join(", "), 2000));
    }
    text
}

fn one_table(text: &mut String, brief: &TableBrief, detail: Detail) {
    let table = &brief.table;
    let mut rules = vec![format!("{} rows", brief.rows)];
    if !table.key.is_empty() {
        rules.push(format!("key {}", text::line(&table.key.join(", "), 200)));
    }
    if table.append_only {
        rules.push("append-only: rows are inserted, never updated or removed".to_owned());
    }
    if table.read_only {
        rules.push("read-only".to_owned());
    }
    let name = text::line(&table.name, 100);
    let variable = if table.read_only && !is_name(&table.name) {
        format!("frame({})", text::value(&Value::from(table.name.as_str()), 100))
    } else {
        format!("{name}_tbl")
    };
    let _ = writeln!(text, "table {name} as `{variable}` ({})", rules.join("; "));
    for column in table.columns.iter().filter(|column| !column.hidden).take(detail.columns) {
        let _ = writeln!(text, "  {}", one_column(brief, column, detail));
    }
    let more = table.columns.iter().filter(|column| !column.hidden).count().saturating_sub(detail.columns);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more columns");
    }
}

fn is_name(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || character == '_')
}

fn one_column(brief: &TableBrief, column: &Column, detail: Detail) -> String {
    let mut facts = vec![type_name(column.column_type).to_owned()];
    if brief.table.key.contains(&column.name) {
        facts.push("key".to_owned());
    } else if !column.nullable {
        facts.push("required".to_owned());
    }
    for (_, table, there) in brief.references.iter().filter(|(from, _, _)| *from == column.name) {
        facts.push(format!("refers to {}.{}", text::line(table, 60), text::line(there, 60)));
    }
    for (role, _) in brief.roles.iter().filter(|(_, name)| **name == column.name) {
        facts.push(format!("is the {}", text::line(role, 40)));
    }
    let known = brief.columns.iter().find(|known| known.name == column.name);
    if let Some(known) = known {
        if known.null_share > 0.0 {
            facts.push(format!("{:.0} % missing", (known.null_share * 100.0).max(1.0)));
        }
        let is_number = matches!(column.column_type, ColumnType::Integer | ColumnType::Real);
        facts.extend(values(known, is_number, detail));
    }
    format!("{}: {}", text::line(&column.name, 100), facts.join(", "))
}

/// What a column holds. Names are listed where they are few; numbers change too often to be worth it.
fn values(known: &ColumnBrief, is_number: bool, detail: Detail) -> Option<String> {
    let short = |value: &&Value| !is_long(value);
    if let Some(all) = known.values.as_ref().filter(|all| !all.is_empty() && all.len() <= detail.distinct)
        && !is_number
        && all.iter().all(|value| short(&value))
    {
        return Some(format!("all values {}", text::value(&Value::from(all.clone()), SHORT_CHARS)));
    }
    let some: Vec<Value> = known.samples.iter().filter(short).take(detail.samples).cloned().collect();
    (!some.is_empty()).then(|| format!("such as {}", text::value(&Value::from(some), SHORT_CHARS)))
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
        ColumnType::Json => "json",
    }
}

/// What each table is about, where somebody said so.
pub(super) fn summaries(brief: &Brief) -> String {
    let mut text = String::new();
    for table in brief.tables.iter().filter(|table| !table.table.hidden) {
        if let Some(summary) = &table.summary {
            let _ = writeln!(text, "{}: {}", text::line(&table.table.name, 100), text::line(summary, 400));
        }
    }
    text
}

/// Longer texts from rows: where people write what they like.
pub(super) fn excerpts(brief: &Brief) -> String {
    let mut text = String::new();
    for table in brief.tables.iter().filter(|table| !table.table.hidden) {
        let is_shown = |name: &str| table.table.column(name).is_some_and(|column| !column.hidden);
        for column in table.columns.iter().filter(|column| is_shown(&column.name)) {
            let long: Vec<Value> =
                column.samples.iter().filter(|value| is_long(value)).take(3).cloned().collect();
            if !long.is_empty() {
                let (name, of) = (text::line(&column.name, 100), text::line(&table.table.name, 100));
                let _ = writeln!(text, "{of}.{name}: {}", text::value(&Value::from(long), EXCERPT_CHARS));
            }
        }
    }
    text
}
