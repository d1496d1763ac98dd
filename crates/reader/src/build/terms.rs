//! Columns, what they are compared with, and what is computed from them.

use super::{Builder, one};
use crate::algebra::{Calc, Number, Unit};
use crate::captures::Captures;
use crate::context::Context;
use crate::value::{LooseExpr, Places, Term, Value, Via};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("path", path),
    ("nouncol", noun_column),
    ("ofnouns", noun_column),
    ("subjcol", noun_column),
    ("viacol", via_column),
    ("cval", term),
    ("clit", term),
    ("cquote", term),
    ("cnum", term),
    ("cspan", span),
    ("cunit", unit),
    ("cmoney", term),
    ("cpct", percent),
    ("cday", term),
    ("ctime", term),
    ("cyes", |_, _| one(Value::Term(Term::Bool(true)))),
    ("cno", |_, _| one(Value::Term(Term::Bool(false)))),
    ("ccol", column),
    ("chain", chain),
    ("chain2", twice),
    ("sumof", sum_of),
    ("productof", product_of),
    ("portion", portion),
    ("moved", moved),
    ("difference", difference),
    ("partof", part_of),
    ("fold", fold),
];

fn path(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let via = captures.list::<Via>("via")?;
    one(Value::Expr(LooseExpr::Column(captures.take("c")?, via)))
}

fn noun_column(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let via = vec![Via::Noun(captures.take("n")?)];
    one(Value::Expr(LooseExpr::Column(captures.take("c")?, via)))
}

fn via_column(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Via(Via::Column(captures.take::<Places>("c")?)))
}

/// What a column is compared with, as it is captured.
fn term(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Term(match captures.take("v")? {
        Value::Values(values) => Term::Known(values),
        Value::Literal(text, is_sure) => Term::Literal(text, is_sure),
        Value::Quote(text) => Term::Quote(text),
        Value::Number(number, text) => Term::Number(number, text),
        Value::Money(number, currency) => Term::Money(number, currency),
        Value::Day(day) => Term::Day(day),
        Value::Time(time) => Term::Time(time),
        _ => return None,
    }))
}

fn span(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Term(Term::Span(captures.take("v")?)))
}

fn unit(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Term(Term::Unit(captures.take("v")?, captures.take("u")?)))
}

fn percent(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Term(Term::Percent(captures.take("v")?)))
}

fn column(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Expr(captures.take("c")?))
}

/// Something with columns, joined from left to right.
fn joined(first: LooseExpr, calcs: &[Calc], rest: Vec<LooseExpr>) -> Option<Vec<Value>> {
    let sum = rest
        .into_iter()
        .zip(calcs)
        .fold(first, |left, (right, calc)| LooseExpr::Calc(*calc, vec![left, right]));
    sum.has_column().then(|| vec![Value::Expr(sum)])
}

fn chain(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let calcs = captures.list::<Calc>("o")?;
    joined(captures.take("a")?, &calcs, captures.list("b")?)
}

fn twice(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    joined(LooseExpr::Number(Number::count(2)), &[Calc::Product], captures.list("b")?)
}

fn all_of(calc: Calc, captures: &mut Captures) -> Option<Vec<Value>> {
    let mut parts = captures.list::<LooseExpr>("a")?;
    let first = parts.remove(0);
    joined(first, &vec![calc; parts.len()], parts)
}

fn sum_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    all_of(Calc::Sum, captures)
}

fn product_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    all_of(Calc::Product, captures)
}

/// So many percent of a column.
pub(super) fn percent_of(percent: Number, whole: LooseExpr) -> LooseExpr {
    LooseExpr::Calc(Calc::Percent, vec![LooseExpr::Number(percent), whole])
}

fn portion(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let whole: LooseExpr = captures.take("c")?;
    let percent: Number = captures.take("k")?;
    whole.has_column().then(|| vec![Value::Expr(percent_of(percent, whole))])
}

/// A day or time, so many units later; weeks are days.
pub(super) fn later(from: LooseExpr, count: Number, unit: Unit) -> Option<LooseExpr> {
    let (count, unit) =
        if unit == Unit::Week { (Number::new(7.0 * count.value())?, Unit::Day) } else { (count, unit) };
    count.as_whole()?;
    Some(LooseExpr::Calc(Calc::Moved(unit), vec![from, LooseExpr::Number(count)]))
}

fn moved(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count: Number = captures.take("k")?;
    let count = if captures.flag("back") { count.negated() } else { count };
    one(Value::Expr(later(captures.take("c")?, count, captures.take("u")?)?))
}

fn difference(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let parts = vec![captures.take("a")?, captures.take("b")?];
    one(Value::Expr(LooseExpr::Calc(Calc::Difference, parts)))
}

fn part_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Expr(LooseExpr::Calc(captures.take("f")?, vec![captures.take("c")?])))
}

fn fold(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Expr(LooseExpr::Fold(captures.take("fn")?, captures.take("c")?, captures.take("r")?)))
}
