//! `sql("…")` in checks: what it gives, what it reads, and what it refuses.

use ordain_checks::CheckStatus;
use serde_json::json;

use crate::check_sizes::rows;
use crate::checks::{World, keys, stands};

#[tokio::test]
async fn sql_gives_what_pandas_gives() {
    let code = include_str!("sql_and_pandas.py");
    let checks =
        json!([{"check_id": "pairs", "kind": "python", "target_table": "t,other", "params": {"code": code}}]);
    let (table, other) = (rows(5, 400), rows(1005, 60));
    let files: [(&str, &[u8]); 2] = [("t.csv", table.as_bytes()), ("other.csv", other.as_bytes())];
    let results = World::with(&checks.to_string(), &files).run().await;
    assert_eq!(results["pairs"].summary, "45 statements; []", "{:?}", results["pairs"]);
}

#[tokio::test]
async fn a_rule_in_sql_fails_the_rows_that_it_finds() {
    let record = |id: &str, query: &str| json!({"check_id": id, "kind": "sql", "target_table": "orders,users", "key_columns": ["id"], "params": {"query": query}});
    let mut filtered = record("filtered", "SELECT * FROM orders");
    filtered["filter"] = json!("price > 1");
    let checks = json!([
        record("cheap", "SELECT * FROM orders WHERE price < 1"),
        record("known", "SELECT o.id FROM orders o ANTI JOIN users u ON o.user_id = u.user_id"),
        record("fine", "SELECT * FROM orders WHERE price > 1000"),
        record("column", "SELECT * FROM orders WHERE cost < 1"),
        record("table", "SELECT * FROM clients"),
        record("writes", "DELETE FROM orders"),
        record("file", "SELECT * FROM read_text('/etc/passwd')"),
        filtered,
    ]);
    let orders: &[u8] = b"id,user_id,price\na,1,0.5\nb,2,7\nc,9,8\n";
    let users: &[u8] = b"user_id,name\n1,Ann\n2,Bob\n";
    let world = World::with(&checks.to_string(), &[("orders.csv", orders), ("users.csv", users)]);
    let results = world.run().await;
    for (id, expected) in [("cheap", "a"), ("known", "c")] {
        assert_eq!(keys(&results[id]).join(" "), expected, "{:?}", results[id]);
        assert_eq!(results[id].evaluated, Some(3));
    }
    let understood = results["cheap"].understood.as_deref().unwrap();
    assert!(understood.contains("no row is found by SELECT * FROM orders WHERE price < 1"), "{understood}");
    stands(&results, "fine", CheckStatus::Pass, "");
    stands(&results, "column", CheckStatus::Error, "\"cost\" not found");
    stands(&results, "table", CheckStatus::Error, "no table `clients`");
    stands(&results, "writes", CheckStatus::Error, "`sql` only reads; `DELETE` writes");
    stands(&results, "file", CheckStatus::Error, "opens no files");
    stands(&results, "filtered", CheckStatus::Error, "`sql` takes no `filter`");
}
