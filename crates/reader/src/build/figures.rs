//! Rules about shares, numbers of rows and figures, of the whole table or of each group.

use super::conditions::{are_all, cond_of};
use super::demands::{groups_of, own_columns, values};
use super::{Builder, one};
use crate::algebra::{Claim, Cond, Day, Demand, Figure, Function, Name, Number, Op, Path, Unit};
use crate::captures::Captures;
use crate::context::Context;
use crate::value::{Group, Loose, LooseExpr, LooseFigure, Rows, Term, Test, Value};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("quota", quota),
    ("part", part),
    ("partcol", part_of_column),
    ("partmeet", part_meets),
    ("shareof", share_of),
    ("morethan", more_than),
    ("bound1", one_bound),
    ("bound2", two_bounds),
    ("boundnot", denied_bound),
    ("constant", constant),
    ("hasper", has_per),
    ("atmost", at_most),
    ("atmostcol", at_most_of_column),
    ("rowcount", row_count),
    ("rowsthere", rows_there),
    ("newest", newest),
    ("rfigure", figure),
    ("rdistinct", distinct),
    ("bound", bound),
    ("distinctcount", distinct_count),
    ("grouphas", group_has),
];

type Bounds = Vec<(Op, Number)>;

fn share(rows: &Rows, cond: Cond, op: Op, percent: Number) -> Demand {
    Demand { table: rows.table.clone(), when: cond_of(rows), claim: Claim::Share(cond, op, percent) }.normal()
}

fn bounded(table: &Name, when: Cond, figure: Figure, bounds: Bounds) -> Demand {
    Demand { table: table.clone(), when, claim: Claim::Bounds(figure, bounds) }.normal()
}

fn counting(by: Vec<Path>) -> Figure {
    Figure { function: Function::Count, of: None, by }
}

fn quota(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Quota(captures.take("op")?, captures.take("k")?))
}

fn quota_of(captures: &mut Captures) -> Option<(Op, Number)> {
    match captures.take("q")? {
        Value::Quota(op, percent) => Some((op, percent)),
        _ => None,
    }
}

fn denied_if(cond: Cond, is_denied: bool) -> Cond {
    if is_denied { cond.denied() } else { cond }
}

fn part(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (op, percent) = quota_of(captures)?;
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    let is_denied = captures.flag("no");
    let found = context.bound(&cond, &rows.table).into_iter();
    values(found.map(|cond| share(&rows, denied_if(cond, is_denied), op, percent)))
}

/// Of the emails: of the rows that have one, unless it is about those that have none.
fn part_of_column(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (op, percent) = quota_of(captures)?;
    let (column, test): (LooseExpr, Test) = (captures.take("c")?, captures.take("p")?);
    let is_denied = captures.flag("no");
    let mut found = Vec::new();
    for (table, path) in columns_of(context, &column) {
        for cond in context.bound(&test.of(&column), &table) {
            let when = if has_null(&cond) { Cond::always() } else { Cond::Null(path.clone()).denied() };
            let rows = Rows { table: table.clone(), cond: when.into() };
            found.push(share(&rows, denied_if(cond, is_denied), op, percent));
        }
    }
    values(found)
}

/// The columns of the judged tables that an expression may be.
fn columns_of(context: &Context<'_>, column: &LooseExpr) -> Vec<(Name, Path)> {
    let tables = context.targets().into_iter();
    tables
        .flat_map(|table| {
            let paths = own_columns(context, &table, std::slice::from_ref(column)).concat();
            paths.into_iter().map(move |path| (table.clone(), path)).collect::<Vec<_>>()
        })
        .collect()
}

fn has_null(cond: &Cond) -> bool {
    match cond {
        Cond::Null(_) => true,
        Cond::Not(inner) => has_null(inner),
        Cond::All(all) | Cond::Any(all) => all.iter().any(has_null),
        _ => false,
    }
}

/// As `words` says it.
fn part_meets(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("c")?);
    let (op, percent): (Op, Number) = (captures.take("op")?, captures.take("k")?);
    let found = context.bound(&cond, &rows.table).into_iter();
    values(found.map(|cond| share(&rows, cond, op, percent)))
}

fn share_of(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, op, percent): (Rows, Op, Number) =
        (captures.take("r")?, captures.take("op")?, captures.take("k")?);
    if are_all(&rows) {
        return None;
    }
    let all = Rows { table: rows.table.clone(), cond: Cond::always().into() };
    values([share(&all, cond_of(&rows), op, percent)])
}

fn bounds(bounds: Bounds) -> Option<Vec<Value>> {
    one(Value::Bounds(bounds))
}

fn more_than(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    bounds(vec![(Op::AtMost, captures.take("k")?)])
}

fn one_bound(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    bounds(vec![(captures.take("op")?, captures.take("k")?)])
}

fn two_bounds(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (low, high): (Number, Number) = (captures.take("a")?, captures.take("b")?);
    if low.value() > high.value() {
        return None;
    }
    bounds(vec![(Op::AtLeast, low), (Op::AtMost, high)])
}

fn denied_bound(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let op: Op = captures.take("op")?;
    bounds(vec![(op.denied()?, captures.take("k")?)])
}

/// The same everywhere: one value at most.
fn constant(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let of = captures.take("c")?;
    let figure = LooseFigure { function: Function::Distinct, of, rows: None, by: Vec::new() };
    values(bounded_figure(context, &figure, &vec![(Op::AtMost, Number::count(1))]))
}

/// What each one has is counted for those that are there.
fn of_those(rows: &Rows, by: &[Path]) -> Cond {
    let there = by.iter().map(|path| Cond::Null(path.clone()).denied());
    Cond::All(std::iter::once(cond_of(rows)).chain(there).collect())
}

fn has_per(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let bounds: Bounds = captures.take(if captures.has("b") { "b" } else { "k" })?;
    let (rows, groups): (Rows, Vec<Group>) = (captures.take("r")?, captures.list("g")?);
    let ways = groups_of(context, &rows.table, &groups).into_iter();
    values(ways.map(|by| {
        let when = of_those(&rows, &by);
        bounded(&rows.table, when, counting(by), bounds.clone())
    }))
}

fn at_most(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    let bounds: Bounds = vec![(captures.take("op")?, captures.take("k")?)];
    let found = context.bound(&cond, &rows.table).into_iter();
    values(found.map(|cond| {
        bounded(&rows.table, Cond::All(vec![cond_of(&rows), cond]), counting(Vec::new()), bounds.clone())
    }))
}

fn at_most_of_column(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (column, test): (LooseExpr, Test) = (captures.take("c")?, captures.take("p")?);
    let bounds: Bounds = vec![(captures.take("op")?, captures.take("k")?)];
    let mut found = Vec::new();
    for (table, _) in columns_of(context, &column) {
        let conds = context.bound(&test.of(&column), &table).into_iter();
        found.extend(conds.map(|cond| bounded(&table, cond, counting(Vec::new()), bounds.clone())));
    }
    values(found)
}

/// The number of rows, of a table or of each group. A table that is named twice is the same one.
fn row_count(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let bounds: Bounds = captures.take(if captures.has("b") { "b" } else { "isb" })?;
    let rows: Option<Rows> = captures.maybe("r")?;
    let nouns: [Option<Name>; 2] = [captures.maybe("n")?, captures.maybe("n2")?];
    let groups = captures.list::<Group>("g")?;
    let rows = if let Some(rows) = rows {
        rows
    } else {
        let mut named = nouns.into_iter().flatten();
        let table = named.next().or_else(|| context.judged.clone())?;
        if named.any(|other| other != table) {
            return None;
        }
        Rows { table, cond: Cond::always().into() }
    };
    let ways = groups_of(context, &rows.table, &groups).into_iter();
    values(ways.map(|by| bounded(&rows.table, cond_of(&rows), counting(by), bounds.clone())))
}

fn rows_there(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let table: Name = captures.take("n")?;
    values([bounded(&table, Cond::always(), counting(Vec::new()), vec![(Op::AtLeast, Number::count(1))])])
}

/// The newest day is at most so old: there is a row with a day that is.
fn newest(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let column: LooseExpr = captures.take("c")?;
    let op @ (Op::AtMost | Op::Below) = captures.take("op")? else { return None };
    let day = Day::Relative(Unit::Day, -i64::from(captures.take::<u32>("k")?));
    let since = Loose::Compare(column.clone(), op.flipped(), Term::Day(day));
    let mut found = Vec::new();
    for (table, _) in columns_of(context, &column) {
        let conds = context.bound(&since, &table).into_iter();
        let bounds = vec![(Op::AtLeast, Number::count(1))];
        found.extend(conds.map(|when| bounded(&table, when, counting(Vec::new()), bounds.clone())));
    }
    values(found)
}

fn loose_figure(function: Function, captures: &mut Captures) -> Option<Vec<Value>> {
    let (of, rows, by) = (captures.take("c")?, captures.maybe("ofr")?, captures.list("g")?);
    one(Value::Figure(LooseFigure { function, of, rows, by }))
}

fn figure(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let function = captures.take("fn")?;
    loose_figure(function, captures)
}

fn distinct(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    loose_figure(Function::Distinct, captures)
}

fn bounded_figure(context: &Context<'_>, figure: &LooseFigure, bounds: &Bounds) -> Vec<Demand> {
    let mut found = Vec::new();
    for (table, path) in columns_of(context, &figure.of) {
        if figure.rows.as_ref().is_some_and(|rows| rows.table != table) {
            continue;
        }
        let is_number =
            context.catalog.column(&table, &path.column).is_some_and(|column| column.holds.is_number());
        if figure.function != Function::Distinct && !is_number {
            continue;
        }
        let when = figure.rows.as_ref().map_or_else(Cond::always, cond_of);
        for by in groups_of(context, &table, &figure.by) {
            let of = Some(path.clone());
            let figure = Figure { function: figure.function, of, by };
            found.push(bounded(&table, when.clone(), figure, bounds.clone()));
        }
    }
    found
}

fn bound(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let mut figure: LooseFigure = captures.take("f")?;
    let bounds: Bounds = captures.take("b")?;
    let groups = captures.list::<Group>("g")?;
    if !groups.is_empty() && !figure.by.is_empty() {
        return None;
    }
    figure.by.extend(groups);
    values(bounded_figure(context, &figure, &bounds))
}

fn distinct_count(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (of, bounds): (LooseExpr, Bounds) = (captures.take("c")?, captures.take("b")?);
    let figure = LooseFigure { function: Function::Distinct, of, rows: None, by: Vec::new() };
    values(bounded_figure(context, &figure, &bounds))
}

/// Every owner must have at least one patient; no owner may have more than 4.
fn group_has(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (group, mut bounds): (Group, Bounds) = (captures.take("g")?, captures.take("b")?);
    let rows: Rows = captures.take("r")?;
    if captures.flag("no") {
        let [(op, count)] = bounds.as_slice() else { return None };
        bounds = vec![(op.denied()?, *count)];
    }
    let mut found = Vec::new();
    if let Group::Noun(noun) = &group
        && *noun != rows.table
        && context.judged.as_ref().is_none_or(|judged| judged == noun)
    {
        let counts =
            bounds.iter().map(|(op, count)| Some(Loose::Exists(rows.clone(), *op, count.as_count()?)));
        let all = Loose::All(counts.collect::<Option<_>>()?);
        let conds = context.bound(&all, noun).into_iter();
        found.extend(conds.map(|cond| super::demands::every(noun, cond, Cond::always())));
    }
    if found.is_empty() || context.judged.is_none() {
        let ways = groups_of(context, &rows.table, &[group]).into_iter();
        found.extend(ways.map(|by| {
            let when = of_those(&rows, &by);
            bounded(&rows.table, when, counting(by), bounds.clone())
        }));
    }
    values(found)
}
