//! The newest results of every check, kept in memory: only what was appended since the last look is read.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::state::{HISTORY, Past};
use crate::{Checks, ChecksError};

/// Results of one check that are kept.
const RESULTS_MAX: usize = 200;

/// Results by check, the oldest first.
pub type History = BTreeMap<String, Vec<Past>>;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct KnownHistory {
    /// The file that was read, and how much of it.
    read: (u64, u64),
    results: Arc<History>,
}

impl Checks {
    /// The newest results of every check.
    pub fn history(&self) -> Result<Arc<History>, ChecksError> {
        let mut known = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .catch_up(&self.state_folder().join(HISTORY))
            .map_err(ChecksError::state("read the history of checks"))?;
        Ok(Arc::clone(&known.results))
    }
}

impl KnownHistory {
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let mut file = match fs_err::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::default();
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if metadata.ino() != self.read.0 || metadata.len() < self.read.1 {
            // Another file: the history was cut, or brought back from a copy.
            *self = Self { read: (metadata.ino(), 0), ..Self::default() };
        }
        if metadata.len() == self.read.1 {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read.1))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // A line that is being written is read when it is whole.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.read.1 += whole as u64;
        let results = Arc::make_mut(&mut self.results);
        for line in text[..whole].split(|byte| *byte == b'\n') {
            // Lines that do not read are passed over.
            let Ok(past) = serde_json::from_slice::<Past>(line) else { continue };
            let of_check = results.entry(past.result.check_id.clone()).or_default();
            of_check.push(past);
            if of_check.len() > 2 * RESULTS_MAX {
                of_check.drain(..RESULTS_MAX);
            }
        }
        Ok(())
    }
}

/// What clones of [`Checks`] share.
pub(crate) type SharedHistory = Arc<Mutex<KnownHistory>>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(id: &str, failed: usize) -> String {
        json!({"check_id": id, "run_id": "r", "started_at": "", "status": "PASS", "failed": failed})
            .to_string()
            + "\n"
    }

    #[test]
    fn only_what_was_appended_is_read_and_a_new_file_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let mut known = KnownHistory::default();
        let counts = |known: &mut KnownHistory| {
            known.catch_up(&path).unwrap();
            known.results.iter().map(|(id, past)| format!("{id}{}", past.len())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(counts(&mut known), "");
        let begin = line("a", 1) + "not a line\n" + &line("b", 2);
        fs_err::write(&path, format!("{begin}{}", &line("a", 3)[..20])).unwrap();
        assert_eq!(counts(&mut known), "a1 b1");
        // Only what was appended is read: a beginning that was changed meanwhile is not counted a second time.
        fs_err::write(&path, begin.replace("check_id", "xxxxx_id") + &line("a", 3) + &line("a", 4)).unwrap();
        assert_eq!(counts(&mut known), "a3 b1");
        fs_err::remove_file(&path).unwrap();
        fs_err::write(folder.path().join("other"), line("c", 1)).unwrap();
        fs_err::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(counts(&mut known), "c1");
        fs_err::write(&path, line("c", 1).repeat(1000)).unwrap();
        counts(&mut known);
        assert!((RESULTS_MAX..=2 * RESULTS_MAX).contains(&known.results["c"].len()));
    }
}
