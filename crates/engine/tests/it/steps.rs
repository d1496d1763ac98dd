//! Looks, outlines and sessions, with a model whose replies are written down, on both databases.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ordain_engine::{Ask, Decision, Engine, EngineError, EngineSettings, Mode, Planner, Quiet};
use ordain_planner::provider::{Call, Heard, ModelRequest, Provider, Replay};
use ordain_planner::{Model, ModelSettings};
use ordain_store::{BeginOptions, Intent, StoreError};
use ordain_types::{
    BoxFuture, Budgets, CriterionJudge, ErrorClass, Outline, PlanSource, Round, RunRecord, RunState,
    StepState, Strategy,
};
use serde_json::{Value, json};

use crate::world::{Database, World, on_both, world};

/// A model that says these things, one after the other. `("review", …)` and the like name the purpose of a call.
fn model(replies: &[(&str, &str)]) -> Planner {
    let lines = replies.iter().map(|(purpose, reply)| json!({ "for": purpose, "reply": reply }).to_string());
    let cassette: Vec<String> = lines.collect();
    planner(&cassette.join("\n"))
}

pub(crate) fn planner(cassette: &str) -> Planner {
    let replay = Replay::parse("script", cassette).unwrap();
    Planner::Model(Model::new(Arc::new(replay), ModelSettings::default()))
}

pub(crate) fn program(code: &str) -> String {
    format!("<execute_python>\n{code}\n</execute_python>")
}

pub(crate) fn asked(request: &str, planner: Planner, strategy: Strategy) -> Ask {
    Ask { planner, strategy, ..Ask::new(request, "test", "test") }
}

pub(crate) async fn ask(world: &World, planner: Planner, strategy: Strategy) -> RunRecord {
    let ask = asked("Sell 2 pairs of Classic and write a report", planner, strategy);
    world.engine.ask(Ask { cache: false, ..ask }).await.unwrap()
}

pub(crate) async fn shop(database: Database) -> World {
    let mut world = world(database).await;
    world.without_review();
    world
}

pub(crate) fn with(world: &World, change: impl FnOnce(&mut EngineSettings)) -> Engine {
    let mut settings = world.engine.settings().clone();
    change(&mut settings);
    Engine::new(world.engine.store().clone(), world.executor.clone(), settings)
}

const ANSWER: &str = "ACTION, SHOULD_MUTATE = 'read', False\nanswer_text, STATUS = 'Done.', 'success'";
const SELL: &str = "from tinydb import where\nrow = inventory_tbl.get(where('name') == 'Classic')\n\
                    inventory_tbl.update({'quantity_in_stock': row['quantity_in_stock'] - 2}, where('name') == 'Classic')\n\
                    result = row['quantity_in_stock'] - 2";

pub(crate) fn outline() -> Value {
    json!({ "goal": "sell and report", "steps": [
        { "id": "sell", "title": "take two Classic out of stock", "check": "result == 8" },
        { "id": "count", "title": "count the rows" },
        { "id": "report", "title": "tell what is left", "needs": ["sell", "count"] },
    ]})
}

pub(crate) fn outlined(outline: &Value) -> String {
    format!("<outline>{outline}</outline>")
}

const REPORT: &str = "left = inventory_tbl.get(where('name') == 'Classic')['quantity_in_stock']\n\
                      answer_text = f\"{left} are left of {inputs['count']} kinds.\"\nSTATUS = 'success'\nresult = left";

pub(crate) fn replies() -> Vec<(&'static str, String)> {
    vec![
        ("plan", outlined(&outline())),
        ("plan", program(SELL)),
        ("plan", program("result = len(inventory_tbl)")),
        ("plan", program(REPORT)),
    ]
}

pub(crate) fn scripted(replies: &[(&str, String)]) -> Planner {
    let replies: Vec<(&str, &str)> =
        replies.iter().map(|(purpose, reply)| (*purpose, reply.as_str())).collect();
    model(&replies)
}

/// A model during whose call something happens.
struct Meddled<F> {
    replay: Replay,
    call: usize,
    calls: AtomicUsize,
    happens: F,
}

impl<F> fmt::Debug for Meddled<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Meddled")
    }
}

impl<F: Fn() -> BoxFuture<'static, ()> + Send + Sync> Provider for Meddled<F> {
    fn name(&self) -> String {
        self.replay.name()
    }

    fn call<'a>(&'a self, request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a> {
        Box::pin(async move {
            if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.call {
                (self.happens)().await;
            }
            self.replay.call(request, heard).await
        })
    }
}

pub(crate) fn meddled(
    replies: &[(&str, String)],
    call: usize,
    happens: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Planner {
    let lines = replies.iter().map(|(purpose, reply)| json!({ "for": purpose, "reply": reply }).to_string());
    let cassette: Vec<String> = lines.collect();
    let replay = Replay::parse("script", &cassette.join("\n")).unwrap();
    let meddled = Meddled { replay, call, calls: AtomicUsize::new(0), happens };
    Planner::Model(Model::new(Arc::new(meddled), ModelSettings::default()))
}

on_both! {
    async fn a_look_comes_back_and_the_kept_plan_runs_without_it(database: Database) {
        let world = shop(database).await;
        let look = "<look>\nprint(sorted(row['name'] for row in inventory_tbl))\n</look>";
        let plan = "<plan>{\"params\":{\"name\":{\"value\":\"Classic\",\"said\":\"classics\"}}}</plan>\
                    <execute_python>\nrow = inventory_tbl.get(where('name') == params['name'])\n\
                    answer_text, STATUS = f\"There are {row['quantity_in_stock']}.\", 'success'\n</execute_python>";
        let cassette = format!(
            "{}\n{}",
            json!({ "expect": { "system_contains": ["<look>"] }, "reply": look }),
            json!({ "expect": { "contains": ["Aviator", "Wayfarer", "untrusted", "1 more look"] }, "reply": plan }),
        );
        let request = "How many classics are there?";
        let record = world.engine.ask(asked(request, planner(&cassette), Strategy::Direct)).await.unwrap();
        assert_eq!(record.answer.text.as_deref(), Some("There are 10."), "{record:?}");
        assert!(matches!(&record.verdict.history[0], Round::Looked { shown, .. } if shown.contains("Aviator")));
        assert_eq!(record.plan.steps[0].params[0].value, json!("Classic"));
        // Nobody is asked again, and the values are those of the words.
        let again = world.engine.ask(asked(request, planner(""), Strategy::Direct)).await.unwrap();
        assert_eq!((again.plan.source, again.answer.text), (PlanSource::Cache, record.answer.text), "{:?}", again.error);
        world.executor.close().await;
    }

    async fn a_look_that_writes_is_refused_and_a_third_one_is_told_so(database: Database) {
        let world = shop(database).await;
        let cassette = [
            json!({ "reply": "<look>inventory_tbl.remove(where('name') == 'Classic')</look>" }),
            json!({ "expect": { "contains": ["THE LOOK WAS REFUSED"] }, "reply": "<look>1 / 0</look>" }),
            json!({ "expect": { "contains": ["ZeroDivisionError", "last look"] }, "reply": "<look>print(1)</look>" }),
            json!({ "expect": { "contains": ["too-many-looks"] }, "reply": program(ANSWER) }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let record = ask(&world, planner(&cassette.join("\n")), Strategy::Direct).await;
        assert_eq!((record.state, record.error), (RunState::Answered, None));
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn an_endless_look_ends_and_its_author_is_told_why(database: Database) {
        let world = shop(database).await;
        let cassette = [
            json!({ "reply": "<look>while True:\n    pass</look>" }),
            json!({ "expect": { "contains": ["THE PROGRAM FAILED [", "1 more look"] }, "reply": program(ANSWER) }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let engine = with(&world, |settings| settings.limits.cpu = Some(Duration::from_secs(1)));
        let ask = asked("How many are there?", planner(&cassette.join("\n")), Strategy::Direct);
        let record = engine.ask(Ask { cache: false, ..ask }).await.unwrap();
        assert_eq!((record.state, record.error), (RunState::Answered, None));
        world.executor.close().await;
    }

    async fn an_outline_is_carried_out_and_committed_as_one_change(database: Database) {
        let world = shop(database).await;
        let record = ask(&world, scripted(&replies()), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.answer.text.as_deref(), Some("8 are left of 3 kinds."));
        assert_eq!(record.strategy, Strategy::Plan);
        let steps: Vec<_> = record.plan.steps.iter().map(|step| (step.id.as_str(), step.state)).collect();
        assert_eq!(steps, [("sell", StepState::Done), ("count", StepState::Done), ("report", StepState::Done)]);
        let criterion = record.plan.steps[0].criterion.as_ref().unwrap();
        assert!(criterion.holds && criterion.judged_by == CriterionJudge::Code);
        assert_eq!((record.plan.steps[0].rows_changed, record.plan.steps[1].rows_changed), (1, 0));
        assert_eq!(record.diff.rows(), 1);
        assert_eq!(world.stock("Classic").await, 8);
        let entries = world.engine.store().entries_of_run(&record.run_id).await.unwrap();
        assert_eq!(entries.len(), 1, "one run, one entry");
        world.executor.close().await;
    }

    async fn nothing_is_kept_of_an_outline_whose_last_step_fails(database: Database) {
        let world = shop(database).await;
        let mut replies = replies();
        replies[3].1 = program("answer_text, STATUS = str(1 / 0), 'success'");
        replies.push(("plan", replies[3].1.clone()));
        // What is left is planned anew, once, and that does not do either.
        replies.push(("plan", outlined(&json!({ "goal": "g", "steps": [{ "id": "again", "title": "t", "needs": ["sell"] }] }))));
        replies.push(("plan", replies[3].1.clone()));
        replies.push(("plan", replies[3].1.clone()));
        let record = ask(&world, scripted(&replies), Strategy::Plan).await;
        assert_eq!(record.state, RunState::Failed, "{record:#?}");
        let error = record.error.unwrap();
        assert_eq!(error.class, ErrorClass::Runtime);
        assert!(error.message.contains("step `again` failed"), "{}", error.message);
        assert_eq!(record.plan.replans.len(), 1);
        assert_eq!(record.plan.steps[0].state, StepState::Done, "what is done stays in the record");
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn a_criterion_that_does_not_hold_is_repaired(database: Database) {
        let world = shop(database).await;
        let mut replies = replies();
        replies.insert(1, ("plan", program(&SELL.replace("- 2", "- 3"))));
        // The other step is written at the same time; the repair comes when the first one has its turn.
        replies.swap(2, 3);
        let record = ask(&world, scripted(&replies), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        let told = serde_json::to_string(&record.plan.steps[0].rounds).unwrap();
        assert!(told.contains("criterion-not-met"), "{told}");
        assert_eq!(world.stock("Classic").await, 8);
        world.executor.close().await;
    }

    async fn rows_that_somebody_else_changed_begin_the_outline_anew(database: Database) {
        let world = shop(database).await;
        // Another run sells the same item while the model writes the last step.
        let other = world.engine.clone();
        let mut replies = replies();
        let again: Vec<_> = replies[1..].to_vec();
        replies.extend(again);
        replies[0].1 = outlined(&json!({ "goal": "g", "steps": outline()["steps"] })).replace("result == 8", "result > 0");
        let meddling = meddled(&replies, 4, move || {
            let other = other.clone();
            Box::pin(async move {
                let code = SELL.replace("result = ", "answer_text = 'x'; STATUS = 'success'; left = ");
                let record = other.ask(Ask::new("sell", "other", "test").with_plan(&code, "plan.py")).await.unwrap();
                assert_eq!(record.state, RunState::Committed, "{record:?}");
            })
        });
        let record = ask(&world, meddling, Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.plan.replans.len(), 1);
        assert!(record.plan.replans[0].contains("inventory"), "{:?}", record.plan.replans);
        assert_eq!(world.stock("Classic").await, 6, "both sales count");
        world.executor.close().await;
    }

    async fn a_step_waits_for_others_to_write_no_longer_than_it_may_take(database: Database) {
        let world = shop(database).await;
        let engine = with(&world, |settings| settings.limits.wall = Duration::from_millis(300));
        let store = world.engine.store().clone();
        // Somebody else writes while the step is planned. The record is written by a writer too, so that one ends once
        // the run has given up.
        let planner = meddled(&[("plan", program(SELL))], 1, move || {
            let store = store.clone();
            Box::pin(async move {
                let begin = BeginOptions { run_id: store.new_run_id().unwrap(), intent: Intent::Write };
                let other = store.begin(begin).await.unwrap();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    other.roll_back().await.unwrap();
                });
            })
        });
        let ended = engine.ask(asked("Sell 2 pairs of Classic", planner, Strategy::React)).await;
        assert!(matches!(ended, Err(EngineError::Store(StoreError::Busy))), "{ended:?}");
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn a_session_goes_step_by_step_and_commits_at_its_end(database: Database) {
        let world = shop(database).await;
        let cassette = [
            json!({ "expect": { "contains": ["Work in small steps"] }, "reply": program("names = [row['name'] for row in inventory_tbl]\nprint(names)") }),
            json!({ "expect": { "contains": ["Wayfarer", "untrusted"] }, "reply": program(&format!("{SELL}\nprint('sold', len(names))")) }),
            json!({ "expect": { "contains": ["sold 3"] }, "reply": program("left = inventory_tbl.get(where('name') == 'Classic')['quantity_in_stock']\nACTION, SHOULD_MUTATE = 'mutate', True\nanswer_text, STATUS = f'{left} Classic are left.', 'success'") }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let record = ask(&world, planner(&cassette.join("\n")), Strategy::React).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.answer.text.as_deref(), Some("8 Classic are left."));
        assert_eq!(record.plan.steps.len(), 3);
        assert_eq!(world.stock("Classic").await, 8);
        world.executor.close().await;
    }

    async fn going_in_circles_and_using_up_a_budget_are_stops_of_their_own(database: Database) {
        let world = shop(database).await;
        let same = program("print(len(inventory_tbl))");
        let record = ask(&world, model(&[("plan", same.as_str()); 3]), Strategy::React).await;
        let error = record.error.unwrap();
        assert_eq!((error.class, error.code.as_str()), (ErrorClass::Budget, "stuck"), "{}", error.message);
        let engine = with(&world, |settings| settings.budgets = Budgets { steps: 2, ..Budgets::default() });
        let replies: Vec<String> = (0..3).map(|number| program(&format!("print({number})"))).collect();
        let replies: Vec<(&str, &str)> = replies.iter().map(|reply| ("plan", reply.as_str())).collect();
        let record = engine.ask(asked("x", model(&replies), Strategy::React)).await.unwrap();
        assert_eq!(record.error.unwrap().code, "steps-budget");
        let record = engine.ask(asked("x", scripted(&self::replies()), Strategy::Plan)).await.unwrap();
        assert_eq!(record.error.unwrap().code, "steps-budget");
        assert_eq!(world.stock("Classic").await, 10);
        world.executor.close().await;
    }

    async fn a_question_waits_and_its_answer_goes_on_once(database: Database) {
        let world = shop(database).await;
        let mut first = replies();
        "<ask>For whom is the report?</ask>".clone_into(&mut first[3].1);
        let waiting = ask(&world, scripted(&first), Strategy::Plan).await;
        assert_eq!(waiting.state, RunState::Waiting, "{waiting:#?}");
        assert_eq!(waiting.answer.text.as_deref(), Some("For whom is the report?"));
        assert_eq!(world.stock("Classic").await, 10, "nothing is changed while it waits");
        let go_on = |planner: Planner| {
            let decision = Decision::Respond("for the owner".to_owned());
            let record = waiting.clone();
            let engine = &world.engine;
            async move {
                let ask = Ask { planner, ..Ask::new("", "test", "test") };
                engine.resume_run(record.run_id.as_str(), decision, ask, &mut Quiet).await
            }
        };
        let cassette = json!({ "expect": { "contains": ["For whom is the report?", "for the owner"] }, "reply": program(REPORT) });
        let record = go_on(planner(&cassette.to_string())).await.unwrap();
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.run_id, waiting.run_id);
        assert_eq!(record.plan.questions[0].answer.as_deref(), Some("for the owner"));
        assert_eq!(world.stock("Classic").await, 8);
        let twice = go_on(planner("")).await.unwrap_err();
        assert!(twice.to_string().contains("committed"), "{twice}");
        world.executor.close().await;
    }

    async fn an_outline_waits_is_edited_and_carried_out(database: Database) {
        let world = shop(database).await;
        let shown = Ask { show_plan: true, ..asked("sell", scripted(&replies()[..1]), Strategy::Plan) };
        let waiting = world.engine.ask(shown).await.unwrap();
        assert_eq!(waiting.state, RunState::Waiting);
        assert_eq!(waiting.plan.steps.len(), 3);
        let mut edited = outline();
        edited["steps"][2]["title"] = json!("say it short");
        let edited = Outline::read(edited).unwrap();
        let mut rest = replies();
        rest.remove(0);
        let ask = Ask { planner: scripted(&rest), ..Ask::new("", "test", "test") };
        let record = world
            .engine
            .resume_run(waiting.run_id.as_str(), Decision::Edit(edited), ask, &mut Quiet)
            .await
            .unwrap();
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.plan.steps[2].title, "say it short");
        world.executor.close().await;
    }

    async fn texts_and_lists_of_items_are_steps_too(database: Database) {
        let world = shop(database).await;
        let outline = json!({ "goal": "a report", "steps": [
            { "id": "names", "title": "list the names" },
            { "id": "stock", "title": "find the stock of one", "each": "names" },
            { "id": "text", "title": "write a sentence", "needs": ["stock"], "kind": "text", "success": "names a number" },
        ]});
        let replies = [
            ("plan", outlined(&outline)),
            ("plan", program("result = sorted(row['name'] for row in inventory_tbl)")),
            ("plan", program("result = inventory_tbl.get(where('name') == inputs['item'])['quantity_in_stock']")),
            ("text", "There are 99 Aviators.".to_owned()),
            ("text", "There are 23 Aviators, 10 Classics and 6 Wayfarers.".to_owned()),
            ("criterion", "{\"ok\": true}".to_owned()),
        ];
        let record = ask(&world, scripted(&replies), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Answered, &None), "{record:#?}");
        assert_eq!(record.plan.steps[1].result, Some(json!([23, 10, 6])));
        assert_eq!(record.answer.text.as_deref(), Some("There are 23 Aviators, 10 Classics and 6 Wayfarers."));
        let criterion = record.plan.steps[2].criterion.as_ref().unwrap();
        assert!(criterion.holds && criterion.judged_by == CriterionJudge::Model);
        world.executor.close().await;
    }

    async fn what_is_done_by_a_milestone_stays_done_where_the_owner_allows_it(database: Database) {
        let mut world = shop(database).await;
        let engine = with(&world, |settings| settings.milestones = true);
        let strict = std::mem::replace(&mut world.engine, engine);
        let mut outline = outline();
        outline["steps"][0]["milestone"] = json!(true);
        let mut script = replies();
        script[0].1 = outlined(&outline);
        let record = ask(&world, scripted(&script), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Answered, &None), "{record:#?}");
        assert_eq!(record.answer.text.as_deref(), Some("8 are left of 3 kinds."));
        let first = world.engine.store().run(record.continues.as_ref().unwrap().as_str()).await.unwrap();
        assert_eq!((first.state, first.diff.rows()), (RunState::Committed, 1), "{first:#?}");
        assert!(first.answer.text.as_deref().unwrap().starts_with("Reached: take two Classic"), "{first:#?}");
        // What is left fails: the sale stays, and the record says what is not done.
        script[3].1 = program("answer_text, STATUS = str(1 / 0), 'success'");
        script.truncate(4);
        script[0].1 = script[0].1.replace("result == 8", "result == 6");
        let failed = ask(&world, scripted(&script), Strategy::Plan).await;
        assert!(failed.error.is_some() && failed.continues.is_some(), "{failed:#?}");
        let stands = format!("Run {}, which it goes on from, stands.", failed.continues.as_ref().unwrap());
        assert!(failed.receipt.text.ends_with(&stands), "{}", failed.receipt.text);
        assert_eq!(world.stock("Classic").await, 6);
        // Without the owner's word nothing is committed before the end.
        world.engine = strict;
        script[0].1 = script[0].1.replace("result == 6", "result == 4");
        let failed = ask(&world, scripted(&script), Strategy::Plan).await;
        assert!(failed.error.is_some() && failed.continues.is_none(), "{failed:#?}");
        assert_eq!(world.stock("Classic").await, 6);
        world.executor.close().await;
    }

    async fn a_change_that_is_cut_into_milestones_keeps_to_the_limits_of_one_and_undo_takes_back_all(
        database: Database
    ) {
        let mut world = shop(database).await;
        world.engine = with(&world, |settings| settings.milestones = true);
        let names = ["Classic", "Aviator", "Wayfarer"];
        let steps: Vec<Value> = (0..3)
            .map(|at| {
                let needs: Vec<String> = (0..at).map(|before: usize| format!("s{before}")).collect();
                json!({ "id": format!("s{at}"), "title": names[at], "needs": needs, "milestone": at < 2 })
            })
            .collect();
        let outline = json!({ "goal": "take one of each", "steps": steps });
        let take = |at: usize| {
            let answer = if at == 2 { "\nanswer_text, STATUS = 'Done.', 'success'" } else { "" };
            program(&format!(
                "from tinydb import where\nrow = inventory_tbl.get(where('name') == '{0}')\n\
                 inventory_tbl.update({{'quantity_in_stock': row['quantity_in_stock'] - 1}}, where('name') == '{0}')\n\
                 result = 1{answer}",
                names[at]
            ))
        };
        let script: Vec<(&str, String)> =
            std::iter::once(("plan", outlined(&outline))).chain((0..3).map(|at| ("plan", take(at)))).collect();
        let before = [world.stock(names[0]).await, world.stock(names[1]).await, world.stock(names[2]).await];
        let record = ask(&world, scripted(&script), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        let middle = record.continues.clone().unwrap();
        let store = world.engine.store();
        let note = || ordain_store::EntryNote::by("test", "test");
        let undone = store.undo(middle.as_str(), note()).await.unwrap();
        assert_eq!(undone.state, RunState::Undone);
        for (name, before) in names.into_iter().zip(before) {
            assert_eq!(world.stock(name).await, before, "{name}");
        }
        for run in [&record.run_id, undone.continues.as_ref().unwrap()] {
            assert_eq!(store.run(run.as_str()).await.unwrap().state, RunState::Undone);
        }
        // The rule counts the rows of all commits: the first two are committed, and the third waits.
        world.engine = with(&world, |settings| settings.approval = "rows>2".parse().unwrap());
        let held = ask(&world, scripted(&script), Strategy::Plan).await;
        assert_eq!((held.state, &held.error), (RunState::Held, &None), "{held:#?}");
        world.executor.close().await;
    }

    async fn auto_takes_what_the_model_replies(database: Database) {
        let world = shop(database).await;
        let request = "Please do the whole evening routine of the shop";
        let engine = &world.engine;
        let direct = engine.ask(asked(request, model(&[("plan", &program(ANSWER))]), Strategy::Auto)).await.unwrap();
        assert_eq!(direct.plan.steps.len(), 1, "{direct:#?}");
        let plan = Ask { cache: false, ..asked(request, scripted(&replies()), Strategy::Auto) };
        let plan = engine.ask(plan).await.unwrap();
        assert_eq!((plan.strategy, plan.state), (Strategy::Plan, RunState::Committed), "{plan:#?}");
        assert!(plan.plan.reason.as_deref().unwrap().contains("outline"));
        let held = Ask { mode: Mode::Hold, cache: false, ..asked(request, scripted(&replies()), Strategy::Auto) };
        let mut outline = outline();
        outline["steps"][0]["check"] = json!("result == 6");
        let held = Ask { outline: Some(Outline::read(outline).unwrap()), planner: scripted(&replies()[1..]), ..held };
        let held = engine.ask(held).await.unwrap();
        assert_eq!(held.state, RunState::Held, "{held:#?}");
        assert_eq!(world.stock("Classic").await, 8);
        world.executor.close().await;
    }
}
