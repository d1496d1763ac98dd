//! Whatever dies is named, and the next job finds a cell.

use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Discard, Executor as _, Job};
use ordain_testkit::processes::{descendants, is_running, parent};
use ordain_types::{Cause, Limits};
use rustix::process::{Pid, Signal};

use crate::world::{Started, World, eventually, job, printed, stdout};

const ENDLESS: &str = "print('running', flush=True)\nwhile True: pass";

fn kill(process: u32) {
    let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(process, Signal::KILL).unwrap();
}

async fn zygote(world: &World) -> u32 {
    world.executor.zygote_process(Profile::Core).await.unwrap()
}

/// The zygote itself, below the process that only waits for it: all cells are below it.
fn inner(outer: u32) -> u32 {
    descendants(outer).into_iter().find(|process| parent(*process) == Some(outer)).unwrap()
}

#[tokio::test]
async fn a_zygote_killed_while_idle_is_replaced() {
    let world = World::with(|options| options.idle_cells = 2);
    world.executor.warm(Profile::Core).await.unwrap();
    for which in ["outer", "inner"] {
        let outer = zygote(&world).await;
        let family = descendants(outer);
        kill(if which == "outer" { outer } else { inner(outer) });
        assert!(
            eventually(|| !family.iter().any(|process| is_running(*process))).await,
            "its cells die with it"
        );
        assert_eq!(printed(&world.run("print('next')").await), "next\n", "{which}");
        assert_ne!(zygote(&world).await, outer, "{which}");
    }
    // A job with a work folder of its own size gets a cell made for it, which must survive the same.
    kill(zygote(&world).await);
    let execution = world.run_limited("print('sized')", |limits| limits.work_bytes = Some(1 << 20)).await;
    assert_eq!(printed(&execution), "sized\n");
}

#[tokio::test]
async fn a_zygote_killed_while_a_job_runs_is_a_crash_of_that_job() {
    let world = World::with(|options| options.idle_cells = 1);
    for which in ["outer", "inner"] {
        let (started, has_started) = tokio::sync::oneshot::channel();
        let mut output = Started(Some(started));
        let run = world.run_live(ENDLESS, &mut output);
        let killed = async {
            has_started.await.unwrap();
            let outer = zygote(&world).await;
            kill(if which == "outer" { outer } else { inner(outer) });
        };
        let (execution, ()) = tokio::join!(run, killed);
        assert_eq!((execution.cause, execution.exit), (Cause::Crash, None), "{which}: {execution:?}");
        assert_eq!(execution.detail.as_deref(), Some("its zygote was lost while it ran"), "{which}");
        assert_eq!(stdout(&execution), "running\n");
        assert_eq!(printed(&world.run("print('next')").await), "next\n", "{which}");
    }
}

#[tokio::test]
async fn a_job_that_was_lost_without_a_trace_is_run_again() {
    // It neither wrote nor called its host, so nobody can tell that it ran before.
    let world = World::new();
    world.run("pass").await;
    let outer = zygote(&world).await;
    let zygote = inner(outer);
    assert!(eventually(|| descendants(zygote).is_empty()).await);
    // Both times it waits for the same moment, so that it has printed nothing when the zygote goes.
    let moment = std::time::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(8);
    let code =
        format!("import time\nwhile time.time() < {}: time.sleep(0.05)\nprint('whole')", moment.as_secs());
    let run = world.run(&code);
    let killed = async {
        assert!(eventually(|| !descendants(zygote).is_empty()).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
        kill(outer);
    };
    let (execution, ()) = tokio::join!(run, killed);
    assert_eq!(printed(&execution), "whole\n");
}

/// A host in whose calls the zygote is lost.
struct Killing(u32);

impl ordain_cell::Host for Killing {
    fn call(&mut self, _call: ordain_cell::HostCall) -> ordain_cell::HostFuture<'_> {
        let family = descendants(self.0);
        kill(self.0);
        Box::pin(async move {
            assert!(eventually(|| !family.iter().any(|process| is_running(*process))).await);
            Ok(serde_json::Value::Null)
        })
    }
}

#[tokio::test]
async fn a_job_whose_zygote_was_lost_after_a_host_call_may_run_again_once_the_call_is_undone() {
    let world = World::new();
    for which in ["outer", "inner"] {
        world.run("pass").await;
        let outer = zygote(&world).await;
        let mut host = Killing(if which == "outer" { outer } else { inner(outer) });
        let lost = world
            .executor
            .run(job("import ordain\nordain.call('write')\nprint('whole')"), &mut host, &mut Discard)
            .await;
        let error = lost.unwrap_err();
        assert!(error.may_run_again() && matches!(error, CellError::Cut { .. }), "{which}: {error}");
        assert_eq!(printed(&world.run("print('next')").await), "next\n", "{which}");
    }
}

/// The group is one for the whole process, so the test has a process of its own.
#[test]
fn all_cells_are_in_one_memory_group_where_one_can_be_had() {
    const ALONE: &str = "ORDAIN_TEST_MEMORY_GROUP";
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(look_at_the_memory_group());
    }
    let name = "faults::all_cells_are_in_one_memory_group_where_one_can_be_had";
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "-q"])
        .env(ALONE, "1")
        .status();
    assert!(alone.unwrap().success());
}

async fn look_at_the_memory_group() {
    let group = |process: u32| {
        let text = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
        text.lines().find(|line| line.contains(":memory:") || line.starts_with("0::")).map(str::to_owned)
    };
    let own = group(std::process::id()).unwrap_or_default();
    let is_first_version = own.contains(":memory:");
    let folder = format!("/sys/fs/cgroup/memory{}", own.rsplit(':').next().unwrap_or_default());
    let world = World::with(|options| options.idle_cells = 2);
    world.executor.warm(Profile::Core).await.unwrap();
    let outer = zygote(&world).await;
    let expected = format!("ordain-cells-{}", std::process::id());
    // Version 2 gives a group where the one above was handed over, which is for the system to say: all cells or none.
    let can_be_had = if is_first_version {
        rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_ok()
    } else {
        group(outer).is_some_and(|group| group.ends_with(&expected))
    };
    if !can_be_had {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "skipped: there is no memory group to be had here ({own})");
    }
    for process in descendants(outer).into_iter().chain([outer]) {
        let is_inside = group(process).is_some_and(|group| group.ends_with(&expected));
        assert_eq!(is_inside, can_be_had, "{process}: {:?}", group(process));
    }
    let limit = std::fs::read_to_string(format!("{folder}/{expected}/memory.limit_in_bytes"));
    let is_limited = limit.is_ok_and(|limit| limit.trim().parse::<u64>().unwrap() < 1 << 50);
    assert_eq!(is_limited, can_be_had && is_first_version);
    world.executor.close().await;
    assert!(!std::path::Path::new(&format!("{folder}/{expected}")).exists());
}

#[tokio::test]
async fn a_job_is_not_tried_again_on_another_cell_of_the_zygote_that_was_lost() {
    // More idle cells than tries: were they handed out, all tries would be lost with them.
    let world = World::with(|options| options.idle_cells = 6);
    for round in 0..6 {
        world.executor.warm(Profile::Core).await.unwrap();
        kill(zygote(&world).await);
        for _ in 0..3 {
            let execution = world.run("import time\ntime.sleep(0.02)").await;
            assert_eq!(execution.cause, Cause::Ok, "round {round}: {execution:?}");
        }
    }
}

#[tokio::test]
async fn idle_cells_that_were_killed_are_passed_over() {
    let world = World::with(|options| options.idle_cells = 3);
    world.executor.warm(Profile::Core).await.unwrap();
    let idle = world.executor.idle_processes(Profile::Core).await;
    assert_eq!(idle.len(), 3);
    for cell in idle {
        rustix::process::pidfd_send_signal(&cell, Signal::KILL).unwrap();
    }
    let zygote = inner(zygote(&world).await);
    assert!(eventually(|| descendants(zygote).is_empty()).await);
    assert_eq!(printed(&world.run("print('next')").await), "next\n");
}

#[tokio::test]
async fn a_cell_killed_from_outside_is_told_as_what_only_the_kernel_does() {
    let world = World::new();
    let (started, has_started) = tokio::sync::oneshot::channel();
    let mut output = Started(Some(started));
    let run = world.run_live(ENDLESS, &mut output);
    let killed = async {
        has_started.await.unwrap();
        let zygote = inner(zygote(&world).await);
        kill(descendants(zygote)[0]);
    };
    let (execution, ()) = tokio::join!(run, killed);
    assert_eq!((execution.cause, execution.signal), (Cause::MemoryLimit, Some(9)));
    assert_eq!(execution.detail.as_deref(), Some("the kernel killed it for its memory"));
}

#[tokio::test]
async fn leaving_a_job_ends_its_cell() {
    let world = World::new();
    world.run("pass").await;
    let zygote = inner(zygote(&world).await);
    assert!(eventually(|| descendants(zygote).is_empty()).await);
    world.begin_and_leave(job(ENDLESS)).await;
    assert!(eventually(|| descendants(zygote).is_empty()).await, "{:?}", descendants(zygote));
}

#[tokio::test]
async fn closing_waits_until_everything_is_gone_and_a_later_job_starts_anew() {
    let world = World::with(|options| options.idle_cells = 2);
    world.executor.warm(Profile::Core).await.unwrap();
    world.run_in("a", "x = 1").await;
    let outer = zygote(&world).await;
    assert!(descendants(outer).len() >= 3);
    world.executor.close().await;
    assert!(!std::path::Path::new(&format!("/proc/{outer}")).exists());
    assert_eq!(world.executor.zygote_process(Profile::Core).await, None);
    assert_eq!(printed(&world.run_in("a", "print('x' in globals())").await), "False\n");
}

#[tokio::test]
async fn a_job_that_waits_for_a_cell_when_everything_closes_is_told() {
    let world = World::new();
    let run = world.run_job(job("print('ran')"));
    let (ran, ()) = tokio::join!(run, async {
        // The zygote is being started now.
        tokio::time::sleep(Duration::from_millis(5)).await;
        world.executor.close().await;
    });
    match ran {
        Ok(execution) => assert_eq!(execution.cause, Cause::Ok),
        Err(error) => assert!(matches!(error, ordain_cell::CellError::Lost), "{error}"),
    }
}

#[tokio::test]
async fn a_job_too_large_for_a_frame_is_refused() {
    let world = World::new();
    let with = |bytes: usize| {
        let values = [("text".to_owned(), "x".repeat(bytes).into())].into_iter().collect();
        world.run_job(Job { values, ..job("print(len(text))") })
    };
    let error = with(33 << 20).await.unwrap_err();
    let expected = "input file `main.py` is larger, with its values, than a frame may be";
    assert_eq!(error.to_string(), expected, "{error:?}");
    assert_eq!(printed(&with(30 << 20).await.unwrap()), "31457280\n");
}

#[tokio::test]
async fn an_interpreter_that_is_gone_is_named() {
    use ordain_cell::profile::DataDir;
    let data_dir = DataDir::from_env().unwrap().with_python("/nowhere/python3");
    let world = World::with(|options| options.data_dir = data_dir);
    let error = world.run_job(job("pass")).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no program `/nowhere/python3`, which ORDAIN_PYTHON names");
    assert!(error.hint().unwrap().contains("ORDAIN_PYTHON"));
}

#[tokio::test]
async fn the_limits_that_held_are_told() {
    let world = World::new();
    let limits =
        Limits { wall: Duration::from_secs(7), memory_bytes: 99 << 20, processes: 5, ..Limits::default() };
    let execution = world.run_limited("pass", |it| *it = limits.clone()).await;
    assert_eq!(execution.limits, limits);
    assert!(execution.timing.total >= execution.timing.run);
}
