//! What is written to a table: dicts, rows, update functions and operations.

use std::rc::Rc;

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::usage::WriteKind;
use super::value::{Entry, Record, Value};

impl<'a> Flow<'a, '_, '_, '_> {
    /// Writes one document, or every one of a list.
    pub(super) fn write_documents(&mut self, table: Option<usize>, value: &Value<'a>) {
        let Some(table) = table else {
            self.consume(value);
            return;
        };
        for alternative in value.alternatives() {
            match alternative {
                Value::Record(record) => self.write_record(table, record),
                Value::Operation(operation) => {
                    self.write_entry(table, &operation.entry);
                    let column = self
                        .table(table)
                        .columns
                        .iter()
                        .position(|column| column.name == operation.entry.key.text);
                    if let Some(column) = column.filter(|_| operation.reads) {
                        self.usage.read_table(table);
                        self.usage.read_column(table, column);
                    }
                }
                Value::Row(shape) => self.write_row(table, shape),
                Value::Function(function) => self.write_by_function(table, *function),
                Value::List(element) => self.write_documents(Some(table), element),
                Value::Tuple(elements) => {
                    for element in elements.iter() {
                        self.write_documents(Some(table), element);
                    }
                }
                Value::None | Value::Never => {}
                other => {
                    self.consume(other);
                    self.usage.write_whole(table);
                }
            }
        }
    }

    fn write_record(&mut self, table: usize, record: &Record<'a>) {
        for entry in &record.entries {
            self.write_entry(table, entry);
        }
        for spread in &record.spread {
            self.write_documents(Some(table), spread);
        }
        if record.is_open {
            self.usage.write_whole(table);
        }
    }

    fn write_entry(&mut self, table: usize, entry: &Entry<'a>) {
        if let Some(column) = self.table_column(table, entry.key) {
            self.usage.write_column(table, column);
            self.check_written(table, column, &entry.value, entry.value_range);
        }
        self.consume(&entry.value);
    }

    /// A row that was read, perhaps changed, and is written back.
    fn write_row(&mut self, table: usize, shape: &Shape<'a>) {
        self.usage.read_whole(shape.table);
        self.usage.write_whole(table);
        for &name in &shape.derived {
            let _ = self.table_column(table, name);
        }
    }

    /// `update(function)`: the function changes the row that it is given.
    fn write_by_function(&mut self, table: usize, function: usize) {
        let shape = Shape { is_live: true, ..Shape::of_table(table) };
        let row = Value::Row(Rc::new(shape));
        let _ = self.call_function(function, &Args::of([row]));
    }

    /// A key of a row is set.
    pub(super) fn set_row_key(&mut self, shape: &Shape<'a>, entry: &Entry<'a>) {
        if !shape.is_live {
            return;
        }
        self.usage.write(shape.table, WriteKind::Change);
        self.write_entry(shape.table, entry);
    }

    /// A live row is handed to something that may change any of it.
    pub(super) fn write_live(&mut self, shape: &Shape<'a>) {
        if shape.is_live {
            self.usage.write_whole(shape.table);
        }
    }
}
