//! Tables that an executor keeps between jobs.

use std::path::Path;

use ordain_cell::{Discard, Executor as _, InputFile, Job, NoHost};
use ordain_server::grpc::proto::{self, event, run_request};
use ordain_types::Cause;
use sha2::{Digest as _, Sha256};

use super::host::Raw;
use super::world::{World, open_job, sent_open};

const SHOW: &str = "print(open('/work/data/sales').read())";

/// A job that reads the table `sales` from a file of that name.
fn reading(path: Option<&Path>) -> Job {
    let mut job = open_job(SHOW);
    job.frames.insert("sales".to_owned(), "sales".to_owned());
    job.files =
        path.map(|path| InputFile { name: "sales".to_owned(), path: path.to_owned() }).into_iter().collect();
    job
}

/// What the executor says it lacks, when it is told of a table with this content.
async fn lacking(raw: &mut Raw, content: &[u8]) -> Vec<String> {
    let sha256 = ordain_types::hex(&Sha256::digest(content));
    let known = vec![proto::KnownFile { name: "sales".to_owned(), sha256 }];
    raw.say(run_request::Message::Start(proto::Job { known, ..sent_open(SHOW) })).await;
    match raw.next().await.unwrap() {
        event::Event::Lacks(lacks) => lacks.names,
        other => panic!("{other:?}"),
    }
}

async fn send(raw: &Raw, content: &[u8]) {
    let chunk = proto::FileChunk { name: "sales".to_owned(), data: content.to_vec() };
    raw.say(run_request::Message::File(chunk)).await;
    raw.say(run_request::Message::Go(proto::Go {})).await;
}

#[tokio::test]
async fn a_table_that_came_with_an_earlier_job_is_not_sent_again() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (path, remote) = (folder.path().join("sales.arrow"), world.remote());
    for content in ["first", "second"] {
        fs_err::write(&path, content).unwrap();
        let printed = format!("{content}\n").into_bytes();
        for _ in 0..2 {
            let ran = remote.run(reading(Some(&path)), &mut NoHost, &mut Discard).await.unwrap();
            assert_eq!((ran.cause, ran.stdout), (Cause::Ok, printed.clone()));
        }
        let mut raw = Raw::new(&world).await;
        assert!(lacking(&mut raw, content.as_bytes()).await.is_empty());
    }
    let mut raw = Raw::new(&world).await;
    assert_eq!(lacking(&mut raw, b"third").await, ["sales"]);
    drop(raw);
    world.end().await;
}

#[tokio::test]
async fn a_table_that_is_larger_than_the_work_folder_of_its_job_is_read() {
    const MIB: usize = 1 << 20;
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.arrow");
    fs_err::write(&path, vec![b'x'; 6 * MIB]).unwrap();
    let limits = ordain_types::Limits {
        work_bytes: Some(4 << 20),
        file_bytes: 1 << 20,
        ..ordain_types::Limits::default()
    };
    let code = "import os\nprint(os.path.getsize('/work/data/sales'))";
    for session in [None, Some("s".to_owned())] {
        let job = Job { limits: limits.clone(), session, ..reading(Some(&path)) };
        let job = Job { code: open_job(code).code, ..job };
        let ran = world.remote().run(job, &mut NoHost, &mut Discard).await.unwrap();
        assert_eq!((ran.cause, ran.stdout), (Cause::Ok, format!("{}\n", 6 * MIB).into_bytes()));
    }
    // What is no table keeps to the limits of the job.
    let mut job = Job { limits, ..reading(Some(&path)) };
    job.frames.clear();
    let refused = world.remote().run(job, &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(refused.to_string().contains("limit of one file"), "{refused}");
    world.end().await;
}

#[tokio::test]
async fn a_table_of_a_session_is_found_again_by_its_later_jobs() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.arrow");
    fs_err::write(&path, "rows").unwrap();
    let remote = world.remote();
    let in_session = |job: Job| Job { session: Some("s".to_owned()), is_fresh: true, ..job };
    for path in [Some(path.as_path()), None, None] {
        let ran = remote.run(in_session(reading(path)), &mut NoHost, &mut Discard).await.unwrap();
        assert_eq!((ran.cause, ran.stdout.as_slice()), (Cause::Ok, &b"rows\n"[..]), "{:?}", ran.error);
    }
    // Elsewhere it never came.
    let elsewhere = Job { session: Some("t".to_owned()), ..reading(None) };
    let refused = remote.run(elsewhere, &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(refused.to_string().contains("did not come with the job"), "{refused}");
    // It went with the cell.
    let slow = Job {
        limits: ordain_types::Limits { wall: std::time::Duration::from_millis(200), ..Default::default() },
        ..open_job("while True: pass")
    };
    let ran = remote.run(in_session(slow), &mut NoHost, &mut Discard).await.unwrap();
    assert_eq!(ran.cause, Cause::Timeout);
    let refused = remote.run(in_session(reading(None)), &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(refused.to_string().contains("did not come with the job"), "{refused}");
    world.end().await;
}

#[tokio::test]
async fn a_table_that_is_not_what_its_digest_says_is_neither_used_nor_kept() {
    let world = World::new().await;
    let mut forger = Raw::new(&world).await;
    assert_eq!(lacking(&mut forger, b"true").await, ["sales"]);
    send(&forger, b"false").await;
    let status = forger.refusal().await;
    assert!(status.message().contains("is not what its digest says"), "{status}");
    let mut honest = Raw::new(&world).await;
    assert_eq!(lacking(&mut honest, b"true").await, ["sales"]);
    // A table that is on its way is waited for.
    let mut second = Raw::new(&world).await;
    let (asked, ()) = tokio::join!(lacking(&mut second, b"true"), send(&honest, b"true"));
    assert!(asked.is_empty(), "{asked:?}");
    let unsent = Raw::new(&world).await;
    let known = vec![proto::KnownFile { name: "sales".to_owned(), sha256: "0".repeat(64) }];
    unsent.say(run_request::Message::Start(proto::Job { known, ..sent_open("1") })).await;
    unsent.say(run_request::Message::Go(proto::Go {})).await;
    assert!(unsent.refusal().await.message().contains("was not sent"));
    drop((honest, second));
    world.end().await;
}

#[tokio::test]
async fn an_executor_that_keeps_nothing_is_sent_every_table() {
    let world = World::with(|options| options.kept_bytes_max = 0).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.arrow");
    fs_err::write(&path, "rows").unwrap();
    let remote = world.remote();
    for _ in 0..2 {
        let ran = remote.run(reading(Some(&path)), &mut NoHost, &mut Discard).await.unwrap();
        assert_eq!(ran.stdout, b"rows\n");
    }
    world.end().await;
}
