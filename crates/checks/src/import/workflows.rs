//! Contracts of an earlier workflow: `workflows.json`, with the checks it was made from.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{ImportError, Imported, Tool, draft};
use crate::check::{Check, Severity};
use crate::contracts::read_checks_last;

/// A plan and its code, made elsewhere. Code is verified again before it runs here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportedPlan {
    /// The check it was made for.
    pub check_id: String,
    /// The structured plan.
    pub plan: Option<Value>,
    /// The code.
    pub code: Option<String>,
    /// What it was made against.
    pub compiled_against: Option<Value>,
}

/// Reads `workflows.json`. `checks` is the text of `checks.json` or `checks_last.csv`, where there is one: entries
/// belong to checks by `check_id`, since a check that was renamed has its old name in the key.
pub fn import_workflows(workflows: &str, checks: Option<&str>) -> Result<Imported, ImportError> {
    let shape = |message: &str| ImportError::Shape { tool: Tool::Workflows, message: message.to_owned() };
    let value = super::json(workflows)?;
    let entries = value.as_object().ok_or_else(|| shape("it is not a map of `check_id::check_name`"))?;
    let mut imported = Imported::default();
    imported.checks = match checks {
        Some(text) => known_checks(text, &mut imported)?,
        None => Vec::new(),
    };
    for (key, steps) in entries {
        let (id, name) = key.split_once("::").unwrap_or((key.as_str(), key.as_str()));
        let steps: Vec<&Value> = steps.as_array().into_iter().flatten().collect();
        let of = |kind: &str| {
            steps.iter().find(|step| step.get("type").and_then(Value::as_str) == Some(kind)).copied()
        };
        let (plan, execution) = (of("plan"), of("execution"));
        match imported.checks.iter().find(|check| check.check_id == id) {
            Some(check) if check.check_name != name => {
                imported.notes.push(format!("{id}: `{name}` is now called `{}`", check.check_name));
            }
            Some(_) => {}
            None => {
                let Some(check) = without_record(id, name, plan, execution) else {
                    let reason = "its check is in no file of checks, and its plan does not tell the rule";
                    imported.leave_out(key, "workflows.json", reason);
                    continue;
                };
                imported.checks.push(check);
            }
        }
        imported.plans.push(ImportedPlan {
            check_id: id.to_owned(),
            plan: plan.and_then(|plan| plan.get("artifact")).cloned(),
            code: execution.and_then(code_of),
            compiled_against: execution.or(plan).and_then(|step| step.get("compiled_against")).cloned(),
        });
    }
    Ok(imported)
}

fn known_checks(text: &str, imported: &mut Imported) -> Result<Vec<Check>, ImportError> {
    let records: Vec<Map<String, Value>> = if text.trim_start().starts_with('[') {
        let value = super::json(text)?;
        value.as_array().into_iter().flatten().filter_map(|record| record.as_object().cloned()).collect()
    } else {
        read_checks_last(text).map_err(|message| ImportError::Syntax { format: "CSV", message })?
    };
    let mut checks = Vec::new();
    for record in records {
        match check_of(&record) {
            Some(check) => checks.push(check),
            None => imported.leave_out("(a check)", "checks", "it has no `check_id` or no `target_table`"),
        }
    }
    Ok(checks)
}

/// A record with `target_table` as text or list, as those files have it.
fn check_of(record: &Map<String, Value>) -> Option<Check> {
    // Ordain's own file holds the check whole.
    if let Some(check) = record.get("record").and_then(|whole| serde_json::from_value(whole.clone()).ok()) {
        return Some(check);
    }
    let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| -> Vec<String> {
        match record.get(key) {
            Some(Value::String(text)) => {
                text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
            }
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let tables = list("target_table");
    let id = text("check_id").filter(|id| !id.is_empty())?;
    let kind = text("kind").filter(|kind| !kind.is_empty()).unwrap_or_else(|| "hint".to_owned());
    let params = record.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut check = draft::check(tables.first()?, None, &kind, params);
    check.check_name = text("check_name").unwrap_or_else(|| id.clone());
    check.check_id = id;
    check.target_table = tables;
    check.calculation_hint = text("calculation_hint");
    check.description = text("description").unwrap_or_default();
    check.severity = text("severity").and_then(|name| Severity::named(&name)).unwrap_or_default();
    check.enabled = record.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    check.owner = text("owner");
    check.tags = list("tags");
    let known = [
        "check_id",
        "check_name",
        "target_table",
        "calculation_hint",
        "description",
        "severity",
        "enabled",
        "owner",
        "tags",
        "kind",
        "params",
    ];
    check.unknown = record
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Some(check)
}

/// A check from its plan alone, where the plan tells the rule.
fn without_record(id: &str, name: &str, plan: Option<&Value>, execution: Option<&Value>) -> Option<Check> {
    let artifact = plan.and_then(|plan| plan.get("artifact"));
    let told = ["calculation_hint", "intent", "goal", "instructions"]
        .iter()
        .find_map(|key| artifact?.get(*key)?.as_str());
    let hint = told?.to_owned();
    let against = execution.or(plan)?.get("compiled_against")?.get("schema_cols")?.as_object()?;
    let mut check = draft::check(against.keys().next()?, None, "hint", Map::new());
    id.clone_into(&mut check.check_id);
    name.clone_into(&mut check.check_name);
    check.target_table = against.keys().cloned().collect();
    check.calculation_hint = Some(hint);
    Some(check)
}

/// The code of an execution: its steps, one after the other.
fn code_of(execution: &Value) -> Option<String> {
    let steps = execution.get("artifact")?.get("python_repls")?.as_array()?;
    let code: Vec<&str> = steps.iter().filter_map(|step| step.get("python_repl")?.as_str()).collect();
    (!code.is_empty()).then(|| code.join("\n"))
}
