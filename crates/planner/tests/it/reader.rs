//! Requests to the examples: what is read, what is declined, and that every program is one that may run.

mod orders;

use std::collections::BTreeMap;
use std::path::Path;

use ordain_planner::{Brief, ColumnBrief, Draft, Reply, TableBrief, Task, reader};
use ordain_types::{Catalog, Column, ColumnType, Schema, Table};
use ordain_verify::{CORE_IMPORTS, Contract, Policy, helpers_of, verify};
use serde_json::{Map, Value};

/// A brief as the engine makes it of an example's files.
fn brief(example: &str, request: &str) -> Brief {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let mut brief = Brief::new(Task::Ask, request);
    brief.helpers = text("helpers.py");
    let tables: &[&str] = match example {
        "sunglasses" => &["inventory", "transactions"],
        "library" => &["books", "members", "loans"],
        "bank" => &["accounts", "transfers"],
        _ => &["parts", "sales_ledger", "customers"],
    };
    let read = tables.iter().map(|name| table(name, &text(&format!("tables/{name}.json"))));
    brief.tables = std::sync::Arc::new(read.collect());
    // The store's settings of columns are no part of the catalog.
    let toml = text("ordain.toml").replace("nullable = false, ", "").replace(", nullable = false", "");
    brief.catalog = std::sync::Arc::new(toml::from_str::<Catalog>(&toml).unwrap());
    brief
}

fn table(name: &str, seed: &str) -> TableBrief {
    // The parser of JSON sorts an object's members; the first line of the seed has them in order.
    let rows: Vec<Map<String, Value>> = serde_json::from_str(seed).unwrap();
    let mut names: Vec<&String> = rows[0].keys().collect();
    names.sort_by_key(|name| seed.find(&format!("\"{name}\"")));
    let columns = names.iter().map(|name| Column {
        name: (*name).clone(),
        column_type: match &rows[0][*name] {
            Value::Number(number) if number.is_i64() && !name.contains("price") => ColumnType::Integer,
            Value::Number(_) => ColumnType::Real,
            _ => ColumnType::Text,
        },
        nullable: true,
        hidden: false,
    });
    let table = Table {
        name: name.to_owned(),
        columns: columns.collect(),
        key: vec![names[0].clone()],
        ..Table::default()
    };
    let columns = names.iter().map(|name| ColumnBrief {
        name: (*name).clone(),
        values: Some(rows.iter().map(|row| row[*name].clone()).filter(|value| !value.is_null()).collect()),
        ..ColumnBrief::default()
    });
    TableBrief {
        columns: columns.collect(),
        rows: rows.len() as u64,
        roles: BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
        table,
    }
}

fn plan(example: &str, request: &str) -> Result<Draft, String> {
    match reader::plan(&brief(example, request)) {
        Reply::Plan(draft) => Ok(draft),
        Reply::Question(said) | Reply::Refusal(said) => Err(said),
        other => Err(format!("{other:?}")),
    }
}

/// Requests and what each is read as.
const READ: [(&str, &str, &str); 16] = [
    (
        "sunglasses",
        "Do you have round sunglasses under $100?",
        "show inventory where ((price is below 100) and (description has the word \"round\"))",
    ),
    ("sunglasses", "List all sunglasses", "show inventory"),
    ("sunglasses", "What is your cheapest pair?", "show inventory, the lowest 1 by price"),
    (
        "sunglasses",
        "what's the second most expensive model you have",
        "show inventory, the highest 2 place by price",
    ),
    (
        "sunglasses",
        "Which sunglasses cost between $90 and $110?",
        "show inventory where ((price is at most 110) and (price is at least 90))",
    ),
    ("sunglasses", "How much is the Moon?", "show price of inventory where name is \"Moon\""),
    ("sunglasses", "What is the average price?", "the average price of inventory"),
    (
        "sunglasses",
        "is the Moon under $130?",
        "is it true of inventory where name is \"Moon\" that price is below 130",
    ),
    ("sunglasses", "top 3 items by price", "show inventory, the highest 3 by price"),
    (
        "sunglasses",
        "total amount by month",
        "the total transaction amount of transactions per month of timestamp",
    ),
    (
        "sunglasses",
        "how many transactions in the last 7 days",
        "how many transactions where ((timestamp is before tomorrow) and (timestamp is on or after 7 days ago))",
    ),
    ("bank", "What is the balance of Travel fund?", "show balance of accounts where name is \"Travel fund\""),
    ("bank", "Which accounts have a balance above 100?", "show accounts where balance is above 100"),
    ("bank", "What is the total balance by owner?", "the total balance of accounts per owner"),
    (
        "bike-parts",
        "average price of parts in Drivetrain",
        "the average unit price of parts where category is \"Drivetrain\"",
    ),
    ("bike-parts", "customers with credit below 20", "show customers where credit is below 20"),
];

#[test]
fn a_question_is_read_as_what_it_says_and_its_program_passes_the_verifier() {
    for (example, request, reading) in READ {
        let draft = plan(example, request).unwrap_or_else(|said| panic!("{request}: {said}"));
        assert_eq!(draft.reading.as_deref(), Some(reading), "{request}");
        let brief = brief(example, request);
        let schema = Schema { tables: brief.tables.iter().map(|known| known.table.clone()).collect() };
        let mut policy = Policy::for_contract(Contract::Ask).with_packages(CORE_IMPORTS.iter().copied());
        policy.helpers = helpers_of(&brief.helpers).unwrap();
        let verdict = verify(&draft.code, &policy, &schema);
        assert!(verdict.is_accepted(), "{request}: {:?}\n{}", verdict.findings, draft.code);
    }
}

#[test]
fn what_is_read_reads_back() {
    for (example, _, reading) in READ {
        assert_eq!(plan(example, reading).unwrap().reading.as_deref(), Some(reading));
    }
}

#[test]
fn a_word_that_nothing_is_called_by_is_named() {
    for (request, word) in [
        ("Do you have purple sunglasses?", "purple"),
        ("show items with price below 100 grumbs", "grumbs"),
        ("how many unicorns", "unicorns"),
    ] {
        let said = plan("sunglasses", request).unwrap_err();
        assert!(said.contains(&format!("“{word}”")), "{request}: {said}");
    }
}
