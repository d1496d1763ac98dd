//! The catalogue as a table for people: what each program tries, what stops it, and how it ends.

use std::fmt::Write as _;
use std::path::Path;

use super::program::{self, Class, Program};

const HEAD: &str = "\
# Attacks, and what stops them

Made from the headers of the programs in [crates/cell/tests/attacks](../crates/cell/tests/attacks/README.md); a test \
compares it, and `ORDAIN_WRITE_DOCS=1 cargo test -p ordain-cell --test it the_table_of_attacks` writes it anew.
Every program runs in a cell under the open contract, so that the verifier defends nothing; what it is judged by is looked \
at from outside.
The layers are described in [SECURITY.md](../SECURITY.md).
";

/// The table of a folder of programs, as Markdown.
pub fn table(folder: &Path) -> std::io::Result<String> {
    let mut text = HEAD.to_owned();
    let programs: Vec<Program> = program::read_folder(folder)?.into_iter().filter_map(Result::ok).collect();
    for class in CLASSES {
        let (title, layer) = about(class);
        let _ = write!(text, "\n## {title}\n\n{layer}\n\n| program | tries | cause |\n|---|---|---|\n");
        for program in programs.iter().filter(|program| program.class == class) {
            let causes: Vec<&str> = program.outcome.iter().map(|cause| cause.as_str()).collect();
            let cells = [&program.name, &program.tries, &causes.join(", ")];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    Ok(text)
}

const CLASSES: [Class; 10] = [
    Class::Resource,
    Class::Channel,
    Class::Network,
    Class::Files,
    Class::Artifact,
    Class::Process,
    Class::Kernel,
    Class::Language,
    Class::State,
    Class::Allowed,
];

/// The heading of a class, and the layers that stop its programs.
fn about(class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Resource => (
            "Resources",
            "Stopped by rlimits, the work folder's quota, the seccomp filter's arguments, and the supervisor's clock.",
        ),
        Class::Channel => (
            "The wire",
            "Stopped by the supervisor: frames are bounded and validated, and the cause is its own.",
        ),
        Class::Network => (
            "Network",
            "Stopped by the network namespace without interfaces, the seccomp filter and Landlock.",
        ),
        Class::Files => (
            "Files of the host",
            "Stopped by the mount namespace on a minimal root, file permissions of an unprivileged user, and Landlock.",
        ),
        Class::Artifact => (
            "Artifacts",
            "Stopped by how the supervisor reads the work folder: ordinary files, bounded and labelled.",
        ),
        Class::Process => {
            ("Processes", "Stopped by the pid namespace, the seccomp filter and the process limit.")
        }
        Class::Kernel => ("The kernel", "Stopped by the seccomp filter, no capabilities and `no_new_privs`."),
        Class::Language => (
            "The language",
            "Python itself defends nothing: whatever code reaches inside its process, the jail holds.",
        ),
        Class::State => {
            ("State", "Stopped by cells of single use, and by locks and leases that reach nobody.")
        }
        Class::Allowed => (
            "Honest programs",
            "These must work: an attack that is stopped by breaking them is not contained.",
        ),
    }
}
