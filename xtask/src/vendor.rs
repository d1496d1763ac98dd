//! `cargo xtask vendor`: the front-end files of others are what their packages publish.
//!
//! The files are in the repository so that building needs nothing but cargo. Whether they are still byte for byte what
//! was published can be asked at any time; it needs `npm` and a network, so it is no part of `check`.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::step::{self, root, say};

/// Where the files are, with the list of their packages.
const FOLDER: &str = "crates/ui/assets/vendor";

pub(crate) fn run() -> Result<()> {
    let folder = root().join(FOLDER);
    let list = fs::read_to_string(folder.join("packages.txt"))?;
    let work = root().join("target/vendor");
    for line in list.lines() {
        let [package, path, name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            bail!("`packages.txt` has a line that is not package, path and name: {line}");
        };
        let published = published(&work, package)?.join(path);
        let published = fs::read(&published).with_context(|| format!("`{package}` has no `{path}`"))?;
        if published != fs::read(folder.join(name))? {
            bail!("`{name}` is not what `{package}` publishes as `{path}`");
        }
        say(&format!("{name}: as in {package}"));
    }
    Ok(())
}

/// The unpacked package.
pub(crate) fn published(work: &Path, package: &str) -> Result<std::path::PathBuf> {
    let folder = work.join(package.replace(['@', '/'], "-"));
    if folder.join("package/package.json").is_file() {
        return Ok(folder.join("package"));
    }
    fs::create_dir_all(&folder)?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(&folder).arg(package);
    step::run(pack).with_context(|| format!("failed to get `{package}` with npm"))?;
    let packed = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let packed = packed.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "tgz"));
    let mut unpack = Command::new("tar");
    unpack.arg("xzf").arg(packed.context("npm gave no package")?).arg("-C").arg(&folder);
    step::run(unpack)?;
    Ok(folder.join("package"))
}
