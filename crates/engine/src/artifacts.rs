//! Keeps the files that runs leave, one folder for each run.

use ordain_cell::Execution;
use ordain_types::RunRecord;

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Saves what a run left, where the settings say that it is kept. A name that is there already is left alone: it is
    /// the same run's, from an earlier round with the same content, or its failure is told.
    pub(crate) fn keep_artifacts(
        &self,
        record: &RunRecord,
        execution: &Execution,
    ) -> Result<(), EngineError> {
        let Some(folder) = self.settings.artifacts.as_ref().filter(|_| !execution.artifacts.is_empty())
        else {
            return Ok(());
        };
        let folder = folder.join(record.run_id.as_str());
        let failed = |source| EngineError::Artifacts { source };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for artifact in &execution.artifacts {
            match artifact.save(&folder) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                saved => drop(saved.map_err(failed)?),
            }
        }
        Ok(())
    }
}
