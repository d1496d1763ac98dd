//! Answers, judged against a small sale.

use ordain_types::{Row, RowChange, TableDiff};
use serde_json::{Value, json};

use super::*;

fn row(value: &Value) -> Row {
    serde_json::from_value(value.clone()).unwrap()
}

/// Three Classic were sold for 180.
fn sale() -> Diff {
    let mut diff = Diff::default();
    let changed = RowChange {
        key: row(&json!({"item_id": "SG005"})),
        before: row(&json!({"item_id": "SG005", "name": "Classic", "stock": 10, "price": 60})),
        after: row(&json!({"item_id": "SG005", "name": "Classic", "stock": 7, "price": 60})),
    };
    diff.tables.insert("inventory".to_owned(), TableDiff { changed: vec![changed], ..TableDiff::default() });
    let added = row(&json!({"id": "TXN002", "amount": 180.0, "balance": 680.0, "customer": "Alice"}));
    diff.tables.insert("sales".to_owned(), TableDiff { added: vec![added], ..TableDiff::default() });
    diff
}

fn evidence() -> Evidence {
    let mut evidence = Evidence::default();
    evidence.take(
        Some("inventory"),
        &json!({"columns": ["name", "stock", "price", "total"], "rows": [
            [1, ["Classic", 10, 60, 500]],
            [2, ["Aviator", 23, 80.5, 0]],
        ]}),
    );
    evidence.take(Some("payments"), &json!({ "method": "voucher", "card": "Blue Card" }));
    evidence
}

fn judge(answer: &str, diff: &Diff, code: &str) -> Option<String> {
    let (request, policy) = ("buy 3 classics for Alice", "A discount of 15% from 250 on.");
    unsupported(Told { answer, request, policy, code, diff }, &evidence()).map(|trouble| trouble.code)
}

#[test]
fn what_the_run_shows_may_be_said_in_any_language() {
    for answer in [
        "Sold 3 Classic to Alice for $180; 7 are left and the balance is $680.",
        "Verkauft: 3 Classic, zusammen 180,00 €, noch 7 da.",
        "Done! Stock went from 10 to 7; 15% off from 250 on.",
        // What was read, and the sum of a column.
        "Sold 3 Classic. Another one is 80.50, and 33 pairs were there before.",
        "Sold 3 Classic in total.",
    ] {
        assert_eq!(judge(answer, &sale(), ""), None, "{answer}");
    }
}

#[test]
fn a_number_in_the_name_of_a_column_is_no_figure() {
    let (request, policy, diff) = ("total metric_54 of sales", "", &Diff::default());
    let code = "answer_text = f'The total metric 54 of sales is {a}, metric 64 is {b}'\n";
    let judge = |answer| unsupported(Told { answer, request, policy, code, diff }, &evidence());
    assert!(judge("The total metric 54 of sales is 60.").is_none());
    assert!(judge("The total metric 64 of sales is 60.").is_some());
}

#[test]
fn a_number_that_nothing_gives_is_unsupported() {
    for answer in ["Sold 5 Classic for $180.", "Sold 3 Classic for $175.", "Sold 3 Classic, balance $999."] {
        assert_eq!(judge(answer, &sale(), "").as_deref(), Some("number-not-in-diff"), "{answer}");
    }
}

#[test]
fn another_thing_than_the_changed_one_is_a_foreign_name() {
    assert_eq!(judge("Sold 3 Aviator for $180.", &sale(), "").as_deref(), Some("name-not-in-diff"));
}

#[test]
fn a_payment_that_is_mentioned_and_did_not_change_is_no_false_alarm() {
    assert_eq!(judge("Sold 3 Classic for $180, paid with the voucher Blue Card.", &sale(), ""), None);
}

#[test]
fn a_number_that_stands_in_the_code_and_nowhere_else_is_unsupported() {
    let nothing = Diff::default();
    let code = "answer_text = 'The Classic is $49 today.'\n";
    assert_eq!(judge("The Classic is $49 today.", &nothing, code).as_deref(), Some("number-from-nowhere"));
    // The same number, computed, is the plan's own arithmetic.
    assert_eq!(judge("The Classic is $49 today.", &nothing, "answer_text = f'The Classic is ${x}'\n"), None);
}

#[test]
fn the_count_and_the_sums_of_a_query_s_rows_are_no_false_alarm() {
    let mut evidence = Evidence::default();
    evidence.take(
        None,
        &json!({"rows": [{"name": "Clos Noir", "price": 18.5}, {"name": "Rosa Vera", "price": 8.2}]}),
    );
    let code = "answer_text = f'{len(rows)} wines of 2 kinds: {total:,.2f} for 26'\n";
    let (request, policy, diff) = ("wines from France", "", &Diff::default());
    let judge = |answer| unsupported(Told { answer, request, policy, code, diff }, &evidence);
    assert_eq!(judge("2 wines: 26.70 for all."), None);
    assert_eq!(judge("26 wines.").map(|trouble| trouble.code).as_deref(), Some("number-from-nowhere"));
}

#[test]
fn an_answer_of_many_words_about_many_names_is_judged_within_bounds() {
    let mut evidence = Evidence::default();
    let rows: Vec<Value> = (0..19_000).map(|number| json!([format!("name{number}")])).collect();
    evidence.take(Some("inventory"), &json!({ "rows": rows }));
    let answer = "word ".repeat(1_000_000);
    let told = Told { answer: &answer, request: "x", policy: "", code: "", diff: &sale() };
    assert_eq!(unsupported(told, &evidence), None);
}

#[test]
fn the_plain_answer_says_what_changed_and_no_more() {
    assert_eq!(
        plain_answer(&sale(), &[]),
        "Done. SG005 of inventory was changed, and 1 row was added to sales."
    );
}
