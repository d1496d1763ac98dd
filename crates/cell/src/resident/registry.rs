//! Which helpers run: each holds the lock on its own file for as long as it lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize};

use super::Resident;
use crate::profile::Profile;

/// What a lock file may hold.
const NOTE_BYTES_MAX: u64 = 4096;
/// How long a helper may take to end by itself.
const STOP_TIME_MAX: Duration = Duration::from_secs(10);
/// How often the lock of a helper that ends is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A helper that runs.
#[derive(Debug, Clone, Serialize)]
pub struct Helper {
    /// What it says of itself.
    #[serde(flatten)]
    pub note: Note,
    /// Its lock file.
    pub lock: PathBuf,
}

/// What a helper writes into its lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The profile whose cells it keeps.
    pub profile: Profile,
    /// Its process number.
    pub process: i32,
    /// When it was started, in seconds since 1970.
    pub started_unix_s: u64,
}

/// The helpers that run, by the names of their files.
pub fn list(resident: &Resident) -> io::Result<Vec<Helper>> {
    let mut helpers = Vec::new();
    for entry in std::fs::read_dir(resident.folder())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "lock")
            && let Some(note) = note_of_holder(&path)
        {
            helpers.push(Helper { note, lock: path });
        }
    }
    helpers.sort_by(|left, right| left.lock.cmp(&right.lock));
    Ok(helpers)
}

impl Helper {
    /// Whether it runs the same program file as this process, so that this program's commands may use it.
    pub fn is_of_this_build(&self) -> bool {
        let file = |process: &dyn std::fmt::Display| {
            let file = std::fs::metadata(format!("/proc/{process}/exe")).ok()?;
            Some((file.dev(), file.ino()))
        };
        let own = file(&"self");
        own.is_some() && own == file(&self.note.process)
    }

    /// Ends it, with its cells, and waits until it is gone.
    pub fn stop(&self) -> io::Result<()> {
        let Some(process) = Pid::from_raw(self.note.process) else { return Ok(()) };
        let Ok(process) = rustix::process::pidfd_open(process, PidfdFlags::empty()) else { return Ok(()) };
        for signal in [Signal::TERM, Signal::KILL] {
            // While the lock is held, the number in it is that of no other process.
            if !self.is_held() {
                break;
            }
            let _ = rustix::process::pidfd_send_signal(&process, signal);
            for _ in 0..STOP_TIME_MAX.as_millis() / LOOK_EVERY.as_millis() {
                if !self.is_held() {
                    break;
                }
                std::thread::sleep(LOOK_EVERY);
            }
        }
        if self.is_held() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // A helper that was killed has left its socket, which the next one replaces.
        Ok(())
    }

    fn is_held(&self) -> bool {
        note_of_holder(&self.lock).as_ref() == Some(&self.note)
    }
}

/// What the holder of a lock wrote; `None` if nobody holds it.
fn note_of_holder(path: &Path) -> Option<Note> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        _ => return None,
    }
    let mut text = String::new();
    file.take(NOTE_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Takes the lock of a helper; `None` if another process has it.
pub(super) fn lock(path: &Path, profile: Profile) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // A helper that ends removes its file; a lock on that file is a lock on nothing.
    let is_current =
        path.metadata().is_ok_and(|there| file.metadata().is_ok_and(|ours| there.ino() == ours.ino()));
    if !is_current {
        return Ok(None);
    }
    let started_unix_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let process = rustix::process::getpid().as_raw_nonzero().get();
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec(&Note { profile, process, started_unix_s })?)?;
    Ok(Some(file))
}
