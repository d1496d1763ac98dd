//! A standing transformation: rows made from tables, and written to a file.

use super::params::{CompileError, Params};
use super::{CheckPlan, CompiledKind};
use crate::check::Check;

/// The kind.
pub const TRANSFORM: &str = "transform";
/// What is written, by the ending of the file.
const FORMS: [&str; 3] = ["csv", "xlsx", "parquet"];

/// Code of the owner's own, which sets `table`.
pub(super) fn compile(check: &Check, params: &mut Params<'_>) -> Result<CompiledKind, CompileError> {
    let (code, output) = (params.text("code")?, params.text("output")?);
    let plan = CheckPlan {
        intent: check.description.clone(),
        tables: check.target_table.clone(),
        steps: vec!["run the code that the check gives".to_owned()],
        output: format!("what the code sets as `table`, written to {output}"),
        ..CheckPlan::default()
    };
    Ok(CompiledKind { code: with_output(check, &code)?, plan, by_sql: None })
}

/// The file that a transformation writes, below the folder of the workspace.
pub fn output(check: &Check) -> Result<&str, CompileError> {
    let output = check.params.get("output").and_then(serde_json::Value::as_str).unwrap_or_default();
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
    if form(output).is_none() || !output.split('/').all(is_plain) {
        return Err(CompileError::param(
            format!("a transformation cannot write to `{output}`"),
            "`output` is a path below the workspace that ends in .csv, .xlsx or .parquet",
        ));
    }
    Ok(output)
}

fn form(output: &str) -> Option<&'static str> {
    let ending = output.rsplit_once('.')?.1;
    FORMS.into_iter().find(|form| *form == ending)
}

/// Code whose rows are written: those of its `table`, or those that it answers with.
pub fn with_output(check: &Check, code: &str) -> Result<String, CompileError> {
    let form = form(output(check)?).unwrap_or_default();
    // What a question does with its rows, once it has them, is for people to read.
    let answered = code
        .split_once("\nanswer_rows = ")
        .and_then(|(code, rest)| Some((code, rest.split_once(".head(")?.0)));
    let is_set =
        || code.lines().any(|line| line.starts_with("table = ")).then_some((code.trim_end(), "table"));
    let Some((code, rows)) = answered.or_else(is_set) else {
        return Err(CompileError::param(
            "it makes no table",
            "ask for rows, not for one figure; code of your own sets `table`",
        ));
    };
    // A question counts the rows that belong to no group.
    let left_out = if code.contains("\nleft_out = ") { "{left_out}" } else { "" };
    Ok(format!(
        "{code}\nresult = {{\n    \"status\": \"PASS\",\n    \"summary\": f\"{{len({rows}):,}} rows.{left_out}\",\n    \
         \"evaluated\": len({rows}),\n    \"failed\": 0,\n    \"table\": {rows},\n    \"form\": \"{form}\",\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(output: &str) -> Check {
        let params = json!({ "output": output }).as_object().cloned().unwrap_or_default();
        Check::new("t".to_owned(), "orders", TRANSFORM, params)
    }

    #[test]
    fn a_transformation_writes_below_the_workspace_alone() {
        assert_eq!(output(&check("out/a.csv")), Ok("out/a.csv"));
        for wrong in
            ["", "a", "a.txt", "/a.csv", "../a.csv", "a/../b.csv", ".ordain/a.csv", "a//b.csv", "csv"]
        {
            assert!(output(&check(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_rows_that_code_answers_with_are_written() {
        let code = "rows = frame(\"t\")\nanswer_rows = rows.head(200).to_dict(\"records\")";
        let written = with_output(&check("a.parquet"), code).unwrap();
        assert!(
            written.starts_with("rows = frame(\"t\")\nresult = {\n    \"status\": \"PASS\""),
            "{written}"
        );
        assert!(written.ends_with("    \"table\": rows,\n    \"form\": \"parquet\",\n}\n"), "{written}");
        assert!(with_output(&check("a.csv"), "answer_text = \"5\"\n").is_err());
    }
}
