//! A request as tokens: words, numbers, days, times, quoted texts and signs, each with its place.

use super::lexicon::{LEXICON, singular};

/// Longer texts have no tokens, so that nothing reads them: finding what they mean could take for ever.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// In lower case.
    pub(crate) lower: String,
    /// In the singular.
    pub(crate) stem: String,
    /// As it is written.
    pub(crate) text: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it stands, in bytes.
    pub(crate) at: (usize, usize),
}

impl Token {
    /// The word as the lexicon knows it. `IT` and `US` in capitals are names, and not the pronouns that they look like.
    pub(crate) fn word(&self) -> &str {
        if matches!(self.text.as_str(), "IT" | "US") { &self.text } else { &self.lower }
    }

    /// Which one of so many it says: `second`, `2nd`, `last`.
    pub(crate) fn place(&self, count: usize) -> Option<usize> {
        let place = match (&self.kind, self.lower.as_str()) {
            (Kind::Word, "last") => Some(count),
            (Kind::Number(number), _) if number.unit == Unit::Ordinal => {
                self.lower.trim_end_matches(char::is_alphabetic).parse().ok()
            }
            (_, word) => {
                LEXICON.matches("ordinals", &[word]).first().and_then(|(_, place)| place.parse().ok())
            }
        };
        place.filter(|place| (1..=count).contains(place))
    }
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A word.
    Word,
    /// A number in digits, or in letters.
    Number(Number),
    /// A number whose comma or point can be read in two ways, as `1,5` and `1.000`: its value as a fraction.
    Unclear(Number),
    /// A day, a month, a quarter or a year: from, and the first day after it.
    Days(String, String),
    /// A time of day, as `14:30`.
    Time(String),
    /// A text in quotes.
    Quoted,
    /// A sign; `'` stands for a possessive.
    Sign(char),
}

/// A number and how it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    /// Its value.
    pub(crate) value: f64,
    /// What it is a number of.
    pub(crate) unit: Unit,
    /// In letters.
    pub(crate) spelled: bool,
}

/// What a number is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// `3`.
    Plain,
    /// `$3`, with the currency.
    Money(&'static str),
    /// `3%`.
    Percent,
    /// `3rd`.
    Ordinal,
}

/// Splits a text into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    if text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let mut splitter = Splitter { text, at: 0, out: Vec::new() };
    while splitter.step() {}
    days(&spelled(&splitter.out))
}

struct Splitter<'a> {
    text: &'a str,
    at: usize,
    out: Vec<Token>,
}

impl Splitter<'_> {
    fn step(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return false };
        if first.is_whitespace() {
            self.at += first.len_utf8();
        } else if let Some(length) = quoted(rest, self.out.last(), self.at) {
            self.quote(length);
        } else if first.is_ascii_digit()
            || ("$€£".contains(first) && number_at(&rest[first.len_utf8()..]).is_some())
        {
            self.figure(rest, first);
        } else if first.is_alphanumeric() {
            self.word(rest);
        } else {
            self.push(first.len_utf8(), Kind::Sign(first));
        }
        true
    }

    fn push(&mut self, length: usize, kind: Kind) {
        let text = &self.text[self.at..self.at + length];
        self.out.push(token(text, kind, (self.at, self.at + length)));
        self.at += length;
    }

    fn quote(&mut self, length: usize) {
        let inner = self.text[self.at..self.at + length].chars();
        let inner: String = inner.clone().skip(1).take(inner.count() - 2).collect();
        self.out.push(Token {
            lower: inner.to_lowercase(),
            stem: singular(&inner),
            text: inner,
            kind: Kind::Quoted,
            at: (self.at, self.at + length),
        });
        self.at += length;
    }

    fn figure(&mut self, rest: &str, first: char) {
        let sign = if first.is_ascii_digit() { 0 } else { first.len_utf8() };
        let body = &rest[sign..];
        if sign == 0 {
            if let Some((length, kind)) = day_at(body).or_else(|| time_at(body)) {
                return self.push(length, kind);
            }
            // `11-speed`, `3D`: a word that begins with a digit.
            let run =
                body.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(body.len());
            let letters = body[..run].trim_start_matches(|c: char| c.is_ascii_digit());
            let is_ordinal = matches!(letters.to_lowercase().as_str(), "st" | "nd" | "rd" | "th");
            if is_ordinal {
                let value = body[..run - 2].parse().unwrap_or_default();
                let number = Number { value, unit: Unit::Ordinal, spelled: false };
                return self.push(run, Kind::Number(number));
            }
            if letters.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !letters.is_empty()
                && !is_unit(letters)
            {
                return self.push(run, Kind::Word);
            }
            if letters.starts_with('-') && letters[1..].starts_with(char::is_alphabetic) {
                return self.push(run, Kind::Word);
            }
        }
        let Some((digits, value)) = number_at(body) else {
            return self.push(first.len_utf8(), Kind::Sign(first));
        };
        let is_listed =
            self.out.last().is_some_and(|last| last.kind == Kind::Sign(',') && last.at.1 == self.at);
        let unclear = unclear_at(body).filter(|_| !is_listed);
        let (digits, value) = unclear.unwrap_or((digits, value));
        let after = &body[digits..];
        let percent = after.starts_with('%') || after.starts_with(" %");
        let more = if after.starts_with('%') {
            1
        } else if percent {
            2
        } else {
            0
        };
        let mark = if sign > 0 { Some(first) } else { after.chars().next() };
        let currency = mark.and_then(|mark| currency(mark.encode_utf8(&mut [0; 4])));
        let more = match mark.filter(|_| sign == 0 && currency.is_some()) {
            Some(mark) => mark.len_utf8(),
            None => more,
        };
        let unit = match currency {
            Some(currency) => Unit::Money(currency),
            None if percent => Unit::Percent,
            None => Unit::Plain,
        };
        let number = Number { value, unit, spelled: false };
        let kind = if unclear.is_some() { Kind::Unclear(number) } else { Kind::Number(number) };
        self.push(sign + digits + more, kind);
    }

    fn word(&mut self, rest: &str) {
        let characters: Vec<(usize, char)> = rest.char_indices().collect();
        let mut end = rest.len();
        for (index, &(at, character)) in characters.iter().enumerate() {
            let next = characters.get(index + 1).is_some_and(|(_, next)| next.is_alphanumeric());
            if !(character.is_alphanumeric()
                || (matches!(character, '\'' | '’' | '-' | '_' | '.' | '@') && next))
            {
                end = at;
                break;
            }
        }
        let text = rest[..end].replace('’', "'");
        let at = (self.at, self.at + end);
        self.at += end;
        for part in contraction(&text) {
            let kind = if part == "'" { Kind::Sign('\'') } else { Kind::Word };
            self.out.push(token(&part, kind, at));
        }
        let after = &self.text[self.at..];
        if text.ends_with('s') && (after.starts_with("' ") || after.starts_with("’ ")) {
            let length = after.chars().next().map_or(1, char::len_utf8);
            self.push(length, Kind::Sign('\''));
        }
    }
}

fn token(text: &str, kind: Kind, at: (usize, usize)) -> Token {
    Token { lower: text.to_lowercase(), stem: singular(text), text: text.to_owned(), kind, at }
}

/// A unit that may stand right after its number.
fn is_unit(letters: &str) -> bool {
    matches!(letters.to_lowercase().as_str(), "kg" | "g" | "h" | "km" | "m" | "cm" | "mm" | "k" | "e6")
}

/// The words that a written word stands for.
fn contraction(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = |list: &[&str]| list.iter().map(|&part| part.to_owned()).collect();
    match lower.as_str() {
        "won't" => return parts(&["will", "not"]),
        "can't" | "cannot" => return parts(&["can", "not"]),
        "let's" => return parts(&["let", "us"]),
        _ => {}
    }
    for (ending, more) in
        [("n't", "not"), ("'ll", "will"), ("'d", "would"), ("'re", "are"), ("'ve", "have"), ("'m", "am")]
    {
        if let Some(base) = lower.strip_suffix(ending) {
            return vec![base.to_owned(), more.to_owned()];
        }
    }
    if let Some(base) = text.strip_suffix("'s").or_else(|| text.strip_suffix("'S")) {
        let asks = ["what", "who", "where", "how", "that", "there", "it", "here", "when", "which"];
        if asks.contains(&base.to_lowercase().as_str()) {
            return vec![base.to_owned(), "is".to_owned()];
        }
        return vec![base.to_owned(), "'".to_owned()];
    }
    vec![text.to_owned()]
}

/// The length of a quoted text with its quotes.
fn quoted(rest: &str, last: Option<&Token>, at: usize) -> Option<usize> {
    let first = rest.chars().next()?;
    let close = match first {
        '"' => '"',
        '“' => '”',
        '‘' => '’',
        '\'' if last.is_none_or(|last| last.at.1 < at || matches!(last.kind, Kind::Sign(_))) => '\'',
        _ => return None,
    };
    let inner = &rest[first.len_utf8()..];
    let end = inner.char_indices().find(|(place, character)| {
        let after = inner[place + character.len_utf8()..].chars().next();
        *character == close && after.is_none_or(|after| !after.is_alphanumeric())
    })?;
    (end.0 > 0 && end.0 < 200).then(|| first.len_utf8() + end.0 + close.len_utf8())
}

/// Digits with marks of thousands and a fraction: how long they are, and their value.
fn number_at(text: &str) -> Option<(usize, f64)> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end)
        || (bytes.get(end) == Some(&b',')
            && end > 0
            && (1..=3).all(|more| digit(end + more))
            && !digit(end + 4))
    {
        end += 1;
    }
    if end == 0 {
        return None;
    }
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digit(end + 1) {
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    let plain: String = text[..end].chars().filter(|character| *character != ',').collect();
    plain.parse().ok().map(|value| (end, value))
}

/// A number that is a fraction to some and something else to others: how long it is, and its value as a fraction. A comma
/// may part a fraction or two numbers (`1,5`), a point before three digits a fraction or thousands (`1.000`).
fn unclear_at(text: &str) -> Option<(usize, f64)> {
    let bytes = text.as_bytes();
    let digits = |from| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mark = |at: usize| bytes.get(at).filter(|_| digits(at + 1) > 0);
    let first = digits(0);
    let more = digits(first + 1);
    let mut end = first + 1 + more;
    let is_unclear = match mark(first)? {
        b',' => {
            let is_list = mark(end) == Some(&b',');
            !is_list && (matches!(more, 1 | 2) || more > 4 || &text[..first] == "0")
        }
        b'.' => {
            let is_group = first <= 3 && more == 3 && !text.starts_with('0');
            while is_group && mark(end) == Some(&b'.') && digits(end + 1) == 3 {
                end += 4;
            }
            is_group && mark(end) != Some(&b'.')
        }
        _ => false,
    };
    if is_unclear && mark(end) == Some(&b',') {
        end += 1 + digits(end + 1);
    }
    // Before a comma points part thousands.
    let plain = if text[..end].contains(',') { text[..end].replace('.', "") } else { text[..end].to_owned() };
    is_unclear.then(|| (end, plain.replace(',', ".").parse().unwrap_or_default()))
}

/// The currency that a word or a sign means.
pub(super) fn currency(word: &str) -> Option<&'static str> {
    LEXICON.matches("currency", &[word]).first().map(|(_, currency)| *currency)
}

/// `2026-03-14`, with a time or without; `14.03.2026`.
fn day_at(text: &str) -> Option<(usize, Kind)> {
    let bytes = text.as_bytes();
    let shape = |pattern: &[u8]| {
        bytes.len() >= pattern.len()
            && pattern
                .iter()
                .zip(bytes)
                .all(|(want, have)| if *want == b'0' { have.is_ascii_digit() } else { want == have })
    };
    let [first, second, third] = match () {
        () if bytes.get(10).is_some_and(u8::is_ascii_alphanumeric) => return None,
        () if shape(b"0000-00-00") => [0..4, 5..7, 8..10],
        // With full stops the day comes first everywhere; with strokes it does not.
        () if shape(b"00.00.0000") => [6..10, 3..5, 0..2],
        () => return None,
    };
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().ok();
    let (year, month, day) = (part(first)?, part(second)?, part(third)?);
    is_day(year, month, day)
        .then(|| (10, Kind::Days(format!("{year:04}-{month:02}-{day:02}"), next_day(year, month, day))))
}

/// `14:30`, `9am`.
fn time_at(text: &str) -> Option<(usize, Kind)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 2 {
        return None;
    }
    let hour: u32 = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let (minute, used) = match rest.as_bytes() {
        [b':', a, b, ..] if a.is_ascii_digit() && b.is_ascii_digit() => (rest[1..3].parse().ok()?, 3),
        _ => (0u32, 0),
    };
    let tail = rest[used..].trim_start().to_lowercase();
    let blanks = rest[used..].len() - rest[used..].trim_start().len();
    let ends = |word: &str| tail.starts_with(word) && !tail[2..].starts_with(char::is_alphanumeric);
    let (hour, more) = match () {
        () if ends("am") => (hour % 12, blanks + 2),
        () if ends("pm") => (hour % 12 + 12, blanks + 2),
        () if used == 3 => (hour, 0),
        () => return None,
    };
    (hour < 24 && minute < 60).then(|| (digits + used + more, Kind::Time(format!("{hour:02}:{minute:02}"))))
}

/// Puts numbers in letters together: `two hundred`, `half a dozen`, `a couple of`.
fn spelled(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let words: Vec<&str> = tokens[at..]
            .iter()
            .take(4)
            .take_while(|t| t.kind == Kind::Word)
            .map(|t| t.lower.as_str())
            .collect();
        let found = LEXICON.matches("numbers", &words).first().copied();
        let is_article = matches!(tokens[at].lower.as_str(), "a" | "an");
        let hyphen = tokens[at].lower.split_once('-').and_then(|(tens, ones)| {
            let (tens, ones) = (LEXICON.number(tens)?, LEXICON.number(ones)?);
            ((20.0..100.0).contains(&tens) && ones < 10.0).then_some(tens + ones)
        });
        let value = hyphen.or_else(|| found.and_then(|(_, value)| value.parse::<f64>().ok()));
        match (value, found.map_or(1, |(length, _)| length)) {
            (Some(value), length) if !(is_article && length == 1) && tokens[at].kind == Kind::Word => {
                let times = out.last().and_then(|last| match last.kind {
                    Kind::Number(number) if value >= 100.0 && number.value < 100.0 => Some(number.value),
                    _ => None,
                });
                let start = if times.is_some() {
                    out.pop().map_or(tokens[at].at.0, |last| last.at.0)
                } else {
                    tokens[at].at.0
                };
                let number = Number { value: value * times.unwrap_or(1.0), unit: Unit::Plain, spelled: true };
                let end = tokens[at + length - 1].at.1;
                let words: Vec<&str> =
                    tokens[at..at + length].iter().map(|token| token.text.as_str()).collect();
                out.push(token(&words.join(" "), Kind::Number(number), (start, end)));
                at += length;
            }
            _ => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    percents(out)
}

/// `10 percent` is `10%`, `5 dollars` is `$5`, and so are `5 USD`, `USD 5`, `5 $` and `$ 5`.
fn percents(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for mut token in tokens {
        if let (Kind::Number(number) | Kind::Unclear(number), Some(last)) = (&mut token.kind, out.last())
            && number.unit == Unit::Plain
            && let Some(code) =
                currency(&last.lower).filter(|code| *code == last.text || matches!(last.kind, Kind::Sign(_)))
        {
            number.unit = Unit::Money(code);
            token.at.0 = last.at.0;
            out.pop();
        }
        if let Some(Token { kind: Kind::Number(number) | Kind::Unclear(number), at, .. }) = out.last_mut()
            && matches!(token.kind, Kind::Word | Kind::Sign(_))
        {
            let is_percent = matches!(token.lower.as_str(), "percent" | "pct");
            let currency = currency(&token.lower);
            if (is_percent || currency.is_some()) && number.unit == Unit::Plain {
                number.unit = currency.map_or(Unit::Percent, Unit::Money);
                at.1 = token.at.1;
                continue;
            }
        }
        out.push(token);
    }
    out
}

/// Puts days and months together: `3 October 2025`, `October 3, 2025`, `March 2026`, `Q2 2024`.
fn days(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((used, days)) = days_at(&tokens[at..]) else {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        };
        let place = (tokens[at].at.0, tokens[at + used - 1].at.1);
        // `March 2025` is not what is called March.
        let words = tokens[at..at + used].iter().filter(|token| !matches!(token.kind, Kind::Sign(_)));
        let words: Vec<&str> = words.map(|token| token.text.as_str()).collect();
        out.push(token(&words.join(" "), days, place));
        at += used;
    }
    out
}

fn days_at(tokens: &[Token]) -> Option<(usize, Kind)> {
    let month = |at: usize| month_of(tokens.get(at)?);
    let whole = |at: usize| match tokens.get(at)?.kind {
        Kind::Number(n)
            if n.value.fract() == 0.0 && matches!(n.unit, Unit::Plain | Unit::Ordinal) && !n.spelled =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked by the ranges below"
            )]
            Some(n.value.clamp(0.0, 99_999.0) as u32)
        }
        _ => None,
    };
    let year = |at: usize| whole(at).filter(|year| (1000..3000).contains(year));
    let sign = |sign: char, at: usize| {
        usize::from(tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign)))
    };
    let comma = |at: usize| sign(',', at);
    // `Feb. 2024`
    let stop = |at: usize| sign('.', at);
    let of = |at: usize| usize::from(tokens.get(at).is_some_and(|token| token.lower == "of"));
    let day = |year: u32, month: u32, day: u32| {
        is_day(year, month, day)
            .then(|| Kind::Days(format!("{year:04}-{month:02}-{day:02}"), next_day(year, month, day)))
    };
    if let (Some(number), Some(name)) = (whole(0), month(1 + of(1))) {
        let next = 2 + of(1);
        let skip = comma(next) + stop(next);
        return Some((next + skip + 1, day(year(next + skip)?, name, number)?));
    }
    if let Some(name) = month(0) {
        let next = 1 + stop(1);
        if let Some(number) = whole(next).filter(|number| *number <= 31) {
            let next = next + 1 + comma(next + 1);
            return Some((next + 1, day(year(next)?, name, number)?));
        }
        let (from, until) = month_in(year(next)?, name);
        return Some((next + 1, Kind::Days(from, until)));
    }
    None
}

/// The month that a word names: `February`, `feb`.
pub(crate) fn month_of(token: &Token) -> Option<u32> {
    let known = LEXICON.matches("months", &[token.lower.as_str()]);
    known.first().filter(|_| token.kind == Kind::Word).and_then(|(_, number)| number.parse().ok())
}

/// The first day of a month, and the first day after it.
pub(crate) fn month_in(year: u32, month: u32) -> (String, String) {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    (format!("{year:04}-{month:02}-01"), format!("{next_year:04}-{next:02}-01"))
}

fn month_days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    (1..=12).contains(&month) && day >= 1 && day <= month_days(year, month)
}

/// The day before another one.
pub(super) fn day_before(day: &str) -> Option<String> {
    let part = |from: usize, to: usize| day.get(from..to)?.parse::<u32>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (year, month, day) = match () {
        () if day > 1 => (year, month, day - 1),
        () if month > 1 => (year, month - 1, month_days(year, month - 1)),
        () => (year.checked_sub(1)?, 12, 31),
    };
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

fn next_day(year: u32, month: u32, day: u32) -> String {
    let (year, month, day) = match () {
        () if day < month_days(year, month) => (year, month, day + 1),
        () if month < 12 => (year, month + 1, 1),
        () => (year + 1, 1, 1),
    };
    format!("{year:04}-{month:02}-{day:02}")
}
