//! A command's side: asking a helper for a cell, and leaving a helper behind.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ordain_lockdown::control::{Order, Report};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::{Files, Resident};
use crate::cell::Cell;
use crate::control;
use crate::executor::LocalOptions;
use crate::profile::{DataDir, Installed, LOCK_VARIABLE};
use crate::zygote::{Cells, Ended};

/// How long a helper may take to give a cell; after that, a zygote of the command's own is quicker.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);

/// The helper for one profile.
#[derive(Debug)]
pub(crate) struct Lender {
    files: Files,
    starts_with: Option<Vec<OsString>>,
    variables: Vec<(&'static str, OsString)>,
}

impl Lender {
    /// The helper whose cells are like those that these options would make; `None` where there can be none.
    pub(crate) fn new(resident: &Resident, installed: &Installed, options: &LocalOptions) -> Option<Self> {
        let minimum = options.minimum;
        let ends_with = [installed.profile.name(), minimum.as_str()].map(OsString::from);
        let starts_with = resident.starts_with.clone().map(|mut arguments| {
            arguments.extend(ends_with);
            arguments
        });
        let files = resident.files(installed, minimum)?;
        let variables = variables(&options.data_dir, resident, installed);
        Some(Self { files, starts_with, variables })
    }

    /// Whether there is a helper.
    pub(crate) fn is_there(&self) -> bool {
        connect(&self.files.socket).is_ok()
    }

    /// A cell of the helper, if there is one that gives it in time.
    pub(crate) async fn cell(&self, work_bytes: u64) -> Option<Cell> {
        let asked = tokio::time::timeout(ANSWER_TIME_MAX, self.ask(work_bytes));
        asked.await.ok()?.ok()
    }

    async fn ask(&self, work_bytes: u64) -> io::Result<Cell> {
        let connection = connect(&self.files.socket)?;
        let order = Order {
            cell: 0,
            work_bytes,
            work_inodes: 0,
            scratch_bytes: 0,
            own_network: false,
            is_idle: false,
        };
        control::send(connection.as_fd(), &order.encode(), &[])?;
        let Some((Report::Locked { .. }, descriptors)) = control::receive_report(&connection).await? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (ended, told) = oneshot::channel();
        let cell = Cell::received(descriptors, told)?;
        tokio::spawn(wait_for_end(connection, Arc::clone(cell.family()), ended));
        Ok(cell)
    }

    /// Starts a helper, which ends at once if there is one already.
    pub(crate) fn start(&self) {
        let Some(arguments) = &self.starts_with else { return };
        // Also when the file has been replaced since, this is the program that runs now.
        let mut command = Command::new("/proc/self/exe");
        command.args(arguments).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Without a helper the next command is as slow as this one, and no worse.
        let _ = command.spawn();
    }
}

/// All that a helper has to know: where the profiles are, for which Python and with which packages, and where helpers are
/// found.
fn variables(
    data_dir: &DataDir,
    resident: &Resident,
    installed: &Installed,
) -> Vec<(&'static str, OsString)> {
    let lock = data_dir.packages().map(|lock| (LOCK_VARIABLE, lock.path().into()));
    let known = [
        ("ORDAIN_DATA_DIR", data_dir.root().into()),
        ("ORDAIN_PYTHON", installed.interpreter.executable.clone().into()),
        (super::serve::FOLDER_VARIABLE, PathBuf::from(resident.folder()).into()),
    ];
    known.into_iter().chain(lock).collect()
}

fn connect(path: &std::path::Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    let connection = control::watched(socket)?;
    is_of_this_user(&connection).then_some(connection).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
}

/// Whether the process at the other end runs as the same user.
pub(super) fn is_of_this_user(connection: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(connection);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Holds the connection for as long as the cell lives: without it, the helper kills the cell.
async fn wait_for_end(connection: UnixStream, family: Arc<Cells>, ended: oneshot::Sender<Ended>) {
    match control::receive_report(&connection).await {
        Ok(Some((Report::Ended { status, cpu_us, .. }, _))) => {
            let _ = ended.send(Ended { status, cpu: Duration::from_micros(cpu_us) });
        }
        _ => family.lose(),
    }
}
