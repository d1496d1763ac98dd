//! The end of a round: the executor goes, and nothing of it stays.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use super::client::Client;
use super::listing::Listing;
use super::plant::{CANARY_FOLDER, Plant};
use super::processes::Family;

/// How long the executor may take to end.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(5);
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";
/// Shared memory that outlives its maker.
const SHARED_MEMORY: &str = "/dev/shm";
/// The user that cells of the superuser belong to.
const NOBODY: u32 = 65_534;

/// What the host looked like before the executor started.
#[derive(Debug)]
pub(super) struct HostBefore {
    mounts: BTreeSet<String>,
    control_groups: BTreeSet<PathBuf>,
    shared_memory: BTreeSet<PathBuf>,
    files: Listing,
}

impl HostBefore {
    /// Looks at the host.
    pub(super) fn look(plant: &Plant) -> Result<Self> {
        Ok(Self {
            mounts: mounts()?,
            control_groups: control_groups(),
            shared_memory: shared_memory(),
            files: listing(plant)?,
        })
    }

    /// Ends the executor and tells everything that it left.
    pub(super) fn end(&self, plant: &Plant, client: &mut Client, family: &mut Family) -> Vec<String> {
        let mut problems = Vec::new();
        // Processes that are there now must be gone afterwards.
        if let Err(error) = family.members() {
            problems.push(format!("processes could not be listed: {error:#}"));
        }
        match client.close(CLOSE_TIME_MAX) {
            Ok(status) if status.success() => {}
            Ok(status) => problems.push(format!("the executor ended with {status}")),
            Err(error) => problems.push(format!("the executor did not end: {error:#}")),
        }
        match self.left(plant, client.process(), family) {
            Ok(left) => problems.extend(left),
            Err(error) => problems.push(format!("what is left could not be looked at: {error:#}")),
        }
        problems
    }

    fn left(&self, plant: &Plant, executor: u32, family: &Family) -> Result<Vec<String>> {
        let mut left = Vec::new();
        left.extend(family.survivors()?.into_iter().map(|process| format!("process {process} is left")));
        let mounts = mounts()?;
        left.extend(mounts.difference(&self.mounts).map(|mount| format!("a mount is left: {mount}")));
        let mut groups = control_groups();
        groups.retain(|path| path.to_string_lossy().ends_with(&format!("-{executor}")));
        for (what, before, after) in [
            ("control group", &self.control_groups, groups),
            ("shared memory", &self.shared_memory, shared_memory()),
        ] {
            left.extend(after.difference(before).map(|path| format!("{what} is left: {}", path.display())));
        }
        left.extend(listing(plant)?.changes_since(&self.files));
        Ok(left)
    }
}

fn listing(plant: &Plant) -> Result<Listing> {
    Listing::of(&[&plant.work, &plant.temporary, &plant.results, Path::new(CANARY_FOLDER)], &[])
}

/// Mount points of this namespace, with what is mounted there.
fn mounts() -> Result<BTreeSet<String>> {
    let text = std::fs::read_to_string("/proc/self/mountinfo")?;
    let after_ids = |line: &str| line.splitn(4, ' ').nth(3).unwrap_or_default().to_owned();
    Ok(text.lines().map(after_ids).collect())
}

/// Control groups that are named for cells. Each ends with the number of the process that made it.
fn control_groups() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::from(CONTROL_GROUPS)];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() && !path.is_symlink() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if name.contains("ordain") {
                    found.insert(path.clone());
                }
                folders.push(path);
            }
        }
    }
    found
}

/// Shared memory that belongs to cells. Other users' comes and goes with whatever else the machine does.
fn shared_memory() -> BTreeSet<PathBuf> {
    let is_cells =
        |path: &PathBuf| path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == cell_user());
    entries(Path::new(SHARED_MEMORY)).into_iter().filter(is_cells).collect()
}

/// The user that the files of cells belong to, as the host sees it: the executor's own, unless it is the superuser.
fn cell_user() -> u32 {
    match Path::new("/proc/self").metadata().map(|metadata| metadata.uid()) {
        Ok(0) | Err(_) => NOBODY,
        Ok(user) => user,
    }
}

/// The entries of a folder; none if it cannot be listed.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}
