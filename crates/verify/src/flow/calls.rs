//! Calls: which function is meant, and what its arguments are.

use ruff_python_ast::{self as ast, Expr, ExprAttribute, ExprCall};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::usage::WriteKind;
use super::value::{Text, Value};
use crate::finding_code::FindingCode;
use crate::report::Draft;

/// The arguments of a call, evaluated.
#[derive(Debug, Default, Clone)]
pub(super) struct Args<'a> {
    pub(super) positional: Vec<(TextRange, Value<'a>)>,
    pub(super) named: Vec<(&'a str, TextRange, Value<'a>)>,
    /// `*arguments` or `**options` stand among them.
    pub(super) is_open: bool,
}

impl<'a> Args<'a> {
    pub(super) fn of(values: impl IntoIterator<Item = Value<'a>>) -> Self {
        let positional = values.into_iter().map(|value| (TextRange::default(), value)).collect();
        Self { positional, ..Self::default() }
    }

    /// Arguments of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// The argument at a position or of a name.
    pub(super) fn get(&self, name: &str, position: usize) -> Option<(TextRange, &Value<'a>)> {
        let at_position = self.positional.get(position).map(|(range, value)| (*range, value));
        at_position.or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<(TextRange, &Value<'a>)> {
        self.named.iter().find(|(known, ..)| *known == name).map(|(_, range, value)| (*range, value))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value<'a>> {
        self.positional.iter().map(|(_, value)| value).chain(self.named.iter().map(|(_, _, value)| value))
    }

    /// Hands every argument on to something that may look at all of it.
    pub(super) fn consume(&self, flow: &mut Flow<'a, '_, '_, '_>) {
        for value in self.values() {
            flow.consume(value);
        }
    }
}

impl<'a> Flow<'a, '_, '_, '_> {
    pub(super) fn call(&mut self, call: &'a ExprCall) -> Value<'a> {
        if let Expr::Attribute(attribute) = &*call.func {
            let receiver = self.eval(&attribute.value);
            let args = self.args(&call.arguments);
            return self.method(&receiver, attribute, &args);
        }
        let callee = self.eval(&call.func);
        let args = self.args(&call.arguments);
        self.invoke(&callee, &args, call.func.range())
    }

    fn args(&mut self, arguments: &'a ast::Arguments) -> Args<'a> {
        let mut args = Args::default();
        for argument in &arguments.args {
            if let Expr::Starred(starred) = argument {
                let value = self.eval(&starred.value);
                args.is_open = true;
                let element = self.element(&value);
                args.positional.push((argument.range(), element));
            } else {
                let value = self.eval(argument);
                args.positional.push((argument.range(), value));
            }
        }
        for keyword in &arguments.keywords {
            let value = self.eval(&keyword.value);
            if let Some(name) = &keyword.arg {
                args.named.push((name.as_str(), keyword.value.range(), value));
            } else {
                args.is_open = true;
                self.spread_options(&value, &mut args, keyword.value.range());
            }
        }
        args
    }

    /// `**options`: the keys of a known dict are arguments.
    fn spread_options(&mut self, value: &Value<'a>, args: &mut Args<'a>, range: TextRange) {
        if let Value::Record(record) = value {
            for entry in &record.entries {
                args.named.push((entry.key.text, entry.value_range, entry.value.clone()));
            }
        } else {
            self.consume(value);
            args.named.push(("**", range, Value::Unknown));
        }
    }

    /// A method call.
    fn method(&mut self, receiver: &Value<'a>, attribute: &'a ExprAttribute, args: &Args<'a>) -> Value<'a> {
        let name = attribute.attr.as_str();
        match receiver {
            // A row may come from one of several tables; a key that one of them has is meant.
            Value::Union(values)
                if name == "get"
                    && values.iter().all(|value| matches!(value, Value::Row(_) | Value::None)) =>
            {
                let key = args.positional.first().map_or(Value::Unknown, |(_, key)| key.clone());
                self.item(receiver, &key, &attribute.value)
            }
            Value::Union(values) => self.method_of_each(&values.clone(), attribute, args),
            Value::Database => self.database_call(attribute, args),
            Value::Table(table) => {
                self.table_call(*table, name, args, attribute.range(), attribute.attr.range())
            }
            Value::Query => self.query_call(None, &attribute.attr, args),
            Value::Path(path) => self.query_call(Some(path), &attribute.attr, args),
            Value::Row(shape) => self.row_call(shape, attribute, args),
            Value::Record(_) | Value::List(_) | Value::Map(_) | Value::Tuple(_) => {
                self.container_call(receiver, attribute, args)
            }
            Value::Member(path) => {
                let path = format!("{path}.{name}");
                self.judge_member(&path, attribute.range());
                self.module_call(&path, args, attribute.range())
            }
            Value::Text(_) => self.text_call(name, args),
            Value::Files => {
                args.consume(self);
                match name {
                    "values" => Value::list(Value::WorkPath),
                    "items" => Value::list(Value::tuple(vec![Value::Text(Text::Any), Value::WorkPath])),
                    "get" | "pop" => Value::WorkPath,
                    _ => Value::Unknown,
                }
            }
            Value::WorkPath => {
                args.consume(self);
                match name {
                    "joinpath" | "with_suffix" | "with_name" | "with_stem" | "resolve" | "absolute" => {
                        Value::WorkPath
                    }
                    "glob" | "rglob" | "iterdir" => Value::list(Value::WorkPath),
                    "read_text" => Value::Text(Text::Any),
                    _ => Value::Unknown,
                }
            }
            _ => {
                self.unknown_call(name, args);
                Value::Unknown
            }
        }
    }

    /// A method of one of several values. If it changes the variable that holds them, each changes in its own way.
    fn method_of_each(
        &mut self,
        values: &[Value<'a>],
        attribute: &'a ExprAttribute,
        args: &Args<'a>,
    ) -> Value<'a> {
        let slot = match &*attribute.value {
            Expr::Name(name) => self.slot(name.id.as_str()),
            _ => None,
        };
        let (mut result, mut changed) = (Value::Never, Value::Never);
        for value in values {
            if let Some(slot) = slot {
                self.state.set(slot, value.clone());
            }
            let given = self.method(value, attribute, args);
            result = result.join(given);
            if let Some(after) = slot.and_then(|slot| self.state.get(slot)) {
                changed = changed.join(after.clone());
            }
        }
        if let Some(slot) = slot {
            self.state.set(slot, changed);
        }
        result
    }

    /// A method of something that cannot be followed; it may be a table that went out of sight.
    fn unknown_call(&mut self, name: &str, args: &Args<'a>) {
        let kind = match name {
            "insert" | "insert_multiple" => Some(WriteKind::Add),
            "update" | "update_multiple" => Some(WriteKind::Change),
            "upsert" => Some(WriteKind::AddOrChange),
            "remove" | "truncate" => Some(WriteKind::Remove),
            _ => None,
        };
        if let Some(kind) = kind.filter(|kind| !self.unknown_writes.contains(kind)) {
            self.unknown_writes.push(kind);
        }
        args.consume(self);
    }

    /// Calls a value.
    pub(super) fn invoke(&mut self, callee: &Value<'a>, args: &Args<'a>, range: TextRange) -> Value<'a> {
        match callee {
            Value::Function(function) => self.call_function(*function, args),
            Value::Builtin(name) => self.builtin_call(name, args, range),
            Value::Member(path) => self.module_call(&path.clone(), args, range),
            Value::Helper(name) => self.helper_call(name, args, range),
            Value::Method(table, name) => self.table_call(*table, name, args, range, range),
            Value::Getter(text) => {
                for (_, value) in &args.positional {
                    for alternative in value.alternatives() {
                        match alternative {
                            Value::Row(shape) => self.read_columns(shape, text),
                            other => self.consume(other),
                        }
                    }
                }
                Value::Unknown
            }
            Value::Union(values) => {
                let mut joined = Value::Never;
                for value in values.clone().iter() {
                    let result = self.invoke(value, args, range);
                    joined = joined.join(result);
                }
                joined
            }
            _ => {
                args.consume(self);
                Value::Unknown
            }
        }
    }

    fn helper_call(&mut self, name: &str, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let may_write = self.policy.helper(name).is_some_and(|helper| helper.may_write);
        if may_write {
            self.helper_writes = true;
            if self.policy.read_only {
                let message = format!("helper `{name}` may write, and nothing may be written here");
                let draft = Draft::new(FindingCode::WriteInReadOnly, range, message);
                self.report.add(draft.hint("leave the call out"));
            }
        }
        for value in args.values() {
            for alternative in value.alternatives() {
                match alternative {
                    // A helper is known: it writes only if it says so.
                    Value::Table(table) => {
                        self.read_whole(*table);
                        if may_write {
                            for table in self.possible(*table) {
                                self.usage.write_any(table);
                            }
                        }
                    }
                    other => self.consume(other),
                }
            }
        }
        Value::Unknown
    }

    fn text_call(&mut self, name: &str, args: &Args<'a>) -> Value<'a> {
        args.consume(self);
        match name {
            "split" | "rsplit" | "splitlines" => Value::list(Value::Text(Text::Any)),
            "find" | "index" | "count" | "rfind" => Value::Integer,
            "startswith" | "endswith" | "isdigit" | "isalpha" | "isnumeric" => Value::Boolean(None),
            "encode" | "partition" | "rpartition" => Value::Unknown,
            _ => Value::Text(Text::Any),
        }
    }
}
