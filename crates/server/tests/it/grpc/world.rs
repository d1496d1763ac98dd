//! An executor for one test, on a free port of this machine, and jobs for it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{Host, HostCall, HostError, HostFuture, Job, LocalOptions, Output, Stream};
use ordain_server::grpc::log::{Log, LogEvent};
use ordain_server::grpc::proto::executor_client::ExecutorClient;
use ordain_server::grpc::proto::{self, event};
use ordain_server::grpc::server::{BoundServer, Reload, ServeError, ServeOptions};
use ordain_server::grpc::{RemoteExecutor, RemoteOptions};
use ordain_types::Schema;
use ordain_verify::{Contract, Policy, verify};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

/// A served executor with its own zygote.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) log: Arc<Notes>,
    pub(crate) reload: Reload,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) serving: JoinHandle<Result<(), ServeError>>,
}

/// Keeps what the executor told its operator.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<LogEvent>>);

impl Log for Notes {
    fn write(&self, event: &LogEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Notes {
    /// What was told, as text.
    pub(crate) fn text(&self) -> String {
        let mut lines: Vec<String> = self.0.lock().unwrap().iter().map(ToString::to_string).collect();
        lines.push(String::new());
        lines.join("\n")
    }
}

pub(crate) fn options() -> ServeOptions {
    let mut local = LocalOptions::new(DataDir::from_env().unwrap());
    local.idle_cells = 1;
    // Most tests are about the wire and not about the verifier.
    ServeOptions { allow_open: true, ..ServeOptions::new(local) }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let mut options = options();
        change(&mut options);
        Self::at("127.0.0.1:0".parse().unwrap(), options).await
    }

    pub(crate) async fn at(address: SocketAddr, options: ServeOptions) -> Self {
        let log = Arc::new(Notes::default());
        let server = BoundServer::bind(address, options, log.clone()).await.unwrap();
        let (address, metrics) = (server.address(), server.metrics_address());
        let (stop, stopped) = oneshot::channel::<()>();
        let (reload, asked) = BoundServer::reload();
        let stopped = async move {
            let _ = stopped.await;
        };
        let serving = tokio::spawn(server.serve(stopped, asked));
        Self { address, metrics, log, reload, stop: Some(stop), serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn client(&self) -> ExecutorClient<Channel> {
        let channel = Channel::from_shared(self.url()).unwrap().connect().await.unwrap();
        let client = ExecutorClient::new(channel);
        client.max_decoding_message_size(64 << 20).max_encoding_message_size(64 << 20)
    }

    pub(crate) fn remote(&self) -> RemoteExecutor {
        RemoteExecutor::new(&self.url(), &RemoteOptions::default()).unwrap()
    }

    /// Asks the executor to stop.
    pub(crate) fn stop(&mut self) {
        self.stop.take();
    }

    /// Stops it and waits until it is gone.
    pub(crate) async fn end(mut self) {
        self.stop();
        self.serving.await.unwrap().unwrap();
    }

    /// Waits until so many jobs run.
    pub(crate) async fn wait_running(&self, running: u64) {
        let mut client = self.client().await;
        for _ in 0..1000 {
            let described = client.describe(proto::DescribeRequest {}).await.unwrap().into_inner();
            if described.load.unwrap().running == running {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("there were never {running} running jobs");
    }
}

/// A job as it travels, under the contract `exec`.
pub(crate) fn sent(code: &str) -> proto::Job {
    proto::Job { code: code.to_owned(), ..proto::Job::default() }
}

/// A job as it travels, under the contract `open`.
pub(crate) fn sent_open(code: &str) -> proto::Job {
    let judgement = proto::Judgement { contract: "open".to_owned(), ..proto::Judgement::default() };
    proto::Job { judgement: Some(judgement), ..sent(code) }
}

/// A job of this side, under the contract `exec`.
pub(crate) fn job(code: &str) -> Job {
    job_under(Contract::Exec, code)
}

/// A job of this side, under the contract `open`, which may call its host by name.
pub(crate) fn open_job(code: &str) -> Job {
    job_under(Contract::Open, code)
}

fn job_under(contract: Contract, code: &str) -> Job {
    let verdict = verify(code, &Policy::for_contract(contract), &Schema::default());
    assert!(verdict.is_accepted(), "{:?}", verdict.findings);
    Job::new(verdict.into_verified().unwrap(), Profile::Core)
}

/// What came of a job, taken together.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) artifacts: Vec<(String, Vec<u8>)>,
    pub(crate) result: proto::Result,
}

pub(crate) async fn take_all(events: &mut Streaming<proto::Event>) -> Result<Came, Status> {
    let mut came = Came::default();
    while let Some(event) = events.message().await? {
        match event.event.unwrap() {
            event::Event::Output(output) => {
                let text = String::from_utf8(output.data.clone()).unwrap();
                match output.stream() {
                    proto::Stream::Stdout => came.stdout.push_str(&text),
                    _ => came.stderr.push_str(&text),
                }
            }
            event::Event::Artifact(piece) => match came.artifacts.last_mut() {
                Some((name, content)) if *name == piece.name => content.extend(piece.data),
                _ => came.artifacts.push((piece.name, piece.data)),
            },
            event::Event::Result(result) => came.result = result,
            event::Event::HostCall(call) => panic!("nobody expects {call:?}"),
            event::Event::Lacks(lacks) => panic!("nobody expects {lacks:?}"),
        }
    }
    Ok(came)
}

pub(crate) async fn execute(world: &World, job: proto::Job) -> Result<Came, Status> {
    execute_with(world, job, Vec::new()).await
}

pub(crate) async fn execute_with(
    world: &World,
    job: proto::Job,
    files: Vec<proto::File>,
) -> Result<Came, Status> {
    let request = proto::ExecuteRequest { job: Some(job), files };
    let mut events = world.client().await.execute(request).await?.into_inner();
    take_all(&mut events).await
}

/// A host that doubles numbers, and remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Doubling {
    pub(crate) asked: Vec<Value>,
}

impl Host for Doubling {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        let number = call.arguments.get("number").cloned().unwrap_or_default();
        self.asked.push(number.clone());
        let answer = match number.as_i64() {
            Some(number) if call.name == "double" => Ok(Value::from(number * 2)),
            _ => Err(HostError::new("unknown_function", "there is only `double`")),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Takes output apart by stream.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Output for Taken {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(bytes),
            Stream::Stderr => self.stderr.extend_from_slice(bytes),
        }
    }
}
