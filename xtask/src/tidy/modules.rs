//! Rules for Rust modules.

use super::{Complaint, files::File};

/// Every Rust file begins by saying why it exists.
pub(super) fn says_why_it_exists(files: &[File]) -> Vec<Complaint> {
    let silent = |file: &&File| {
        let first = file.lines().map(|(_, line)| line.trim()).find(|line| !line.is_empty());
        !first.is_some_and(|line| line.starts_with("//! "))
    };
    rust(files)
        .filter(silent)
        .map(|file| Complaint::new(file, 1, "does not begin with a `//!` line that says why it exists"))
        .collect()
}

/// Every Rust module is named by its parent: a file that no `mod` line reaches is dead.
pub(super) fn is_reached(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in rust(files) {
        let parents = parents(&file.path);
        if parents.is_empty() {
            continue;
        }
        let stem = file.name().trim_end_matches(".rs");
        let is_named = files
            .iter()
            .filter(|parent| parents.contains(&parent.path))
            .any(|parent| parent.lines().any(|(_, line)| names_module(line, stem)));
        if !is_named {
            let what = format!("is dead: no `mod {stem};` in {}", parents.join(" or "));
            complaints.push(Complaint::new(file, 0, what));
        }
    }
    complaints
}

fn rust(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.ending() == "rs")
}

/// Where the `mod` line may stand; nowhere for a file that cargo itself finds.
fn parents(path: &str) -> Vec<String> {
    let Some((folder, name)) = path.rsplit_once('/') else { return Vec::new() };
    if ["lib.rs", "main.rs", "build.rs"].contains(&name) {
        return Vec::new();
    }
    match folder.rsplit_once('/') {
        // Cargo makes a program of each file in these folders.
        Some((_, "bin" | "examples" | "benches" | "tests" | "fuzz_targets")) => Vec::new(),
        Some((_, "src")) => vec![format!("{folder}/lib.rs"), format!("{folder}/main.rs")],
        _ => vec![format!("{folder}.rs"), format!("{folder}/main.rs"), format!("{folder}/lib.rs")],
    }
}

/// `mod name;`, whatever its visibility.
fn names_module(line: &str, name: &str) -> bool {
    let line = line.trim();
    let declaration = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let found = declaration.trim_start().strip_prefix("mod ").and_then(|rest| rest.split(';').next());
    found == Some(name)
}

#[cfg(test)]
mod tests {
    use super::{super::tests::check, *};

    #[test]
    fn a_file_without_a_reason_is_found() {
        check(
            says_why_it_exists,
            &[
                ("a.rs", "//! Because.\n"),
                ("b.rs", "use std::fmt;\n"),
                ("c.rs", "//!\n"),
                ("d.rs", ""),
                ("e.py", "pass"),
            ],
            &[
                "b.rs:1: does not begin with a `//!` line that says why it exists",
                "c.rs:1: does not begin with a `//!` line that says why it exists",
                "d.rs:1: does not begin with a `//!` line that says why it exists",
            ],
        );
    }

    #[test]
    fn a_dead_file_is_found_and_a_reached_one_is_not() {
        check(
            is_reached,
            &[
                ("crates/a/src/lib.rs", "mod one;\npub mod two;\npub(crate) mod three;\n// mod four;\n"),
                ("crates/a/src/one.rs", "mod deep;"),
                ("crates/a/src/one/deep.rs", ""),
                ("crates/a/src/two.rs", ""),
                ("crates/a/src/three.rs", ""),
                ("crates/a/src/four.rs", ""),
                ("crates/a/tests/it/main.rs", "mod used;"),
                ("crates/a/tests/it/used.rs", ""),
                ("crates/a/tests/it/unused.rs", ""),
                ("crates/a/examples/shown.rs", ""),
                ("crates/a/build.rs", ""),
            ],
            &[
                "crates/a/src/four.rs: is dead: no `mod four;` in crates/a/src/lib.rs or crates/a/src/main.rs",
                "crates/a/tests/it/unused.rs: is dead: no `mod unused;` in crates/a/tests/it.rs or \
                 crates/a/tests/it/main.rs or crates/a/tests/it/lib.rs",
            ],
        );
    }
}
