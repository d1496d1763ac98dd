//! A thousand executions leave nothing behind.
//!
//! Counting what a process holds is only right while no other test runs in it, so the test starts itself again in a
//! process of its own.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{Executor, Job};
use ordain_testkit::processes::{descendants, is_running};
use ordain_types::Cause;

use crate::world::{Folder, World, eventually, in_session, input, job};

/// Set in the process that counts.
const COUNTING: &str = "ORDAIN_TEST_LEFTOVERS";

/// Everything that could be left behind.
#[derive(Debug)]
struct Holdings {
    processes: Vec<u32>,
    descriptors: BTreeSet<String>,
    mounts: Vec<String>,
    cgroups: Vec<String>,
    temporary_files: Vec<String>,
    shared_memory: Vec<String>,
}

impl Holdings {
    fn now() -> Self {
        Self {
            processes: descendants(std::process::id()),
            descriptors: descriptors(),
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap().lines().map(str::to_owned).collect(),
            cgroups: own_cgroups(),
            temporary_files: names(&std::env::temp_dir()),
            shared_memory: names("/dev/shm".as_ref())
                .into_iter()
                .filter(|name| name.contains("ordain"))
                .collect(),
        }
    }
}

/// Number and target of every open descriptor but the one that reads the list.
fn descriptors() -> BTreeSet<String> {
    fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some(format!("{} → {}", path.display(), fs::read_link(&path).ok()?.display())))
        .filter(|text| !text.contains("/proc/") || !text.ends_with("/fd"))
        .collect()
}

/// Control groups that this process made below its own; those of other processes come and go.
fn own_cgroups() -> Vec<String> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let made_here = format!("ordain-cells-{}", std::process::id());
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controller), Some(path)) = (parts.next(), parts.next()) else { continue };
        let own = format!("/sys/fs/cgroup/{controller}{path}");
        found.extend(names(own.as_ref()).into_iter().filter(|name| *name == made_here));
    }
    found
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_thousand_executions_leave_nothing_behind() {
    if std::env::var_os(COUNTING).is_some() {
        return count();
    }
    let folder = Folder::new();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::a_thousand_executions_leave_nothing_behind", "--nocapture", "-q"])
        .env(COUNTING, "1")
        .env("TMPDIR", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(folder.names(), Vec::<String>::new());
}

fn count() {
    // What is made once in a process, such as the runtime's own descriptors, is made before the first count.
    with_runtime(|world, folder| Box::pin(execute(world, folder, 30)));
    let before = Holdings::now();
    assert!(before.processes.is_empty(), "{before:?}");
    let executions = ordain_testkit::long::times(1000) as usize;
    with_runtime(|world, folder| Box::pin(execute(world, folder, executions)));
    let after = Holdings::now();
    assert_eq!(after.processes, before.processes, "processes");
    assert_eq!(after.descriptors, before.descriptors, "descriptors");
    assert_eq!(after.mounts, before.mounts, "mounts");
    assert_eq!(after.cgroups, before.cgroups, "control groups");
    assert_eq!(after.temporary_files, before.temporary_files, "temporary files");
    assert_eq!(after.shared_memory, before.shared_memory, "shared memory");
}

type Work<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;

fn with_runtime(work: impl for<'a> FnOnce(&'a World, &'a Folder) -> Work<'a>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (world, folder) = (World::with(|options| options.idle_cells = 4), Folder::new());
        work(&world, &folder).await;
        world.executor.close().await;
    });
}

/// Runs that many jobs, nearly all trivial, with every kind of end among them.
async fn execute(world: &World, folder: &Folder, count: usize) {
    let file = folder.file("input.txt", "x");
    for n in 0..count {
        let (job, cause) = match n {
            5 => (limited("while True: pass"), Cause::Timeout),
            6 => (job("import os\nos._exit(1)"), Cause::NoResult),
            7 => (job("import ctypes\nctypes.string_at(0)"), Cause::Crash),
            8 => (job("import os\nos.write(3, b'garbage')"), Cause::ProtocolError),
            9 => (job("import os, threading\nwhile True: os.write(1, bytes(65536))"), Cause::OutputLimit),
            _ => match n % 20 {
                10 => (job("(artifacts / 'a.txt').write_text('x')"), Cause::Ok),
                11 => (job("1 / 0"), Cause::Error),
                12 => (in_session("a", "x = 1"), Cause::Ok),
                13 => (Job { files: vec![input(&file)], ..job("print(files)") }, Cause::Ok),
                14 => (sized("print('sized')"), Cause::Ok),
                _ => (job("print(1 + 1)"), Cause::Ok),
            },
        };
        let execution = world.run_job(job).await.unwrap();
        assert_eq!(execution.cause, cause, "execution {n}: {execution:?}");
        if n % 100 == 50 {
            let dropped = tokio::time::timeout(Duration::from_millis(20), world.run("while True: pass"));
            assert!(dropped.await.is_err());
            world.executor.end_session("a").await;
        }
        if n == 60 {
            let zygote = world.executor.zygote_process(Profile::Core).await.unwrap();
            let family = descendants(zygote);
            let zygote = rustix::process::Pid::from_raw(i32::try_from(zygote).unwrap()).unwrap();
            rustix::process::kill_process(zygote, rustix::process::Signal::KILL).unwrap();
            // On a busy machine the cells go later than the outer process, and the next job could be given one of them.
            // A job that has written something when its cell goes is a crash, and not run again.
            assert!(eventually(|| !family.iter().any(|process| is_running(*process))).await);
        }
    }
}

fn limited(code: &str) -> Job {
    let mut job = job(code);
    job.limits.wall = Duration::from_millis(100);
    job
}

fn sized(code: &str) -> Job {
    let mut job = job(code);
    job.limits.work_bytes = Some(1 << 20);
    job
}

#[tokio::test]
async fn a_zygote_has_a_name_and_shows_its_source_to_nobody_who_lists_processes() {
    let world = World::new();
    world.run("print(1)").await;
    let zygote = world.executor.zygote_process(Profile::Core).await.unwrap();
    let of = |name: &str| fs::read_to_string(format!("/proc/{zygote}/{name}")).unwrap();
    assert_eq!(of("comm"), "ordain-zygote\n");
    let arguments = of("cmdline");
    assert!(arguments.contains("socket.recv_fds") && arguments.len() < 600, "{arguments}");
}
