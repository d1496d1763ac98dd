//! `sql("…")` in plans and checks: what it gives, what it reads, and what it refuses.

use ordain_checks::CheckStatus;
use ordain_engine::CodeTask;
use ordain_types::{RunState, SourceFile};
use serde_json::json;

use crate::check_sizes::rows;
use crate::checks::{World as CheckWorld, keys, stands};
use crate::world::{Database, on_both, world};

#[tokio::test]
async fn sql_gives_what_pandas_gives() {
    let code = include_str!("sql_and_pandas.py");
    let checks =
        json!([{"check_id": "pairs", "kind": "python", "target_table": "t,other", "params": {"code": code}}]);
    let (table, other) = (rows(5, 400), rows(1005, 60));
    let files: [(&str, &[u8]); 2] = [("t.csv", table.as_bytes()), ("other.csv", other.as_bytes())];
    let results = CheckWorld::with(&checks.to_string(), &files).run().await;
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
    let world = CheckWorld::with(&checks.to_string(), &[("orders.csv", orders), ("users.csv", users)]);
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

/// A plan over a file with one table and one with two.
fn task(folder: &std::path::Path, code: &str) -> CodeTask {
    let files = vec![folder.join("sales 2024.csv"), folder.join("sales.json")];
    let plan = Some(SourceFile { code: code.to_owned(), name: "plan.py".to_owned() });
    CodeTask { files, plan, ..CodeTask::new("what is in the files", "test", "test") }
}

#[tokio::test]
async fn plans_query_the_files_that_they_were_given_and_nothing_else() {
    let world = world(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs_err::write(folder.path().join(name), text).unwrap();
    write("sales 2024.csv", "region,units\nnorth,2\nsouth,3\nnorth,4\n");
    write(
        "sales.json",
        r#"{"goals": [{"region": "north", "goal": 5}], "heads": [{"region": "south", "head": "Ann"}]}"#,
    );
    let answered = async |code: &str| {
        let code = format!("{code}\nanswer_text = str(found)\nSTATUS = \"success\"\n");
        let record = world.engine.code(task(folder.path(), &code)).await.unwrap().record;
        record.answer.text.unwrap_or_else(|| record.error.map_or_else(String::new, |error| error.message))
    };
    let joined = "found = sql('SELECT goal, sum(units) AS units FROM \"sales 2024.csv\" JOIN \"sales.json\".\"goals\" USING (region) GROUP BY goal').values.tolist()";
    assert_eq!(answered(joined).await, "[[5, 6]]");
    let params = "found = int(sql(\"SELECT count(*) AS n FROM 'sales 2024.csv' WHERE region = $region\", {'region': 'north'})['n'][0])";
    assert_eq!(answered(params).await, "2");
    // A query asks the store's tables as they are in the transaction.
    assert_eq!(answered("found = int(sql('SELECT count(*) AS n FROM inventory')['n'][0])").await, "3");
    for (statement, said) in [
        ("SELECT * FROM 'other.csv'", "the tables are: \"inventory\", \"sales 2024.csv\""),
        ("SELECT * FROM read_csv('/work/data/sales 2024.csv')", "opens no files"),
        ("SELECT * FROM nothing", "In this program the tables are: \"inventory\""),
        ("SELECT 1 AS a; SELECT 2 AS a", "one SELECT is expected, not 2 statements"),
        ("SET threads = 8", "one SELECT is expected"),
        ("LOAD httpfs", "one SELECT is expected"),
        ("COPY (SELECT 1) TO '/work/artifacts/x.csv'", "opens no files"),
        ("SELECT unit FROM 'sales 2024.csv'", "Candidate bindings: \"units\""),
        ("SELECT units, units FROM 'sales 2024.csv'", "name them with AS"),
        ("SELECT * FROM range(1000001)", "more than 1,000,000 rows"),
    ] {
        let told = answered(&format!("found = sql({})", json!(statement))).await;
        assert!(told.contains(said), "{statement}: {told}");
    }
}

on_both! {
async fn sql_sees_what_a_plan_has_written_before(database: Database) {
    let world = world(database).await;
    let code = "\
before = int(sql(\"SELECT count(*) AS n FROM inventory\")[\"n\"][0])
inventory_tbl.insert({\"item_id\": \"X1\", \"name\": \"Clip\", \"description\": \"\", \"quantity_in_stock\": 1, \"price\": 2})
after = int(sql(\"SELECT count(*) AS n FROM inventory\")[\"n\"][0])
answer_text = \"one more\" if after == before + 1 else \"as before\"
STATUS = \"success\"
";
    let record = world.ask(code).await;
    assert_eq!((record.state, record.answer.text.as_deref()), (RunState::Committed, Some("one more")), "{:?}", record.error);
}
}
