//! The kind `distribution`: whether a column's values are spread as a reference is.

use ordain_types::{Schema, Table};
use serde_json::{Map, Value};

use super::emit::{Code, column};
use super::literal;
use super::params::{self, CompileError, Params};

/// A column's values are spread as a reference is.
pub(super) fn distribution(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    schema: &Schema,
) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    params.need("test")?;
    let test = params.choice("test", &["psi", "kl", "chi_square", "ks"])?;
    let max = params.number("max")?.ok_or_else(|| {
        CompileError::param(
            "`distribution` needs the parameter `max`",
            "give the largest distance that is allowed",
        )
    })?;
    let reference = params.object("reference")?;
    code.import("import numpy as np");
    code.uses(std::slice::from_ref(&name));
    code.line(format!("values = {}.dropna()", column(&name)));
    if test == "ks" {
        two_samples(code, params, schema, reference)?;
    } else {
        shares(code, params, schema, reference)?;
        code.line("# A small share stands for what one side never has.");
        code.line("actual, expected = np.maximum(actual, 1e-6), np.maximum(expected, 1e-6)");
        code.line(match test {
            "psi" => "observed = float(((actual - expected) * np.log(actual / expected)).sum())",
            "kl" => "observed = float((actual * np.log(actual / expected)).sum())",
            _ => "observed = float(len(values) * ((actual - expected) ** 2 / expected).sum())",
        });
    }
    code.line(format!("holds = observed <= {max}"));
    code.step(format!("measure how far `{name}` is from the reference, by {test}"));
    let summary = format!(
        "the {test} distance of {} is {{observed:.4g}}; at most {max} expected",
        literal::spoken(&name)
    );
    code.end_with_verdict(&format!("`{name}` must be spread as the reference is"), &summary);
    Ok(())
}

/// The largest gap between two cumulative distributions.
fn two_samples(
    code: &mut Code,
    params: &Params<'_>,
    schema: &Schema,
    reference: &Map<String, Value>,
) -> Result<(), CompileError> {
    column_reference(code, params, schema, reference)?;
    code.line("grid = np.union1d(values, reference)");
    code.line("ours = np.searchsorted(np.sort(values), grid, side=\"right\") / max(len(values), 1)");
    code.line("theirs = np.searchsorted(np.sort(reference), grid, side=\"right\") / max(len(reference), 1)");
    code.line("observed = float(np.abs(ours - theirs).max()) if len(grid) else 0.0");
    Ok(())
}

/// The share of each value or bin, here and in the reference.
fn shares(
    code: &mut Code,
    params: &Params<'_>,
    schema: &Schema,
    reference: &Map<String, Value>,
) -> Result<(), CompileError> {
    let list = |name: &str| reference.get(name).and_then(Value::as_array);
    let wrong = || {
        params.wrong("reference", "{\"values\": […], \"weights\": […]}, {\"bins\": […], \"weights\": […]} or {\"table\": …, \"column\": …}")
    };
    let literal_of = |items: &[Value]| literal::value(&Value::Array(items.to_vec()));
    match (list("values"), list("bins"), list("weights")) {
        (Some(known), None, Some(weights)) if known.len() == weights.len() && !known.is_empty() => {
            code.line(format!("known = {}", literal_of(known)));
            code.line(format!("expected = np.array({}, dtype=float)", literal_of(weights)));
            code.line("shares = values.value_counts(normalize=True)");
            code.line("actual = np.array([shares.get(value, 0.0) for value in known])");
        }
        (None, Some(bins), Some(weights)) if bins.len() == weights.len() + 1 && !weights.is_empty() => {
            code.line(format!("bins = {}", literal_of(bins)));
            code.line(format!("expected = np.array({}, dtype=float)", literal_of(weights)));
            code.line("counts, _ = np.histogram(values, bins=bins)");
            code.line("actual = counts / max(len(values), 1)");
        }
        (None, None, None) => {
            column_reference(code, params, schema, reference)?;
            code.line("theirs = reference.value_counts(normalize=True)");
            code.line("shares = values.value_counts(normalize=True)");
            code.line("known = sorted(set(theirs.index) | set(shares.index), key=str)");
            code.line("expected = np.array([theirs.get(value, 0.0) for value in known])");
            code.line("actual = np.array([shares.get(value, 0.0) for value in known])");
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

fn column_reference(
    code: &mut Code,
    params: &Params<'_>,
    schema: &Schema,
    reference: &Map<String, Value>,
) -> Result<(), CompileError> {
    let text = |name: &str| reference.get(name).and_then(Value::as_str);
    let (Some(table), Some(name)) = (text("table"), text("column")) else {
        return Err(params.wrong("reference", "{\"table\": …, \"column\": …}"));
    };
    let other = params::table(schema, table)?;
    params::column_of(other, name)?;
    code.load("other", &other.name);
    code.uses_of(&other.name, &[name.to_owned()]);
    code.line(format!("reference = other[{}].dropna()", literal::text(name)));
    Ok(())
}
