//! Tables that are too long to be kept while they are looked into: what is decided holds for every row.

use std::fmt::Write as _;

use ordain_engine::CodeTask;
use ordain_types::Limits;
use serde_json::{Value, json};

use crate::checks::World;

/// Rows that are alike before the last ones of a table, which are not.
const ALIKE: usize = 210_000;

fn table(header: &str, row: &str, last: &[&str]) -> String {
    let mut text = format!("{header}\n");
    for number in 0..ALIKE {
        let _ = writeln!(text, "{},{row}", 1000 + number % 9000);
    }
    for row in last {
        let _ = writeln!(text, "{row}");
    }
    text
}

/// What is found in a file of this name and content.
async fn found(name: &str, content: &str) -> Value {
    let world = World::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs_err::write(&path, content).unwrap();
    let prepared = engine.prepare_files(&[path], &[], &Limits::default()).await.unwrap();
    assert_eq!(prepared.problems(), []);
    prepared.briefs[0].facts["tables"][0].clone()
}

fn column<'a>(table: &'a Value, name: &str) -> &'a Value {
    table["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_only_in_the_last_rows_of_a_long_table_decides_its_columns_too() {
    let last =
        ["1000,€1000,1000 g,01067,23/02/2024,0.05,NA,1.5,x", "1000,£1000,5 lb,01069,24/02/2024,5%,7,2,late"];
    let table = found(
        "long.csv",
        &table("n,v,w,code,day,rate,gap,size,word", "$1,1 kg,11067,01/02/2024,5%,6,1,x", &last),
    )
    .await;
    assert_eq!(table["rows"], ALIKE + 2);
    for (name, kind, note) in [
        ("v", "text", "several units (EUR, GBP, USD)"),
        ("w", "text", "several units (g, kg, lb)"),
        ("code", "identifier", "digits with zeros in front"),
        ("day", "date", ""),
        ("rate", "percent", "1 of 210002 values have no %"),
        ("gap", "integer", "read as missing: 'NA' (1)"),
        ("size", "real", ""),
        ("word", "category", ""),
    ] {
        let column = column(&table, name);
        assert_eq!(column["type"], kind, "{column}");
        assert!(note.is_empty() || column["notes"].to_string().contains(note), "{column}");
    }
    assert_eq!(column(&table, "day")["order"], "day-first");
    assert_eq!(column(&table, "size")["max"], 2.0);
    assert_eq!(column(&table, "word")["values"], json!(["x", "late"]));
    assert_eq!(column(&table, "n")["max"], 9999);
    assert!(!table.to_string().contains("decided on the first"), "{table}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_total_row_of_a_long_table_is_not_counted() {
    let world = World::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    let total = format!("Total,{ALIKE},,,");
    fs_err::write(&path, table("shop,v,a,b,c", "1,x,y,z", &["1,many,x,y,z", &total, ",,,,"])).unwrap();
    let task = CodeTask { files: vec![path.clone()], ..CodeTask::new("total v", "test", "test") };
    let answer = engine.code(task).await.unwrap();
    assert_eq!(answer.record.answer.json, Some(json!(420_000.0)), "{:?}", answer.record);
    fs_err::write(&path, table("shop,v,a,b,c", "1,x,y,z", &[&total, ",,,,", "Source: the shops"])).unwrap();
    let task = CodeTask { files: vec![path], ..CodeTask::new("total v", "test", "test") };
    let answer = engine.code(task).await.unwrap();
    assert_eq!(answer.record.answer.json, Some(json!(ALIKE)), "{:?}", answer.record);
    let notes = answer.record.answer.notes.join("\n");
    assert!(notes.contains("its last row (Total) is the total of the others"), "{notes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_only_late_lines_have_is_a_column() {
    let mut lines = "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5}\n".repeat(ALIKE);
    lines.push_str("{\"a\":1.5,\"extra\":\"x\"}\n");
    let table = found("events.jsonl", &lines).await;
    assert_eq!(table["rows"], ALIKE + 1);
    assert_eq!(column(&table, "a")["type"], "real");
    assert_eq!(column(&table, "extra")["values"], json!(["x"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_does_not_fit_is_told_with_its_row_however_long_the_table_is() {
    let table = found("long.csv", &table("n,v,a,b,c", "1,x,y,z", &["1,many,x,y,z"])).await;
    let note = format!("1 of {} values cannot be read as numbers: row {} ('many')", "210,001", ALIKE + 2);
    assert_eq!(column(&table, "v")["notes"], json!([note]));
}
