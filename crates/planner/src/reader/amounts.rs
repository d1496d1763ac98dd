//! Amounts of a request beside those of the tables: another currency is not converted, and a number that can be read in
//! two ways is not taken in one of them.

use std::collections::BTreeSet;

use super::explain::Unknown;
use super::index::{Column, Index, Sort, What, split_name};
use super::token::{Kind, Number, Token, Unit, currency};

/// Currencies that are called dollars.
const DOLLARS: [&str; 6] = ["USD", "CAD", "AUD", "NZD", "SGD", "HKD"];

/// The first amount of a request that cannot be taken as it is written, and why.
pub(super) fn problem(index: &Index, tokens: &[Token]) -> Option<Unknown> {
    let found = tokens.iter().enumerate().filter(|(at, _)| !is_name(index, tokens, *at));
    found.into_iter().find_map(|(_, token)| {
        let reason = match token.kind {
            Kind::Unclear(_) if !is_fraction(index, tokens, token) => two_ways(&token.text),
            Kind::Number(_) if token.text.matches(',').count() == 1 && !token.text.contains('.') => {
                commas(index, tokens).any(|is_comma| is_comma).then(|| two_ways(&token.text))?
            }
            Kind::Number(number) | Kind::Unclear(number) => foreign(index, tokens, &number)?,
            _ => return None,
        };
        Some(Unknown::because(token, &reason))
    })
}

/// The first percent of a question about a column that has none: whether 50% is 50 or 0.5 there is not known.
pub(super) fn percent(index: &Index, tokens: &[Token]) -> Option<Unknown> {
    let said =
        tokens.iter().find(|token| matches!(token.kind, Kind::Number(Number { unit: Unit::Percent, .. })))?;
    let named = (0..tokens.len()).flat_map(|at| index.at(tokens, at)).find_map(|(what, ..)| match what {
        What::Column(table, column) => Some(&index.tables[table].columns[column]),
        _ => None,
    })?;
    let is_plain = matches!(named.sort, Sort::Number | Sort::Whole) && named.unit.as_deref() != Some("%");
    let reason = format!(
        "{} has no percents: write {} as its values are written, without the mark",
        named.name, said.text
    );
    is_plain.then(|| Unknown::because(said, &reason))
}

/// Whether a number is part of a name: `Rioja 1,5 l`.
fn is_name(index: &Index, tokens: &[Token], at: usize) -> bool {
    !index.at(tokens, at).is_empty() || super::is_within(index, tokens, at)
}

fn two_ways(text: &str) -> String {
    let number: String = text.chars().filter(|sign| sign.is_ascii_digit() || ",.".contains(*sign)).collect();
    let whole = number.replace([',', '.'], "");
    if let Some((one, two)) =
        number.rsplit_once([',', '.']).filter(|_| number.contains('.') && number.contains(','))
    {
        return format!("“{number}” is not read as a number: write {}.{two}", one.replace([',', '.'], ""));
    }
    match number.split_once(',') {
        Some((one, two)) if two.len() != 3 => {
            format!("“{number}” can be read in two ways: write {one}.{two}, or “{one} and {two}”")
        }
        _ => format!(
            "“{number}” can be read in two ways: write {whole} without a mark, or a fraction with a point and not three digits after it"
        ),
    }
}

/// Whether a number that can be read in two ways is a fraction here: the tables in question write fractions with a comma,
/// or it is a calculation, which is written with a point.
pub(super) fn is_fraction(index: &Index, tokens: &[Token], token: &Token) -> bool {
    if token.text.contains(',') {
        return !index.tables.is_empty() && commas(index, tokens).all(|is_comma| is_comma);
    }
    index.tables.is_empty() && !token.text.ends_with('0')
}

/// Whether each table writes fractions with a comma that a request names by itself or by a column; where it names none, of
/// all tables. How one table writes its numbers says nothing about another one.
fn commas(index: &Index, tokens: &[Token]) -> impl Iterator<Item = bool> {
    let named: BTreeSet<usize> = (0..tokens.len())
        .flat_map(|at| index.at(tokens, at))
        .filter_map(|(what, ..)| match what {
            What::Table(table) | What::Column(table, _) | What::Value(table, ..) => Some(table),
            _ => None,
        })
        .collect();
    let is_meant = move |place: &usize| named.is_empty() || named.contains(place);
    (0..index.tables.len()).filter(is_meant).map(|place| index.tables[place].commas)
}

/// What is said about an amount in a currency that the tables, or a column that the request names, do not have.
fn foreign(index: &Index, tokens: &[Token], number: &Number) -> Option<String> {
    let Unit::Money(said) = number.unit else { return None };
    let known: Vec<(&Column, String)> = index
        .tables
        .iter()
        .flat_map(|table| &table.columns)
        .filter_map(|column| Some((column, currency_of(column)?)))
        .collect();
    let named = (0..tokens.len()).flat_map(|at| index.at(tokens, at)).find_map(|(what, ..)| match what {
        What::Column(table, column) => {
            let column = &index.tables[table].columns[column];
            currency_of(column).filter(|own| !is_one(said, own)).map(|own| (column.name.clone(), own))
        }
        _ => None,
    });
    let is_known = known.is_empty() || known.iter().any(|(_, own)| is_one(said, own));
    let first = known.first().filter(|_| !is_known).map(|(_, own)| ("Money here".to_owned(), own.clone()));
    let (what, own) = named.or(first)?;
    Some(format!("{what} is in {own} and the request says {said}: I do not convert currencies"))
}

/// Whether a column is in the currency of a number, as far as both are known.
pub(super) fn is_same(column: &Column, number: &Number) -> bool {
    let Unit::Money(said) = number.unit else { return true };
    currency_of(column).is_none_or(|own| is_one(said, &own))
}

fn is_one(said: &str, own: &str) -> bool {
    let is_dollar = |one: &str, other: &str| one == "dollar" && DOLLARS.contains(&other);
    said == own || is_dollar(said, own) || is_dollar(own, said)
}

/// The currency sign to print in front of an amount of the column.
pub(super) fn sign(column: &Column) -> String {
    match currency_of(column).as_deref() {
        Some("USD" | "dollar") => "$".to_owned(),
        Some("EUR") => "€".to_owned(),
        Some("GBP") => "£".to_owned(),
        Some(code) => format!("{code} "),
        None => String::new(),
    }
}

/// The currency of a column: that of its unit, or the one that its name says.
pub(super) fn currency_of(column: &Column) -> Option<String> {
    let of_unit = column.unit.as_deref().and_then(|unit| {
        let is_code = unit.len() == 3 && unit.bytes().all(|byte| byte.is_ascii_uppercase());
        currency(&unit.to_lowercase()).map(str::to_owned).or_else(|| is_code.then(|| unit.to_owned()))
    });
    let words = split_name(&column.name);
    // A pound in a name is rather a weight.
    let mut named = words.iter().filter(|word| !word.starts_with("pound")).filter_map(|word| currency(word));
    of_unit.or_else(|| named.next().map(str::to_owned))
}
