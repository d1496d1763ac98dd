//! Every cause is named, with what led to it.

use std::time::Duration;

use ordain_cell::NoHost;
use ordain_cell::profile::Profile;
use ordain_types::{Cause, Limits};

use crate::world::{World, job, printed, raised, stderr, stdout};

#[tokio::test]
async fn a_program_that_comes_to_its_end_is_ok() {
    let world = World::new();
    let execution = world.run("print(1 + 1)").await;
    assert_eq!((execution.cause, execution.exit, execution.signal), (Cause::Ok, Some(0), None));
    assert_eq!((stdout(&execution), stderr(&execution)), ("2\n", ""));
    assert_eq!((execution.error, execution.detail), (None, None));
    assert_eq!(printed(&world.run("").await), "", "an empty program is a program");
}

#[tokio::test]
async fn an_exception_is_told_with_type_message_and_line() {
    let world = World::new();
    let execution = world.run("x = 1\ndef f():\n    return x / 0\n\nf()\n").await;
    assert_eq!((execution.cause, execution.exit), (Cause::Error, Some(1)));
    assert_eq!(raised(&execution), ("ZeroDivisionError", "division by zero", Some(3)));
    let expected = "Traceback (most recent call last):\n  File \"main.py\", line 5, in <module>\n    f()\n  \
                    File \"main.py\", line 3, in f\n    return x / 0\n           ~~^~~\n\
                    ZeroDivisionError: division by zero\n";
    assert_eq!(stderr(&execution), expected);

    // The line is the code's own, also when a library raised.
    let execution = world.run("import json\n\njson.loads('{')").await;
    let (kind, message, line) = raised(&execution);
    assert_eq!((kind, line), ("JSONDecodeError", Some(3)));
    assert!(message.starts_with("Expecting property name"), "{message}");

    for (code, kind) in [("raise KeyboardInterrupt", "KeyboardInterrupt"), ("input()", "EOFError")] {
        let execution = world.run(code).await;
        assert_eq!((execution.cause, raised(&execution).0), (Cause::Error, kind));
    }
}

#[tokio::test]
async fn a_program_that_is_compiled_ahead_fails_like_one_that_is_not() {
    let world = World::with(|options| options.idle_cells = 1);
    let fails = || {
        let mut job =
            job("x = 1\n\n\ndef f():\n    return half(x) / 0\n\n\nprint(f.__code__.co_filename)\nf()\n");
        job.helpers = "def half(value):\n    return value / 2\n".into();
        job
    };
    let first = world.run_job(fails()).await.unwrap();
    assert_eq!(raised(&first), ("ZeroDivisionError", "float division by zero", Some(5)));
    world.run_job(fails()).await.unwrap();
    while world.executor.compiled_programs() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let later = world.run_job(fails()).await.unwrap();
    assert_eq!(
        (raised(&later), stdout(&later), stderr(&later)),
        (raised(&first), stdout(&first), stderr(&first))
    );

    // A helper's own failure is reported the same way.
    let mut other = fails();
    other.helpers = "def half(value):\n    return value / 0\n".into();
    assert_eq!(
        raised(&world.run_job(other).await.unwrap()).1,
        "division by zero",
        "other helpers, another program"
    );
    world.executor.close().await;
}

#[tokio::test]
async fn an_exception_that_resists_being_shown_is_still_an_error() {
    let world = World::new();
    let unreadable = "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd()";
    let execution = world.run(unreadable).await;
    assert_eq!(execution.cause, Cause::Error);
    assert_eq!(raised(&execution), ("Odd", "the exception has no readable message", Some(3)));

    let long = world.run("raise ValueError('x' * 1_000_000)").await;
    assert_eq!(raised(&long).1.len(), 4000, "a message is bounded");

    let surrogate = world.run("raise ValueError('a\\ud800b')").await;
    assert_eq!(raised(&surrogate), ("ValueError", "a\\ud800b", Some(1)));

    let recursion = world.run("def f(): f()\nf()").await;
    assert_eq!((recursion.cause, raised(&recursion).0), (Cause::Error, "RecursionError"));
    assert!(stderr(&recursion).len() < 10_000, "its traceback is bounded");

    let silent = world.run("import sys\nsys.stderr.close()\nraise ValueError('x')").await;
    assert_eq!((silent.cause, raised(&silent).0), (Cause::Error, "ValueError"));
}

#[tokio::test]
async fn a_syntax_error_is_told_with_its_line() {
    // The verifier refuses what is no Python; this is a limit of the interpreter's own that it does not know.
    let world = World::new();
    let execution = world.run(&format!("x = 1\ny = {}\n", "1".repeat(5000))).await;
    assert_eq!((execution.cause, execution.exit), (Cause::Error, Some(1)));
    let (kind, message, line) = raised(&execution);
    assert_eq!((kind, line), ("SyntaxError", Some(2)));
    assert!(message.starts_with("Exceeds the limit"), "{message}");
    assert!(stderr(&execution).contains("File \"main.py\", line 2"), "{}", stderr(&execution));
    // One in code that the code made itself is raised where it did so.
    let execution = world.run("\nexec('if x')").await;
    assert_eq!(raised(&execution), ("SyntaxError", "expected ':' (<string>, line 1)", Some(2)));
}

#[tokio::test]
async fn the_ways_to_exit_mean_what_they_mean_in_python() {
    let world = World::new();
    for (code, cause, exit, shown) in [
        ("import sys; sys.exit()", Cause::Ok, 0, ""),
        ("raise SystemExit", Cause::Ok, 0, ""),
        ("import sys; sys.exit(0)", Cause::Ok, 0, ""),
        ("import sys; sys.exit(False)", Cause::Ok, 0, ""),
        ("import sys; sys.exit(3)", Cause::Error, 3, ""),
        ("import sys; sys.exit(-1)", Cause::Error, 255, ""),
        ("import sys; sys.exit(256)", Cause::Ok, 0, ""),
        ("import sys; sys.exit('no rows')", Cause::Error, 1, "no rows\n"),
        ("import sys; sys.exit(['a', 1])", Cause::Error, 1, "['a', 1]\n"),
        ("exit(4)", Cause::Error, 4, ""),
        ("quit()", Cause::Ok, 0, ""),
    ] {
        let execution = world.run(code).await;
        assert_eq!((execution.cause, execution.exit), (cause, Some(exit)), "{code}");
        assert_eq!((stderr(&execution), &execution.error), (shown, &None), "{code}");
    }
}

#[tokio::test]
async fn an_exit_text_that_cannot_be_shown_is_still_an_exit() {
    let world = World::new();
    for code in [
        "class Odd:\n    def __str__(self): raise ValueError\nraise SystemExit(Odd())",
        "import sys\nsys.stderr.close()\nsys.exit('unheard')",
        "import sys\nsys.stderr = None\nsys.exit('unheard')",
    ] {
        let execution = world.run(code).await;
        assert_eq!((execution.cause, execution.exit), (Cause::Error, Some(1)), "{code}");
    }
}

#[tokio::test]
async fn threads_are_waited_for_however_the_program_ends() {
    let world = World::new();
    let thread = "import threading, time, sys\ndef late():\n    time.sleep(0.2)\n    print('late')\n\
                  threading.Thread(target=late).start()\n";
    for (end, cause) in
        [("", Cause::Ok), ("sys.exit(3)", Cause::Error), ("1 / 0", Cause::Error), ("exit()", Cause::Ok)]
    {
        let execution = world.run(&format!("{thread}{end}")).await;
        assert_eq!((execution.cause, stdout(&execution)), (cause, "late\n"), "{end}");
    }
    let daemon = "import threading, time\n\
                  threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\nprint('done')";
    assert_eq!(printed(&world.run(daemon).await), "done\n", "a daemon thread is not waited for");
    let pool = "from concurrent.futures import ThreadPoolExecutor\n\
                print(ThreadPoolExecutor(2).submit(lambda: 7).result())";
    assert_eq!(printed(&world.run(pool).await), "7\n", "a pool nobody shut down does not hang");
    let fails = "import threading\nthreading.Thread(target=lambda: 1 / 0).start()";
    let execution = world.run(fails).await;
    assert_eq!(execution.cause, Cause::Ok, "as in Python, a thread's exception is its own");
    assert!(stderr(&execution).contains("ZeroDivisionError"), "{}", stderr(&execution));
}

#[tokio::test]
async fn exit_handlers_run_after_the_threads_and_before_the_result() {
    let world = World::new();
    let code = "import atexit, threading, time\natexit.register(print, 'handler')\n\
                threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()\nprint('end')\n";
    assert_eq!(printed(&world.run(code).await), "end\nthread\nhandler\n");
    let execution = world.run("import atexit\natexit.register(print, 'handler')\n1 / 0").await;
    assert_eq!((execution.cause, stdout(&execution)), (Cause::Error, "handler\n"));
    let failing = world.run("import atexit\natexit.register(lambda: 1 / 0)\nprint('end')").await;
    assert_eq!(printed(&failing), "end\n", "a handler that fails does not change the outcome");
    assert!(stderr(&failing).contains("ZeroDivisionError"), "{}", stderr(&failing));
    let logged = "import logging, logging.handlers, sys\nhandler = logging.StreamHandler(sys.stdout)\n\
                  memory = logging.handlers.MemoryHandler(100, target=handler)\n\
                  logging.getLogger().addHandler(memory)\nlogging.warning('kept back')";
    assert_eq!(printed(&world.run(logged).await), "kept back\n", "what a library put off is done");
    let finalized =
        "import weakref\nclass Thing: pass\nthing = Thing()\nweakref.finalize(thing, print, 'finalized')";
    assert_eq!(printed(&world.run(finalized).await), "finalized\n");
    let artifact = "import atexit\natexit.register(lambda: (artifacts / 'a.txt').write_text('x'))";
    assert_eq!(world.run(artifact).await.artifacts.len(), 1);
}

#[tokio::test]
async fn running_too_long_is_a_timeout() {
    let world = World::new();
    for code in [
        "print('start', flush=True)\nimport time\ntime.sleep(1000)",
        "print('start', flush=True)\nwhile True: pass",
        "print('start', flush=True)\nimport signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    \
         except (OSError, ValueError): pass\nwhile True:\n    try:\n        while True: pass\n    except BaseException: \
         pass",
        "print('start', flush=True)\nimport threading\nthreading.Event().wait()",
        "print('start', flush=True)\nimport atexit, time\natexit.register(time.sleep, 1000)",
    ] {
        let execution = world.run_out_of_time(job(code), &mut NoHost).await;
        let wall = ordain_types::format_duration(execution.limits.wall);
        assert_eq!(execution.detail, Some(format!("it ran longer than {wall}")), "{code}");
        assert_eq!(stdout(&execution), "start\n", "what it wrote before is kept");
        assert_eq!((execution.exit, execution.signal, execution.error), (None, None, None));
    }
}

#[tokio::test]
async fn using_too_much_cpu_time_is_a_cpu_limit() {
    let world = World::new();
    for code in [
        "while True: pass",
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "import threading\nfor _ in range(3): threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
    ] {
        let second = |limits: &mut Limits| {
            (limits.cpu, limits.wall) = (Some(Duration::from_secs(1)), Duration::from_mins(10));
        };
        let execution = world.run_limited(code, second).await;
        assert_eq!(execution.cause, Cause::CpuLimit, "{code}: {execution:?}");
        assert_eq!(execution.signal, Some(9));
        assert!(execution.detail.unwrap().starts_with("it used "));
    }
    let idle = "import time\ntime.sleep(1.2)\nprint('rested')";
    let execution = world.run_limited(idle, |limits| limits.cpu = Some(Duration::from_secs(1))).await;
    assert_eq!(printed(&execution), "rested\n", "sleeping uses no CPU time");
}

#[tokio::test]
async fn using_too_much_memory_is_a_memory_limit() {
    let world = World::new();
    for code in [
        "data = bytearray(200_000_000)",
        "data = []\nwhile True: data.append(bytes(100_000))",
        "data = []\nwhile True: data.append(object())",
        "data = {}\nfor n in range(10**9): data[n] = str(n)",
        "import mmap\nmmap.mmap(-1, 200_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        "class ArrayMemoryError(MemoryError): pass\nraise ArrayMemoryError('as numpy does')",
        "'x' * 10**12",
        // There may be another thread, and there is no room for its stack.
        "import threading\ndata = []\ntry:\n    while True: data.append(bytearray(1 << 16))\nexcept MemoryError:\n    pass\nthreading.Thread(target=print).start()",
    ] {
        let execution = world.run_limited(code, |limits| limits.memory_bytes = 64 << 20).await;
        assert_eq!(execution.cause, Cause::MemoryLimit, "{code}: {execution:?}");
        let detail = execution.detail.as_deref();
        assert_eq!(detail, Some("it asked for more than 64MiB"), "{code}: {detail:?}");
    }
    let within = "data = bytearray(40_000_000)\nprint(len(data))";
    let execution = world.run_limited(within, |limits| limits.memory_bytes = 64 << 20).await;
    assert_eq!(printed(&execution), "40000000\n");
    let caught = "try:\n    bytearray(10**12)\nexcept MemoryError:\n    print('caught')";
    assert_eq!(printed(&world.run(caught).await), "caught\n", "code may deal with it");
}

#[tokio::test]
async fn memory_of_a_kind_that_no_cell_has_is_no_memory_limit() {
    let execution = World::new().run("import mmap\nmmap.mmap(-1, 4096)").await;
    assert_eq!(execution.cause, Cause::Error, "{execution:?}");
    assert_eq!(execution.error.unwrap().kind, "PermissionError");
}

#[tokio::test]
async fn the_smallest_memory_limit_still_gives_a_cause() {
    let world = World::new();
    for memory_bytes in [1, 4096, 1 << 20] {
        let execution =
            world.run_limited("x = bytearray(50_000_000)", |limits| limits.memory_bytes = memory_bytes).await;
        assert_eq!(execution.cause, Cause::MemoryLimit, "{memory_bytes}: {execution:?}");
    }
}

#[tokio::test]
async fn writing_too_much_output_is_an_output_limit() {
    let world = World::new();
    let execution = world.run_limited("while True: print('x' * 99)", |it| it.output_bytes = 1000).await;
    assert_eq!(execution.cause, Cause::OutputLimit);
    assert_eq!(
        execution.detail.as_deref(),
        Some("it wrote more than 1000B to stdout and stderr"),
        "{execution:?}"
    );
    assert!(execution.output_truncated);
    assert_eq!(execution.stdout.len(), 1000);
}

#[tokio::test]
async fn leaving_too_many_or_too_large_artifacts_is_an_artifact_limit() {
    let world = World::new();
    let many = "for n in range(5): (artifacts / f'{n}.txt').write_text('x')";
    let execution = world.run_limited(many, |limits| limits.artifacts = 3).await;
    assert_eq!((execution.cause, execution.exit), (Cause::ArtifactLimit, Some(0)));
    assert_eq!(execution.detail.as_deref(), Some("it left more than 3 artifacts"));
    let large = "(artifacts / 'a.bin').write_bytes(bytes(2000))";
    let execution = world.run_limited(large, |limits| limits.artifact_bytes = 1000).await;
    assert_eq!(execution.cause, Cause::ArtifactLimit);
    assert_eq!(execution.detail.as_deref(), Some("it left artifacts of more than 1000B together"));
    let failed = world.run_limited(&format!("{large}\n1 / 0"), |limits| limits.artifact_bytes = 1000).await;
    assert_eq!(failed.cause, Cause::Error, "an exception says more than its artifacts");
}

#[tokio::test]
async fn starting_too_many_threads_is_a_process_limit() {
    let world = World::new();
    let bomb = "import threading, time\nfor n in range(100):\n    \
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()";
    let execution = world.run_limited(bomb, |limits| limits.processes = 10).await;
    assert_eq!(execution.cause, Cause::ProcessLimit, "{execution:?}");
    assert_eq!(execution.detail.as_deref(), Some("it started more than 10 threads"));
    assert_eq!(raised(&execution), ("RuntimeError", "can't start new thread", Some(3)));
    let fits = bomb.replace("100", "9");
    let execution = world.run_limited(&fits, |limits| limits.processes = 10).await;
    assert_eq!(execution.cause, Cause::Ok, "nine and the main one are ten");
}

#[tokio::test]
async fn dying_of_a_signal_is_a_crash() {
    let world = World::new();
    for (code, signal) in [
        ("import ctypes\nctypes.string_at(0)", 11),
        // The first process of a namespace does not die of signals it sends itself, so libc ends `abort` with an
        // instruction that is not allowed.
        ("import os\nos.abort()", 11),
    ] {
        let execution = world.run(&format!("print('before', flush=True)\n{code}")).await;
        assert_eq!((execution.cause, execution.signal), (Cause::Crash, Some(signal)), "{code}");
        assert_eq!(execution.detail, Some(format!("it died of signal {signal}")));
        assert_eq!((stdout(&execution), execution.exit), ("before\n", None));
    }
    let ignored = "import signal\nsignal.raise_signal(signal.SIGKILL)\nprint('alive')";
    assert_eq!(printed(&world.run(ignored).await), "alive\n", "a cell cannot pass for killed");
}

#[tokio::test]
async fn ending_without_a_result_is_told_as_that() {
    let world = World::new();
    for (code, detail) in [
        ("import os\nos._exit(0)", "it exited with 0 and gave no result"),
        ("import os\nos._exit(7)", "it exited with 7 and gave no result"),
        ("import os, time\nos.close(3)\ntime.sleep(60)", "it closed its wire and gave no result"),
        ("import os\nos.closerange(0, 256)", "it exited with 70 and gave no result"),
    ] {
        let execution = world.run(code).await;
        assert_eq!((execution.cause, execution.exit), (Cause::NoResult, None), "{code}: {execution:?}");
        assert_eq!(execution.detail.as_deref(), Some(detail), "{code}");
    }
}

#[tokio::test]
async fn garbage_on_the_wire_is_a_protocol_error() {
    let world = World::new();
    for (bytes, detail) in [
        (r"b'\xff\xff\xff\xffT'", "it sent a frame of 4294967295 bytes, more than a frame may have"),
        (r"b'\x00\x00\x00\x00?'", "it sent a frame of unknown kind"),
        (r"b'\x02\x00\x00\x00T{}'", "it sent a frame that does not read as what it claims to be"),
        (r"b'\x00\x00\x00\x00R'", "it sent a frame that may not come now"),
        (r"b'GET / HTTP/1.1\r\n\r\n'", "it sent a frame of 542393671 bytes, more than a frame may have"),
    ] {
        let code =
            format!("print('before', flush=True)\nimport os, time\nos.write(3, {bytes})\ntime.sleep(60)");
        let execution = world.run(&code).await;
        assert_eq!(execution.cause, Cause::ProtocolError, "{bytes}");
        assert_eq!(execution.detail.as_deref(), Some(detail), "{bytes}");
        assert_eq!((stdout(&execution), execution.exit), ("before\n", None));
    }
    assert_eq!(printed(&world.run("print('next')").await), "next\n", "the executor goes on");
}

#[tokio::test]
async fn columns_on_disk_are_read_where_no_further_thread_is_allowed() {
    let world = World::new();
    let mut job = job(r#"
import io, threading
import pandas as pd, pyarrow as pa, pyarrow.csv, pyarrow.dataset, pyarrow.parquet as pq
pd.DataFrame({name: range(1000) for name in "abc"}).to_parquet(artifacts / "t.parquet")
path = str(artifacts / "t.parquet")
print(pq.read_table(path).num_rows, len(pd.read_parquet(path)), pyarrow.dataset.dataset(path).to_table().num_rows)
print(pyarrow.csv.read_csv(io.BytesIO(b"a,b\n1,2\n")).num_rows)
threading.Thread(target=print).start()
"#);
    (job.profile, job.limits.processes) = (Profile::Data, 1);
    let execution = world.run_job(job).await.unwrap();
    assert_eq!(stdout(&execution), "1000 1000 1000\n1\n", "{execution:?}");
    assert_eq!(execution.cause, Cause::ProcessLimit, "the code itself gets no thread: {execution:?}");
}
