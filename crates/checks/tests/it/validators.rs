//! Judges of our outputs that are not ours: `jsonschema` and `lxml`, run by Python.
//!
//! They are looked for where `cargo xtask test` puts them, in the Python that is installed, and in the `full` profile.
//! Without them the tests that need them say so and pass.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const PROGRAM: &str = include_str!("validate.py");

/// Asserts that a JSON text keeps to a JSON Schema.
#[track_caller]
pub(crate) fn assert_json(schema: &str, text: &str) {
    assert_valid("json", "jsonschema", schema, text);
}

/// Asserts that an XML text keeps to an XML Schema.
#[track_caller]
pub(crate) fn assert_xml(schema: &str, text: &str) {
    assert_valid("xml", "lxml", schema, text);
}

/// Whether a JSON text keeps to a JSON Schema; nothing where there is no judge.
pub(crate) fn is_json_valid(schema: &str, text: &str) -> Option<bool> {
    judge("json", "jsonschema", schema, text).map(|complaints| complaints.is_none())
}

#[track_caller]
fn assert_valid(kind: &str, module: &str, schema: &str, text: &str) {
    if let Some(Some(complaints)) = judge(kind, module, schema, text) {
        panic!("{complaints}\n{text}");
    }
}

/// What the judge complains about; nothing at all where there is none.
#[expect(clippy::option_option, reason = "no judge and no complaint are two things")]
fn judge(kind: &str, module: &str, schema: &str, text: &str) -> Option<Option<String>> {
    let Some(packages) = packages(module) else {
        say(&format!(
            "skipped: the Python package `{module}` is not installed; `cargo xtask test` installs it"
        ));
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let (schema_path, text_path) = (folder.path().join("schema"), folder.path().join("text"));
    fs_err::write(&schema_path, schema).unwrap();
    fs_err::write(&text_path, text).unwrap();
    let output = python(&packages, &["-c", PROGRAM, kind])
        .args([&schema_path, &text_path])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told =
        [output.stdout, output.stderr].map(|told| String::from_utf8_lossy(&told).into_owned()).concat();
    Some((!output.status.success()).then_some(told))
}

/// The folder that Python finds a package in; an empty path if it needs to be told none. It is looked for once.
fn packages(module: &str) -> Option<PathBuf> {
    static JSON: OnceLock<Option<PathBuf>> = OnceLock::new();
    static XML: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = if module == "lxml" { &XML } else { &JSON };
    found.get_or_init(|| look_for(module)).clone()
}

fn look_for(module: &str) -> Option<PathBuf> {
    let mut places = vec![PathBuf::new()];
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().map(|target| target.join("validators"));
    places.extend(target);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let profiles = home.join(".local/share/ordain/python").read_dir().into_iter().flatten().flatten();
    places.extend(
        profiles
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("full-"))
            .map(|entry| entry.path().join("site")),
    );
    places.into_iter().find(|place| {
        let statement = format!("import {module}");
        python(place, &["-c", &statement]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    })
}

fn python(packages: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(args);
    if packages != Path::new("") {
        command.env("PYTHONPATH", packages);
    }
    command
}

pub(crate) fn say(text: &str) {
    // Nothing is left to tell if stderr is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}
