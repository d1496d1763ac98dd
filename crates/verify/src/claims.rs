//! Numbers and names of an answer, compared with what the run read and changed.
//!
//! What happened to the data is the receipt's business. Here only provenance counts: a number that the answer gives must
//! come from rows, from the change, from the request or the policy, and a thing that it names must be one that the
//! change is about. Nothing is guessed about words, so the comparison is the same in every language, and its cost is
//! bounded whatever an answer holds.

mod evidence;
mod figures;
mod plain;

use std::collections::HashSet;

use ordain_types::{Diff, ErrorClass, Trouble};

pub use evidence::Evidence;
pub use plain::plain_answer;

use figures::{Figure, figures, phrases};

/// As much of an answer as is compared; an answer is a sentence or two.
const ANSWER_BYTES_MAX: usize = 4 * 1024;
/// As much of a request or a policy as is looked through.
const SOURCE_BYTES_MAX: usize = 64 * 1024;

/// Figures that are named at once.
const FIGURES_TOLD: usize = 8;

/// A run as far as its answer is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The answer.
    pub answer: &'a str,
    /// What was asked.
    pub request: &'a str,
    /// The workspace's policy.
    pub policy: &'a str,
    /// The code that gave the answer.
    pub code: &'a str,
    /// What it changed.
    pub diff: &'a Diff,
}

/// The numbers, or else the first name, of an answer that nothing in the run gives.
pub fn unsupported(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let told = Told { answer: cut(told.answer, ANSWER_BYTES_MAX), ..told };
    if told.diff.is_empty() {
        return hard_coded_number(told, evidence);
    }
    let changed = Evidence::of_diff(told.diff);
    unsupported_number(told, evidence, &changed).or_else(|| foreign_name(told, evidence, &changed))
}

/// The numbers of a text that neither the rows nor the request give, where a model wrote the text itself.
pub fn unsupported_in_text(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    unsupported_number(told, evidence, &Evidence::of_diff(told.diff))
}

/// Numbers that a plan has written into its own sentence, and that nothing gives.
fn hard_coded_number(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let suspects: Vec<Figure> =
        figures(told.answer).filter(|figure| !evidence.gives(figure) && !is_given(told, figure)).collect();
    if suspects.is_empty() {
        return None;
    }
    let literals: Vec<Figure> =
        crate::string_literals(told.code).iter().flat_map(|text| figures(text)).collect();
    let wrong = listed(suspects.into_iter().filter(|figure| literals.contains(figure)))?;
    Some(Trouble::new(
        ErrorClass::Claim,
        "number-from-nowhere",
        format!("the answer says {wrong}, which stands in the code and in no row and not in the request"),
        "take every number of answer_text from rows or from user_request",
    ))
}

/// Numbers that neither the change nor the rows nor the request give.
fn unsupported_number(told: Told<'_>, evidence: &Evidence, changed: &Evidence) -> Option<Trouble> {
    let wrong = listed(
        figures(told.answer)
            .filter(|figure| !changed.gives(figure) && !evidence.gives(figure) && !is_given(told, figure)),
    )?;
    Some(Trouble::new(
        ErrorClass::Claim,
        "number-not-in-diff",
        format!(
            "the answer says {wrong}, and neither the changed rows nor the rows read nor the request give it"
        ),
        "say only numbers that the change shows: quantities, amounts, balances, stock before and after",
    ))
}

/// A name that the answer mentions, of a row that was read, though other rows of its table were changed. Rows of tables
/// that did not change, such as the customer of an order, may be named.
fn foreign_name(told: Told<'_>, evidence: &Evidence, changed: &Evidence) -> Option<Trouble> {
    let asked: HashSet<String> = phrases(cut(told.request, SOURCE_BYTES_MAX)).collect();
    let name = phrases(told.answer).find(|phrase| {
        let is_named = evidence.names(told.diff.tables.keys(), phrase);
        is_named && !changed.mentions(phrase) && !asked.contains(phrase)
    })?;
    Some(Trouble::new(
        ErrorClass::Claim,
        "name-not-in-diff",
        format!("the answer speaks of `{name}`, which the change is not about"),
        "name what was changed",
    ))
}

/// Figures in the order of the answer, each once; `None` if there is none.
fn listed(figures: impl Iterator<Item = Figure>) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    for figure in figures.map(|figure| figure.to_string()) {
        if !shown.contains(&figure) && shown.len() < FIGURES_TOLD {
            shown.push(figure);
        }
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Whether the request or the policy gives a number.
fn is_given(told: Told<'_>, figure: &Figure) -> bool {
    [told.request, told.policy].into_iter().any(|text| {
        // An answer calls `metric_5` metric 5.
        let text = cut(text, SOURCE_BYTES_MAX).replace('_', " ");
        figures(&text).any(|given| given.is_like(figure))
    })
}

fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests;
