//! `ordain verify`: judges code without running it.

mod annotate;

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use ordain_cell::profile::Profile;
use ordain_files::open_store;
use ordain_verify::{
    Contract, FULL_IMPORTS, Modification, Policy, PythonVersion, Schema, Verdict, fixed, helpers_of, verify,
    verify_bytes,
};
use ordain_workspace::Workspace;

use crate::commands::python::read_profile;
use crate::failure::{FAILED, Failure, Outcome};
use crate::runtime;
use annotate::Style;

/// Judge Python code without running it.
///
/// Prints each finding under its line, with a hint. Exit code 0: accepted, 1: rejected, 2: the file or the
/// workspace cannot be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ordain verify program.py                           judge a general program
  ordain verify plan.py --contract ask --workspace . judge a plan against the tables of a workspace
  ordain verify plan.py --contract ask --fix         put right what is certain, in place
  cat plan.py | ordain verify - --json               the verdict as JSON")]
pub(crate) struct Args {
    /// The code; `-` reads it from stdin
    #[arg(value_name = "FILE.py|-")]
    file: PathBuf,
    /// Which promises the code has to keep
    #[arg(long, value_enum, default_value = "exec")]
    contract: ContractName,
    /// The workspace whose tables, helpers and statuses the code sees; its store is opened, and made if it is new
    #[arg(long, short = 'w', value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The Python profile whose packages may be imported
    #[arg(long, value_parser = read_profile)]
    profile: Option<Profile>,
    /// The Python that would run it, such as 3.11
    #[arg(long, value_name = "VERSION")]
    python: Option<PythonVersion>,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
    /// Make the changes that are certain: in the file, or, for `-`, on stdout
    #[arg(long)]
    fix: bool,
}

/// The contracts, as the command line names them.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ContractName {
    /// A plan that answers a request over tables
    Ask,
    /// The code of a check
    Check,
    /// A plan that works on files
    Code,
    /// A general program
    Exec,
    /// Syntax and size only
    Open,
}

impl From<ContractName> for Contract {
    fn from(name: ContractName) -> Self {
        match name {
            ContractName::Ask => Self::Ask,
            ContractName::Check => Self::Check,
            ContractName::Code => Self::Code,
            ContractName::Exec => Self::Exec,
            ContractName::Open => Self::Open,
        }
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let (policy, schema) = world(args)?;
    judge(args, &policy, &schema).map_err(|error| Failure::from(error).of_usage())
}

/// What the code is judged against.
fn world(args: &Args) -> Result<(Policy, Schema), Failure> {
    let mut policy = Policy::for_contract(args.contract.into());
    let mut schema = Schema::default();
    if let Some(folder) = &args.workspace {
        let workspace = Workspace::load(folder)?;
        policy.statuses.extend(workspace.statuses.keys().cloned());
        // A file that is not Python fails where it is run; without it its functions are unknown names.
        policy.helpers = helpers_of(&workspace.helpers).unwrap_or_default();
        policy = policy.with_packages(FULL_IMPORTS.iter().copied());
        schema = runtime::on_one_thread(Box::pin(open_store(&workspace)))??.schema();
    }
    if let Some(profile) = args.profile {
        policy = policy.with_packages(profile.imports().iter().copied());
    }
    if let Some(python) = args.python {
        policy.python = python;
    }
    Ok((policy, schema))
}

fn judge(args: &Args, policy: &Policy, schema: &Schema) -> anyhow::Result<ExitCode> {
    let mut code = read_code(&args.file, policy.limits.bytes_max)?;
    let mut verdict = verify_bytes(&code, policy, schema);
    let mut modifications = Vec::new();
    if args.fix {
        if let Ok(text) = String::from_utf8(code.clone()) {
            let done = fixed(text, |code| verify(code, policy, schema));
            (code, verdict, modifications) = (done.code.into_bytes(), done.verdict, done.modifications);
        }
        write_fixed(args, &code, &modifications)?;
    }
    if args.json {
        print_json(args, &code, &verdict, &modifications)?;
    } else if !(args.fix && is_stdin(&args.file)) {
        print_human(&args.file, &code, &verdict)?;
    }
    Ok(if verdict.is_accepted() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Reads the code, but never more than can be judged: the verdict on what is longer is the same.
fn read_code(file: &Path, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut code = Vec::new();
    if is_stdin(file) {
        io::stdin().lock().take(limit).read_to_end(&mut code).context("failed to read stdin")?;
        return Ok(code);
    }
    let opened = fs_err::File::open(file)?;
    if opened.metadata()?.is_dir() {
        bail!("`{}` is a folder; give a Python file", file.display());
    }
    opened.take(limit).read_to_end(&mut code)?;
    Ok(code)
}

fn write_fixed(args: &Args, code: &[u8], modifications: &[Modification]) -> anyhow::Result<()> {
    if is_stdin(&args.file) {
        if !args.json {
            io::stdout().lock().write_all(code).context("failed to write to stdout")?;
        }
    } else if !modifications.is_empty() {
        fs_err::write(&args.file, code)?;
    }
    let mut log = io::stderr().lock();
    for modification in modifications {
        writeln!(log, "fixed: line {}: {} [{}]", modification.line, modification.title, modification.code)?;
    }
    Ok(())
}

fn print_json(
    args: &Args,
    code: &[u8],
    verdict: &Verdict,
    modifications: &[Modification],
) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(verdict)?;
    value["file"] = args.file.display().to_string().into();
    if args.fix {
        value["modifications"] = serde_json::to_value(modifications)?;
        value["code"] = String::from_utf8_lossy(code).into();
    }
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &value)?;
    writeln!(out)?;
    Ok(())
}

fn print_human(file: &Path, code: &[u8], verdict: &Verdict) -> anyhow::Result<()> {
    let has_colour =
        io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let style = if has_colour { Style::Colour } else { Style::Plain };
    let name = if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() };
    let text = annotate::report(&name, &String::from_utf8_lossy(code), verdict, style);
    io::stdout().lock().write_all(text.as_bytes()).context("failed to write to stdout")?;
    Ok(())
}
