//! Databases that judge large tables find what pandas finds in the same rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_checks::{CheckOptions, CheckResult, Checks};
use ordain_engine::{Engine, EngineSettings, Quiet};
use ordain_store::{Store, StoreOptions};
use ordain_testkit::postgres::Server;
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::checks::{World, by_id};

/// Numbers that look like chance and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[usize::try_from(self.below(texts.len() as u64)).unwrap()]
    }
}

const TEXTS: [&str; 8] = ["paid", "open", "Open", "\u{e4}pfel", "o\u{308}de", "\u{1f600}x", "a'b\"c", ""];
const REALS: [&str; 9] = ["0.0", "-0.0", "1.5", "2.25", "-7.125", "1e300", "0.1", "499.5", ""];
const BIG: [&str; 5] = ["9007199254740993", "9007199254740992", "-9007199254740993", "4", ""];
const DATES: [&str; 6] = ["2024-02-29", "2024-03-02", "2023-12-31", "2024-03-03", "1969-07-20", ""];
const TIMES: [&str; 5] =
    ["2024-02-29 10:00:00.5", "2024-02-29 10:00:00", "2024-02-29 12:30:01", "2025-01-01 00:00:00", ""];
const TRUTHS: [&str; 3] = ["true", "false", ""];

/// Gaps, texts among numbers, numbers that no fraction holds, both zeros, days and points in time.
pub(crate) fn rows(seed: u64, count: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from("id,whole,gappy,big,real,odd,decimal,text,label,day,at,truth,group,seq\n");
    for id in 0..count {
        let odd = if dice.below(30) == 0 { "about ten".to_owned() } else { dice.below(20).to_string() };
        let gappy = dice.one_of(&["1", "2", "3", "40", ""]);
        let (units, cents) = (dice.below(40), dice.below(100));
        let _ = writeln!(
            text,
            "{id},{},{gappy},{},{},{odd},{units}.{cents:02},\"{}\",{},{},{},{},{},{}",
            dice.below(50),
            dice.one_of(&BIG),
            dice.one_of(&REALS),
            dice.one_of(&TEXTS).replace('"', "\"\""),
            dice.one_of(&["x1", "x2", "x10"]),
            dice.one_of(&DATES),
            dice.one_of(&TIMES),
            dice.one_of(&TRUTHS),
            dice.one_of(&["a", "b", "c", ""]),
            id / 3,
        );
    }
    text
}

/// A check of every kind that a database may judge, on columns of every type.
fn checks(columns: &[&str], others: &[&str]) -> Vec<(String, Value)> {
    let mut checks = Vec::new();
    let mut add = |kind: &str, params: Value| checks.push((kind.to_owned(), params));
    let column = |name: &str| json!({ "column": name });
    let is =
        |left: Value, op: &str, right: Value| json!({"compare": {"left": left, "op": op, "right": right}});
    let some = json!({"in": {"column": "label", "values": ["x1", "x10"]}});
    for name in columns {
        add("not_null", json!({ "columns": name }));
        add("not_null", json!({ "columns": [name, "group"], "negate": true }));
        add("unique", json!({ "columns": [name, "group"], "when": {"not": {"null": "whole"}} }));
        add("unique", json!({ "columns": name }));
        add("functional_dependency", json!({ "determinant": "label", "dependent": name }));
        add(
            "functional_dependency",
            json!({ "determinant": [name, "group"], "dependent": ["whole", "label"] }),
        );
        add("monotonic", json!({ "column": name }));
        add("monotonic", json!({ "column": name, "by": "group", "direction": "decreasing", "strict": true }));
        add("monotonic", json!({ "column": "whole", "order_by": name, "by": ["group", "label"] }));
        add("aggregate", json!({ "column": name, "function": "distinct_share", "min": 0.01 }));
        add("aggregate", json!({ "column": name, "function": "null_share", "max": 0.2, "when": some }));
        for other in others {
            add(
                "foreign_key",
                json!({ "columns": name, "references": {"table": "other", "columns": other} }),
            );
        }
        for bound in
            [json!(3), json!(2.25), json!(9_007_199_254_740_993_i64), json!("2024-03-01"), json!("open")]
        {
            add("range", json!({ "column": name, "max": bound, "strict_max": true, "when": some }));
            add("in_set", json!({ "column": name, "values": [bound, null], "negate": true }));
            let less = is(column(name), "<", json!({ "value": bound }));
            add("condition", json!({ "must": {"any": [less, {"null": "group"}]}, "max_share": 0.4 }));
        }
        for other in ["whole", "real", "label", "big"] {
            add("two_columns", json!({ "left": name, "op": "<=", "right": other }));
            let sum = json!({"sum": [column(name), column(other)]});
            add("condition", json!({ "must": is(sum, "==", column("whole")) }));
            let product = json!({"product": [column(name), {"value": 0.1}]});
            add("condition", json!({ "must": is(product, ">=", column(other)) }));
        }
        add("length", json!({ "column": name, "min": 2, "max": 4 }));
        add("condition", json!({ "must": {"weekend": name} }));
    }
    for time in ["2024-02-29T10:00:00.25", "2024-02-29 12:30"] {
        add("range", json!({ "column": "at", "min": time }));
        add("condition", json!({ "must": is(column("day"), "!=", json!({ "value": time })) }));
    }
    let known = json!({"table": "other", "columns": ["label", "whole"]});
    add("foreign_key", json!({ "columns": ["label", "whole"], "references": known }));
    add("row_count", json!({ "min": 10, "when": {"null": "group"} }));
    checks
}

fn records(checks: &[(String, Value)], table: &str) -> String {
    let record = |(number, (kind, params)): (usize, &(String, Value))| json!({"check_id": format!("{number:04}"), "kind": kind, "target_table": table, "params": params, "samples": {"max_rows": 1000}});
    Value::Array(checks.iter().enumerate().map(record).collect()).to_string()
}

fn told(result: &CheckResult) -> Value {
    json!({
        "status": result.status.name(), "summary": result.summary, "evaluated": result.evaluated, "failed": result.failed,
        "observed": result.observed, "samples": result.samples.iter().map(|row| json!(row.key)).collect::<Vec<_>>(),
    })
}

/// Holds the results of two runs side by side. Gives how many checks of each kind a database judged.
fn compare(
    checks: &[(String, Value)],
    usual: &BTreeMap<String, CheckResult>,
    large: &BTreeMap<String, CheckResult>,
) -> BTreeMap<String, usize> {
    let (mut judged, mut different) = (BTreeMap::new(), Vec::new());
    for (number, (kind, params)) in checks.iter().enumerate() {
        let (one, other) = (&usual[&format!("{number:04}")], &large[&format!("{number:04}")]);
        if other.notes.iter().any(|note| note.contains("the table is large")) {
            *judged.entry(kind.clone()).or_default() += 1;
        }
        if told(one) != told(other) {
            different.push(format!(
                "{kind} {params}\n  {}\n  {}\n  {}",
                told(one),
                told(other),
                other.code.as_deref().unwrap_or_default()
            ));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {} differ:\n{}",
        different.len(),
        checks.len(),
        different[..different.len().min(8)].join("\n")
    );
    judged
}

#[tokio::test]
async fn duckdb_finds_in_a_file_what_pandas_finds() {
    let columns = [
        "whole", "gappy", "big", "real", "odd", "decimal", "text", "label", "day", "at", "truth", "group",
        "seq",
    ];
    let checks = checks(&columns, &["whole", "real", "text", "gappy"]);
    for seed in 1..=ordain_testkit::long::times(1) {
        let (table, other) = (rows(seed.into(), 400), rows(u64::from(seed) + 1000, 60));
        let files: [(&str, &[u8]); 2] = [("t.csv", table.as_bytes()), ("other.csv", other.as_bytes())];
        let world = World::with(&records(&checks, "t"), &files);
        let usual = world.run().await;
        world.write("ordain.toml", "[workspace]\nname = \"w\"\n[checks]\nlarge_rows = 1\n");
        let judged = compare(&checks, &usual, &world.run().await);
        assert_eq!(judged.len(), 12, "{judged:?}");
        assert!(judged.values().sum::<usize>() > 200, "{judged:?}");
    }
}

#[tokio::test]
async fn duckdb_finds_for_a_rule_in_words_what_pandas_finds() {
    let rules = [
        "whole must be at most 48",
        "big must not be negative",
        "real must be between -1 and 400",
        "decimal must be above gappy",
        "text must be one of paid, open",
        "text must not be open",
        "label must be x1 or x10",
        "day must be after 2024-01-01",
        "at must be after 2024-02-29",
        "truth must be true",
        "group must not be null",
        "the combination of seq and group must be unique",
        "if label is x1 then whole must be above 5",
        "if group is not null then gappy must not be null",
        "odd must be above 3",
    ];
    let record = |(number, rule): (usize, &&str)| json!({"check_id": format!("{number:04}"), "target_table": "t", "calculation_hint": rule, "samples": {"max_rows": 1000}});
    let records = Value::Array(rules.iter().enumerate().map(record).collect()).to_string();
    let world = World::with(&records, &[("t.csv", rows(3, 400).as_bytes())]);
    let usual = world.run().await;
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[checks]\nlarge_rows = 1\n");
    let large = world.run().await;
    let found = |result: &CheckResult| {
        let rows = result.samples.iter().map(|row| json!(row.key)).collect::<Vec<_>>();
        (result.status, result.evaluated, result.failed, rows)
    };
    for (number, rule) in rules.iter().enumerate() {
        let (one, other) = (&usual[&format!("{number:04}")], &large[&format!("{number:04}")]);
        assert!(one.evaluated.is_some(), "{rule}: {one:?}");
        assert_eq!(found(one), found(other), "{rule}");
        let is_large = other.notes.iter().any(|note| note.contains("DuckDB judged its rows"));
        // Of points in time a rule means the day, and of what cannot be read only pandas tells.
        assert_eq!(
            is_large,
            !["at must", "odd must"].iter().any(|start| rule.starts_with(start)),
            "{rule}: {other:?}"
        );
    }
}

/// Rows of a table of the store: the same kinds of values as in a file, all of them typed.
fn documents(seed: u64, count: u64) -> String {
    let mut dice = Dice(seed);
    let reals = [json!(0.0), json!(-2.5), json!(1.5), json!(-7.125), json!(1e300), json!(0.1), Value::Null];
    let whole = [json!(9_007_199_254_740_993_i64), json!(-9_007_199_254_740_993_i64), json!(4), Value::Null];
    let row = |id: u64| {
        let text = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
        let pick = |dice: &mut Dice, from: &[Value]| {
            from[usize::try_from(dice.below(from.len() as u64)).unwrap()].clone()
        };
        json!({
            "id": id, "whole": dice.below(50), "gappy": pick(&mut dice, &[json!(1), json!(2), json!(40), Value::Null]),
            "big": pick(&mut dice, &whole), "real": pick(&mut dice, &reals), "text": dice.one_of(&TEXTS),
            "label": dice.one_of(&["x1", "x2", "x10"]), "at": text(dice.one_of(&["2024-02-29T10:00:00", "2024-03-02T10:00:00", ""])),
            "truth": pick(&mut dice, &[json!(true), json!(false), Value::Null]),
            "group": text(dice.one_of(&["a", "b", "c", ""])), "seq": id / 3,
        })
    };
    Value::Array((0..count).map(row).collect()).to_string()
}

/// Runs the checks over a store in this database, or in the workspace's own.
async fn run_on(world: &World, url: Option<&str>) -> BTreeMap<String, CheckResult> {
    let Some(url) = url else { return world.run().await };
    let workspace = Arc::new(Workspace::load(&world.root()).unwrap());
    let options =
        StoreOptions { tables: workspace.tables.clone(), ..StoreOptions::postgres(url, workspace.state()) };
    let store = Store::open(options).await.unwrap();
    let executor = LocalExecutor::new(LocalOptions::new(DataDir::from_env().unwrap())).unwrap();
    let engine = Engine::new(store, Arc::new(executor), EngineSettings::default());
    let checks = Checks::new(workspace, engine);
    by_id(world.run_with(&checks, &CheckOptions::default(), &mut Quiet).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_in_sqlite_finds_what_pandas_finds() {
    a_store_finds_what_pandas_finds(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_in_postgres_finds_what_pandas_finds() {
    a_store_finds_what_pandas_finds(Some(&Server::shared().fresh_database())).await;
}

async fn a_store_finds_what_pandas_finds(url: Option<&str>) {
    let columns = ["whole", "gappy", "big", "real", "text", "label", "at", "truth", "group", "seq"];
    let checks = checks(&columns, &["whole", "real", "text", "gappy"]);
    let settings = "[workspace]\nname = \"w\"\n[tables.t]\nseed = \"tables/t.json\"\n[tables.other]\nseed = \"tables/other.json\"\n";
    let world = World::with(&records(&checks, "t"), &[]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write("tables/t.json", &documents(7, 300));
    world.write("tables/other.json", &documents(8, 50));
    world.write("ordain.toml", settings);
    let usual = run_on(&world, url).await;
    world.write("ordain.toml", &format!("{settings}[checks]\nlarge_rows = 1\n"));
    let judged = compare(&checks, &usual, &run_on(&world, url).await);
    assert!(judged.values().sum::<usize>() > 100, "{judged:?}");
}

#[tokio::test]
async fn a_large_table_of_the_store_is_not_copied_into_a_cell() {
    let checks = json!([
        {"check_id": "range", "kind": "range", "target_table": "t", "params": {"column": "whole", "max": 48}, "samples": {"mask": ["text"]}},
        {"check_id": "known", "kind": "foreign_key", "target_table": "t", "key_columns": ["id"],
            "params": {"columns": "label", "references": {"table": "other", "columns": "label"}}},
    ]);
    let world = World::with(&checks.to_string(), &[]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write("tables/t.json", &documents(7, 300));
    world.write("tables/other.json", r#"[{"label": "x1"}, {"label": "x2"}]"#);
    world.write(
        "ordain.toml",
        "[workspace]\nname = \"w\"\n[checks]\nlarge_rows = 100\n[tables.t]\nseed = \"tables/t.json\"\n[tables.other]\nseed = \"tables/other.json\"\n",
    );
    let results = world.run().await;
    let (range, known) = (&results["range"], &results["known"]);
    assert_eq!((range.evaluated, known.evaluated), (Some(300), Some(300)), "{range:?}");
    assert!(range.failed > Some(0) && known.failed > Some(0), "{known:?}");
    assert!(
        range.notes.iter().any(|note| note == "the table is large: the store's database judged its rows"),
        "{range:?}"
    );
    let all = std::fs::read_to_string(&range.artifacts[0]).unwrap();
    assert!(all.starts_with("at,big,gappy,") && all.contains("•••") && all.contains(",49\n"), "{all}");
    assert!(range.samples[0].key.contains_key("row") && known.samples[0].key.contains_key("id"), "{known:?}");
    let cached = std::fs::read_dir(world.root().join(".ordain/cache/tables")).unwrap();
    let frames =
        cached.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "arrow"));
    // The other table is small, and is there as a frame for those who ask.
    assert_eq!(frames.count(), 1);
}

#[tokio::test]
async fn rows_that_do_not_fit_into_a_cell_are_compared_on_disk_within_a_quota() {
    let unique = json!([{"check_id": "unique", "kind": "unique", "target_table": "t", "params": {"columns": ["name"]}}]);
    let names = (0..1_500_000).map(|n| format!("customer number {n:032}\n"));
    let table = format!("name\n{}", names.collect::<String>());
    let world = World::with(&unique.to_string(), &[("t.csv", table.as_bytes())]);
    let settings = "[workspace]\nname = \"w\"\n[limits]\nmemory = \"200MiB\"\n[checks]\nlarge_rows = 1\n";
    world.write("ordain.toml", &format!("{settings}scratch = \"1MiB\"\n"));
    let refused = &world.run().await["unique"];
    let reason = "disk_limit: it wrote more than 1MiB to disk; raise `scratch` under `[checks]`";
    assert_eq!(refused.reason.as_deref(), Some(reason), "{refused:?}");
    world.write("ordain.toml", settings);
    let found = &world.run().await["unique"];
    assert_eq!(
        (found.evaluated, found.failed, &found.reason),
        (Some(1_500_000), Some(0), &None),
        "{found:?}"
    );
    let left = std::fs::read_dir(world.root().join(".ordain/cache/tables/scratch")).unwrap();
    assert_eq!(left.count(), 0, "the folder is gone with its cell");
}

#[tokio::test]
async fn whole_numbers_that_duckdb_cannot_add_are_an_error_that_says_so() {
    let must = json!({"compare": {"left": {"sum": [{"column": "a"}, {"column": "b"}]}, "op": ">", "right": {"value": 0}}});
    let checks =
        json!([{"check_id": "sum", "kind": "condition", "target_table": "t", "params": {"must": must}}]);
    let world = World::with(
        &checks.to_string(),
        &[("t.csv", b"a,b\n4611686018427387904,4611686018427387904\n5,1\n")],
    );
    let types = "[data.t.columns]\na = \"integer\"\nb = \"integer\"\n";
    world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n[checks]\nlarge_rows = 1\n{types}"));
    let reason = world.run().await["sum"].reason.clone().unwrap_or_default();
    assert!(reason.contains("Overflow in addition of INT64"), "{reason}");
}

#[tokio::test]
async fn tables_of_hdf5_and_open_document_are_judged_like_others() {
    let files: [(&str, &[u8]); 2] =
        [("h.h5", include_bytes!("forms/lines.h5")), ("o.ods", include_bytes!("forms/lines.ods"))];
    let kinds = [
        ("unique", json!({"columns": ["id"]}), 2),
        ("range", json!({"column": "price", "min": 0}), 1),
        ("not_null", json!({"columns": ["name"]}), 1),
    ];
    let record = |table: &str, kind: &str, params: &Value| json!({"check_id": format!("{table} {kind}"), "kind": kind, "target_table": table, "params": params});
    let records: Vec<Value> = ["h", "o"]
        .iter()
        .flat_map(|table| kinds.iter().map(move |(kind, params, _)| record(table, kind, params)))
        .collect();
    let world = World::with(&json!(records).to_string(), &files);
    for settings in ["", "[checks]\nlarge_rows = 1\n"] {
        world.write("ordain.toml", &format!("[workspace]\nname = \"w\"\n{settings}"));
        let results = world.run().await;
        for (table, (kind, _, failed)) in
            ["h", "o"].iter().flat_map(|table| kinds.iter().map(move |kind| (table, kind)))
        {
            let found = &results[&format!("{table} {kind}")];
            assert_eq!((found.evaluated, found.failed), (Some(4), Some(*failed)), "{found:?}");
        }
    }
}
