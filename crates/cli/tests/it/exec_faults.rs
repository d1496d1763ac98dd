//! However `ordain exec` ends, nothing of it stays.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use ordain_testkit::processes::is_running;
use rustix::process::Signal;

use crate::command::{Folder, Running, eventually, exec, ordain, run_with_input};

/// A program that runs until it is ended, in a process group of its own, as at a terminal. It has started when this
/// returns.
fn endless(folder: &Folder, arguments: &[&str]) -> Running {
    let program = folder.file("endless.py", ENDLESS);
    let mut command = ordain(["exec", &program, "--timeout", "600s"]);
    command.args(arguments);
    started(command)
}

const ENDLESS: &str = "print('running', flush=True)\nwhile True: pass\n";

/// The same, started by another program, which it takes the place of.
fn endless_by(folder: &Folder, by: &[&str]) -> Running {
    let program = folder.file("endless.py", ENDLESS);
    let mut command = Command::new(by[0]);
    command.args(&by[1..]).arg(env!("CARGO_BIN_EXE_ordain")).args(["exec", &program, "--timeout", "600s"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    started(command)
}

fn started(mut command: Command) -> Running {
    command.process_group(0);
    let mut running = Running::start(command);
    running.wait_for("running\n");
    running
}

/// Asserts that none of the processes is left.
#[track_caller]
fn assert_gone(processes: &[u32]) {
    assert!(processes.len() >= 3, "{processes:?} are not a zygote and a cell");
    let left = || processes.iter().filter(|process| is_running(**process)).collect::<Vec<_>>();
    assert!(eventually(|| left().is_empty()), "{:?} survived", left());
}

#[test]
fn no_cell_survives_a_killed_supervisor() {
    let folder = Folder::new();
    let mut running = endless(&folder, &[]);
    let processes = running.descendants();
    running.0.kill().unwrap();
    assert_eq!(running.exit_code(), None);
    assert_gone(&processes);
}

#[test]
fn no_zygote_survives_a_supervisor_that_was_killed_while_it_started() {
    let folder = Folder::new();
    let program = folder.file("a.py", "while True: pass\n");
    for _ in 0..5 {
        let mut running = Running::start(ordain(["exec", &program]));
        let mut processes = Vec::new();
        assert!(eventually(|| {
            processes = running.descendants();
            !processes.is_empty()
        }));
        running.0.kill().unwrap();
        running.exit_code();
        // Those that came between the look and the end are children of those that were seen.
        assert!(
            eventually(|| !processes.iter().any(|process| is_running(*process))),
            "{processes:?} survived"
        );
    }
}

#[test]
fn ctrl_c_ends_the_cell_and_says_so() {
    let folder = Folder::new();
    let out = folder.join("out");
    let mut running = endless(&folder, &["--out", &out]);
    let processes = running.descendants();
    running.signal(Signal::INT);
    assert_eq!(running.exit_code(), Some(130));
    assert_gone(&processes);
    let mut stderr = String::new();
    std::io::Read::read_to_string(running.0.stderr.as_mut().unwrap(), &mut stderr).unwrap();
    assert_eq!(stderr, "interrupted: the cell was ended\n");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_terminated_supervisor_leaves_nothing() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let folder = Folder::new();
        // A test that was started with signals ignored, as `nohup` does, hands that on; the program must not inherit it.
        let mut running = endless_by(&folder, &["env", "--default-signal=TERM,HUP,QUIT"]);
        let processes = running.descendants();
        running.signal(signal);
        assert_eq!(running.exit_code(), None, "it died of {signal:?}");
        assert_gone(&processes);
    }
}

#[test]
fn ctrl_c_is_heard_while_a_session_waits_for_input() {
    let mut command = ordain(["exec", "--session", "a"]);
    command.stdin(Stdio::piped()).process_group(0);
    let mut running = Running::start(command);
    let mut input = running.0.stdin.take().unwrap();
    input.write_all(b"print('typed')\n").unwrap();
    running.wait_for("typed\n");
    running.signal(Signal::INT);
    assert_eq!(running.exit_code(), Some(130), "although its input is still open");
    drop(input);
}

#[test]
fn ctrl_c_is_heard_while_nobody_reads() {
    let folder = Folder::new();
    let program = folder.file("flood.py", "while True: print('x' * 99)\n");
    let mut command = ordain(["exec", &program, "--timeout", "600s", "--output", "1GiB"]);
    command.process_group(0);
    let mut running = Running::start(command);
    running.wait_for("x");
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(Signal::INT);
    assert_eq!(running.exit_code(), Some(130));
}

#[test]
fn a_limit_holds_while_nobody_reads() {
    let folder = Folder::new();
    let program = folder.file("flood.py", "while True: print('x' * 99)\n");
    let mut running = Running::start(ordain(["exec", &program, "--output", "1MiB"]));
    running.wait_for("x");
    // The cell is ended by its limit, although most of what it wrote has not been read.
    assert!(eventually(|| running.descendants().len() < 3), "{:?}", running.descendants());
    let mut rest = Vec::new();
    std::io::Read::read_to_end(running.0.stdout.as_mut().unwrap(), &mut rest).unwrap();
    assert_eq!(rest.len(), (1 << 20) - 1, "and it comes whole when it is read");
    assert_eq!(running.exit_code(), Some(1));
}

#[test]
fn a_zygote_killed_under_a_running_program_is_a_crash() {
    let folder = Folder::new();
    let mut running = endless(&folder, &[]);
    let zygote = running.descendants()[0];
    let zygote = rustix::process::Pid::from_raw(i32::try_from(zygote).unwrap()).unwrap();
    rustix::process::kill_process(zygote, Signal::KILL).unwrap();
    assert_eq!(running.exit_code(), Some(1));
    let mut stderr = String::new();
    std::io::Read::read_to_string(running.0.stderr.as_mut().unwrap(), &mut stderr).unwrap();
    assert!(stderr.starts_with("crash (its zygote was lost while it ran) · "), "{stderr}");
}

#[test]
fn a_full_disk_is_told_and_leaves_no_partial_file() {
    let folder = Folder::new();
    let out = folder.join("out");
    std::fs::create_dir(&out).unwrap();
    let code = "(artifacts / 'a.txt').write_text('fits')\n(artifacts / 'b.bin').write_bytes(bytes(500_000))";
    // A namespace of its own, in which the folder is a disk of 64 KiB; what is on it is listed before it goes.
    let script =
        "mount -t tmpfs -o size=64k disk \"$0\" || exit 77\n\"$@\"; code=$?; ls -A \"$0\"; exit $code";
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", script, &out]);
    command.arg(env!("CARGO_BIN_EXE_ordain")).args(["exec", "-", "--policy", "open", "--out", &out]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = run_with_input(command, code.as_bytes());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "a.txt\n", "what fitted is there, and nothing else");
    let told = "error: artifact `b.bin` could not be saved: No space left on device (os error 28)\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn runs_at_the_same_time_do_not_disturb_each_other() {
    let runs: Vec<_> = (0..6)
        .map(|n| std::thread::spawn(move || exec(format!("import time\ntime.sleep(0.1)\nprint({n})"), &[])))
        .collect();
    for (n, run) in runs.into_iter().enumerate() {
        let ran = run.join().unwrap();
        assert_eq!((ran.code, ran.stdout), (Some(0), format!("{n}\n")));
    }
}
