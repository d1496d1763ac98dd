//! What a production captured, on its way to the builder.
//!
//! Invariant: a builder takes each capture out. A production of which something is left over means nothing (`chart`), so
//! no word of a sentence can be dropped.

use crate::algebra::{Calc, Day, Demand, Function, Name, Number, Op, Unit};
use crate::deed::Deed;
use crate::query::{Meaning, Top};
use crate::value::{
    Found, Group, Loose, LooseExpr, LooseFigure, Places, Rows, Subjects, Tail, Term, Test, Texts, Value,
    Values, Via,
};

/// The captures that nothing took yet.
#[derive(Debug)]
pub(crate) struct Captures {
    left: Vec<(&'static str, Value)>,
}

impl Captures {
    pub(crate) fn new(all: impl Iterator<Item = (&'static str, Value)>) -> Self {
        // What stands for a word that is explained elsewhere in the sentence is called `_`.
        Self { left: all.filter(|(name, _)| *name != "_").collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Whether it is there, without taking it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.left.iter().any(|(known, _)| *known == name)
    }

    /// The meaning under a name; nothing where it is none of the wanted kind.
    pub(crate) fn take<T: Take>(&mut self, name: &str) -> Option<T> {
        let at = self.left.iter().position(|(known, _)| *known == name)?;
        T::from_value(self.left.remove(at).1)
    }

    /// The same where it may be missing.
    #[expect(clippy::option_option, reason = "a capture that is missing is no capture of another kind")]
    pub(crate) fn maybe<T: Take>(&mut self, name: &str) -> Option<Option<T>> {
        if self.has(name) { self.take(name).map(Some) } else { Some(None) }
    }

    /// All of them under a name.
    pub(crate) fn list<T: Take>(&mut self, name: &str) -> Option<Vec<T>> {
        let mut found = Vec::new();
        while self.has(name) {
            found.push(self.take(name)?);
        }
        Some(found)
    }

    /// Whether a mark is set.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.take::<String>(name).is_some()
    }

    /// The only one, whatever it is called.
    pub(crate) fn only(&mut self) -> Option<Value> {
        (self.left.len() == 1).then(|| self.left.pop())?.map(|(_, value)| value)
    }
}

/// What can be taken out of a [`Value`].
pub(crate) trait Take: Sized {
    fn from_value(value: Value) -> Option<Self>;
}

impl Take for Value {
    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

/// Kinds that are one variant.
macro_rules! variants {
    ($($variant:ident: $kind:ty,)*) => {
        $(impl Take for $kind {
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(inner) => Some(inner),
                    _ => None,
                }
            }
        })*
    };
}

variants! {
    Places: Places, Values: Values, Day: Day, Calc: Calc, Function: Function, Via: Via, Term: Term,
    Cond: Loose, Test: Test, Rows: Rows, Subjects: Subjects, Tail: Tail, Texts: Texts, Group: Group,
    Bounds: Vec<(Op, Number)>, Figure: LooseFigure, Demand: Box<Demand>, Noun: Name, Days: Vec<u8>,
    Slashed: Vec<String>, Found: Found, Groups: Vec<Group>, Top: Top, Meaning: Box<Meaning>, Deed: Deed,
}

impl Take for Unit {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Span(unit) => Some(unit),
            _ => None,
        }
    }
}

impl Take for LooseExpr {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Expr(expr) | Value::Term(Term::Expr(expr)) => Some(expr),
            Value::Places(places) => Some(Self::Column(places, Vec::new())),
            Value::Term(Term::Number(number, _)) | Value::Number(number, _) => Some(Self::Number(number)),
            _ => None,
        }
    }
}

impl Take for Number {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Number(number, _) => Some(number),
            Value::Word(word) => word.parse().ok().and_then(Self::new),
            _ => None,
        }
    }
}

impl Take for u32 {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Number(number, _) => number.as_count(),
            Value::Count(count) => Some(count),
            Value::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

impl Take for Op {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Op(op) => Some(op),
            Value::Word(word) => match word.as_str() {
                "=" => Some(Self::Equal),
                "<" => Some(Self::Below),
                "<=" => Some(Self::AtMost),
                ">" => Some(Self::Above),
                ">=" => Some(Self::AtLeast),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Take for String {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Word(text)
            | Value::Quote(text)
            | Value::Code(text)
            | Value::Sign(text)
            | Value::Pattern(text)
            | Value::Time(text)
            | Value::Unit(text) => Some(text),
            _ => None,
        }
    }
}
