//! The table and the checks that all sides judge.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// Twenty checks that every tool can express. Some of them fail, on few rows, so that equal verdicts mean something.
pub(crate) fn equal_checks() -> Vec<Value> {
    records([
        ("not_null", json!({"columns": ["price"]})),
        ("not_null", json!({"columns": ["status"]})),
        ("not_null", json!({"columns": ["created_at"]})),
        ("unique", json!({"columns": ["order_id"]})),
        ("range", json!({"column": "price", "min": 0, "max": 500})),
        ("range", json!({"column": "price", "min": 0, "max": 499})),
        ("range", json!({"column": "quantity", "min": 1, "max": 9})),
        ("range", json!({"column": "user_id", "min": 0, "max": 49_999})),
        ("in_set", json!({"column": "status", "values": ["paid", "open", "void", "lost"]})),
        ("in_set", json!({"column": "status", "values": ["paid", "open", "void"]})),
        ("length", json!({"column": "status", "min": 4, "max": 4})),
        ("regex", json!({"column": "status", "pattern": "^[a-z]+$"})),
        ("two_columns", json!({"left": "order_id", "op": ">=", "right": "quantity"})),
        ("two_columns", json!({"left": "user_id", "op": ">=", "right": "quantity"})),
        ("row_count", json!({"min": 1})),
        ("aggregate", json!({"column": "price", "function": "mean", "min": 200, "max": 300})),
        ("aggregate", json!({"column": "quantity", "function": "max", "max": 8})),
        ("aggregate", json!({"column": "user_id", "function": "distinct_count", "min": 10, "max": 50_000})),
        ("aggregate", json!({"column": "status", "function": "distinct_count", "min": 1, "max": 4})),
        ("monotonic", json!({"column": "order_id"})),
    ])
}

/// Checks of a table that is larger than the memory of a cell; most of them compare rows with each other.
pub(crate) fn large_checks() -> Vec<Value> {
    records([
        ("not_null", json!({"columns": ["price"]})),
        ("range", json!({"column": "price", "min": 0, "max": 499})),
        ("in_set", json!({"column": "status", "values": ["paid", "open", "void"]})),
        ("two_columns", json!({"left": "order_id", "op": ">=", "right": "quantity"})),
        ("unique", json!({"columns": ["order_id"]})),
        ("unique", json!({"columns": ["order_id", "user_id"]})),
        (
            "aggregate",
            json!({"column": "order_id", "function": "distinct_count", "min": 1, "max": 1_000_000_000}),
        ),
        ("monotonic", json!({"column": "order_id"})),
        ("monotonic", json!({"column": "order_id", "order_by": "price"})),
    ])
}

/// Many checks of several kinds.
pub(crate) fn many_checks(count: usize) -> Vec<Value> {
    records(equal_checks().into_iter().cycle().take(count).map(|record| {
        let kind = record["kind"].as_str().unwrap_or_default().to_owned();
        (kind, record["params"].clone())
    }))
}

fn records<K: Into<String>>(kinds: impl IntoIterator<Item = (K, Value)>) -> Vec<Value> {
    let record = |(n, (kind, params)): (usize, (K, Value))| json!({"check_id": format!("C{n}"), "kind": kind.into(), "target_table": "orders", "params": params, "samples": {"max_rows": 0}});
    kinds.into_iter().enumerate().map(record).collect()
}

/// Lays out a workspace with one table, `data/orders.csv`, and checks.
pub(crate) fn lay_out(folder: &Path, checks: &[Value], rows: usize, memory: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join("data"))?;
    std::fs::create_dir_all(folder.join("checks"))?;
    let settings =
        format!("[workspace]\nname = \"bench\"\n[limits]\nmemory = \"{memory}\"\nwall = \"10m\"\n");
    std::fs::write(folder.join("ordain.toml"), settings)?;
    let mut file = BufWriter::new(std::fs::File::create(folder.join("data/orders.csv"))?);
    writeln!(file, "order_id,user_id,quantity,price,status,created_at")?;
    for n in 0..rows {
        let status = if n % 9973 == 0 { "lost" } else { ["paid", "open", "void"][n % 3] };
        let (user, quantity, price) = (n * 7919 % 50_000, n % 9 + 1, n % 500);
        writeln!(file, "{n},{user},{quantity},{price}.5,{status},2025-{:02}-{:02}", n % 12 + 1, n % 28 + 1)?;
    }
    file.flush()?;
    std::fs::write(folder.join("checks/checks.json"), serde_json::to_vec(checks)?)?;
    Ok(())
}
