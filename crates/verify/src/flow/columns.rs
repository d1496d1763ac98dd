//! Checks columns against the schema, and values against columns.

use ordain_types::{Column as SchemaColumn, ColumnType, Table};
use ruff_text_size::TextRange;

use super::Flow;
use super::shape::{Column, Shape};
use super::value::{Literal, Text, Value};
use crate::finding::{Edit, Severity};
use crate::finding_code::FindingCode;
use crate::report::{Draft, replace};
use crate::suggest::{self, suggest};

impl<'a> Flow<'a, '_, '_, '_> {
    pub(super) fn table(&self, index: usize) -> &'a Table {
        &self.schema.tables[index]
    }

    /// The index of a visible column of a table; reports a column that does not exist or is hidden.
    pub(super) fn table_column(&mut self, table: usize, name: Literal<'a>) -> Option<usize> {
        let columns = &self.table(table).columns;
        let found = columns.iter().position(|column| column.name == name.text);
        match found {
            Some(index) if columns[index].hidden => self.hidden_column(table, name),
            Some(_) => {}
            None => self.unknown_column(&[table], &[], name),
        }
        found.filter(|&index| !columns[index].hidden)
    }

    /// A column is read from a row.
    pub(super) fn read_column(&mut self, shape: &Shape<'a>, name: Literal<'a>) {
        match shape.column(self.schema, name.text) {
            Column::Stored(column) if self.table(shape.table).columns[column].hidden => {
                self.hidden_column(shape.table, name);
            }
            Column::Stored(column) => self.usage.read_column(shape.table, column),
            Column::Other => {}
            Column::Missing => {
                let derived: Vec<&str> = shape.derived.iter().map(|derived| derived.text).collect();
                self.unknown_column(&[shape.table], &derived, name);
            }
        }
    }

    /// Columns are read by a text that may be one of several, or any.
    pub(super) fn read_columns(&mut self, shape: &Shape<'a>, text: &Text<'a>) {
        match text.known() {
            Some(names) => {
                for &name in names {
                    self.read_column(shape, name);
                }
            }
            None => self.usage.read_whole(shape.table),
        }
    }

    /// Whether a name is certainly no column of the shape.
    pub(super) fn is_missing(&self, shape: &Shape<'a>, name: &str) -> bool {
        shape.column(self.schema, name) == Column::Missing
    }

    /// Reports a column that none of the tables has.
    pub(super) fn unknown_column(&mut self, tables: &[usize], derived: &[&'a str], name: Literal<'a>) {
        if !self.report.has_room() {
            return;
        }
        let visible = tables.iter().flat_map(|&table| {
            self.table(table)
                .columns
                .iter()
                .filter(|column| !column.hidden)
                .map(|column| column.name.as_str())
        });
        let known: Vec<&str> = visible.chain(derived.iter().copied()).collect();
        let owner = match tables {
            [table] => format!("table `{}` has no", self.table(*table).name),
            several => {
                let names = suggest::list(several.iter().map(|&table| self.table(table).name.as_str()));
                format!("none of the tables {names} has a")
            }
        };
        let suggestion = suggest(name.text, known.iter().copied());
        let list = suggest::list(known.iter().copied());
        let hint = match suggestion {
            Some(found) if found.is_near => format!("did you mean `{}`? The columns are: {list}", found.name),
            Some(found) => format!("the columns are: {list}; the nearest is `{}`", found.name),
            None => "it has no columns that plans may see".to_owned(),
        };
        let edit =
            suggestion.filter(|found| found.is_certain).and_then(|found| self.respell(name, found.name));
        let message = format!("{owner} column `{}`", name.text);
        self.report.add(Draft::new(FindingCode::UnknownColumn, name.range, message).hint(hint).edit(edit));
    }

    fn hidden_column(&mut self, table: usize, name: Literal<'a>) {
        let message =
            format!("column `{}` of table `{}` is hidden from plans", name.text, self.table(table).name);
        let draft = Draft::new(FindingCode::HiddenColumn, name.range, message);
        self.report.add(draft.hint("do without it, or ask the owner of the workspace to show it"));
    }

    /// The edit that writes a name in another spelling, where it stands: as an attribute or between quotes.
    pub(super) fn respell(&self, wrong: Literal<'a>, right: &str) -> Option<Edit> {
        let range = wrong.range;
        let written = self.source.get(range.start().to_usize()..range.end().to_usize())?;
        let title = format!("write `{right}` for `{}`", wrong.text);
        if written == wrong.text {
            let is_identifier =
                right.chars().all(|character| character.is_alphanumeric() || character == '_')
                    && !right.starts_with(|character: char| character.is_ascii_digit());
            return is_identifier.then(|| replace(title, range, right));
        }
        let quote = written.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
        (inner == wrong.text && !right.contains([quote, '\\']))
            .then(|| replace(title, range, format!("{quote}{right}{quote}")))
    }

    /// A value is written to a column.
    pub(super) fn check_written(&mut self, table: usize, column: usize, value: &Value<'a>, range: TextRange) {
        let table = self.table(table);
        let column = &table.columns[column];
        if matches!(value, Value::None) {
            self.check_null(table, column, range);
        } else if let Some(given) = misfit(column.column_type, value, true) {
            self.wrong_type(table, column, given, range);
        }
    }

    /// A value is compared with a column.
    pub(super) fn check_compared(
        &mut self,
        table: usize,
        column: usize,
        value: &Value<'a>,
        range: TextRange,
    ) {
        let table = self.table(table);
        let column = &table.columns[column];
        if let Some(given) = misfit(column.column_type, value, false) {
            self.wrong_type(table, column, given, range);
        }
    }

    fn wrong_type(&mut self, table: &Table, column: &SchemaColumn, given: &str, range: TextRange) {
        let (name, holds) = (&column.name, type_name(column.column_type));
        let message = format!("column `{name}` of table `{}` holds {holds}, not {given}", table.name);
        let hint = format!("give it {}", example(column.column_type));
        self.report.add(Draft::new(FindingCode::WrongType, range, message).hint(hint));
    }

    fn check_null(&mut self, table: &Table, column: &SchemaColumn, range: TextRange) {
        let is_key = table.key.contains(&column.name);
        if column.nullable && !is_key {
            return;
        }
        // A column may be without nulls so far by chance; a key may not be null at all.
        let severity = if is_key { Severity::Error } else { Severity::Warning };
        let message = format!("column `{}` of table `{}` has no nulls", column.name, table.name);
        let draft = Draft::new(FindingCode::WrongType, range, message).severity(severity);
        self.report.add(draft.hint("give it a value"));
    }

    /// Columns of conditions that never met a table: some table must have them.
    pub(super) fn pending_columns(&mut self) {
        for name in std::mem::take(&mut self.pending) {
            let is_known = self.resolved.contains(&name.range)
                || self.schema.tables.is_empty()
                || self.schema.tables.iter().any(|table| table.column(name.text).is_some());
            if !is_known {
                let visible: Vec<usize> =
                    (0..self.schema.tables.len()).filter(|&table| !self.table(table).hidden).collect();
                self.unknown_column(&visible, &[], name);
            }
        }
    }
}

/// What a value is, if a column of this type cannot hold it or, when comparing, cannot be like it.
fn misfit(holds: ColumnType, value: &Value<'_>, is_write: bool) -> Option<&'static str> {
    let given = match value {
        Value::Text(_) => "text",
        Value::Integer | Value::Real(false) => "a number",
        Value::Real(true) => "a fraction",
        Value::Boolean(_) => "true or false",
        Value::List(_) | Value::Tuple(_) => "a list",
        Value::Record(_) | Value::Map(_) | Value::Row(_) => "a dict",
        Value::Union(values) => {
            // Wrong only if each of them is.
            let mut first = None;
            for value in values.iter() {
                let given = misfit(holds, value, is_write)?;
                first.get_or_insert(given);
            }
            return first;
        }
        _ => return None,
    };
    let fits = match holds {
        ColumnType::Json | ColumnType::Any => true,
        ColumnType::Text => given == "text",
        ColumnType::Integer => match given {
            "a number" | "true or false" => true,
            "a fraction" => !is_write,
            _ => false,
        },
        ColumnType::Real | ColumnType::Decimal => {
            matches!(given, "a number" | "a fraction" | "true or false")
        }
        ColumnType::Boolean => matches!(given, "true or false" | "a number"),
        ColumnType::Timestamp => match value {
            Value::Text(text) => {
                text.known().is_none_or(|texts| texts.iter().all(|literal| is_moment(literal.text)))
            }
            _ => false,
        },
    };
    if fits {
        return None;
    }
    Some(if holds == ColumnType::Timestamp && given == "text" {
        "a text that is no ISO 8601 time"
    } else {
        given
    })
}

/// Whether a text starts like an ISO 8601 date or is a part of one, as conditions use it (`"2025-10"`).
fn is_moment(text: &str) -> bool {
    let mut digits = 0;
    for (index, character) in text.chars().enumerate() {
        match (index, character) {
            (0..=3, '0'..='9') => digits += 1,
            (4, '-') => return digits == 4,
            _ => return false,
        }
    }
    digits == 4
}

const fn type_name(holds: ColumnType) -> &'static str {
    match holds {
        ColumnType::Text => "text",
        ColumnType::Integer => "whole numbers",
        ColumnType::Real | ColumnType::Decimal => "numbers",
        ColumnType::Boolean => "true or false",
        ColumnType::Timestamp => "times (ISO 8601)",
        ColumnType::Json => "nested values",
        ColumnType::Any => "any value",
    }
}

const fn example(holds: ColumnType) -> &'static str {
    match holds {
        ColumnType::Text => "a text, such as `str(value)`",
        ColumnType::Integer => "a whole number, such as `int(value)`",
        ColumnType::Real => "a number, such as `float(value)`",
        ColumnType::Decimal => "a number, such as `decimal.Decimal(str(value))`",
        ColumnType::Boolean => "`True` or `False`",
        ColumnType::Timestamp => "a time, such as `datetime.now().isoformat()`",
        ColumnType::Json => "a list or a dict",
        ColumnType::Any => "any value",
    }
}
