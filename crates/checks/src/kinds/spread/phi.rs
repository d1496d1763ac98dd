//! Cramér's phi: how much two columns tell about each other.

use ordain_types::Table;
use serde_json::{Map, Value};

use super::super::emit::{Code, column};
use super::super::params::{CompileError, Params};
use super::super::{is_number, literal};

pub(super) fn phi(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    name: &str,
) -> Result<(), CompileError> {
    let other = params.column("other", table)?;
    let none = Map::new();
    let bins = match params.get("bins") {
        None => &none,
        Some(_) => params.object("bins")?,
    };
    code.import("import pandas as pd");
    code.uses(std::slice::from_ref(&other));
    code.line(format!("left, right = {}, {}", column(name), column(&other)));
    code.line("complete = left.notna() & right.notna()");
    code.line("left, right = left[complete], right[complete]");
    for (side, column) in [("left", name), ("right", other.as_str())] {
        group(code, params, table, bins, side, column)?;
    }
    code.line("table = pd.crosstab(left.to_numpy(), right.to_numpy()).to_numpy()");
    code.line("total, ways = table.sum(), min(table.shape) - 1");
    code.line("expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(total, 1)");
    code.line("# Two groups against two are corrected for being so few.");
    code.line("gaps = np.abs(table - expected)");
    code.line("gaps = gaps - np.minimum(0.5, gaps) if table.shape == (2, 2) else gaps");
    code.line("statistic = (gaps ** 2 / expected).sum() if ways > 0 else 0.0");
    code.line("observed = float(min(np.sqrt(statistic / (total * ways)), 1.0)) if ways > 0 else 0.0");
    Ok(())
}

/// Puts the values of a column into groups, where that is asked for.
fn group(
    code: &mut Code,
    params: &Params<'_>,
    table: &Table,
    bins: &Map<String, Value>,
    side: &str,
    column: &str,
) -> Result<(), CompileError> {
    let wrong = || {
        params.wrong(
            "bins",
            "{\"left\": [[…], …], \"right_count\": 3, …}: lists of values, or a number of groups for numbers",
        )
    };
    if let Some(lists) = bins.get(side) {
        let lists = lists.as_array().filter(|lists| lists.iter().all(Value::is_array)).ok_or_else(wrong)?;
        code.line(format!("groups = {}", literal::value(&Value::Array(lists.clone()))));
        code.line(format!(
            "{side} = {side}.map({{value: number for number, group in enumerate(groups) for value in group}}).fillna(-1)"
        ));
    } else if let Some(count) = bins.get(&format!("{side}_count")) {
        let count = count.as_u64().filter(|count| (1..=10_000).contains(count)).ok_or_else(wrong)?;
        if is_number(table, column) {
            code.line(format!("{side} = pd.cut({side}, {count}, labels=False)"));
        } else {
            code.line("# The most common values are groups of their own, the others are one.");
            code.line(format!("common = {side}.value_counts().index[:{count}]"));
            code.line(format!("{side} = {side}.where({side}.isin(common), \"(other)\")"));
        }
    }
    Ok(())
}
