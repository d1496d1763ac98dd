//! Terms with a formula: `sum(units * unit_price)`.

use super::form::{Cond, Measure, Path};
use super::formula;
use super::index::Index;

/// What a metric measures on a table, and the rows that count; `None` if it is about another table or not understood.
pub(crate) fn measure(index: &Index, table: usize, which: usize) -> Option<(Measure, Option<Cond>)> {
    let metric = &index.catalog.metrics[which];
    if index.tables[table].name != metric.table {
        return None;
    }
    let measure = figure(index, table, &metric.formula)?;
    let filter = match &metric.filter {
        Some(text) => Some(formula::condition(index, table, text)?),
        None => None,
    };
    Some((measure, filter))
}

/// `sum(units * unit_price)`, or two such figures with `/` or `-` between them.
fn figure(index: &Index, table: usize, formula: &str) -> Option<Measure> {
    let pair = formula.match_indices(['/', '-']).find(|(at, _)| formula[..*at].trim_end().ends_with(')'));
    match pair {
        Some((at, sign)) => {
            let both = (one(index, table, &formula[..at])?, one(index, table, &formula[at + 1..])?);
            Some(Measure::Pair(Box::new(both), sign.chars().next()?))
        }
        None => one(index, table, formula),
    }
}

fn one(index: &Index, table: usize, formula: &str) -> Option<Measure> {
    let (function, inner) = formula.trim().strip_suffix(')')?.split_once('(')?;
    let path = |name: &str| {
        let column = index.tables[table].columns.iter().position(|column| column.name == name.trim())?;
        Some(Path { hops: Vec::new(), table, column })
    };
    Some(match (function.trim(), inner.trim()) {
        ("count", _) => Measure::Count,
        ("sum", product) if product.contains('*') => {
            let (left, right) = product.split_once('*')?;
            Measure::Product("sum", path(left)?, path(right)?)
        }
        ("sum", column) => Measure::Of("sum", path(column)?),
        ("avg", column) => Measure::Of("avg", path(column)?),
        ("min", column) => Measure::Of("min", path(column)?),
        ("max", column) => Measure::Of("max", path(column)?),
        _ => return None,
    })
}
