//! `Execute`: one job without a host.

use ordain_server::grpc::proto::{self, event};
use tonic::Code;

use super::world::{World, execute, execute_with, sent, sent_open};

#[tokio::test]
async fn code_runs_and_its_output_comes_back_by_stream() {
    let world = World::new().await;
    let came =
        execute(&world, sent("import sys\nprint(1 + 1)\nprint('oh', file=sys.stderr)\n")).await.unwrap();
    assert_eq!((came.stdout.as_str(), came.stderr.as_str()), ("2\n", "oh\n"));
    let result = came.result;
    assert_eq!((result.cause.as_str(), result.exit, result.isolation.as_str()), ("ok", Some(0), "full"));
    assert!(result.timing.unwrap().run_us > 0);
    assert!(world.log.text().contains("Execute caller=anybody profile=core cause=ok code=Ok"));
    world.end().await;
}

#[tokio::test]
async fn output_comes_while_the_code_still_runs() {
    let world = World::new().await;
    // It ends only when it is cancelled, so what comes before that came while it ran.
    let code = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n";
    let request = proto::ExecuteRequest { job: Some(sent(code)), files: Vec::new() };
    let mut events = world.client().await.execute(request).await.unwrap().into_inner();
    let first = events.message().await.unwrap().unwrap().event.unwrap();
    assert!(matches!(first, event::Event::Output(output) if output.data == b"begun\n"));
    drop(events);
    world.wait_running(0).await;
    world.end().await;
}

#[tokio::test]
async fn files_go_in_and_artifacts_come_back() {
    let world = World::new().await;
    let code = "\
text = files['in.txt'].read_text()
(artifacts / 'out.txt').write_text(text.upper())
(artifacts / 'large.bin').write_bytes(b'x' * 600_000)
(artifacts / 'empty.txt').write_text('')
";
    let file = proto::File { name: "in.txt".to_owned(), content: b"hello".to_vec() };
    let came = execute_with(&world, sent(code), vec![file]).await.unwrap();
    assert_eq!(came.result.cause, "ok", "{:?}", came.result);
    let expected = [
        ("empty.txt".to_owned(), Vec::new()),
        ("large.bin".to_owned(), vec![b'x'; 600_000]),
        ("out.txt".to_owned(), b"HELLO".to_vec()),
    ];
    assert_eq!(came.artifacts, expected);
    let told: Vec<_> =
        came.result.artifacts.iter().map(|artifact| (&*artifact.name, artifact.bytes)).collect();
    assert_eq!(told, [("empty.txt", 0), ("large.bin", 600_000), ("out.txt", 5)]);
    world.end().await;
}

#[tokio::test]
async fn variables_go_in_and_come_back_with_whole_numbers_whole() {
    let world = World::new().await;
    let job = proto::Job {
        values_json: r#"{"n": 9007199254740993}"#.to_owned(),
        collect: vec!["m".to_owned()],
        ..sent("m = {'next': n + 1}\n")
    };
    let came = execute(&world, job).await.unwrap();
    assert_eq!(came.result.values_json, r#"{"m":{"next":9007199254740994}}"#, "{:?}", came.result);
    world.end().await;
}

#[tokio::test]
async fn code_that_the_verifier_refuses_never_runs() {
    let world = World::new().await;
    let came = execute(&world, sent("print('ran')\nimport subproces\n")).await.unwrap();
    assert_eq!((came.result.cause.as_str(), came.stdout.as_str()), ("rejected", ""));
    let finding = &came.result.findings[0];
    assert_eq!((finding.code.as_str(), finding.line), ("unknown-import", 2));
    assert!(world.log.text().contains("cause=rejected"));
    world.end().await;
}

#[tokio::test]
async fn an_exception_and_a_limit_are_results_and_not_errors() {
    let world = World::new().await;
    let came = execute(&world, sent("x = 1\nraise ValueError('no')\n")).await.unwrap();
    let error = came.result.error.unwrap();
    assert_eq!(
        (came.result.cause.as_str(), error.r#type.as_str(), error.line),
        ("error", "ValueError", Some(2))
    );
    let limits = Some(proto::Limits { output_bytes: Some(1000), ..proto::Limits::default() });
    let came = execute(&world, proto::Job { limits, ..sent("print('x' * 5000)\n") }).await.unwrap();
    assert_eq!((came.result.cause.as_str(), came.result.output_truncated), ("output_limit", true));
    assert_eq!(came.stdout.len(), 1000);
    world.end().await;
}

#[tokio::test]
async fn what_an_executor_does_not_offer_is_refused_by_name() {
    let world = World::with(|options| options.allow_open = false).await;
    let limits = Some(proto::Limits { memory_bytes: Some(1 << 50), ..proto::Limits::default() });
    let cases = [
        (proto::Job { profile: "data".to_owned(), ..sent("1") }, Code::FailedPrecondition, "`data`"),
        (proto::Job { profile: "dtaa".to_owned(), ..sent("1") }, Code::InvalidArgument, "`dtaa`"),
        (proto::Job { limits, ..sent("1") }, Code::InvalidArgument, "`memory_bytes`"),
        (sent_open("1"), Code::FailedPrecondition, "`open`"),
        (proto::Job { values_json: "[1]".to_owned(), ..sent("1") }, Code::InvalidArgument, "values"),
        (proto::Job { session: "nobody's".to_owned(), ..sent("1") }, Code::NotFound, "no such session"),
        (proto::Job { name: "a\nb".to_owned(), ..sent("1") }, Code::InvalidArgument, "name"),
    ];
    for (job, code, word) in cases {
        let status = execute(&world, job).await.unwrap_err();
        assert_eq!(status.code(), code, "{status:?}");
        assert!(status.message().contains(word), "{status:?}");
    }
    world.end().await;
}

#[tokio::test]
async fn bad_file_names_and_double_ones_are_refused() {
    let world = World::new().await;
    let file = |name: &str| proto::File { name: name.to_owned(), content: Vec::new() };
    for files in [vec![file("../../etc/passwd")], vec![file("")], vec![file("a"), file("a")]] {
        let status = execute_with(&world, sent("print(files)"), files).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_deadline_of_the_call_bounds_the_job() {
    let world = World::new().await;
    let mut request = tonic::Request::new(proto::ExecuteRequest {
        job: Some(sent("while True: pass\n")),
        files: Vec::new(),
    });
    request.metadata_mut().insert("grpc-timeout", "700m".parse().unwrap());
    let mut events = world.client().await.execute(request).await.unwrap().into_inner();
    let came = super::world::take_all(&mut events).await.unwrap();
    assert_eq!(came.result.cause, "timeout");
    assert!(came.result.limits.unwrap().wall_ms.unwrap() <= 700);
    world.end().await;
}
