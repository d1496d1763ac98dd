//! The Python package of `clients/python`: its own tests, which run this binary, with pandas and without.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{Ran, ordain, run};

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python")
}

/// The profile that has pandas: its Python, and the folder with its packages.
fn profile_with_pandas() -> (PathBuf, PathBuf) {
    let listed = run(ordain(["config", "python", "list", "--json"])).json();
    let profiles = listed["profiles"].as_array().unwrap();
    let data = profiles.iter().find(|profile| profile["profile"] == "data").unwrap();
    assert_eq!(data["state"], "ready", "set it up with `ordain config python setup data`");
    let text = |value: &Value| PathBuf::from(value.as_str().unwrap());
    (text(&data["executable"]), text(&data["location"]).join("site"))
}

/// Runs the package's tests. They open servers of this build, without a helper that would outlive them.
fn tested(packages: &[PathBuf]) -> Ran {
    let (python, _) = profile_with_pandas();
    let mut command = Command::new(python);
    let paths = std::env::join_paths([package().join("src")].iter().chain(packages)).unwrap();
    let program = ordain([""; 0]).get_program().to_owned();
    command.args(["-B", "-m", "unittest", "--quiet", "test_ordain"]).current_dir(package().join("tests"));
    command.env("PYTHONPATH", paths).env("PYTHONNOUSERSITE", "1");
    command.env("ORDAIN_PROGRAM", program).env("ORDAIN_RESIDENT", "off");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run(command)
}

#[test]
fn the_python_package_does_what_its_tests_say_without_pandas() {
    let ran = tested(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn the_python_package_does_what_its_tests_say_with_pandas() {
    let (_, site) = profile_with_pandas();
    let ran = tested(&[site]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("skipped=4"), "frames were not tried: {}", ran.stderr);
}
