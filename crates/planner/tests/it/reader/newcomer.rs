//! What people stumbled on who met the reader for the first time.

use super::{brief, plan, said};

#[test]
fn a_name_in_quotes_may_be_written_small() {
    let quoted = said(&brief("sunglasses", "buy 1 \"moon\""));
    assert_eq!(quoted, said(&brief("sunglasses", "buy 1 Moon")));
}

#[test]
fn a_value_that_is_so_already_is_not_told_as_changed() {
    let code = plan("set the price of Sport to 110").unwrap().code;
    assert!(code.contains("is {row['now']} already") && code.contains("Nothing was changed: "), "{code}");
}

#[test]
fn what_was_done_is_not_taken_back_by_words_and_the_refusal_says_how() {
    for request in ["undo that", "cancel that", "Undo."] {
        let said = said(&brief("sunglasses", request));
        assert!(said.contains("ordain undo"), "{request}: {said}");
    }
}
