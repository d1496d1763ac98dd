//! The variables of the program on the current path, and how paths part and meet.
//!
//! Every change is written to a journal, so that a branch can be walked and taken back. Where branches meet,
//! only what one of them changed is joined.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;

/// A variable: the frame that holds it, and the number of its name. Frame 0 is the module.
pub(crate) type Slot = (u32, u32);

/// Whether the program goes on after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Next,
    /// It returned, raised, broke out or ended.
    Stop,
}

/// The variables of the current path.
#[derive(Debug)]
pub(crate) struct State<'a> {
    variables: FxHashMap<Slot, Value<'a>>,
    /// Names as numbers, because paths that meet compare many of them.
    names: RefCell<FxHashMap<&'a str, u32>>,
    journal: Vec<(Slot, Option<Value<'a>>)>,
    /// The path has ended in the middle of an expression: a call that never returns.
    pub(crate) is_dead: bool,
}

/// Where a path ended, relative to where it parted from the others.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot<'a> {
    changes: Vec<(Slot, Value<'a>)>,
}

impl<'a> Snapshot<'a> {
    /// What the path has set in one frame.
    pub(crate) fn of_frame(self, frame: u32) -> impl Iterator<Item = Value<'a>> {
        self.changes.into_iter().filter(move |(slot, _)| slot.0 == frame).map(|(_, value)| value)
    }
}

/// A place in the journal to go back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(usize);

impl<'a> State<'a> {
    pub(crate) fn new() -> Self {
        Self {
            variables: FxHashMap::default(),
            names: RefCell::default(),
            journal: Vec::new(),
            is_dead: false,
        }
    }

    /// The variable of a name in a frame.
    pub(crate) fn slot(&self, frame: u32, name: &'a str) -> Slot {
        let mut names = self.names.borrow_mut();
        // A source is far too short for so many names.
        let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
        (frame, *names.entry(name).or_insert(next))
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&Value<'a>> {
        self.variables.get(&slot)
    }

    pub(crate) fn set(&mut self, slot: Slot, value: Value<'a>) {
        let before = self.variables.insert(slot, value);
        self.journal.push((slot, before));
    }

    /// Puts back what a variable was before a comprehension used its name.
    pub(crate) fn restore(&mut self, slot: Slot, value: Option<Value<'a>>) {
        let before = match value {
            Some(value) => self.variables.insert(slot, value),
            None => self.variables.remove(&slot),
        };
        self.journal.push((slot, before));
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// What the path has changed since the mark.
    pub(crate) fn snapshot(&self, mark: Mark) -> Snapshot<'a> {
        let journal = &self.journal[mark.0..];
        let mut changes: Vec<(Slot, Value<'a>)> = Vec::with_capacity(journal.len().min(FEW));
        let mut seen = MetVariables::new(journal.len());
        for (slot, _) in journal {
            if seen.is_new(*slot, &changes)
                && let Some(value) = self.variables.get(slot)
            {
                changes.push((*slot, value.clone()));
            }
        }
        Snapshot { changes }
    }

    /// Takes every change since the mark back.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        while self.journal.len() > mark.0 {
            if let Some((slot, before)) = self.journal.pop() {
                match before {
                    Some(value) => self.variables.insert(slot, value),
                    None => self.variables.remove(&slot),
                };
            }
        }
    }

    /// Goes on from where several paths meet. Without any path there is nowhere to go on from.
    pub(crate) fn meet(&mut self, paths: &[Snapshot<'a>]) -> Reach {
        if paths.is_empty() {
            return Reach::Stop;
        }
        let mut joined: Vec<(Slot, Value<'a>, usize)> = Vec::new();
        let mut index: FxHashMap<Slot, usize> = FxHashMap::default();
        let is_many = paths.iter().map(|path| path.changes.len()).sum::<usize>() > FEW;
        for path in paths {
            for (slot, value) in &path.changes {
                let known = if is_many {
                    index.get(slot).copied()
                } else {
                    joined.iter().position(|(known, ..)| known == slot)
                };
                if let Some(at) = known {
                    let value_so_far = std::mem::replace(&mut joined[at].1, Value::Never);
                    joined[at].1 = value_so_far.join(value.clone());
                    joined[at].2 += 1;
                } else {
                    if is_many {
                        index.insert(*slot, joined.len());
                    }
                    joined.push((*slot, value.clone(), 1));
                }
            }
        }
        for (slot, value, times) in joined {
            // A path that did not change it still has the old value.
            let value = match self.get(slot) {
                Some(old) if times < paths.len() => old.clone().join(value),
                _ => value,
            };
            self.set(slot, value);
        }
        Reach::Next
    }

    /// Joins a path that may have been taken into the current one.
    pub(crate) fn may_have(&mut self, path: &Snapshot<'a>) {
        for (slot, value) in &path.changes {
            let value = match self.get(*slot) {
                Some(old) => old.clone().join(value.clone()),
                None => value.clone(),
            };
            self.set(*slot, value);
        }
    }
}

/// Up to so many variables a list is searched faster than a table is made.
const FEW: usize = 24;

/// Which variables were met already.
enum MetVariables {
    Few,
    Many(FxHashSet<Slot>),
}

impl MetVariables {
    fn new(expected: usize) -> Self {
        if expected <= FEW { Self::Few } else { Self::Many(FxHashSet::default()) }
    }

    fn is_new(&mut self, slot: Slot, changes: &[(Slot, Value<'_>)]) -> bool {
        match self {
            Self::Few => changes.iter().all(|(known, _)| *known != slot),
            Self::Many(seen) => seen.insert(slot),
        }
    }
}
