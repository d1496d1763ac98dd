//! Conditions on one row as SQL. A condition on a value that is not there is NULL, neither true nor false.

use ordain_types::{Side, Test, is_timestamp};
use serde_json::Value;

use super::{Held, Writer};
use crate::sql::quoted;

/// Above this pandas compares a whole number with another one, however it is written.
const WHOLE_FROM: f64 = 9e15;

impl Writer<'_> {
    pub(super) fn test(&mut self, test: &Test) -> Option<String> {
        Some(match test {
            Test::All(all) => self.joined(all, " AND ")?,
            Test::Any(any) => self.joined(any, " OR ")?,
            Test::Not(inner) => format!("(NOT {})", self.test(inner)?),
            Test::Compare { left, op, right } => self.compare(left, op, right)?,
            Test::Null(name) => {
                self.held(name)?;
                format!("({} IS NULL)", quoted(name))
            }
            Test::In { column, values } => self.one_of(column, values)?,
            Test::Length { column, min, max } => {
                if self.held(column)? != Held::Text || min.is_none() && max.is_none() {
                    return None;
                }
                let bounds = [(">=", min), ("<=", max)].into_iter().filter_map(|(op, bound)| {
                    bound.map(|bound| format!("length({}) {op} {bound}", quoted(column)))
                });
                format!("({})", bounds.collect::<Vec<_>>().join(" AND "))
            }
            Test::Weekend(name) if self.dialect.is_none() && self.held(name)? == Held::Time => {
                format!("(isodow({}) >= 6)", quoted(name))
            }
            // Patterns are Python's.
            Test::Weekend(_) | Test::Matches { .. } => return None,
        })
    }

    fn joined(&mut self, all: &[Test], by: &str) -> Option<String> {
        let parts = all.iter().map(|test| self.test(test)).collect::<Option<Vec<_>>>()?;
        (!parts.is_empty()).then(|| format!("({})", parts.join(by)))
    }

    fn compare(&mut self, left: &Side, op: &str, right: &Side) -> Option<String> {
        let operator = match op {
            "==" => "=",
            "!=" => "<>",
            "<" | "<=" | ">" | ">=" => op,
            _ => return None,
        };
        let (one, a) = self.side(left)?;
        let (other, b) = self.side(right)?;
        if left.is_formula() || right.is_formula() {
            return self.compare_rounded((one, &a), op, (other, &b));
        }
        Some(match (one, other) {
            (Held::Integer, Held::Integer) | (Held::Time, Held::Time) => format!("({a} {operator} {b})"),
            (Held::Integer | Held::Real, Held::Integer | Held::Real) => {
                format!("({} {operator} {})", self.double(&a), self.double(&b))
            }
            (Held::Text, Held::Text) => format!("({} {operator} {b})", self.ordered(Some(one), &a)),
            // Text that is written like a point in time is one beside points in time.
            (Held::Time, Held::Text) => format!("({a} {operator} {})", time_of(right)?),
            (Held::Text, Held::Time) => format!("({} {operator} {b})", time_of(left)?),
            _ => return None,
        })
    }

    /// Compares a formula: what differs by less than a millionth is equal, as `round(6)` has it.
    fn compare_rounded(&self, left: (Held, &str), op: &str, right: (Held, &str)) -> Option<String> {
        let ((one, a), (other, b)) = (left, right);
        let is_number = |held| matches!(held, Held::Integer | Held::Real);
        if !is_number(one) || !is_number(other) {
            return None;
        }
        let difference = if one == Held::Integer && other == Held::Integer {
            self.double(&format!("({a} - {b})"))
        } else {
            format!("({} - {})", self.double(a), self.double(b))
        };
        let scaled = format!("{difference} * {}", self.double("1000000"));
        let (half, minus_half) = (self.double("0.5"), self.double("-0.5"));
        Some(match op {
            "==" => format!("(abs({scaled}) <= {half})"),
            "!=" => format!("(abs({scaled}) > {half})"),
            ">" => format!("({scaled} > {half})"),
            ">=" => format!("({scaled} >= {minus_half})"),
            "<" => format!("({scaled} < {minus_half})"),
            _ => format!("({scaled} <= {half})"),
        })
    }

    fn side(&mut self, side: &Side) -> Option<(Held, String)> {
        Some(match side {
            Side::Column(name) => (self.comparable(name)?, quoted(name)),
            Side::Value(Value::String(text)) => (Held::Text, self.text(text)?),
            Side::Value(value) => self.number(value)?,
            Side::Sum(sides) | Side::Difference(sides) | Side::Product(sides) => {
                let (one, a) = self.side(&sides[0])?;
                let (other, b) = self.side(&sides[1])?;
                let sign = side.sign();
                match (one, other) {
                    (Held::Integer, Held::Integer) => (Held::Integer, format!("({a} {sign} {b})")),
                    (Held::Integer | Held::Real, Held::Integer | Held::Real) => {
                        (Held::Real, format!("({} {sign} {})", self.double(&a), self.double(&b)))
                    }
                    _ => return None,
                }
            }
            // Databases differ about division by zero; the moment of the run is not known here.
            Side::Quotient(_) | Side::Now | Side::Ago(_) => return None,
        })
    }

    fn number(&mut self, value: &Value) -> Option<(Held, String)> {
        let number = value.as_number()?;
        if let Some(whole) = number.as_i64() {
            return Some((Held::Integer, format!("({whole})")));
        }
        let real = number.as_f64().filter(|real| number.is_f64() && real.is_finite())?;
        let is_whole = real.fract() == 0.0 && real.abs() > WHOLE_FROM;
        (!is_whole).then(|| (Held::Real, self.real(real)))
    }

    fn one_of(&mut self, column: &str, values: &[Value]) -> Option<String> {
        let held = self.comparable(column)?;
        let mut listed = Vec::new();
        // A gap is not among the values: it is not judged.
        for value in values.iter().filter(|value| !value.is_null()) {
            listed.push(match (held, value) {
                (Held::Text, Value::String(text)) => self.text(text)?,
                (Held::Integer, Value::Number(_)) => match self.number(value)? {
                    (Held::Integer, text) => text,
                    _ => return None,
                },
                (Held::Real, Value::Number(_)) => {
                    let (_, number) = self.number(value)?;
                    self.double(&number)
                }
                (Held::Boolean, Value::Bool(value)) if self.dialect.is_none() => value.to_string(),
                _ => return None,
            });
        }
        let is_short = self.dialect.is_none() || listed.len() <= super::judge::LIST_MAX;
        (!listed.is_empty() && is_short).then(|| format!("({} IN ({}))", quoted(column), listed.join(", ")))
    }
}

/// A point in time without a zone, which is one of the prime meridian, as DuckDB writes it.
fn time_of(side: &Side) -> Option<String> {
    let Side::Value(Value::String(text)) = side else { return None };
    if !is_timestamp(text) {
        return None;
    }
    let (date, rest) = text.split_at(10);
    let clock = rest.get(1..).unwrap_or_default();
    let fraction = clock.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    if clock.contains(['Z', '+', '-']) || fraction > 6 {
        return None;
    }
    let clock = match clock.len() {
        0 => "00:00:00".to_owned(),
        5 => format!("{clock}:00"),
        2 => format!("{clock}:00:00"),
        _ => clock.to_owned(),
    };
    Some(format!("TIMESTAMP '{date} {clock}'"))
}
