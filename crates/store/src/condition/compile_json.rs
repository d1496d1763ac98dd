//! Conditions on nested values that Ordain stored itself.

use serde_json::Value;

use super::compile::{Operator, as_double, whole};
use super::{Compiled, Piece, Test};
use crate::sql::{Datum, Dialect, literal, quoted};

/// From here on a whole number and the double next to it may print alike: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
const NUMBERS: &str = "('integer', 'real', 'true', 'false')";

/// A place in a nested value: SQL for its type and for what it holds.
#[derive(Debug, Clone)]
pub(super) struct JsonAt {
    dialect: Dialect,
    is_root: bool,
    /// The name of the value's type; NULL where there is none.
    kind: String,
    /// The value as a number, for numbers and booleans.
    number: String,
    /// The value as text, for text.
    text: String,
    /// A table of the value's items, for lists.
    items: String,
}

impl JsonAt {
    /// The place that a path within a column leads to, if SQL follows it as Python would.
    pub(super) fn new(dialect: Dialect, column: &str, path: &[String]) -> Option<Self> {
        let column = quoted(column);
        let followed = path.iter().all(|name| match dialect {
            // SQLite's paths have no way to write these within a name.
            Dialect::Sqlite => !name.contains(['"', '\\']) && !name.chars().any(char::is_control),
            // PostgreSQL takes a number for a place in a list; Python does not.
            Dialect::Postgres => !name.contains('\0') && name.trim().parse::<i64>().is_err(),
        });
        if !followed {
            return None;
        }
        let at = match dialect {
            Dialect::Sqlite => {
                let steps = path.iter().fold(String::new(), |steps, name| steps + ".\"" + name + "\"");
                Self::sqlite(&column, &literal(&format!("${steps}")))
            }
            Dialect::Postgres if path.is_empty() => Self::postgres(&column),
            Dialect::Postgres => {
                let steps: Vec<String> = path.iter().map(|name| literal(name)).collect();
                Self::postgres(&format!("({column} #> ARRAY[{}])", steps.join(", ")))
            }
        };
        Some(Self { is_root: path.is_empty(), ..at })
    }

    fn sqlite(column: &str, path: &str) -> Self {
        let value = format!("json_extract({column}, {path})");
        Self {
            dialect: Dialect::Sqlite,
            is_root: false,
            kind: format!("json_type({column}, {path})"),
            number: value.clone(),
            text: value,
            items: format!("json_each({column}, {path}) AS item"),
        }
    }

    fn postgres(value: &str) -> Self {
        let text = format!("({value} #>> '{{}}')");
        Self {
            dialect: Dialect::Postgres,
            is_root: false,
            kind: format!("jsonb_typeof({value})"),
            // `CASE` keeps the cast away from values that are not numbers.
            number: format!(
                "CASE jsonb_typeof({value}) WHEN 'number' THEN {text}::numeric WHEN 'boolean' THEN \
                 {text}::boolean::int::numeric END"
            ),
            items: format!(
                "jsonb_array_elements(CASE jsonb_typeof({value}) WHEN 'array' THEN {value} ELSE '[]' END) AS item(value)"
            ),
            text: format!("{text} COLLATE \"C\""),
        }
    }

    /// One item of a list, inside a query over [`JsonAt::items`].
    fn item(&self) -> Self {
        match self.dialect {
            Dialect::Sqlite => Self {
                kind: "item.type".to_owned(),
                number: "item.value".to_owned(),
                text: "item.value".to_owned(),
                ..Self::sqlite("item.value", "'$'")
            },
            Dialect::Postgres => Self::postgres("item.value"),
        }
    }

    pub(super) fn is_root(&self) -> bool {
        self.is_root
    }

    pub(super) fn exists(&self) -> Test {
        Test::text(format!("{} IS NOT NULL", self.kind))
    }

    /// Whether the value has a type, by SQLite's and PostgreSQL's name for it.
    pub(super) fn is_type(&self, sqlite: &str, postgres: &str) -> Test {
        let name = if self.dialect == Dialect::Sqlite { sqlite } else { postgres };
        Test::text(format!("{} = '{name}'", self.kind))
    }

    fn is_number(&self) -> Test {
        match self.dialect {
            Dialect::Sqlite => Test::text(format!("{} IN {NUMBERS}", self.kind)),
            Dialect::Postgres => Test::text(format!("{} IN ('number', 'boolean')", self.kind)),
        }
    }
}

/// A nested value against a constant.
pub(super) fn compare(at: &JsonAt, operator: Operator, value: &Value) -> Compiled {
    match value {
        Value::Null => Compiled::exact(at.is_type("null", "null")),
        Value::Bool(_) | Value::Number(_) => number(at, operator, value),
        Value::String(text) if text.contains('\0') => match operator {
            Operator::Eq => Compiled::exact(Test::False),
            _ => Compiled::prefilter(at.is_type("text", "string")),
        },
        Value::String(text) => {
            let compared = Test::compare(&at.text, operator.sql(), Datum::Text(text.clone()), "text");
            Compiled::exact(Test::and(vec![at.is_type("text", "string"), compared]))
        }
        // Lists have an order in Python, and both lists and objects an equality; neither is SQL's.
        Value::Array(_) => Compiled::prefilter(at.is_type("array", "array")),
        Value::Object(_) if operator == Operator::Eq => Compiled::prefilter(at.is_type("object", "object")),
        Value::Object(_) => Compiled::exact(Test::False),
    }
}

fn number(at: &JsonAt, operator: Operator, value: &Value) -> Compiled {
    let (double, lossless) = as_double(value);
    let compared = match (at.dialect, whole(value)) {
        (_, None) if !lossless => return Compiled::prefilter(at.is_number()),
        (Dialect::Sqlite, Some(whole)) => {
            Test::compare(&at.number, operator.sql(), Datum::Integer(whole), "numeric")
        }
        (Dialect::Sqlite, None) => Test::compare(&at.number, operator.sql(), Datum::Real(double), "numeric"),
        (Dialect::Postgres, _) if double.abs() >= EXACT_MAX => return Compiled::prefilter(at.is_number()),
        (Dialect::Postgres, _) => {
            Test::compare(&at.number, operator.sql(), Datum::Text(format!("{double:?}")), "numeric")
        }
    };
    Compiled::exact(Test::and(vec![at.is_number(), compared]))
}

/// A sequence that has one of the wanted items, or all of them. Python takes text and objects for sequences too
/// (of characters and names), so those pass the prefilter.
pub(super) fn sequence(at: &JsonAt, wanted: Option<(&Vec<Value>, bool)>) -> Compiled {
    let others = Test::or(vec![at.is_type("text", "string"), at.is_type("object", "object")]);
    let list = at.is_type("array", "array");
    let Some((values, all)) = wanted.filter(|(values, _)| values.len() <= 100) else {
        return Compiled::prefilter(Test::or(vec![list, others]));
    };
    let has = values.iter().map(|value| contains(at, value)).collect();
    let has = if all { Test::and(has) } else { Test::or(has) };
    Compiled::prefilter(Test::or(vec![Test::and(vec![list, has]), others]))
}

/// Whether a list has an item that may equal a value.
fn contains(at: &JsonAt, value: &Value) -> Test {
    let item = at.item();
    let mut pieces = vec![Piece::Text(format!("EXISTS (SELECT 1 FROM {} WHERE ", at.items))];
    flatten(compare(&item, Operator::Eq, value).test, &mut pieces);
    pieces.push(Piece::Text(")".to_owned()));
    Test::Leaf(pieces)
}

/// A test's pieces in order; only the shapes that [`compare`] makes occur.
fn flatten(test: Test, pieces: &mut Vec<Piece>) {
    match test {
        Test::True => pieces.push(Piece::Text("TRUE".to_owned())),
        Test::False => pieces.push(Piece::Text("FALSE".to_owned())),
        Test::Leaf(own) => pieces.extend(own),
        Test::Not(inner) => {
            pieces.push(Piece::Text("(".to_owned()));
            flatten(*inner, pieces);
            pieces.push(Piece::Text(") IS NOT TRUE".to_owned()));
        }
        Test::And(parts) | Test::Or(parts) if parts.is_empty() => {}
        Test::And(parts) => flatten_list(parts, " AND ", pieces),
        Test::Or(parts) => flatten_list(parts, " OR ", pieces),
    }
}

fn flatten_list(parts: Vec<Test>, between: &str, pieces: &mut Vec<Piece>) {
    for (index, part) in parts.into_iter().enumerate() {
        pieces.push(Piece::Text(if index == 0 { "((" } else { ") " }.to_owned()));
        if index > 0 {
            pieces.push(Piece::Text(format!("{} (", between.trim())));
        }
        flatten(part, pieces);
    }
    pieces.push(Piece::Text("))".to_owned()));
}
