//! Data frames: which columns they have and which are looked at.

use std::rc::Rc;

use ruff_python_ast::Expr;
use ruff_text_size::TextRange;

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::value::{Literal, Text, Value};
use crate::data::frame_methods::is_method;

/// Attributes of a data frame that look at no value.
const PROPERTIES: &[&str] =
    &["columns", "index", "shape", "empty", "size", "dtypes", "ndim", "axes", "attrs", "flags"];

/// Attributes that give all of it.
const WHOLE: &[&str] = &["values", "T", "plot", "style", "sparse"];

impl<'a> Flow<'a, '_, '_, '_> {
    /// `frame("inventory")`
    pub(super) fn frame_of(&mut self, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let Some((_, name)) = args.get("name", 0) else { return Value::Frame(Rc::new(Shape::unknown())) };
        // One of several tables of a file: the file is named first.
        if args.get("table", 1).is_some() {
            return Value::Frame(Rc::new(Shape::unknown()));
        }
        let made = self.tables_of(&name.clone(), Value::Table);
        let mut joined = Value::Never;
        for alternative in made.alternatives() {
            let value = match alternative {
                Value::Table(table) => {
                    self.read_table(*table, range);
                    // Of a file of which no columns are told, any may be there.
                    let told = table.filter(|&table| !self.table(table).columns.is_empty());
                    Value::Frame(Rc::new(told.map_or_else(Shape::unknown, Shape::of_table)))
                }
                _ => Value::Frame(Rc::new(Shape::unknown())),
            };
            joined = joined.join(value);
        }
        joined
    }

    /// `frame.price`
    pub(super) fn frame_attribute(&mut self, shape: &Rc<Shape<'a>>, name: Literal<'a>) -> Value<'a> {
        match name.text {
            "loc" | "iloc" | "at" | "iat" => Value::Indexer(shape.clone()),
            text if PROPERTIES.contains(&text) => Value::Unknown,
            text if WHOLE.contains(&text) => {
                self.consume(&Value::Frame(shape.clone()));
                Value::Unknown
            }
            text if is_method(text) || text.starts_with('_') => Value::Unknown,
            _ => {
                self.read_column(shape, name);
                Value::Series
            }
        }
    }

    /// `frame[key]`
    pub(super) fn frame_item(
        &mut self,
        shape: &Rc<Shape<'a>>,
        key: &Value<'a>,
        slice: &'a Expr,
    ) -> Value<'a> {
        match key {
            Value::Text(text) => {
                self.read_columns(shape, text);
                Value::Series
            }
            Value::List(element) => self.select(shape, element),
            Value::Series | Value::Condition(_) => Value::Frame(shape.clone()),
            Value::Union(values) if values.iter().all(|value| matches!(value, Value::Text(_))) => {
                self.read_columns(shape, &Self::text_of(key));
                Value::Series
            }
            _ if slice.is_slice_expr() || is_mask(slice) => Value::Frame(shape.clone()),
            _ => {
                self.consume(&Value::Frame(shape.clone()));
                Value::Frame(Rc::new(shape.open()))
            }
        }
    }

    /// `frame[["name", "price"]]`
    fn select(&mut self, shape: &Rc<Shape<'a>>, element: &Value<'a>) -> Value<'a> {
        match Self::text_of(element).known() {
            Some(names) => {
                for &name in names {
                    self.read_column(shape, name);
                }
                Value::Frame(Rc::new(shape.select(names.iter().map(|name| name.text).collect())))
            }
            None if matches!(element, Value::Never) => Value::Frame(shape.clone()),
            None => {
                self.consume(&Value::Frame(shape.clone()));
                Value::Frame(Rc::new(shape.open()))
            }
        }
    }

    /// `frame.loc[rows, columns]`
    pub(super) fn indexer_item(
        &mut self,
        shape: &Rc<Shape<'a>>,
        key: &Value<'a>,
        slice: &'a Expr,
    ) -> Value<'a> {
        if let (Expr::Tuple(parts), Value::Tuple(values)) = (slice, key)
            && let ([_, columns_expr], [_, columns]) = (&parts.elts[..], &values[..])
        {
            if columns_expr.is_slice_expr() {
                return Value::Frame(shape.clone());
            }
            return self.frame_item(shape, &columns.clone(), columns_expr);
        }
        match key {
            Value::Integer | Value::Text(_) => Value::Row(shape.clone()),
            Value::Series | Value::List(_) => Value::Frame(shape.clone()),
            _ if slice.is_slice_expr() || is_mask(slice) => Value::Frame(shape.clone()),
            _ => Value::Frame(shape.clone()).join(Value::Row(shape.clone())),
        }
    }

    /// `frame.groupby(…)[…]`
    pub(super) fn groups_item(&mut self, shape: &Rc<Shape<'a>>, key: &Value<'a>) -> Value<'a> {
        let element = match key {
            Value::List(element) => (**element).clone(),
            other => other.clone(),
        };
        let text = Self::text_of(&element);
        self.read_columns(shape, &text);
        match text.known() {
            Some(names) => Value::Groups(Rc::new(shape.select(names.iter().map(|name| name.text).collect()))),
            None => Value::Groups(shape.clone()),
        }
    }

    /// Columns that an argument names, one or several.
    pub(super) fn named_columns(&mut self, shape: &Shape<'a>, value: &Value<'a>) {
        match value {
            Value::Text(text) => self.read_columns(shape, text),
            Value::List(element) => self.named_columns(shape, element),
            Value::Tuple(values) | Value::Union(values) => {
                for value in values.clone().iter() {
                    self.named_columns(shape, value);
                }
            }
            Value::Record(record) => {
                for entry in &record.entries {
                    self.read_column(shape, entry.key);
                }
                if record.is_open {
                    self.usage.read_shape(self.schema, shape);
                }
            }
            Value::None | Value::Never | Value::Series | Value::Integer | Value::Boolean(_) => {}
            other => {
                self.consume(other);
                self.usage.read_shape(self.schema, shape);
            }
        }
    }

    /// The names of all columns that are known of a shape.
    pub(super) fn column_names(&self, shape: &Shape<'a>) -> Vec<&'a str> {
        if let Some(only) = &shape.only {
            return only.clone();
        }
        let schema = self.schema;
        let stored = shape.sources.iter().flat_map(|&table| schema.tables[table].columns.iter());
        let stored = stored.map(|column| column.name.as_str());
        stored.chain(shape.derived.iter().map(|derived| derived.text)).collect()
    }

    /// A frame of what a program puts together: `DataFrame(rows)`.
    pub(super) fn new_frame(&mut self, args: &Args<'a>) -> Value<'a> {
        let Some((_, data)) = args.get("data", 0) else {
            return Value::Frame(Rc::new(Shape::unknown()));
        };
        let data = data.clone();
        let shape = match &data {
            Value::Frame(shape) => return Value::Frame(shape.clone()),
            Value::Record(record) if !record.is_open && record.spread.is_empty() => {
                self.consume(&data);
                Shape { derived: record.entries.iter().map(|entry| entry.key).collect(), ..Shape::default() }
            }
            Value::List(element) => match &**element {
                Value::Row(shape) => return self.with_columns(shape, args),
                Value::Record(record) if !record.is_open && record.spread.is_empty() => {
                    self.consume(&data);
                    Shape {
                        derived: record.entries.iter().map(|entry| entry.key).collect(),
                        ..Shape::default()
                    }
                }
                _ => {
                    self.consume(&data);
                    Shape::unknown()
                }
            },
            other => {
                self.consume(other);
                Shape::unknown()
            }
        };
        Value::Frame(Rc::new(shape))
    }

    /// `DataFrame(rows, columns=["name", "price"])`
    fn with_columns(&mut self, shape: &Rc<Shape<'a>>, args: &Args<'a>) -> Value<'a> {
        match args.named("columns") {
            Some((_, Value::List(element))) => self.select(shape, &element.clone()),
            Some(_) => Value::Frame(Rc::new(shape.open())),
            None => Value::Frame(shape.clone()),
        }
    }

    /// A function of pandas.
    pub(super) fn pandas_call(&mut self, path: &str, args: &Args<'a>, range: TextRange) -> Value<'a> {
        let first = args.positional.first().map(|(_, value)| value.clone());
        match path {
            "pandas.DataFrame" | "pandas.DataFrame.from_records" => self.new_frame(args),
            "pandas.merge" => self.pandas_merge(args),
            "pandas.concat" => {
                let element = first.map_or(Value::Unknown, |value| self.element(&value));
                self.concatenated(&element)
            }
            "pandas.Series" | "pandas.to_datetime" | "pandas.to_numeric" | "pandas.cut" | "pandas.qcut"
            | "pandas.isna" | "pandas.isnull" | "pandas.notna" | "pandas.notnull" => {
                args.consume(self);
                Value::Series
            }
            _ if path.starts_with("pandas.read_") => {
                args.consume(self);
                Value::Frame(Rc::new(Shape::unknown()))
            }
            _ => {
                let _ = range;
                args.consume(self);
                Value::Unknown
            }
        }
    }

    /// `pandas.merge(left, right, …)`
    fn pandas_merge(&mut self, args: &Args<'a>) -> Value<'a> {
        let (Some((_, Value::Frame(left))), Some((_, right))) = (args.get("left", 0), args.get("right", 1))
        else {
            args.consume(self);
            return Value::Frame(Rc::new(Shape::unknown()));
        };
        let mut rest = args.copy();
        rest.positional.drain(..rest.positional.len().min(1));
        self.merge(left, right, &rest)
    }

    fn concatenated(&mut self, element: &Value<'a>) -> Value<'a> {
        let mut joined: Option<Shape<'a>> = None;
        for alternative in element.alternatives() {
            let Value::Frame(shape) = alternative else {
                self.consume(element);
                return Value::Frame(Rc::new(Shape::unknown()));
            };
            joined = Some(match joined {
                Some(known) => known.merge(shape),
                None => (**shape).clone(),
            });
        }
        Value::Frame(Rc::new(joined.unwrap_or_else(Shape::unknown)))
    }

    /// Joins two frames; the key columns must be there.
    pub(super) fn merge(&mut self, left: &Rc<Shape<'a>>, right: &Value<'a>, args: &Args<'a>) -> Value<'a> {
        let right = match right {
            Value::Frame(shape) => shape.clone(),
            other => {
                self.consume(other);
                Rc::new(Shape::unknown())
            }
        };
        let mut has_key = false;
        for (name, sides) in [
            ("on", [Some(left), Some(&right)]),
            ("left_on", [Some(left), None]),
            ("right_on", [None, Some(&right)]),
        ] {
            let key = if name == "on" { args.get(name, 2) } else { args.named(name) };
            if let Some((_, key)) = key {
                has_key = true;
                let key = key.clone();
                for side in sides.into_iter().flatten() {
                    self.named_columns(side, &key);
                }
            }
        }
        let by_index = args.named("left_index").is_some() || args.named("right_index").is_some();
        if !has_key && !by_index {
            self.shared_columns(left, &right);
        }
        let mut merged = left.merge(&right);
        merged.is_open |=
            ["suffixes", "indicator", "lsuffix", "rsuffix"].iter().any(|name| args.named(name).is_some());
        Value::Frame(Rc::new(merged))
    }

    /// A merge without a key joins on every name that both have.
    fn shared_columns(&mut self, left: &Shape<'a>, right: &Shape<'a>) {
        let names = self.column_names(right);
        for name in self.column_names(left) {
            if names.contains(&name) {
                let literal = Literal { text: name, range: TextRange::default() };
                self.read_column(left, literal);
                self.read_column(right, literal);
            }
        }
    }

    /// Columns that a query text names: `frame.query("price < 100")`.
    pub(super) fn query_text(&mut self, shape: &Shape<'a>, text: &Text<'a>) {
        let Some(texts) = text.known() else {
            self.usage.read_shape(self.schema, shape);
            return;
        };
        for literal in texts {
            let words =
                literal.text.split(|character: char| !character.is_alphanumeric() && character != '_');
            for word in words {
                if let super::shape::Column::Stored(_) = shape.column(self.schema, word) {
                    self.read_column(shape, Literal { text: word, range: literal.range });
                }
            }
        }
    }
}

/// Whether an index is computed from columns, and so selects rows.
fn is_mask(slice: &Expr) -> bool {
    matches!(slice, Expr::Compare(_) | Expr::BinOp(_) | Expr::UnaryOp(_) | Expr::Call(_) | Expr::BoolOp(_))
}
