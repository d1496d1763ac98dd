//! Follow-ups: a request after another one, as an edit of what that one meant.

use super::explain::Unknown;
use super::form::{Argument, Asked, Call, Cond, Form, Lit, Op, Operand, Select};
use super::index::{Index, split_text};
use super::lexicon::LEXICON;
use super::parse::{Parser, as_json};
use super::phrase::{Head, Np};
use super::token::{Kind, Token, Unit, tokens};
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
    /// The rows that were listed last, in that order.
    listed: Vec<Cond>,
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
            let listed = said.as_ref().map(|rows| listed(index, rows, &turn.answer));
            // `the two cheapest` are those two from then on, whatever is said of them.
            let said = said.map(|rows| match &listed {
                Some(listed) if rows.order.is_some() && !listed.is_empty() => {
                    let filter = Cond::any(listed.clone());
                    Select { filter, order: None, nth: None, limit: None, ..rows }
                }
                _ => rows,
            });
            let several = said.as_ref().map(|rows| together(index, past.several.as_ref(), rows));
            Past {
                form: Some(meaning.form),
                rows: said.or_else(|| past.rows.clone()),
                several: several.or_else(|| past.several.clone()),
                listed: listed.unwrap_or_else(|| past.listed.clone()),
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
    turn.run_id.clone().filter(|run| !run.is_empty()).unwrap_or_else(|| "ID".to_owned())
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

/// The rows that an answer lists, in that order; none if it does not name every one of them, or in another order than
/// the request.
fn listed(index: &Index, rows: &Select, answer: &str) -> Vec<Cond> {
    let name = |row: &str| {
        let ends = row.match_indices(" (").map(|(at, _)| at).filter(|_| row.ends_with(')'));
        let mut ends: Vec<usize> = ends.chain([row.len()]).collect();
        ends.reverse();
        ends.into_iter().find_map(|end| index.row_named(rows.table, &row[..end]))
    };
    let all = |at: usize| answer[at + 2..].strip_suffix('.')?.split("; ").map(name).collect();
    let listed: Vec<Cond> = answer.match_indices(": ").find_map(|(at, _)| all(at)).unwrap_or_default();
    if names(index, rows).is_none_or(|names| names == listed) { listed } else { Vec::new() }
}

/// The rows that a form is about.
pub(super) fn rows_of(form: &Form) -> Option<Select> {
    match form {
        Form::Select(select) => {
            let filter = match &select.asked {
                // `is Art cheaper than Doubt?` is about both.
                Asked::Holds(Cond::Cmp(_, _, Operand::Of(path, other))) if path.table == select.table => {
                    Cond::any(vec![select.filter.clone(), other.as_ref().clone()])
                }
                _ => select.filter.clone(),
            };
            Some(Select { filter, ..select.as_ref().clone() })
        }
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
    if let Some(open) = open_rows(index, request, past) {
        return Reading::None(Some(open));
    }
    let (rows, several) = (past.rows.as_ref(), past.several.as_ref());
    super::read(index, request, Context { rows, several, listed: &past.listed })
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
    if !past.choices.is_empty() {
        return past.choices.get(place_said(&said, past.choices.len())?).cloned();
    }
    let is_corrected = past.is_done && is_instead(&said) && only_number(&said).is_some();
    let is_decided = past.is_done && (is("talk.no") || is("talk.yes"));
    let is_about_it = is_corrected || is_decided || is("talk.undo") || is("talk.decide");
    if let (true, Some(run)) = (is_about_it, &past.changed) {
        return Some(Form::Settled(run.clone()));
    }
    let last = past.form.as_ref()?;
    if !past.offered.is_empty() {
        if let Some(place) = offer_said(&said, request, &past.offered) {
            return picked(index, last, &past.offered[place]);
        }
        if only_number(&said).is_some() {
            return None;
        }
    }
    if is("talk.no") {
        return Some(Form::Talk("no"));
    }
    if let (true, Form::Offer(calls)) = (is("talk.yes"), last) {
        return calls.iter().all(|call| call.missing.is_empty()).then(|| Form::Calls(calls.clone()));
    }
    if let Some(form) = supplied(index, &said, last) {
        return Some(form);
    }
    if let (false, Some(number)) = (past.is_done, only_number(&said)) {
        let is_asked = |call: &&Call| is_instead(&said) || !asks_otherwise(index, call);
        if !last.all_calls().iter().all(is_asked) {
            return None;
        }
        let asks = said.iter().any(|token| token.kind == Kind::Sign('?'));
        return with_number(index, last, &number).map(|form| match form {
            Form::Calls(calls) if asks => Form::Offer(calls),
            form => form,
        });
    }
    another(index, &said, last)
        .or_else(|| if past.is_done { None } else { chosen(index, &said, last, &past.offered) })
}

/// Whether something else than a number was asked for.
fn asks_otherwise(index: &Index, call: &Call) -> bool {
    let params = &index.catalog.actions[call.action].params;
    let is_count = |name: &String| params[name].kind == Some(ordain_types::ParamKind::Count);
    !call.missing.is_empty() && !call.missing.iter().any(is_count)
}

/// Which one of a numbered list an answer takes: `2`, `number 2`, `the second one`, `the last`.
fn place_said(list: &[Token], count: usize) -> Option<usize> {
    let is_said = |token: &&Token| {
        !matches!(token.kind, Kind::Sign('.' | '!' | ',')) && !LEXICON.has("filler", &token.lower)
    };
    let said: Vec<&Token> = list.iter().filter(is_said).collect();
    let said = match said.as_slice() {
        [first, rest @ ..] if LEXICON.has("talk.number", &first.lower) => rest,
        all => all,
    };
    let (token, is_bare) = match said {
        [token] => (token, true),
        [token, one] if one.lower == "one" => (token, false),
        _ => return None,
    };
    let counted = match token.kind {
        Kind::Number(number) if is_bare => (1..=count).find(|place| as_json(number.value) == *place),
        _ => None,
    };
    counted.or_else(|| token.place(count)).map(|place| place - 1)
}

/// Which of the rows that were offered an answer takes: by its name as it is written, its number, or a word of its name.
fn offer_said(list: &[Token], request: &str, offered: &[String]) -> Option<usize> {
    let text = request.trim().trim_end_matches(['.', '!', ',']);
    let by_name = offered.iter().position(|name| name == text);
    by_name.or_else(|| place_said(list, offered.len())).or_else(|| {
        let is_said = |word: &String| !LEXICON.has("filler", word);
        let said: Vec<String> = split_text(text).into_iter().filter(is_said).collect();
        let has = |name: &String| split_text(name).windows(said.len().max(1)).any(|part| part == said);
        let mut found = (0..offered.len()).filter(|at| has(&offered[*at]));
        let is_plain = !said.iter().any(|word| LEXICON.is_operator(word));
        found.next().filter(|_| is_plain && found.next().is_none())
    })
}

/// The order with the row of that name in the place of the one that was not clear.
fn picked(index: &Index, order: &Form, name: &str) -> Option<Form> {
    let fits = |argument: &Argument| match argument {
        Argument::Row(rows) => index.row_offered(rows.table, name),
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
fn supplied(index: &Index, list: &[Token], order: &Form) -> Option<Form> {
    let (Form::Calls(calls) | Form::Offer(calls)) = order else { return None };
    let [call] = calls.as_slice() else { return None };
    let asks = list.iter().any(|token| token.kind == Kind::Sign('?'));
    let trace = Trace::default();
    let calls = vec![Parser::new(index, list, 0, &trace).supplied(call)?];
    Some(if matches!(order, Form::Offer(_)) || asks { Form::Offer(calls) } else { Form::Calls(calls) })
}

/// `the cheaper one`, `the Moon`: an answer to the question which row was meant. What was offered is not left.
fn chosen(index: &Index, list: &[Token], order: &Form, offered: &[String]) -> Option<Form> {
    let (Form::Calls(calls) | Form::Offer(calls)) = order else { return None };
    let [call] = calls.as_slice() else { return None };
    let is_asked = |argument: &Argument| matches!(argument, Argument::Row(rows) if offered.iter().all(|name| index.row_offered(rows.table, name).is_some()));
    let place = call.arguments.iter().position(|(_, argument)| is_asked(argument))?;
    let Argument::Row(rows) = &call.arguments[place].1 else { return None };
    let trace = Trace::default();
    let parser =
        Parser { context: Some(rows.as_ref().clone()), ..Parser::new(index, list, rows.table, &trace) };
    let says_which = |np: &Np| {
        let is_described = matches!(np.head, Head::Thing | Head::Value) && !np.conds.is_empty();
        np.is_named() || !offered.is_empty() && is_described
    };
    let fits = |np: &Np, end: usize| says_which(np) && np.number.is_none() && parser.is_end(end);
    let nps = parser.np(parser.opening());
    let (np, ..) = nps.iter().filter(|(np, end, _)| fits(np, *end)).min_by_key(|(_, _, cost)| *cost)?;
    let mut said = np.select(rows.table, Asked::Rows);
    if !offered.is_empty() {
        said.filter = Cond::all(vec![rows.filter.clone(), said.filter]);
    }
    let mut call = call.clone();
    call.arguments[place].1 = Argument::Row(Box::new(said));
    let calls = vec![call];
    Some(if matches!(order, Form::Calls(_)) { Form::Calls(calls) } else { Form::Offer(calls) })
}

/// Whether a request begins as a correction: `make it`.
fn is_instead(list: &[Token]) -> bool {
    let words: Vec<&str> = list.iter().map(|token| token.lower.as_str()).collect();
    !LEXICON.matches("talk.instead", &words).is_empty()
}

/// A request that is a number and nothing else but fillers and `make it`.
fn only_number(list: &[Token]) -> Option<Lit> {
    let words: Vec<&str> = list.iter().map(|token| token.lower.as_str()).collect();
    let before = ["talk.instead", "talk.and_what"].into_iter();
    let start = before
        .filter_map(|class| LEXICON.matches(class, &words).first().map(|(length, _)| *length))
        .max()
        .unwrap_or(0);
    let rest: Vec<_> = list[start..]
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Sign('.' | '!' | ',')) && token.lower != "please")
        .filter(|token| start == 0 || token.kind != Kind::Sign('?'))
        .collect();
    match rest.as_slice() {
        [token] => match token.kind {
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

/// `and the sport?`, `and in November 2026?`: the last question about another row, or with another value.
fn another(index: &Index, said: &[Token], last: &Form) -> Option<Form> {
    let Form::Select(select) = last else { return None };
    let trace = Trace::default();
    let parser = Parser::new(index, said, select.table, &trace);
    let start = parser.exact("talk.and_what", 0).into_iter().max().filter(|_| select.order.is_none())?;
    let rows = parser.np(start);
    let one = |np: &Np| np.conds.len() == 1 && np.order.is_none() && np.number.is_none();
    let named = rows.iter().filter(|(np, ..)| one(np));
    let named = named.map(|(np, end, cost)| (np.conds[0].clone(), *end, *cost));
    let fits = named.chain(parser.conds(start)).filter(|(_, end, _)| parser.is_end(*end));
    let mut found: Vec<(Cond, u32)> =
        fits.filter_map(|(cond, _, cost)| Some((with_part(&select.filter, &cond)?, cost))).collect();
    let cheapest = found.iter().map(|(_, cost)| *cost).min()?;
    found.retain(|(_, cost)| *cost == cheapest);
    found.dedup();
    let [(filter, _)] = found.as_slice() else { return None };
    Some(Form::Select(Box::new(Select { filter: filter.clone(), ..select.as_ref().clone() })))
}

/// A filter with another value in the place of the one of the same column.
fn with_part(filter: &Cond, part: &Cond) -> Option<Cond> {
    let mut all = match filter {
        Cond::And(all) => all.clone(),
        one => vec![one.clone()],
    };
    let places: Vec<usize> = (0..all.len()).filter(|at| same_kind(&all[*at], part)).collect();
    let [place] = places[..] else { return None };
    all[place] = part.clone();
    Some(Cond::all(all))
}

/// Whether two conditions ask for a value of the same column.
fn same_kind(one: &Cond, other: &Cond) -> bool {
    match (one, other) {
        (Cond::Cmp(left, Op::Eq, _), Cond::Cmp(right, Op::Eq, _))
        | (Cond::Days(left, ..), Cond::Days(right, ..)) => left == right,
        (Cond::Some(left, inner), Cond::Some(right, other)) => left == right && same_kind(inner, other),
        _ => false,
    }
}

/// `and lessons?`, after a question about some rows: which of the lessons is open.
fn open_rows(index: &Index, request: &str, past: &Past) -> Option<Unknown> {
    let Some(Form::Select(before)) = past.form.as_ref().filter(|_| past.choices.is_empty()) else {
        return None;
    };
    let list = tokens(request);
    let trace = Trace::default();
    let is_open = |table: usize| {
        let parser = Parser::new(index, &list, table, &trace);
        let start = parser.exact("talk.and_what", 0).into_iter().max();
        let rows = start.map(|start| parser.np(start)).unwrap_or_default();
        rows.iter().any(|(np, end, _)| np.has_table() && np.conds.is_empty() && parser.is_end(*end))
    };
    let token = list.first().filter(|_| !before.filter.is_always())?;
    let reason = format!("“{}” leaves open which ones are meant: say the whole question", token.text);
    (0..index.tables.len()).any(is_open).then(|| Unknown::because(token, &reason))
}
