//! Tables that were in a PostgreSQL database before: used in place, and never changed but by runs.

use ordain_store::{Intent, Store, StoreError, TableDeclaration};
use ordain_testkit::postgres::Server;
use ordain_types::{ColumnType, RunState};
use serde_json::{Value, json};

use crate::conditions::python;
use crate::world::{World, all, begin, commit, hold, note, rows};

async fn open(world: &World, script: &str) -> Store {
    world.tamper(script);
    Store::open(world.options()).await.unwrap()
}

const ORDERS: &str = "
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE customers (code varchar(10) PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (
  id serial PRIMARY KEY, customer varchar(10) REFERENCES customers (code), total numeric(10,2), paid boolean DEFAULT false,
  placed_at timestamptz, due date, tag uuid, feeling mood, extra jsonb, ratio real, weight double precision,
  doubled numeric GENERATED ALWAYS AS (total * 2) STORED);
CREATE INDEX ON orders (customer);
CREATE TABLE lines (order_id int REFERENCES orders (id), line int, text text, PRIMARY KEY (order_id, line));
INSERT INTO customers VALUES ('c1', 'Ada'), ('c2', 'Bob');
INSERT INTO orders (customer, total, placed_at, due, tag, feeling, extra, ratio, weight) VALUES
  ('c1', 79.90, '2025-10-03 09:16:59.5+02', '2025-11-01', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'happy', '{\"a\": [1, 2]}', 0.1, 'NaN'),
  ('c2', 12345678901234.56::numeric(20,2) / 1000000, NULL, NULL, NULL, NULL, NULL, NULL, 2.5);
INSERT INTO lines VALUES (1, 1, 'first'), (1, 2, 'second'), (2, 1, 'other');";

#[tokio::test]
async fn types_keys_and_references_are_read_from_the_database() {
    let world = World::postgres();
    let store = open(&world, ORDERS).await;
    let tables = store.tables().await.unwrap();
    let names: Vec<&str> = tables.iter().map(|info| info.table.name.as_str()).collect();
    assert_eq!(names, ["customers", "lines", "orders"]);
    let orders = &tables[2];
    assert!(orders.in_place);
    assert_eq!((orders.rows, &orders.table.key), (2, &vec!["id".to_owned()]));
    let types: Vec<(&str, ColumnType)> =
        orders.table.columns.iter().map(|column| (column.name.as_str(), column.column_type)).collect();
    assert_eq!(
        types,
        [
            ("id", ColumnType::Integer),
            ("customer", ColumnType::Text),
            ("total", ColumnType::Decimal),
            ("paid", ColumnType::Boolean),
            ("placed_at", ColumnType::Timestamp),
            ("due", ColumnType::Timestamp),
            ("tag", ColumnType::Text),
            ("feeling", ColumnType::Text),
            ("extra", ColumnType::Json),
            ("ratio", ColumnType::Real),
            ("weight", ColumnType::Real),
            ("doubled", ColumnType::Decimal),
        ]
    );
    assert_eq!(orders.foreign_keys[0].table, "customers");
    assert!(orders.indexes.contains(&vec!["customer".to_owned()]));
    assert_eq!(tables[1].table.key, ["order_id", "line"]);
    let found = rows(&store, "orders").await;
    assert_eq!(
        found[0],
        json!({
            "doc_id": 1, "id": 1, "customer": "c1", "total": 79.9, "paid": false, "placed_at": "2025-10-03T07:16:59.5+00:00",
            "due": "2025-11-01", "tag": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "feeling": "happy", "extra": {"a": [1, 2]},
            "ratio": 0.1, "weight": "NaN", "doubled": 159.8
        })
    );
}

#[tokio::test]
async fn a_run_writes_in_place_and_undo_restores_every_value() {
    let world = World::postgres();
    let store = open(&world, ORDERS).await;
    let dump = || {
        Server::shared().psql(
            world.url.as_ref().unwrap(),
            "SELECT orders::text FROM orders ORDER BY id; SELECT lines::text FROM lines ORDER BY 1",
        )
    };
    let before = dump();
    let mut transaction = begin(&store, Intent::Write).await;
    let new = json!({"customer": "c2", "total": 10.5, "placed_at": "2025-12-24T18:00:00", "feeling": "sad", "extra": [1]});
    let reply = transaction.call("insert", json!({"table": "orders", "rows": [new]})).await.unwrap();
    assert_eq!(reply["doc_ids"], json!([3]));
    let line = |order: i64, line: i64| {
        json!({"op": "and", "of": [
        {"op": "eq", "path": ["order_id"], "value": order}, {"op": "eq", "path": ["line"], "value": line}]})
    };
    let args = json!({"table": "lines", "where": line(1, 2), "set": {"text": "changed"}});
    assert_eq!(transaction.call("update", args).await.unwrap()["exact"], true);
    let args = json!({"table": "lines", "where": line(1, 2), "set": {"line": 7}});
    transaction.call("update", args).await.unwrap();
    transaction
        .call("insert", json!({"table": "lines", "rows": [{"order_id": 3, "line": 1, "text": "new"}]}))
        .await
        .unwrap();
    transaction.call("remove", json!({"table": "lines", "where": line(2, 1)})).await.unwrap();
    transaction.call("remove", json!({"table": "orders", "doc_ids": [2]})).await.unwrap();
    let lines = all(&mut transaction, json!({"table": "lines"})).await;
    let texts: Vec<_> = lines.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first", "changed", "new"]);
    let done = commit(transaction).await.unwrap();
    let diff = serde_json::to_value(&done.diff).unwrap();
    assert_eq!(diff["lines"]["changed"][0]["key"], json!({"order_id": 1, "line": 2}));
    assert_eq!(diff["orders"]["added"][0]["doubled"], 21.0, "what the database fills is in the diff");
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(dump(), before);
}

#[tokio::test]
async fn columns_that_the_database_fills_come_back_as_they_were() {
    let world = World::postgres();
    let script = "CREATE TABLE sums (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int,
          twice int GENERATED ALWAYS AS (a * 2) STORED);
        INSERT INTO sums (a) VALUES (1), (2), (3)";
    let store = open(&world, script).await;
    let before = rows(&store, "sums").await;
    let mut transaction = begin(&store, Intent::Write).await;
    transaction.call("remove", json!({"table": "sums", "doc_ids": [2]})).await.unwrap();
    transaction.call("update", json!({"table": "sums", "doc_ids": [3], "set": {"a": 30}})).await.unwrap();
    transaction.call("insert", json!({"table": "sums", "rows": [{"a": 4}, {}]})).await.unwrap();
    for column in ["id", "twice"] {
        let args = json!({"table": "sums", "doc_ids": [3], "set": {column: 7}});
        assert_eq!(transaction.call("update", args).await.unwrap_err().code(), "bad_value");
    }
    let done = commit(transaction).await.unwrap();
    let after: Vec<_> = rows(&store, "sums").await.iter().map(|row| row["twice"].clone()).collect();
    assert_eq!(after, [json!(2), json!(60), json!(8), json!(null)]);
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(rows(&store, "sums").await, before);
}

#[tokio::test]
async fn a_row_keeps_its_id_within_a_run_however_often_it_is_written() {
    let world = World::postgres();
    let store = open(&world, ORDERS).await;
    let mut transaction = begin(&store, Intent::Write).await;
    let ada = json!({"op": "eq", "path": ["name"], "value": "Ada"});
    let found = all(&mut transaction, json!({"table": "customers", "where": ada})).await;
    let id = found[0]["doc_id"].clone();
    for name in ["Adele", "Adeline", "Ada L."] {
        let args = json!({"table": "customers", "doc_ids": [id], "set": {"name": name}});
        assert_eq!(transaction.call("update", args).await.unwrap()["doc_ids"], json!([id]));
        let page = transaction.call("get", json!({"table": "customers", "doc_ids": [id]})).await.unwrap();
        assert_eq!(crate::world::objects(&page)[0]["name"], name);
    }
    let again = all(&mut transaction, json!({"table": "customers"})).await;
    assert_eq!((&again[0]["doc_id"], &again[0]["name"]), (&id, &json!("Ada L.")));
    let diff = transaction.diff();
    assert_eq!(diff.tables["customers"].changed.len(), 1);
    commit(transaction).await.unwrap();
}

#[tokio::test]
async fn what_the_database_refuses_leaves_the_transaction_usable() {
    let world = World::postgres();
    let store = open(&world, ORDERS).await;
    let mut transaction = begin(&store, Intent::Write).await;
    for (op, args, code) in [
        ("insert", json!({"table": "orders", "rows": [{"customer": "nobody"}]}), "constraint"),
        ("insert", json!({"table": "orders", "rows": [{"feeling": "furious"}]}), "constraint"),
        ("insert", json!({"table": "orders", "rows": [{"tag": "no uuid"}]}), "constraint"),
        ("insert", json!({"table": "orders", "rows": [{"total": 1e12}]}), "constraint"),
        ("insert", json!({"table": "orders", "rows": [{"doubled": 1}]}), "bad_value"),
        ("insert", json!({"table": "orders", "rows": [{"placed_at": "soon"}]}), "bad_value"),
        ("insert", json!({"table": "customers", "rows": [{"code": "c1", "name": "Twin"}]}), "duplicate_key"),
        (
            "insert",
            json!({"table": "customers", "rows": [{"code": "far too long for it", "name": "x"}]}),
            "constraint",
        ),
        ("update", json!({"table": "customers", "all": true, "set": {"code": "c1"}}), "duplicate_key"),
        ("remove", json!({"table": "customers", "all": true}), "constraint"),
        (
            "update",
            json!({"table": "orders", "doc_ids": [1], "set": {"id": 99_999_999_999_i64}}),
            "constraint",
        ),
    ] {
        let result = transaction.call(op, args.clone()).await;
        assert_eq!(result.as_ref().map_err(StoreError::code), Err(code), "{op} {args}: {result:?}");
    }
    assert!(!transaction.has_changes());
    let args = json!({"table": "customers", "all": true, "set": {"name": "Everyone"}});
    transaction.call("update", args).await.unwrap();
    assert_eq!(commit(transaction).await.unwrap().diff.rows(), 2);
}

#[tokio::test]
async fn triggers_and_cascades_are_told_and_a_missing_key_makes_a_table_read_only() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE watched (id int PRIMARY KEY, n int);
         CREATE FUNCTION bump() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n + 1; RETURN NEW; END $$;
         CREATE TRIGGER bump BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION bump();
         CREATE TABLE parents (id int PRIMARY KEY);
         CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents ON DELETE CASCADE);
         CREATE TABLE loose (a int); INSERT INTO loose SELECT generate_series(1, 2500);",
    );
    let store = Store::open(world.options()).await.unwrap();
    let tables = store.tables().await.unwrap();
    let info = |name: &str| tables.iter().find(|info| info.table.name == name).unwrap();
    assert!(info("watched").notes[0].contains("trigger `bump`"));
    assert!(info("parents").notes[0].contains("rows of `children` follow"));
    assert!(info("loose").notes[0].contains("no primary key"));
    let mut transaction = begin(&store, Intent::Write).await;
    assert!(info("loose").table.read_only);
    let error = transaction.call("remove", json!({"table": "loose", "all": true})).await.unwrap_err();
    assert!(matches!(&error, StoreError::ReadOnly { .. }), "{error}");
    assert!(error.hint().is_some());
    assert!(!info("watched").table.read_only && !info("parents").table.read_only);
    assert_eq!(all(&mut transaction, json!({"table": "loose"})).await.len(), 2500);
    drop(transaction);
    let mut transaction = begin(&store, Intent::Write).await;
    transaction.call("insert", json!({"table": "watched", "rows": [{"id": 1, "n": 1}]})).await.unwrap();
    assert_eq!(commit(transaction).await.unwrap().diff.tables["watched"].added[0].get("n"), Some(&json!(2)));
}

#[tokio::test]
async fn only_the_listed_tables_are_shown_and_rules_apply() {
    let world = World::postgres();
    world.tamper(ORDERS);
    let mut options = world.options();
    let ordain_store::Database::Postgres { only, .. } = &mut options.database else { unreachable!() };
    *only = Some(vec!["lines".to_owned()]);
    options.tables = vec![TableDeclaration {
        name: "customers".to_owned(),
        hidden_columns: vec!["name".to_owned()],
        append_only: true,
        ..TableDeclaration::default()
    }];
    let store = Store::open(options).await.unwrap();
    let names: Vec<String> = store.schema().tables.into_iter().map(|table| table.name).collect();
    assert_eq!(names, ["customers", "lines"]);
    let mut transaction = begin(&store, Intent::Write).await;
    assert!(all(&mut transaction, json!({"table": "customers"})).await[0].get("name").is_none());
    for sql in ["SELECT * FROM orders", "SELECT name FROM customers", "SELECT customers.name FROM customers"]
    {
        let error = transaction.call("query", json!({"sql": sql})).await.unwrap_err();
        assert!(matches!(error, StoreError::Query { .. }), "{sql}: {error}");
    }
    let error = transaction.call("remove", json!({"table": "customers", "all": true})).await.unwrap_err();
    assert!(matches!(error, StoreError::AppendOnly { .. }), "{error}");
}

#[tokio::test]
async fn held_changes_are_applied_by_key_even_after_the_rows_have_moved() {
    let world = World::postgres();
    let store = open(&world, ORDERS).await;
    let mut transaction = begin(&store, Intent::Write).await;
    let ada = json!({"op": "eq", "path": ["code"], "value": "c1"});
    transaction
        .call("update", json!({"table": "customers", "where": ada, "set": {"name": "Ada L."}}))
        .await
        .unwrap();
    let held = hold(transaction).await.unwrap();
    // The rows are written anew: same values, other places.
    world.tamper("UPDATE customers SET name = name");
    world.tamper("VACUUM FULL customers");
    assert_eq!(store.approve(held.run_id.as_str(), note()).await.unwrap().state, RunState::Committed);
    assert_eq!(rows(&store, "customers").await[0]["name"], "Ada L.");
    world.tamper("UPDATE customers SET name = 'Somebody else' WHERE code = 'c1'");
    let error = store.undo(held.run_id.as_str(), note()).await.unwrap_err();
    assert!(matches!(error, StoreError::RowsConflict { .. }), "{error}");
}

#[tokio::test]
async fn a_table_with_a_seed_is_made_beside_those_that_were_there() {
    let world = World::postgres();
    world.tamper(ORDERS);
    let mut options = world.options();
    options.tables =
        vec![world.table("notes", "id", r#"[{"id": 1, "text": "x"}]"#), world.table("customers", "", "[]")];
    let store = Store::open(options.clone()).await.unwrap();
    assert_eq!(rows(&store, "notes").await, [json!({"doc_id": 1, "id": 1, "text": "x"})]);
    assert_eq!(rows(&store, "customers").await.len(), 2, "what was there is not seeded over");
    store.reseed(&[], note()).await.unwrap();
    assert_eq!(rows(&store, "customers").await.len(), 2);
    options.tables[1].key = vec!["name".to_owned()];
    let error = Store::open(options).await.unwrap_err();
    assert!(error.to_string().contains("primary key is (code)"), "{error}");
}

#[tokio::test]
async fn conditions_on_native_types_never_lose_a_row() {
    let world = World::postgres();
    let store = open(
        &world,
        "CREATE TABLE natives (n int PRIMARY KEY, s smallint, m numeric, f real, d double precision, t text, c char(4),
           u uuid, z timestamptz, p timestamp, y date, b boolean, j json, k jsonb, a int[]);
         INSERT INTO natives
         SELECT i, i % 5, (ARRAY[1.5, 2, 0.1, 79.90, 0.30000000000000000001, 'NaN'::numeric])[i % 7],
           (ARRAY[0.1, 2.5, 'NaN'::real, 3])[i % 5], (ARRAY[0.1, 2.5, 'NaN'::float8, 'Infinity', 3])[i % 6],
           (ARRAY['x', '', 'é', 'Z', '10'])[i % 6], (ARRAY['x', 'ab', 'abcd'])[i % 4],
           (ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '00000000-0000-0000-0000-000000000000'])[i % 3]::uuid,
           (ARRAY['2025-10-03 09:16:59.5+00', '2025-10-03', '10001-01-01', 'infinity', '0044-03-15 BC'])[i % 6]::timestamptz,
           (ARRAY['2025-10-03 09:16:59.5', '2025-10-03', '10001-01-01', '0044-03-15 BC'])[i % 5]::timestamp,
           (ARRAY['2025-10-03', '1999-12-31'])[i % 3]::date, (ARRAY[true, false])[i % 3],
           (ARRAY['{\"a\": 1}', 'null', '[1, 2]', '0.10000000000000000001'])[i % 5]::json,
           (ARRAY['{\"a\": 1.0}', 'null', '\"x\"', '1e400'])[i % 5]::jsonb, (ARRAY['{1,2}', '{}'])[i % 3]::int[]
         FROM generate_series(1, 60) AS i",
    )
    .await;
    let documents = rows(&store, "natives").await;
    let mut literals = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(0.1),
        json!(2.5),
        json!(79.9),
        json!(1e300),
        json!("x"),
        json!(""),
        json!("NaN"),
        json!("ab"),
        json!("ab  "),
        json!("10"),
        json!({"a": 1}),
        json!([1, 2]),
        json!("{1,2}"),
        json!("2025-10-03T09:16:59.5+00:00"),
        json!("2025-10-03T09:16:59.5"),
        json!("2025-10-03"),
        json!("2025-10-03 00:00:00"),
        json!("2025-10-03T00:00:00"),
        json!("2025"),
        json!("infinity"),
        json!("1999-12-31"),
        json!("9"),
        json!("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
    ];
    // Every value that is there, too.
    for document in &documents {
        for (column, value) in document.as_object().unwrap() {
            if !["n", "doc_id"].contains(&column.as_str()) && !literals.contains(value) {
                literals.push(value.clone());
            }
        }
    }
    let mut transaction = begin(&store, Intent::Read).await;
    let columns = ["n", "s", "m", "f", "d", "t", "c", "u", "z", "p", "y", "b", "j", "k", "a"];
    let mut exact = 0;
    for column in columns {
        for literal in &literals {
            for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
                let condition = json!({"op": op, "path": [column], "value": literal});
                let args = json!({"table": "natives", "where": condition});
                let is_exact =
                    transaction.call("search", args.clone()).await.unwrap()["exact"] == json!(true);
                let found = all(&mut transaction, args).await;
                let wanted: Vec<&Value> =
                    documents.iter().filter(|row| python::holds(&condition, &in_a_plan(row))).collect();
                let missing: Vec<_> =
                    wanted.iter().filter(|row| !found.contains(row)).map(|row| &row[column]).collect();
                assert!(missing.is_empty(), "{condition} misses {missing:?}");
                if is_exact {
                    assert_eq!(found.len(), wanted.len(), "{condition}");
                    exact += 1;
                }
            }
        }
    }
    assert!(exact > 1000, "{exact}");
}

/// A row with its decimal as a plan has it: a number whatever its digits, and NaN like nothing else.
fn in_a_plan(row: &Value) -> Value {
    let mut row = row.clone();
    if let Some(text) = row["m"].as_str() {
        row["m"] =
            text.parse::<f64>().ok().filter(|real| real.is_finite()).map_or(json!({"NaN": 1}), Value::from);
    }
    row
}
