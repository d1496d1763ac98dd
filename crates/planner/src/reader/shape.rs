//! What a table is to the reader: its noun, its key, what a row is called by, and what each column holds.

use std::cmp::Ordering;
use std::collections::HashMap;

use ordain_types::{Catalog, ColumnType};
use serde_json::Value;

use super::index::{Column, Index, Table, split_name};
use super::lexicon::{LEXICON, singular};
use super::mentions::{VALUE_BYTES_MAX, VALUES_MAX};
use crate::brief::{ColumnBrief, TableBrief};

/// What a day is cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    /// `2026`.
    Year,
    /// `2026Q1`.
    Quarter,
    /// `2026-03`.
    Month,
    /// `2026-W11`.
    Week,
    /// `2026-03-14`.
    Day,
    /// `Saturday`.
    Weekday,
}

impl Period {
    /// All of them, with the words for each.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Year, "year", "yearly"),
        (Self::Quarter, "quarter", "quarterly"),
        (Self::Month, "month", "monthly"),
        (Self::Week, "week", "weekly"),
        (Self::Day, "day", "daily"),
        (Self::Weekday, "weekday", "day of the week"),
    ];
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Short texts: names and categories.
    Text,
    /// Long texts.
    Prose,
    /// A number.
    Number,
    /// Whole numbers.
    Whole,
    /// True or false.
    Flag,
    /// Days, with times or without.
    Day,
    /// Times of day.
    Time,
}

/// A table as the reader knows it.
pub(super) fn shape(brief: &TableBrief, catalog: &Catalog) -> Table {
    let table = &brief.table;
    let notes = catalog.tables.get(&table.name);
    let unseen = ColumnBrief::default();
    let known: HashMap<&str, &ColumnBrief> =
        brief.columns.iter().rev().map(|seen| (seen.name.as_str(), seen)).collect();
    let columns: Vec<Column> = table
        .columns
        .iter()
        .filter(|column| !column.hidden)
        .filter_map(|column| {
            let seen = known.get(column.name.as_str()).copied();
            Some((column, seen.or_else(|| brief.columns.is_empty().then_some(&unseen))?))
        })
        .map(|(column, seen)| Column {
            name: column.name.clone(),
            sort: sort(column.column_type, &column.name, seen),
            flag: flag(column.column_type, seen),
            has_nulls: seen.null_share > 0.0,
            least: seen.values.as_ref().and_then(|values| least(values)),
            is_bit: seen.values.as_ref().is_some_and(|values| is_bit(values)),
            is_listed: seen.values.as_ref().is_some_and(|values| is_listed(values)),
            has_time: seen
                .samples
                .iter()
                .any(|value| value.as_str().is_some_and(|text| text.as_bytes().get(10) == Some(&b'T'))),
            has_zone: false,
            doubled: Vec::new(),
            years: seen.values.as_ref().and_then(|values| years(values)),
            refers: None,
            unit: notes
                .and_then(|notes| notes.columns.get(&column.name)?.unit.clone())
                .or_else(|| seen.unit.clone()),
            none: seen.values.as_ref().and_then(|values| none(values).cloned()),
            cut: None,
            before: None,
            within: None,
            role: brief.roles.iter().find(|(_, of)| **of == column.name).map(|(role, _)| role.clone()),
        })
        .collect();
    let key = match table.key.as_slice() {
        [one] => columns.iter().position(|column| column.name == *one),
        _ => None,
    };
    let label = label(&columns, key);
    let words = notes.map(|notes| notes.synonyms.clone()).unwrap_or_default();
    let own = split_name(&table.name).iter().map(|word| singular(word)).collect::<Vec<_>>().join(" ");
    let noun = words.first().map_or(own, |word| singular(word));
    let is_people =
        words.iter().chain([&noun, &table.name]).any(|word| LEXICON.has("person_words", &singular(word)));
    Table {
        name: table.name.clone(),
        noun,
        columns,
        key,
        label,
        is_people,
        commas: catalog.has_decimal_comma(&table.name),
        read_only: table.read_only,
        append_only: table.append_only,
    }
}

impl Column {
    /// A column that is in no table: what it holds is worked out from another one.
    pub(super) fn of(name: String, sort: Sort, has_nulls: bool) -> Self {
        Self {
            name,
            sort,
            has_nulls,
            least: None,
            is_bit: false,
            is_listed: false,
            flag: None,
            has_time: false,
            has_zone: false,
            doubled: Vec::new(),
            years: None,
            refers: None,
            unit: None,
            role: None,
            none: None,
            cut: None,
            before: None,
            within: None,
        }
    }
}

impl Index {
    /// The column of a table that has a role: declared, or by the words of its name.
    pub(crate) fn role(&self, table: usize, role: &str) -> Option<usize> {
        let columns = &self.tables[table].columns;
        if let Some(declared) = columns.iter().position(|column| column.role.as_deref() == Some(role)) {
            return Some(declared);
        }
        let list = match role {
            "price" => "price_columns",
            "quantity" => "stock_columns",
            "amount" => "amount_columns",
            "length" => "length_columns",
            _ => return None,
        };
        let fits = |column: &Column| {
            let words = split_name(&column.name);
            let is_number = matches!(column.sort, Sort::Number | Sort::Whole);
            is_number && (words.iter().any(|word| LEXICON.has(list, word)) || LEXICON.has(list, &column.name))
        };
        let found: Vec<usize> = (0..columns.len()).filter(|at| fits(&columns[*at])).collect();
        // `price` is meant before `price_before`.
        let exact: Vec<usize> =
            found.iter().copied().filter(|at| LEXICON.has(list, &columns[*at].name.to_lowercase())).collect();
        match (found.as_slice(), exact.as_slice()) {
            ([only], _) | (_, [only]) => Some(*only),
            _ => None,
        }
    }

    /// Whether a column tells things apart: an id, a number of a house, a year.
    pub(crate) fn is_id(&self, table: usize, column: usize) -> bool {
        let shape = &self.tables[table].columns[column];
        let last = split_name(&shape.name).pop().unwrap_or_default();
        self.tables[table].key == Some(column)
            || shape.refers.is_some()
            || LEXICON.has("id_words", &last)
            || LEXICON.has("person_words", &last)
    }

    /// Whether a column says where or in which state rows are, and not what they are.
    pub(crate) fn is_state(&self, table: usize, column: usize) -> bool {
        let is_state =
            |word: &String| LEXICON.has("place_columns", word) || LEXICON.has("state_columns", word);
        split_name(&self.tables[table].columns[column].name).iter().any(is_state)
    }

    /// Whether a column says when rows end or are due, and not when they were made.
    pub(crate) fn is_end(&self, table: usize, column: usize) -> bool {
        split_name(&self.tables[table].columns[column].name).iter().any(|word| LEXICON.has("end_words", word))
    }

    /// Whether a column of days says how old rows are: no day on which they end, and one that each of them has, but for a birth.
    pub(crate) fn says_age(&self, table: usize, column: usize) -> bool {
        let shape = &self.tables[table].columns[column];
        let is_birth = split_name(&shape.name).iter().any(|word| LEXICON.has("birth_words", word));
        !self.is_end(table, column) && (is_birth || !shape.has_nulls)
    }

    /// The only column of days of a table.
    pub(crate) fn day(&self, table: usize) -> Option<usize> {
        let columns = &self.tables[table].columns;
        let mut days = (0..columns.len()).filter(|at| columns[*at].sort == Sort::Day);
        days.next().filter(|_| days.next().is_none())
    }
}

/// The least of some numbers beside 0.
pub(super) fn least(values: &[Value]) -> Option<Ordering> {
    values.iter().filter_map(Value::as_f64).filter_map(|value| value.partial_cmp(&0.0)).min()
}

/// Whether there are zeros and ones, and nothing else.
fn is_bit(values: &[Value]) -> bool {
    let mut numbers = values.iter().filter(|value| !value.is_null()).map(Value::as_f64);
    let has = |number: f64| values.iter().any(|value| value.as_f64() == Some(number));
    has(0.0) && has(1.0) && numbers.all(|number| number == Some(0.0) || number == Some(1.0))
}

/// Whether every value can be named: they are few, and none is a longer text.
fn is_listed(values: &[Value]) -> bool {
    let is_short = |value: &Value| value.as_str().is_none_or(|text| text.len() <= VALUE_BYTES_MAX);
    values.len() <= VALUES_MAX && values.iter().all(is_short)
}

/// The value that says that there is none. All of a column's values are asked, so that no text is made for each.
fn none(values: &[Value]) -> Option<&Value> {
    let words = LEXICON.list("none_values");
    let is_none = |text: &str| {
        if text.is_ascii() {
            words.iter().any(|word| word.eq_ignore_ascii_case(text))
        } else {
            words.contains(&text.to_lowercase())
        }
    };
    values.iter().find(|value| value.as_str().is_some_and(is_none))
}

/// The values for yes and no of a column that has no others.
fn flag(kind: ColumnType, seen: &ColumnBrief) -> Option<(Value, Value)> {
    if kind == ColumnType::Boolean {
        return Some((Value::from(true), Value::from(false)));
    }
    let values = seen.values.as_ref().filter(|values| !values.is_empty())?;
    let is = |value: &Value, word: &str| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(word));
    [("yes", "no"), ("true", "false")].into_iter().find_map(|(yes, no)| {
        let find = |word: &str| values.iter().find(|value| is(value, word)).cloned();
        let is_flag = values.iter().all(|value| value.is_null() || is(value, yes) || is(value, no));
        Some((find(yes)?, find(no)?)).filter(|_| is_flag)
    })
}

fn label(columns: &[Column], key: Option<usize>) -> Option<usize> {
    let declared = columns.iter().position(|column| column.role.as_deref() == Some("name"));
    let named = LEXICON
        .list("label_columns")
        .iter()
        .find_map(|name| columns.iter().position(|column| column.name == *name));
    let ends =
        || columns.iter().position(|column| column.name.ends_with("_name") && column.sort == Sort::Text);
    declared.or(named).or_else(ends).filter(|at| Some(*at) != key)
}

fn sort(kind: ColumnType, name: &str, seen: &ColumnBrief) -> Sort {
    let words = split_name(name);
    match kind {
        ColumnType::Integer => Sort::Whole,
        ColumnType::Real | ColumnType::Decimal => Sort::Number,
        ColumnType::Boolean => Sort::Flag,
        ColumnType::Timestamp => Sort::Day,
        ColumnType::Json | ColumnType::Any => Sort::Prose,
        ColumnType::Text => {
            let values: Vec<&str> =
                seen.values.as_ref().unwrap_or(&seen.samples).iter().filter_map(Value::as_str).collect();
            let all = |test: fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| test(value));
            let is_named = values.is_empty() && words.iter().any(|word| LEXICON.has("date_columns", word));
            if is_named || all(|text| ordain_types::is_timestamp(text) || is_day(text)) {
                Sort::Day
            } else if all(|text| text.len() == 5 && text.as_bytes()[2] == b':') {
                Sort::Time
            } else if values.iter().map(|value| value.len()).sum::<usize>() > values.len() * 36
                || is_sentences(&words, &values)
            {
                Sort::Prose
            } else {
                Sort::Text
            }
        }
    }
}

/// The first and the last year of days.
pub(super) fn years(values: &[Value]) -> Option<(u32, u32)> {
    let days = values.iter().filter(|value| !value.is_null());
    let years: Option<Vec<u32>> =
        days.map(|value| value.as_str().filter(|text| is_day(text))?[..4].parse().ok()).collect();
    let years = years?;
    Some((*years.iter().min()?, *years.iter().max()?))
}

/// Notes and summaries in words, however short.
fn is_sentences(name: &[String], values: &[&str]) -> bool {
    let is_note = name.iter().any(|word| LEXICON.has("note_columns", word));
    is_note && values.iter().map(|value| value.split(' ').count()).sum::<usize>() > values.len() * 2
}

fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[..4].iter().all(u8::is_ascii_digit)
}
