//! Text of others, so that a person sees what it is.
//!
//! Characters that end a line, move the cursor, turn the direction or have no shape of their own let one text pass for
//! another. Here each is written as an escape, so that two texts that differ look different.

use std::fmt::Write as _;

/// The text on one line, with every character escaped that cannot be seen as itself.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

/// Whether a character has no shape of its own, or changes how others are shown.
fn is_hidden(character: char) -> bool {
    let is_odd_space = character.is_whitespace() && character != ' ';
    character.is_control()
        || is_odd_space
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn text_that_moves_or_hides_is_escaped_and_plain_text_stays() {
        assert_eq!(visible("Größe 5 µm 日本 🙂"), "Größe 5 µm 日本 🙂");
        assert_eq!(visible("a\x1b[2Jb\u{9b}c\r\nstate\tok"), "a\\u{1b}[2Jb\\u{9b}c\\r\\nstate\\tok");
        for (one, other) in
            [("a b", "a\u{a0}b"), ("ab", "a\u{200b}b"), ("ab", "\u{202e}ba"), ("x", "x\u{e0041}")]
        {
            assert_ne!(visible(one), visible(other));
            assert!(visible(other).is_ascii());
        }
    }
}
