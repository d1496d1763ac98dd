//! Orders: whole names, every word in its place, and what is open is asked back as a person would ask.

use ordain_planner::{Brief, Reply, Turn, reader};
use ordain_types::{DirectChanges, HeldBy, Schema};
use ordain_verify::{CORE_IMPORTS, Contract, Policy, helpers_of, verify};

use super::brief;

/// What is read of a request, or what is said instead.
fn said(brief: &Brief) -> String {
    match reader::plan(brief) {
        Reply::Plan(draft) => draft.reading.unwrap_or_default(),
        Reply::Question(text) | Reply::Refusal(text) => text,
        Reply::Look(_) | Reply::Outline(_) | Reply::Unusable(_) => String::new(),
    }
}

/// Nothing would be done for any of these requests.
#[track_caller]
fn are_declined(brief: impl Fn(&str) -> Brief, requests: &[&str]) {
    for request in requests {
        let brief = brief(request);
        assert!(!matches!(reader::plan(&brief), Reply::Plan(_)), "{request}: {}", said(&brief));
    }
}

fn turn(request: &str, answer: &str) -> Turn {
    let (request, answer) = (request.to_owned(), answer.to_owned());
    Turn { request, answer, status: Some("invalid_request".to_owned()), run_id: None }
}

fn shop(request: &str) -> Brief {
    brief("sunglasses", request)
}

/// What was asked back.
#[track_caller]
fn question(brief: &Brief) -> String {
    match reader::plan(brief) {
        Reply::Question(text) => text,
        other => panic!("{}: {other:?}", brief.request),
    }
}

/// The reading after one turn and what was answered to it.
fn then(request: &str, answer: &str, next: &str) -> Brief {
    Brief { turns: vec![turn(request, answer)], ..shop(next) }
}

#[test]
fn every_order_of_the_examples_passes_the_verifier_and_is_short() {
    for (example, request, reading) in [
        ("sunglasses", "buy 3 classic and 1 aviator", "buy 3 Classic and 1 Aviator"),
        (
            "sunglasses",
            "I want to buy 3 pairs of classic sunglasses and 1 pair of aviator sunglasses.",
            "buy 3 Classic and 1 Aviator",
        ),
        (
            "sunglasses",
            "Purchase 3 Wayfarer sunglasses for customer Alice.",
            "buy 3 Wayfarer for customer Alice",
        ),
        ("sunglasses", "Return 2 Aviator sunglasses I bought last week.", "return 2 Aviator"),
        ("sunglasses", "Could you please sell 2 wayfarers to Dave?", "buy 2 Wayfarer for customer Dave"),
        ("sunglasses", "Buy 2 moons and return 1 aviator", "buy 2 Moon and then return 1 Aviator"),
        ("sunglasses", "Set the stock of Classic to 40", "set the stock of Classic to 40"),
        ("sunglasses", "We received 12 wayfarers this morning, please add them", "restock 12 Wayfarer"),
        ("sunglasses", "Change the price of the Moon to $99", "set price of Moon to 99"),
        ("bike-parts", "Sell 2 Deore Chain to Nina Kowalski", "sell 2 Deore Chain to buyer Nina Kowalski"),
        ("bike-parts", "lower the unit price of Chain Lube by 10%", "lower unit price of Chain Lube by 10%"),
        ("library", "Otto Lindh would like to borrow Persuasion", "lend Persuasion to Otto Lindh"),
        (
            "bank",
            "Please move $20 out of House fund into Garden fund",
            "transfer amount 20 from House fund to Garden fund",
        ),
        (
            "sunglasses",
            "buy 2 Moons if the Classic costs under $100",
            "buy 2 Moon if for Classic it is so that price is below 100",
        ),
    ] {
        let brief = brief(example, request);
        let Reply::Plan(draft) = reader::plan(&brief) else { panic!("{request}: {}", said(&brief)) };
        assert_eq!(draft.reading.as_deref(), Some(reading), "{request}");
        let mut policy = Policy::for_contract(Contract::Ask).with_packages(CORE_IMPORTS.iter().copied());
        policy.helpers = helpers_of(&brief.helpers).unwrap();
        let schema = Schema { tables: brief.tables.iter().map(|table| table.table.clone()).collect() };
        let verdict = verify(&draft.code, &policy, &schema);
        assert!(verdict.is_accepted(), "{request}: {:?}\n{}", verdict.findings, draft.code);
        assert!(draft.code.lines().count() <= 30, "{request}:\n{}", draft.code);
    }
}

#[test]
fn what_is_not_said_in_whole_names_is_declined() {
    are_declined(
        shop,
        &[
            "buy 2 clubmasters",
            "buy 2 round sunglasses",
            "buy the cheapest one",
            "buy 1 Moon for Dave ASAP",
            "buy 1 Moon for July",
            "don't buy 3 aviators",
            "Can I buy 3 classics?",
            "Buy 2 aviators; DROP TABLE inventory;",
            "buy 2 moons for $50 each",
            "set the quantity of the Trowel to 5",
            "Buy 3 Classics, no wait, 2 Classics",
            "Please deliver 3 aviators to Berlin by Friday",
            "My name is A. Please cancel my lesson on 24 June.",
        ],
    );
    are_declined(|request| brief("bike-parts", request), &["buy 2 chains", "sell 1 Deore to Tom Berg"]);
}

#[test]
fn a_sentence_with_a_name_says_who_it_is_for() {
    for request in [
        "I'd like to buy two aviators please. My name is Dave.",
        "My name is Dave. I'd like to buy two aviators.",
    ] {
        // `i want` and `i need` are words of the verb; `I'd like to` is a courtesy.
        assert_eq!(said(&shop(request)), "buy 2 Aviator for customer Dave", "{request}");
    }
}

#[test]
fn a_name_that_no_row_has_is_asked_back_and_a_number_takes_it() {
    let request = "buy 1 Moon to Berlin";
    let asked = question(&shop(request));
    assert!(asked.starts_with("I know no customer called Berlin."), "{asked}");
    let Reply::Plan(draft) = reader::plan(&then(request, &asked, "1")) else { panic!("{asked}") };
    assert!(draft.params.iter().any(|param| param.value == "Berlin"), "{:?}", draft.params);
    // Elsewhere a number alone says nothing.
    assert!(!matches!(reader::plan(&shop("1")), Reply::Plan(_)));
}

#[test]
fn a_missing_number_is_asked_for_as_a_person_would() {
    let request = "I want to buy some aviators";
    let asked = question(&shop(request));
    assert_eq!(asked, "How many Aviator would you like to buy?");
    for answer in ["2", "2 please", "two"] {
        assert_eq!(said(&then(request, &asked, answer)), "buy 2 Aviator", "{answer}");
    }
    assert_eq!(
        question(&brief("bank", "Transfer 50 from House fund")),
        "To transfer, I still need the target."
    );
}

#[test]
fn rows_of_one_name_are_told_apart_by_a_number() {
    let answer =
        "Which one do you mean? 1. Moon (SG006); 2. Moon (SG009). Say the number.\nThe program finds this …";
    let Reply::Plan(draft) = reader::plan(&then("buy 2 Moon", answer, "the second one")) else { panic!() };
    assert!(draft.params.iter().any(|param| param.value == "SG009"), "{:?}", draft.params);
}

#[test]
fn numbers_outside_of_their_bounds_do_nothing() {
    for (request, bound) in [
        ("buy 0 aviators", "at least 1"),
        ("buy -3 aviators", "at least 1"),
        ("Buy 1.5 classics", "a whole number"),
    ] {
        let asked = question(&shop(request));
        assert!(asked.contains(bound) && asked.contains("nothing was done"), "{asked}");
    }
}

#[test]
fn a_change_that_no_verb_covers_waits_unless_the_owner_commits_it() {
    let mut brief = shop("set the price of Sport to 15");
    std::sync::Arc::make_mut(&mut brief.catalog).policy.direct_changes = DirectChanges::Hold;
    let Reply::Plan(draft) = reader::plan(&brief) else { panic!("it is an order") };
    assert_eq!(draft.hold, Some(HeldBy::DirectChange));
    assert!(!draft.code.contains("approve"), "{}", draft.code);
}

#[test]
fn the_last_change_is_undone_by_a_person() {
    let Reply::Refusal(text) = reader::plan(&shop("undo last")) else { panic!() };
    assert!(text.contains("`ordain undo last`"), "{text}");
}

#[test]
fn an_order_is_the_same_after_any_turns() {
    let turns = vec![turn("how much is the Moon?", "$120"), turn("buy 2 Moon", "Sold 2 Moon")];
    let brief = Brief { turns, ..shop("buy 1 Classic") };
    assert_eq!(said(&brief), "buy 1 Classic");
}
