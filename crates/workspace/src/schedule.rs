//! When something is due: the five fields of cron, and the time zone that they are read in.

use std::str::FromStr;

use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The longest schedule.
const TEXT_BYTES_MAX: usize = 200;

/// The fields, and what they may hold.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day of the month", "1 to 31"),
    ("month", "1 to 12, or jan to dec"),
    ("day of the week", "0 to 7, or sun to sat"),
];

/// A cron expression in a time zone: `0 6 * * *`, `@daily`, `30 9 * * mon-fri Europe/Berlin`. Without a zone it is UTC.
///
/// Where clocks are set forward, a time that does not exist is due right after the gap; where they are set back, a time
/// that comes twice is due once.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

/// Why a text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Neither five fields nor a word such as `@daily`.
    #[error("it has {0} fields, not five")]
    Fields(usize),
    /// A field that cannot be read.
    #[error("{0}")]
    Cron(String),
    /// No such time zone.
    #[error("`{0}` is no time zone")]
    Zone(String),
    /// Much too long.
    #[error("it is longer than {TEXT_BYTES_MAX} bytes")]
    Long,
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(ScheduleError::Long);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let fields = if text.trim_start().starts_with('@') { 1 } else { 5 };
        let (expression, zone) = match words.split_at_checked(fields) {
            Some((expression, [])) => (expression, TimeZone::UTC),
            Some((expression, [zone])) => {
                let found = TimeZone::get(zone);
                (expression, found.map_err(|_| ScheduleError::Zone((*zone).to_owned()))?)
            }
            _ => return Err(ScheduleError::Fields(words.len())),
        };
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(&expression.join(" "));
        Ok(Self {
            cron: cron.map_err(|error| ScheduleError::Cron(wrong_field(parser, expression, &error)))?,
            zone,
        })
    }
}

/// What is wrong with an expression, with the field that cannot be read.
fn wrong_field(parser: CronParser, fields: &[&str], error: &CronError) -> String {
    let wrong = FIELDS.iter().zip(fields).enumerate().find(|(at, (_, field))| {
        let alone: Vec<&str> =
            (0..FIELDS.len()).map(|place| if place == *at { **field } else { "*" }).collect();
        parser.parse(&alone.join(" ")).is_err()
    });
    match wrong {
        Some((_, ((name, range), field))) => format!("`{field}` is no {name} ({range})"),
        None => error.to_string(),
    }
}

impl Schedule {
    /// The next time it is due after a time, both in seconds since 1970. `None` if it never is.
    pub fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        let next = self.cron.find_next_occurrence(&self.at(unix_seconds)?, false).ok()?;
        Some(next.timestamp().as_second())
    }

    /// The last time it was due up to a time, both in seconds since 1970. `None` if it never was.
    pub fn last_until(&self, unix_seconds: i64) -> Option<i64> {
        let last = self.cron.find_previous_occurrence(&self.at(unix_seconds)?, true).ok()?;
        Some(last.timestamp().as_second())
    }

    /// A time as people of the zone write it.
    pub fn local(&self, unix_seconds: i64) -> String {
        let time = self.at(unix_seconds);
        time.map(|time| time.strftime("%Y-%m-%d %H:%M %Z").to_string()).unwrap_or_default()
    }

    fn at(&self, unix_seconds: i64) -> Option<Zoned> {
        Some(Timestamp::from_second(unix_seconds).ok()?.to_zoned(self.zone.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_cannot_be_read_is_named() {
        let said = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(said("0 25 * * *"), "`25` is no hour (0 to 23)");
        assert_eq!(said("0 6 * * funday"), "`funday` is no day of the week (0 to 7, or sun to sat)");
    }

    /// The first of January 2025 at midnight, a Wednesday.
    const START: i64 = 1_735_689_600;

    /// The next times after the start, as minutes since then.
    fn next(text: &str, count: usize) -> Vec<i64> {
        let schedule: Schedule = text.parse().unwrap();
        let mut at = START - 1;
        let mut times = Vec::new();
        for _ in 0..count {
            at = schedule.next_after(at).unwrap();
            assert_eq!(schedule.last_until(at + 59), Some(at), "{text}");
            times.push((at - START) / 60);
        }
        times
    }

    #[test]
    fn the_usual_schedules_come_when_they_should() {
        assert_eq!(next("*/15 * * * *", 3), [0, 15, 30]);
        assert_eq!(next("0 6 * * *", 2), [360, 360 + 1440]);
        assert_eq!(next("@hourly", 2), [0, 60]);
        assert_eq!(next("30 9 * * mon-fri", 3), [570, 570 + 1440, 570 + 2 * 1440]);
        assert_eq!(next("0 0 * * 7", 1), [4 * 1440]);
        assert_eq!(next("0 0 29 feb *", 1), [(365 + 365 + 365 + 31 + 28) * 1440]);
        assert_eq!(next("0 0 13 * fri", 2), [2 * 1440, 9 * 1440], "either day is enough");
    }

    #[test]
    fn a_zone_moves_the_time_and_its_clock_changes_fire_once() {
        assert_eq!(next("0 6 * * * Europe/Berlin", 1), [300]);
        assert_eq!(next("@daily America/New_York", 1), [300]);
        let local = |text: &str, from: &str, count: usize| -> Vec<String> {
            let schedule: Schedule = text.parse().unwrap();
            let mut at = from.parse::<Timestamp>().unwrap().as_second();
            let times = (0..count).map(|_| {
                at = schedule.next_after(at).unwrap();
                Timestamp::from_second(at).unwrap().to_string()
            });
            times.collect()
        };
        // The clocks of Berlin went from 02:00 to 03:00 on 30 March 2025, and from 03:00 to 02:00 on 26 October.
        let forward = local("30 2 * * * Europe/Berlin", "2025-03-29T12:00:00Z", 2);
        assert_eq!(forward, ["2025-03-30T01:00:00Z", "2025-03-31T00:30:00Z"]);
        let back = local("30 2 * * * Europe/Berlin", "2025-10-25T12:00:00Z", 2);
        assert_eq!(back, ["2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"]);
    }

    #[test]
    fn what_is_no_schedule_is_told() {
        for wrong in [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "a b c d e",
            "*/0 * * * *",
            "5-1 * * * *",
            "* * 0 * *",
            "@fortnightly",
            "0 6 * * * Mars/Olympus",
            "0 6 * * * ../../etc/passwd",
            "0 6 * * * Europe/Berlin now",
            &"* ".repeat(200),
        ] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
        let never: Schedule = "0 0 30 2 *".parse().unwrap();
        assert_eq!((never.next_after(0), never.last_until(START)), (None, None), "a day that never comes");
    }
}
