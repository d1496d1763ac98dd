//! `cargo xtask mutants`: shows that the tests of what is promised about data notice when it is broken.
//!
//! Each patch of `crates/testkit/mutants` breaks one promise, in a copy of the tree. Of the promises' tests exactly that
//! promise's own must fail then, by what it asserts itself. A patch that does not apply any more is a failure too.

use std::{
    env, fs,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::step::{root, say};

const FOLDER: &str = "crates/testkit/mutants";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask mutants\n  cargo xtask mutants counts undo\n  cargo xtask mutants --check"
)]
pub(crate) struct Args {
    /// Only these, by the names of their files without `.patch`
    names: Vec<String>,
    /// Look only whether every patch applies
    #[arg(long)]
    check: bool,
}

/// A promise and what breaks it.
struct Mutant {
    name: String,
    patch: PathBuf,
    promise: String,
    package: String,
    /// The beginning of the names of its tests.
    test: String,
    /// The files that it changes.
    files: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mutants = all()?;
    let chosen: Vec<&Mutant> =
        mutants.iter().filter(|mutant| args.names.is_empty() || args.names.contains(&mutant.name)).collect();
    if let Some(name) = args.names.iter().find(|name| mutants.iter().all(|mutant| mutant.name != **name)) {
        let names: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        bail!("there is no mutant `{name}`; there are {}", names.join(", "));
    }
    let tree = root().join("target/mutants/tree");
    copy(&tree)?;
    let mut failed = 0;
    for mutant in chosen {
        let told = judged(mutant, &mutants, &tree, args.check);
        restore(mutant, &tree)?;
        match told {
            Ok(told) => say(&format!("{}: {told}", mutant.name)),
            Err(error) => {
                failed += 1;
                say(&format!("{}: {error:#}", mutant.name));
            }
        }
    }
    ensure!(failed == 0, "{failed} mutants are not as they must be");
    Ok(())
}

fn judged(mutant: &Mutant, mutants: &[Mutant], tree: &Path, check: bool) -> Result<String> {
    apply(mutant, tree)?;
    if check {
        return Ok("applies".to_owned());
    }
    let mut tests = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tests.current_dir(tree).env("CARGO_TARGET_DIR", root().join("target"));
    tests.args(["test", "--package", &mutant.package, "--lib", "--test", "it", "--no-fail-fast", "--"]);
    tests.args(mutants.iter().filter(|other| other.package == mutant.package).map(|other| &other.test));
    let done = tests.output().context("cargo")?;
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines = || output.lines().filter_map(|line| line.strip_prefix("test "));
    let ended = |how: &str| lines().filter_map(|line| line.strip_suffix(how)).collect::<Vec<&str>>();
    let (passed, failed) = (ended(" ... ok"), ended(" ... FAILED"));
    if passed.is_empty() && failed.is_empty() {
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        bail!(
            "it does not compile:\n{}",
            errors.lines().filter(|line| line.contains("error")).collect::<Vec<_>>().join("\n")
        );
    }
    ensure!(
        failed.iter().any(|test| test.starts_with(&mutant.test)),
        "`{}` does not notice that this is broken: {}",
        mutant.test,
        mutant.promise
    );
    if let Some(other) = failed.iter().find(|test| !test.starts_with(&mutant.test)) {
        bail!("`{other}` fails too, which is about something else");
    }
    let own = format!("/{}.rs:", mutant.test.split("::").next().unwrap_or_default());
    let is_own = output.lines().any(|line| line.contains(" panicked at ") && line.contains(&own));
    ensure!(is_own, "`{}` fails, and not by what it asserts itself", mutant.test);
    Ok(format!("noticed by {} of {} tests", failed.len(), failed.len() + passed.len()))
}

/// The patches, in the order of their names.
fn all() -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for entry in fs::read_dir(root().join(FOLDER)).context(FOLDER)? {
        let patch = entry?.path();
        let text = fs::read_to_string(&patch)?;
        let field = |name: &str| -> Result<String> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            Ok(line.with_context(|| format!("{} has no line `{name}: `", patch.display()))?.to_owned())
        };
        mutants.push(Mutant {
            name: patch.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            promise: field("Promise")?,
            package: field("Package")?,
            test: field("Test")?,
            files: text.lines().filter_map(|line| line.strip_prefix("+++ b/")).map(str::to_owned).collect(),
            patch,
        });
    }
    mutants.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(mutants)
}

/// Brings the copy up to date. A file that is the same keeps its time, so that it is not compiled again.
fn copy(tree: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = git.output().context("git")?;
    ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    for name in String::from_utf8(listed.stdout)?.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root().join(name), tree.join(name));
        if from.is_file() && !is_same(&from, &to)? {
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::copy(&from, &to).with_context(|| name.to_owned())?;
        }
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> Result<bool> {
    let mut there = Vec::new();
    match fs::File::open(other) {
        Ok(mut file) => file.read_to_end(&mut there)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    Ok(fs::read(one)? == there)
}

fn apply(mutant: &Mutant, tree: &Path) -> Result<()> {
    let mut git = Command::new("git");
    // The copy lies in a repository, and is none.
    git.current_dir(tree).env("GIT_CEILING_DIRECTORIES", tree.parent().unwrap_or(tree));
    let applied = git.arg("apply").arg(&mutant.patch).output().context("git")?;
    let why = String::from_utf8_lossy(&applied.stderr);
    ensure!(applied.status.success(), "the patch does not apply any more: {}", why.trim());
    let is_changed =
        mutant.files.iter().any(|file| !is_same(&root().join(file), &tree.join(file)).unwrap_or(true));
    ensure!(is_changed, "the patch changes nothing");
    Ok(())
}

fn restore(mutant: &Mutant, tree: &Path) -> Result<()> {
    for file in &mutant.files {
        fs::copy(root().join(file), tree.join(file)).with_context(|| file.clone())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_ten_promises_and_every_patch_applies() {
        let mutants = all().unwrap();
        assert_eq!(mutants.len(), 10);
        for mutant in &mutants {
            let mut git = Command::new("git");
            let applies =
                git.current_dir(root()).args(["apply", "--check"]).arg(&mutant.patch).output().unwrap();
            assert!(
                applies.status.success(),
                "{}: {}",
                mutant.name,
                String::from_utf8_lossy(&applies.stderr)
            );
        }
    }
}
