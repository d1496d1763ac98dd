//! What was done is asked about in the words of the actions, and never done again by asking.

use super::{brief, change, said};

#[test]
fn the_words_of_an_action_ask_about_the_rows_that_it_recorded() {
    for (example, request, reading) in [
        ("sunglasses", "What did Dave buy?", "transactions where action is sell, customer name is Dave"),
        ("sunglasses", "who bought aviators?", "different values of customer name"),
        ("sunglasses", "Which items were never sold?", "there is no transaction whose action is sell"),
        ("sunglasses", "How much did we refund?", "total transaction amount without its sign"),
        ("sunglasses", "How many Moons were sold?", "total quantity of transactions where action is sell"),
        ("sunglasses", "how many Moons did we sell?", "total quantity of transactions where action is sell"),
        ("sunglasses", "how often was the Moon sold?", "number of transactions where action is sell"),
        ("sunglasses", "What's our best selling style?", "by item's name, the highest"),
        ("sunglasses", "which style sold best?", "by item's name, the highest"),
        ("sunglasses", "who bought the most?", "by customer name, the highest"),
        ("sunglasses", "Which customer spent most?", "total transaction amount of transactions"),
        (
            "sunglasses",
            "What is the largest sale?",
            "where action is sell, the highest by transaction amount",
        ),
        ("sunglasses", "When was the Classic last sold?", "the latest by timestamp"),
        (
            "sunglasses",
            "which frames did Dave buy?",
            "items where there is a transaction whose action is sell",
        ),
        ("sunglasses", "what was sold on 1 October 2025?", "timestamp is on 2025-10-01"),
        ("sunglasses", "List all customers", "where action is sell or action is take back"),
        ("sunglasses", "how many sales were there?", "number of transactions where action is sell"),
        ("bike-parts", "How many Deore Chains were sold?", "total units of entries where action is sell"),
        ("bike-parts", "what is the best selling part?", "by part's title, the highest"),
        ("bike-parts", "how many chains were returned?", "total units without its sign of entries"),
        ("bike-parts", "Which parts were never sold?", "there is no entry whose action is sell"),
    ] {
        let read = said(&brief(example, request));
        assert!(read.contains(reading), "{request}: {read}");
    }
}

#[test]
fn a_verb_is_asked_of_those_who_do_it() {
    // The shop sells and customers buy; who sold something stands in no row.
    for request in ["who sold a Moon?", "what did we buy?", "what did Dave sell?", "who sold the most?"] {
        let read = said(&brief("sunglasses", request));
        assert!(read.contains("understand"), "{request}: {read}");
    }
}

#[test]
fn what_was_done_is_never_done_again_by_saying_so() {
    let verbs = [
        "bought",
        "purchased",
        "ordered",
        "took",
        "taken",
        "sold",
        "got",
        "returned",
        "refunded",
        "brought back",
        "restocked",
        "received",
        "buys",
        "sells",
        "selling",
        "buying",
    ];
    for verb in verbs {
        for request in [
            format!("I {verb} 2 Moons"),
            format!("we {verb} 2 Moons for Alice"),
            format!("Alice {verb} 2 Moons."),
            format!("{verb} 2 Moons"),
            format!("2 Moons were {verb}"),
            format!("who {verb} 2 Moons"),
            format!("have we {verb} 2 Moons"),
            format!("the best {verb} Moon"),
        ] {
            // `we received` is how a delivery is told of.
            if request != "we received 2 Moons for Alice" {
                assert_eq!(change(&request), None, "{request}");
            }
        }
    }
}
