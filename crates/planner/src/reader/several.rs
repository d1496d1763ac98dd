//! Requests of two clauses: two that follow each other, or an order with a condition.

use super::explain::Unknown;
use super::follow::rows_of;
use super::form::{Argument, Form, Guard, Select};
use super::guard;
use super::index::Index;
use super::parse::Parser;
use super::token::{Kind, Token};
use super::trace::Trace;
use super::{Context, Reading, read_tokens};

/// How a clause begins that asks for something to be shown.
const QUESTIONS: [&str; 11] = [
    "show", "which", "have_any", "who", "when", "how_many", "how_much", "what_is", "compare", "about",
    "where",
];

/// Every reading of a request that is not one clause.
pub(super) fn read(index: &Index, tokens: &[Token], context: Context<'_>) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    for place in 1..tokens.len() {
        found.extend(both(index, tokens, place, context));
        found.extend(condition_last(index, tokens, place, context));
    }
    found.extend(condition_first(index, tokens, context));
    found
}

fn one(index: &Index, tokens: &[Token], context: Context<'_>) -> Option<Form> {
    match read_tokens(index, tokens, context) {
        Reading::One(meaning) => Some(meaning.form),
        Reading::Several(_) | Reading::None(_) => None,
    }
}

/// `Buy one rotor and tell me how much the chain is`: at least one clause is a change, and a question says that it is one.
fn both(index: &Index, tokens: &[Token], place: usize, context: Context<'_>) -> Option<Form> {
    let is_joint = |token: &Token| {
        matches!(token.kind, Kind::Sign(',' | ';' | '.')) || matches!(token.lower.as_str(), "and" | "then")
    };
    let joints = tokens[place..].iter().take_while(|token| is_joint(token)).count();
    let (left, right) = (&tokens[..place], &tokens[place + joints..]);
    if joints == 0 || is_joint(&tokens[place - 1]) || right.is_empty() {
        return None;
    }
    let first = clause(index, left, context)?;
    let rows = rows_of(&first);
    let second = clause(index, right, rows.as_ref().map_or(context, Context::of))?;
    let is_asked = left.iter().any(|token| token.kind == Kind::Sign('?'));
    let is_whole = |form: &Form| form.all_calls().iter().all(|call| call.missing.is_empty());
    let fits = (first.is_change() || second.is_change()) && is_whole(&first) && is_whole(&second);
    (fits && !is_asked).then(|| Form::Both(Box::new((first, second))))
}

/// A change, or a question that begins as one.
fn clause(index: &Index, tokens: &[Token], context: Context<'_>) -> Option<Form> {
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
fn condition_last(index: &Index, tokens: &[Token], place: usize, context: Context<'_>) -> Option<Form> {
    let (length, is_unless) = guard::word(&tokens[place..])?;
    let comma = usize::from(tokens[place - 1].kind == Kind::Sign(','));
    let order = order(index, &tokens[..place - comma], context)?;
    let ordered = ordered(&order);
    let guards = guard::read(index, &tokens[place + length..], is_unless, &ordered)?;
    Some(guarded(order, guards))
}

/// The condition of an order that is understood without it.
pub(super) fn unread_condition(index: &Index, tokens: &[Token], context: Context<'_>) -> Option<Unknown> {
    (1..tokens.len()).find_map(|place| {
        guard::word(&tokens[place..])?;
        let comma = usize::from(tokens[place - 1].kind == Kind::Sign(','));
        order(index, &tokens[..place - comma], context)?;
        let said: Vec<&str> = tokens[place..].iter().map(|token| token.text.as_str()).collect();
        let reason = format!("The condition “{}” is not understood", said.join(" "));
        Some(Unknown::because(&tokens[place], &reason))
    })
}

/// `If the Moon is under $100, buy 2 Moons`.
fn condition_first(index: &Index, tokens: &[Token], context: Context<'_>) -> Vec<Form> {
    let Some((length, is_unless)) = guard::word(tokens) else { return Vec::new() };
    let commas = (length..tokens.len()).filter(|at| tokens[*at].kind == Kind::Sign(','));
    let found = commas.filter_map(|comma| {
        let then = usize::from(tokens.get(comma + 1).is_some_and(|token| token.lower == "then"));
        let order = order(index, &tokens[comma + 1 + then..], context)?;
        // Before the order, `it` may be what the conversation was about.
        let ordered = if context.rows.is_some() { Vec::new() } else { ordered(&order) };
        let guards = guard::read(index, &tokens[length..comma], is_unless, &ordered)?;
        Some(guarded(order, guards))
    });
    found.collect()
}

/// An order through actions that says everything.
fn order(index: &Index, tokens: &[Token], context: Context<'_>) -> Option<Form> {
    let form = one(index, tokens, context).filter(|form| matches!(form, Form::Calls(_)))?;
    form.all_calls().iter().all(|call| call.missing.is_empty()).then_some(form)
}

/// The rows that the one call of an order names; of several calls it is open which one `it` is.
fn ordered(order: &Form) -> Vec<Select> {
    let [call] = order.all_calls()[..] else { return Vec::new() };
    let rows = call.arguments.iter().filter_map(|(_, argument)| match argument {
        Argument::Row(rows) => Some(rows.as_ref().clone()),
        Argument::Value(_) => None,
    });
    rows.collect()
}

fn guarded(order: Form, guards: Vec<Guard>) -> Form {
    guards.into_iter().rev().fold(order, |form, guard| Form::If(Box::new(guard), Box::new(form)))
}
