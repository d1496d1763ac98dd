//! Amounts and pronouns that could be taken for something else are declined.

use super::{plan, refusal};

#[test]
fn an_amount_in_another_currency_is_declined_and_never_taken_as_it_is() {
    for request in [
        "Set the price of Sport to 50 EUR",
        "items under 100 euro",
        "Buy 1 Classic if it is under 100 EUR",
        "Which items cost more than £50?",
    ] {
        let said = refusal("sunglasses", request);
        assert!(said.contains("I do not convert currencies"), "{request}: {said}");
    }
    assert!(refusal("bike-parts", "parts under $20").contains("is in EUR"));
    for request in ["items under $100", "items under 100 USD", "items under 100 dollars"] {
        assert!(plan(request).is_some(), "{request}");
    }
}

#[test]
fn a_number_that_can_be_read_in_two_ways_is_declined() {
    for request in [
        "buy 1.000 moons",
        "Set the price of Sport to 1.000",
        "Set the price of Sport to 12,50",
        "Set the price of Sport to 0,125",
        "items under 1,5",
    ] {
        let said = refusal("sunglasses", request);
        assert!(said.contains("can be read in two ways"), "{request}: {said}");
    }
    assert!(refusal("sunglasses", "items above 1.000,50").contains("write 1000.50"));
    for (request, price) in
        [("items above 1,000", "1000"), ("items above 1,000.50", "1000.5"), ("items above 0.125", "0.125")]
    {
        let draft = plan(request).unwrap_or_else(|| panic!("{request}"));
        assert_eq!(draft.params[0].value.to_string(), price, "{request}");
    }
}

#[test]
fn an_order_of_it_with_nothing_said_before_is_no_question() {
    for request in ["buy it", "Buy them", "return it", "buy anything", "please buy it"] {
        let said = refusal("sunglasses", request);
        assert!(said.contains("names nothing here: say which one"), "{request}: {said}");
    }
}
