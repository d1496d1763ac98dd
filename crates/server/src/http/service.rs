//! What all routes share: the engine, the callers' keys and limits, the runs that go on, the figures.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use ordain_cell::LocalExecutor;
use ordain_checks::Checks;
use ordain_engine::{Engine, Planner};
use ordain_planner::ModelSettings;
use ordain_workspace::Environment;

use super::cluster::{Troubles, Working};
use super::keyring::KeyRing;
use super::live::LiveRuns;
use super::log::{Log, LogFormat};
use super::metrics::Metrics;
use super::openai::{Questions, Retries};
use super::problem::Problem;
use super::rate::RateLimits;
use super::session_book::SessionBook;
use super::sight::LimitedEngines;
use super::turns::Turns;
use super::ui::{Draft, RunCounts, Shelf, SignIns, UsualChanges};
use super::uploads::Uploading;
use crate::cluster::{Alone, Cluster};
use crate::grpc::ExecutorPool;
use crate::listen::Address;
use crate::trace::Tracer;

/// How a service is set up.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of the operator's own")]
pub struct HttpOptions {
    /// What the workspace is called.
    pub workspace: String,
    /// Where it listens: callers of this machine need no key, unless `keys_required`.
    pub listen: Address,
    /// Whether callers need a key on a loopback address too.
    pub keys_required: bool,
    /// Origins of web pages that may call, besides the server's own.
    pub cors: Vec<String>,
    /// The model settings, with the models that requests may name.
    pub model: ModelSettings,
    /// The variables that hold for the workspace: the keys of models among them.
    pub environment: Environment,
    /// How well cells are isolated, for `/readyz`.
    pub isolation: String,
    /// The workspace's checks, where they are served.
    pub checks: Option<Checks>,
    /// The cells of this machine, for the figures; executors elsewhere have figures of their own.
    pub local: Option<Arc<LocalExecutor>>,
    /// The executors elsewhere that run the code, for the figures and `/readyz`.
    pub executors: Option<Arc<ExecutorPool>>,
    /// The cluster that this server is a node of, perhaps the only one.
    pub cluster: Arc<dyn Cluster>,
    /// Runs of the cluster's queue that it carries out at once, besides one of checks or of the clock.
    pub slots: u32,
    /// The workspace's state, whose disk must have room.
    pub state: PathBuf,
    /// Takes spans of requests and runs.
    pub tracer: Tracer,
    /// Requests that the web UI proposes first.
    pub examples: Vec<String>,
    /// Whether the web UI is served.
    pub ui: bool,
    /// How requests are logged, to stderr.
    pub log: LogFormat,
    /// Requests a minute for a key that has no limit of its own.
    pub requests_per_minute: u64,
    /// Cells at once for a key that has no limit of its own.
    pub cells: u64,
    /// Tokens of models a day for a key that has no limit of its own; 0 is none.
    pub tokens_per_day: u64,
    /// Whether callers may give code: programs, plans, and questions about files, which code answers.
    pub code_enabled: bool,
    /// Whether callers may have code run under the policy `open`, where only the jail defends.
    pub allow_open: bool,
    /// Sessions that one caller may have open.
    pub sessions: usize,
    /// After how long without a job a session ends.
    pub session_idle_max: Duration,
    /// Runs that go on at once, over all callers.
    pub runs_max: usize,
    /// Connections that are open at once.
    pub connections_max: usize,
    /// Connections from one address of another machine.
    pub connections_per_address: usize,
    /// Requests of one key that are open at once, streams included.
    pub open_requests: usize,
    /// How long a caller may leave its answer unread.
    pub write_time: Duration,
    /// Names under which a proxy reaches a loopback address, besides those of this machine.
    pub hosts: Vec<String>,
    /// Bytes of records and files that runs of one key may leave in a day.
    pub stored_per_day: u64,
    /// How long the header of a request may take.
    pub header_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long running work may go on when the server stops.
    pub drain_time: Duration,
    /// How often a quiet stream says that it is still there: proxies cut connections that are quiet for long.
    pub ping_every: Duration,
}

impl HttpOptions {
    /// The usual settings for an address.
    pub fn new(workspace: &str, listen: impl Into<Address>, state: PathBuf) -> Self {
        Self {
            workspace: workspace.to_owned(),
            listen: listen.into(),
            keys_required: false,
            cors: Vec::new(),
            model: ModelSettings::default(),
            environment: Environment::default(),
            isolation: "full".to_owned(),
            checks: None,
            local: None,
            executors: None,
            cluster: Arc::new(Alone),
            slots: 16,
            state,
            tracer: Tracer::default(),
            examples: Vec::new(),
            ui: true,
            log: LogFormat::Off,
            requests_per_minute: 600,
            cells: 8,
            tokens_per_day: 0,
            code_enabled: true,
            allow_open: false,
            sessions: 8,
            session_idle_max: Duration::from_mins(15),
            runs_max: 512,
            connections_max: 10_000,
            connections_per_address: 1000,
            open_requests: 256,
            write_time: Duration::from_secs(30),
            hosts: Vec::new(),
            stored_per_day: 4 << 30,
            header_time: Duration::from_secs(15),
            body_time: Duration::from_mins(1),
            drain_time: Duration::from_secs(30),
            ping_every: Duration::from_secs(10),
        }
    }

    /// Whether callers are known by keys.
    pub fn needs_keys(&self) -> bool {
        self.keys_required || !self.listen.is_of_this_machine()
    }
}

/// A workspace that is served. Clones share it.
#[derive(Debug, Clone)]
pub struct Service {
    pub(crate) inner: Arc<Inner>,
}

/// What clones share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) planner: Planner,
    pub(crate) options: HttpOptions,
    pub(crate) keys: KeyRing,
    pub(crate) rates: RateLimits,
    pub(crate) sign_ins: SignIns,
    pub(crate) run_counts: RunCounts,
    pub(crate) usual_changes: UsualChanges,
    /// Changes of check files that were shown and wait to be saved.
    pub(crate) drafts: Shelf<Draft>,
    /// Keys that were made a moment ago, until the page has shown them.
    pub(crate) new_keys: Shelf<ordain_store::Secret>,
    pub(crate) live: LiveRuns,
    pub(crate) working: Working,
    pub(crate) troubles: Troubles,
    pub(crate) retries: Retries,
    pub(crate) questions: Questions,
    pub(crate) sessions: SessionBook,
    pub(crate) turns: Turns,
    pub(crate) limited: LimitedEngines,
    pub(crate) uploading: Uploading,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) began: Instant,
    pub(crate) connections: AtomicUsize,
    draining: AtomicBool,
}

impl Service {
    /// A service over an engine. Plans are written by `planner` unless a request names another.
    pub fn new(engine: Engine, planner: Planner, options: HttpOptions) -> Self {
        let statuses = engine.settings().told_statuses().into_iter().map(|(name, _)| name).collect();
        let inner = Inner {
            keys: KeyRing::new(engine.store().clone()),
            rates: RateLimits::new(options.cluster.is_shared()),
            sign_ins: SignIns::new(),
            run_counts: RunCounts::default(),
            usual_changes: UsualChanges::default(),
            drafts: Shelf::default(),
            new_keys: Shelf::default(),
            live: LiveRuns::new(options.runs_max),
            working: Working::new(options.slots),
            troubles: Troubles::default(),
            retries: Retries::default(),
            questions: Questions::default(),
            sessions: SessionBook::default(),
            turns: Turns::default(),
            limited: LimitedEngines::default(),
            uploading: Uploading::default(),
            metrics: Metrics::new(&planner.name(), statuses),
            log: Log::new(options.log),
            began: Instant::now(),
            connections: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
            engine,
            planner,
            options,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Refuses code of callers where it is switched off.
    pub(crate) fn must_take_code(&self) -> Result<(), Problem> {
        if self.inner.options.code_enabled {
            return Ok(());
        }
        let detail = "code is switched off on this server";
        Err(Problem::new(StatusCode::FORBIDDEN, "code_disabled", detail)
            .hint("the operator switches it on with PYTHON_CODE_ENABLED=true"))
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Reads the keys again, so that a revoked one is refused from now on.
    pub async fn reload_keys(&self) -> Result<(), ordain_store::StoreError> {
        self.inner.keys.reload().await
    }

    /// Says that no new work is taken any more. What goes on may come to its end.
    pub fn begin_draining(&self) {
        self.inner.draining.store(true, Ordering::Release);
    }

    /// Whether no new work is taken.
    pub fn is_draining(&self) -> bool {
        self.inner.draining.load(Ordering::Acquire)
    }

    /// Cancels every run that goes on: each is rolled back and recorded.
    pub fn cancel_runs(&self) {
        self.inner.live.cancel_all();
    }

    /// Waits until no run goes on, and cancels those that still do after the time: they are rolled back and recorded.
    pub async fn finish_runs(&self, time: Duration) {
        if tokio::time::timeout(time, self.inner.live.idle()).await.is_ok() {
            return;
        }
        self.inner.live.cancel_all();
        // Rolling back and recording takes moments; a store that does not answer is not waited for.
        let _ = tokio::time::timeout(Duration::from_secs(20), self.inner.live.idle()).await;
    }
}
