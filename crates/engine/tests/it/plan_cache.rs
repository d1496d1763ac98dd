//! Plans that are kept: found by words and by shape, and dropped by exactly the changes that touch them.

use std::sync::Arc;

use ordain_cell::profile::DataDir;
use ordain_cell::{LocalExecutor, LocalOptions};
use ordain_engine::{Ask, Engine, EngineSettings, Mode};
use ordain_files::open_store;
use ordain_types::{PlanSource, RunRecord, RunState};
use ordain_workspace::{Workspace, init};

/// The sunglasses shop in a folder of its own.
struct Shop {
    folder: tempfile::TempDir,
    engine: Engine,
    executor: Arc<LocalExecutor>,
}

impl Shop {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        init(&folder.path().join("shop"), Some("sunglasses")).unwrap();
        let mut options = LocalOptions::new(DataDir::from_env().unwrap());
        options.idle_cells = 1;
        let executor = Arc::new(LocalExecutor::new(options).unwrap());
        let engine = engine(&folder, &executor).await;
        Self { folder, engine, executor }
    }

    /// The same shop after its owner changed a file.
    async fn edit(&mut self, file: &str, from: &str, to: &str) {
        let path = self.folder.path().join("shop").join(file);
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} does not hold `{from}`");
        fs_err::write(&path, text.replace(from, to)).unwrap();
        self.engine = engine(&self.folder, &self.executor).await;
    }

    async fn ask(&self, request: &str) -> RunRecord {
        self.engine.ask(Ask::new(request, "test", "test")).await.unwrap()
    }

    /// Why each kept plan is stale, by the request that it was written for.
    async fn stale(&self) -> Vec<(String, Option<String>)> {
        let plans = self.engine.store().plans(None, 100).await.unwrap();
        let schema = self.engine.store().schema();
        let mut stale: Vec<_> = plans
            .into_iter()
            .map(|plan| (plan.request.clone(), self.engine.settings().stale(&plan, &schema)))
            .collect();
        stale.sort();
        stale
    }
}

async fn engine(folder: &tempfile::TempDir, executor: &Arc<LocalExecutor>) -> Engine {
    let workspace = Workspace::load(&folder.path().join("shop")).unwrap();
    Engine::new(open_store(&workspace).await.unwrap(), executor.clone(), EngineSettings::of(&workspace))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_shape_with_other_values_runs_the_kept_plan() {
    let shop = Shop::open().await;
    let first = shop.ask("buy 3 classics and 1 aviator").await;
    assert_eq!((first.state, first.plan.source), (RunState::Committed, PlanSource::Rules), "{first:?}");
    let second = shop.ask("buy 1 moon and 2 wayfarers").await;
    assert_eq!((second.state, second.plan.source), (RunState::Committed, PlanSource::Cache), "{second:?}");
    assert_eq!(second.plan.written_by.as_ref(), Some(&first.run_id));
    let shown = serde_json::to_string(&second.plan).unwrap();
    assert!(shown.contains("Wayfarer") && !shown.contains("Aviator"), "its own values, no others: {shown}");
    let changed = &second.diff.tables["inventory"].changed;
    let items: Vec<&str> = changed.iter().filter_map(|row| row.after.get("name")?.as_str()).collect();
    assert_eq!(items, ["Wayfarer", "Moon"]);
    assert_eq!(second.diff.tables["transactions"].added.len(), 2);
    assert_eq!(second.usage.model_calls, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_with_another_value_is_read_anew_and_says_its_own_value() {
    let shop = Shop::open().await;
    assert_eq!(shop.ask("Which items cost more than 50?").await.plan.source, PlanSource::Rules);
    let second = shop.ask("Which items cost more than 115?").await;
    assert_eq!(second.plan.source, PlanSource::Rules, "{second:?}");
    let answer = second.answer.text.unwrap();
    assert!(answer.starts_with("2 items: Moon (price $120.00); Shield"), "{answer}");
    for other in ["Which items cost less than 115?", "Which items do not cost more than 115?"] {
        assert_ne!(shop.ask(other).await.plan.source, PlanSource::Cache, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_cache_a_plan_is_neither_taken_nor_kept() {
    let shop = Shop::open().await;
    let ask = || Ask { cache: false, ..Ask::new("buy 1 classic", "test", "test") };
    assert_eq!(shop.engine.ask(ask()).await.unwrap().plan.source, PlanSource::Rules);
    assert!(shop.engine.store().plans(None, 10).await.unwrap().is_empty());
    shop.ask("buy 1 classic").await;
    assert_eq!(shop.engine.ask(ask()).await.unwrap().plan.source, PlanSource::Rules);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_use_is_counted_with_the_run_that_used_the_plan() {
    let shop = Shop::open().await;
    shop.ask("buy 1 classic").await;
    shop.ask("buy 2 moons").await;
    let dry = Ask { mode: Mode::DryRun, ..Ask::new("buy 1 aviator", "test", "test") };
    shop.engine.ask(dry).await.unwrap();
    let plans = shop.engine.store().plans(None, 10).await.unwrap();
    assert_eq!(plans.iter().map(|plan| plan.uses).collect::<Vec<_>>(), [2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_helper_makes_exactly_the_plans_stale_that_use_it() {
    let mut shop = Shop::open().await;
    shop.ask("buy 1 classic").await;
    shop.ask("how much is the moon?").await;
    shop.edit(
        "helpers.py",
        "amount = round(row[\"price\"] * quantity, 2)",
        "amount = 1 * round(row[\"price\"] * quantity, 2)",
    )
    .await;
    let stale = shop.stale().await;
    assert_eq!(stale[0], ("buy 1 classic".to_owned(), Some("helper sell changed".to_owned())));
    assert_eq!(stale[1], ("how much is the moon?".to_owned(), None));
    let again = shop.ask("buy 2 classics").await;
    assert_eq!((again.state, again.plan.source), (RunState::Committed, PlanSource::Rules), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_policy_makes_every_plan_stale_and_the_next_request_plans_anew() {
    let mut shop = Shop::open().await;
    shop.ask("buy 1 classic").await;
    shop.edit("policy.md", "write `Walk-in customer`", "write `Walk-in customer`, always").await;
    assert_eq!(shop.stale().await, [("buy 1 classic".to_owned(), Some("the policy changed".to_owned()))]);
    let anew = shop.ask("buy 1 classic").await;
    assert_eq!(anew.plan.source, PlanSource::Rules);
    let history = serde_json::to_value(&anew.verdict.history).unwrap();
    assert_eq!(history[0]["stale"], "the policy changed", "the record says why: {anew:?}");
    assert_eq!(shop.ask("buy 1 classic").await.plan.source, PlanSource::Cache);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follow_up_is_never_answered_by_a_plan_of_another_conversation() {
    let shop = Shop::open().await;
    let turn = |request: &str, conversation: &str| Ask {
        conversation: Some(conversation.to_owned()),
        ..Ask::new(request, "test", "test")
    };
    shop.engine.ask(turn("how much is the moon?", "one")).await.unwrap();
    let first = shop.engine.ask(turn("and how much is it for the classic?", "one")).await.unwrap();
    assert_ne!(first.plan.source, PlanSource::Cache);
    let turns = shop.engine.store().turns("one", 10).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(turns[0].request, "how much is the moon?");
}
