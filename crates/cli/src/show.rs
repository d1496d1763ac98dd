//! Shows rows, diffs and runs to people.
//!
//! What is shown came from plans, data and requests, so nothing of it may steer the terminal: control characters are
//! written out, and long texts are cut.

pub(crate) mod code;
pub(crate) mod diff;
pub(crate) mod grid;
pub(crate) mod progress;
pub(crate) mod rows;
pub(crate) mod run;

use std::io::IsTerminal as _;

use serde_json::Value;

/// A value as a cell of a table.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => line(text),
        other => line(&other.to_string()),
    }
}

/// Text on one line, with nothing in it that a terminal would obey or hide.
pub(crate) use ordain_types::visible as line;

/// Text of several lines, with nothing in it that a terminal would obey.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(|text| line(&text.replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}

/// Text of several lines behind a word: the lines that follow stand below it, where no line of ours begins.
pub(crate) fn behind(word: &str, text: &str) -> String {
    let indent = " ".repeat(word.chars().count());
    format!("{word}{}", lines(text).replace('\n', &format!("\n{indent}")))
}

/// Text cut to a width, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// A colour, where the output is a terminal that wants colours.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Green,
    Red,
    Yellow,
    Bold,
    Dim,
}

/// Text in a colour, if colours are wanted on stdout.
pub(crate) fn coloured(colour: Colour, text: &str) -> String {
    tinted(colour, text, std::io::stdout().is_terminal())
}

/// Text in a colour, if it goes to a terminal that wants colours.
pub(crate) fn tinted(colour: Colour, text: &str, is_terminal: bool) -> String {
    let wanted = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if !wanted || text.is_empty() {
        return text.to_owned();
    }
    let code = match colour {
        Colour::Green => "32",
        Colour::Red => "31",
        Colour::Yellow => "33",
        Colour::Bold => "1",
        Colour::Dim => "2",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_is_shown_can_steer_the_terminal() {
        assert_eq!(cell(&json!("a\u{1b}[2Jb\nc\u{202e}d\u{200b}")), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{200b}");
        assert_eq!(lines("a\tb\r\nc\u{7}"), "a    b\nc\\u{7}");
        assert_eq!(behind("answer   ", "a\nstate    committed"), "answer   a\n         state    committed");
        for odd in
            ["\u{85}", "\u{b}", "\u{c}", "\u{2028}", "\u{2029}", "\r", "\u{9b}2J", "\u{2066}", "\u{fe0f}"]
        {
            let shown = behind("error    ", &format!("a{odd}state    committed"));
            assert_eq!(shown.lines().count(), 1, "{shown}");
            assert!(shown.is_ascii() && !shown.contains(odd), "{shown}");
        }
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
