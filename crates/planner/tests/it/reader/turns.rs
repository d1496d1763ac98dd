//! Conversations: what a turn refers to is certain, or it is asked about.

use ordain_planner::{Brief, Reply, reader};

use super::{brief, turn};

fn after(example: &str, before: &[(&str, &str)], request: &str) -> Brief {
    let turns = before.iter().map(|(request, status)| turn(request, "", status));
    Brief { turns: turns.collect(), ..brief(example, request) }
}

fn said(example: &str, before: &[(&str, &str)], request: &str) -> String {
    super::said(&after(example, before, request))
}

const MOON: (&str, &str) = ("how much is the Moon?", "success");
const SPORT: (&str, &str) = ("and the Sport?", "success");
const SALE: (&str, &str) = ("buy 2 Moon for Alice", "success");

#[test]
fn the_cheaper_of_two_turns_is_not_the_last_one_alone() {
    for request in ["which of them is cheaper?", "buy the cheaper one", "which of those is cheaper?"] {
        let said = said("sunglasses", &[MOON, SPORT], request);
        assert!(said.contains("Moon") && said.contains("Sport"), "{request}: {said}");
    }
    assert!(said("sunglasses", &[MOON, SPORT], "buy it").contains("item Sport"));
    // Of one thing there is no cheaper one.
    assert!(!said("sunglasses", &[MOON], "buy the cheaper one").starts_with("sell: "));
}

#[test]
fn no_after_a_sale_does_not_say_that_nothing_was_changed() {
    for request in ["no", "undo that", "cancel that", "make it 3", "no, 3", "yes", "reject it"] {
        let brief = after("sunglasses", &[SALE], request);
        let Reply::Refusal(text) = reader::plan(&brief) else {
            panic!("{request}: {:?}", reader::plan(&brief))
        };
        assert!(text.contains("it stands") && text.contains("ordain undo 01m7run"), "{request}: {text}");
        assert!(text.contains("/undo") && text.contains("/reject"), "{request}: {text}");
    }
    // A turn that was not understood does not hide the sale.
    let unclear = [SALE, ("gift wrap it", "invalid_request")];
    assert!(said("sunglasses", &unclear, "undo that").contains("ordain undo 01m7run"));
    assert!(!said("sunglasses", &[MOON], "no").contains("undo"));
}
