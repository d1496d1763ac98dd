//! Rules for crates and what they depend on.

use super::{Complaint, files::File, text::has_word};

const MAP: &str = "ARCHITECTURE.md";
/// Stands between a crate and those that it may use.
const DRAWN: &str = " ◄ ";
/// The one place that dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Crates whose answers depend on nothing but what they are given, and what would make them depend on more.
const PURE: [&str; 2] = ["crates/types/src/", "crates/verify/src/"];
const IMPURE: [&str; 8] =
    ["std::fs", "std::io", "std::net", "std::env", "std::process", "std::thread", "SystemTime", "Instant"];

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

/// Crates use each other only in the directions that the map draws: lines `name ◄ name, name`.
pub(super) fn depend_as_drawn(files: &[File]) -> Vec<Complaint> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let drawn: Vec<(&str, Vec<&str>)> = map
        .lines()
        .filter_map(|(_, line)| line.split_once(DRAWN))
        .map(|(name, uses)| (name.trim(), uses.split(',').map(str::trim).collect()))
        .collect();
    let mut complaints = Vec::new();
    for file in manifests(files).filter(|file| file.path.starts_with("crates/")) {
        let own = |line: &str| {
            line.strip_prefix("ordain-")
                .map(|rest| rest.split(['.', ' ', '=']).next().unwrap_or(rest).to_owned())
        };
        let name =
            file.lines().find_map(|(_, line)| own(line.strip_prefix("name = \"")?.trim_end_matches('"')));
        let Some(name) = name else { continue };
        let Some((_, allowed)) = drawn.iter().find(|(drawn, _)| *drawn == name) else {
            complaints.push(Complaint::new(file, 0, format!("{MAP} does not draw what `{name}` may use")));
            continue;
        };
        let mut is_inside = false;
        for (number, line) in file.lines() {
            if line.starts_with('[') {
                is_inside = line.trim() == "[dependencies]";
            }
            let Some(used) = own(line).filter(|_| is_inside) else { continue };
            if !allowed.contains(&used.as_str()) {
                complaints.push(Complaint::new(
                    file,
                    number,
                    format!("{MAP} does not let `{name}` use `{used}`"),
                ));
            }
        }
    }
    complaints
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

/// The pure crates do no IO and read no clock.
pub(super) fn stay_pure(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| PURE.iter().any(|folder| file.path.starts_with(folder))) {
        // Comments may speak of what the code does not do, and tests may read files.
        let code = file.lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
        for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for name in IMPURE.iter().filter(|name| has_word(line, name)) {
                complaints.push(Complaint::new(
                    file,
                    number,
                    format!("uses `{name}` in a crate that does no IO"),
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
    fn io_and_clocks_in_a_pure_crate_are_found() {
        check(
            stay_pure,
            &[
                ("crates/verify/src/a.rs", "// no std::fs here\nuse std::fs;\n#[cfg(test)]\nuse std::env;\n"),
                ("crates/types/src/b.rs", "use std::time::Duration;\nlet now = Instant::now();\n"),
                ("crates/cell/src/c.rs", "use std::fs;\n"),
            ],
            &[
                "crates/verify/src/a.rs:2: uses `std::fs` in a crate that does no IO",
                "crates/types/src/b.rs:2: uses `Instant` in a crate that does no IO",
            ],
        );
    }

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
