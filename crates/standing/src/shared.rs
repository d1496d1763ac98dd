//! What is kept of checks, where several nodes have it in common: the store has it, and the folder of each node is a copy.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ordain_checks::{ChecksError, RunReport};
use ordain_engine::EngineError;
use tokio::sync::Mutex;

use crate::Checks;
use crate::read::write_file;
use crate::state::{ACCEPTED, LAST, REPORTS_MAX, State};

/// Whose files they are in the store.
const OWNER: &str = "checks";
/// The file that says which of them the folder has.
const TAKEN_IN: &str = "taken_in.json";
/// Begins the names of reports.
const REPORTS: &str = "runs/";
/// Begins the names of pieces of the history, each of one run.
const HISTORY: &str = "history/";
/// Pieces of the history that are kept.
const PIECES_MAX: usize = 1000;

/// The files of the store that the folder has, each with its digest. One at a time takes in more.
pub(crate) type TakenIn = Arc<Mutex<BTreeMap<String, String>>>;

impl Checks {
    /// Takes in what other nodes kept since. A server alone has everything already.
    pub async fn catch_up(&self) -> Result<(), EngineError> {
        if !self.engine.settings().shares_files {
            return Ok(());
        }
        let mut taken_in = self.taken_in.lock().await;
        let state = State::open(&self.state_folder())?;
        if taken_in.is_empty() {
            let bytes = fs_err::read(state.folder().join(TAKEN_IN)).ok();
            *taken_in = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        }
        let before = taken_in.len();
        let kept = self.store().kept_files(OWNER).await?;
        let mut is_new = false;
        for file in &kept {
            if taken_in.get(&file.name) == Some(&file.sha256) {
                continue;
            }
            let Some(content) = self.store().kept_file(OWNER, &file.name).await? else { continue };
            take_in(&state, &file.name, &content).map_err(ChecksError::state("take in results of checks"))?;
            taken_in.insert(file.name.clone(), file.sha256.clone());
            is_new = true;
        }
        taken_in.retain(|name, _| kept.iter().any(|file| file.name == *name));
        if is_new || taken_in.len() != before {
            self.note(&taken_in)?;
        }
        Ok(())
    }

    /// Gives other nodes what a run found.
    pub(crate) async fn share(&self, report: &RunReport, lines: &[u8]) -> Result<(), EngineError> {
        if !self.engine.settings().shares_files {
            return Ok(());
        }
        let failed = || ChecksError::state("share the results of checks");
        let last = fs_err::read(self.state_folder().join(LAST)).map_err(failed())?;
        let whole = serde_json::to_vec(report).map_err(io::Error::from).map_err(failed())?;
        let run = &report.run_id;
        let mut taken_in = self.taken_in.lock().await;
        let files = [
            (format!("{HISTORY}{run}"), lines),
            (LAST.to_owned(), last.as_slice()),
            (format!("{REPORTS}{run}.json"), whole.as_slice()),
        ];
        for (name, content) in files {
            let sha256 = self.store().keep_file(OWNER, &name, content).await?;
            taken_in.insert(name, sha256);
        }
        for (beginning, most) in [(REPORTS, REPORTS_MAX), (HISTORY, PIECES_MAX)] {
            let names: Vec<String> =
                taken_in.keys().filter(|name| name.starts_with(beginning)).cloned().collect();
            for name in &names[..names.len().saturating_sub(most)] {
                self.store().remove_file(OWNER, name).await?;
                taken_in.remove(name);
            }
        }
        Ok(self.note(&taken_in)?)
    }

    /// Accepts the figures of a run, on all nodes. Gives back its id; nothing where there is no such run.
    pub async fn accept_run(&self, run: &str) -> Result<Option<String>, EngineError> {
        self.catch_up().await?;
        let accepted = self.state()?.accept_run(run)?;
        if self.engine.settings().shares_files && accepted.is_some() {
            let failed = ChecksError::state("share which runs are accepted");
            let content = fs_err::read(self.state_folder().join(ACCEPTED)).map_err(failed)?;
            self.store().keep_file(OWNER, ACCEPTED, &content).await?;
        }
        Ok(accepted)
    }

    fn note(&self, taken_in: &BTreeMap<String, String>) -> Result<(), ChecksError> {
        let failed = || ChecksError::state("note which results of checks are here");
        let bytes = serde_json::to_vec(taken_in).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.state_folder().join(TAKEN_IN), &bytes).map_err(failed())
    }
}

/// Puts a file of the store where this node's checks look for it. A name that none of them has is passed over.
fn take_in(state: &State, name: &str, content: &[u8]) -> io::Result<()> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fs_err::create_dir_all(state.folder())?;
    if name == LAST || name == ACCEPTED {
        return write_file(&state.folder().join(name), content);
    }
    if name.strip_prefix(HISTORY).is_some_and(is_id) {
        return state.add_to_history(content);
    }
    if name.strip_prefix(REPORTS).and_then(|file| file.strip_suffix(".json")).is_some_and(is_id) {
        write_file(&state.folder().join(name), content)?;
        return state.forget_old();
    }
    Ok(())
}
