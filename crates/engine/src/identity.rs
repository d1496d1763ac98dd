//! What a key or a digest stands for: named values in a form that outlives the names and order of our own fields.
//!
//! A client's idempotency key is compared with it after an upgrade too, so the form has a version, and a value that is
//! absent leaves no trace: a new option changes nothing for those who do not use it.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The form. Another one makes every key of before stand for something else.
const VERSION: &str = "1";

/// Named values, added one after the other.
#[derive(Debug, Clone)]
pub struct Identity(Sha256);

impl Identity {
    /// Of this kind of thing.
    pub fn of(kind: &str) -> Self {
        let mut identity = Self(Sha256::new());
        identity.add(VERSION);
        identity.add(kind);
        identity
    }

    /// With a value, unless it is absent: null, false, or empty.
    #[must_use]
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Self {
        // What cannot be written as JSON has no value here; the types below all can.
        let value = serde_json::to_value(value).unwrap_or_default();
        let is_absent = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(true) | Value::Number(_) => false,
        };
        if !is_absent {
            self.add(name);
            self.add(&sorted(value).to_string());
        }
        self
    }

    /// The first half of its SHA-256, in hexadecimal.
    pub fn digest(self) -> String {
        ordain_types::hex(&self.0.finalize()[..16])
    }

    /// Each piece with its length, so that no two lists of pieces look alike.
    fn add(&mut self, piece: &str) {
        self.0.update((piece.len() as u64).to_le_bytes());
        self.0.update(piece);
    }
}

/// The value with the keys of its objects in order, however they came.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_outlives_new_options_and_the_order_of_fields() {
        let of = |value| Identity::of("ask").with("request", &"buy 2").with("params", &value).digest();
        assert_eq!(
            of(json!({ "b": [1, { "d": 1, "c": 2 }], "a": 2 })),
            of(json!({ "a": 2, "b": [1, { "c": 2, "d": 1 }] }))
        );
        let plain = Identity::of("ask").with("request", &"buy 2");
        let absent = [json!(null), json!(false), json!(""), json!([]), json!({})];
        for value in &absent {
            assert_eq!(plain.clone().with("new", value).digest(), plain.clone().digest(), "{value}");
        }
        assert_ne!(plain.clone().with("new", &0).digest(), plain.clone().digest());
        assert_ne!(Identity::of("a").with("b", &"c").digest(), Identity::of("a").with("bc", &"").digest());
    }
}
