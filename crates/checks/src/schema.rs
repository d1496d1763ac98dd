//! The JSON Schema of files of checks, made from the table of kinds, for editors.

use serde_json::{Map, Value, json};

use crate::catalogue::{Kind, ParamSpec, Shape};
use crate::check::Severity;

/// The schema of a file of checks: a list of records, or a map with the list under `checks`.
pub fn checks_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ordain:checks:v1",
        "title": "Checks: standing rules about data",
        "anyOf": [
            {"type": "array", "items": {"$ref": "#/$defs/check"}},
            {"type": "object", "required": ["checks"], "properties": {
                "checks": {"type": "array", "items": {"$ref": "#/$defs/check"}},
            }},
        ],
        "$defs": {"check": check(), "threshold": threshold()},
    })
}

fn check() -> Value {
    let kinds = Kind::ALL.map(Kind::name);
    let built_in = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Hint);
    let mut rules: Vec<Value> = built_in.map(rule).collect();
    rules.push(json!({
        "if": {"anyOf": [{"properties": {"kind": {"const": "hint"}}}, {"not": {"required": ["kind"]}}]},
        "then": {"required": ["calculation_hint"]},
    }));
    json!({
        "type": "object",
        "required": ["check_id", "check_name", "target_table"],
        "properties": properties(&kinds),
        "allOf": rules,
    })
}

/// What a kind takes.
fn rule(kind: Kind) -> Value {
    let spec = kind.spec();
    let required: Vec<&str> =
        spec.params.iter().filter(|param| param.required).map(|param| param.name).collect();
    let params: Map<String, Value> =
        spec.params.iter().map(|param| (param.name.to_owned(), of(kind, param))).collect();
    json!({
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {
            "required": if required.is_empty() { json!([]) } else { json!(["params"]) },
            "properties": {
                "kind": {"description": spec.about},
                "params": {"required": required, "properties": params, "additionalProperties": false},
            },
        },
    })
}

fn of(kind: Kind, param: &ParamSpec) -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
    let mut schema = match param.shape {
        Shape::Text | Shape::Column => json!({"type": "string", "minLength": 1}),
        // The names of a schema may have types.
        Shape::Columns if kind == Kind::Schema => json!({"type": ["string", "array", "object"]}),
        Shape::Columns | Shape::Texts => json!({"anyOf": [{"type": "string", "minLength": 1}, texts]}),
        Shape::Number => json!({"type": "number"}),
        Shape::Count => json!({"type": "integer", "minimum": 0}),
        Shape::Bound => json!({"type": ["number", "string"]}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Values => json!({"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}),
        Shape::Tuples => json!({"type": "array", "items": {"type": "array"}}),
        Shape::Choice(words) => json!({"enum": words}),
        Shape::Object => json!({"type": ["object", "array"]}),
        Shape::Duration => json!({"type": "string", "pattern": "^[0-9.]+ *[a-z]+$"}),
    };
    schema["description"] = json!(param.about);
    schema
}

fn properties(kinds: &[&str]) -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let severities: Vec<_> = Severity::ALL.iter().map(|severity| severity.name()).collect();
    json!({
        "check_id": {"type": "string", "minLength": 1, "description": "names the check for ever; renaming keeps it"},
        "check_name": text("what people call it"),
        "description": text("what it is for"),
        "target_table": {
            "description": "the tables it looks at, the first one being judged: a list, or names with commas between them",
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
        },
        "kind": {"enum": kinds, "default": "hint"},
        "calculation_hint": text("the rule in words, for `hint`"),
        "accepted_reading": text("the rule as it was understood when a person accepted it; a reading that differs is not run"),
        "params": {"type": "object", "description": "what the kind takes"},
        "key_columns": {"description": "the columns that tell failing rows apart", "type": ["array", "object", "string"]},
        "filter": {"type": ["string", "null"], "description": "which rows are looked at: a pandas query"},
        "allow_empty": {"type": "boolean", "default": false, "description": "whether nothing is wrong if the judged table has no rows"},
        "severity": {"enum": severities, "default": "medium", "description": "how much a failure weighs"},
        "warn_if": {"$ref": "#/$defs/threshold", "description": "from when on a failure is a warning"},
        "fail_if": {"$ref": "#/$defs/threshold", "description": "from when on it is a failure"},
        "enabled": {"type": "boolean", "default": true},
        "owner": {"type": ["string", "null"], "description": "who answers for it"},
        "tags": texts("words to select by"),
        "schedule": {"type": ["string", "null"], "description": "when it runs: a cron expression"},
        "depends_on": texts("checks that must have passed before"),
        "blocking": {"type": "boolean", "default": false, "description": "whether checks that depend on it are skipped when it fails"},
        "samples": {"type": "object", "description": "how failing rows are shown", "properties": {
            "max_rows": {"type": "integer", "minimum": 0, "default": 20},
            "mask": texts("columns whose values are not shown"),
        }},
    })
}

fn threshold() -> Value {
    json!({"anyOf": [
        {"type": "null"},
        {"type": "string", "description": "such as `failed > 0` or `failed_pct > 1`"},
        {"type": "object", "properties": {
            "count": {"type": "integer", "minimum": 0, "description": "more failing rows than this"},
            "percent": {"type": "number", "minimum": 0, "maximum": 100, "description": "a larger share of failing rows than this"},
        }},
    ]})
}
