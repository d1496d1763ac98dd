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

/// The values of the columns of a long data file in one of its rows, and the types that are to be found.
type Columns<'a> = &'a [(&'a str, &'a str, &'a dyn Fn(usize) -> String)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_file_that_is_read_in_blocks_has_the_types_and_values_of_all_its_rows() {
    let late = |number: usize| number >= ALIKE - 2;
    let columns: Columns<'_> = &[
        ("n", "integer", &|number| number.to_string()),
        ("below", "integer", &|number| format!("-{}", number % 90)),
        ("price", "real", &|number| format!("{}.5", number % 500)),
        ("size", "real", &|number| if late(number) { "2.25".to_owned() } else { "2".to_owned() }),
        ("code", "identifier", &|number| if late(number) { "01067".to_owned() } else { "11067".to_owned() }),
        ("gap", "integer", &|number| if late(number) { String::new() } else { "7".to_owned() }),
        ("big", "integer", &|number| {
            if late(number) { String::new() } else { (1_u64 << 53 | 1).to_string() }
        }),
        ("odd", "integer", &|number| if late(number) { "many".to_owned() } else { "7".to_owned() }),
        ("day", "date", &|number| format!("2024-02-{:02}", number % 28 + 1)),
        ("at", "timestamp", &|number| {
            if late(number) { "2024-02-29 10:00" } else { "2024-02-28" }.to_owned()
        }),
        ("label", "category", &|number| if number % 3 == 0 { "a,b" } else { "c" }.to_owned()),
    ];
    let mut text = columns.iter().map(|column| column.0).collect::<Vec<_>>().join(",") + "\n";
    for number in 0..ALIKE {
        let row: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.2(number))).collect();
        let _ = writeln!(text, "{}", row.join(","));
    }
    let is = |id: &str, kind: &str, params: Value| json!({"check_id": id, "kind": kind, "target_table": "long", "params": params});
    let checks = json!([
        is("n", "range", json!({"column": "n", "min": 0, "max": ALIKE - 2})),
        is("below", "range", json!({"column": "below", "min": -89})),
        is("size", "range", json!({"column": "size", "max": 2})),
        is("gap", "not_null", json!({"columns": ["gap"]})),
        is("big", "in_set", json!({"column": "big", "values": [(1_u64 << 53 | 1)]})),
        is("odd", "range", json!({"column": "odd", "max": 7})),
        is("at", "range", json!({"column": "at", "max": "2024-02-28"})),
        is("label", "in_set", json!({"column": "label", "values": ["a,b", "c"]})),
    ]);
    let world = World::with(&checks.to_string(), &[]);
    fs_err::write(world.root().join("data/long.csv"), text).unwrap();
    let states = world.checks().await.all_tables().await.unwrap();
    let told = states["long"].told("long");
    assert_eq!(told["rows"], ALIKE);
    for (name, kind, _) in columns {
        assert_eq!(column(&told, name)["type"], *kind, "{told}");
    }
    let note = column(&told, "odd")["notes"].to_string();
    assert!(note.contains(&format!("rows {}, {} ('many', 'many')", ALIKE, ALIKE + 1)), "{note}");
    let results = world.run().await;
    let failed = |id: &str| results[id].failed;
    let found = ["n", "below", "size", "gap", "big", "odd", "at", "label"].map(|id| (id, failed(id)));
    let wanted =
        [("n", 1), ("below", 0), ("size", 2), ("gap", 2), ("big", 0), ("odd", 2), ("at", 2), ("label", 0)];
    assert_eq!(found, wanted.map(|(id, failed)| (id, Some(failed))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_data_file_is_read_where_its_cell_may_start_no_thread() {
    let rule = json!([{"check_id": "n", "kind": "range", "target_table": "long", "params": {"column": "n", "min": 1000}}]);
    let world = World::with(&rule.to_string(), &[]);
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[limits]\nprocesses = 1\n");
    world.write("data/long.csv", &table("n,v,a,b", "1,x,y", &[]));
    let results = world.run().await;
    assert_eq!((results["n"].evaluated, results["n"].failed), (Some(ALIKE as u64), Some(0)), "{results:?}");
}
