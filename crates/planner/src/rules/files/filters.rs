//! Which rows a request is about: values, comparisons, dates and quoted texts.

use super::catalog::{Column, ColumnKind};
use super::lexicon::{MONTHS, Token, tokens, whole};
use super::question::Filter;
use super::request::Reading;

/// Phrases that compare with a number, the longer ones first.
const SIGNS: [(&str, &str); 26] = [
    ("greater than or equal to", ">="),
    ("less than or equal to", "<="),
    ("more than", ">"),
    ("greater than", ">"),
    ("larger than", ">"),
    ("higher than", ">"),
    ("bigger than", ">"),
    ("no less than", ">="),
    ("not less than", ">="),
    ("at least", ">="),
    ("less than", "<"),
    ("fewer than", "<"),
    ("lower than", "<"),
    ("smaller than", "<"),
    ("cheaper than", "<"),
    ("no more than", "<="),
    ("at most", "<="),
    ("up to", "<="),
    ("equal to", "=="),
    ("above", ">"),
    ("over", ">"),
    ("exceeding", ">"),
    ("exceeds", ">"),
    ("below", "<"),
    ("under", "<"),
    ("equals", "=="),
];

/// Reads the filters and marks their words as used.
pub(super) fn read(reading: &mut Reading<'_>) -> Vec<Filter> {
    let mut filters = Vec::new();
    dates(reading, &mut filters);
    comparisons(reading, &mut filters);
    values(reading, &mut filters);
    quoted(reading, &mut filters);
    filters
}

/// Whether the words name a value.
pub(super) fn says_value(words: &[Token], value: &str) -> bool {
    find_value(words, value).is_some()
}

/// Where a value is named: whole words, one or several, in singular or plural.
fn find_value(words: &[Token], value: &str) -> Option<(usize, usize)> {
    // Words that are part of most questions are no values unless they are quoted.
    const COMMON: [&str; 16] = [
        "a", "an", "the", "in", "on", "of", "by", "all", "total", "no", "yes", "and", "or", "is", "other",
        "may",
    ];
    let parts = tokens(value);
    if parts.is_empty() || value.len() < 2 || COMMON.contains(&value.to_lowercase().as_str()) {
        return None;
    }
    (0..(words.len() + 1).checked_sub(parts.len())?)
        .find(|&at| {
            parts.iter().zip(&words[at..]).all(|(part, word)| {
                part.lower == word.lower
                    || part.number.is_none() && part.stem == word.stem && word.lower.len() > 3
            })
        })
        .map(|at| (at, at + parts.len()))
}

fn values(reading: &mut Reading<'_>, filters: &mut Vec<Filter>) {
    let columns: Vec<Column> =
        reading.columns.iter().filter(|column| !column.values.is_empty()).cloned().collect();
    let mut found: Vec<(usize, usize, String, String)> = Vec::new();
    for column in &columns {
        for value in &column.values {
            let Some((start, end)) = find_value(reading.words, value) else { continue };
            let is_column = reading.mentions.iter().any(|mention| {
                mention.start <= start
                    && mention.end >= end
                    && (mention.strength == 3 || mention.end - mention.start > end - start)
            });
            if !is_column && !reading.used[start] {
                found.push((start, end, column.name.clone(), value.clone()));
            }
        }
    }
    // The longer value wins where two overlap: “New York” is not “York”.
    found.sort_by_key(|(start, end, ..)| (std::cmp::Reverse(end - start), *start));
    for (start, end, column, value) in found {
        let same_place = reading.used[start..end].iter().any(|used| *used);
        if same_place {
            continue;
        }
        let is_not = start > 0
            && reading.words[start.saturating_sub(2)..start].iter().any(|word| {
                matches!(word.lower.as_str(), "not" | "except" | "excluding" | "without" | "isn't")
            });
        reading.use_words(start, end);
        let known = filters.iter_mut().find_map(|filter| match filter {
            Filter::OneOf { column: known, values, is_not: negated }
                if *known == column && *negated == is_not =>
            {
                Some(values)
            }
            _ => None,
        });
        match known {
            Some(values) => values.push(value),
            None => filters.push(Filter::OneOf { column, values: vec![value], is_not }),
        }
    }
}

fn comparisons(reading: &mut Reading<'_>, filters: &mut Vec<Filter>) {
    for at in 0..reading.words.len() {
        let Some(value) = reading.words[at].number.filter(|_| !reading.used[at]) else { continue };
        let Some((sign, start)) = sign_before(reading, at) else { continue };
        // “units above 5” and “more than 5 units”.
        let before = (start.saturating_sub(4)..start)
            .rev()
            .find_map(|word| reading.at(word, Reading::is_measure).filter(|mention| mention.end <= start));
        let after = reading.after(at + 1, Reading::is_measure);
        let Some(mention) = before.or(after).cloned() else { continue };
        let column = &reading.columns[mention.column];
        if !Reading::is_measure(column) {
            continue;
        }
        let column = column.name.clone();
        reading.use_words(mention.start, mention.end);
        reading.use_words(start, at + 1);
        if sign == "between" {
            let Some(end) = reading.words.get(at + 2).and_then(|word| word.number) else { continue };
            reading.use_words(at + 1, at + 3);
            filters.push(Filter::Compare { column: column.clone(), sign: ">=", value: value.min(end) });
            filters.push(Filter::Compare { column, sign: "<=", value: value.max(end) });
        } else {
            filters.push(Filter::Compare { column, sign, value });
        }
    }
}

/// The comparison that ends right before a word, and where it begins.
fn sign_before(reading: &Reading<'_>, at: usize) -> Option<(&'static str, usize)> {
    let words = reading.words;
    let previous = if at == 0 { 0 } else { words[at - 1].end };
    let between = &reading.request[previous..words[at].start];
    for sign in [">=", "<=", "!=", "==", ">", "<", "="] {
        if between.contains(sign) {
            return Some((if sign == "=" { "==" } else { sign }, at));
        }
    }
    for (phrase, sign) in SIGNS {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let Some(start) = at.checked_sub(parts.len()) else { continue };
        if parts.iter().zip(&words[start..at]).all(|(part, word)| *part == word.lower) {
            return Some((sign, start));
        }
    }
    let start = at.checked_sub(1)?;
    match words[start].lower.as_str() {
        "between" => Some(("between", start)),
        "is" | "are" | "of" if start > 0 && reading.at(start - 1, Reading::is_measure).is_some() => {
            Some(("==", start))
        }
        _ => None,
    }
}

fn dates(reading: &mut Reading<'_>, filters: &mut Vec<Filter>) {
    let Some(column) = reading.date_column() else { return };
    read_dates(reading, &column, filters);
    // The words that say on which side of a date the rows lie have had their meaning with it.
    for at in 1..reading.words.len() {
        let is_side = matches!(
            reading.words[at - 1].lower.as_str(),
            "after" | "before" | "since" | "until" | "till" | "through"
        );
        if is_side && reading.used[at] {
            reading.use_words(at - 1, at);
        }
    }
}

fn read_dates(reading: &mut Reading<'_>, column: &str, filters: &mut Vec<Filter>) {
    let column = column.to_owned();
    let mut at = 0;
    while at < reading.words.len() {
        let word = reading.words[at].clone();
        let before = at.checked_sub(1).map_or("", |at| reading.words[at].lower.as_str()).to_owned();
        let next = reading.words.get(at + 1).cloned();
        if is_day(&word.lower) {
            let sign = match before.as_str() {
                "after" => ">",
                "since" | "from" | "between" => ">=",
                "before" => "<",
                "until" | "till" | "to" | "and" | "through" => "<=",
                _ => "==",
            };
            reading.use_words(at, at + 1);
            filters.push(Filter::Date { column: column.clone(), sign, day: word.lower.clone() });
        } else if let Some(month) = month(&word.lower, &before, next.as_ref()) {
            reading.use_words(at, at + 1);
            filters.push(Filter::Month { column: column.clone(), month });
        } else if let Some(quarter) = quarter(&word.lower) {
            reading.use_words(at, at + 1);
            let year = next.as_ref().and_then(year);
            if let Some(year) = year {
                reading.use_words(at + 1, at + 2);
                push_quarter(filters, &column, year, quarter);
                at += 1;
            }
        } else if let Some(year) = year(&word).filter(|_| is_year_place(&before, reading, at)) {
            reading.use_words(at, at + 1);
            filters.push(match before.as_str() {
                "since" | "from" => {
                    Filter::Date { column: column.clone(), sign: ">=", day: format!("{year}-01-01") }
                }
                "before" => Filter::Date { column: column.clone(), sign: "<", day: format!("{year}-01-01") },
                "after" => {
                    Filter::Date { column: column.clone(), sign: ">=", day: format!("{}-01-01", year + 1) }
                }
                _ => Filter::Year { column: column.clone(), year },
            });
        }
        at += 1;
    }
}

fn is_year_place(before: &str, reading: &Reading<'_>, at: usize) -> bool {
    matches!(before, "in" | "for" | "during" | "of" | "since" | "from" | "before" | "after" | "year")
        || at > 0
            && MONTHS.iter().any(|month| {
                *month == reading.words[at - 1].lower || month[..3] == reading.words[at - 1].lower
            })
}

fn is_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths.as_slice(), [4, 1..=2, 1..=2])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn month(word: &str, before: &str, next: Option<&Token>) -> Option<usize> {
    let at = MONTHS.iter().position(|month| *month == word || word.len() == 3 && month[..3] == *word)?;
    // “may” and “march” are verbs too, “mar” and “dec” are parts of names.
    let is_sure = matches!(before, "in" | "during" | "for" | "of" | "since")
        || next.is_some_and(|next| year(next).is_some());
    is_sure.then_some(at + 1)
}

fn quarter(word: &str) -> Option<u64> {
    let number = word.strip_prefix('q')?.parse().ok()?;
    (1..=4).contains(&number).then_some(number)
}

fn push_quarter(filters: &mut Vec<Filter>, column: &str, year: u64, quarter: u64) {
    let start = format!("{year}-{:02}-01", quarter * 3 - 2);
    let end = if quarter == 4 {
        format!("{}-01-01", year + 1)
    } else {
        format!("{year}-{:02}-01", quarter * 3 + 1)
    };
    filters.push(Filter::Date { column: column.to_owned(), sign: ">=", day: start });
    filters.push(Filter::Date { column: column.to_owned(), sign: "<", day: end });
}

fn year(word: &Token) -> Option<u64> {
    whole(word).filter(|year| (1900..2100).contains(year) && word.lower.len() == 4)
}

/// Quoted texts that are no known value: `name is "Ann"`, `containing "ann"`, or `"ann"` anywhere.
fn quoted(reading: &mut Reading<'_>, filters: &mut Vec<Filter>) {
    for (text, start, end) in quotes(reading.request) {
        let inside: Vec<usize> = (0..reading.words.len())
            .filter(|&at| reading.words[at].start >= start && reading.words[at].end <= end)
            .collect();
        if text.is_empty() || inside.iter().any(|&at| reading.used[at]) {
            continue;
        }
        let first = inside.first().copied().unwrap_or(reading.words.len());
        let is_text = |column: &Column| column.kind == ColumnKind::Text;
        let column = (first.saturating_sub(4)..first).rev().find_map(|at| reading.at(at, is_text)).cloned();
        let contains = reading.words[first.saturating_sub(3)..first].iter().any(|word| {
            matches!(
                word.stem.as_str(),
                "contain" | "containing" | "including" | "like" | "matching" | "with"
            )
        });
        if let (Some(&first), Some(&last)) = (inside.first(), inside.last()) {
            reading.use_words(first, last + 1);
        }
        match column {
            Some(mention) if !contains => {
                let column = reading.name(&mention);
                reading.use_words(mention.start, mention.end);
                filters.push(Filter::OneOf { column, values: vec![text], is_not: false });
            }
            column => {
                let column = column.map(|mention| reading.name(&mention));
                filters.push(Filter::Contains { column, text });
            }
        }
    }
}

/// The quoted parts of a text, with where they start and end.
pub(super) fn quotes(request: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for (at, character) in request.char_indices() {
        match open {
            None => {
                let before = request[..at].chars().next_back();
                let starts = before.is_none_or(|before| !before.is_alphanumeric());
                let closing = match character {
                    '"' => '"',
                    '“' => '”',
                    '\'' if starts => '\'',
                    '`' => '`',
                    _ => continue,
                };
                open = Some((closing, at + character.len_utf8()));
            }
            Some((closing, start)) if character == closing => {
                found.push((request[start..at].to_owned(), start, at));
                open = None;
            }
            Some(_) => {}
        }
    }
    found
}
