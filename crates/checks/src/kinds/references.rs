//! Kinds across rows and tables: values that must be known elsewhere, values that decide others, rows that must agree.

use ordain_types::{Asked, Schema, Table};
use serde_json::Value;

use super::emit::{Code, column};
use super::params::{self, CompileError, Params, names};
use super::{CompiledKind, is_number, literal, spoken};

/// Every value is there in another table.
pub(super) fn foreign_key(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    schema: &Schema,
) -> Result<(), CompileError> {
    let columns = params.columns("columns", table)?;
    let references = params.object("references")?;
    let wrong = |params: &Params<'_>| params.wrong("references", "{\"table\": …, \"columns\": […]}");
    let other = references.get("table").and_then(Value::as_str).ok_or_else(|| wrong(params))?;
    let other = params::table(schema, other)?;
    let theirs = match references.get("columns").or_else(|| references.get("column")) {
        None => columns.clone(),
        Some(given) => names(given).ok_or_else(|| wrong(params))?,
    };
    if theirs.len() != columns.len() {
        return Err(CompileError::param(
            format!("{} columns refer to {} columns", columns.len(), theirs.len()),
            "name as many columns in `references` as in `columns`",
        ));
    }
    for (ours, theirs) in columns.iter().zip(&theirs) {
        params::column_of(other, theirs)?;
        comparable(table, ours, other, theirs)?;
    }
    code.uses(&columns);
    code.uses_of(&other.name, &theirs);
    code.load("known", &other.name);
    if let ([ours], [theirs]) = (columns.as_slice(), theirs.as_slice()) {
        code.line(format!("judged = {}.notna()", column(ours)));
        code.line(format!(
            "failing = judged & ~{}.isin(known[{}].dropna())",
            column(ours),
            literal::text(theirs)
        ));
    } else {
        code.line(format!("judged = rows[{}].notna().all(axis=1)", literal::names(&columns)));
        code.line(format!("known = known[{}].drop_duplicates()", literal::names(&theirs)));
        code.line(format!(
            "found = rows[{}].merge(known, how=\"left\", left_on={}, right_on={}, indicator=True)",
            literal::names(&columns),
            literal::names(&columns),
            literal::names(&theirs)
        ));
        code.line("failing = judged & (found[\"_merge\"] != \"both\").to_numpy()");
    }
    code.asks(Asked::Known {
        columns: columns.clone(),
        table: other.name.clone(),
        references: theirs.clone(),
    });
    code.step(format!("mark the rows whose {} is not in `{}`", spoken(&columns), other.name));
    let rule = format!("{} must be found in table `{}`", spoken(&columns), other.name);
    let failure = format!("have a value in {} that is not in {}", columns.join(", "), other.name);
    code.end_with_rows(&rule, &failure, &columns);
    Ok(())
}

/// Ids that are numbers on one side and texts on the other find nothing: 1067 is not 01067.
fn comparable(table: &Table, ours: &str, other: &Table, theirs: &str) -> Result<(), CompileError> {
    let (Some(one), Some(two)) = (table.column(ours), other.column(theirs)) else { return Ok(()) };
    let is_alike = one.column_type == two.column_type || is_number(table, ours) && is_number(other, theirs);
    if is_alike {
        return Ok(());
    }
    Err(super::pairs::unlike((table, ours, one.column_type), (other, theirs, two.column_type)))
}

/// The same values on the left always come with the same values on the right.
pub(super) fn functional_dependency(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
) -> Result<(), CompileError> {
    let determinant = params.columns("determinant", table)?;
    let dependent = params.columns("dependent", table)?;
    let all: Vec<String> = determinant.iter().chain(&dependent).cloned().collect();
    code.uses(&all);
    code.line(format!("judged = rows[{}].notna().all(axis=1)", literal::names(&all)));
    code.line(format!("groups = rows[judged].groupby({}, sort=False)", literal::names(&determinant)));
    code.line(format!("different = groups[{}].transform(\"nunique\")", literal::names(&dependent)));
    code.line("failing = different.gt(1).any(axis=1).reindex(rows.index, fill_value=False)");
    code.asks(Asked::Decided { by: determinant.clone(), columns: dependent.clone() });
    code.step(format!("group the rows by {}", spoken(&determinant)));
    code.step(format!("mark every row of a group with more than one {}", spoken(&dependent)));
    let rule =
        format!("the same {} must always come with the same {}", spoken(&determinant), spoken(&dependent));
    let failure =
        format!("share their {} with a row of another {}", determinant.join(", "), dependent.join(", "));
    code.end_with_rows(&rule, &failure, &all);
    Ok(())
}

/// Two tables hold the same rows.
pub(super) fn reconcile_rows(params: &mut Params<'_>, schema: &Schema) -> Result<CompiledKind, CompileError> {
    let left = params::table(schema, &params.text("left")?)?;
    let right = params::table(schema, &params.text("right")?)?;
    let keys = params.columns("keys", left)?;
    for key in &keys {
        params::column_of(right, key)?;
    }
    let columns = if params.get("columns").is_some() {
        params.columns("columns", left)?
    } else {
        let shared = left.columns.iter().filter(|column| right.column(&column.name).is_some());
        shared.map(|column| column.name.clone()).filter(|name| !keys.contains(name)).collect()
    };
    for column in &columns {
        params::column_of(right, column)?;
    }
    let tolerance = params.number("tolerance")?.unwrap_or(0.0);
    let mut code = Code::empty();
    code.load("left", &left.name);
    code.load("right", &right.name);
    let both: Vec<String> = keys.iter().chain(&columns).cloned().collect();
    code.uses_of(&left.name, &both);
    code.uses_of(&right.name, &both);
    code.line(format!("keys, columns = {}, {}", literal::names(&keys), literal::names(&columns)));
    code.line(format!(
        "rows = left[{0}].merge(right[{0}], on={1}, how=\"outer\", suffixes=(\"_left\", \"_right\"), indicator=True)",
        literal::names(&both),
        literal::names(&keys)
    ));
    code.line("failing = rows[\"_merge\"] != \"both\"");
    code.line("rows[\"difference\"] = rows[\"_merge\"].map(");
    code.line(format!(
        "    {{\"left_only\": {}, \"right_only\": {}, \"both\": \"\"}}",
        literal::text(&format!("only in {}", left.name)),
        literal::text(&format!("only in {}", right.name))
    ));
    code.line(").astype(\"str\")");
    code.line("in_both = ~failing");
    for name in &columns {
        let (a, b) = (
            format!("rows[{}]", literal::text(&format!("{name}_left"))),
            format!("rows[{}]", literal::text(&format!("{name}_right"))),
        );
        let same = if is_number(left, name) && is_number(right, name) {
            format!("({a} - {b}).abs().le({tolerance})")
        } else {
            format!("({a} == {b})")
        };
        code.line(format!("differs = in_both & ~({same} | ({a}.isna() & {b}.isna()))"));
        code.line(format!(
            "rows.loc[differs, \"difference\"] += {}",
            literal::text(&format!("{name} differs; "))
        ));
        code.line("failing = failing | differs");
    }
    code.line("judged = rows.index.notna()");
    code.step(format!("join the two tables by {}", spoken(&keys)));
    code.step("mark rows that only one side has, and rows whose values differ");
    let rule = format!("tables `{}` and `{}` must hold the same rows", left.name, right.name);
    code.end_with_rows(&rule, "are not the same on both sides", &[]);
    let mut compiled = code.finish();
    // Every column of the joined row helps to see what differs.
    compiled.code = compiled.code.replace("    \"columns\": [],\n", "");
    Ok(compiled)
}
