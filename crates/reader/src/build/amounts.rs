//! Days, stretches of time, times of day, money.

use super::{Builder, one};
use crate::algebra::{Calc, Day, Function, Number, Unit};
use crate::captures::Captures;
use crate::context::Context;
use crate::mention::days_in;
use crate::value::Value;

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("same", same),
    ("is", same),
    ("op", op),
    ("unit", unit),
    ("calc", calc),
    ("fn", function),
    ("calendarday", calendar_day),
    ("daysaway", days_away),
    ("firstday", first_day),
    ("month", month),
    ("quarter", quarter),
    ("year", year),
    ("stretch", stretch),
    ("around", around),
    ("money", money),
    ("clock", clock),
];

/// The one capture, whatever it is.
fn same(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(captures.only()?)
}

fn op(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Op(captures.take("is")?))
}

fn unit(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Span(unit_called(&captures.take::<String>("is")?)?))
}

fn unit_called(name: &str) -> Option<Unit> {
    Some(match name {
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "month" => Unit::Month,
        "year" => Unit::Year,
        _ => return None,
    })
}

fn calc(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let name: String = captures.take("is")?;
    one(Value::Calc(match name.as_str() {
        "sum" => Calc::Sum,
        "difference" => Calc::Difference,
        "product" => Calc::Product,
        "quotient" => Calc::Quotient,
        "length" => Calc::Length,
        part => Calc::Part(unit_called(part)?),
    }))
}

fn function(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let name: String = captures.take("is")?;
    one(Value::Function(match name.as_str() {
        "sum" => Function::Sum,
        "avg" => Function::Average,
        "median" => Function::Median,
        "max" => Function::Maximum,
        "min" => Function::Minimum,
        _ => return None,
    }))
}

fn on(year: u32, month: u32, day: u32) -> Day {
    Day::On(format!("{year}-{month:02}-{day:02}"))
}

fn calendar_day(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (day, month, year): (u32, u32, u32) = (captures.take("n")?, captures.take("m")?, captures.take("y")?);
    (day <= days_in(year, month)).then(|| vec![Value::Day(on(year, month, day))])
}

fn days_away(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count = i64::from(captures.take::<u32>("k")?);
    let sign = if captures.flag("back") { -1 } else { 1 };
    one(Value::Day(Day::Relative(Unit::Day, sign * count)))
}

fn first_day(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    if captures.has("unit") {
        let unit = unit_called(&captures.take::<String>("unit")?)?;
        return one(Value::Day(Day::Relative(unit, captures.take::<String>("by")?.parse().ok()?)));
    }
    let shift = captures.take::<String>("r")?.parse().ok()?;
    one(Value::Day(Day::Relative(captures.take("u")?, shift)))
}

fn months(year: u32, month: u32, count: u32) -> Option<Vec<Value>> {
    let next = month - 1 + count;
    one(Value::Period(on(year, month, 1), on(year + next / 12, next % 12 + 1, 1)))
}

fn month(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    months(captures.take("y")?, captures.take("m")?, 1)
}

fn quarter(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let quarter: u32 = if captures.has("q") { captures.take("q")? } else { captures.take("o")? };
    let year = captures.take("y")?;
    if (1..=4).contains(&quarter) { months(year, 3 * quarter - 2, 3) } else { None }
}

fn year(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    months(captures.take("y")?, 1, 12)
}

fn stretch(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let shift: i64 = captures.take::<String>("r")?.parse().ok()?;
    let unit = captures.take("u")?;
    one(Value::Period(Day::Relative(unit, shift), Day::Relative(unit, shift + 1)))
}

/// The last or the next days, today among them.
fn around(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let times = captures.maybe::<u32>("weeks")?.unwrap_or(1);
    let days = i64::from(captures.take::<u32>("k")?.checked_mul(times)?);
    let day = |shift| Day::Relative(Unit::Day, shift);
    one(if captures.flag("back") {
        Value::Period(day(-days), day(1))
    } else {
        Value::Period(day(0), day(days + 1))
    })
}

fn money(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Money(captures.take::<Number>("v")?, captures.take("c")?))
}

fn clock(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let half: Option<String> = captures.maybe("half")?;
    let (hour, minute) = if captures.has("t") {
        let text: String = captures.take("t")?;
        (text.get(..2)?.parse().ok()?, text.get(3..)?.parse().ok()?)
    } else {
        (captures.take::<u32>("k")?, 0)
    };
    let hour: u32 = match half.as_deref() {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("pm") => hour % 12 + 12,
        Some(_) => hour % 12,
    };
    (hour < 24 && minute < 60).then(|| vec![Value::Time(format!("{hour:02}:{minute:02}"))])
}
