//! Rows, and conditions on them.

use std::rc::Rc;

use super::{Builder, one};
use crate::algebra::{Cond, Name, Number, Op};
use crate::captures::Captures;
use crate::context::Context;
use crate::value::{Loose, LooseExpr, Places, Rows, Term, Test, Value, Values};

use super::predicates::{interval, sized};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("rows", rows),
    ("value", value),
    ("valueof", value_of),
    ("valuemay", value_of),
    ("valuein", value_in),
    ("numof", number_of),
    ("yes", yes),
    ("priced", money),
    ("moneys", moneys),
    ("day", day),
    ("days", days),
    ("periodany", period_any),
    ("when", when),
    ("period", period),
    ("compare", compare),
    ("between", between),
    ("equal", equal),
    ("hasnum", has_number),
    ("none", none),
    ("empty", empty),
    ("filled", filled),
    ("given", filled),
    ("exists", exists),
    ("has_through", has_through),
    ("applied", applied),
    ("known", known),
    ("cunique", unique),
    ("ofnoun", of_noun),
    ("deny", deny),
    ("both", both),
    ("all", all),
    ("some", any),
    ("anyof", any_of),
    ("weekdays", weekdays),
    ("orphan", orphan),
    ("zero", compared_with_zero),
    ("appliedsome", applied_some),
    ("appliedeach", applied_each),
];

/// One condition, or its opposite.
fn cond(cond: Loose, is_denied: bool) -> Option<Vec<Value>> {
    one(Value::Cond(if is_denied { cond.denied() } else { cond }))
}

/// The rows of a table that meet unbound conditions.
pub(super) fn rows_that(context: &Context<'_>, table: &Name, conds: Vec<Loose>) -> Vec<Rows> {
    let found = context.bound(&Loose::All(conds), table).into_iter();
    found.map(|cond| Rows { table: table.clone(), cond: Rc::new(cond.normal()) }).collect()
}

fn rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let table: Name = captures.take("n")?;
    let conds = [captures.list("before")?, captures.list("after")?].concat();
    Some(rows_that(context, &table, conds).into_iter().map(Value::Rows).collect())
}

fn value(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let is_denied = captures.flag("no");
    cond(Loose::Value(captures.take("v")?, None), is_denied)
}

fn value_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::ValueOf(captures.take::<Values>("v")?, captures.take("c")?), false)
}

fn value_in(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Value(captures.take("v")?, Some(captures.take("n")?)), false)
}

fn column(captures: &mut Captures) -> Option<LooseExpr> {
    captures.take("c")
}

fn number_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Number(number, text) = captures.take("v")? else { return None };
    cond(Loose::Compare(column(captures)?, Op::Equal, Term::Number(number, text)), false)
}

fn yes(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Yes(captures.take::<Places>("c")?), false)
}

/// An amount as a term: with its currency, or as it stands.
fn amount(value: Value) -> Option<Term> {
    Some(match value {
        Value::Money(number, currency) => Term::Money(number, currency),
        Value::Term(term @ (Term::Money(..) | Term::Number(..))) => term,
        _ => return None,
    })
}

fn money(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let op = captures.maybe("op")?.unwrap_or(Op::Equal);
    cond(Loose::Money(op, amount(captures.take("m")?)?), false)
}

fn moneys(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = (amount(captures.take("a")?)?, amount(captures.take("b")?)?);
    if sized(&low, &high) {
        return None;
    }
    cond(Loose::All(vec![Loose::Money(Op::AtLeast, low), Loose::Money(Op::AtMost, high)]), false)
}

fn day(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::When(captures.take("op")?, captures.take("d")?), false)
}

fn days(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::During(captures.take("a")?, Op::AtMost, captures.take("b")?), false)
}

fn period_any(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Period(first, last) = captures.take("d")? else { return None };
    cond(Loose::During(first, Op::Below, last), false)
}

fn when(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Compare(column(captures)?, captures.take("op")?, Term::Day(captures.take("d")?)), false)
}

fn period(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Period(first, last) = captures.take("d")? else { return None };
    cond(interval(&column(captures)?, Term::Day(first), Term::Day(last), Op::AtLeast, Op::Below), false)
}

fn term(captures: &mut Captures, name: &str) -> Option<Term> {
    super::predicates::term(captures, name)
}

fn compare(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let right = term(captures, if captures.has("v") { "v" } else { "d" })?;
    let op: Op = captures.take("op")?;
    let op = if captures.flag("size") { super::predicates::of_size(op, &right) } else { op };
    cond(Loose::Compare(column(captures)?, op, right), false)
}

fn between(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high) = super::predicates::ends(captures)?;
    cond(interval(&column(captures)?, low, high, Op::AtLeast, Op::AtMost), false)
}

fn equal(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let right = term(captures, "v")?;
    cond(Loose::Compare(column(captures)?, Op::Equal, right), false)
}

fn has_number(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let op = captures.maybe("op")?.unwrap_or(Op::Equal);
    let number: Number = captures.take("k")?;
    cond(Loose::Compare(column(captures)?, op, Term::Number(number, number.to_string())), false)
}

fn none(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::None(column(captures)?), false)
}

fn empty(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Null(column(captures)?), false)
}

fn filled(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Null(column(captures)?), true)
}

/// How many rows there are to be: at least one where nothing is said, none where that is denied.
fn counted(captures: &mut Captures) -> Option<(Op, u32)> {
    if captures.flag("no") {
        return Some((Op::Equal, 0));
    }
    let op = captures.maybe("op")?.unwrap_or(Op::AtLeast);
    Some((op, captures.maybe("k")?.unwrap_or(1)))
}

fn exists(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (op, count) = counted(captures)?;
    cond(Loose::Exists(captures.take("r")?, op, count), false)
}

fn has_through(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (op, count) = counted(captures)?;
    cond(Loose::Through(captures.take("r")?, captures.take("c")?, op, count), false)
}

fn applied(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let test: Test = captures.take("p")?;
    cond(test.of(&column(captures)?), false)
}

fn known(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Refers(column(captures)?, captures.take("n")?, captures.take("c2")?), false)
}

fn unique(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Unique(captures.list("c")?), false)
}

fn of_noun(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::OfNoun(captures.take("n")?, Box::new(captures.take("x")?)), false)
}

fn deny(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(captures.take(if captures.has("x") { "x" } else { "c" })?, true)
}

fn both(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::All(vec![captures.take("x")?, captures.take("y")?]), false)
}

fn all(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::All(captures.list("c")?), false)
}

fn any(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Any(captures.list("c")?), false)
}

fn any_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Any(captures.list("x")?), false)
}

fn weekdays(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::OnWeekdays(super::predicates::week(captures)?), false)
}

/// Rows for which there is no row of another table that they refer to.
fn orphan(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Belongs(captures.take("n")?), true)
}

fn compared_with_zero(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let zero = Term::Number(Number::count(0), "0".to_owned());
    cond(Loose::Compare(column(captures)?, captures.take("op")?, zero), false)
}

/// What is said of several columns at once.
fn said_of_each(captures: &mut Captures) -> Option<(Test, Vec<Loose>)> {
    let test: Test = captures.take("p")?;
    let each = captures.list::<LooseExpr>("c")?.iter().map(|column| test.of(column)).collect();
    Some((test, each))
}

/// `a or b is not set`: both, or one of them? What is denied of several is not clear.
fn applied_some(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (test, each) = said_of_each(captures)?;
    if test.is_denied || test.is_joined { None } else { cond(Loose::Any(each), false) }
}

fn applied_each(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (_, each) = said_of_each(captures)?;
    cond(Loose::All(each), false)
}

/// Whether rows are all rows of their table.
pub(super) fn are_all(rows: &Rows) -> bool {
    rows.cond.is_always()
}

/// The condition of rows.
pub(super) fn cond_of(rows: &Rows) -> Cond {
    (*rows.cond).clone()
}
