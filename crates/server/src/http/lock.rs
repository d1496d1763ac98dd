//! One server for a workspace at a time.
//!
//! Transactions of several processes get along: the command line works while a server runs. But which runs go on,
//! how they are cancelled and watched, and how much a key has used are known to one process only. A second server on
//! the same workspace would answer half of these questions wrongly, so it is refused.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::listen::Address;

/// The file that the server holds.
const FILE: &str = "serve.lock";
/// What a holder writes about itself.
const HOLDER_BYTES_MAX: u64 = 200;

/// The right to serve a workspace, for as long as it lives. The system gives it back when the process ends, however
/// that happens.
#[derive(Debug)]
pub struct ServeLock {
    file: fs_err::File,
}

/// Why a workspace cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeLockError {
    /// Another server has it.
    #[error("the workspace is served already, by process {process}")]
    Taken {
        /// The other server, as it called itself.
        process: String,
        /// Where it listens, if it has said so.
        address: Option<Address>,
    },
    /// The file cannot be used.
    #[error("failed to lock the workspace")]
    Io(#[from] std::io::Error),
}

impl ServeLockError {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Taken { .. } => Some(
                "stop that one first, or serve a copy (each node of a cluster has a folder of its own); the command line works beside a running server"
                    .to_owned(),
            ),
            Self::Io(_) => None,
        }
    }
}

impl ServeLock {
    /// Takes the right to serve the workspace with this state.
    pub fn take(state: &Path) -> Result<Self, ServeLockError> {
        fs_err::create_dir_all(state)?;
        let mut options = fs_err::OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(state.join(FILE))?;
        if rustix::fs::flock(file.file(), FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            (&mut file).take(HOLDER_BYTES_MAX).read_to_string(&mut holder)?;
            let mut lines = holder.lines();
            let process: String =
                lines.next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
            return Err(ServeLockError::Taken {
                process: if process.is_empty() { "unknown".to_owned() } else { process },
                address: lines.next().and_then(|line| line.parse().ok()),
            });
        }
        file.file().set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Self { file })
    }

    /// Says where the workspace is served, for a process that finds the lock taken.
    pub fn listens_on(&mut self, address: &Address) -> Result<(), ServeLockError> {
        Ok(writeln!(self.file, "{address}")?)
    }
}
