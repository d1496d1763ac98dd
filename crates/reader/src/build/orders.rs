//! Orders: calls of declared verbs, and changes of rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Builder, one};
use crate::algebra::{Cond, Day, Expr, Name, Number, Op, Scalar};
use crate::captures::Captures;
use crate::change::{Argument, Call, Change, Row, To};
use crate::context::{Context, product};
use crate::deed::{Arg, Deed, HowMany, Item, Slot, Step};
use crate::value::{Loose, LooseExpr, Places, Term, Test, Value, Values};
use crate::verbs::{Takes, Verb, VerbParam};

pub(super) const BUILDERS: &[(&str, Builder)] = &[
    ("ordered", ordered),
    ("named", named),
    ("steps", in_order),
    ("guarded", guarded),
    ("call", call),
    ("remark", remark),
    ("chunk", chunk),
    ("item", item),
    ("howmany", how_many),
    ("param", param),
    ("slot", slot),
    ("slotpercent", slot_percent),
    ("rowby", row),
    ("rowkey", row_by_number),
    ("rowquote", row_by_quote),
    ("rowexact", row_exactly),
    ("fixed", constant),
    ("set", set),
    ("moveto", moved),
    ("add", add),
    ("entry", entry),
    ("remove", remove),
    ("undo", undo),
    ("guard", guard),
    ("exactcall", call_exactly),
    ("binding", binding),
    ("missing", missing),
    ("newname", new_name),
    ("pick", pick),
];

fn deed(deed: Deed) -> Option<Vec<Value>> {
    one(Value::Deed(deed))
}

/// A change as a step.
fn step(change: Change) -> Value {
    Value::Deed(Deed::Steps(vec![Step::Change(change)]))
}

#[expect(clippy::unnecessary_wraps, reason = "every builder may have no meaning")]
fn steps(changes: Vec<Change>) -> Option<Vec<Value>> {
    Some(changes.into_iter().map(step).collect())
}

/// The parts of orders under a name, of one kind.
fn list<T>(captures: &mut Captures, name: &str, pick: fn(Deed) -> Option<T>) -> Option<Vec<T>> {
    captures.list::<Deed>(name)?.into_iter().map(pick).collect()
}

fn as_row(deed: Deed) -> Option<Row> {
    match deed {
        Deed::Row(row) => Some(row),
        _ => None,
    }
}

fn as_steps(deed: Deed) -> Option<Vec<Step>> {
    match deed {
        Deed::Steps(steps) => Some(steps),
        _ => None,
    }
}

fn row_at(captures: &mut Captures, name: &str) -> Option<Row> {
    as_row(captures.take(name)?)
}

// ---- what is ordered

/// All sentences as one change: a name that a sentence says fills a param, and what is not said has its default.
fn ordered(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (mut changes, mut names) = (Vec::new(), Vec::new());
    for step in list(captures, "x", as_steps)?.concat() {
        match step {
            Step::Change(change) => changes.push(change),
            Step::Named(name) => names.push(name),
        }
    }
    if changes.is_empty() || names.len() > 1 {
        return None;
    }
    let mut change = Change::then(changes);
    if let Some(name) = names.pop() {
        let mut is_taken = false;
        change.each_argument(&mut |verb, param, argument| {
            let verb = context.catalog.verbs.iter().find(|known| known.name == *verb);
            let mut takers = verb.iter().flat_map(|verb| &verb.params).filter(|param| is_name(param));
            let is_only = takers.next().is_some_and(|own| own.name == param) && takers.next().is_none();
            if is_only && *argument == Argument::Missing {
                *argument = Argument::Value(Scalar::Text(name.clone()));
                is_taken = true;
            }
        });
        if !is_taken {
            return None;
        }
    }
    change.each_argument(&mut |verb, param, argument| {
        let verb = context.catalog.verbs.iter().find(|known| known.name == *verb);
        let default = verb.and_then(|verb| verb.param(param)?.default.clone());
        if let (Argument::Missing, Some(default)) = (&*argument, default) {
            *argument = Argument::Value(default);
        }
    });
    one(step(change))
}

const fn is_name(param: &VerbParam) -> bool {
    matches!(param.takes, Takes::Name { .. })
}

fn named(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Deed::Person(name) = captures.take("p")? else { return None };
    deed(Deed::Steps(vec![Step::Named(name)]))
}

fn in_order(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Steps(list(captures, "x", as_steps)?.concat()))
}

/// An order under a condition, on the row that it names or on the only one that is ordered.
fn guarded(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let is_denied = captures.take::<String>("w")? == "unless";
    let Deed::Guard(row, loose) = captures.take("g")? else { return None };
    let changes = as_steps(captures.take("o")?)?.into_iter().map(|step| match step {
        Step::Change(change) => Some(change),
        Step::Named(_) => None,
    });
    let mut then = Change::then(changes.collect::<Option<Vec<_>>>()?);
    let mut rows = BTreeSet::new();
    then.each_row(&mut |row| {
        rows.insert(row.clone());
    });
    let rows = row.map_or(rows, |row| BTreeSet::from([row]));
    let row = rows.first().filter(|_| rows.len() == 1)?;
    let conds = context.bound(&loose, &row.table).into_iter().map(|cond| Change::When {
        row: row.clone(),
        cond: cond.normal(),
        is_denied,
        then: Box::new(then.clone()),
    });
    steps(conds.collect())
}

// ---- declared verbs

fn call(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let Deed::Verb(which) = captures.take("v")? else { return None };
    let chunks = list(captures, "c", |deed| match deed {
        Deed::Chunk(items, args) => Some((items, args)),
        _ => None,
    })?;
    let remarks = list(captures, "r", |deed| match deed {
        Deed::Remark(verb) => Some(verb),
        _ => None,
    })?;
    let who = captures.maybe::<Deed>("w")?.map(as_row);
    let extra = match who {
        Some(row) => vec![Arg { after: None, called: None, slot: Slot::Row(row?) }],
        None => Vec::new(),
    };
    // `3 Moon and 2 Classic for Bob`: all of it is for him, so that it is one chunk.
    let has_words = |args: &[Arg]| args.iter().any(|arg| arg.after.is_some() || arg.called.is_some());
    let is_shared = chunks.len() > 1 && chunks.iter().any(|(_, args)| !has_words(args));
    if is_shared || remarks.iter().any(|verb| *verb != which) {
        return None;
    }
    let chunks = if chunks.is_empty() { vec![(Vec::new(), Vec::new())] } else { chunks };
    let ways: Vec<Vec<(u32, Vec<Change>)>> = chunks
        .iter()
        .map(|(items, args)| calls(context, which, items, &[args.as_slice(), &extra].concat()))
        .collect();
    steps(product(&ways).into_iter().map(|(_, calls)| Change::then(calls.concat())).collect())
}

/// What is said of the params of a verb so far.
type Said = BTreeMap<usize, Argument>;

/// Every way to give items and the arguments that they share to the params of a verb: a call for each item.
fn calls(context: &Context<'_>, which: usize, items: &[Item], args: &[Arg]) -> Vec<(u32, Vec<Change>)> {
    let verb = &context.catalog.verbs[which];
    let all: BTreeSet<usize> = (0..verb.params.len()).collect();
    let each = all.iter().copied().filter(|at| verb.each.contains(&verb.params[*at].name)).collect();
    let alone = [Item { count: HowMany::Unsaid, row: None, noun: None }];
    let items = if items.is_empty() { &alone[..] } else { items };
    let free = if items.len() > 1 { &each } else { &all };
    let mut found = Vec::new();
    for shared in ways(context, which, args, &all) {
        let left: BTreeSet<usize> = free.iter().copied().filter(|at| !shared.contains_key(at)).collect();
        let of_item = |item: &Item| -> Vec<(u32, Said)> {
            let row = item.row.clone().map(Slot::Row);
            let count = match item.count {
                HowMany::Exactly(number) => Some(Slot::Number(number)),
                HowMany::Unsaid | HowMany::Open => None,
            };
            let args: Vec<Arg> = [row, count]
                .into_iter()
                .flatten()
                .map(|slot| Arg { after: None, called: None, slot })
                .collect();
            let fits = |said: &Said| {
                let is_free = |at: &usize| left.contains(at) && !said.contains_key(at);
                let open = |wanted: &dyn Fn(&VerbParam) -> bool| {
                    left.iter().filter(|at| is_free(at)).any(|at| wanted(&verb.params[*at]))
                };
                let noun = item.noun.as_ref().filter(|_| item.row.is_none());
                let has_row = noun.is_none_or(|noun| open(&|param| param.takes == Takes::Row(noun.clone())));
                let is_open = item.count == HowMany::Open;
                has_row && (!is_open || open(&|param| param.takes == Takes::Count && param.default.is_none()))
            };
            ways(context, which, &args, &left).into_iter().filter(fits).map(|said| (0, said)).collect()
        };
        let each: Vec<Vec<(u32, Said)>> = items.iter().map(of_item).collect();
        for (_, saids) in product(&each) {
            let calls =
                saids.into_iter().map(|said| made(verb, said.into_iter().chain(shared.clone()).collect()));
            found.push((0, calls.collect()));
        }
    }
    found
}

fn made(verb: &Verb, mut said: Said) -> Change {
    let params = verb.params.iter().enumerate();
    let arguments = params
        .map(|(at, param)| (param.name.clone(), said.remove(&at).unwrap_or(Argument::Missing)))
        .collect();
    Change::Call(Call { verb: verb.name.clone(), arguments })
}

/// Every way to give arguments to different params.
fn ways(context: &Context<'_>, which: usize, args: &[Arg], free: &BTreeSet<usize>) -> Vec<Said> {
    let Some((arg, rest)) = args.split_first() else { return vec![Said::new()] };
    let mut found = Vec::new();
    for at in free {
        for argument in placed(context, which, *at, arg) {
            let left = free.iter().copied().filter(|other| other != at).collect();
            for mut said in ways(context, which, rest, &left) {
                said.insert(*at, argument.clone());
                if !found.contains(&said) {
                    found.push(said);
                }
            }
        }
    }
    found
}

/// What an argument is for a param: its words decide; without any its kind must.
fn placed(context: &Context<'_>, which: usize, at: usize, arg: &Arg) -> Vec<Argument> {
    let verb = &context.catalog.verbs[which];
    let param = &verb.params[at];
    let is_other = |said: Option<(usize, usize)>| said.is_some_and(|said| said != (which, at));
    let is_said = arg.after.is_some() || arg.called.is_some();
    let alike = verb.params.iter().filter(|other| other.takes == param.takes).count();
    let is_plain = !is_name(param) && (param.after.is_empty() || alike == 1);
    if is_other(arg.after) || is_other(arg.called) || !(is_said || is_plain) {
        return Vec::new();
    }
    fitting(context, param, &arg.slot, arg.called.is_some())
}

/// A value as a param takes it.
fn fitting(context: &Context<'_>, param: &VerbParam, slot: &Slot, is_called: bool) -> Vec<Argument> {
    let text = |text: &str| vec![Argument::Value(Scalar::Text(text.to_owned()))];
    let number = |number: &Number| vec![Argument::Value(Scalar::Number(*number))];
    let values = |values: &Values, place: &(Name, Name)| -> Vec<Argument> {
        let of_place =
            values.found.iter().filter(|(table, column, _)| (table, column) == (&place.0, &place.1));
        of_place.map(|(.., value)| Argument::Value(Scalar::Text(value.clone()))).collect()
    };
    match (&param.takes, slot) {
        (Takes::Row(table), Slot::Row(row)) if row.table == *table => vec![Argument::Row(row.clone())],
        (Takes::Row(table), Slot::Quote(quote)) => {
            unknown_row(context, table, quote).map(Argument::Row).into_iter().collect()
        }
        (Takes::Value(table, column), Slot::Known(known)) => values(known, &(table.clone(), column.clone())),
        (Takes::Count | Takes::Number | Takes::Money | Takes::Percent, Slot::Number(value))
        | (Takes::Percent, Slot::Percent(value)) => number(value),
        (Takes::Money, Slot::Money(value, currency)) if is_own_currency(context, currency) => number(value),
        (Takes::Name { .. } | Takes::Text, Slot::Quote(quote)) => text(quote),
        (Takes::Name { known: Some(place), .. }, Slot::Known(known)) => values(known, place),
        (Takes::Name { known, is_new }, Slot::Person(name)) => {
            let same = |value: &&String| value.to_lowercase() == name.to_lowercase();
            let column = known.as_ref().and_then(|(table, column)| context.catalog.column(table, column));
            match column.and_then(|column| column.values.iter().find(same)) {
                Some(value) => text(value),
                None if *is_new || is_called => text(name),
                None => vec![Argument::New(name.clone())],
            }
        }
        (Takes::Day, Slot::Day(day @ Day::On(_))) => vec![Argument::Value(Scalar::Day(day.clone()))],
        (Takes::Time, Slot::Time(time)) => vec![Argument::Value(Scalar::Time(time.clone()))],
        _ => Vec::new(),
    }
}

/// Whether all amounts of the tables are of a currency. Nothing is converted.
fn is_own_currency(context: &Context<'_>, currency: &str) -> bool {
    let columns = context.catalog.tables.iter().flat_map(|table| &table.columns);
    let mut units = columns.filter(|column| column.is_money()).filter_map(|column| column.unit.as_deref());
    units.all(|unit| unit.eq_ignore_ascii_case(currency))
}

fn remark(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    // When it was changes nothing.
    captures.maybe::<Value>("t")?;
    deed(captures.take("r")?)
}

fn chunk(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let items = list(captures, "i", |deed| match deed {
        Deed::Item(item) => Some(item),
        _ => None,
    })?;
    let args = list(captures, "p", |deed| match deed {
        Deed::Arg(arg) => Some(arg),
        _ => None,
    })?;
    deed(Deed::Chunk(items, args))
}

fn item(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let number = captures.maybe::<Number>("n")?;
    let is_open = captures.flag("o");
    let noun = captures.maybe::<Name>("u")?;
    let row = match captures.maybe::<Deed>("r")? {
        Some(deed) => Some(as_row(deed)?),
        None => None,
    };
    let is_other = |noun: &Name| row.as_ref().is_some_and(|row| row.table != *noun);
    if noun.as_ref().is_some_and(is_other) {
        return None;
    }
    let count = match number {
        Some(number) => HowMany::Exactly(number),
        None if is_open => HowMany::Open,
        None => HowMany::Unsaid,
    };
    deed(Deed::Item(Item { count, row, noun }))
}

fn how_many(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let number: Number = captures.take("k")?;
    one(Value::Number(number, number.to_string()))
}

fn param(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let place = |deed: Option<Deed>| match deed {
        Some(Deed::After(verb, param) | Deed::Called(verb, param)) => Some(Some((verb, param))),
        Some(_) => None,
        None => Some(None),
    };
    let (after, called) = (place(captures.maybe("a")?)?, place(captures.maybe("k")?)?);
    let Deed::Slot(slot) = captures.take("s")? else { return None };
    deed(Deed::Arg(Arg { after, called, slot }))
}

fn slot(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let slot = match captures.only()? {
        Value::Deed(Deed::Row(row)) => Slot::Row(row),
        Value::Deed(Deed::Person(name)) => Slot::Person(name),
        Value::Values(values) => Slot::Known(values),
        Value::Quote(text) => Slot::Quote(text),
        Value::Number(number, _) => Slot::Number(number),
        Value::Money(number, currency) => Slot::Money(number, currency),
        Value::Day(day) => Slot::Day(day),
        Value::Time(time) => Slot::Time(time),
        _ => return None,
    };
    deed(Deed::Slot(slot))
}

fn slot_percent(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Slot(Slot::Percent(captures.take("percent")?)))
}

// ---- rows

/// The rows that a value names: by their key, or by what they are called.
fn row(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let values: Values = captures.take("v")?;
    let noun = captures.maybe::<Name>("n")?;
    let rows = values.found.iter().filter(|(table, column, _)| {
        let is_naming = context.catalog.table(table).is_some_and(|table| table.is_naming(column));
        is_naming && noun.as_ref().is_none_or(|noun| noun == table)
    });
    let rows = rows.map(|(table, column, value)| {
        let value = Scalar::Text(value.clone());
        Value::Deed(Deed::Row(Row { table: table.clone(), column: column.clone(), value }))
    });
    Some(rows.collect())
}

fn row_by_number(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, number) = (captures.take::<Name>("n")?, captures.take::<Number>("k")?);
    let key = context.catalog.table(&table)?.key.clone()?;
    let is_number = context.catalog.column(&table, &key)?.holds.is_number();
    if is_number {
        return deed(Deed::Row(Row { table, column: key, value: Scalar::Number(number) }));
    }
    None
}

fn row_by_quote(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, text) = (captures.take::<Name>("n")?, captures.take::<String>("q")?);
    deed(Deed::Row(unknown_row(context, &table, &text)?))
}

/// The row that is called by a text which none is known to have.
fn unknown_row(context: &Context<'_>, table: &Name, text: &str) -> Option<Row> {
    let owner = context.catalog.table(table)?;
    let is_known = context.index.quoted(text).is_some_and(|values| {
        values.iter().any(|(known, column, _)| known == table && owner.is_naming(column))
    });
    let column = owner.label.clone().or_else(|| owner.key.clone()).filter(|_| !is_known)?;
    Some(Row { table: table.clone(), column, value: Scalar::Text(text.to_owned()) })
}

fn exact(captures: &mut Captures, name: &str) -> Option<String> {
    match captures.take(name)? {
        Deed::Exact(text) => Some(text),
        _ => None,
    }
}

fn row_exactly(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (table, column) = (exact(captures, "t")?, exact(captures, "c")?);
    let Deed::Constant(value) = captures.take("v")? else { return None };
    let own = context.catalog.table(&table)?;
    own.is_naming(&column).then_some(())?;
    deed(Deed::Row(Row { table: own.name.clone(), column: own.column(&column)?.name.clone(), value }))
}

fn constant(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Constant(match captures.only()? {
        Value::Quote(text) => Scalar::Text(text),
        Value::Number(number, _) => Scalar::Number(number),
        Value::Day(day) => Scalar::Day(day),
        Value::Time(time) => Scalar::Time(time),
        Value::Word(word) => Scalar::Bool(word == "yes"),
        _ => return None,
    }))
}

// ---- changes of rows

/// What a term is as a value of a column, or the row that the column refers to.
fn of_column(context: &Context<'_>, table: &Name, column: &Name, value: &Value) -> Vec<Argument> {
    let Some(own) = context.catalog.column(table, column) else { return Vec::new() };
    let is_of = |row: &Row| own.refers.as_ref().is_some_and(|(to, _)| *to == row.table);
    match value {
        Value::Deed(Deed::Row(row)) if is_of(row) => vec![Argument::Row(row.clone())],
        Value::Term(term) if own.refers.is_none() => {
            scalars(context, table, column, term).into_iter().map(Argument::Value).collect()
        }
        _ => Vec::new(),
    }
}

fn scalars(context: &Context<'_>, table: &Name, column: &Name, term: &Term) -> Vec<Scalar> {
    let place = Arc::new(BTreeSet::from([(table.clone(), column.clone())]));
    let same = Loose::Compare(LooseExpr::Column(place, Vec::new()), Op::Equal, term.clone());
    let conds = context.bound(&same, table).into_iter();
    conds
        .filter_map(|cond| match cond {
            Cond::Compare { right: Expr::Value(Scalar::Day(Day::Relative(..))), .. } => None,
            Cond::Compare { right: Expr::Value(value), .. } => Some(value),
            _ => None,
        })
        .collect()
}

/// The columns of a table that a name calls.
fn columns_of(places: &Places, table: &Name) -> Vec<Name> {
    places.iter().filter(|(owner, _)| owner == table).map(|(_, column)| column.clone()).collect()
}

/// A change of a column for each row, in every way.
fn of_rows(rows: &[Row], places: &Places, to: &dyn Fn(&Row, &Name) -> Vec<To>) -> Option<Vec<Value>> {
    let of_row = |row: &Row| -> Vec<(u32, Change)> {
        let columns = columns_of(places, &row.table).into_iter();
        let ways = columns.flat_map(|column| {
            let tos = to(row, &column);
            tos.into_iter().map(move |to| (0, Change::Set { row: row.clone(), column: column.clone(), to }))
        });
        ways.collect()
    };
    let all: Vec<Vec<(u32, Change)>> = rows.iter().map(of_row).collect();
    steps(product(&all).into_iter().map(|(_, sets)| Change::then(sets)).collect())
}

fn set(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let (places, rows) = (captures.take::<Places>("c")?, list(captures, "r", as_row)?);
    let value: Value = captures.take("v")?;
    of_rows(&rows, &places, &|row, column| {
        of_column(context, &row.table, column, &value).into_iter().map(To::Value).collect()
    })
}

fn moved(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let is_up = captures.take::<String>("m")? == "up";
    let (places, rows) = (captures.take::<Places>("c")?, list(captures, "r", as_row)?);
    let signed = |number: Number| if is_up { number } else { number.negated() };
    let is_number = |row: &Row, column: &Name| {
        context.catalog.column(&row.table, column).is_some_and(|column| column.holds.is_number())
    };
    if captures.has("v") {
        let value: Value = captures.take("v")?;
        return of_rows(&rows, &places, &|row, column| {
            let values = of_column(context, &row.table, column, &value).into_iter();
            let numbers = values.filter_map(|argument| match argument {
                Argument::Value(Scalar::Number(number)) => Some(To::Moved(number, is_up)),
                _ => None,
            });
            numbers.collect()
        });
    }
    let by: Term = captures.take("b")?;
    of_rows(&rows, &places, &|row, column| match by {
        // So many percent of a percentage, or so many more of them?
        Term::Percent(percent) if is_number(row, column) => {
            let is_share = !scalars(context, &row.table, column, &by).is_empty();
            if is_share { Vec::new() } else { vec![To::Percent(signed(percent))] }
        }
        _ => {
            let values = scalars(context, &row.table, column, &by).into_iter();
            let numbers = values.filter_map(|value| match value {
                Scalar::Number(number) if number.value() > 0.0 => Some(To::By(signed(number))),
                _ => None,
            });
            numbers.collect()
        }
    })
}

fn entry(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Entry(captures.take("c")?, Box::new(captures.take("v")?)))
}

fn add(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let table: Name = captures.take("n")?;
    let entries = list(captures, "e", |deed| match deed {
        Deed::Entry(places, value) => Some((places, value)),
        _ => None,
    })?;
    let of_entry = |(places, value): &(Places, Box<Value>)| -> Vec<(u32, (String, Argument))> {
        let columns = columns_of(places, &table).into_iter();
        let ways = columns.flat_map(|column| {
            let arguments = of_column(context, &table, &column, value);
            arguments.into_iter().map(move |argument| (0, (column.to_string(), argument)))
        });
        ways.collect()
    };
    let ways: Vec<Vec<(u32, (String, Argument))>> = entries.iter().map(of_entry).collect();
    let rows = product(&ways).into_iter().filter_map(|(_, mut values)| {
        values.sort();
        let is_once = values.windows(2).all(|two| two[0].0 != two[1].0);
        is_once.then(|| Change::Add { table: table.clone(), values })
    });
    steps(rows.collect())
}

fn remove(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    one(step(Change::Remove(row_at(captures, "r")?)))
}

fn undo(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    one(step(Change::Undo))
}

// ---- conditions of orders

fn guard(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let row = match captures.maybe::<Deed>("r")? {
        Some(deed) => Some(as_row(deed)?),
        None => None,
    };
    let loose = match captures.maybe::<Places>("c")? {
        Some(places) => captures.take::<Test>("p")?.of(&LooseExpr::Column(places, Vec::new())),
        None => captures.take("x")?,
    };
    deed(Deed::Guard(row, loose))
}

// ---- exact names

fn call_exactly(context: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let name = exact(captures, "v")?;
    let verb = context.catalog.verbs.iter().find(|verb| *verb.name == *name)?;
    let bound = list(captures, "e", |deed| match deed {
        Deed::Binding(name, argument) => Some((name, argument)),
        _ => None,
    })?;
    let is_whole = bound.len() == verb.params.len();
    let is_own = bound.iter().zip(&verb.params).all(|((name, _), param)| *name == param.name);
    (is_whole && is_own).then_some(())?;
    one(step(Change::Call(Call { verb: verb.name.clone(), arguments: bound })))
}

fn binding(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    let argument = match captures.take("v")? {
        Deed::Constant(value) => Argument::Value(value),
        Deed::Row(row) => Argument::Row(row),
        Deed::Argument(argument) => argument,
        _ => return None,
    };
    deed(Deed::Binding(exact(captures, "p")?, argument))
}

fn missing(_: &Context<'_>, _: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Argument(Argument::Missing))
}

fn new_name(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Argument(Argument::New(captures.take("q")?)))
}

// ---- answers to what was asked back

fn pick(_: &Context<'_>, captures: &mut Captures) -> Option<Vec<Value>> {
    deed(Deed::Pick(captures.take(if captures.has("n") { "n" } else { "o" })?))
}

/// An argument in the place of one that is missing, as its param takes it.
pub(crate) fn filled(context: &Context<'_>, verb: &Name, param: &str, slot: &Slot) -> Vec<Argument> {
    let verb = context.catalog.verbs.iter().find(|known| known.name == *verb);
    verb.and_then(|verb| verb.param(param)).map_or_else(Vec::new, |param| fitting(context, param, slot, true))
}
