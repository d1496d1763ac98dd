//! Which type a column has, from its values.

use ordain_types::{ColumnType, is_timestamp};
use serde_json::Value;

use super::{Raw, SeedError, Source};

/// What was seen in a column.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of kinds, each seen or not")]
struct Seen {
    integers: bool,
    reals: bool,
    booleans: bool,
    timestamps: bool,
    text: bool,
    nested: bool,
    /// Whether the values are cells of a text file, where a mixture is text.
    is_text: bool,
    /// The first line with a number that is none, such as `NaN`.
    not_a_number: Option<u64>,
}

/// The narrowest type that holds every value of a column.
pub(super) fn column_type(source: &Source<'_>, raw: &Raw, place: usize) -> Result<ColumnType, SeedError> {
    let mut seen = Seen { is_text: raw.is_text, ..Seen::default() };
    for row in &raw.rows {
        match row.values.get(place).and_then(Option::as_ref) {
            Some(Value::String(text)) if raw.is_text => seen.cell(text, row.line),
            Some(value) => seen.value(value),
            None => {}
        }
    }
    let numeric = seen.integers || seen.reals;
    if let (Some(line), true, false) = (seen.not_a_number, numeric, seen.text) {
        let message = format!("column `{}` has numbers, and here something that is none", raw.names[place]);
        return Err(source.error(Some(line), message).hint("leave the cell empty where there is no value"));
    }
    Ok(seen.column_type())
}

impl Seen {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.booleans = true,
            Value::Number(number) if number.is_f64() => self.reals = true,
            Value::Number(_) => self.integers = true,
            Value::String(text) if is_timestamp(text) => self.timestamps = true,
            Value::String(_) => self.text = true,
            Value::Array(_) | Value::Object(_) => self.nested = true,
        }
    }

    fn cell(&mut self, text: &str, line: u64) {
        if is_integer(text) {
            // An identifier of twenty digits is not a number to calculate with.
            *(if text.parse::<i64>().is_ok() { &mut self.integers } else { &mut self.text }) = true;
        } else if is_not_a_number(text) {
            self.not_a_number.get_or_insert(line);
        } else if is_real(text) {
            self.reals = true;
        } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            self.booleans = true;
        } else if is_timestamp(text) {
            self.timestamps = true;
        } else {
            self.text = true;
        }
    }

    fn column_type(&self) -> ColumnType {
        let numeric = self.integers || self.reals;
        let textual = self.text || self.timestamps || self.not_a_number.is_some();
        let families =
            [numeric, self.booleans, textual, self.nested].into_iter().filter(|seen| *seen).count();
        match families {
            1 if numeric => {
                if self.reals {
                    ColumnType::Real
                } else {
                    ColumnType::Integer
                }
            }
            1 if self.booleans => ColumnType::Boolean,
            1 if self.nested => ColumnType::Json,
            1 if self.timestamps && !self.text && self.not_a_number.is_none() => ColumnType::Timestamp,
            // In CSV everything is text; in JSON only a nested value holds different things.
            2.. if !self.is_text => ColumnType::Json,
            _ => ColumnType::Text,
        }
    }
}

/// Digits without a leading zero: `01234` is a postcode.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'))
}

fn is_real(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && !(unsigned.starts_with('0') && unsigned[1..].starts_with(|c: char| c.is_ascii_digit()))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

pub(super) fn is_not_a_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text).to_ascii_lowercase();
    matches!(unsigned.as_str(), "nan" | "inf" | "infinity")
}
