//! A riding stable: horses with owners and riders, and columns of yes and no.

use ordain_planner::{Brief, Reply, reader};

use super::{are_declined, brief_of, said};

const HORSES: &str = r#"[
    {"horse_id": "H1", "name": "Duke", "breed": "cob", "colour": "bay", "born": "2012-04-03", "weekly_cost": 42.5, "condition": "fit", "box": 1, "owner_id": "R2"},
    {"horse_id": "H2", "name": "Little Star", "breed": "shire", "colour": "black", "born": "2015-05-20", "weekly_cost": 31.5, "condition": "lame", "box": 2, "owner_id": "R1"},
    {"horse_id": "H3", "name": "Old Tom", "breed": "shire", "colour": "bay", "born": "2001-05-20", "weekly_cost": 61.5, "condition": "fit", "box": 3, "owner_id": "R1"},
    {"horse_id": "H4", "name": "Penny", "breed": "cob", "colour": "grey", "born": "2018-05-20", "weekly_cost": 21.5, "condition": "fit", "box": 4, "owner_id": "R1"}]"#;
const RIDERS: &str = r#"[
    {"rider_id": "R1", "name": "Rose Hill", "level": "novice", "village": "Ashby", "newsletter": "off", "credits": 6},
    {"rider_id": "R2", "name": "Mark Stone", "level": "beginner", "village": "Wick", "newsletter": "never", "credits": 10}]"#;
const COACHES: &str = r#"[
    {"coach_id": "C1", "name": "Ruth Bell", "specialty": "dressage", "first_aid": "yes", "hired": "2012-09-10"},
    {"coach_id": "C2", "name": "Peter Short", "specialty": "jumping", "first_aid": "no", "hired": "2023-04-17"}]"#;
const LESSONS: &str = r#"[
    {"lesson_id": "L1", "rider_id": "R2", "horse_id": "H4", "coach_id": "C2", "day": "2026-10-02", "minutes": 60, "status": "ridden"},
    {"lesson_id": "L2", "rider_id": "R1", "horse_id": "H1", "coach_id": "C1", "day": "2026-12-03", "minutes": 30, "status": "booked"}]"#;
const CATALOG: &str = r#"
    [tables.horses]
    synonyms = ["horse", "pony"]
    [tables.horses.columns]
    owner_id = { references = "riders.rider_id", synonyms = ["owner"] }
    [tables.riders]
    synonyms = ["rider", "student"]
    [tables.coaches]
    synonyms = ["coach", "teacher"]
    [tables.lessons]
    synonyms = ["lesson"]
    [tables.lessons.columns]
    rider_id = { references = "riders.rider_id" }
    horse_id = { references = "horses.horse_id" }
    coach_id = { references = "coaches.coach_id" }

    [[actions]]
    name = "rest_horse"
    words = ["rest"]
    params.horse = { table = "horses" }

    [[actions]]
    name = "move_horse"
    words = ["move"]
    params.horse = { table = "horses" }
    params.box = { type = "count", after = ["to box"] }

    [[actions]]
    name = "credit_rider"
    words = ["credit"]
    params.rider = { table = "riders" }
    params.count = { type = "count", min = 1 }

    [[actions]]
    name = "cancel_lesson"
    words = ["cancel"]
    params.lesson = { table = "lessons" }

    [[actions]]
    name = "swap_coach"
    words = ["assign"]
    params.lesson = { table = "lessons" }
    params.coach = { table = "coaches", after = ["to"] }
"#;

fn stable(request: &str) -> Brief {
    let tables = [("horses", HORSES), ("riders", RIDERS), ("coaches", COACHES), ("lessons", LESSONS)];
    brief_of(&tables, CATALOG, request)
}

fn after(turns: &[(&str, &str)], request: &str) -> Brief {
    super::after(turns, "success", stable(request))
}

#[track_caller]
fn declined(requests: &[&str]) {
    are_declined(stable, requests);
}

#[track_caller]
fn reads(request: &str, reading: &str) {
    let said = said(&stable(request));
    assert!(said.contains(reading), "{request}: {said}");
}

#[test]
fn no_is_never_the_value_no_of_a_column() {
    declined(&[
        "cancel no lesson on 2026-12-03",
        "cancel no booked lesson of Rose Hill",
        "assign L2 to no jumping coach",
        "assign L2 to no Peter Short",
        "cancel never the booked lesson of Rose Hill",
        "are there no lame horses?",
        "is there no lesson on 2026-12-03?",
        "no lame horses",
    ]);
    reads("coaches with first aid", "first aid is yes");
    reads("coaches with no first aid", "first aid is not yes");
}

#[test]
fn a_little_word_is_a_value_beside_its_columns_name_alone() {
    declined(&["credit Mark Stone never 5", "credit Rose Hill off 5", "credit never Mark Stone 5"]);
    reads("riders with newsletter never", "newsletter is never");
    reads("set the newsletter of Rose Hill to never", "newsletter");
}

#[test]
fn a_day_or_an_amount_of_an_order_does_not_say_which_row_is_meant() {
    declined(&[
        "rest Duke until 2026-12-01",
        "rest Duke before 2026-12-01",
        "rest Duke by 2026-12-01",
        "rest Duke in 2012",
        "rest the horse in box 1 until 2026-12-01",
        "assign L2 to Ruth Bell before 2026-12-01",
        "cancel L2 by 2026-12-24",
        "cancel L2 for 30 minutes",
        "move Duke before 2026-12-01 to box 30",
        "set the weekly cost of Duke until 2026-12-31 to 50",
    ]);
    declined(&[
        "rest the horse in box 1 before 2026-12-01",
        "rest the horse in box 1 on 2026-12-01",
        "cancel the lesson of Rose Hill from 2026-11-17",
        "assign L2 to the dressage coach in 2012",
    ]);
    reads("rest Duke until 2026-12-01", "carried out at once");
    reads("rest the horse born before 2010", "born is below 2010-01-01");
    reads("rest Duke", "horse Duke");
    reads("cancel the lesson on 2026-12-03", "cancel lesson");
}

#[test]
fn what_is_said_of_a_row_is_no_order() {
    declined(&[
        "Duke needs to rest",
        "Duke wants to move to box 3",
        "L2 needs to cancel",
        "Rose Hill wants to credit 5",
    ]);
    reads("Duke needs to rest", "says something and asks nothing");
}

#[test]
fn several_rows_of_one_name_are_asked_about() {
    declined(&["rest the Dukes", "rest Dukes", "rest Pennies", "rest the oldest shires"]);
    declined(&["move Dukes to box 30", "move the oldest shires to box 30"]);
    declined(&["remove Dukes", "cancel both L2"]);
    reads("rest Dukes", "“Dukes” is more than one");
    reads("rest the oldest shire", "rest horse");
}

#[test]
fn that_after_a_figure_is_no_row_to_remove() {
    for (before, request, is_read) in [
        ("what is the weekly cost of Duke?", "delete that", false),
        ("what is the weekly cost of Duke?", "delete it", true),
        ("is Duke fit?", "delete that", true),
    ] {
        let brief = after(&[(before, "")], request);
        assert_eq!(
            matches!(reader::plan(&brief), Reply::Plan(_)),
            is_read,
            "{before} {request}: {}",
            said(&brief)
        );
    }
}

#[test]
fn the_older_one_of_three_is_asked_about() {
    let list =
        "3 horses (condition is fit): Duke (condition fit); Old Tom (condition fit); Penny (condition fit).";
    let brief = after(&[("which horses are fit?", list)], "rest the older one");
    assert!(!matches!(reader::plan(&brief), Reply::Plan(_)), "{}", said(&brief));
}

#[test]
fn a_number_may_be_joined_to_what_it_is_of() {
    reads("credit Rose Hill with 5", "credit rider: rider Rose Hill, count 5");
    reads("credit 3 to Rose Hill", "count 3");
    declined(&["credit with 5", "rest to Duke", "credit Rose Hill of 5"]);
}

#[test]
fn an_adjective_is_no_part_of_a_name() {
    declined(&[
        "rest the little horse",
        "rest a little shire",
        "rest the little one",
        "set the weekly cost of old horses to 10",
        "rest Tom Old",
    ]);
    reads("rest Old Tom", "Old Tom");
    declined(&["short lessons", "old horses", "little horses"]);
}

#[test]
fn an_order_without_its_row_does_not_take_it_from_the_question_before() {
    for (before, request) in
        [("is Duke fit?", "move to box 30"), ("how many credits does Rose Hill have?", "credit 5")]
    {
        let said = said(&after(&[(before, "")], request));
        assert!(said.contains("I need to know which of the"), "{request}: {said}");
    }
}

#[test]
fn one_of_a_list_in_some_order_is_one_of_the_rows_that_were_shown() {
    let list =
        "2 horses (the 2 lowest by weekly cost): Penny (weekly cost 21.5); Little Star (weekly cost 31.5).";
    for request in ["rest the older one", "which of them are fit?", "average weekly cost?"] {
        let said = said(&after(&[("the 2 horses with the lowest weekly cost", list)], request));
        assert!(said.contains("Penny") && said.contains("Little Star"), "{request}: {said}");
    }
    let unknown = after(&[("the 2 horses with the lowest weekly cost", "")], "which of them are fit?");
    assert!(!matches!(reader::plan(&unknown), Reply::Plan(_)), "{}", said(&unknown));
}

#[test]
fn which_one_is_one_of_all_that_were_named() {
    let said = said(&after(&[("is Duke fit?", ""), ("is Penny fit?", "")], "which one is older?"));
    assert!(said.contains("Duke") && said.contains("Penny"), "{said}");
}

#[test]
fn who_did_it_and_when_is_never_said_of_the_owner_or_the_birth() {
    declined(&["which horses has Mark Stone ridden?", "how many horses has Mark Stone ridden?"]);
    let lesson = "lesson whose status is ridden, ";
    reads("horses ridden by Mark Stone", &format!("there is a {lesson}rider's name is Mark Stone"));
    reads("horses not ridden by Mark Stone", &format!("there is no {lesson}rider's name is Mark Stone"));
    reads("horses ridden by beginners", &format!("there is a {lesson}rider's level is beginner"));
    reads("which riders have ridden Penny?", &format!("there is a {lesson}horse's name is Penny"));
    reads("horses ridden on 2026-10-02", &format!("there is a {lesson}day is on 2026-10-02"));
    reads("horses born after 2013", "born");
}

#[test]
fn two_kinds_with_two_values_are_not_mixed() {
    declined(&["bay cobs and black shires", "average weekly cost of bay cobs and black shires"]);
    reads("bay cobs", "colour is bay, breed is cob");
}

#[test]
fn the_fewest_of_another_table_may_be_none() {
    declined(&["which coach has the fewest lessons?", "which breed has the fewest lame horses?"]);
    reads("which coach has the most lessons?", "number of lessons by coach's name");
}

#[test]
fn or_between_two_names_is_not_and() {
    declined(&["is Duke or Penny lame?", "are Duke, Old Tom or Penny lame?"]);
    reads("are Duke and Penny lame?", "condition is lame");
}

#[test]
fn a_new_row_refers_to_rows_that_are_there() {
    declined(&[
        "add a lesson with lesson id L99 and rider id R99",
        "add a lesson with lesson id L99 and rider id Rose",
        "add a horse called Blaze with horse id H99 and owner Bob",
    ]);
    reads("add a lesson with lesson id L99 and rider id R1", "rider id R1");
    let request = "add a lesson with lesson id L99 and rider Rose Hill";
    reads(request, "rider id Rose Hill");
    let Reply::Plan(draft) = reader::plan(&stable(request)) else { panic!() };
    assert!(draft.code.contains("\"rider_id\": found[0][0][\"key\"]"), "{}", draft.code);
}

#[test]
fn a_column_that_refers_is_set_to_a_row_by_its_name_or_key() {
    reads("set the owner of Duke to Rose Hill", "owner id of Duke becomes Rose Hill");
    reads("set the owner of Duke to R1", "owner id of Duke becomes R1");
    reads("set the coach of L2 to Peter Short", "coach id of L2 becomes Peter Short");
    declined(&[
        "set the owner of Duke to Penny",
        "set the owner of Duke to R99",
        "set the owner of Duke to Rose",
    ]);
}

#[test]
fn a_row_that_others_refer_to_is_not_removed() {
    let Reply::Plan(draft) = reader::plan(&stable("remove Duke")) else { panic!() };
    assert!(draft.code.contains("lessons_tbl.count(where(\"horse_id\") == row[\"key\"])"), "{}", draft.code);
}

#[test]
fn no_credits_are_none_and_under_is_no_equal_sign() {
    reads("riders with no credits", "credits is 0");
    let said = said(&stable("horses under 40 weekly cost"));
    assert!(!said.contains("is 40"), "{said}");
    reads("horses whose colour is bay", "colour is bay");
}

#[test]
fn a_row_that_is_referred_to_is_told_by_its_name() {
    reads("the owner of Duke", "rider's name of horses where name is Duke");
    reads("the owner id of Duke", "owner id of horses where name is Duke");
    reads("coaches with booked lessons", "coaches where there is a lesson");
}
