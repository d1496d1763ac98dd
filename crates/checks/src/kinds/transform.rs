//! A standing transformation: rows made from tables, and written to a file or to a table of the workspace.

use super::params::{CompileError, Params};
use super::{CheckPlan, CompiledKind};
use crate::check::Check;

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
    Ok(CompiledKind { code: with_table(check, &code)?, plan, by_sql: None })
}

/// Where the rows of a transformation go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output<'a> {
    /// A file, below the folder of the workspace.
    File(&'a str),
    /// A table of the workspace.
    Table(&'a str),
}

/// Where the rows of a transformation go.
pub fn output(check: &Check) -> Result<Output<'_>, CompileError> {
    let output = check.params.get("output").and_then(serde_json::Value::as_str).unwrap_or_default();
    if let Some(table) = output.strip_prefix("table:").filter(|table| !table.is_empty()) {
        return Ok(Output::Table(table));
    }
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
    if form(output).is_none() || !output.split('/').all(is_plain) {
        return Err(CompileError::param(
            format!("a transformation cannot write to `{output}`"),
            "`output` is a path below the workspace that ends in .csv, .xlsx or .parquet, or `table:NAME`",
        ));
    }
    Ok(Output::File(output))
}

fn form(output: &str) -> Option<&'static str> {
    let ending = output.rsplit_once('.')?.1;
    FORMS.into_iter().find(|form| *form == ending)
}

/// Code of the owner's or of a model's whose `table` is written.
pub fn with_table(check: &Check, code: &str) -> Result<String, CompileError> {
    let is_set = |line: &str| {
        let rest = line.trim_start().strip_prefix("table").map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="))
    };
    if !code.lines().any(is_set) {
        return Err(no_rows());
    }
    with_output(check, code.trim_end(), "table")
}

/// Why code that makes no rows is no transformation.
pub fn no_rows() -> CompileError {
    CompileError::param(
        "it makes no table",
        "ask for rows, not for one figure; code of your own sets `table`",
    )
}

/// Code with the rows that a variable of it holds as the output.
pub fn with_output(check: &Check, code: &str, rows: &str) -> Result<String, CompileError> {
    let form = match output(check)? {
        Output::File(file) => form(file).unwrap_or_default(),
        Output::Table(_) => "jsonl",
    };
    Ok(format!(
        "{code}\nresult = {{\n    \"status\": \"PASS\",\n    \"summary\": f\"{{len({rows}):,}} rows.\",\n    \
         \"evaluated\": len({rows}),\n    \"failed\": 0,\n    \"table\": {rows},\n    \"form\": \"{form}\",\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(output: &str) -> Check {
        let params = json!({ "output": output }).as_object().cloned().unwrap_or_default();
        Check::new("t".to_owned(), "orders", crate::catalogue::Kind::Transform, params)
    }

    #[test]
    fn a_transformation_writes_below_the_workspace_alone() {
        assert_eq!(output(&check("out/a.csv")), Ok(Output::File("out/a.csv")));
        assert_eq!(output(&check("table:sums")), Ok(Output::Table("sums")));
        for wrong in
            ["", "a", "a.txt", "/a.csv", "../a.csv", "a/../b.csv", ".ordain/a.csv", "a//b.csv", "csv"]
        {
            assert!(output(&check(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_rows_that_a_question_makes_are_written() {
        let code = "rows = frame(\"t\")";
        let written = with_output(&check("a.parquet"), code, "rows").unwrap();
        assert!(
            written.starts_with("rows = frame(\"t\")\nresult = {\n    \"status\": \"PASS\""),
            "{written}"
        );
        assert!(written.ends_with("    \"table\": rows,\n    \"form\": \"parquet\",\n}\n"), "{written}");
        for code in ["answer_text = \"5\"\n", "tables = 5\n", "print(table == 5)\n"] {
            assert!(with_table(&check("a.csv"), code).is_err(), "{code}");
        }
        for code in ["table = rows\n", "table=rows", "if True:\n    table  = rows\n"] {
            assert!(with_table(&check("a.csv"), code).is_ok(), "{code}");
        }
    }
}
