//! Looks at processes from outside, through `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};

/// A process, told apart from a later one that got the same number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    pub(super) number: u32,
    started_ticks: u64,
}

/// A process as `/proc` shows it.
#[derive(Debug)]
struct Shown {
    process: Process,
    parent: u32,
    name: String,
    is_dead: bool,
}

impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.number)
    }
}

/// The descendants of the executor, by process with a name for people, and every one that was ever seen.
#[derive(Debug)]
pub(super) struct Family {
    head: u32,
    seen: BTreeSet<Process>,
    namespaces: BTreeSet<String>,
}

impl Family {
    /// The family of that process.
    pub(super) fn of(head: u32) -> Self {
        Self { head, seen: BTreeSet::new(), namespaces: BTreeSet::new() }
    }

    /// Everyone in it now but the head.
    pub(super) fn members(&mut self) -> Result<BTreeMap<Process, String>> {
        let all = all()?;
        let own_namespace = namespace(std::process::id());
        let mut numbers = BTreeSet::from([self.head]);
        loop {
            let before = numbers.len();
            let children = all.iter().filter(|shown| numbers.contains(&shown.parent));
            numbers.extend(children.map(|shown| shown.process.number).collect::<Vec<_>>());
            if numbers.len() == before {
                break;
            }
        }
        numbers.remove(&self.head);
        // The kernel gives the numbers of ended namespaces to new ones, so only those of now are kept.
        let made = numbers.iter().filter_map(|number| namespace(*number));
        self.namespaces = made.filter(|made| Some(made) != own_namespace.as_ref()).collect();
        let is_member = |shown: &Shown| numbers.contains(&shown.process.number);
        let members: BTreeMap<_, _> =
            all.into_iter().filter(is_member).map(|shown| (shown.process, shown.name)).collect();
        self.seen.extend(members.keys().cloned());
        Ok(members)
    }

    /// Every process that was ever seen in it, or lives in a process namespace that it had when last looked at, and is there now. One that is dead and only
    /// waits to be reaped is no longer the family's: its parent is gone, and reaping is up to the machine.
    pub(super) fn survivors(&self) -> Result<Vec<String>> {
        let is_known = |shown: &Shown| {
            self.seen.contains(&shown.process)
                || namespace(shown.process.number)
                    .is_some_and(|namespace| self.namespaces.contains(&namespace))
        };
        let alive = all()?.into_iter().filter(|shown| !shown.is_dead && is_known(shown));
        Ok(alive.map(|shown| format!("{} ({})", shown.process, shown.name)).collect())
    }
}

/// Peak resident memory of a process.
pub(super) fn memory_peak_bytes(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("there is no VmHWM")?;
    let kib: u64 = field.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib * 1024)
}

/// Sets the peak back to what the process uses now.
pub(super) fn reset_memory_peak(process: u32) -> Result<()> {
    std::fs::write(format!("/proc/{process}/clear_refs"), "5").context("failed to reset the memory peak")
}

/// The process namespace that a process lives in, where it may be known.
fn namespace(number: u32) -> Option<String> {
    std::fs::read_link(format!("/proc/{number}/ns/pid")).ok().map(|link| link.to_string_lossy().into_owned())
}

fn all() -> Result<Vec<Shown>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").context("failed to list processes")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may be gone before it can be read.
        let Ok(status) = std::fs::read(format!("/proc/{number}/stat")) else { continue };
        all.extend(parse(number, &String::from_utf8_lossy(&status)));
    }
    Ok(all)
}

/// Reads `number (name) state parent …`, where the name may hold anything.
fn parse(number: u32, status: &str) -> Option<Shown> {
    let (start, rest) = status.rsplit_once(')')?;
    let name = start.split_once('(')?.1.escape_debug().to_string();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let process = Process { number, started_ticks: fields.get(19)?.parse().ok()? };
    let is_dead = matches!(*fields.first()?, "Z" | "X");
    Some(Shown { process, parent: fields.get(1)?.parse().ok()?, name, is_dead })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse_the_reader() {
        let status = "7 (a) R 1 (b) S 42 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 0";
        let shown = parse(7, status).unwrap();
        assert_eq!(
            (shown.parent, shown.process.started_ticks, shown.name.as_str()),
            (42, 12345, "a) R 1 (b")
        );
    }

    #[test]
    fn a_grandchild_is_found_and_its_end_is_seen() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "sleep 30 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The shell says something once the grandchild runs.
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let mut family = Family::of(child.id());
        let members = family.members().unwrap();
        assert_eq!(members.len(), 1, "{members:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let survivors = family.survivors().unwrap();
        assert_eq!(survivors.len(), 1, "its parent is dead and it still counts: {survivors:?}");
        let grandchild = members.keys().next().unwrap().number.to_string();
        assert!(Command::new("kill").arg(&grandchild).status().unwrap().success());
        while !family.survivors().unwrap().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
