//! Sessions over the wire.

use std::time::Duration;

use ordain_cell::{Discard, Executor as _, NoHost};
use ordain_server::grpc::proto;
use tonic::Code;

use super::world::{World, execute, open_job, sent};

#[tokio::test]
async fn a_session_keeps_its_variables_until_it_is_ended() {
    // As an executor is without any flag.
    let world = World::with(|options| options.allow_open = false).await;
    let mut client = world.client().await;
    let id = client.create_session(proto::CreateSessionRequest::default()).await.unwrap().into_inner().id;
    let in_session = |code: &str| proto::Job { session: id.clone(), ..sent(code) };
    execute(&world, in_session("x = 41\n")).await.unwrap();
    let open = |code: &str| proto::Job {
        judgement: Some(proto::Judgement { names: vec!["x".to_owned()], ..proto::Judgement::default() }),
        ..in_session(code)
    };
    let came = execute(&world, open("print(x + 1)\n")).await.unwrap();
    assert_eq!(came.stdout, "42\n", "{:?}", came.result);
    let listed = client.list_sessions(proto::ListSessionsRequest {}).await.unwrap().into_inner().sessions;
    assert_eq!((listed.len(), listed[0].jobs, listed[0].profile.as_str()), (1, 2, "core"));
    let end = proto::EndSessionRequest { id: id.clone() };
    assert!(client.end_session(end.clone()).await.unwrap().into_inner().ended);
    assert!(!client.end_session(end).await.unwrap().into_inner().ended);
    let status = execute(&world, in_session("1")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    world.end().await;
}

#[tokio::test]
async fn an_idle_session_ends_by_itself() {
    let world = World::with(|options| options.session_idle_max = Duration::from_millis(10)).await;
    let mut client = world.client().await;
    client.create_session(proto::CreateSessionRequest::default()).await.unwrap();
    let mut is_gone = false;
    for _ in 0..600 {
        let listed = client.list_sessions(proto::ListSessionsRequest {}).await.unwrap().into_inner();
        is_gone = listed.sessions.is_empty();
        if is_gone {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(is_gone);
    world.end().await;
}

#[tokio::test]
async fn the_client_opens_keeps_and_ends_sessions_by_its_own_names() {
    let world = World::new().await;
    let remote = world.remote();
    let run = async |session: &str, code: &str| {
        let mut job = open_job(code);
        job.session = Some(session.to_owned());
        remote.run(job, &mut NoHost, &mut Discard).await.unwrap()
    };
    run("ann", "x = 1").await;
    run("bob", "x = 2").await;
    assert_eq!(run("ann", "print(x)").await.stdout, b"1\n");
    assert_eq!(run("bob", "print(x)").await.stdout, b"2\n");
    assert!(remote.end_session("ann").await);
    assert!(!remote.end_session("ann").await);
    assert_eq!(run("ann", "print('x' in globals())").await.stdout, b"False\n");
    world.end().await;
}
