//! What a rule is about, and when it applies.

use super::conditions::{are_all, cond_of, rows_that};
use super::{Builder, one};
use crate::algebra::{Cond, Name, Op};
use crate::captures::Captures;
use crate::context::Context;
use crate::value::{Loose, LooseExpr, Rows, Subjects, Tail, Term, Test, Value, Values};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("sone", all_subjects),
    ("sall", all_subjects),
    ("sany", any_subject),
    ("tif", tail_if),
    ("tunless", tail_unless),
    ("tonlyif", tail_only_if),
    ("tiff", tail_exactly),
    ("tit", tail_it),
    ("trows", tail_rows),
    ("trowsnot", tail_other_rows),
    ("tnone", |_, _| one(Value::Tail(Tail::Nothing))),
    ("kinds", kinds),
    ("eitherrows", either_rows),
    ("glossed", glossed),
    ("glossedcond", glossed_cond),
    ("glossedsum", glossed_sum),
    ("rboth", both),
    ("second", second),
    ("appliedany", applied_any),
    ("appliedall", applied_all),
    ("filledall", filled_all),
    ("filledany", filled_any),
    ("filledunique", filled_unique),
    ("emptyall", empty_all),
];

fn subjects(captures: &mut Captures, is_any: bool) -> Option<Vec<Value>> {
    one(Value::Subjects(Subjects { columns: captures.list("s")?, is_any, is_denied: false }))
}

fn all_subjects(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    subjects(captures, false)
}

fn any_subject(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    subjects(captures, true)
}

fn tail(tail: Tail) -> Option<Vec<Value>> {
    one(Value::Tail(tail))
}

fn tail_if(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::If(captures.take("x")?))
}

fn tail_unless(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::If(captures.take::<Loose>("x")?.denied()))
}

fn tail_only_if(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::OnlyIf(captures.take("x")?))
}

fn tail_exactly(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::Exactly(captures.take("x")?))
}

fn tail_it(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::It(captures.take("b")?))
}

fn tail_rows(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    tail(Tail::Rows(captures.take("r")?))
}

fn tail_other_rows(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    if are_all(&rows) { None } else { tail(Tail::RowsNot(rows)) }
}

/// How a condition limits a rule.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Limit {
    Always,
    If(Cond),
    OnlyIf(Cond),
    Exactly(Cond),
}

/// Each way to understand the condition of a rule about rows of a table. `subjects` are the columns that it may be about.
pub(super) fn limits(context: &Context<'_>, table: &Name, tail: &Tail, subjects: &[LooseExpr]) -> Vec<Limit> {
    let bound = |cond: &Loose| context.bound(cond, table).into_iter().map(Cond::normal);
    match tail {
        Tail::Nothing => vec![Limit::Always],
        Tail::If(cond) => bound(cond).map(Limit::If).collect(),
        Tail::OnlyIf(cond) => bound(cond).map(Limit::OnlyIf).collect(),
        Tail::Exactly(cond) => bound(cond).map(Limit::Exactly).collect(),
        Tail::Rows(rows) if rows.table == *table => vec![Limit::If(cond_of(rows))],
        Tail::RowsNot(rows) if rows.table == *table => vec![Limit::If(cond_of(rows).denied().normal())],
        Tail::Rows(_) | Tail::RowsNot(_) => Vec::new(),
        Tail::It(test) => bound(&Loose::All(subjects.iter().map(|subject| test.of(subject)).collect()))
            .map(Limit::If)
            .collect(),
    }
}

/// Cats and dogs: rows that are called by values of one column.
fn kinds(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (values, after): (Vec<Values>, Vec<Loose>) = (captures.list("v")?, captures.list("after")?);
    let mut found = Vec::new();
    for table in context.targets() {
        let columns: std::collections::BTreeSet<&Name> = values
            .iter()
            .flat_map(|values| values.found.iter())
            .filter(|(owner, ..)| *owner == table)
            .map(|(_, column, _)| column)
            .collect();
        for column in columns {
            let of_column = |values: &Values| {
                let some: std::collections::BTreeSet<_> = values
                    .found
                    .iter()
                    .filter(|(owner, own, _)| *owner == table && own == column)
                    .cloned()
                    .collect();
                let some = Values { found: some.into(), ..values.clone() };
                if some.found.is_empty() { None } else { Some(Loose::Value(some, None)) }
            };
            if let Some(any) = values.iter().map(of_column).collect::<Option<Vec<_>>>() {
                let conds = [vec![Loose::Any(any)], after.clone()].concat();
                found.extend(rows_that(context, &table, conds).into_iter().map(Value::Rows));
            }
        }
    }
    Some(found)
}

/// Active or paused customers: one of several words in front of the noun.
fn either_rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (before, after): (Vec<Loose>, Vec<Loose>) = (captures.list("before")?, captures.list("after")?);
    if !before.iter().all(|cond| matches!(cond, Loose::Value(..))) {
        return None;
    }
    let table: Name = captures.take("n")?;
    let conds = [vec![Loose::Any(before)], after].concat();
    Some(rows_that(context, &table, conds).into_iter().map(Value::Rows).collect())
}

/// Approved entries (approved = Y): what is in brackets says what the word before them means.
fn glossed(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let words = captures.list::<Value>("before")?.len()
        + usize::from(captures.maybe::<Value>("w")?.is_some())
        + usize::from(captures.maybe::<Value>("w2")?.is_some());
    let noun: Option<Name> = captures.maybe("n")?;
    let conds = [vec![captures.take("g")?], captures.list("after")?].concat();
    if words > 2 {
        return None;
    }
    let tables = noun.map_or_else(|| context.targets(), |noun| vec![noun]);
    let rows = tables.into_iter().take(1).flat_map(|table| rows_that(context, &table, conds.clone()));
    Some(rows.map(Value::Rows).collect())
}

/// Smoking rooms (smoking = yes), approved (approved = Y).
fn glossed_cond(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    captures.take::<Value>("w")?;
    let meant: Loose = captures.take("x")?;
    match captures.maybe("n")? {
        Some(noun) => cond(Loose::OfNoun(noun, Box::new(meant))),
        None => cond(meant),
    }
}

/// The margin (price minus cost).
fn glossed_sum(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    captures.take::<Value>("w")?;
    one(Value::Expr(captures.take("x")?))
}

fn cond(cond: Loose) -> Option<Vec<Value>> {
    one(Value::Cond(cond))
}

fn both(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let conds = [vec![captures.take("x")?], captures.list("x2")?].concat();
    cond(Loose::All(conds))
}

/// No Adults (Adults = 0): what is in brackets says more exactly what stands before them. Both must be of the same column.
fn second(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (first, exact): (Loose, Loose) = (captures.take("x")?, captures.take("x2")?);
    let subject = |cond: &Loose| match cond {
        Loose::None(column) | Loose::Compare(column, ..) | Loose::Null(column) | Loose::In(column, ..) => {
            Some(column.clone())
        }
        _ => None,
    };
    if subject(&first).is_some() && subject(&first) == subject(&exact) { cond(exact) } else { None }
}

fn applied(captures: &mut Captures) -> Option<Vec<Loose>> {
    let column: LooseExpr = captures.take("c")?;
    Some(captures.list::<Test>("x")?.iter().map(|test| test.of(&column)).collect())
}

fn applied_any(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Any(applied(captures)?))
}

fn applied_all(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::All(applied(captures)?))
}

fn gaps(captures: &mut Captures, so: bool) -> Option<Vec<Loose>> {
    let columns = captures.list::<LooseExpr>("c")?.into_iter().map(Loose::Null);
    Some(if so { columns.collect() } else { columns.map(Loose::denied).collect() })
}

fn filled_all(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::All(gaps(captures, false)?))
}

fn filled_any(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::Any(gaps(captures, false)?))
}

fn empty_all(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    cond(Loose::All(gaps(captures, true)?))
}

fn filled_unique(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let column: LooseExpr = captures.take("c")?;
    cond(Loose::All(vec![Loose::Unique(vec![column.clone()]), Loose::Null(column).denied()]))
}

/// A comparison of two columns, for rules about pairs.
pub(super) fn equals(left: &LooseExpr, right: &LooseExpr) -> Loose {
    Loose::Compare(left.clone(), Op::Equal, Term::Expr(right.clone()))
}
