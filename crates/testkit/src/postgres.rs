//! A PostgreSQL server for one test process.
//!
//! [`Server::shared`] starts the server that the system's package installed, on a Unix socket in a folder of its
//! own, and no port at all. It ends with the test process, however that ends: a shell holds the server and waits
//! for the end of its standard input, which is a pipe from the test process.

use std::fmt::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// A running server.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    socket: PathBuf,
    account: Option<Account>,
    databases: AtomicU32,
    /// Its standard input keeps the server alive.
    _holder: Child,
}

/// The account that the server runs as when the tests run as root, which PostgreSQL refuses.
#[derive(Debug, Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

impl Server {
    /// The server of this process, which is started by the first call.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start; the message says which.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start("off").expect("PostgreSQL for the tests"))
    }

    /// A server that a test may crash: what it has told is on the disk.
    ///
    /// # Panics
    /// As [`Self::shared`].
    pub fn of_its_own() -> Self {
        Self::start("on").expect("PostgreSQL for the tests")
    }

    /// Ends one of the server's own processes at once, which takes all connections with it, and waits until the server
    /// has read its log and answers again.
    ///
    /// # Panics
    /// If it does not come back.
    pub fn crash(&self) {
        let sql = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
        let process = self.psql(&self.url("postgres"), sql).parse().ok().and_then(Pid::from_raw);
        kill_process(process.expect("a number"), Signal::KILL).expect("it runs");
        self.wait().expect("the server comes back");
    }

    /// Stops the server as its operator would, and starts it again.
    ///
    /// # Panics
    /// If it does not come back.
    pub fn restart(&self) {
        let mut restart = self.program("pg_ctl");
        restart.args(["restart", "-s", "-w", "-m", "fast"]).arg("-D").arg(self.socket.join("data"));
        restart.arg("-l").arg(self.socket.join("log")).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(restart.status().expect("pg_ctl runs").success(), "the server comes back");
    }

    /// Has every commit take a tenth of a second longer until it is on the disk, or no longer.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn slow_down(&self, is_slow: bool) {
        let (url, delay_us) = (self.url("postgres"), if is_slow { 100_000 } else { 0 });
        self.psql(&url, &format!("ALTER SYSTEM SET commit_delay = {delay_us}"));
        self.psql(&url, "ALTER SYSTEM SET commit_siblings = 0");
        self.psql(&url, "SELECT pg_reload_conf()");
    }

    /// Makes an empty database and gives its connection string.
    ///
    /// # Panics
    /// If the server does not answer.
    pub fn fresh_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let made = self.program("createdb").arg(&name).output().expect("createdb runs");
        assert!(made.status.success(), "createdb: {}", String::from_utf8_lossy(&made.stderr));
        self.url(&name)
    }

    /// Runs SQL in a database, from outside the store.
    ///
    /// # Panics
    /// If the SQL fails.
    pub fn psql(&self, url: &str, sql: &str) -> String {
        let mut psql = self.program("psql");
        let done =
            psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]).output();
        let done = done.expect("psql runs");
        assert!(done.status.success(), "psql: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Runs SQL that the database may refuse, and says whether it did not.
    ///
    /// # Panics
    /// If `psql` cannot be started.
    pub fn try_psql(&self, url: &str, sql: &str) -> bool {
        let mut psql = self.program("psql");
        psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
        psql.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("psql runs").success()
    }

    fn url(&self, database: &str) -> String {
        let socket = self.socket.display().to_string().replace('/', "%2F");
        format!("postgres://ordain@{socket}/{database}")
    }

    fn start(durable: &str) -> anyhow::Result<Self> {
        let programs = programs()?;
        let account = account()?;
        let base = tempfile::Builder::new().prefix("ordain-pg-").tempdir()?.keep();
        let own = |path: &Path| -> anyhow::Result<()> {
            fs_err::create_dir_all(path)?;
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
            if let Some(account) = account {
                chown(path, Some(account.user), Some(account.group))?;
            }
            Ok(())
        };
        own(&base)?;
        let data = base.join("data");
        let mut initdb = command(&programs.join("initdb"), account);
        initdb.args([
            "--no-sync",
            "--auth=trust",
            "--username=ordain",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "-D",
        ]);
        let made = initdb.arg(&data).output().context("initdb")?;
        ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let holder = hold(&programs, &base, &data, account, durable)?;
        let server = Self { programs, socket: base, account, databases: AtomicU32::new(0), _holder: holder };
        server.wait()?;
        Ok(server)
    }

    fn wait(&self) -> anyhow::Result<()> {
        for _ in 0..600 {
            let ready = self.program("pg_isready").arg("-q").status()?;
            if ready.success() {
                return Ok(());
            }
            sleep(Duration::from_millis(50));
        }
        bail!("the server did not answer; see {}/log", self.socket.display())
    }

    fn program(&self, name: &str) -> Command {
        let mut program = command(&self.programs.join(name), self.account);
        program.env("PGHOST", &self.socket).env("PGUSER", "ordain");
        program
    }
}

/// Starts the server under a shell that stops it and removes its folder once the pipe to it is closed.
fn hold(
    programs: &Path,
    base: &Path,
    data: &Path,
    account: Option<Account>,
    durable: &str,
) -> anyhow::Result<Child> {
    // Durability on a disk is PostgreSQL's own matter; most tests are about what clients see.
    let settings = [
        ("listen_addresses", "''"),
        ("fsync", durable),
        ("full_page_writes", "off"),
        ("synchronous_commit", durable),
        ("max_connections", "200"),
        ("shared_buffers", "64MB"),
    ];
    let settings = settings.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, " -c {name}={value}");
        text
    });
    let (programs, base, data) = (programs.display(), base.display(), data.display());
    // The server that is to be stopped may be another one than was started here.
    let script = format!(
        "{programs}/postgres -D {data} -k {base} {settings} >{base}/log 2>&1 & cat >/dev/null; \
         {programs}/pg_ctl stop -s -m immediate -D {data}; rm -rf {base}"
    );
    let mut shell = command(Path::new("/bin/sh"), account);
    shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own, so that an interrupt from the keyboard does not reach it before the pipe is closed.
    shell.process_group(0).spawn().context("the server's shell")
}

fn command(program: &Path, account: Option<Account>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some(account) = account {
        command.uid(account.user).gid(account.group);
    }
    command
}

/// Where the newest installed server is.
fn programs() -> anyhow::Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    for entry in fs_err::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let programs = entry.path().join("bin");
        let version = entry.file_name().to_string_lossy().parse();
        if let (Ok(version), true) = (version, programs.join("postgres").exists()) {
            versions.push((version, programs));
        }
    }
    versions.sort();
    let newest = versions.pop().map(|(_, programs)| programs);
    newest.context("PostgreSQL is not installed; on Debian: apt-get install postgresql")
}

/// Whom the server runs as: ourselves, or the package's own account when we are root.
fn account() -> anyhow::Result<Option<Account>> {
    if fs_err::metadata("/proc/self")?.uid() != 0 {
        return Ok(None);
    }
    let accounts = fs_err::read_to_string("/etc/passwd")?;
    let line =
        accounts.lines().find(|line| line.starts_with("postgres:")).context("no account `postgres`")?;
    let mut fields = line.split(':').skip(2);
    let mut number = || fields.next().and_then(|field| field.parse().ok()).context("the account `postgres`");
    Ok(Some(Account { user: number()?, group: number()? }))
}
