//! `ordain serve`: serves a workspace over HTTP.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use ordain_cell::profile::Profile;
use ordain_checks::Checks;
use ordain_engine::{Engine, EngineSettings, OtherNodes, Planner};
use ordain_files::open_store;
use ordain_server::Address;
use ordain_server::cluster::Nats;
use ordain_server::grpc::ExecutorPool;
use ordain_server::http::{self, HttpOptions, LogFormat, ServeLock, ServeLockError, Service};
use ordain_server::trace::traced;
use ordain_types::{parse_bytes, parse_duration};
use ordain_workspace::Workspace;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::cluster::{self, ClusterArgs};
use crate::commands::{backup, cluster as servers};
use crate::executor::{Chosen, ExecutorArgs};
use crate::failure::{Failure, Outcome, UNAVAILABLE, USAGE};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::switched_off;
use crate::trace;
use crate::workspace::WorkspaceArgs;

/// Cells that are made ahead, so that a request need not wait for one.
pub(crate) const IDLE_CELLS: usize = 4;

/// How long a server may take to say where it is, and how often another one looks.
const OTHER_STARTS: (Duration, Duration) = (Duration::from_secs(30), Duration::from_millis(20));

/// Requests that the web UI proposes.
const EXAMPLES_SHOWN: usize = 3;
/// The longest evaluation that is looked into for them.
const EVALUATION_BYTES_MAX: u64 = 4 << 20;

const EXAMPLES: &str = "\
Examples:
  ordain serve                                        on http://127.0.0.1:8000, for this machine
  curl -s localhost:8000/v1/requests -H 'Content-Type: application/json' \\
       -d '{\"request\": \"do you have round sunglasses?\"}'
  ordain keys create --scope read,run                 a key, and then
  ordain serve --listen 0.0.0.0:8000                  for other machines, with keys
  ordain serve --cluster nats://a:4222                as one of several nodes on one PostgreSQL database

Environment: OTEL_EXPORTER_OTLP_ENDPOINT names a collector for traces; without it none are sent.
PYTHON_CODE_ENABLED=false refuses code and plans that callers give, and questions about files.
http://127.0.0.1:8000 is the web UI, /docs shows every route. SIGTERM or Ctrl-C lets running work end, SIGHUP reads
the keys and the certificates for executors again. Exit code: 0 stopped, 2 usage, 3 could not serve.";

/// Serve the workspace over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Command {
    #[command(flatten)]
    args: Args,
    #[command(subcommand)]
    about: Option<About>,
}

#[derive(Debug, clap::Subcommand)]
enum About {
    /// The servers of a workspace that work together
    Cluster {
        #[command(subcommand)]
        command: servers::Command,
    },
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Where to listen; port 0 takes a free one, `unix:/PATH` is a socket for programs of the same user
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    listen: Address,
    /// A web page's origin that may call; may be given several times
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', value_parser = read_origin)]
    cors: Vec<String>,
    /// A name under which a proxy on this machine reaches a loopback address; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = read_host)]
    host: Vec<String>,
    /// Ask for keys on a loopback address too
    #[arg(long)]
    require_keys: bool,
    /// How requests are logged, to stderr [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    log: Option<LogArg>,
    /// Requests a minute for a key that has no limit of its own
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    requests_per_minute: u64,
    /// Runs at once for a key that has no limit of its own
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    cells: u64,
    /// Tokens of models a day for a key that has no limit of its own; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    tokens_per_day: u64,
    /// Sessions that one caller may have open; idle ones end after 15 minutes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one)]
    sessions: usize,
    /// Let callers run code under the policy `open`, where only the jail defends
    #[arg(long)]
    allow_open: bool,
    /// Connections that are open at once, if the system permits so many; others wait
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one)]
    connections: usize,
    /// Connections from one address of another machine
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one)]
    connections_per_address: usize,
    /// Records and files that runs of one key may leave in a day
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_bytes)]
    stored_per_day: u64,
    /// How long running work may go on when the server stops
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    drain: Duration,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Runs of the cluster's queue that this node carries out at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Cluster")]
    slots: u32,
    /// Do not serve the web UI
    #[arg(long)]
    no_ui: bool,
    /// Print where it listens as JSON, to stdout
    #[arg(long)]
    json: bool,
    /// For the program that starts it: stop when stdin ends; where the workspace is served already, say by whom and stop
    #[arg(long, requires = "json")]
    for_client: bool,
}

/// How requests are logged.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogArg {
    // Descriptions of values would make the help of every flag several lines long.
    Json,
    Text,
    Off,
}

/// Called with the address of the server, or of another one that serves the workspace already.
pub(crate) type OnReady = fn(&Address);

/// Carries out `ordain serve`.
pub(crate) fn run(command: &Command) -> Outcome {
    match &command.about {
        Some(About::Cluster { command: about }) => servers::run(&command.args.workspace, about),
        None => run_and(&command.args, None),
    }
}

/// Serves, and calls `found` once there is something to open.
pub(crate) fn run_and(args: &Args, found: Option<OnReady>) -> Outcome {
    let workspace = args.workspace.load()?;
    let lock = match (take_lock(args, &workspace.state()), found) {
        (Err(ServeLockError::Taken { address: Some(address), .. }), Some(found)) => {
            found(&address);
            return Ok(ExitCode::SUCCESS);
        }
        (Err(ServeLockError::Taken { address: Some(address), process }), None) if args.for_client => {
            let told = json!({ "listen": address.to_string(), "url": address.url(), "served_by": process });
            announce(args, &told.to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        (lock, _) => lock?,
    };
    args.executor.ensure_python(Profile::Core, &workspace)?;
    http::raise_descriptor_limit();
    runtime::on_all_threads(Box::pin(serve(args, &workspace, lock, found)))?
}

/// Takes the right to serve. Clients that start servers at the same moment find the one that was first.
fn take_lock(args: &Args, state: &Path) -> Result<ServeLock, ServeLockError> {
    let (began, (starts_within, look_every)) = (Instant::now(), OTHER_STARTS);
    loop {
        match ServeLock::take(state) {
            Err(ServeLockError::Taken { address: None, .. })
                if args.for_client && began.elapsed() < starts_within =>
            {
                std::thread::sleep(look_every);
            }
            lock => return lock,
        }
    }
}

async fn serve(args: &Args, workspace: &Workspace, mut lock: ServeLock, found: Option<OnReady>) -> Outcome {
    args.cluster.meet_end(workspace.store_options()).await?;
    let store = open_store(workspace).await?;
    let mut options = options(args, workspace);
    if let Err(error) = http::check_address(&options, &store).await {
        return Err(Failure::of(USAGE, &error, error.hint().as_deref()));
    }
    let listener = ordain_server::listen_at(&args.listen).map_err(|error| {
        let hint = "choose another port with `--listen 127.0.0.1:PORT`; port 0 takes a free one";
        Failure::new(UNAVAILABLE, format!("cannot listen on {}: {error}", args.listen), Some(hint))
    })?;
    let executor = args.executor.open(workspace, IDLE_CELLS)?;
    if let Chosen::Local(local) = &executor {
        local.warm(Profile::Core).await?;
    }
    let planner = args.planner.choose(workspace).await?;
    options.listen = listener.address()?;
    options.isolation = match &executor {
        Chosen::Local(local) => local.level().to_string(),
        Chosen::Remote(_) => "of the executors".to_owned(),
    };
    match &executor {
        Chosen::Local(local) => options.local = Some(Arc::clone(local)),
        Chosen::Remote(pool) => options.executors = Some(Arc::clone(pool)),
    }
    let nats = args.cluster.join(workspace, &store).await?;
    if args.executor.is_of_cluster() {
        let (Some(nats), Some(pool)) = (&nats, executor.pool()) else {
            let hint = "give --cluster nats://HOST:4222, or name the executors";
            return Err(Failure::usage(
                "the executors of the cluster are wanted, and no cluster is named",
                hint,
            ));
        };
        cluster::gather(nats.link(), pool).await?;
    }
    let nats = nats.map(Arc::new);
    if let Some(nats) = &nats {
        options.cluster = Arc::<Nats>::clone(nats);
    }
    options.tracer = trace::tracer("ordain")?;
    lock.listens_on(&options.listen)?;
    let (listen, announced) = (options.listen.clone(), announcement(args, &options, &planner));
    tokio::spawn(backup::regularly(store.clone(), workspace.backup.clone()));
    let traced = traced(executor.executor(), &options.tracer);
    let others = nats.map(|nats| nats as Arc<dyn OtherNodes>);
    let settings = EngineSettings { others, ..EngineSettings::of(workspace) };
    let engine = Engine::new(store, traced, settings);
    options.checks = Some(Checks::new(Arc::new(workspace.clone()), engine.clone()));
    let service = Service::new(engine, planner, options);
    // Those who read the address may stop the server at once.
    let stop = watch_signals(service.clone(), executor.pool(), args.for_client)?;
    announce(args, &announced)?;
    if let Some(found) = found {
        found(&listen);
    }
    http::serve(listener, service, stop).await;
    executor.close().await;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args, workspace: &Workspace) -> HttpOptions {
    let by_default = if io::stderr().is_terminal() { LogArg::Text } else { LogArg::Json };
    HttpOptions {
        keys_required: args.require_keys,
        cors: args.cors.clone(),
        model: args.planner.settings(workspace),
        environment: workspace.environment.clone(),
        log: match args.log.unwrap_or(by_default) {
            LogArg::Json => LogFormat::Json,
            LogArg::Text => LogFormat::Text,
            LogArg::Off => LogFormat::Off,
        },
        requests_per_minute: args.requests_per_minute,
        cells: args.cells,
        tokens_per_day: args.tokens_per_day,
        sessions: args.sessions,
        allow_open: args.allow_open,
        code_enabled: switched_off::is_code_enabled(),
        drain_time: args.drain,
        connections_max: args.connections,
        connections_per_address: args.connections_per_address,
        stored_per_day: args.stored_per_day,
        hosts: args.host.clone(),
        slots: args.slots,
        ui: !args.no_ui,
        examples: examples(workspace),
        ..HttpOptions::new(&workspace.name, args.listen.clone(), workspace.state())
    }
}

/// The first requests of the workspace's own evaluation that need no file, as suggestions for new users.
fn examples(workspace: &Workspace) -> Vec<String> {
    // Suggestions are not worth an error; a file that may not be read gives none.
    let text = workspace.text("eval.jsonl", EVALUATION_BYTES_MAX).ok().flatten().unwrap_or_default();
    let cases = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let without_files = cases.filter(|case| case["files"].is_null());
    without_files.filter_map(|case| Some(case["request"].as_str()?.to_owned())).take(EXAMPLES_SHOWN).collect()
}

/// Where the server is and how it is set up, as JSON for programs.
fn announcement(args: &Args, options: &HttpOptions, planner: &Planner) -> String {
    let (url, planner) = (options.listen.url(), planner.name());
    if args.json {
        let told = json!({ "listen": options.listen.to_string(), "url": url, "planner": planner,
            "isolation": options.isolation, "keys": options.needs_keys(),
            "cluster": options.cluster.is_shared() });
        return told.to_string();
    }
    let keys = if options.needs_keys() { "callers need a key" } else { "no key needed on this machine" };
    let page = if options.ui { "" } else { "docs" };
    format!(
        "serving `{}` on {url}\nplanner {planner} · isolation {} · {keys}\n\
         open {url}/{page} · Ctrl-C stops",
        options.workspace, options.isolation
    )
}

fn announce(args: &Args, announced: &str) -> io::Result<()> {
    if !args.json {
        return writeln!(io::stderr().lock(), "{announced}");
    }
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{announced}")?;
    stdout.flush()
}

/// Gives the future that ends when the server is to stop. A second signal does not wait for running work.
fn watch_signals(
    service: Service,
    executors: Option<Arc<ExecutorPool>>,
    ends_with_stdin: bool,
) -> io::Result<impl Future<Output = ()> + use<>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let reloaded = service.clone();
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            let keys = match reloaded.reload_keys().await {
                Ok(()) => "keys were read again".to_owned(),
                Err(error) => format!("keys could not be read again: {error}"),
            };
            let certificates = executors.as_ref().map(|executors| match executors.reload() {
                Ok(()) => "; certificates for executors too".to_owned(),
                Err(error) => format!("; certificates for executors could not be: {error}"),
            });
            let _ = writeln!(io::stderr(), "{keys}{}", certificates.unwrap_or_default());
        }
    });
    let (stop, stopped) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let ended = stdin_has_ended(ends_with_stdin);
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {}, () = ended => {} }
        let _ = stop.send(());
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        service.cancel_runs();
    });
    Ok(async move {
        let _ = stopped.await;
    })
}

/// Done when stdin has ended, if that counts.
async fn stdin_has_ended(counts: bool) {
    if !counts {
        return std::future::pending().await;
    }
    let (at_end, ended) = tokio::sync::oneshot::channel();
    // A thread of its own: the end of the process does not wait for it.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = at_end.send(());
    });
    let _ = ended.await;
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a whole number above zero".to_owned())
}

/// A name without scheme, port or path.
fn read_host(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if text.is_empty() || text.len() > 253 || !text.bytes().all(is_plain) {
        return Err(format!("`{text}` is not a name of a host; write one such as shop.example"));
    }
    Ok(text.to_ascii_lowercase())
}

/// An origin as browsers send it: scheme and host, perhaps a port, nothing else.
fn read_origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ', '*']) => {
            Ok(text.to_ascii_lowercase())
        }
        _ => Err(format!("`{text}` is not an origin; write one such as https://app.example:8443")),
    }
}
