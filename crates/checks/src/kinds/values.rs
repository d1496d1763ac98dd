//! Kinds that judge each value by itself: there or not, one of a list, between bounds, of a length, like a pattern.

use ordain_types::{Asked, ColumnType, Side, Table, Test, shown_pattern};
use serde_json::Value;

use super::emit::{Code, column};
use super::params::{CompileError, Params};
use super::{is_number, literal, spoken};

/// Every value is there; with `negate`, none is.
pub(super) fn not_null(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let columns = params.columns("columns", table)?;
    let negate = params.flag("negate")?;
    code.uses(&columns);
    if !negate {
        code.pass_unread();
    }
    // Every row is judged.
    code.line("judged = rows.index.notna()");
    let (method, rule, failure) = if negate {
        ("notna", "must be empty", "have a value in")
    } else {
        ("isna", "must have a value", "lack a value in")
    };
    code.line(match columns.as_slice() {
        [one] => format!("failing = {}.{method}()", column(one)),
        many => format!("failing = rows[{}].{method}().any(axis=1)", literal::names(many)),
    });
    let is_null = columns.iter().cloned().map(Test::Null);
    code.asks(Asked::Every(Test::All(if negate {
        is_null.collect()
    } else {
        is_null.map(|test| Test::Not(Box::new(test))).collect()
    })));
    code.step(format!("mark the rows that {failure} {}", spoken(&columns)));
    let rule = format!("{} {rule} in every row", spoken(&columns));
    code.end_with_rows(&rule, &format!("{failure} {}", columns.join(", ")), &columns);
    Ok(())
}

/// Leaves out rows with nulls in the named columns, as `ignore_row_if` says. Whether those are left out that lack any.
pub(super) fn judge_without_nulls(
    code: &mut Code,
    params: &mut Params<'_>,
    columns: &[String],
) -> Result<bool, CompileError> {
    let names = literal::names(columns);
    let left_out = params.choice("ignore_row_if", &["any_null", "all_null", "never"])?;
    let (line, step) = match (left_out, columns) {
        ("never", _) => ("judged = rows.index.notna()".to_owned(), "judge every row"),
        ("all_null", _) => {
            (format!("judged = rows[{names}].notna().any(axis=1)"), "leave out rows without any value there")
        }
        (_, [one]) => (format!("judged = {}.notna()", column(one)), "leave out rows without a value"),
        _ => {
            (format!("judged = rows[{names}].notna().all(axis=1)"), "leave out rows where a value is missing")
        }
    };
    code.line(line);
    code.step(step);
    Ok(left_out == "any_null")
}

/// No two rows have the same values.
pub(super) fn unique(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let mut columns = params.columns("columns", table)?;
    if params.get("by").is_some() {
        // Once in each group is once with the group's values.
        columns.extend(params.columns("by", table)?);
    }
    code.uses(&columns);
    code.pass_unread();
    if judge_without_nulls(code, params, &columns)? {
        code.asks(Asked::Unique(columns.clone()));
    }
    code.line(format!("failing = judged & frame.repeated(rows[{}])", literal::names(&columns)));
    code.step(format!("mark every row whose {} occurs more than once", spoken(&columns)));
    let rule = format!("{} must be unique", spoken(&columns));
    code.end_with_rows(&rule, &format!("share their {} with another row", columns.join(", ")), &columns);
    Ok(())
}

/// Every value is one of a list; with `negate`, none is.
pub(super) fn in_set(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let values = Value::Array(params.values("values")?.to_vec());
    let negate = params.flag("negate")?;
    code.uses(std::slice::from_ref(&name));
    let is_time = table.column(&name).is_some_and(|column| column.column_type == ColumnType::Timestamp);
    let (own, listed) = (column(&name), literal::value(&values));
    may_hold(&name, params.values("values")?, table)?;
    // A text is no point in time to pandas, and none would be found.
    let (own, listed) = if is_time {
        code.import("import pandas as pd");
        (times(&own), points(&listed))
    } else {
        (own, listed)
    };
    code.line(format!("values = {own}"));
    code.line(format!("{} = {listed}", if negate { "forbidden" } else { "allowed" }));
    code.line("judged = values.notna()");
    let (mark, rule, failure) = if negate {
        ("values.isin(forbidden)", "must be none of", "is a forbidden value")
    } else {
        ("~values.isin(allowed)", "must be one of", "is not an allowed value")
    };
    code.line(format!("failing = judged & {mark}"));
    let listed = Test::In { column: name.clone(), values: params.values("values")?.to_vec() };
    code.asks(Asked::Every(if negate { Test::Not(Box::new(listed)) } else { listed }));
    code.step(format!("mark the rows whose `{name}` {failure}"));
    code.end_with_rows(
        &format!("`{name}` {rule} {values}"),
        &format!("have a value in {name} that {failure}"),
        std::slice::from_ref(&name),
    );
    Ok(())
}

/// Every value lies between two bounds.
pub(super) fn range(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let bounds = Bounds::read(params)?;
    code.uses(std::slice::from_ref(&name));
    code.line(format!("judged = {}.notna()", column(&name)));
    let values = bounds.comparable(code, table, &name)?;
    code.line(format!("values = {values}"));
    code.line(format!("failing = judged & ~({})", bounds.within("values")));
    code.asks(Asked::Every(bounds.test(&name)));
    code.step(format!("mark the rows whose `{name}` is not {}", bounds.spoken()));
    let rule = format!("`{name}` must be {}", bounds.spoken());
    code.end_with_rows(
        &rule,
        &format!("have a value in {name} that is not {}", bounds.spoken()),
        std::slice::from_ref(&name),
    );
    Ok(())
}

/// Two bounds, at least one of them given.
#[derive(Debug)]
pub(super) struct Bounds {
    min: Option<Value>,
    max: Option<Value>,
    strict_min: bool,
    strict_max: bool,
}

impl Bounds {
    pub(super) fn read(params: &mut Params<'_>) -> Result<Self, CompileError> {
        let bounds = Self {
            min: params.get("min").cloned(),
            max: params.get("max").cloned(),
            strict_min: params.flag("strict_min")?,
            strict_max: params.flag("strict_max")?,
        };
        if bounds.min.is_none() && bounds.max.is_none() {
            return Err(CompileError::param(
                "neither `min` nor `max` is given",
                "give at least one of them, such as {\"min\": 0}",
            ));
        }
        for (name, bound) in [("min", &bounds.min), ("max", &bounds.max)] {
            if bound.as_ref().is_some_and(|bound| !bound.is_number() && !bound.is_string()) {
                return Err(params.wrong(name, "a number, or a point in time as text"));
            }
        }
        if let (Some(low), Some(high)) =
            (bounds.min.as_ref().and_then(Value::as_f64), bounds.max.as_ref().and_then(Value::as_f64))
            && low > high
        {
            return Err(CompileError::param(
                format!("`min` {low} is above `max` {high}"),
                "exchange the two bounds",
            ));
        }
        Ok(bounds)
    }

    pub(super) fn is_time(&self) -> bool {
        let is_time = |bound: &Option<Value>| {
            bound.as_ref().and_then(Value::as_str).is_some_and(ordain_types::is_timestamp)
        };
        is_time(&self.min) || is_time(&self.max)
    }

    fn is_text(&self) -> bool {
        [&self.min, &self.max].into_iter().flatten().any(Value::is_string)
    }

    /// The column in a form that can be compared with the bounds. Nothing is converted: a column of another type is an
    /// error that names both.
    pub(super) fn comparable(
        &self,
        code: &mut Code,
        table: &Table,
        name: &str,
    ) -> Result<String, CompileError> {
        let holds = table.column(name).map(|column| column.column_type);
        let wrong = |bounds: &str| {
            let holds = holds.map_or("nothing known", type_words);
            CompileError::param(
                format!("column `{name}` holds {holds}, and its bounds are {bounds}"),
                format!("declare its type under `[data.{}.columns]`, or correct the bounds", table.name),
            )
        };
        if self.is_time() {
            code.import("import pandas as pd");
            return match holds {
                Some(ColumnType::Timestamp) => Ok(times(&column(name))),
                _ => Err(wrong("points in time")),
            };
        }
        match (self.is_text(), holds) {
            (true, Some(ColumnType::Text)) => Ok(column(name)),
            (true, _) => Err(wrong("texts")),
            (false, _) if is_number(table, name) => Ok(column(name)),
            (false, _) => Err(wrong("numbers")),
        }
    }

    fn bound(&self, bound: &Value) -> String {
        if self.is_time() {
            format!("pd.Timestamp({}, tz=\"UTC\")", literal::value(bound))
        } else {
            literal::value(bound)
        }
    }

    /// An expression that tells whether `what` lies within.
    pub(super) fn within(&self, what: &str) -> String {
        let low = self
            .min
            .as_ref()
            .map(|min| format!("({what} {} {})", if self.strict_min { ">" } else { ">=" }, self.bound(min)));
        let high = self
            .max
            .as_ref()
            .map(|max| format!("({what} {} {})", if self.strict_max { "<" } else { "<=" }, self.bound(max)));
        low.into_iter().chain(high).collect::<Vec<_>>().join(" & ")
    }

    /// The same as a condition on a row.
    fn test(&self, name: &str) -> Test {
        let compare = |bound: &Option<Value>, op: &str| {
            bound.as_ref().map(|bound| Test::Compare {
                left: Side::Column(name.to_owned()),
                op: op.to_owned(),
                right: Side::Value(bound.clone()),
            })
        };
        let low = compare(&self.min, if self.strict_min { ">" } else { ">=" });
        Test::All(
            low.into_iter().chain(compare(&self.max, if self.strict_max { "<" } else { "<=" })).collect(),
        )
    }

    pub(super) fn spoken(&self) -> String {
        let say = |bound: &Value| bound.as_str().map_or_else(|| bound.to_string(), str::to_owned);
        let low = self
            .min
            .as_ref()
            .map(|min| format!("{} {}", if self.strict_min { "above" } else { "at least" }, say(min)));
        let high = self
            .max
            .as_ref()
            .map(|max| format!("{} {}", if self.strict_max { "below" } else { "at most" }, say(max)));
        low.into_iter().chain(high).collect::<Vec<_>>().join(" and ")
    }
}

/// An expression for points in time that can be compared with each other, whether or not they name a zone.
pub(super) fn times(expression: &str) -> String {
    format!("pd.to_datetime({expression}, utc=True)")
}

/// An expression for listed points in time, however exactly each is written.
pub(super) fn points(list: &str) -> String {
    format!("pd.to_datetime({list}, utc=True, format=\"ISO8601\")")
}

/// Refuses values of another type than their column has: none would ever be found, and nobody would notice.
pub(super) fn may_hold(name: &str, values: &[Value], table: &Table) -> Result<(), CompileError> {
    let Some(holds) = table.column(name).map(|column| column.column_type) else { return Ok(()) };
    let is_alike = |value: &Value| match holds {
        ColumnType::Text => value.is_string(),
        ColumnType::Integer | ColumnType::Real | ColumnType::Decimal => value.is_number(),
        ColumnType::Boolean => value.is_boolean(),
        ColumnType::Timestamp => value.as_str().is_some_and(ordain_types::is_timestamp),
        ColumnType::Json | ColumnType::Any => true,
    };
    let Some(other) = values.iter().find(|value| !value.is_null() && !is_alike(value)) else { return Ok(()) };
    Err(CompileError::param(
        format!("column `{name}` holds {}, and {other} is {}", type_words(holds), sort_of(other)),
        hint_for(holds, other, table),
    ))
}

/// What a value of a rule is, in words.
pub(super) fn sort_of(value: &Value) -> &'static str {
    match value {
        Value::String(text) if ordain_types::is_timestamp(text) => "a point in time",
        Value::String(_) => "text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a truth value",
        _ => "neither text nor a number",
    }
}

/// What to write in place of a value of another type than its column has.
pub(super) fn hint_for(holds: ColumnType, value: &Value, table: &Table) -> String {
    match (holds, value) {
        (ColumnType::Boolean, _) => format!("write true or false in place of {value}"),
        (ColumnType::Timestamp, _) => format!(
            "write it as 2024-01-31, or declare the column's type under `[data.{}.columns]`",
            table.name
        ),
        (ColumnType::Text, Value::Number(_) | Value::Bool(_)) => format!("write \"{value}\", in quotes"),
        _ => format!("declare its type under `[data.{}.columns]`, or correct the rule", table.name),
    }
}

/// What a column holds, in words.
pub(super) fn type_words(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "text",
        ColumnType::Integer => "whole numbers",
        ColumnType::Real | ColumnType::Decimal => "numbers",
        ColumnType::Boolean => "truth values",
        ColumnType::Timestamp => "points in time",
        ColumnType::Json => "nested values",
        ColumnType::Any => "values of any type",
    }
}

/// Every text has a length between two bounds.
pub(super) fn length(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let (min, max) = (params.count("min")?, params.count("max")?);
    let tests: Vec<String> = min
        .map(|min| format!("(lengths >= {min})"))
        .into_iter()
        .chain(max.map(|max| format!("(lengths <= {max})")))
        .collect();
    if tests.is_empty() {
        return Err(CompileError::param("neither `min` nor `max` is given", "give at least one of them"));
    }
    if table.column(&name).is_some_and(|column| {
        !matches!(column.column_type, ColumnType::Text | ColumnType::Json | ColumnType::Any)
    }) {
        return Err(CompileError::param(
            format!("column `{name}` holds no text, and only text has a length"),
            format!("use `range`, or declare it as text under `[data.{}.columns]`", table.name),
        ));
    }
    code.uses(std::slice::from_ref(&name));
    code.line(format!("judged = {}.notna()", column(&name)));
    code.line(format!("lengths = {}.str.len()", column(&name)));
    code.line(format!("failing = judged & ~({})", tests.join(" & ")));
    code.asks(Asked::Every(Test::Length { column: name.clone(), min, max }));
    let wanted = match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (_, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    };
    code.step(format!("mark the rows whose `{name}` does not have {wanted} characters"));
    let rule = format!("`{name}` must have {wanted} characters");
    code.end_with_rows(
        &rule,
        &format!("have a value in {name} without {wanted} characters"),
        std::slice::from_ref(&name),
    );
    Ok(())
}

/// Every text matches a pattern.
pub(super) fn regex(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let patterns = match params.need("pattern")? {
        Value::String(one) => vec![one.clone()],
        Value::Array(_) => super::params::names(params.need("pattern")?)
            .filter(|patterns| !patterns.is_empty())
            .ok_or_else(|| params.wrong("pattern", "a pattern or a list of them"))?,
        _ => return Err(params.wrong("pattern", "a pattern or a list of them")),
    };
    let how_many = params.choice("match", &["any", "all"])?;
    let negate = params.flag("negate")?;
    code.import("import re");
    code.uses(std::slice::from_ref(&name));
    let compiled: Vec<String> = patterns.iter().map(|pattern| literal::pattern(pattern)).collect();
    code.line(format!("patterns = [re.compile(pattern) for pattern in [{}]]", compiled.join(", ")));
    code.line(format!("values = {}", column(&name)));
    code.line("judged = values.notna()");
    code.line("# Each different text is looked at once.");
    code.line("different = values[judged].astype(\"str\").drop_duplicates()");
    let matched = format!("{how_many}(pattern.search(text) for pattern in patterns)");
    let test = if negate { matched } else { format!("not {matched}") };
    code.line(format!("wrong = {{text for text in different if {test}}}"));
    code.line("failing = judged & values.astype(\"str\").isin(wrong)");
    let failure = if negate { "matches a forbidden pattern" } else { "does not match the pattern" };
    code.step(format!("mark the rows whose `{name}` {failure}"));
    let shown: Vec<String> = patterns.iter().map(|pattern| shown_pattern(pattern)).collect();
    let rule = format!("`{name}` must {}match {}", if negate { "not " } else { "" }, shown.join(" or "));
    code.end_with_rows(&rule, &format!("have a value in {name} that {failure}"), std::slice::from_ref(&name));
    Ok(())
}
