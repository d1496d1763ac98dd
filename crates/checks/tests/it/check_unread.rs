//! What could not be judged is told in the verdict and is not green: values that cannot be read, rows without a group, rows
//! that nobody chose, days in the future.

use ordain_checks::CheckStatus;
use serde_json::{Value, json};

use crate::checks::{World, keys, stands};

fn kind(id: &str, kind: &str, params: &Value) -> Value {
    json!({"check_id": id, "target_table": "t", "kind": kind, "params": params, "key_columns": ["id"]})
}

fn words(id: &str, rule: &str) -> Value {
    json!({"check_id": id, "target_table": "t", "calculation_hint": rule, "key_columns": ["id"]})
}

/// Thirty rows in two groups; in the last one a number cannot be read.
fn rows() -> String {
    let row = |id: usize| format!("r{id},{},{},1\n", ["a", "b"][usize::from(id > 15)], id % 5 + 1);
    let rows: String = (1..30).map(row).collect();
    format!("id,g,v,w\n{rows}r30,b,many,1\n")
}

#[tokio::test]
async fn a_value_that_cannot_be_read_in_a_condition_does_not_pass() {
    let mut filtered = kind("filter", "range", &json!({"column": "w", "min": 0}));
    filtered["filter"] = json!("v > 3");
    let above =
        |bound: i32| json!({"compare": {"left": {"column": "v"}, "op": ">", "right": {"value": bound}}});
    let out = json!({"all": [above(3), {"in": {"column": "g", "values": ["a"]}}]});
    let checks = json!([
        words("number", "the number of t with v above 100 must be at most 3"),
        words("if", "if v is above 0, w must be above 0"),
        filtered,
        kind("when", "range", &json!({"column": "w", "min": 0, "when": above(3)})),
        kind("there", "not_null", &json!({"columns": "w", "when": above(3)})),
        kind("out", "range", &json!({"column": "w", "min": 0, "when": out})),
        words("not", "v must not be 9"),
        words("null", "v must not be null"),
        words("once", "id must be unique"),
    ]);
    let results = World::with(&checks.to_string(), &[("t.csv", rows().as_bytes())]).run().await;
    for id in ["if", "filter", "when", "there", "not"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert_eq!(keys(&results[id]), ["r30"], "{:?}", results[id]);
        assert!(results[id].summary.ends_with("; values of 1 of them cannot be read"), "{:?}", results[id]);
    }
    stands(&results, "number", CheckStatus::Fail, "");
    assert!(results["number"].summary.ends_with("; 1 values cannot be read"), "{:?}", results["number"]);
    // Where another part of the condition leaves the row out, what cannot be read does not matter.
    for id in ["out", "null", "once"] {
        stands(&results, id, CheckStatus::Pass, "");
    }
}

#[tokio::test]
async fn sums_of_two_tables_do_not_agree_while_a_value_cannot_be_read() {
    let totals = |id: &str, column: &str, other: &str| {
        let side = |table: &str| json!({"table": table, "column": column, "function": "sum"});
        json!({"check_id": id, "kind": "reconcile_totals", "target_table": format!("t,{other}"),
            "params": {"left": side("t"), "right": side(other), "tolerance": 0.005}})
    };
    let checks = json!([totals("sums", "w", "c"), totals("unread", "v", "c"), totals("empty", "w", "e"),]);
    let sum: usize = (1..30).map(|id| id % 5 + 1).sum();
    let other = format!("id,v,w\n1,{sum},30\n");
    let files: [(&str, &[u8]); 3] =
        [("t.csv", &rows().into_bytes()), ("c.csv", other.as_bytes()), ("e.csv", b"id,w\n")];
    let results = World::with(&checks.to_string(), &files).run().await;
    stands(&results, "sums", CheckStatus::Pass, "");
    stands(&results, "unread", CheckStatus::Fail, "");
    assert!(
        results["unread"].summary.ends_with("0 apart; 1 values cannot be read"),
        "{:?}",
        results["unread"]
    );
    stands(&results, "empty", CheckStatus::Skipped, "empty_table: table `e` has no rows");
}

#[tokio::test]
async fn rows_without_a_group_are_judged_as_a_group() {
    let checks = json!([
        words("sum", "the sum of w per g must be at most 10"),
        kind("count", "row_count", &json!({"max": 2, "by": "g"})),
    ]);
    let csv = "id,g,w\n1,a,5\n2,b,5\n3,,500\n4,,600\n5,,1\n";
    let results = World::with(&checks.to_string(), &[("t.csv", csv.as_bytes())]).run().await;
    for id in ["sum", "count"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert_eq!((results[id].failed, results[id].evaluated), (Some(1), Some(3)), "{:?}", results[id]);
    }
    // Only the group with a value that cannot be read fails for it.
    let checks = json!([words("mean", "the average v per g must be at most 100")]);
    let results = World::with(&checks.to_string(), &[("t.csv", rows().as_bytes())]).run().await;
    assert_eq!(
        (results["mean"].failed, results["mean"].evaluated),
        (Some(1), Some(2)),
        "{:?}",
        results["mean"]
    );
}

#[tokio::test]
async fn rows_without_a_group_that_break_their_order_do_not_pass() {
    let checks = json!([kind("order", "monotonic", &json!({"column": "w", "by": "g"})),]);
    let csv = "id,g,w,day\n1,a,5,2024-01-01\n2,,500,2024-01-01\n3,a,6,2024-01-02\n4,,1,2024-01-09\n";
    let world = World::with(&checks.to_string(), &[("t.csv", csv.as_bytes())]);
    for settings in ["", "[checks]\nlarge_rows = 1\n"] {
        world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n{settings}"));
        let results = world.run().await;
        stands(&results, "order", CheckStatus::Fail, "");
        let result = &results["order"];
        assert_eq!((result.failed, result.evaluated), (Some(1), Some(4)), "{result:?}");
    }
}

#[tokio::test]
async fn a_figure_of_no_row_is_no_pass_unless_that_is_allowed() {
    let mut filtered = kind("filter", "aggregate", &json!({"column": "w", "function": "sum", "max": 10}));
    filtered["filter"] = json!("g == 'c'");
    let when = json!({"in": {"column": "g", "values": ["c"]}});
    let checks = |allow_empty: bool| {
        let mut checks = json!([
            filtered,
            kind("when", "aggregate", &json!({"column": "w", "function": "sum", "max": 10, "when": when})),
            kind("share", "condition", &json!({"must": {"null": "w"}, "max_share": 0.1, "when": when})),
        ]);
        for check in checks.as_array_mut().unwrap() {
            check["allow_empty"] = json!(allow_empty);
        }
        checks
    };
    let rows: &[(&str, &[u8])] = &[("t.csv", b"id,g,w\n1,a,5\n")];
    let results = World::with(&checks(false).to_string(), rows).run().await;
    let allowed = World::with(&checks(true).to_string(), rows).run().await;
    for id in ["filter", "when", "share"] {
        stands(&results, id, CheckStatus::Skipped, "no_rows");
        stands(&allowed, id, CheckStatus::Pass, "");
        assert_eq!(allowed[id].summary.matches("it looked at no row").count(), 1, "{:?}", allowed[id]);
    }
}

#[tokio::test]
async fn a_newest_day_in_the_far_future_is_not_fresh() {
    let checks = json!([kind("fresh", "freshness", &json!({"column": "day", "max_age": "30d"}))]);
    let results =
        World::with(&checks.to_string(), &[("t.csv", b"id,day\n1,2020-01-01\n2,2999-01-01\n")]).run().await;
    stands(&results, "fresh", CheckStatus::Fail, "");
    assert!(results["fresh"].summary.contains("which is in the future"), "{:?}", results["fresh"]);
}

#[tokio::test]
async fn a_filter_that_compares_numbers_with_a_text_does_not_pass_on_no_rows() {
    let mut check = kind("set", "in_set", &json!({"column": "z", "values": ["hello"]}));
    check["filter"] = json!("x == \"1\"");
    let rows = b"id,x,z\na,1,hello\nb,2,jello\n";
    let results = World::with(&json!([check]).to_string(), &[("t.csv", rows)]).run().await;
    let reason = "its filter compares `x`, which holds whole numbers, with the text `1`";
    stands(&results, "set", CheckStatus::Error, reason);
}

#[tokio::test]
async fn a_filter_over_numbers_with_a_text_among_them_does_not_pass_on_no_rows() {
    let mut check = kind("range", "range", &json!({"column": "v", "min": 10, "max": 10}));
    check["filter"] = json!("v == 5");
    let results = World::with(&json!([check]).to_string(), &[("t.csv", rows().as_bytes())]).run().await;
    stands(&results, "range", CheckStatus::Fail, "");
    assert!(keys(&results["range"]).contains(&"r30".to_owned()), "{:?}", results["range"]);
}

#[tokio::test]
async fn a_figure_of_a_table_without_rows_does_not_pass() {
    let figure = |function: &str| {
        kind(function, "aggregate", &json!({"column": "v", "function": function, "min": 0, "max": 0}))
    };
    let functions = ["max", "mean", "median", "sum"];
    let checks = json!(functions.map(figure));
    let results = World::with(&checks.to_string(), &[("t.csv", b"id,v\n")]).run().await;
    for id in functions {
        stands(&results, id, CheckStatus::Skipped, "empty_table: table `t` has no rows");
    }
}

#[tokio::test]
async fn a_number_beyond_floating_point_is_told_and_no_sum_is_infinite() {
    let rows = "v\n1e400\n".to_owned() + &"1.5\n".repeat(20);
    let checks = json!([
        {"check_id": "sum", "target_table": "t", "kind": "aggregate", "params": {"column": "v", "function": "sum", "max": 100}},
        {"check_id": "words", "target_table": "t", "calculation_hint": "v must be below 100"},
    ]);
    let results = World::with(&checks.to_string(), &[("t.csv", rows.as_bytes())]).run().await;
    for id in ["sum", "words"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert!(results[id].notes.iter().any(|note| note.contains("row 2 ('1e400')")), "{:?}", results[id]);
    }
    assert!(results["sum"].summary.starts_with("the sum of v is 30.0;"), "{:?}", results["sum"]);
}

#[tokio::test]
async fn a_sum_that_floating_point_does_not_hold_is_no_figure() {
    let sum = json!({"column": "v", "function": "sum", "min": 1});
    let by = json!({"column": "v", "function": "sum", "min": 1, "by": "g"});
    let checks = json!([kind("sum", "aggregate", &sum), kind("groups", "aggregate", &by)]);
    let results =
        World::with(&checks.to_string(), &[("t.csv", b"id,g,v\n1,a,1e308\n2,a,1e308\n")]).run().await;
    for id in ["sum", "groups"] {
        stands(&results, id, CheckStatus::Error, "the figure is larger than floating point holds");
    }
}
