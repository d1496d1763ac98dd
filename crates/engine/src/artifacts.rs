//! The files that runs leave: one folder for each run, in the workspace's state.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use ordain_cell::Execution;
use ordain_files::ending;
use ordain_types::{Artifact, RunId};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;

/// Endings of workbooks, in which a cell can hold a formula.
const WORKBOOKS: [&str; 3] = ["xlsx", "xlsm", "ods"];
/// The note for a workbook with formulas.
const FORMULA: &str = "formula";

impl Engine {
    /// Marks the workbooks among a run's artifacts that hold formulas. They are looked into in a cell of their own: a
    /// workbook that hostile code wrote is hostile.
    pub(crate) async fn mark_formulas(
        &self,
        run: &RunId,
        artifacts: &mut [Artifact],
    ) -> Result<(), EngineError> {
        let is_workbook = |name: &str| WORKBOOKS.contains(&ending(name).as_str());
        let paths: Vec<PathBuf> = artifacts
            .iter()
            .filter(|artifact| is_workbook(&artifact.name))
            .filter_map(|artifact| self.artifact(run, &artifact.name))
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        let prepared = self.prepare_files(&paths, &[], &self.settings.limits).await?;
        for brief in prepared.briefs.iter().filter(|brief| brief.facts.get("formulas").is_some()) {
            let artifact = artifacts.iter_mut().find(|artifact| artifact.name == brief.name);
            if let Some(artifact) =
                artifact.filter(|artifact| !artifact.warnings.iter().any(|warning| warning == FORMULA))
            {
                artifact.warnings.push(FORMULA.to_owned());
            }
        }
        Ok(())
    }

    /// Keeps what an execution left. A run that is tried again has the files of its last try.
    pub(crate) async fn keep_artifacts(&self, run: &RunId, execution: &Execution) -> Result<(), EngineError> {
        let Some(folder) = self.folder(run) else { return Ok(()) };
        if folder.exists() {
            fs_err::remove_dir_all(&folder).map_err(EngineError::Artifacts)?;
        }
        self.add_artifacts(run, execution).await
    }

    /// Keeps what a step left, besides what earlier steps did.
    pub(crate) async fn add_artifacts(&self, run: &RunId, execution: &Execution) -> Result<(), EngineError> {
        let Some(folder) = self.folder(run).filter(|_| !execution.artifacts.is_empty()) else {
            return Ok(());
        };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(EngineError::Artifacts)?;
        for artifact in &execution.artifacts {
            artifact.save(&folder).map_err(EngineError::Artifacts)?;
            if self.settings.others.is_some() {
                let content = artifact.read().map_err(EngineError::Artifacts)?;
                self.store.keep_file(run.as_str(), &artifact.name, &content).await?;
            }
        }
        Ok(())
    }

    /// The content of a file that a run left, on whichever node it did; `None` if it is not kept any more, or is not
    /// what the run left.
    pub async fn artifact_content(
        &self,
        run: &RunId,
        artifact: &Artifact,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        if let Some(path) = self.artifact(run, &artifact.name) {
            let read = tokio::task::spawn_blocking(move || fs_err::read(path)).await;
            let content = read.map_err(std::io::Error::other).flatten().map_err(EngineError::Artifacts)?;
            if Self::is_as_left(artifact, &content) {
                return Ok(Some(content));
            }
        }
        if self.settings.others.is_none() {
            return Ok(None);
        }
        let content = self.store.kept_file(run.as_str(), &artifact.name).await?;
        Ok(content.filter(|content| Self::is_as_left(artifact, content)))
    }

    /// Brings files that a run left on another node, for a run that goes on here.
    pub(crate) async fn bring_artifacts(
        &self,
        run: &RunId,
        artifacts: &[Artifact],
    ) -> Result<(), EngineError> {
        let Some(folder) = self.folder(run).filter(|_| self.settings.others.is_some()) else { return Ok(()) };
        for artifact in artifacts {
            let is_name = !artifact.name.contains(['/', '\\', '\0']) && !artifact.name.starts_with('.');
            if self.artifact(run, &artifact.name).is_none()
                && is_name
                && let Some(content) = self.artifact_content(run, artifact).await?
            {
                fs_err::create_dir_all(&folder).map_err(EngineError::Artifacts)?;
                fs_err::write(folder.join(&artifact.name), content).map_err(EngineError::Artifacts)?;
            }
        }
        Ok(())
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
    fn is_as_left(artifact: &Artifact, bytes: &[u8]) -> bool {
        let digest = Sha256::digest(bytes);
        ordain_types::hex(&digest) == artifact.sha256
    }

    pub(crate) fn folder(&self, run: &RunId) -> Option<PathBuf> {
        let is_id = !run.as_str().is_empty() && run.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric());
        let root = self.settings.artifacts.as_ref()?;
        is_id.then(|| root.join(run.as_str()))
    }
}
