//! Questions about files: what is read, and that every program is one that may run.

use ordain_planner::{Brief, FileBrief, Reply, Task, reader};
use ordain_types::Schema;
use ordain_verify::{Contract, Policy, verify};
use serde_json::{Value, json};

fn sales() -> Value {
    let column =
        |name: &str, kind: &str, values: Value| json!({"name": name, "type": kind, "values": values});
    json!({"tables": [{"rows": 4, "columns": [
        column("order_id", "identifier", json!(["5001", "5002"])),
        column("order_date", "date", Value::Null),
        column("region", "category", json!(["North", "South"])),
        column("units", "integer", json!([1, 2])),
        column("unit_price", "decimal", Value::Null),
    ]}]})
}

fn plan(request: &str) -> Result<ordain_planner::Draft, String> {
    let mut brief = Brief::new(Task::Code, request);
    let file = |name: &str, kind: &str, facts: Value| FileBrief {
        name: name.to_owned(),
        bytes: 100,
        kind: kind.to_owned(),
        facts,
    };
    brief.files = vec![file("sales.csv", "csv", sales()), file("notes.md", "md", json!({}))];
    match reader::plan(&brief) {
        Reply::Plan(draft) => Ok(draft),
        Reply::Question(said) | Reply::Refusal(said) => Err(said),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn a_question_about_files_is_one_query_and_its_program_passes_the_verifier() {
    for (request, reading) in [
        ("total units by region", "the total units of sales per region"),
        ("what is the average price?", "the average unit price of sales"),
        ("how many sales with units above 1", "how many sales where units is above 1"),
        ("sales in North", "show sales where region is \"North\""),
        ("total units by month", "the total units of sales per month of order date"),
        (
            "median units of sales since 2026-01-01",
            "the median units of sales where order date is on or after 2026-01-01",
        ),
        (
            "make a bar chart of the total units by region",
            "bar chart of: the total units of sales per region",
        ),
        ("the 3 most frequent words in the notes", "the 3 most frequent words in notes"),
        ("prime numbers up to 100", "prime numbers up to 100"),
        ("first 10 fibonacci numbers", "the first 10 fibonacci numbers"),
    ] {
        let draft = plan(request).unwrap_or_else(|said| panic!("{request}: {said}"));
        assert_eq!(draft.reading.as_deref(), Some(reading), "{request}");
        let packages = ["pandas", "matplotlib", "collections", "re", "datetime"];
        let policy = Policy::for_contract(Contract::Code).with_packages(packages);
        let verdict = verify(&draft.code, &policy, &Schema::default());
        assert!(verdict.is_accepted(), "{request}: {:?}\n{}", verdict.findings, draft.code);
    }
    let draft = plan("total units by region").unwrap();
    let rows = draft.rows.expect("groups are rows");
    assert!(rows.code.ends_with(")\n") && rows.code.contains("table = sql("), "{}", rows.code);
}

#[test]
fn a_word_that_no_column_is_called_by_is_named() {
    let said = plan("total profit by region").unwrap_err();
    assert!(said.contains("“profit”"), "{said}");
}
