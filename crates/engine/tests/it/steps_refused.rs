//! What cannot be carried out, on both databases: a typed stop or an error that says why, and nothing is changed.

use std::time::Duration;

use ordain_engine::{Ask, Decision, EngineError, Quiet};
use ordain_types::{ErrorClass, Outline, RunState, Strategy};
use serde_json::{Value, json};

use crate::steps::{ask, asked, outline, outlined, program, replies, scripted, shop, with};
use crate::world::{World, on_both};

/// Outlines that a planner may come up with, and what it is told about each.
fn bad_outlines() -> Vec<(&'static str, Value)> {
    let step = |id: &str, needs: &[&str]| json!({ "id": id, "title": "do it", "needs": needs });
    let many: Vec<Value> = (0..500).map(|number| step(&format!("s{number}"), &[])).collect();
    let always = json!({ "id": "a", "title": "t", "check": "True or 1 == 1" });
    let unreadable = json!({ "id": "a", "title": "t", "check": "result >" });
    let lists = json!({ "id": "a", "title": "t", "each": ["b", "b"] });
    let outline = |steps: Value| json!({ "goal": "g", "steps": steps });
    vec![
        ("in a circle", outline(json!([step("a", &["b"]), step("b", &["a"])]))),
        ("in a circle", outline(json!([step("a", &["a"])]))),
        ("step `a` needs `x`, and there is no such step", outline(json!([step("a", &["x"])]))),
        ("it has 500 steps, and at most 30 are carried out", outline(json!(many))),
        ("says the same whatever the step does", outline(json!([always]))),
        ("cannot be evaluated", outline(json!([unreadable]))),
        ("each of them once", outline(json!([lists, step("b", &[])]))),
    ]
}

async fn resume(
    world: &World,
    run: &str,
    decision: Decision,
    replies: &[(&str, String)],
) -> Result<RunState, EngineError> {
    let ask = Ask { planner: scripted(replies), ..Ask::new("", "test", "test") };
    world.engine.resume_run(run, decision, ask, &mut Quiet).await.map(|record| record.state)
}

on_both! {
    async fn a_planner_that_repeats_a_bad_outline_is_stopped(database: Database) {
        let world = shop(database).await;
        for (said, bad) in bad_outlines() {
            let script = [("plan", outlined(&bad)), ("plan", outlined(&bad))];
            let record = ask(&world, scripted(&script), Strategy::Plan).await;
            let error = record.error.unwrap_or_else(|| panic!("{said}"));
            assert_eq!((record.state, error.class), (RunState::Rejected, ErrorClass::Reply), "{said}: {}", error.message);
            assert!(error.message.contains(said) && error.message.contains("the same mistake twice"), "{}", error.message);
        }
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn a_step_that_never_ends_is_stopped_and_nothing_is_changed(database: Database) {
        let world = shop(database).await;
        let engine = with(&world, |settings| settings.limits.cpu = Some(Duration::from_secs(1)));
        let endless = || ("plan", program("answer_text, STATUS, result = 'x', 'success', 0\nwhile True:\n    result += 1"));
        let mut script = replies();
        script[3] = endless();
        script.push(endless());
        // What is left is planned anew, once, and does not end either.
        script.push(("plan", outlined(&json!({ "goal": "g", "steps": [{ "id": "again", "title": "t", "needs": ["sell"] }] }))));
        script.extend([endless(), endless()]);
        let record = engine.ask(asked("x", scripted(&script), Strategy::Plan)).await.unwrap();
        let error = record.error.unwrap();
        assert_eq!((record.state, error.class), (RunState::Failed, ErrorClass::Limit), "{}", error.message);
        assert!(error.message.contains("step `again` failed"), "{}", error.message);
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn edits_and_answers_that_make_no_sense_leave_the_run_waiting(database: Database) {
        let world = shop(database).await;
        let shown = Ask { show_plan: true, ..asked("sell", scripted(&replies()[..1]), Strategy::Plan) };
        let waiting = world.engine.ask(shown).await.unwrap();
        let run = waiting.run_id.as_str();
        // The step is gone, and another one still needs it.
        let mut edited = outline();
        edited["steps"].as_array_mut().unwrap().remove(0);
        let edited: Outline = serde_json::from_value(edited).unwrap();
        let refused = |error: EngineError| error.to_string();
        let said = resume(&world, run, Decision::Edit(edited), &[]).await.map_err(refused).unwrap_err();
        assert!(said.contains("needs `sell`"), "{said}");
        let said = resume(&world, run, Decision::Respond(" ".to_owned()), &[]).await.map_err(refused).unwrap_err();
        assert!(said.contains("the answer is empty"), "{said}");
        let long = Decision::Respond("x".repeat(20_000));
        assert!(resume(&world, run, long, &[]).await.is_err());
        assert_eq!(world.engine.store().run(run).await.unwrap().state, RunState::Waiting);
        assert_eq!(resume(&world, run, Decision::Approve, &replies()[1..]).await.unwrap(), RunState::Committed);
        // It has ended, so nothing was asked any more.
        for decision in [Decision::Approve, Decision::Respond("yes".to_owned())] {
            let said = resume(&world, run, decision, &[]).await.map_err(refused).unwrap_err();
            assert!(said.contains("committed"), "{said}");
        }
        let said = resume(&world, "nosuchrun", Decision::Approve, &[]).await.map_err(refused).unwrap_err();
        assert!(said.contains("nosuchrun"), "{said}");
        assert_eq!(world.stock("Classic").await, 8);
        world.executor.close().await;
    }

    async fn a_question_takes_an_answer_and_no_outline(database: Database) {
        let world = shop(database).await;
        let asks = [("plan", "<ask>For whom?</ask>".to_owned())];
        let waiting = ask(&world, scripted(&asks), Strategy::Auto).await;
        assert_eq!(waiting.state, RunState::Waiting, "{waiting:#?}");
        let run = waiting.run_id.as_str();
        let edit = Decision::Edit(Outline::read(outline()).unwrap());
        for (decision, said) in [(edit, "no outline to edit"), (Decision::Approve, "a question, not an outline")] {
            let refused = resume(&world, run, decision, &[]).await.unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
        world.executor.close().await;
    }
}
