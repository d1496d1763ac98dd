//! Conditions and expressions as SQL.

use super::{Dialect, From, ident};
use crate::algebra::{Calc, Cond, Day, Expr, Function, Link, Op, Path, Scalar, TextTest, Unit};
use crate::catalog::Holds;

impl From<'_> {
    /// A condition; nothing where the dialect has no words for it.
    pub(super) fn condition(&mut self, cond: &Cond) -> Option<String> {
        Some(match cond {
            Cond::All(all) | Cond::Any(all) if all.is_empty() => {
                if matches!(cond, Cond::All(_)) { "1 = 1" } else { "1 = 0" }.to_owned()
            }
            Cond::All(all) => self.several(all, " AND ")?,
            Cond::Any(any) => self.several(any, " OR ")?,
            Cond::Not(inner) => match &**inner {
                Cond::Null(path) => format!("{} IS NOT NULL", self.column(path)),
                inner => format!("NOT ({})", self.condition(inner)?),
            },
            Cond::Null(path) => format!("{} IS NULL", self.column(path)),
            Cond::Compare { left, op, right } => self.compared(left, *op, right)?,
            Cond::In { column, values } => {
                let left = self.column(column);
                let marks: Vec<String> =
                    values.iter().map(|value| self.value(&column.column, value)).collect();
                match marks.as_slice() {
                    [one] => format!("{left} = {one}"),
                    several => format!("{left} IN ({})", several.join(", ")),
                }
            }
            Cond::Text(path, test) => self.text(path, test)?,
            Cond::Weekday(path, days) => {
                let column = self.column(path);
                let days: Vec<String> = days
                    .iter()
                    .map(|day| if self.dialect() == Dialect::Sqlite { day % 7 } else { *day }.to_string())
                    .collect();
                let day = match self.dialect() {
                    Dialect::Sqlite => format!("CAST(strftime('%w', {column}) AS INTEGER)"),
                    _ => format!("extract(isodow FROM CAST({column} AS TIMESTAMP))"),
                };
                format!("{day} IN ({})", days.join(", "))
            }
            Cond::Exists { link, filter, op, count } => {
                let (text, column) = self.referring(link, filter, |_| Some("count(*)".to_owned()))?;
                let counted = format!("({text} = {column})");
                match (op, count) {
                    (Op::AtLeast, 1) => format!("EXISTS {}", counted.replacen("count(*)", "1", 1)),
                    (Op::Equal, 0) => format!("NOT EXISTS {}", counted.replacen("count(*)", "1", 1)),
                    (op, count) => format!("{counted} {} {count}", sign(*op)),
                }
            }
            Cond::Unique(_) | Cond::Apart { .. } | Cond::Depends(..) => return None,
        })
    }

    fn several(&mut self, all: &[Cond], by: &str) -> Option<String> {
        let parts: Option<Vec<String>> = all.iter().map(|cond| self.condition(cond)).collect();
        Some(format!("({})", parts?.join(by)))
    }

    /// A SELECT of the rows that refer to this one, up to the column that does, and the column here.
    fn referring(
        &mut self,
        link: &Link,
        filter: &Cond,
        value: impl FnOnce(&mut From<'_>) -> Option<String>,
    ) -> Option<(String, String)> {
        let alias = format!("{}x", self.alias);
        let mut other = From::new(self.catalog, self.params, &link.table, &alias);
        let value = value(&mut other)?;
        let cond =
            if filter.is_always() { String::new() } else { format!("{} AND ", other.condition(filter)?) };
        let text =
            format!("SELECT {value} FROM {} WHERE {cond}{alias}.{}", other.tables(), ident(&link.column));
        Some((text, self.column(&Path::own(&link.key))))
    }

    /// The mark of a value; yes and no stand as they are.
    fn value(&mut self, name: &str, value: &Scalar) -> String {
        match value {
            Scalar::Bool(value) => value.to_string(),
            value => self.params.mark(name, value, false),
        }
    }

    fn day(&mut self, name: &str, day: &Day, is_next: bool) -> String {
        let mark = self.params.mark(name, &Scalar::Day(day.clone()), is_next);
        if self.dialect() == Dialect::DuckDb { format!("CAST({mark} AS TIMESTAMP)") } else { mark }
    }

    fn compared(&mut self, left: &Expr, op: Op, right: &Expr) -> Option<String> {
        if let Expr::Value(Scalar::Day(day)) = right {
            // A day is all of its points in time.
            let name = if let Expr::Column(path) = left { path.column.to_string() } else { "day".to_owned() };
            let left = self.expr(left)?;
            return Some(match op {
                Op::Equal => {
                    let (from, to) =
                        (self.day(&name, day, false), self.day(&format!("{name}_end"), day, true));
                    format!("({left} >= {from} AND {left} < {to})")
                }
                Op::Below | Op::AtLeast => format!("{left} {} {}", sign(op), self.day(&name, day, false)),
                Op::AtMost => format!("{left} < {}", self.day(&format!("{name}_end"), day, true)),
                Op::Above => format!("{left} >= {}", self.day(&format!("{name}_end"), day, true)),
            });
        }
        let name = match left {
            Expr::Column(path) => path.column.to_string(),
            _ => "value".to_owned(),
        };
        let left = self.expr(left)?;
        let right = match right {
            Expr::Value(value) => self.value(&name, value),
            right => self.expr(right)?,
        };
        Some(format!("{left} {} {right}", sign(op)))
    }

    fn is_day(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Column(path) if self.holds(path) == Holds::Day)
    }

    /// An expression; nothing where the dialect has no words for it.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<String> {
        Some(match expr {
            Expr::Column(path) => self.column(path),
            Expr::Value(Scalar::Day(day)) => self.day("day", day, false),
            Expr::Value(value) => self.value("value", value),
            Expr::Fold(function, of, link, filter) => {
                let (text, column) = self.referring(link, filter, |other| {
                    let of = other.column(of);
                    Some(match function {
                        Function::Count => "count(*)".to_owned(),
                        Function::Distinct => format!("count(DISTINCT {of})"),
                        Function::Sum => format!("sum({of})"),
                        Function::Average => format!("avg({of})"),
                        Function::Maximum => format!("max({of})"),
                        Function::Minimum => format!("min({of})"),
                        Function::Median => return None,
                    })
                })?;
                format!("({text} = {column})")
            }
            Expr::Calc(Calc::Difference, parts) if parts.iter().all(|part| self.is_day(part)) => {
                let [one, other] = parts.as_slice() else { return None };
                let (one, other) = (self.expr(one)?, self.expr(other)?);
                match self.dialect() {
                    Dialect::Sqlite => format!("(julianday(date({one})) - julianday(date({other})))"),
                    Dialect::Postgres => format!("(CAST({one} AS DATE) - CAST({other} AS DATE))"),
                    Dialect::DuckDb => format!("date_diff('day', {other}, {one})"),
                }
            }
            Expr::Calc(Calc::Moved(unit), parts) => {
                let [from, Expr::Value(Scalar::Number(count))] = parts.as_slice() else { return None };
                let (from, count) = (self.expr(from)?, count.as_whole()?);
                let unit = match unit {
                    Unit::Day => "days",
                    Unit::Month => "months",
                    Unit::Year => "years",
                    _ => return None,
                };
                match self.dialect() {
                    Dialect::Sqlite => format!("date({from}, '{count:+} {unit}')"),
                    _ => format!("(CAST({from} AS TIMESTAMP) + INTERVAL '{count} {unit}')"),
                }
            }
            Expr::Calc(Calc::Part(unit), parts) => {
                let day = self.expr(parts.first()?)?;
                let (form, name) = match unit {
                    Unit::Year => ("%Y", "year"),
                    Unit::Month => ("%m", "month"),
                    Unit::Day => ("%d", "day"),
                    Unit::Hour => ("%H", "hour"),
                    _ => return None,
                };
                match self.dialect() {
                    Dialect::Sqlite => format!("CAST(strftime('{form}', {day}) AS INTEGER)"),
                    _ => format!("extract({name} FROM CAST({day} AS TIMESTAMP))"),
                }
            }
            Expr::Calc(Calc::Length, parts) => format!("length({})", self.expr(parts.first()?)?),
            Expr::Calc(Calc::Percent, parts) => {
                let [percent, whole] = parts.as_slice() else { return None };
                format!("({} * {} / 100.0)", self.expr(percent)?, self.expr(whole)?)
            }
            Expr::Calc(Calc::Quotient, parts) => {
                let [one, other] = parts.as_slice() else { return None };
                format!("({} * 1.0 / nullif({}, 0))", self.expr(one)?, self.expr(other)?)
            }
            Expr::Calc(calc, parts) => {
                let by = match calc {
                    Calc::Sum => " + ",
                    Calc::Difference => " - ",
                    Calc::Product => " * ",
                    _ => return None,
                };
                let parts: Option<Vec<String>> = parts.iter().map(|part| self.expr(part)).collect();
                format!("({})", parts?.join(by))
            }
        })
    }

    fn text(&mut self, path: &Path, test: &TextTest) -> Option<String> {
        let (column, dialect) = (self.column(path), self.dialect());
        let mut mark = |text: &str| self.params.mark(&path.column, &Scalar::Text(text.to_owned()), false);
        Some(match test {
            TextTest::Contains(part) => {
                let part = mark(part);
                let find = if dialect == Dialect::Postgres { "strpos" } else { "instr" };
                format!("{find}({column}, {part}) > 0")
            }
            TextTest::Starts(part) => format!("substr({column}, 1, length({})) = {}", mark(part), mark(part)),
            TextTest::Ends(part) => {
                format!("substr({column}, length({column}) - length({}) + 1) = {}", mark(part), mark(part))
            }
            TextTest::Word(word) => {
                let word = mark(&format!("% {} %", word.to_lowercase()));
                let plain = [".", ",", ";", ":", "-"]
                    .iter()
                    .fold(column, |text, sign| format!("replace({text}, '{sign}', ' ')"));
                format!("' ' || lower({plain}) || ' ' LIKE {word}")
            }
            TextTest::Length(low, high) => {
                let ends = [low.map(|low| format!(">= {low}")), high.map(|high| format!("<= {high}"))];
                let ends: Vec<String> =
                    ends.into_iter().flatten().map(|end| format!("length({column}) {end}")).collect();
                format!("({})", ends.join(" AND "))
            }
            TextTest::Matches(pattern) if dialect == Dialect::DuckDb => {
                format!("regexp_full_match({column}, {})", mark(pattern))
            }
            TextTest::Matches(_) | TextTest::Number | TextTest::Whole | TextTest::Date => return None,
        })
    }
}

const fn sign(op: Op) -> &'static str {
    match op {
        Op::Equal => "=",
        Op::Below => "<",
        Op::AtMost => "<=",
        Op::Above => ">",
        Op::AtLeast => ">=",
    }
}
