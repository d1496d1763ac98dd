//! A change waits for its reviewer with no transaction open, and what was looked at is what is committed.

use ordain_engine::{Ask, Planner};
use ordain_types::{RunRecord, RunState, Strategy};
use serde_json::json;

use crate::steps::{meddled, planner, program};
use crate::world::{World, on_both, world};

const SELL: &str = "from tinydb import where\nrow = inventory_tbl.get(where('name') == 'Classic')\n\
                    left = row['quantity_in_stock'] - 2\n\
                    inventory_tbl.update({'quantity_in_stock': left}, where('name') == 'Classic')\n\
                    answer_text, STATUS = f'{left} are left.', 'success'";

async fn ask(world: &World, planner: Planner) -> RunRecord {
    let ask = Ask { planner, strategy: Strategy::Direct, ..Ask::new("Sell 2 Classic", "test", "test") };
    world.engine.ask(Ask { cache: false, ..ask }).await.unwrap()
}

/// A reviewer who consents, while somebody else runs this code.
fn meanwhile(world: &World, code: String) -> Planner {
    let replies = [("plan", program(SELL)), ("review", r#"{"ok": true}"#.to_owned())];
    let other = world.engine.clone();
    meddled(&replies, 2, move || {
        let (other, code) = (other.clone(), code.clone());
        Box::pin(async move {
            let ask = Ask::new("sell", "other", "test").with_plan(&code, "plan.py");
            assert_eq!(other.ask(ask).await.unwrap().state, RunState::Committed);
        })
    })
}

on_both! {
    async fn the_reviewed_change_is_committed_and_its_code_runs_once(database: Database) {
        let world = world(database).await;
        let cassette = [
            json!({ "reply": program(&format!("import time\nprint(time.time_ns())\n{SELL}")) }),
            json!({ "for": "review", "expect": { "contains": ["\"quantity_in_stock\":8"] }, "reply": "{\"ok\": true}" }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let record = ask(&world, planner(&cassette.join("\n"))).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!((record.usage.model_calls, world.stock("Classic").await), (2, 8));
        assert_eq!(record.outcome.stdout.lines().count(), 1);
        world.executor.close().await;
    }

    async fn a_change_that_the_reviewer_refuses_leaves_no_trace(database: Database) {
        let world = world(database).await;
        let refusal = r#"{"ok": false, "problem": "one was asked for"}"#;
        let cassette = [
            json!({ "reply": program(SELL) }),
            json!({ "for": "review", "reply": refusal }),
            json!({ "expect": { "contains": ["REVIEW OBJECTS"] }, "reply": "<ask>How many?</ask>" }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let record = ask(&world, planner(&cassette.join("\n"))).await;
        assert_eq!((record.state, world.stock("Classic").await), (RunState::Waiting, 10), "{record:#?}");
        assert!(record.diff.is_empty());
        world.executor.close().await;
    }

    async fn rows_that_moved_on_without_touching_the_change_do_not_stop_it(database: Database) {
        let world = world(database).await;
        let record = ask(&world, meanwhile(&world, SELL.replace("Classic", "Aviator"))).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(world.stock("Classic").await, 8);
        world.executor.close().await;
    }

    async fn a_change_that_became_another_one_during_its_review_waits_for_a_person(database: Database) {
        let world = world(database).await;
        let record = ask(&world, meanwhile(&world, SELL.to_owned())).await;
        assert_eq!((record.state, &record.error), (RunState::Held, &None), "{record:#?}");
        assert!(record.verdict.findings.iter().any(|finding| finding["code"] == "changed-since-review"));
        assert_eq!(world.stock("Classic").await, 8, "the other sale alone");
        world.executor.close().await;
    }
}
