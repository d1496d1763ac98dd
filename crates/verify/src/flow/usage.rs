//! Records which tables and columns the program uses.

use ordain_types::Schema;

use crate::effects::{Effects, TableRead, TableWrite};

/// What was used so far, by index of table and column.
#[derive(Debug)]
pub(crate) struct Usage {
    reads: Vec<Option<Columns>>,
    writes: Vec<Option<Write>>,
}

#[derive(Debug, Clone, Default)]
struct Columns {
    used: Vec<bool>,
    whole: bool,
}

#[derive(Debug, Clone, Default)]
struct Write {
    columns: Columns,
    adds: bool,
    changes: bool,
    removes: bool,
}

/// What a write does to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteKind {
    Add,
    Change,
    Remove,
    /// Changes the row if it is there and adds it otherwise.
    AddOrChange,
}

impl Usage {
    pub(crate) fn new(schema: &Schema) -> Self {
        let tables = schema.tables.len();
        Self { reads: vec![None; tables], writes: vec![None; tables] }
    }

    pub(crate) fn read_table(&mut self, table: usize) {
        self.reads[table].get_or_insert_default();
    }

    pub(crate) fn read_column(&mut self, table: usize, column: usize) {
        self.reads[table].get_or_insert_default().mark(column);
    }

    pub(crate) fn read_whole(&mut self, table: usize) {
        self.reads[table].get_or_insert_default().whole = true;
    }

    pub(crate) fn write(&mut self, table: usize, kind: WriteKind) {
        let write = self.writes[table].get_or_insert_default();
        write.adds |= matches!(kind, WriteKind::Add | WriteKind::AddOrChange);
        write.changes |= matches!(kind, WriteKind::Change | WriteKind::AddOrChange);
        write.removes |= kind == WriteKind::Remove;
    }

    /// A write of which nothing is known.
    pub(crate) fn write_any(&mut self, table: usize) {
        self.write(table, WriteKind::AddOrChange);
        self.write(table, WriteKind::Remove);
        self.write_whole(table);
    }

    pub(crate) fn write_column(&mut self, table: usize, column: usize) {
        self.writes[table].get_or_insert_default().columns.mark(column);
    }

    pub(crate) fn write_whole(&mut self, table: usize) {
        self.writes[table].get_or_insert_default().columns.whole = true;
    }

    pub(crate) fn finish(self, source: &str, schema: &Schema, effects: &mut Effects) {
        for (table, (read, write)) in schema.tables.iter().zip(self.reads.into_iter().zip(self.writes)) {
            let names = |columns: &Columns| {
                let is_used =
                    |index: usize| columns.whole || columns.used.get(index).copied().unwrap_or_default();
                let visible = table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
                visible.filter(|(index, _)| is_used(*index)).map(|(_, column)| column.name.clone()).collect()
            };
            if let Some(read) = read {
                let visible = table.columns.iter().filter(|column| !column.hidden);
                let stand_there = visible.map(|column| &column.name).filter(|name| stands_in(source, name));
                let by_name = if read.whole { stand_there.cloned().collect() } else { names(&read) };
                let read = TableRead { columns: names(&read), whole: read.whole, named: by_name };
                effects.reads.insert(table.name.clone(), read);
            }
            if let Some(write) = write {
                effects.may_write = true;
                let Write { columns, adds, changes, removes } = write;
                let write =
                    TableWrite { columns: names(&columns), whole: columns.whole, adds, changes, removes };
                effects.writes.insert(table.name.clone(), write);
            }
        }
    }
}

/// Whether a name occurs in code with no letter, digit or underscore right beside it: as a name, as a text, or in an
/// expression that is given as a text.
fn stands_in(source: &str, name: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    source
        .match_indices(name)
        .any(|(at, _)| !source[..at].ends_with(is_inner) && !source[at + name.len()..].starts_with(is_inner))
}

impl Columns {
    fn mark(&mut self, column: usize) {
        if self.used.len() <= column {
            self.used.resize(column + 1, false);
        }
        self.used[column] = true;
    }
}
