//! What is kept of checks, where several nodes have it in common: the store has it, and the folder of each node is a copy.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::read::write_file;
use crate::record::CONTRACT_FILES;
use crate::state::{ACCEPTED, LAST, LastRun, REPORTS_MAX, State};
use crate::{Checks, ChecksError, RunReport};

/// Whose files they are in the store.
const OWNER: &str = "checks";
/// The file that says which of them the folder has.
const TAKEN_IN: &str = "taken_in.json";
/// Begins the names of reports.
const REPORTS: &str = "runs/";
/// Begins the names of pieces of the history, each of one run.
const HISTORY: &str = "history/";
/// Begins the names of files that other tools read.
const CONTRACTS: &str = "contracts/";
/// Pieces of the history that are kept.
const PIECES_MAX: usize = 1000;

/// The files of the store that the folder has, each with its digest. One at a time takes in more.
pub(crate) type TakenIn = Arc<Mutex<BTreeMap<String, String>>>;

impl Checks {
    /// Takes in what other nodes kept since. A server alone has everything already.
    pub async fn catch_up(&self) -> Result<(), ChecksError> {
        if self.engine.settings().others.is_none() {
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
            let content = self.named_here(&file.name, content).await?;
            take_in(&state, &self.contracts_folder(), &file.name, &content)
                .map_err(ChecksError::state("take in results of checks"))?;
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
    pub(crate) async fn share(
        &self,
        report: &RunReport,
        lines: &[u8],
        state: &State,
    ) -> Result<(), ChecksError> {
        if self.engine.settings().others.is_none() {
            return Ok(());
        }
        let failed = || ChecksError::state("share the results of checks");
        let (mut whole, mut last) = (report.clone(), state.last.clone());
        let of_results = whole.results.iter_mut().map(|result| &mut result.artifacts);
        for paths in of_results.chain(last.values_mut().map(|last| &mut last.found.artifacts)) {
            self.name_everywhere(paths);
        }
        let last = serde_json::to_vec(&last).map_err(io::Error::from).map_err(failed())?;
        let whole = serde_json::to_vec(&whole).map_err(io::Error::from).map_err(failed())?;
        let run = &report.run_id;
        let mut files = vec![
            (format!("{HISTORY}{run}"), lines.to_vec()),
            (LAST.to_owned(), last),
            (format!("{REPORTS}{run}.json"), whole),
        ];
        for name in CONTRACT_FILES {
            let content = fs_err::read(self.contracts_folder().join(name)).map_err(failed())?;
            files.push((format!("{CONTRACTS}{name}"), content));
        }
        let mut taken_in = self.taken_in.lock().await;
        for (name, content) in files {
            let sha256 = self.store().keep_file(OWNER, &name, &content).await?;
            taken_in.insert(name, sha256);
        }
        for (beginning, most) in [(REPORTS, REPORTS_MAX), (HISTORY, PIECES_MAX)] {
            let names: Vec<String> =
                taken_in.keys().filter(|name| name.starts_with(beginning)).cloned().collect();
            for name in &names[..names.len().saturating_sub(most)] {
                self.store().remove_file(OWNER, name).await?;
                taken_in.remove(name);
                if let Some(run) = name.strip_prefix(REPORTS).and_then(|file| file.strip_suffix(".json")) {
                    self.store().remove_files(&artifacts_owner(run)).await?;
                }
            }
        }
        self.note(&taken_in)
    }

    /// Accepts the figures of a run, on all nodes. Gives back its id; nothing where there is no such run.
    pub async fn accept_run(&self, run: &str) -> Result<Option<String>, ChecksError> {
        self.catch_up().await?;
        let accepted = self.state()?.accept_run(run)?;
        if self.engine.settings().others.is_some() && accepted.is_some() {
            let failed = ChecksError::state("share which runs are accepted");
            let content = fs_err::read(self.state_folder().join(ACCEPTED)).map_err(failed)?;
            self.store().keep_file(OWNER, ACCEPTED, &content).await?;
        }
        Ok(accepted)
    }

    /// Gives other nodes files with failing rows, and gives the names by which all nodes know them.
    pub(crate) async fn share_artifacts(&self, paths: &[String]) -> Result<Vec<String>, ChecksError> {
        let mut names = paths.to_vec();
        if self.engine.settings().others.is_none() {
            return Ok(names);
        }
        self.name_everywhere(&mut names);
        for (path, name) in paths.iter().zip(&names) {
            let Some((run, file)) = name.split_once('/').filter(|_| path != name) else { continue };
            let content = fs_err::read(path).map_err(ChecksError::state("share failing rows"))?;
            self.store().keep_file(&artifacts_owner(run), file, &content).await?;
        }
        Ok(names)
    }

    /// Brings files with failing rows that other nodes shared, and gives their paths here. One that is gone is left out.
    pub(crate) async fn bring_artifacts(&self, names: &[String]) -> Result<Vec<String>, ChecksError> {
        let mut paths = Vec::new();
        for name in names {
            let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            let Some((run, file)) = name.split_once('/').filter(|_| is_plain) else { continue };
            let path = self.artifacts_folder().join(name);
            if !path.is_file() {
                let kept = self.store().kept_file(&artifacts_owner(run), file).await?;
                let Some(content) = kept else { continue };
                write_file(&path, &content).map_err(ChecksError::state("take in failing rows"))?;
            }
            paths.push(path.display().to_string());
        }
        Ok(paths)
    }

    /// Names files with failing rows in the way that all nodes do: by run, check and file.
    fn name_everywhere(&self, paths: &mut [String]) {
        let folder = self.artifacts_folder();
        for path in paths {
            if let Some(name) = Path::new(path.as_str()).strip_prefix(&folder).ok().and_then(Path::to_str) {
                *path = name.to_owned();
            }
        }
    }

    /// A file as it is on this node: files with failing rows are brought here, and named as they are here.
    async fn named_here(&self, name: &str, content: Vec<u8>) -> Result<Vec<u8>, ChecksError> {
        let failed = || ChecksError::state("take in results of checks");
        if name == LAST
            && let Ok(mut last) = serde_json::from_slice::<BTreeMap<String, LastRun>>(&content)
        {
            for last in last.values_mut() {
                last.found.artifacts = self.bring_artifacts(&last.found.artifacts).await?;
            }
            return serde_json::to_vec(&last).map_err(io::Error::from).map_err(failed());
        }
        if name.starts_with(REPORTS)
            && let Ok(mut report) = serde_json::from_slice::<RunReport>(&content)
        {
            for result in &mut report.results {
                result.artifacts = self.bring_artifacts(&result.artifacts).await?;
            }
            return serde_json::to_vec(&report).map_err(io::Error::from).map_err(failed());
        }
        Ok(content)
    }

    fn note(&self, taken_in: &BTreeMap<String, String>) -> Result<(), ChecksError> {
        let failed = || ChecksError::state("note which results of checks are here");
        let bytes = serde_json::to_vec(taken_in).map_err(io::Error::from).map_err(failed())?;
        write_file(&self.state_folder().join(TAKEN_IN), &bytes).map_err(failed())
    }
}

/// Whose files with failing rows of a run are in the store.
fn artifacts_owner(run: &str) -> String {
    format!("{OWNER}/{run}")
}

/// Puts a file of the store where this node's checks look for it. A name that none of them has is passed over.
fn take_in(state: &State, contracts: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fs_err::create_dir_all(state.folder())?;
    if name == LAST || name == ACCEPTED {
        return write_file(&state.folder().join(name), content);
    }
    if let Some(file) = name.strip_prefix(CONTRACTS).filter(|file| CONTRACT_FILES.contains(file)) {
        return write_file(&contracts.join(file), content);
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
