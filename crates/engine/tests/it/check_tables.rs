//! Every form of data file becomes a table, and what cannot be one says why.

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
with pa.CompressedOutputStream(folder + "packed_zst.csv.zst", "zstd") as file:
    file.write(text)
with open(folder + "parquet.parquet", "rb") as file, gzip.open(folder + "twice.parquet.gz", "wb") as packed:
    packed.write(file.read())
with open(folder + "torn.parquet", "wb") as file:
    file.write(b"PAR1 and then nothing of the kind")
with open(folder + "torn.xlsx", "wb") as file:
    file.write(b"not a workbook")
"#;

fn write_files(folder: &Path) {
    let data_dir = DataDir::from_env().unwrap();
    let data = profile::ensure(Profile::Data, &data_dir, &mut profile::Silent).unwrap();
    let mut python = Command::new(&data.interpreter.executable);
    python.env("PYTHONPATH", &data.site).args(["-c", WRITER]).arg(folder);
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
    ];
    let record = |table: &str| {
        json!({"check_id": table, "kind": "range", "target_table": table, "key_columns": ["id"],
               "params": {"column": "price", "min": 0}})
    };
    let mut checks: Vec<_> = forms.iter().map(|table| record(table)).collect();
    checks.extend(["book.Price list", "book.gone", "two", "torn"].map(record));
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
    stands(
        &results,
        "whole",
        CheckStatus::Error,
        "memory_limit: it needs more than 64MiB; use fewer columns",
    );
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
