//! Words of a box office that are titles and names too.

use ordain_planner::{Brief, Reply, reader};

use super::theatre::theatre;
use super::{are_declined, said};

fn read(request: &str) -> String {
    said(&theatre(request))
}

#[track_caller]
fn declined(requests: &[&str]) {
    are_declined(theatre, requests);
}

fn after(turns: &[(&str, &str)], request: &str) -> Brief {
    super::after(turns, "success", theatre(request))
}

#[test]
fn an_ordinary_word_is_not_a_part_of_a_persons_name() {
    declined(&[
        "book 2 Hamlet for a guy",
        "book 2 Hamlet for the house",
        "book 2 Hamlet for short",
        "book 2 Hamlet for the price",
        "add £20 to the price",
        "add £2 to price",
        "add £20 to the house",
        "set the credit of the guy to 0",
        "remove all doubt",
    ]);
    assert!(read("book 2 Hamlet for Guy").contains("full name has “guy”"));
    assert!(read("book 2 Hamlet for guy summers").contains("Guy Summers"));
}

#[test]
fn a_span_of_time_and_a_pronoun_are_no_titles() {
    declined(&["book 2 days for Mark Short", "book 2 like it for Mark Short"]);
}

#[test]
fn the_name_of_a_row_is_never_a_row_that_refers_to_it() {
    declined(&[
        "cancel Hamlet",
        "cancel Grace Price",
        "set the town of Hamlet to Bath",
        "set the price of Grace Price to 5",
        "set the status of Hamlet to collected",
        "set the credit of B2 to 5",
    ]);
    assert!(read("cancel B1").contains("B1"));
    assert!(read("cancel the booking of Mark Short").contains("Mark Short"));
}

#[test]
fn a_title_that_is_a_number_word_is_a_title_where_it_is_written_as_one() {
    assert!(read("book 2 Art for Mark Short if it is more expensive than Six").contains("title is Six"));
    assert!(read("shows cheaper than Six").contains("title is Six"), "{}", read("shows cheaper than Six"));
    assert!(read("book 2 Six for Mark Short").contains("Six"));
    assert!(
        read("book six Hamlet for Mark Short").contains("seats 6"),
        "{}",
        read("book six Hamlet for Mark Short")
    );
}

#[test]
fn a_pronoun_after_a_verb_is_what_was_spoken_of_or_nothing() {
    declined(&[
        "book 2 Hamlet for Mark Short if Grace Price booked it",
        "book 2 Hamlet for Mark Short if he has booked it",
        "who booked it?",
        "did Mark Short book it?",
    ]);
    let brief = after(&[("how much is Hamlet?", "")], "who booked it?");
    assert!(said(&brief).contains("show's title is Hamlet"), "{}", said(&brief));
}

#[test]
fn the_last_one_of_a_list_is_none_of_the_whole_table() {
    let said =
        said(&after(&[("shows in the Cellar", "")], "book 2 of the most expensive one for Mark Short"));
    assert!(said.contains("Cellar"), "{said}");
    // Which row was stored last says nothing to a person.
    declined(&["add £5 to the last patron"]);
}

#[test]
fn an_answer_that_is_a_title_is_no_number() {
    let said = said(&after(&[("book 2 for Mark Short", "")], "Six"));
    assert!(said.contains("show Six") && said.contains("seats 2"), "{said}");
}

#[test]
fn the_number_of_a_seat_is_no_number_of_seats() {
    declined(&["book Hamlet seat 12 for Mark Short", "book Hamlet show 3 for Mark Short"]);
}

#[test]
fn no_before_the_object_of_a_verb_denies_the_deed() {
    let said = read("who booked no drama?");
    assert!(said.contains("there is no booking") || said.contains("understand"), "{said}");
    declined(&["who booked a comedy but no drama?", "who booked Hamlet and The Price?"]);
}

#[test]
fn words_of_the_language_are_no_words_of_a_title_far_away() {
    assert_eq!(read("who lives in Frome?"), "patrons where town is Frome");
    assert_eq!(read("how many patrons live in Bath?"), "number of patrons where town is Bath");
    assert!(!read("list the houses").contains("House"), "{}", read("list the houses"));
    assert!(
        read("who booked The Price?").contains("title is The Price"),
        "{}",
        read("who booked The Price?")
    );
}

#[test]
fn seats_that_are_left_are_the_column_of_that_name() {
    for request in ["how many seats are left for Hamlet?", "how many seats are left in Hamlet?"] {
        let said = read(request);
        assert!(said.contains("seats left") && said.contains("Hamlet"), "{request}: {said}");
    }
}

#[test]
fn everything_but_one_leaves_that_one_out() {
    let said = read("everything in the Cellar but Art");
    assert!(said.contains("title is not Art") && said.contains("Cellar"), "{said}");
    assert!(read("all shows but Hamlet").contains("title is not Hamlet"));
}

#[test]
fn rows_of_a_kind_are_counted_and_not_what_is_left_of_them() {
    assert_eq!(read("how many musicals are there?"), "number of shows where genre is musical");
    assert_eq!(
        read("how many dramas are in the Cellar?"),
        "number of shows where genre is drama, house is Cellar"
    );
}

#[test]
fn a_value_that_says_none_is_no_value() {
    for request in ["patrons without membership", "patrons with no membership"] {
        assert!(read(request).contains("membership is none"), "{request}: {}", read(request));
    }
}

#[test]
fn the_last_booking_is_the_one_with_the_last_day() {
    assert!(read("the last booking").contains("booked on"), "{}", read("the last booking"));
}

#[test]
fn what_staff_say_at_the_counter_is_read() {
    for (request, reading) in [
        ("book 2 seats for Hamlet for Mark Short", "book: seats 2, show Hamlet, patron Mark Short"),
        ("Hi, book 2 Hamlet for Mark Short, please", "book: seats 2, show Hamlet, patron Mark Short"),
        ("top 3 shows by price", "the 3 highest by price"),
        ("most expensive comedy", "genre is comedy"),
        ("how much credit does Grace Price have?", "credit of patrons where full name is Grace Price"),
        ("where does Ivy House live?", "town of patrons where full name is Ivy House"),
        ("bookings per month", "by month"),
        ("how many seats does Hamlet have left?", "seats left"),
        ("which patrons have no bookings?", "patrons where there is no booking"),
    ] {
        let said = read(request);
        assert!(said.contains(reading), "{request}: {said}");
    }
}

#[test]
fn an_answer_may_take_one_of_a_list_by_its_place_or_name() {
    let list = "Which one do you mean? 1. Art; 2. Private Lives; 3. As You Like It. Say the number.";
    for answer in ["2", "number 2", "the second one", "the second", "Private Lives", "private lives"] {
        let said = said(&after(&[("book 2 comedies for Mark Short", list)], answer));
        assert!(said.contains("show Private Lives"), "{answer}: {said}");
    }
}

#[test]
fn a_part_of_a_title_in_small_letters_is_no_title() {
    declined(&[
        "book 2 prices for Mark Short",
        "book 2 lives for Mark Short",
        "book 2 seats for the price",
        "book a price for Mark Short",
        "set the price of lives to 5",
        "book 2 arts for Mark Short",
        "remove the doubt",
    ]);
    assert!(read("book 2 art for Mark Short").contains("show Art"));
    assert!(read("book 2 Lives for Mark Short").contains("title has “live”"));
    assert!(read("book 2 private lives for Mark Short").contains("Private Lives"));
}

#[test]
fn a_pronoun_fits_who_was_spoken_of() {
    for (person, request, is_read) in [
        ("Grace Price", "book 2 Hamlet for her", true),
        ("Grace Price", "book 2 Hamlet for him", false),
        ("Mark Short", "set his credit to 5", true),
        ("Mark Short", "set her credit to 5", false),
        ("Mark Short", "where does she live?", false),
        ("Mark Short", "what did he book?", true),
    ] {
        let brief = after(&[(&format!("who is {person}?"), "")], request);
        let is_plan = matches!(reader::plan(&brief), Reply::Plan(_));
        assert_eq!(is_plan, is_read, "{person}, {request}: {}", said(&brief));
    }
    declined(&["book 2 Hamlet for Mark Short if she is gold"]);
}

#[test]
fn what_is_said_after_an_exception_is_said_of_the_rest() {
    let said = read("shows except Six under £33");
    assert!(said.contains("title is not Six, price is below 33"), "{said}");
}

#[test]
fn a_group_is_not_dropped_for_the_rows_after_it() {
    let said = read("total seats by show for musicals");
    assert!(said.ends_with("by show's title") && said.contains("musical"), "{said}");
}

#[test]
fn a_booking_after_a_verb_is_the_row_and_not_that_somebody_booked() {
    let said = read("who collected a booking?");
    assert!(said.contains("status is collected") && !said.contains("action"), "{said}");
}

#[test]
fn how_many_are_left_is_asked_of_the_row_that_was_spoken_of() {
    let said = said(&after(&[("how much is Hamlet?", "")], "how many seats are left?"));
    assert!(said.contains("title is Hamlet"), "{said}");
}

#[test]
fn a_row_is_not_compared_with_itself_and_you_is_no_title() {
    declined(&["is Doubt doubt?", "did you book Hamlet?"]);
}

#[test]
fn a_refusal_says_why() {
    assert!(read("do not book 2 Hamlet for Mark Short").contains("what not to do"));
    let brief = after(&[("who is Grace Price?", "")], "book 2 Hamlet for him");
    assert!(said(&brief).contains("“him” does not fit"), "{}", said(&brief));
    assert!(!read("join Mark Short").contains("did you mean"), "{}", read("join Mark Short"));
    let asked = read("book Hamlet for Mark Short");
    assert!(asked.contains("how many seats") && asked.matches("how many").count() == 1, "{asked}");
}
