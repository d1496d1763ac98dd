//! What a condition means, evaluated as TinyDB and Python do.
//!
//! An ordering comparison that raises `TypeError` in Python counts as false here, which is the store's one
//! deliberate difference.

use std::cmp::Ordering;

use serde_json::Value;

/// Whether a document meets a condition.
pub(crate) fn holds(condition: &Value, document: &Value) -> bool {
    let op = condition["op"].as_str().unwrap();
    let parts = || condition["of"].as_array().unwrap().iter();
    let found = || follow(document, &condition["path"]);
    let values = || condition["values"].as_array().unwrap();
    let value = &condition["value"];
    match op {
        "and" => parts().all(|part| holds(part, document)),
        "or" => parts().any(|part| holds(part, document)),
        "not" => !holds(&condition["of"], document),
        "eq" => found().is_some_and(|own| equal(own, value)),
        "ne" => found().is_some_and(|own| !equal(own, value)),
        "lt" => found().is_some_and(|own| order(own, value) == Some(Ordering::Less)),
        "le" => found().is_some_and(|own| order(own, value).is_some_and(Ordering::is_le)),
        "gt" => found().is_some_and(|own| order(own, value) == Some(Ordering::Greater)),
        "ge" => found().is_some_and(|own| order(own, value).is_some_and(Ordering::is_ge)),
        "one_of" => found().is_some_and(|own| values().iter().any(|value| equal(own, value))),
        "exists" => found().is_some(),
        "any_of" => found()
            .and_then(items)
            .is_some_and(|items| items.iter().any(|item| values().iter().any(|value| equal(item, value)))),
        "all_of" => found().is_some_and(|own| has_all(own, values())),
        "sequence" => found().and_then(items).is_some(),
        "fragment" => found().is_some_and(|own| {
            let wanted = value.as_object().unwrap().iter();
            wanted.into_iter().all(|(name, value)| own.get(name).is_some_and(|own| equal(own, value)))
        }),
        "regex" => found().is_some_and(Value::is_string),
        "noop" | "python" => true,
        other => panic!("{other}"),
    }
}

fn follow<'a>(document: &'a Value, path: &Value) -> Option<&'a Value> {
    path.as_array()
        .unwrap()
        .iter()
        .try_fold(document, |value, name| value.as_object()?.get(name.as_str().unwrap()))
}

/// What Python iterates over: items, characters or names.
fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => Some(text.chars().map(|c| Value::String(c.to_string())).collect()),
        Value::Object(members) => Some(members.keys().map(|name| Value::String(name.clone())).collect()),
        _ => None,
    }
}

/// `all(value in own for value in values)`; `in` means a part for text.
fn has_all(own: &Value, values: &[Value]) -> bool {
    match own {
        Value::String(text) => {
            values.iter().all(|value| value.as_str().is_some_and(|part| text.contains(part)))
        }
        other => items(other)
            .is_some_and(|items| values.iter().all(|value| items.iter().any(|item| equal(item, value)))),
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && std::iter::zip(left, right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        (Value::Null, Value::Null) => true,
        (Value::String(left), Value::String(right)) => left == right,
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => left.order(right) == Ordering::Equal,
            _ => false,
        },
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.chars().cmp(right.chars())),
        (Value::Array(left), Value::Array(right)) => {
            let differs = std::iter::zip(left, right).find(|(left, right)| !equal(left, right));
            differs.map_or(Some(left.len().cmp(&right.len())), |(left, right)| order(left, right))
        }
        _ => Some(number(left)?.order(number(right)?)),
    }
}

/// A number as Python has it: a boolean is one too.
#[derive(Clone, Copy)]
enum Number {
    Whole(i128),
    Real(f64),
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Bool(value) => Some(Number::Whole(i128::from(*value))),
        Value::Number(number) => {
            number.as_i128().map(Number::Whole).or_else(|| number.as_f64().map(Number::Real))
        }
        _ => None,
    }
}

impl Number {
    /// Whole and real numbers are compared without rounding.
    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => left.cmp(&right),
            (Self::Real(left), Self::Real(right)) => left.partial_cmp(&right).unwrap(),
            (Self::Whole(left), Self::Real(right)) => whole_to_real(left, right),
            (Self::Real(left), Self::Whole(right)) => whole_to_real(right, left).reverse(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "within range, checked first")]
fn whole_to_real(whole: i128, real: f64) -> Ordering {
    if real.abs() > 1e30 {
        return if real > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let floor = real.floor();
    whole.cmp(&(floor as i128)).then(if real > floor { Ordering::Less } else { Ordering::Equal })
}
