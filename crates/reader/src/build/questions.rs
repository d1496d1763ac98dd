//! Questions: rows and columns, one value, figures, shares, pictures.

use std::rc::Rc;

use super::conditions::{cond_of, rows_that};
use super::{Builder, one};
use crate::algebra::{Cond, Expr, Function, Name, Number, Op, Path, Scalar, Unit};
use crate::captures::Captures;
use crate::catalog::{Column, Holds, Table};
use crate::context::{Context, nearest, product};
use crate::index::in_singular;
use crate::query::{Ask, Chart, Computed, Group as Asked, Meaning, Measure, Order, Part, Query, Top};
use crate::token::name_words;
use crate::value::{Found, Group, Loose, LooseExpr, Rows, Term, Value, Values};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("found", found),
    ("foundany", found_anything),
    ("foundmoney", found_by_money),
    ("foundday", found_by_day),
    ("foundby", found_by),
    ("sorted", sorted),
    ("top", top),
    ("phrase", phrase),
    ("within", within),
    ("row", row),
    ("show", show),
    ("which", which),
    ("columns", columns),
    ("cell", cell),
    ("price", price),
    ("about", about),
    ("holds", holds),
    ("holdsmoney", holds_money),
    ("holdsrows", holds_rows),
    ("count", count),
    ("countowned", count_owned),
    ("distinct", distinct),
    ("figure", figure),
    ("metric", metric),
    ("mostmetric", most_metric),
    ("ratio", ratio),
    ("measurecount", |_, _| one(Value::Measure(Function::Count, None))),
    ("measuredistinct", measure_distinct),
    ("measurefigure", measure_figure),
    ("groups", groups),
    ("share", share),
    ("mostof", most_of),
    ("mostrows", most_rows),
    ("ofconds", of_conds),
    ("gcolumn", group_column),
    ("gnoun", group_noun),
    ("gstretch", group_stretch),
    ("topgroup", top_of_groups),
    ("chart", chart),
    ("compute", computed),
    ("frequent", frequent),
    ("mostfigure", most_figure),
];

#[expect(clippy::unnecessary_wraps, reason = "every builder may have no meaning")]
fn meanings(found: impl IntoIterator<Item = Query>) -> Option<Vec<Value>> {
    let found = found.into_iter().map(|query| Value::Meaning(Box::new(Meaning::Query(query.normal()))));
    Some(found.collect())
}

fn query(rows: &Rows, ask: Ask) -> Query {
    Query { table: rows.table.clone(), filter: cond_of(rows), ask }
}

/// The rows that meet a further condition.
fn narrowed(context: &Context<'_>, rows: &Rows, cond: Option<Loose>) -> Vec<Rows> {
    let Some(cond) = cond else { return vec![rows.clone()] };
    let found = context.bound(&cond, &rows.table).into_iter();
    let both = found.map(|cond| Cond::All(vec![cond_of(rows), cond]).normal());
    both.map(|cond| Rows { table: rows.table.clone(), cond: Rc::new(cond) }).collect()
}

/// The columns that a name may be, seen from a table: the nearest ones.
fn paths(context: &Context<'_>, table: &Name, column: &LooseExpr) -> Vec<Path> {
    let seen = nearest(context.exprs(table, column)).into_iter();
    seen.filter_map(|seen| match seen.expr {
        Expr::Column(path) => Some(path),
        _ => None,
    })
    .collect()
}

fn holds_of(context: &Context<'_>, table: &Name, path: &Path) -> Option<Holds> {
    Some(context.catalog.column(path.owner(table), &path.column)?.holds)
}

/// The columns that give rows an order.
fn orders(context: &Context<'_>, table: &Name, column: &LooseExpr) -> Vec<Path> {
    let is_ordered = |path: &Path| {
        let holds = holds_of(context, table, path);
        holds
            .is_some_and(|holds| holds.is_number() || matches!(holds, Holds::Day | Holds::Time | Holds::Text))
    };
    paths(context, table, column).into_iter().filter(is_ordered).collect()
}

fn own(context: &Context<'_>, table: &str, is_wanted: impl Fn(&Column) -> bool) -> Vec<Path> {
    let columns = context.catalog.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
    columns.iter().filter(|column| is_wanted(column)).map(|column| Path::own(&column.name)).collect()
}

fn found(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Found(Found { rows: captures.take("r")?, order: None }))
}

/// The rows of any table of which that can be said; of those themselves before rows that refer to such.
fn found_anything(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let conds = Loose::All(captures.list("after")?);
    let of_table = |table: Name| {
        let ways = context.bind(&conds, &table).into_iter();
        ways.map(move |(far, cond)| (far, (table.clone(), cond.normal()))).collect::<Vec<_>>()
    };
    let found = nearest(context.targets().into_iter().flat_map(of_table).collect()).into_iter();
    let rows = found.map(|(table, cond)| Rows { table, cond: Rc::new(cond) });
    Some(rows.map(|rows| Value::Found(Found { rows, order: None })).collect())
}

/// The first so many, or the one in a place.
fn part(captures: &mut Captures) -> Option<Part> {
    let place: Option<u32> = captures.maybe("o")?;
    let is_place = captures.flag("place");
    let count: Option<u32> = captures.maybe("k")?;
    Some(match (place, count) {
        (Some(place), None) => Part::Place(place),
        (None, Some(place)) if is_place => Part::Place(place),
        (None, count) => Part::First(count.unwrap_or(1)),
        _ => return None,
    })
    .filter(|part| !matches!(part, Part::First(0) | Part::Place(0)))
}

#[expect(clippy::unnecessary_wraps, reason = "every builder may have no meaning")]
fn ordered(rows: &[Rows], by: impl Fn(&Rows) -> Vec<Path>, top: Top) -> Option<Vec<Value>> {
    let found = rows.iter().flat_map(|rows| {
        let order = by(rows).into_iter().map(move |by| Some(Order { by, top }));
        order.map(|order| Value::Found(Found { rows: rows.clone(), order }))
    });
    Some(found.collect())
}

fn extreme(
    context: &Context<'_>,
    captures: &mut Captures,
    is_wanted: impl Fn(&Column) -> bool + Copy,
) -> Option<Vec<Value>> {
    let table: Name = captures.take("n")?;
    let top = Top { part: part(captures)?, ..captures.take::<Top>("d")? };
    let conds = [captures.list("before")?, captures.list("after")?].concat();
    ordered(&rows_that(context, &table, conds), |rows| own(context, &rows.table, is_wanted), top)
}

fn found_by_money(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    extreme(context, captures, Column::is_money)
}

fn found_by_day(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    extreme(context, captures, |column| column.holds == Holds::Day)
}

fn found_by(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, column): (Rows, LooseExpr) = (captures.take("r")?, captures.take("c")?);
    let is_down = captures.flag("down") | captures.maybe::<Top>("d")?.is_some_and(|top| top.is_down);
    let top = Top { is_down, part: part(captures)? };
    ordered(&[rows], |rows| orders(context, &rows.table, &column), top)
}

fn sorted(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, column): (Rows, LooseExpr) = (captures.take("r")?, captures.take("c")?);
    let is_down = captures.maybe::<Top>("d")?.is_some_and(|top| top.is_down);
    ordered(&[rows], |rows| orders(context, &rows.table, &column), Top { is_down, part: Part::All })
}

fn top(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Top(Top { is_down: captures.flag("down"), part: Part::All }))
}

fn phrase(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Value::Phrases(places) = captures.take("p")? else { return None };
    let means =
        |place: usize| context.catalog.phrases.get(place).map(|one| (one.table.clone(), one.means.clone()));
    let cond = Loose::Phrase(places.into_iter().filter_map(means).collect());
    one(Value::Cond(if captures.flag("no") { cond.denied() } else { cond }))
}

/// Words that stand in texts: all of them.
fn within(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let words = captures.list::<Value>("w")?.into_iter().map(|word| match word {
        Value::Within(known) => Some(Loose::Within(known)),
        _ => None,
    });
    one(Value::Cond(Loose::All(words.collect::<Option<_>>()?)))
}

/// A row by its key or by what it is called.
fn row(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let noun: Option<Name> = captures.maybe("n")?;
    let row =
        |table: &Name, cond: Cond| Value::Rows(Rows { table: table.clone(), cond: Rc::new(cond.normal()) });
    if captures.has("k") {
        let (table, number): (Name, Number) = (noun?, captures.take("k")?);
        let key = context.catalog.table(&table)?.key.clone()?;
        let is_number = context.catalog.column(&table, &key)?.holds == Holds::Whole;
        return is_number.then(|| vec![row(&table, Cond::is(Path::own(&key), Scalar::Number(number)))]);
    }
    let values: Values = captures.take("v")?;
    let found = values.found.iter().filter(|(owner, column, _)| {
        let table = context.catalog.table(owner);
        let names = table.map(|table| [table.key.as_ref(), table.label.as_ref()]);
        names.is_some_and(|names| names.contains(&Some(column)))
            && noun.as_ref().is_none_or(|noun| noun == owner)
    });
    Some(
        found
            .map(|(table, column, value)| {
                row(table, Cond::is(Path::own(column), Scalar::Text(value.clone())))
            })
            .collect(),
    )
}

fn rows_of(found: &Found, columns: Vec<Path>) -> Query {
    query(&found.rows, Ask::Rows(columns, found.order.clone()))
}

fn show(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let found: Found = captures.take("f")?;
    let cond = captures.maybe("x")?;
    meanings(
        narrowed(context, &found.rows, cond)
            .into_iter()
            .map(|rows| rows_of(&Found { rows, ..found.clone() }, Vec::new())),
    )
}

/// What is said of the rows that come first is not said of those that they are picked from.
fn which(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let found: Found = captures.take("f")?;
    let cond: Option<Loose> = captures.maybe("x")?;
    if found.order.is_some() && cond.is_some() {
        return None;
    }
    meanings(
        narrowed(context, &found.rows, cond)
            .into_iter()
            .map(|rows| rows_of(&Found { rows, ..found.clone() }, Vec::new())),
    )
}

/// Every choice of columns that some names may be.
fn choices(context: &Context<'_>, table: &Name, columns: &[LooseExpr]) -> Vec<Vec<Path>> {
    let ways: Vec<Vec<(u32, Path)>> = columns
        .iter()
        .map(|column| paths(context, table, column).into_iter().map(|path| (0, path)).collect())
        .collect();
    product(&ways).into_iter().map(|(_, paths)| paths).collect()
}

fn columns(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (found, columns): (Found, Vec<LooseExpr>) = (captures.take("f")?, captures.list("c")?);
    meanings(
        choices(context, &found.rows.table, &columns).into_iter().map(|columns| rows_of(&found, columns)),
    )
}

fn cell(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, column): (Rows, LooseExpr) = (captures.take("r")?, captures.take("c")?);
    let found = paths(context, &rows.table, &column).into_iter();
    meanings(found.map(|path| query(&rows, Ask::Rows(vec![path], None))))
}

fn price(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    let money = own(context, &rows.table, Column::is_money);
    meanings(money.into_iter().map(|path| query(&rows, Ask::Rows(vec![path], None))))
}

fn about(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    let all = own(context, &rows.table, |_| true);
    meanings([query(&rows, Ask::Rows(all, None))])
}

fn holding(context: &Context<'_>, rows: &Rows, cond: &Loose, is_denied: bool) -> Option<Vec<Value>> {
    let found = context.bound(cond, &rows.table).into_iter();
    meanings(found.map(|cond| query(rows, Ask::Holds(if is_denied { cond.denied() } else { cond }))))
}

fn holds(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    let is_denied = captures.flag("no");
    holding(context, &rows, &cond, is_denied)
}

fn holds_money(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    let op: Op = captures.take("op")?;
    let term = match captures.take("m")? {
        Value::Money(number, currency) => Term::Money(number, currency),
        Value::Term(term) => term,
        _ => return None,
    };
    holding(context, &rows, &Loose::Money(op, term), false)
}

fn holds_rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    holds(context, captures)
}

fn groups(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Groups(captures.list("g")?))
}

fn group_column(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Group(Group::Column(captures.take("c")?)))
}

fn group_noun(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Group(Group::Noun(captures.take("n")?)))
}

fn group_stretch(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Group(Group::Stretch(captures.take::<Unit>("u")?, captures.maybe("c")?)))
}

fn top_of_groups(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let top: Top = captures.take("d")?;
    let count: Option<u32> = captures.maybe("k")?;
    one(Value::Top(Top { part: count.map_or(Part::All, Part::First), ..top }))
}

/// Every way to make the groups of a table.
fn grouped(context: &Context<'_>, table: &Name, groups: &[Group]) -> Vec<Vec<Asked>> {
    let of = |of: Path, per: Option<Unit>| (0, Asked { of, per });
    let is_day = |path: &Path| holds_of(context, table, path) == Some(Holds::Day);
    let ways: Vec<Vec<(u32, Asked)>> = groups
        .iter()
        .map(|group| match group {
            Group::Noun(noun) => {
                let refers = |column: &Column| column.refers.as_ref().is_some_and(|(to, _)| to == noun);
                own(context, table, refers).into_iter().map(|path| of(path, None)).collect()
            }
            Group::Column(column) => {
                paths(context, table, column).into_iter().map(|path| of(path, None)).collect()
            }
            Group::Stretch(unit, column) => {
                let days = match column {
                    Some(column) => paths(context, table, column),
                    None => own(context, table, |column| column.holds == Holds::Day),
                };
                days.into_iter().filter(is_day).map(|path| of(path, Some(*unit))).collect()
            }
        })
        .collect();
    product(&ways).into_iter().map(|(_, groups)| groups).collect()
}

/// The groups of a question, and which of them are wanted.
fn split(captures: &mut Captures) -> Option<(Vec<Group>, Option<Top>)> {
    let groups = captures.maybe::<Vec<Group>>("g")?.unwrap_or_default();
    let top: Option<Top> = captures.maybe("t")?;
    (top.is_none() || !groups.is_empty()).then_some((groups, top))
}

fn figures(
    context: &Context<'_>,
    rows: &Rows,
    measure: &Measure,
    (groups, top): &(Vec<Group>, Option<Top>),
) -> Vec<Query> {
    let ways = grouped(context, &rows.table, groups).into_iter();
    ways.map(|by| query(rows, Ask::Figure(measure.clone(), by, *top))).collect()
}

/// What is counted by the unit is no row: of what there are so many of each, how many there are is not how many rows.
fn has_counts(context: &Context<'_>, table: &Name) -> bool {
    let key = context.catalog.table(table).and_then(|table| table.key.clone());
    let counts = |column: &Column| {
        column.holds == Holds::Whole && column.refers.is_none() && Some(&column.name) != key.as_ref()
    };
    !own(context, table, counts).is_empty()
}

/// What rows are counted by: each as one; and if a number of theirs is called as they are, by that, too.
fn counts(context: &Context<'_>, table: &Name) -> Vec<Measure> {
    let words: Vec<String> = context.catalog.table(table).into_iter().flat_map(called).collect();
    let is_called_so = |column: &Column| {
        let mut own = column.words.iter().map(|words| in_singular(&name_words(words)));
        column.holds.is_number() && own.any(|own| words.contains(&own))
    };
    let numbers = own(context, table, is_called_so).into_iter();
    let sums = numbers.map(|path| Measure::One(Function::Sum, Some(Expr::Column(path))));
    std::iter::once(Measure::One(Function::Count, None)).chain(sums).collect()
}

fn called(table: &Table) -> impl Iterator<Item = String> {
    table.words.iter().map(|words| in_singular(&name_words(words)))
}

fn count(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    let cond: Option<Loose> = captures.maybe("x")?;
    let is_had = captures.flag("had");
    let split = split(captures)?;
    if is_had && has_counts(context, &rows.table) {
        return None;
    }
    counted(context, &rows, cond, &split)
}

fn counted(
    context: &Context<'_>,
    rows: &Rows,
    cond: Option<Loose>,
    split: &(Vec<Group>, Option<Top>),
) -> Option<Vec<Value>> {
    let measures = counts(context, &rows.table);
    let narrowed = narrowed(context, rows, cond);
    let each = narrowed.iter().flat_map(|rows| measures.iter().map(move |measure| (rows, measure)));
    meanings(each.flat_map(|(rows, measure)| figures(context, rows, measure, split)))
}

/// How many rows somebody has. A row has none of its own kind: it is one.
fn count_owned(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, mut values): (Rows, Values) = (captures.take("r")?, captures.take("v")?);
    let own = context.catalog.table(&rows.table)?;
    let is_other = |(table, column, _): &(Name, Name, String)| *table != own.name || !own.is_naming(column);
    values.found = Rc::new(values.found.iter().filter(|value| is_other(value)).cloned().collect());
    counted(context, &rows, Some(Loose::Value(values, None)), &(Vec::new(), None))
}

/// Rows that a figure may be of, with what is measured there. Where none are named, they are those of the table that has the
/// column.
fn measured(context: &Context<'_>, of: &LooseExpr, rows: Option<&Value>) -> Vec<(Rows, Expr, Holds)> {
    let all = |table: &Name| Rows { table: table.clone(), cond: Rc::new(Cond::always()) };
    let rows: Vec<Rows> = match rows {
        Some(Value::Rows(rows)) => vec![rows.clone()],
        Some(Value::Cond(cond)) => {
            let tables = context.targets().into_iter();
            let own = tables.filter(|table| context.is_own(table, of));
            own.flat_map(|table| narrowed(context, &all(&table), Some(cond.clone()))).collect()
        }
        Some(_) => Vec::new(),
        None => context.targets().iter().map(all).collect(),
    };
    let found = rows.into_iter().flat_map(|rows| {
        let seen = context.exprs(&rows.table, of).into_iter().filter(|(far, _)| *far == 0);
        seen.map(move |(_, seen)| (rows.clone(), seen.expr, seen.holds)).collect::<Vec<_>>()
    });
    found.collect()
}

fn distinct(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let of: LooseExpr = captures.take("c")?;
    let rows = captures.maybe::<Value>("ofr")?;
    let split = split(captures)?;
    let found = measured(context, &of, rows.as_ref()).into_iter();
    meanings(found.flat_map(|(rows, expr, _)| {
        figures(context, &rows, &Measure::One(Function::Distinct, Some(expr)), &split)
    }))
}

fn figure(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let function: Function = captures.take("fn")?;
    let of: LooseExpr = captures.take("c")?;
    let rows = captures.maybe::<Value>("ofr")?;
    let split = split(captures)?;
    let is_fit = |holds: Holds| match function {
        Function::Maximum | Function::Minimum => {
            holds.is_number() || matches!(holds, Holds::Day | Holds::Time)
        }
        _ => holds.is_number(),
    };
    let found = measured(context, &of, rows.as_ref()).into_iter().filter(|(.., holds)| is_fit(*holds));
    meanings(
        found
            .flat_map(|(rows, expr, _)| figures(context, &rows, &Measure::One(function, Some(expr)), &split)),
    )
}

fn metric(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let places = metrics(captures)?;
    let rows = captures.maybe::<Value>("ofr")?;
    let split = split(captures)?;
    meanings(of_metrics(context, &places, rows.as_ref(), &split))
}

/// Which value has the highest of what the owner has a term for.
fn most_metric(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let places = metrics(captures)?;
    let (group, top): (LooseExpr, Top) = (captures.take("c")?, captures.take("d")?);
    let rows = captures.maybe::<Value>("ofr")?;
    let split = (vec![Group::Column(group)], Some(Top { part: Part::First(1), ..top }));
    meanings(of_metrics(context, &places, rows.as_ref(), &split))
}

fn metrics(captures: &mut Captures) -> Option<Vec<usize>> {
    match captures.take("m")? {
        Value::Metrics(places) => Some(places),
        _ => None,
    }
}

fn of_metrics(
    context: &Context<'_>,
    places: &[usize],
    rows: Option<&Value>,
    split: &(Vec<Group>, Option<Top>),
) -> Vec<Query> {
    let mut found = Vec::new();
    for metric in places.iter().filter_map(|place| context.catalog.metrics.get(*place)) {
        let conds = match rows {
            Some(Value::Rows(rows)) if rows.table == metric.table => vec![cond_of(rows)],
            Some(Value::Cond(cond)) => context.bound(cond, &metric.table),
            Some(_) => Vec::new(),
            None => vec![Cond::always()],
        };
        for cond in conds {
            let cond = Rc::new(Cond::All(vec![metric.filter.clone(), cond]).normal());
            let rows = Rows { table: metric.table.clone(), cond };
            let is_split_so = |query: &Query| match &query.ask {
                Ask::Figure(_, by, _) => {
                    by.iter().all(|group| metric.by.is_empty() || metric.by.contains(&group.of.column))
                }
                _ => false,
            };
            found.extend(figures(context, &rows, &metric.measure, split).into_iter().filter(is_split_so));
        }
    }
    found
}

fn measure_distinct(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Measure(Function::Distinct, Some(captures.take("c")?)))
}

fn measure_figure(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Measure(captures.take("fn")?, Some(captures.take("c")?)))
}

/// Two figures of the same rows, as `words` says them.
fn ratio(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    let is_minus = captures.flag("minus");
    let split = split(captures)?;
    let mut sides = |name: &str| -> Option<Vec<Measure>> {
        let Value::Measure(function, of) = captures.take(name)? else { return None };
        let Some(of) = of else { return Some(vec![Measure::One(function, None)]) };
        let found = measured(context, &of, Some(&Value::Rows(rows.clone()))).into_iter();
        Some(found.map(|(_, expr, _)| Measure::One(function, Some(expr))).collect())
    };
    let (ones, others) = (sides("a")?, sides("b")?);
    let pairs = ones.iter().flat_map(|one| {
        others.iter().map(move |other| {
            let (one, other) = (Box::new(one.clone()), Box::new(other.clone()));
            if is_minus { Measure::Difference(one, other) } else { Measure::Quotient(one, other) }
        })
    });
    meanings(pairs.flat_map(|measure| figures(context, &rows, &measure, &split)))
}

fn share(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    let (groups, _) = split(captures)?;
    let conds = context.bound(&cond, &rows.table);
    let ways = grouped(context, &rows.table, &groups);
    meanings(
        conds
            .iter()
            .flat_map(|cond| ways.iter().map(|by| query(&rows, Ask::Share(cond.clone(), by.clone())))),
    )
}

/// The groups with the most rows.
fn most(context: &Context<'_>, rows: &Rows, top: Top, by: &[Vec<Asked>]) -> Option<Vec<Value>> {
    let top = Some(Top { part: Part::First(1), ..top });
    let measures = counts(context, &rows.table);
    let each = by.iter().flat_map(|by| measures.iter().map(move |measure| (by, measure)));
    meanings(each.map(|(by, measure)| query(rows, Ask::Figure(measure.clone(), by.clone(), top))))
}

fn most_of(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, top): (Rows, Top) = (captures.take("r")?, captures.take("d")?);
    let by = grouped(context, &rows.table, &[Group::Column(captures.take("c")?)]);
    most(context, &rows, top, &by)
}

fn most_rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, top): (Rows, Top) = (captures.take("k")?, captures.take("d")?);
    let by = grouped(context, &rows.table, &[Group::Noun(captures.take("n")?)]);
    most(context, &rows, top, &by)
}

fn of_conds(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Cond(captures.take("x")?))
}

fn chart(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let kind = match captures.maybe::<String>("h")?.as_deref() {
        None | Some("bar") => Chart::Bar,
        Some("line") => Chart::Line,
        Some("pie") => Chart::Pie,
        Some(_) => return None,
    };
    let Meaning::Query(query) = *captures.take::<Box<Meaning>>("m")? else { return None };
    let has_groups = matches!(&query.ask, Ask::Figure(_, by, _) | Ask::Share(_, by) if !by.is_empty());
    has_groups.then(|| vec![Value::Meaning(Box::new(Meaning::Chart(kind, query)))])
}

/// Numbers that are still computed within a cell's time.
const UP_TO_MAX: u32 = 5_000_000;
const FIRST_MAX: u32 = 10_000;
/// Words that are told where nobody says how many.
const WORDS: u32 = 10;

fn computed(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count: u32 = captures.take("k")?;
    let (make, most): (fn(u32) -> Computed, u32) = match captures.take::<String>("is")?.as_str() {
        "primes" => (Computed::Primes, UP_TO_MAX),
        "firstprimes" => (Computed::FirstPrimes, FIRST_MAX),
        "fibonacci" => (Computed::Fibonacci, u32::MAX),
        "firstfibonacci" => (Computed::FirstFibonacci, FIRST_MAX),
        _ => return None,
    };
    ((1..=most).contains(&count)).then(|| vec![Value::Meaning(Box::new(Meaning::Computed(make(count))))])
}

fn frequent(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let count: u32 = captures.maybe("k")?.unwrap_or(WORDS);
    let computed = if captures.has("q") {
        Computed::Frequent(count, captures.take("q")?)
    } else {
        Computed::FrequentIn(count, captures.take("n")?)
    };
    (count > 0).then(|| vec![Value::Meaning(Box::new(Meaning::Computed(computed)))])
}

/// Which value has the highest total: figures of its rows.
fn most_figure(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (group, of): (LooseExpr, LooseExpr) = (captures.take("c")?, captures.take("m")?);
    let (function, top): (Function, Top) = (captures.take("fn")?, captures.take("d")?);
    let rows = captures.maybe::<Value>("ofr")?;
    let split = (vec![Group::Column(group)], Some(Top { part: Part::First(1), ..top }));
    let found = measured(context, &of, rows.as_ref()).into_iter().filter(|(.., holds)| holds.is_number());
    meanings(
        found
            .flat_map(|(rows, expr, _)| figures(context, &rows, &Measure::One(function, Some(expr)), &split)),
    )
}
