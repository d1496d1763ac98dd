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
    unsupported_number(told, evidence)
        .or_else(|| foreign_name(told, evidence))
        .or_else(|| claimed_elsewhere(told, evidence))
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

/// A number that neither the diff nor the request give. A sentence about another thing that was asked for, too, may
/// tell what was read of it.
fn unsupported_number(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let request = numbers(told.request);
    let wrong = sentences(told.answer).find_map(|sentence| {
        let names = evidence.names_in(sentence);
        let is_aside = names
            .iter()
            .any(|name| contains_words(told.request, name) && !evidence::diff_mentions(told.diff, name));
        numbers(sentence).into_iter().find(|number| {
            let is_known = request.contains(number) || Evidence::supports(told.diff, *number);
            !(is_known || is_aside && evidence.has_read(*number))
        })
    })?;
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

/// A change that is reported of something that was asked for, and was made of other things only.
fn claimed_elsewhere(told: Told<'_>, evidence: &Evidence) -> Option<Trouble> {
    let (sentence, name) =
        sentences(told.answer).filter(|sentence| reports_a_change(sentence)).find_map(|sentence| {
            let names = evidence.names_in(sentence);
            let missing = names.into_iter().find(|name| !evidence::diff_mentions(told.diff, name))?;
            Some((sentence, missing))
        })?;
    Some(trouble(
        "claimed-change-missing",
        format!(
            "the answer says that something was done to `{}` (`{}`), and no such row changed",
            cut(&name),
            cut(sentence)
        ),
        "say of each thing that was asked for whether it was changed; tell what was left alone in a sentence of its own",
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

#[cfg(test)]
mod tests {
    use ordain_types::{Row, RowChange, TableDiff};
    use serde_json::{Value, json};

    use super::*;

    fn row(value: &Value) -> Row {
        serde_json::from_value(value.clone()).unwrap()
    }

    /// Three Classic were sold for 180.
    fn sale() -> Diff {
        let mut diff = Diff::default();
        let changed = RowChange {
            key: row(&json!({"item_id": "SG005"})),
            before: row(&json!({"item_id": "SG005", "name": "Classic", "stock": 10, "price": 60})),
            after: row(&json!({"item_id": "SG005", "name": "Classic", "stock": 7, "price": 60})),
        };
        diff.tables
            .insert("inventory".to_owned(), TableDiff { changed: vec![changed], ..TableDiff::default() });
        let added = row(&json!({"id": "TXN002", "amount": 180.0, "balance": 680.0, "customer": "Alice"}));
        diff.tables.insert("sales".to_owned(), TableDiff { added: vec![added], ..TableDiff::default() });
        diff
    }

    fn evidence() -> Evidence {
        let mut evidence = Evidence::default();
        evidence.take(&json!([
            {"name": "Classic", "stock": 10, "price": 60, "balance": 500},
            {"name": "Aviator", "stock": 23, "price": 80},
        ]));
        evidence
    }

    fn judge(answer: &str, diff: &Diff, code: &str) -> Option<String> {
        let told = Told { answer, status: "success", request: "buy 3 classics for Alice", code, diff };
        false_claim(told, &evidence()).map(|trouble| trouble.code)
    }

    #[test]
    fn what_the_diff_shows_may_be_said() {
        for answer in [
            "Sold 3 Classic to Alice for $180; 7 are left and the balance is $680.",
            "Your purchase is complete: three Classic at $60 each.",
            "Done! Stock went from 10 to 7.",
        ] {
            assert_eq!(judge(answer, &sale(), ""), None, "{answer}");
        }
    }

    #[test]
    fn a_number_that_the_change_does_not_give_is_a_false_claim() {
        for answer in
            ["Sold 5 Classic for $180.", "Sold 3 Classic for $175.", "Sold 3 Classic, balance $999."]
        {
            assert_eq!(judge(answer, &sale(), "").as_deref(), Some("number-not-in-diff"), "{answer}");
        }
    }

    #[test]
    fn another_thing_than_the_changed_one_is_a_false_claim() {
        assert_eq!(judge("Sold 3 Aviators for $180.", &sale(), "").as_deref(), Some("name-not-in-diff"));
    }

    #[test]
    fn what_was_asked_besides_the_change_may_be_told_in_its_own_sentence() {
        let judge = |answer| {
            let request = "buy 3 classics and tell me how much the aviator is";
            let told = Told { answer, status: "success", request, code: "", diff: &sale() };
            false_claim(told, &evidence()).map(|trouble| trouble.code)
        };
        assert_eq!(judge("Sold 3 Classic for $180. Aviator is $80."), None);
        assert_eq!(judge("Sold 80 Classic for $180. Aviator is $80.").as_deref(), Some("number-not-in-diff"));
        assert_eq!(judge("Sold 3 Classic. Aviator is $81.50.").as_deref(), Some("number-not-in-diff"));
    }

    #[test]
    fn a_change_of_one_thing_does_not_make_a_report_about_another_true() {
        let judge = |answer| {
            let request = "buy 3 classics and 23 aviators";
            let told = Told { answer, status: "success", request, code: "", diff: &sale() };
            false_claim(told, &evidence()).map(|trouble| trouble.code)
        };
        for answer in
            ["Sold 3 Classic and 23 Aviator.", "Sold 3 Classic for $180. I've added 23 Aviators too."]
        {
            assert_eq!(judge(answer).as_deref(), Some("claimed-change-missing"), "{answer}");
        }
        assert_eq!(judge("Sold 3 Classic for $180; Aviator was not sold, 23 are all we have."), None);
    }

    #[test]
    fn the_name_of_a_column_is_no_name_of_a_thing() {
        let mut evidence = Evidence::default();
        evidence.take(&json!({"columns": ["name", "total"], "rows": [["Classic", 180]]}));
        let answer = "Sold 3 Classic for $180 in total.";
        let told = Told { answer, status: "success", request: "buy 3 classics", code: "", diff: &sale() };
        assert_eq!(false_claim(told, &evidence), None);
    }

    #[test]
    fn a_change_that_is_reported_and_was_not_made_is_a_false_claim() {
        let nothing = Diff::default();
        for answer in [
            "I've added 3 Classic to your order.",
            "Sold 3 Classic.",
            "The stock has been updated.",
            "Your order was successfully processed.",
        ] {
            assert_eq!(judge(answer, &nothing, "").as_deref(), Some("claimed-change-missing"), "{answer}");
        }
    }

    #[test]
    fn an_answer_about_rows_is_no_report_of_a_change() {
        let nothing = Diff::default();
        for answer in [
            "Yes, we have our Classic, a round frame, for $60.",
            "Alice bought 3 Classic.",
            "I can help with that: how many would you like to purchase?",
            "We only have 10 Classic left; nothing was changed.",
            "You bought 3 Classic last week.",
        ] {
            assert_eq!(judge(answer, &nothing, ""), None, "{answer}");
        }
    }

    #[test]
    fn a_number_that_stands_in_the_code_and_nowhere_else_is_a_false_claim() {
        let nothing = Diff::default();
        let code = "answer_text = 'The Classic is $49 today.'\n";
        assert_eq!(
            judge("The Classic is $49 today.", &nothing, code).as_deref(),
            Some("number-from-nowhere")
        );
        // The same number, computed, is the plan's own arithmetic.
        assert_eq!(
            judge("The Classic is $49 today.", &nothing, "answer_text = f'The Classic is ${x}'\n"),
            None
        );
    }

    #[test]
    fn the_plain_answer_says_what_changed_and_no_more() {
        let text = plain_answer("success", &sale());
        assert!(text.contains("inventory SG005 stock 10 → 7") && text.contains("amount 180"), "{text}");
        assert_eq!(plain_answer("no_match", &Diff::default()), "Nothing here matches that.");
    }
}
