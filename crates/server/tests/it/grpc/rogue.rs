//! An executor that is somebody else's by now: it speaks the protocol and keeps none of its promises.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use ordain_cell::{CellError, Discard, Execution, Executor as _};
use ordain_server::grpc::proto::executor_server::{Executor, ExecutorServer};
use ordain_server::grpc::proto::{self, event};
use ordain_server::grpc::{ConnectError, RemoteExecutor, RemoteOptions};
use ordain_types::Cause;
use ordain_verify::VERIFIER_VERSION;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use super::world::{Doubling, World, execute, job};

/// What it says of itself, and what it does to a job.
#[derive(Debug, Clone)]
struct Rogue {
    verifier_version: u32,
    isolation: &'static str,
    result_isolation: &'static str,
    does: Does,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Nothing,
    Trickle,
    Call,
    Ask,
    End,
}

type Events = Pin<Box<dyn Stream<Item = Result<proto::Event, Status>> + Send>>;

#[tonic::async_trait]
impl Executor for Rogue {
    type ExecuteStream = Events;
    type RunStream = Events;

    async fn execute(&self, _: Request<proto::ExecuteRequest>) -> Result<Response<Events>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn run(&self, request: Request<Streaming<proto::RunRequest>>) -> Result<Response<Events>, Status> {
        let (does, isolation) = (self.does, self.result_isolation.to_owned());
        let mut inbound = request.into_inner();
        let (events, received) = tokio::sync::mpsc::channel(8);
        tokio::spawn(async move {
            // The job and the word to go are swallowed; replies are read so that calls can go on.
            for place in 1_u64.. {
                let event = match does {
                    Does::Nothing => return std::future::pending().await,
                    Does::Trickle => event::Event::Output(proto::Output { stream: 1, data: Vec::new() }),
                    Does::Call => {
                        let (name, arguments_json) = ("add".to_owned(), "{}".to_owned());
                        event::Event::HostCall(proto::HostCall { id: place, name, arguments_json })
                    }
                    Does::Ask => event::Event::Lacks(proto::Lacks { names: vec!["secrets".to_owned()] }),
                    Does::End => {
                        let (cause, isolation) = ("ok".to_owned(), isolation.clone());
                        event::Event::Result(proto::Result { cause, isolation, ..proto::Result::default() })
                    }
                };
                if events.send(Ok(proto::Event { event: Some(event) })).await.is_err() {
                    return;
                }
                let is_calling = does == Does::Call;
                if !is_calling {
                    continue;
                }
                loop {
                    match inbound.next().await {
                        Some(Ok(proto::RunRequest {
                            message: Some(proto::run_request::Message::Reply(_)),
                        })) => break,
                        Some(Ok(_)) => {}
                        _ => return,
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(received))))
    }

    async fn create_session(
        &self,
        _: Request<proto::CreateSessionRequest>,
    ) -> Result<Response<proto::Session>, Status> {
        Ok(Response::new(proto::Session { id: "s".to_owned(), ..proto::Session::default() }))
    }

    async fn end_session(
        &self,
        _: Request<proto::EndSessionRequest>,
    ) -> Result<Response<proto::EndSessionResponse>, Status> {
        Ok(Response::new(proto::EndSessionResponse { ended: true }))
    }

    async fn list_sessions(
        &self,
        _: Request<proto::ListSessionsRequest>,
    ) -> Result<Response<proto::ListSessionsResponse>, Status> {
        Ok(Response::new(proto::ListSessionsResponse::default()))
    }

    async fn describe(
        &self,
        _: Request<proto::DescribeRequest>,
    ) -> Result<Response<proto::DescribeResponse>, Status> {
        Ok(Response::new(proto::DescribeResponse {
            verifier_version: self.verifier_version,
            isolation: self.isolation.to_owned(),
            ..proto::DescribeResponse::default()
        }))
    }
}

async fn served(rogue: Rogue) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tonic::transport::Server::builder().add_service(ExecutorServer::new(rogue));
    tokio::spawn(server.serve_with_incoming(tonic::transport::server::TcpIncoming::from(listener)));
    address
}

fn rogue(does: Does) -> Rogue {
    Rogue { verifier_version: VERIFIER_VERSION, isolation: "full", result_isolation: "full", does }
}

async fn run(rogue: Rogue, wall: Duration) -> Result<Execution, CellError> {
    let address = served(rogue).await;
    let options = RemoteOptions { grace: Duration::from_millis(500), ..RemoteOptions::default() };
    let remote = RemoteExecutor::new(&format!("http://{address}"), &options).unwrap();
    let mut job = job("print(1)");
    job.limits.wall = wall;
    remote.run(job, &mut Doubling::default(), &mut Discard).await
}

const SHORT: Duration = Duration::from_millis(200);
/// More than any machine needs.
const LONG: Duration = Duration::from_mins(10);

#[tokio::test]
async fn an_executor_that_never_ends_a_job_is_ended_by_the_callers_own_clock() {
    let execution = run(rogue(Does::Nothing), SHORT).await.unwrap();
    assert_eq!(execution.cause, Cause::Timeout);
    assert!(execution.detail.unwrap().contains("did not end the job in its time"));
}

#[tokio::test]
async fn messages_that_carry_nothing_do_not_keep_a_job_alive() {
    let execution = run(rogue(Does::Trickle), LONG).await.unwrap();
    assert_eq!(execution.cause, Cause::ProtocolError);
    assert!(execution.detail.unwrap().contains("carry nothing"));
}

#[tokio::test]
async fn an_executor_that_asks_for_files_which_nobody_offered_gets_none() {
    let execution = run(rogue(Does::Ask), LONG).await.unwrap();
    assert_eq!(execution.cause, Cause::ProtocolError);
    assert!(execution.detail.unwrap().contains("not offered"));
}

#[tokio::test]
async fn host_calls_without_end_are_ended_by_the_callers_own_clock() {
    // A busy machine needs longer until the first call has come.
    let mut wall = SHORT;
    loop {
        let execution = run(rogue(Does::Call), wall).await.unwrap();
        assert_eq!(execution.cause, Cause::Timeout);
        if execution.host_calls > 0 {
            return;
        }
        assert!(wall < LONG, "no call has come");
        wall *= 4;
    }
}

#[tokio::test]
async fn an_executor_of_another_verifier_or_below_the_minimum_gets_no_job() {
    for (rogue, said) in [
        (Rogue { verifier_version: 999, ..rogue(Does::End) }, "version 999 of the rules"),
        (Rogue { isolation: "reduced", ..rogue(Does::End) }, "below the minimum"),
        (Rogue { isolation: "best", ..rogue(Does::End) }, "no level of isolation"),
    ] {
        let error = run(rogue, LONG).await.unwrap_err();
        assert!(matches!(&error, CellError::Refused { .. }) && error.to_string().contains(said), "{error}");
    }
    assert_eq!(run(rogue(Does::End), LONG).await.unwrap().cause, Cause::Ok);
    // It says one thing of itself and another of the job.
    let worse = Rogue { result_isolation: "reduced", ..rogue(Does::End) };
    let execution = run(worse, LONG).await.unwrap();
    assert_eq!(execution.cause, Cause::ProtocolError);
    assert!(execution.detail.unwrap().contains("below the minimum"));
}

#[test]
fn a_token_does_not_travel_unencrypted_to_another_machine() {
    let mut options =
        RemoteOptions { token: Some("0123456789abcdef".to_owned()), ..RemoteOptions::default() };
    for address in ["http://10.0.0.5:50051", "http://executor.internal:50051", "http://localhost.evil:1"] {
        let error = RemoteExecutor::new(address, &options).unwrap_err();
        assert!(matches!(error, ConnectError::Plaintext { .. }), "{address}: {error}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    for address in ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"] {
        assert!(RemoteExecutor::new(address, &options).is_ok(), "{address}");
    }
    options.allow_plaintext = true;
    assert!(RemoteExecutor::new("http://10.0.0.5:50051", &options).is_ok());
}

/// What `--allow-open` forbids is not to be had through the rules and helpers that a caller sends along.
#[tokio::test]
async fn rules_names_and_helpers_of_a_caller_do_not_widen_what_the_executor_allows() {
    let world = World::with(|options| options.allow_open = false).await;
    let judged = |change: fn(&mut proto::Judgement)| {
        let mut judgement = proto::Judgement::default();
        change(&mut judgement);
        judgement
    };
    let jobs = [
        ("import os", judged(|judgement| judgement.contract = "open".to_owned()), ""),
        ("import ctypes", judged(|judgement| judgement.allowed_imports.push("ctypes".to_owned())), ""),
        ("eval('1')", judged(|judgement| judgement.allowed_calls.push("eval".to_owned())), ""),
        ("__import__('os')", judged(|judgement| judgement.names.push("__import__".to_owned())), ""),
        ("exec('1')", judged(|judgement| judgement.names.extend(["exec".to_owned(), "eval".to_owned()])), ""),
        ("f()", judged(|_| {}), "import ctypes\ndef f():\n    return ctypes.CDLL(None).getpid()\n"),
        ("f()", judged(|_| {}), "def f():\n    return eval('1')\n"),
        ("f('1')", judged(|_| {}), "f = exec\n"),
        ("A.b('os')", judged(|_| {}), "class A:\n    b = staticmethod(__import__)\n"),
        ("import posix", judged(|judgement| judgement.allowed_imports.push("posix".to_owned())), ""),
        ("eval('1')", judged(|judgement| judgement.contract = "check".to_owned()), ""),
        (
            "__import__('os')",
            judged(|judgement| {
                judgement.helpers.push(proto::Helper { name: "__import__".to_owned(), may_write: false });
            }),
            "",
        ),
    ];
    for (code, judgement, helpers) in jobs {
        let sent = proto::Job {
            code: code.to_owned(),
            helpers: helpers.to_owned(),
            judgement: Some(judgement),
            ..proto::Job::default()
        };
        match execute(&world, sent).await {
            Err(status) => assert_eq!(status.code(), tonic::Code::FailedPrecondition, "{code}: {status}"),
            Ok(came) => assert_eq!(came.result.cause, "rejected", "{code}: {came:?}"),
        }
    }
    let helped = proto::Job {
        code: "print(f())".to_owned(),
        helpers: "def f():\n    return 42\n".to_owned(),
        ..proto::Job::default()
    };
    assert_eq!(execute(&world, helped).await.unwrap().result.cause, "ok");
}

/// The program that looks into files is Ordain's own, not somebody's `open` code.
#[tokio::test]
async fn a_file_can_be_looked_into_by_an_executor_that_takes_no_open_code() {
    let world = World::with(|options| options.allow_open = false).await;
    let program = ordain_files::own_programs().next().unwrap();
    let sent = |code: String| proto::Job {
        code,
        values_json: r#"{"names": [], "settings": {"expanded_bytes_max": 1}}"#.to_owned(),
        judgement: Some(proto::Judgement { contract: "open".to_owned(), ..proto::Judgement::default() }),
        ..proto::Job::default()
    };
    let result = execute(&world, sent(program.to_owned())).await.unwrap().result;
    assert_ne!(result.cause, "rejected", "{result:?}");
    assert!(execute(&world, sent(format!("{program}\nimport os\n"))).await.is_err());
}
