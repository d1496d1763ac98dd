//! Conditions: SQL selects the very rows that Python would, or says that it selects more.
//!
//! Random conditions are put to a store and to [`python`], which evaluates them as TinyDB does. Where the store says
//! that it is exact the rows must be the same; elsewhere none may be missing.

pub(crate) mod python;

use ordain_store::{ColumnDeclaration, Intent, Store};
use ordain_types::ColumnType;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{World, all, begin, objects, rows};

const CASES: u32 = 600;

/// Rows with every type, absent fields, None, and nested values of all kinds.
fn documents() -> Value {
    let nested = [
        json!({"a": 1, "b": {"c": "x"}}),
        json!({"a": 1.0, "b": null}),
        json!({"a": true, "b": [1, "x", null]}),
        json!([1, 2, 3]),
        json!(["x", "y", 1.5, true, null]),
        json!([]),
        json!("text"),
        json!("x"),
        json!(3),
        json!(-2.5),
        json!(false),
        json!(9_007_199_254_740_993_i64),
        json!({"1": "one", "a": {"a": {"a": 3}}, "ключ": "é\n\"quoted\""}),
        json!([[1], {"a": 2}, "z"]),
    ];
    let texts = ["", "x", "X", "y", "é", "Round", "round table", "😀", "a'b\"c\\d", "2025-10-03", "10", "9"];
    let integers = [0, 1, -1, 2, 3, 10, 42, i64::MAX, i64::MIN, 9_007_199_254_740_993];
    let reals = [0.0, 1.0, -1.0, 0.1, 2.5, 3.0, 1e300, -1e-300, 9_007_199_254_740_992.0];
    let mut documents = Vec::new();
    for n in 0..120_usize {
        let mut document = serde_json::Map::new();
        let mut field = |name: &str, value: Value, absent: usize, none: usize| {
            if !n.is_multiple_of(absent) {
                document.insert(name.to_owned(), if n.is_multiple_of(none) { Value::Null } else { value });
            }
        };
        field("t", json!(texts[n % texts.len()]), 7, 11);
        field("i", json!(integers[n % integers.len()]), 13, 9);
        field("r", json!(reals[n % reals.len()]), 8, 17);
        field("b", json!(n % 2 == 0), 10, 6);
        field("j", nested[n % nested.len()].clone(), 9, 12);
        field("any", nested[n % nested.len()].clone(), 9, 12);
        document.insert("n".to_owned(), json!(n));
        documents.push(Value::Object(document));
    }
    Value::Array(documents)
}

fn path() -> impl Strategy<Value = Vec<String>> {
    let names = prop::sample::select(vec!["a", "b", "c", "1", "ключ", "x\"y", "0"]);
    let names = prop::collection::vec(names, 0..3);
    (prop::sample::select(vec!["t", "i", "r", "b", "j", "j", "j", "any", "any"]), names)
        .prop_map(|(column, rest)| [column].into_iter().chain(rest).map(str::to_owned).collect())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2),
        json!(3),
        json!(0.1),
        json!(2.5),
        json!(-1),
        json!(1e300),
        json!(-1e300),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992.0),
        json!("x"),
        json!(""),
        json!("Round"),
        json!("é"),
        json!("10"),
        json!("2025-10-03"),
        json!("a\u{0}b"),
        json!("é\n\"quoted\""),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => scalar(),
        1 => prop::collection::vec(scalar(), 0..3).prop_map(Value::Array),
        1 => Just(json!({"a": 1, "b": {"c": "x"}})),
        1 => Just(json!([1, 2, 3])),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let compare = prop::sample::select(vec!["eq", "ne", "lt", "le", "gt", "ge"]);
    let listed = prop::sample::select(vec!["one_of", "any_of", "all_of"]);
    prop_oneof![
        8 => (compare, path(), value()).prop_map(|(op, path, value)| json!({"op": op, "path": path, "value": value})),
        3 => (listed, path(), prop::collection::vec(value(), 0..4))
            .prop_map(|(op, path, values)| json!({"op": op, "path": path, "values": values})),
        2 => path().prop_map(|path| json!({"op": "exists", "path": path})),
        1 => path().prop_map(|path| json!({"op": "regex", "path": path})),
        1 => path().prop_map(|path| json!({"op": "sequence", "path": path})),
        1 => (path(), scalar(), scalar()).prop_map(|(path, a, b)| {
            json!({"op": "fragment", "path": path, "value": {"a": a, "b": b}})
        }),
        1 => (scalar(), scalar()).prop_map(|(t, i)| json!({"op": "fragment", "path": [], "value": {"t": t, "i": i}})),
        1 => Just(json!({"op": "noop"})),
        1 => Just(json!({"op": "python"})),
    ]
}

fn condition() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|of| json!({"op": "and", "of": of})),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|of| json!({"op": "or", "of": of})),
            inner.prop_map(|of| json!({"op": "not", "of": of})),
        ]
    })
}

fn agree_with_python(world: &World) {
    let runtime = Runtime::new().unwrap();
    let (store, documents) = runtime.block_on(async {
        let mut options = world.options();
        let mut table = world.table("things", "n", &documents().to_string());
        let nested = ColumnDeclaration { column_type: ColumnType::Json, nullable: true };
        table.columns.insert("j".to_owned(), nested);
        options.tables = vec![table];
        let store = Store::open(options).await.unwrap();
        let documents = rows(&store, "things").await;
        (store, documents)
    });
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let mut exact = 0;
    let outcome = runner.run(&condition(), |condition| {
        let (is_exact, found, count) = runtime.block_on(select(&store, &condition));
        let wanted: Vec<&Value> = documents
            .iter()
            .filter(|document| python::holds(&condition, document))
            .map(|row| &row["n"])
            .collect();
        let found: Vec<&Value> = found.iter().map(|row| &row["n"]).collect();
        if is_exact {
            prop_assert_eq!(&found, &wanted, "exact: {}", condition);
            prop_assert_eq!(count, Some(wanted.len() as u64), "count: {}", condition);
        } else {
            let missing: Vec<_> = wanted.iter().filter(|row| !found.contains(row)).collect();
            prop_assert!(missing.is_empty(), "{condition} misses {missing:?}");
            prop_assert_eq!(count, None);
        }
        Ok(())
    });
    outcome.unwrap();
    // A translation that always left it to Python would pass everything above.
    runtime.block_on(async {
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            for (column, value) in
                [("t", json!("x")), ("i", json!(2)), ("r", json!(2.5)), ("b", json!(true)), ("j", json!("x"))]
            {
                let condition = json!({"op": op, "path": [column], "value": value});
                assert!(select(&store, &condition).await.0, "{condition}");
                exact += 1;
            }
        }
    });
    assert_eq!(exact, 30);
}

async fn select(store: &Store, condition: &Value) -> (bool, Vec<Value>, Option<u64>) {
    let mut transaction = begin(store, Intent::Read).await;
    let args = json!({"table": "things", "where": condition});
    let exact = transaction.call("search", args.clone()).await.unwrap()["exact"] == json!(true);
    let found = all(&mut transaction, args.clone()).await;
    let count = transaction.call("count", args).await.unwrap()["count"].as_u64();
    (exact, found, count)
}

#[test]
fn random_conditions_mean_what_python_makes_of_them_on_sqlite() {
    agree_with_python(&World::sqlite());
}

#[test]
fn random_conditions_mean_what_python_makes_of_them_on_postgres() {
    agree_with_python(&World::postgres());
}

#[tokio::test]
async fn a_lookup_by_name_uses_an_index() {
    let world = World::sqlite();
    let store = world.shop().await;
    let mut transaction = begin(&store, Intent::Read).await;
    let condition = json!({"op": "one_of", "path": ["name"], "values": ["Classic", "Moon"]});
    let page = transaction.call("search", json!({"table": "inventory", "where": condition})).await.unwrap();
    assert_eq!(objects(&page).len(), 2);
    let connection = rusqlite::Connection::open(world.folder.path().join("store.db")).unwrap();
    for (sql, index) in [
        ("SELECT doc_id FROM inventory WHERE TRUE AND (\"name\" = 'x') ORDER BY \"doc_id\" LIMIT 10", true),
        ("SELECT doc_id FROM inventory WHERE \"item_id\" = 'x'", true),
        // The shop's invariant compares it, and looks only at rows that a run touched.
        ("SELECT doc_id FROM inventory WHERE \"quantity_in_stock\" < 0", false),
        ("SELECT doc_id FROM inventory WHERE \"price\" = 3", false),
    ] {
        let plan: String =
            connection.query_row(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| row.get(3)).unwrap();
        assert_eq!(plan.contains("USING INDEX") || plan.contains("COVERING INDEX"), index, "{sql}: {plan}");
    }
}

#[tokio::test]
async fn a_condition_with_too_many_parts_is_refused_by_its_limit() {
    let store = World::sqlite().shop().await;
    let mut transaction = begin(&store, Intent::Read).await;
    let parts: Vec<Value> = (0..3000).map(|n| json!({"op": "eq", "path": ["price"], "value": n})).collect();
    let condition = json!({"op": "or", "of": parts});
    let error =
        transaction.call("count", json!({"table": "inventory", "where": condition})).await.unwrap_err();
    assert!(error.to_string().contains("condition_parts_max"), "{error}");
    let values: Vec<Value> = (0..5000).map(|n| json!(n)).collect();
    let condition = json!({"op": "one_of", "path": ["price"], "values": values});
    let page = transaction.call("search", json!({"table": "inventory", "where": condition})).await.unwrap();
    assert_eq!((page["exact"].clone(), objects(&page).len()), (json!(false), 3));
}
