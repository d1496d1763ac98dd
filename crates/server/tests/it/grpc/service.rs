//! The service around the jobs: description, health, reflection, places, the end.

use std::time::Duration;

use ordain_server::grpc::proto::{self, event};
use ordain_server::grpc::server::{BoundServer, ServeError};
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};

use super::world::{Notes, World, execute, options, sent};

async fn health(world: &World, service: &str) -> Result<ServingStatus, tonic::Status> {
    let channel = Channel::from_shared(world.url()).unwrap().connect().await.unwrap();
    let request = HealthCheckRequest { service: service.to_owned() };
    HealthClient::new(channel).check(request).await.map(|answer| answer.into_inner().status())
}

#[tokio::test]
async fn an_executor_describes_itself() {
    let world = World::with(|options| options.allow_open = false).await;
    let told = world.client().await.describe(proto::DescribeRequest {}).await.unwrap().into_inner();
    assert_eq!((told.version.as_str(), told.isolation.as_str()), (env!("CARGO_PKG_VERSION"), "full"));
    assert_eq!(told.contracts, ["ask", "check", "code", "exec"]);
    assert_eq!(told.profiles[0].modules, ["tinydb"]);
    assert_eq!(told.load.unwrap().running_max, 32);
    assert!(!told.draining && told.instance.len() == 32);
    world.end().await;
}

#[tokio::test]
async fn health_is_told_by_the_usual_protocol() {
    let world = World::new().await;
    for service in ["", "ordain.executor.v1.Executor"] {
        assert_eq!(health(&world, service).await.unwrap(), ServingStatus::Serving);
    }
    assert_eq!(health(&world, "unknown").await.unwrap_err().code(), Code::NotFound);
    world.end().await;
}

#[tokio::test]
async fn reflection_tells_the_services_unless_it_is_switched_off() {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

    async fn ask(world: &World) -> Result<ServerReflectionResponse, tonic::Status> {
        let channel = Channel::from_shared(world.url()).unwrap().connect().await.unwrap();
        let message_request = Some(MessageRequest::ListServices(String::new()));
        let request = ServerReflectionRequest { host: String::new(), message_request };
        let mut client = ServerReflectionClient::new(channel);
        let asked = client.server_reflection_info(tokio_stream::once(request));
        Ok(asked.await?.into_inner().message().await?.unwrap())
    }
    let world = World::new().await;
    let Some(MessageResponse::ListServicesResponse(listed)) = ask(&world).await.unwrap().message_response
    else {
        panic!("services are not listed");
    };
    let mut names: Vec<_> = listed.service.into_iter().map(|service| service.name).collect();
    names.sort();
    assert_eq!(
        names,
        ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "ordain.executor.v1.Executor"]
    );
    world.end().await;
    let world = World::with(|options| options.reflection = false).await;
    assert_eq!(ask(&world).await.unwrap_err().code(), Code::Unimplemented);
    world.end().await;
}

#[tokio::test]
async fn a_full_executor_says_so_and_when_to_come_back() {
    let world = World::with(|options| {
        options.local.running_max = 1;
        options.local.waiting_max = 0;
    })
    .await;
    let code = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n";
    let request = proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
    let mut events = world.client().await.execute(request).await.unwrap().into_inner();
    assert!(matches!(events.message().await.unwrap().unwrap().event, Some(event::Event::Output(_))));
    let status = execute(&world, sent("print(1)")).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let details = String::from_utf8_lossy(status.details()).into_owned();
    assert!(details.contains("google.rpc.RetryInfo") && details.contains("BUSY"), "{details}");
    drop(events);
    world.wait_running(0).await;
    assert_eq!(execute(&world, sent("print(1)")).await.unwrap().stdout, "1\n");
    world.end().await;
}

#[tokio::test]
async fn a_stopping_executor_finishes_what_runs_and_takes_nothing_new() {
    let mut world = World::new().await;
    let mut other = world.client().await;
    let code = "import time\nprint('begun', flush=True)\ntime.sleep(1)\nprint('done')\n";
    let request = proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
    let mut events = world.client().await.execute(request).await.unwrap().into_inner();
    events.message().await.unwrap();
    world.stop();
    let came = super::world::take_all(&mut events).await.unwrap();
    assert_eq!((came.result.cause.as_str(), came.stdout.as_str()), ("ok", "done\n"));
    let refused = other.execute(proto::ExecuteRequest { job: Some(sent("1")), files: Vec::new() }).await;
    assert!(refused.is_err());
    world.serving.await.unwrap().unwrap();
    let log = world.log.text();
    assert!(log.contains("stopping; 1 jobs run") && log.ends_with("stopped\n"), "{log}");
}

#[tokio::test]
async fn a_job_that_does_not_end_is_not_waited_for_beyond_the_drain_time() {
    let mut world = World::with(|options| options.drain_max = Duration::from_millis(100)).await;
    let code = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n";
    let request = proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
    let mut events = world.client().await.execute(request).await.unwrap().into_inner();
    events.message().await.unwrap();
    world.stop();
    world.serving.await.unwrap().unwrap();
    assert!(
        !matches!(events.message().await, Ok(Some(event)) if matches!(event.event, Some(event::Event::Output(_))))
    );
}

#[tokio::test]
async fn an_address_that_others_reach_needs_tls_and_a_proof_of_who_calls() {
    let bind = async |change: &dyn Fn(&mut ordain_server::grpc::server::ServeOptions)| {
        let mut options = options();
        change(&mut options);
        BoundServer::bind("0.0.0.0:0".parse().unwrap(), options, std::sync::Arc::new(Notes::default())).await
    };
    let token = || Some("0123456789abcdef0123".to_owned());
    assert!(matches!(bind(&|_| {}).await, Err(ServeError::Exposed { .. })));
    assert!(matches!(bind(&|options| options.token = token()).await, Err(ServeError::Exposed { .. })));
    let plain = bind(&|options| options.allow_plaintext = true).await;
    assert!(matches!(plain, Err(ServeError::Exposed { .. })), "plaintext alone proves nothing");
    let weak = bind(&|options| options.token = Some("short".to_owned())).await;
    assert!(matches!(weak, Err(ServeError::WeakToken { bytes: 5 })));
    let asked_for = bind(&|options| {
        options.token = token();
        options.allow_plaintext = true;
    })
    .await;
    assert!(asked_for.is_ok());
}
