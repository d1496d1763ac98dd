//! What the kernel knows about the processes of a test.

use std::fs;

/// A process and everything below it, as numbers, sorted. The process itself is left out.
pub fn descendants(of: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(parents.iter().filter(|(_, parent)| *parent == above).map(|(process, _)| process));
        at += 1;
    }
    found.remove(0);
    found.sort_unstable();
    found
}

/// Whether a process is there and does not only wait to be collected.
pub fn is_running(process: u32) -> bool {
    parent(process).is_some()
}

/// The parent of a process, unless it is gone or only waits to be collected.
pub fn parent(process: u32) -> Option<u32> {
    let (state, parent) = status(process)?;
    (state != "Z" && state != "X").then_some(parent)
}

/// The state of a process in the kernel's letters.
pub fn state(process: u32) -> Option<String> {
    status(process).map(|(state, _)| state)
}

fn status(process: u32) -> Option<(String, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything, so the fields are counted from its end.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}
