//! Compiled checks as one plain Python program, which runs without Ordain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Exported;
use crate::check::{Check, Threshold};
use crate::import::Unmapped;
use crate::kinds::{TRANSFORM, text_literal};
use crate::result::CheckResult;

const PRELUDE: &str = include_str!("prelude.py");

/// Checks with what they were compiled to, as one program.
pub fn export_python(compiled: &[(&Check, &CheckResult)]) -> Exported {
    let mut tables: BTreeMap<&String, &Value> = BTreeMap::new();
    let (mut body, mut exported, mut unmapped) = (String::new(), 0, Vec::new());
    for (check, result) in compiled {
        let code = match runnable(result) {
            Ok(code) => code,
            Err(reason) => {
                let what = format!("{} ({})", check.check_id, check.kind);
                unmapped.push(Unmapped {
                    what,
                    place: check.target_table.join(", "),
                    reason: reason.to_owned(),
                });
                continue;
            }
        };
        tables.extend(result.compiled_against.as_ref().and_then(Value::as_object).into_iter().flatten());
        let _ = write!(
            body,
            "\n\n# --- {}\n\n{code}report({}, result, {}, {})\n",
            check.check_id.replace(['\n', '\r'], " "),
            text_literal(&check.check_id),
            limit(check.warn_if),
            limit(check.fail_if)
        );
        exported += 1;
    }
    let prelude = PRELUDE.replace("@TABLES@", &json!(tables).to_string());
    let text = format!("{prelude}{body}\n\nsys.exit(1 if \"FAIL\" in statuses else 0)\n");
    Exported { text, exported, unmapped }
}

/// The code of a check, or why it cannot run outside.
fn runnable(result: &CheckResult) -> Result<&str, &'static str> {
    let code = result.code.as_deref().ok_or("it has no code: see `ordain check compile`")?;
    if result.kind == TRANSFORM {
        return Err("it writes a file and judges nothing");
    }
    if result.kind == "anomaly" {
        return Err("it learns from earlier runs, which only Ordain keeps");
    }
    if ["_tbl", "db.", "\"\"\""].iter().any(|mark| code.contains(mark)) && result.kind == "python" {
        return Err("its own code may use what only Ordain gives");
    }
    Ok(code)
}

fn limit(threshold: Option<Threshold>) -> String {
    threshold.map_or_else(|| "None".to_owned(), |threshold| json!(threshold).to_string())
}
