//! The helper itself.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ordain_lockdown::control::{Order, Report};
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::{Resident, borrow, registry};
use crate::control;
use crate::error::CellError;
use crate::executor::{LocalOptions, profile_spec};
use crate::isolation::{self, Level};
use crate::pool::Pool;
use crate::profile::{self, DataDir, Profile, ProfileError};
use crate::zygote::Ended;

/// How long a helper waits for the next command before it ends.
pub const IDLE_TIME_MAX: Duration = Duration::from_mins(10);
/// Names the folder of helpers to the helper that is started.
pub(super) const FOLDER_VARIABLE: &str = "ORDAIN_RESIDENT_DIR";

/// Cells that are kept ready: one for a command, and one for the command that follows at once.
const IDLE_CELLS: usize = 2;
/// Cells that are given away and have not ended.
const GIVEN_MAX: usize = 256;
/// How long a command that has connected may take to ask.
const ORDER_TIME_MAX: Duration = Duration::from_secs(5);
/// Commands that may wait to be accepted.
const BACKLOG: i32 = 64;

/// Makes this process one of its own: in its own session, and without descriptors that it was born with but the first
/// three. Gives the folder of helpers that its starter named.
pub fn detach() -> io::Result<Option<PathBuf>> {
    const AFTER_STDERR: i32 = 3;
    ordain_lockdown::sys::close_from(AFTER_STDERR).map_err(io::Error::from_raw_os_error)?;
    // A process that leads a group, as one started by hand does, cannot have a session of its own and needs none.
    let _ = rustix::process::setsid();
    Ok(std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from))
}

/// Keeps cells of a profile for the commands of this user, until none has come for `idle_time_max` or the process is told
/// to end. Returns at once if another helper has the same name.
pub async fn serve(
    resident: &Resident,
    profile: Profile,
    minimum: Level,
    data_dir: DataDir,
    idle_time_max: Duration,
) -> Result<(), CellError> {
    isolation::require(minimum)?;
    let found = profile::find(profile, &data_dir)?;
    let installed = found.ok_or(CellError::Profile(ProfileError::NotSetUp { profile }))?;
    let Some(files) = resident.files(&installed, minimum) else { return Ok(()) };
    let failed = CellError::host("take the lock of a resident helper");
    let Some(_lock) = registry::lock(&files.lock, profile).map_err(failed)? else { return Ok(()) };
    let options = LocalOptions { idle_cells: IDLE_CELLS, minimum, ..LocalOptions::new(data_dir) };
    let spec = profile_spec::spec(&installed, &[], &options);
    let pool = Pool::new(spec?, IDLE_CELLS, options.limits.work_bytes(), None);
    let served = match pool.fill().await {
        // A command that finds the socket gets a cell at once, so there is none before there are cells.
        Ok(()) => listen(&files.socket, &pool, idle_time_max)
            .await
            .map_err(CellError::host("listen on the socket of a resident helper")),
        Err(error) => Err(error),
    };
    // In this order: the socket first, so that no client connects to a helper that has ended; the lock last.
    let _ = std::fs::remove_file(&files.socket);
    pool.close().await;
    let _ = std::fs::remove_file(&files.lock);
    served
}

async fn listen(path: &Path, pool: &Arc<Pool>, idle_time_max: Duration) -> io::Result<()> {
    let listener = bind(path)?;
    let mut end = signal(SignalKind::terminate())?;
    let mut given = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if given.len() < GIVEN_MAX => {
                given.spawn(give(accepted?.0, Arc::clone(pool)));
            }
            // Where no cell can be made any more, a new helper may do better.
            Some(is_usable) = given.join_next() => if !is_usable.unwrap_or(false) { return Ok(()) },
            () = tokio::time::sleep(idle_time_max), if given.is_empty() => return Ok(()),
            _ = end.recv() => return Ok(()),
        }
    }
}

/// A socket that this user alone can connect to.
fn bind(path: &Path) -> io::Result<UnixListener> {
    // The lock says that the helper whose socket this was is gone.
    let _ = std::fs::remove_file(path);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    UnixListener::from_std(std::os::unix::net::UnixListener::from(socket))
}

/// Gives one cell to a command and waits for its end, or the command's. `false` if no cell can be made.
async fn give(connection: UnixStream, pool: Arc<Pool>) -> bool {
    if !borrow::is_of_this_user(&connection) {
        return true;
    }
    let asked = tokio::time::timeout(ORDER_TIME_MAX, control::receive(&connection)).await;
    let Ok(Ok(Some(asked))) = asked else { return true };
    let Some(order) = Order::decode(asked.message()) else { return true };
    let Ok(cell) = pool.take(order.work_bytes).await else { return false };
    let Ok((process, Some(ended))) = cell.hand_over(&connection) else { return true };
    tokio::select! {
        ended = ended => if let Ok(Ended { status, cpu }) = ended {
            let cpu_us = u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX);
            let report = Report::Ended { cell: 0, status, cpu_us, resident_kib: 0 };
            let _ = control::send(connection.as_fd(), &report.encode(), &[]);
        },
        // A command says nothing more: it is gone.
        _ = control::receive(&connection) => {}
    }
    drop(process);
    true
}
