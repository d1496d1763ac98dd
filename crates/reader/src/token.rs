//! Tokens: words, numbers, days, times of day, quotes, names in backquotes and signs, each with its place in the text.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    Day,
    Time,
    Quote,
    Name,
    Sign,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// What it says, without its quotes.
    pub(crate) text: String,
    /// The same in small letters.
    pub(crate) lower: String,
    /// Where it begins and ends, in bytes.
    pub(crate) at: (usize, usize),
}

/// Quotes that texts stand in.
const QUOTES: [(char, char); 4] =
    [('"', '"'), ('\u{201c}', '\u{201d}'), ('\'', '\''), ('\u{2018}', '\u{2019}')];
/// What is a token by itself.
const SIGNS: &str = ",;:?!()%";
/// Signs of currencies, which stand before or behind a number.
const CURRENCIES: &str = "$\u{20ac}\u{a3}";

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let before = text[..at].chars().next_back();
        at = quoted(text, at, before, &mut found)
            .or_else(|| numeric(text, at, &mut found))
            .unwrap_or_else(|| word(text, at, &mut found));
    }
    found
}

fn push(found: &mut Vec<Token>, kind: Kind, text: &str, from: usize, to: usize) {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    found.push(Token { kind, text: text.to_owned(), lower, at: (from, to) });
}

/// A text in quotes or a name in backquotes; the end of it.
fn quoted(text: &str, at: usize, before: Option<char>, found: &mut Vec<Token>) -> Option<usize> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    if first == '`' {
        let end = rest[1..].find('`')? + 1;
        push(found, Kind::Name, &rest[1..end], at, at + end + 1);
        return Some(at + end + 1);
    }
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let is_single = matches!(first, '\'' | '\u{2018}');
    if is_single && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let inner = at + first.len_utf8();
    let is_end = |(place, _): &(usize, &str)| {
        let after = text[inner + place + close.len_utf8()..].chars().next();
        !is_single || !after.is_some_and(char::is_alphanumeric)
    };
    let (length, _) = text[inner..].match_indices(*close).find(is_end)?;
    if is_single && length == 0 {
        return None;
    }
    let end = inner + length;
    push(found, Kind::Quote, &text[inner..end], at, end + close.len_utf8());
    Some(end + close.len_utf8())
}

/// A day, a time or a number; a sign of a currency before it is a token of its own.
fn numeric(text: &str, at: usize, found: &mut Vec<Token>) -> Option<usize> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    if CURRENCIES.contains(first) {
        push(found, Kind::Sign, &rest[..first.len_utf8()], at, at + first.len_utf8());
        return Some(at + first.len_utf8());
    }
    if SIGNS.contains(first) {
        push(found, Kind::Sign, &rest[..1], at, at + 1);
        return Some(at + 1);
    }
    let is_free = |end: usize, more: &str| {
        rest[end..].chars().next().is_none_or(|next| !next.is_alphanumeric() && !more.contains(next))
    };
    if is_form(rest, "dddd-dd-dd") && is_free(10, "-_") {
        push(found, Kind::Day, &rest[..10], at, at + 10);
        return Some(at + 10);
    }
    for (form, end) in [("dd:dd", 5), ("d:dd", 4)] {
        if is_form(rest, form) && is_free(end, ":_") {
            push(found, Kind::Time, &rest[..end], at, at + end);
            return Some(at + end);
        }
    }
    let end = number(rest)?;
    let next = rest[end..].chars().next();
    let ends = next
        .is_none_or(|next| next.is_whitespace() || ",.;:!?)%".contains(next) || CURRENCIES.contains(next));
    let mut after = rest[end..].chars().skip(1);
    let goes_on = matches!(next, Some('.' | ',')) && after.next().is_some_and(|digit| digit.is_ascii_digit());
    if !ends || goes_on {
        return None;
    }
    push(found, Kind::Number, &rest[..end], at, at + end);
    Some(at + end)
}

/// Where a number ends: `-12`, `30,000`, `0.5`.
fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(text.starts_with('-'));
    let mut end = start + digits(start);
    if end == start {
        return None;
    }
    while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    Some(end)
}

fn is_form(text: &str, form: &str) -> bool {
    text.len() >= form.len()
        && form.bytes().zip(text.bytes()).all(|(form, byte)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

/// Whatever stands up to the next blank or sign. A final point and a possessive are tokens of their own.
fn word(text: &str, at: usize, found: &mut Vec<Token>) -> usize {
    let rest = &text[at..];
    let ends = |c: char| c.is_whitespace() || SIGNS.contains(c) || "\"\u{201c}\u{201d}".contains(c);
    let end = rest.find(ends).filter(|end| *end > 0).unwrap_or_else(|| {
        if rest.starts_with(ends) { rest.chars().next().map_or(1, char::len_utf8) } else { rest.len() }
    });
    let whole = &rest[..end];
    let body = whole.trim_end_matches('.');
    let (body, has_point) = if body.is_empty() { (whole, false) } else { (body, body.len() < whole.len()) };
    let owner = ["'s", "\u{2019}s", "'", "\u{2019}"].iter().find_map(|tail| body.strip_suffix(tail));
    let stem = owner.filter(|stem| !stem.is_empty()).unwrap_or(body);
    push(found, Kind::Word, stem, at, at + stem.len());
    if stem.len() < body.len() {
        push(found, Kind::Sign, "'s", at + stem.len(), at + body.len());
    }
    if has_point {
        push(found, Kind::Sign, ".", at + body.len(), at + end);
    }
    at + end
}

/// The words of a name in any of its written forms, in small letters.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if c.is_whitespace() || c == '_' || c == '-' {
            words.push(String::new());
        } else {
            if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}
