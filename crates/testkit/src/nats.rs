//! NATS servers for one test.
//!
//! [`Servers::start`] starts as many as are asked for, on free ports of this machine; several form a cluster. They end
//! with the test process, however that ends: a shell holds each server and waits for the end of its standard input.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::link::Link;

/// How often the servers are started: a port that was free a moment ago may be taken.
const STARTS_MAX: usize = 5;
/// How often one that was killed is started again: its ports may be taken for a while by others.
const STARTS_AGAIN_MAX: usize = 100;

/// Running servers.
#[derive(Debug)]
pub struct Servers {
    all: Vec<Server>,
    /// What servers reach each other by: the one that connects, the other, and the link.
    links: Vec<(usize, usize, Link)>,
    folder: tempfile::TempDir,
}

#[derive(Debug)]
struct Server {
    port: u16,
    health: u16,
    options: String,
    /// Its standard input keeps the server alive.
    holder: Child,
}

impl Servers {
    /// Starts servers that know each other.
    ///
    /// # Panics
    /// If the server is not there or does not start; the message says which.
    pub fn start(count: usize) -> Self {
        let mut problem = None;
        for _ in 0..STARTS_MAX {
            match Self::try_start(count) {
                Ok(servers) => return servers,
                Err(error) => problem = Some(error),
            }
        }
        panic!("NATS for the tests: {problem:?}")
    }

    /// The addresses of all of them, as `--cluster` takes them.
    pub fn url(&self) -> String {
        let addresses = self.all.iter().map(|server| format!("nats://127.0.0.1:{}", server.port));
        addresses.collect::<Vec<_>>().join(",")
    }

    /// Sends one of them a signal.
    ///
    /// # Panics
    /// If it is not there.
    pub fn signal(&self, at: usize, signal: Signal) {
        let text = fs_err::read_to_string(self.folder.path().join(format!("{at}.pid"))).expect("its number");
        let process = text.trim().parse().ok().and_then(Pid::from_raw).expect("a number");
        kill_process(process, signal).expect("it runs");
    }

    /// Removes what one that was killed has on its disk.
    ///
    /// # Panics
    /// If it cannot be removed.
    pub fn empty_disk(&self, at: usize) {
        fs_err::remove_dir_all(self.folder.path().join(at.to_string())).expect("its folder");
    }

    /// Cuts one of them off from the other servers. Clients still reach it.
    pub fn cut_off(&self, at: usize) {
        self.links_of(at).for_each(Link::cut);
    }

    /// Lets it reach the other servers again.
    pub fn mend(&self, at: usize) {
        self.links_of(at).for_each(Link::mend);
    }

    fn links_of(&self, at: usize) -> impl Iterator<Item = &Link> {
        let of = self.links.iter().filter(move |(from, to, _)| [*from, *to].contains(&at));
        of.map(|(_, _, link)| link)
    }

    /// Starts one that was killed, with what it has on its disk.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self, at: usize) {
        let program = program().expect("the program");
        let mut problem = None;
        for _ in 0..STARTS_AGAIN_MAX {
            let _ = fs_err::remove_file(self.log(at));
            let server = &mut self.all[at];
            // The one before is certainly gone, and so is its hold on the ports.
            drop(server.holder.stdin.take());
            server.holder.wait().expect("its shell");
            server.holder = hold(&format!("{} {}", program.display(), server.options)).expect("its shell");
            match self.wait() {
                Ok(()) => return,
                Err(error) => problem = Some(error),
            }
            sleep(Duration::from_millis(100));
        }
        panic!("NATS server {at} does not start again: {problem:?}")
    }

    fn log(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("{at}.log"))
    }

    /// Whether one of them ended because it could not start.
    fn has_given_up(&self) -> bool {
        let mut logs = (0..self.all.len()).filter_map(|at| fs_err::read_to_string(self.log(at)).ok());
        logs.any(|log| log.contains("[FTL]"))
    }

    fn try_start(count: usize) -> anyhow::Result<Self> {
        let program = program()?;
        let folder = tempfile::Builder::new().prefix("ordain-nats-").tempdir()?;
        let ports = free_ports(3 * count)?;
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let links = pairs.filter(|(from, to)| from != to);
        let links = links
            .map(|(from, to)| Ok((from, to, Link::to(ports[3 * to + 2])?)))
            .collect::<std::io::Result<Vec<_>>>()?;
        let hold = |(at, ports): (usize, &[u16])| -> anyhow::Result<Server> {
            let (port, health) = (ports[0], ports[1]);
            let mut options = format!(
                "-a 127.0.0.1 -p {port} -m {health} -n n{at} -js -sd {0}/{at} --pid {0}/{at}.pid -l {0}/{at}.log",
                folder.path().display()
            );
            if count > 1 {
                let routes = links.iter().filter(|(from, _, _)| *from == at);
                let routes: Vec<String> =
                    routes.map(|(_, _, link)| format!("nats://{}", link.address)).collect();
                // Servers tell each other where they are; nothing listens there, so that links are the only way.
                options = format!(
                    "{options} --cluster_name tests --cluster nats://127.0.0.1:{} \
                     --cluster_advertise 127.0.0.1:1 --routes {}",
                    ports[2],
                    routes.join(",")
                );
            }
            let holder = hold(&format!("{} {options}", program.display()))?;
            Ok(Server { port, health, options, holder })
        };
        let servers = ports.chunks(3).enumerate().map(hold).collect::<anyhow::Result<Vec<_>>>()?;
        let servers = Self { all: servers, links, folder };
        servers.wait()?;
        Ok(servers)
    }

    /// Waits until all say that they are well, which takes a leader where there are several.
    fn wait(&self) -> anyhow::Result<()> {
        for _ in 0..600 {
            if self.all.iter().all(|server| is_well(server.health)) {
                return Ok(());
            }
            if self.has_given_up() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        let logs = (0..self.all.len()).map(|at| fs_err::read_to_string(self.log(at)).unwrap_or_default());
        bail!("the servers are not well: {}", logs.collect::<String>())
    }
}

fn is_well(port: u16) -> bool {
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    asked().is_ok_and(|text| text.starts_with("HTTP/1.0 200"))
}

fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let held = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    Ok(held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<std::io::Result<_>>()?)
}

/// Starts a server under a shell that ends it once the pipe to it is closed.
pub(crate) fn hold(server: &str) -> anyhow::Result<Child> {
    let script = format!("{server} & server=$!; cat >/dev/null; kill -KILL $server; wait");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own, so that an interrupt from the keyboard does not reach it before the pipe is closed.
    shell.process_group(0).spawn().context("the server's shell")
}

/// Where `cargo xtask test` has put the server.
fn program() -> anyhow::Result<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/nats/bin/nats-server");
    ensure!(program.is_file(), "the NATS server is not installed; `cargo xtask test` gets it");
    Ok(program)
}
