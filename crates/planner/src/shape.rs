//! The shape of a request: what stays when its values are taken out.
//!
//! Two requests of one shape ask the same of other values, so that a plan which reads its values from `user_request`
//! serves both. A follow-up's shape holds the turn before it: what it means depends on that.

use serde::{Deserialize, Serialize};

use crate::brief::Brief;
use crate::rules::ask::{self, Mark, Shop, Tokens};

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
        let mut shape = Self { text: String::new(), slots: Vec::new() };
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
            shape.slots.retain(|slot| slot.kind != "word");
        }
        shape
    }

    /// Whether code reads the values of this shape when it runs. Code that holds one of them as a literal was written
    /// for that value alone and must not serve another.
    pub fn is_served_by(code: &str, slots: &[Slot]) -> bool {
        let lower = code.to_lowercase();
        let reads = lower.contains("user_request");
        reads && !slots.iter().any(|slot| holds_literal(&lower, &slot.text.to_lowercase()))
    }

    fn push(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }
}

/// Whether a value stands in code as a string of its own, in a string with other words, or as a number.
fn holds_literal(code: &str, value: &str) -> bool {
    let number = value.replace(',', "");
    if number.parse::<f64>().is_ok() {
        // Small numbers are everywhere in code; 0 to 2 say nothing about where they come from.
        return !matches!(number.as_str(), "0" | "1" | "2")
            && code_numbers(code).any(|found| found == number);
    }
    let singular = crate::rules::words::singular(value);
    code.lines()
        .map(|line| line.split_once('#').map_or(line, |(before, _)| before))
        .flat_map(quoted_parts)
        .any(|text| text == value || text == singular)
}

/// The numbers that stand in code, outside of comments.
fn code_numbers(code: &str) -> impl Iterator<Item = &str> {
    code.lines()
        .map(|line| line.split_once('#').map_or(line, |(before, _)| before))
        .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')))
        .filter(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// The strings of a line of code; quotes of both kinds end one another's strings here, which only finds more.
fn quoted_parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'']).skip(1).step_by(1).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_with_a_value_in_it_serves_that_value_only() {
        let slots = [Slot { kind: "inventory.name".to_owned(), text: "Aviators".to_owned() }];
        assert!(!Shape::is_served_by("row = tbl.get(where('name') == 'Aviator')\nuser_request", &slots));
        assert!(Shape::is_served_by("words = user_request.split()", &slots));
        assert!(!Shape::is_served_by("answer_text = 'fixed'", &slots));
        let number = [Slot { kind: "number".to_owned(), text: "45".to_owned() }];
        assert!(!Shape::is_served_by("limit = 45  # user_request", &number));
    }

    /// Whether code takes its values from the request, so that it serves other requests of the shape too: it holds
    /// none of this request's values itself.
    pub fn is_served_by(&self, code: &str) -> bool {
        let said = words::words(code);
        self.slots.iter().all(|slot| !said.iter().any(|word| word.lower == slot.text.to_lowercase()))
    }
}
