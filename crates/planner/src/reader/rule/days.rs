//! What a rule says of days: `in the future`, `before today`, `at most 30 days old`.

use ordain_types::{Side, Test};
use serde_json::json;

use super::made::{Age, compare};
use crate::reader::form::Lit;
use crate::reader::parse::{All, Parser};

impl Parser<'_> {
    /// `in the future`, `today`, `older than 30 days`.
    pub(super) fn said_of_days(&self, side: &Side, place: usize) -> All<Test> {
        // A day without a time is in the past when it is over.
        let has_time = self.column_of(side).is_none_or(|column| column.has_time);
        let today = if has_time { Side::Now } else { Side::Ago("0d".to_owned()) };
        let mut found: All<Test> = Vec::new();
        for (class, op, than) in [("rule.future", ">", Side::Now), ("rule.past", "<", today)] {
            found.extend(self.one(class, place).map(|end| (compare(side.clone(), op, than), end, 0)));
        }
        let today = self.near_day(place);
        found.extend(today.map(|(from, until, end)| (beside_days(side, "==", from, until), end, 0)));
        found.extend(self.aged(side, place));
        found
    }

    /// A day, or several that follow one another: where they begin, and where what follows them begins.
    pub(super) fn calendar(&self, place: usize) -> Option<(Side, Side, usize)> {
        self.days(place).map(as_sides).or_else(|| self.near_day(place))
    }

    /// `today`, `yesterday`.
    fn near_day(&self, place: usize) -> Option<(Side, Side, usize)> {
        let (end, days_ago) = self.meaning("rule_near_days", place)?;
        let days_ago: i32 = days_ago.parse().ok()?;
        let ago = |days: i32| Side::Ago(format!("{days}d"));
        Some((ago(days_ago), ago(days_ago - 1), end))
    }

    /// `within the last 30 days`, `at most 30 days old`, `older than 30 days`: a bound on the age of a day in its row.
    fn aged(&self, side: &Side, place: usize) -> All<Test> {
        let spans = self.ages(place).into_iter();
        spans
            .map(|(age, span, end)| {
                let since = compare(side.clone(), ">=", Side::Ago(span.clone()));
                let test = match age {
                    Age::Within => Test::All(vec![since, compare(side.clone(), "<=", Side::Now)]),
                    Age::AtMost => since,
                    Age::Older => compare(side.clone(), "<", Side::Ago(span)),
                };
                (test, end, 0)
            })
            .collect()
    }

    /// An age with its length of time: `older than 30 days`.
    pub(super) fn ages(&self, place: usize) -> Vec<(Age, String, usize)> {
        let mut found = Vec::new();
        for (class, age) in
            [("rule.within_last", Age::Within), ("rule.at_most_old", Age::AtMost), ("rule.older", Age::Older)]
        {
            let Some(start) = self.one(class, place) else { continue };
            let (count, start) =
                self.number(start).map_or((json!(1), start), |(_, lit, end)| (lit.value, end));
            let Some((end, unit)) = self.meaning("rule_spans", start) else { continue };
            let ago = self.one("rule.ago", end);
            if age != Age::AtMost || ago.is_some() {
                found.push((age, format!("{count}{unit}"), ago.unwrap_or(end)));
            }
        }
        found
    }
}

/// Days as the sides of comparisons.
pub(super) fn as_sides((from, until, end): (Lit, Lit, usize)) -> (Side, Side, usize) {
    (Side::Value(from.value), Side::Value(until.value), end)
}

/// How a point in time stands to days. A day is as long as a day: what is after it begins with the next one.
pub(super) fn beside_days(side: &Side, op: &str, from: Side, until: Side) -> Test {
    let than = |op: &str, other: Side| compare(side.clone(), op, other);
    match op {
        "<" | ">=" => than(op, from),
        ">" => than(">=", until),
        "<=" => than("<", until),
        "!=" => Test::Not(Box::new(beside_days(side, "==", from, until))),
        _ => Test::All(vec![than(">=", from), than("<", until)]),
    }
}
