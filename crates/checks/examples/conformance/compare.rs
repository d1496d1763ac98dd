//! Holds what a check gave against what a case says.

use ordain_checks::CheckStatus;
use serde_json::Value;

use super::cases::Case;
use super::known;
use super::report::Outcome;
use super::run::Gave;

/// Figures that are as near as this are the same where a case gives no tolerance.
const NEAR: f64 = 1e-6;

pub(crate) fn judge(case: &Case, gave: &Gave) -> Outcome {
    let outcome = held(case, gave);
    match (&outcome, known::reason(&case.file, &case.title)) {
        (Outcome::Verdict(_) | Outcome::Rows(_) | Outcome::Observed(_), Some(reason)) => {
            Outcome::OnPurpose(reason)
        }
        _ => outcome,
    }
}

fn held(case: &Case, gave: &Gave) -> Outcome {
    let expects_error = case.error.is_some() || case.out.contains_key("traceback_substring");
    match gave {
        Gave::Unmapped(reason) => Outcome::Unmapped(reason.clone()),
        Gave::Error(_) if expects_error => Outcome::Agrees,
        Gave::Error(reason) => Outcome::Verdict(format!("ERROR: {reason}")),
        Gave::Graded { status, .. } if expects_error => {
            Outcome::Verdict(format!("{} where an error is expected", status.name()))
        }
        Gave::Graded { status, result } => graded(case, *status, result),
    }
}

fn graded(case: &Case, status: CheckStatus, result: &Value) -> Outcome {
    let nested = case.out.get("result").and_then(Value::as_object);
    let expected = |name: &str| case.out.get(name).or_else(|| nested?.get(name));
    let Some(success) = expected("success").and_then(Value::as_bool) else {
        return Outcome::NotJudged("the case gives neither a verdict nor an error".to_owned());
    };
    if success == (status == CheckStatus::Fail) {
        let summary = result.get("summary").and_then(Value::as_str).unwrap_or_default();
        return Outcome::Verdict(format!("{}: {summary}", status.name()));
    }
    let samples: Vec<&Value> =
        result.get("samples").and_then(Value::as_array).into_iter().flatten().collect();
    if let Some(Value::Array(rows)) = expected("unexpected_index_list") {
        // They count rows from zero; we count them from one, as people do.
        let theirs: Vec<_> =
            rows.iter().filter_map(|row| Some(row.get("pk_index").unwrap_or(row).as_u64()? + 1)).collect();
        let ours: Vec<_> = samples.iter().filter_map(|row| row["key"]["row"].as_u64()).collect();
        if theirs != ours {
            return Outcome::Rows(format!("rows {ours:?} instead of {theirs:?}"));
        }
    }
    if let Some(Value::Array(values)) = expected("unexpected_list") {
        let columns = columns_of(case);
        let ours: Vec<Vec<Value>> = samples
            .iter()
            .map(|row| columns.iter().map(|name| row["values"][name].clone()).collect())
            .collect();
        let theirs: Vec<Vec<Value>> = values.iter().map(|value| parts(value, &columns)).collect();
        if ours.len() != theirs.len()
            || !ours.iter().flatten().zip(theirs.iter().flatten()).all(|(a, b)| same(a, b, NEAR))
        {
            return Outcome::Rows(format!("values {ours:?} instead of {theirs:?}"));
        }
    }
    if let (Some(theirs), Some(ours)) = (expected("observed_value"), result.get("observed")) {
        let theirs = theirs.get("values").unwrap_or(theirs);
        if !same_figure(ours, theirs, case.tolerance.unwrap_or(NEAR)) {
            return Outcome::Observed(format!("observed {ours} instead of {theirs}"));
        }
    }
    Outcome::Agrees
}

fn columns_of(case: &Case) -> Vec<String> {
    let Some(kwargs) = &case.kwargs else { return Vec::new() };
    if let Some(Value::Array(columns)) = kwargs.get("column_list") {
        return columns.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let names = ["column", "column_A", "column_B"].iter().filter_map(|name| kwargs.get(*name)?.as_str());
    names.map(str::to_owned).collect()
}

/// A failing value by column: one value, a list, or a map.
fn parts(value: &Value, columns: &[String]) -> Vec<Value> {
    match value {
        Value::Array(values) if columns.len() > 1 => values.clone(),
        Value::Object(map) if columns.len() > 1 => {
            columns.iter().map(|name| map.get(name).cloned().unwrap_or_default()).collect()
        }
        other => vec![other.clone()],
    }
}

/// Figures; lists without regard to their order, and a long list as far as ours goes.
fn same_figure(ours: &Value, theirs: &Value, tolerance: f64) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            let all_there = ours.iter().all(|our| theirs.iter().any(|their| same(our, their, tolerance)));
            all_there && (ours.len() == theirs.len() || ours.len() >= 20)
        }
        // Where they count columns, we name them.
        (Value::Array(ours), Value::Number(count)) => count.as_u64() == Some(ours.len() as u64),
        // Words for types are each tool's own.
        (_, Value::String(_)) => true,
        _ => same(ours, theirs, tolerance),
    }
}

fn same(ours: &Value, theirs: &Value, tolerance: f64) -> bool {
    if let (Some(ours), Some(theirs)) = (number(ours), number(theirs)) {
        return (ours - theirs).abs() <= tolerance * theirs.abs().max(1.0);
    }
    match (ours, theirs) {
        (Value::String(ours), Value::String(theirs)) => ours == theirs || time(ours) == time(theirs),
        _ => ours == theirs,
    }
}

/// A number, also one that is text because its column holds text.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => other.as_f64(),
    }
}

/// Points in time without what writers differ in.
fn time(text: &str) -> String {
    text.replace('T', " ")
        .trim_end_matches("+00:00")
        .trim_end_matches('Z')
        .trim_end_matches(" 00:00:00")
        .to_owned()
}
