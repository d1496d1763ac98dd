//! The table interface: what a cell may ask of a transaction.

use ordain_store::{ColumnDeclaration, Intent, Store, StoreError, StoreLimits, TableDeclaration};
use ordain_types::ColumnType;
use serde_json::{Value, json};

use crate::world::{all, begin, commit, objects, on_both, rows};

on_both! {
    async fn a_row_is_found_by_its_name_and_comes_with_its_id(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Read).await;
        let by_name = json!({"op": "eq", "path": ["name"], "value": "Classic"});
        let page = transaction.call("search", json!({"table": "inventory", "where": by_name})).await.unwrap();
        assert_eq!(page["exact"], true);
        assert_eq!(objects(&page), [json!({
            "doc_id": 2, "item_id": "SG005", "name": "Classic", "price": 60.0, "quantity_in_stock": 10
        })]);
        let page = transaction.call("get", json!({"table": "inventory", "doc_ids": [3, 99, 1]})).await.unwrap();
        assert_eq!(objects(&page).iter().map(|row| row["doc_id"].clone()).collect::<Vec<_>>(), [json!(1), json!(3)]);
    }

    async fn a_purchase_shows_as_a_diff_and_is_there_afterwards(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(crate::world::buy(&mut transaction, "Classic", 3).await.unwrap());
        assert!(crate::world::buy(&mut transaction, "Aviator", 1).await.unwrap());
        let record = commit(transaction).await.unwrap();
        let diff = serde_json::to_value(&record.diff).unwrap();
        assert_eq!(record.state.as_str(), "committed");
        let stock = |change: &Value| (change["key"].clone(), change["before"]["quantity_in_stock"].clone(),
            change["after"]["quantity_in_stock"].clone());
        assert_eq!(stock(&diff["inventory"]["changed"][0]), (json!({"item_id": "SG001"}), json!(23), json!(22)));
        assert_eq!(stock(&diff["inventory"]["changed"][1]), (json!({"item_id": "SG005"}), json!(10), json!(7)));
        let balances: Vec<_> = rows(&store, "transactions").await.iter().map(|row| row["balance"].clone()).collect();
        assert_eq!(balances, [json!(500.0), json!(680.0), json!(760.0)]);
        assert_eq!(diff["transactions"]["added"].as_array().unwrap().len(), 2);
    }

    async fn a_transaction_that_is_dropped_leaves_no_trace(world: World) {
        let store = world.shop().await;
        let before = rows(&store, "inventory").await;
        let mut transaction = begin(&store, Intent::Write).await;
        transaction.call("remove", json!({"table": "inventory", "all": true})).await.unwrap();
        assert_eq!(all(&mut transaction, json!({"table": "inventory"})).await.len(), 0);
        drop(transaction);
        assert_eq!(rows(&store, "inventory").await, before);
    }

    async fn several_writes_to_a_row_are_one_change(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        for stock in [9, 8, 7] {
            let set = json!({"quantity_in_stock": stock});
            transaction.call("update", json!({"table": "inventory", "doc_ids": [2], "set": set})).await.unwrap();
        }
        let set = json!({"quantity_in_stock": 5});
        transaction.call("update", json!({"table": "inventory", "doc_ids": [1], "set": set})).await.unwrap();
        let set = json!({"quantity_in_stock": 23});
        transaction.call("update", json!({"table": "inventory", "doc_ids": [1], "set": set})).await.unwrap();
        let row = json!({"item_id": "X", "name": "Short-lived"});
        let added = transaction.call("insert", json!({"table": "inventory", "rows": [row]})).await.unwrap();
        transaction.call("remove", json!({"table": "inventory", "doc_ids": added["doc_ids"]})).await.unwrap();
        let diff = serde_json::to_value(transaction.diff()).unwrap();
        assert_eq!(diff["inventory"]["changed"].as_array().unwrap().len(), 1, "{diff}");
        assert_eq!(diff["inventory"]["changed"][0]["after"]["quantity_in_stock"], 7);
        assert_eq!(diff["inventory"]["added"], json!([]));
    }

    async fn a_field_that_a_row_lacks_is_not_the_same_as_none(world: World) {
        let store = world.with_table("people", "", r#"[{"name": "Ada", "nick": null}, {"name": "Bob"}]"#).await;
        let mut transaction = begin(&store, Intent::Write).await;
        let search = |condition: Value| json!({"table": "people", "where": condition});
        let exists = json!({"op": "exists", "path": ["nick"]});
        assert_eq!(all(&mut transaction, search(exists)).await, [json!({"doc_id": 1, "name": "Ada", "nick": null})]);
        let none = json!({"op": "eq", "path": ["nick"], "value": null});
        assert_eq!(all(&mut transaction, search(none)).await.len(), 1);
        let lacks = json!({"op": "not", "of": {"op": "exists", "path": ["nick"]}});
        assert_eq!(all(&mut transaction, search(lacks.clone())).await, [json!({"doc_id": 2, "name": "Bob"})]);
        transaction.call("update", json!({"table": "people", "all": true, "unset": ["nick"]})).await.unwrap();
        assert_eq!(all(&mut transaction, search(lacks)).await.len(), 2);
        let set = json!({"nick": "B"});
        transaction.call("update", json!({"table": "people", "doc_ids": [2], "set": set})).await.unwrap();
        commit(transaction).await.unwrap();
        assert_eq!(rows(&store, "people").await, [
            json!({"doc_id": 1, "name": "Ada"}), json!({"doc_id": 2, "name": "Bob", "nick": "B"})
        ]);
    }

    async fn every_type_comes_back_as_it_was_written(world: World) {
        let seed = r#"[{"t": "é'\"☃", "i": -9223372036854775808, "r": 0.1, "b": true, "d": "2025-10-03T09:16:59.628898",
            "j": {"list": [1, 2.5, "x", null, true], "nested": {"ключ": "знач"}}, "n": null}]"#;
        let store = world.with_table("things", "", seed).await;
        let expected: Vec<Value> = serde_json::from_str(seed).unwrap();
        let mut found = rows(&store, "things").await;
        found[0].as_object_mut().unwrap().remove("doc_id");
        assert_eq!(found, expected);
        let types: Vec<_> = store.schema().tables[0].columns.iter().map(|column| column.column_type).collect();
        assert_eq!(types, [
            ColumnType::Text, ColumnType::Integer, ColumnType::Real, ColumnType::Boolean, ColumnType::Timestamp,
            // A column without any value holds whatever is written.
            ColumnType::Json, ColumnType::Any
        ]);
    }

    async fn a_refused_call_leaves_the_transaction_usable_and_unchanged(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        let rows = json!([{"item_id": "NEW1", "name": "One"}, {"item_id": "SG001", "name": "Twin"}]);
        let error = transaction.call("insert", json!({"table": "inventory", "rows": rows})).await.unwrap_err();
        assert!(matches!(&error, StoreError::DuplicateKey { table, key } if table == "inventory" && key.contains("SG001")), "{error}");
        for (op, args, code) in [
            ("insert", json!({"table": "inventry", "rows": []}), "unknown_table"),
            ("insert", json!({"table": "inventory", "rows": [{"item_id": "A", "prize": 3}]}), "unknown_column"),
            ("insert", json!({"table": "inventory", "rows": [{"name": "No key"}]}), "bad_value"),
            ("insert", json!({"table": "inventory", "rows": [{"item_id": "A", "price": "3"}]}), "bad_value"),
            ("insert", json!({"table": "inventory", "rows": [{"item_id": "A", "quantity_in_stock": 1.5}]}), "bad_value"),
            ("update", json!({"table": "inventory", "doc_ids": [1], "set": {"item_id": "SG005"}}), "duplicate_key"),
            ("update", json!({"table": "inventory", "doc_ids": [1], "all": true, "set": {}}), "bad_call"),
            ("update", json!({"table": "transactions", "all": true, "set": {"amount": 1}}), "append_only"),
            ("remove", json!({"table": "transactions", "all": true}), "append_only"),
            ("drop", json!({"table": "inventory"}), "bad_call"),
            ("search", json!({"table": "inventory", "where": {"op": "eq", "path": ["nmae"], "value": 1}}), "unknown_column"),
            ("search", json!({"table": "inventory", "where": {"op": "eq", "path": [], "value": 1}}), "bad_call"),
            ("search", json!({"table": "inventory", "surprise": 1}), "bad_call"),
            ("search", json!([]), "bad_call"),
        ] {
            let error = transaction.call(op, args.clone()).await.unwrap_err();
            assert_eq!(error.code(), code, "{op} {args}: {error}");
        }
        let error = transaction.call("search", json!({"table": "inventry"})).await.unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("did you mean `inventory`?"));
        assert!(!transaction.has_changes());
        assert!(crate::world::buy(&mut transaction, "Classic", 1).await.unwrap());
        commit(transaction).await.unwrap();
    }

    async fn hidden_columns_are_never_returned_nor_written(world: World) {
        let mut options = world.options();
        options.tables = vec![TableDeclaration {
            hidden_columns: vec!["email".to_owned()],
            ..world.table("people", "id", r#"[{"id": 1, "name": "Ada", "email": "ada@example.org"}]"#)
        }];
        let store = Store::open(options).await.unwrap();
        assert_eq!(rows(&store, "people").await, [json!({"doc_id": 1, "id": 1, "name": "Ada"})]);
        let mut transaction = begin(&store, Intent::Write).await;
        for args in [
            json!({"table": "people", "all": true, "set": {"email": "x"}}),
            json!({"table": "people", "where": {"op": "eq", "path": ["email"], "value": "ada@example.org"}, "set": {}}),
        ] {
            let error = transaction.call("update", args).await.unwrap_err();
            assert_eq!(error.code(), "unknown_column");
        }
        transaction.call("remove", json!({"table": "people", "all": true})).await.unwrap();
        let record = commit(transaction).await.unwrap();
        assert!(!serde_json::to_string(&record).unwrap().contains("example.org"));
        store.undo(record.run_id.as_str(), crate::world::note()).await.unwrap();
        drop(store);
        // The row is back with what nobody saw.
        let mut options = world.options();
        options.tables = vec![world.table("people", "id", "[]")];
        let store = Store::open(options).await.unwrap();
        assert_eq!(rows(&store, "people").await[0]["email"], "ada@example.org");
    }

    async fn a_hidden_table_is_as_unknown_as_a_missing_one(world: World) {
        let mut options = world.shop_options();
        options.tables[1].hidden = true;
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let tables = transaction.call("tables", json!({})).await.unwrap();
        assert_eq!(tables["tables"].as_array().unwrap().len(), 1);
        for (op, args, code) in [
            ("search", json!({"table": "transactions"}), "unknown_table"),
            ("insert", json!({"table": "transactions", "rows": [{"transaction_id": "T"}]}), "unknown_table"),
            ("query", json!({"sql": "SELECT * FROM transactions"}), "query"),
            ("query", json!({"sql": "SELECT count(*) AS n FROM transactions"}), "query"),
        ] {
            let result = transaction.call(op, args.clone()).await;
            assert_eq!(result.as_ref().map_err(StoreError::code), Err(code), "{op} {args}: {result:?}");
        }
    }

    async fn a_scan_in_pages_sees_every_row_once_and_none_that_came_later(world: World) {
        let seed: Vec<Value> = (0..2500).map(|n| json!({"n": n, "name": format!("row {n}")})).collect();
        let mut options = world.options();
        options.tables = vec![world.table("numbers", "n", &json!(seed).to_string())];
        options.limits = StoreLimits { page_rows_max: 100, ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let mut args = json!({"table": "numbers"});
        let (mut passed, mut newest) = (Vec::new(), 10_000);
        loop {
            let page = transaction.call("search", args.clone()).await.unwrap();
            passed.extend(objects(&page).iter().map(|row| row["n"].as_i64().unwrap()));
            // Every page of the scan adds a row; a scan that saw them would never end.
            newest += 1;
            let row = json!({"n": newest, "name": "new"});
            transaction.call("insert", json!({"table": "numbers", "rows": [row]})).await.unwrap();
            if page["more"] != json!(true) {
                break;
            }
            args["after"] = page["last"].clone();
            args["as_of"] = page["as_of"].clone();
        }
        assert_eq!(passed, (0..2500).collect::<Vec<i64>>());
    }

    async fn limits_are_named_when_they_are_passed(world: World) {
        let mut options = world.shop_options();
        options.tables[0].max_rows_changed = Some(1);
        options.limits = StoreLimits { row_bytes_max: 1000, rows_changed_max: 5, ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let limit_of = |error: StoreError| match error {
            StoreError::Limit { limit, .. } => limit,
            other => panic!("{other}"),
        };
        let args = json!({"table": "inventory", "all": true, "set": {"price": 1.0}});
        assert_eq!(limit_of(transaction.call("update", args).await.unwrap_err()), "max_rows_changed");
        let row = json!({"transaction_id": "T", "customer_name": "x".repeat(2000)});
        let args = json!({"table": "transactions", "rows": [row]});
        assert_eq!(limit_of(transaction.call("insert", args).await.unwrap_err()), "row_bytes_max");
        let many: Vec<Value> = (0..6).map(|n| json!({"transaction_id": n.to_string()})).collect();
        let args = json!({"table": "transactions", "rows": many});
        assert_eq!(limit_of(transaction.call("insert", args).await.unwrap_err()), "rows_changed_max");
        // One at a time gets past the check of a single call, and no further.
        for doc_id in [1, 2] {
            let args = json!({"table": "inventory", "doc_ids": [doc_id], "set": {"price": 1.0}});
            transaction.call("update", args).await.unwrap();
        }
        let error = commit(transaction).await.unwrap_err();
        assert!(matches!(&error, StoreError::Violated { violations } if violations[0].rule == "max_rows_changed"), "{error}");
        assert_eq!(rows(&store, "inventory").await[0]["price"], 80.0);
    }

    async fn upsert_changes_what_matches_and_adds_what_does_not(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        let args = |id: &str, price: f64| json!({"table": "inventory",
            "where": {"op": "eq", "path": ["item_id"], "value": id}, "row": {"item_id": id, "price": price}});
        let changed = transaction.call("upsert", args("SG001", 90.0)).await.unwrap();
        assert_eq!(changed, json!({"doc_ids": [1], "exact": true}));
        let added = transaction.call("upsert", args("SG100", 10.0)).await.unwrap();
        assert_eq!(added, json!({"doc_ids": [4], "exact": true}));
        commit(transaction).await.unwrap();
        let found = rows(&store, "inventory").await;
        assert_eq!((&found[0]["price"], &found[3]), (&json!(90.0), &json!({"doc_id": 4, "item_id": "SG100", "price": 10.0})));
    }

    async fn a_write_that_only_python_can_decide_is_handed_back(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        let regex = json!({"op": "regex", "path": ["name"]});
        let args = json!({"table": "inventory", "where": regex, "set": {"price": 1.0}});
        assert_eq!(transaction.call("update", args).await.unwrap(), json!({"doc_ids": [], "exact": false}));
        let args = json!({"table": "inventory", "where": {"op": "python"}});
        assert_eq!(transaction.call("count", args.clone()).await.unwrap(), json!({"count": null, "exact": false}));
        assert_eq!(transaction.call("search", args).await.unwrap()["exact"], false);
        assert!(!transaction.has_changes());
    }

    async fn ids_that_a_plan_gives_are_kept_and_not_given_again(world: World) {
        let store = world.with_table("notes", "", r#"{"3": {"text": "three"}, "7": {"text": "seven"}}"#).await;
        let mut transaction = begin(&store, Intent::Write).await;
        let insert = |rows: Value, ids: Value| json!({"table": "notes", "rows": rows, "doc_ids": ids});
        let reply = transaction.call("insert", insert(json!([{"text": "twenty"}]), json!([20]))).await.unwrap();
        assert_eq!(reply["doc_ids"], json!([20]));
        let reply = transaction.call("insert", json!({"table": "notes", "rows": [{"text": "next"}]})).await.unwrap();
        assert_eq!(reply["doc_ids"], json!([21]));
        let error = transaction.call("insert", insert(json!([{"text": "again"}]), json!([7]))).await.unwrap_err();
        assert!(error.to_string().contains("doc_id = 7"), "{error}");
        let rows = json!([{"doc_id": 3, "set": {"text": "drei"}}, {"doc_id": 20, "unset": ["text"]}]);
        transaction.call("update_rows", json!({"table": "notes", "rows": rows})).await.unwrap();
        commit(transaction).await.unwrap();
        assert_eq!(crate::world::rows(&store, "notes").await, [
            json!({"doc_id": 3, "text": "drei"}), json!({"doc_id": 7, "text": "seven"}), json!({"doc_id": 20}),
            json!({"doc_id": 21, "text": "next"})
        ]);
    }

    async fn a_declared_type_and_index_are_taken_over(world: World) {
        let mut options = world.options();
        let real = ColumnDeclaration { column_type: ColumnType::Real, nullable: false };
        options.tables = vec![TableDeclaration {
            columns: [("price".to_owned(), real)].into(),
            indexes: vec![vec!["colour".to_owned(), "price".to_owned()]],
            ..world.table("shirts", "sku", r#"[{"sku": "a", "price": 3, "colour": "red"}]"#)
        }];
        let store = Store::open(options.clone()).await.unwrap();
        assert_eq!(rows(&store, "shirts").await[0]["price"], json!(3.0));
        let info = store.tables().await.unwrap().remove(0);
        assert_eq!(info.indexes, [vec!["sku"], vec!["colour", "price"]]);
        assert_eq!((info.rows, info.in_place), (1, false));
        let mut transaction = begin(&store, Intent::Write).await;
        let args = json!({"table": "shirts", "all": true, "set": {"price": null}});
        assert_eq!(transaction.call("update", args).await.unwrap_err().code(), "bad_value");
        // Another type for a table that is there already is an error with a way out.
        drop(transaction);
        options.tables[0].columns.insert("colour".to_owned(), real);
        let error = Store::open(options).await.unwrap_err();
        assert!(error.hint().unwrap().contains("reseed"), "{error}");
    }

    async fn a_row_of_ten_megabytes_and_many_changed_rows_are_carried(world: World) {
        let store = world.with_table("blobs", "id", r#"[{"id": 1, "body": "x"}]"#).await;
        let mut transaction = begin(&store, Intent::Write).await;
        let body = "ü".repeat(5_000_000);
        let args = json!({"table": "blobs", "rows": [{"id": 2, "body": body}]});
        transaction.call("insert", args).await.unwrap();
        let many: Vec<Value> = (10..5010).map(|id| json!({"id": id, "body": "small"})).collect();
        transaction.call("insert", json!({"table": "blobs", "rows": many})).await.unwrap();
        transaction.call("update", json!({"table": "blobs", "all": true, "set": {"body": "changed"}})).await.unwrap();
        let record = commit(transaction).await.unwrap();
        assert_eq!(record.diff.rows(), 5002);
        assert_eq!(rows(&store, "blobs").await.len(), 5002);
        store.undo(record.run_id.as_str(), crate::world::note()).await.unwrap();
        assert_eq!(rows(&store, "blobs").await, [json!({"doc_id": 1, "id": 1, "body": "x"})]);
    }
}
