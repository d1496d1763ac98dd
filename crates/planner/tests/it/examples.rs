//! The programs in our prompts, judged as if a model had written them.

use ordain_types::{Column, ColumnType, Schema, Table};
use ordain_verify::{Contract, Helper, Policy, verify};

fn programs(prompt: &str) -> Vec<&str> {
    let blocks = prompt.split("<execute_python>\n").skip(1);
    blocks.filter_map(|block| block.split_once("\n</execute_python>")).map(|(code, _)| code).collect()
}

/// The made-up tables of the examples.
fn schema() -> Schema {
    let table = |name: &str, key: &str, columns: &[(&str, ColumnType)]| Table {
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|(name, column_type)| Column {
                name: (*name).to_owned(),
                column_type: *column_type,
                nullable: true,
                hidden: false,
            })
            .collect(),
        key: vec![key.to_owned()],
        ..Table::default()
    };
    let things = [
        ("id", ColumnType::Text),
        ("label", ColumnType::Text),
        ("owner", ColumnType::Text),
        ("state", ColumnType::Text),
        ("closed_at", ColumnType::Timestamp),
    ];
    let moves = [
        ("move", ColumnType::Text),
        ("who", ColumnType::Text),
        ("amount", ColumnType::Real),
        ("balance", ColumnType::Real),
        ("at", ColumnType::Timestamp),
    ];
    let moves = Table { append_only: true, ..table("example_moves", "move", &moves) };
    let sales = [("region", ColumnType::Text), ("sales", ColumnType::Real)];
    let file = Table { key: Vec::new(), ..table("EXAMPLE_ONLY.csv", "region", &sales) };
    let owners = table("example_owners", "name", &[("name", ColumnType::Text)]);
    Schema { tables: vec![table("example_things", "id", &things), owners, moves, file] }
}

#[track_caller]
fn check(contract: Contract, prompt: &str, count: usize) {
    let policy = Policy {
        helpers: vec![Helper::writes("example_close"), Helper::reads("now")],
        ..Policy::for_contract(contract)
    };
    let programs: Vec<&str> = programs(prompt).into_iter().filter(|code| code.lines().count() > 1).collect();
    assert_eq!(programs.len(), count);
    for code in programs {
        let verdict = verify(code, &policy, &schema());
        assert!(verdict.is_accepted(), "{:#?}\n{code}", verdict.findings);
        assert!(verdict.findings.is_empty(), "{:#?}\n{code}", verdict.findings);
    }
}

#[test]
fn the_examples_for_requests_are_accepted() {
    check(Contract::Ask, include_str!("../../prompts/example_read.md"), 1);
    check(Contract::Ask, include_str!("../../prompts/example_change.md"), 1);
    check(Contract::Ask, include_str!("../../prompts/example_action.md"), 1);
    check(Contract::Ask, include_str!("../../prompts/small_ask.md"), 1);
    check(Contract::Ask, include_str!("../../prompts/react.md"), 1);
}

#[test]
fn the_examples_for_checks_are_accepted() {
    check(Contract::Check, include_str!("../../prompts/examples_check.md"), 1);
    check(Contract::Check, include_str!("../../prompts/small_check.md"), 1);
}

#[test]
fn the_examples_for_files_are_accepted() {
    check(Contract::Code, include_str!("../../prompts/examples_code.md"), 1);
}
