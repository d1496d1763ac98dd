//! What people stumbled on who met the reader for the first time.

use ordain_planner::{Brief, Task};

use super::{brief, plan, said, table};

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

#[test]
fn a_noun_that_is_a_column_elsewhere_is_not_the_one_row_with_that_word_in_its_name() {
    let glasses = r#"[{"id": "G1", "name": "Pilot", "shape": "round"}, {"id": "G2", "name": "Half Frame", "shape": "oval"}]"#;
    let repairs = r#"[{"repair_no": 1, "frame": "metal"}, {"repair_no": 2, "frame": "acetate"}]"#;
    let eyewear = |request: &str| {
        let tables = vec![table("glasses", glasses), table("repairs", repairs)];
        said(&Brief { tables: tables.into(), ..Brief::new(Task::Ask, request) })
    };
    for request in ["which frames are round?", "how many frames do we have?", "show all frames"] {
        assert!(eyewear(request).contains("understand"), "{request}: {}", eyewear(request));
    }
    assert_eq!(eyewear("how many different frames are there?"), "number of different frames of repairs");
    assert_eq!(eyewear("show the Half Frame"), "glasses where name is Half Frame");
}
