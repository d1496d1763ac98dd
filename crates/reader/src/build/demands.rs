//! Rules about each row.

use super::conditions::{are_all, cond_of};
use super::subjects::{Limit, equals, limits};
use super::{Builder, one};
use crate::algebra::{Claim, Cond, Demand, Link, Name, Op, Path};
use crate::captures::Captures;
use crate::context::{Context, product};
use crate::value::{Group, Loose, LooseExpr, Rows, Subjects, Tail, Term, Test, Value};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("judged", judged),
    ("demand", demand),
    ("pronoun", pronoun),
    ("demands", demands),
    ("otherwise", otherwise),
    ("onlyif", only_if),
    ("demandrows", demand_rows),
    ("flag", flag),
    ("flagor", flag_or),
    ("flagno", flag_none),
    ("flagcol", flag_columns),
    ("flagcol1", flag_column),
    ("onlyrows", only_rows),
    ("onlyvalues", only_values),
    ("must", must),
    ("pairdiffers", pair_differs),
    ("pairequal", pair_equal),
    ("bothor", both_or),
    ("inorder", in_order),
    ("each", each),
    ("eachfor", each_for),
    ("neithers", neither),
    ("notboth", not_both),
    ("onlyone", only_one),
    ("sentence", sentence),
    ("norepeat", no_repeat),
    ("unique", unique),
    ("uniquetogether", unique_together),
    ("uniqueper", unique_per),
    ("gnoun", group_noun),
    ("gcolumn", group_column),
    ("overlap", overlap),
    ("depends", depends),
    ("refers", refers),
    ("belongs", belongs),
    ("ownsome", owns_some),
    ("ownnone", owns_none),
];

/// A demand on every row, in its normal form.
pub(super) fn every(table: &Name, test: Cond, when: Cond) -> Demand {
    Demand { table: table.clone(), when, claim: Claim::Every(test) }.normal()
}

#[expect(clippy::unnecessary_wraps, reason = "every builder may have no meaning")]
pub(super) fn values(demands: impl IntoIterator<Item = Demand>) -> Option<Vec<Value>> {
    Some(demands.into_iter().map(|demand| Value::Demand(Box::new(demand))).collect())
}

/// A rule, if it is about the judged table.
fn judged(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let demand: Box<Demand> = captures.take("d")?;
    let is_judged = context.judged.as_ref().is_none_or(|judged| demand.table == *judged);
    is_judged.then(|| vec![Value::Demand(demand)])
}

/// A test under a condition. `only if` turns the two around; `exactly if` demands both or neither.
pub(super) fn limited(table: &Name, test: Cond, limit: Limit) -> Demand {
    match limit {
        Limit::Always => every(table, test, Cond::always()),
        Limit::If(when) => every(table, test, when),
        Limit::OnlyIf(cond) => every(table, cond, test),
        Limit::Exactly(cond) => {
            let both = Cond::All(vec![test.clone(), cond.clone()]);
            let neither = Cond::All(vec![test.denied(), cond.denied()]);
            every(table, Cond::Any(vec![both, neither]), Cond::always())
        }
    }
}

fn tail(captures: &mut Captures) -> Option<Tail> {
    let (head, tail): (Option<Tail>, Option<Tail>) = (captures.maybe("h")?, captures.maybe("t")?);
    match (head, tail) {
        (Some(_), Some(_)) => None,
        (head, tail) => Some(head.or(tail).unwrap_or(Tail::Nothing)),
    }
}

/// What is said of all subjects, or of one of them.
fn said(context: &Context<'_>, subjects: &Subjects, test: &Test, tail: &Tail) -> Vec<Demand> {
    // `A or B must not be empty`: both, or one of them?
    if subjects.is_any && test.is_denied {
        return Vec::new();
    }
    let mut parts: Vec<Loose> = subjects.columns.iter().map(|column| test.of(column)).collect();
    let whole = match (parts.len(), subjects.is_any) {
        (1, _) => parts.remove(0),
        (_, true) => Loose::Any(parts),
        (_, false) => Loose::All(parts),
    };
    let whole = if subjects.is_denied { whole.denied() } else { whole };
    let mut found = Vec::new();
    for table in context.targets() {
        if !subjects.columns.iter().all(|column| context.is_own(&table, column)) {
            continue;
        }
        for limit in limits(context, &table, tail, &subjects.columns) {
            let tests = context.bound(&whole, &table).into_iter();
            found.extend(tests.map(|test| limited(&table, test, limit.clone())));
        }
    }
    found
}

fn demand(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (subjects, test): (Subjects, Test) = (captures.take("s")?, captures.take("m")?);
    let tail = tail(captures)?;
    values(said(context, &subjects, &test, &tail))
}

fn single(column: LooseExpr) -> Subjects {
    Subjects { columns: vec![column], is_any: false, is_denied: false }
}

/// If the price is set, it must be above 0.
fn pronoun(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (column, when): (LooseExpr, Test) = (captures.take("s")?, captures.take("p")?);
    values(said(context, &single(column), &captures.take("m")?, &Tail::It(when)))
}

fn implied(demand: &Demand) -> Option<Cond> {
    let Claim::Every(test) = &demand.claim else { return None };
    Some(if demand.when.is_always() {
        test.clone()
    } else {
        Cond::Any(vec![demand.when.clone().denied(), test.clone()])
    })
}

/// Two rules of one table: both. A condition in front is of both.
fn demands(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let parts = captures.list::<Box<Demand>>("d")?;
    let head = captures.maybe::<Tail>("h")?.unwrap_or(Tail::Nothing);
    let table = parts.first()?.table.clone();
    if parts.iter().any(|part| part.table != table) {
        return None;
    }
    let both = Cond::All(parts.iter().map(|part| implied(part)).collect::<Option<_>>()?);
    let limits = limits(context, &table, &head, &[]).into_iter();
    values(limits.map(|limit| limited(&table, both.clone(), limit)))
}

fn otherwise(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (first, other): (Box<Demand>, Box<Demand>) = (captures.take("d")?, captures.take("e")?);
    if first.table != other.table || first.when.is_always() || !other.when.is_always() {
        return None;
    }
    let otherwise = Cond::Any(vec![first.when.clone(), implied(&other)?]);
    let both = Cond::All(vec![implied(&first)?, otherwise]);
    values([every(&first.table, both, Cond::always())])
}

/// A may only be set if B is so: where A is set, B must be so.
fn only_if(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (subjects, test): (Subjects, Test) = (captures.take("s")?, captures.take("p")?);
    let tail: Tail = captures.take("t")?;
    let found = said(context, &subjects, &test, &tail).into_iter();
    values(found.filter(|demand| !demand.when.is_always()).filter_map(|demand| match demand.claim {
        Claim::Every(test) => Some(every(&demand.table, demand.when, test)),
        _ => None,
    }))
}

/// A condition of the whole row, whose columns are those of the judged table.
fn whole(context: &Context<'_>, cond: &Loose, columns: &[LooseExpr]) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    for table in context.targets() {
        if columns.iter().all(|column| context.is_own(&table, column)) {
            let tests = context.bound(cond, &table).into_iter();
            found.extend(tests.map(|test| every(&table, test, Cond::always())));
        }
    }
    values(found)
}

fn columns(captures: &mut Captures) -> Option<Vec<LooseExpr>> {
    captures.list("s")
}

fn pair_differs(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let pair = columns(captures)?;
    whole(context, &equals(pair.first()?, pair.get(1)?).denied(), &pair)
}

fn pair_equal(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let pair = columns(captures)?;
    whole(context, &equals(pair.first()?, pair.get(1)?), &pair)
}

/// Both set or both empty.
fn both_or(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (columns, tests) = (columns(captures)?, captures.list::<Test>("b")?);
    let all = |test: &Test| Loose::All(columns.iter().map(|column| test.of(column)).collect());
    whole(context, &Loose::Any(tests.iter().map(all).collect()), &columns)
}

fn in_order(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let columns = columns(captures)?;
    let mut pairs = Vec::new();
    for (place, first) in columns.iter().enumerate() {
        let later = columns[place + 1..].iter();
        pairs.extend(later.map(|other| Loose::Compare(first.clone(), Op::AtMost, Term::Expr(other.clone()))));
    }
    whole(context, &Loose::All(pairs), &columns)
}

fn each(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (test, rows): (Test, Rows) = (captures.take("b")?, captures.take("r")?);
    (!are_all(&rows)).then(|| vec![Value::Each(test, rows)])
}

/// 1 for single rooms, and 2 for double rooms.
fn each_for(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let column: LooseExpr = captures.take("s")?;
    let mut ways = Vec::new();
    while captures.has("e") {
        let Value::Each(test, rows) = captures.take("e")? else { return None };
        let found = said(context, &single(column.clone()), &test, &Tail::Rows(rows));
        ways.push(found.into_iter().map(|demand| (0, demand)).collect::<Vec<_>>());
    }
    let all = product(&ways).into_iter().filter_map(|(_, parts)| {
        let table = parts.first()?.table.clone();
        let both = parts.iter().map(implied).collect::<Option<Vec<_>>>()?;
        parts.iter().all(|part| part.table == table).then(|| every(&table, Cond::All(both), Cond::always()))
    });
    values(all.collect::<Vec<_>>())
}

fn neither(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (columns, test): (Vec<LooseExpr>, Test) = (columns(captures)?, captures.take("p")?);
    if test.is_denied || test.is_joined {
        return None;
    }
    whole(context, &Loose::Any(columns.iter().map(|column| test.of(column)).collect()).denied(), &columns)
}

fn not_both(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (columns, test): (Vec<LooseExpr>, Test) = (columns(captures)?, captures.take("b")?);
    if test.is_denied {
        return None;
    }
    whole(context, &Loose::All(columns.iter().map(|column| test.of(column)).collect()).denied(), &columns)
}

fn only_one(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (columns, test): (Vec<LooseExpr>, Test) = (columns(captures)?, captures.take("b")?);
    if test.is_denied || columns.len() != 2 {
        return None;
    }
    let [one, two] = [test.of(&columns[0]), test.of(&columns[1])];
    let first = Loose::All(vec![one.clone(), two.clone().denied()]);
    let second = Loose::All(vec![one.denied(), two]);
    whole(context, &Loose::Any(vec![first, second]), &columns)
}

fn sentence(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let conds = captures.list::<Loose>("c")?;
    context.judged.as_ref()?;
    whole(context, &Loose::Any(conds), &[])
}

fn demand_rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, test): (Rows, Loose) = (captures.take("r")?, captures.take("m")?);
    let tail = tail(captures)?;
    let mut found = Vec::new();
    for limit in limits(context, &rows.table, &tail, &[]) {
        for test in context.bound(&test, &rows.table) {
            let both = |cond| Cond::All(vec![cond_of(&rows), cond]);
            found.extend(match limit.clone() {
                Limit::Always => Some(every(&rows.table, test, cond_of(&rows))),
                Limit::If(when) => Some(every(&rows.table, test, both(when))),
                Limit::OnlyIf(cond) => Some(every(&rows.table, cond, both(test))),
                Limit::Exactly(_) if !are_all(&rows) => None,
                exactly @ Limit::Exactly(_) => Some(limited(&rows.table, test, exactly)),
            });
        }
    }
    values(found)
}

/// No such rows.
fn flag(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let rows: Rows = captures.take("r")?;
    if are_all(&rows) {
        return None;
    }
    values([every(&rows.table, cond_of(&rows).denied(), Cond::always())])
}

fn flag_or(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, column): (Name, LooseExpr) = (captures.take("n")?, captures.take("c")?);
    let any = Loose::Any(captures.list::<Test>("x")?.iter().map(|test| test.of(&column)).collect());
    let found = context.bound(&any, &table).into_iter();
    values(found.map(|cond| every(&table, cond.denied(), Cond::always())))
}

fn flag_none(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    let found = context.bound(&cond, &rows.table).into_iter();
    values(found.map(|cond| every(&rows.table, cond.denied(), cond_of(&rows))))
}

fn flag_columns(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let subjects: Subjects = captures.take("s")?;
    let subjects = Subjects { is_denied: true, ..subjects };
    values(said(context, &subjects, &captures.take("p")?, &Tail::Nothing))
}

fn flag_column(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let subjects = Subjects { is_denied: true, ..single(captures.take("s")?) };
    values(said(context, &subjects, &captures.take("p")?, &Tail::Nothing))
}

fn only_rows(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, cond): (Rows, Loose) = (captures.take("r")?, captures.take("x")?);
    if are_all(&rows) {
        return None;
    }
    let found = context.bound(&cond, &rows.table).into_iter();
    values(found.map(|cond| every(&rows.table, cond_of(&rows), cond)))
}

fn only_values(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let mut terms = Vec::new();
    while captures.has("v") {
        terms.push(super::predicates::term(captures, "v")?);
    }
    let cond = Loose::In(LooseExpr::Subject, terms, true);
    let test = Test { cond, is_joined: false, is_denied: false };
    values(said(context, &single(captures.take("c")?), &test, &Tail::Nothing))
}

/// As `words` says it.
fn must(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, test): (Name, Loose) = (captures.take("n")?, captures.take("t")?);
    let when = captures.maybe::<Loose>("x")?.unwrap_or(Loose::All(Vec::new()));
    let mut found = Vec::new();
    for when in context.bound(&when, &table) {
        let tests = context.bound(&test, &table).into_iter();
        found.extend(tests.map(|test| every(&table, test, when.clone())));
    }
    values(found)
}

fn no_repeat(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let table = captures.maybe::<Name>("n")?.or_else(|| context.targets().into_iter().next())?;
    let columns = &context.catalog.table(&table)?.columns;
    let all = columns.iter().map(|column| Path::own(&column.name)).collect();
    values([every(&table, Cond::Unique(all), Cond::always())])
}

/// The ways to take expressions as columns of a table's own.
pub(super) fn own_columns(context: &Context<'_>, table: &Name, columns: &[LooseExpr]) -> Vec<Vec<Path>> {
    let ways: Vec<_> = columns
        .iter()
        .map(|column| {
            let own = context.own_columns(table, column).into_iter();
            own.filter(|(far, _)| *far == 0).collect::<Vec<_>>()
        })
        .collect();
    product(&ways).into_iter().map(|(_, paths)| paths).collect()
}

fn unique(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let noun: Option<Name> = captures.maybe("n")?;
    let groups = captures.list::<Group>("g")?;
    let columns = captures.list::<LooseExpr>("c")?;
    let tail = tail(captures)?;
    let mut found = Vec::new();
    for table in context.targets().into_iter().filter(|table| noun.as_ref().is_none_or(|noun| noun == table))
    {
        for paths in own_columns(context, &table, &columns) {
            // The word before the brackets and the text inside them mean the same.
            let is_same = groups.is_empty()
                || groups_of(context, &table, &groups).into_iter().any(|mut by| {
                    let mut paths = paths.clone();
                    by.sort();
                    paths.sort();
                    by == paths
                });
            if is_same {
                let limits = limits(context, &table, &tail, &columns).into_iter();
                found.extend(limits.map(|limit| limited(&table, Cond::Unique(paths.clone()), limit)));
            }
        }
    }
    values(found)
}

fn unique_together(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    unique(context, captures)
}

fn group_noun(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Group(Group::Noun(captures.take("n")?)))
}

fn group_column(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(Value::Group(Group::Column(captures.take("c")?)))
}

/// The columns of a table that make groups: those that are named, or that refer to the table which is named.
pub(super) fn groups_of(context: &Context<'_>, table: &Name, groups: &[Group]) -> Vec<Vec<Path>> {
    let ways: Vec<Vec<(u32, Path)>> = groups
        .iter()
        .map(|group| match group {
            Group::Noun(noun) => {
                let columns =
                    context.catalog.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
                let refers =
                    columns.iter().filter(|column| column.refers.as_ref().is_some_and(|(to, _)| to == noun));
                refers.map(|column| (0, Path::own(&column.name))).collect()
            }
            Group::Column(column) => {
                let own = context.own_columns(table, column).into_iter();
                own.filter(|(far, _)| *far == 0).collect()
            }
            Group::Stretch(..) => Vec::new(),
        })
        .collect();
    product(&ways).into_iter().map(|(_, paths)| paths).collect()
}

fn unique_per(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, groups): (Name, Vec<Group>) = (captures.take("n")?, captures.list("c")?);
    let ways = groups_of(context, &table, &groups).into_iter();
    values(ways.map(|paths| every(&table, Cond::Unique(paths), Cond::always())))
}

fn overlap(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, groups): (Name, Vec<Group>) = (captures.take("n")?, captures.list("c")?);
    let ends: [LooseExpr; 2] = [captures.take("a")?, captures.take("b")?];
    let mut found = Vec::new();
    for by in groups_of(context, &table, &groups) {
        for ends in own_columns(context, &table, &ends) {
            let [start, end] = ends.as_slice() else { continue };
            let holds = |path: &Path| context.catalog.column(&table, &path.column).map(|column| column.holds);
            let is_ordered = holds(start).zip(holds(end)).is_some_and(|(one, other)| {
                use crate::catalog::Holds::{Day, Time};
                one.is_like(other) && (one.is_number() || matches!(one, Day | Time))
            });
            if start != end && is_ordered {
                let apart = Cond::Apart { start: start.clone(), end: end.clone(), by: by.clone() };
                found.push(every(&table, apart, Cond::always()));
            }
        }
    }
    values(found)
}

fn depends(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let noun: Option<Name> = captures.maybe("n")?;
    let columns: [LooseExpr; 2] = [captures.take("c")?, captures.take("c2")?];
    let tail = tail(captures)?;
    let mut found = Vec::new();
    for table in context.targets().into_iter().filter(|table| noun.as_ref().is_none_or(|noun| noun == table))
    {
        for paths in own_columns(context, &table, &columns) {
            let [left, right] = paths.as_slice() else { continue };
            for limit in limits(context, &table, &tail, &[]) {
                if left != right && matches!(limit, Limit::Always | Limit::If(_)) {
                    found.push(limited(&table, Cond::Depends(left.clone(), right.clone()), limit));
                }
            }
        }
    }
    values(found)
}

/// Every `user_id` must exist in users; of the table itself, too, where its column is named.
fn refers(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let column: LooseExpr = captures.take("c")?;
    let noun: Option<Name> = captures.maybe("n")?;
    // A room in rooms, not a guest in rooms.
    if captures.maybe::<Name>("of")?.is_some_and(|of| Some(of) != noun) {
        return None;
    }
    let places: Option<crate::value::Places> = captures.maybe("c2")?;
    let mut found = Vec::new();
    for table in context.targets() {
        for path in own_columns(context, &table, std::slice::from_ref(&column)).concat() {
            let Some(own) = context.catalog.column(&table, &path.column) else { continue };
            let mut there: Vec<(Name, Name)> = match (&noun, &places) {
                (Some(noun), None) => {
                    let known = own.refers.iter().filter(|(to, _)| to == noun).cloned();
                    let of_same_name =
                        context.catalog.column(noun, &path.column).map(|_| path.column.clone());
                    let key = || context.catalog.table(noun).and_then(|table| table.key.clone());
                    known.chain(of_same_name.or_else(key).map(|key| (noun.clone(), key))).take(1).collect()
                }
                (noun, Some(places)) => {
                    let fits = |(to, _): &&(Name, Name)| noun.as_ref().is_none_or(|noun| noun == to);
                    places.iter().filter(fits).cloned().collect()
                }
                (None, None) => Vec::new(),
            };
            if noun.is_none() && there.len() > 1 {
                // A name of several tables is the table's own, or that of a key.
                let is_key = |(to, name): &(Name, Name)| {
                    context.catalog.table(to).is_some_and(|to| to.key.as_ref() == Some(name))
                };
                let own: Vec<_> = there.iter().filter(|(to, _)| *to == table).cloned().collect();
                there = if own.is_empty() { there.into_iter().filter(is_key).collect() } else { own };
            }
            for (to, key) in there {
                let is_other = (&to, &key) != (&table, &path.column);
                let is_alike =
                    context.catalog.column(&to, &key).is_some_and(|theirs| theirs.holds.is_like(own.holds));
                if is_other && is_alike {
                    found.push(every(&table, known(to, key, path.column.clone()), Cond::always()));
                }
            }
        }
    }
    values(found)
}

/// That a value is there in another table.
fn known(table: Name, column: Name, key: Name) -> Cond {
    let link = Link { table, column, key };
    Cond::Exists { link, filter: Box::new(Cond::always()), op: Op::AtLeast, count: 1 }
}

fn belongs(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (rows, noun): (Rows, Name) = (captures.take("r")?, captures.take("n")?);
    let columns = &context.catalog.table(&rows.table)?.columns;
    let refers = columns.iter().filter_map(|column| {
        let (to, key) = column.refers.as_ref().filter(|(to, _)| *to == noun)?;
        Some(every(&rows.table, known(to.clone(), key.clone(), column.name.clone()), cond_of(&rows)))
    });
    values(refers.collect::<Vec<_>>())
}

fn owns(context: &Context<'_>, captures: &mut Captures, so: bool) -> Option<Vec<Value>> {
    let (rows, others): (Rows, Rows) = (captures.take("r")?, captures.take("n")?);
    let found = context.bound(&Loose::Exists(others, Op::AtLeast, 1), &rows.table).into_iter();
    values(found.map(|cond| every(&rows.table, if so { cond } else { cond.denied() }, cond_of(&rows))))
}

fn owns_some(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    owns(context, captures, true)
}

fn owns_none(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    owns(context, captures, false)
}
