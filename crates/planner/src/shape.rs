//! The shape of a request: what stays when its values are taken out.
//!
//! Two requests of one shape ask the same of other values, so that a plan which reads its values from `user_request`
//! serves both. A follow-up's shape holds the turn before it: what it means depends on that.

use serde::{Deserialize, Serialize};

use crate::brief::Brief;
use crate::rules::ask::{self, Mark, Shop, Tokens};
use crate::rules::words;

/// A request with its values taken out. Two requests of one shape can share a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The text with a mark in the place of each value.
    pub text: String,
    /// The values, in order.
    pub slots: Vec<Slot>,
    /// Whether the request means something only after the turns before it.
    #[serde(default)]
    pub refers_back: bool,
}

/// A value that was taken out of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// What the value is: `number`, `customer`, `word`, or a table's column as `table.column`.
    pub kind: String,
    /// The value, as the request has it.
    pub text: String,
}

impl Shape {
    /// Takes numbers, names of people and the tables' own values out of the brief's request.
    pub fn of(brief: &Brief) -> Self {
        let shop = Shop::of(brief);
        let tokens = Tokens::of(&brief.request, brief, &shop);
        let mut shape = Self { text: String::new(), slots: Vec::new(), refers_back: false };
        for token in &tokens.list {
            let kind = match &token.mark {
                Mark::Number => "number",
                Mark::Customer => "customer",
                Mark::Describing => "word",
                Mark::Name(kind) | Mark::Value(kind) => kind,
                Mark::Grammar | Mark::Unknown => {
                    shape.push(&token.word);
                    continue;
                }
            };
            match shape.slots.last_mut() {
                Some(slot) if token.continues => {
                    slot.text.push(' ');
                    slot.text.push_str(token.raw);
                }
                _ => {
                    shape.push(&format!("{{{kind}}}"));
                    shape.slots.push(Slot { kind: kind.to_owned(), text: token.raw.to_owned() });
                }
            }
        }
        // Marks of money and signs change what a number means; they are no words.
        for sign in ['$', '€', '£', '%', '?', ','].into_iter().filter(|sign| brief.request.contains(*sign))
        {
            shape.push(&sign.to_string());
        }
        if let (Some(_), Some(last)) = (ask::meant(brief, &shop), brief.turns.last()) {
            shape.push(&format!("| after: {} | {}", last.request, last.answer));
            shape.refers_back = true;
        }
        shape
    }

    /// Whether code takes its values from the request, so that it serves other requests of the shape too: it reads
    /// `user_request` and holds none of this request's values itself.
    pub fn is_served_by(&self, code: &str) -> bool {
        if !code.contains("user_request") {
            return false;
        }
        // Of a line of the rule planner's templates only what was filled in can be a value of the request.
        let own: Vec<String> = code
            .lines()
            .map(|line| match ask::filled_in(line) {
                // Money is rounded to two places by the templates, whatever was asked.
                Some(filled) => said_in(&filled.replace(", 2)", ")")),
                None => said_in(line),
            })
            .collect();
        !self.slots.iter().any(|slot| {
            let value = said_in(&slot.text);
            own.iter().any(|line| line.contains(&value))
        })
    }

    fn push(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }
}

/// The words of a line of code outside of its comment, in the singular, each with a space before and after it.
fn said_in(line: &str) -> String {
    let code = line.split_once('#').map_or(line, |(before, _)| before);
    let words = code.split(|character: char| !(character.is_alphanumeric() || character == '.'));
    let mut said = String::from(" ");
    for word in words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty()) {
        said.push_str(&words::singular(word));
        said.push(' ');
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        let slot = Slot { kind: "inventory.name".to_owned(), text: text.to_owned() };
        Shape { text: String::new(), slots: vec![slot], refers_back: false }
    }

    #[test]
    fn code_with_a_value_in_it_serves_that_value_only() {
        let reads = "words = user_request.split()\n";
        assert!(shape("Aviators").is_served_by(reads));
        assert!(
            !shape("Aviators").is_served_by(&format!("{reads}row = tbl.get(where('name') == 'Aviator')"))
        );
        assert!(!shape("45").is_served_by(&format!("{reads}limit = 45")));
        assert!(!shape("Nina Kowalski").is_served_by(&format!("{reads}name = 'Nina Kowalski'")));
        assert!(shape("45").is_served_by(&format!("{reads}limit = 450  # not 45")));
    }

    #[test]
    fn code_that_does_not_read_the_request_serves_nobody_else() {
        assert!(!shape("Aviators").is_served_by("answer_text = 'fixed'"));
    }
}
