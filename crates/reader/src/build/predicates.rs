//! What is said of a column: conditions with their subject left open.

use super::terms::{later, percent_of};
use super::{Builder, one};
use crate::algebra::{Calc, Day, Number, Op, TextTest, Unit};
use crate::captures::Captures;
use crate::context::Context;
use crate::mention::is_certain;
use crate::value::{Loose, LooseExpr, Places, Term, Test, Value};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("tequal", equal),
    ("tdiffer", differ),
    ("tcompare", compare),
    ("toneof", one_of),
    ("toneslash", one_of_slashed),
    ("tnull", null),
    ("tfilled", filled),
    ("tpositive", positive),
    ("tnegative", negative),
    ("tcompare0", not_negative),
    ("tcounting", counting),
    ("tinteger", whole_between),
    ("tbetween", between),
    ("toutside", outside),
    ("tportions", portions),
    ("tperiod", in_period),
    ("tperiods", in_periods),
    ("twhenperiod", beside_period),
    ("tdayofmonth", day_of_month),
    ("tage", compare_day),
    ("tolder", older),
    ("tdaysold", days_old),
    ("tknownin", known_in),
    ("tspan", span_between),
    ("twithin", within),
    ("tbefore", before),
    ("tnear", near),
    ("tfuture", future),
    ("tpast", past),
    ("tweekday", on_weekday),
    ("tmultiple", multiple),
    ("tparity", parity),
    ("tunique", unique),
    ("tuniquein", unique_in),
    ("trepeat", repeated),
    ("tdeny", deny),
    ("tdenied", deny),
    ("tall", all),
    ("tallbut", all_but),
    ("tany", any),
    ("tneither", neither),
    ("tlistany", list_or),
];

/// One open condition.
pub(super) fn test(cond: Loose) -> Option<Vec<Value>> {
    one(Value::Test(Test { cond, is_joined: false, is_denied: false }))
}

pub(super) const fn it() -> LooseExpr {
    LooseExpr::Subject
}

/// What something is compared with.
pub(super) fn term(captures: &mut Captures, name: &str) -> Option<Term> {
    match captures.take(name)? {
        Value::Term(term) => Some(term),
        Value::Expr(expr) => Some(Term::Expr(expr)),
        Value::Day(day) => Some(Term::Day(day)),
        _ => None,
    }
}

fn number(count: u32) -> Term {
    Term::Number(Number::count(count), count.to_string())
}

fn compared(op: Op, right: Term) -> Loose {
    Loose::Compare(it(), op, right)
}

/// Less than 30 days ago is later than that day: the size is that of the time since.
pub(super) fn of_size(op: Op, right: &Term) -> Op {
    match right {
        Term::Day(Day::Relative(Unit::Day, shift)) if *shift < -1 => op.flipped(),
        _ => op,
    }
}

fn equal(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::Equal, term(captures, "v")?))
}

fn differ(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::Equal, term(captures, "v")?).denied())
}

fn compare(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let right = term(captures, "v")?;
    let op: Op = captures.take("op")?;
    test(compared(if captures.flag("size") { of_size(op, &right) } else { op }, right))
}

fn compare_day(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(compared(captures.take("op")?, term(captures, "v")?))
}

/// What a list is called, and whether it is said to be one.
fn list_words(captures: &mut Captures) -> Option<(Option<Places>, bool)> {
    let said: Option<Value> = captures.maybe("o")?;
    let is_said = said.is_some();
    Some((
        said.and_then(|value| if let Value::Places(places) = value { Some(places) } else { None }),
        is_said,
    ))
}

fn one_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (named, is_said) = list_words(captures)?;
    let mut values = Vec::new();
    while captures.has("v") {
        values.push(term(captures, "v")?);
    }
    // A list of one without saying that it is a list is an equality.
    (values.len() > 1).then(|| listed(values, named, is_said)).and_then(test)
}

/// That it is one of these values; what the list is called must be the column itself.
fn listed(values: Vec<Term>, named: Option<Places>, is_said: bool) -> Loose {
    let list = Loose::In(it(), values, is_said);
    match named {
        Some(places) => Loose::All(vec![Loose::Named(it(), places), list]),
        None => list,
    }
}

fn one_of_slashed(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (named, is_said) = list_words(captures)?;
    let parts: Vec<String> = captures.take("s")?;
    let literal = |text: String| {
        let is_sure = is_certain(&text);
        Term::Literal(text, is_sure)
    };
    test(listed(parts.into_iter().map(literal).collect(), named, is_said))
}

fn null(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Null(it()))
}

fn filled(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Null(it()).denied())
}

fn positive(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::Above, number(0)))
}

fn negative(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::Below, number(0)))
}

fn not_negative(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::AtLeast, number(0)))
}

fn counting(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::All(vec![Loose::Text(it(), TextTest::Whole), compared(Op::Above, number(0))]))
}

/// Whether two numbers stand in the wrong order.
pub(super) fn sized(low: &Term, high: &Term) -> bool {
    let value = |term: &Term| match term {
        Term::Number(value, _) | Term::Money(value, _) | Term::Percent(value) | Term::Unit(value, _) => {
            Some(value.value())
        }
        _ => None,
    };
    value(low).zip(value(high)).is_some_and(|(low, high)| low > high)
}

/// The two ends of an interval. A unit behind the second one is that of both.
pub(super) fn ends(captures: &mut Captures) -> Option<(Term, Term)> {
    let (low, high) = (term(captures, "a")?, term(captures, "b")?);
    let low = match (low, &high) {
        (Term::Number(value, _), Term::Money(_, currency)) => Term::Money(value, currency.clone()),
        (Term::Number(value, _), Term::Unit(_, unit)) => Term::Unit(value, unit.clone()),
        (low, _) => low,
    };
    (!sized(&low, &high)).then_some((low, high))
}

pub(super) fn interval(column: &LooseExpr, low: Term, high: Term, from: Op, to: Op) -> Loose {
    Loose::All(vec![Loose::Compare(column.clone(), from, low), Loose::Compare(column.clone(), to, high)])
}

fn whole_between(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high): (Number, Number) = (captures.take("a")?, captures.take("b")?);
    let [low, high] = [low, high].map(|end| Term::Number(end, end.to_string()));
    let bounds = interval(&it(), low, high, Op::AtLeast, Op::AtMost);
    test(Loose::All(vec![Loose::Text(it(), TextTest::Whole), bounds]))
}

fn between(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = ends(captures)?;
    let (from, to) = if captures.flag("open") { (Op::Above, Op::Below) } else { (Op::AtLeast, Op::AtMost) };
    test(interval(&it(), low, high, from, to))
}

fn outside(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = ends(captures)?;
    test(interval(&it(), low, high, Op::AtLeast, Op::AtMost).denied())
}

/// Between 10 % and 20 % of another column: both are parts of it.
fn portions(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let low: Number = captures.take("a")?;
    let LooseExpr::Calc(Calc::Percent, parts) = captures.take("b")? else { return None };
    let whole = parts.get(1)?.clone();
    let low = Term::Expr(percent_of(low, whole));
    test(interval(&it(), low, Term::Expr(LooseExpr::Calc(Calc::Percent, parts)), Op::AtLeast, Op::AtMost))
}

fn period(captures: &mut Captures, name: &str) -> Option<(Day, Day)> {
    match captures.take(name)? {
        Value::Period(first, next) => Some((first, next)),
        _ => None,
    }
}

fn from_to(first: Day, next: Day) -> Loose {
    interval(&it(), Term::Day(first), Term::Day(next), Op::AtLeast, Op::Below)
}

/// A year may be that of a day, or a number that is one.
fn in_period(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (first, next) = period(captures, "p")?;
    test(from_to(first, next))
}

fn in_periods(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let ((first, _), (_, next)) = (period(captures, "a")?, period(captures, "b")?);
    test(from_to(first, next))
}

/// Before 2024, since March 2025: the ends of the time that is named.
fn beside_period(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (first, next) = period(captures, "p")?;
    let (op, day) = match captures.take("op")? {
        Op::Below => (Op::Below, first),
        Op::AtLeast => (Op::AtLeast, first),
        Op::Above => (Op::AtLeast, next),
        Op::AtMost => (Op::Below, next),
        Op::Equal => return None,
    };
    test(compared(op, Term::Day(day)))
}

fn day_of_month(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let part = LooseExpr::Calc(Calc::Part(Unit::Day), vec![it()]);
    test(Loose::Compare(part, captures.take("op")?, number(captures.take("k")?)))
}

fn days_ago(captures: &mut Captures) -> Option<Term> {
    Some(Term::Day(Day::Relative(Unit::Day, -i64::from(captures.take::<u32>("k")?))))
}

/// Older than so many days is before that day.
fn older(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(compared(captures.take("op")?, days_ago(captures)?))
}

/// At most so many days old is since that day.
fn days_old(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(compared(captures.take::<Op>("op")?.flipped(), days_ago(captures)?))
}

fn known_in(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let known = Loose::KnownIn(it(), captures.take("n")?);
    test(if captures.flag("no") { known.denied() } else { known })
}

fn span_between(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high): (Number, Number) = (captures.take("a")?, captures.take("b")?);
    let (low, high) = if captures.flag("back") { (high.negated(), low.negated()) } else { (low, high) };
    let (unit, from): (Unit, LooseExpr) = (captures.take("u")?, captures.take("c")?);
    if low.value() > high.value() {
        return None;
    }
    let at = |count| later(from.clone(), count, unit).map(Term::Expr);
    test(interval(&it(), at(low)?, at(high)?, Op::AtLeast, Op::AtMost))
}

fn within(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let from: LooseExpr = captures.take("c")?;
    let end = later(from.clone(), captures.take("k")?, captures.take("u")?)?;
    test(interval(&it(), Term::Expr(from), Term::Expr(end), Op::AtLeast, Op::AtMost))
}

/// At least 3 days before: the more days, the earlier.
fn before(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count: Number = captures.take("k")?;
    let at = later(captures.take("c")?, count.negated(), captures.take("u")?)?;
    test(compared(captures.take::<Op>("op")?.flipped(), Term::Expr(at)))
}

fn near(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let far: Number = captures.take("d")?;
    let at: LooseExpr = captures.take("v")?;
    let end = |calc| Term::Expr(LooseExpr::Calc(calc, vec![at.clone(), LooseExpr::Number(far)]));
    if let LooseExpr::Number(middle) = at {
        let end = |by: f64| Number::new(middle.value() + by).map(|end| Term::Number(end, end.to_string()));
        return test(interval(&it(), end(-far.value())?, end(far.value())?, Op::AtLeast, Op::AtMost));
    }
    test(interval(&it(), end(Calc::Difference), end(Calc::Sum), Op::AtLeast, Op::AtMost))
}

fn future(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::AtLeast, Term::Day(Day::Relative(Unit::Day, 1))))
}

fn past(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(compared(Op::Below, Term::Day(Day::Relative(Unit::Day, 0))))
}

/// The named days of the week.
pub(super) fn week(captures: &mut Captures) -> Option<Vec<u8>> {
    let mut days: Vec<u8> = captures.list::<Vec<u8>>("d")?.concat();
    let more: Option<String> = captures.maybe("days")?;
    days.extend(more.iter().flat_map(|digits| digits.bytes().map(|digit| digit - b'0')));
    days.sort_unstable();
    days.dedup();
    Some(days)
}

fn on_weekday(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Weekday(it(), week(captures)?))
}

fn remainder(by: Number, is: u32) -> Option<Vec<Value>> {
    let rest = LooseExpr::Calc(Calc::Remainder, vec![it(), LooseExpr::Number(by)]);
    (by.value() > 0.0).then(|| Loose::Compare(rest, Op::Equal, number(is))).and_then(test)
}

fn multiple(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    remainder(captures.take("k")?, 0)
}

fn parity(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    remainder(Number::count(2), captures.take("r")?)
}

/// `unique in the table`: the table, if it is named, is that of the column.
fn unique(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let unique = Loose::Unique(vec![it()]);
    captures.maybe::<Value>("u")?;
    if let Some(noun) = captures.maybe("n")? {
        return test(Loose::All(vec![Loose::OfNoun(noun, Box::new(Loose::All(Vec::new()))), unique]));
    }
    test(unique)
}

fn unique_in(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Unique([vec![it()], captures.list("c")?].concat()))
}

fn repeated(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Unique(vec![it()]).denied())
}

fn deny(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Test(inner) = captures.only()? else { return None };
    if inner.is_joined {
        return None;
    }
    one(Value::Test(Test { cond: inner.cond.denied(), is_joined: false, is_denied: true }))
}

fn all(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let tests = captures.list::<Test>(if captures.has("x") { "x" } else { "m" })?;
    let is_denied = tests.iter().any(|test| test.is_denied);
    let cond = Loose::All(tests.into_iter().map(|test| test.cond).collect());
    one(Value::Test(Test { cond, is_joined: true, is_denied }))
}

fn all_but(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let first: Test = captures.take("x")?;
    let other = compared(Op::Equal, term(captures, "y")?).denied();
    let is_denied = first.is_denied;
    one(Value::Test(Test { cond: Loose::All(vec![first.cond, other]), is_joined: true, is_denied }))
}

/// One of several; what joins two itself, or is denied, would leave it open what belongs together.
fn either(captures: &mut Captures) -> Option<Vec<Loose>> {
    let tests = captures.list::<Test>("x")?;
    (!tests.iter().any(|test| test.is_joined)).then(|| tests.into_iter().map(|test| test.cond).collect())
}

fn any(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Any(either(captures)?))
}

fn neither(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    test(Loose::Any(either(captures)?).denied())
}

/// `a, b or empty`: a list of values, and a condition at its end.
fn list_or(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    while captures.has("v") {
        values.push(term(captures, "v")?);
    }
    let mut conds = vec![Loose::In(it(), values, false)];
    conds.extend(either(captures)?);
    test(Loose::Any(conds))
}
