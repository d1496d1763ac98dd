//! Plans for checks that are stated in words, by rules.
//!
//! A hint is read as a sentence: which tables and columns of the brief it names, whether it says what must hold or what
//! is to be flagged, and which of the usual rules its words speak of. The rule becomes a built-in kind, and the kind
//! compiles to plan code: so a rule in words and the same rule as a record give the same rows.

mod sentence;
mod usual;

use ordain_checks::kinds::{self, HINT};
use ordain_checks::{Check, Samples, Severity};
use ordain_types::Schema;
use serde_json::{Map, Value, json};

use crate::brief::Brief;
use crate::exchange::{Draft, Reply};
use sentence::Sentence;

/// What stands between a hint and the filter of its check.
const FILTER: &str = " Look only at rows where ";

/// What a sentence was understood as.
#[derive(Debug, Clone, PartialEq)]
enum Understood {
    /// A built-in kind with its params.
    Rule(&'static str, Value),
    /// Something needed is missing.
    Unclear(String),
}

/// Writes the plan.
pub fn plan(brief: &Brief) -> Reply {
    let (hint, filter) = match brief.request.split_once(FILTER) {
        Some((hint, filter)) => (hint, Some(filter.trim_end_matches('.').to_owned())),
        None => (brief.request.as_str(), None),
    };
    let Some(sentence) = Sentence::read(hint, brief) else {
        return Reply::Refusal("there is no table to look at".to_owned());
    };
    let (kind, params) = match usual::understand(&sentence) {
        Some(Understood::Rule(kind, Value::Object(params))) => (kind, params),
        Some(Understood::Rule(..)) | None => return Reply::Refusal(refusal(&sentence)),
        Some(Understood::Unclear(question)) => return Reply::Question(question),
    };
    let check = check_of(&sentence, kind, params, filter);
    let schema = Schema { tables: brief.tables.iter().map(|table| table.table.clone()).collect() };
    match kinds::compile(&check, &schema) {
        Ok(compiled) => {
            let mut declared = json!(compiled.plan);
            declared["kind"] = json!(kind);
            declared["params"] = Value::Object(check.params);
            declared["planner"] = json!("rules");
            Reply::Plan(Draft {
                code: compiled.code,
                title: compiled.plan.intent,
                declared: Some(declared),
                ..Draft::default()
            })
        }
        Err(error) => {
            let help = error.hint().map(|help| format!("; {help}")).unwrap_or_default();
            Reply::Refusal(format!("the reader read this as `{kind}`, but {error}{help}"))
        }
    }
}

fn check_of(
    sentence: &Sentence<'_>,
    kind: &str,
    params: Map<String, Value>,
    filter: Option<String>,
) -> Check {
    Check {
        check_id: HINT.to_owned(),
        check_name: String::new(),
        description: String::new(),
        target_table: vec![sentence.table.table.name.clone()],
        kind: kind.to_owned(),
        calculation_hint: None,
        accepted_reading: None,
        params,
        key_columns: Vec::new(),
        filter,
        severity: Severity::default(),
        warn_if: None,
        fail_if: None,
        enabled: true,
        owner: None,
        tags: Vec::new(),
        schedule: None,
        depends_on: Vec::new(),
        blocking: false,
        samples: Samples::default(),
        unknown: Map::new(),
    }
}

fn refusal(sentence: &Sentence<'_>) -> String {
    let columns: Vec<&str> = sentence.columns.iter().map(|mention| mention.name).collect();
    let seen = if columns.is_empty() {
        format!("it names no column of `{}`", sentence.table.table.name)
    } else {
        format!("it names {}, but no rule that is known", columns.join(", "))
    };
    format!(
        "the reader does not understand this rule: {seen}; it knows missing in another table, nulls, duplicates, \
         ranges, formats, order of two columns, freshness, totals, allowed values and shares; use a model, or a built-in \
         kind"
    )
}

#[cfg(test)]
mod tests;
