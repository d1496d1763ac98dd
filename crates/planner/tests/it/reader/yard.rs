//! A farm with a yard: animals with names that are words, goods called by two words, rows that end on a day.

use ordain_planner::{Brief, Reply, reader};

use super::{after, are_declined, brief_of, said};

const HORSES: &str = r#"[
    {"horse_id": "H1", "name": "Will", "sex": "gelding", "breed": "cob", "born": "2012-04-03", "height_cm": 152, "condition": "storm"},
    {"horse_id": "H2", "name": "Sunday", "sex": "mare", "breed": "shire", "born": "2015-05-20", "height_cm": 178, "condition": "lame"},
    {"horse_id": "H3", "name": "Storm", "sex": "mare", "breed": "cob", "born": "2018-05-20", "height_cm": 140, "condition": "fit"}]"#;
const FEEDS: &str = r#"[
    {"feed_id": "F1", "name": "Oats", "price": 0.45, "kg": 420.5},
    {"feed_id": "F2", "name": "Sugar Beet", "price": 0.42, "kg": 140.5},
    {"feed_id": "F3", "name": "Pony Mix", "price": 0.65, "kg": 75.5},
    {"feed_id": "F4", "name": "Oak Plank", "price": 5.65, "kg": 75.5}]"#;
const RIDERS: &str = r#"[
    {"rider_id": "R1", "full_name": "Rose Hill", "city": "Mark", "credit": 6.5},
    {"rider_id": "R2", "full_name": "Ann Stone", "city": "Bath", "credit": 10.5},
    {"rider_id": "R3", "full_name": "May Winter", "city": "Wells", "credit": 10.5}]"#;
const LESSONS: &str = r#"[
    {"lesson_id": "L1", "rider_id": "R1", "horse_id": "H2", "day": "2026-10-02", "paid": 55.5, "status": "ridden"},
    {"lesson_id": "L2", "rider_id": "R2", "horse_id": "H1", "day": "2026-12-03", "paid": 20.5, "status": "booked"}]"#;
const RESERVATIONS: &str = r#"[
    {"reservation_id": "V1", "rider_id": "R1", "horse_id": "H2", "until": "2026-10-02"},
    {"reservation_id": "V2", "rider_id": "R2", "horse_id": "H1", "until": "2026-12-03"}]"#;
const CATALOG: &str = r#"
    [tables.horses]
    synonyms = ["horse", "pony"]
    [tables.horses.columns]
    height_cm = { unit = "cm", synonyms = ["height"] }
    [tables.feeds]
    synonyms = ["feed", "plank"]
    [tables.feeds.columns]
    price = { unit = "CHF" }
    [tables.riders]
    synonyms = ["rider", "person"]
    [tables.riders.columns]
    credit = { unit = "CHF" }
    [tables.lessons.columns]
    rider_id = { references = "riders.rider_id" }
    horse_id = { references = "horses.horse_id" }
    [tables.reservations.columns]
    rider_id = { references = "riders.rider_id" }
    horse_id = { references = "horses.horse_id" }

    [[actions]]
    name = "rest_horse"
    words = ["rest"]
    params.horse = { table = "horses" }
    [[actions]]
    name = "deliver"
    words = ["receive"]
    each = ["amount", "feed"]
    params.amount = { type = "number", min = 1 }
    params.feed = { table = "feeds" }
    [[actions]]
    name = "sell"
    words = ["sell"]
    each = ["quantity", "feed"]
    params.quantity = { type = "count", min = 1 }
    params.feed = { table = "feeds" }
    [[actions]]
    name = "cancel_lesson"
    words = ["cancel"]
    params.lesson = { table = "lessons" }
    [[actions]]
    name = "drop_reservation"
    words = ["drop"]
    params.reservation = { table = "reservations" }
    [[actions]]
    name = "credit_rider"
    words = ["credit"]
    params.rider = { table = "riders" }
    params.sum = { type = "money", min = 1 }
    [[phrasings]]
    words = ["tall"]
    table = "horses"
    means = "height_cm >= 150"
    [[metrics]]
    name = "income"
    table = "lessons"
    formula = "sum(paid)"
"#;

fn yard(before: &[(&str, &str)], request: &str) -> Brief {
    let tables = [
        ("horses", HORSES),
        ("feeds", FEEDS),
        ("riders", RIDERS),
        ("lessons", LESSONS),
        ("reservations", RESERVATIONS),
    ];
    after(before, "success", brief_of(&tables, CATALOG, request))
}

#[track_caller]
fn declined(before: &[(&str, &str)], requests: &[&str]) {
    are_declined(|request| yard(before, request), requests);
}

#[track_caller]
fn reads(before: &[(&str, &str)], request: &str, reading: &str) {
    let said = said(&yard(before, request));
    assert!(said.contains(reading), "{request}: {said}");
}

#[test]
fn the_word_before_the_noun_of_a_name_is_not_the_thing() {
    declined(&[], &["receive 100 sugar", "receive 100 pony", "set the price of sugar to 1"]);
    reads(&[], "receive 100 beet", "has “beet”");
    reads(&[], "receive 100 Sugar", "has “sugar”");
    reads(&[], "receive 100 sugar beet", "feed Sugar Beet");
}

#[test]
fn another_word_for_the_rows_is_no_part_of_one_name() {
    declined(
        &[],
        &["sell 3 planks", "sell a plank", "set the price of planks to 5", "set the price of the plank to 5"],
    );
    reads(&[], "sell 3 Oak Plank", "feed Oak Plank");
    declined(&[], &["sell 3 oak planks and feeds", "sell 3 mix feeds", "sell 3 Planks"]);
}

#[test]
fn an_amount_of_nothing_takes_no_thing_from_the_question_before() {
    let oats = [("the price of oats", "Oats: price is 0.45.")];
    declined(&oats, &["receive 100"]);
    reads(&oats, "sell 2", "feed Oats");
}

#[test]
fn a_day_is_not_the_horse_that_is_called_so() {
    declined(
        &[],
        &["cancel the lesson of Rose Hill on Sunday", "lessons on Sundays", "rest Storm on Sunday"],
    );
    assert!(said(&yard(&[], "lessons on Sunday")).contains("“Sunday” may be the time"));
    reads(&[], "lessons of Sunday", "name is Sunday");
    reads(&[], "rest Sunday", "horse Sunday");
}

#[test]
fn a_name_that_is_a_verb_is_a_name_in_capitals() {
    reads(&[], "rest Will", "horse Will");
    reads(&[], "is Will fit?", "name is Will");
    declined(&[], &["rest will", "will rest Storm"]);
}

#[test]
fn he_and_she_mean_a_horse_of_that_sex() {
    reads(&[], "rest Will if he is fit", "sex is gelding");
    let storm = [("is Storm fit?", "Yes, condition is fit: Storm (condition fit).")];
    reads(&storm, "rest her", "sex is mare");
    let oats = [("how much are oats?", "Oats: price is 0.45.")];
    declined(&oats, &["sell 2 of him", "receive 100 of her"]);
}

#[test]
fn a_value_after_its_column_is_that_columns() {
    reads(&[], "rest the horse with condition storm", "horse storm");
    reads(&[], "how many horses have condition storm?", "condition is storm");
    declined(&[], &["rest the storm horse"]);
}

#[test]
fn a_bare_value_names_nobody() {
    declined(&[], &["credit Mark with 5", "credit Bath with 5", "set the credit of Bath to 5", "rest lame"]);
    reads(&[], "credit the rider in Bath with 5", "rider Bath");
    reads(&[], "credit Rose with 5", "full name has “rose”");
}

#[test]
fn a_month_with_its_year_is_nobody_who_is_called_so() {
    declined(
        &[],
        &["credit May 2026 with 5", "credit May 5 2026 with 5", "sell ever 3 Oats", "sell 3 Oats still"],
    );
    reads(&[], "lessons of May", "full name has “may”");
    reads(&[], "lessons in May 2026", "day is in 2026-05");
}

#[test]
fn the_day_until_which_rows_last_does_not_say_which_is_the_newest() {
    declined(
        &[],
        &[
            "drop the last reservation",
            "drop the newest reservation",
            "drop the oldest reservation",
            "drop the reservation on 2026-12-03",
            "drop reservations older than 2026-11-22",
        ],
    );
    reads(&[], "cancel the last lesson", "latest by day");
    reads(&[], "drop the reservation until 2026-12-03", "until");
}

#[test]
fn a_plural_without_a_number_is_asked_about_even_of_one_row() {
    declined(&[], &["cancel the lessons of Rose Hill", "drop the reservations of Ann Stone"]);
    reads(&[], "cancel the lesson of Rose Hill", "full name is Rose Hill");
}

#[test]
fn the_currency_of_the_tables_is_understood_in_orders() {
    reads(&[], "credit Rose Hill with 50 CHF", "sum 50");
    reads(&[], "set the price of Oats to 35 CHF", "becomes 35");
    reads(&[], "feeds under CHF 20", "price is below 20");
    declined(&[], &["credit Rose Hill with 50 EUR"]);
}

#[test]
fn what_the_owner_calls_tall_can_be_compared() {
    reads(&[], "the tallest horse", "highest by height cm");
    reads(&[], "is Will taller than Storm?", "height cm is above");
    reads(&[], "rest Sunday if it is taller than 170 cm", "height cm is above 170");
    // The number of the declaration comes from no row: the answer takes it from the params.
    let Reply::Plan(plan) = reader::plan(&yard(&[], "horses that are not tall")) else { panic!("no plan") };
    assert!(plan.params.iter().any(|param| param.value == 150), "{}", plan.code);
}

#[test]
fn who_paid_the_most_and_how_large_a_share() {
    reads(&[], "who paid the most?", "total paid of lessons by rider's full name, the highest");
    declined(&[], &["who paid the least?"]);
    reads(&[], "what percentage of horses are lame?", "share where condition is lame of horses");
}

#[test]
fn and_something_else_keeps_the_rest_of_the_question() {
    let october = [("income in October 2026", "The total paid of lessons is 55.50 (day is in 2026-10).")];
    reads(&october, "and in December 2026?", "2026-12");
    declined(&october, &["and lessons?", "and horses?"]);
}

#[test]
fn a_condition_that_is_not_understood_is_named() {
    let said = said(&yard(&[], "rest Will if he is a champion of lessons"));
    assert!(said.contains("champion"), "{said}");
    let said = super::said(&yard(&[], "rest Will if it is of lessons"));
    assert!(said.contains("The condition “if it is of lessons” is not understood"), "{said}");
}
