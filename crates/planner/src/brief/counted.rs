//! A table as planners are told it, counted from its rows and followed from then on by what runs change.

use std::collections::BTreeMap;

use ordain_types::{Row, TableDiff};
use serde_json::Value;

use super::shape::json_shape;
use super::{ColumnBrief, TableBrief};

/// Values that are shown of each column.
const SAMPLES: usize = 3;
/// A column with longer values than this (on average) holds prose; its values are no names.
const NAME_BYTES: usize = 200;

/// What a table holds, counted.
#[derive(Debug)]
pub struct TableCount {
    columns: Vec<ColumnCount>,
    /// The rows that were read.
    read: usize,
    /// Whether those are all.
    is_whole: bool,
    /// What does not come from rows.
    about: TableBrief,
}

impl TableCount {
    /// Counts the rows of a table that were read; `about` is what does not come from them.
    pub fn new(about: TableBrief, names: &[String], rows: &[Vec<Option<Value>>], is_whole: bool) -> Self {
        let columns = names.iter().enumerate().map(|(place, name)| ColumnCount::of(name, place, rows));
        Self { columns: columns.collect(), read: rows.len(), is_whole, about }
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.about.table.name
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.about.rows
    }

    /// Whether all of them were read.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What planners are told.
    pub fn brief(&self) -> TableBrief {
        let columns = self.columns.iter().map(|column| column.brief(self.read, self.is_whole)).collect();
        TableBrief { columns, ..self.about.clone() }
    }

    /// Follows a change; `false` if the table has to be read again.
    pub fn follow(&mut self, change: &TableDiff) -> bool {
        self.about.rows =
            (self.about.rows + change.added.len() as u64).saturating_sub(change.removed.len() as u64);
        if !self.is_whole {
            return true;
        }
        self.read = (self.read + change.added.len()).saturating_sub(change.removed.len());
        let added = change.added.iter().map(|row| (None, Some(row)));
        let changed = change.changed.iter().map(|change| (Some(&change.before), Some(&change.after)));
        let removed = change.removed.iter().map(|row| (Some(row), None));
        let mut rows = added.chain(changed).chain(removed);
        rows.all(|(before, after)| self.columns.iter_mut().all(|column| column.follow(before, after)))
    }
}

/// What a column holds, counted.
#[derive(Debug, Default)]
struct ColumnCount {
    name: String,
    /// The different values by their text, and how often each is there.
    distinct: BTreeMap<String, (Value, usize)>,
    /// A few of them.
    samples: Vec<Value>,
    missing: usize,
    /// How long all values are together.
    bytes: usize,
    /// What its lists and objects look like, where it has any.
    shape: Option<String>,
}

impl ColumnCount {
    fn of(name: &str, place: usize, rows: &[Vec<Option<Value>>]) -> Self {
        let mut column = Self { name: name.to_owned(), ..Self::default() };
        for row in rows {
            column.add(present(row.get(place).and_then(Option::as_ref)));
        }
        let values = || rows.iter().filter_map(|row| row.get(place)?.as_ref());
        let nested = || values().filter(|value| is_nested(value));
        column.shape = nested().next().is_some().then(|| json_shape(nested()));
        column
    }

    fn add(&mut self, value: Option<&Value>) {
        let Some(value) = value else {
            self.missing += 1;
            return;
        };
        let text = value.to_string();
        self.bytes += text.len();
        let (_, count) = self.distinct.entry(text).or_insert_with(|| (value.clone(), 0));
        *count += 1;
        if *count == 1 && self.samples.len() < SAMPLES {
            self.samples.push(value.clone());
        }
    }

    /// Takes a value away; `false` if it was not there.
    fn remove(&mut self, value: Option<&Value>) -> bool {
        let Some(value) = value else {
            let is_there = self.missing > 0;
            self.missing = self.missing.saturating_sub(1);
            return is_there;
        };
        let text = value.to_string();
        let Some((_, count)) = self.distinct.get_mut(&text) else { return false };
        *count -= 1;
        self.bytes = self.bytes.saturating_sub(text.len());
        if *count == 0 {
            self.distinct.remove(&text);
            self.samples.retain(|sample| sample != value);
        }
        true
    }

    /// Follows a row that was added, changed or removed; `false` if the column has to be read again.
    fn follow(&mut self, before: Option<&Row>, after: Option<&Row>) -> bool {
        let values = [before, after].map(|row| row.map(|row| present(row.get(&self.name))));
        if self.shape.is_some() || values.iter().flatten().flatten().any(|value| is_nested(value)) {
            return false;
        }
        let [before, after] = values;
        if before == after {
            return true;
        }
        if before.is_some_and(|value| !self.remove(value)) {
            return false;
        }
        if let Some(value) = after {
            self.add(value);
        }
        let values = self.distinct.values().map(|(value, _)| value);
        let others = values.filter(|value| !self.samples.contains(value)).take(SAMPLES);
        let others: Vec<Value> = others.take(SAMPLES - self.samples.len()).cloned().collect();
        self.samples.extend(others);
        true
    }

    fn brief(&self, rows: usize, is_whole: bool) -> ColumnBrief {
        let present = rows.saturating_sub(self.missing);
        #[expect(clippy::cast_precision_loss, reason = "a share of a few thousand rows")]
        let null_share = if rows == 0 { 0.0 } else { self.missing as f64 / rows as f64 };
        let is_prose = present > 0 && self.bytes / present > NAME_BYTES;
        let values = || self.distinct.values().map(|(value, _)| value.clone()).collect();
        ColumnBrief {
            name: self.name.clone(),
            null_share,
            samples: self.samples.clone(),
            values: (is_whole && !is_prose).then(values),
            shape: self.shape.clone(),
            unit: None,
            reading: Value::Null,
        }
    }
}

/// A value that is there.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

#[cfg(test)]
mod tests {
    use ordain_types::{RowChange, Table};
    use serde_json::json;

    use super::*;

    fn row(name: &str, stock: &Value) -> Row {
        Row { fields: vec![("name".to_owned(), json!(name)), ("stock".to_owned(), stock.clone())] }
    }

    fn about(rows: u64) -> TableBrief {
        let table = Table {
            name: "items".to_owned(),
            columns: Vec::new(),
            key: Vec::new(),
            append_only: false,
            read_only: false,
            hidden: false,
        };
        let (columns, references, indexes) = (Vec::new(), Vec::new(), Vec::new());
        TableBrief { table, rows, columns, roles: BTreeMap::new(), references, indexes }
    }

    fn counted(rows: &[Row]) -> TableCount {
        let cells = |row: &Row| ["name", "stock"].map(|name| row.get(name).cloned()).to_vec();
        let cells: Vec<Vec<Option<Value>>> = rows.iter().map(cells).collect();
        let names = ["name", "stock"].map(str::to_owned);
        TableCount::new(about(rows.len() as u64), &names, &cells, true)
    }

    #[test]
    fn what_is_followed_is_what_a_new_look_would_find() {
        let mut rows = vec![row("Moon", &json!(3)), row("Sport", &json!(3)), row("Classic", &Value::Null)];
        let mut table = counted(&rows);
        let sold = RowChange { key: Row::default(), before: rows[0].clone(), after: row("Moon", &json!(2)) };
        let filled =
            RowChange { key: Row::default(), before: rows[2].clone(), after: row("Classic", &json!(7)) };
        let change = TableDiff {
            added: vec![row("Round", &json!(9))],
            changed: vec![sold, filled],
            removed: vec![rows[1].clone()],
        };
        assert!(table.follow(&change));
        rows = vec![row("Moon", &json!(2)), row("Classic", &json!(7)), row("Round", &json!(9))];
        let (mut followed, mut anew) = (table.brief(), counted(&rows).brief());
        for brief in [&mut followed, &mut anew] {
            // Which three values are shown depends on the order in which they came.
            brief.columns.iter_mut().for_each(|column| column.samples.sort_by_key(Value::to_string));
        }
        assert_eq!(format!("{followed:?}"), format!("{anew:?}"));
    }

    #[test]
    fn a_table_is_read_again_when_a_change_does_not_fit_what_was_seen() {
        let removed = |row: Row| TableDiff { removed: vec![row], ..TableDiff::default() };
        assert!(!counted(&[row("Moon", &json!(3))]).follow(&removed(row("Sport", &json!(3)))));
        let added = TableDiff { added: vec![row("Moon", &json!([1, 2]))], ..TableDiff::default() };
        assert!(!counted(&[]).follow(&added), "lists have a shape, which is not counted");
    }
}
