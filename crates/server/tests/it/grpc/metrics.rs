//! What an executor counts, read as Prometheus reads it.

use ordain_server::grpc::proto;
use ordain_server::grpc::proto::event;
use ordain_server::grpc::server::{BoundServer, ServeError};

use super::world::{Notes, World, execute, options, sent};
use crate::http::client;

async fn figures(world: &World) -> String {
    let answer = client::send(world.metrics.unwrap(), "GET", "/metrics", &[], b"").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"));
    answer.text()
}

#[track_caller]
fn has(figures: &str, line: &str) {
    assert!(figures.lines().any(|of| of == line), "{line}\n{figures}");
}

#[tokio::test]
async fn calls_jobs_and_cells_are_counted() {
    let world = World::with(|options| {
        options.metrics = Some("127.0.0.1:0".parse().unwrap());
        (options.local.running_max, options.local.waiting_max) = (1, 1);
    })
    .await;
    execute(&world, sent("print(1)")).await.unwrap();
    execute(&world, sent("1 / 0")).await.unwrap();
    execute(&world, sent("import socket")).await.unwrap();
    let mut client = world.client().await;
    let session = client.create_session(proto::CreateSessionRequest { profile: "core".to_owned() }).await;
    session.unwrap();
    let unknown = proto::CreateSessionRequest { profile: "odd".to_owned() };
    let refused = client.create_session(unknown).await.unwrap_err();
    client.describe(proto::DescribeRequest {}).await.unwrap();

    // One runs, one waits, and a third finds no place.
    let long = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n";
    let request = |code: &str| proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
    let mut first = world.client().await.execute(request(long)).await.unwrap().into_inner();
    assert!(matches!(first.message().await.unwrap().unwrap().event, Some(event::Event::Output(_))));
    let second = world.client().await.execute(request(long)).await.unwrap().into_inner();
    let mut busy = figures(&world).await;
    for _ in 0..500 {
        if busy.contains("ordain_queue_depth 1\n") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        busy = figures(&world).await;
    }
    has(&busy, "ordain_queue_depth 1");
    has(&busy, "ordain_cells_active 1");
    has(&busy, "ordain_sessions_open 1");
    execute(&world, sent("print(1)")).await.unwrap_err();
    drop((first, second));
    world.wait_running(0).await;

    let figures = figures(&world).await;
    has(&figures, "ordain_grpc_handled_total{method=\"Execute\",code=\"Ok\"} 3");
    has(&figures, "ordain_grpc_handled_total{method=\"Execute\",code=\"ResourceExhausted\"} 1");
    has(&figures, "ordain_grpc_handled_total{method=\"CreateSession\",code=\"Ok\"} 1");
    let refused =
        format!("ordain_grpc_handled_total{{method=\"CreateSession\",code=\"{:?}\"}} 1", refused.code());
    has(&figures, &refused);
    for cause in ["ok", "error", "rejected"] {
        has(&figures, &format!("ordain_cell_ends_total{{cause=\"{cause}\"}} 1"));
    }
    assert!(figures.contains("ordain_grpc_handled_total{method=\"Describe\",code=\"Ok\"}"), "{figures}");
    assert!(figures.contains("ordain_grpc_handling_seconds_count{method=\"Execute\"}"), "{figures}");
    let other = client::send(world.metrics.unwrap(), "GET", "/", &[], b"").await;
    assert_eq!(other.status, 404);
    world.end().await;
}

#[tokio::test]
async fn figures_for_other_machines_need_the_token() {
    let anywhere = Some("0.0.0.0:0".parse().unwrap());
    let mut open = options();
    open.metrics = anywhere;
    let log = std::sync::Arc::new(Notes::default());
    let refused = BoundServer::bind("127.0.0.1:0".parse().unwrap(), open, log).await.unwrap_err();
    assert!(matches!(refused, ServeError::Exposed { .. }), "{refused}");

    let token = "a token that is long enough";
    let world = World::with(|options| {
        options.metrics = anywhere;
        options.token = Some(token.to_owned());
    })
    .await;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], world.metrics.unwrap().port()));
    let shown = format!("Authorization: Bearer {token}");
    for (lines, status) in
        [(&[][..], 401), (&["Authorization: Bearer x"][..], 401), (&[shown.as_str()][..], 200)]
    {
        assert_eq!(client::send(address, "GET", "/metrics", lines, b"").await.status, status, "{lines:?}");
    }
    // A call without the token is counted at the door.
    execute(&world, sent("print(1)")).await.unwrap_err();
    let text = client::send(address, "GET", "/metrics", &[&shown], b"").await.text();
    has(&text, "ordain_grpc_handled_total{method=\"any\",code=\"Unauthenticated\"} 1");
    world.end().await;
}
