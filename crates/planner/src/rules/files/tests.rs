//! Requests against a small shop's files: what is planned, what is asked back, and what is refused.

use serde_json::{Value, json};

use super::plan;
use crate::brief::{Brief, FileBrief, Task};
use crate::exchange::Reply;

fn file(name: &str, facts: Value) -> FileBrief {
    let kind = name.rsplit('.').next().unwrap_or_default().to_owned();
    FileBrief { name: name.to_owned(), bytes: 2000, kind, facts }
}

fn column(name: &str, kind: &str, values: &[&str]) -> Value {
    json!({ "name": name, "type": kind, "values": values })
}

fn orders() -> FileBrief {
    file(
        "orders.csv",
        json!({ "encoding": "utf-8", "delimiter": ",", "header": true, "tables": [{
            "name": null, "rows": 48, "columns": [
                column("order_id", "integer", &[]),
                column("order_date", "date", &[]),
                column("region", "text", &["north", "south", "New York"]),
                column("product", "text", &["aviator", "classic"]),
                column("units", "integer", &[]),
                column("unit_price", "real", &[]),
            ],
        }]}),
    )
}

fn managers() -> FileBrief {
    file(
        "managers.csv",
        json!({ "tables": [{ "name": null, "rows": 4, "columns": [
            column("region", "text", &["north", "south", "New York"]),
            column("manager", "text", &["Ann", "Bob"]),
        ]}]}),
    )
}

fn reply(files: &[FileBrief], request: &str) -> Reply {
    let mut brief = Brief::new(Task::Code, request);
    brief.files = files.to_vec();
    plan(&brief)
}

#[track_caller]
fn code(files: &[FileBrief], request: &str) -> String {
    match reply(files, request) {
        Reply::Plan(draft) => draft.code,
        other => panic!("{request}: {other:?}"),
    }
}

/// The plan for a question about the orders has these lines.
#[track_caller]
fn check(request: &str, lines: &[&str]) {
    let code = code(&[orders()], request);
    for line in lines {
        assert!(code.contains(line), "{request}: no `{line}` in\n{code}");
    }
}

#[test]
fn totals_and_averages_are_computed_of_the_named_column() {
    check("What is the total of units?", &["table[\"units\"].sum()"]);
    check("average unit price", &["table[\"unit_price\"].mean()"]);
    check("How many units were sold in the south?", &["table[\"units\"].sum()", "isin([\"south\"])"]);
    check("How many rows are there?", &["len(table)"]);
    check("how many different products", &["table[\"product\"].nunique()"]);
    check("minimum and maximum of units", &["\"smallest\": float", "\"largest\": float"]);
}

#[test]
fn several_numbers_are_each_computed_of_their_own_column() {
    check(
        "average units and total revenue by product",
        &[
            "table[\"revenue\"] = table[\"units\"] * table[\"unit_price\"]",
            "\"average_units\": groups[\"units\"].mean(), \"total_revenue\": groups[\"revenue\"].sum()",
        ],
    );
    check(
        "minimum and maximum units by region",
        &["\"smallest_units\": groups[\"units\"].min(), \"largest_units\": groups[\"units\"].max()"],
    );
    check("number of rows and average unit price by region", &["\"rows\": groups.size()", "mean()"]);
    check(
        "total units and average unit price",
        &["\"total of units\": float(table[\"units\"].sum())", "\"average of unit_price\": float("],
    );
    // One number in several words is one number.
    check("average number of units by region", &["table.groupby([\"region\"])[\"units\"].mean()"]);
    check("total revenue of the 3 best products", &[".head(3)"]);
    let drawn = reply(&[orders()], "bar chart of average units and total revenue by product");
    assert!(matches!(drawn, Reply::Question(text) if text.contains("One number at a time")));
}

#[test]
fn revenue_is_a_quantity_times_a_price() {
    check(
        "total revenue by region",
        &[
            "table[\"revenue\"] = table[\"units\"] * table[\"unit_price\"]",
            "table.groupby([\"region\"])[\"revenue\"].sum()",
        ],
    );
}

#[test]
fn groups_ranks_and_periods_are_read() {
    check("top 2 products by revenue", &["groupby([\"product\"])", ".head(2)"]);
    check("Which region has the highest revenue?", &["groupby([\"region\"])", ".head(1)"]);
    check("revenue per month", &["strftime(\"%Y-%m\")", "groupby([\"month\"])"]);
    check("which month had the lowest revenue?", &["groupby([\"month\"])", "ascending=True"]);
    check(
        "pivot table of units by region and product",
        &["pivot_table(index=\"region\", columns=\"product\""],
    );
}

#[test]
fn conditions_choose_rows() {
    check("orders with more than 6 units", &["table[\"units\"] > 6"]);
    check(
        "orders with unit_price between 70 and 90",
        &["table[\"unit_price\"] >= 70", "table[\"unit_price\"] <= 90"],
    );
    check("total units in New York", &["isin([\"new york\"])"]);
    check("total units where region is not north", &["~table[\"region\"]"]);
    check("list orders in January 2026", &[".dt.month == 1", ".dt.year == 2026"]);
    check("how many orders were placed after 2026-03-01", &["> pd.Timestamp(\"2026-03-01\")"]);
    check("units > 5", &["table[\"units\"] > 5"]);
}

#[test]
fn pictures_and_files_are_written_to_artifacts() {
    check("bar chart of units by region", &["axes.bar(", "artifacts / \"chart.png\""]);
    check("histogram of units", &["axes.hist(", "artifacts / \"histogram.png\""]);
    check("scatter plot of units against unit_price", &["axes.scatter("]);
    check("save the revenue by region as csv", &["to_csv(artifacts / \"result.csv\"", "=+-@"]);
    check("export to excel, one sheet per region", &["sheet_name=str(name)", "strings_to_formulas\": False"]);
}

#[test]
fn a_column_of_another_file_is_joined_by_the_shared_one() {
    let code = code(&[orders(), managers()], "total units by manager");
    assert!(code.contains("table.merge(other, on=[\"region\"], how=\"left\")"), "{code}");
    assert!(code.contains("groupby([\"manager\"])"), "{code}");
}

#[test]
fn files_with_the_same_columns_are_one_table() {
    let mut second = orders();
    second.name = "more.csv".to_owned();
    let code = code(&[orders(), second], "total units");
    assert!(code.contains("names = [\"orders.csv\", \"more.csv\"]") && code.contains("pd.concat("), "{code}");
}

#[test]
fn a_large_table_is_read_in_pieces_and_only_the_columns_that_are_needed() {
    let mut big = orders();
    big.bytes = 2 << 30;
    let total = code(&[big.clone()], "total revenue by region");
    assert!(total.contains("columns=[\"region\", \"unit_price\", \"units\"])"), "{total}");
    assert!(total.contains("parts.append(piece.groupby([\"region\"])[\"revenue\"].sum()"), "{total}");
    // None of these keeps the rows of a piece.
    for request in [
        "average units by region",
        "average units",
        "how many rows are there",
        "how many orders by region",
        "largest units",
        "how many different products are there by region",
    ] {
        let code = code(&[big.clone()], request);
        assert!(code.contains("frame.pieces(") && !code.contains("parts.append(piece)"), "{request}: {code}");
    }
    let mut packed = orders();
    (packed.name, packed.kind) = ("orders.parquet".to_owned(), "parquet".to_owned());
    packed.facts["tables"][0]["rows"] = 5_000_000.into();
    let packed = code(&[packed], "average units by region");
    assert!(packed.contains("frame.pieces(\"orders.parquet\", columns=[\"region\", \"units\"])"), "{packed}");
    let mut lines = big.clone();
    (lines.name, lines.kind) = ("orders.jsonl".to_owned(), "jsonl".to_owned());
    let lines = code(&[lines], "average units by region");
    assert!(lines.contains("frame.pieces(\"orders.jsonl\", columns=[\"region\", \"units\"])"), "{lines}");
    // A median needs all values.
    assert!(code(&[big], "median units").contains("parts.append(piece)"));
}

#[test]
fn what_is_missing_is_asked() {
    assert!(
        matches!(reply(&[orders()], "What is the average?"), Reply::Question(text) if text.contains("units"))
    );
    let two = [
        orders(),
        file(
            "other.json",
            json!({ "tables": [{ "name": null, "rows": 40, "columns": [column("units", "integer", &[])] }]}),
        ),
    ];
    assert!(matches!(reply(&two, "total units"), Reply::Question(text) if text.contains("other.json")));
}

#[test]
fn a_word_without_a_meaning_is_told_and_not_passed_over() {
    for request in [
        "total units for customers named Bob",
        "revenue last month",
        "forecast revenue",
        "total units this month",
    ] {
        assert!(
            matches!(reply(&[orders()], request), Reply::Refusal(text) if text.contains("model")),
            "{request}"
        );
    }
}

#[test]
fn calculations_need_no_file() {
    for (request, line) in [
        ("Calculate Fibonacci sequence up to 100", "<= 100"),
        ("prime numbers up to 100", "limit = 100"),
        ("mean of 3, 5, 8 and -12", "numbers = [3, 5, 8, -12]"),
        ("what is 2 + 3 * (4 - 1)?", "answer_json = 2 + 3 * (4 - 1)"),
        ("what is 15% of 200", "15 * 200 / 100"),
    ] {
        let code = code(&[], request);
        assert!(code.contains(line), "{request}:\n{code}");
    }
    assert!(matches!(reply(&[], "write me a poem"), Reply::Refusal(_)));
}

#[test]
fn texts_are_counted_and_searched() {
    let text = || file("notes.txt", json!({ "encoding": "latin-1", "lines": 2 }));
    assert!(code(&[text()], "word frequency").contains("Counter("));
    let search = code(&[text()], "find lines containing \"red fox\"");
    assert!(search.contains("wanted = \"red fox\"") && search.contains("encoding=\"latin-1\""), "{search}");
    assert!(code(&[text()], "how many words are in notes.txt?").contains("content.split()"));
    assert!(matches!(reply(&[text()], "how many words does Bob say"), Reply::Refusal(_)));
    assert!(code(&[text(), orders()], "total units").contains("table[\"units\"]"));
}

#[test]
fn a_hostile_name_stays_a_text() {
    let facts = json!({ "tables": [{ "name": null, "rows": 4, "columns": [
        column("units\"]; import os #", "integer", &[]), column("{x}", "text", &["a"]),
    ]}]});
    let code = code(&[file("a\"b.csv", facts)], "describe the data");
    assert!(code.contains(r#"frame("a\"b.csv")"#), "{code}");
}

#[test]
fn unreadable_files_are_told() {
    let bad = file("a.pdf", json!({ "problem": "it is encrypted" }));
    assert!(matches!(reply(&[bad], "how many pages"), Reply::Refusal(text) if text.contains("encrypted")));
}
