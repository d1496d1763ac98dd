//! What is written is held as what it is, to the last bit.

use ordain_store::{Intent, Invariant, Store};
use ordain_testkit::postgres::Server;
use serde_json::{Value, json};

use crate::world::{World, begin, commit, hold, note, on_both, rows};

/// Two columns without a value in the seed, and one with text and numbers side by side.
const UNTYPED: &str =
    r#"[{"id": 1, "driver": null, "mixed": 1}, {"id": 2, "driver": null, "mixed": "x"}, {"id": 3}]"#;

/// What can be written to a column of any type.
fn values() -> Vec<Value> {
    vec![
        json!("Ann"),
        json!("5"),
        json!("true"),
        json!("[1]"),
        json!(""),
        json!(5),
        json!(-9_223_372_036_854_775_808_i64),
        json!(2.5),
        json!(5.0),
        json!(1e22),
        json!(true),
        json!(false),
        json!([1, "a", null, {"b": 2.0}]),
        json!({"n": 9_223_372_036_854_775_807_i64}),
        Value::Null,
    ]
}

on_both! {
    async fn a_column_that_is_empty_in_the_seed_gives_back_every_value_as_it_was_written(world: World) {
        let store = world.with_table("trips", "id", UNTYPED).await;
        let new: Vec<Value> =
            values().into_iter().enumerate().map(|(at, value)| json!({"id": at + 10, "driver": value, "mixed": value})).collect();
        let mut transaction = begin(&store, Intent::Write).await;
        transaction.call("insert", json!({"table": "trips", "rows": new})).await.unwrap();
        let run = commit(transaction).await.unwrap();
        let check = |found: Vec<Value>| {
            for (at, value) in values().iter().enumerate() {
                let row = found.iter().find(|row| row["id"] == json!(at + 10)).unwrap();
                assert_eq!((&row["driver"], &row["mixed"]), (value, value), "{row}");
            }
        };
        check(rows(&store, "trips").await);
        // What was removed comes back as what it was.
        let mut transaction = begin(&store, Intent::Write).await;
        transaction.call("remove", json!({"table": "trips", "all": true})).await.unwrap();
        let removal = commit(transaction).await.unwrap();
        store.undo(removal.run_id.as_str(), note()).await.unwrap();
        check(rows(&store, "trips").await);
        store.undo(run.run_id.as_str(), note()).await.unwrap();
        assert_eq!(rows(&store, "trips").await.len(), 3);
        assert!(store.verify_rows().await.unwrap().is_whole());
    }

    async fn text_in_a_column_without_a_type_has_no_quotes_for_conditions_and_statements(world: World) {
        let store = world.with_table("trips", "id", UNTYPED).await;
        let mut transaction = begin(&store, Intent::Write).await;
        for (id, driver) in [(1, json!("Ann")), (2, json!("Bob")), (3, json!(7))] {
            let set = json!({"table": "trips", "doc_ids": [id], "set": {"driver": driver}});
            transaction.call("update", set).await.unwrap();
        }
        let sql = json!({"sql": "SELECT id, driver FROM trips WHERE driver = 'Ann'"});
        let found = transaction.call("query", sql).await.unwrap();
        assert_eq!(found["rows"], json!([{"id": 1, "driver": "Ann"}]));
        for (value, ids) in [(json!("Bob"), json!([2])), (json!(7), json!([3]))] {
            let condition = json!({"op": "eq", "path": ["driver"], "value": value});
            let page = transaction.call("search", json!({"table": "trips", "where": condition})).await.unwrap();
            let found: Vec<&Value> = page["rows"].as_array().unwrap().iter().map(|row| &row[0]).collect();
            assert!(ids.as_array().unwrap().iter().all(|id| found.contains(&id)), "{value}: {page}");
        }
        commit(transaction).await.unwrap();
    }

    async fn a_rule_sees_the_text_of_a_column_that_was_empty_in_the_seed(world: World) {
        let mut options = world.options();
        options.tables = vec![world.table("trips", "id", UNTYPED)];
        options.invariants = vec![Invariant {
            name: "nobody is barred".to_owned(),
            sql: "SELECT id FROM trips WHERE driver = 'Mallory'".to_owned(),
        }];
        let store = Store::open(options).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let set = json!({"table": "trips", "doc_ids": [1], "set": {"driver": "Mallory"}});
        transaction.call("update", set).await.unwrap();
        assert_eq!(commit(transaction).await.unwrap_err().code(), "violated");
    }

    async fn ten_thousand_doubles_are_the_same_bits_after_every_way_through_the_store(world: World) {
        const ROWS: u64 = 10_000;
        let seed = format!(r#"[{{"id": 0, "real": {first:?}, "any": null, "nested": [1]}}]"#, first = double(ROWS));
        let store = world.with_table("measures", "id", &seed).await;
        assert_bits(&store, 0..0).await;
        let row = |at: u64| json!({"id": at + 1, "real": double(at), "any": double(at), "nested": [double(at)]});
        for first in (0..ROWS).step_by(1000) {
            let mut transaction = begin(&store, Intent::Write).await;
            let new: Vec<Value> = (first..first + 1000).map(row).collect();
            transaction.call("insert", json!({"table": "measures", "rows": new})).await.unwrap();
            // Half of them are held and approved.
            if first % 2000 == 0 {
                commit(transaction).await.unwrap();
            } else {
                let held = hold(transaction).await.unwrap();
                store.approve(held.run_id.as_str(), note()).await.unwrap();
            }
        }
        assert_bits(&store, 0..ROWS).await;
        for first in (0..ROWS).step_by(1000) {
            let mut transaction = begin(&store, Intent::Write).await;
            let ids: Vec<u64> = (first + 2..first + 1002).collect();
            transaction.call("remove", json!({"table": "measures", "doc_ids": ids})).await.unwrap();
            let removed = commit(transaction).await.unwrap();
            store.undo(removed.run_id.as_str(), note()).await.unwrap();
        }
        assert_bits(&store, 0..ROWS).await;
        assert!(store.verify_rows().await.unwrap().is_whole());
    }
}

/// A finite double that depends on nothing but its number: every second one has random bits.
fn double(at: u64) -> f64 {
    let mut bits = at;
    loop {
        bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (bits >> 31);
        #[expect(clippy::cast_precision_loss, reason = "any double will do")]
        let double = if at.is_multiple_of(2) { f64::from_bits(bits) } else { (bits >> 11) as f64 / 1e7 };
        if double.is_finite() && double != 0.0 {
            return double;
        }
    }
}

async fn assert_bits(store: &Store, ids: std::ops::Range<u64>) {
    let found = rows(store, "measures").await;
    assert_eq!(found.len() as u64, ids.end + 1);
    for row in &found[1..] {
        let at = row["id"].as_u64().unwrap() - 1;
        for value in [&row["real"], &row["any"], &row["nested"][0]] {
            assert_eq!(value.as_f64().map(f64::to_bits), Some(double(at).to_bits()), "{at}: {row}");
            assert!(value.is_f64() || value == &row["nested"][0], "{at}: {row}");
        }
    }
}

#[tokio::test]
async fn sqlite_refuses_minus_zero_by_name_and_another_program_reads_what_was_written() {
    let world = World::sqlite();
    let store = world.with_table("things", "id", r#"[{"id": 1, "share": 0.5, "note": null}]"#).await;
    let mut transaction = begin(&store, Intent::Write).await;
    let set = json!({"table": "things", "doc_ids": [1], "set": {"share": -0.0}});
    let error = transaction.call("update", set).await.unwrap_err();
    assert!(error.to_string().contains("column `share` of table `things` cannot hold minus zero"), "{error}");
    let new = json!([{"id": 2, "note": "late"}, {"id": 3, "note": 4}, {"id": 4, "note": 4.5}, {"id": 5, "note": true}, {"id": 6, "note": [1]}]);
    transaction.call("insert", json!({"table": "things", "rows": new})).await.unwrap();
    commit(transaction).await.unwrap();
    let file = rusqlite::Connection::open(world.folder.path().join("store.db")).unwrap();
    let mut statement =
        file.prepare("SELECT typeof(note) || ' ' || note FROM things WHERE id > 1 ORDER BY id").unwrap();
    let found: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, ["text late", "integer 4", "real 4.5", "integer 1", "text [1]"]);
}

const COMPANY: &str = "
CREATE DOMAIN money_t AS numeric(12,4);
CREATE TABLE accounts (id int PRIMARY KEY, n numeric(30,12), m money_t, wide numeric, tags text[], levels int[], at timestamptz,
  on_day date, raw bytea, j jsonb, js json, d double precision, s real, took interval);
INSERT INTO accounts VALUES
 (1, 123456789012345678.910000000001, 100.5, 1e30, '{vip,\"a b\",NULL}', '{1,2}', '2025-10-03 09:16:59.123456+02', '0044-03-15 BC',
  '\\x00ff', '{\"wei\": 1000000000000000000001, \"seen\": false, \"n\": 9223372036854775807}', '{\"b\":1,  \"a\":2}', 0.1, 0.1, '1 day 02:03'),
 (2, 0.1, 5, 0.10, '{}', NULL, 'infinity', 'infinity', NULL, '[1, 1e400]', 'null', 'NaN', 'Infinity', NULL),
 (3, 5, NULL, 'NaN', '{new}', '{}', NULL, NULL, '', 'null', NULL, '-0', 1e-30, NULL);";

fn dump(world: &World) -> String {
    Server::shared().psql(world.url.as_ref().unwrap(), "SELECT * FROM accounts ORDER BY id")
}

#[tokio::test]
async fn every_value_of_a_postgres_table_comes_back_as_its_own_text_after_an_undo() {
    let world = World::postgres();
    world.tamper(COMPANY);
    let store = Store::open(world.options()).await.unwrap();
    let before = dump(&world);
    let mut transaction = begin(&store, Intent::Write).await;
    transaction.call("remove", json!({"table": "accounts", "all": true})).await.unwrap();
    let removed = commit(transaction).await.unwrap();
    store.undo(removed.run_id.as_str(), note()).await.unwrap();
    assert_eq!(dump(&world), before);
    let mut transaction = begin(&store, Intent::Write).await;
    transaction.call("remove", json!({"table": "accounts", "doc_ids": [1, 2]})).await.unwrap();
    let held = hold(transaction).await.unwrap();
    let removed = store.approve(held.run_id.as_str(), note()).await.unwrap();
    store.undo(removed.run_id.as_str(), note()).await.unwrap();
    assert_eq!(dump(&world), before);
}

#[tokio::test]
async fn a_column_has_one_type_in_every_row_and_a_member_that_is_not_assigned_keeps_its_digits() {
    let world = World::postgres();
    world.tamper(COMPANY);
    let store = Store::open(world.options()).await.unwrap();
    let mut transaction = begin(&store, Intent::Write).await;
    let page = transaction.call("search", json!({"table": "accounts"})).await.unwrap();
    assert_eq!(page["decimals"], json!([1, 2, 3]));
    assert_eq!(page["rows"][0][1][1], json!("123456789012345678.910000000001"));
    assert_eq!(page["rows"][0][1][4], json!(["vip", "a b", null]));
    assert_eq!(page["rows"][0][1][5], json!([1, 2]));
    let over = |column: &str, value: Value| json!({"table": "accounts", "where": {"op": "gt", "path": [column], "value": value}});
    for (column, value, count) in
        [("n", json!(1), 2), ("n", json!(0.1), 2), ("m", json!(99), 1), ("wide", json!(0.1), 1)]
    {
        let counted = transaction.call("count", over(column, value)).await.unwrap();
        assert_eq!(counted["count"], json!(count), "{column}");
    }
    let found = transaction
        .call("query", json!({"sql": "SELECT sum(n) AS n, count(*) AS c FROM accounts"}))
        .await
        .unwrap();
    assert_eq!(found, json!({"rows": [{"n": "123456789012345684.010000000001", "c": 3}], "decimals": ["n"]}));
    let mut j = page["rows"][0][1][9].clone();
    j["seen"] = json!(true);
    let set = json!({"j": j, "n": "0.300000000001", "tags": ["vip", "q\"x"], "at": "2025-10-03T07:16:59.123456+00:00"});
    transaction.call("update", json!({"table": "accounts", "doc_ids": [1], "set": set})).await.unwrap();
    let run = commit(transaction).await.unwrap();
    let psql = |sql: &str| Server::shared().psql(world.url.as_ref().unwrap(), sql);
    let held = psql("SELECT j, n, tags, at FROM accounts WHERE id = 1");
    for part in
        ["1000000000000000000001", "\"seen\": true", "0.300000000001", "{vip,\"q\\\"x\"}", "07:16:59.123456"]
    {
        assert!(held.contains(part), "{part}: {held}");
    }
    assert_eq!(run.diff.tables["accounts"].changed[0].after.get("n"), Some(&json!(0.300_000_000_001)));
}

#[tokio::test]
async fn an_approval_into_a_column_that_became_narrower_is_refused_and_changes_nothing() {
    for sql in [
        "ALTER TABLE accounts ALTER n TYPE numeric(30,2)",
        "ALTER TABLE accounts ALTER d TYPE real",
        "ALTER TABLE accounts ALTER at TYPE timestamptz(0)",
    ] {
        let world = World::postgres();
        world.tamper(COMPANY);
        let store = Store::open(world.options()).await.unwrap();
        let mut transaction = begin(&store, Intent::Write).await;
        let new = json!([{"id": 9, "n": "1.234567890123", "d": 0.123_456_789_012, "at": "2025-01-01T00:00:00.5+00:00"}]);
        transaction.call("insert", json!({"table": "accounts", "rows": new})).await.unwrap();
        let held = hold(transaction).await.unwrap();
        drop(store);
        world.tamper(sql);
        let store = Store::open(world.options()).await.unwrap();
        let error = store.approve(held.run_id.as_str(), note()).await.unwrap_err();
        assert_eq!(error.code(), "not_as_shown", "{sql}: {error}");
        assert!(!dump(&world).contains("1.23"), "{sql}");
    }
}
