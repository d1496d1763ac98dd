//! What an answer claims, compared with what the run shows.
//!
//! A person believes the sentence, not the diff. So a sentence that says something was done is compared with the
//! rows that changed, and its numbers with the rows, the diff and the request. A false sentence is repaired by the
//! planner or replaced by a plain one that is true.

mod evidence;
mod plain;

use ordain_planner::rules::words::{self, Word};
use ordain_planner::{Trouble, TroubleClass};
use ordain_types::Diff;

pub(crate) use evidence::Evidence;
pub(crate) use plain::plain_answer;

/// Sentences about something that was just done begin so.
const DOERS: [&str; 12] =
    ["i", "i've", "we", "we've", "i’ve", "we’ve", "your", "you", "you've", "done", "been", "successfully"];
/// Words for something that was done to rows.
const DONE: [&str; 30] = [
    "added",
    "adjusted",
    "bought",
    "cancelled",
    "canceled",
    "changed",
    "completed",
    "created",
    "decreased",
    "deleted",
    "increased",
    "inserted",
    "lowered",
    "moved",
    "ordered",
    "placed",
    "processed",
    "purchased",
    "raised",
    "recorded",
    "refunded",
    "removed",
    "renamed",
    "reserved",
    "restocked",
    "returned",
    "set",
    "sold",
    "updated",
    "done",
];
/// Words that turn a sentence into something else than a report of what was done.
const NOT_DONE: [&str; 26] = [
    "not",
    "no",
    "can't",
    "cannot",
    "can’t",
    "couldn't",
    "couldn’t",
    "could",
    "can",
    "would",
    "will",
    "won't",
    "won’t",
    "wouldn't",
    "if",
    "unable",
    "nothing",
    "haven't",
    "haven’t",
    "hasn't",
    "didn't",
    "didn’t",
    "please",
    "how",
    "may",
    "before",
];

/// A run as far as its answer is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) answer: &'a str,
    pub(crate) status: &'a str,
    pub(crate) request: &'a str,
    pub(crate) code: &'a str,
    pub(crate) diff: &'a Diff,
}

/// The first false claim of an answer.
pub(crate) fn false_claim(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    if told.diff.is_empty() {
        return claimed_change(told).or_else(|| hard_coded_number(told, evidence));
    }
    unsupported_number(told, evidence).or_else(|| foreign_name(told, evidence))
}

/// A change that is reported and was not made.
fn claimed_change(told: Told<'_>) -> Option<Trouble> {
    if told.status != "success" {
        return None;
    }
    let sentence = sentences(told.answer).find(|sentence| reports_a_change(sentence))?;
    Some(trouble(
        "claimed-change-missing",
        format!("the answer says that something was done (`{}`), and no row changed", cut(sentence)),
        "carry the change out through the tables, or say in answer_text that nothing was changed",
    ))
}

fn reports_a_change(sentence: &str) -> bool {
    let words: Vec<String> = words::words(sentence).into_iter().map(|word| word.lower).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // "You bought 3" after "what did I buy" is a report of rows that were there before.
    let is_history = words
        .iter()
        .any(|word| ["last", "earlier", "previously", "ago", "history", "total"].contains(&word.as_str()));
    let opens = words.first().is_some_and(|first| DONE.contains(&first.as_str()));
    let speaks = words.windows(2).any(|pair| {
        let is_doer =
            matches!(pair[0].as_str(), "i've" | "we've" | "i’ve" | "we’ve" | "been" | "successfully");
        is_doer && DONE.contains(&pair[1].as_str())
    });
    // "We sold 3" may be a report of rows, "I have sold you 3" cannot be one.
    let plain: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !matches!(*word, "have" | "just" | "now")).collect();
    let does = plain.windows(3).any(|three| {
        DONE.contains(&three[1])
            && (three[0] == "i" || three[0] == "we" && matches!(three[2], "you" | "your"))
    });
    !has(&NOT_DONE)
        && !is_history
        && (opens || speaks || does || (has(&["successfully"]) && has(&DONE) && has(&DOERS)))
}

/// A number that a read-only plan did not find anywhere, but had written into its code.
fn hard_coded_number(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let request = numbers(told.request);
    let literals = literals(told.code);
    let wrong = numbers(told.answer).into_iter().find(|number| {
        literals.contains(number) && !request.contains(number) && !evidence.has_read(*number)
    })?;
    Some(trouble(
        "number-from-nowhere",
        format!("the answer says {wrong}, which stands in the code and in no row and not in the request"),
        "take every number of answer_text from rows or from user_request",
    ))
}

/// A number that neither the diff nor the rows nor the request give.
fn unsupported_number(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let request = numbers(told.request);
    let wrong = numbers(told.answer)
        .into_iter()
        .find(|number| !request.contains(number) && !evidence.supports(told.diff, *number))?;
    Some(trouble(
        "number-not-in-diff",
        format!("the answer says {wrong}, and neither the changed rows nor the request give that number"),
        "say only numbers that the change shows: quantities, amounts, balances, stock before and after",
    ))
}

/// A name of a table that the answer mentions, though the change is about others.
fn foreign_name(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let name = evidence
        .names_in(told.answer)
        .into_iter()
        .find(|name| !contains_words(told.request, name) && !evidence::diff_mentions(told.diff, name))?;
    Some(trouble(
        "name-not-in-diff",
        format!("the answer speaks of `{}`, which the change is not about", cut(&name)),
        "name what was changed",
    ))
}

/// Whether a text holds a name as whole words, plural or singular.
pub(crate) fn contains_words(text: &str, name: &str) -> bool {
    let stems = |text: &str| -> Vec<String> {
        words::words(text).iter().map(|word| words::singular(&word.lower)).collect()
    };
    let (text, name) = (stems(text), stems(name));
    !name.is_empty() && text.windows(name.len()).any(|window| window == name)
}

/// The numbers that a text says, in digits or words; `one` and `a` say too little to count.
pub(crate) fn numbers(text: &str) -> Vec<f64> {
    let said = |word: &Word<'_>| {
        let written: &str = word.lower.as_str();
        if matches!(written, "a" | "an" | "one" | "single" | "pair" | "couple" | "both") {
            return None;
        }
        let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|ending| written.strip_suffix(ending));
        ordinal.and_then(|digits| digits.parse().ok()).or_else(|| words::number(written))
    };
    words::words(text).iter().filter_map(said).collect()
}

/// The numbers inside the strings of a piece of code.
fn literals(code: &str) -> Vec<f64> {
    ordain_verify::string_literals(code).iter().flat_map(|text| numbers(text)).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['!', '?', ';', '\n']).flat_map(|part| part.split(". ")).filter(|part| !part.trim().is_empty())
}

fn trouble(code: &str, message: String, hint: &str) -> Trouble {
    Trouble {
        class: TroubleClass::Claim,
        code: code.to_owned(),
        message,
        line: None,
        hint: Some(hint.to_owned()),
    }
}

fn cut(text: &str) -> String {
    text.trim().chars().take(80).collect()
}
