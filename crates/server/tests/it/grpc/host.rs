//! `Run`: host calls flow back to the caller.

use ordain_cell::{CellError, Discard, Executor as _, InputFile, NoHost};
use ordain_server::grpc::proto::{self, event, host_reply, run_request};
use ordain_types::Cause;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::world::{Doubling, Taken, World, job, open_job, sent_open};

const DOUBLE: &str = "import ordain\nprint(ordain.call('double', number=21))\n";

#[tokio::test]
async fn code_elsewhere_calls_the_host_here() {
    let world = World::new().await;
    let (remote, mut host, mut output) = (world.remote(), Doubling::default(), Taken::default());
    let code = "import ordain\nfor n in range(100): print(ordain.call('double', number=n))\n";
    let execution = remote.run(open_job(code), &mut host, &mut output).await.unwrap();
    assert_eq!((execution.cause, execution.host_calls, host.asked.len()), (Cause::Ok, 100, 100));
    assert!(execution.stdout.ends_with(b"196\n198\n"));
    assert_eq!(output.stdout, execution.stdout);
    world.end().await;
}

#[tokio::test]
async fn a_call_that_the_host_refuses_is_an_exception_over_there() {
    let world = World::new().await;
    let code = "\
import ordain
try:
    ordain.call('halve', number=1)
except ordain.HostError as error:
    print(error)
";
    let execution = world.remote().run(open_job(code), &mut Doubling::default(), &mut Discard).await.unwrap();
    assert_eq!(execution.stdout, b"there is only `double`\n", "{execution:?}");
    world.end().await;
}

#[tokio::test]
async fn files_values_and_artifacts_travel_too() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    fs_err::write(&path, vec![b'7'; 1_000_000]).unwrap();
    let empty = folder.path().join("empty");
    fs_err::write(&empty, "").unwrap();
    let mut job = open_job(
        "text = files['numbers.txt'].read_text()\nn = len(text) + len(files['empty'].read_text()) + more\n\
         (artifacts / 'n.txt').write_text(str(n))\n",
    );
    job.files = vec![
        InputFile { name: "numbers.txt".to_owned(), path },
        InputFile { name: "empty".to_owned(), path: empty },
    ];
    job.values.insert("more".to_owned(), 1.into());
    job.collect = vec!["n".to_owned()];
    let execution = world.remote().run(job, &mut NoHost, &mut Discard).await.unwrap();
    assert_eq!(execution.values["n"], 1_000_001, "{execution:?}");
    let artifact = &execution.artifacts[0];
    assert_eq!((artifact.name.as_str(), artifact.read().unwrap()), ("n.txt", b"1000001".to_vec()));
    world.end().await;
}

#[tokio::test]
async fn a_host_that_is_slower_than_the_limit_is_not_waited_for() {
    struct Slow;
    impl ordain_cell::Host for Slow {
        fn call(&mut self, _call: ordain_cell::HostCall) -> ordain_cell::HostFuture<'_> {
            Box::pin(std::future::pending())
        }
    }
    let world = World::new().await;
    let mut job = open_job(DOUBLE);
    job.limits.wall = std::time::Duration::from_millis(300);
    let execution = world.remote().run(job, &mut Slow, &mut Discard).await.unwrap();
    assert_eq!(execution.cause, Cause::Timeout);
    world.end().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_job_is_a_refusal_and_not_a_lost_executor() {
    let world = World::with(|options| options.allow_open = false).await;
    let remote = world.remote();
    let refused = remote.run(open_job("1"), &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(matches!(&refused, CellError::NotOffered { said, .. } if said.contains("`open`")), "{refused:?}");
    assert!(!refused.may_run_again());
    let mut missing = job("print(1)");
    missing.files = vec![InputFile { name: "a".to_owned(), path: "no-such-file".into() }];
    let refused = remote.run(missing, &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(matches!(refused, CellError::File { .. }), "{refused:?}");
    let mut mounted = job("print(1)");
    mounted.frames.insert("sales".to_owned(), "sales.arrow".to_owned());
    let refused = remote.run(mounted, &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(
        matches!(&refused, CellError::Refused { said, .. } if said.contains("did not come with the job")),
        "{refused:?}"
    );
    world.end().await;
}

/// A caller that says what it likes.
pub(crate) struct Raw {
    outgoing: mpsc::Sender<proto::RunRequest>,
    events: Streaming<proto::Event>,
}

impl Raw {
    pub(crate) async fn new(world: &World) -> Self {
        let (outgoing, requests) = mpsc::channel(8);
        let events = world.client().await.run(ReceiverStream::new(requests)).await.unwrap().into_inner();
        Self { outgoing, events }
    }

    pub(crate) async fn say(&self, message: run_request::Message) {
        let _ = self.outgoing.send(proto::RunRequest { message: Some(message) }).await;
    }

    async fn begin(&self, code: &str) {
        self.say(run_request::Message::Start(sent_open(code))).await;
        self.say(run_request::Message::Go(proto::Go {})).await;
    }

    async fn reply(&self, id: u64, json: &str) {
        let answer = Some(host_reply::Answer::ValueJson(json.to_owned()));
        self.say(run_request::Message::Reply(proto::HostReply { id, answer })).await;
    }

    pub(crate) async fn next(&mut self) -> Result<event::Event, Status> {
        Ok(self.events.message().await?.unwrap().event.unwrap())
    }

    pub(crate) async fn refusal(mut self) -> Status {
        loop {
            match self.next().await {
                Ok(event::Event::Result(result)) => panic!("it came to a result: {result:?}"),
                Ok(_) => {}
                Err(status) => return status,
            }
        }
    }
}

#[tokio::test]
async fn a_caller_that_breaks_the_order_is_refused_and_its_cell_ends() {
    let world = World::new().await;
    let early = Raw::new(&world).await;
    early.say(run_request::Message::Go(proto::Go {})).await;
    let twice = Raw::new(&world).await;
    twice.say(run_request::Message::Start(sent_open("1"))).await;
    twice.say(run_request::Message::Start(sent_open("1"))).await;
    let unasked = Raw::new(&world).await;
    unasked.begin("import time\ntime.sleep(600)\n").await;
    unasked.reply(1, "1").await;
    let empty = Raw::new(&world).await;
    let _ = empty.outgoing.send(proto::RunRequest { message: None }).await;
    for raw in [early, twice, unasked, empty] {
        let status = raw.refusal().await;
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    }
    world.wait_running(0).await;
    world.end().await;
}

#[tokio::test]
async fn a_reply_that_does_not_fit_ends_the_job() {
    let world = World::new().await;
    for (id, json) in [(2, "1"), (0, "1"), (1, "{"), (1, &"[".repeat(100_000))] {
        let mut raw = Raw::new(&world).await;
        raw.begin(DOUBLE).await;
        let call = raw.next().await.unwrap();
        assert!(matches!(call, event::Event::HostCall(call) if call.id == 1 && call.name == "double"));
        raw.reply(id, json).await;
        assert_eq!(raw.refusal().await.code(), Code::InvalidArgument);
    }
    world.wait_running(0).await;
    world.end().await;
}

#[tokio::test]
async fn a_caller_that_ends_its_side_still_hears_the_result() {
    let world = World::new().await;
    let raw = Raw::new(&world).await;
    raw.begin(DOUBLE).await;
    let Raw { outgoing, mut events } = raw;
    drop(outgoing);
    loop {
        match events.message().await.unwrap().unwrap().event.unwrap() {
            event::Event::Result(result) => {
                assert_eq!(result.error.unwrap().r#type, "HostError", "the call was not answered");
                break;
            }
            event::Event::HostCall(_) | event::Event::Output(_) => {}
            other => panic!("{other:?}"),
        }
    }
    world.end().await;
}
