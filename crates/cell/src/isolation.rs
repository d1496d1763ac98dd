//! How well this host can isolate a cell, layer by layer.

use serde::Serialize;

use crate::cell::Cell;
use crate::error::CellError;
use crate::executor;
use crate::profile::Interpreter;
use crate::zygote::{Purpose, Zygote};

/// How well cells are isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all: nothing may run.
    None,
    /// Some layers are missing; they are listed.
    Reduced,
    /// All layers hold.
    Full,
}

ordain_types::names!(Level, as_str { None = "none", Reduced = "reduced", Full = "full" });

/// One layer of the jail on this host.
#[derive(Debug, Clone, Serialize)]
pub struct Layer {
    /// What it is called.
    pub name: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
    /// How to get it, where it is missing.
    pub remedy: Option<&'static str>,
}

/// All layers, and what they add up to.
#[derive(Debug, Clone, Serialize)]
pub struct Isolation {
    /// What they add up to.
    pub level: Level,
    /// Each layer.
    pub layers: Vec<Layer>,
}

impl Isolation {
    fn of(layers: Vec<Layer>) -> Self {
        let is_missing = |name: &str| layers.iter().any(|layer| layer.name == name && !layer.holds);
        let level = if [NAMESPACES, FILTER, CELL].into_iter().any(is_missing) {
            Level::None
        } else if layers.iter().any(|layer| !layer.holds) {
            Level::Reduced
        } else {
            Level::Full
        };
        Self { level, layers }
    }

    /// The layers that do not hold, in words.
    pub fn missing(&self) -> String {
        let missing: Vec<_> =
            self.layers.iter().filter(|layer| !layer.holds).map(|layer| layer.name).collect();
        missing.join(", ")
    }
}

const NAMESPACES: &str = "namespaces";
const FILTER: &str = "seccomp";
const LANDLOCK: &str = "landlock";
const LIMITS: &str = "limits";
const CELL: &str = "cell";

/// The level that can be told without starting anything: every layer but Landlock is a condition for a cell to start
/// at all, and a refused step is an error of its own.
pub(crate) fn require(minimum: Level) -> Result<Level, CellError> {
    let isolation = Isolation::of(vec![landlock()]);
    if isolation.level < minimum {
        return Err(CellError::Isolation {
            level: isolation.level.as_str(),
            minimum: minimum.as_str(),
            missing: isolation.missing(),
        });
    }
    Ok(isolation.level)
}

/// Looks at every layer, and starts a cell to see that they hold together.
pub async fn probe(interpreter: &Interpreter) -> Isolation {
    let mut layers = vec![namespaces(), filter_layer(), landlock(), limits()];
    layers.push(trial(interpreter).await);
    Isolation::of(layers)
}

fn namespaces() -> Layer {
    let user_namespaces = read_number("/proc/sys/user/max_user_namespaces").unwrap_or(0);
    let is_restricted = read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1)
        || read_number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0);
    let is_superuser = rustix::process::geteuid().is_root();
    let holds = user_namespaces > 0 && (is_superuser || !is_restricted);
    let found = match (holds, is_superuser) {
        (true, true) => {
            "user, mount, process, network, ipc and uts; the superuser becomes nobody in the zygote"
        }
        (true, false) => "user, mount, process, network, ipc and uts, without privileges",
        (false, _) => "user namespaces are switched off",
    };
    let remedy = "allow user namespaces: sysctl user.max_user_namespaces=10000, kernel.unprivileged_userns_clone=1, \
                  kernel.apparmor_restrict_unprivileged_userns=0";
    Layer { name: NAMESPACES, holds, found: found.to_owned(), remedy: (!holds).then_some(remedy) }
}

fn filter_layer() -> Layer {
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let holds = actions.contains("errno") && actions.contains("kill_process");
    let found = if holds { "filter with an allowlist" } else { "the kernel has no seccomp filters" };
    let remedy = (!holds).then_some("use a kernel with CONFIG_SECCOMP_FILTER");
    Layer { name: FILTER, holds, found: found.to_owned(), remedy }
}

fn landlock() -> Layer {
    match ordain_lockdown::sys::landlock_version() {
        Ok(version) => {
            let parts = match version {
                ..=3 => "files",
                4 | 5 => "files and TCP",
                _ => "files, TCP, signals and abstract sockets",
            };
            Layer { name: LANDLOCK, holds: true, found: format!("version {version}: {parts}"), remedy: None }
        }
        Err(errno) => Layer {
            name: LANDLOCK,
            holds: false,
            found: format!("not available: {}", std::io::Error::from_raw_os_error(errno)),
            remedy: Some("use Linux 5.13 or later with `landlock` in the lsm= boot parameter"),
        },
    }
}

fn limits() -> Layer {
    let found = "resource limits on memory, processes, CPU time, open files and file size; work folder by size and \
                 number of files";
    Layer { name: LIMITS, holds: true, found: found.to_owned(), remedy: None }
}

async fn trial(interpreter: &Interpreter) -> Layer {
    let started = std::time::Instant::now();
    let spec = executor::bare_spec(interpreter);
    let outcome = match Zygote::start(&spec).await {
        Ok(zygote) => Cell::start(&zygote, 1 << 20, Purpose::Job).await.map(drop),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => {
            let found = format!("one was started and ended in {} ms", started.elapsed().as_millis());
            Layer { name: CELL, holds: true, found, remedy: None }
        }
        Err(error) => Layer {
            name: CELL,
            holds: false,
            found: error.to_string(),
            remedy: Some("in a container, allow user namespaces and mounts; see SECURITY.md"),
        },
    }
}

fn read_number(path: &str) -> Option<i64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}
