//! How tables are read: files as spreadsheet programs, pandas, R and people of several countries write them.

mod found;
mod long;

use std::path::PathBuf;

use ordain_checks::CheckStatus;
use ordain_engine::CodeTask;
use ordain_types::{Limits, SourceFile};
use serde_json::{Value, json};

use crate::checks::{World as Checked, keys, stands};

use found::{Case, FOUND};

const CASES: &[Case] = &[
    // A German spreadsheet: semicolons, decimal commas, points between thousands, dates by day.
    (
        "german.csv",
        "Name;Preis;Datum;PLZ;Bezahlt\nÄpfel;1.234,50;15.03.2024;01067;ja\nBirnen;0,99;01.02.2024;10115;nein\n".as_bytes(),
        &["Preis: real decimal=, thousands=.", "Datum: date order=day-first", "PLZ: identifier", "Bezahlt: boolean"],
        "",
    ),
    // A French one: thin blanks between thousands, euros behind the number.
    (
        "french.csv",
        "Produit;Montant;Remise\nA;1\u{202f}234,50 €;5 %\nB;12,00 €;7,5 %\n".as_bytes(),
        &["Montant: decimal decimal=, currency=EUR", "Remise: percent decimal=,"],
        "",
    ),
    // A Swiss one: apostrophes, francs, a dash for no centimes.
    (
        "swiss.csv",
        "Artikel,Betrag\nA,CHF 1'200.50\nB,CHF 5.–\n".as_bytes(),
        &["Betrag: decimal thousands=' currency=CHF"],
        "",
    ),
    ("francs.csv", "Nr;Betrag\n1;1’201.–\n2;3’000.–\n".as_bytes(), &["Betrag: integer thousands=' max=3000"], ""),
    // A frame as pandas writes it with its schema.
    (
        "schema.json",
        br#"{"schema": {"fields": [{"name": "index", "type": "integer"}, {"name": "v", "type": "number"}], "primaryKey": ["index"], "pandas_version": "1.4.0"}, "data": [{"index": 0, "v": 1.5}, {"index": 1, "v": 2.5}]}"#,
        &["v: real max=2.5"],
        "",
    ),
    // Prices below one, which begin with a zero.
    ("prices.csv", b"item,price\na,0.99\nb,2.50\nc,7.20\n", &["price: real"], ""),
    // The whole column decides which is day and which is month.
    ("dates.csv", b"d\n15/03/2024\n01/02/2024\n", &["d: date order=day-first max=2024-03-15"], ""),
    ("american.csv", b"d\n03/15/2024\n01/02/2024\n", &["d: date order=month-first min=2024-01-02"], ""),
    ("either.csv", b"d\n01/02/2024\n03/04/2024\n", &["d: date order=month-first"], "01/02/2024 is read month-first"),
    ("both.csv", b"d\n15/03/2024\n03/15/2024\n", &["d: text"], "partly day-first and partly month-first"),
    // A day that there is not is not taken for another order of day and month.
    ("unreal.csv", b"d\n2024-01-05\n2024-02-30\n2024-03-01\n", &["d: text"], "it holds dates, but 2024-02-30 is none"),
    // Names of rows without a name, and NA, as R writes them.
    ("r.csv", b"\"x\",\"y\"\n\"1\",5,\"a\"\n\"2\",NA,\"b\"\n", &["row: integer", "x: integer", "y: text"], "'NA' (1)"),
    // A title, an empty line, dollars, a mark for nothing and a total.
    (
        "report.csv",
        b"Sales report 2024\n\nRegion,Units,Price\nNorth,5,$1.50\nSouth,7,\"$1,200.00\"\nEast,n/a,$3.00\nTotal,12,\"$1,204.50\"\n",
        &["Region: text", "Units: integer max=7", "Price: decimal currency=USD max=1200.0"],
        "its last row (Total) is the total of the others",
    ),
    // Names in two rows, and units in a row of their own.
    ("two.csv", b",Q1,,Q2,\ncity,units,price,units,price\nx,1,2.5,3,4.5\n", &["Q1 units: integer", "Q2 price: real"], "joined"),
    ("units.csv", b"weight,length\n[kg],[m]\n1.5,2\n2.5,3\n", &["weight: real unit=kg", "length: integer unit=m"], ""),
    ("named.csv", b"weight (kg),a,a\n1.5,1,2\n", &["weight (kg): real unit=kg", "a.1: integer"], "two columns are called 'a'"),
    // A few slips do not make a column of numbers one of words; they are reported by their rows.
    (
        "slips.csv",
        b"n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\nabc\n",
        &["n: integer"],
        "1 of 12 values cannot be read as numbers: row 13 ('abc')",
    ),
    ("nine.csv", b"n\n1\n2\n3\n4\n5\n6\n7\n8\n9\nabc\n", &["n: integer"], "row 11 ('abc')"),
    ("words.csv", b"n\n1\nabc\n", &["n: text"], "so it is read as text"),
    ("zones.csv", b"at\n2024-03-15T10:00:00Z\n2024-03-15 11:00:00+02:00\n", &["at: timestamp zone=UTC max=2024-03-15T10:00:00"], ""),
    ("spans.csv", b"duration\n1:30:00\n0:45:00\n", &["duration: duration unit=s max=5400.0"], "seconds"),
    ("flags.csv", b"is_paid,x\n1,1\n0,0\n", &["is_paid: boolean", "x: integer"], ""),
    ("country.csv", b"code\nNA\nDE\nFR\n", &["code: text"], ""),
];

/// The same orders as other programs write them; `forms/README.md` says how they were made.
macro_rules! orders {
    ($name:literal, $file:literal, $columns:expr, $note:literal) => {
        ($name, include_bytes!(concat!("forms/", $file)), $columns, $note)
    };
}

const WORKBOOK: &[&str] = &[
    "order: identifier",
    "ordered: date max=2024-12-01",
    "units: integer max=12000",
    "total: decimal currency=EUR max=12000",
    "share: percent min=7.0 max=100",
];
const SWISS: &[&str] = &["ordered: date", "total: decimal currency=CHF max=12000", "share: percent min=7.0"];
const PLAIN: &[&str] =
    &["order: identifier", "units: integer max=12000", "total: real min=0.99", "share: real"];

const MADE: &[Case] = &[
    orders!(
        "orders_german_csv.csv",
        "german.csv",
        &[
            "order: identifier",
            "ordered: date order=day-first max=2024-12-01",
            "units: integer thousands=. max=12000",
            "total: decimal decimal=, thousands=. currency=EUR max=12000.0",
            "share: percent decimal=, min=7.0",
        ],
        ""
    ),
    orders!("orders_german_ods.ods", "german.ods", WORKBOOK, ""),
    orders!("orders_german_xls.xls", "german.xls", WORKBOOK, ""),
    orders!("orders_german_xlsx.xlsx", "german.xlsx", WORKBOOK, ""),
    orders!(
        "orders_french_csv.csv",
        "french.csv",
        &[
            "ordered: date order=day-first max=2024-12-01",
            "units: integer max=12000",
            "total: decimal decimal=, currency=EUR max=12000.0",
            "share: percent decimal=, min=7.0",
        ],
        ""
    ),
    orders!("orders_french_ods.ods", "french.ods", WORKBOOK, ""),
    orders!("orders_french_xls.xls", "french.xls", WORKBOOK, ""),
    orders!("orders_french_xlsx.xlsx", "french.xlsx", WORKBOOK, ""),
    orders!(
        "orders_swiss_csv.csv",
        "swiss.csv",
        &[
            "ordered: date order=day-first max=2024-12-01",
            "units: integer thousands=' max=12000",
            "total: decimal thousands=' currency=CHF max=12000.0",
            "share: percent min=7.0",
        ],
        ""
    ),
    orders!("orders_swiss_ods.ods", "swiss.ods", SWISS, ""),
    orders!("orders_swiss_xls.xls", "swiss.xls", SWISS, ""),
    orders!("orders_swiss_xlsx.xlsx", "swiss.xlsx", SWISS, ""),
    orders!("orders_pandas_csv.csv", "pandas.csv", PLAIN, "has no name and is called 'Unnamed: 0'"),
    orders!(
        "orders_pandas_de_csv.csv",
        "pandas_de.csv",
        &["ordered: date order=day-first", "total: real decimal=, max=12000.0"],
        ""
    ),
    orders!("orders_pandas_xlsx.xlsx", "pandas.xlsx", PLAIN, ""),
    orders!(
        "orders_pandas_parquet.parquet",
        "pandas.parquet",
        &["ordered: timestamp zone=UTC max=2024-11-30T23:00:00", "units: integer"],
        ""
    ),
    orders!("orders_pandas_split_json.json", "pandas_split.json", PLAIN, ""),
    orders!("orders_r_csv.csv", "r.csv", PLAIN, "'NA' (1)"),
    orders!(
        "orders_r2_csv.csv",
        "r2.csv",
        &["total: real decimal=, max=12000", "share: real decimal=,"],
        "'NA' (1)"
    ),
];

fn told(column: &Value) -> String {
    let mut told = format!("{}: {}", column["name"].as_str().unwrap(), column["type"].as_str().unwrap());
    for key in ["decimal", "thousands", "currency", "unit", "order", "zone", "min", "max"] {
        if let Some(value) = column.get(key) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            told = format!("{told} {key}={value}");
        }
    }
    told
}

/// Whether all words of what is wanted stand in what was told.
fn says(told: &str, wanted: &str) -> bool {
    let (name, rest) = wanted.split_once(": ").unwrap();
    told.strip_prefix(&format!("{name}: "))
        .is_some_and(|told| rest.split(' ').all(|word| told.split(' ').any(|other| other == word)))
}

fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(FOUND).chain(MADE)
}

fn written(folder: &std::path::Path) -> Vec<PathBuf> {
    cases()
        .map(|(name, content, ..)| {
            let path = folder.join(name);
            fs_err::write(&path, content).unwrap();
            path
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_read_as_a_careful_analyst_would() {
    let world = Checked::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let prepared = engine.prepare_files(&written(folder.path()), &[], &Limits::default()).await.unwrap();
    assert_eq!(prepared.problems(), []);
    let mut wrong = Vec::new();
    for ((name, _, columns, note), brief) in cases().zip(&prepared.briefs) {
        let table = &brief.facts["tables"][0];
        let found: Vec<String> = table["columns"].as_array().unwrap().iter().map(told).collect();
        for wanted in *columns {
            if !found.iter().any(|found| says(found, wanted)) {
                wrong.push(format!("{name}: no `{wanted}` in {found:?}"));
            }
        }
        if !table.to_string().contains(note) {
            wrong.push(format!("{name}: no `{note}` in {table}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether checks read a file of this name, and all of it is one table.
fn is_table_of_checks(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    matches!(ending, "csv" | "tsv" | "json" | "jsonl" | "txt" | "xml" | "yaml")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checks_read_files_as_questions_about_them_do() {
    let checked = Checked::with("[]", &[]);
    let engine = checked.engine().await;
    let files = written(&checked.root().join("data"));
    let prepared = engine.prepare_files(&files, &[], &Limits::default()).await.unwrap();
    let states = checked.checks().await.all_tables().await.unwrap();
    let types = |columns: &Value| -> Vec<String> {
        let typed = columns.as_array().into_iter().flatten();
        typed.map(|column| format!("{} {}", column["name"], column["type"])).collect()
    };
    let mut wrong = Vec::new();
    for brief in prepared.briefs.iter().filter(|brief| is_table_of_checks(&brief.name)) {
        let tables = brief.facts["tables"].as_array().unwrap();
        let (stem, _) = brief.name.rsplit_once('.').unwrap();
        let Some(state) = states.get(stem).filter(|_| tables.len() == 1) else { continue };
        let told = state.told(stem);
        // Two files of one name are told, and neither is taken; so is a line that is longer than the header.
        if told["problem"]
            .as_str()
            .is_some_and(|said| said.contains("two sources") || said.contains("fields where"))
        {
            continue;
        }
        let (one, other) = (types(&tables[0]["columns"]), types(&told["columns"]));
        if one != other || tables[0]["rows"] != told["rows"] {
            wrong.push(format!("{}: {one:?} and {other:?} {}", brief.name, told["problem"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Truth values with gaps are `True`, `False` and `None` in a column of objects: pandas' own `boolean` would let a row
/// without a value pass both a comparison and its negation.
const BOOLEANS: &str = "(rows[name].dtype.kind != 'O' or told[name] != 'boolean' or rows[name].isna().any() and set(map(type, rows[name].dropna())) == {bool})";
/// What pandas calls each type.
const DTYPES: &str = "{'integer': 'if', 'real': 'f', 'decimal': 'fi', 'percent': 'fi', 'duration': 'f', 'boolean': 'bO', 'date': 'M', 'timestamp': 'M', 'identifier': 'OTU', 'category': 'OTU', 'text': 'OTU', 'empty': 'OTU'}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_has_the_very_types_that_were_told() {
    let world = Checked::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let files = written(folder.path());
    let prepared = engine.prepare_files(&files, &[], &Limits::default()).await.unwrap();
    for (path, brief) in files.iter().zip(&prepared.briefs) {
        let table = &brief.facts["tables"][0];
        let columns = table["columns"].as_array().unwrap();
        let told: Value = columns
            .iter()
            .map(|column| (column["name"].as_str().unwrap().to_owned(), column["type"].clone()))
            .collect();
        let code = format!(
            "kinds = {DTYPES}\ntold = {told}\nrows = frame({})\nwrong = [name for name in told if rows[name].dtype.kind not in kinds[told[name]] or not {BOOLEANS}]\nanswer_text = f'{{len(rows)}} {{wrong}}'\nSTATUS = 'success'\n",
            json!(brief.name)
        );
        let plan = SourceFile { name: "look.py".to_owned(), code };
        let task =
            CodeTask { files: vec![path.clone()], plan: Some(plan), ..CodeTask::new("look", "test", "test") };
        let answer = engine.code(task).await.unwrap();
        let text = answer.record.answer.text.clone().unwrap_or_default();
        assert_eq!(text, format!("{} []", table["rows"]), "{}: {:?}", brief.name, answer.record.error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_read_is_a_note_of_the_answer() {
    let world = Checked::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    let rows = (1..=20).map(|n| format!("{n},x\n")).collect::<Vec<_>>().concat();
    fs_err::write(&path, format!("units,other\n{rows}many,y\n")).unwrap();
    let task = CodeTask { files: vec![path], ..CodeTask::new("total units", "test", "test") };
    let answer = engine.code(task).await.unwrap();
    assert_eq!(answer.record.answer.json, Some(json!(210.0)), "{:?}", answer.record);
    let notes = &answer.record.answer.notes;
    let wanted = "sales.csv: units: 1 of 21 values cannot be read as numbers: row 22 ('many')";
    assert_eq!(notes.iter().filter(|note| *note == wanted).count(), 1, "{notes:?}");
    assert_eq!(answer.to_json()["answer"]["notes"], json!(notes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_and_rules_take_what_a_workbook_shows_in_percent_as_percent() {
    let checks = json!([{"check_id": "share", "target_table": "orders", "key_columns": ["order"],
        "calculation_hint": "share must be above 10 %"}]);
    for (ending, content) in [
        ("ods", include_bytes!("forms/german.ods").as_slice()),
        ("xls", include_bytes!("forms/german.xls")),
        ("xlsx", include_bytes!("forms/german.xlsx")),
        ("csv", include_bytes!("forms/german.csv")),
    ] {
        let name = format!("orders.{ending}");
        let world = Checked::with(&checks.to_string(), &[(name.as_str(), content)]);
        let results = world.run().await;
        assert_eq!(keys(&results["share"]), ["00018"], "{ending}: {:?}", results["share"]);
        let engine = world.engine().await;
        for (request, says) in [
            ("how many orders have a share above 10 %?", "There are 3 orders"),
            ("average share", "is 42.38 %"),
            ("highest total", "is €12,000"),
            ("orders on 2024-03-04", "total €1,234.50, share 12.50 %"),
        ] {
            let files = vec![world.root().join("data").join(&name)];
            let answer =
                engine.code(CodeTask { files, ..CodeTask::new(request, "test", "test") }).await.unwrap();
            let text = answer.record.answer.text.clone().unwrap_or_default();
            assert!(text.contains(says), "{ending}: {request}: {text}: {:?}", answer.record.error);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_about_times_with_a_zone_and_about_no_rows_are_answered() {
    let world = Checked::with("[]", &[]);
    let engine = world.engine().await;
    let folder = tempfile::tempdir().unwrap();
    let rows = "id,at,due,weight\n\
        1,2024-01-31T23:30:00Z,2024-02-01,1 kg\n\
        2,2024-02-01T01:00:00+02:00,2024-01-01,3 kg\n\
        3,2024-05-01T12:00:00Z,2024-06-01,\n";
    let path = folder.path().join("visits.csv");
    fs_err::write(&path, rows).unwrap();
    for (request, says) in [
        ("how many visits with at after 2024-02-01", "There is 1 visit where"),
        ("how many visits at in January 2024", "There are 2 visits where"),
        ("average weight of visits with at after 2024-04-01", "none of them has a value"),
        ("highest weight of visits with at after 2025-01-01", "none of them has a value"),
    ] {
        let files = vec![path.clone()];
        let answer = engine.code(CodeTask { files, ..CodeTask::new(request, "test", "test") }).await.unwrap();
        let text = answer.record.answer.text.clone().unwrap_or_default();
        let has_gap = text.contains("nan") || text.contains("NaT");
        assert!(
            text.contains(says) && !has_gap && answer.record.error.is_none(),
            "{request}: {text}: {:?}",
            answer.record.error
        );
    }
}

#[tokio::test]
async fn text_among_numbers_fails_a_check_and_is_told() {
    let checks = json!([
        {"check_id": "range", "kind": "range", "target_table": "t", "params": {"column": "price", "min": 0}, "key_columns": ["id"]},
        {"check_id": "there", "kind": "not_null", "target_table": "t", "params": {"columns": ["price"]}},
        {"check_id": "sum", "kind": "aggregate", "target_table": "t", "params": {"column": "price", "function": "sum", "min": 0}},
        {"check_id": "text", "kind": "range", "target_table": "t", "params": {"column": "name", "min": 0}},
        {"check_id": "join", "kind": "foreign_key", "target_table": "t", "params": {"columns": ["id"], "references": {"table": "u", "columns": ["code"]}}},
    ]);
    let rows = (1..=20).map(|n| format!("{n},n{n},{n}.5\n")).collect::<Vec<_>>().concat();
    let table = format!("id,name,price\n{rows}21,z,\"1,000\"\n22,z,soon\n");
    let world = Checked::with(
        &checks.to_string(),
        &[("t.csv", table.as_bytes()), ("u.csv", b"code\n01067\n12345\n")],
    );
    let results = world.run().await;
    let range = &results["range"];
    assert_eq!((range.evaluated, range.failed), (Some(22), Some(1)), "{range:?}");
    assert_eq!(range.samples[0].values["price"], "soon");
    assert!(
        range.notes.iter().any(|note| note.contains("1 of 22 values cannot be read as numbers: row 23")),
        "{range:?}"
    );
    stands(&results, "there", CheckStatus::Pass, "");
    stands(&results, "sum", CheckStatus::Fail, "");
    assert!(
        results["sum"].summary.contains("1230") || results["sum"].summary.contains("1 values cannot be read"),
        "{:?}",
        results["sum"]
    );
    stands(&results, "text", CheckStatus::Error, "column `name` holds text, and its bounds are numbers");
    stands(&results, "join", CheckStatus::Error, "`t.id` holds whole numbers and `u.code` holds text");
}

#[tokio::test]
async fn what_the_owner_declares_wins() {
    let checks = json!([
        {"check_id": "code", "kind": "dtype", "target_table": "t", "params": {"column": "code", "type": "text"}},
        {"check_id": "day", "kind": "range", "target_table": "t", "params": {"column": "day", "max": "2024-03-31"}},
        {"check_id": "n", "kind": "range", "target_table": "t", "params": {"column": "n", "max": 2}},
    ]);
    let world = Checked::with(
        &checks.to_string(),
        &[("t.csv", b"code;day;n\n12;01/03/2024;1,000\n34;02/03/2024;none here\n")],
    );
    world.write(
        "ordain.toml",
        "[workspace]\nname = \"w\"\n[data.t]\ndate_format = \"day-first\"\ndecimal = \",\"\nnull_values = [\"none here\"]\n[data.t.columns]\ncode = \"identifier\"\nday = \"date\"\nn = \"real\"\n",
    );
    let results = world.run().await;
    for id in ["code", "day", "n"] {
        stands(&results, id, CheckStatus::Pass, "");
    }
    assert_eq!(results["n"].evaluated, Some(1), "{:?}", results["n"]);
}
