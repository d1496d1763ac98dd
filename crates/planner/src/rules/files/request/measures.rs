//! What a question computes with: a column of numbers, or a quantity times a price.

use super::super::catalog::Column;
use super::super::lexicon::{PRICES, QUANTITIES, REVENUES, find, says};
use super::super::question::{Function, Group, Measure};
use super::tasks::{SHOW, named};
use super::{Reading, is_id};

/// What is done with a measure when nothing is said: prices are averaged, the rest is added up.
pub(super) fn usual(reading: &Reading<'_>, measure: Option<&Measure>) -> Function {
    match measure {
        None => Function::Count,
        Some(Measure::Column(name)) => {
            let parts =
                reading.columns.iter().find(|column| column.name == *name).map(|column| &column.parts);
            let is_rate = parts.is_some_and(|parts| {
                parts.iter().any(|part| {
                    matches!(
                        part.as_str(),
                        "price" | "rate" | "score" | "rating" | "age" | "temperature" | "percent"
                    )
                })
            });
            if is_rate { Function::Mean } else { Function::Sum }
        }
        Some(Measure::Product { .. }) => Function::Sum,
    }
}

/// What “how many …” means for the thing that is named after it.
pub(super) fn counted(reading: &Reading<'_>, groups: &[Group], measure: &mut Option<Measure>) -> Function {
    let after = ["how many", "number of", "count of", "count the", "count"]
        .iter()
        .find_map(|entry| find(reading.words, entry));
    let thing = after.map(|(_, end)| end).filter(|&at| at < reading.words.len());
    let is_grouped = |name: &str| groups.iter().any(|group| group.name() == name);
    if let Some(at) = thing {
        let skip =
            usize::from(matches!(reading.words[at].lower.as_str(), "distinct" | "unique" | "different"));
        if let Some(mention) =
            reading.after(at + skip, |_| true).filter(|mention| !reading.used[mention.start])
        {
            let column = &reading.columns[mention.column];
            let is_quantity = column.parts.iter().any(|part| QUANTITIES.contains(&part.as_str()));
            if Reading::is_measure(column) && is_quantity {
                *measure = Some(Measure::Column(column.name.clone()));
                return Function::Sum;
            }
            let is_table = reading.table_words.contains(&reading.words[at + skip].stem) && !is_id(column);
            if (Reading::is_category(column) || is_id(column)) && !is_table && !is_grouped(&column.name) {
                *measure = Some(Measure::Column(column.name.clone()));
                return Function::CountDistinct;
            }
        }
    }
    if says(reading.words, &["sold", "bought", "ordered", "shipped"])
        && thing.is_some_and(|at| !reading.table_words.contains(&reading.words[at].stem))
        && let Some(name) = quantity(reading, &QUANTITIES)
    {
        *measure = Some(Measure::Column(name));
        return Function::Sum;
    }
    *measure = None;
    Function::Count
}

/// What is computed with: a number column that is named and has no other role, or the revenue.
pub(super) fn measure(reading: &Reading<'_>, groups: &[Group]) -> Option<Measure> {
    let is_group = |name: &str| groups.iter().any(|group| group.column() == name);
    let named = named(reading, Reading::is_measure);
    let strong = |name: &String| {
        reading
            .mentions
            .iter()
            .any(|mention| mention.strength > 1 && reading.columns[mention.column].name == **name)
    };
    if let Some(name) = named.iter().find(|name| strong(name) && !is_group(name) && is_number(reading, name))
    {
        return Some(Measure::Column(name.clone()));
    }
    let product = says(reading.words, &REVENUES).then(|| product(reading)).flatten();
    let weak = named.into_iter().find(|name| !is_group(name) && is_number(reading, name));
    let sold = says(reading.words, &["selling", "sold"]).then(|| quantity(reading, &QUANTITIES)).flatten();
    product.or(weak.map(Measure::Column)).or(sold.map(Measure::Column))
}

pub(super) fn is_number(reading: &Reading<'_>, name: &str) -> bool {
    reading.columns.iter().any(|column| column.name == name && Reading::is_measure(column))
}

pub(super) fn quantity(reading: &Reading<'_>, names: &[&str]) -> Option<String> {
    let is_so = |column: &&Column| {
        Reading::is_measure(column) && column.parts.last().is_some_and(|part| names.contains(&part.as_str()))
    };
    let starts = |column: &&Column| {
        Reading::is_measure(column) && column.parts.iter().any(|part| names.contains(&part.as_str()))
    };
    let found = reading.columns.iter().find(is_so).or_else(|| reading.columns.iter().find(starts));
    found.map(|column| column.name.clone())
}

/// A quantity times a price, where the table has both and no column of its own for it.
pub(super) fn product(reading: &Reading<'_>) -> Option<Measure> {
    let word = reading.words.iter().find(|word| REVENUES.contains(&word.stem.as_str()))?;
    let has_own = reading.columns.iter().any(|column| {
        Reading::is_measure(column)
            && column
                .parts
                .iter()
                .any(|part| REVENUES.contains(&part.as_str()) || matches!(part.as_str(), "amount" | "total"))
    });
    if has_own {
        return None;
    }
    let price = quantity(reading, &PRICES)?;
    let left = reading
        .columns
        .iter()
        .find(|column| {
            Reading::is_measure(column)
                && column.name != price
                && column.parts.iter().any(|part| QUANTITIES.contains(&part.as_str()))
        })?
        .name
        .clone();
    let name = if reading.columns.iter().any(|column| column.name == word.lower) {
        "computed_revenue"
    } else {
        &word.lower
    };
    Some(Measure::Product { name: name.to_owned(), left, right: price })
}

/// The price for “cheapest” and “most expensive”, the date for “latest”, else what is named.
pub(super) fn extreme_measure(reading: &Reading<'_>, named: Option<Measure>) -> Option<Measure> {
    if says(reading.words, &["cheapest", "most expensive", "least expensive", "dearest"]) {
        return named.or_else(|| quantity(reading, &PRICES).map(Measure::Column));
    }
    if says(reading.words, &["latest", "newest", "earliest", "most recent"]) {
        return reading.date_column().map(Measure::Column);
    }
    named
}

/// Whether the row itself is wanted and not only the number: something else than the number is named or asked for.
pub(super) fn wants_row(reading: &Reading<'_>) -> bool {
    let asks = says(reading.words, &["which", "who", "row", "order", "record", "entry", "item"])
        || says(reading.words, &SHOW);
    let has_adjective = says(
        reading.words,
        &[
            "cheapest",
            "most expensive",
            "least expensive",
            "dearest",
            "latest",
            "newest",
            "earliest",
            "most recent",
        ],
    );
    asks || has_adjective || !named(reading, Reading::is_category).is_empty()
}

pub(super) fn only_measure(
    reading: &Reading<'_>,
    groups: &[Group],
    function: Function,
) -> Result<Measure, String> {
    if function == Function::CountDistinct {
        let column = named(reading, |_| true).into_iter().next();
        return column.map(Measure::Column).ok_or_else(|| {
            format!("Of which column shall different values be counted: {}?", choices(reading))
        });
    }
    if let Some(product) = product(reading) {
        return Ok(product);
    }
    match sole(reading) {
        Ok(name) if !groups.iter().any(|group| group.column() == name) => Ok(Measure::Column(name)),
        _ => Err(format!("Of which column do you want the {}: {}?", function.word(), choices(reading))),
    }
}

/// The one number column of the table.
pub(super) fn sole(reading: &Reading<'_>) -> Result<String, ()> {
    let mut numbers = reading.columns.iter().filter(|column| Reading::is_measure(column));
    match (numbers.next(), numbers.next()) {
        (Some(one), None) => Ok(one.name.clone()),
        _ => Err(()),
    }
}

pub(super) fn choices(reading: &Reading<'_>) -> String {
    let numbers: Vec<&str> = reading
        .columns
        .iter()
        .filter(|column| Reading::is_measure(column))
        .take(8)
        .map(|column| column.name.as_str())
        .collect();
    if numbers.is_empty() { "the table has no column of numbers".to_owned() } else { numbers.join(", ") }
}
