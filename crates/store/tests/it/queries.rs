//! `db.query`: reading with SQL, and everything it must not be able to do.

use std::time::Duration;

use ordain_store::{Intent, Store, StoreError, StoreLimits, TableDeclaration, Transaction};
use serde_json::{Value, json};

use crate::world::{World, begin, buy, commit, on_both};

async fn query(transaction: &mut Transaction, sql: &str, params: Value) -> Result<Value, StoreError> {
    transaction.call("query", json!({"sql": sql, "params": params})).await.map(|reply| reply["rows"].clone())
}

async fn with_secrets(world: &World) -> Store {
    let mut options = world.shop_options();
    options.tables.push(TableDeclaration {
        hidden_columns: vec!["email".to_owned()],
        ..world.table("customers", "id", r#"[{"id": 1, "name": "Ada", "email": "ada@example.org"}]"#)
    });
    Store::open(options).await.unwrap()
}

on_both! {
    async fn it_reads_with_parameters_of_both_kinds_in_the_same_transaction(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let sql = "SELECT name, quantity_in_stock FROM inventory -- the cheap ones\n WHERE price < ? AND name <> ? ORDER BY name DESC;";
        let found = query(&mut transaction, sql, json!([100, "O'Neil; --"])).await.unwrap();
        assert_eq!(found, json!([{"name": "Classic", "quantity_in_stock": 7}, {"name": "Aviator", "quantity_in_stock": 23}]));
        let sql = "WITH cheap AS (SELECT * FROM inventory WHERE price <= :most) SELECT count(*) AS n, sum(price) AS total FROM cheap";
        let found = query(&mut transaction, sql, json!({"most": 80.0})).await.unwrap();
        assert_eq!(found, json!([{"n": 2, "total": 140.0}]));
        let sql = "SELECT i.name, 1 - -1 AS two FROM inventory AS i JOIN transactions t ON t.amount = 3 * i.price WHERE i.price = $1";
        assert_eq!(query(&mut transaction, sql, json!([60.0])).await.unwrap(), json!([{"name": "Classic", "two": 2}]));
        commit(transaction).await.unwrap();
    }

    async fn select_star_shows_the_visible_columns_and_nothing_else(world: World) {
        let store = with_secrets(&world).await;
        let mut transaction = begin(&store, Intent::Read).await;
        let found = query(&mut transaction, "SELECT * FROM customers", Value::Null).await.unwrap();
        assert_eq!(found, json!([{"doc_id": 1, "id": 1, "name": "Ada"}]));
    }

    async fn booleans_and_nested_values_have_the_form_that_tables_give_them(world: World) {
        let seed = r#"[{"id": 1, "ok": true, "tags": ["a", {"b": null}], "n": 2.0}, {"id": 2, "ok": false, "tags": null, "n": 3.5}]"#;
        let store = world.with_table("things", "id", seed).await;
        let mut transaction = begin(&store, Intent::Read).await;
        let found = query(&mut transaction, "SELECT t.ok AS fine, tags, n, id FROM things t ORDER BY id", Value::Null).await.unwrap();
        assert_eq!(found, json!([{"fine": true, "tags": ["a", {"b": null}], "n": 2.0, "id": 1},
            {"fine": false, "tags": null, "n": 3.5, "id": 2}]));
    }

    async fn hidden_columns_and_other_tables_cannot_be_reached(world: World) {
        let store = with_secrets(&world).await;
        world.tamper("CREATE TABLE unlisted (secret TEXT); INSERT INTO unlisted VALUES ('hush')");
        let mut transaction = begin(&store, Intent::Read).await;
        for sql in [
            "SELECT email FROM customers",
            "SELECT * FROM main.customers",
            "SELECT * FROM public.customers",
            "SELECT email FROM \"public\".\"customers\"",
            "SELECT c.email FROM customers c",
            "SELECT name FROM customers ORDER BY email",
            "SELECT count(*) FROM customers WHERE email LIKE 'a%'",
            "SELECT ordain_absent FROM customers",
            "SELECT * FROM unlisted",
            "SELECT count(*) FROM unlisted",
            "SELECT count(*) FROM ordain_runs",
            "SELECT count(*) FROM sqlite_master",
            "SELECT count(*) FROM pragma_table_list",
            "SELECT secret FROM (SELECT * FROM unlisted) AS x",
            "SELECT * FROM sqlite_master",
            "SELECT * FROM sqlite_schema",
            "SELECT * FROM pragma_table_info('customers')",
            "SELECT * FROM ordain_runs",
            "SELECT * FROM ordain.runs",
            "SELECT * FROM pg_catalog.pg_class",
            "SELECT * FROM pg_class",
            "SELECT * FROM information_schema.tables",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT query_to_xml('SELECT * FROM public.unlisted', true, true, '')",
            "SELECT current_setting('data_directory')",
            "SELECT set_config('search_path', 'public', false)",
            "SELECT lo_import('/etc/passwd')",
            "SELECT \"pg_sleep\"(1)",
            "WITH lo_import(a) AS (SELECT 1), x AS (SELECT 1, lo_import(a) AS b FROM customers) SELECT * FROM x",
            "SELECT load_extension('x')",
            "SELECT readfile('/etc/passwd')",
        ] {
            let result = query(&mut transaction, sql, Value::Null).await;
            assert!(matches!(&result, Err(StoreError::Query { .. })), "{sql}: {result:?}");
        }
        // The transaction is still good.
        assert_eq!(query(&mut transaction, "SELECT name FROM customers", Value::Null).await.unwrap(), json!([{"name": "Ada"}]));
    }

    async fn it_cannot_write(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        for sql in [
            "DELETE FROM inventory",
            "UPDATE inventory SET price = 0",
            "INSERT INTO inventory (item_id) VALUES ('x')",
            "WITH gone AS (DELETE FROM inventory RETURNING *) SELECT * FROM gone",
            "SELECT * INTO copied FROM inventory",
            "DROP TABLE inventory",
            "CREATE TABLE x (a INT)",
            "PRAGMA journal_mode = DELETE",
            "ATTACH DATABASE '/tmp/x' AS x",
            "VACUUM",
            "COPY inventory TO '/tmp/x'",
            "COMMIT",
            "SELECT 1; DELETE FROM inventory",
            "SELECT 1) AS x; DELETE FROM inventory; SELECT * FROM (SELECT 1",
            "SELECT nextval('inventory_doc_id_seq')",
            "SELECT * FROM inventory FOR UPDATE",
            "",
            ";",
            "SELECT 'open",
            "SELECT $$x$$",
            "SELECT E'\\''; DELETE FROM inventory; --'",
        ] {
            let result = query(&mut transaction, sql, Value::Null).await;
            assert!(matches!(&result, Err(StoreError::Query { .. })), "{sql}: {result:?}");
        }
        assert_eq!(query(&mut transaction, "SELECT count(*) AS n FROM inventory", Value::Null).await.unwrap(), json!([{"n": 3}]));
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        commit(transaction).await.unwrap();
    }

    async fn rows_bytes_and_time_have_limits(world: World) {
        let mut options = world.shop_options();
        let query_wall = Duration::from_millis(300);
        options.limits = StoreLimits { query_rows_max: 2, query_bytes_max: 2000, query_wall, ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Read).await;
        let limit = |result: Result<Value, StoreError>| match result {
            Err(StoreError::Limit { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        assert_eq!(limit(query(&mut transaction, "SELECT * FROM inventory", Value::Null).await), "query_rows_max");
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        assert_eq!(limit(query(&mut transaction, endless, Value::Null).await), "query_wall_ms");
        let long = "x".repeat(3000);
        assert_eq!(limit(query(&mut transaction, "SELECT ? AS x", json!([long])).await), "query_bytes_max");
        assert_eq!(query(&mut transaction, "SELECT 1 AS one", Value::Null).await.unwrap(), json!([{"one": 1}]));
    }

    async fn wrong_parameters_are_named(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Read).await;
        for (sql, params) in [
            ("SELECT ?", json!([])),
            ("SELECT 1", json!([1])),
            ("SELECT :a", json!([1])),
            ("SELECT :a", json!({"b": 1})),
            ("SELECT ?", json!({"b": 1})),
            ("SELECT $2", json!([1])),
            ("SELECT ?", json!("x")),
            ("SELECT ?", json!([u64::MAX])),
            ("SELECT ?", json!(["a\u{0}b"])),
            ("SELECT no_such_column FROM inventory", json!([])),
            ("SELECT * FROM no_such_table", json!([])),
        ] {
            let result = query(&mut transaction, sql, params.clone()).await;
            assert!(matches!(&result, Err(StoreError::Query { .. })), "{sql} {params}: {result:?}");
        }
    }
}
