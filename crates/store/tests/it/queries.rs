//! `db.query`: reading with SQL, and everything it must not be able to do.

use std::time::Duration;

use ordain_store::{Intent, Store, StoreError, StoreLimits, StoreOptions, TableDeclaration, Transaction};
use serde_json::{Value, json};

use crate::world::{World, begin, buy, commit, on_both};

async fn query(transaction: &mut Transaction, sql: &str, params: Value) -> Result<Value, StoreError> {
    transaction.call("query", json!({"sql": sql, "params": params})).await.map(|reply| reply["rows"].clone())
}

fn options_with_secrets(world: &World) -> StoreOptions {
    let mut options = world.shop_options();
    options.tables.push(TableDeclaration {
        hidden_columns: vec!["email".to_owned()],
        ..world.table("customers", "id", r#"[{"id": 1, "name": "Ada", "email": "ada@example.org"}]"#)
    });
    options
}

async fn with_secrets(world: &World) -> Store {
    Store::open(options_with_secrets(world)).await.unwrap()
}

on_both! {
    async fn fuzz_sql_judge(world: World) {
        let limits = StoreLimits { query_wall: Duration::from_millis(200), ..StoreLimits::default() };
        let store = Store::open(StoreOptions { limits, ..options_with_secrets(&world) }).await.unwrap();
        world.tamper("CREATE TABLE unlisted (secret TEXT); INSERT INTO unlisted VALUES ('hush')");
        let seeds: [&[u8]; 9] = [
            b"SELECT name, quantity_in_stock FROM inventory WHERE price < 100 AND name <> 'x' ORDER BY name DESC;",
            b"WITH cheap (n) AS (SELECT name FROM inventory) SELECT count(*) AS n FROM cheap GROUP BY 1 HAVING count(*) > 0",
            b"SELECT c.name, sum(t.amount) OVER (PARTITION BY c.id ORDER BY t.balance) FROM customers c, transactions t",
            b"SELECT CASE WHEN price > 1e2 THEN 'a' ELSE \"name\" END FROM inventory UNION ALL SELECT lower(name) FROM customers",
            b"SELECT email FROM main.customers; SELECT * FROM public.customers",
            b"SELECT (customers).email, to_json(customers) FROM customers; SELECT secret FROM unlisted",
            b"SELECT pg_read_file('/etc/passwd'), ('x'::text).ts_stat, U&'\\0061', $$a$$, ARRAY[1][1], x'1F', - -5",
            b"SELECT * FROM sqlite_schema, pragma_table_info('customers'), json_each('[1]') /* -- */ LIMIT 1 OFFSET 0",
            b"SELECT substr(group_concat(name), 1), (SELECT max(email) FROM customers) FROM inventory i JOIN customers USING (name)",
        ];
        let runtime = tokio::runtime::Handle::current();
        let mut transaction = begin(&store, Intent::Read).await;
        tokio::task::block_in_place(|| ordain_testkit::fuzz::run("sql_judge", &seeds, |input| {
            let sql = String::from_utf8_lossy(input);
            let found = runtime.block_on(query(&mut transaction, &sql, Value::Null));
            let shown = format!("{found:?}");
            assert!(!shown.contains("ada@") && !shown.contains("hush") && !shown.contains("root:"), "{sql}: {shown}");
            if let Err(error) = found && !error.is_callers() {
                assert!(matches!(error, StoreError::Timeout { .. } | StoreError::Limit { .. }), "{sql}: {error:?}");
                transaction = runtime.block_on(begin(&store, Intent::Read));
            }
        }));
    }

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

    async fn rows_are_found_by_a_part_of_a_value_and_come_in_the_order_of_a_column(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Read).await;
        let sql = "SELECT \"name\", \"price\" FROM \"inventory\" WHERE replace(lower(CAST(\"name\" AS TEXT)), ?, '') \
                   <> lower(CAST(\"name\" AS TEXT)) ORDER BY \"price\" DESC, \"item_id\" LIMIT 51 OFFSET 0";
        let found = query(&mut transaction, sql, json!(["a"])).await.unwrap();
        let names: Vec<_> = found.as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
        assert_eq!(names, ["Aviator", "Classic"]);
        assert_eq!(query(&mut transaction, sql, json!(["%"])).await.unwrap(), json!([]));
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

    async fn rows_do_not_come_in_the_order_of_a_hidden_column(world: World) {
        let seed = r#"[{"n": 1, "email": "z", "name": "a"}, {"n": 2, "email": "a", "name": "a"}, {"n": 3, "email": "m", "name": "a"}]"#;
        let mut options = world.options();
        options.tables = [("plain", vec!["email"]), ("behind", vec!["name", "email"])].map(|(name, index)| TableDeclaration {
            hidden_columns: vec!["email".to_owned()],
            indexes: vec![index.into_iter().map(str::to_owned).collect()],
            ..world.table(name, "n", seed)
        }).into();
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Read).await;
        for table in ["plain", "behind"] {
            for sql in [format!("SELECT doc_id FROM {table}"), format!("SELECT doc_id FROM {table} WHERE name = 'a'")] {
                let found = query(&mut transaction, &sql, Value::Null).await.unwrap();
                assert_eq!(found, json!([{"doc_id": 1}, {"doc_id": 2}, {"doc_id": 3}]), "{sql}");
            }
            let direct = query(&mut transaction, &format!("SELECT doc_id FROM \"main\" . {table}"), Value::Null).await;
            assert!(matches!(direct, Err(StoreError::Query { .. })), "{direct:?}");
        }
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
            // A function of one argument that is called like a column, and a whole row as a value.
            "SELECT ('data_directory'::text).current_setting AS x",
            "SELECT (customers).email FROM customers",
            "SELECT row_to_json(c) AS x FROM public.customers AS c",
            "SELECT customers.text AS x FROM customers",
            "SELECT (('SELECT 1'::text).ts_stat).word AS x",
            "SELECT * FROM ROWS FROM (pg_ls_dir('/')) AS x",
            "SELECT 'customers'::regclass::text AS x",
            // The lock of the writers, spelled otherwise.
            "SELECT (1::bigint).pg_try_advisory_lock AS x",
            "SELECT pg_catalog.\"pg_advisory_lock_shared\" /**/ (1) AS x",
            "SELECT U&\"pg_advisory\\005funlock_all\"() AS x",
            "SELECT pg_advisory_xact_lock(1) AS x",
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
        options.limits = StoreLimits { query_rows_max: 2, query_bytes_max: 2000, ..StoreLimits::default() };
        let store = Store::open(options.clone()).await.unwrap();
        let mut transaction = begin(&store, Intent::Read).await;
        let limit = |result: Result<Value, StoreError>| match result {
            Err(StoreError::Limit { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        assert_eq!(limit(query(&mut transaction, "SELECT * FROM inventory", Value::Null).await), "query_rows_max");
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let long = "x".repeat(3000);
        assert_eq!(limit(query(&mut transaction, "SELECT ? AS x", json!([long])).await), "query_bytes_max");
        assert_eq!(query(&mut transaction, "SELECT 1 AS one", Value::Null).await.unwrap(), json!([{"one": 1}]));
        options.limits.query_wall = Duration::from_millis(300);
        let impatient = Store::open(options).await.unwrap();
        let mut transaction = begin(&impatient, Intent::Write).await;
        let late = query(&mut transaction, endless, Value::Null).await;
        assert!(matches!(late, Err(StoreError::Timeout { wall_ms: 300 })), "{late:?}");
        // The run is over, and another one goes on at once.
        assert!(query(&mut transaction, "SELECT 1 AS one", Value::Null).await.is_err());
        transaction.roll_back().await.unwrap();
        let mut next = begin(&store, Intent::Write).await;
        assert!(buy(&mut next, "Classic", 1).await.unwrap());
    }

    async fn a_plan_that_goes_away_in_the_middle_frees_the_writers_lock(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let given_up = tokio::time::timeout(Duration::from_millis(200), query(&mut transaction, endless, Value::Null)).await;
        assert!(given_up.is_err());
        transaction.roll_back().await.unwrap();
        let mut next = begin(&store, Intent::Write).await;
        assert!(buy(&mut next, "Classic", 10).await.unwrap(), "the sale before was rolled back");
        commit(next).await.unwrap();
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

/// Statements that SQLite itself would spend hours or gigabytes on, within one instruction or one row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_instruction_cannot_hang_or_take_memory_on_sqlite() {
    let world = World::sqlite();
    let mut options = world.shop_options();
    options.limits.query_wall = Duration::from_secs(3);
    let store = Store::open(options).await.unwrap();
    let big = "(SELECT hex(zeroblob(900000)) AS b)";
    let many = (0..150).map(|number| format!("b || '{number}' AS c{number}")).collect::<Vec<_>>().join(", ");
    for sql in [
        "SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1') AS x".to_owned(),
        "SELECT zeroblob(300000000) AS a, zeroblob(300000000) AS b, zeroblob(300000000) AS c".to_owned(),
        "SELECT replace(hex(zeroblob(500000)), '0', hex(zeroblob(500000))) AS x".to_owned(),
        "SELECT printf('%.*c', 2000000000, 'x') AS x".to_owned(),
        "SELECT group_concat(b, b) AS x FROM (SELECT b FROM (SELECT hex(zeroblob(900000)) AS b), inventory, inventory)".to_owned(),
        "SELECT json_group_array(b) AS x FROM (SELECT b FROM (SELECT hex(zeroblob(900000)) AS b), inventory, inventory)".to_owned(),
        "SELECT hex(randomblob(1000)) AS x".to_owned(),
        "SELECT json_patch('{}', '{}') AS x".to_owned(),
        "SELECT hex(zeroblob(900000)) LIKE '%' || hex(zeroblob(20000)) || '1' AS x FROM inventory, inventory AS j, inventory AS k".to_owned(),
        "SELECT hex(zeroblob(900000)) GLOB '*' || hex(zeroblob(20000)) || '1*' AS x FROM inventory, inventory AS j, inventory AS k".to_owned(),
        "SELECT quote(printf('%0900000000d', 1)) AS x".to_owned(),
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT sum(x) OVER (ORDER BY x) FROM c".to_owned(),
        format!("SELECT {many} FROM {big} AS x, inventory"),
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 4000), b AS (SELECT hex(zeroblob(900000)) AS b) \
         SELECT count(*) AS n FROM (SELECT DISTINCT b || x FROM c, b)".to_owned(),
    ] {
        let mut transaction = begin(&store, Intent::Read).await;
        let result = query(&mut transaction, &sql, Value::Null).await;
        let is_refused = matches!(&result, Err(StoreError::Query { .. } | StoreError::Limit { .. } | StoreError::Timeout { .. }));
        assert!(is_refused, "{}: {:.200}", &sql[..sql.len().min(100)], format!("{result:?}"));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 1_500_000, "it took {peak} kB");
}

/// What is denied is denied by SQLite's own compiler asking, so that no way of writing it makes a difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_itself_asks_about_every_table_column_and_function() {
    let world = World::sqlite();
    let store = with_secrets(&world).await;
    let mut transaction = begin(&store, Intent::Read).await;
    for (sql, named) in [
        ("SELECT count(*) AS n FROM dbstat", "dbstat"),
        ("SELECT * FROM dbstat", "dbstat"),
        ("SELECT email FROM main.customers", "email"),
        ("SELECT count(*) AS n FROM customers JOIN main.customers USING (email)", "email"),
        ("SELECT (SELECT max(c.email) FROM main.customers c) AS x", "email"),
        ("WITH c AS (SELECT * FROM main.customers) SELECT * FROM c", "email"),
        ("SELECT count(*) AS n FROM ordain_keys", "ordain_keys"),
        ("SELECT last_insert_rowid() AS x", "last_insert_rowid"),
        ("SELECT sqlite_version() AS x", "sqlite_version"),
        ("SELECT * FROM pragma_database_list", "pragma_database_list"),
        ("SELECT * FROM fts5vocab", "fts5vocab"),
        ("PRAGMA user_version", "setting"),
        ("DELETE FROM customers", "write"),
        ("EXPLAIN SELECT 1", "write"),
    ] {
        match query(&mut transaction, sql, Value::Null).await {
            Err(StoreError::Query { message, .. }) => assert!(message.contains(named), "{sql}: {message}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
}
