//! Contracts of an earlier workflow: `workflows.json`, with the checks it was made from.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{ImportError, Imported, Tool, draft};
use crate::catalogue::Kind;
use crate::check::Check;
use crate::contracts::read_checks_last;
use crate::file::{CheckFiles, FIELDS};

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
        for step in &steps {
            account(&mut imported, key, step);
        }
        match imported.checks.iter().find(|check| check.check_id == id) {
            Some(check) if check.check_name != name => {
                imported.notes.push(format!("{id}: `{name}` is now called `{}`", check.check_name));
            }
            Some(_) => {}
            None => {
                let Some(check) = without_record(id, name, plan, execution) else {
                    let reason = "its check is in no file of checks, and its plan does not tell the rule";
                    imported.turn_off(name, "workflows.json", &[], reason, &json!({ key.as_str(): steps }));
                    imported
                        .checks
                        .last_mut()
                        .into_iter()
                        .for_each(|check| id.clone_into(&mut check.check_id));
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

/// Says what becomes of each key of a plan or an execution.
fn account(imported: &mut Imported, place: &str, step: &Value) {
    let kind = step.get("type").and_then(Value::as_str).unwrap_or_default();
    let reason = |key: &str| match key {
        _ if !matches!(kind, "plan" | "execution") => {
            Some("only plans and executions say how a check is judged")
        }
        "type" | "artifact" | "compiled_against" => None,
        "compiled_at" => Some("code is verified, and dated, anew when it is taken over"),
        _ => Some("it says nothing about the rule"),
    };
    for key in step.as_object().into_iter().flat_map(Map::keys) {
        imported.account(place, &format!("{kind} {key}"), reason(key));
    }
    if step.pointer("/artifact/result").is_some() {
        imported.account(place, "execution artifact.result", Some("a result is that of a run here"));
    }
}

/// The checks of `checks.json` or `checks_last.csv`, as a file of checks is read: what would be wrong there is turned off.
fn known_checks(text: &str, imported: &mut Imported) -> Result<Vec<Check>, ImportError> {
    let records: Vec<Map<String, Value>> = if text.trim_start().starts_with('[') {
        let value = super::json(text)?;
        value.as_array().into_iter().flatten().filter_map(|record| record.as_object().cloned()).collect()
    } else {
        read_checks_last(text).map_err(|message| ImportError::Syntax { format: "CSV", message })?
    };
    for mut record in records {
        // Ordain's own file holds the check whole.
        if let Some(Value::Object(whole)) = record.remove("record") {
            record = whole;
        }
        let original = json!(record);
        let mut read = CheckFiles::default();
        read.read("checks", &json!([record]).to_string());
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, wrong) = (text("check_id"), read.problems.first().map(|problem| problem.message.clone()));
        for key in record.keys() {
            let is_kept = !FIELDS.contains(&key.as_str());
            let reason = if wrong.is_some() {
                Some("its check is turned off")
            } else {
                is_kept.then_some("no field of a check; the record keeps it")
            };
            imported.account(&id, key, reason);
        }
        match (read.entries.pop(), wrong) {
            (Some(entry), None) => imported.checks.push(entry.check),
            (_, wrong) => {
                let reason = wrong.unwrap_or_else(|| "it is no record of a check".to_owned());
                imported.turn_off(&id, "checks", &[text("target_table")], reason, &original);
            }
        }
    }
    Ok(std::mem::take(&mut imported.checks))
}

/// A check from its plan alone, where the plan tells the rule.
fn without_record(id: &str, name: &str, plan: Option<&Value>, execution: Option<&Value>) -> Option<Check> {
    let artifact = plan.and_then(|plan| plan.get("artifact"));
    let told = ["calculation_hint", "intent", "goal", "instructions"]
        .iter()
        .find_map(|key| artifact?.get(*key)?.as_str());
    let hint = told?.to_owned();
    let against = execution.or(plan)?.get("compiled_against")?.get("schema_cols")?.as_object()?;
    let mut check = draft::check(against.keys().next()?, None, Kind::Hint, Map::new());
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
