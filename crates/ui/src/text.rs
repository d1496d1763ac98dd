//! How values, figures and hostile text are put into words.

use maud::{Markup, html};
use ordain_checks::report::words::cut;
use serde_json::Value;

pub use ordain_checks::report::words::duration;
pub use ordain_types::visible;

/// Characters of a value that a table shows; the whole value is in the record.
const CELL_CHARS_MAX: usize = 300;

/// A single word up to this length is not broken at all.
const WHOLE_CHARS_MAX: usize = 24;

/// Longer words may be broken anywhere.
const WORD_BYTES_MAX: usize = 40;

/// Text of several lines, each made harmless, cut to so many characters.
pub fn lines(text: &str, characters_max: usize) -> String {
    let begin: String = text.chars().take(characters_max + 1).collect();
    let shown = |line: &str| visible(&line.trim_end_matches('\r').replace('\t', "    "));
    cut(&begin, characters_max).split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// Advice that names a command, with a way to the page that shows the same.
pub(crate) fn advice(text: &str, characters_max: usize) -> Markup {
    let text = lines(text, characters_max);
    html! {
        @for (place, part) in text.split("`ordain models`").enumerate() {
            @if place > 0 { a href="/settings/models" { "Models" } }
            (part)
        }
    }
}

/// One value of a row, as people read it. Null and empty text look different from the words for them.
pub fn cell(value: Option<&Value>) -> Markup {
    match value {
        None => html! { span.null { "—" } },
        Some(Value::Null) => html! { span.null { "null" } },
        Some(Value::String(text)) if text.is_empty() => html! { span.null { "empty" } },
        Some(Value::String(text)) => long(text),
        Some(Value::Number(number)) => html! { span.number { (number) } },
        Some(other) => html! { code { (clipped(&other.to_string())) } },
    }
}

/// The values of one cell before and after. Long texts are shown from shortly before the place where they begin to
/// differ, so that no change hides behind what is shown.
pub fn cells(before: Option<&Value>, after: Option<&Value>) -> (Markup, Markup) {
    const AROUND: usize = 20;
    let (Some(Value::String(old)), Some(Value::String(new))) = (before, after) else {
        return (cell(before), cell(after));
    };
    let same = std::iter::zip(old.chars(), new.chars()).take_while(|(old, new)| old == new).count();
    if same < CELL_CHARS_MAX / 2 {
        return (cell(before), cell(after));
    }
    let rest = |text: &str| {
        let rest: String = text.chars().skip(same - AROUND).collect();
        html! { span.muted { "…" } (long(&rest)) }
    };
    (rest(old), rest(new))
}

fn long(text: &str) -> Markup {
    let length = text.chars().count();
    // A word that is too long for a line may be broken anywhere.
    let breaks = text.split_whitespace().any(|word| word.len() > WORD_BYTES_MAX);
    html! {
        @if breaks { span.break { (clipped(text)) } }
        // A time or a name with a dash is one word.
        @else if length <= WHOLE_CHARS_MAX && !text.contains(char::is_whitespace) { span.nowrap { (clipped(text)) } }
        @else { (clipped(text)) }
        @if length > CELL_CHARS_MAX { " " span.muted { "(" (grouped(length as u64)) " characters)" } }
    }
}

fn clipped(text: &str) -> String {
    let begin: String = text.chars().take(CELL_CHARS_MAX + 1).collect();
    visible(&cut(&begin, CELL_CHARS_MAX))
}

/// Whether a column's values are shown at the right, as figures are.
pub fn is_number(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Number(_)))
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A column's name that may be broken behind its underscores, so that a narrow column needs no wide heading.
pub(crate) fn heading(name: &str) -> Markup {
    let name = visible(name);
    html! { @for (place, part) in name.split('_').enumerate() { @if place > 0 { "_" wbr; } (part) } }
}

/// `1 row`, `4 rows`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number as u64), if number == 1 { one } else { many })
}

/// A time of a record: date and seconds, and the whole of it for programs.
pub fn when(timestamp: &str) -> Markup {
    let shown =
        timestamp.get(..19).map_or_else(|| visible(timestamp), |begin| visible(begin).replace('T', " "));
    html! { time datetime=(visible(timestamp)) title={ (visible(timestamp)) } { (shown) } }
}

/// An id's beginning, enough to tell runs apart; the whole id is in the link.
pub fn short_id(id: &str) -> String {
    visible(&id.chars().take(12).collect::<String>())
}

/// A text as a part of an address.
pub fn in_path(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped = format!("{escaped}%{byte:02X}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(1000, "row", "rows"), "1,000 rows");
    }

    #[test]
    fn a_change_at_the_end_of_a_long_text_is_shown() {
        let begin = "same ".repeat(2000);
        let (old, new) = cells(Some(&json!(format!("{begin}5"))), Some(&json!(format!("{begin}6"))));
        assert!(old.into_string().ends_with("same 5") && new.into_string().ends_with("same 6"));
    }

    #[test]
    fn hostile_values_stay_text() {
        let shown = cell(Some(&json!("<script>alert(1)</script>\u{202e}\u{0}"))).into_string();
        assert_eq!(shown, "&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}\\u{0}");
        let huge = cell(Some(&json!("x".repeat(1_000_000)))).into_string();
        assert!(huge.len() < 500 && huge.contains("(1,000,000 characters)"), "{huge}");
        assert_eq!(in_path("../a b/ü"), "..%2Fa%20b%2F%C3%BC");
        assert_eq!(lines("a\u{1b}[2J\r\n\tb", 100), "a\\u{1b}[2J\n    b");
    }
}
