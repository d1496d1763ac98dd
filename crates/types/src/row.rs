//! A row as plans and people see it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// Names and values in column order.
///
/// A JSON map would sort its keys, and a person reads a row in the order in which its columns were declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The fields, in order. A name occurs once.
    pub fields: Vec<(String, Value)>,
}

impl Row {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The row without the named fields.
    #[must_use]
    pub fn without(mut self, hidden: &[String]) -> Self {
        self.fields.retain(|(name, _)| !hidden.contains(name));
        self
    }
}

impl FromIterator<(String, Value)> for Row {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().collect() }
    }
}

impl schemars::JsonSchema for Row {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A row: its fields and their values.", "type": "object", "additionalProperties": true,
        })
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of field names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let mut row = Row::default();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if row.get(&name).is_some() {
                return Err(serde::de::Error::custom(format_args!("field `{name}` occurs twice")));
            }
            row.fields.push((name, value));
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_its_order_and_refuses_a_field_given_twice() {
        let text = r#"{"z":1,"a":null,"m":[true]}"#;
        let row: Row = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&row).unwrap(), text);
        assert!(serde_json::from_str::<Row>(r#"{"a":1,"a":2}"#).is_err());
    }
}
