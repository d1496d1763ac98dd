//! Follow-ups: a request after another one, as an edit of what that one meant.

use super::form::{Argument, Asked, Call, Cond, Form, Lit, Op, Operand, Select};
use super::index::Index;
use super::lexicon::LEXICON;
use super::parse::{Parser, as_json};
use super::token::{Kind, Unit, tokens};
use super::trace::Trace;
use super::{Context, Meaning, Reading, code, words};
use crate::brief::Turn;

/// Turns that are looked at.
const TURNS_MAX: usize = 6;

/// What the conversation was about before a turn.
#[derive(Debug, Clone, Default)]
struct Past {
    /// What the last turn meant.
    form: Option<Form>,
    /// The rows that it was about.
    rows: Option<Select>,
    /// These, and those that the turns before it named.
    several: Option<Select>,
    /// Its readings, if there were several.
    choices: Vec<Form>,
    /// Whether it changed something.
    is_done: bool,
    /// The last run that changed something.
    changed: Option<String>,
    /// The rows that it asked about, in the order of their numbers.
    offered: Vec<String>,
}

/// Reads a request after the turns before it.
pub(super) fn read(index: &Index, request: &str, turns: &[Turn]) -> Reading {
    let start = turns.len().saturating_sub(TURNS_MAX);
    let mut past = Past::default();
    for turn in &turns[start..] {
        let reading = after(index, &turn.request, &past);
        past = follow(index, &past, reading, turn);
        past.offered = code::offered(&turn.answer);
    }
    after(index, request, &past)
}

fn follow(index: &Index, past: &Past, reading: Reading, turn: &Turn) -> Past {
    let unclear = Past { changed: past.changed.clone(), ..Past::default() };
    match reading {
        Reading::One(meaning) => {
            let is_done = meaning.form.is_change() && turn.status.as_deref() == Some("success");
            let said = rows_of(&meaning.form);
            let several = said.as_ref().map(|rows| together(index, past.several.as_ref(), rows));
            Past {
                form: Some(meaning.form),
                rows: said.or_else(|| past.rows.clone()),
                several: several.or_else(|| past.several.clone()),
                is_done,
                changed: if is_done { Some(run_of(turn)) } else { unclear.changed },
                ..Past::default()
            }
        }
        Reading::Several(all) => {
            Past { choices: all.into_iter().map(|meaning| meaning.form).collect(), ..unclear }
        }
        Reading::None(_) => unclear,
    }
}

/// The run of a turn, or a word in its place.
fn run_of(turn: &Turn) -> String {
    turn.run_id.clone().filter(|run| !run.is_empty()).unwrap_or_else(|| "RUN".to_owned())
}

/// Rows that were named in one turn after the other: `how much is the Moon?`, `and the Sport?`.
fn together(index: &Index, before: Option<&Select>, rows: &Select) -> Select {
    let known = before.filter(|before| before.table == rows.table).and_then(|before| names(index, before));
    let (Some(mut all), Some(more)) = (known, names(index, rows)) else { return rows.clone() };
    for name in more {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Select { filter: Cond::any(all), ..rows.clone() }
}

/// The names that rows are called by, if that is all that is said of them.
fn names(index: &Index, rows: &Select) -> Option<Vec<Cond>> {
    let table = &index.tables[rows.table];
    let name = |cond: &Cond| match cond {
        Cond::Cmp(path, Op::Eq, Operand::Lit(lit))
            if path.hops.is_empty()
                && (table.label == Some(path.column) || table.key == Some(path.column)) =>
        {
            // Where an earlier request says it is nowhere in this one.
            let lit = Lit { value: lit.value.clone(), at: (0, 0) };
            Some(Cond::Cmp(path.clone(), Op::Eq, Operand::Lit(lit)))
        }
        _ => None,
    };
    match &rows.filter {
        _ if rows.order.is_some() => None,
        Cond::Or(all) => all.iter().map(name).collect(),
        one => name(one).map(|name| vec![name]),
    }
}

/// The rows that a form is about.
pub(super) fn rows_of(form: &Form) -> Option<Select> {
    match form {
        Form::Select(select) => Some(select.as_ref().clone()),
        Form::Calls(calls) | Form::Offer(calls) => match calls.as_slice() {
            [call] => call.arguments.iter().find_map(|(_, argument)| match argument {
                Argument::Row(select) => Some(select.as_ref().clone()),
                Argument::Value(_) => None,
            }),
            _ => None,
        },
        _ => None,
    }
}

fn after(index: &Index, request: &str, past: &Past) -> Reading {
    if let Some(form) = edited(index, request, past) {
        let list = tokens(request);
        let trace = Trace::default();
        let parser = Parser::new(index, &list, 0, &trace);
        let written = code::write(&parser, &form);
        return Reading::One(Box::new(Meaning { words: words::reading(index, &form), form, written }));
    }
    super::read(index, request, Context { rows: past.rows.as_ref(), several: past.several.as_ref() })
}

/// The last form, changed as a short answer says: a number, yes, no, another name.
fn edited(index: &Index, request: &str, past: &Past) -> Option<Form> {
    let said = tokens(request);
    let plain: Vec<&str> = said
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Sign('.' | '!' | ',')))
        .map(|token| token.lower.as_str())
        .filter(|word| *word != "please")
        .collect();
    let is = |class: &str| {
        LEXICON.matches(class, &plain).first().is_some_and(|(length, _)| *length == plain.len())
    };
    if let (false, Some(place)) = (past.choices.is_empty(), which_of(index, &said, &[])) {
        return past.choices.get(place).cloned();
    }
    let is_corrected = past.is_done && is_instead(&said) && only_number(index, &said).is_some();
    let is_decided = past.is_done && (is("talk.no") || is("talk.yes"));
    let is_about_it = is_corrected || is_decided || is("talk.undo") || is("talk.decide");
    if let (true, Some(run)) = (is_about_it, &past.changed) {
        return Some(Form::Settled(run.clone()));
    }
    let last = past.form.as_ref()?;
    if !past.offered.is_empty()
        && let Some(place) = which_of(index, &said, &past.offered)
    {
        return picked(index, last, past.offered.get(place)?);
    }
    if is("talk.no") {
        return Some(Form::Talk("no"));
    }
    if let (true, Form::Offer(calls)) = (is("talk.yes"), last) {
        return calls.iter().all(|call| call.missing.is_empty()).then(|| Form::Calls(calls.clone()));
    }
    if let (false, Some(number)) = (past.is_done, only_number(index, &said)) {
        let asks = said.iter().any(|token| token.kind == Kind::Sign('?'));
        return with_number(index, last, &number).map(|form| match form {
            Form::Calls(calls) if asks => Form::Offer(calls),
            form => form,
        });
    }
    supplied(index, &said, last)
        .or_else(|| another(index, &said, last))
        .or_else(|| if past.is_done { None } else { chosen(index, &said, last) })
}

/// The place of the one of several that an answer takes: `2`, `number 2`, `the second one`, or its name.
fn which_of(index: &Index, said: &[super::token::Token], names: &[String]) -> Option<usize> {
    let trace = Trace::default();
    let parser = Parser::new(index, said, 0, &trace);
    let start = parser.fill(0);
    let text: Vec<&str> = said[start..]
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Sign('.' | '!')))
        .map(|token| token.lower.as_str())
        .collect();
    if let Some(place) = names.iter().position(|name| name.to_lowercase() == text.join(" ")) {
        return Some(place);
    }
    let ordinal = parser.meaning("ordinals", start).and_then(|(end, number)| {
        let end = parser.one("thing", end).unwrap_or(end);
        parser.is_end(end).then(|| number.parse::<u64>().ok()).flatten()
    });
    let rest = &said[parser.one("talk.number", start).unwrap_or(0)..];
    let number = ordinal.or_else(|| only_number(index, rest)?.value.as_u64())?;
    usize::try_from(number).ok()?.checked_sub(1)
}

/// The order with the row of that name in the place of the one that was not clear.
fn picked(index: &Index, order: &Form, name: &str) -> Option<Form> {
    let fits = |argument: &Argument| match argument {
        Argument::Row(rows) => index.row_named(rows.table, name),
        Argument::Value(_) => None,
    };
    let change = |calls: &[Call]| -> Option<Vec<Call>> {
        let [call] = calls else { return None };
        let places: Vec<_> =
            (0..call.arguments.len()).filter(|at| fits(&call.arguments[*at].1).is_some()).collect();
        let ([place], mut call) = (places.as_slice(), call.clone()) else { return None };
        let (Argument::Row(rows), filter) = (&call.arguments[*place].1, fits(&call.arguments[*place].1)?)
        else {
            return None;
        };
        let rows = Select { filter, order: None, nth: None, limit: None, ..rows.as_ref().clone() };
        call.arguments[*place].1 = Argument::Row(Box::new(rows));
        Some(vec![call])
    };
    match order {
        Form::Calls(calls) => change(calls).map(Form::Calls),
        Form::Offer(calls) => change(calls).map(Form::Offer),
        _ => None,
    }
}

/// `to Beata Kowal`: what was missing in the last order.
fn supplied(index: &Index, list: &[super::token::Token], order: &Form) -> Option<Form> {
    let (Form::Calls(calls) | Form::Offer(calls)) = order else { return None };
    let [call] = calls.as_slice() else { return None };
    let asks = list.iter().any(|token| token.kind == Kind::Sign('?'));
    let trace = Trace::default();
    let calls = vec![Parser::new(index, list, 0, &trace).supplied(call)?];
    Some(if matches!(order, Form::Offer(_)) || asks { Form::Offer(calls) } else { Form::Calls(calls) })
}

/// `the cheaper one`, `the Moon`: an answer to the question which row was meant.
fn chosen(index: &Index, list: &[super::token::Token], order: &Form) -> Option<Form> {
    let (Form::Calls(calls) | Form::Offer(calls)) = order else { return None };
    let [call] = calls.as_slice() else { return None };
    let place = call.arguments.iter().position(|(_, argument)| matches!(argument, Argument::Row(_)))?;
    let Argument::Row(rows) = &call.arguments[place].1 else { return None };
    let trace = Trace::default();
    let parser =
        Parser { context: Some(rows.as_ref().clone()), ..Parser::new(index, list, rows.table, &trace) };
    let fits =
        |np: &super::phrase::Np, end: usize| np.is_named() && np.number.is_none() && parser.is_end(end);
    let nps = parser.np(parser.opening());
    let (np, ..) = nps.iter().filter(|(np, end, _)| fits(np, *end)).min_by_key(|(_, _, cost)| *cost)?;
    let mut call = call.clone();
    call.arguments[place].1 = Argument::Row(Box::new(np.select(rows.table, Asked::Rows)));
    let calls = vec![call];
    Some(if matches!(order, Form::Calls(_)) { Form::Calls(calls) } else { Form::Offer(calls) })
}

/// Whether a request begins as a correction: `make it`.
fn is_instead(list: &[super::token::Token]) -> bool {
    let words: Vec<&str> = list.iter().map(|token| token.lower.as_str()).collect();
    !LEXICON.matches("talk.instead", &words).is_empty()
}

/// A request that is a number and nothing else but fillers and `make it`.
fn only_number(index: &Index, list: &[super::token::Token]) -> Option<Lit> {
    let words: Vec<&str> = list.iter().map(|token| token.lower.as_str()).collect();
    let before = ["talk.instead", "talk.and_what"].into_iter();
    let start = before
        .filter_map(|class| LEXICON.matches(class, &words).first().map(|(length, _)| *length))
        .max()
        .unwrap_or(0);
    let rest: Vec<_> = list[start..]
        .iter()
        .enumerate()
        .filter(|(_, token)| !matches!(token.kind, Kind::Sign('.' | '!' | ',')) && token.lower != "please")
        .filter(|(_, token)| start == 0 || token.kind != Kind::Sign('?'))
        .collect();
    match rest.as_slice() {
        [(at, token)] if !index.is_called(list, start + at) => match token.kind {
            Kind::Number(number) if number.unit == Unit::Plain => {
                Some(Lit { value: as_json(number.value), at: token.at })
            }
            _ => None,
        },
        _ => None,
    }
}

/// The last order with another count.
fn with_number(index: &Index, last: &Form, number: &Lit) -> Option<Form> {
    let change = |calls: &[Call]| -> Option<Vec<Call>> {
        let [call] = calls else { return None };
        let action = &index.catalog.actions[call.action];
        let (name, _) =
            action.params.iter().find(|(_, param)| param.kind == Some(ordain_types::ParamKind::Count))?;
        let mut call = call.clone();
        call.missing.retain(|missing| missing != name);
        call.arguments.retain(|(known, _)| known != name);
        call.arguments.push((name.clone(), Argument::Value(number.clone())));
        Some(vec![call])
    };
    match last {
        Form::Calls(calls) => change(calls).map(Form::Calls),
        Form::Offer(calls) => change(calls).map(Form::Offer),
        _ => None,
    }
}

/// `and the sport?`: the last question about another row.
fn another(index: &Index, said: &[super::token::Token], last: &Form) -> Option<Form> {
    let Form::Select(select) = last else { return None };
    let trace = Trace::default();
    let parser = Parser::new(index, said, select.table, &trace);
    let start = parser.exact("talk.and_what", 0).into_iter().max()?;
    let named = parser
        .np(start)
        .iter()
        .filter(|(np, end, _)| {
            np.conds.len() == 1 && np.order.is_none() && np.number.is_none() && parser.is_end(*end)
        })
        .min_by_key(|(_, _, cost)| *cost)
        .cloned();
    let Some((np, ..)) = named else {
        // `and Omar Haddad?`, where the last question named somebody of another table
        let (cond, ..) = parser
            .value(start)
            .into_iter()
            .filter(|(_, end, _)| parser.is_end(*end))
            .min_by_key(|(_, _, cost)| *cost)?;
        return same_kind(&select.filter, &cond)
            .then(|| Form::Select(Box::new(Select { filter: cond, ..select.as_ref().clone() })));
    };
    let is_about_names = !matches!(select.asked, Asked::Rows) || same_kind(&select.filter, &np.conds[0]);
    let fits = select.order.is_none() && is_about_names && same_kind(&select.filter, &np.conds[0]);
    fits.then(|| Form::Select(Box::new(Select { filter: np.conds[0].clone(), ..select.as_ref().clone() })))
}

/// Whether two conditions ask for a value of the same column.
fn same_kind(one: &Cond, other: &Cond) -> bool {
    match (one, other) {
        (Cond::Cmp(left, Op::Eq, _), Cond::Cmp(right, Op::Eq, _)) => left == right,
        (Cond::Some(left, inner), Cond::Some(right, other)) => left == right && same_kind(inner, other),
        _ => false,
    }
}
