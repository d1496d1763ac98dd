//! The shapes of records for the `OpenAPI` document.
//!
//! Records are plain data of other crates, which know nothing of HTTP; their JSON Schemas are derived from the types
//! themselves. Here each gets a name that routes can refer to, and the schemas are put into the document.

use ordain_checks::{Past, RunReport};
use ordain_store::{ConversationTurn, LedgerEntry, TableInfo};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::ledger::Verified;
use super::plans::KeptPlan;

/// Makes a name for each record, and the function that describes all of them.
macro_rules! records {
    ($($name:ident: $record:ty,)+) => {
        $(
            #[derive(Debug)]
            pub(crate) struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<utoipa::openapi::Schema> {
                    RefOr::Ref(Ref::from_schema_name(<$record>::schema_name()))
                }
            }

            impl ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    <$record>::schema_name()
                }
            }
        )+

        /// The schemas of all records and of what they are made of, by name.
        fn described() -> Map<String, Value> {
            let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
            });
            let settings = settings.with_transform(RecursiveTransform(close));
            let mut generator = settings.into_generator();
            $(generator.subschema_for::<$record>();)+
            generator.take_definitions(true)
        }
    };
}

records! {
    Check: ordain_checks::Check,
    CheckReport: RunReport,
    CheckResult: ordain_checks::CheckResult,
    CodeFrom: ordain_checks::CodeFrom,
    Conversation: ordain_store::Conversation,
    Entry: LedgerEntry,
    Grade: ordain_types::Grade,
    LedgerReport: Verified,
    PastResult: Past,
    Plan: KeptPlan,
    Row: ordain_types::Row,
    RowEvent: ordain_store::RowEvent,
    RunRecord: ordain_types::RunRecord,
    RunState: ordain_types::RunState,
    Table: TableInfo,
    Turn: ConversationTurn,
}

/// Only what a type names is written, so that a field which the schema does not know is an error of ours.
fn close(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut()
        && object.contains_key("properties")
        && !object.contains_key("additionalProperties")
    {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Puts the schemas of records into the document.
pub(super) fn add_to(document: &mut Value) {
    let mut schemas = described();
    // A run that goes on is shown as a record too: who writes its plan and what the verifier says is not known yet.
    if let Some(states) = schemas["RunState"]["oneOf"].as_array_mut() {
        states.insert(0, json!({ "type": "string", "const": "running", "description": "It goes on." }));
    }
    for (part, unknown) in [("PlanRecord", "source"), ("VerdictRecord", "accepted")] {
        if let Some(required) = schemas[part]["required"].as_array_mut() {
            required.retain(|name| name != unknown);
        }
    }
    if let Some(components) = document["components"]["schemas"].as_object_mut() {
        components.extend(schemas);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_name_that_the_document_refers_to_is_described() {
        let document = super::super::openapi::document();
        let text = document.to_string();
        let named = text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
        for name in named {
            let schema = &document["components"]["schemas"][name];
            assert!(schema.is_object() && schema.get("$ref").is_none(), "{name}: {schema}");
        }
        let states = document["components"]["schemas"]["RunState"]["oneOf"].as_array().unwrap();
        assert_eq!(states.len(), ordain_types::RunState::ALL.len() + 1);
    }
}
