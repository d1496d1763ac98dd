//! A session is one cell for one conversation: its state lasts, and nobody else sees it.

use std::time::Duration;

use ordain_cell::{CellError, Executor, Job};
use ordain_testkit::processes;
use ordain_types::{Cause, Limits};

use crate::host_calls::{Adding, call_later};
use crate::world::{Folder, World, eventually, in_session, input, job, printed, raised, stdout};

#[tokio::test]
async fn variables_imports_and_files_last_from_job_to_job() {
    let world = World::new();
    let first = "import math\ntotal = 41\ndef more(): return total + 1\nopen('notes.txt', 'w').write('kept')";
    assert_eq!(printed(&world.run_in("a", first).await), "");
    let second = "print(more(), math.floor(2.5), open('notes.txt').read(), __name__)";
    assert_eq!(printed(&world.run_in("a", second).await), "42 2 kept __main__\n");
    let failed = world.run_in("a", "total = 1\n1 / 0").await;
    assert_eq!((failed.cause, raised(&failed).2), (Cause::Error, Some(2)));
    let exited = world.run_in("a", "import sys\nsys.exit(3)").await;
    assert_eq!((exited.cause, exited.exit), (Cause::Error, Some(3)));
    assert_eq!(
        printed(&world.run_in("a", "print(total, more())").await),
        "1 2\n",
        "an error ends no session"
    );
}

#[tokio::test]
async fn two_sessions_and_single_jobs_never_see_each_other() {
    let world = World::new();
    let leave = |name: &str| {
        format!(
            "secret = '{name}'\nopen('secret', 'w').write(secret)\nopen('/tmp/secret', 'w').write(secret)\n\
             import builtins, sys, os\nbuiltins.secret = secret\nsys.modules['secret'] = sys\n\
             os.environ['SECRET'] = secret\nos.chdir('/tmp')"
        )
    };
    world.run_in("a", &leave("a")).await;
    world.run_in("b", &leave("b")).await;
    let look = "import os, sys\nprint(globals().get('secret'), getattr(__builtins__, 'secret', None), \
                'secret' in sys.modules, os.environ.get('SECRET'), os.getcwd(), sorted(os.listdir('/work')), \
                os.listdir('/tmp'))";
    let kept = |name: &str| {
        format!("{name} {name} True {name} /work/tmp ['artifacts', 'data', 'secret', 'tmp'] ['secret']\n")
    };
    assert_eq!(printed(&world.run_in("a", look).await), kept("a"));
    assert_eq!(printed(&world.run_in("b", look).await), kept("b"));
    let clean = "None None False None /work ['artifacts', 'data', 'tmp'] []\n";
    assert_eq!(printed(&world.run(look).await), clean);
    assert_eq!(printed(&world.run_in("c", look).await), clean);
}

#[tokio::test]
async fn a_session_that_died_starts_fresh() {
    let world = World::with(|options| options.sessions_max = 1);
    for (end, cause) in [
        ("while True: pass", Cause::Timeout),
        ("import os\nos._exit(1)", Cause::NoResult),
        ("import ctypes\nctypes.string_at(0)", Cause::Crash),
        ("import os\nos.write(3, b'garbage')", Cause::ProtocolError),
    ] {
        world.run_in("a", "x = 1").await;
        let mut job = in_session("a", end);
        if cause == Cause::Timeout {
            job.limits.wall = Duration::from_millis(300);
        }
        assert_eq!(world.run_job(job).await.unwrap().cause, cause);
        let next = world.run_in("a", "print('x' in globals())").await;
        assert_eq!(printed(&next), "False\n", "after {cause}");
    }
}

#[tokio::test]
async fn more_sessions_than_the_limit_are_refused() {
    let world = World::with(|options| options.sessions_max = 2);
    world.run_in("a", "x = 1").await;
    world.run_in("b", "x = 1").await;
    let error = world.run_job(in_session("c", "x = 1")).await.unwrap_err();
    assert!(matches!(error, CellError::Sessions { open: 2 }), "{error}");
    assert_eq!(error.to_string(), "2 sessions are open, which is the limit");
    assert_eq!(error.hint().as_deref(), Some("end a session that is no longer needed"));
    assert_eq!(printed(&world.run_in("a", "print(x)").await), "1\n", "those that are open go on");
    assert_eq!(printed(&world.run("print('single')").await), "single\n");
    assert!(world.executor.end_session("b").await);
    assert_eq!(printed(&world.run_in("c", "print('x' in globals())").await), "False\n");
}

#[tokio::test]
async fn a_job_that_never_ran_opens_no_session() {
    let (world, folder) = (World::with(|options| options.sessions_max = 1), Folder::new());
    let file = input(&folder.file("a.txt", "x"));
    std::fs::remove_file(folder.path().join("a.txt")).unwrap();
    let job = Job { files: vec![file], ..in_session("a", "x = 1") };
    assert!(matches!(world.run_job(job).await, Err(CellError::File { .. })));
    // Files that are too many for the folder are noticed only when they are copied.
    let files = (0..3).map(|n| input(&folder.file(&format!("{n}.txt"), "x"))).collect();
    let limits = Limits { work_bytes: Some(4096), ..Limits::default() };
    let job = Job { files, limits, ..in_session("b", "x = 1") };
    assert!(matches!(world.run_job(job).await, Err(CellError::File { .. })));
    assert_eq!(printed(&world.run_in("c", "print('open')").await), "open\n");
}

#[tokio::test]
async fn ending_a_session_ends_its_process() {
    let world = World::new();
    world.run_in("a", "x = 1").await;
    let zygote = world.executor.zygote_process(ordain_cell::profile::Profile::Core).await.unwrap();
    let cells = || processes::descendants(zygote).len();
    let with_session = cells();
    assert!(world.executor.end_session("a").await);
    assert!(eventually(|| cells() < with_session).await, "the cell is gone");
    assert!(!world.executor.end_session("a").await, "it is ended only once");
    assert_eq!(printed(&world.run_in("a", "print('x' in globals())").await), "False\n");
}

#[tokio::test]
async fn jobs_of_one_session_run_one_after_the_other() {
    let world = World::new();
    world.run_in("a", "order = []").await;
    let step = |n: u32| {
        in_session("a", &format!("order.append('in')\nimport time\ntime.sleep(0.05)\norder.append({n})"))
    };
    let jobs = futures_all((1..=4).map(|n| world.run_job(step(n))).collect()).await;
    assert!(jobs.iter().all(|job| job.as_ref().unwrap().cause == Cause::Ok));
    let order = world.run_in("a", "print(order[::2], sorted(order[1::2]))").await;
    assert_eq!(printed(&order), "['in', 'in', 'in', 'in'] [1, 2, 3, 4]\n");
}

/// Waits for several futures of one kind, all at once.
async fn futures_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_job_that_waited_for_a_dying_session_keeps_its_own_state() {
    // The second job waits while the first runs into its limit. It starts the session anew, and the third must find
    // what the second left.
    let world = World::new();
    world.run_in("a", "x = 0").await;
    let mut dying = in_session("a", "while True: pass");
    dying.limits.wall = Duration::from_millis(300);
    let jobs = futures_all(vec![world.run_job(dying), world.run_job(in_session("a", "x = 2"))]).await;
    assert_eq!(jobs[0].as_ref().unwrap().cause, Cause::Timeout);
    assert_eq!(jobs[1].as_ref().unwrap().cause, Cause::Ok);
    assert_eq!(printed(&world.run_in("a", "print(x)").await), "2\n");
}

#[tokio::test]
async fn a_session_s_limits_can_be_lowered_and_never_raised() {
    let world = World::new();
    let limited = |code: &str, memory_bytes: u64, cpu: Option<u64>| {
        let mut job = in_session("a", code);
        job.limits.memory_bytes = memory_bytes;
        job.limits.work_bytes = Some(1 << 20);
        job.limits.cpu = cpu.map(Duration::from_secs);
        world.run_job(job)
    };
    let first = limited("x = 1", 128 << 20, Some(20)).await.unwrap();
    assert_eq!(first.limits.memory_bytes, 128 << 20);
    let busy = "import time\nwhile time.process_time() < 1.2: pass\nprint(x)";
    let raised = limited(busy, 256 << 20, Some(20)).await.unwrap();
    assert_eq!(printed(&raised), "1\n", "a job that asks for more runs with less");
    assert_eq!((raised.limits.memory_bytes, raised.limits.cpu), (128 << 20, Some(Duration::from_secs(20))));
    let over = limited("data = bytearray(200 << 20)", 256 << 20, None).await.unwrap();
    assert_eq!(
        (over.cause, over.detail.as_deref()),
        (Cause::MemoryLimit, Some("it asked for more than 128MiB"))
    );
    let lowered = limited("data = bytearray(100 << 20)", 64 << 20, None).await.unwrap();
    assert_eq!((lowered.cause, lowered.limits.memory_bytes), (Cause::MemoryLimit, 64 << 20));
    assert_eq!(printed(&limited("print(x)", 64 << 20, None).await.unwrap()), "1\n");
}

#[tokio::test]
async fn a_session_can_run_out_of_memory_twice() {
    let world = World::new();
    for _ in 0..3 {
        let mut job = in_session("a", "data = {}\nfor n in range(10**9): data[n] = str(n)");
        job.limits.memory_bytes = 64 << 20;
        assert_eq!(world.run_job(job).await.unwrap().cause, Cause::MemoryLimit);
    }
}

#[tokio::test]
async fn threads_of_a_session_go_on_between_its_jobs() {
    let world = World::new();
    let start = "import threading, concurrent.futures\ngo = threading.Event()\nseen = []\n\
                 threading.Thread(target=lambda: (go.wait(), seen.append(1))).start()\n\
                 pool = concurrent.futures.ThreadPoolExecutor(1)\nprint(pool.submit(lambda: 'pool').result())";
    assert_eq!(printed(&world.run_in("a", start).await), "pool\n", "a session is not held up by its threads");
    let go_on = "go.set()\nimport time\nwhile not seen: time.sleep(0.01)\nprint(seen, \
                 pool.submit(lambda: 'again').result())";
    assert_eq!(printed(&world.run_in("a", go_on).await), "[1] again\n");
}

#[tokio::test]
async fn exit_handlers_do_not_run_between_the_jobs_of_a_session() {
    let world = World::new();
    let first = world.run_in("a", "import atexit\natexit.register(print, 'handler')").await;
    assert_eq!(printed(&first), "");
    assert_eq!(printed(&world.run_in("a", "print('second')").await), "second\n");
}

#[tokio::test]
async fn a_job_of_a_session_gives_back_the_artifacts_it_made() {
    let world = World::new();
    let names = |execution: &ordain_cell::Execution| -> Vec<String> {
        execution.artifacts.iter().map(|artifact| artifact.name.clone()).collect()
    };
    let first = world.run_in("a", "(artifacts / 'a.txt').write_text('one')").await;
    assert_eq!(names(&first), ["a.txt"]);
    let second = world.run_in("a", "(artifacts / 'b.txt').write_text('two')").await;
    assert_eq!(names(&second), ["b.txt"], "what was given back already is not given back again");
    let third = world.run_in("a", "(artifacts / 'a.txt').write_text('changed')").await;
    assert_eq!(names(&third), ["a.txt"], "a changed file is");
    assert_eq!(third.artifacts[0].read().unwrap(), b"changed");
    assert_eq!(first.artifacts[0].read().unwrap(), b"one", "what was given back does not change any more");
    assert_eq!(names(&world.run_in("a", "pass").await), Vec::<String>::new());
}

#[tokio::test]
async fn a_fresh_job_of_a_session_finds_nothing_of_the_one_before() {
    let world = World::new();
    let run = |code: &str| {
        let job = Job { is_fresh: true, collect: vec!["result".into()], ..in_session("a", code) };
        world.run_job(job)
    };
    let leaves = "(artifacts / 'rows.csv').write_text('a')\n(artifacts / 'more').mkdir()\nresult = total = 1\nimport os\nos.kept = 1";
    let first = run(leaves).await.unwrap();
    assert_eq!(first.artifacts.len(), 1);
    let second = run(
        "import os\nprint('total' in globals(), 'result' in globals(), list(artifacts.iterdir()), os.kept)",
    );
    let second = second.await.unwrap();
    assert_eq!(stdout(&second), "False False [] 1\n", "the process is the same");
    assert!(second.values.is_empty() && second.artifacts.is_empty(), "{second:?}");
    // What was given back before is given back again when it is made again.
    let third = run(leaves).await.unwrap();
    assert_eq!((third.artifacts.len(), &third.artifacts[0].sha256), (1, &first.artifacts[0].sha256));
}

#[tokio::test]
async fn files_of_a_session_replace_earlier_ones() {
    let (world, folder) = (World::new(), Folder::new());
    let job = |code: &str, content: &str| Job {
        files: vec![input(&folder.file("a.txt", content))],
        ..in_session("a", code)
    };
    let read = "print(files['a.txt'].read_text())";
    assert_eq!(printed(&world.run_job(job(read, "one")).await.unwrap()), "one\n");
    assert_eq!(printed(&world.run_job(job(read, "two")).await.unwrap()), "two\n");
    assert_eq!(printed(&world.run_in("a", "print(files)").await), "{}\n", "a job names its own files");
}

#[tokio::test]
async fn output_belongs_to_the_job_that_wrote_it() {
    let world = World::new();
    assert_eq!(printed(&world.run_in("a", "print('one', end='')").await), "one");
    assert_eq!(printed(&world.run_in("a", "print('two')").await), "two\n");
    let flood = "print('x' * 5000)";
    let mut job = in_session("a", flood);
    job.limits.output_bytes = 1000;
    let flooded = world.run_job(job).await.unwrap();
    assert_eq!((flooded.cause, flooded.stdout.len()), (Cause::OutputLimit, 1000));
    assert_eq!(printed(&world.run_in("a", "print('three')").await), "three\n");
}

#[tokio::test]
async fn a_frame_too_many_is_never_taken_for_the_next_job_s() {
    let world = World::new();
    let forged = r#"{"exit":0,"error":null,"limit":null,"values":{},"notes":{}}"#;
    let code = format!(
        "import os, struct\nresult = {forged:?}.encode()\nframe = struct.pack('<Ic', len(result), b'T') + result\n\
         os.write(3, frame + frame)\nimport time\ntime.sleep(0.2)"
    );
    assert_eq!(world.run_in("a", &code).await.cause, Cause::Ok, "a claim is a claim");
    let next = world.run_in("a", "print('really ran')\nimport os\nprint('result' in globals())").await;
    assert_eq!(stdout(&next), "really ran\nFalse\n", "such a session is not gone on with");
}

#[tokio::test]
async fn a_thread_left_behind_never_calls_the_host_of_an_ended_job() {
    let world = World::new();
    let mut host = Adding::default();
    let execution = world.run_job_with(in_session("a", &call_later(50)), &mut host).await;
    assert_eq!(printed(&execution), "");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(host.calls, 0, "between two jobs nothing runs");
    // The thread goes on with the next job. Its call comes before that job has begun, which ends the session (the job
    // then fails, or runs in a new one), or while it runs, and is then that job's own.
    let join = "print('later' in globals())\nimport threading\n\
                for thread in threading.enumerate()[1:]: thread.join()";
    let next = world.run_in("a", join).await;
    assert_eq!(host.calls, 0);
    let is_kept = printed(&world.run_in("a", "print('later' in globals())").await) == "True\n";
    assert_eq!(is_kept, next.cause == Cause::Ok && stdout(&next) == "True\n", "{next:?}");
}

#[tokio::test]
async fn a_thread_that_a_job_left_behind_does_not_run_until_the_next_one() {
    let world = World::new();
    let count = "import threading, time\ndef count():\n    while True: time.sleep(0.001)\n\
                 threading.Thread(target=count, daemon=True).start()";
    assert_eq!(printed(&world.run_in("a", count).await), "");
    let outer = world.executor.zygote_process(ordain_cell::profile::Profile::Core).await.unwrap();
    let is_stopped = |process: &u32| processes::state(*process).as_deref() == Some("T");
    assert!(eventually(|| processes::descendants(outer).iter().any(is_stopped)).await);
    assert_eq!(
        printed(&world.run_in("a", "print(threading.active_count())").await),
        "2\n",
        "it goes on then"
    );
}

#[tokio::test]
async fn leaving_a_job_of_a_session_ends_the_session_s_cell() {
    let world = World::new();
    world.run_in("a", "x = 1").await;
    world.begin_and_leave(in_session("a", "print('running', flush=True)\nwhile True: pass")).await;
    assert_eq!(printed(&world.run_in("a", "print('x' in globals())").await), "False\n");
}

#[tokio::test]
async fn jobs_that_may_share_a_cell_follow_one_another_until_one_goes_wrong() {
    let world = World::with(|options| options.idle_cells = 1);
    let shared = |code: &str| Job { may_share: true, ..job(code) };
    let count = "import math\nmath.jobs = getattr(math, 'jobs', 0) + 1\nprint(math.jobs, globals().get('own'))\nown = 1";
    let run = async |job: Job| world.run_job(job).await.unwrap();
    assert_eq!(printed(&run(shared(count)).await), "1 None\n");
    assert_eq!(printed(&run(shared(count)).await), "2 None\n", "the process is the same, variables are not");
    assert_eq!(printed(&run(job(count)).await), "1 None\n", "a job that may not share is alone");
    assert_eq!(run(shared("1 / 0")).await.cause, Cause::Error);
    assert_eq!(printed(&run(shared(count)).await), "1 None\n", "the cell ended with the job that went wrong");
    let leaves = run(shared("(artifacts / 'a.txt').write_text('a')")).await;
    assert_eq!(leaves.artifacts.len(), 1);
    assert_eq!(printed(&run(shared(count)).await), "1 None\n", "a cell with files is not used again");
    let mut smaller = shared(count);
    smaller.limits.memory_bytes /= 2;
    assert_eq!(printed(&run(smaller).await), "1 None\n", "other limits need another cell");
    world.executor.close().await;
}
