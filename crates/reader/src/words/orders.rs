//! Says what is ordered.

use super::{Speaker, quoted, say, scalar};
use crate::algebra::{Cond, Name, Number, Scalar};
use crate::catalog::Catalog;
use crate::change::{Argument, Call, Change, Row, To};
use crate::verbs::{Takes, Verb};

/// Says a change; nothing where the language has no words for it.
pub(crate) fn change(change: &Change, catalog: &Catalog, is_exact: bool) -> Option<String> {
    Speaker { catalog, is_exact }.change(change)
}

/// Says that a row meets a condition, or that it does not.
pub(crate) fn met(row: &Row, cond: &Cond, catalog: &Catalog, is_met: bool) -> Option<String> {
    let speaker = Speaker { catalog, is_exact: false };
    let (row, test) = (speaker.row(row)?, speaker.cond(&row.table, cond, true)?);
    say(if is_met { "change.met" } else { "change.unmet" }, &[("row", &row), ("test", &test)])
}

impl Speaker<'_> {
    fn change(&self, change: &Change) -> Option<String> {
        match change {
            Change::Call(call) => self.calls(std::slice::from_ref(call)),
            Change::Set { row, column, to } => self.set(row, column, to),
            Change::Add { table, values } => {
                let entries: Option<Vec<String>> = values
                    .iter()
                    .map(|(column, value)| {
                        let places = [("column", self.name(column)), ("value", self.held(value)?)];
                        say("change.entry", &places.each_ref().map(|(name, value)| (*name, value.as_str())))
                    })
                    .collect();
                say("change.add", &[("table", &self.noun(table)?), ("entries", &entries?.join(", "))])
            }
            Change::Remove(row) => say("change.remove", &[("row", &self.row(row)?)]),
            Change::When { row, cond, is_denied, then } => {
                let key = if *is_denied { "change.unless" } else { "change.if" };
                let (change, test) = (self.change(then)?, self.cond(&row.table, cond, true)?);
                say(key, &[("change", &change), ("row", &self.row(row)?), ("test", &test)])
            }
            Change::Then(all) => {
                let parts: Option<Vec<String>> = self.parts(all).into_iter().collect();
                Some(parts?.join(&format!(" {} ", say("change.then", &[])?)))
            }
            Change::Undo => say("change.undo", &[]),
        }
    }

    /// Changes one by one; calls of one verb that share what is no item are one part.
    fn parts(&self, all: &[Change]) -> Vec<Option<String>> {
        let mut parts = Vec::new();
        let mut calls: Vec<Call> = Vec::new();
        for change in all {
            let is_same =
                |call: &Call| calls.last().is_some_and(|last| !self.is_exact && self.is_like(last, call));
            match change {
                Change::Call(call) if calls.is_empty() || is_same(call) => calls.push(call.clone()),
                other => {
                    parts.extend((!calls.is_empty()).then(|| self.calls(&calls)));
                    calls.clear();
                    match other {
                        Change::Call(call) => calls.push(call.clone()),
                        other => parts.push(self.change(other)),
                    }
                }
            }
        }
        parts.extend((!calls.is_empty()).then(|| self.calls(&calls)));
        parts
    }

    fn verb(&self, name: &Name) -> Option<&Verb> {
        self.catalog.verbs.iter().find(|verb| verb.name == *name)
    }

    fn is_like(&self, one: &Call, other: &Call) -> bool {
        let Some(verb) = self.verb(&one.verb) else { return false };
        let shared = |call: &Call| -> Vec<(String, Argument)> {
            call.arguments.iter().filter(|(name, _)| !verb.each.contains(name)).cloned().collect()
        };
        one.verb == other.verb && !verb.each.is_empty() && shared(one) == shared(other)
    }

    fn calls(&self, calls: &[Call]) -> Option<String> {
        let first = calls.first()?;
        if self.is_exact {
            let bound: Option<Vec<String>> = first
                .arguments
                .iter()
                .map(|(name, value)| Some(format!("`{name}` = {}", self.argument(value)?)))
                .collect();
            let key = if first.arguments.is_empty() { "change.call.alone" } else { "change.call" };
            return say(key, &[("verb", &first.verb), ("bound", &bound?.join(", "))]);
        }
        let verb = self.verb(&first.verb)?;
        let items: Option<Vec<String>> = calls.iter().map(|call| self.item(verb, call)).collect();
        let items: Vec<String> = items?.into_iter().filter(|item| !item.is_empty()).collect();
        let items = if items.is_empty() { String::new() } else { super::series(&items, "and")? };
        let mut said = vec![verb.words.first()?.to_lowercase(), items];
        for param in verb.params.iter().filter(|param| !is_item(verb, &param.name)) {
            let (_, value) = first.arguments.iter().find(|(name, _)| *name == param.name)?;
            let is_default = matches!(value, Argument::Value(value) if param.default.as_ref() == Some(value));
            if is_default || *value == Argument::Missing {
                continue;
            }
            let own = param.name.replace('_', " ");
            // A name is taken as it is behind what it is the name of.
            let is_name = matches!(param.takes, Takes::Name { .. }) && !matches!(value, Argument::New(_));
            let before = match param.after.first() {
                Some(after) if is_name => format!("{after} {own}"),
                Some(after) => after.clone(),
                None => own,
            };
            let value = match value {
                Argument::New(name) => name.clone(),
                value => self.argument(value)?,
            };
            said.extend([before, value]);
        }
        said.retain(|part| !part.is_empty());
        Some(said.join(" "))
    }

    fn item(&self, verb: &Verb, call: &Call) -> Option<String> {
        let (mut count, mut row) = (String::new(), String::new());
        for (name, value) in call.arguments.iter().filter(|(name, _)| is_item(verb, name)) {
            match value {
                Argument::Row(named) => row = self.row(named)?,
                Argument::Value(value) => count = scalar(value)?,
                Argument::Missing if verb.param(name)?.takes == Takes::Count => {
                    count = say("change.some", &[])?;
                }
                _ => {}
            }
        }
        Some(format!("{count} {row}").trim().to_owned())
    }

    fn argument(&self, argument: &Argument) -> Option<String> {
        match argument {
            Argument::Row(row) => self.row(row),
            Argument::Value(Scalar::Text(text)) if !self.is_exact && is_plain(text) => Some(text.clone()),
            Argument::Value(value) => scalar(value),
            Argument::New(name) => say("change.new", &[("name", &quoted(name)?)]),
            Argument::Missing => say("change.missing", &[]),
        }
    }

    /// What a column is to hold: texts stand in quotes.
    fn held(&self, argument: &Argument) -> Option<String> {
        match argument {
            Argument::Value(value) => scalar(value),
            other => self.argument(other),
        }
    }

    fn row(&self, row: &Row) -> Option<String> {
        match &row.value {
            Scalar::Text(text) if !self.is_exact => Some(text.clone()),
            Scalar::Number(number) if !self.is_exact => Some(format!("{} {number}", self.noun(&row.table)?)),
            value => {
                let value = scalar(value)?;
                let places = [("table", &*row.table), ("column", &*row.column), ("value", value.as_str())];
                say("change.row", &places)
            }
        }
    }

    fn set(&self, row: &Row, column: &str, to: &To) -> Option<String> {
        let (column, row) = (self.name(column), self.row(row)?);
        let (key, value) = match to {
            To::Value(value) => ("change.set", self.held(value)?),
            To::Moved(number, true) => ("change.raise.to", number.to_string()),
            To::Moved(number, false) => ("change.lower.to", number.to_string()),
            To::By(number) => by("change.raise", "change.lower", *number, "")?,
            To::Percent(number) => by("change.raise", "change.lower", *number, "%")?,
        };
        say(key, &[("column", &column), ("row", &row), ("value", &value)])
    }
}

/// The params that stand right behind the verb: how many of which row.
fn is_item(verb: &Verb, name: &str) -> bool {
    let Some(param) = verb.param(name) else { return false };
    let kinds = |takes: &Takes| match takes {
        Takes::Row(_) => 1,
        Takes::Count => 2,
        _ => 0,
    };
    let kind = kinds(&param.takes);
    let first = verb.params.iter().find(|other| kinds(&other.takes) == kind && other.after.is_empty());
    kind > 0 && first.is_some_and(|first| first.name == name)
}

fn by(up: &'static str, down: &'static str, number: Number, unit: &str) -> Option<(&'static str, String)> {
    let size = Number::new(number.value().abs())?;
    Some((if number.value() < 0.0 { down } else { up }, format!("{size}{unit}")))
}

/// Whether a text may stand without quotes.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '-')
}
