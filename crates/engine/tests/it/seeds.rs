//! Seeds that are not JSON are read in a cell, as data files are.

use ordain_files::open_store;
use ordain_store::{BeginOptions, Call, ColumnDeclaration, Intent, Reply, Store, StoreError, TableInfo};
use ordain_types::ColumnType::{Any, Boolean, Integer, Real, Text, Timestamp};
use ordain_types::RunState;
use ordain_workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{on_both, options_with, world_at};

/// Opens a workspace with one table `things`, whose seed has this name and text.
async fn open(file: &str, text: &[u8], more: &str) -> (TempDir, Result<Store, StoreError>) {
    let folder = TempDir::new().unwrap();
    let declared = format!("[tables.things]\nseed = \"{file}\"\n{more}");
    fs_err::write(folder.path().join("ordain.toml"), declared).unwrap();
    fs_err::write(folder.path().join(file), text).unwrap();
    let store = open_store(&Workspace::load(folder.path()).unwrap()).await;
    (folder, store)
}

async fn table(store: &Store) -> TableInfo {
    store.tables().await.unwrap().remove(0)
}

/// The rows, without their ids.
async fn rows(store: &Store) -> Vec<Value> {
    let options = BeginOptions { run_id: store.new_run_id().unwrap(), intent: Intent::Read };
    let mut transaction = store.begin(options).await.unwrap();
    let call =
        Call::Search { table: "things".to_owned(), condition: None, after: None, as_of: None, limit: None };
    let Reply::Rows(page) = transaction.carry_out(call).await.unwrap() else { panic!("no rows") };
    page.rows.into_iter().map(|row| json!(row.values)).collect()
}

#[tokio::test]
async fn a_german_export_is_read_as_a_person_would() {
    let text = "PLZ;Bestellt am;Betrag;Bezahlt;Menge;Rabatt\n\
                01067;15.03.2024;1.234,50 €;ja;3;\n\
                80331;01.02.2024;7,20 €;nein;12;\n";
    let (_folder, store) = open("bestellungen.csv", text.as_bytes(), "").await;
    let store = store.unwrap();
    let info = table(&store).await;
    let types: Vec<_> = info.table.columns.iter().map(|column| column.column_type).collect();
    // A column that is null in every row takes any value.
    assert_eq!(types, [Text, Timestamp, Real, Boolean, Integer, Any]);
    let notes = info.notes.join("\n");
    for said in [
        "Betrag: its numbers are in EUR",
        "Rabatt: no row of the seed has a value in it, so it takes any value unless its type is declared under `[tables.things.columns]`",
    ] {
        assert!(notes.contains(said), "{notes}");
    }
    assert_eq!(
        rows(&store).await,
        [
            json!(["01067", "2024-03-15", 1234.5, true, 3, null]),
            json!(["80331", "2024-02-01", 7.2, false, 12, null]),
        ]
    );
}

#[tokio::test]
async fn what_was_decided_about_a_seed_is_noted_on_its_table() {
    let text = "Exported 2024-05-01\n\nid,on,price\n1,01/02/2024,\"1,000\"\n2,03/04/2024,n/a\n";
    let (folder, store) = open("t.csv", text.as_bytes(), "key = \"id\"").await;
    let notes = table(&store.unwrap()).await.notes.join("\n");
    for said in ["above the header", "month-first", "'n/a' (1)"] {
        assert!(notes.contains(said), "{notes}");
    }
    let again = open_store(&Workspace::load(folder.path()).unwrap()).await.unwrap();
    assert_eq!(table(&again).await.notes.join("\n"), notes);
}

#[tokio::test]
async fn what_is_wrong_in_a_table_of_text_is_named_with_file_and_line() {
    let many = "1,2\n".repeat(20);
    for (text, more, line, says) in [
        ("a,b\n1,2\n3\n".to_owned(), "", 3, "1 cells, the header 2"),
        (format!("a,b\n{many}20,many\n"), "", 22, "column `b` cannot hold `many`"),
        ("a,b\nx,1\nx,2\n".to_owned(), "key = \"a\"", 3, "already in line 2"),
        ("a\n1\nx\n".to_owned(), "[tables.things.columns]\na = \"integer\"", 3, "column `a` cannot hold `x`"),
    ] {
        let (_folder, store) = open("t.csv", text.as_bytes(), more).await;
        let error = store.unwrap_err();
        let StoreError::Seed(seed) = &error else { panic!("{text}: {error}") };
        assert_eq!(seed.line, Some(line), "{error}");
        assert!(seed.message.contains(says) && seed.file.ends_with("t.csv"), "{error}");
        assert!(error.hint().is_some(), "{error}");
    }
    let (_folder, store) = open("t.csv", b"", "").await;
    assert!(store.unwrap_err().to_string().contains("it has no bytes"));
}

#[tokio::test]
async fn declared_types_win_over_what_a_seed_looks_like() {
    let text = "a,b,c\n1,01,\"[1, {\"\"x\"\": 2}]\"\n0,02,\n";
    let more = "[tables.things.columns]\na = \"boolean\"\nb = \"integer\"\nc = \"json\"";
    let (_folder, store) = open("t.tsv.csv", text.as_bytes(), more).await;
    let found = rows(&store.unwrap()).await;
    assert_eq!(found, [json!([true, 1, [1, {"x": 2}]]), json!([false, 2, null])]);
}

on_both! {
async fn a_column_without_a_value_in_the_seed_has_the_type_that_is_declared(database: Database) {
    let folder = TempDir::new().unwrap();
    let rows = json!([{"item_id": "a", "discount": null, "sold_on": null}, {"item_id": "b", "discount": null, "sold_on": null}]);
    let mut options = options_with(folder.path(), database.fresh_url().as_deref(), &rows);
    let declared = |column_type| ColumnDeclaration { column_type, nullable: true };
    options.tables.truncate(1);
    options.invariants.clear();
    options.tables[0].columns = [("discount".to_owned(), declared(Real)), ("sold_on".to_owned(), declared(Timestamp))].into();
    let world = world_at(options).await;
    let types = |name: &str| world.engine.store().schema().table("inventory").unwrap().column(name).unwrap().column_type;
    assert_eq!((types("discount"), types("sold_on")), (Real, Timestamp));
    let write = |value: &str| format!("inventory_tbl.update({{'discount': {value}}}, where('item_id') == 'a')\nanswer_text = 'done'\nSTATUS = 'success'\n");
    assert_eq!(world.ask(&write("0.25")).await.state, RunState::Committed);
    assert_ne!(world.ask(&write("'much'")).await.state, RunState::Committed);
    let sum = "value = db.query('SELECT sum(discount) AS s FROM inventory WHERE discount < 1')[0]['s']\nanswer_text = f'{value}'\nSTATUS = 'success'\n";
    assert_eq!(world.ask(sum).await.answer.text.as_deref(), Some("0.25"));
}
}

#[tokio::test]
async fn a_metric_that_misses_its_anchor_is_an_error_as_long_as_rows_are_the_seeds() {
    let rows = b"id,units,price\n1,2,5\n2,3,10\n3,1,100\n";
    let declared = |formula: &str, anchor: f64| {
        let metric =
            format!("name = \"worth\"\ntable = \"things\"\nformula = \"{formula}\"\nfilter = \"units > 1\"");
        format!("key = \"id\"\n\n[[metrics]]\n{metric}\nanchor = {anchor:?}\n")
    };
    let ratio = "sum(units * price) / count()";
    assert!(open("t.csv", rows, &declared(ratio, 20.0)).await.1.is_ok());
    for (formula, anchor, said) in [
        (ratio, 21.0, "`worth` comes to 20 on the seed's rows, and its anchor is 21"),
        ("sum(units) + sum(price)", 1.0, "the formula or the filter of `worth` is not understood"),
    ] {
        let error = open("t.csv", rows, &declared(formula, anchor)).await.1.err().unwrap().to_string();
        assert!(error.contains(said), "{error}");
    }
}
