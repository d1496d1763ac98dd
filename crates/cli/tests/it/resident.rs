//! Commands leave a helper behind, take their cells from it, and miss nothing when it is gone.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use ordain_testkit::processes::{descendants, is_running};
use rustix::process::{Pid, Signal};

use crate::command::{Folder, Ran, Running, eventually, ordain, run};

/// A runtime folder with the helpers that commands of one test start.
struct Runtime(Folder);

impl Runtime {
    fn new() -> Self {
        let folder = Folder::new();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        Self(folder)
    }

    /// A command that may use helpers.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ordain(arguments);
        self.switch_on(&mut command);
        command
    }

    fn switch_on(&self, command: &mut Command) {
        command.env("ORDAIN_RESIDENT", "on").env("XDG_RUNTIME_DIR", self.0.path()).current_dir("/");
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run(self.command(arguments))
    }

    /// The helpers that have cells ready, once there are as many.
    fn helpers(&self, count: usize) -> Vec<u32> {
        let folder: PathBuf = self.0.path().join("ordain");
        let sockets = || {
            let names = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
            names.filter(|path| path.extension().is_some_and(|ending| ending == "sock")).count()
        };
        assert!(eventually(|| sockets() >= count), "{} of {count} helpers", sockets());
        let status = self.run(&["config", "resident", "status", "--json"]).json();
        let helpers = status["helpers"].as_array().unwrap();
        assert_eq!(helpers.len(), count, "{status}");
        helpers.iter().map(|helper| u32::try_from(helper["process"].as_u64().unwrap()).unwrap()).collect()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        run(self.command(&["config", "resident", "stop", "--all"]));
    }
}

fn pid(process: u32) -> Pid {
    Pid::from_raw(i32::try_from(process).unwrap()).unwrap()
}

#[test]
fn a_helper_is_left_behind_with_nothing_of_the_command_that_started_it() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('hello')");
    // A descriptor and a variable that the helper shall not have.
    let mut first = Command::new("sh");
    let line = format!("exec 7<{program}; exec {} exec {program}", env!("CARGO_BIN_EXE_ordain"));
    first.args(["-c", &line]).env("SECRET", "do not keep").stdin(Stdio::null());
    runtime.switch_on(&mut first);
    let cold = Ran::of(&first.output().unwrap());
    assert_eq!((cold.code, cold.stdout.as_str()), (Some(0), "hello\n"), "{}", cold.stderr);

    let helper = runtime.helpers(1)[0];
    let about = PathBuf::from(format!("/proc/{helper}"));
    let environ = String::from_utf8(fs::read(about.join("environ")).unwrap()).unwrap();
    assert!(!environ.contains("SECRET"), "{environ}");
    let open: Vec<_> = fs::read_dir(about.join("fd")).unwrap().flatten().collect();
    let held: BTreeSet<_> = open.iter().filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
    assert!(!held.contains(&PathBuf::from(&program)), "{held:?}");
    assert_eq!(fs::read_link(about.join("cwd")).unwrap(), PathBuf::from("/"));
    assert_eq!(rustix::process::getsid(Some(pid(helper))).unwrap(), pid(helper), "its own session");

    let warm = runtime.run(&["exec", &program]);
    assert_eq!((warm.code, warm.stdout.as_str()), (Some(0), "hello\n"), "{}", warm.stderr);
    let mut below = descendants(helper);
    below.push(helper);
    assert_eq!(runtime.run(&["config", "resident", "stop"]).code, Some(0));
    assert!(eventually(|| !below.iter().any(|process| is_running(*process))), "{below:?}");
    assert_eq!(runtime.run(&["config", "resident", "status"]).stdout, "no helper runs\n");
}

#[test]
fn a_helper_s_cells_die_with_the_command_that_has_them() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('ready', flush=True)\nwhile True: pass");
    assert_eq!(runtime.run(&["exec", &program, "--timeout", "1s"]).code, Some(1));
    let helper = runtime.helpers(1)[0];
    let mut command = Running::start(runtime.command(&["exec", &program, "--timeout", "600s"]));
    command.wait_for("ready\n");
    assert!(command.descendants().is_empty(), "its cell is the helper's");
    // All the others are idle, once the cell that makes up for this one has been made.
    let (mut busy, mut look) = (0, Duration::from_millis(100));
    assert!(eventually(|| {
        // The busier the machine, the longer it takes to see who is at work.
        look = (look * 2).min(Duration::from_secs(20));
        let before: Vec<_> = descendants(helper).into_iter().map(|it| (it, cpu_ticks(it))).collect();
        std::thread::sleep(look);
        let at_work: Vec<_> = before.into_iter().filter(|(it, ticks)| cpu_ticks(*it) > ticks + 2).collect();
        busy = at_work.first().map_or(0, |(it, _)| *it);
        at_work.len() == 1
    }));
    command.signal(Signal::KILL);
    assert!(eventually(|| !is_running(busy)), "{busy} goes on");
    assert!(is_running(helper));
}

/// The CPU time that a process has used.
fn cpu_ticks(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = status.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

#[test]
fn a_killed_helper_costs_nothing_and_is_replaced() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('hello')");
    assert_eq!(runtime.run(&["exec", &program]).stdout, "hello\n");
    let killed = runtime.helpers(1)[0];
    rustix::process::kill_process(pid(killed), Signal::KILL).unwrap();
    assert!(eventually(|| !is_running(killed)));
    let after = runtime.run(&["exec", &program]);
    assert_eq!((after.code, after.stdout.as_str()), (Some(0), "hello\n"), "{}", after.stderr);
    let next =
        || runtime.run(&["config", "resident", "status", "--json"]).json()["helpers"][0]["process"].as_u64();
    assert!(eventually(|| next().is_some_and(|process| process != u64::from(killed))));
}

#[test]
fn commands_that_start_at_once_leave_one_helper_and_other_limits_have_their_own() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('hello')");
    let all: Vec<_> = (0..3).map(|_| Running::start(runtime.command(&["exec", &program]))).collect();
    for mut command in all {
        assert_eq!(command.exit_code(), Some(0));
    }
    let first = runtime.helpers(1)[0];
    let mut limited = Command::new("sh");
    let line = format!("ulimit -n 300; exec {} exec {program}", env!("CARGO_BIN_EXE_ordain"));
    limited.args(["-c", &line]).stdin(Stdio::null());
    runtime.switch_on(&mut limited);
    assert_eq!(Ran::of(&limited.output().unwrap()).stdout, "hello\n");
    assert!(runtime.helpers(2).contains(&first));
}

#[test]
fn stopping_leaves_the_helpers_of_other_builds_alone_unless_it_is_said() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('hello')");
    let build = runtime.0.join("ordain-of-another-build");
    fs::copy(env!("CARGO_BIN_EXE_ordain"), &build).unwrap();
    let mut other = Command::new(&build);
    other.args(["exec", &program]).stdin(Stdio::null());
    runtime.switch_on(&mut other);
    assert_eq!(Ran::of(&other.output().unwrap()).stdout, "hello\n");
    let others = runtime.helpers(1);
    assert_eq!(runtime.run(&["exec", &program]).stdout, "hello\n");
    let own = *runtime.helpers(2).iter().find(|helper| !others.contains(helper)).unwrap();
    let stopped = runtime.run(&["config", "resident", "stop"]).stdout;
    let told = "helpers of other builds that run on: 1; `ordain config resident stop --all` ends them too\n";
    assert_eq!(stopped, format!("stopped the helper of `core`, process {own}\n{told}"));
    assert_eq!(runtime.helpers(1), others);
    assert_eq!(runtime.run(&["config", "resident", "stop"]).stdout, told);
    assert!(
        runtime
            .run(&["config", "resident", "stop", "--all"])
            .stdout
            .starts_with("stopped the helper of `core`")
    );
    assert_eq!(runtime.run(&["config", "resident", "status"]).stdout, "no helper runs\n");
}

#[test]
fn no_helper_is_started_where_none_is_wanted() {
    let runtime = Runtime::new();
    let program = runtime.0.file("a.py", "print('hello')");
    let mut off = runtime.command(&["exec", &program]);
    off.env("ORDAIN_RESIDENT", "off");
    assert_eq!(run(off).stdout, "hello\n");
    assert!(!runtime.0.path().join("ordain").exists());
}
