//! A process that is killed at any stage of a run of several steps changes nothing, and the run goes on where it was.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ordain_engine::{Ask, Decision, Engine, Planner, Quiet};
use ordain_planner::provider::{Call, Completion, Heard, ModelRequest, Provider};
use ordain_planner::{Model, ModelSettings, Progress};
use ordain_store::Store;
use ordain_testkit::seller;
use ordain_types::{Event, QuestionKind, RunRecord, RunState, Strategy};

use crate::world::{World, on_both, options_at, world_at};

/// Tells a copy of this test binary that it is the process to be killed: where its store is, the strategy, the stage.
const VICTIM: &str = "ORDAIN_TEST_STEPS_VICTIM";
/// Every so many stages the process is killed, in the short form.
const STRIDE: usize = 7;
const STAGES_MAX: usize = 400;

/// A model that looks at what it is asked for, as one does that knows nothing of processes.
#[derive(Debug)]
struct Author;

impl Provider for Author {
    fn name(&self) -> String {
        "author".to_owned()
    }

    fn call<'a>(&'a self, request: &'a ModelRequest, _heard: &'a mut Heard<'_>) -> Call<'a> {
        stage();
        let last = request.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
        let text = seller::reply(last, "sold 3");
        stage();
        Box::pin(std::future::ready(Ok(Completion { text, ..Completion::default() })))
    }
}

/// The stage at which this process ends, and how many it has seen.
static ENDS_AT: AtomicUsize = AtomicUsize::new(usize::MAX);
static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Ends the process here, without any cleaning up, if this is the stage.
fn stage() {
    if SEEN.fetch_add(1, Ordering::SeqCst) + 1 == ENDS_AT.load(Ordering::SeqCst) {
        std::process::abort();
    }
}

struct Stages;

impl Progress for Stages {
    fn text(&mut self, _piece: &str) {}

    fn stage(&mut self, _name: &str) {
        stage();
    }

    fn event(&mut self, _event: &Event) {
        stage();
    }
}

fn asked(strategy: Strategy, key: &str) -> Ask {
    let planner = Planner::Model(Model::new(Arc::new(Author), ModelSettings::default()));
    let mut ask =
        Ask { planner, strategy, cache: false, ..Ask::new("Sell 2 Classic and tell me", "test", "test") };
    ask.origin.idempotency_key = Some(key.to_owned());
    ask
}

/// Sells until it is killed or done. Does nothing unless it was started to be the victim.
#[tokio::test]
async fn victim() {
    let Ok(order) = std::env::var(VICTIM) else { return };
    let order: Vec<&str> = order.split('\n').collect();
    let [folder, url, strategy, ends_at] = order[..] else { panic!("{order:?}") };
    let strategy = if strategy == "plan" { Strategy::Plan } else { Strategy::React };
    let mut world = world_at(options_at(folder.as_ref(), Some(url).filter(|url| !url.is_empty()))).await;
    world.without_review();
    ENDS_AT.store(ends_at.parse().unwrap(), Ordering::SeqCst);
    let record = world.engine.ask_with(asked(strategy, ends_at), &mut Stages).await.unwrap();
    assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
    world.executor.close().await;
}

on_both! {
    async fn a_run_killed_at_any_stage_goes_on_from_the_steps_that_were_done(database: Database) {
        for strategy in [Strategy::Plan, Strategy::React] {
            sweep(database, strategy).await;
        }
    }
}

async fn sweep(database: crate::world::Database, strategy: Strategy) {
    let stride = if ordain_testkit::long::times(1) > 1 { 1 } else { STRIDE };
    let folder = tempfile::tempdir().unwrap();
    let url = database.fresh_url();
    let options = || options_at(folder.path(), url.as_deref());
    let mut world = world_at(options()).await;
    world.without_review();
    let mut gone_on = 0;
    for ends_at in (1..STAGES_MAX).step_by(stride) {
        let before = world.stock("Classic").await;
        let order =
            [&folder.path().display().to_string(), url.as_deref().unwrap_or_default(), strategy.as_str()];
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash_steps::victim", "--nocapture"])
            .env(VICTIM, format!("{}\n{ends_at}", order.join("\n")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let store = Store::open(options()).await.unwrap();
        assert!(store.verify_ledger().await.unwrap().is_whole(), "stage {ends_at}");
        let (executor, settings) = (world.executor.clone(), world.engine.settings().clone());
        world.engine = Engine::new(store, executor, settings);
        let key_of = world.engine.store().claimed(&ends_at.to_string()).await.unwrap();
        if status.success() {
            assert_eq!(world.stock("Classic").await, before - 2);
            assert!(gone_on > 1, "no run went on");
            world.executor.close().await;
            return;
        }
        assert_eq!(world.stock("Classic").await, before, "stage {ends_at} left something half done");
        let Some(record) = key_of else {
            // It had done nothing yet that is worth keeping, and the key is free again.
            continue;
        };
        assert_eq!(record.state, RunState::Waiting, "stage {ends_at}: {record:#?}");
        assert_eq!(record.plan.questions.last().unwrap().kind, QuestionKind::CutShort);
        go_on_once(&world, &record, &asked(strategy, &ends_at.to_string())).await;
        assert_eq!(world.stock("Classic").await, before - 2, "stage {ends_at}");
        gone_on += 1;
    }
    panic!("no run got through within {STAGES_MAX} stages");
}

/// Two people let it go on at the same time: it does so once.
async fn go_on_once(world: &World, cut: &RunRecord, asked: &Ask) {
    let go_on = || async {
        let decision = Decision::Approve;
        world.engine.resume_run(cut.run_id.as_str(), decision, asked.clone(), &mut Quiet).await
    };
    let (one, other) = tokio::join!(go_on(), go_on());
    let (done, refused) = if one.is_ok() { (one, other) } else { (other, one) };
    let done = done.unwrap();
    assert_eq!((done.state, &done.error), (RunState::Committed, &None), "{done:#?}");
    assert_eq!((&done.run_id, done.plan.steps.len()), (&cut.run_id, 3), "{done:#?}");
    // The other one came too late, or is given the same end.
    if let Ok(other) = refused {
        assert_eq!((other.run_id, other.state), (done.run_id.clone(), RunState::Committed));
    }
    let late = go_on().await.unwrap_err();
    assert!(late.to_string().contains("committed"), "{late}");
    let store = world.engine.store();
    let again = world.engine.ask(asked.clone()).await.unwrap();
    assert_eq!(
        (again.run_id, again.state),
        (cut.run_id.clone(), RunState::Committed),
        "the key is the run's"
    );
    assert_eq!(store.entries_of_run(&cut.run_id).await.unwrap().len(), 2, "cut short, then committed");
}
