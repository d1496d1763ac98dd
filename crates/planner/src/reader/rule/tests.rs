//! The usual hints, as people write them, and what they are understood as.

use ordain_types::{Column, ColumnType, Table};
use serde_json::{Value, json};

use super::*;
use crate::brief::{TableBrief, Task};
use crate::exchange::Reply;

fn table(name: &str, columns: &[(&str, ColumnType)]) -> TableBrief {
    let column = |(name, column_type): &(&str, ColumnType)| Column {
        name: (*name).to_owned(),
        column_type: *column_type,
        nullable: true,
        hidden: false,
    };
    TableBrief {
        table: Table {
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            ..Table::default()
        },
        rows: 10,
        columns: Vec::new(),
        roles: std::collections::BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
    }
}

fn brief(hint: &str) -> Brief {
    use ColumnType::{Integer, Real, Text, Timestamp};
    let mut brief = Brief::new(Task::Check, hint);
    brief.tables = vec![
        table(
            "orders",
            &[
                ("order_id", Text),
                ("user_id", Text),
                ("quantity", Integer),
                ("price", Real),
                ("total", Real),
                ("status", Text),
                ("created_at", Timestamp),
                ("paid_at", Timestamp),
            ],
        ),
        table("users", &[("user_id", Text), ("email", Text), ("country", Text), ("city", Text)]),
        table("payments", &[("payment_id", Text), ("amount", Real)]),
    ]
    .into();
    brief
}

/// What the planner declares: kind and params.
fn declared(hint: &str) -> (String, Value) {
    match plan(&brief(hint)) {
        Reply::Plan(draft) => {
            let declared = draft.declared.unwrap();
            (declared["kind"].as_str().unwrap().to_owned(), declared["params"].clone())
        }
        other => panic!("{hint}: {other:?}"),
    }
}

/// Hints with what is read of them: kind and params.
type Hints = Vec<(&'static str, &'static str, Value)>;

fn usual() -> Hints {
    let users = json!({"columns": ["user_id"], "references": {"table": "users", "columns": ["user_id"]}});
    vec![
        ("Flag orders rows whose user_id is missing from users.", "foreign_key", users.clone()),
        ("Find orders where user_id is not present in users.", "foreign_key", users.clone()),
        ("Every user_id in orders must exist in users", "foreign_key", users.clone()),
        ("orders for unknown users", "foreign_key", users),
        ("status must not be null", "not_null", json!({"columns": ["status"]})),
        ("Flag orders where status or price is missing", "not_null", json!({"columns": ["status", "price"]})),
        ("Flag duplicate order_id values in orders.", "unique", json!({"columns": ["order_id"]})),
        ("order id must be unique", "unique", json!({"columns": ["order_id"]})),
        (
            "quantity must be greater than 0",
            "range",
            json!({"column": "quantity", "min": 0, "strict_min": true}),
        ),
        ("Flag orders with negative quantity", "range", json!({"column": "quantity", "min": 0})),
        ("quantity must not be negative", "range", json!({"column": "quantity", "min": 0})),
        ("price must be between 5 and 500", "range", json!({"column": "price", "min": 5, "max": 500})),
        ("price must not exceed 500", "range", json!({"column": "price", "max": 500})),
        ("Flag orders where price > 1000", "range", json!({"column": "price", "max": 1000})),
        (
            "Flag orders where price is not above 2.5",
            "range",
            json!({"column": "price", "min": 2.5, "strict_min": true}),
        ),
        (
            "created_at must be after 2024-01-01",
            "range",
            json!({"column": "created_at", "min": "2024-01-02"}),
        ),
        (
            "paid_at must not be before created_at",
            "two_columns",
            json!({"left": "paid_at", "op": ">=", "right": "created_at"}),
        ),
        (
            "Flag orders where paid_at is before created_at",
            "two_columns",
            json!({"left": "paid_at", "op": ">=", "right": "created_at"}),
        ),
        (
            "paid_at must be after created_at",
            "two_columns",
            json!({"left": "paid_at", "op": ">", "right": "created_at"}),
        ),
        (
            "status must be one of paid, open or 'on hold'",
            "in_set",
            json!({"column": "status", "values": ["paid", "open", "on hold"]}),
        ),
        (
            "Flag orders whose status is not one of (paid, open)",
            "in_set",
            json!({"column": "status", "values": ["paid", "open"]}),
        ),
        (
            "Flag orders whose status is one of void, lost",
            "in_set",
            json!({"column": "status", "values": ["void", "lost"], "negate": true}),
        ),
        (
            "the newest created_at must be at most 7 days old",
            "freshness",
            json!({"column": "created_at", "max_age": "7d"}),
        ),
        (
            "at most 5% of status may be null",
            "aggregate",
            json!({"column": "status", "function": "null_share", "max": 0.05}),
        ),
        ("order_id must start with \"O-\"", "regex", json!({"column": "order_id", "pattern": "^O\\-"})),
        ("order_id must match /^O\\d+$/", "regex", json!({"column": "order_id", "pattern": "^O\\d+$"})),
        ("quantity must be a number", "dtype", json!({"column": "quantity", "type": "number"})),
        ("orders must have at least 10 rows", "row_count", json!({"min": 10})),
        ("orders must not be empty", "row_count", json!({"min": 1})),
        (
            "The sum of total in orders must equal the sum of amount in payments",
            "reconcile_totals",
            json!({
                "left": {"table": "orders", "column": "total", "function": "sum"},
                "right": {"table": "payments", "column": "amount", "function": "sum"},
                "tolerance": 0.005
            }),
        ),
    ]
}

#[test]
fn a_rule_about_the_age_of_every_row_is_none_about_the_newest() {
    let since = json!({"compare": {"left": {"column": "created_at"}, "op": ">=", "right": {"ago": "30d"}}});
    for hint in [
        "created_at must not be older than 30 days",
        "no created_at may be older than 30 days",
        "flag orders where created_at is older than 30 days",
        "created_at must be at most 30 days old",
    ] {
        assert_eq!(declared(hint), ("condition".to_owned(), json!({"must": since})), "{hint}");
    }
    let now = json!({"compare": {"left": {"column": "created_at"}, "op": "<=", "right": "now"}});
    let within = json!({"must": {"all": [since, now]}});
    assert_eq!(declared("every created_at must be in the last 30 days"), ("condition".to_owned(), within));
}

#[test]
fn the_usual_hints_are_understood() {
    for (hint, kind, params) in usual() {
        assert_eq!(declared(hint), (kind.to_owned(), params), "{hint}");
    }
}

#[test]
fn a_plan_says_what_it_does_in_order() {
    let Reply::Plan(draft) = plan(&brief("Flag orders rows whose user_id is missing from users.")) else {
        panic!()
    };
    let declared = draft.declared.unwrap();
    assert_eq!(declared["tables"], json!(["orders", "users"]));
    assert_eq!(declared["columns"], json!({"orders": ["user_id"], "users": ["user_id"]}));
    assert!(declared["steps"].as_array().unwrap().len() >= 3, "{declared}");
    assert!(
        draft.code.contains("failing = judged & ~rows[\"user_id\"].isin(known[\"user_id\"].dropna())"),
        "{}",
        draft.code
    );
}

#[test]
fn what_is_not_understood_is_refused_in_plain_words() {
    for hint in
        ["make it nice", "the moon is made of cheese", "", "price quantity status", "💥💥💥", "Flag orders"]
    {
        let reply = plan(&brief(hint));
        assert!(
            matches!(&reply, Reply::Refusal(reason) if reason.contains("does not understand")),
            "{hint}: {reply:?}"
        );
    }
    let reply = plan(&brief("must be unique"));
    assert!(matches!(&reply, Reply::Refusal(reason) if reason.contains("order_id")), "{reply:?}");
    let nothing = plan(&Brief::new(Task::Check, "price must be unique"));
    assert!(matches!(nothing, Reply::Refusal(_)));
}

#[test]
fn a_filter_of_the_check_is_kept_apart_from_its_hint() {
    let Reply::Plan(draft) =
        plan(&brief("paid_at must not be null Look only at rows where status == 'paid'."))
    else {
        panic!()
    };
    assert!(draft.code.contains("rows = rows.query(\"status == 'paid'\")"), "{}", draft.code);
}

fn composed() -> Hints {
    let column = |name: &str| json!({"column": name});
    let is = |name: &str, value: &str| json!({"in": {"column": name, "values": [value]}});
    vec![
        (
            "When status is 'paid', paid_at must not be null.",
            "condition",
            json!({"when": is("status", "paid"), "must": {"not": {"null": "paid_at"}}}),
        ),
        (
            "paid_at must be empty unless status is 'paid'",
            "condition",
            json!({"when": {"not": is("status", "paid")}, "must": {"null": "paid_at"}}),
        ),
        (
            "total must be equal to quantity times price",
            "condition",
            json!({"must": {"compare": {"left": column("total"), "op": "==", "right": {"product": [column("quantity"), column("price")]}}}}),
        ),
        (
            "price must not be null and must be above 0",
            "condition",
            json!({"must": {"all": [{"not": {"null": "price"}},
                {"compare": {"left": column("price"), "op": ">", "right": {"value": 0}}}]}}),
        ),
        (
            "At most 1% of rows may have a price above 100",
            "condition",
            json!({"must": {"compare": {"left": column("price"), "op": ">", "right": {"value": 100}}}, "max_share": 0.01}),
        ),
        (
            "The sum of total must be at least 10",
            "aggregate",
            json!({"column": "total", "function": "sum", "min": 10}),
        ),
        (
            "the number of rows for each user_id must be at most 5",
            "row_count",
            json!({"by": ["user_id"], "max": 5}),
        ),
        (
            "The combination of order_id and user_id must be unique",
            "unique",
            json!({"columns": ["order_id", "user_id"]}),
        ),
        (
            "order_id must be two capital letters, a dash and 3 digits",
            "regex",
            json!({"column": "order_id", "pattern": "^[A-Z]{2}-[0-9]{3}$"}),
        ),
        ("price must be between 1 and 100", "range", json!({"column": "price", "min": 1, "max": 100})),
    ]
}

#[test]
fn conditions_groups_and_formulas_are_read() {
    for (hint, kind, params) in composed() {
        assert_eq!(declared(hint), (kind.to_owned(), params), "{hint}");
    }
}

#[test]
fn a_word_that_fits_nowhere_makes_the_rule_declined_by_name() {
    for (hint, word) in [
        ("price must be very high", "very"),
        ("price must be positive on Sundays", "Sundays"),
        ("prise must be positive", "prise"),
        ("price must be above 0 except for gifts", "gifts"),
    ] {
        let reply = plan(&brief(hint));
        assert!(
            matches!(&reply, Reply::Refusal(reason) if reason.contains(&format!("“{word}”"))),
            "{hint}: {reply:?}"
        );
    }
}

/// Whatever column is called otherwise now: a rule that names it is declined, and any other means what it meant.
#[test]
fn a_renamed_column_never_changes_what_a_rule_means() {
    let also = ("user_id must exist in users", "foreign_key", usual().swap_remove(0).2);
    for (hint, kind, params) in usual().into_iter().chain(composed()).chain([also]) {
        for (table, column) in columns(&brief(hint)) {
            let mut renamed = brief(hint);
            let tables = std::sync::Arc::make_mut(&mut renamed.tables);
            let old = std::mem::replace(&mut tables[table].table.columns[column].name, "renamed".to_owned());
            let name = tables[table].table.name.clone();
            let Reply::Plan(draft) = plan(&renamed) else { continue };
            let declared = draft.declared.unwrap();
            assert_eq!(
                (&declared["kind"], &declared["params"]),
                (&json!(kind), &params),
                "{hint}, without {old}"
            );
            let used = declared["columns"][&name].as_array().cloned().unwrap_or_default();
            assert!(!used.contains(&json!(old)), "{hint}, without {old}: {declared}");
        }
    }
}

fn columns(brief: &Brief) -> Vec<(usize, usize)> {
    let tables = brief.tables.iter().enumerate();
    tables.flat_map(|(at, table)| (0..table.table.columns.len()).map(move |column| (at, column))).collect()
}

#[test]
fn what_can_be_read_in_two_ways_is_not_run() {
    for hint in [
        "price or total must not be null",
        "order_id and user_id must be unique",
        "price must not be null and above 0",
        "price may be null",
    ] {
        assert!(!matches!(plan(&brief(hint)), Reply::Plan(_)), "{hint}");
    }
}

#[test]
fn some_is_not_dropped_from_a_rule() {
    for hint in ["some orders must be paid", "some price must be above 18"] {
        let reply = plan(&brief(hint));
        assert!(matches!(&reply, Reply::Refusal(reason) if reason.contains("“some”")), "{hint}: {reply:?}");
    }
}

/// What is declined, and why.
fn refused(brief: &Brief) -> String {
    match plan(brief) {
        Reply::Refusal(said) => said,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_currency_that_no_column_has_is_not_dropped() {
    for hint in
        ["price must be below 100 €", "price must be at most $100", "no order has a price over 250 CHF"]
    {
        let said = refused(&brief(hint));
        assert!(said.contains("nothing says that price is in "), "{hint}: {said}");
    }
    let mut known = brief("price must be below 100 €");
    let notes = ordain_types::ColumnNotes { unit: Some("EUR".to_owned()), ..Default::default() };
    let mut table = ordain_types::TableNotes::default();
    table.columns.insert("price".to_owned(), notes);
    std::sync::Arc::make_mut(&mut known.catalog).tables.insert("orders".to_owned(), table);
    assert!(matches!(plan(&known), Reply::Plan(_)));
    known.request = "price must be below 100 CHF".to_owned();
    assert!(refused(&known).contains("I do not convert currencies"));
}

#[test]
fn a_decimal_comma_of_one_table_says_nothing_about_another_one() {
    let of = |hint: &str, commas: &str| {
        let mut brief = brief(hint);
        let catalog = std::sync::Arc::make_mut(&mut brief.catalog);
        catalog.data.entry(commas.to_owned()).or_default().decimal = Some(',');
        plan(&brief)
    };
    let hint = "price must be below 12,50";
    assert!(matches!(of(hint, "orders"), Reply::Plan(_)), "{:?}", of(hint, "orders"));
    assert!(matches!(of(hint, "payments"), Reply::Refusal(_)), "{:?}", of(hint, "payments"));
    // With points, a comma is between thousands.
    assert!(matches!(of("price must be below 1,000", "payments"), Reply::Plan(_)));
    assert!(matches!(of("price must be below 1,000", "orders"), Reply::Refusal(_)));
}

#[test]
fn a_rule_about_an_order_says_whether_equal_neighbours_pass() {
    let said = |hint: &str| match plan(&brief(hint)) {
        Reply::Plan(draft) => (draft.title, draft.declared.unwrap()["cases"][0].as_str().unwrap().to_owned()),
        other => panic!("{hint}: {other:?}"),
    };
    let (reading, case) = said("total must increase for each user_id");
    assert!(reading.contains("must be increasing or stay as it is"), "{reading}");
    assert_eq!(case, "the same value as before passes, a smaller one fails");
    let (reading, case) = said("total must strictly increase for each user_id");
    assert!(reading.contains("must be strictly increasing for each"), "{reading}");
    assert_eq!(case, "the same value as before fails, a smaller one fails");
}

#[test]
fn a_day_demands_nothing_of_a_column_that_nobody_named() {
    let mut brief = brief("orders must be paid since 2020");
    let tables = std::sync::Arc::make_mut(&mut brief.tables);
    tables[0].table.columns.truncate(7);
    let samples = vec![json!("paid"), json!("open")];
    tables[0].columns = vec![crate::brief::ColumnBrief {
        name: "status".to_owned(),
        null_share: 0.0,
        values: Some(samples.clone()),
        samples,
        shape: None,
        unit: None,
    }];
    let reply = plan(&brief);
    assert!(!matches!(reply, Reply::Plan(_)), "{reply:?}");
}

#[test]
fn of_two_columns_of_one_name_none_is_chosen() {
    let mut brief = brief("price must be above 0");
    let tables = std::sync::Arc::make_mut(&mut brief.tables);
    tables[0].table.columns[4].name = "price.1".to_owned();
    let reply = plan(&brief);
    assert!(
        matches!(&reply, Reply::Question(asked) if asked.contains("`price.1` must be above 0")),
        "{reply:?}"
    );
}

#[test]
fn plain_rules_that_were_declined_are_read() {
    let price = |op: &str, bound: Value| json!({"column": "price", op: bound});
    for (hint, kind, params) in [
        ("No order has a price over 250", "range", price("max", json!(250))),
        ("there must be at least 1000 rows", "row_count", json!({"min": 1000})),
        (
            "created_at must be before 2024",
            "range",
            json!({"column": "created_at", "max": "2024-01-01", "strict_max": true}),
        ),
    ] {
        assert_eq!(declared(hint), (kind.to_owned(), params), "{hint}");
    }
    let mut brief = brief("price must not exceed 10%");
    assert!(!matches!(plan(&brief), Reply::Plan(_)));
    std::sync::Arc::make_mut(&mut brief.tables)[0].columns = vec![crate::brief::ColumnBrief {
        name: "price".to_owned(),
        null_share: 0.0,
        samples: vec![json!(5.5)],
        values: None,
        shape: None,
        unit: Some("%".to_owned()),
    }];
    let Reply::Plan(draft) = plan(&brief) else { panic!("not read") };
    assert_eq!(draft.declared.unwrap()["params"], price("max", json!(10)));
}

fn with_values(brief: &mut Brief, column: &str, values: &[&str]) {
    let values: Vec<Value> = values.iter().map(|value| json!(value)).collect();
    std::sync::Arc::make_mut(&mut brief.tables)[0].columns.push(crate::brief::ColumnBrief {
        name: column.to_owned(),
        null_share: 0.0,
        samples: values.clone(),
        values: Some(values),
        shape: None,
        unit: None,
    });
}

#[test]
fn the_value_a_after_its_column_is_no_article() {
    let read = |hint: &str| {
        let mut brief = brief(hint);
        with_values(&mut brief, "status", &["a", "b", "c"]);
        with_values(&mut brief, "price", &[]);
        match plan(&brief) {
            Reply::Plan(draft) => draft.declared.unwrap()["params"].clone(),
            other => panic!("{hint}: {other:?}"),
        }
    };
    let is_a = json!({"in": {"column": "status", "values": ["a"]}});
    let is_capital = json!({"in": {"column": "status", "values": ["A"]}});
    assert_eq!(
        read("at least 90% of orders must have status A"),
        json!({"must": is_capital, "min_share": 0.9})
    );
    assert_eq!(read("every order must have status a"), json!({"column": "status", "values": ["a"]}));
    assert_eq!(
        read("flag orders with status a"),
        json!({"column": "status", "values": ["a"], "negate": true})
    );
    let bound = read("orders with status a must have a price above 5");
    assert_eq!(bound["when"], is_a, "{bound}");
    assert_eq!(read("status must be one of a, b, c"), json!({"column": "status", "values": ["a", "b", "c"]}));
    // A value that no row has is not passed over either.
    assert!(!matches!(plan(&brief("every order must have status A")), Reply::Plan(_)));
    assert_eq!(read("every order must have a status"), json!({"columns": ["status"]}));
}

#[test]
fn the_very_name_of_a_column_is_no_other_column() {
    let mut brief = brief("quantity must be positive");
    std::sync::Arc::make_mut(&mut brief.tables)[0].table.columns[4].name = "qty".to_owned();
    let Reply::Plan(draft) = plan(&brief) else { panic!("not read") };
    assert_eq!(draft.declared.unwrap()["params"]["column"], "quantity");
}

#[test]
fn before_today_is_before_the_day_and_not_before_the_moment() {
    let bound = |hint: &str| declared(hint).1["must"].clone();
    let compare = |op: &str, days: &str| json!({"compare": {"left": {"column": "created_at"}, "op": op, "right": {"ago": days}}});
    assert_eq!(bound("created_at must be before today"), compare("<", "0d"));
    assert_eq!(bound("created_at must not be after today"), compare("<", "-1d"));
    assert_eq!(bound("created_at must be after yesterday"), compare(">=", "0d"));
    let today = json!({"all": [compare(">=", "0d"), compare("<", "-1d")]});
    assert_eq!(bound("created_at must be today"), today);
    // A day without a time is in the past when it is over.
    let mut brief = brief("created_at must be in the past");
    with_values(&mut brief, "created_at", &["2024-01-01"]);
    let Reply::Plan(draft) = plan(&brief) else { panic!("not read") };
    assert_eq!(draft.declared.unwrap()["params"]["must"], compare("<", "0d"));
}

#[test]
fn readings_that_cannot_be_judged_are_told_with_the_reason() {
    let mut brief = brief("quantity plus price must be at most 10");
    std::sync::Arc::make_mut(&mut brief.tables)[0].table.columns[3].column_type = ColumnType::Text;
    let reply = plan(&brief);
    assert!(!matches!(&reply, Reply::Question(asked) if asked.contains("ways: ;")), "{reply:?}");
}

#[test]
fn a_value_of_a_rule_is_as_it_is_written_and_not_as_rows_have_it() {
    for (hint, values) in [
        ("status must be Paid", json!(["Paid"])),
        ("status must be one of OPEN, paid", json!(["OPEN", "paid"])),
        ("status must be one of open, On Hold", json!(["open", "On Hold"])),
    ] {
        let mut brief = brief(hint);
        with_values(&mut brief, "status", &["open", "paid", "on hold"]);
        let Reply::Plan(draft) = plan(&brief) else { panic!("{hint} is not read") };
        assert_eq!(draft.declared.unwrap()["params"]["values"], values, "{hint}");
    }
}
#[test]
fn no_word_is_left_out_of_a_text_that_a_rule_looks_for() {
    let read = |hint: &str| {
        let mut brief = brief(hint);
        with_values(&mut brief, "status", &["the end", "end", "A-1"]);
        match plan(&brief) {
            Reply::Plan(draft) => Some(draft.declared.unwrap()["params"].clone()),
            _ => None,
        }
    };
    for (hint, pattern) in [
        ("status must match A-[0-9]", "A-[0-9]"),
        ("status must match the pattern A-[0-9]+", "A-[0-9]+"),
        ("status must start with A-", "^A\\-"),
    ] {
        assert_eq!(read(hint).unwrap()["pattern"], pattern, "{hint}");
    }
    assert!(read("status must contain an @").is_some());
    assert_eq!(read("status must be the end").unwrap()["values"], json!(["the end"]));
    for hint in ["status must start with A B", "status must contain the end"] {
        assert_eq!(read(hint), None, "{hint}");
    }
}

#[test]
fn having_something_is_a_yes_a_number_or_a_value_and_declined_where_that_is_open() {
    let seen = |name: &str, values: &[Value], null_share: f64| crate::brief::ColumnBrief {
        name: name.to_owned(),
        null_share,
        values: Some(values.to_vec()),
        ..crate::brief::ColumnBrief::default()
    };
    let temps = TableBrief {
        columns: vec![
            seen("id", &[json!(1), json!(2)], 0.0),
            seen("temperature", &[json!(-3.5), json!(4.0)], 0.2),
            seen("first_aid", &[json!(0), json!(1)], 0.0),
            seen("fine", &[json!(0), json!(40)], 0.2),
            seen("defects", &[json!(0), json!(3)], 0.0),
            seen("paid", &[json!(true), json!(false)], 0.0),
        ],
        ..table(
            "temps",
            &[
                ("id", ColumnType::Integer),
                ("temperature", ColumnType::Real),
                ("first_aid", ColumnType::Integer),
                ("fine", ColumnType::Integer),
                ("defects", ColumnType::Integer),
                ("paid", ColumnType::Boolean),
            ],
        )
    };
    let read = |hint: &str| plan(&Brief { tables: vec![temps.clone()].into(), ..brief(hint) });
    for hint in [
        "at most 25% of rows may have no temperature",
        "no row may have no temperature",
        "a temp must not have a fine",
        "temps must have no fine",
        "no temp may have a fine",
        "every temp must have paid",
    ] {
        match read(hint) {
            Reply::Refusal(said) => assert!(said.contains("it is not certain what having"), "{hint}: {said}"),
            other => panic!("{hint}: {other:?}"),
        }
    }
    for (hint, meant) in [
        ("temps must have first aid", "`first_aid` must be above 0"),
        ("temps must have no defects", "`defects` must be at most 0"),
        ("temps must have a temperature", "`temperature` must have a value"),
        ("temps must have a fine", "`fine` must have a value"),
    ] {
        match read(hint) {
            Reply::Plan(draft) => {
                let said = draft.reading.unwrap_or_default();
                assert!(said.contains(meant), "{hint}: {said}");
            }
            other => panic!("{hint}: {other:?}"),
        }
    }
}
