//! Compiled checks as one plain Python program, which runs without Ordain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::Exported;
use crate::check::{Check, Threshold};
use crate::import::Unmapped;
use crate::kinds::{SQL, TRANSFORM, text_literal};
use crate::result::CheckResult;

const PRELUDE: &str = include_str!("prelude.py");

/// What a program needs to read tables as Ordain does.
#[derive(Debug)]
pub struct Loader {
    /// The source that decides how columns are read.
    pub reading: &'static str,
    /// The source that makes frames.
    pub frames: &'static str,
    /// The source that turns a file into tables.
    pub converter: String,
    /// The settings of that source.
    pub settings: Value,
    /// The data files, each with how it is written.
    pub files: Vec<LoadedFile>,
}

/// A data file of an exported program.
#[derive(Debug, Serialize)]
pub struct LoadedFile {
    /// Its name.
    pub file: String,
    /// The name of its table; further tables of it begin with that and a point.
    pub stem: String,
    /// How it is written.
    pub form: &'static str,
    /// How it is packed.
    pub packing: Option<&'static str>,
    /// What its owner says about how it is read.
    pub declared: Value,
}

impl Loader {
    fn has(&self, table: &str) -> bool {
        self.files.iter().any(|file| {
            let rest = table.strip_prefix(file.stem.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// Checks with what they were compiled to, as one program that reads tables as Ordain does.
pub fn export_python(compiled: &[(&Check, &CheckResult)], loader: &Loader) -> Exported {
    let mut tables: BTreeMap<&String, &Value> = BTreeMap::new();
    let (mut body, mut exported, mut unmapped) = (String::new(), 0, Vec::new());
    for (check, result) in compiled {
        let code = match runnable(result, loader) {
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
        tables.extend(columns_of(result));
        exported += 1;
        let indented =
            code.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect::<Vec<_>>();
        let _ = write!(
            body,
            "\n\ndef check_{exported}():\n{}\n    return result\n\n\nrun({}, check_{exported}, {}, {}, {})\n",
            indented.join("\n"),
            text_literal(&check.check_id),
            judged(check, result).map_or_else(|| "None".to_owned(), |table| text_literal(&table)),
            limit(check.warn_if),
            limit(check.fail_if)
        );
    }
    let literal = |value: &Value| text_literal(&value.to_string());
    let prelude = PRELUDE
        .replace("@FILES@", &literal(&json!(loader.files)))
        .replace("@COLUMNS@", &literal(&json!(tables)))
        .replace("@READING@", &text_literal(loader.reading))
        .replace("@FRAMES@", &text_literal(loader.frames))
        .replace("@CONVERTER@", &text_literal(&loader.converter))
        .replace("@SETTINGS@", &literal(&loader.settings));
    let end = "sys.exit(3 if {\"ERROR\", \"SKIPPED\"} & {*statuses} else 1 if \"FAIL\" in statuses else 0)";
    Exported { text: format!("{prelude}{body}\n\n{end}\n"), exported, unmapped }
}

/// The columns that a check was compiled against, by table.
fn columns_of(result: &CheckResult) -> impl Iterator<Item = (&String, &Value)> {
    result.compiled_against.as_ref().and_then(Value::as_object).into_iter().flatten()
}

/// The table that must have rows for a check to mean anything.
fn judged(check: &Check, result: &CheckResult) -> Option<String> {
    let plan = result.plan.as_ref()?;
    let is_excepted = check.allow_empty || check.kind == "python" || plan.get("judges_empty").is_some();
    plan.pointer("/tables/0").and_then(Value::as_str).filter(|_| !is_excepted).map(str::to_owned)
}

/// The code of a check, or why it cannot run outside.
fn runnable<'a>(result: &'a CheckResult, loader: &Loader) -> Result<&'a str, &'static str> {
    let code = result.code.as_deref().ok_or("it has no code: see `ordain check compile`")?;
    if result.kind == TRANSFORM {
        return Err("it writes a file and judges nothing");
    }
    if result.kind == "anomaly" {
        return Err("it learns from earlier runs, which only Ordain keeps");
    }
    let is_own = matches!(result.kind.as_str(), "python" | "hint" | SQL | TRANSFORM);
    if is_own && ["_tbl", "db.", "sql("].iter().any(|mark| code.contains(mark)) {
        return Err("its own code may use what only Ordain gives");
    }
    if ["\"\"\"", "'''"].iter().any(|mark| code.contains(mark)) {
        return Err("its code has texts of several lines, which must not be indented");
    }
    if columns_of(result).any(|(table, _)| !loader.has(table)) {
        return Err("it looks at a table of the store, which only Ordain reads");
    }
    Ok(code)
}

fn limit(threshold: Option<Threshold>) -> String {
    threshold.map_or_else(|| "None".to_owned(), |threshold| json!(threshold).to_string())
}
