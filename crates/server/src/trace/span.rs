//! One piece of work, as it is sent to a collector.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::context::TraceContext;

/// What the work is to its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A part of something.
    Internal = 1,
    /// A call that somebody made here.
    Server = 2,
    /// A call that is made elsewhere.
    Client = 3,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Several texts.
    Texts(Vec<String>),
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) context: TraceContext,
    pub(crate) parent: Option<[u8; 8]>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) began: SystemTime,
    pub(crate) ended: SystemTime,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    /// What went wrong, as a short stable word.
    pub(crate) error: Option<String>,
}

impl Span {
    /// A span at a place of its own.
    pub(crate) fn new(context: TraceContext, name: impl Into<String>, kind: Kind, began: SystemTime) -> Self {
        let (name, ended) = (name.into(), SystemTime::now());
        Self { context, parent: None, name, kind, began, ended, attributes: Vec::new(), error: None }
    }

    /// A span below another one, between two moments.
    pub(crate) fn below(
        parent: &TraceContext,
        name: impl Into<String>,
        began: SystemTime,
        ended: SystemTime,
    ) -> Self {
        // Clocks that were set back in between must not give a span that ends before it begins.
        let ended = ended.max(began);
        Self { parent: Some(parent.span_id), ended, ..Self::new(parent.child(), name, Kind::Internal, began) }
    }

    /// The same with a text.
    #[must_use]
    pub(crate) fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, Attribute::Text(value.into())));
        self
    }

    /// The same with a text, if there is one.
    #[must_use]
    pub(crate) fn maybe(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// The same with a number.
    #[must_use]
    pub(crate) fn number(mut self, name: &'static str, value: u64) -> Self {
        self.attributes.push((name, Attribute::Number(i64::try_from(value).unwrap_or(i64::MAX))));
        self
    }

    /// The same, with what went wrong.
    #[must_use]
    pub(crate) fn failed(mut self, error: Option<&str>) -> Self {
        self.error = error.map(str::to_owned);
        self.maybe("error.type", error)
    }
}

/// A moment as collectors count it. Times before 1970 are none.
pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since: Duration = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
