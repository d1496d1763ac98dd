//! After a list, and after a question of the reader's own, a turn speaks of what was listed or asked for.

use super::theatre::theatre;
use super::{after, said};

const MILLER: (&str, &str) = (
    "shows by Arthur Miller",
    "2 shows (author is Arthur Miller): The Price (price 22.50, seats left 12); The Crucible (price 26.50, seats left 9).",
);
const NINAS: (&str, &str) = (
    "bookings of Nina Cole",
    "2 bookings (patron's full name is Nina Cole): B1 (title The Price); B2 (title The Crucible).",
);

/// What a request means after some turns, each with its answer.
fn read(before: &[(&str, &str)], request: &str) -> String {
    said(&after(before, "invalid_request", theatre(request)))
}

#[track_caller]
fn reads(before: &[(&str, &str)], request: &str, reading: &str) {
    assert_eq!(read(before, request), reading, "{request}");
}

/// Nothing is done: the person is asked, or told what was not understood.
#[track_caller]
fn asks(before: &[(&str, &str)], request: &str) {
    let said = read(before, request);
    let is_asked =
        ["several ways", "do not understand", "I need to know"].iter().any(|part| said.contains(part));
    assert!(is_asked, "{request}: {said}");
}

#[test]
fn the_dearest_of_a_list_is_not_the_dearest_of_all() {
    for request in
        ["book 2 of the most expensive one for Nina Cole", "book 2 of the most expensive for Nina Cole"]
    {
        reads(
            &[MILLER],
            request,
            "book: seats 2, show (shows where author is Arthur Miller, the highest by price), patron Nina Cole",
        );
    }
    reads(&[MILLER], "which is the cheapest?", "shows where author is Arthur Miller, the lowest by price");
    reads(&[MILLER], "the newest one", "shows where author is Arthur Miller, the latest by opens");
    reads(
        &[],
        "book 2 of the cheapest one for Nina Cole",
        "book: seats 2, show (shows, the lowest by price), patron Nina Cole",
    );
    // Of the two cheapest it is not known which they are.
    asks(&[("the 2 cheapest shows", "")], "book 2 of the most expensive one for Nina Cole");
    // With the noun it may be one of all.
    asks(&[NINAS], "cancel the newest booking");
    asks(&[NINAS], "what is the newest booking?");
}

#[test]
fn the_last_one_of_a_list_is_the_one_that_was_shown_last() {
    let last = "book: seats 2, show The Crucible, patron Nina Cole";
    reads(&[MILLER], "book 2 of the last one for Nina Cole", last);
    reads(&[MILLER], "book 2 of the second for Nina Cole", last);
    reads(&[MILLER], "set the price of the first one to 20", "price of The Price becomes 20");
    // Of bookings it may be the one with the last day, too.
    asks(&[NINAS], "cancel the last one");
    // What was named in one order and shown in another has no second one.
    let both = (
        "compare The Crucible and The Price",
        "2 shows: The Price (price 22.50); The Crucible (price 26.50).",
    );
    asks(&[both], "book 2 of the second for Nina Cole");
    // A list that was cut does not say what is last.
    asks(&[("shows", "4 shows: Six (price 32.50) and 3 more.")], "book 2 of the last one for Nina Cole");
}

#[test]
fn a_figure_after_a_list_is_not_one_of_the_whole_table() {
    reads(&[MILLER], "average price?", "average price of shows where author is Arthur Miller");
    reads(&[NINAS], "total paid", "total paid of bookings where patron's full name is Nina Cole");
    reads(
        &[NINAS],
        "which were collected?",
        "bookings where status is collected, patron's full name is Nina Cole",
    );
    reads(&[("how much is Company?", "")], "what is the average price?", "average price of shows");
}

#[test]
fn the_last_row_is_never_the_one_that_was_stored_last() {
    reads(&[], "cancel the last booking", "cancel: booking (bookings, the latest by booked on)");
    for request in
        ["book 2 of the last show for Nina Cole", "add 5 to the last patron", "cancel the last thing"]
    {
        asks(&[], request);
    }
}

#[test]
fn a_name_with_an_s_more_is_somebody_else() {
    for name in ["Nina Coles", "Guy Summer", "the Coles", "Stones"] {
        asks(&[], &format!("add 5 to {name}"));
        asks(&[], &format!("set the membership of {name} to gold"));
    }
    reads(&[], "add 5 to Guy Summers", "add credit: amount 5, patron Guy Summers");
    reads(&[], "what is Guy Summers' credit?", "credit of patrons where full name is Guy Summers");
}

#[test]
fn an_answer_is_compared_with_what_was_offered_first() {
    let offer =
        [("book 2 musicals for Nina Cole", "Which one do you mean? 1. Six; 2. Company. Say the number.")];
    let company = "book: seats 2, show Company, patron Nina Cole";
    for request in
        ["2", "2.", "number 2", "the second", "the second one", "the last one", "Company", "Company, please"]
    {
        reads(&offer, request, company);
    }
    reads(&offer, "Six", "book: seats 2, show Six, patron Nina Cole");
    reads(
        &offer,
        "the one in the Main Stage",
        "book: seats 2, show (shows where genre is musical, house is Main Stage), patron Nina Cole",
    );
    for request in ["6", "2?", "not 2", "1 and 2"] {
        asks(&offer, request);
    }
    let people =
        [("add 5 to Stone", "Which one do you mean? 1. Martin Stone; 2. Stella Stone. Say the number.")];
    for request in ["Stella Stone", "Stella", "the second one"] {
        reads(&people, request, "add credit: amount 5, patron Stella Stone");
    }
    // What was not offered is not taken.
    assert_ne!(read(&people, "Nina Cole"), "add credit: amount 5, patron Nina Cole");
}

#[test]
fn a_number_is_no_answer_to_the_question_which_row() {
    asks(&[("book 2 for Nina Cole", "")], "3");
    reads(&[("book 2 for Nina Cole", "")], "The Price", "book: seats 2, patron Nina Cole, show The Price");
    reads(&[("book The Price for Nina Cole", "")], "3", "book: show The Price, patron Nina Cole, seats 3");
}

#[test]
fn how_many_seats_of_it_is_asked_as_without_the_conversation() {
    for request in ["book it for Nina Cole", "book the cheapest one for Nina Cole"] {
        assert!(read(&[("how much is Company?", "")], request).contains("how many"), "{request}");
    }
    // Which of two is not taken for granted.
    let both = read(&[("is Company cheaper than The Price?", "")], "book 2 for Nina Cole");
    assert!(both.contains("title is Company or title is The Price"), "{both}");
}

#[test]
fn a_greeting_or_please_may_have_a_comma() {
    let order = "book: seats 2, show Company, patron Nina Cole";
    for request in [
        "book 2 Company for Nina Cole, please",
        "Hi, book 2 Company for Nina Cole",
        "Hello! book 2 Company for Nina Cole, thanks.",
        "please, book 2 Company for Nina Cole pls",
    ] {
        reads(&[], request, order);
    }
}

#[test]
fn ranks_are_read_of_a_kind_and_of_a_column() {
    reads(&[], "the 3 cheapest musicals", "shows where genre is musical, the 3 lowest by price");
    reads(&[], "most expensive drama", "shows where genre is drama, the highest by price");
    reads(&[], "the 3 patrons with the most credit", "patrons, the 3 highest by credit");
}

#[test]
fn what_the_owner_declares_wins_over_words_of_the_language() {
    reads(&[], "which shows are sold out?", "shows where seats left is 0");
    reads(&[], "total revenue", "total paid of bookings");
    reads(&[], "what is the total revenue?", "total paid of bookings");
}

#[test]
fn a_sentence_that_asks_nothing_is_not_answered() {
    for request in ["Nina Cole has £20 credit", "Nina Cole has cancelled B1", "Company is sold out."] {
        assert!(
            read(&[], request).starts_with("That says something and asks nothing"),
            "{}",
            read(&[], request)
        );
    }
    reads(&[], "is Company sold out?", "whether seats left is 0 for shows where title is Company");
}

#[test]
fn her_and_its_are_the_one_that_was_spoken_of() {
    let nina = [("who is Nina Cole?", "")];
    reads(&nina, "book 2 Company for her", "book: seats 2, show Company, patron Nina Cole");
    reads(&nina, "add 5 to her", "add credit: amount 5, patron Nina Cole");
    reads(&nina, "set her membership to friend", "membership of Nina Cole becomes friend");
    reads(&nina, "what is her credit?", "credit of patrons where full name is Nina Cole");
    reads(&[("how much is Company?", "")], "what is its author?", "author of shows where title is Company");
    for before in [&[("who is gold?", "")][..], &[("how much is Company?", "")], &[]] {
        asks(before, "book 2 Company for her");
    }
    let order = read(&[], "book 2 Company for Nina Cole if her credit is above 10");
    assert!(order.ends_with("only if credit is above 10 for Nina Cole"), "{order}");
}

#[test]
fn a_price_is_not_raised_to_less_than_it_is() {
    let brief = theatre("raise the price of Company to 20");
    let ordain_planner::Reply::Plan(draft) = ordain_planner::reader::plan(&brief) else { panic!("no plan") };
    assert!(draft.code.contains(r#"params["price"] < row["now"]"#), "{}", draft.code);
    assert!(draft.code.contains("the other way"), "{}", draft.code);
}
