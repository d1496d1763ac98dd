//! `db` and the tables: what each method reads and writes.

use std::rc::Rc;

use ruff_python_ast::ExprAttribute;
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::usage::WriteKind;
use super::value::{Literal, Value};
use crate::finding_code::FindingCode;
use crate::report::Draft;
use crate::suggest::{self, suggest};

const TABLE_METHODS: &[&str] = &[
    "all",
    "search",
    "get",
    "contains",
    "count",
    "insert",
    "insert_multiple",
    "update",
    "update_multiple",
    "upsert",
    "remove",
    "truncate",
    "clear_cache",
];

/// Attributes of a table that are not methods.
const TABLE_ATTRIBUTES: &[&str] = &["name", "document_class", "document_id_class", "storage", "query_class"];

const DATABASE_METHODS: &[&str] = &["table", "tables", "query"];

impl<'a> Flow<'a, '_, '_, '_> {
    /// The table of a name that the program uses; reports one that does not exist.
    pub(super) fn table_named(&mut self, name: Literal<'a>) -> Option<usize> {
        let found = self.schema.tables.iter().position(|table| table.name == name.text);
        if found.is_none() {
            self.unknown_table(name);
        }
        found
    }

    fn unknown_table(&mut self, name: Literal<'a>) {
        if self.schema.tables.is_empty() || !self.report.has_room() {
            return;
        }
        let known =
            || self.schema.tables.iter().filter(|table| !table.hidden).map(|table| table.name.as_str());
        let suggestion = suggest(name.text, known());
        let hint = match suggestion {
            Some(found) if found.is_near => {
                format!("did you mean `{}`? The tables are: {}", found.name, suggest::list(known()))
            }
            _ => format!("the tables are: {}", suggest::list(known())),
        };
        let edit =
            suggestion.filter(|found| found.is_certain).and_then(|found| self.respell(name, found.name));
        let message = format!("the workspace has no table `{}`", name.text);
        self.report.add(Draft::new(FindingCode::UnknownTable, name.range, message).hint(hint).edit(edit));
    }

    /// The tables that a text names, as one value made from each.
    pub(super) fn tables_of(
        &mut self,
        name: &Value<'a>,
        make: impl Fn(Option<usize>) -> Value<'a>,
    ) -> Value<'a> {
        let text = Self::text_of(name);
        let Some(names) = text.known() else { return make(None) };
        let mut joined = Value::Never;
        for &name in names {
            let value = self.table_named(name).map_or(Value::Unknown, |table| make(Some(table)));
            joined = joined.join(value);
        }
        joined
    }

    /// `frame(name)`: pandas may look at every column.
    pub(super) fn frame_of(&mut self, args: &Args<'a>, range: TextRange) -> Value<'a> {
        // One of several tables of a file: the file is named first.
        if let Some((_, name)) = args.get("name", 0)
            && args.get("table", 1).is_none()
        {
            let tables = self.tables_of(&name.clone(), Value::Table);
            for alternative in tables.alternatives() {
                if let Value::Table(table) = alternative {
                    self.read_table(*table, range);
                    self.read_whole(*table);
                }
            }
        }
        Value::Unknown
    }

    pub(super) fn database_call(&mut self, attribute: &'a ExprAttribute, args: &Args<'a>) -> Value<'a> {
        match attribute.attr.as_str() {
            "table" => match args.get("name", 0) {
                Some((_, name)) => self.tables_of(&name.clone(), Value::Table),
                None => Value::Table(None),
            },
            "tables" => Value::list(Value::Text(super::value::Text::Any)),
            "query" => self.sql_rows(args),
            other => {
                args.consume(self);
                let near = suggest(other, DATABASE_METHODS.iter().copied()).filter(|found| found.is_near);
                let hint = match (near, other) {
                    (Some(found), _) => format!("did you mean `{}`?", found.name),
                    (None, "execute" | "sql" | "read_sql") => {
                        "use `db.query(sql, params)` to read".to_owned()
                    }
                    (None, _) => "use a table: `db.table(name)` or its variable".to_owned(),
                };
                let message = format!("`db` has no method `{other}`");
                let draft = Draft::new(FindingCode::UnknownMethod, attribute.attr.range(), message);
                self.report.add(draft.hint(hint));
                Value::Unknown
            }
        }
    }

    /// A table is read as a whole.
    pub(super) fn read_whole(&mut self, table: Option<usize>) {
        for table in self.possible(table) {
            self.usage.read_whole(table);
        }
    }

    /// The tables that a value may be: a computed name may be any that plans see.
    pub(super) fn possible(&self, table: Option<usize>) -> Vec<usize> {
        match table {
            Some(table) => vec![table],
            None => (0..self.schema.tables.len()).filter(|&table| !self.table(table).hidden).collect(),
        }
    }

    /// The rows of a table are counted.
    pub(super) fn count_table(&mut self, table: Option<usize>, range: TextRange) {
        match table {
            Some(_) => self.read_table(table, range),
            None => {
                for table in self.possible(None) {
                    self.usage.read_table(table);
                }
            }
        }
    }

    /// A table is read.
    pub(super) fn read_table(&mut self, table: Option<usize>, range: TextRange) {
        let Some(table) = table else {
            self.read_whole(None);
            return;
        };
        self.usage.read_table(table);
        if self.table(table).hidden {
            self.hidden_table(table, range, FindingCode::ReadsHiddenTable);
        }
    }

    fn hidden_table(&mut self, table: usize, range: TextRange, code: FindingCode) {
        let visible =
            self.schema.tables.iter().filter(|table| !table.hidden).map(|table| table.name.as_str());
        let hint = format!("the tables are: {}", suggest::list(visible));
        let message = format!("table `{}` is hidden from plans", self.table(table).name);
        self.report.add(Draft::new(code, range, message).hint(hint));
    }

    /// A method of a table; `range` is the whole `table.method`, `name_range` the method's name.
    pub(super) fn table_call(
        &mut self,
        table: Option<usize>,
        method: &str,
        args: &Args<'a>,
        range: TextRange,
        name_range: TextRange,
    ) -> Value<'a> {
        let condition = |position: usize| args.get("cond", position).map(|(_, value)| value.clone());
        match method {
            "all" | "search" | "get" | "contains" | "count" => {
                self.read_table(table, range);
                if let Some(condition) = condition(0) {
                    self.apply_condition(table, &condition);
                }
                let row = Self::row_of(table);
                match method {
                    "all" | "search" => Value::list(row),
                    "get" if args.named("doc_ids").is_some() => Value::list(row),
                    "get" => row,
                    "count" => Value::Integer,
                    _ => Value::Boolean(None),
                }
            }
            "insert" | "insert_multiple" => {
                self.write_table(table, WriteKind::Add, range);
                if let Some((_, document)) = args.positional.first() {
                    self.write_documents(table, document);
                }
                if method == "insert" { Value::Integer } else { Value::list(Value::Integer) }
            }
            "update" | "upsert" => {
                let kind = if method == "update" { WriteKind::Change } else { WriteKind::AddOrChange };
                self.write_table(table, kind, range);
                if let Some((_, fields)) = args.get("fields", 0).or_else(|| args.named("document")) {
                    self.write_documents(table, fields);
                }
                if let Some(condition) = condition(1) {
                    self.apply_condition(table, &condition);
                }
                Value::list(Value::Integer)
            }
            "update_multiple" => {
                self.write_table(table, WriteKind::Change, range);
                for (_, updates) in &args.positional {
                    self.update_multiple(table, updates);
                }
                Value::list(Value::Integer)
            }
            "remove" | "truncate" => {
                self.write_table(table, WriteKind::Remove, range);
                if let Some(condition) = condition(0) {
                    self.apply_condition(table, &condition);
                }
                Value::list(Value::Integer)
            }
            "clear_cache" => Value::None,
            _ => {
                args.consume(self);
                self.unknown_table_method(method, name_range);
                Value::Unknown
            }
        }
    }

    fn update_multiple(&mut self, table: Option<usize>, updates: &Value<'a>) {
        let element = self.element(updates);
        match element {
            Value::Tuple(parts) if parts.len() == 2 => {
                self.write_documents(table, &parts[0]);
                self.apply_condition(table, &parts[1]);
            }
            other => self.write_documents(table, &other),
        }
    }

    pub(super) fn row_of(table: Option<usize>) -> Value<'a> {
        table.map_or(Value::Unknown, |table| Value::Row(Rc::new(Shape::of_table(table))))
    }

    /// An attribute of a table that is not called at once.
    pub(super) fn table_attribute(
        &mut self,
        table: Option<usize>,
        name: &'a str,
        range: TextRange,
    ) -> Value<'a> {
        if TABLE_METHODS.contains(&name) {
            return Value::Method(table, name);
        }
        if !TABLE_ATTRIBUTES.contains(&name) && !name.starts_with('_') {
            self.unknown_table_method(name, range);
        }
        Value::Unknown
    }

    fn unknown_table_method(&mut self, method: &str, range: TextRange) {
        let instead = match method {
            "find" | "filter" | "select" | "query" | "where" | "fetch" | "fetchall" | "scan" => {
                Some("search")
            }
            "find_one" | "first" | "one" | "fetchone" | "lookup" => Some("get"),
            "delete" | "delete_one" | "delete_many" | "drop" | "pop" => Some("remove"),
            "add" | "append" | "create" | "insert_one" | "put" => Some("insert"),
            "insert_many" | "bulk_insert" | "extend" => Some("insert_multiple"),
            "set" | "modify" | "update_one" | "update_many" | "write" => Some("update"),
            "exists" | "has" => Some("contains"),
            "len" | "size" => Some("count"),
            "rows" | "items" | "values" | "find_all" | "to_list" | "documents" => Some("all"),
            _ => suggest(method, TABLE_METHODS.iter().copied())
                .filter(|found| found.is_near)
                .map(|found| found.name),
        };
        let hint = match instead {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("a table has: {}", TABLE_METHODS.join(", ")),
        };
        let message = format!("a table has no method `{method}`");
        self.report.add(Draft::new(FindingCode::UnknownMethod, range, message).hint(hint));
    }

    /// A table is written.
    pub(super) fn write_table(&mut self, table: Option<usize>, kind: WriteKind, range: TextRange) {
        if self.policy.read_only {
            let draft = Draft::new(FindingCode::WriteInReadOnly, range, "nothing may be written here");
            self.report.add(draft.hint("leave the write out, or run it where writing is allowed"));
        }
        let Some(table) = table else {
            for table in self.possible(None) {
                self.usage.write(table, kind);
                self.usage.write_whole(table);
            }
            return;
        };
        self.usage.write(table, kind);
        let info = self.table(table);
        if info.hidden {
            self.hidden_table(table, range, FindingCode::WritesHiddenTable);
        } else if info.read_only && !self.policy.read_only {
            let message = format!("table `{}` is read-only", info.name);
            let draft = Draft::new(FindingCode::WriteInReadOnly, range, message);
            self.report.add(draft.hint("write to another table, or give the rows as the answer"));
        }
        if info.append_only && kind != WriteKind::Add {
            let message =
                format!("table `{}` is append-only: its rows are never changed or removed", info.name);
            let draft = Draft::new(FindingCode::AppendOnlyUpdate, range, message);
            self.report.add(draft.hint("insert a row that corrects the earlier one"));
        }
    }
}
