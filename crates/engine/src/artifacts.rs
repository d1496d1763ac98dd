//! The files that runs leave: one folder for each run, in the workspace's state.

use std::path::PathBuf;

use ordain_cell::Execution;
use ordain_types::{Artifact, RunId};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Keeps what an execution left. A run that is tried again has the files of its last try.
    pub(crate) fn keep_artifacts(&self, run: &RunId, execution: &Execution) -> Result<(), EngineError> {
        let Some(folder) = self.folder(run) else { return Ok(()) };
        if folder.exists() {
            fs_err::remove_dir_all(&folder).map_err(EngineError::Artifacts)?;
        }
        self.add_artifacts(run, execution)
    }

    /// Where a file that a run left is kept, if it is. The name is looked up in the run's record by the caller; here
    /// it is made sure that it is a name and not a path.
    pub fn artifact(&self, run: &RunId, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains(['/', '\\', '\0']) || name == "." || name == ".." {
            return None;
        }
        let path = self.folder(run)?.join(name);
        // A link would lead elsewhere; none is ever made here.
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then_some(path)
    }

    /// Whether bytes are those of the file that a run left.
    pub fn is_as_left(artifact: &Artifact, bytes: &[u8]) -> bool {
        let digest = Sha256::digest(bytes);
        ordain_types::hex(&digest) == artifact.sha256
    }

    pub(crate) fn folder(&self, run: &RunId) -> Option<PathBuf> {
        let is_id = !run.as_str().is_empty() && run.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric());
        let root = self.settings.artifacts.as_ref()?;
        is_id.then(|| root.join(run.as_str()))
    }
}
