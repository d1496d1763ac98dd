//! Many jobs: as many as may run do, as many as may wait do, and the rest is refused.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Discard, Host, HostCall, HostFuture, NoHost};
use ordain_types::Cause;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::world::{World, job, printed};

#[tokio::test]
async fn of_a_thousand_jobs_those_beyond_the_queue_are_refused_at_once() {
    let world = Arc::new(World::with(|options| {
        options.running_max = 2;
        options.waiting_max = 40;
        options.idle_cells = 2;
    }));
    let gate = Arc::new(Semaphore::new(0));
    let mut held = Vec::new();
    for _ in 0..2 {
        let (called, is_called) = oneshot::channel();
        let (world, mut host) = (Arc::clone(&world), Held(Some(called), Arc::clone(&gate)));
        held.push(tokio::spawn(async move {
            world.run_with("import ordain\nordain.call('wait')\nprint('held')", &mut host).await
        }));
        is_called.await.unwrap();
    }
    let mut tasks = JoinSet::new();
    for n in 0..1000 {
        let world = Arc::clone(&world);
        tasks.spawn(async move { (n, world.run_job(job(&format!("print({n})"))).await) });
    }
    let (mut ran, mut refused) = (0, 0);
    while let Some(task) = tasks.join_next().await {
        match task.unwrap() {
            (n, Ok(execution)) => {
                assert_eq!(printed(&execution), format!("{n}\n"));
                ran += 1;
            }
            (_, Err(error)) => {
                assert!(matches!(error, CellError::Busy { waiting: 40 }), "{error}");
                assert_eq!(error.to_string(), "40 jobs are waiting, which is the limit");
                refused += 1;
                // Those that run are held until all the others have been refused.
                gate.add_permits(if refused == 960 { 2 } else { 0 });
            }
        }
    }
    assert_eq!((ran, refused), (40, 960));
    for job in held {
        assert_eq!(printed(&job.await.unwrap()), "held\n");
    }
    assert_eq!(printed(&world.run("print('next')").await), "next\n", "a full queue is full only for a while");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_holds_them_all_runs_them_all() {
    let world = Arc::new(World::with(|options| {
        options.running_max = 3;
        options.waiting_max = 400;
        options.idle_cells = 3;
    }));
    let running = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..300)
        .map(|n| {
            let (world, running) = (Arc::clone(&world), Arc::clone(&running));
            let end = match n % 10 {
                0 => "1 / 0",
                1 => "import os\nos._exit(1)",
                _ => "",
            };
            let code = format!(
                "import ordain\nordain.call('begin')\nprint({n}, flush=True)\nordain.call('end')\n{end}"
            );
            tokio::spawn(async move { (n, world.run_with(&code, &mut Running(running)).await) })
        })
        .collect();
    for task in tasks {
        let (n, execution) = task.await.unwrap();
        let expected = match n % 10 {
            0 => Cause::Error,
            1 => Cause::NoResult,
            _ => Cause::Ok,
        };
        assert_eq!(execution.cause, expected, "{n}");
        assert_eq!(execution.stdout, format!("{n}\n").into_bytes(), "each job has its own output");
    }
    assert_eq!(running.load(Ordering::SeqCst), 0);
}

/// A host that says when it is called and answers when it is let.
struct Held(Option<oneshot::Sender<()>>, Arc<Semaphore>);

impl Host for Held {
    fn call(&mut self, _call: HostCall) -> HostFuture<'_> {
        Box::pin(async {
            self.0.take().unwrap().send(()).unwrap();
            self.1.acquire().await.unwrap().forget();
            Ok(serde_json::Value::Null)
        })
    }
}

/// Counts the jobs that have begun and not ended.
struct Running(Arc<AtomicUsize>);

impl Host for Running {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        if call.name == "begin" {
            let running = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            assert!(running <= 3, "{running} jobs run at once");
        } else {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
        Box::pin(std::future::ready(Ok(serde_json::Value::Null)))
    }
}

#[tokio::test]
async fn a_job_that_leaves_the_queue_makes_room() {
    let world = World::with(|options| {
        options.running_max = 1;
        options.waiting_max = 1;
    });
    let mut first = pin!(world.run_job(job("import time\ntime.sleep(0.5)\nprint('first')")));
    assert!(futures_poll(first.as_mut()).await.is_none());
    {
        let mut second = pin!(world.run_job(job("print('second')")));
        assert!(futures_poll(second.as_mut()).await.is_none(), "it waits");
        let third = world.run_job(job("print('third')")).await;
        assert!(matches!(third, Err(CellError::Busy { waiting: 1 })), "{third:?}");
    }
    let fourth = world.run_job(job("print('fourth')"));
    let (first, fourth) = tokio::join!(first, fourth);
    assert_eq!((printed(&first.unwrap()), printed(&fourth.unwrap())), ("first\n", "fourth\n"));
}

/// Polls a future once.
async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn idle_cells_are_made_ahead_and_refilled() {
    let world = World::with(|options| options.idle_cells = 3);
    assert_eq!(world.executor.idle_processes(Profile::Core).await.len(), 0, "nothing before it is asked for");
    world.executor.warm(Profile::Core).await.unwrap();
    assert_eq!(world.executor.idle_processes(Profile::Core).await.len(), 3);
    for _ in 0..5 {
        world.run("pass").await;
    }
    world.executor.warm(Profile::Core).await.unwrap();
    assert_eq!(world.executor.idle_processes(Profile::Core).await.len(), 3);
    let fresh = world.executor.run_fresh(job("print('fresh')"), &mut NoHost, &mut Discard).await.unwrap();
    assert_eq!(printed(&fresh), "fresh\n");
    assert_eq!(world.executor.idle_processes(Profile::Core).await.len(), 3, "a fresh cell leaves them alone");
}
