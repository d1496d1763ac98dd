//! Several executors as one.

use std::sync::Arc;
use std::time::Duration;

use ordain_cell::{
    CellError, Discard, Executor as _, Host, HostCall, HostFuture, Job, NoHost, Output, Stream,
};
use ordain_server::grpc::{ConnectError, ExecutorPool, PoolOptions, proto};
use ordain_types::Cause;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use super::link::Link;
use super::world::{Doubling, World, job, open_job};

fn pool<'a>(addresses: impl IntoIterator<Item = &'a str>) -> ExecutorPool {
    let options = PoolOptions { probe_every: Duration::from_millis(50), ..PoolOptions::default() };
    ExecutorPool::new(addresses, &options).unwrap()
}

/// Waits until the executors are as well as said.
async fn wait_well(pool: &ExecutorPool, well: &[bool]) {
    for _ in 0..1000 {
        if pool.members().iter().map(|member| member.is_well).eq(well.iter().copied()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never {well:?}: {:?}", pool.members());
}

#[tokio::test]
async fn a_pool_needs_somebody_in_it() {
    let nobody = ExecutorPool::new([], &PoolOptions::default()).unwrap_err();
    assert!(matches!(nobody, ConnectError::Nobody));
}

/// A host that says when it is called and answers when it is let.
struct Held(mpsc::Sender<()>, Arc<Semaphore>);

impl Host for Held {
    fn call(&mut self, _call: HostCall) -> HostFuture<'_> {
        Box::pin(async {
            self.0.send(()).await.unwrap();
            self.1.acquire().await.unwrap().forget();
            Ok(json!(null))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_spread_over_the_executors() {
    let (first, second) = (World::new().await, World::new().await);
    let pool = Arc::new(pool([first.url().as_str(), second.url().as_str()]));
    let (called, mut calls) = mpsc::channel(2);
    let gate = Arc::new(Semaphore::new(0));
    let mut jobs = Vec::new();
    for _ in 0..2 {
        wait_well(&pool, &[true, true]).await;
        let (pool, mut host) = (Arc::clone(&pool), Held(called.clone(), Arc::clone(&gate)));
        jobs.push(tokio::spawn(async move {
            pool.run(open_job("import ordain\nordain.call('wait')"), &mut host, &mut Discard)
                .await
                .unwrap()
                .cause
        }));
        calls.recv().await.unwrap();
    }
    // While the one is held, the other is the least busy.
    let in_flight: Vec<usize> = pool.members().iter().map(|member| member.in_flight).collect();
    assert_eq!(in_flight, [1, 1]);
    gate.add_permits(2);
    for job in jobs {
        assert_eq!(job.await.unwrap(), Cause::Ok);
    }
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn a_lost_executor_is_left_out_and_comes_back() {
    let (first, second) = (World::new().await, World::new().await);
    // The address stays this test's own while nobody answers there.
    let link = Link::to(first.address).await;
    let pool = pool([link.url().as_str(), second.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    link.cut();
    for _ in 0..4 {
        let execution = pool.run(open_job("print('ran')"), &mut NoHost, &mut Discard).await.unwrap();
        assert_eq!(execution.stdout, b"ran\n");
    }
    wait_well(&pool, &[false, true]).await;
    link.mend();
    wait_well(&pool, &[true, true]).await;
    second.end().await;
    let execution = pool.run(open_job("print('ran')"), &mut NoHost, &mut Discard).await.unwrap();
    assert_eq!(execution.stdout, b"ran\n");
    link.cut();
    first.end().await;
    let error = pool.run(open_job("print('ran')"), &mut NoHost, &mut Discard).await.unwrap_err();
    assert!(matches!(error, CellError::Unreachable { .. }) && error.may_run_again(), "{error:?}");
}

/// A host that cuts a link when it is called.
struct Cutting<F: Fn() + Send>(F, usize);

impl<F: Fn() + Send> Host for Cutting<F> {
    fn call(&mut self, _call: HostCall) -> HostFuture<'_> {
        (self.0)();
        self.1 += 1;
        Box::pin(std::future::ready(Ok(json!(null))))
    }
}

#[tokio::test]
async fn a_job_whose_host_was_called_is_not_given_to_another_executor() {
    let (first, second) = (World::new().await, World::new().await);
    let link = Link::to(first.address).await;
    let pool = pool([link.url().as_str(), second.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    let mut host = Cutting(link.cutter(), 0);
    let job = open_job("import ordain\nordain.call('write')\nordain.call('write')\n");
    // Nothing is in flight, so the first one gets it.
    let error = pool.run(job, &mut host, &mut Discard).await.unwrap_err();
    assert!(matches!(error, CellError::Cut { .. }) && error.may_run_again(), "{error:?}");
    assert_eq!(host.1, 1, "the job did not begin again behind the host's back");
    assert!(!second.log.text().contains("Run"));
    // Nothing goes on over there either.
    first.wait_running(0).await;
    first.end().await;
    second.end().await;
}

/// An output that cuts a link when something comes.
struct CuttingOutput<F: Fn() + Send>(F);

impl<F: Fn() + Send> Output for CuttingOutput<F> {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) {
        (self.0)();
    }
}

#[tokio::test]
async fn a_job_that_was_heard_is_not_heard_twice() {
    let (first, second) = (World::new().await, World::new().await);
    let link = Link::to(first.address).await;
    let pool = pool([link.url().as_str(), second.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    let job = open_job("import time\nprint('heard', flush=True)\ntime.sleep(600)\n");
    let error = pool.run(job, &mut NoHost, &mut CuttingOutput(link.cutter())).await.unwrap_err();
    assert!(matches!(error, CellError::Cut { .. }), "{error:?}");
    first.wait_running(0).await;
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn a_job_of_which_nothing_was_heard_goes_to_another_executor() {
    let (first, second) = (World::new().await, World::new().await);
    let link = Link::to(first.address).await;
    let pool = pool([link.url().as_str(), second.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    let cutting = async {
        first.wait_running(1).await;
        link.cut();
    };
    let mut host = Doubling::default();
    // Both times it waits for the same moment, so that nothing was heard of it when the link is cut.
    let moment = (std::time::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(8)).as_secs();
    let job = open_job(&format!(
        "import ordain, time\nwhile time.time() < {moment}: time.sleep(0.05)\n\
         print(ordain.call('double', number=2))\n"
    ));
    let mut output = Discard;
    let (ran, ()) = tokio::join!(pool.run(job, &mut host, &mut output), cutting);
    assert_eq!(ran.unwrap().stdout, b"4\n");
    assert_eq!(host.asked.len(), 1);
    assert!(second.log.text().contains("cause=ok"));
    link.mend();
    wait_well(&pool, &[true, true]).await;
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn a_session_stays_where_it_is_and_is_lost_with_its_executor() {
    let (first, second) = (World::new().await, World::new().await);
    let link = Link::to(first.address).await;
    let pool = pool([link.url().as_str(), second.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    let in_session = |code: &str| Job { session: Some("s".to_owned()), ..open_job(code) };
    let run = async |code: &str| pool.run(in_session(code), &mut NoHost, &mut Discard).await;
    run("x = 1").await.unwrap();
    for _ in 0..3 {
        assert_eq!(run("print(x)").await.unwrap().stdout, b"1\n");
    }
    link.cut();
    let error = run("print(x)").await.unwrap_err();
    assert!(matches!(&error, CellError::SessionLost { session, .. } if session == "s"), "{error:?}");
    assert!(!error.may_run_again());
    assert_eq!(run("print('x' in globals())").await.unwrap().stdout, b"False\n", "the next one begins anew");
    assert!(second.log.text().contains("cause=ok"));
    assert!(pool.end_session("s").await);
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn sessions_are_spread_and_open_where_there_is_room_for_one() {
    let small = World::with(|options| options.local.sessions_max = 1).await;
    let large = World::new().await;
    let pool = pool([small.url().as_str(), large.url().as_str()]);
    wait_well(&pool, &[true, true]).await;
    for name in ["a", "b", "c"] {
        let job = Job { session: Some(name.to_owned()), ..open_job("print(1)") };
        assert_eq!(pool.run(job, &mut NoHost, &mut Discard).await.unwrap().stdout, b"1\n", "{name}");
    }
    let open = async |world: &World| {
        let described = world.client().await.describe(proto::DescribeRequest {}).await.unwrap();
        described.into_inner().load.unwrap().sessions
    };
    assert_eq!((open(&small).await, open(&large).await), (1, 2));
    small.end().await;
    large.end().await;
}

#[tokio::test]
async fn a_full_executor_is_passed_over() {
    let full = World::with(|options| {
        options.local.running_max = 1;
        options.local.waiting_max = 0;
    })
    .await;
    let free = World::new().await;
    let remote = full.remote();
    let blocking = tokio::spawn(async move {
        let _ = remote.run(open_job("import time\ntime.sleep(600)"), &mut NoHost, &mut Discard).await;
    });
    full.wait_running(1).await;
    let pool = pool([full.url().as_str(), free.url().as_str()]);
    assert_eq!(pool.run(open_job("print(1)"), &mut NoHost, &mut Discard).await.unwrap().stdout, b"1\n");
    blocking.abort();
    full.end().await;
    free.end().await;
}

#[tokio::test]
async fn chance_and_the_clock_of_one_job_never_answer_another_one() {
    let world = World::new().await;
    let pool = pool([world.url().as_str()]);
    for code in [
        "print(open('/dev/urandom', 'rb').read(16).hex())",
        "import sqlite3\nprint(sqlite3.connect(':memory:').execute('select hex(randomblob(8))').fetchone()[0])",
        "import statistics\nprint(statistics.NormalDist().samples(1))",
        "from time import *\nprint(perf_counter())",
    ] {
        let mut given = Vec::new();
        for _ in 0..2 {
            let execution = pool.run(job(code), &mut NoHost, &mut Discard).await.unwrap();
            assert_eq!(execution.cause, Cause::Ok, "{code}");
            given.push(execution.stdout);
        }
        assert_ne!(given[0], given[1], "{code}");
    }
    // Nothing is certain of code but that it ran.
    for _ in 0..2 {
        pool.run(job("print(1)"), &mut NoHost, &mut Discard).await.unwrap();
    }
    assert_eq!(world.log.text().matches("cause=ok").count(), 10);
    world.end().await;
}
