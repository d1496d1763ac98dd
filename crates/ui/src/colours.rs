//! Which pieces of Python are comments, texts, numbers and keywords.
//!
//! A scanner and no parser: code that was refused must be shown as well, however it is nested or broken, and a wrong
//! colour harms nobody.

use std::ops::Range;

/// A piece of the code, and the class that colours it.
pub(crate) type Span = (Range<usize>, &'static str);

const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with",
];
const CONSTANTS: [&str; 3] = ["True", "False", "None"];

/// The coloured pieces, in order.
pub(crate) fn spans(code: &str) -> Vec<Span> {
    let bytes = code.as_bytes();
    let (mut spans, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let class = match bytes[at] {
            b'#' => {
                at += code[at..].find('\n').unwrap_or(code.len() - at);
                Some("c")
            }
            b'"' | b'\'' => {
                at = string_end(code, at);
                Some("s")
            }
            b'0'..=b'9' => {
                at += length(&code[at..], |letter| {
                    letter.is_ascii_alphanumeric() || letter == '.' || letter == '_'
                });
                Some("n")
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                at += length(&code[at..], |letter| letter.is_alphanumeric() || letter == '_').max(1);
                at = code.ceil_char_boundary(at);
                word(code, start, &mut at)
            }
            _ => {
                at += 1;
                None
            }
        };
        spans.extend(class.map(|class| (start..at, class)));
    }
    spans
}

/// What a word is. A short one right before a quote is the prefix of a text, which is then taken whole.
fn word(code: &str, start: usize, at: &mut usize) -> Option<&'static str> {
    let word = &code[start..*at];
    let is_prefix = word.len() <= 2 && word.chars().all(|letter| "rbuftRBUFT".contains(letter));
    if is_prefix && code[*at..].starts_with(['"', '\'']) {
        *at = string_end(code, *at);
        return Some("s");
    }
    if CONSTANTS.contains(&word) {
        return Some("n");
    }
    KEYWORDS.contains(&word).then_some("k")
}

/// Where a text ends that begins with the quote at `at`; one that is not closed ends with its line, or with the code.
fn string_end(code: &str, at: usize) -> usize {
    let quote = &code[at..=at];
    let triple = quote.repeat(3);
    let is_long = code[at..].starts_with(&triple);
    let close = if is_long { triple.as_str() } else { quote };
    let mut from = at + close.len();
    while from < code.len() {
        let rest = &code[from..];
        if rest.starts_with(close) {
            return from + close.len();
        }
        if rest.starts_with('\n') && !is_long {
            return from;
        }
        let step = if rest.starts_with('\\') { 2 } else { 1 };
        from = code.ceil_char_boundary((from + step).min(code.len()));
    }
    code.len()
}

fn length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(code: &str) -> Vec<(&str, &str)> {
        spans(code).into_iter().map(|(span, class)| (&code[span], class)).collect()
    }

    #[test]
    fn comments_texts_numbers_and_keywords_are_told_apart() {
        let code = "if x1 == 10.5: # why\n    y = f'{x}\\'' or None";
        let expected =
            [("if", "k"), ("10.5", "n"), ("# why", "c"), ("f'{x}\\''", "s"), ("or", "k"), ("None", "n")];
        assert_eq!(coloured(code), expected);
        assert_eq!(coloured("'''a\nif'''"), [("'''a\nif'''", "s")]);
    }

    #[test]
    fn broken_code_is_scanned_to_its_end() {
        assert_eq!(coloured("'open\nif"), [("'open", "s"), ("if", "k")]);
        assert_eq!(coloured("\"\"\"open"), [("\"\"\"open", "s")]);
        for odd in ["'\\", "é'ü\\é", "\u{0}", "🙂 = '🙂", &"(".repeat(100_000)] {
            assert!(spans(odd).iter().all(|(span, _)| odd.get(span.clone()).is_some()), "{odd:.20}");
        }
    }
}
