//! A rule that was evaluated once never becomes another rule, whatever the next delivery brings.

use ordain_checks::{CheckOptions, CheckStatus};
use ordain_planner::Planner;
use ordain_store::EntryNote;
use serde_json::{Value, json};

use crate::checks::{World, stands};

fn words(id: &str, rule: &str) -> Value {
    json!({"check_id": id, "target_table": "t", "calculation_hint": rule})
}

fn world(checks: &[Value], csv: &str) -> World {
    World::with(&json!(checks).to_string(), &[("t.csv", csv.as_bytes())])
}

#[tokio::test]
async fn a_column_that_looks_alike_does_not_take_the_place_of_one_that_is_gone() {
    let checks = [
        words("quantity", "quantity must be positive"),
        words("ship", "ship date must not be in the future"),
        words("shipped", "the number of shipped t must be at most 1"),
    ];
    let world = world(&checks, "quantity,ship_date,status\n-5,2024-01-01,shipped\n4,2024-01-02,open\n");
    stands(&world.run().await, "quantity", CheckStatus::Fail, "");
    world.write("data/t.csv", "qty,ship,status,was\n5,2024-01-01,1,shipped\n4,2024-01-02,2,open\n");
    let results = world.run().await;
    stands(&results, "quantity", CheckStatus::Skipped, "would now be read as “t: qty must be above 0”");
    stands(&results, "ship", CheckStatus::Skipped, "not_understood");
    stands(&results, "shipped", CheckStatus::Skipped, "is \"shipped\"");
    // Compiling anew is no way around it, and neither is a look at what the new reading would be.
    let forced = CheckOptions { force: true, ..CheckOptions::default() };
    let forced = crate::checks::by_id(world.try_run(&forced).await.unwrap());
    stands(&forced, "quantity", CheckStatus::Skipped, "`ordain check edit quantity` accepts");
    let checks = world.checks().await;
    let proposed = checks
        .propose_change("quantity", serde_json::Map::new(), &Planner::Rules, &EntryNote::by("tester", "test"))
        .await;
    let proposed = proposed.unwrap();
    assert_eq!(proposed.result.as_ref().unwrap().understood.as_deref(), Some("t: qty must be above 0"));
    stands(&world.run().await, "quantity", CheckStatus::Skipped, "would now be read");
    // Who accepts it has the rule run again.
    proposed.change.write(&world.root()).unwrap();
    stands(&world.run().await, "quantity", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_bound_on_another_unit_or_currency_is_not_the_same_rule() {
    let checks = [
        words("weight", "weight must be below 10000"),
        words("share", "share must be at most 50%"),
        json!({"check_id": "price", "target_table": "t", "kind": "range", "params": {"column": "price", "max": 100}}),
    ];
    let world = world(&checks, "weight,share,price\n5000 g,5%,$5\n600000 g,60%,$600\n");
    let results = world.run().await;
    for id in ["weight", "share", "price"] {
        stands(&results, id, CheckStatus::Fail, "");
    }
    assert_eq!(
        results["weight"].understood.as_deref(),
        Some("t: weight must be below 10000 (`weight` in g)")
    );
    world.write("data/t.csv", "weight,share,price\n5 kg,0.05,€5\n600 kg,0.6,€60\n");
    let results = world.run().await;
    stands(
        &results,
        "weight",
        CheckStatus::Skipped,
        "column weight of t changed integer in g → integer in kg",
    );
    stands(&results, "share", CheckStatus::Skipped, "column share of t changed real in % → real");
    stands(&results, "price", CheckStatus::Skipped, "(`price` in USD)");
    // A built-in kind is accepted in the same way.
    let checks = world.checks().await;
    let proposed = checks
        .propose_change("price", serde_json::Map::new(), &Planner::Rules, &EntryNote::by("tester", "test"))
        .await;
    proposed.unwrap().change.write(&world.root()).unwrap();
    stands(&world.run().await, "price", CheckStatus::Pass, "");
}

#[tokio::test]
async fn a_bound_on_another_declared_unit_is_not_the_same_rule() {
    let checks = json!([
        {"check_id": "words", "target_table": "goods", "calculation_hint": "weight must be below 100"},
        {"check_id": "kind", "target_table": "goods", "kind": "range", "params": {"column": "weight", "max": 100}},
    ]);
    let world = World::with(&checks.to_string(), &[]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write("tables/goods.csv", "id,weight\n1,5\n2,600\n");
    let declare = |unit: &str| {
        let table = "[workspace]\nname = \"w\"\n[tables.goods]\nseed = \"tables/goods.csv\"\n";
        let columns = format!("[tables.goods.columns]\nweight = {{ unit = \"{unit}\" }}\n");
        world.write("ordain.toml", &format!("{table}{columns}"));
    };
    declare("kg");
    let results = world.run().await;
    for id in ["words", "kind"] {
        stands(&results, id, CheckStatus::Fail, "");
        assert!(results[id].understood.as_deref().unwrap().ends_with("(`weight` in kg)"), "{results:?}");
    }
    declare("g");
    let results = world.run().await;
    for id in ["words", "kind"] {
        stands(&results, id, CheckStatus::Skipped, "in kg → integer in g");
        stands(&results, id, CheckStatus::Skipped, "(`weight` in g)");
    }
    declare("kg");
    stands(&world.run().await, "words", CheckStatus::Fail, "");
}

#[tokio::test]
async fn what_was_decided_at_an_import_stands_beside_answers_and_checks() {
    let checks = json!([{"check_id": "day", "target_table": "goods", "kind": "not_null", "params": {"columns": "day"}}]);
    let world = World::with(&checks.to_string(), &[]);
    std::fs::create_dir_all(world.root().join("tables")).unwrap();
    world.write("tables/goods.csv", "id,day\n1,01/02/2024\n2,03/04/2024\n");
    world.write("ordain.toml", "[workspace]\nname = \"w\"\n[tables.goods]\nseed = \"tables/goods.csv\"\n");
    let says_order =
        |notes: &[String]| notes.iter().any(|note| note.contains("01/02/2024 is read month-first"));
    let result = &world.run().await["day"];
    assert!(says_order(&result.notes), "{result:?}");
    let engine = world.engine().await;
    let asked = |request: &str| engine.ask(ordain_engine::Ask::new(request, "me", "test"));
    let record = asked("how many goods have day after 2024-01-10?").await.unwrap();
    assert!(says_order(&record.answer.notes), "{record:?}");
    let record = asked("how many goods are there?").await.unwrap();
    assert_eq!(record.answer.notes, Vec::<String>::new(), "the column does not matter: {record:?}");
}

#[tokio::test]
async fn an_empty_delivery_is_an_empty_table_for_rules_about_numbers_and_days_too() {
    let checks = |allow_empty: bool| {
        let mut checks = [
            words("number", "v must be positive"),
            words("day", "day must not be in the future"),
            json!({"check_id": "kind", "target_table": "t", "kind": "range", "params": {"column": "v", "min": 0}}),
            words("unknown", "v must be frobnicated"),
        ];
        for check in &mut checks {
            check["allow_empty"] = json!(allow_empty);
        }
        checks
    };
    let empty = world(&checks(false), "id,v,day\n").run().await;
    for id in ["number", "day", "kind"] {
        stands(&empty, id, CheckStatus::Skipped, "empty_table: table `t` has no rows");
    }
    stands(&empty, "unknown", CheckStatus::Skipped, "not_understood");
    let allowed = world(&checks(true), "id,v,day\n").run().await;
    for id in ["number", "day", "kind"] {
        stands(&allowed, id, CheckStatus::Pass, "");
        assert!(allowed[id].summary.contains("it looked at no row"), "{:?}", allowed[id]);
    }
    // A column that is empty in every row is told as that.
    let unfilled = world(&checks(false), "id,v,day\n1,,\n2,,\n").run().await;
    stands(&unfilled, "number", CheckStatus::Skipped, "no row of `t` has a value in `v`, `day`");
    stands(&unfilled, "kind", CheckStatus::Skipped, "declare the types under `[data.t.columns]`");
}
