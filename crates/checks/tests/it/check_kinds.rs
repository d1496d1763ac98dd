//! Kinds about groups, conditions and rows that follow one another.

use ordain_checks::{CheckOptions, CheckStatus, CodeFrom, SkipReason};
use serde_json::json;

use crate::checks::{World, by_id, keys, stands};

const READINGS: &[u8] = b"id,sensor,at,value,state\n\
    r1,a,2024-01-01 00:00,10,live\n\
    r2,a,2024-01-01 01:00,11,live\n\
    r3,b,2024-01-01 01:30,50,live\n\
    r4,a,2024-01-01 05:00,12,live\n\
    r5,b,2024-01-01 02:30,51,idle\n\
    r6,a,2024-01-01 06:00,40,idle\n\
    r7,a,2024-01-01 06:30,,idle\n";

#[tokio::test]
async fn a_condition_limits_a_rule_to_the_rows_that_meet_it() {
    let record = |id: &str, kind: &str, params: serde_json::Value| json!({"check_id": id, "kind": kind, "target_table": "readings", "key_columns": ["id"], "params": params});
    let live = json!({"in": {"column": "state", "values": ["live"]}});
    let checks = json!([
        record("once", "unique", json!({"columns": "state", "by": ["sensor", "at"]})),
        record("when", "range", json!({"column": "value", "max": 12, "when": live})),
        record("there", "not_null", json!({"columns": "value", "when": {"not": live}})),
        record(
            "typed",
            "not_null",
            json!({"columns": "id", "when": {"in": {"column": "value", "values": ["10"]}}})
        ),
    ]);
    let world = World::with(&checks.to_string(), &[("readings.csv", READINGS)]);
    let results = world.run().await;
    for (id, expected) in [("when", "r3"), ("there", "r7")] {
        assert_eq!(keys(&results[id]).join(" "), expected, "{:?}", results[id]);
    }
    stands(&results, "once", CheckStatus::Pass, "");
    stands(&results, "typed", CheckStatus::Error, "column `value` holds whole numbers, and \"10\" is text");
    let understood = results["when"].understood.as_deref().unwrap();
    assert_eq!(understood, "readings: `value` must be at most 12, where `state` is live");
    let summary = &results["when"].summary;
    assert!(summary.starts_with("1 of 4 readings have a value in value that is not at most 12"), "{summary}");
}

#[tokio::test]
async fn differences_of_decimals_are_those_that_are_written() {
    let total = |column: &str| json!({"table": "d", "column": column});
    let checks = json!([
        {"check_id": "same", "kind": "reconcile_totals", "target_table": ["d"], "params": {"left": total("a"), "right": total("b")}},
        {"check_id": "other", "kind": "reconcile_totals", "target_table": ["d"], "params": {"left": total("a"), "right": total("c")}},
    ]);
    let rows = b"id,v,a,b,c\nr1,10.8,0.1,0.3,0.3\nr2,4.8,0.2,0.0,0.000001\nr3,11.0,0.0,0.0,0.0\n";
    let world = World::with(&checks.to_string(), &[("d.csv", rows)]);
    let results = world.run().await;
    stands(&results, "same", CheckStatus::Pass, "");
    stands(&results, "other", CheckStatus::Fail, "");
}

#[tokio::test]
async fn a_formula_with_a_missing_value_does_not_fail_its_row() {
    let product = json!({"product": [{"column": "units"}, {"column": "price"}]});
    let must = json!({"compare": {"left": {"column": "total"}, "op": "==", "right": product}});
    let checks = json!([{"check_id": "c", "kind": "condition", "target_table": "t", "key_columns": ["id"], "params": {"must": must}}]);
    let rows: &[u8] = b"id,units,price,total\na,2,1.5,3.0\nb,2,1.5,\nc,,1.5,3.0\nd,2,1.5,4.0\n";
    let world = World::with(&checks.to_string(), &[("t.csv", rows)]);
    let results = world.run().await;
    assert_eq!((keys(&results["c"]).join(" "), results["c"].evaluated), ("d".to_owned(), Some(2)));
}

/// The parts are small here; in a long table they have millions of rows.
const PART_BY_PART: &str = "\
rows = frame(\"t\")
wrong = 0
for columns in [[\"i\"], [\"f\"], [\"s\"], [\"i\", \"f\", \"s\"]]:
    for part_rows in [3, 11]:
        at_once = rows[columns].duplicated(keep=False)
        wrong += int((frame.repeated(rows[columns], part_rows) != at_once).sum())
result = {\"status\": \"FAIL\" if wrong else \"PASS\", \"summary\": f\"{wrong} marks differ\"}
";

#[tokio::test]
async fn rows_are_compared_part_by_part_as_they_are_at_once() {
    let checks = json!([{"check_id": "parts", "kind": "python", "target_table": "t", "params": {"code": PART_BY_PART}}]);
    let reals = ["0.0", "-0.0", "1.5", "", "2.25"];
    let row = |n: usize| format!("{},{},{}\n", n * n % 31, reals[n % 5], ["a", "b", "", "\u{e4}"][n % 4]);
    let rows: String = (0..60).map(row).collect();
    let world = World::with(&checks.to_string(), &[("t.csv", format!("i,f,s\n{rows}").as_bytes())]);
    let results = world.run().await;
    assert_eq!(results["parts"].summary, "0 marks differ", "{:?}", results["parts"]);
}

#[tokio::test]
async fn a_transformation_in_words_writes_its_rows_and_overwrites_nobody_elses() {
    let checks = json!([{"check_id": "T", "kind": "transform", "target_table": "sales",
        "calculation_hint": "total units by region", "params": {"output": "out/regions.csv"}}]);
    let sales: &[u8] = b"region,units\nnorth,2\nsouth,3\nnorth,4\n,1\n";
    let world = World::with(&checks.to_string(), &[("sales.csv", sales)]);
    let output = world.root().join("out/regions.csv");
    let results = world.run().await;
    assert_eq!(results["T"].summary, "written to out/regions.csv: 3 rows.", "{:?}", results["T"]);
    assert_eq!(fs_err::read_to_string(&output).unwrap(), "region,total_units\nnorth,6\nsouth,3\n,1\n");
    world.write("data/sales.csv", "region,units\nwest,1\n");
    stands(&world.run().await, "T", CheckStatus::Pass, "");
    assert_eq!(fs_err::read_to_string(&output).unwrap(), "region,total_units\nwest,1\n");
    fs_err::write(&output, "mine").unwrap();
    stands(&world.run().await, "T", CheckStatus::Error, "was not written by this transformation");
    assert_eq!(fs_err::read_to_string(&output).unwrap(), "mine");
    world.edit("checks/checks.json", "total units by region", "total units");
    stands(&world.run().await, "T", CheckStatus::Skipped, "it makes no table");
}

#[tokio::test]
async fn whole_numbers_beyond_64_bits_are_added_and_multiplied_exactly() {
    let rows =
        ["1,900000000000000000,4000000000,a", "2,900000000000000000,4000000000,b"].repeat(20).join("\n");
    let kind = |id: &str, params: serde_json::Value| json!({"check_id": id, "kind": "aggregate", "target_table": "t", "params": params});
    let words = |id: &str, rule: &str| json!({"check_id": id, "target_table": "t", "calculation_hint": rule});
    let own = "rows = frame('t')\nfigures = [rows['v'].cumsum().iloc[-1], (rows['w'] * rows['w']).iloc[0], rows['w'].prod() % 7, (rows['w'] ** 2).sum()]\nresult = {'status': 'PASS', 'summary': str([int(one) for one in figures]), 'evaluated': 40, 'failed': 0}\n";
    let checks = json!([
        kind("sum", json!({"column": "v", "function": "sum", "min": 1})),
        kind("groups", json!({"column": "v", "function": "sum", "by": "g", "min": 18_000_000_000_000_000_000_u64})),
        words("words", "the sum of v must be at least 1"),
        words("product", "w times w must be at least 1"),
        {"check_id": "own", "kind": "python", "target_table": "t", "params": {"code": own}},
        {"check_id": "single", "kind": "python", "target_table": "t", "params": {"code": "rows = frame('t')\nlargest = rows['v'].max() * rows['w'].max()\nresult = {'status': 'PASS', 'summary': str(largest), 'evaluated': 1, 'failed': 0}\n"}},
    ]);
    let rows = format!("id,v,w,g\n{rows}");
    let results = World::with(&checks.to_string(), &[("t.csv", rows.as_bytes())]).run().await;
    for id in ["sum", "words"] {
        stands(&results, id, CheckStatus::Pass, "");
        assert!(results[id].summary.contains("36000000000000000000"), "{:?}", results[id]);
    }
    for id in ["groups", "product"] {
        stands(&results, id, CheckStatus::Pass, "");
    }
    let expected =
        [36_000_000_000_000_000_000_u128, 16_000_000_000_000_000_000, 4, 640_000_000_000_000_000_000];
    assert_eq!(results["own"].summary, format!("{expected:?}"), "{:?}", results["own"]);
    stands(&results, "single", CheckStatus::Error, "overflow encountered in scalar multiply");
}

#[tokio::test]
async fn a_hint_that_is_a_select_is_a_rule_in_sql() {
    let hint = |id: &str, hint: &str| json!({"check_id": id, "target_table": "orders,users", "calculation_hint": hint});
    let checks = json!([
        hint("missing", "SELECT o.* FROM orders o ANTI JOIN users u ON o.user_id = u.id"),
        hint("none", "select * from orders where total < 0;"),
        hint("figure", "SELECT COUNT(*) FROM orders WHERE total < 0"),
        hint("outside", "SELECT * FROM read_csv('/etc/passwd')"),
        hint("two", "SELECT * FROM orders; DROP TABLE orders"),
        hint("sentence", "total must be positive"),
    ]);
    let files: [(&str, &[u8]); 2] = [
        ("orders.csv", b"id,user_id,total\n1,a,5\n2,b,6\n3,z,7\n"),
        ("users.csv", b"id,name\na,Ann\nb,Bob\n"),
    ];
    let results = World::with(&checks.to_string(), &files).run().await;
    assert_eq!((results["missing"].status, results["missing"].failed), (CheckStatus::Fail, Some(1)));
    assert_eq!(results["missing"].kind, "sql");
    assert_eq!(
        results["missing"].samples[0].key["row"], 1,
        "rows that a statement finds are counted from one"
    );
    for id in ["none", "sentence"] {
        stands(&results, id, CheckStatus::Pass, "");
    }
    stands(&results, "figure", CheckStatus::Error, "always gives one row");
    stands(&results, "outside", CheckStatus::Error, "opens no files");
    stands(&results, "two", CheckStatus::Skipped, "");
}

#[tokio::test]
async fn a_group_that_fails_is_known_by_its_values_and_not_by_a_row_of_the_file() {
    let checks = json!([
        {"check_id": "rows", "kind": "row_count", "target_table": "t", "params": {"min": 2, "by": "g"}},
        {"check_id": "mean", "kind": "aggregate", "target_table": "t",
            "params": {"column": "v", "function": "mean", "max": 3, "by": "g"}},
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", b"g,v\na,1\na,2\nb,9\n")]);
    let results = world.run().await;
    for id in ["rows", "mean"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert_eq!(json!(results[id].samples[0].key), json!({"g": "b"}), "{:?}", results[id].samples);
    }
}

#[tokio::test]
async fn code_of_a_transformation_may_give_a_list_of_documents() {
    let code = "o=frame('t')\ntable=o.to_dict('records')";
    let check = json!([{"check_id": "T", "kind": "transform", "target_table": "t", "params": {"code": code, "output": "out/t.csv"}}]);
    let world = World::with(&check.to_string(), &[("t.csv", b"id,v\n1,5\n2,7\n")]);
    stands(&world.run().await, "T", CheckStatus::Pass, "");
    assert_eq!(std::fs::read_to_string(world.root().join("out/t.csv")).unwrap(), "id,v\n1,5\n2,7\n");
}

#[tokio::test]
async fn a_day_can_be_compared_with_times_that_name_a_zone_or_none() {
    const TIMES: &[u8] = b"id,at,day\n\
        a,2024-01-31T23:30:00Z,2024-01-31\n\
        b,2024-02-01T01:00:00+02:00,2024-02-01\n\
        c,2024-02-02T12:00:00+02:00,2024-12-25\n";
    let record = |id: &str, filter: Option<&str>, kind: &str, params: serde_json::Value| {
        json!({"check_id": id, "kind": kind, "target_table": "t", "key_columns": ["id"], "filter": filter,
            "params": params})
    };
    let closed = json!(["2024-12-25", "2024-12-26T00:00:00Z"]);
    let holiday = json!({"in": {"column": "day", "values": closed}});
    let unnamed = json!({"column": "id", "values": ["nobody"]});
    let checks = json!([
        record("zoned", Some("at >= '2024-02-01'"), "in_set", unnamed.clone()),
        record("both", Some("at >= '2024-02-01' and day > '2024-02-01'"), "in_set", unnamed.clone()),
        record("named", Some("at >= '2024-01-31T23:30:00Z'"), "in_set", unnamed.clone()),
        record("none", Some("at >= '2025-01-01'"), "in_set", unnamed),
        record("range", None, "range", json!({"column": "at", "min": "2024-02-01"})),
        record("forbidden", None, "in_set", json!({"column": "day", "values": closed, "negate": true})),
        record("when", None, "not_null", json!({"columns": "id", "negate": true, "when": holiday})),
        record("text", None, "in_set", json!({"column": "day", "values": ["Christmas"]})),
        json!({"check_id": "words", "target_table": "t", "key_columns": ["id"],
            "calculation_hint": "at must be after 2024-02-01"}),
        json!({"check_id": "columns", "target_table": "t", "key_columns": ["id"],
            "calculation_hint": "at must not be before day"}),
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", TIMES)]);
    let results = world.run().await;
    for (id, failing) in [
        // 01:00 in Helsinki is the day before in UTC.
        ("zoned", "c"),
        ("both", "c"),
        ("named", "a c"),
        ("range", "a b"),
        ("forbidden", "c"),
        ("when", "c"),
        ("words", "a b"),
        ("columns", "b c"),
    ] {
        assert_eq!(keys(&results[id]).join(" "), failing, "{:?}", results[id]);
    }
    stands(&results, "none", CheckStatus::Skipped, "no_rows");
    stands(&results, "text", CheckStatus::Error, "holds points in time, and \"Christmas\" is text");
}

const ZIPS: &[u8] = b"id,zip,qty,price,ok,day\n1,01067,2,1.50,yes,2025-01-01\n2,10115,3,2,no,2025-01-02\n3,10115,4,3,yes,2025-01-03\n";

#[tokio::test]
async fn a_list_of_values_of_another_type_than_its_column_does_not_pass_silently() {
    let record = |id: &str, kind: &str, params: serde_json::Value| json!({"check_id": id, "kind": kind, "target_table": "a", "key_columns": ["id"], "params": params});
    let listed = |id: &str, column: &str, values: serde_json::Value| {
        record(id, "in_set", json!({"column": column, "values": values, "negate": true}))
    };
    let figure = |id: &str, function: &str, column: &str, how: &str, values: serde_json::Value| {
        record(id, "aggregate", json!({"column": column, "function": function, how: values}))
    };
    let when = json!({"compare": {"left": {"column": "ok"}, "op": "==", "right": {"value": "no"}}});
    let checks = json!([
        listed("zip", "zip", json!([10115])),
        listed("qty", "qty", json!(["3"])),
        listed("ok", "ok", json!(["no"])),
        listed("zips", "zip", json!(["10115"])),
        listed("qtys", "qty", json!([3])),
        listed("oks", "ok", json!([false])),
        record("words", "in_set", json!({"column": "ok", "values": ["yes", "no"]})),
        figure("contains", "distinct_values", "zip", "contains", json!([10115])),
        figure("subset", "most_common", "qty", "subset_of", json!(["2", "3"])),
        figure("equals", "distinct_values", "ok", "equals", json!(["yes", "no"])),
        figure("days", "distinct_values", "day", "contains", json!(["2025-01-02"])),
        figure("truths", "distinct_values", "ok", "equals", json!([true, false])),
        record("when", "not_null", json!({"columns": "id", "when": when})),
    ]);
    let world = World::with(&checks.to_string(), &[("a.csv", ZIPS)]);
    for settings in ["", "[checks]\nlarge_rows = 1\n"] {
        world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n{settings}"));
        let results = world.run().await;
        for (id, reason) in [
            ("zip", "column `zip` holds text, and 10115 is a number"),
            ("qty", "column `qty` holds whole numbers, and \"3\" is text"),
            ("ok", "column `ok` holds truth values, and \"no\" is text"),
            ("words", "write true or false in place of \"yes\""),
            ("contains", "holds text, and 10115 is a number"),
            ("subset", "holds whole numbers, and \"2\" is text"),
            ("equals", "write true or false"),
            ("when", "`ok` holds truth values and \"no\" is text: they cannot be compared"),
        ] {
            stands(&results, id, CheckStatus::Error, reason);
        }
        for (id, failed) in [("zips", 2), ("qtys", 1), ("oks", 1)] {
            assert_eq!(results[id].failed, Some(failed), "{:?}", results[id]);
        }
        stands(&results, "days", CheckStatus::Pass, "");
        stands(&results, "truths", CheckStatus::Pass, "");
    }
    // A header alone has no figure.
    world.write("data/a.csv", "id,zip,qty,price,ok,day\n");
    let results = world.run().await;
    for id in ["contains", "subset", "equals", "days", "truths", "zip", "zips"] {
        stands(&results, id, CheckStatus::Skipped, "empty_table: table `a` has no rows");
    }
}

#[tokio::test]
async fn a_filter_by_a_variable_looks_at_one_partition_and_keeps_its_code() {
    let rows = "id,day,price\nr1,2026-11-17,-1\nr2,2026-11-18,-2\nr3,2026-11-18,5\nr4,2026-11-19,-3\n";
    let record = |id: &str, filter: &str| {
        json!({"check_id": id, "kind": "range", "target_table": "t", "key_columns": ["id"],
        "filter": filter, "params": {"column": "price", "min": 0}})
    };
    let words = json!({"check_id": "words", "target_table": "t", "key_columns": ["id"], "filter": "day >= $day and day <= $day",
        "calculation_hint": "price must not be negative"});
    let checks = json!([
        record("one", "day >= $day and day <= $day"),
        record("none", "id == $today"),
        record("lost", "price < $limit"),
        words
    ]);
    let world = World::with(&checks.to_string(), &[("t.csv", rows.as_bytes())]);
    for (day, key) in [("2026-11-18", "r2"), ("2026-11-17", "r1")] {
        let variables = [("day".to_owned(), json!(day))].into_iter().collect();
        let options = CheckOptions { variables, ..CheckOptions::default() };
        let results = by_id(world.try_run(&options).await.unwrap());
        for id in ["one", "words"] {
            assert_eq!(keys(&results[id]), [key], "{:?}", results[id]);
            let is_kept = results[id].code_from == Some(CodeFrom::Cache);
            assert_eq!(is_kept, day == "2026-11-17", "{:?}", results[id]);
        }
        let summary = &results["words"].summary;
        assert!(summary.contains(" rows break the rule: ") && summary.contains("price"), "{summary}");
        assert_eq!(results["none"].skipped, Some(SkipReason::NoRows), "{:?}", results["none"]);
        stands(
            &results,
            "lost",
            CheckStatus::Error,
            "`$limit`, which has no value; give it with `--var limit=…`",
        );
    }
}

#[tokio::test]
async fn a_number_of_rows_is_compared_with_the_median_of_its_own_history() {
    let checks = json!([{"check_id": "a", "kind": "anomaly", "target_table": "t",
        "params": {"metric": "row_count", "max_drop": 20, "runs": 3}}]);
    let rows = |count: usize| format!("id\n{}", "x\n".repeat(count));
    let world = World::with(&checks.to_string(), &[("t.csv", rows(10).as_bytes())]);
    for (count, status) in [
        (10, CheckStatus::Skipped),
        (11, CheckStatus::Skipped),
        (10, CheckStatus::Skipped),
        (8, CheckStatus::Pass),
        (7, CheckStatus::Fail),
        (30, CheckStatus::Pass),
    ] {
        world.write("data/t.csv", &rows(count));
        let results = world.run().await;
        assert_eq!(results["a"].status, status, "{count}: {:?}", results["a"]);
    }
}
