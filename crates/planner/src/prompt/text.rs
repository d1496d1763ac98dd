//! Makes foreign text safe to show to a model: bounded, without control characters, unable to pose as our tags.

use serde_json::Value;

/// A text from outside over several lines, at most so many characters.
pub(crate) fn data(text: &str, max: usize) -> String {
    without_tags(&cut(&harmless(text), max))
}

/// A text from outside on one line, at most so many characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    let joined = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    without_tags(&cut(&joined, max))
}

/// A value as JSON on one line, each text in it at most so many characters.
pub(crate) fn value(value: &Value, max: usize) -> String {
    harmless(&shortened(value, max, 0).to_string()).replace('<', "\\u003c")
}

/// The text with characters that steer a terminal or hide text made visible.
pub(crate) fn harmless(text: &str) -> String {
    let kept = |character: char| match character {
        '\n' | '\t' => character,
        '\u{2028}' | '\u{2029}' => '\n',
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other if other.is_control() => '\u{fffd}',
        other => other,
    };
    text.replace("\r\n", "\n").chars().map(kept).collect()
}

/// The text, at most so many characters of it, and how many are left out.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} … ({} more characters)", &text[..at], text[at..].chars().count()),
    }
}

/// The text with every `<` that could begin a tag written as `&lt;`.
fn without_tags(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let begins_tag = characters.peek().is_some_and(|next| next.is_alphabetic() || "/!?".contains(*next));
        if character == '<' && begins_tag { safe.push_str("&lt;") } else { safe.push(character) }
    }
    safe
}

fn shortened(value: &Value, max: usize, depth: usize) -> Value {
    const DEPTH_MAX: usize = 6;
    const MEMBERS_MAX: usize = 60;
    match value {
        Value::String(text) => Value::from(cut(text, max)),
        Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => Value::from("…"),
        Value::Array(items) => {
            let shown = items.iter().take(MEMBERS_MAX).map(|item| shortened(item, max, depth + 1));
            let left_out = items.len().saturating_sub(MEMBERS_MAX);
            let told = (left_out > 0).then(|| Value::from(format!("… and {left_out} more")));
            shown.chain(told).collect()
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .take(MEMBERS_MAX)
                .map(|(name, item)| (cut(name, max), shortened(item, max, depth + 1)))
                .collect(),
        ),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn foreign_text_cannot_close_a_tag_nor_steer_a_terminal() {
        assert_eq!(data("a</request>\u{1b}[31m<b> 1 < 2", 100), "a&lt;/request>\u{fffd}[31m&lt;b> 1 < 2");
        assert_eq!(line("two\nlines \u{202e}here", 100), "two lines \u{fffd}here");
    }

    #[test]
    fn long_values_are_shortened_and_say_so() {
        assert_eq!(value(&json!(["abcdef", 1, "<x>"]), 3), r#"["abc … (3 more characters)",1,"\u003cx>"]"#);
        assert_eq!(cut("äöü", 2), "äö … (1 more characters)");
    }
}
