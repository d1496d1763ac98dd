//! The lists of importable modules agree with the requirement files of the profiles.

use std::path::Path;

use ordain_verify::{CORE_IMPORTS, DATA_IMPORTS, FULL_IMPORTS};

/// Packages whose module has another name.
const MODULES: &[(&str, &str)] = &[
    ("beautifulsoup4", "bs4"),
    ("pillow", "PIL"),
    ("python-calamine", "python_calamine"),
    ("python-dateutil", "dateutil"),
    ("python-docx", "docx"),
    ("python-pptx", "pptx"),
    ("pyyaml", "yaml"),
    ("scikit-learn", "sklearn"),
];

#[test]
fn every_package_of_a_profile_can_be_imported_under_it() {
    let profiles = [("core", CORE_IMPORTS), ("data", DATA_IMPORTS), ("full", FULL_IMPORTS)];
    let mut packages = Vec::new();
    for (profile, imports) in profiles {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cell/python/profiles");
        let text = std::fs::read_to_string(folder.join(format!("{profile}.in"))).expect("a requirement file");
        // A larger profile holds the smaller ones.
        let listed = text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '-']));
        packages.extend(
            listed.map(|line| line.split(['=', '<', '>', '[', ' ']).next().unwrap_or(line).to_owned()),
        );
        for package in &packages {
            let known = MODULES.iter().find(|(name, _)| name == package);
            let module = known.map_or(package.as_str(), |(_, module)| module);
            assert!(imports.contains(&module), "profile {profile}: {package} is imported as {module}");
        }
    }
    assert!(packages.len() > 30, "{} packages", packages.len());
}

#[test]
fn each_profile_holds_the_smaller_ones() {
    assert!(CORE_IMPORTS.iter().all(|module| DATA_IMPORTS.contains(module)));
    assert!(DATA_IMPORTS.iter().all(|module| FULL_IMPORTS.contains(module)));
}
