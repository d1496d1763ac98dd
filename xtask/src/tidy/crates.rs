//! Rules for crates and what they depend on.

use super::{Complaint, files::File, text::has_word};

const MAP: &str = "ARCHITECTURE.md";
/// The one place that dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every crate is on the map.
pub(super) fn are_on_the_map(files: &[File]) -> Vec<Complaint> {
    let map = files.iter().find(|file| file.path == MAP).and_then(|file| file.text.as_deref());
    let is_listed = |folder: &str| map.is_some_and(|map| map.lines().any(|line| has_word(line, folder)));
    manifests(files)
        .filter_map(|file| Some((file, file.path.strip_suffix("/Cargo.toml")?)))
        .filter(|(_, folder)| !is_listed(folder))
        .map(|(file, folder)| Complaint::new(file, 0, format!("the crate `{folder}` is not in {MAP}")))
        .collect()
}

/// Every crate takes the workspace's lints.
pub(super) fn inherit_the_lints(files: &[File]) -> Vec<Complaint> {
    let inherits = |file: &&File| {
        let mut lines = file.lines().map(|(_, line)| line.trim());
        lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
    };
    manifests(files)
        .filter(|file| file.path.contains('/') && !inherits(file))
        .map(|file| Complaint::new(file, 0, "does not take the workspace's lints"))
        .collect()
}

/// No dependency comes from a mirror or from somebody's own registry.
pub(super) fn come_from_the_public_registry(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.name() == "Cargo.lock") {
        for (number, line) in file.lines() {
            let source = line.strip_prefix("source = ").map(|source| source.trim_matches('"'));
            if source.is_some_and(|source| source != REGISTRY) {
                complaints.push(Complaint::new(
                    file,
                    number,
                    "a dependency does not come from the public registry",
                ));
            }
        }
    }
    complaints
}

fn manifests(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.name() == "Cargo.toml")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::check, *};

    #[test]
    fn a_crate_that_is_not_on_the_map_is_found() {
        check(
            are_on_the_map,
            &[
                ("ARCHITECTURE.md", "`crates/types`: the words\n`crates/cells`: others\n"),
                ("Cargo.toml", ""),
                ("crates/types/Cargo.toml", ""),
                ("crates/cell/Cargo.toml", ""),
            ],
            &["crates/cell/Cargo.toml: the crate `crates/cell` is not in ARCHITECTURE.md"],
        );
    }

    #[test]
    fn a_crate_with_lints_of_its_own_is_found() {
        check(
            inherit_the_lints,
            &[
                ("a/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n"),
                ("b/Cargo.toml", "[package]\n\n[lints.rust]\nunsafe_code = \"allow\"\n"),
                ("Cargo.toml", "[workspace]\n"),
            ],
            &["b/Cargo.toml: does not take the workspace's lints"],
        );
    }

    #[test]
    fn a_dependency_from_elsewhere_is_found() {
        let lock = format!("source = \"{REGISTRY}\"\nsource = \"registry+https://mirror.example/index\"\n");
        check(
            come_from_the_public_registry,
            &[("Cargo.lock", &lock)],
            &["Cargo.lock:2: a dependency does not come from the public registry"],
        );
    }
}
