//! Kinds about groups, conditions and rows that follow one another.

use ordain_checks::CheckStatus;
use serde_json::json;

use crate::checks::{World, keys, stands};

const READINGS: &[u8] = b"id,sensor,at,value,state\n\
    r1,a,2024-01-01 00:00,10,live\n\
    r2,a,2024-01-01 01:00,11,live\n\
    r3,b,2024-01-01 01:30,50,live\n\
    r4,a,2024-01-01 05:00,12,live\n\
    r5,b,2024-01-01 02:30,51,idle\n\
    r6,a,2024-01-01 06:00,40,idle\n\
    r7,a,2024-01-01 06:30,,idle\n";

#[tokio::test]
async fn rows_that_follow_one_another_are_judged_within_their_group() {
    let record = |id: &str, kind: &str, params: serde_json::Value| json!({"check_id": id, "kind": kind, "target_table": "readings", "key_columns": ["id"], "params": params});
    let live = json!({"in": {"column": "state", "values": ["live"]}});
    let checks = json!([
        record("gap", "gaps", json!({"column": "at", "max_gap": "2h", "by": "sensor"})),
        record("gap-all", "gaps", json!({"column": "at", "max_gap": "2h30m"})),
        record("jump", "jumps", json!({"column": "value", "max": 5, "by": "sensor", "order_by": "at"})),
        record(
            "share",
            "jumps",
            json!({"column": "value", "max_share": 0.5, "by": "sensor", "order_by": "at"})
        ),
        record("run", "runs", json!({"column": "state", "max": 2, "by": ["sensor"], "order_by": "at"})),
        record("once", "unique", json!({"columns": "state", "by": ["sensor", "at"]})),
        record("when", "range", json!({"column": "value", "max": 12, "when": live})),
        record("there", "not_null", json!({"columns": "value", "when": {"not": live}})),
        record(
            "typed",
            "not_null",
            json!({"columns": "id", "when": {"in": {"column": "value", "values": ["10"]}}})
        ),
        record("text", "jumps", json!({"column": "state", "max": 5})),
    ]);
    let world = World::with(&checks.to_string(), &[("readings.csv", READINGS)]);
    let results = world.run().await;
    for (id, expected) in
        [("gap", "r4"), ("jump", "r6"), ("share", "r6"), ("run", "r1 r2 r4"), ("when", "r3"), ("there", "r7")]
    {
        assert_eq!(keys(&results[id]).join(" "), expected, "{:?}", results[id]);
    }
    stands(&results, "once", CheckStatus::Pass, "");
    stands(&results, "gap-all", CheckStatus::Error, "a length of time");
    stands(&results, "text", CheckStatus::Error, "column `state` holds text, and jumps are between numbers");
    stands(
        &results,
        "typed",
        CheckStatus::Error,
        "column `value` holds whole numbers, and the rule asks for the value \"10\"",
    );
    let understood = results["when"].understood.as_deref().unwrap();
    assert_eq!(understood, "readings: `value` must be at most 12, where `state` is live");
}
