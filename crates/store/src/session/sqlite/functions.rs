//! SQL functions: which of them a plan may call, and our own forms of those that could run for hours in one instruction.
//!
//! SQLite looks at the clock between instructions only, and its own `instr`, `replace`, `like`, `glob` and `trim` compare
//! every place of one text with every place of another. Ours take time in proportion to the texts, or look at the clock
//! themselves, and mean the same. What else makes long values (`hex`, `printf`, `zeroblob`, `group_concat`) is linear
//! and is held by the limit on the length of a value.

use std::collections::HashSet;
use std::sync::Arc;

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
        return Ok(Value::Text(text_from(text)));
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
    let (text, characters) = (text_from(bytes_of(text)), text_from(bytes_of(characters)));
    let characters: HashSet<char> = characters.chars().collect();
    let mut left = text.as_str();
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
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Char(char),
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    /// A set that does not end, or an escape at the end: nothing matches.
    Never,
}

/// `X LIKE Y` is `like(Y, X)`.
fn matches(context: &Context<'_>, wildcards: Wildcards) -> Result<Option<bool>> {
    if (0..context.len()).any(|at| context.get_raw(at) == ValueRef::Null) {
        return Ok(None);
    }
    let escape = if context.len() == 3 { Some(escape(context)?) } else { None };
    let parts: Arc<Vec<Part>> =
        context.get_or_create_aux(0, |pattern| compile(&text_from(bytes_of(pattern)), wildcards, escape))?;
    let text = text_from(bytes_of(context.get_raw(1)));
    match_parts(&parts, &text, wildcards.folds_case).map(Some).map_err(failed)
}

fn escape(context: &Context<'_>) -> Result<char> {
    let text = text_from(bytes_of(context.get_raw(2)));
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(escape), None) => Ok(escape),
        _ => Err(failed("ESCAPE expression must be a single character")),
    }
}

fn compile(pattern: &str, wildcards: Wildcards, escape: Option<char>) -> Result<Vec<Part>, &'static str> {
    const PATTERN_BYTES_MAX: usize = 50_000;
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err("LIKE or GLOB pattern too complex");
    }
    let (mut parts, mut rest) = (Vec::new(), pattern.chars());
    while let Some(character) = rest.next() {
        let part = match character {
            _ if Some(character) == escape => rest.next().map_or(Part::Never, Part::Char),
            _ if character == wildcards.any => Part::Any,
            _ if character == wildcards.one => Part::One,
            '[' if wildcards.sets => set(&mut rest),
            other => Part::Char(other),
        };
        // Several in a row mean no more than one.
        if part != Part::Any || parts.last() != Some(&Part::Any) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// A set of characters, up to its closing bracket. A bracket that comes first is one of the set.
fn set(rest: &mut std::str::Chars<'_>) -> Part {
    let mut next = rest.next();
    let negated = next == Some('^');
    if negated {
        next = rest.next();
    }
    let mut ranges = Vec::new();
    let mut is_first = true;
    while let Some(character) = next {
        if character == ']' && !is_first {
            return Part::Set { ranges, negated };
        }
        is_first = false;
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(end)) if end != ']' => {
                ranges.push((character, end));
                *rest = ahead;
            }
            _ => ranges.push((character, character)),
        }
        next = rest.next();
    }
    Part::Never
}

/// Whether a text is what the parts say. After the last `Any` that was met, only its extent is tried again.
fn match_parts(parts: &[Part], text: &str, folds_case: bool) -> Result<bool, &'static str> {
    const STEPS_BETWEEN_CHECKS: u32 = 65_536;
    let (mut at, mut rest, mut steps) = (0, text, 0_u32);
    let mut last_any: Option<(usize, &str)> = None;
    loop {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            watch::check()?;
        }
        if parts.get(at) == Some(&Part::Any) {
            at += 1;
            last_any = Some((at, rest));
            continue;
        }
        let mut following = rest.chars();
        let character = following.next();
        match (parts.get(at), character) {
            (None, None) => return Ok(true),
            (Some(part), Some(character)) if part.takes(character, folds_case) => {
                at += 1;
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
        at = after;
    }
}

impl Part {
    fn takes(&self, character: char, folds_case: bool) -> bool {
        match self {
            Self::One => true,
            Self::Char(own) if folds_case => own.eq_ignore_ascii_case(&character),
            Self::Char(own) => *own == character,
            Self::Set { ranges, negated } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *negated
            }
            Self::Any | Self::Never => false,
        }
    }
}

fn failed(message: &'static str) -> Error {
    Error::UserFunctionError(message.into())
}

/// A value as text, as SQLite itself converts it.
fn bytes_of(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Null => Vec::new(),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => real_text(number).into_bytes(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
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
