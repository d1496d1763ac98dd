//! Cells of a resident helper are as good as one's own, and a command without a helper is none the worse.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::resident::{self, Resident};
use ordain_cell::{CellError, Execution, Executor as _, Job, Level};
use ordain_types::Cause;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::world::{Folder, World, eventually, in_session, job, printed};

/// Long enough for any test.
const LONG: Duration = Duration::from_mins(10);

/// A folder for helpers, and the helper in it, which ends with the test.
struct Warm {
    folder: Folder,
    helper: Option<tokio::task::JoinHandle<Result<(), CellError>>>,
}

impl Warm {
    fn folder() -> Self {
        let folder = Folder::new();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        Self { folder, helper: None }
    }

    /// A helper that has its cells ready.
    async fn new() -> Self {
        let mut warm = Self::folder();
        let resident = warm.resident();
        warm.helper = Some(tokio::spawn(serve(resident, LONG)));
        assert!(eventually(|| warm.has_socket()).await, "the helper has not got ready");
        warm
    }

    fn resident(&self) -> Resident {
        Resident::at(self.folder.path().to_owned()).unwrap()
    }

    /// An executor as a command has one.
    fn world(&self) -> World {
        let resident = self.resident();
        World::with(|options| options.resident = Some(resident))
    }

    fn has_socket(&self) -> bool {
        self.folder.names().iter().any(|name| name.contains(".sock"))
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        if let Some(helper) = &self.helper {
            helper.abort();
        }
    }
}

async fn serve(resident: Resident, idle: Duration) -> Result<(), CellError> {
    resident::serve(&resident, Profile::Core, Level::Full, DataDir::from_env().unwrap(), idle).await
}

/// Everything of an execution that does not depend on the clock.
fn told(execution: &Execution) -> String {
    let Execution { cause, exit, signal, stdout, stderr, output_truncated, error, values, .. } = execution;
    let Execution { artifacts, refused, left_behind, limits, isolation, host_calls, detail, .. } = execution;
    let artifacts: Vec<_> = artifacts.iter().map(|artifact| (&artifact.name, &artifact.sha256)).collect();
    // How much of the CPU's time was counted differs from run to run.
    let detail = detail.as_ref().filter(|_| *cause != Cause::CpuLimit);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "{cause} {exit:?} {signal:?} {:?} {:?} {output_truncated} {error:?} {values:?} {artifacts:?} {refused:?} \
         {left_behind:?} {limits:?} {isolation} {host_calls} {detail:?}",
        text(stdout),
        text(stderr)
    )
}

/// Programs that end in every way, and one that looks at the jail from inside.
fn programs() -> Vec<Job> {
    let with = |code: &str, change: &dyn Fn(&mut ordain_types::Limits)| {
        let mut job = job(code);
        change(&mut job.limits);
        job
    };
    // Address space and data are limited to what the zygote itself needs and the memory of the job: two zygotes differ a
    // little. The job that takes too much memory shows that they hold.
    let jail = "import os, resource, socket, sys\n\
        for name in sorted(dir(resource)):\n\
        \x20   if name.startswith('RLIMIT_') and name not in ('RLIMIT_AS', 'RLIMIT_DATA'):\n\
        \x20       print(name, resource.getrlimit(getattr(resource, name)))\n\
        print(os.getuid(), os.getgid(), os.getpid(), os.getppid(), os.getgroups(), os.nice(0), os.uname().nodename)\n\
        print(sorted(os.environ.items()), sorted(os.sched_getaffinity(0)), os.getcwd(), sys.path)\n\
        print(sorted(os.listdir('/')), sorted(os.listdir('/work')), os.statvfs('/work').f_blocks)\n\
        for path in ('/etc/shadow', '/proc/1/environ', '/root', '/home'):\n\
        \x20   try: print(os.stat(path))\n\
        \x20   except OSError as error: print(path, error.errno)\n\
        try: socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(('127.0.0.1', 80))\n\
        except OSError as error: print('network', error.errno)\n\
        try: print(os.fork())\n\
        except OSError as error: print('fork', error.errno)\n";
    let mut collecting = job("x = {'a': [1, 2]}\nprint(x)");
    collecting.collect = vec!["x".to_owned()];
    vec![
        job(jail),
        with(jail, &|limits| limits.work_bytes = Some(1 << 20)),
        collecting,
        job("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)"),
        job("raise ValueError('no')"),
        job("open('artifacts/a.txt', 'w').write('hello')\nopen('left.txt', 'w').write('x')"),
        job("import os\nos._exit(0)"),
        job("import os\nos.abort()"),
        with("while True: pass", &|limits| limits.wall = Duration::from_millis(300)),
        with("while True: pass", &|limits| limits.cpu = Some(Duration::from_secs(1))),
        with("x = bytearray(1 << 30)", &|limits| limits.memory_bytes = 128 << 20),
        with("print('x' * 100000)", &|limits| limits.output_bytes = 1000),
    ]
}

#[tokio::test]
async fn isolation_causes_and_results_are_the_same_warm_and_cold() {
    let helper = Warm::new().await;
    let (warm, cold) = (helper.world(), World::new());
    for job in programs() {
        let code = job.code.code().to_owned();
        let execution = warm.run_job(job.clone()).await.unwrap();
        assert_eq!(told(&execution), told(&cold.run_job(job).await.unwrap()), "{code}");
    }
    assert_eq!(warm.executor.zygote_process(Profile::Core).await, None, "the helper's zygote was enough");
}

#[tokio::test]
async fn a_zygote_is_started_ahead_where_no_helper_has_one() {
    let helper = Warm::new().await;
    let (warm, cold) = (helper.world(), World::with(|options| options.idle_cells = 0));
    cold.executor.expect(Profile::Core, u64::MAX).await;
    assert_eq!(
        cold.executor.zygote_process(Profile::Core).await,
        None,
        "files of that size are shown by a zygote of their own"
    );
    for world in [&warm, &cold] {
        world.executor.expect(Profile::Core, 0).await;
    }
    while cold.executor.zygote_process(Profile::Core).await.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(printed(&warm.run("print(1)").await), "1\n");
    assert_eq!(warm.executor.zygote_process(Profile::Core).await, None, "the helper's zygote was enough");
}

#[tokio::test]
async fn a_session_keeps_its_cell_of_a_helper() {
    let helper = Warm::new().await;
    let world = helper.world();
    for (code, said) in [("x = 1", ""), ("x += 1", ""), ("print(x)", "2\n")] {
        assert_eq!(printed(&world.run_job(in_session("s", code)).await.unwrap()), said);
    }
    assert_eq!(world.executor.zygote_process(Profile::Core).await, None);
}

#[tokio::test]
async fn a_helper_that_is_gone_or_hangs_costs_no_result() {
    let helper = Warm::folder();
    assert_eq!(printed(&helper.world().run("print('none yet')").await), "none yet\n");
    let (lock, socket) = names(&helper).await;
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let listener = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None).unwrap();
    rustix::net::bind(&listener, &SocketAddrUnix::new(&socket).unwrap()).unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    assert_eq!(printed(&helper.world().run("print('no answer')").await), "no answer\n");
    drop(listener);
    assert_eq!(printed(&helper.world().run("print('gone')").await), "gone\n");
    std::fs::write(&lock, "what a killed helper left").unwrap();
    assert!(resident::list(&helper.resident()).unwrap().is_empty());
}

/// The names that a helper gives its files, which it has removed again.
async fn names(warm: &Warm) -> (PathBuf, PathBuf) {
    let helper = tokio::spawn(serve(warm.resident(), LONG));
    assert!(eventually(|| warm.has_socket()).await);
    let files = warm.folder.names();
    let path =
        |ending: &str| warm.folder.path().join(files.iter().find(|name| name.ends_with(ending)).unwrap());
    let (lock, socket) = (path(".lock"), path(".sock"));
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the user alone may connect");
    helper.abort();
    let _ = helper.await;
    std::fs::remove_file(&socket).unwrap();
    (lock, socket)
}

#[tokio::test]
async fn a_second_helper_of_the_same_name_ends_at_once_and_an_idle_one_in_time() {
    let first = Warm::new().await;
    serve(first.resident(), LONG).await.unwrap();
    let running = resident::list(&first.resident()).unwrap();
    assert_eq!(running.len(), 1);
    assert_eq!(running[0].note.process, i32::try_from(std::process::id()).unwrap());

    let idle = Warm::folder();
    serve(idle.resident(), Duration::from_millis(10)).await.unwrap();
    assert!(idle.folder.names().is_empty(), "nothing is left of it");
}

#[test]
fn a_folder_that_others_may_enter_holds_no_helpers() {
    let folder = Folder::new();
    let path = folder.path();
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    assert!(Resident::at(path.to_owned()).is_none());
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    let link = path.join("link");
    std::os::unix::fs::symlink(path, &link).unwrap();
    assert!(Resident::at(link).is_none(), "a link may be turned to any folder");
    assert!(Resident::at(path.join("made")).is_some() && path.join("made").is_dir());
}
