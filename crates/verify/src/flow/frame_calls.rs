//! Methods of data frames and of groups.

use std::rc::Rc;

use ruff_python_ast::ExprAttribute;

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::value::{Text, Value};

/// Methods that keep the columns, with the argument that names columns: its keyword and its position.
const KEEPING: &[(&str, &str, usize)] = &[
    ("sort_values", "by", 0),
    ("nlargest", "columns", 1),
    ("nsmallest", "columns", 1),
    ("set_index", "keys", 0),
    ("explode", "column", 0),
    ("dropna", "subset", usize::MAX),
    ("drop_duplicates", "subset", 0),
    ("astype", "dtype", usize::MAX),
    ("fillna", "value", usize::MAX),
    ("copy", "", 0),
    ("head", "", 0),
    ("tail", "", 0),
    ("sample", "", 0),
    ("sort_index", "", 0),
    ("reset_index", "", 0),
    ("ffill", "", 0),
    ("bfill", "", 0),
    ("replace", "", 0),
    ("round", "", 0),
    ("convert_dtypes", "", 0),
    ("infer_objects", "", 0),
    ("where", "", 0),
    ("mask", "", 0),
    ("clip", "", 0),
    ("truncate", "", 0),
    ("interpolate", "", 0),
];

/// Methods that look at every column unless some are named.
const BY_ALL: &[&str] = &["drop_duplicates", "dropna"];

/// Other methods, so that a method which is not called at once is not taken for a column.
const OTHERS: &[&str] = &[
    "abs",
    "add",
    "add_prefix",
    "add_suffix",
    "agg",
    "aggregate",
    "align",
    "all",
    "any",
    "apply",
    "applymap",
    "asfreq",
    "asof",
    "assign",
    "at_time",
    "between_time",
    "boxplot",
    "combine",
    "combine_first",
    "compare",
    "corr",
    "corrwith",
    "count",
    "cov",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "describe",
    "diff",
    "div",
    "divide",
    "dot",
    "drop",
    "droplevel",
    "duplicated",
    "eq",
    "equals",
    "eval",
    "ewm",
    "expanding",
    "filter",
    "first",
    "first_valid_index",
    "floordiv",
    "from_dict",
    "from_records",
    "ge",
    "get",
    "groupby",
    "gt",
    "hist",
    "idxmax",
    "idxmin",
    "info",
    "insert",
    "isetitem",
    "isin",
    "isna",
    "isnull",
    "items",
    "iterrows",
    "itertuples",
    "join",
    "keys",
    "kurt",
    "kurtosis",
    "last",
    "last_valid_index",
    "le",
    "lt",
    "map",
    "max",
    "mean",
    "median",
    "melt",
    "memory_usage",
    "merge",
    "min",
    "mod",
    "mode",
    "mul",
    "multiply",
    "ne",
    "notna",
    "notnull",
    "nunique",
    "pad",
    "pct_change",
    "pipe",
    "pivot",
    "pivot_table",
    "pop",
    "pow",
    "prod",
    "product",
    "quantile",
    "query",
    "radd",
    "rank",
    "rdiv",
    "reindex",
    "reindex_like",
    "rename",
    "rename_axis",
    "reorder_levels",
    "resample",
    "rfloordiv",
    "rmod",
    "rmul",
    "rolling",
    "rpow",
    "rsub",
    "rtruediv",
    "select_dtypes",
    "sem",
    "set_axis",
    "set_flags",
    "shift",
    "skew",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "swaplevel",
    "take",
    "to_clipboard",
    "to_csv",
    "to_dict",
    "to_excel",
    "to_feather",
    "to_gbq",
    "to_hdf",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_numpy",
    "to_orc",
    "to_parquet",
    "to_period",
    "to_pickle",
    "to_records",
    "to_sql",
    "to_stata",
    "to_string",
    "to_timestamp",
    "to_xarray",
    "to_xml",
    "transform",
    "transpose",
    "truediv",
    "tz_convert",
    "tz_localize",
    "unstack",
    "update",
    "value_counts",
    "var",
    "xs",
];

pub(super) fn is_method(name: &str) -> bool {
    OTHERS.binary_search(&name).is_ok() || KEEPING.iter().any(|(known, ..)| *known == name)
}

impl<'a> Flow<'a, '_, '_, '_> {
    /// A method of a data frame.
    pub(super) fn frame_call(
        &mut self,
        shape: &Rc<Shape<'a>>,
        attribute: &'a ExprAttribute,
        args: &Args<'a>,
    ) -> Value<'a> {
        let name = attribute.attr.as_str();
        let is_in_place = matches!(args.named("inplace"), Some((_, Value::Boolean(Some(true)))));
        if let Some(&(_, keyword, position)) = KEEPING.iter().find(|(known, ..)| *known == name) {
            let kept = self.keeping_call(shape, name, (keyword, position), args);
            return self.changed(attribute, kept, is_in_place);
        }
        match name {
            "rename" => {
                let renamed = Self::renamed(shape, args);
                self.changed(attribute, renamed, is_in_place)
            }
            "drop" => {
                let dropped = self.without_columns(shape, args);
                self.changed(attribute, dropped, is_in_place)
            }
            "query" => {
                let text = args.get("expr", 0).map_or(Text::Any, |(_, value)| Self::text_of(value));
                self.query_text(shape, &text);
                self.changed(attribute, (**shape).clone(), is_in_place)
            }
            "assign" => self.assigned(shape, args),
            "insert" => {
                let mut changed = (**shape).clone();
                if let Some((_, name)) = args.get("column", 1) {
                    for &literal in Self::text_of(name).known().unwrap_or_default() {
                        changed = changed.with(literal);
                    }
                }
                self.changed(attribute, changed, true)
            }
            "merge" | "join" => match args.get("right", 0).or_else(|| args.get("other", 0)) {
                Some((_, right)) => {
                    let merged = self.merge(shape, &right.clone(), &Self::merge_args(name, args));
                    match merged {
                        Value::Frame(shape) if name == "join" => Value::Frame(Rc::new(shape.open())),
                        other => other,
                    }
                }
                None => Value::Frame(Rc::new(shape.open())),
            },
            "groupby" | "resample" => {
                if let Some((_, by)) = args.get("by", 0) {
                    self.group_keys(shape, &by.clone());
                }
                Value::Groups(shape.clone())
            }
            "apply" | "agg" | "aggregate" | "transform" => self.apply_call(shape, name, args),
            "pipe" => {
                let Some((range, function)) = args.positional.first() else { return Value::Unknown };
                let mut values = vec![Value::Frame(shape.clone())];
                values.extend(args.positional[1..].iter().map(|(_, value)| value.clone()));
                self.invoke(&function.clone(), &Args::of(values), *range)
            }
            "iterrows" => Value::list(Value::tuple(vec![Value::Unknown, Value::Row(shape.clone())])),
            "itertuples" => Value::list(Value::Row(shape.clone())),
            "to_dict" => self.to_dict(shape, args),
            "get" | "pop" => {
                if let Some((_, name)) = args.positional.first() {
                    self.named_columns(shape, &name.clone());
                }
                Value::Series
            }
            "duplicated" | "value_counts" | "nunique" => {
                self.columns_or_all(shape, args, &["subset"], 0);
                Value::Series
            }
            "pivot" | "pivot_table" => {
                self.columns_or_all(shape, args, &["values", "index", "columns"], usize::MAX);
                Value::Frame(Rc::new(Shape::unknown()))
            }
            "melt" => {
                self.columns_or_all(shape, args, &["value_vars", "id_vars"], usize::MAX);
                Value::Frame(Rc::new(Shape::unknown()))
            }
            "to_csv" | "to_excel" | "to_html" | "to_json" | "to_string" | "to_markdown" | "to_parquet"
            | "to_latex" => {
                self.columns_or_all(shape, args, &["columns"], usize::MAX);
                if args.positional.is_empty() { Value::Text(Text::Any) } else { Value::None }
            }
            "plot" | "hist" | "boxplot" => {
                self.columns_or_all(shape, args, &["y", "x", "column", "by"], usize::MAX);
                Value::Unknown
            }
            // They look at names and sizes only.
            "info" | "memory_usage" | "keys" | "select_dtypes" => {
                if name == "select_dtypes" {
                    Value::Frame(Rc::new(shape.open()))
                } else {
                    Value::Unknown
                }
            }
            _ => {
                self.consume(&Value::Frame(shape.clone()));
                args.consume(self);
                Value::Series
            }
        }
    }

    /// The result of a method that gives a frame, or changes it in place.
    fn changed(&mut self, attribute: &'a ExprAttribute, shape: Shape<'a>, is_in_place: bool) -> Value<'a> {
        let frame = Value::Frame(Rc::new(shape));
        if is_in_place {
            self.set_receiver(&attribute.value, frame);
            return Value::None;
        }
        frame
    }

    fn keeping_call(
        &mut self,
        shape: &Rc<Shape<'a>>,
        name: &str,
        columns: (&str, usize),
        args: &Args<'a>,
    ) -> Shape<'a> {
        let (keyword, position) = columns;
        let named = if keyword.is_empty() { None } else { args.get(keyword, position) };
        match (name, named) {
            // A dict names columns; a plain value fills or converts all.
            ("astype" | "fillna", _) => {
                let given = args.positional.first().map(|(_, value)| value.clone());
                if let Some(value @ Value::Record(_)) = given {
                    self.named_columns(shape, &value);
                } else {
                    args.consume(self);
                }
            }
            (_, Some((_, value))) => self.named_columns(shape, &value.clone()),
            _ if BY_ALL.contains(&name) => self.consume(&Value::Frame(shape.clone())),
            _ => args.consume(self),
        }
        let keeps_index = matches!(args.named("drop"), Some((_, Value::Boolean(Some(true)))));
        if name == "reset_index" && !keeps_index { shape.open() } else { (**shape).clone() }
    }

    fn renamed(shape: &Rc<Shape<'a>>, args: &Args<'a>) -> Shape<'a> {
        let Some((_, Value::Record(record))) = args.named("columns") else { return shape.open() };
        let mut renamed = (**shape).clone();
        renamed.is_open |= record.is_open;
        for entry in &record.entries {
            let Value::Text(Text::One(new)) = &entry.value else {
                renamed.is_open = true;
                continue;
            };
            match renamed.derived.iter_mut().find(|derived| derived.text == entry.key.text) {
                Some(derived) => *derived = *new,
                None => renamed.renamed.push((new.text, entry.key.text)),
            }
        }
        renamed
    }

    fn without_columns(&mut self, shape: &Rc<Shape<'a>>, args: &Args<'a>) -> Shape<'a> {
        let by_axis = matches!(args.named("axis"), Some((_, Value::Integer | Value::Text(_))));
        let columns = match args.named("columns") {
            Some((_, columns)) => columns.clone(),
            None if by_axis => args.positional.first().map_or(Value::Unknown, |(_, value)| value.clone()),
            // Without an axis it drops rows.
            None => return (**shape).clone(),
        };
        let element = match &columns {
            Value::List(element) => (**element).clone(),
            other => other.clone(),
        };
        let text = Self::text_of(&element);
        let Some(names) = text.known() else { return shape.open() };
        let ignores = args.named("errors").is_some();
        for &name in names {
            if !ignores && self.is_missing(shape, name.text) {
                self.read_column(shape, name);
            }
        }
        if shape.is_open || !shape.renamed.is_empty() {
            return shape.open();
        }
        let left = self.column_names(shape);
        shape.select(
            left.into_iter().filter(|name| names.iter().all(|dropped| dropped.text != *name)).collect(),
        )
    }

    fn assigned(&mut self, shape: &Rc<Shape<'a>>, args: &Args<'a>) -> Value<'a> {
        let mut changed = (**shape).clone();
        for (name, range, value) in &args.named {
            if matches!(value, Value::Function(_)) {
                let frame = Value::Frame(Rc::new(changed.clone()));
                let _ = self.invoke(&value.clone(), &Args::of([frame]), *range);
            } else {
                self.consume(value);
            }
            changed = changed.with(super::value::Literal { text: name, range: *range });
        }
        changed.is_open |= args.is_open;
        Value::Frame(Rc::new(changed))
    }

    /// `left.merge(right, how, on)` has its key one place earlier than `pandas.merge`.
    fn merge_args(name: &str, args: &Args<'a>) -> Args<'a> {
        let mut shifted = Args { named: Vec::new(), positional: Vec::new(), is_open: args.is_open };
        shifted.named =
            args.named.iter().map(|(name, range, value)| (*name, *range, value.clone())).collect();
        // `join(other, on)` and `merge(right, how, on)`.
        let key = if name == "join" { 1 } else { 2 };
        if let Some((range, value)) = args.positional.get(key) {
            shifted.named.push(("on", *range, value.clone()));
        }
        if name == "join" && shifted.named.iter().all(|(name, ..)| *name != "on") {
            shifted.named.push((
                "left_index",
                ruff_text_size::TextRange::default(),
                Value::Boolean(Some(true)),
            ));
        }
        shifted
    }

    fn group_keys(&mut self, shape: &Rc<Shape<'a>>, by: &Value<'a>) {
        match by {
            Value::Function(_) => {
                let _ = self.invoke(by, &Args::of([Value::Unknown]), ruff_text_size::TextRange::default());
            }
            other => self.named_columns(shape, other),
        }
    }

    fn apply_call(&mut self, shape: &Rc<Shape<'a>>, name: &str, args: &Args<'a>) -> Value<'a> {
        let Some((range, function)) = args.positional.first() else {
            // `agg(total=("price", "sum"))`
            for (_, _, value) in &args.named {
                match value {
                    Value::Tuple(parts) if !parts.is_empty() => self.named_columns(shape, &parts[0].clone()),
                    _ => self.consume(&Value::Frame(shape.clone())),
                }
            }
            return Value::Frame(Rc::new(Shape::unknown()));
        };
        let by_row = name == "apply" && (args.named("axis").is_some() || args.positional.len() > 1);
        match function {
            Value::Function(_) if by_row => {
                let row = Value::Row(shape.clone());
                let _ = self.invoke(&function.clone(), &Args::of([row]), *range);
                Value::Series
            }
            Value::Record(_) => {
                self.named_columns(shape, &function.clone());
                Value::Frame(Rc::new(Shape::unknown()))
            }
            _ => {
                self.consume(&Value::Frame(shape.clone()));
                args.consume(self);
                Value::Frame(Rc::new(Shape::unknown()))
            }
        }
    }

    fn to_dict(&mut self, shape: &Rc<Shape<'a>>, args: &Args<'a>) -> Value<'a> {
        let orient = args.get("orient", 0).map(|(_, value)| Self::text_of(value));
        match orient.as_ref().and_then(Text::known) {
            Some([orient]) if orient.text == "records" => Value::list(Value::Row(shape.clone())),
            _ => {
                self.consume(&Value::Frame(shape.clone()));
                Value::Unknown
            }
        }
    }

    /// Reads the columns that arguments name; all of them if the first named argument is missing.
    fn columns_or_all(&mut self, shape: &Rc<Shape<'a>>, args: &Args<'a>, names: &[&str], position: usize) {
        let mut has_first = false;
        for (index, name) in names.iter().enumerate() {
            let given = if index == 0 { args.get(name, position) } else { args.named(name) };
            if let Some((_, value)) = given {
                has_first |= index == 0;
                self.named_columns(shape, &value.clone());
            }
        }
        if !has_first {
            self.consume(&Value::Frame(shape.clone()));
        }
    }

    /// A method of groups.
    pub(super) fn groups_call(&mut self, shape: &Rc<Shape<'a>>, name: &str, args: &Args<'a>) -> Value<'a> {
        match name {
            "size" | "ngroup" | "cumcount" => Value::Series,
            "get_group" | "head" | "tail" | "nth" => Value::Frame(shape.clone()),
            "agg" | "aggregate" => self.apply_call(shape, "agg", args),
            "apply" | "filter" | "pipe" => {
                if let Some((range, function)) = args.positional.first() {
                    let frame = Value::Frame(shape.clone());
                    match function {
                        Value::Function(_) => {
                            let _ = self.invoke(&function.clone(), &Args::of([frame]), *range);
                        }
                        _ => self.consume(&frame),
                    }
                }
                Value::Frame(Rc::new(Shape::unknown()))
            }
            _ => {
                self.consume(&Value::Groups(shape.clone()));
                args.consume(self);
                Value::Frame(Rc::new(Shape::unknown()))
            }
        }
    }

    /// A method of a column.
    pub(super) fn series_call(&mut self, name: &str, args: &Args<'a>) -> Value<'a> {
        args.consume(self);
        match name {
            "tolist" | "to_list" | "unique" => Value::list(Value::Unknown),
            "sum" | "mean" | "max" | "min" | "median" | "std" | "any" | "all" | "item" | "to_dict" => {
                Value::Unknown
            }
            "to_frame" | "reset_index" => Value::Frame(Rc::new(Shape::unknown())),
            _ => Value::Series,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_methods_is_sorted_for_the_search() {
        assert!(OTHERS.is_sorted());
        assert!(is_method("groupby") && is_method("head") && !is_method("colour"));
    }
}
