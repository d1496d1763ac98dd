//! Every form of data file becomes a table, and what cannot be one says why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use std::path::Path;
use std::process::Command;

use ordain_cell::profile::{self, DataDir, Profile};
use ordain_checks::CheckStatus;
use serde_json::json;

use crate::checks::{World, keys, stands};

/// Writes the same three rows in every form, as other tools would.
const WRITER: &str = r#"
import bz2, gzip, lzma, sys, zipfile
import pandas as pd
import pyarrow as pa

folder = sys.argv[1] + "/"
rows = pd.DataFrame({"id": ["a", "b", "c"], "price": [1.5, -2.0, None], "at": pd.to_datetime(["2025-01-01", "2025-01-02", None])})
rows.to_parquet(folder + "parquet.parquet")
rows.to_feather(folder + "feather.feather")
rows.to_feather(folder + "arrow.arrow")
rows.to_csv(folder + "tsv.tsv", sep="\t", index=False)
rows.to_json(folder + "lines.jsonl", orient="records", lines=True, date_format="iso")
rows.to_excel(folder + "single.xlsx", index=False)
with pd.ExcelWriter(folder + "book.xlsx") as book:
    rows.to_excel(book, sheet_name="sold", index=False)
    rows.head(1).to_excel(book, sheet_name="Price list", index=False)
text = rows.to_csv(index=False).encode()
for ending, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
    with open(f"{folder}packed_{ending}.csv.{ending}", "wb") as file:
        file.write(pack(text))
with zipfile.ZipFile(folder + "packed_zip.csv.zip", "w") as archive:
    archive.writestr("inside.csv", text)
with zipfile.ZipFile(folder + "two.csv.zip", "w") as archive:
    archive.writestr("one.csv", text)
    archive.writestr("two.csv", text)
with zipfile.ZipFile(folder + "months.zip", "w") as archive:
    archive.writestr("jan.csv", text)
    archive.writestr("feb.csv", text)
rows.assign(price=pd.array([1, -2, None], dtype="Int64")).to_parquet(folder + "whole.parquet")
with pa.CompressedOutputStream(folder + "packed_zst.csv.zst", "zstd") as file:
    file.write(text)
with open(folder + "parquet.parquet", "rb") as file, gzip.open(folder + "twice.parquet.gz", "wb") as packed:
    packed.write(file.read())
with open(folder + "torn.parquet", "wb") as file:
    file.write(b"PAR1 and then nothing of the kind")
with open(folder + "torn.xlsx", "wb") as file:
    file.write(b"not a workbook")
"#;

/// A workbook with what only its formatting says.
const FORMATTER: &str = r#"
import sys
import openpyxl

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Shops"
for row in (["region", "shop", "paid"], ["North", "a", 1.125], [None, "b", 20], ["South", "c", 5]):
    sheet.append(row)
sheet.merge_cells("A2:A3")
for cell in sheet["C"][1:]:
    cell.number_format = '0.00 [$€-407]'
for name, state in (("old", "hidden"),):
    other = book.create_sheet(name)
    other.sheet_state = state
    for row in (["region", "shop", "paid"], ["North", "z", 1000]):
        other.append(row)
book.save(sys.argv[1] + "/shops.xlsx")
mixed = openpyxl.Workbook()
for row in (["shop", "paid"], ["a", 1], ["b", 2]):
    mixed.active.append(row)
mixed.active["B2"].number_format, mixed.active["B3"].number_format = '"$" 0', '[$EUR] 0'
mixed.save(sys.argv[1] + "/mixed.xlsx")
"#;

fn write_files(folder: &Path) {
    write_by(WRITER, folder);
}

fn write_by(program: &str, folder: &Path) {
    let data_dir = DataDir::from_env().unwrap();
    let data = profile::ensure(Profile::Data, &data_dir, &mut profile::Silent).unwrap();
    let mut python = Command::new(&data.interpreter.executable);
    python.env("PYTHONPATH", &data.site).args(["-c", program]).arg(folder);
    let output = python.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn every_form_of_file_is_a_table_with_the_same_rows() {
    let forms = [
        "parquet",
        "feather",
        "arrow",
        "tsv",
        "lines",
        "single",
        "book.sold",
        "packed_gz",
        "packed_bz2",
        "packed_xz",
        "packed_zip",
        "packed_zst",
        "twice",
        "whole",
    ];
    let record = |table: &str| {
        json!({"check_id": table, "kind": "range", "target_table": table, "key_columns": ["id"],
               "params": {"column": "price", "min": 0}})
    };
    let mut checks: Vec<_> = forms.iter().map(|table| record(table)).collect();
    checks.extend(["book.Price list", "book.gone", "two", "torn", "months"].map(record));
    checks.push(json!({"check_id": "times", "kind": "dtype", "target_table": "parquet",
        "params": {"column": "at", "type": "timestamp"}}));
    let world = World::with(&json!(checks).to_string(), &[]);
    write_files(&world.root().join("data"));
    let results = world.run().await;
    for form in forms {
        let result = &results[form];
        assert_eq!((result.evaluated, result.failed), (Some(2), Some(1)), "{result:?}");
        assert_eq!(keys(result), ["b"], "{form}");
    }
    assert_eq!(results["book.Price list"].evaluated, Some(1));
    assert_eq!(results["months"].evaluated, Some(4), "the files of an archive are one table");
    stands(&results, "times", CheckStatus::Pass, "");
    stands(&results, "book.gone", CheckStatus::Skipped, "missing_table: there is no table `book.gone`");
    stands(&results, "two", CheckStatus::Error, "the archive holds 2 files; one is expected");
    stands(&results, "torn", CheckStatus::Error, "torn.parquet");
    assert!(results["torn"].reason.as_ref().unwrap().contains("has two sources"), "{:?}", results["torn"]);
}

#[tokio::test]
async fn a_table_larger_than_the_memory_limit_is_said_to_be_so() {
    let code = "rows = frame(\"t\")\nkept = [rows[\"text\"].str.upper().tolist() for _ in range(200)]\nresult = {\"status\": \"PASS\", \"summary\": str(len(kept))}\n";
    let checks = json!([
        {"check_id": "whole", "kind": "python", "target_table": "t", "params": {"code": code}},
        {"check_id": "narrow", "kind": "range", "target_table": "t", "params": {"column": "number", "min": 0}},
    ]);
    let mut text = String::from("number,text\n");
    for number in 0..60_000 {
        let _ = writeln!(text, "{number},a text that is long enough to weigh something {number}");
    }
    let world = World::with(&checks.to_string(), &[("t.csv", text.as_bytes())]);
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[limits]\nmemory = \"64MiB\"\n");
    let results = world.run().await;
    stands(&results, "whole", CheckStatus::Error, "memory_limit: it needs more than 64MiB: fewer columns");
    // A check that touches one column of the mapped table has room enough.
    stands(&results, "narrow", CheckStatus::Pass, "");
    assert_eq!(results["narrow"].evaluated, Some(60_000));
}

#[tokio::test]
async fn code_that_reads_the_store_by_calls_needs_no_frame() {
    let code = "wrong = [row for row in stock_tbl.all() if row[\"left\"] < 1]\nresult = {\"status\": \"FAIL\" if wrong else \"PASS\", \"summary\": \"x\", \"evaluated\": len(stock_tbl), \"failed_rows\": wrong}\n";
    let checks = json!([{"check_id": "c", "kind": "python", "target_table": "stock", "key_columns": ["item"],
        "params": {"code": code}, "samples": {"mask": ["secret"]}}]);
    let world = World::with(&checks.to_string(), &[]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write(
        "tables/stock.json",
        r#"[{"item": "a", "left": 0, "secret": "x"}, {"item": "b", "left": 3, "secret": "y"}]"#,
    );
    world.write(
        "ordain.toml",
        "[workspace]\nname = \"w\"\n[tables.stock]\nseed = \"tables/stock.json\"\nkey = \"item\"\n",
    );
    let results = world.run().await;
    let result = &results["c"];
    assert_eq!((result.evaluated, result.failed, keys(result)), (Some(2), Some(1), vec!["a".to_owned()]));
    assert_eq!(result.samples[0].values["secret"], "•••");
    let all = std::fs::read_to_string(&result.artifacts[0]).unwrap();
    assert_eq!(all, "item,left,secret\na,0,•••\n");
    // No frame was made of the table, so pandas was not needed.
    let cached = std::fs::read_dir(world.root().join(".ordain/cache/tables")).unwrap();
    let frames =
        cached.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "arrow"));
    assert_eq!(frames.count(), 0);
    assert!(world.run_if_changed().await["c"].kept_from.is_some(), "the same rows are known again");
}

#[tokio::test]
async fn lists_of_objects_are_tables_that_say_which_row_they_are_of() {
    let checks = json!([
        {"check_id": "qty", "kind": "range", "target_table": "orders.items", "key_columns": ["parent.id"], "params": {"column": "qty", "min": 1}},
        {"check_id": "city", "kind": "in_set", "target_table": "orders", "params": {"column": "customer.city", "values": ["Bern"]}},
    ]);
    let orders = json!([
        {"id": 7, "customer": {"city": "Bern"}, "items": [{"sku": "a", "qty": 2}, {"sku": "b", "qty": 0}]},
        {"id": 8, "customer": {"city": "Rome"}, "items": []},
    ]);
    let world = World::with(&checks.to_string(), &[("orders.json", orders.to_string().as_bytes())]);
    let results = world.run().await;
    for id in ["qty", "city"] {
        let result = &results[id];
        assert_eq!((result.evaluated, result.failed), (Some(2), Some(1)), "{result:?}");
    }
    assert_eq!(results["qty"].samples[0].key["parent.id"], 7);
}

/// The columns of each table with their types, and the notes of all.
async fn seen(world: &World) -> (BTreeMap<String, String>, String) {
    let states = world.checks().await.all_tables().await.unwrap();
    let mut notes = String::new();
    let told = states.iter().map(|(name, state)| {
        let told = state.told(name);
        notes.push_str(&told["notes"].to_string());
        let columns = told["columns"].as_array().into_iter().flatten();
        let typed = columns.map(|column| {
            let unit =
                column.get("currency").map(|unit| format!(" {}", unit.as_str().unwrap())).unwrap_or_default();
            format!("{} {}{unit}", column["name"].as_str().unwrap(), column["type"].as_str().unwrap())
        });
        (name.clone(), format!("{} {}", told["rows"], typed.collect::<Vec<_>>().join(", ")))
    });
    (told.collect(), notes)
}

#[tokio::test]
async fn what_the_formatting_of_a_workbook_says_is_read() {
    let world = World::with("[]", &[]);
    write_by(FORMATTER, &world.root().join("data"));
    let (tables, notes) = seen(&world).await;
    assert_eq!(tables["shops"], "3 region text, shop text, paid decimal EUR", "{tables:?}");
    assert_eq!(tables["mixed"], "2 shop text, paid text");
    for said in ["hidden sheets were left out (old)", "merged cells are read as", "several units (EUR, USD)"]
    {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

/// A workbook with errors of formulas among numbers, and columns of Parquet that have a type and no value.
const ERRORS_AND_GAPS: &str = r##"
import sys
import openpyxl
import pandas as pd
folder = sys.argv[1]
book = openpyxl.Workbook()
book.active.append(["id", "v"])
for number in range(200):
    book.active.append([number, number + 1.5])
for error in ("#DIV/0!", "#VALUE!", "#REF!"):
    book.active.append([99, error])
    book.active.cell(book.active.max_row, 2).data_type = "e"
book.save(folder + "/sheet.xlsx")
gaps = pd.DataFrame({"id": [1, 2], "v": pd.array([None, None], dtype="float64"), "ts": pd.to_datetime([None, None])})
gaps.to_parquet(folder + "/gaps.parquet")
gaps.head(0).to_parquet(folder + "/none.parquet")
"##;

#[tokio::test]
async fn errors_of_formulas_fail_their_rows_and_no_figure_passes_without_them() {
    let checks = json!([
        {"check_id": "above", "target_table": "sheet", "kind": "range", "params": {"column": "v", "min": 0}},
        {"check_id": "sum", "target_table": "sheet", "kind": "aggregate", "params": {"column": "v", "function": "sum", "min": 1}},
        {"check_id": "words", "target_table": "sheet", "calculation_hint": "v must be positive"},
    ]);
    let world = World::with(&checks.to_string(), &[]);
    write_by(ERRORS_AND_GAPS, &world.root().join("data"));
    let results = world.run().await;
    for id in ["above", "words"] {
        assert_eq!(
            (results[id].status, results[id].failed),
            (CheckStatus::Fail, Some(3)),
            "{:?}",
            results[id]
        );
    }
    assert_ne!(results["sum"].status, CheckStatus::Pass, "{:?}", results["sum"]);
}

#[tokio::test]
async fn columns_of_parquet_without_a_value_keep_their_types() {
    let rule = |id: &str, table: &str, hint: &str| json!({"check_id": id, "target_table": table, "calculation_hint": hint});
    let checks = json!([
        rule("number", "gaps", "v must be positive"),
        rule("day", "gaps", "ts must be after 2020-01-01"),
        rule("no number", "none", "v must be positive"),
        rule("no day", "none", "ts must be after 2020-01-01"),
    ]);
    let world = World::with(&checks.to_string(), &[]);
    write_by(ERRORS_AND_GAPS, &world.root().join("data"));
    let results = world.run().await;
    for id in ["number", "day"] {
        stands(&results, id, CheckStatus::Skipped, "no_rows");
    }
    for id in ["no number", "no day"] {
        stands(&results, id, CheckStatus::Skipped, "empty_table: table `none` has no rows");
    }
}

#[tokio::test]
async fn files_that_questions_read_are_tables_of_checks_too() {
    let files: [(&str, &[u8]); 6] = [
        ("x.xml", b"<rows><row><a>1</a><b>x</b></row><row><a>2</a><b>y</b></row></rows>"),
        ("y.yaml", b"- {a: 1, b: x}\n- {a: 2, b: y}\n"),
        ("pipe.txt", b"a|b\n1|x\n2|y\n"),
        ("keys.json", br#"{"k1": {"a": 1}, "k2": {"a": 2}}"#),
        ("ids.json", br#"[{"id": 12345678901234567890}, {"id": 12345678901234567891}]"#),
        ("notes.txt", b"Nothing but words.\nIn two lines.\n"),
    ];
    let (tables, _) = seen(&World::with("[]", &files)).await;
    let expected = [
        ("ids", "2 id identifier"),
        ("keys", "2 key text, a integer"),
        ("pipe", "2 a integer, b text"),
        ("x", "2 a integer, b text"),
        ("y", "2 a integer, b text"),
    ];
    assert_eq!(tables, expected.map(|(name, told)| (name.to_owned(), told.to_owned())).into());
}

#[tokio::test]
async fn a_gap_or_an_unreadable_value_makes_no_fractions_of_the_numbers_around_it() {
    let body: Vec<String> = (10..40).map(|id| format!("{id},{},352{id}\n", id * 2)).collect();
    let csv = format!("id,qty,zip_no\n{}40,,\n41,many,123\n", body.concat());
    let checks = json!([
        {"check_id": "digits", "kind": "regex", "target_table": "t", "key_columns": ["id"],
         "params": {"column": "zip_no", "pattern": "^[0-9]{5}$"}},
        {"check_id": "range", "kind": "range", "target_table": "t", "key_columns": ["id"],
         "params": {"column": "qty", "max": 30}},
        {"check_id": "copy", "kind": "transform", "target_table": "t",
         "params": {"code": "rows = frame(\"t\")\ntable = rows[rows[\"id\"] < 13]\n", "output": "out/copy.csv"}},
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", csv.as_bytes())]);
    let results = world.run().await;
    assert_eq!(results["digits"].failed, Some(1), "{:?}", results["digits"]);
    let file = std::fs::read_to_string(&results["range"].artifacts[0]).unwrap();
    assert!(file.contains("\n41,many,123\n") && !file.contains(".0"), "{file}");
    let copy = std::fs::read_to_string(world.root().join("out/copy.csv")).unwrap();
    assert_eq!(copy, "id,qty,zip_no\n10,20,35210\n11,22,35211\n12,24,35212\n", "{:?}", results["copy"]);
}
