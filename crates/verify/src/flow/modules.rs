//! Functions of Python and of known modules: what they do with what they are given.

use std::rc::Rc;

use ruff_text_size::TextRange;

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::value::{Entry, Literal, Operation, Record, Text, Value};
use crate::data::blocked_calls;
use crate::finding_code::FindingCode;
use crate::names::calls::member_refusal;
use crate::report::Draft;

impl<'a> Flow<'a, '_, '_, '_> {
    /// A function that Python has without an import.
    pub(super) fn builtin_call(&mut self, name: &str, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let first = args.positional.first().map(|(_, value)| value.clone());
        match name {
            "len" => {
                for alternative in first.iter().flat_map(Value::alternatives) {
                    if let Value::Table(table) = alternative {
                        self.count_table(*table, range);
                    }
                }
                Value::Integer
            }
            "bool" | "any" | "all" | "isinstance" | "callable" | "hasattr" | "issubclass" => {
                Value::Boolean(None)
            }
            "type" | "id" | "range" | "object" | "super" | "iter" if first.is_none() => Value::Unknown,
            "type" | "id" => Value::Unknown,
            "list" | "tuple" | "set" | "frozenset" | "iter" | "reversed" => {
                let element = first.map_or(Value::Never, |value| self.element(&value));
                Value::list(element)
            }
            "sorted" => {
                let element = first.map_or(Value::Never, |value| self.element(&value));
                self.call_key(args, &element);
                Value::list(element)
            }
            "min" | "max" => {
                let element = match &args.positional[..] {
                    [(_, only)] => self.element(only),
                    several => several
                        .iter()
                        .map(|(_, value)| value.clone())
                        .reduce(Value::join)
                        .unwrap_or(Value::Unknown),
                };
                self.call_key(args, &element);
                args.named("default").map_or(element.clone(), |(_, default)| element.join(default.clone()))
            }
            "filter" | "map" => self.map_call(name == "filter", args, range),
            "enumerate" => {
                let element = first.map_or(Value::Unknown, |value| self.element(&value));
                Value::list(Value::tuple(vec![Value::Integer, element]))
            }
            "zip" => {
                let elements = args.positional.iter().map(|(_, value)| self.element(value)).collect();
                Value::list(Value::tuple(elements))
            }
            "next" => {
                let element = first.map_or(Value::Unknown, |value| self.element(&value));
                args.positional.get(1).map_or(element.clone(), |(_, default)| element.join(default.clone()))
            }
            "sum" => {
                if let Some(value) = first {
                    let element = self.element(&value);
                    self.consume(&element);
                }
                Value::Unknown
            }
            "dict" => self.dict_call(first, args),
            "getattr" => self.getattr_call(args),
            "str" | "repr" | "format" | "ascii" | "chr" | "hex" | "bin" => {
                args.consume(self);
                Value::Text(Text::Any)
            }
            "int" | "ord" | "hash" => {
                args.consume(self);
                Value::Integer
            }
            "float" => {
                args.consume(self);
                Value::Real(false)
            }
            "open" => self.open_call(args, range),
            "exit" | "quit" => {
                args.consume(self);
                self.end_of_program();
                Value::Never
            }
            _ => {
                args.consume(self);
                Value::Unknown
            }
        }
    }

    /// `map(function, values)`, `filter(function, values)`.
    fn map_call(&mut self, is_filter: bool, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let Some((_, function)) = args.positional.first() else { return Value::Unknown };
        let elements: Vec<Value<'a>> =
            args.positional[1..].iter().map(|(_, value)| self.element(value)).collect();
        let element = elements.first().cloned().unwrap_or(Value::Unknown);
        if is_filter && matches!(function, Value::None) {
            return Value::list(element);
        }
        let result = self.invoke(&function.clone(), &Args::of(elements), range);
        Value::list(if is_filter { element } else { result })
    }

    fn dict_call(&mut self, first: Option<Value<'a>>, args: &Args<'a>) -> Value<'a> {
        let mut record = match first {
            Some(Value::Row(shape)) if args.named.is_empty() => {
                return Value::Row(Rc::new(Shape { is_live: false, ..(*shape).clone() }));
            }
            Some(Value::Record(record)) => (*record).clone(),
            Some(value @ Value::Row(_)) => Record { spread: vec![value], ..Record::default() },
            Some(value) => {
                let element = match self.element(&value) {
                    Value::Tuple(parts) if parts.len() == 2 => parts[1].clone(),
                    _ if matches!(value, Value::Map(_)) => return value,
                    _ => {
                        self.consume(&value);
                        Value::Unknown
                    }
                };
                return Value::map(element);
            }
            None => Record { is_open: args.is_open, ..Record::default() },
        };
        for (name, range, value) in &args.named {
            let key = Literal { text: name, range: *range };
            record = record.with(Entry { key, value: value.clone(), value_range: *range });
        }
        Value::Record(Rc::new(record))
    }

    fn getattr_call(&mut self, args: &Args<'a>) -> Value<'a> {
        let [(_, value), (_, name), ..] = &args.positional[..] else { return Value::Unknown };
        let value = value.clone();
        let Some(names) = Self::text_of(name).known().map(<[Literal<'a>]>::to_vec) else {
            self.consume(&value);
            return Value::Unknown;
        };
        let mut joined = Value::Never;
        for name in names {
            let result = self.attribute(&value, name.text, name.range);
            joined = joined.join(result);
        }
        joined
    }

    /// A plan opens only what it was given.
    fn open_call(&mut self, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let is_given = args.get("file", 0).is_some_and(|(_, path)| {
            path.alternatives().iter().any(|alternative| matches!(alternative, Value::WorkPath))
        });
        let is_allowed = self.policy.allowed_calls.iter().any(|allowed| allowed == "open");
        if !is_given
            && !is_allowed
            && let Some(entry) = blocked_calls::blocking("open", self.policy.contract)
        {
            let message = format!("`open` may not be used on this path: {}", entry.reason);
            self.report.add(Draft::new(FindingCode::BlockedCall, range, message).hint(entry.instead));
        }
        args.consume(self);
        Value::Unknown
    }

    /// Judges a member of a module that was reached through a variable, where the walk over names does not see it.
    pub(super) fn judge_member(&mut self, path: &str, range: TextRange) {
        if let Some((reason, instead)) = member_refusal(path, self.policy) {
            let message = format!("`{path}` may not be used: {reason}");
            self.report.add(Draft::new(FindingCode::BlockedCall, range, message).hint(instead));
        }
    }

    /// A function of a module.
    pub(super) fn module_call(&mut self, path: &str, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let first = args.positional.first().map(|(_, value)| value.clone());
        match path {
            "tinydb.Query" | "tinydb.queries.Query" => Value::Query,
            "tinydb.where" | "tinydb.queries.where" => {
                let name = first.map_or(Text::Any, |value| Self::text_of(&value));
                self.path(name)
            }
            "tinydb.table.Document" => first.unwrap_or(Value::Unknown),
            "ordain.frame" => self.frame_of(args, range),
            "ordain.sql" => self.sql_frame(args),
            "functools.reduce" => self.reduce_call(args, range),
            "functools.partial" => {
                args.consume(self);
                Value::Unknown
            }
            "copy.copy" | "copy.deepcopy" => match first {
                Some(Value::Row(shape)) => Value::Row(Rc::new(Shape { is_live: false, ..(*shape).clone() })),
                other => other.unwrap_or(Value::Unknown),
            },
            "operator.itemgetter" => {
                let names: Vec<Literal<'a>> = args
                    .values()
                    .flat_map(|value| {
                        Self::text_of(value).known().map(<[Literal<'a>]>::to_vec).unwrap_or_default()
                    })
                    .collect();
                Value::Getter(if names.is_empty() { Text::Any } else { Text::Several(names.into()) })
            }
            "operator.and_" | "operator.or_" => match &args.positional[..] {
                [(_, left), (_, right)] => left.clone().join(right.clone()),
                _ => Value::Unknown,
            },
            "collections.defaultdict" => Value::map(match first {
                Some(Value::Builtin("list" | "set")) => Value::list(Value::Never),
                Some(Value::Builtin("dict")) => Value::map(Value::Never),
                Some(Value::Builtin("int")) => Value::Integer,
                Some(Value::Function(function)) => self.call_function(function, &Args::default()),
                _ => Value::Unknown,
            }),
            "collections.OrderedDict" => self.dict_call(first, args),
            "collections.deque" => Value::list(first.map_or(Value::Never, |value| self.element(&value))),
            "itertools.chain" => {
                let elements: Vec<Value<'a>> =
                    args.positional.iter().map(|(_, value)| self.element(value)).collect();
                Value::list(elements.into_iter().reduce(Value::join).unwrap_or(Value::Never))
            }
            "itertools.islice" | "heapq.nlargest" | "heapq.nsmallest" => {
                let values = if path == "itertools.islice" {
                    first
                } else {
                    args.positional.get(1).map(|(_, value)| value.clone())
                };
                let element = values.map_or(Value::Unknown, |value| self.element(&value));
                self.call_key(args, &element);
                Value::list(element)
            }
            "itertools.groupby" => {
                let element = first.map_or(Value::Unknown, |value| self.element(&value));
                if let Some((range, function)) = args.get("key", 1) {
                    let _ = self.invoke(&function.clone(), &Args::of([element.clone()]), range);
                }
                Value::list(Value::tuple(vec![Value::Unknown, Value::list(element)]))
            }
            "sys.exit" => {
                args.consume(self);
                self.end_of_program();
                Value::Never
            }
            _ if path.starts_with("tinydb.operations.") => Self::operation(path, args),
            _ => {
                args.consume(self);
                self.call_key(args, &Value::Unknown);
                Value::Unknown
            }
        }
    }

    /// `increment("quantity_in_stock")` and its like.
    fn operation(path: &str, args: &Args<'a>) -> Value<'a> {
        let Some((range, name)) = args.get("field", 0) else { return Value::Unknown };
        let text = Self::text_of(name);
        let Some(&[key]) = text.known() else { return Value::Unknown };
        let reads = !matches!(path.rsplit('.').next(), Some("set" | "delete"));
        let (value_range, value) = match args.positional.get(1) {
            Some((range, value)) => (*range, value.clone()),
            None => (range, Value::Unknown),
        };
        Value::Operation(Rc::new(Operation { entry: Entry { key, value, value_range }, reads }))
    }

    /// `reduce(function, values, start)`: what it gives is made of the elements.
    fn reduce_call(&mut self, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let [(_, function), (_, values), rest @ ..] = &args.positional[..] else { return Value::Unknown };
        let mut element = self.element(values);
        if let Some((_, start)) = rest.first() {
            element = element.join(start.clone());
        }
        let result = self.invoke(&function.clone(), &Args::of([element.clone(), element.clone()]), range);
        match result {
            Value::Unknown if matches!(element, Value::Condition(_)) => element,
            other => other,
        }
    }
}
