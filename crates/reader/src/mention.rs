//! Every span of a text that is a whole name, an amount or a word as a rule's author writes it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::algebra::{Day, Number};
use crate::deed::Deed;
use crate::grammar::GRAMMAR;
use crate::index::{Called, Index, Known};
use crate::lexicon::LEXICON;
use crate::token::{Kind, Token, name_words};
use crate::value::{Value, Values};

/// Names of more tokens are not looked for.
const NAME_TOKENS_MAX: usize = 9;

/// Mentions of words that are nothing but what is written.
const AS_WRITTEN: [&str; 4] = ["Lit", "Code", "Slashed", "Regex"];

/// The mentions of a text, by the token that they begin at.
#[derive(Debug)]
pub(crate) struct Mentions {
    at: Vec<Vec<(usize, &'static str, Value)>>,
}

impl Mentions {
    pub(crate) fn new(index: &Index, tokens: &[Token], text: &str) -> Self {
        let mut mentions = Self { at: vec![Vec::new(); tokens.len()] };
        let words: Vec<Vec<String>> = tokens
            .iter()
            .map(|token| match token.kind {
                Kind::Word => name_words(&token.text),
                _ => vec![token.lower.clone()],
            })
            .collect();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Quote => mentions.quote(index, at, token),
                Kind::Name => {
                    mentions.exact(index, at, tokens);
                    mentions.add(at, at + 1, "Exact", Value::Deed(Deed::Exact(token.text.clone())));
                }
                _ => {
                    mentions.amounts(at, token);
                    mentions.letters(index, at, tokens, text);
                    mentions.names(index, at, (tokens, &words), text);
                    mentions.verbs(index, at, tokens);
                    mentions.person(index, at, tokens, text);
                }
            }
        }
        mentions
    }

    /// What begins at a token: its end, the terminal, the value.
    pub(crate) fn at(&self, at: usize) -> &[(usize, &'static str, Value)] {
        self.at.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether no name and no production has a word.
    pub(crate) fn is_strange(&self, at: usize, token: &Token, is_order: bool) -> bool {
        let is_within =
            |from: usize| self.at(from).iter().any(|(end, kind, _)| *end > at && !AS_WRITTEN.contains(kind));
        let is_word = token.kind == Kind::Word && !is_operator(&token.text) && !is_certain(&token.text);
        let is_known =
            GRAMMAR.words.contains(token.lower.as_str()) || is_order && GRAMMAR.has_word(&token.lower);
        is_word && !is_known && !(0..=at).any(is_within)
    }

    fn add(&mut self, at: usize, end: usize, kind: &'static str, value: Value) {
        if !self.at[at].iter().any(|(known, name, other)| (*known, *name, other) == (end, kind, &value)) {
            self.at[at].push((end, kind, value));
        }
    }

    fn quote(&mut self, index: &Index, at: usize, token: &Token) {
        self.add(at, at + 1, "Quote", Value::Quote(token.text.clone()));
        if let Some(found) = index.quoted(&token.text) {
            let values = Values {
                found: Rc::new(found.clone()),
                written: token.text.clone(),
                is_quoted: true,
                is_first: false,
            };
            self.add(at, at + 1, "Val", Value::Values(values));
        }
    }

    /// `price` in backquotes is a column; after `table` it is a table, and nothing else.
    fn exact(&mut self, index: &Index, at: usize, tokens: &[Token]) {
        let name = &tokens[at].text;
        if let Some(places) = index.columns_called(name) {
            self.add(at, at + 1, "Col", Value::Places(places.clone()));
        }
        if at > 0
            && tokens[at - 1].lower == "table"
            && let Some(table) = index.table_called(name)
        {
            self.add(at - 1, at + 1, "Noun", Value::Noun(table.clone()));
        }
    }

    fn amounts(&mut self, at: usize, token: &Token) {
        let lower = &token.lower;
        let count =
            |word: &str| LEXICON.number("number", word).and_then(|count| Number::new(f64::from(count)));
        let written = match token.kind {
            Kind::Number => exact_number(&token.text),
            _ => count(lower),
        };
        if let Some(number) = written {
            self.add(at, at + 1, "Num", Value::Number(number, token.text.clone()));
        }
        let ordinal = LEXICON.ordinal(lower);
        if let Some(ordinal) = ordinal {
            self.add(at, at + 1, "Ord", Value::Count(ordinal));
        }
        let digits = token.text.parse::<u32>().ok().filter(|_| token.kind == Kind::Number);
        if let Some(day) = digits.or(ordinal).filter(|day| (1..=31).contains(day)) {
            self.add(at, at + 1, "Monthday", Value::Count(day));
        }
        if let Some(year) = digits.filter(|year| (1900..2100).contains(year)) {
            self.add(at, at + 1, "Year", Value::Count(year));
        }
        match token.kind {
            Kind::Day if is_day(&token.text) => {
                self.add(at, at + 1, "Iso", Value::Day(Day::On(token.text.clone())));
            }
            Kind::Time => {
                let text =
                    if token.text.len() == 4 { format!("0{}", token.text) } else { token.text.clone() };
                self.add(at, at + 1, "Clock", Value::Time(text));
            }
            _ => {}
        }
        let named = |kind: &str| LEXICON.get_any(kind, lower.trim_end_matches('.'));
        for (kind, name) in [("month", "Month"), ("quarter", "Quarter")] {
            if let Some(number) = named(kind).and_then(|number| number.parse().ok()) {
                self.add(at, at + 1, name, Value::Count(number));
            }
        }
        if let Some(day) = named("weekday").and_then(|day| day.parse().ok()) {
            self.add(at, at + 1, "Weekday", Value::Days(vec![day]));
        }
        if let Some(currency) = named("currency") {
            self.add(at, at + 1, "Currency", Value::Unit(currency.to_owned()));
        }
    }

    /// Texts without quotes: `Code` has digits, signs or capitals only, `Lit` is any other word that is none of the
    /// grammar's. Beside them names of signs, formats of dates, and sizes like `four-digit`.
    fn letters(&mut self, index: &Index, at: usize, tokens: &[Token], text: &str) {
        let token = &tokens[at];
        for end in (at + 1..=tokens.len().min(at + 5)).rev() {
            let span = text.get(token.at.0..tokens[end - 1].at.1).unwrap_or_default();
            if let Some(pattern) = date_pattern(span) {
                self.add(at, end, "Datefmt", Value::Pattern(pattern));
                return;
            }
        }
        let two = tokens.get(at + 1).map(|next| format!("{}-{}", token.lower, next.lower));
        for (word, end) in [(Some(token.lower.clone()), at + 1), (two, at + 2)] {
            let Some(word) = word else { continue };
            if let Some(sign) = LEXICON.get_any("sign", &word) {
                let sign = match sign {
                    "blank" => " ",
                    "break" => "\n",
                    other => other,
                };
                self.add(at, end, "Sign", Value::Sign(sign.to_owned()));
            }
            if let Some((count, class)) = word.rsplit_once('-')
                && let Some(class) = LEXICON.get_any("class", class)
                && let Some(count) = count.parse().ok().or_else(|| LEXICON.number("number", count))
            {
                self.add(at, end, "Sized", Value::Sized(count, class.to_owned()));
            }
        }
        if token.kind == Kind::Word
            && token.text.split('/').all(|part| !part.is_empty())
            && token.text.contains('/')
        {
            let parts = token.text.split('/').map(str::to_owned).collect();
            self.add(at, at + 1, "Slashed", Value::Slashed(parts));
        }
        let parts = token.text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let is_name = std::iter::once(token.text.as_str())
            .chain(parts)
            .any(|part| index.columns_called(part).is_some() || index.table_called(part).is_some());
        if is_name || !matches!(token.kind, Kind::Word | Kind::Number) || is_operator(&token.text) {
            return;
        }
        let inner = token.text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
        if let Some(pattern) =
            inner.or(Some(token.text.as_str())).filter(|text| text.contains(['^', '[', '\\', '{']))
        {
            self.add(at, at + 1, "Regex", Value::Pattern(pattern.to_owned()));
        }
        let is_certain = is_certain(&token.text);
        if is_certain {
            self.add(at, at + 1, "Code", Value::Code(token.text.clone()));
        }
        let words = name_words(&token.text);
        let has_value = |words: &[String]| {
            let (exact, loose) = index.at(words);
            exact.into_iter().chain(loose).any(|called| !called.values.is_empty())
        };
        let is_slashed =
            token.text.contains('/') && token.text.split('/').all(|part| has_value(&name_words(part)));
        let is_known = is_slashed || !words.is_empty() && has_value(&words);
        if token.kind == Kind::Word
            && !is_known
            && (is_certain || !GRAMMAR.words.contains(token.lower.as_str()))
        {
            self.add(at, at + 1, "Lit", Value::Literal(token.text.clone(), is_certain));
        }
    }

    /// Words of declared verbs.
    fn verbs(&mut self, index: &Index, at: usize, tokens: &[Token]) {
        let mut words = String::new();
        for end in at + 1..=tokens.len().min(at + NAME_TOKENS_MAX) {
            if end > at + 1 {
                words.push(' ');
            }
            words.push_str(&tokens[end - 1].lower);
            for (kind, deed) in index.phrase(&words) {
                self.add(at, end, kind, Value::Deed(deed.clone()));
            }
        }
    }

    /// Words that are written as names of people are, up to the last one of them. A word of the language, of a table or of a
    /// column is none, nor are the words beside it.
    fn person(&mut self, index: &Index, at: usize, tokens: &[Token], text: &str) {
        let is_large = |token: &Token| {
            token.kind == Kind::Word && token.text.chars().next().is_some_and(char::is_uppercase)
        };
        if at > 0 && is_large(&tokens[at - 1]) || !is_large(&tokens[at]) {
            return;
        }
        let is_particle = |at: usize| {
            let follows = tokens.get(at + 1).is_some_and(is_large);
            follows && LEXICON.get("particle", &tokens[at].lower).is_some()
        };
        let length = (at..tokens.len()).take_while(|at| is_large(&tokens[*at]) || is_particle(*at)).count();
        let run = &tokens[at..at + length];
        let is_name = |token: &Token| {
            let letters = token.text.split(['-', '\'', '\u{2019}', '.']);
            let is_written = letters.filter(|part| !part.is_empty()).all(|part| {
                let mut rest = part.chars().skip(1).peekable();
                let is_initial = rest.peek().is_none();
                part.chars().all(char::is_alphabetic) && (is_initial || rest.any(char::is_lowercase))
            });
            let (exact, loose) = index.at(&name_words(&token.text));
            let is_called = |called: Option<&Called>| {
                called.is_some_and(|called| !called.tables.is_empty() || !called.columns.is_empty())
            };
            let is_word = GRAMMAR.has_word(&token.lower)
                || LEXICON.has(&token.lower)
                || !index.phrase(&token.lower).is_empty();
            is_written && !is_word && !is_called(exact) && !is_called(loose)
        };
        if run.iter().all(|token| !is_large(token) || is_name(token)) {
            let name = text.get(run[0].at.0..run[length - 1].at.1).unwrap_or_default();
            self.add(at, at + length, "Person", Value::Deed(Deed::Person(name.to_owned())));
        }
    }

    fn names(&mut self, index: &Index, at: usize, (tokens, words): (&[Token], &[Vec<String>]), text: &str) {
        let mut name: Vec<String> = Vec::new();
        for end in at + 1..=tokens.len().min(at + NAME_TOKENS_MAX) {
            let token = &tokens[end - 1];
            if matches!(token.kind, Kind::Quote | Kind::Name)
                || ["?", "!", ";"].contains(&token.text.as_str())
            {
                break;
            }
            name.extend(words[end - 1].iter().cloned());
            let (exact, loose) = index.at(&name);
            let written = text.get(tokens[at].at.0..token.at.1).unwrap_or_default();
            // As it is written; else whatever its number. A name as it is written is no other name in another number.
            let is_name = |called: &&Called| !called.tables.is_empty() || !called.columns.is_empty();
            let named = exact.filter(is_name).or(loose);
            let called = |pick: fn(&Called) -> bool| exact.filter(|called| pick(called)).or(loose);
            for table in named.into_iter().flat_map(|called| &called.tables) {
                self.add(at, end, "Noun", Value::Noun(table.clone()));
            }
            if let Some(called) = named.filter(|found| !found.columns.is_empty()) {
                self.add(at, end, "Col", Value::Places(Arc::new(called.columns.clone())));
            }
            if let Some(called) =
                called(|called| !called.values.is_empty()).filter(|found| !found.values.is_empty())
            {
                let found = as_written(&called.values, written);
                let values = Values {
                    found: Rc::new(found),
                    written: written.to_owned(),
                    is_quoted: false,
                    is_first: at == 0,
                };
                self.add(at, end, "Val", Value::Values(values));
            }
            let phrases =
                called(|called| !called.phrases.is_empty()).filter(|found| !found.phrases.is_empty());
            if let Some(found) = phrases {
                self.add(at, end, "Phr", Value::Phrases(found.phrases.iter().copied().collect()));
            }
            let metrics =
                called(|called| !called.metrics.is_empty()).filter(|found| !found.metrics.is_empty());
            if let Some(found) = metrics {
                self.add(at, end, "Metric", Value::Metrics(found.metrics.iter().copied().collect()));
            }
            let within = loose.filter(|found| !found.within.is_empty());
            if let Some(found) = within.filter(|_| !GRAMMAR.words.contains(token.lower.as_str())) {
                self.add(at, end, "Within", Value::Within(Rc::new(found.within.clone())));
            }
            for unit in called(|called| !called.units.is_empty()).into_iter().flat_map(|called| &called.units)
            {
                self.add(at, end, "Unit", Value::Unit(unit.clone()));
            }
        }
    }
}

/// Of a column's values those that are spelled as in the text; else all that the words may mean.
fn as_written(values: &BTreeSet<Known>, written: &str) -> BTreeSet<Known> {
    let one = one_of(written);
    let is_same = |(table, column, _): &Known, (other, theirs, _): &Known| table == other && column == theirs;
    let spelled = |spelling: &str, value: &Known| {
        values.iter().any(|other| is_same(value, other) && other.2 == spelling)
    };
    let is_kept = |value: &&Known| match (spelled(written, value), spelled(&one, value)) {
        (true, _) => value.2 == written,
        (false, true) => value.2 == one,
        _ => true,
    };
    values.iter().filter(is_kept).cloned().collect()
}

/// Words with the last one in the singular.
fn one_of(written: &str) -> String {
    match written.rsplit_once(' ') {
        Some((rest, last)) => format!("{rest} {}", LEXICON.singular(last)),
        None => LEXICON.singular(written),
    }
}

impl Values {
    /// A value in the letters of the text: a rule's author says which ones are right, whatever the rows have. Only the first
    /// letter of a sentence is always a large one.
    pub(crate) fn in_its_letters<'a>(&self, value: &'a str) -> Cow<'a, str> {
        let tail = |text: &str| text.chars().skip(1).collect::<String>();
        let spellings = [self.written.clone(), one_of(&self.written)];
        let own = spellings.into_iter().find(|own| own.to_lowercase() == value.to_lowercase());
        let own = own.filter(|own| !self.is_first || tail(own) != tail(value));
        own.map_or(Cow::Borrowed(value), Cow::Owned)
    }
}

/// A number in digits. `25.000` may be thousands or thousandths, and is none.
fn exact_number(text: &str) -> Option<Number> {
    let unsigned = text.trim_start_matches('-');
    if let Some((whole, fraction)) = unsigned.split_once('.')
        && fraction.len() == 3
        && whole.len() <= 3
        && !whole.starts_with('0')
    {
        return None;
    }
    text.replace(',', "").parse().ok().and_then(Number::new)
}

/// Digits, signs or capitals only: certainly meant as it is written.
pub(crate) fn is_certain(text: &str) -> bool {
    let has_letters = text.chars().any(char::is_alphabetic);
    let is_capital = has_letters && !text.chars().any(char::is_lowercase);
    let is_word =
        text.split(['-', '/', '\'']).all(|part| !part.is_empty() && part.chars().all(char::is_alphabetic));
    is_capital || !is_word
}

fn is_operator(text: &str) -> bool {
    ["-", "+", "*", "/", "=", "==", "<", ">", "<=", ">=", "\u{2013}"].contains(&text)
}

fn is_day(text: &str) -> bool {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse::<u32>().ok());
    match (number(0, 4), number(5, 7), number(8, 10)) {
        (Some(year), Some(month), Some(day)) => {
            (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
        }
        _ => false,
    }
}

/// How many days a month has.
pub const fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && !year.is_multiple_of(100)
            || month == 2 && year.is_multiple_of(400) =>
        {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The pattern of a format such as `YYYY-MM-DD`: two parts at least, with one sign between each two.
fn date_pattern(text: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut rest = text;
    let mut parts = 0;
    while !rest.is_empty() {
        let length = rest.chars().take_while(char::is_ascii_alphabetic).count();
        pattern.push_str(LEXICON.get("format", &rest[..length])?);
        rest = &rest[length..];
        parts += 1;
        if let Some(sign) = rest.chars().next() {
            if !"-./: ".contains(sign) || rest.len() == 1 {
                return None;
            }
            pattern.push_str(&escaped(&sign.to_string()));
            rest = &rest[1..];
        }
    }
    (parts > 1).then_some(pattern)
}

/// A text as a part of a regular expression.
pub(crate) fn escaped(text: &str) -> String {
    let is_special = |c: char| "\\.^$|?*+()[]{}-/ #&~".contains(c);
    text.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}
