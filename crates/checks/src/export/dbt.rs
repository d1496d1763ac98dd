//! `schema.yml` of dbt: tests of its own, and of `dbt_utils` where it has none.

use serde_json::{Map, Value, json};

use super::{is_grouped, is_set, left_out, names, param, text};
use crate::catalogue::Kind;
use crate::check::{Check, Severity, Threshold};
use crate::import::Unmapped;

/// A test, and the column it stands below.
struct Test {
    column: Option<String>,
    name: &'static str,
    arguments: Map<String, Value>,
}

/// A model with its tests and those of its columns.
#[derive(Default)]
struct Model {
    name: String,
    tests: Vec<Value>,
    columns: Vec<(String, Vec<Value>)>,
}

impl Model {
    fn add(&mut self, column: Option<String>, test: Value) {
        let Some(column) = column else {
            self.tests.push(test);
            return;
        };
        match self.columns.iter_mut().find(|(name, _)| *name == column) {
            Some((_, tests)) => tests.push(test),
            None => self.columns.push((column, vec![test])),
        }
    }

    fn written(self) -> Value {
        let mut model = json!({"name": self.name});
        if !self.tests.is_empty() {
            model["data_tests"] = json!(self.tests);
        }
        let columns =
            self.columns.into_iter().map(|(name, tests)| json!({"name": name, "data_tests": tests}));
        let columns: Vec<_> = columns.collect();
        if !columns.is_empty() {
            model["columns"] = json!(columns);
        }
        model
    }
}

pub(super) fn export(checks: &[Check]) -> (Value, Vec<Unmapped>) {
    let mut models: Vec<Model> = Vec::new();
    let mut unmapped = Vec::new();
    for check in checks {
        let Some(test) = test_of(check) else {
            unmapped.push(left_out(check, "no test of dbt or dbt_utils means the same"));
            continue;
        };
        let table = check.target_table.first().cloned().unwrap_or_default();
        let written = written(check, &test);
        let at = models.iter().position(|model| model.name == table).unwrap_or_else(|| {
            models.push(Model { name: table, ..Model::default() });
            models.len() - 1
        });
        models[at].add(test.column, written);
    }
    let models: Vec<_> = models.into_iter().map(Model::written).collect();
    (json!({"version": 2, "models": models}), unmapped)
}

fn written(check: &Check, test: &Test) -> Value {
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(check.check_id));
    let mut arguments = test.arguments.clone();
    arguments.retain(|_, value| !value.is_null());
    if !arguments.is_empty() {
        body.insert("arguments".to_owned(), json!(arguments));
    }
    let mut config = Map::new();
    let severity = if check.severity >= Severity::High { "error" } else { "warn" };
    config.insert("severity".to_owned(), json!(severity));
    for (name, threshold) in [("warn_if", check.warn_if), ("error_if", check.fail_if)] {
        if let Some(Threshold { count: Some(count), .. }) = threshold {
            config.insert(name.to_owned(), json!(format!(">{count}")));
        }
    }
    if !check.tags.is_empty() {
        config.insert("tags".to_owned(), json!(check.tags));
    }
    config.insert("meta".to_owned(), json!({"check_name": check.check_name, "owner": check.owner}));
    body.insert("config".to_owned(), json!(config));
    json!({test.name: body})
}

fn test_of(check: &Check) -> Option<Test> {
    // A pandas query and a share are nothing that dbt could run.
    if check.filter.is_some() || check.fail_if.is_some_and(|threshold| threshold.percent.is_some()) {
        return None;
    }
    let column = text(check, "column").map(str::to_owned);
    let columns = names(check, "columns");
    let test = |column: Option<String>, name, arguments: Vec<(&str, Value)>| {
        let arguments = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Some(Test { column, name, arguments })
    };
    match (check.kind, &columns[..]) {
        _ if is_grouped(check) => None,
        (Kind::NotNull, [one]) if !is_set(check, "negate") => test(Some(one.clone()), "not_null", Vec::new()),
        (Kind::Unique, [one]) => test(Some(one.clone()), "unique", Vec::new()),
        (Kind::Unique, [_, _, ..]) => test(
            None,
            "dbt_utils.unique_combination_of_columns",
            vec![("combination_of_columns", json!(columns))],
        ),
        (Kind::InSet, _) => {
            let name =
                if is_set(check, "negate") { "dbt_utils.not_accepted_values" } else { "accepted_values" };
            test(column, name, vec![("values", param(check, "values"))])
        }
        (Kind::ForeignKey, [one]) => {
            let references = check.params.get("references")?;
            let field = references
                .get("columns")
                .and_then(|columns| columns.get(0))
                .or_else(|| references.get("columns"))?;
            let to = format!("ref('{}')", references.get("table")?.as_str()?);
            test(Some(one.clone()), "relationships", vec![("to", json!(to)), ("field", field.clone())])
        }
        (Kind::Range, _) if is_set(check, "strict_min") == is_set(check, "strict_max") => {
            let inclusive = if is_set(check, "strict_min") { json!(false) } else { Value::Null };
            test(
                column,
                "dbt_utils.accepted_range",
                vec![
                    ("min_value", param(check, "min")),
                    ("max_value", param(check, "max")),
                    ("inclusive", inclusive),
                ],
            )
        }
        (Kind::RowCount, _) => {
            let other = format!("ref('{}')", text(check, "same_as")?);
            test(None, "dbt_utils.equal_rowcount", vec![("compare_model", json!(other))])
        }
        _ => None,
    }
}
