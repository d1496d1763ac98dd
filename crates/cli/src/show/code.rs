//! Python code in colours: enough of a lexer to tell comments, texts, numbers and keywords apart.

use std::io::{self, Write};

use super::{Colour, coloured, lines};

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Writes code with line numbers.
pub(crate) fn write(out: &mut impl Write, code: &str, indent: &str) -> io::Result<()> {
    let mut open = None;
    for (index, text) in lines(code).lines().enumerate() {
        let (shown, still_open) = line(text, open);
        open = still_open;
        writeln!(out, "{indent}{}  {shown}", coloured(Colour::Dim, &format!("{:>3}", index + 1)))?;
    }
    Ok(())
}

/// One line in colours, and the quotes that are still open at its end.
fn line(text: &str, mut open: Option<&'static str>) -> (String, Option<&'static str>) {
    let mut shown = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (colour, length) = if let Some(quotes) = open {
            let length = end_of_text(rest, quotes);
            open = if length.is_some() { None } else { Some(quotes) };
            (Some(Colour::Green), length.unwrap_or(rest.len()))
        } else if rest.starts_with('#') {
            (Some(Colour::Dim), rest.len())
        } else if let Some(quotes) = opening(rest) {
            let inside = &rest[quotes.len()..];
            let length = end_of_text(inside, quotes).map(|length| length + quotes.len());
            // Only a text in three quotes goes on in the next line.
            open = if length.is_none() && quotes.len() == 3 { Some(quotes) } else { None };
            (Some(Colour::Green), length.unwrap_or(rest.len()))
        } else {
            word(rest)
        };
        let part = &rest[..length];
        shown.push_str(&colour.map_or_else(|| part.to_owned(), |colour| coloured(colour, part)));
        rest = &rest[length..];
    }
    (shown, open)
}

fn opening(text: &str) -> Option<&'static str> {
    ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| text.starts_with(quotes))
}

fn end_of_text(text: &str, quotes: &str) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            at += 1 + escaped.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with(quotes) {
            return Some(at + quotes.len());
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

fn word(text: &str) -> (Option<Colour>, usize) {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let length = text.find(|character| !is_part(character)).unwrap_or(text.len());
    if length == 0 {
        return (None, text.chars().next().map_or(1, char::len_utf8));
    }
    let colour = if text.starts_with(|character: char| character.is_ascii_digit()) {
        Some(Colour::Yellow)
    } else {
        KEYWORDS.contains(&&text[..length]).then_some(Colour::Bold)
    };
    (colour, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_the_code_is_shown_once() {
        for text in ["x = f'a {b}' # c", "s = \"\"\"open", "'it\\'s' + \"ü\"", "", "a'unclosed", "\\"] {
            assert_eq!(line(text, None).0, text);
        }
    }

    #[test]
    fn a_text_in_three_quotes_goes_on_in_the_next_line() {
        let (_, open) = line("s = '''one", None);
        assert_eq!(open, Some("'''"));
        assert_eq!(line("two''' + x", open).1, None);
    }
}
