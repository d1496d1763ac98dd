//! Host calls are typed, bounded, answered in turn, and hostile until read.

use std::time::Duration;

use ordain_cell::{Host, HostCall, HostError, HostFuture};
use ordain_types::Cause;
use serde_json::{Value, json};

use crate::world::{World, job, printed, raised, stdout};

/// A host that adds numbers, waits on request, and refuses the rest.
#[derive(Default)]
pub(crate) struct Adding {
    pub(crate) calls: usize,
}

impl Host for Adding {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        self.calls += 1;
        Box::pin(async move {
            match call.name.as_str() {
                "add" => add(&call),
                "echo" => Ok(Value::Object(call.arguments)),
                "wait" => {
                    let millis = call.arguments.get("millis").and_then(Value::as_u64).unwrap_or_default();
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                    Ok(json!(millis))
                }
                "much" => Ok(Value::String("x".repeat(40_000_000))),
                _ => Err(HostError::new("unknown_function", "there is no such function")),
            }
        })
    }
}

fn add(call: &HostCall) -> Result<Value, HostError> {
    let number = |name: &str| {
        call.arguments
            .get(name)
            .and_then(Value::as_i64)
            .ok_or_else(|| HostError::new("wrong_arguments", format!("`{name}` must be a whole number")))
    };
    Ok(json!(number("a")? + number("b")?))
}

/// A program that calls its host from a thread, some time after its end.
pub(crate) fn call_later(millis: u32) -> String {
    format!(
        "import ordain, threading, time\ndef later():\n    time.sleep({millis} / 1000)\n    \
         ordain.call('add', a=1, b=2)\nthreading.Thread(target=later).start()"
    )
}

#[tokio::test]
async fn code_calls_its_host_and_gets_answers() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\ntotal = 0\nfor n in range(100): total = ordain.call('add', a=total, b=n)\nprint(total)";
    let execution = world.run_with(code, &mut host).await;
    assert_eq!((printed(&execution), execution.host_calls, host.calls), ("4950\n", 100, 100));
}

#[tokio::test]
async fn values_come_back_as_they_went() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\nvalue = {'text': 'Größe \\n\\0 \\u2028 🕶', 'none': None, 'yes': True, 'float': 0.1, \
                'list': [1, [2, []], {}], 'large': 2**63, 'small': -2**63}\n\
                answer = ordain.call('echo', **value)\nprint(answer == value, list(answer) == list(value))";
    let execution = world.run_with(code, &mut host).await;
    assert!(printed(&execution).starts_with("True "), "{}", stdout(&execution));
}

#[tokio::test]
async fn a_refusal_is_an_exception_with_a_kind() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\nfor name, arguments in [('nothing', {}), ('add', {}), ('add', {'a': 'x', 'b': 1}), \
                ('', {}), ('\\n' * 10, {})]:\n    try: ordain.call(name, **arguments)\n    \
                except ordain.HostError as error: print(error.kind, '|', error)\n\
                ordain.call('nothing')";
    let execution = world.run_with(code, &mut host).await;
    let unknown = "unknown_function | there is no such function\n";
    let wrong = "wrong_arguments | `a` must be a whole number\n";
    assert_eq!(stdout(&execution), [unknown, wrong, wrong, unknown, unknown].concat());
    assert_eq!((execution.cause, execution.host_calls), (Cause::Error, 6));
    assert_eq!(raised(&execution), ("HostError", "there is no such function", Some(5)));
}

#[tokio::test]
async fn a_job_without_a_host_is_told_so() {
    let world = World::new();
    let code = "import ordain\ntry: ordain.call('a\\nb' + 'x' * 200)\n\
                except ordain.HostError as error: print(error.kind, '|', error)";
    let expected = format!("unknown_function | there is no host function `ab{}` here\n", "x".repeat(78));
    assert_eq!(printed(&world.run(code).await), expected);
}

#[tokio::test]
async fn what_cannot_be_sent_is_an_exception_where_it_was_called() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\ndeep = []\nfor _ in range(500): deep = [deep]\nloop = []\nloop.append(loop)\n\
                for value in [float('nan'), float('inf'), object(), b'bytes', {1, 2}, {(1, 2): 3}, '\\ud800', deep, loop, \
                {'\\ud800': 1}]:\n    try: ordain.call('echo', value=value)\n    \
                except Exception as error: print(type(error).__name__)\n    else: print('sent', repr(value)[:20])\n\
                try: ordain.call(7)\nexcept TypeError: print('no name')\n\
                print(ordain.call('add', a=1, b=2))";
    let execution = world.run_with(code, &mut host).await;
    let expected = "ValueError\nValueError\nTypeError\nTypeError\nTypeError\nTypeError\nUnicodeEncodeError\nHostError\n\
                    ValueError\nUnicodeEncodeError\nno name\n3\n";
    assert_eq!(printed(&execution), expected);
}

#[tokio::test]
async fn a_number_no_host_can_hold_is_refused() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\ntry: print(ordain.call('echo', value=10**400))\n\
                except ordain.HostError as error: print(error.kind)\nprint(ordain.call('add', a=1, b=2))";
    assert_eq!(printed(&world.run_with(code, &mut host).await), "malformed\n3\n");
}

#[tokio::test]
async fn calls_and_answers_larger_than_a_frame_are_refused() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\nfor call in [lambda: ordain.call('echo', value='x' * 40_000_000), \
                lambda: ordain.call('much')]:\n    try: call()\n    \
                except ordain.HostError as error: print(error.kind, '|', error)\n\
                print(len(ordain.call('echo', value='x' * 30_000_000)['value']))";
    let execution = world.run_with(code, &mut host).await;
    let expected = "too_large | a call of 40000044 bytes is larger than a frame may be\n\
                    too_large | the answer of 40000012 bytes is larger than a frame may be\n30000000\n";
    assert_eq!(printed(&execution), expected);
    assert_eq!(host.calls, 2, "a call that is too large never reaches the host");
}

#[tokio::test]
async fn a_host_that_takes_too_long_is_a_timeout() {
    let (world, mut host) = (World::new(), Adding::default());
    let job = job("import ordain\nprint('before', flush=True)\nordain.call('wait', millis=600_000)");
    let execution = world.run_out_of_time(job, &mut host).await;
    assert_eq!(stdout(&execution), "before\n");
}

#[tokio::test]
async fn output_flows_while_the_host_is_slow() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain, threading\ndef flood():\n    for n in range(3000): print('x' * 99)\n\
                thread = threading.Thread(target=flood)\nthread.start()\nordain.call('wait', millis=300)\n\
                thread.join()";
    assert_eq!(printed(&world.run_with(code, &mut host).await).len(), 300_000);
}

#[tokio::test]
async fn calls_from_several_threads_each_get_their_own_answer() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain\nfrom concurrent.futures import ThreadPoolExecutor\n\
                with ThreadPoolExecutor(8) as pool:\n    \
                print(list(pool.map(lambda n: ordain.call('add', a=n, b=n), range(200))) == [2 * n for n in range(200)])";
    let execution = world.run_with(code, &mut host).await;
    assert_eq!((printed(&execution), host.calls), ("True\n", 200));
}

#[tokio::test]
async fn a_call_left_by_an_exception_does_not_shift_the_answers() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain, signal\nclass Late(Exception): pass\ndef late(*_): raise Late\n\
                signal.signal(signal.SIGALRM, late)\ntry:\n    signal.setitimer(signal.ITIMER_REAL, 0.05)\n    \
                ordain.call('wait', millis=300)\nexcept Late: print('left')\n\
                print(ordain.call('add', a=1, b=2))\nprint(ordain.call('add', a=3, b=4))";
    assert_eq!(printed(&world.run_with(code, &mut host).await), "left\n3\n7\n");
}

#[tokio::test]
async fn a_flood_of_calls_does_not_outrun_the_deadline() {
    // One thread sends calls without end and another reads the answers, so that the wire is never idle.
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import os, struct, threading\ncall = b'{\"name\":\"x\",\"arguments\":{}}'\n\
                frames = (struct.pack('<Ic', len(call), b'C') + call) * 50\n\
                def read():\n    while True: os.read(3, 1 << 16)\n\
                threading.Thread(target=read, daemon=True).start()\nwhile True: os.write(3, frames)";
    let mut job = job(code);
    job.limits.wall = Duration::from_millis(500);
    let run = world.run_job_with(job, &mut host);
    let execution = tokio::time::timeout(Duration::from_mins(1), run).await.expect("it ends");
    assert!(matches!(execution.cause, Cause::Timeout | Cause::ProtocolError), "{execution:?}");
}

#[tokio::test]
async fn forged_frames_are_claims_or_protocol_errors() {
    let (world, mut host) = (World::new(), Adding::default());
    let send = |kind: char, payload: &str| {
        format!(
            "import os, struct, time\npayload = {payload:?}.encode()\n\
             os.write(3, struct.pack('<Ic', len(payload), b'{kind}') + payload)\ntime.sleep(60)\n"
        )
    };
    let ok = r#"{"exit":0,"error":null,"limit":null,"values":{},"notes":{}}"#;
    let forged = world.run_with(&send('T', ok), &mut host).await;
    assert_eq!((forged.cause, forged.exit), (Cause::Ok, Some(0)), "a result is the code's own claim");
    for (kind, payload) in [
        ('T', r#"{"exit":0}"#),
        ('T', r#"{"exit":0,"error":null,"limit":null,"values":{},"notes":{},"cause":"ok"}"#),
        ('T', r#"{"exit":99999999999,"error":null,"limit":null,"values":{},"notes":{}}"#),
        ('C', "[]"),
        ('C', r#"{"name":"add"}"#),
        ('C', r#"{"name":"add","arguments":{},"as":"root"}"#),
        ('C', r#"{"name":7,"arguments":{}}"#),
        ('P', r#"{"value":1}"#),
        ('J', ""),
        ('F', "[]"),
        ('R', ""),
    ] {
        let execution = world.run_with(&send(kind, payload), &mut host).await;
        assert_eq!(execution.cause, Cause::ProtocolError, "{kind} {payload}");
    }
    assert_eq!(host.calls, 0);
}

#[tokio::test]
async fn a_call_after_the_result_reaches_no_host() {
    let (world, mut host) = (World::new(), Adding::default());
    let ok = r#"{"exit":0,"error":null,"limit":null,"values":{},"notes":{}}"#;
    let code = format!(
        "import os, struct, time\ndef frame(kind, payload): return struct.pack('<Ic', len(payload), kind) + payload\n\
         os.write(3, frame(b'T', {ok:?}.encode()) + frame(b'C', b'{{\"name\":\"add\",\"arguments\":{{}}}}'))\n\
         time.sleep(60)"
    );
    let execution = world.run_with(&code, &mut host).await;
    assert_eq!((execution.cause, execution.host_calls, host.calls), (Cause::Ok, 0, 0));
}

#[tokio::test]
async fn a_cell_that_dies_during_a_call_is_judged_by_its_end() {
    let (world, mut host) = (World::new(), Adding::default());
    let code = "import ordain, os, threading, time\n\
                threading.Thread(target=lambda: (time.sleep(0.1), os._exit(5))).start()\n\
                ordain.call('wait', millis=500)";
    let execution = world.run_with(code, &mut host).await;
    assert_eq!(execution.cause, Cause::NoResult, "{execution:?}");
    assert_eq!(execution.detail.as_deref(), Some("it exited with 5 and gave no result"));
}
