//! Our forms of the functions give what SQLite's give.

use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

fn both() -> (Connection, Connection) {
    let (usual, own) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
    super::replace_unbounded(&own).unwrap();
    (usual, own)
}

fn value(connection: &Connection, sql: &str, params: &[Value]) -> Result<Value, ()> {
    let params = rusqlite::params_from_iter(params.iter().cloned());
    connection.query_row(sql, params, |row| row.get(0)).map_err(drop)
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => "[aAbB%_*?é\\[\\]^\\-]{0,8}".prop_map(Value::Text),
        1 => any::<i32>().prop_map(|number| Value::Integer(number.into())),
        1 => any::<i16>().prop_map(|eighths| Value::Real(f64::from(eighths) / 8.0)),
        1 => Just(Value::Null),
        1 => proptest::collection::vec(97..100_u8, 0..4).prop_map(Value::Blob),
    ]
}

#[test]
fn a_statement_of_each_function_means_what_it_meant() {
    let (usual, own) = both();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(3000));
    let given = (any_value(), any_value(), any_value());
    runner
        .run(&given, |(a, b, c)| {
            for sql in [
                "SELECT instr(?1, ?2)",
                "SELECT replace(?1, ?2, ?3)",
                "SELECT ?1 LIKE ?2",
                "SELECT ?1 LIKE ?2 ESCAPE 'b'",
                "SELECT ?1 GLOB ?2",
                "SELECT trim(?1, ?2)",
                "SELECT ltrim(?1, ?2)",
                "SELECT rtrim(?1, ?2)",
            ] {
                let count = if sql.contains("?3") { 3 } else { 2 };
                let params = [a.clone(), b.clone(), c.clone()];
                let (expected, found) =
                    (value(&usual, sql, &params[..count]), value(&own, sql, &params[..count]));
                prop_assert_eq!(expected, found, "{} {:?}", sql, params);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn sets_of_glob_with_empty_ranges_and_brackets_match_as_in_sqlite() {
    let (usual, own) = both();
    for (text, pattern) in
        [("[", "[[-%]"), ("b", "[b-a]"), ("a", "[b-a]"), ("-", "[]-a]"), ("_", "[]-a]"), ("]", "[^]-a]")]
    {
        let params = [Value::Text(text.to_owned()), Value::Text(pattern.to_owned())];
        let found = value(&own, "SELECT ?1 GLOB ?2", &params);
        assert_eq!(value(&usual, "SELECT ?1 GLOB ?2", &params), found, "{text} {pattern}");
    }
}

#[test]
fn real_numbers_read_as_sqlite_writes_them() {
    let (usual, _) = both();
    for number in [
        0.0,
        1.0,
        -1.5,
        0.25,
        19.99,
        1e15,
        1e16,
        1e17,
        1e18,
        1.5e16,
        123_456_789.123_456,
        1e-4,
        9.5e-5,
        1e-5,
        1.25e-7,
        1e300,
    ] {
        let expected: String =
            usual.query_row("SELECT CAST(?1 AS TEXT)", [number], |row| row.get(0)).unwrap();
        assert_eq!(super::real_text(number), expected);
    }
}

#[test]
fn long_texts_without_a_match_take_no_time() {
    let (_, own) = both();
    let needle = "SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')";
    assert_eq!(value(&own, needle, &[]), Ok(Value::Integer(0)));
    let set = "SELECT length(trim(hex(zeroblob(1000000)), hex(randomblob(1000000)) || 'x'))";
    assert_eq!(value(&own, set, &[]), Ok(Value::Integer(0)));
}

#[test]
fn a_replacement_that_would_be_too_long_is_not_made() {
    let (_, own) = both();
    let sql = "SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000000)))";
    assert_eq!(value(&own, sql, &[]), Err(()));
}
