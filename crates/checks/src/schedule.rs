//! When a check is due: the five fields of cron, in UTC.

use std::str::FromStr;

/// Minutes after which a schedule that never comes (the 30th of February) is given up: eight years, so that a leap day is
/// found across a century.
const MINUTES_MAX: i64 = 8 * 366 * 24 * 60;

/// A cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether both days are restricted, so that either is enough, as cron has it.
    either_day: bool,
}

/// Why an expression is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Not five fields.
    #[error("it has {0} fields, not five")]
    Fields(usize),
    /// A field that does not read.
    #[error("`{field}` is no {name}, which goes from {from} to {to}")]
    Field {
        /// The field.
        field: String,
        /// What it stands for.
        name: &'static str,
        /// The least.
        from: u32,
        /// The most.
        to: u32,
    },
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(ScheduleError::Fields(fields.len()));
        };
        let mut weekdays = field(weekday, "weekday", 0, 7, &WEEKDAYS, 0)?;
        // Sunday is 0 and 7.
        weekdays |= u64::from(weekdays >> 7 & 1 == 1);
        Ok(Self {
            minutes: field(minute, "minute", 0, 59, &[], 0)?,
            hours: field(hour, "hour", 0, 23, &[], 0)?,
            days: field(day, "day", 1, 31, &[], 0)?,
            months: field(month, "month", 1, 12, &MONTHS, 1)?,
            weekdays,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        })
    }
}

impl Schedule {
    /// The next time it is due after a time, both in seconds since 1970. `None` if it never is.
    pub fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        let start = unix_seconds.div_euclid(60) + 1;
        let mut minute = start;
        while minute - start < MINUTES_MAX {
            let day = minute.div_euclid(24 * 60);
            if !self.is_day(day) {
                minute = (day + 1) * 24 * 60;
                continue;
            }
            let of_day = minute.rem_euclid(24 * 60);
            if self.hours >> (of_day / 60) & 1 == 0 {
                minute += 60 - of_day % 60;
                continue;
            }
            if self.minutes >> (of_day % 60) & 1 == 1 {
                return Some(minute * 60);
            }
            minute += 1;
        }
        None
    }

    fn is_day(&self, days_since_1970: i64) -> bool {
        let (month, day) = civil(days_since_1970);
        // The first of January 1970 was a Thursday.
        let weekday = (days_since_1970 + 4).rem_euclid(7);
        let (day, weekday) = (self.days >> day & 1 == 1, self.weekdays >> weekday & 1 == 1);
        let is_day = if self.either_day { day || weekday } else { day && weekday };
        is_day && self.months >> month & 1 == 1
    }
}

/// One field as a set of bits.
fn field(
    text: &str,
    name: &'static str,
    from: u32,
    to: u32,
    words: &[&str],
    first_word: u32,
) -> Result<u64, ScheduleError> {
    let wrong = || ScheduleError::Field { field: text.chars().take(20).collect(), name, from, to };
    let number = |text: &str| {
        let word = words.iter().position(|word| text.eq_ignore_ascii_case(word));
        let number = match word {
            Some(place) => u32::try_from(place).ok()? + first_word,
            None => text.parse().ok()?,
        };
        (from..=to).contains(&number).then_some(number)
    };
    let mut set = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0).ok_or_else(wrong)?),
            None => (part, 1),
        };
        let (low, high) = match range.split_once('-') {
            _ if range == "*" => (from, to),
            Some((low, high)) => (number(low).ok_or_else(wrong)?, number(high).ok_or_else(wrong)?),
            None if part.contains('/') => (number(range).ok_or_else(wrong)?, to),
            None => {
                let one = number(range).ok_or_else(wrong)?;
                (one, one)
            }
        };
        if low > high {
            return Err(wrong());
        }
        for value in (low..=high).step_by(step) {
            set |= 1 << value;
        }
    }
    Ok(set)
}

/// Month and day of a day, counted from 1970, by the Gregorian calendar.
fn civil(days_since_1970: i64) -> (i64, i64) {
    // Years begin in March here, so that the leap day is the last day of one; 719 468 days lie before 1970.
    let days = days_since_1970 + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next times after the first of January 2025 at midnight, as minutes since then.
    fn next(text: &str, count: usize) -> Vec<i64> {
        const START: i64 = 1_735_689_600;
        let schedule: Schedule = text.parse().unwrap();
        let mut at = START - 1;
        let mut times = Vec::new();
        for _ in 0..count {
            at = schedule.next_after(at).unwrap();
            times.push((at - START) / 60);
        }
        times
    }

    #[test]
    fn the_usual_schedules_come_when_they_should() {
        assert_eq!(next("*/15 * * * *", 3), [0, 15, 30]);
        assert_eq!(next("0 6 * * *", 2), [360, 360 + 1440]);
        assert_eq!(next("@hourly", 2), [0, 60]);
        // The first of January 2025 was a Wednesday.
        assert_eq!(next("30 9 * * mon-fri", 3), [570, 570 + 1440, 570 + 2 * 1440]);
        assert_eq!(next("0 0 * * 7", 1), [4 * 1440]);
        assert_eq!(next("0 0 29 feb *", 1), [(365 + 365 + 365 + 31 + 28) * 1440]);
        assert_eq!(next("0 0 13 * fri", 2), [2 * 1440, 9 * 1440], "either day is enough");
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
        ] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
        assert_eq!("0 0 30 2 *".parse::<Schedule>().unwrap().next_after(0), None, "a day that never comes");
    }
}
