//! What a request is in the light of the turn before it: a choice by its number, or a value that was asked for.

use std::collections::BTreeSet;

use crate::build::orders::filled;
use crate::change::{Argument, Change, Row};
use crate::chart::Chart;
use crate::deed::{Deed, Slot};
use crate::mention::Mentions;
use crate::reader::{BYTES_MAX, Reader};
use crate::token::tokens;
use crate::value::Value;

/// What was asked back about a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    /// Which of these is meant.
    Choice(Vec<Change>),
    /// Something that is missing in it, or whether names are new.
    Open(Change),
    /// Which of the rows that are called like this one: their keys in the order in which they were offered.
    Rows(Change, Row, Vec<String>),
}

impl Pending {
    /// What an answer makes of what was asked back; nothing where it is no answer to it.
    pub fn answered(&self, reader: &Reader, text: &str) -> Option<Change> {
        let picked = |pick: u32| usize::try_from(pick).ok()?.checked_sub(1);
        let found: BTreeSet<Change> = reader
            .answers(text)
            .into_iter()
            .flat_map(|answer| match (self, answer) {
                (Self::Choice(all), Deed::Pick(pick)) => {
                    picked(pick).and_then(|at| all.get(at).cloned()).into_iter().collect()
                }
                (Self::Rows(change, row, keys), Deed::Pick(pick)) => {
                    let key = picked(pick).and_then(|at| keys.get(at));
                    key.and_then(|key| reader.keyed(change, row, key)).into_iter().collect()
                }
                (Self::Open(change), Deed::Pick(1)) => taken(change).into_iter().collect(),
                (Self::Open(change), Deed::Slot(slot)) => reader.with_value(change, &slot),
                _ => Vec::new(),
            })
            .collect();
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }
}

/// A change whose new names are taken, if nothing else is open in it.
fn taken(change: &Change) -> Option<Change> {
    let mut taken = change.clone();
    taken.each_argument(&mut |_, _, argument| {
        if let Argument::New(name) = argument {
            *argument = Argument::Value(crate::algebra::Scalar::Text(std::mem::take(name)));
        }
    });
    (taken != *change).then_some(taken)
}

impl Reader {
    /// What an answer may be: a number of a list, or a value.
    fn answers(&self, text: &str) -> Vec<Deed> {
        if text.len() > BYTES_MAX {
            return Vec::new();
        }
        let tokens = tokens(text);
        let mentions = Mentions::new(self.index(), &tokens, text);
        let context = self.context();
        let values = Chart::new(&context, &tokens, &mentions).all("answer").unwrap_or_default();
        let deeds = values.into_iter().filter_map(|value| match value {
            Value::Deed(deed) => Some(deed),
            _ => None,
        });
        deeds.collect()
    }

    /// A change with a value in every one of its open places that takes it: the same one for all calls of a verb, or none.
    fn with_value(&self, change: &Change, slot: &Slot) -> Vec<Change> {
        let context = self.context();
        let missing = change.open().into_iter().filter(|(.., argument)| *argument == Argument::Missing);
        let places: BTreeSet<(crate::algebra::Name, String)> =
            missing.map(|(verb, param, _)| (verb, param)).collect();
        let mut found = Vec::new();
        for (verb, param) in places {
            for value in filled(&context, &verb, &param, slot) {
                let mut done = change.clone();
                let mut count = 0;
                done.each_argument(&mut |own, name, argument| {
                    if *own == verb && name == param && *argument == Argument::Missing {
                        *argument = value.clone();
                        count += 1;
                    }
                });
                // Of several calls it is not said which one is meant.
                found.extend((count == 1).then_some(done));
            }
        }
        found
    }

    /// A change with the row of a key in the place of one that several are called like.
    fn keyed(&self, change: &Change, row: &Row, key: &str) -> Option<Change> {
        let table = self.catalog().table(&row.table)?;
        let column = table.key.clone()?;
        let is_number = table.column(&column)?.holds.is_number();
        let value = if is_number {
            crate::algebra::Scalar::Number(crate::algebra::Number::new(key.parse().ok()?)?)
        } else {
            crate::algebra::Scalar::Text(key.to_owned())
        };
        let mut done = change.clone();
        done.each_row(&mut |named| {
            if named == row {
                *named = Row { table: row.table.clone(), column: column.clone(), value: value.clone() };
            }
        });
        Some(done)
    }
}
