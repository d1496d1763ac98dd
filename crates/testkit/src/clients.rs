//! Real client libraries, set up once under the target folder.
//!
//! Where no registry is reached the tests that need them say so and pass, unless `ORDAIN_CLIENTS=required`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

static SETTING_UP: Mutex<()> = Mutex::new(());

/// A Python in `folder` with the libraries of a requirements file, which `imports` shows to be there.
pub fn python(folder: &Path, imports: &str, requirements: &str) -> Option<PathBuf> {
    let _one = SETTING_UP.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let python = folder.join("bin/python");
    let is_there = || {
        let seen = Command::new(&python).args(["-c", imports]).output();
        seen.is_ok_and(|ran| ran.status.success())
    };
    if !is_there() {
        let _ = Command::new("python3").args(["-m", "venv"]).arg(folder).output();
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        let _ = install.args(["--only-binary", ":all:", "-r", requirements]).output();
    }
    is_there().then_some(python).or_else(|| left_out("pip"))
}

/// The folder of the programs of a `package.json`, installed in `folder`.
pub fn node(folder: &Path, package: &str) -> Option<PathBuf> {
    let _one = SETTING_UP.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let programs = folder.join("node_modules/.bin");
    let (wanted, kept) = (std::fs::read(package).ok()?, folder.join("package.json"));
    let is_there = || programs.is_dir() && std::fs::read(&kept).is_ok_and(|kept| kept == wanted);
    if !is_there() {
        let _ = std::fs::create_dir_all(folder);
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save"]).current_dir(folder);
        let _ = std::fs::write(&kept, &wanted);
        if !install.output().is_ok_and(|ran| ran.status.success()) {
            let _ = std::fs::remove_file(&kept);
        }
    }
    is_there().then_some(programs).or_else(|| left_out("npm"))
}

fn left_out(installer: &str) -> Option<PathBuf> {
    let is_required = std::env::var("ORDAIN_CLIENTS").is_ok_and(|value| value == "required");
    assert!(!is_required, "the client libraries could not be set up");
    let word = "skipped: the client libraries cannot be installed here, since no registry is reached by";
    let _ = writeln!(std::io::stderr(), "{word} {installer}");
    None
}
