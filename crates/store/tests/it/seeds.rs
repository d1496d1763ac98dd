//! Seeds: what is loaded, and what is refused, with file and line.

use ordain_store::{ColumnDeclaration, Intent, Store, StoreError, TableDeclaration};
use ordain_types::ColumnType;
use serde_json::json;

use crate::world::{World, begin, commit, note, on_both, rows};

/// Opens a store with one table whose seed has the given name and text.
async fn open(world: &World, file: &str, text: &str, key: &str) -> Result<Store, StoreError> {
    open_declared(world, file, text, TableDeclaration { key: names(key), ..TableDeclaration::default() })
        .await
}

async fn open_declared(
    world: &World,
    file: &str,
    text: &str,
    declaration: TableDeclaration,
) -> Result<Store, StoreError> {
    let mut options = world.options();
    let seed = Some(world.file(file, text));
    options.tables = vec![TableDeclaration { name: "things".to_owned(), seed, ..declaration }];
    Store::open(options).await
}

fn names(list: &str) -> Vec<String> {
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn types(store: &Store) -> Vec<(String, ColumnType)> {
    let schema = store.schema();
    schema.tables[0].columns.iter().map(|column| (column.name.clone(), column.column_type)).collect()
}

on_both! {
    async fn every_format_gives_the_same_rows(world: World) {
        let expected = [
            json!({"doc_id": 1, "id": 1, "name": "Ada", "score": 1.5, "ok": true}),
            json!({"doc_id": 2, "id": 2, "name": null, "score": 2.0, "ok": false}),
        ];
        for (file, text) in [
            ("a.json", r#"[{"id": 1, "name": "Ada", "score": 1.5, "ok": true}, {"id": 2, "name": null, "score": 2, "ok": false}]"#),
            ("b.jsonl", "{\"id\": 1, \"name\": \"Ada\", \"score\": 1.5, \"ok\": true}\n\n{\"id\": 2, \"name\": null, \"score\": 2, \"ok\": false}\n"),
            ("c.json", r#"{"1": {"id": 1, "name": "Ada", "score": 1.5, "ok": true}, "2": {"id": 2, "name": null, "score": 2, "ok": false}}"#),
            ("d.json", r#"{"_default": {"1": {"id": 1, "name": "Ada", "score": 1.5, "ok": true}, "2": {"id": 2, "name": null, "score": 2, "ok": false}}}"#),
            ("e.json", r#"{"things": [{"id": 1, "name": "Ada", "score": 1.5, "ok": true}, {"id": 2, "name": null, "score": 2, "ok": false}], "other": {}}"#),
        ] {
            let world = if world.url.is_some() { World::postgres() } else { World::sqlite() };
            let store = open(&world, file, text, "id").await.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(rows(&store, "things").await, expected, "{file}");
        }
    }
}

#[tokio::test]
async fn types_are_inferred_from_all_rows() {
    let text = r#"[{"a": 1, "b": 1, "c": [1], "d": true, "e": 1}, {"a": 2.5, "b": "x", "c": {"x": 1}, "d": null, "f": "y"}]"#;
    let store = open(&World::sqlite(), "t.json", text, "").await.unwrap();
    let found: Vec<ColumnType> = types(&store).into_iter().map(|(_, column_type)| column_type).collect();
    assert_eq!(
        found,
        [
            ColumnType::Real,
            ColumnType::Any,
            ColumnType::Json,
            ColumnType::Boolean,
            ColumnType::Integer,
            ColumnType::Text
        ]
    );
}

#[tokio::test]
async fn what_is_wrong_is_named_with_file_and_line() {
    let many_digits = "[{\"a\": 1},\n {\"a\": 123456789012345678901234567890}]";
    for (file, text, key, line, says) in [
        ("a.json", "[{\"a\": 1},\n {\"a\": }]", "", 2, "expected value"),
        ("b.json", "[{\"a\": 1},\n\n {\"a\": NaN}]", "", 3, "expected"),
        ("c.json", many_digits, "", 2, "more than 64 bits"),
        ("d.json", "[{\"a\": 1},\n {\"a\": 1, \"a\": 2}]", "", 2, "occurs twice"),
        ("e.json", "[{\"a\": 1},\n 7]", "", 2, "a row is an object"),
        ("f.json", "[{1: 2}]", "", 1, "key must be a string"),
        ("g.json", "{\"x\": {\"a\": 1}}", "", 1, "not a document id"),
        ("h.json", "[{\"a\": 1}, {\"a\": 2},\n {\"a\": 1}]", "a", 2, "already in line 1"),
        ("i.json", "[{\"a\": 1},\n {\"b\": 1}]", "a", 2, "leaves it out"),
        ("j.json", "[{\"a\": 1},\n {\"a\": null}]", "a", 2, "nothing"),
        ("k.jsonl", "{\"a\": 1}\n{\"a\": 2\n", "", 2, "EOF"),
    ] {
        let error = open(&World::sqlite(), file, text, key).await.unwrap_err();
        let StoreError::Seed(seed) = &error else { panic!("{file}: {error}") };
        assert!(seed.file.ends_with(file), "{}", seed.file);
        assert_eq!(seed.line, Some(line), "{file}: {error}");
        assert!(seed.message.contains(says), "{file}: {error}");
    }
}

#[tokio::test]
async fn a_seed_that_cannot_be_a_table_is_refused_with_a_hint() {
    for (file, text, key, says, hint) in [
        ("a.json", "[]", "", "no row to infer columns", "[tables.things.columns]"),
        ("b.json", r#"[{"itemid": 1}]"#, "item_id", "the key column `item_id`", "`itemid`"),
        ("c.json", r#"[{"doc_id": 1}]"#, "", "reserved", "rename"),
        ("d.json", r#"[{"Name": 1, "name": 2}]"#, "", "differ only in case", "rename"),
    ] {
        let error = open(&World::sqlite(), file, text, key).await.unwrap_err();
        assert!(error.to_string().contains(says), "{file}: {error}");
        assert!(error.hint().is_some_and(|given| given.contains(hint)), "{file}: {:?}", error.hint());
    }
    let error = open(&World::sqlite(), "z.json", "[{\"\": 1}]", "").await.unwrap_err();
    assert!(error.to_string().contains("not a column name"), "{error}");
    let mut options = World::sqlite().options();
    options.tables = vec![TableDeclaration {
        name: "x".to_owned(),
        seed: Some("/nowhere/x.json".into()),
        ..TableDeclaration::default()
    }];
    let error = Store::open(options).await.unwrap_err();
    assert!(error.to_string().contains("nowhere/x.json"), "{error}");
}

#[tokio::test]
async fn a_declared_type_is_held_against_every_value() {
    let declared = |column_type| TableDeclaration {
        columns: [("a".to_owned(), ColumnDeclaration { column_type, nullable: true })].into(),
        ..TableDeclaration::default()
    };
    let error = open_declared(
        &World::sqlite(),
        "a.json",
        "[{\"a\": 1},\n {\"a\": \"x\"}]",
        declared(ColumnType::Integer),
    )
    .await
    .unwrap_err();
    assert!(error.to_string().contains("a.json:2: column `a` cannot hold"), "{error}");
    let store = open_declared(&World::sqlite(), "d.json", "[]", declared(ColumnType::Text)).await.unwrap();
    assert_eq!(types(&store), [("a".to_owned(), ColumnType::Text)]);
}

#[tokio::test]
async fn a_column_that_is_null_in_every_row_takes_any_value() {
    let store = open(&World::sqlite(), "a.json", r#"[{"id": 1, "discount": null}]"#, "id").await.unwrap();
    assert_eq!(types(&store)[1], ("discount".to_owned(), ColumnType::Any));
}

on_both! {
    async fn a_column_without_a_value_in_the_seed_gets_the_type_that_is_declared_later(world: World) {
        let text = r#"[{"id": 1, "discount": null, "sold_on": null, "note": null}, {"id": 2, "discount": null, "sold_on": null, "note": null}, {"id": 3}]"#;
        let mut options = world.options();
        options.tables = vec![TableDeclaration {
            name: "things".to_owned(),
            key: names("id"),
            seed: Some(world.file("t.json", text)),
            indexes: vec![vec!["id".to_owned(), "note".to_owned()]],
            ..TableDeclaration::default()
        }];
        let before = Store::open(options.clone()).await.unwrap();
        assert_eq!(types(&before)[1].1, ColumnType::Any);
        let mut transaction = begin(&before, Intent::Write).await;
        let set = json!({"discount": 0.25, "sold_on": "2024-03-01", "note": "n/a \"x\""});
        transaction.call("update", json!({"table": "things", "doc_ids": [1], "set": set})).await.unwrap();
        transaction.call("remove", json!({"table": "things", "doc_ids": [3]})).await.unwrap();
        let run = commit(transaction).await.unwrap();
        let written = rows(&before, "things").await;

        let declare = |column_type| ColumnDeclaration { column_type, nullable: true };
        options.tables[0].columns = [("discount".to_owned(), declare(ColumnType::Integer))].into();
        let error = Store::open(options.clone()).await.unwrap_err().to_string();
        assert!(error.contains("`discount` cannot have the declared type") && error.contains("doc_id 1"), "{error}");

        let declared = [("discount", ColumnType::Real), ("sold_on", ColumnType::Timestamp), ("note", ColumnType::Text)];
        options.tables[0].columns = declared.map(|(name, column_type)| (name.to_owned(), declare(column_type))).into();
        let store = Store::open(options.clone()).await.unwrap();
        assert_eq!(types(&store)[1..], declared.map(|(name, column_type)| (name.to_owned(), column_type)));
        assert_eq!(rows(&store, "things").await, written);
        let mut transaction = begin(&store, Intent::Write).await;
        let found = transaction.call("query", json!({"sql": "SELECT note FROM things WHERE discount < 1"})).await.unwrap();
        assert_eq!(found["rows"], json!([{"note": "n/a \"x\""}]), "{found}");
        let wrong = json!({"table": "things", "doc_ids": [2], "set": {"discount": "much"}});
        assert_eq!(transaction.call("update", wrong).await.unwrap_err().code(), "bad_value");
        // A number of a row that is gone is not given again.
        transaction.call("insert", json!({"table": "things", "rows": [{"id": 4}]})).await.unwrap();
        commit(transaction).await.unwrap();
        assert_eq!(rows(&store, "things").await[2]["doc_id"], json!(4));

        let again = Store::open(options).await.unwrap();
        // Who opened the tables before writes values of the new type, as text and not in quotes.
        let mut transaction = begin(&before, Intent::Write).await;
        transaction.call("update", json!({"table": "things", "doc_ids": [2], "set": {"note": "x"}})).await.unwrap();
        commit(transaction).await.unwrap();
        assert_eq!(rows(&again, "things").await[1]["note"], "x");

        again.undo(run.run_id.as_str(), note()).await.unwrap();
        let undone = &rows(&again, "things").await[0];
        assert_eq!(*undone, json!({"doc_id": 1, "id": 1, "discount": null, "sold_on": null, "note": null}));
        for report in [again.verify_ledger().await.unwrap(), again.verify_rows().await.unwrap()] {
            assert!(report.is_whole(), "{report:?}");
        }
    }
}
