//! SQL functions: which of them a plan may call, and our own forms of those that could run for hours in one instruction.
//!
//! SQLite looks at the clock between instructions only, and its own `instr`, `replace`, `like`, `glob` and `trim` compare
//! every place of one text with every place of another. Ours take time in proportion to the texts, or look at the clock
//! themselves, and mean the same. What else makes long values (`hex`, `printf`, `zeroblob`, `group_concat`) is linear
//! and is held by the limit on the length of a value.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memmem;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::watch;

/// Functions without effects that read nothing but their arguments.
const ALLOWED: &[&str] = &[
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_quote",
    "json_tree",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "median",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "soundex",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "timediff",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
];

/// Whether a plan may call a function.
pub(super) fn is_allowed(name: &str) -> bool {
    ALLOWED.contains(&name.to_ascii_lowercase().as_str())
}

/// Puts our own forms in the place of SQLite's.
pub(super) fn replace_unbounded(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, |context| Ok(instr(context)))?;
    connection.create_scalar_function("replace", 3, flags, replace)?;
    connection.create_scalar_function("like", 2, flags, |context| matches(context, Wildcards::LIKE))?;
    connection.create_scalar_function("like", 3, flags, |context| matches(context, Wildcards::LIKE))?;
    connection.create_scalar_function("glob", 2, flags, |context| matches(context, Wildcards::GLOB))?;
    connection.create_scalar_function("trim", 2, flags, |context| Ok(trim(context, true, true)))?;
    connection.create_scalar_function("ltrim", 2, flags, |context| Ok(trim(context, true, false)))?;
    connection.create_scalar_function("rtrim", 2, flags, |context| Ok(trim(context, false, true)))
}

/// Where one text is in another, counted in characters from one; in bytes if both are bytes.
fn instr(context: &Context<'_>) -> Option<i64> {
    let (hay, needle) = (context.get_raw(0), context.get_raw(1));
    if hay == ValueRef::Null || needle == ValueRef::Null {
        return None;
    }
    let are_bytes = matches!((hay, needle), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (hay, needle) = (bytes_of(hay), bytes_of(needle));
    let Some(at) = memmem::find(&hay, &needle) else { return Some(0) };
    let before = &hay[..at];
    // A character is counted by the byte that begins it.
    let passed =
        if are_bytes { before.len() } else { before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() };
    Some(i64::try_from(passed).unwrap_or(i64::MAX).saturating_add(1))
}

fn replace(context: &Context<'_>) -> Result<Value> {
    if (0..2).any(|at| context.get_raw(at) == ValueRef::Null) {
        return Ok(Value::Null);
    }
    let [text, from, to] = [0, 1, 2].map(|at| bytes_of(context.get_raw(at)));
    if from.is_empty() {
        return Ok(Value::Text(text_from(text.into_owned())));
    }
    if context.get_raw(2) == ValueRef::Null {
        return Ok(Value::Null);
    }
    let finder = memmem::Finder::new(&from);
    let count = finder.find_iter(&text).count();
    let length = (text.len() - count * from.len()).saturating_add(count.saturating_mul(to.len()));
    if length > watch::value_bytes_max() {
        return Err(failed("string or blob too big"));
    }
    let (mut made, mut rest) = (Vec::with_capacity(length), 0);
    for at in finder.find_iter(&text) {
        made.extend_from_slice(&text[rest..at]);
        made.extend_from_slice(&to);
        rest = at + from.len();
    }
    made.extend_from_slice(&text[rest..]);
    Ok(Value::Text(text_from(made)))
}

fn trim(context: &Context<'_>, start: bool, end: bool) -> Value {
    let (text, characters) = (context.get_raw(0), context.get_raw(1));
    if text == ValueRef::Null || characters == ValueRef::Null {
        return Value::Null;
    }
    let (text, characters) = (text_of(text), text_of(characters));
    let characters: HashSet<char> = characters.chars().collect();
    let mut left = &*text;
    if start {
        left = left.trim_start_matches(|character| characters.contains(&character));
    }
    if end {
        left = left.trim_end_matches(|character| characters.contains(&character));
    }
    Value::Text(left.to_owned())
}

/// What a pattern's special characters are.
#[derive(Debug, Clone, Copy)]
struct Wildcards {
    any: char,
    one: char,
    /// Whether `[a-z]` names a set of characters.
    sets: bool,
    folds_case: bool,
}

impl Wildcards {
    const LIKE: Self = Self { any: '%', one: '_', sets: false, folds_case: true };
    const GLOB: Self = Self { any: '*', one: '?', sets: true, folds_case: false };
}

/// One part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Any,
    One,
    Char(char),
    Set {
        /// The characters between the square brackets.
        inside: &'a str,
        negated: bool,
    },
    /// A set that does not end, or an escape at the end: nothing matches.
    Never,
}

/// A pattern, and how it is read. It is read while it is matched: in a join each row has another one.
#[derive(Debug, Clone, Copy)]
struct Pattern<'a> {
    rest: &'a str,
    wildcards: Wildcards,
    escape: Option<char>,
}

/// `X LIKE Y` is `like(Y, X)`.
fn matches(context: &Context<'_>, wildcards: Wildcards) -> Result<Option<bool>> {
    const PATTERN_BYTES_MAX: usize = 50_000;
    if (0..context.len()).any(|at| context.get_raw(at) == ValueRef::Null) {
        return Ok(None);
    }
    let escape = if context.len() == 3 { Some(escape(context)?) } else { None };
    let (pattern, text) = (text_of(context.get_raw(0)), text_of(context.get_raw(1)));
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(failed("LIKE or GLOB pattern too complex"));
    }
    Pattern { rest: &pattern, wildcards, escape }.matches(&text).map(Some).map_err(failed)
}

fn escape(context: &Context<'_>) -> Result<char> {
    let text = text_of(context.get_raw(2));
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(escape), None) => Ok(escape),
        _ => Err(failed("ESCAPE expression must be a single character")),
    }
}

impl<'a> Pattern<'a> {
    /// Its first part, and the pattern behind that.
    fn next(self) -> Option<(Part<'a>, Self)> {
        let mut rest = self.rest.chars();
        let character = rest.next()?;
        let part = match character {
            _ if Some(character) == self.escape => rest.next().map_or(Part::Never, Part::Char),
            _ if character == self.wildcards.any => Part::Any,
            _ if character == self.wildcards.one => Part::One,
            '[' if self.wildcards.sets => set(&mut rest),
            other => Part::Char(other),
        };
        Some((part, Self { rest: rest.as_str(), ..self }))
    }

    /// Whether a text is what the pattern says. After the last `Any` that was met, only its extent is tried again.
    fn matches(self, text: &str) -> Result<bool, &'static str> {
        const STEPS_BETWEEN_CHECKS: u32 = 65_536;
        let (mut pattern, mut rest, mut steps) = (self, text, 0_u32);
        let mut last_any: Option<(Self, &str)> = None;
        loop {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
                watch::check()?;
            }
            let next = pattern.next();
            if let Some((Part::Any, behind)) = next {
                pattern = behind;
                last_any = Some((behind, rest));
                continue;
            }
            let mut following = rest.chars();
            match (next, following.next()) {
                (None, None) => return Ok(true),
                (Some((part, behind)), Some(character))
                    if part.takes(character, self.wildcards.folds_case) =>
                {
                    pattern = behind;
                    rest = following.as_str();
                    continue;
                }
                (_, None) => return Ok(false),
                _ => {}
            }
            let Some((after, from)) = last_any else { return Ok(false) };
            let mut from = from.chars();
            from.next();
            rest = from.as_str();
            last_any = Some((after, rest));
            pattern = after;
        }
    }
}

/// A set of characters, up to its closing bracket. A bracket that comes first is one of the set.
fn set<'a>(rest: &mut std::str::Chars<'a>) -> Part<'a> {
    let negated = rest.as_str().starts_with('^');
    if negated {
        rest.next();
    }
    let text = rest.as_str();
    let mut ranges = Ranges { rest: rest.clone(), is_first: true };
    while ranges.next().is_some() {}
    let length = text.len() - ranges.rest.as_str().len();
    *rest = ranges.rest;
    match rest.next() {
        Some(']') => Part::Set { inside: &text[..length], negated },
        _ => Part::Never,
    }
}

/// The ranges of a set, up to its closing bracket or the end of the text. A bracket that comes first begins no range.
struct Ranges<'a> {
    rest: std::str::Chars<'a>,
    is_first: bool,
}

impl Iterator for Ranges<'_> {
    type Item = (char, char);

    fn next(&mut self) -> Option<(char, char)> {
        let mut ahead = self.rest.clone();
        let is_first = std::mem::take(&mut self.is_first);
        let from = ahead.next().filter(|character| *character != ']' || is_first)?;
        self.rest = ahead.clone();
        if from == ']' {
            return Some((from, from));
        }
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                self.rest = ahead;
                Some((from, to))
            }
            _ => Some((from, from)),
        }
    }
}

impl Part<'_> {
    fn takes(self, character: char, folds_case: bool) -> bool {
        match self {
            Self::One => true,
            Self::Char(own) if folds_case => own.eq_ignore_ascii_case(&character),
            Self::Char(own) => own == character,
            Self::Set { inside, negated } => {
                let mut ranges = Ranges { rest: inside.chars(), is_first: true };
                // The first character of a range counts, also where the range is empty (`[b-a]`).
                ranges.any(|(from, to)| character == from || (from..=to).contains(&character)) != negated
            }
            Self::Any | Self::Never => false,
        }
    }
}

fn failed(message: &'static str) -> Error {
    Error::UserFunctionError(message.into())
}

/// A value as text, as SQLite itself converts it.
fn bytes_of(value: ValueRef<'_>) -> Cow<'_, [u8]> {
    match value {
        ValueRef::Null => Cow::Borrowed(&[]),
        ValueRef::Integer(number) => Cow::Owned(number.to_string().into_bytes()),
        ValueRef::Real(number) => Cow::Owned(real_text(number).into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cow::Borrowed(bytes),
    }
}

fn text_of(value: ValueRef<'_>) -> Cow<'_, str> {
    match bytes_of(value) {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(text_from(bytes)),
    }
}

fn text_from(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A real number as SQLite writes it, with a point. Where more than 15 digits are needed SQLite may write one more.
fn real_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let with_point =
        |digits: &str| if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
    if (-4..=16).contains(&exponent) {
        return with_point(&format!("{number}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_point(digits), exponent.abs())
}

#[cfg(test)]
mod tests;
