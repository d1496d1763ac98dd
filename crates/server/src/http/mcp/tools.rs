//! The list of tools. What they take is described by the types that the HTTP routes read, so the two cannot differ.

use std::sync::{Arc, LazyLock};

use ordain_types::RunState;
use rmcp::model::{CacheScope, JsonObject, ListToolsResult, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::super::checks::run::NewCheckRun;
use super::super::code::NewCode;
use super::super::exec::NewExec;
use super::super::files::NewFile;
use super::super::requests::NewRequest;

/// The tools, in the order in which they are listed. A list that never changes is read once by clients and models.
pub(super) const NAMES: [&str; 6] = ["ask", "code", "exec", "check", "run", "tables"];

/// For how long clients may keep the list.
const FRESH_MS: u64 = 3_600_000;

/// Which run, and what to do with it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AboutRun {
    /// The run's id.
    pub(super) run: String,
    /// `show`, or a decision: `approve` or `reject` a held run, `undo` a committed one.
    #[serde(default)]
    pub(super) action: Action,
}

/// Which table, and which of its rows.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AboutTables {
    /// One table; all of them without it.
    pub(super) table: Option<String>,
    /// The key of a row, to be told what happened to it.
    pub(super) key: Option<String>,
}

/// What to do with a run.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    #[default]
    Show,
    Approve,
    Reject,
    Undo,
}

/// The tools. Where plans call other systems, a change may reach out of the workspace.
pub(super) fn list(reaches_out: bool) -> ListToolsResult {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| NAMES.into_iter().map(tool).collect());
    let mut tools = TOOLS.clone();
    for hints in tools.iter_mut().filter_map(|tool| tool.annotations.as_mut()) {
        hints.open_world_hint = Some(reaches_out && hints.read_only_hint == Some(false));
    }
    ListToolsResult::with_all_items(tools).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public)
}

fn tool(name: &'static str) -> Tool {
    let (description, takes) = match name {
        "ask" => (
            "Answer a question about the workspace's tables, or change rows. One transaction: committed, held for \
             approval or rolled back as a whole.",
            described::<NewRequest>(),
        ),
        "code" => (
            "Answer a question about files you give, with code in a jail. Reads the tables, changes none.",
            described::<NewCode>(),
        ),
        "exec" => (
            "Run Python in a jail: no network, no tables. Files it writes to `artifacts/` become resources.",
            described::<NewExec>(),
        ),
        "check" => (
            "Run the workspace's data checks, all or those selected, and give the report. Changes no rows.",
            described::<NewCheckRun>(),
        ),
        "tables" => {
            let about = "List the tables with their columns and references, and the verbs that change them; with `key`, \
                         who changed that row and what it was before.";
            return Tool::new(name, about, described::<AboutTables>()).annotate(hints(name));
        }
        _ => (
            "Show a run with its diff, or decide on it: approve, reject, undo. Deciding needs the scope `approve`.",
            described::<AboutRun>(),
        ),
    };
    Tool::new(name, description, takes).with_raw_output_schema(Arc::new(gives())).annotate(hints(name))
}

/// What is true of a tool. Code and checks change nothing that lasts.
fn hints(name: &str) -> ToolAnnotations {
    match name {
        "ask" => ToolAnnotations::new().read_only(false).destructive(true).idempotent(false),
        "run" => ToolAnnotations::new().read_only(false).destructive(true).idempotent(true),
        _ => ToolAnnotations::new().read_only(true),
    }
}

/// The parts of a run's record that a model should know of; the record has more.
fn gives() -> JsonObject {
    let mut states: Vec<&str> = RunState::ALL.iter().map(|state| state.as_str()).collect();
    states.push("running");
    let text = json!({ "type": "string" });
    let schema = json!({ "type": "object", "properties": {
        "run_id": text, "state": { "type": "string", "enum": states },
        "receipt": { "type": "object", "properties": { "kind": text, "text": text } },
        "answer": { "type": "object" }, "diff": { "type": "object" } },
        "required": ["run_id", "state", "receipt"] });
    object(schema)
}

/// A type's JSON Schema without examples, which cost every reader tokens.
fn described<T: PartialSchema>() -> JsonObject {
    let mut schema = serde_json::to_value(T::schema()).unwrap_or_default();
    plain(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    object(schema)
}

fn plain(value: &mut Value) {
    let target = value["$ref"].as_str().map(str::to_owned);
    match target.as_deref().and_then(|target| target.rsplit('/').next()) {
        Some("NewFile") => *value = serde_json::to_value(NewFile::schema()).unwrap_or_default(),
        Some("Action") => *value = serde_json::to_value(Action::schema()).unwrap_or_default(),
        _ => {}
    }
    match value {
        Value::Object(fields) => {
            // A property may be called `example`; the word describes only where a type stands beside it.
            if fields.get("type").is_some_and(|kind| !kind.is_object()) {
                fields.remove("example");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn object(value: Value) -> JsonObject {
    if let Value::Object(object) = value { object } else { JsonObject::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_whole_small_and_without_references() {
        let list = serde_json::to_value(list(false).tools).unwrap();
        let text = list.to_string();
        assert_eq!(list.as_array().unwrap().len(), NAMES.len());
        assert!(!text.contains("$ref") && !text.contains("example"), "{text}");
        assert_eq!(list[0]["inputSchema"]["required"], json!(["request"]));
        assert_eq!(list[2]["inputSchema"]["properties"]["files"]["items"]["required"], json!(["name"]));
        assert_eq!(list[4]["inputSchema"]["required"], json!(["run"]));
        for tool in list.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["annotations"]["openWorldHint"], false);
        }
        // About four bytes are a token; what every conversation carries must stay small.
        assert!(text.len() < 8_600, "{} bytes", text.len());
    }
}
