//! Output is taken at the descriptors, as it comes, byte for byte, up to its limit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ordain_cell::{Executor as _, Host, HostCall, HostFuture, NoHost, Output, Stream};
use ordain_types::Cause;

use crate::world::{World, job, printed, stderr, stdout};

/// Writes down which stream each piece came from.
#[derive(Clone, Default)]
struct Pieces(Arc<Mutex<Vec<Piece>>>);

type Piece = (Stream, Vec<u8>);

impl Output for Pieces {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        self.0.lock().unwrap().push((stream, bytes.to_owned()));
    }
}

/// A call is answered when so many pieces have come.
impl Host for Pieces {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(async move {
            let wanted = call.arguments["pieces"].as_u64().unwrap();
            while (self.0.lock().unwrap().len() as u64) < wanted {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(serde_json::Value::Null)
        })
    }
}

#[tokio::test]
async fn output_is_taken_however_it_was_written() {
    let world = World::new();
    let code = "import ctypes, os, sys\nprint('print')\nos.write(1, b'os.write\\n')\n\
                sys.stdout.buffer.write(b'buffer\\n')\nsys.stdout.flush()\nsys.__stdout__.write('original\\n')\n\
                libc = ctypes.CDLL(None)\nlibc.puts(b'libc')\nlibc.fflush(None)\n\
                os.write(2, b'two\\n')\nprint('last', file=sys.stderr)";
    let execution = world.run(code).await;
    assert_eq!(printed(&execution), "print\nos.write\nbuffer\noriginal\nlibc\n");
    assert_eq!(stderr(&execution), "two\nlast\n");
}

#[tokio::test]
async fn what_was_not_flushed_is_not_lost() {
    let world = World::new();
    let execution = world.run("import sys\nprint('no newline', end='')\nsys.stderr.write('nor here')").await;
    assert_eq!((printed(&execution), stderr(&execution)), ("no newline", "nor here"));
    let wrapped = "import io, os, sys\nsys.stdout = io.TextIOWrapper(os.fdopen(1, 'wb', closefd=False))\n\
                   print('through a stream of its own')";
    assert_eq!(printed(&world.run(wrapped).await), "through a stream of its own\n");
}

#[tokio::test]
async fn a_program_may_redirect_its_own_output() {
    let world = World::new();
    let code = "import contextlib, io\ntext = io.StringIO()\nwith contextlib.redirect_stdout(text):\n    \
                print('inside')\nprint(text.getvalue().upper(), end='')";
    assert_eq!(printed(&world.run(code).await), "INSIDE\n");
    let closed = world.run("import sys\nprint('before')\nsys.stdout.close()\nsys.stderr.close()").await;
    assert_eq!(printed(&closed), "before\n");
    let descriptor = world.run("import os\nprint('before', flush=True)\nos.close(1)\nos.close(2)").await;
    assert_eq!(printed(&descriptor), "before\n");
    let gone = world.run("import sys\nsys.stdout = sys.stderr = None\nprint('nowhere')").await;
    assert_eq!(printed(&gone), "");
}

#[tokio::test]
async fn output_comes_live_and_in_order() {
    let world = World::new();
    let pieces = Pieces::default();
    // It goes on when what it wrote has come.
    let code = "import ordain, os\nfor n in range(3):\n    os.write(1, b'out%d' % n)\n    \
                ordain.call('came', pieces=2 * n + 1)\n    os.write(2, b'err%d' % n)\n    \
                ordain.call('came', pieces=2 * n + 2)\n";
    let (mut host, mut output) = (pieces.clone(), pieces.clone());
    let execution = world.executor.run(job(code), &mut host, &mut output).await.unwrap();
    assert_eq!(execution.cause, Cause::Ok);
    let pieces = pieces.0.lock().unwrap();
    let text: Vec<_> =
        pieces.iter().map(|(stream, bytes)| (*stream, std::str::from_utf8(bytes).unwrap())).collect();
    let expected = [
        (Stream::Stdout, "out0"),
        (Stream::Stderr, "err0"),
        (Stream::Stdout, "out1"),
        (Stream::Stderr, "err1"),
        (Stream::Stdout, "out2"),
        (Stream::Stderr, "err2"),
    ];
    assert_eq!(text, expected);
    assert_eq!((stdout(&execution), stderr(&execution)), ("out0out1out2", "err0err1err2"));
}

#[tokio::test]
async fn output_is_bytes_and_may_be_any() {
    let world = World::new();
    let execution = world.run("import os\nos.write(1, b'a\\xff\\xfe\\x00\\x1b[2J')").await;
    assert_eq!((execution.cause, &*execution.stdout), (Cause::Ok, &b"a\xff\xfe\0\x1b[2J"[..]));
    let text = world.run("print('Größe 漢字 🕶 \\ud800')").await;
    assert_eq!(printed(&text), "Größe 漢字 🕶 \\ud800\n", "text is UTF-8; a lone surrogate is escaped");
}

#[tokio::test]
async fn the_limit_counts_both_streams_and_cuts_exactly() {
    let world = World::new();
    let code = "import os\nos.write(1, b'o' * 600)\nos.write(2, b'e' * 400)\n";
    let exact = world.run_limited(code, |limits| limits.output_bytes = 1000).await;
    assert_eq!((exact.cause, exact.output_truncated), (Cause::Ok, false), "exactly the limit is within it");
    assert_eq!((exact.stdout.len(), exact.stderr.len()), (600, 400));

    let mut pieces = Pieces::default();
    let mut job = job(code);
    job.limits.output_bytes = 999;
    let over = world.executor.run(job, &mut NoHost, &mut pieces).await.unwrap();
    assert_eq!((over.cause, over.output_truncated), (Cause::OutputLimit, true));
    assert_eq!(over.stdout.len() + over.stderr.len(), 999);
    let live: usize = pieces.0.lock().unwrap().iter().map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(live, 999, "what is shown is within the limit too");
}

#[tokio::test]
async fn a_megabyte_within_the_limit_comes_whole() {
    let world = World::new();
    let code =
        "import os, sys\nfor n in range(10000):\n    print(f'{n:099d}')\nsys.stderr.write('x' * 500_000)";
    let execution = world.run(code).await;
    assert_eq!(printed(&execution).len(), 1_000_000);
    assert!(stdout(&execution).ends_with("9999\n"));
    assert_eq!(execution.stderr.len(), 500_000);
}

#[tokio::test]
async fn a_flood_from_many_threads_is_cut() {
    let world = World::new();
    let code = "import os, threading\ndef flood():\n    while True: os.write(1, b'x' * 4096)\n\
                for _ in range(4): threading.Thread(target=flood).start()";
    let execution = world.run_limited(code, |limits| limits.output_bytes = 1 << 20).await;
    assert_eq!((execution.cause, execution.stdout.len()), (Cause::OutputLimit, 1 << 20));
}
