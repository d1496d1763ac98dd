//! The name of a helper: a hash of everything that makes its cells what they are.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use sha2::{Digest as _, Sha256};

use crate::isolation::Level;
use crate::profile::Installed;

/// Digits of the hash in a name; two helpers of one user do not meet by chance.
const DIGITS: usize = 24;
/// Namespaces that a zygote is born in.
const NAMESPACES: [&str; 7] = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];
/// What `/proc/self/status` says of things that a child inherits.
const INHERITED: [&str; 7] =
    ["Uid:", "Gid:", "Groups:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:"];

/// The name of the helper for this program, an installed profile and the place where this process runs. `None` where
/// `/proc` does not tell.
pub(super) fn name(installed: &Installed, minimum: Level) -> Option<String> {
    let mut hash = Sha256::new();
    for part in [program()?, packages(installed), minimum.to_string(), surroundings()?] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Some(ordain_types::hex(&hash.finalize())[..DIGITS].to_owned())
}

/// Which build of the program this is: the identity of its file, also when that has been replaced since.
fn program() -> Option<String> {
    let file = fs::metadata("/proc/self/exe").ok()?;
    Some(format!("{} {} {} {} {}", file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

fn packages(installed: &Installed) -> String {
    let Installed { profile, site, interpreter, files_sha256, .. } = installed;
    let (executable, version) = (interpreter.executable.display(), interpreter.version_text());
    format!("{profile} {} {files_sha256} {executable} {version}", site.display())
}

/// What cells inherit from the process that starts their zygote.
fn surroundings() -> Option<String> {
    let mut text = String::new();
    for file in ["cgroup", "limits", "oom_score_adj"] {
        text.push_str(&fs::read_to_string(format!("/proc/self/{file}")).ok()?);
    }
    // There is a label only where a security module gives one.
    text.push_str(&fs::read_to_string("/proc/self/attr/current").unwrap_or_default());
    for namespace in NAMESPACES {
        let link = fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
        let _ = writeln!(text, "{}", link.display());
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    for line in status.lines().filter(|line| INHERITED.iter().any(|field| line.starts_with(field))) {
        let _ = writeln!(text, "{line}");
    }
    let nice = rustix::process::getpriority_process(None).ok()?;
    let _ = writeln!(text, "nice {nice}");
    Some(text)
}
