//! Lists, dicts, tuples and rows: what is inside, what is added, what is looked at.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::value::{Entry, Literal, Record, Text, Value};

impl<'a> Flow<'a, '_, '_, '_> {
    /// What iterating over a value gives.
    pub(super) fn element(&mut self, value: &Value<'a>) -> Value<'a> {
        match value {
            Value::List(element) => (**element).clone(),
            Value::Tuple(elements) => elements.iter().cloned().reduce(Value::join).unwrap_or(Value::Never),
            Value::Table(table) => {
                self.read_table(*table, TextRange::default());
                Self::row_of(*table)
            }
            Value::Record(record) if !record.is_open && record.spread.is_empty() => {
                let keys: Vec<Literal<'a>> = record.entries.iter().map(|entry| entry.key).collect();
                Value::Text(Text::Several(keys.into()))
            }
            Value::Text(_) => Value::Text(Text::Any),
            Value::Union(values) => {
                let mut joined = Value::Never;
                for value in values.clone().iter() {
                    let element = self.element(value);
                    joined = joined.join(element);
                }
                joined
            }
            Value::Never => Value::Never,
            _ => Value::Unknown,
        }
    }

    /// Hands a value on to something that may look at all of it.
    pub(super) fn consume(&mut self, value: &Value<'a>) {
        match value {
            Value::Row(shape) => {
                self.usage.read_whole(shape.table);
                self.write_live(shape);
            }
            Value::List(element) | Value::Map(element) => self.consume(element),
            Value::Tuple(values) | Value::Union(values) => {
                for value in values.clone().iter() {
                    self.consume(value);
                }
            }
            Value::Record(record) => {
                for entry in &record.entries {
                    self.consume(&entry.value);
                }
                for spread in &record.spread {
                    self.consume(spread);
                }
            }
            Value::Function(function) if !self.functions[*function].was_called => {
                self.call_with_unknown(*function);
            }
            Value::Table(table) => {
                self.read_whole(*table);
                self.escapes(*table);
            }
            Value::Database => {
                self.read_whole(None);
                self.escapes(None);
            }
            Value::Method(table, name) => {
                let args = Args::of([Value::Unknown, Value::Unknown]);
                let _ = self.table_call(*table, name, &args, TextRange::default(), TextRange::default());
            }
            _ => {}
        }
    }

    /// A table, or any, goes out of sight.
    fn escapes(&mut self, table: Option<usize>) {
        for table in self.possible(table) {
            if !self.escaped.contains(&table) {
                self.escaped.push(table);
            }
        }
    }

    /// `value[key]`
    pub(super) fn item(&mut self, value: &Value<'a>, key: &Value<'a>, slice: &'a Expr) -> Value<'a> {
        match value {
            Value::Row(shape) => {
                self.read_columns(shape, &Self::text_of(key));
                Value::Unknown
            }
            Value::Record(record) => Self::record_item(record, key),
            Value::List(element) => {
                if slice.is_slice_expr() {
                    value.clone()
                } else {
                    (**element).clone()
                }
            }
            Value::Map(element) => (**element).clone(),
            Value::Tuple(elements) => match index_of(slice, elements.len()) {
                Some(index) => elements[index].clone(),
                None if slice.is_slice_expr() => Value::list(self.element(value)),
                None => self.element(value),
            },
            Value::Query => self.path(Self::text_of(key)),
            Value::Path(path) => Self::nested_path(path),
            Value::Files => Value::WorkPath,
            Value::Text(_) => Value::Text(Text::Any),
            Value::Union(values) => {
                let values = values.clone();
                let known = Self::text_of(key);
                // A column that one of the shapes has may be meant; it is wrong only if none has it.
                let rows = values.iter().filter(|value| matches!(value, Value::Row(_))).count();
                let lacks = |flow: &Self, value: &Value<'a>| match (value, known.known()) {
                    (Value::Row(shape), Some([name])) => flow.is_missing(shape, name.text),
                    _ => false,
                };
                let all_lack =
                    values.iter().filter(|value| lacks(self, value)).count() == rows && values.len() == rows;
                let mut joined = Value::Never;
                for value in values.iter() {
                    if all_lack || !lacks(self, value) {
                        let item = self.item(value, key, slice);
                        joined = joined.join(item);
                    }
                }
                joined
            }
            _ => {
                self.consume(key);
                Value::Unknown
            }
        }
    }

    fn record_item(record: &Record<'a>, key: &Value<'a>) -> Value<'a> {
        match Self::text_of(key).known() {
            Some(keys) => keys
                .iter()
                .map(|key| record.entry(key.text).map_or(Value::Unknown, |entry| entry.value.clone()))
                .reduce(Value::join)
                .unwrap_or(Value::Unknown),
            None => Self::record_values(record),
        }
    }

    /// What any key of a record may hold.
    fn record_values(record: &Record<'a>) -> Value<'a> {
        let entries = record.entries.iter().map(|entry| entry.value.clone());
        let spread = record.spread.iter().map(|spread| match spread {
            Value::Map(element) => (**element).clone(),
            Value::Record(other) => Self::record_values(other),
            _ => Value::Unknown,
        });
        entries.chain(spread).reduce(Value::join).unwrap_or(Value::Unknown)
    }

    /// A method of a row.
    pub(super) fn row_call(
        &mut self,
        shape: &Rc<Shape<'a>>,
        attribute: &'a ExprAttribute,
        args: &Args<'a>,
    ) -> Value<'a> {
        let row = || Value::Row(shape.clone());
        match attribute.attr.as_str() {
            "get" | "pop" | "setdefault" => {
                if let Some((_, key)) = args.positional.first() {
                    self.read_columns(shape, &Self::text_of(key));
                }
                for value in args.values().skip(1) {
                    self.consume(value);
                }
                Value::Unknown
            }
            "copy" | "to_dict" | "_asdict" => {
                Value::Row(Rc::new(Shape { is_live: false, ..(**shape).clone() }))
            }
            "update" => {
                for value in args.values() {
                    if let Value::Record(record) = value {
                        let mut changed = (**shape).clone();
                        for entry in &record.entries {
                            self.set_row_key(shape, entry);
                            changed = changed.with(entry.key);
                        }
                        self.set_receiver(&attribute.value, Value::Row(Rc::new(changed)));
                    } else {
                        self.consume(value);
                        self.write_live(shape);
                        self.set_receiver(&attribute.value, Value::Row(Rc::new(shape.open())));
                    }
                }
                Value::None
            }
            "items" | "values" => {
                self.consume(&row());
                Value::Unknown
            }
            // The names of the columns, which say nothing of their values.
            "keys" => Value::list(Value::Unknown),
            _ => {
                self.consume(&row());
                args.consume(self);
                Value::Unknown
            }
        }
    }

    /// A method of a list, dict or tuple.
    pub(super) fn container_call(
        &mut self,
        receiver: &Value<'a>,
        attribute: &'a ExprAttribute,
        args: &Args<'a>,
    ) -> Value<'a> {
        let name = attribute.attr.as_str();
        let first = args.positional.first().map(|(_, value)| value.clone());
        match (receiver, name) {
            (Value::List(element), "append" | "add" | "appendleft" | "extend" | "insert") => {
                let added = match name {
                    "extend" => first.map(|value| self.element(&value)),
                    "insert" => args.positional.get(1).map(|(_, value)| value.clone()),
                    _ => first,
                };
                let joined = (**element).clone().join(added.unwrap_or(Value::Never));
                self.set_receiver(&attribute.value, Value::list(joined));
                Value::None
            }
            // A list of tables that grows is one of any of them.
            (Value::Tuple(_), "append" | "extend" | "insert") => {
                let element = self.element(receiver);
                self.container_call(&Value::list(element), attribute, args)
            }
            (Value::List(element), "pop" | "popleft") => (**element).clone(),
            (Value::List(element), "sort") => {
                self.call_key(args, element);
                Value::None
            }
            (Value::List(_), "copy" | "union" | "intersection" | "difference") | (Value::Map(_), "copy") => {
                receiver.clone()
            }
            (Value::Map(element), "get" | "pop") => {
                let default = args.positional.get(1).map_or(Value::None, |(_, value)| value.clone());
                (**element).clone().join(default)
            }
            (Value::Map(element), "setdefault") => {
                let joined = (**element)
                    .clone()
                    .join(args.positional.get(1).map_or(Value::Never, |(_, value)| value.clone()));
                self.set_receiver(&attribute.value, Value::map(joined.clone()));
                joined
            }
            (Value::Map(element), "values") => Value::list((**element).clone()),
            (Value::Map(element), "items") => {
                Value::list(Value::tuple(vec![Value::Unknown, (**element).clone()]))
            }
            (Value::Map(_), "keys") => Value::list(Value::Unknown),
            (Value::Record(record), _) => self.record_call(record, attribute, args),
            _ => {
                args.consume(self);
                Value::Unknown
            }
        }
    }

    fn record_call(
        &mut self,
        record: &Rc<Record<'a>>,
        attribute: &'a ExprAttribute,
        args: &Args<'a>,
    ) -> Value<'a> {
        let all = || Self::record_values(record);
        match attribute.attr.as_str() {
            "get" | "pop" | "setdefault" => {
                let default = args.positional.get(1).map_or(Value::None, |(_, value)| value.clone());
                let found =
                    args.positional.first().map_or(Value::Unknown, |(_, key)| Self::record_item(record, key));
                found.join(default)
            }
            "values" => Value::list(all()),
            "items" => {
                let keys = self.element(&Value::Record(record.clone()));
                Value::list(Value::tuple(vec![keys, all()]))
            }
            "keys" => Value::list(self.element(&Value::Record(record.clone()))),
            "copy" => Value::Record(record.clone()),
            "update" => {
                let mut changed = (**record).clone();
                for (_, value) in &args.positional {
                    match value {
                        Value::Record(other) => {
                            for entry in &other.entries {
                                changed = changed.with(entry.clone());
                            }
                            changed.is_open |= other.is_open;
                        }
                        other => changed.spread.push(other.clone()),
                    }
                }
                for (name, range, value) in &args.named {
                    let key = Literal { text: name, range: *range };
                    changed = changed.with(Entry { key, value: value.clone(), value_range: *range });
                }
                self.set_receiver(&attribute.value, Value::Record(Rc::new(changed)));
                Value::None
            }
            _ => {
                args.consume(self);
                Value::Unknown
            }
        }
    }

    /// Calls `key=` with an element.
    pub(super) fn call_key(&mut self, args: &Args<'a>, element: &Value<'a>) {
        if let Some((range, function)) = args.named("key") {
            let _ = self.invoke(&function.clone(), &Args::of([element.clone()]), range);
        }
    }

    /// Gives the variable that an expression names a new value: `rows.append(row)` changes `rows`.
    pub(super) fn set_receiver(&mut self, expr: &'a Expr, value: Value<'a>) {
        match expr {
            Expr::Name(name) => {
                if let Some(slot) = self.slot(name.id.as_str()) {
                    self.state.set(slot, value);
                }
            }
            // `groups[key].append(row)` changes what the elements of `groups` are.
            Expr::Subscript(subscript) => {
                if let Expr::Name(name) = &*subscript.value
                    && let Some(slot) = self.slot(name.id.as_str())
                {
                    let changed = match self.state.get(slot) {
                        Some(Value::Map(element)) => Value::map((**element).clone().join(value)),
                        Some(Value::List(element)) => Value::list((**element).clone().join(value)),
                        Some(Value::Record(record)) => match &*subscript.slice {
                            Expr::StringLiteral(literal) => {
                                let key = Literal { text: literal.value.to_str(), range: literal.range() };
                                Value::Record(Rc::new(record.with(Entry {
                                    key,
                                    value,
                                    value_range: literal.range(),
                                })))
                            }
                            _ => Value::Record(Rc::new(Record {
                                spread: vec![value],
                                is_open: true,
                                ..(**record).clone()
                            })),
                        },
                        _ => {
                            self.consume(&value);
                            return;
                        }
                    };
                    self.state.set(slot, changed);
                } else {
                    self.consume(&value);
                }
            }
            _ => self.consume(&value),
        }
    }
}

/// A literal index that lies inside a tuple.
fn index_of(slice: &Expr, length: usize) -> Option<usize> {
    let (expr, is_negative) = match slice {
        Expr::UnaryOp(unary) if unary.op == ruff_python_ast::UnaryOp::USub => (&*unary.operand, true),
        other => (other, false),
    };
    let Expr::NumberLiteral(number) = expr else { return None };
    let ruff_python_ast::Number::Int(index) = &number.value else { return None };
    let index = usize::from(index.as_u8()?);
    let index = if is_negative { length.checked_sub(index)? } else { index };
    (index < length).then_some(index)
}
