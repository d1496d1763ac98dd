//! Kinds about values that stand together: in one row, or in rows that follow each other.

use ordain_types::{Asked, ColumnType, Side, Step, Table, Test};
use serde_json::Value;

use super::emit::{Code, column};
use super::params::{CompileError, Params};
use super::values::{judge_without_nulls, times, type_words};
use super::{is_number, literal, spoken};

const OPERATORS: [&str; 9] = ["==", "!=", "<", "<=", ">", ">=", "in_pairs", "sum_equals", "all_different"];

/// Values in a row stand in a relation to each other.
pub(super) fn two_columns(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
) -> Result<(), CompileError> {
    params.need("op")?;
    let operator = params.choice("op", &OPERATORS)?;
    if matches!(operator, "sum_equals" | "all_different") {
        return several_columns(code, params, table, operator);
    }
    let left = params.column("left", table)?;
    let right = params.column("right", table)?;
    let columns = [left.clone(), right.clone()];
    code.uses(&columns);
    let lacks_none = judge_without_nulls(code, params, &columns)?;
    let (rule, failure);
    if operator == "in_pairs" {
        let pairs = params.values("pairs")?;
        if pairs.iter().any(|pair| pair.as_array().is_none_or(|pair| pair.len() != 2)) {
            return Err(params.wrong("pairs", "a list of [left, right]"));
        }
        code.line(format!("allowed = {}", literal::value(&Value::Array(pairs.to_vec()))));
        code.line(format!(
            "found = [[a, b] in allowed for a, b in zip({}, {})]",
            column(&left),
            column(&right)
        ));
        code.line("failing = judged & (rows.index.notna() ^ found)");
        rule = format!("`{left}` and `{right}` must be one of the listed pairs");
        failure = format!("have values in {left} and {right} that are no allowed pair");
    } else {
        let (a, b) = comparable(code, table, &left, &right)?;
        code.line(format!("left, right = {a}, {b}"));
        code.line(format!("failing = judged & ~(left {operator} right)"));
        if lacks_none {
            let (left, right) = (Side::Column(left.clone()), Side::Column(right.clone()));
            code.asks(Asked::Every(Test::Compare { left, op: operator.to_owned(), right }));
        }
        rule = format!("`{left}` {operator} `{right}` must hold in every row");
        failure = format!("break {left} {operator} {right}");
    }
    code.step(format!("mark the rows that break it: {rule}"));
    code.end_with_rows(&rule, &failure, &columns);
    Ok(())
}

/// Two columns in forms that can be compared with each other; two of different types are an error that names both.
fn comparable(
    code: &mut Code,
    table: &Table,
    left: &str,
    right: &str,
) -> Result<(String, String), CompileError> {
    let (a, b) = (column(left), column(right));
    match (type_of(table, left), type_of(table, right)) {
        (ColumnType::Timestamp, ColumnType::Timestamp) => {
            code.import("import pandas as pd");
            Ok((times(&a), times(&b)))
        }
        (one, other) if one == other || is_number(table, left) && is_number(table, right) => Ok((a, b)),
        (one, other) => Err(unlike((table, left, one), (table, right, other))),
    }
}

fn type_of(table: &Table, name: &str) -> ColumnType {
    table.column(name).map_or(ColumnType::Text, |column| column.column_type)
}

/// Two columns that cannot be compared, and why.
pub(super) fn unlike(
    (left, ours, one): (&Table, &str, ColumnType),
    (right, theirs, other): (&Table, &str, ColumnType),
) -> CompileError {
    CompileError::param(
        format!(
            "`{}.{ours}` holds {} and `{}.{theirs}` holds {}: they cannot be compared",
            left.name,
            type_words(one),
            right.name,
            type_words(other)
        ),
        format!("declare the type of one of them, under `[data.{}.columns]`", left.name),
    )
}

fn several_columns(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    operator: &str,
) -> Result<(), CompileError> {
    let columns = params.columns("columns", table)?;
    code.uses(&columns);
    judge_without_nulls(code, params, &columns)?;
    let names = literal::names(&columns);
    let (rule, failure);
    if operator == "sum_equals" {
        let value = params.number("value")?.ok_or_else(|| params.wrong("value", "the sum"))?;
        code.line(format!("failing = judged & ((rows[{names}].sum(axis=1) - {value}).abs() > 1e-9)"));
        rule = format!("{} must add up to {value}", spoken(&columns));
        failure = format!("do not add up to {value}");
    } else {
        code.line(format!("different = rows[{names}].nunique(axis=1, dropna=False)"));
        code.line(format!("failing = judged & (different < {})", columns.len()));
        rule = format!("{} must all be different", spoken(&columns));
        failure = "have the same value twice".to_owned();
    }
    code.step(format!("mark the rows that break it: {rule}"));
    code.end_with_rows(&rule, &failure, &columns);
    Ok(())
}

/// Every value follows the one before it, in its group and in the given order.
pub(super) fn monotonic(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let direction = params.choice("direction", &["increasing", "decreasing"])?;
    let strict = params.flag("strict")?;
    let by = if params.get("by").is_none() { Vec::new() } else { params.columns("by", table)? };
    let order = if params.get("order_by").is_none() { None } else { Some(params.column("order_by", table)?) };
    code.uses(&[std::slice::from_ref(&name), &by, order.as_slice()].concat());
    code.line(format!("judged = {}.notna()", column(&name)));
    let ordered = order.as_ref().map_or_else(
        || "rows[judged]".to_owned(),
        |order| format!("rows[judged].sort_values({}, kind=\"stable\")", literal::text(order)),
    );
    code.line(format!("ordered = {ordered}"));
    let values = format!("ordered[{}]", literal::text(&name));
    let is_time = table.column(&name).is_some_and(|column| column.column_type == ColumnType::Timestamp);
    if is_time {
        code.import("import pandas as pd");
        code.line(format!("values = {}", times(&values)));
    } else {
        code.line(format!("values = {values}"));
    }
    code.line(match by.as_slice() {
        [] => "before = values.shift()".to_owned(),
        by => {
            let keys: Vec<String> =
                by.iter().map(|name| format!("ordered[{}]", literal::text(name))).collect();
            format!("before = values.groupby([{}], sort=False, dropna=False).shift()", keys.join(", "))
        }
    });
    let (broken, breaks) = match (direction, strict) {
        ("increasing", false) => ("<", Step::Falls),
        ("increasing", true) => ("<=", Step::DoesNotRise),
        (_, false) => (">", Step::Rises),
        (_, true) => (">=", Step::DoesNotFall),
    };
    code.asks(Asked::Follows { column: name.clone(), by: by.clone(), order_by: order.clone(), breaks });
    code.line(format!("steps = before.notna() & (values {broken} before).fillna(False).astype(\"bool\")"));
    code.line("failing = steps.reindex(rows.index, fill_value=False).astype(\"bool\")");
    code.step(format!("mark the rows whose `{name}` does not follow the one before"));
    let along = order.map_or_else(String::new, |order| format!(" in the order of `{order}`"));
    let each = if by.is_empty() { String::new() } else { format!(" for each {}", spoken(&by)) };
    let (strictly, equal) = if strict { ("strictly ", "") } else { ("", " or stay as it is") };
    let rule = format!("`{name}` must be {strictly}{direction}{equal}{along}{each}");
    code.end_with_rows(
        &rule,
        &format!("have a value in {name} that breaks the order"),
        std::slice::from_ref(&name),
    );
    Ok(())
}
