//! What people stumbled on who met the reader for the first time.

use super::{brief, brief_of, plan, said};

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
    let eyewear = |request: &str| said(&brief_of(&[("glasses", glasses), ("repairs", repairs)], "", request));
    for request in ["which frames are round?", "how many frames do we have?", "show all frames"] {
        assert!(eyewear(request).contains("understand"), "{request}: {}", eyewear(request));
    }
    assert_eq!(eyewear("how many different frames are there?"), "number of different frames of repairs");
    assert_eq!(eyewear("show the Half Frame"), "glasses where name is Half Frame");
}

#[test]
fn what_is_said_of_a_deed_is_never_taken_for_a_word_about_who_did_it() {
    let plants = r#"[{"plant_id": "P1", "name": "Mountain Heather", "kind": "shrub"}, {"plant_id": "P2", "name": "Lady Fern", "kind": "fern"}]"#;
    let customers = r#"[{"customer_id": "C1", "name": "Heather Quinn", "joined": "2024-05-01"}, {"customer_id": "C2", "name": "Tom Ashby", "joined": "2026-10-02"}]"#;
    let sales = r#"[{"sale_id": "S1", "plant_id": "P1", "customer_id": "C2", "quantity": 2, "sold_on": "2026-10-03"}]"#;
    let catalog = r#"
        phrasings = [{ words = ["buy"], table = "sales" }]
        [tables.sales.columns]
        plant_id = { references = "plants.plant_id" }
        customer_id = { references = "customers.customer_id" }
    "#;
    let nursery = |request: &str| {
        let tables = [("plants", plants), ("customers", customers), ("sales", sales)];
        said(&brief_of(&tables, catalog, request))
    };
    for request in [
        "which plants did Tom Ashby not buy?",
        "which customers bought something in October 2026?",
        "did Heather Quinn buy anything in 2024?",
        "who bought a fern but no shrub?",
        "customers who bought a fern and a shrub",
    ] {
        let said = nursery(request);
        assert!(said.contains("understand") || said.contains("Which one"), "{request}: {said}");
    }
    let read = nursery("which customers never bought anything?");
    assert_eq!(read, "customers where there is no sale");
    assert!(nursery("did Heather Quinn buy any heather?").contains("plant's name has “heather”"));
    assert!(nursery("who bought heather?").contains("plant's name has “heather”"));
    assert!(nursery("who bought the Lady Fern?").contains("plant's name is Lady Fern"));
}
