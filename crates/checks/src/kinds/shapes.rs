//! Kinds about shape: what type values have, and which columns a table has.

use ordain_types::{ColumnType, Table};
use serde_json::{Value, json};

use super::emit::{Code, column};
use super::params::{CompileError, Params, names};
use super::{literal, spoken};

/// The types that `dtype` knows, each with the code that tells which of `values` have it.
const TYPES: [(&str, &str); 13] = [
    ("text", "values.map(lambda value: isinstance(value, str)).astype(\"bool\")"),
    ("integer", "NUMBERS.mod(1).eq(0)"),
    ("real", "NUMBERS.notna()"),
    ("number", "NUMBERS.notna()"),
    ("boolean", "values.astype(\"str\").str.lower().isin([\"true\", \"false\"])"),
    ("timestamp", "TIMES.notna()"),
    ("date", "TIMES.notna()"),
    ("date_text", "values.map(lambda value: isinstance(value, str)).astype(\"bool\") & TIMES.notna()"),
    ("json", "values.map(reads_as_json).astype(\"bool\")"),
    ("uuid", "values.astype(\"str\").str.fullmatch(r\"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\")"),
    ("email", "values.astype(\"str\").str.fullmatch(r\"[^@\\s]+@[^@\\s]+\\.[^@\\s.]+\")"),
    ("url", "values.astype(\"str\").str.fullmatch(r\"https?://[^\\s/$.?#][^\\s]*\")"),
    ("ipv4", "values.astype(\"str\").str.fullmatch(r\"((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(?!$)|$)){4}\")"),
];

/// A test, not a conversion: what reads as a point in time.
const TIMES: &str = "pd.to_datetime(values, errors=\"coerce\", utc=True, format=\"mixed\")";
const NUMBERS: &str = "pd.to_numeric(values, errors=\"coerce\")";

/// Every value is of a type, or is text that reads as one.
pub(super) fn dtype(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let format = params.optional_text("format")?;
    let types = params.get("type").map(names);
    let types =
        types.unwrap_or_else(|| Some(Vec::new())).ok_or_else(|| params.wrong("type", "a type or a list"))?;
    if types.is_empty() && format.is_none() {
        return Err(CompileError::param(
            "neither `type` nor `format` is given",
            "give one, such as \"integer\"",
        ));
    }
    if types.iter().any(|given| given == "text") {
        code.pass_unread();
    }
    code.import("import pandas as pd");
    code.uses(std::slice::from_ref(&name));
    code.line(format!("values = {}", column(&name)));
    code.line("judged = values.notna()");
    // Points in time could be counted, but they are no numbers.
    let is_time = table.column(&name).is_some_and(|column| column.column_type == ColumnType::Timestamp);
    let numbers = if is_time { "pd.Series(index=values.index, dtype=\"float\")" } else { NUMBERS };
    let mut tests = Vec::new();
    for given in &types {
        let Some((_, test)) = TYPES.iter().find(|(known, _)| known == given) else {
            let known: Vec<&str> = TYPES.iter().map(|(known, _)| *known).collect();
            let hint = ordain_types::nearest(given, known.iter().copied()).map_or_else(
                || format!("types are: {}", known.join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            return Err(CompileError::param(format!("`dtype` knows no type `{given}`"), hint));
        };
        if given == "json" {
            code.import("import json");
            for line in [
                "def reads_as_json(value):",
                "    try:",
                "        json.loads(value)",
                "    except (TypeError, ValueError):",
                "        return False",
                "    return True",
                "",
                "",
            ] {
                code.line(line);
            }
        }
        tests.push(format!("({})", test.replace("TIMES", TIMES).replace("NUMBERS", numbers)));
    }
    if let Some(format) = &format {
        tests.push(format!(
            "pd.to_datetime(values, errors=\"coerce\", format={}).notna()",
            literal::text(format)
        ));
    }
    let joined = if format.is_some() && !types.is_empty() {
        format!("({}) & {}", tests[..types.len()].join(" | "), tests[types.len()])
    } else {
        tests.join(" | ")
    };
    code.line(format!("fits = {joined}"));
    code.line("failing = judged & ~fits.fillna(False).astype(\"bool\")");
    let wanted = match format {
        Some(format) => format!("{} {format}", types.join(" or ")).trim().to_owned(),
        None => types.join(" or "),
    };
    code.step(format!("mark the rows whose `{name}` does not read as {wanted}"));
    let rule = format!("`{name}` must read as {wanted}");
    code.end_with_rows(
        &rule,
        &format!("have a value in {name} that does not read as {wanted}"),
        std::slice::from_ref(&name),
    );
    Ok(())
}

/// The table has the columns that it should have.
pub(super) fn schema(code: &mut Code, params: &mut Params<'_>) -> Result<(), CompileError> {
    let (columns, types) = match params.get("columns") {
        None => (Vec::new(), json!({})),
        Some(Value::Object(map)) => (map.keys().cloned().collect(), Value::Object(map.clone())),
        Some(other) => (
            names(other).ok_or_else(|| params.wrong("columns", "a list of names, or {name: type}"))?,
            json!({}),
        ),
    };
    code.judges_empty();
    let order = params.choice("order", &["any", "exact"])?;
    let extra = params.choice("extra", &["allow", "deny"])?;
    let index = params.count("index")?;
    let (min, max) = (params.count("min_columns")?, params.count("max_columns")?);
    code.line("observed = [str(name) for name in rows.columns]");
    code.line(format!("wanted = {}", literal::names(&columns)));
    code.line("problems = [f\"{name} is missing\" for name in wanted if name not in observed]");
    code.step("compare the table's columns with those it should have");
    if types != json!({}) {
        types_of_columns(code, &types);
    }
    if order == "exact" {
        code.line("if [name for name in observed if name in wanted] != [name for name in wanted if name in observed]:");
        code.line("    problems.append(\"the columns are in another order\")");
    }
    if extra == "deny" {
        code.line("problems += [f\"{name} is not expected\" for name in observed if name not in wanted]");
    }
    if let Some(index) = index {
        code.line(format!("if observed[{index}:{}] != wanted[:1]:", index + 1));
        code.line(format!("    problems.append(f\"{{wanted[0]}} is not at place {index}\")"));
    }
    for (bound, operator, word) in [(min, "<", "fewer"), (max, ">", "more")] {
        if let Some(bound) = bound {
            code.line(format!("if len(observed) {operator} {bound}:"));
            code.line(format!(
                "    problems.append(f\"there are {{len(observed)}} columns, {word} than {bound}\")"
            ));
        }
    }
    let end = "result = {\n    \
        \"status\": \"FAIL\" if problems else \"PASS\",\n    \
        \"summary\": \"; \".join(problems) or f\"all {len(wanted)} columns are as they should be\",\n    \
        \"evaluated\": max(len(wanted), len(problems), 1),\n    \
        \"failed\": len(problems),\n    \
        \"observed\": observed,\n}\n";
    let mut parts = Vec::new();
    if !columns.is_empty() {
        let more = match (order, extra) {
            ("exact", "deny") => " in this order and no others",
            ("exact", _) => " in this order",
            (_, "deny") => " and no others",
            _ => "",
        };
        parts.push(format!("the columns {}{more}", spoken(&columns)));
    }
    parts.extend(min.map(|min| format!("at least {min} columns")));
    parts.extend(max.map(|max| format!("at most {max} columns")));
    let said = if parts.is_empty() { "no problem with its columns".to_owned() } else { parts.join(", ") };
    code.end_with(&format!("the table must have {said}"), "what is wrong with the columns", end.to_owned());
    Ok(())
}

fn types_of_columns(code: &mut Code, types: &Value) {
    code.line(format!("types = {}", literal::value(types)));
    code.line("kinds = {\"i\": \"integer\", \"u\": \"integer\", \"f\": \"real\", \"b\": \"boolean\", \"M\": \"timestamp\"}");
    code.line("for name, dtype in rows.dtypes.items():");
    code.line("    found = kinds.get(dtype.kind, \"text\")");
    code.line("    # Whole numbers with gaps are kept as floating point.");
    code.line("    if found == \"real\" and rows[name].dropna().mod(1).eq(0).all():");
    code.line("        found = \"integer\"");
    code.line("    asked = types.get(name, found)");
    code.line("    if asked != found and (asked, found) not in [(\"real\", \"integer\"), (\"timestamp\", \"text\")]:");
    code.line("        problems.append(f\"{name} is {found}, not {asked}\")");
    code.step("compare the columns' types");
}
