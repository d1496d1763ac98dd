//! Values of rows: columns, days, times, what is computed, and comparisons.

use super::{Frame, Mark, Writer, names, opposite, sign, text};
use crate::algebra::{Calc, Cond, Day, Expr, Function, Link, Op, Path, Scalar, Unit};
use crate::catalog::Holds;

/// What kind of values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Plain,
    Days,
    Times,
}

impl Writer<'_> {
    /// A column of a frame, or of the rows that it refers to.
    pub(super) fn column(&mut self, rows: &Frame, path: &Path) -> String {
        let mut table = rows.table.clone();
        let first = path.hops.first().map_or(&path.column, |hop| &hop.column).clone();
        self.uses(&table, &first);
        let mut value = format!("{}[{}]", rows.variable, text(&first));
        for (place, hop) in path.hops.iter().enumerate() {
            let next = path.hops.get(place + 1).map_or(&path.column, |next| &next.column);
            self.uses(&hop.table, &hop.key);
            self.uses(&hop.table, next);
            table.clone_from(&hop.table);
            let there = self.variable(
                "there",
                format!(
                    "frame({}).dropna(subset=[{key}]).drop_duplicates([{key}]).set_index({key})",
                    text(&table),
                    key = text(&hop.key)
                ),
            );
            value = self.variable("theirs", format!("{value}.map({there}[{}])", text(next)));
        }
        value
    }

    fn holds(&self, rows: &Frame, path: &Path) -> Holds {
        let owner = path.owner(&rows.table);
        self.catalog.column(owner, &path.column).map_or(Holds::Text, |column| column.holds)
    }

    fn sort(&self, rows: &Frame, expr: &Expr) -> Sort {
        match expr {
            Expr::Column(path) => match self.holds(rows, path) {
                Holds::Day => Sort::Days,
                Holds::Time => Sort::Times,
                _ => Sort::Plain,
            },
            Expr::Value(Scalar::Day(_)) => Sort::Days,
            Expr::Value(Scalar::Time(_)) => Sort::Times,
            Expr::Calc(Calc::Moved(_), parts) => {
                parts.first().map_or(Sort::Plain, |part| self.sort(rows, part))
            }
            _ => Sort::Plain,
        }
    }

    /// Points in time, and whether they have a time of day.
    pub(super) fn days(&mut self, rows: &Frame, expr: &Expr) -> (String, bool) {
        match expr {
            Expr::Column(path) => {
                self.pandas();
                let owner = path.owner(&rows.table);
                let has_time = self.catalog.column(owner, &path.column).is_some_and(|column| column.has_time);
                let value = self.column(rows, path);
                (self.variable("times", format!("pd.to_datetime({value}, utc=True)")), has_time)
            }
            Expr::Value(Scalar::Day(day)) => (self.day(day), false),
            Expr::Calc(Calc::Moved(unit), parts) => {
                let (from, has_time) = parts.first().map(|from| self.days(rows, from)).unwrap_or_default();
                let count = match parts.get(1) {
                    Some(Expr::Value(Scalar::Number(count))) => count.to_string(),
                    _ => "0".to_owned(),
                };
                let span = match unit {
                    Unit::Month => format!("pd.DateOffset(months={count})"),
                    Unit::Year => format!("pd.DateOffset(years={count})"),
                    Unit::Minute => format!("pd.Timedelta(minutes={count})"),
                    Unit::Hour => format!("pd.Timedelta(hours={count})"),
                    Unit::Week => format!("pd.Timedelta(weeks={count})"),
                    Unit::Day => format!("pd.Timedelta(days={count})"),
                };
                (format!("({from} + {span})"), has_time || matches!(unit, Unit::Minute | Unit::Hour))
            }
            other => (self.value(rows, other), false),
        }
    }

    fn day(&mut self, day: &Day) -> String {
        self.pandas();
        match day {
            Day::On(day) => format!("pd.Timestamp({}, tz=\"UTC\")", text(day)),
            Day::Relative(unit, shift) => {
                let today = self.variable(
                    "today",
                    "pd.Timestamp(inputs[\"now\"]).tz_convert(\"UTC\").normalize()".to_owned(),
                );
                match unit {
                    Unit::Week => format!(
                        "({today} - pd.Timedelta(days={today}.dayofweek) + pd.Timedelta(weeks={shift}))"
                    ),
                    Unit::Month => format!("({today}.replace(day=1) + pd.DateOffset(months={shift}))"),
                    Unit::Year => format!("({today}.replace(month=1, day=1) + pd.DateOffset(years={shift}))"),
                    _ => format!("({today} + pd.Timedelta(days={shift}))"),
                }
            }
        }
    }

    /// Times of day as points in time of one day, and the same where they stay on it.
    fn times(&mut self, rows: &Frame, expr: &Expr) -> String {
        self.pandas();
        match expr {
            Expr::Column(path) => {
                let value = self.column(rows, path);
                let parsed =
                    format!("pd.to_datetime(\"2000-01-01 \" + {value}, format=\"mixed\", errors=\"coerce\")");
                self.variable("times", parsed)
            }
            Expr::Value(Scalar::Time(time)) => format!("pd.Timestamp(\"2000-01-01 {time}\")"),
            other => {
                let (moved, _) = match other {
                    Expr::Calc(calc, parts) => {
                        let from = parts.first().map(|from| self.times(rows, from)).unwrap_or_default();
                        let unit = if *calc == Calc::Moved(Unit::Hour) { "hours" } else { "minutes" };
                        let count = match parts.get(1) {
                            Some(Expr::Value(Scalar::Number(count))) => count.to_string(),
                            _ => "0".to_owned(),
                        };
                        (format!("({from} + pd.Timedelta({unit}={count}))"), false)
                    }
                    other => (self.value(rows, other), false),
                };
                let moved = self.variable("moved", moved);
                format!("{moved}.where({moved}.dt.normalize() == pd.Timestamp(\"2000-01-01\"))")
            }
        }
    }

    /// A number, text or truth value.
    pub(super) fn value(&mut self, rows: &Frame, expr: &Expr) -> String {
        match expr {
            Expr::Column(path) => self.column(rows, path),
            Expr::Value(scalar) => self.scalar(scalar),
            Expr::Fold(function, of, link, filter) => self.fold(rows, *function, of, link, filter),
            Expr::Calc(Calc::Part(unit), parts) => {
                let value = parts.first().map(|part| self.days(rows, part).0).unwrap_or_default();
                let part = match unit {
                    Unit::Year => "year",
                    Unit::Month => "month",
                    Unit::Hour => "hour",
                    _ => "day",
                };
                format!("{value}.dt.{part}")
            }
            Expr::Calc(Calc::Length, parts) => match parts.first() {
                Some(Expr::Column(path)) => format!("{}.str.len()", self.texts(rows, path)),
                _ => "0".to_owned(),
            },
            Expr::Calc(Calc::Difference, parts)
                if parts.iter().all(|part| self.sort(rows, part) == Sort::Days) =>
            {
                let days: Vec<String> = parts.iter().map(|part| self.whole_days(rows, part)).collect();
                format!("({}).dt.days", days.join(" - "))
            }
            Expr::Calc(calc, parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.value(rows, part)).collect();
                match calc {
                    Calc::Sum => format!("({})", parts.join(" + ")),
                    Calc::Difference => format!("({})", parts.join(" - ")),
                    Calc::Product => format!("({})", parts.join(" * ")),
                    Calc::Quotient => format!("({})", parts.join(" / ")),
                    Calc::Remainder => format!("({})", parts.join(" % ")),
                    _ => format!("({} / 100)", parts.join(" * ")),
                }
            }
        }
    }

    /// A column in a form in which its values can be ordered.
    pub(super) fn comparable(&mut self, rows: &Frame, expr: &Expr) -> String {
        match self.sort(rows, expr) {
            Sort::Days => self.days(rows, expr).0,
            Sort::Times => self.times(rows, expr),
            Sort::Plain => self.value(rows, expr),
        }
    }

    fn whole_days(&mut self, rows: &Frame, expr: &Expr) -> String {
        let (value, has_time) = self.days(rows, expr);
        match expr {
            Expr::Value(_) => value,
            _ if has_time => format!("{value}.dt.normalize()"),
            _ => value,
        }
    }

    fn scalar(&mut self, scalar: &Scalar) -> String {
        match scalar {
            Scalar::Text(value) => text(value),
            Scalar::Number(value) => value.to_string(),
            Scalar::Bool(true) => "True".to_owned(),
            Scalar::Bool(false) => "False".to_owned(),
            Scalar::Day(day) => self.day(day),
            Scalar::Time(time) => format!("pd.Timestamp(\"2000-01-01 {time}\")"),
        }
    }

    pub(super) fn compared(&mut self, rows: &Frame, left: &Expr, op: Op, right: &Expr) -> Mark {
        let (so, not) = self.comparison(rows, left, op, right);
        let mut clauses = vec![not];
        for side in [left, right] {
            // A time of day that is none.
            if let (Expr::Column(path), Sort::Times) = (side, self.sort(rows, side)) {
                let (value, times) = (self.column(rows, path), self.times(rows, side));
                clauses.push(format!("({value}.notna() & {times}.isna())"));
            }
        }
        let not = if clauses.len() == 1 { clauses.remove(0) } else { format!("({})", clauses.join(" | ")) };
        Mark { so, not }
    }

    fn comparison(&mut self, rows: &Frame, left: &Expr, op: Op, right: &Expr) -> (String, String) {
        if let (Expr::Calc(Calc::Remainder, parts), Expr::Value(rest)) = (left, right)
            && let [of, by] = parts.as_slice()
        {
            let (of, by, rest) = (self.value(rows, of), self.value(rows, by), self.scalar(rest));
            let times = self.variable("times_of_it", format!("({of} - {rest}) / {by}"));
            let off = format!("({times} - {times}.round()).abs()");
            return (format!("({off} < 1e-9)"), format!("({off} >= 1e-9)"));
        }
        let sort = match (self.sort(rows, left), self.sort(rows, right)) {
            (Sort::Plain, other) => other,
            (sort, _) => sort,
        };
        let (a, b) = match sort {
            Sort::Days => {
                let ((a, first), (b, second)) = (self.days(rows, left), self.days(rows, right));
                // A day is compared with the day of a point in time.
                let of_day = |value: String, has_time: bool| {
                    if has_time { format!("{value}.dt.normalize()") } else { value }
                };
                if first == second { (a, b) } else { (of_day(a, first), of_day(b, second)) }
            }
            Sort::Times => (self.times(rows, left), self.times(rows, right)),
            Sort::Plain => {
                let (a, b) = (self.value(rows, left), self.value(rows, right));
                if [left, right].iter().any(|side| matches!(side, Expr::Calc(..) | Expr::Fold(..))) {
                    // Sums and products of fractions are not exact to the last digit.
                    let difference = format!("({a} - {b}).round(6)");
                    return match op {
                        Op::Equal => (format!("({difference} == 0)"), format!("({difference}.abs() > 0)")),
                        op => (
                            format!("({difference} {} 0)", sign(op)),
                            format!("({difference} {} 0)", opposite(op)),
                        ),
                    };
                }
                (a, b)
            }
        };
        let so = format!("({a} {} {b})", sign(op));
        if op != Op::Equal {
            return (so, format!("({a} {} {b})", opposite(op)));
        }
        let mut clauses = vec![format!("({a} != {b})")];
        let sides = [(left, &a), (right, &b)].into_iter();
        let values = sides.filter(|(side, _)| !matches!(side, Expr::Value(_)));
        clauses.extend(values.map(|(_, value)| format!("{value}.notna()")));
        (so, format!("({})", clauses.join(" & ")))
    }

    pub(super) fn listed(&mut self, rows: &Frame, column: &Path, values: &[Scalar]) -> Mark {
        let own = Expr::Column(column.clone());
        let all: Vec<String> = values.iter().map(|value| self.scalar(value)).collect();
        let list = format!("[{}]", all.join(", "));
        match self.sort(rows, &own) {
            Sort::Days => {
                let value = self.whole_days(rows, &own);
                Self::found(&value, &format!("{value}.isin({list})"))
            }
            Sort::Times => {
                let (times, value) = (self.times(rows, &own), self.column(rows, column));
                let found = format!("{times}.isin({list})");
                Mark { so: found.clone(), not: format!("({value}.notna() & ~{found})") }
            }
            Sort::Plain => {
                let value = self.column(rows, column);
                Self::found(&value, &format!("{value}.isin({list})"))
            }
        }
    }

    /// The rows of another table that meet a condition, as a frame of their own.
    fn others(&mut self, link: &Link, filter: &Cond) -> Frame {
        self.uses(&link.table, &link.column);
        let whole = self.variable("others", format!("frame({})", text(&link.table)));
        let frame = Frame { table: link.table.clone(), variable: whole };
        if filter.is_always() {
            return frame;
        }
        let mark = self.mark(&frame, filter, "");
        let chosen = format!("{}[{}]", frame.variable, mark.so);
        Frame { variable: self.variable("some", chosen), ..frame }
    }

    /// How many rows of another table refer to each.
    pub(super) fn counts(&mut self, rows: &Frame, link: &Link, filter: &Cond) -> String {
        let others = self.others(link, filter).variable;
        let counts = format!(
            "{}[{}].map({others}[{}].value_counts()).fillna(0)",
            rows.variable,
            text(&link.key),
            text(&link.column)
        );
        self.variable("counts", counts)
    }

    /// A figure of the rows that refer to each.
    fn fold(&mut self, rows: &Frame, function: Function, of: &Path, link: &Link, filter: &Cond) -> String {
        let others = self.others(link, filter).variable;
        self.uses(&link.table, &of.column);
        self.uses(&rows.table, &link.key);
        let figures = format!(
            "{}[{}].map({others}.dropna(subset={}).groupby({})[{}].{}())",
            rows.variable,
            text(&link.key),
            names([&of.column]),
            text(&link.column),
            text(&of.column),
            method(function),
        );
        self.variable("figures", figures)
    }
}

/// What pandas calls a figure.
pub(super) const fn method(function: Function) -> &'static str {
    match function {
        Function::Count => "size",
        Function::Distinct => "nunique",
        Function::Sum => "sum",
        Function::Average => "mean",
        Function::Median => "median",
        Function::Maximum => "max",
        Function::Minimum => "min",
    }
}
