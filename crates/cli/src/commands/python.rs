//! `ordain config python`: the Python environment for cells.

mod bar;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Subcommand;
use ordain_cell::profile::{self, DataDir, Installed, Profile, ProfileError, State, Status};
use ordain_types::format_bytes;
use ordain_workspace::Workspace;
use serde_json::json;

use bar::Bar;

use crate::failure::{Failure, Outcome};
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain config python setup               set up `core`: seconds
  ordain config python setup data          tables, spreadsheets and charts
  ordain config python setup full --force  build it again, whatever is there
  ordain config python list --json         what is installed, for a program
  ordain config python verify              whether every file still is what was set up
  ordain config python lock                lock the packages that `[python]` of the workspace asks for

Variables:
  ORDAIN_PYTHON    the Python to use, 3.11 to 3.14 (default: python3 on PATH)
  ORDAIN_DATA_DIR  where profiles are kept (default: ~/.local/share/ordain)";

/// The Python environment for cells
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Download and prepare a profile, unless it is there and sound
    #[command(after_help = EXAMPLES)]
    Setup {
        /// core (tinydb), data (core, pandas, numpy, pyarrow, matplotlib, …) or full (data, scipy, scikit-learn, …)
        #[arg(default_value = "core", value_parser = read_profile)]
        profile: Profile,
        /// Build it anew even if it is there
        #[arg(long)]
        force: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read every file of a profile and compare it with what was set up
    #[command(after_help = EXAMPLES)]
    Verify {
        /// core, data or full; all that are set up if none is named
        #[arg(value_parser = read_profile)]
        profile: Option<Profile>,
    },
    /// Find versions of the workspace's own packages (`[python] packages`) and write them with their hashes into ordain.lock
    #[command(after_help = EXAMPLES)]
    Lock,
    /// Show the profiles: state, Python version, packages, size, location
    #[command(after_help = EXAMPLES)]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Carries out `ordain config python …`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = &args.workspace;
    let done = match args.action {
        Action::Setup { profile, force, json } => {
            let installed = profile::set_up(profile, &data_dir(workspace)?, force, &mut Bar::new(profile))?;
            write_installed(&mut io::stdout().lock(), &installed, json)
        }
        Action::Verify { profile } => {
            let sound = verify(profile, &data_dir(workspace)?)?;
            write_sound(&mut io::stdout().lock(), &sound)
        }
        Action::Lock => lock(&workspace.load()?)?,
        Action::List { json } => {
            let statuses = profile::list(&data_dir(workspace)?)?;
            write_statuses(&mut io::stdout().lock(), &statuses, json)
                .and_then(|()| warn_of_damage(&mut io::stderr().lock(), &statuses))
        }
    };
    match done {
        // The reader closed the pipe: it has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        done => Ok(done.map(|()| ExitCode::SUCCESS)?),
    }
}

/// Where the profiles are, with the packages of the workspace that the command is about, if it is about one.
pub(crate) fn data_dir(workspace: &WorkspaceArgs) -> Result<DataDir, Failure> {
    if !workspace.is_there() {
        return Ok(DataDir::from_env()?);
    }
    Ok(workspace.load()?.own_packages.data_dir()?)
}

/// Carries out `ordain config python lock`.
fn lock(workspace: &Workspace) -> Result<io::Result<()>, Failure> {
    let own = &workspace.own_packages;
    if own.asked().is_empty() {
        let problem = "`[python]` of `ordain.toml` asks for no packages";
        return Err(Failure::usage(problem, "write `packages = [\"networkx\"]` under `[python]`"));
    }
    let locked = own.lock(&DataDir::from_env()?, &mut Bar::new(Profile::Core))?;
    Ok(writeln!(
        io::stdout(),
        "{} in {}; plans can import: {}",
        count(locked.packages()),
        locked.path().display(),
        locked.modules().join(", ")
    ))
}

/// The profiles whose files are those that were set up; the first that is not is the error.
fn verify(profile: Option<Profile>, data_dir: &DataDir) -> Result<Vec<Installed>, ProfileError> {
    let mut sound = Vec::new();
    for wanted in Profile::ALL.into_iter().filter(|any| profile.is_none_or(|profile| profile == *any)) {
        match profile::find(wanted, data_dir)? {
            Some(installed) => {
                installed.verify()?;
                sound.push(installed);
            }
            None if profile.is_some() => return Err(ProfileError::NotSetUp { profile: wanted }),
            None => {}
        }
    }
    Ok(sound)
}

fn write_sound(stdout: &mut impl Write, sound: &[Installed]) -> io::Result<()> {
    for installed in sound {
        writeln!(
            stdout,
            "profile {} is as it was set up: {}, {}",
            installed.profile,
            count(installed.packages.len()),
            installed.site.display()
        )?;
    }
    if sound.is_empty() { writeln!(stdout, "no profile is set up") } else { Ok(()) }
}

/// The installed profile; set up first, with a bar, if it is missing or damaged.
pub(crate) fn ensure(profile: Profile) -> Result<Installed, ProfileError> {
    ensure_at(&DataDir::from_env()?, profile)
}

/// The same with the packages of a workspace.
pub(crate) fn ensure_for(workspace: &Workspace, profile: Profile) -> Result<Installed, ProfileError> {
    ensure_at(&workspace.own_packages.data_dir()?, profile)
}

/// The same in a data folder.
pub(crate) fn ensure_at(data_dir: &DataDir, profile: Profile) -> Result<Installed, ProfileError> {
    profile::ensure(profile, data_dir, &mut Bar::new(profile))
}

pub(crate) fn read_profile(text: &str) -> Result<Profile, String> {
    text.parse().map_err(|error: ProfileError| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

fn write_installed(stdout: &mut impl Write, installed: &Installed, json: bool) -> io::Result<()> {
    if json {
        return write_json(stdout, &installed_json(installed));
    }
    writeln!(
        stdout,
        "profile {} is ready: Python {}, {}, {}, {}",
        installed.profile,
        installed.interpreter.version_text(),
        count(installed.packages.len()),
        format_bytes(installed.bytes),
        installed.site.display()
    )
}

fn write_statuses(stdout: &mut impl Write, statuses: &[Status], json: bool) -> io::Result<()> {
    if json {
        let statuses: Vec<_> = statuses.iter().map(status_json).collect();
        return write_json(stdout, &json!({ "profiles": statuses }));
    }
    writeln!(
        stdout,
        "{:<9}{:<9}{:<9}{:>8}{:>10}  LOCATION",
        "PROFILE", "STATE", "PYTHON", "PACKAGES", "SIZE"
    )?;
    for status in statuses {
        let (state, bytes) = match &status.state {
            State::Ready(installed) => ("ready", format_bytes(installed.bytes)),
            State::Missing => ("missing", "-".into()),
            State::Damaged(_) => ("damaged", "-".into()),
        };
        writeln!(
            stdout,
            "{:<9}{state:<9}{:<9}{:>8}{bytes:>10}  {}",
            status.profile,
            status.interpreter.version_text(),
            status.packages,
            status.folder.display()
        )?;
    }
    stdout.flush()
}

/// Tells of each damaged profile, and how to repair it.
fn warn_of_damage(stderr: &mut impl Write, statuses: &[Status]) -> io::Result<()> {
    for status in statuses {
        if let State::Damaged(what) = &status.state {
            let profile = status.profile;
            writeln!(stderr, "warning: profile {profile} is damaged: {what}")?;
            writeln!(stderr, "hint: run `ordain config python setup {profile} --force` to build it again")?;
        }
    }
    Ok(())
}

fn status_json(status: &Status) -> serde_json::Value {
    match &status.state {
        State::Ready(installed) => installed_json(installed),
        State::Missing => unready_json(status, "missing", None),
        State::Damaged(what) => unready_json(status, "damaged", Some(what)),
    }
}

fn installed_json(installed: &Installed) -> serde_json::Value {
    let packages: serde_json::Map<_, _> =
        installed.packages.iter().map(|(name, version)| (name.clone(), json!(version))).collect();
    json!({
        "profile": installed.profile,
        "state": "ready",
        "python": installed.interpreter.version_text(),
        "executable": installed.interpreter.executable,
        "packages": packages,
        "bytes": installed.bytes,
        "created_unix_s": installed.created_unix_s,
        "location": installed.site.parent(),
    })
}

fn unready_json(status: &Status, state: &str, problem: Option<&str>) -> serde_json::Value {
    json!({
        "profile": status.profile,
        "state": state,
        "problem": problem,
        "python": status.interpreter.version_text(),
        "executable": status.interpreter.executable,
        "location": status.folder,
    })
}

fn write_json(stdout: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *stdout, value)?;
    writeln!(stdout)
}

fn count(packages: usize) -> String {
    if packages == 1 { "1 package".into() } else { format!("{packages} packages") }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use ordain_cell::profile::Interpreter;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn interpreter() -> Interpreter {
        Interpreter {
            executable: "/usr/bin/python3.12".into(),
            launcher: "/usr/bin/python3".into(),
            base_prefix: "/usr".into(),
            stdlib: "/usr/lib/python3.12".into(),
            platstdlib: "/usr/lib/python3.12".into(),
            platlib: "/usr/lib/python3.12/site-packages".into(),
            version: (3, 12, 1),
            abi_tag: "cp312".into(),
            platform: "linux-x86_64".into(),
            libc: "glibc".into(),
            has_pip: true,
        }
    }

    fn statuses() -> [Status; 3] {
        let installed = Installed {
            profile: Profile::Core,
            site: "/data/core-cp312-0/site".into(),
            interpreter: interpreter(),
            packages: vec![("tinydb".into(), "4.9.0".into())],
            bytes: 2048,
            created_unix_s: 7,
            files_sha256: String::new(),
        };
        let states =
            [State::Ready(Box::new(installed)), State::Damaged("`numpy` is missing".into()), State::Missing];
        let mut states = states.into_iter();
        Profile::ALL.map(|profile| Status {
            profile,
            interpreter: interpreter(),
            folder: format!("/data/{profile}-cp312-0").into(),
            packages: 1,
            state: states.next().unwrap(),
        })
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut written = Vec::new();
        write(&mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn the_list_shows_every_profile_in_columns() {
        assert_eq!(
            text(|out| write_statuses(out, &statuses(), false)),
            "PROFILE  STATE    PYTHON   PACKAGES      SIZE  LOCATION\n\
             core     ready    3.12.1          1      2KiB  /data/core-cp312-0\n\
             data     damaged  3.12.1          1         -  /data/data-cp312-0\n\
             full     missing  3.12.1          1         -  /data/full-cp312-0\n"
        );
        assert_eq!(
            text(|out| warn_of_damage(out, &statuses())),
            "warning: profile data is damaged: `numpy` is missing\n\
             hint: run `ordain config python setup data --force` to build it again\n"
        );
    }

    #[test]
    fn the_json_says_the_same_and_names_the_packages() {
        let list: serde_json::Value =
            serde_json::from_str(&text(|out| write_statuses(out, &statuses(), true))).unwrap();
        assert_eq!(list["profiles"][0]["packages"], json!({ "tinydb": "4.9.0" }));
        assert_eq!(list["profiles"][0]["location"], "/data/core-cp312-0");
        assert_eq!(list["profiles"][1]["problem"], "`numpy` is missing");
        let states: Vec<_> = list["profiles"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
        assert_eq!(states, ["ready", "damaged", "missing"]);
    }

    #[test]
    fn a_mistyped_profile_is_a_usage_error_that_offers_the_nearest() {
        let error = Cli::try_parse_from(["python", "setup", "ful"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("unknown profile `ful`; did you mean `full`?"), "{error}");
    }
}
