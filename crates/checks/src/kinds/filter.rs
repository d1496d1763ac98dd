//! Looks at a filter before it runs: a column is compared with values of its own type, or it is an error that names both.
//!
//! pandas finds a text unequal to every number and keeps no row, and a check of no rows passes.

use ordain_types::{ColumnType, Table};

use super::literal;
use super::params::CompileError;
use super::values::{times as times_of, type_words};

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Number(String),
    Text(String),
    /// What the caller of a run gives: `$day`.
    Variable(String),
    Comparison,
    Other,
}

/// Refuses a filter that compares a column of one type with a value of another.
pub(super) fn check(filter: &str, table: &Table) -> Result<(), CompileError> {
    let tokens = tokens(filter);
    for three in tokens.windows(3) {
        match three {
            [Token::Name(name), Token::Comparison, value] | [value, Token::Comparison, Token::Name(name)] => {
                compare(name, value, table)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The columns of a table that a filter or a formula names.
pub(super) fn columns(text: &str, table: &Table) -> Vec<String> {
    let names = tokens(text).into_iter().filter_map(|token| match token {
        Token::Name(name) => table.column(&name).map(|_| name),
        _ => None,
    });
    names.collect()
}

/// The variables that a filter names, without their sign. One that begins like another comes first.
pub fn variables(filter: &str) -> Vec<String> {
    let named = tokens(filter).into_iter().filter_map(|token| match token {
        Token::Variable(name) => Some(name),
        _ => None,
    });
    let mut named: Vec<String> = named.collect();
    named.sort_unstable_by(|one, other| other.cmp(one));
    named.dedup();
    named
}

/// A filter as an expression, its variables replaced by their values as Python writes them.
fn expression(filter: &str) -> String {
    let given = variables(filter).into_iter().map(|name| {
        let (sign, name) = (literal::text(&format!("${name}")), literal::text(&name));
        format!(".replace({sign}, repr(inputs[\"variables\"][{name}]))")
    });
    given.fold(literal::text(filter), |text, replaced| text + &replaced)
}

/// The lines that put the rows of a variable which meet a filter into another one. Its days are those of UTC, whether or not the points in
/// time of a column name a zone.
pub(super) fn lines(filter: &str, table: &Table, rows: &str, into: &str) -> Vec<String> {
    let is_time =
        |name: &String| table.column(name).is_some_and(|column| column.column_type == ColumnType::Timestamp);
    let text = expression(filter);
    let mut times: Vec<String> = columns(filter, table).into_iter().filter(is_time).collect();
    times.sort_unstable();
    times.dedup();
    if times.is_empty() {
        return vec![format!("{into} = {rows}.query({text})")];
    }
    // pandas compares a point in time that names a zone only with another one that does.
    let names_zone = |token: &Token| matches!(token, Token::Text(text) if has_zone(text));
    let plain = if tokens(filter).iter().any(names_zone) { "" } else { ".dt.tz_localize(None)" };
    let localised = times.iter().map(|name| {
        let name = literal::text(name);
        format!("timed[{name}] = {}{plain}", times_of(&format!("timed[{name}]")))
    });
    std::iter::once(format!("timed = {rows}.copy(deep=False)"))
        .chain(localised)
        .chain([format!("{into} = {rows}.loc[timed.query({text}).index]")])
        .collect()
}

/// Whether a point in time names its zone.
fn has_zone(text: &str) -> bool {
    let time = text.get("2024-01-01".len()..).unwrap_or_default();
    ordain_types::is_timestamp(text) && time.contains(['Z', '+', '-'])
}

fn compare(name: &str, value: &Token, table: &Table) -> Result<(), CompileError> {
    let Some(column) = table.column(name) else { return Ok(()) };
    let wrong = match (column.column_type, value) {
        (ColumnType::Text | ColumnType::Timestamp | ColumnType::Json, Token::Number(number)) => {
            format!("the number {number}")
        }
        (
            ColumnType::Integer | ColumnType::Real | ColumnType::Decimal | ColumnType::Boolean,
            Token::Text(text),
        ) => {
            format!("the text `{text}`")
        }
        _ => return Ok(()),
    };
    Err(CompileError::param(
        format!("its filter compares `{name}`, which holds {}, with {wrong}", type_words(column.column_type)),
        format!("correct the filter, or declare the column's type under `[data.{}.columns]`", table.name),
    ))
}

fn tokens(filter: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = filter.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        // A sign belongs to the number behind it.
        tokens.extend(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The token at the start of a text, and how many bytes it takes.
fn token(rest: &str, first: char) -> (Option<Token>, usize) {
    let until = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    if let Some(sign) = COMPARISONS.iter().find(|sign| rest.starts_with(**sign)) {
        return (Some(Token::Comparison), sign.len());
    }
    if first == '"' || first == '\'' || first == '`' {
        let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
        let inner = rest[1..end].trim_end_matches(first).to_owned();
        return (Some(if first == '`' { Token::Name(inner) } else { Token::Text(inner) }), end);
    }
    if first == '$' {
        let end =
            rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(rest.len(), |end| end + 1);
        return (Some(Token::Variable(rest[1..end].to_owned())), end);
    }
    if first.is_ascii_digit() {
        let end = until(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        return (Some(Token::Number(rest[..end].to_owned())), end);
    }
    if first.is_alphabetic() || first == '_' {
        let end = until(|c| c.is_alphanumeric() || c == '_');
        return (Some(Token::Name(rest[..end].to_owned())), end);
    }
    let length = first.len_utf8();
    (if first == '-' || first == '+' { None } else { Some(Token::Other) }, length)
}

#[cfg(test)]
mod tests {
    use ordain_types::Column;

    use super::*;

    #[track_caller]
    fn refused(filter: &str) -> Option<String> {
        let column = |name: &str, column_type| Column {
            name: name.to_owned(),
            column_type,
            nullable: true,
            hidden: false,
        };
        let columns = vec![
            column("city", ColumnType::Text),
            column("units sold", ColumnType::Integer),
            column("at", ColumnType::Timestamp),
        ];
        let table = Table { name: "t".to_owned(), columns, ..Table::default() };
        check(filter, &table).err().map(|error| error.to_string())
    }

    #[test]
    fn a_filter_that_compares_text_with_a_number_is_an_error_that_names_both() {
        assert_eq!(
            refused("city == 5").unwrap(),
            "its filter compares `city`, which holds text, with the number 5"
        );
        assert!(refused("`units sold` > 3 and -2.5 < city").unwrap().contains("the number 2.5"));
        assert!(refused("`units sold` != 'x'").unwrap().contains("the text `x`"));
        assert!(refused("at > 2024").unwrap().contains("points in time"));
    }

    #[test]
    fn filters_of_the_right_types_pass() {
        for filter in [
            "city == 'Bern' and `units sold` >= 5",
            "at >= '2024-01-01'",
            "city.isin(['a', 'b'])",
            "unknown == 5",
            "city == other",
        ] {
            assert_eq!(refused(filter), None, "{filter}");
        }
    }
}
