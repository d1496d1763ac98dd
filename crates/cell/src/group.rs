//! A memory group of the kernel around all zygotes and cells of this process, where one can be had.
//!
//! Every cell has its own limits, which need no group (docs/decisions/002). The group bounds what they take together, and
//! what is counted for no cell: buffers of sockets and pipes, and the kernel's tables. When it is full, the kernel ends a
//! cell, and neither this process nor others on the machine.
//!
//! A group is joined once for each zygote, while its interpreter starts; cells are born in it.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use crate::zygote::lock;

/// Begins the names of our groups; the process's number follows.
const PREFIX: &str = "ordain-cells-";

/// A group, for as long as a zygote is in it.
#[derive(Debug)]
pub(crate) struct MemoryGroup(PathBuf);

/// Where groups can be made, and how they are limited.
#[derive(Debug, PartialEq, Eq)]
struct Parent {
    folder: PathBuf,
    limit_file: &'static str,
}

impl MemoryGroup {
    /// The group of this process, made if there is none; `None` where the kernel or its configuration gives none.
    pub(crate) fn of_this_process() -> Option<Arc<Self>> {
        static CURRENT: Mutex<Weak<MemoryGroup>> = Mutex::new(Weak::new());
        let mut current = lock(&CURRENT);
        if let Some(group) = current.upgrade() {
            return Some(group);
        }
        let group = Arc::new(Self::make().ok().flatten()?);
        *current = Arc::downgrade(&group);
        Some(group)
    }

    fn make() -> io::Result<Option<Self>> {
        let read = |file: &str| std::fs::read_to_string(file);
        let own = read("/proc/self/cgroup")?;
        let Some(parent) = parent_of(&own, &read("/proc/self/mountinfo")?) else { return Ok(None) };
        remove_leftovers(&parent.folder);
        let folder = parent.folder.join(format!("{PREFIX}{}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Ok(None),
            _ => {}
        }
        let group = Self(folder);
        std::fs::write(group.0.join(parent.limit_file), limit_bytes(&read("/proc/meminfo")?).to_string())?;
        Ok(Some(group))
    }

    /// Puts a process into the group. What it starts from now on is in it too.
    pub(crate) fn join(&self, process: u32) -> io::Result<()> {
        std::fs::write(self.0.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Processes that are ending still count for a moment; what is left then, the next process removes.
        for _ in 0..100 {
            match std::fs::remove_dir(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                _ => return,
            }
        }
    }
}

/// What all cells together may take: three quarters of the machine's memory. A group above this one may allow less.
fn limit_bytes(meminfo: &str) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib.saturating_mul(1024) / 4 * 3)
}

/// The folder in which this process may make groups with a limit on memory. In version 1 of control groups that is its own
/// group. In version 2 a group with processes cannot have groups with limits below it, so it is the group above, if it
/// was handed to this service (`Delegate=` and `DelegateSubgroup=` of systemd).
fn parent_of(own: &str, mounts: &str) -> Option<Parent> {
    let path_of = |wanted: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            wanted(controllers).then_some(path)
        })
    };
    let is_memory = |list: &str| list.split(',').any(|name| name == "memory");
    if let Some(path) = path_of(&is_memory) {
        let folder = mounted(mounts, "cgroup", path, is_memory)?;
        return Some(Parent { folder, limit_file: "memory.limit_in_bytes" });
    }
    let path = path_of(&str::is_empty)?;
    let folder = mounted(mounts, "cgroup2", path, |_| true)?.parent()?.to_owned();
    is_given_limits(&folder).then_some(Parent { folder, limit_file: "memory.max" })
}

/// Where a group's folder is mounted: the mount point, and the path below the mount's own root.
fn mounted(mounts: &str, kind: &str, path: &str, is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let (found, options) = (system.next()?, system.nth(1).unwrap_or_default());
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        (found == kind && is_wanted(options)).then(|| Path::new(point).join(below))
    })
}

/// Whether groups in a folder of version 2 have limits on memory, also after asking for it. Only folders that are this
/// user's, or that were handed over, are touched: others belong to other programs.
fn is_given_limits(folder: &Path) -> bool {
    let mut value = [0_u8; 8];
    let is_handed_over = ["user.delegate", "trusted.delegate"].iter().any(|name| {
        rustix::fs::getxattr(folder, *name, &mut value).is_ok_and(|length| value[..length] == *b"1")
    });
    let user = rustix::process::geteuid();
    let is_ours =
        !user.is_root() && std::fs::metadata(folder).is_ok_and(|metadata| metadata.uid() == user.as_raw());
    if !is_handed_over && !is_ours {
        return false;
    }
    let control = folder.join("cgroup.subtree_control");
    let has_memory = || {
        std::fs::read_to_string(&control)
            .is_ok_and(|list| list.split_whitespace().any(|controller| controller == "memory"))
    };
    has_memory() || std::fs::write(&control, "+memory").is_ok() && has_memory()
}

/// Removes groups of processes that were killed. A group with processes in it cannot be removed.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        if !Path::new("/proc").join(process).exists() {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_version_1_is_made_below_the_own_one() {
        let own = "9:name=systemd:/\n4:memory:/system.slice/ordain.service\n0::/\n";
        let mounts = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 25 0:27 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n";
        let folder = PathBuf::from("/sys/fs/cgroup/memory/system.slice/ordain.service");
        assert_eq!(parent_of(own, mounts), Some(Parent { folder, limit_file: "memory.limit_in_bytes" }));
        let in_container = "31 25 0:27 /system.slice /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let folder = PathBuf::from("/sys/fs/cgroup/memory/ordain.service");
        assert_eq!(parent_of(own, in_container).unwrap().folder, folder);
    }

    #[test]
    fn a_group_of_version_2_is_made_beside_the_own_one_if_it_was_handed_over() {
        let own = "0::/system.slice/ordain.service/supervisor\n";
        let mounts = "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let folder = mounted(mounts, "cgroup2", "/system.slice/ordain.service/supervisor", |_| true);
        assert_eq!(folder.unwrap(), Path::new("/sys/fs/cgroup/system.slice/ordain.service/supervisor"));
        // There is no such group here, so it was not handed over.
        assert_eq!(parent_of(own, mounts), None);
        assert_eq!(parent_of("", mounts), None);
    }

    #[test]
    fn cells_together_may_take_three_quarters_of_the_memory() {
        assert_eq!(limit_bytes("MemTotal:       16000 kB\nMemFree: 1 kB\n"), 12_288_000);
        assert_eq!(limit_bytes(""), u64::MAX);
    }
}
