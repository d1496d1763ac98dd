//! The hash-locked requirement files, embedded in the program.
//!
//! `cargo xtask lock` writes them. A profile's folder is named after its lock file's hash, so a new lock file means
//! a new folder, and two versions of Ordain with different locks live side by side.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::{DataDir, Interpreter, Profile, marker};

/// Raised when the layout of an installed profile changes, so that older folders are not mistaken for new ones.
const LAYOUT_VERSION: u32 = 2;

/// One package that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Requirement {
    /// The name in its normal form: lower case, runs of `-`, `_` and `.` as one `-`.
    pub(super) name: String,
    pub(super) version: String,
}

/// The lock file of a profile with the packages that a workspace asks for.
pub(super) fn text(profile: Profile, data_dir: &DataDir) -> Cow<'static, str> {
    let own = own_text(profile);
    match data_dir.packages() {
        None => own.into(),
        Some(packages) => format!("{own}{}", without(packages.text(), own)).into(),
    }
}

/// A lock file without the packages that another one has too.
fn without(text: &str, other: &str) -> String {
    let known: Vec<Requirement> =
        other.lines().filter_map(requirement).map(|(requirement, _)| requirement).collect();
    let mut is_known = false;
    let lines = text.lines().filter(|line| {
        if let Some((found, _)) = requirement(line) {
            is_known = known.contains(&found);
        }
        !is_known && !line.starts_with('#')
    });
    lines.fold(String::new(), |kept, line| kept + line + "\n")
}

/// The profile's lock file, as it is embedded.
const fn own_text(profile: Profile) -> &'static str {
    match profile {
        Profile::Core => include_str!("../../python/profiles/core.txt"),
        Profile::Data => include_str!("../../python/profiles/data.txt"),
        Profile::Full => include_str!("../../python/profiles/full.txt"),
    }
}

/// The name of the folder that holds the profile for this interpreter, such as `data-cp311-3f9c0a17be42`.
pub(super) fn folder_name(profile: Profile, data_dir: &DataDir, interpreter: &Interpreter) -> String {
    let mut hash = Sha256::new();
    // A home folder may be shared by machines whose compiled packages differ.
    for part in
        [&*LAYOUT_VERSION.to_string(), &interpreter.platform, &interpreter.libc, &text(profile, data_dir)]
    {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let hash = ordain_types::hex(&hash.finalize());
    format!("{profile}-{}-{}", interpreter.abi_tag, &hash[..12])
}

/// The packages that the profile has on this interpreter, by name, with those that a workspace asks for.
pub(super) fn requirements(
    profile: Profile,
    data_dir: &DataDir,
    interpreter: &Interpreter,
) -> Vec<Requirement> {
    pins(&text(profile, data_dir), interpreter)
}

/// The packages that the profile itself has on this interpreter, by name.
pub(super) fn built_in(profile: Profile, interpreter: &Interpreter) -> Vec<Requirement> {
    pins(own_text(profile), interpreter)
}

fn pins(text: &str, interpreter: &Interpreter) -> Vec<Requirement> {
    let mut wanted: Vec<_> = text
        .lines()
        .filter_map(requirement)
        // A test holds that every marker is understood; one that is not would be the installer's to judge.
        .filter(|(_, condition)| {
            condition.is_none_or(|marker| marker::holds(marker, interpreter) != Some(false))
        })
        .map(|(requirement, _)| requirement)
        .collect();
    wanted.sort();
    wanted
}

/// Reads `name==1.2 ; marker \` and passes over hashes and comments.
fn requirement(line: &str) -> Option<(Requirement, Option<&str>)> {
    if line.starts_with([' ', '#']) {
        return None;
    }
    let line = line.trim_end_matches('\\').trim();
    let (pin, condition) = match line.split_once(';') {
        Some((pin, condition)) => (pin.trim(), Some(condition.trim())),
        None => (line, None),
    };
    let (name, version) = pin.split_once("==")?;
    Some((Requirement { name: normal_name(name), version: version.to_owned() }, condition))
}

/// The one form in which package names are compared.
pub(super) fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for part in name.trim().split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !normal.is_empty() {
            normal.push('-');
        }
        normal.push_str(&part.to_ascii_lowercase());
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::{super::marker::tests::python, *};

    const VERSIONS: [(u8, u8, u8); 5] = [(3, 10, 0), (3, 11, 7), (3, 12, 1), (3, 13, 0), (3, 14, 2)];

    #[test]
    fn every_package_of_every_lock_file_is_pinned_and_hashed() {
        for profile in Profile::ALL {
            let lines: Vec<_> = own_text(profile).lines().collect();
            let mut pins = 0;
            for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
                if line.starts_with([' ', '#']) {
                    continue;
                }
                assert!(requirement(line).is_some(), "{profile}: not a pin: {line}");
                assert!(line.ends_with(" \\") && next.starts_with("    --hash=sha256:"), "{profile}: {line}");
                pins += 1;
            }
            assert!(pins > 0, "{profile} has no package");
            assert!(!own_text(profile).contains("://"), "{profile} names an address");
        }
    }

    #[test]
    fn every_marker_of_the_lock_files_is_understood() {
        for profile in Profile::ALL {
            for (requirement, condition) in own_text(profile).lines().filter_map(requirement) {
                for version in VERSIONS {
                    let holds = condition.map(|marker| marker::holds(marker, &python(version)));
                    assert_ne!(holds, Some(None), "{profile}: {requirement:?}: {condition:?}");
                }
            }
        }
    }

    #[test]
    fn no_python_gets_two_versions_of_one_package() {
        for profile in Profile::ALL {
            for version in VERSIONS {
                let wanted = built_in(profile, &python(version));
                for pair in wanted.windows(2) {
                    assert_ne!(pair[0].name, pair[1].name, "{profile} on {version:?}");
                }
            }
        }
    }

    #[test]
    fn a_larger_profile_has_all_of_the_smaller_one_in_the_same_versions() {
        for version in VERSIONS {
            let [core, data, full] = Profile::ALL.map(|profile| built_in(profile, &python(version)));
            for (small, large) in [(&core, &data), (&data, &full)] {
                for requirement in small {
                    assert!(large.contains(requirement), "{requirement:?} on {version:?}");
                }
            }
        }
    }

    #[test]
    fn the_profiles_have_the_packages_they_promise() {
        let names = |profile| -> Vec<String> {
            built_in(profile, &python((3, 11, 7))).into_iter().map(|wanted| wanted.name).collect()
        };
        assert_eq!(names(Profile::Core), ["tinydb"]);
        let data = names(Profile::Data);
        for name in ["numpy", "pandas", "pyarrow", "openpyxl", "matplotlib", "tinydb", "tzdata"] {
            assert!(data.iter().any(|known| known == name), "data: {name}");
        }
        let full = names(Profile::Full);
        for name in ["scipy", "scikit-learn", "statsmodels", "pdfplumber", "netcdf4", "polars", "python-docx"]
        {
            assert!(full.iter().any(|known| known == name), "full: {name}");
        }
    }

    #[test]
    fn names_are_compared_in_their_normal_form() {
        for name in ["netCDF4", "NetCDF4"] {
            assert_eq!(normal_name(name), "netcdf4");
        }
        assert_eq!(normal_name("Foo__Bar.-baz"), "foo-bar-baz");
    }

    #[test]
    fn the_folder_depends_on_the_lock_and_on_the_platform() {
        let data_dir = DataDir::at("/nowhere").unwrap();
        let here = python((3, 11, 7));
        let there = Interpreter { platform: "linux-aarch64".into(), ..here.clone() };
        let name = folder_name(Profile::Core, &data_dir, &here);
        assert!(name.starts_with("core-cp311-") && name.len() == "core-cp311-".len() + 12, "{name}");
        assert_ne!(name, folder_name(Profile::Core, &data_dir, &there));
        assert_eq!(name, folder_name(Profile::Core, &data_dir, &python((3, 11, 9))));
    }

    #[test]
    fn a_package_that_the_profile_has_is_not_locked_twice() {
        let pin = |name: &str| format!("{name} \\\n    --hash=sha256:00\n");
        let text = format!("# x\n{}{}", pin("tinydb==4.9.0"), pin("other==1"));
        assert_eq!(without(&text, own_text(Profile::Core)), pin("other==1"));
    }
}
