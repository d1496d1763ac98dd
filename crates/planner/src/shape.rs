//! The shape of a request: what stays when its values are taken out.

use serde::{Deserialize, Serialize};

use crate::brief::Brief;
use crate::rules::words;

/// A request with its values taken out. Two requests of one shape can share a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The text with a mark in the place of each value.
    pub text: String,
    /// The values, in order.
    pub slots: Vec<Slot>,
}

/// A value that was taken out of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// What the value is: `number`, or a table's column as `table.column`.
    pub kind: String,
    /// The value, as the request has it.
    pub text: String,
}

impl Shape {
    /// Takes numbers and the tables' own values out of the brief's request.
    pub fn of(brief: &Brief) -> Self {
        let mut text = String::new();
        let mut slots = Vec::new();
        for word in words::words(&brief.request) {
            if !text.is_empty() {
                text.push(' ');
            }
            if words::number(&word.lower).is_some() {
                text.push_str("{number}");
                slots.push(Slot { kind: "number".to_owned(), text: word.text.to_owned() });
            } else {
                text.push_str(&word.lower);
            }
        }
        Self { text, slots }
    }

    /// Whether code takes its values from the request, so that it serves other requests of the shape too: it holds
    /// none of this request's values itself.
    pub fn is_served_by(&self, code: &str) -> bool {
        let said = words::words(code);
        self.slots.iter().all(|slot| !said.iter().any(|word| word.lower == slot.text.to_lowercase()))
    }
}
