//! Conditions on columns.

use serde_json::{Number, Value};

use super::compile_json::{self, JsonAt};
use super::{Compiled, Condition, Piece, Test, no_path};
use crate::error::StoreError;
use crate::relation::{Kind, Relation};
use crate::sql::{Datum, Dialect, quoted};

/// Lists longer than this are left to Python; a database makes no better use of them.
const LIST_MAX: usize = 1000;

/// An operator between a value and a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Operator {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// The operator that lets equal values through too.
    pub(super) fn inclusive(self) -> Self {
        match self {
            Self::Lt => Self::Le,
            Self::Gt => Self::Ge,
            other => other,
        }
    }

    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            #[expect(clippy::float_cmp, reason = "Python compares exactly too")]
            Self::Eq => left == right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}

/// Translates a condition on rows of a table.
pub(crate) fn compile(
    relation: &Relation,
    dialect: Dialect,
    condition: &Condition,
) -> Result<Compiled, StoreError> {
    Compiler { relation, dialect }.condition(condition)
}

struct Compiler<'a> {
    relation: &'a Relation,
    dialect: Dialect,
}

/// Where a path leads.
enum PathTarget {
    Column(usize),
    /// Into a nested value that Ordain stored itself.
    Nested(usize, JsonAt),
    /// Into a nested value that SQL cannot follow as Python would.
    Untold(usize),
    /// Into a value that has no parts.
    Nowhere,
}

impl Compiler<'_> {
    fn condition(&self, condition: &Condition) -> Result<Compiled, StoreError> {
        let all =
            |of: &[Condition]| of.iter().map(|part| self.condition(part)).collect::<Result<Vec<_>, _>>();
        match condition {
            Condition::And { of } => Ok(Compiled::and(all(of)?)),
            Condition::Or { of } => Ok(Compiled::or(all(of)?)),
            Condition::Not { of } => Ok(self.condition(of)?.not()),
            Condition::Eq { path, value } => self.compare(path, Operator::Eq, value),
            Condition::Ne { path, value } => self.differs(path, value),
            Condition::Lt { path, value } => self.compare(path, Operator::Lt, value),
            Condition::Le { path, value } => self.compare(path, Operator::Le, value),
            Condition::Gt { path, value } => self.compare(path, Operator::Gt, value),
            Condition::Ge { path, value } => self.compare(path, Operator::Ge, value),
            Condition::OneOf { path, values } => self.one_of(path, values),
            Condition::Exists { path } => self.exists(path),
            Condition::AnyOf { path, values } => self.sequence(path, Some((values, false))),
            Condition::AllOf { path, values } => self.sequence(path, Some((values, true))),
            Condition::Sequence { path } => self.sequence(path, None),
            Condition::Fragment { path, value } => self.fragment(path, value),
            Condition::Regex { path } => self.regex(path),
            Condition::Noop {} => Ok(Compiled::exact(Test::True)),
            Condition::Python {} => Ok(Compiled::prefilter(Test::True)),
        }
    }

    fn place(&self, path: &[String]) -> Result<PathTarget, StoreError> {
        let (column, rest) = path.split_first().ok_or_else(no_path)?;
        let position = self.relation.visible(column)?;
        let storage = &self.relation.storage[position];
        if matches!(storage.kind, Kind::Array { .. }) || storage.kind == Kind::Any && !rest.is_empty() {
            return Ok(PathTarget::Untold(position));
        }
        if storage.kind != Kind::Json {
            return Ok(if rest.is_empty() { PathTarget::Column(position) } else { PathTarget::Nowhere });
        }
        // A value that somebody else stored may hold numbers and names that SQL reads otherwise than Python.
        if storage.native.is_some() {
            return Ok(PathTarget::Untold(position));
        }
        Ok(match JsonAt::new(self.dialect, column, rest) {
            Some(at) => PathTarget::Nested(position, at),
            None => PathTarget::Untold(position),
        })
    }

    fn column(&self, position: usize) -> String {
        quoted(&self.relation.table.columns[position].name)
    }

    fn not_null(&self, position: usize) -> Test {
        Test::text(format!("{} IS NOT NULL", self.column(position)))
    }

    fn present(&self, position: usize) -> Test {
        match self.relation.present(position, self.dialect).as_str() {
            "TRUE" => Test::True,
            text => Test::text(text),
        }
    }

    fn exists(&self, path: &[String]) -> Result<Compiled, StoreError> {
        Ok(match self.place(path)? {
            PathTarget::Column(position) => Compiled::exact(self.present(position)),
            PathTarget::Nested(position, at) if at.is_root() => Compiled::exact(self.present(position)),
            PathTarget::Nested(_, at) => Compiled::exact(at.exists()),
            PathTarget::Untold(position) if path.len() == 1 => Compiled::exact(self.present(position)),
            PathTarget::Untold(position) => Compiled::prefilter(self.not_null(position)),
            PathTarget::Nowhere => Compiled::exact(Test::False),
        })
    }

    fn differs(&self, path: &[String], value: &Value) -> Result<Compiled, StoreError> {
        let equal = self.compare(path, Operator::Eq, value)?;
        Ok(Compiled::and(vec![self.exists(path)?, equal.not()]))
    }

    fn compare(&self, path: &[String], operator: Operator, value: &Value) -> Result<Compiled, StoreError> {
        let place = self.place(path)?;
        if value.is_null() && operator != Operator::Eq {
            return Ok(Compiled::exact(Test::False));
        }
        Ok(match place {
            PathTarget::Column(position) => self.compare_column(position, operator, value),
            PathTarget::Nested(position, at) if at.is_root() && value.is_null() => self.is_none(position),
            PathTarget::Nested(_, at) => compile_json::compare(&at, operator, value),
            PathTarget::Untold(position) if path.len() == 1 && value.is_null() => {
                // JSON's own null is `None` in Python too, and only Python can tell.
                Compiled::prefilter(self.present(position))
            }
            PathTarget::Untold(position) => Compiled::prefilter(self.not_null(position)),
            PathTarget::Nowhere => Compiled::exact(Test::False),
        })
    }

    fn is_none(&self, position: usize) -> Compiled {
        let null = Test::text(format!("{} IS NULL", self.column(position)));
        Compiled::exact(Test::and(vec![null, self.present(position)]))
    }

    fn compare_column(&self, position: usize, operator: Operator, value: &Value) -> Compiled {
        let storage = &self.relation.storage[position];
        let column = self.column(position);
        match (storage.kind, value) {
            (_, Value::Null) => self.is_none(position),
            (Kind::Any, _) => self.compare_any(position, operator, value),
            (Kind::Single, Value::String(_) | Value::Bool(_) | Value::Number(_)) => {
                Compiled::prefilter(self.not_null(position))
            }
            (Kind::Double, Value::String(_)) if storage.native.is_some() => {
                Compiled::prefilter(self.not_null(position))
            }
            (_, Value::String(text)) => self.compare_text(position, operator, text),
            (Kind::Integer, Value::Bool(_) | Value::Number(_)) => integer(&column, operator, value),
            (Kind::Double, Value::Bool(_) | Value::Number(_)) => {
                let compared = double(&column, operator, value);
                // PostgreSQL holds NaN to be greater than every number; Python reads it as text.
                if storage.native.is_some() { Compiled::prefilter(compared.test) } else { compared }
            }
            (Kind::Numeric, Value::Bool(_) | Value::Number(_)) => {
                let number = Datum::Text(number_text(value));
                let compared = Test::compare(&column, operator.sql(), number, "numeric");
                // PostgreSQL holds NaN to be greater than every number; for Python it is like none.
                Compiled::exact(match operator {
                    Operator::Gt | Operator::Ge => {
                        Test::and(vec![compared, Test::text(format!("{column} <> 'NaN'"))])
                    }
                    _ => compared,
                })
            }
            (Kind::Boolean, Value::Bool(_) | Value::Number(_)) => boolean(&column, operator, value),
            _ => Compiled::exact(Test::False),
        }
    }

    /// Text and numbers lie in the column as such, but so do nested values and truth values, which only Python tells apart.
    fn compare_any(&self, position: usize, operator: Operator, value: &Value) -> Compiled {
        let column = self.column(position);
        let datum = match (self.dialect, value) {
            (Dialect::Sqlite, Value::Bool(_) | Value::Number(_)) => match (whole(value), as_double(value)) {
                (Some(whole), _) => Datum::Integer(whole),
                (None, (real, true)) => Datum::Real(real),
                (None, _) => return Compiled::prefilter(self.not_null(position)),
            },
            (_, Value::String(text)) if !text.contains('\0') => Datum::Text(text.clone()),
            _ => return Compiled::prefilter(self.not_null(position)),
        };
        let left = if operator == Operator::Eq { column } else { self.bytewise(&column) };
        Compiled::prefilter(Test::compare(&left, operator.sql(), datum, "text"))
    }

    fn compare_text(&self, position: usize, operator: Operator, text: &str) -> Compiled {
        let storage = &self.relation.storage[position];
        let column = self.column(position);
        if text.contains('\0') {
            return match operator {
                Operator::Eq => Compiled::exact(Test::False),
                _ => Compiled::prefilter(self.not_null(position)),
            };
        }
        let datum = Datum::Text(text.to_owned());
        match (storage.kind, operator) {
            (Kind::Text, Operator::Eq) => Compiled::exact(Test::compare(&column, "=", datum, "text")),
            (Kind::Text, _) => {
                Compiled::exact(Test::compare(&self.bytewise(&column), operator.sql(), datum, "text"))
            }
            (Kind::Uuid, Operator::Eq) if is_canonical_uuid(text) => {
                Compiled::exact(Test::compare(&column, "=", datum, "uuid"))
            }
            (Kind::Date, Operator::Eq) if text.len() == 10 && ordain_types::is_timestamp(text) => {
                Compiled::exact(Test::compare(&column, "=", datum, "date"))
            }
            (Kind::Instant { zoned }, _) => instant(&column, operator, text, zoned),
            (Kind::Uuid | Kind::Date | Kind::Other, _) => {
                let left = self.bytewise(&format!("{column}::text"));
                Compiled::exact(Test::compare(&left, operator.sql(), datum, "text"))
            }
            _ => Compiled::exact(Test::False),
        }
    }

    /// Text in the order of its code points, which is Python's and SQLite's.
    fn bytewise(&self, expression: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => expression.to_owned(),
            Dialect::Postgres => format!("{expression} COLLATE \"C\""),
        }
    }

    fn one_of(&self, path: &[String], values: &[Value]) -> Result<Compiled, StoreError> {
        if values.len() > LIST_MAX {
            self.place(path)?;
            return Ok(Compiled::prefilter(Test::True));
        }
        let parts = values.iter().map(|value| self.compare(path, Operator::Eq, value));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let exact = parts.iter().all(|part| part.exact);
        Ok(Compiled { test: joined(parts), exact })
    }

    fn sequence(&self, path: &[String], wanted: Option<(&Vec<Value>, bool)>) -> Result<Compiled, StoreError> {
        Ok(match self.place(path)? {
            PathTarget::Nested(_, at) => compile_json::sequence(&at, wanted),
            PathTarget::Untold(position) => Compiled::prefilter(self.not_null(position)),
            // Text is a sequence of characters, and numbers that stay text are too.
            PathTarget::Column(position) => match self.relation.storage[position].kind {
                Kind::Integer | Kind::Boolean => Compiled::exact(Test::False),
                _ => Compiled::prefilter(self.not_null(position)),
            },
            PathTarget::Nowhere => Compiled::exact(Test::False),
        })
    }

    fn fragment(
        &self,
        path: &[String],
        members: &serde_json::Map<String, Value>,
    ) -> Result<Compiled, StoreError> {
        let parts = members.iter().map(|(name, value)| {
            let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            self.compare(&path, Operator::Eq, value)
        });
        let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
        if !path.is_empty() {
            parts.push(self.exists(path)?);
        }
        Ok(Compiled::and(parts))
    }

    fn regex(&self, path: &[String]) -> Result<Compiled, StoreError> {
        Ok(match self.place(path)? {
            PathTarget::Column(position) => match self.relation.storage[position].kind {
                Kind::Integer | Kind::Boolean => Compiled::exact(Test::False),
                _ => Compiled::prefilter(self.not_null(position)),
            },
            PathTarget::Nested(_, at) => Compiled::prefilter(at.is_type("text", "string")),
            PathTarget::Untold(position) => Compiled::prefilter(self.not_null(position)),
            PathTarget::Nowhere => Compiled::exact(Test::False),
        })
    }
}

/// Tests that differ only in their parameter, such as `name = ?`, become one `IN` list.
fn joined(parts: Vec<Compiled>) -> Test {
    let mut left: Option<String> = None;
    let mut params = Vec::new();
    for part in &parts {
        let Test::Leaf(pieces) = &part.test else { return Compiled::or(parts).test };
        let [Piece::Text(text), param @ Piece::Param(..)] = pieces.as_slice() else {
            return Compiled::or(parts).test;
        };
        let Some(column) = text.strip_suffix(" = ") else { return Compiled::or(parts).test };
        if left.get_or_insert_with(|| column.to_owned()) != column {
            return Compiled::or(parts).test;
        }
        params.push(param.clone());
    }
    let Some(left) = left else { return Test::False };
    let mut pieces = vec![Piece::Text(format!("{left} IN ("))];
    for (index, param) in params.into_iter().enumerate() {
        if index > 0 {
            pieces.push(Piece::Text(", ".to_owned()));
        }
        pieces.push(param);
    }
    pieces.push(Piece::Text(")".to_owned()));
    Test::Leaf(pieces)
}

/// A whole-number column against any number, in whole numbers, so that no database rounds.
fn integer(column: &str, operator: Operator, value: &Value) -> Compiled {
    let constant = |holds: bool| {
        let test = if holds { Test::text(format!("{column} IS NOT NULL")) } else { Test::False };
        Compiled::exact(test)
    };
    let against = |operator: Operator, bound: i64| {
        Compiled::exact(Test::compare(column, operator.sql(), Datum::Integer(bound), "bigint"))
    };
    if let Some(bound) = whole(value) {
        return against(operator, bound);
    }
    let Some(real) = value.as_f64() else { return constant(false) };
    // Beyond 64 bits every column value lies on the same side.
    if !(-9.2e18..9.2e18).contains(&real) {
        return match operator {
            Operator::Eq => constant(false),
            Operator::Lt | Operator::Le => constant(real > 0.0),
            Operator::Gt | Operator::Ge => constant(real < 0.0),
        };
    }
    #[expect(clippy::cast_possible_truncation, reason = "within 64 bits, checked above")]
    let (floor, ceiling) = (real.floor() as i64, real.ceil() as i64);
    match operator {
        Operator::Eq if floor == ceiling => against(Operator::Eq, floor),
        Operator::Eq => constant(false),
        Operator::Lt => against(Operator::Lt, ceiling),
        Operator::Le => against(Operator::Le, floor),
        Operator::Gt => against(Operator::Gt, floor),
        Operator::Ge => against(Operator::Ge, ceiling),
    }
}

fn double(column: &str, operator: Operator, value: &Value) -> Compiled {
    let (constant, exact) = as_double(value);
    let operator = if exact { operator } else { operator.inclusive() };
    let test = Test::compare(column, operator.sql(), Datum::Real(constant), "double precision");
    Compiled { test, exact }
}

/// A number as a double, and whether nothing was lost.
pub(super) fn as_double(value: &Value) -> (f64, bool) {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the loss is what is tested"
    )]
    match whole(value) {
        Some(whole) => (whole as f64, (whole as f64) as i128 == i128::from(whole)),
        None => (value.as_f64().unwrap_or_default(), !value.as_number().is_some_and(Number::is_u64)),
    }
}

/// Python's booleans are the numbers 0 and 1.
pub(super) fn whole(value: &Value) -> Option<i64> {
    value.as_bool().map(i64::from).or_else(|| value.as_i64())
}

fn number_text(value: &Value) -> String {
    value.as_bool().map_or_else(|| value.to_string(), |value| i64::from(value).to_string())
}

fn boolean(column: &str, operator: Operator, value: &Value) -> Compiled {
    let (constant, _) = as_double(value);
    let is = |wanted: bool| Test::compare(column, "=", Datum::Boolean(wanted), "boolean");
    Compiled::exact(match (operator.holds(0.0, constant), operator.holds(1.0, constant)) {
        (true, true) => Test::text(format!("{column} IS NOT NULL")),
        (true, false) => is(false),
        (false, true) => is(true),
        (false, false) => Test::False,
    })
}

/// A column of points in time against text. Python compares the text that it reads, so SQL only prefilters.
fn instant(column: &str, operator: Operator, text: &str, zoned: bool) -> Compiled {
    let cast = if zoned { "timestamptz" } else { "timestamp" };
    let bare = text.strip_suffix("+00:00").filter(|_| zoned).unwrap_or(text);
    let plain = ordain_types::is_timestamp(bare)
        && !bare.contains(' ')
        && !bare.get(10..).is_some_and(|time| time.contains(['Z', '+', '-']));
    if !plain {
        return Compiled::prefilter(Test::text(format!("{column} IS NOT NULL")));
    }
    let datum = Datum::Text(bare.to_owned());
    let compared = Test::compare(column, operator.inclusive().sql(), datum, cast);
    if operator == Operator::Eq {
        return Compiled::prefilter(compared);
    }
    // The order of the texts is the order of the times for years of four digits only.
    let outside = format!("{column} < '0001-01-01' OR {column} >= '10000-01-01'");
    Compiled::prefilter(Test::or(vec![compared, Test::text(outside)]))
}

fn is_canonical_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}
