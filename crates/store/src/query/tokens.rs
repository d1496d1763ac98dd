//! Splits SQL into tokens, strictly: what could be read in two ways is refused.
//!
//! The statement that is sent is put together again from these tokens, without comments, so that the database
//! reads what was checked.

/// One token of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword or an unquoted name, as written.
    Word(String),
    /// A name in double quotes, without them.
    Quoted(String),
    /// Text in single quotes, without them.
    Text(String),
    /// A number.
    Number(String),
    /// `?`, `$1` or `:name`.
    Param(Param),
    /// One character of punctuation, or `::`.
    Symbol(&'static str),
}

/// A place for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Param {
    /// The next one.
    Next,
    /// By its place, counted from one.
    Numbered(usize),
    /// By its name.
    Named(String),
}

const SYMBOLS: [&str; 24] = [
    "::", "(", ")", ",", ".", ";", "+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "|", "&", "^", "#", "@",
    "[", "]", ":",
];

/// A statement in tokens.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    /// Whether each token follows the one before it without a space. Two minus signs that were apart must stay so:
    /// together they begin a comment.
    pub(crate) adjacent: Vec<bool>,
}

/// Splits a statement. The error says what is not understood.
pub(crate) fn tokens(sql: &str) -> Result<Tokens, String> {
    let mut rest = sql;
    let mut tokens = Tokens::default();
    let mut adjacent = false;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            adjacent = false;
        } else if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            adjacent = false;
        } else if rest.starts_with("/*") {
            rest = after_comment(rest)?;
            adjacent = false;
        } else {
            let (token, length) = token(rest, first)?;
            tokens.list.push(token);
            tokens.adjacent.push(adjacent);
            adjacent = true;
            rest = &rest[length..];
        }
    }
    Ok(tokens)
}

/// A block comment must not hold another: PostgreSQL nests them, SQLite does not.
fn after_comment(rest: &str) -> Result<&str, String> {
    let end = rest.find("*/").ok_or("a comment that does not end")?;
    if rest[2..end].contains("/*") {
        return Err("a comment within a comment".to_owned());
    }
    Ok(&rest[end + 2..])
}

fn token(rest: &str, first: char) -> Result<(Token, usize), String> {
    match first {
        '\'' => quoted(rest, '\'').map(|(text, length)| (Token::Text(text), length)),
        '"' => quoted(rest, '"').map(|(name, length)| (Token::Quoted(name), length)),
        '?' => Ok((Token::Param(Param::Next), 1)),
        '$' => {
            let digits = length_of(&rest[1..], |c| c.is_ascii_digit());
            let number = rest[1..=digits].parse().map_err(|_| "`$` that is not followed by a number")?;
            Ok((Token::Param(Param::Numbered(number)), digits + 1))
        }
        ':' if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
            let length = length_of(&rest[1..], is_word);
            Ok((Token::Param(Param::Named(rest[1..=length].to_owned())), length + 1))
        }
        _ if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) =>
        {
            number(rest)
        }
        _ if first.is_alphabetic() || first == '_' => word(rest),
        _ => SYMBOLS
            .iter()
            .find(|symbol| rest.starts_with(**symbol))
            .map(|symbol| (Token::Symbol(symbol), symbol.len()))
            .ok_or_else(|| format!("the character `{first}`")),
    }
}

fn word(rest: &str) -> Result<(Token, usize), String> {
    let length = length_of(rest, is_word);
    let (word, after) = rest.split_at(length);
    // `E'…'`, `x'…'`, `U&'…'` and the like follow rules of their own.
    if after.starts_with('\'') || after.starts_with("&'") || after.starts_with("&\"") {
        return Err(format!("text with the prefix `{word}`"));
    }
    Ok((Token::Word(word.to_owned()), length))
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let mut length = length_of(rest, |c| c.is_ascii_digit() || c == '.');
    if rest[length..].starts_with(['e', 'E']) {
        let exponent = &rest[length + 1..];
        let sign = usize::from(exponent.starts_with(['+', '-']));
        length += 1 + sign + length_of(&exponent[sign..], |c| c.is_ascii_digit());
    }
    let (number, after) = rest.split_at(length);
    if after.starts_with(is_word) || number.parse::<f64>().is_err() {
        return Err(format!("the number `{number}`"));
    }
    Ok((Token::Number(number.to_owned()), length))
}

/// Text up to the closing quote; a doubled quote stands for one.
fn quoted(rest: &str, quote: char) -> Result<(String, usize), String> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == '\0' {
            return Err("a NUL character".to_owned());
        }
        if char != quote {
            text.push(char);
        } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
            text.push(quote);
            chars.next();
        } else {
            return Ok((text, at + 1));
        }
    }
    Err(format!("a {quote} that is not closed"))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn length_of(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_comments_and_parameters_are_told_apart() {
        let split =
            tokens("SELECT 'it''s -- no', \"a\"\"b\", ? /* ? */ FROM t -- ?\n WHERE x = :x AND y::int > $2")
                .unwrap()
                .list;
        let params = split.iter().filter(|token| matches!(token, Token::Param(_))).count();
        assert_eq!(params, 3);
        assert!(split.contains(&Token::Text("it's -- no".to_owned())));
        assert!(split.contains(&Token::Quoted("a\"b".to_owned())));
        assert!(split.contains(&Token::Symbol("::")));
    }

    #[test]
    fn what_the_two_databases_read_differently_is_refused() {
        for sql in [
            "E'\\''",
            "U&\"x\"",
            "$tag$ text $tag$",
            "'open",
            "/* /* */ */",
            "/* open",
            "x'00'",
            "1abc",
            "\u{0}",
        ] {
            assert!(tokens(sql).is_err(), "{sql}");
        }
    }
}
