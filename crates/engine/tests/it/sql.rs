//! `sql("…")` in plans: what it gives, what it reads, and what it refuses.

use ordain_engine::CodeTask;
use ordain_types::{RunState, SourceFile};
use serde_json::json;

use crate::world::{Database, on_both, world};

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
        ("COPY (SELECT 1) TO '/work/artifacts/x.csv'", "one SELECT is expected"),
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
