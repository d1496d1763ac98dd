//! Requests of two clauses: two that follow each other, or an order with a condition.

use super::follow::rows_of;
use super::form::{Argument, Asked, Call, Cond, Form, Select};
use super::index::Index;
use super::lexicon::LEXICON;
use super::parse::Parser;
use super::token::{Kind, Token};
use super::trace::Trace;
use super::{Reading, read_tokens};

/// How a clause begins that asks for something to be shown.
const QUESTIONS: [&str; 11] = [
    "show", "which", "have_any", "who", "when", "how_many", "how_much", "what_is", "compare", "about",
    "where_is",
];

/// Every reading of a request that is not one clause.
pub(super) fn read(index: &Index, tokens: &[Token], context: Option<&Select>) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    for place in 1..tokens.len() {
        found.extend(both(index, tokens, place, context));
        found.extend(condition_last(index, tokens, place, context));
    }
    found.extend(condition_first(index, tokens, context));
    found
}

fn one(index: &Index, tokens: &[Token], context: Option<&Select>) -> Option<Form> {
    match read_tokens(index, tokens, context) {
        Reading::One(meaning) => Some(meaning.form),
        Reading::Several(_) | Reading::None(_) => None,
    }
}

/// `Buy one rotor and tell me how much the chain is`: at least one clause is a change, and a question says that it is one.
fn both(index: &Index, tokens: &[Token], place: usize, context: Option<&Select>) -> Option<Form> {
    let is_joint = |token: &Token| {
        matches!(token.kind, Kind::Sign(',' | ';' | '.')) || matches!(token.lower.as_str(), "and" | "then")
    };
    let joints = tokens[place..].iter().take_while(|token| is_joint(token)).count();
    let (left, right) = (&tokens[..place], &tokens[place + joints..]);
    if joints == 0 || is_joint(&tokens[place - 1]) || right.is_empty() {
        return None;
    }
    let first = clause(index, left, context)?;
    let second = clause(index, right, rows_of(&first).as_ref().or(context))?;
    let is_asked = left.iter().any(|token| token.kind == Kind::Sign('?'));
    let is_whole = |form: &Form| form.all_calls().iter().all(|call| call.missing.is_empty());
    let fits = (first.is_change() || second.is_change()) && is_whole(&first) && is_whole(&second);
    (fits && !is_asked).then(|| Form::Both(Box::new((first, second))))
}

/// A change, or a question that begins as one.
fn clause(index: &Index, tokens: &[Token], context: Option<&Select>) -> Option<Form> {
    let form = one(index, tokens, context)?;
    let trace = Trace::default();
    let parser = Parser::new(index, tokens, 0, &trace);
    let asks = || QUESTIONS.iter().any(|class| !parser.lex(class, parser.opening()).is_empty());
    let fits = match &form {
        Form::Select(_) => asks(),
        form => form.is_change(),
    };
    fits.then_some(form)
}

/// `Buy 3 moons if they are under $10`.
fn condition_last(index: &Index, tokens: &[Token], place: usize, context: Option<&Select>) -> Option<Form> {
    let (length, negated) = condition_word(&tokens[place..])?;
    let comma = usize::from(tokens[place - 1].kind == Kind::Sign(','));
    let form = one(index, &tokens[..place - comma], context).filter(|form| matches!(form, Form::Calls(_)))?;
    let [call] = form.all_calls()[..] else { return None };
    let rows = item(index, call).filter(|_| call.missing.is_empty())?.clone();
    let trace = Trace::default();
    let parser = Parser::new(index, &tokens[place + length..], rows.table, &trace);
    let starts = parser.lex("talk.it", 0).into_iter().chain(parser.lex("there", 0)).chain([0]);
    let mut conds: Vec<(Cond, u32)> = starts
        .flat_map(|start| parser.conds(start))
        .filter(|(cond, end, _)| parser.is_end(*end) && !parser.is_question() && !parser.is_name(cond))
        .map(|(cond, _, cost)| (cond, cost))
        .collect();
    let least = conds.iter().map(|(_, cost)| *cost).min()?;
    conds.retain(|(_, cost)| *cost == least);
    conds.dedup();
    let [(cond, _)] = conds.as_slice() else { return None };
    Some(guarded(rows, cond.clone(), negated, form))
}

/// `If the Moon is under $100, buy 2 Moons`.
fn condition_first(index: &Index, tokens: &[Token], context: Option<&Select>) -> Vec<Form> {
    let Some((length, negated)) = condition_word(tokens) else { return Vec::new() };
    let mut found = Vec::new();
    let commas = (length..tokens.len()).filter(|at| tokens[*at].kind == Kind::Sign(','));
    for comma in commas {
        let order = one(index, &tokens[comma + 1..], context).filter(|form| matches!(form, Form::Calls(_)));
        let Some(order) = order.filter(|form| form.all_calls().iter().all(|call| call.missing.is_empty()))
        else {
            continue;
        };
        for table in 0..index.tables.len() {
            let trace = Trace::default();
            let parser = Parser::new(index, &tokens[length..comma], table, &trace);
            for (np, end, _) in parser.np(0).iter().filter(|(np, ..)| np.is_named() && np.conds.len() == 1) {
                for (cond, end, _) in parser.conds(*end) {
                    if parser.is_end(end) {
                        let rows = np.select(table, Asked::Rows);
                        found.push(guarded(rows, cond, negated, order.clone()));
                    }
                }
            }
        }
    }
    found
}

fn guarded(rows: Select, cond: Cond, negated: bool, form: Form) -> Form {
    let cond = if negated { Cond::Not(Box::new(cond)) } else { cond };
    Form::If(Box::new(rows), cond, Box::new(form))
}

/// `if` or `unless` at the front of tokens: how many, and whether what follows must not hold.
fn condition_word(tokens: &[Token]) -> Option<(usize, bool)> {
    let words: Vec<&str> = tokens.iter().take(4).map(|token| token.lower.as_str()).collect();
    let length = |class: &str| LEXICON.matches(class, &words).first().map(|(length, _)| *length);
    length("condition.if")
        .map(|length| (length, false))
        .or_else(|| length("condition.unless").map(|length| (length, true)))
}

/// The rows that an order is about: those that its list names, else the only ones.
fn item<'a>(index: &Index, call: &'a Call) -> Option<&'a Select> {
    let each = &index.catalog.actions[call.action].each;
    let rows: Vec<(&String, &Select)> = call
        .arguments
        .iter()
        .filter_map(|(name, argument)| match argument {
            Argument::Row(rows) => Some((name, rows.as_ref())),
            Argument::Value(_) => None,
        })
        .collect();
    let listed = rows.iter().find(|(name, _)| each.contains(name)).map(|(_, rows)| *rows);
    listed.or(if let [(_, only)] = rows.as_slice() { Some(*only) } else { None })
}
