//! Tools: servers whose verbs plans may call, as far as plans and the verifier know them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool, as it was reviewed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name: plans call `tools.NAME.verb(…)`.
    pub name: String,
    /// What it can do.
    pub verbs: BTreeMap<String, Verb>,
    /// The tables that a plan may read if it calls this tool; `None`: any.
    #[serde(default)]
    pub tables: Option<BTreeSet<String>>,
}

/// One verb of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verb {
    /// Its arguments, each with its JSON Schema.
    pub params: BTreeMap<String, Value>,
    /// Those that must be given.
    pub required: BTreeSet<String>,
    /// Whether the owner says that it only reads. Any other verb waits for the commit.
    pub reads: bool,
    /// What it does, in the server's words.
    #[serde(default)]
    pub description: String,
}

impl Verb {
    /// What is wrong with the arguments of a call, if anything is: names, missing ones, and plain types.
    pub fn wrong(&self, arguments: &serde_json::Map<String, Value>) -> Option<String> {
        if let Some(name) = arguments.keys().find(|name| !self.params.contains_key(*name)) {
            let known: Vec<&str> = self.params.keys().map(String::as_str).collect();
            return Some(format!("there is no argument `{name}`; there are {}", known.join(", ")));
        }
        if let Some(name) = self.required.iter().find(|name| !arguments.contains_key(*name)) {
            return Some(format!("the argument `{name}` is missing"));
        }
        let is_wrong = |(name, value): &(&String, &Value)| !fits(value, &self.params[*name]);
        let (name, _) = arguments.iter().find(is_wrong)?;
        Some(format!("the argument `{name}` is not what the tool takes: {}", self.params[name]))
    }
}

/// Whether a value is of the types that a schema names, and has the fields that it asks for. What a schema says beyond
/// that the server itself looks at.
pub fn fits(value: &Value, schema: &Value) -> bool {
    let is = |kind: &str| match kind {
        "string" => value.is_string(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    let is_kind = match &schema["type"] {
        Value::String(kind) => is(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    let field = |name: &str| value.get(name);
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut fields = schema["properties"].as_object().into_iter().flatten();
    is_kind
        && schema["enum"].as_array().is_none_or(|values| values.contains(value))
        && (!value.is_object()
            || required.all(|name| field(name).is_some())
                && fields.all(|(name, schema)| field(name).is_none_or(|value| fits(value, schema))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_fits_a_schema_down_to_its_fields() {
        let schema = json!({ "type": "object", "required": ["id"], "properties": {
            "id": { "type": "string" }, "of": { "type": "object", "properties": { "n": { "type": "integer" } } } } });
        for right in [json!({ "id": "1" }), json!({ "id": "1", "of": { "n": 2 }, "more": true })] {
            assert!(fits(&right, &schema), "{right}");
        }
        for wrong in [json!({}), json!("1"), json!({ "id": 1 }), json!({ "id": "1", "of": { "n": "2" } })] {
            assert!(!fits(&wrong, &schema), "{wrong}");
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let verb = Verb {
            params: BTreeMap::from([
                ("to".to_owned(), json!({ "type": "string" })),
                ("n".to_owned(), json!({ "type": ["integer", "null"] })),
                ("how".to_owned(), json!({ "enum": ["fast", "slow"] })),
            ]),
            required: BTreeSet::from(["to".to_owned()]),
            ..Verb::default()
        };
        let wrong = |arguments: Value| verb.wrong(arguments.as_object().unwrap());
        assert_eq!(wrong(json!({ "to": "a", "n": 1, "how": "fast" })), None);
        assert_eq!(wrong(json!({ "to": "a", "n": null })), None);
        for (arguments, part) in [
            (json!({}), "`to` is missing"),
            (json!({ "to": "a", "cc": "b" }), "no argument `cc`"),
            (json!({ "to": 1 }), "`to` is not"),
            (json!({ "to": "a", "n": 1.5 }), "`n` is not"),
            (json!({ "to": "a", "how": "soon" }), "`how` is not"),
        ] {
            assert!(wrong(arguments.clone()).unwrap().contains(part), "{arguments}");
        }
    }
}
