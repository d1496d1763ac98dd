//! Orders: hands the declared verbs to the crate that reads changes, asks back what is open, and answers with a program.

mod program;

use ordain_reader::{
    Argument, Call, Change, Pending, Reader, Reading, Row, Scalar, Takes, To, Verb, VerbParam,
};
use ordain_types::{Action, Changes, DirectChanges, HeldBy, NewNames, Param, ParamKind};
use serde_json::Value;

use super::explain::ReadAs;
use super::known;
use crate::brief::{Brief, TableBrief, Turn};
use crate::exchange::{Draft, Reply};

/// Larger numbers are not given to an action: they are not exact any more.
const COUNT_MAX: f64 = 9e15;
/// Turns that are looked at.
const TURNS_MAX: usize = 6;
/// Meanings that are offered.
const OFFERED_MAX: usize = 6;
/// How a question begins that rows answer, by their numbers.
const WHICH: &str = "Which one do you mean? ";
/// How such a question ends.
const SAY: &str = " Say the number.";

/// What is answered to an order; nothing where the request is none.
pub(super) fn reply(brief: &Brief) -> Option<Reply> {
    let readers = known::readers(brief);
    let reader = &readers.changes;
    match read_after(reader, brief) {
        Reading::Certain(change) => Some(answered(reader, brief, &change)),
        Reading::Choose(changes) => {
            let said = changes.iter().take(OFFERED_MAX).filter_map(|change| reader.words_of_change(change));
            let said: Vec<String> =
                said.enumerate().map(|(at, words)| format!("{}. {words}", at + 1)).collect();
            let question = "I can read that in several ways. ";
            Some(Reply::Question(format!("{question}{WHICH}{}.{SAY}", said.join("; "))))
        }
        Reading::Silent { .. } => None,
    }
}

/// What a request orders, without carrying it out; nothing where it is no order.
pub(super) fn readings(brief: &Brief) -> Vec<ReadAs> {
    let readers = known::readers(brief);
    let reader = &readers.changes;
    let words = |change: &Change| reader.words_of_change(change).unwrap_or_else(|| brief.request.clone());
    match read_after(reader, brief) {
        Reading::Certain(change) => {
            let reading = words(&change);
            let program = change.open().is_empty().then(|| program::write(reader, brief, &change, &reading));
            let (code, params) = program.flatten().map(|written| (written.code, written.params)).unzip();
            vec![ReadAs { reading, code, params: params.unwrap_or_default() }]
        }
        Reading::Choose(changes) => {
            let all = changes.iter().take(OFFERED_MAX).map(words);
            all.map(|reading| ReadAs { reading, code: None, params: Vec::new() }).collect()
        }
        Reading::Silent { .. } => Vec::new(),
    }
}

/// An action as a verb of sentences.
pub(super) fn verb(action: &Action) -> Verb {
    Verb {
        name: action.name.as_str().into(),
        words: action.words.clone(),
        each: action.each.clone(),
        params: action.ordered().into_iter().map(|(name, param)| of_verb(name, param)).collect(),
        remarks: action.remarks.clone(),
    }
}

fn of_verb(name: &str, param: &Param) -> VerbParam {
    let known =
        param.column.as_ref().map(|place| (place.table.as_str().into(), place.column.as_str().into()));
    let takes = match (&param.kind, &param.table, known) {
        (Some(ParamKind::Name), _, known) => Takes::Name { known, is_new: param.new == NewNames::Take },
        (Some(ParamKind::Count), ..) => Takes::Count,
        (Some(ParamKind::Number), ..) => Takes::Number,
        (Some(ParamKind::Money), ..) => Takes::Money,
        (Some(ParamKind::Percent), ..) => Takes::Percent,
        (Some(ParamKind::Date), ..) => Takes::Day,
        (Some(ParamKind::Time), ..) => Takes::Time,
        (None, Some(table), _) => Takes::Row(table.as_str().into()),
        (None, None, Some((table, column))) => Takes::Value(table, column),
        (Some(ParamKind::Text), ..) | (None, None, None) => Takes::Text,
    };
    let default = param.default.as_ref().and_then(|value| match value {
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        value => ordain_reader::Number::new(value.as_f64()?).map(Scalar::Number),
    });
    VerbParam { name: name.to_owned(), takes, after: param.after.clone(), default }
}

/// What a request means after the turns before it.
fn read_after(reader: &Reader, brief: &Brief) -> Reading<Change> {
    let mut pending = None;
    for turn in &brief.turns[brief.turns.len().saturating_sub(TURNS_MAX)..] {
        pending = asked_back(read(reader, &turn.request, pending.as_ref()), turn);
    }
    read(reader, &brief.request, pending.as_ref())
}

fn read(reader: &Reader, request: &str, pending: Option<&Pending>) -> Reading<Change> {
    if let Some(change) = pending.and_then(|pending| pending.answered(reader, request)) {
        return Reading::Certain(Box::new(change));
    }
    reader.change(request)
}

/// What a turn left open.
fn asked_back(reading: Reading<Change>, turn: &Turn) -> Option<Pending> {
    match reading {
        Reading::Certain(mut change) if change.open().is_empty() => {
            let (name, keys) = offered(&turn.answer)?;
            let mut row: Option<Row> = None;
            change.each_row(&mut |known| {
                let is_named = matches!(&known.value, Scalar::Text(text) if *text == name);
                row = row.take().or_else(|| is_named.then(|| known.clone()));
            });
            row.map(|row| Pending::Rows(*change, row, keys))
        }
        Reading::Certain(change) => Some(Pending::Open(*change)),
        Reading::Choose(all) => Some(Pending::Choice(all)),
        Reading::Silent { .. } => None,
    }
}

/// The name that several rows have and their keys, in the order in which an answer offers them.
fn offered(answer: &str) -> Option<(String, Vec<String>)> {
    let list = answer.lines().next()?.strip_prefix(WHICH)?.strip_suffix(SAY)?.strip_suffix('.')?;
    let rows: Option<Vec<(&str, &str)>> =
        list.split("; ").map(|row| row.split_once(". ")?.1.strip_suffix(')')?.rsplit_once(" (")).collect();
    let rows = rows?;
    Some((rows.first()?.0.to_owned(), rows.iter().map(|(_, key)| (*key).to_owned()).collect()))
}

fn answered(reader: &Reader, brief: &Brief, change: &Change) -> Reply {
    let words = reader.words_of_change(change).unwrap_or_else(|| brief.request.clone());
    let is_undo = change.steps().iter().any(|step| matches!(step, Change::Undo));
    if is_undo {
        return Reply::Refusal(settled());
    }
    if let Some(bound) = out_of_bounds(brief, change) {
        return Reply::Question(format!("{bound}, so nothing was done: {words}."));
    }
    if let Some(question) = open(brief, change, &words) {
        return Reply::Question(question);
    }
    let is_direct = change.steps().iter().any(|step| !matches!(step, Change::Call(_)));
    if is_direct && brief.catalog.policy.changes == Changes::Actions {
        return Reply::Refusal(format!(
            "Here data changes through actions alone, and none covers that: {words}. Nothing was changed."
        ));
    }
    if let Some(why) = change.steps().iter().find_map(|step| fixed(brief, step)) {
        return Reply::Refusal(format!("{why}, so nothing was changed: {words}."));
    }
    let Some(program) = program::write(reader, brief, change, &words) else {
        return Reply::Refusal(format!(
            "I cannot look up whether that is so here: {words}. Nothing was changed."
        ));
    };
    let is_held = is_direct && brief.catalog.policy.direct_changes == DirectChanges::Hold;
    Reply::Plan(Draft {
        code: program.code,
        params: program.params,
        title: words.clone(),
        reading: Some(words),
        hold: is_held.then_some(HeldBy::DirectChange),
        ..Draft::default()
    })
}

/// What can be done about a change that was made.
fn settled() -> String {
    "That leaves the change before as it is. If it was committed, `ordain undo last` takes it back. If it waits for approval, \
     `ordain approve ID` commits it and `ordain reject ID` drops it; `ordain runs` shows the ID of each run. In a chat: /undo, \
     /approve, /reject."
        .to_owned()
}

/// The first number that its param does not allow.
fn out_of_bounds(brief: &Brief, change: &Change) -> Option<String> {
    let mut found = None;
    change.clone().each_argument(&mut |owner, name, argument| {
        let Argument::Value(Scalar::Number(number)) = argument else { return };
        let action = brief.catalog.actions.iter().find(|action| action.name == **owner);
        let Some(param) = action.and_then(|action| action.params.get(name)) else { return };
        let value = number.value();
        let most = param.max.unwrap_or(COUNT_MAX);
        let bound = match param.min {
            _ if param.kind == Some(ParamKind::Count) && value.fract() != 0.0 => "a whole number".to_owned(),
            Some(min) if value < min => format!("at least {min}"),
            _ if value > most => format!("at most {most}"),
            _ => return,
        };
        found.get_or_insert(format!("The {} must be {bound}", name.replace('_', " ")));
    });
    found
}

/// What is asked back before a change can be made: what is missing in it, or whether a name is new.
fn open(brief: &Brief, change: &Change, words: &str) -> Option<String> {
    let open = change.open();
    let (verb, ..) = open.first()?;
    let action = brief.catalog.actions.iter().find(|action| action.name == **verb)?;
    let to = action.words.iter().find(|words| !words.contains(' ')).or_else(|| action.words.first())?;
    let missing: Vec<&(_, String, Argument)> =
        open.iter().filter(|(.., argument)| *argument == Argument::Missing).collect();
    if missing.is_empty() {
        let names: Vec<String> = open
            .iter()
            .filter_map(|(_, param, argument)| match argument {
                Argument::New(name) => Some(format!("{} called {name}", param.replace('_', " "))),
                _ => None,
            })
            .collect();
        return Some(format!("I know no {}. If it is a new one: 1. {words}.{SAY}", names.join(" and no ")));
    }
    let only = |(_, name, _): &&(_, String, Argument)| -> Option<String> {
        let param = action.params.get(name)?;
        (param.kind == Some(ParamKind::Count)).then(|| counted(change, name)).flatten()
    };
    let counts: Option<Vec<String>> = missing.iter().map(only).collect();
    if let Some(mut counts) = counts {
        counts.dedup();
        return Some(format!("How many {} would you like to {to}?", counts.join(", and how many ")));
    }
    let mut names: Vec<String> =
        missing.iter().map(|(_, name, _)| format!("the {}", name.replace('_', " "))).collect();
    names.dedup();
    Some(format!("To {to}, I still need {}.", names.join(" and ")))
}

/// What is counted by a param that is missing: the row of its call.
fn counted(change: &Change, param: &str) -> Option<String> {
    let calls = change.steps().into_iter().filter_map(|step| match step {
        Change::Call(call) => Some(call),
        _ => None,
    });
    let is_open = |call: &&Call| {
        call.arguments.iter().any(|(name, argument)| name == param && *argument == Argument::Missing)
    };
    let rows: Vec<String> = calls
        .filter(is_open)
        .filter_map(|call| {
            call.arguments.iter().find_map(|(_, argument)| match argument {
                Argument::Row(Row { value: Scalar::Text(name), .. }) => Some(name.clone()),
                _ => None,
            })
        })
        .collect();
    (!rows.is_empty()).then(|| rows.join(", and how many "))
}

/// Why a table does not allow a change, or what it lacks.
fn fixed(brief: &Brief, step: &Change) -> Option<String> {
    let table = |name: &str| brief.tables.iter().find(|known| known.table.name == name);
    let stays = |table: &TableBrief| {
        let own = &table.table;
        (own.read_only || own.append_only || own.key.is_empty())
            .then(|| format!("The rows of {} may not be changed here", own.name))
    };
    let is_key = |table: &TableBrief, column: &str| table.table.key.iter().any(|key| key == column);
    match step {
        Change::Set { row, column, to: To::Value(_) | To::Moved(..) | To::By(_) | To::Percent(_) } => {
            let table = table(&row.table)?;
            let key = is_key(table, column).then(|| format!("The {column} is what rows are told apart by"));
            stays(table).or(key)
        }
        Change::Remove(row) => stays(table(&row.table)?),
        Change::Add { table: name, values } => {
            let table = table(name)?;
            let is_read = table.table.read_only.then(|| format!("No row may be added to {name} here"));
            let lacks = |key: &&String| !values.iter().any(|(column, _)| column == *key);
            let lacking = table.table.key.iter().find(lacks);
            is_read.or_else(|| Some(format!("A row of {name} needs its {}", lacking?.replace('_', " "))))
        }
        _ => None,
    }
}
