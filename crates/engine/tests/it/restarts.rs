//! PostgreSQL is restarted while a run of several steps goes on: the run waits for it, and is made once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ordain_engine::Planner;
use ordain_planner::provider::{Call, Completion, Heard, ModelRequest, Provider};
use ordain_planner::{Model, ModelSettings};
use ordain_testkit::postgres::Server;
use ordain_testkit::seller;
use ordain_types::{RunState, Strategy};

use crate::steps::asked;
use crate::world::{options_at, world_at};

/// A model during one of whose calls the database is stopped and started again.
#[derive(Debug)]
struct Author {
    postgres: Arc<Server>,
    restarts_at: usize,
    calls: AtomicUsize,
    restarting: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Provider for Author {
    fn name(&self) -> String {
        "author".to_owned()
    }

    fn call<'a>(&'a self, request: &'a ModelRequest, _heard: &'a mut Heard<'_>) -> Call<'a> {
        let texts: Vec<&str> = request.messages.iter().map(|message| message.text.as_str()).collect();
        let text = match texts.as_slice() {
            // A session's step may have changed variables before it was cut off, so it is written anew.
            [.., before, last] if last.contains("write the step again") => (*before).to_owned(),
            texts => seller::reply(texts.last().unwrap_or(&""), "sold 3"),
        };
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.restarts_at {
            let postgres = Arc::clone(&self.postgres);
            *self.restarting.lock().unwrap() = Some(std::thread::spawn(move || postgres.restart()));
        }
        Box::pin(std::future::ready(Ok(Completion { text, ..Completion::default() })))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_several_steps_whose_database_is_restarted_goes_on_and_is_made_once() {
    let postgres = Arc::new(Server::of_its_own());
    let folder = tempfile::tempdir().unwrap();
    let options = options_at(folder.path(), Some(&postgres.fresh_database()));
    let mut world = world_at(options).await;
    world.without_review();
    for strategy in [Strategy::Plan, Strategy::React] {
        for restarts_at in 1..=4 {
            let before = world.stock("Classic").await;
            let restarting = Arc::default();
            let author = Author {
                postgres: Arc::clone(&postgres),
                restarts_at,
                calls: AtomicUsize::new(0),
                restarting: Arc::clone(&restarting),
            };
            let planner = Planner::Model(Model::new(Arc::new(author), ModelSettings::default()));
            let mut ask = asked("Sell 2 Classic and tell me", planner, strategy);
            ask.cache = false;
            let ended = world.engine.ask(ask).await;
            if let Some(restarting) = restarting.lock().unwrap().take() {
                restarting.join().unwrap();
            }
            let record = ended.unwrap_or_else(|error| panic!("{strategy}, call {restarts_at}: {error:?}"));
            assert_eq!(record.state, RunState::Committed, "{strategy}, call {restarts_at}: {record:#?}");
            assert_eq!(world.stock("Classic").await, before - 2, "{strategy}, call {restarts_at}");
        }
    }
    world.executor.close().await;
}
