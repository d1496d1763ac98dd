//! Requests and values of any characters never end the program.

use std::sync::Arc;

use ordain_planner::reader;
use serde_json::Value;

use super::{brief, refusal};

#[test]
fn a_sign_right_after_a_number_never_ends_the_program() {
    for sign in ["€", "°C", "–", "×", "½", "’", "²", "％", "₂", "…", "\u{a0}", "é", "日"] {
        for request in
            [format!("items under 100{sign}"), format!("buy 5{sign} moons"), format!("1{sign}5 moons")]
        {
            let _ = reader::plan(&brief("sunglasses", &request));
        }
    }
    assert!(!refusal("sunglasses", "items under 100°C").is_empty());
}

#[test]
fn fuzz_requests() {
    let seeds = [
        "Buy 2 Moon for customer Zoë – by 14.03.2026, 5 %",
        "items under 1.000,50€ and above ½ of $1,000.5e3",
        "restock 5°C × “SG005” at 10:30pm or 3–4 pm…",
        "Wie heißt das 7,- Modell № 12 ’tis SG00５?",
    ];
    let seeds: Vec<&[u8]> = seeds.iter().map(|seed| seed.as_bytes()).collect();
    let blank = brief("sunglasses", "");
    ordain_testkit::fuzz::run("requests", &seeds, |input| {
        let text = String::from_utf8_lossy(input);
        let mut spoiled = blank.clone();
        if input.len() % 4 > 0 {
            spoiled.request = text.into_owned();
            let _ = reader::plan(&spoiled);
            return;
        }
        // As a value of a column.
        let tables = Arc::make_mut(&mut spoiled.tables);
        for values in tables[0].columns.iter_mut().filter_map(|column| column.values.as_mut()) {
            values.truncate(2);
            values.push(Value::String(text.clone().into_owned()));
        }
        spoiled.request = format!("how many items are there with {}", tables[0].columns[1].name);
        let _ = reader::plan(&spoiled);
    });
}
