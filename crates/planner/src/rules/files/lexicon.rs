//! The words of questions about data, and how a text is cut into them.

use crate::rules::words::{number, singular, words};

/// One word of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// In lower case.
    pub(super) lower: String,
    /// Its singular, in lower case.
    pub(super) stem: String,
    /// The number that it says in digits, with the sign before it.
    pub(super) number: Option<f64>,
    /// Where it starts in the request, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// The words of a request. A name such as `unit_price` is one word.
pub(super) fn tokens(request: &str) -> Vec<Token> {
    words(request)
        .into_iter()
        .map(|word| {
            let digits = word.lower.starts_with(|c: char| c.is_ascii_digit());
            let before = request[..word.start].chars().next_back();
            let earlier = request[..word.start].chars().rev().nth(1);
            let is_negative = before == Some('-') && earlier.is_none_or(|c| c.is_whitespace() || c == '(');
            let value = number(&word.lower).filter(|_| digits);
            Token {
                stem: singular(&word.lower),
                number: value.map(|value| if is_negative { -value } else { value }),
                start: word.start,
                end: word.end,
                lower: word.lower,
            }
        })
        .collect()
}

/// Whether the words hold one of these; an entry of several words stands for them in a row.
pub(super) fn says(words: &[Token], entries: &[&str]) -> bool {
    entries.iter().any(|entry| find(words, entry).is_some())
}

/// Where an entry of one or more words stands first: its first word and the word after its last.
pub(super) fn find(words: &[Token], entry: &str) -> Option<(usize, usize)> {
    let parts: Vec<&str> = entry.split(' ').collect();
    (0..=words.len().checked_sub(parts.len())?)
        .find(|&at| {
            parts.iter().zip(&words[at..]).all(|(part, word)| word.lower == *part || word.stem == *part)
        })
        .map(|at| (at, at + parts.len()))
}

/// A whole number that is said in digits or letters.
pub(super) fn whole(word: &Token) -> Option<u64> {
    let value =
        word.number.or_else(|| number(&word.lower).filter(|_| !matches!(word.lower.as_str(), "a" | "an")))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and within bounds"
    )]
    (value.fract() == 0.0 && (0.0..1e15).contains(&value)).then_some(value as u64)
}

/// The parts of a column's or file's name: `unitPrice`, `unit_price` and `Unit Price` are the same.
pub(super) fn name_parts(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut previous = ' ';
    for character in name.chars() {
        if character.is_uppercase() && previous.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if character.is_alphanumeric() { character } else { ' ' });
        previous = character;
    }
    spaced.split_whitespace().map(singular).collect()
}

/// What a word of a question may stand for in a column's name.
pub(super) const SYNONYMS: [(&str, &[&str]); 12] = [
    ("quantity", &["unit", "qty", "quantity", "piece", "count"]),
    ("qty", &["quantity", "unit"]),
    ("unit", &["quantity", "qty"]),
    ("cost", &["price", "cost", "amount"]),
    ("amount", &["amount", "value", "total", "sale"]),
    ("revenue", &["revenue", "sale", "amount", "turnover", "total"]),
    ("sale", &["sale", "revenue", "amount", "total"]),
    ("turnover", &["turnover", "revenue", "sale", "amount"]),
    ("item", &["product", "item", "article"]),
    ("customer", &["customer", "client", "buyer"]),
    ("client", &["customer", "client"]),
    ("salary", &["salary", "wage", "pay"]),
];

/// Names of what is counted and of what one of it costs: their product is the revenue where no column has it.
pub(super) const QUANTITIES: [&str; 5] = ["unit", "quantity", "qty", "piece", "count"];
/// Names of what one of something costs.
pub(super) const PRICES: [&str; 3] = ["price", "rate", "cost"];
/// Words that ask for that product.
pub(super) const REVENUES: [&str; 5] = ["revenue", "sale", "turnover", "income", "earning"];

/// Months, by number.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
