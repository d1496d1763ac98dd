//! The tables that the tests speak about, and policies written as JSON.

use ordain_types::{Column, ColumnType, Table};
use ordain_verify::{CORE_IMPORTS, Contract, DATA_IMPORTS, FULL_IMPORTS, Helper, Policy, Schema};
use serde_json::Value;

use ColumnType::{Boolean, Integer, Json, Real, Text, Timestamp};

/// A small shop: a table of goods, an append-only record, file tables, and things that are hidden.
pub(crate) fn schema() -> Schema {
    let inventory = table(
        "inventory",
        "item_id",
        &[
            ("item_id", Text),
            ("name", Text),
            ("description", Text),
            ("quantity_in_stock", Integer),
            ("price", Real),
        ],
    );
    let transactions = table(
        "transactions",
        "transaction_id",
        &[
            ("transaction_id", Text),
            ("customer_name", Text),
            ("transaction_summary", Text),
            ("transaction_amount", Real),
            ("balance_after_transaction", Real),
            ("timestamp", Timestamp),
        ],
    );
    let mut customers = table(
        "customers",
        "customer_id",
        &[
            ("customer_id", Integer),
            ("name", Text),
            ("email", Text),
            ("city", Text),
            ("tags", Json),
            ("is_member", Boolean),
        ],
    );
    customers.columns[2].hidden = true;
    customers.columns[3].nullable = true;
    let orders = table(
        "orders",
        "order_id",
        &[
            ("order_id", Integer),
            ("customer_id", Integer),
            ("item_id", Text),
            ("quantity", Integer),
            ("unit_price", Real),
            ("created_at", Timestamp),
        ],
    );
    let salaries = table("salaries", "name", &[("name", Text), ("amount", Real)]);
    Schema {
        tables: vec![
            inventory,
            Table { append_only: true, ..transactions },
            customers,
            Table { read_only: true, ..orders },
            Table { hidden: true, ..salaries },
        ],
    }
}

fn table(name: &str, key: &str, columns: &[(&str, ColumnType)]) -> Table {
    let column = |&(name, column_type): &(&str, ColumnType)| Column {
        name: name.to_owned(),
        column_type,
        nullable: false,
        hidden: false,
    };
    Table {
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
        key: vec![key.to_owned()],
        ..Table::default()
    }
}

/// A policy and schema from a JSON object; keys that are left out have their defaults.
pub(crate) fn policy(settings: &Value) -> (Policy, Schema) {
    let contract: Contract = settings["contract"].as_str().unwrap_or("ask").parse().expect("a contract");
    let mut policy = Policy::for_contract(contract);
    policy.helpers = vec![Helper::reads("get_current_balance"), Helper::reads("next_transaction_id")];
    let mut schema = schema();
    for (key, value) in settings.as_object().expect("an object") {
        match key.as_str() {
            "contract" => {}
            "python" => policy.python = value.as_str().expect("a version").parse().expect("a version"),
            "profile" => {
                let packages = match value.as_str() {
                    Some("core") => CORE_IMPORTS,
                    Some("data") => DATA_IMPORTS,
                    Some("full") => FULL_IMPORTS,
                    other => panic!("no profile {other:?}"),
                };
                policy = policy.with_packages(packages.iter().copied());
            }
            "allowed_imports" => policy.allowed_imports = texts(value),
            "blocked_imports" => policy.blocked_imports = texts(value),
            "allowed_calls" => policy.allowed_calls = texts(value),
            "blocked_calls" => policy.blocked_calls = texts(value),
            "statuses" => policy.statuses.extend(texts(value)),
            "read_only" => policy.read_only = value.as_bool().expect("true or false"),
            "repeatable" => policy.repeatable = value.as_bool().expect("true or false"),
            "writing_helpers" => policy.helpers.extend(texts(value).into_iter().map(Helper::writes)),
            "bytes_max" => policy.limits.bytes_max = number(value),
            "brackets_max" => policy.limits.brackets_max = number(value),
            "blocks_max" => policy.limits.blocks_max = number(value),
            "depth_max" => policy.limits.depth_max = number(value),
            "schema" if value == "none" => schema = Schema::default(),
            "schema" => schema = serde_json::from_value(value.clone()).expect("a schema"),
            other => panic!("`{other}` is not a setting"),
        }
    }
    (policy, schema)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}
