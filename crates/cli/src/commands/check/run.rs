//! `ordain check run` and `ordain check compile`.

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ordain_checks::exit::{self, FailOn, Gate};
use ordain_checks::file::CheckFiles;
use ordain_checks::report::{Format, PastResult, TextOptions, render, render_summary};
use ordain_checks::{
    COMPILED, CheckOptions, CheckRun, CheckTask, Checks, ChecksError, CodeFrom, RunReport, Selection,
    Written, needs_frames,
};
use ordain_engine::{EngineError, Planner, Progress as _};
use ordain_workspace::Workspace;
use serde_json::Value;

use super::bar::Bar;
use super::watch::Change;
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome, USAGE};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::workspace;

/// Columns of a line where the terminal does not say.
const WIDTH: usize = 100;
/// Columns of a line where nothing is a terminal.
const WIDTH_OF_FILES: usize = 240;
/// How often a workspace is asked for again in which another run goes on.
const BUSY_POLL: Duration = Duration::from_millis(200);

/// Which checks, and how many at once.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Chosen {
    /// Which checks: `id:…`, `tag:…`, `owner:…`, `table:…`, `severity:…`, `status:…` (of the last run), `state:changed`, separated by commas
    #[arg(long, value_name = "TERMS")]
    select: Vec<String>,
    /// How many run at once [default: the number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// A value that filters call by `$NAME`, such as `--var day=2026-11-18`; `$today` and `$yesterday` have theirs
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, Value)>,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// A variable as it is written: what reads as a number is one.
fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(format!("`{name}` is no name; it has letters, digits and underscores"));
    }
    let number = serde_json::from_str(value).ok().filter(Value::is_number);
    Ok((name.to_owned(), number.unwrap_or_else(|| Value::from(value))))
}

impl Chosen {
    /// What is selected.
    pub(super) fn selection(&self) -> Result<Selection, Failure> {
        let mut selection = Selection::default();
        for terms in &self.select {
            selection.add(terms)?;
        }
        Ok(selection)
    }
}

/// Run checks
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// From what on the run has failed: info, low, medium, high, critical, warn or never
    #[arg(long, default_value_t = FailOn::default())]
    fail_on: FailOn,
    /// How results are shown: text, json, junit, markdown, sarif, html or csv, and to which file; may be given more
    /// than once
    #[arg(long, value_name = "FORMAT[=FILE]")]
    format: Vec<Wanted>,
    /// Short for `--format json`
    #[arg(long)]
    json: bool,
    /// Do not run checks again whose rule and data are as they were; their last grade stands
    #[arg(long)]
    if_changed: bool,
    /// Compile nothing that needs a planner; exit with 4 if something does
    #[arg(long)]
    frozen: bool,
    /// Compile everything anew, whatever is kept
    #[arg(long, conflicts_with = "frozen")]
    force: bool,
    /// Do not end with 3 because checks were skipped: not understood, or their table is missing or empty
    #[arg(long)]
    allow_skipped: bool,
    /// Whether a run of another process is waited for
    #[arg(skip)]
    pub(super) waits: bool,
    /// The content of the files whose change is the reason for the run
    #[arg(skip)]
    pub(super) watched: Option<String>,
}

/// Compile checks and show how each is read, what it finds today and where its bounds lie; the code of rules in words goes to
/// checks/compiled.json, which `check run --frozen` runs
#[derive(Debug, clap::Args)]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// A format, and the file it goes to.
#[derive(Debug, Clone)]
struct Wanted {
    format: Format,
    file: Option<PathBuf>,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) if !file.is_empty() => (name, Some(PathBuf::from(file))),
            Some(_) => return Err("no file is named after `=`".to_owned()),
            None => (text, None),
        };
        let folder =
            file.as_ref().and_then(|file| file.parent()).filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(format!("there is no folder `{}`", folder.display()));
        }
        let format = name.parse::<Format>().map_err(|error| {
            let near =
                error.nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("{error}{near}")
        })?;
        Ok(Self { format, file })
    }
}

/// Carries out `ordain check run`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let to_stdout =
        args.format.iter().filter(|wanted| wanted.file.is_none()).count() + usize::from(args.json);
    if to_stdout > 1 {
        return Err(Failure::usage(
            "several formats would go to standard output",
            "give all but one a file: `--format junit=report.xml`",
        ));
    }
    let (mut options, files) = prepare(&args.chosen, workspace)?;
    (options.if_changed, options.frozen, options.force) = (args.if_changed, args.frozen, args.force);
    runtime::on_two_threads(Box::pin(async {
        let checks = ready(&args.chosen, &mut options, &files, workspace).await?;
        carry_out(args, &checks, &files, &options).await
    }))?
}

/// The run as a piece of work.
fn task(checks: &Checks, files: &CheckFiles, options: &CheckOptions, chosen: &Chosen) -> CheckTask {
    let note = workspace::note();
    let mut task = checks.task(files.clone(), &note.who, &note.through);
    if !chosen.select.is_empty() {
        task.request = format!("run checks {}", chosen.select.join(","));
    }
    CheckTask { options: options.clone(), ..task }
}

/// Runs once, shows the results and gives the exit code.
pub(super) async fn carry_out(
    args: &Args,
    checks: &Checks,
    files: &CheckFiles,
    options: &CheckOptions,
) -> Outcome {
    let mut task = task(checks, files, options, &args.chosen);
    let change = match &args.watched {
        Some(content) => {
            let Some(change) = Change::to(content, &task, checks.store()).await? else {
                let _ = writeln!(io::stderr(), "another process has run the checks for this change");
                return Ok(ExitCode::SUCCESS);
            };
            task.origin.idempotency_key = Some(change.key());
            Some(change)
        }
        None => None,
    };
    let mut bar = Bar::new(false);
    let ran = loop {
        match checks.run(task.clone(), &mut bar).await {
            Err(ChecksError::Busy | ChecksError::Engine(EngineError::Running { .. })) if args.waits => {
                bar.stage("waiting for another run to end");
                if tokio::time::timeout(BUSY_POLL, tokio::signal::ctrl_c()).await.is_ok() {
                    return Ok(ExitCode::from(exit::INTERRUPTED));
                }
            }
            ran => break ran,
        }
    };
    bar.finish();
    if let (Ok((record, _)), Some(change)) = (&ran, change) {
        change.done(&record.run_id, checks.store()).await?;
    }
    let (record, CheckRun { report, is_interrupted, .. }) = match ran {
        Ok((record, Some(ran))) => (record, ran),
        Ok((record, None)) => {
            let _ = writeln!(io::stderr(), "run {} of another process was for this change", record.run_id);
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error.into()),
    };
    let gate = Gate { fail_on: args.fail_on, allows_skipped: args.allow_skipped, is_interrupted };
    print_all(args, checks, &nearby(&report), gate)
        .map_err(|error| Failure::new(USAGE, format!("the results could not be written: {error}"), None))?;
    tell(&report, is_interrupted);
    engine::send_calls(checks.store(), &checks.workspace().tools, &record).await?;
    Ok(ExitCode::from(exit::exit_code(&report.results, gate)))
}

fn print_all(args: &Args, checks: &Checks, report: &RunReport, gate: Gate) -> io::Result<()> {
    let render = |format: Format, text: TextOptions| {
        render(report, format, text, gate)
            .unwrap_or_else(|| ordain_ui::report::checks(report, &earlier(checks, report)))
    };
    for wanted in args.format.iter().filter(|wanted| wanted.file.is_some()) {
        if let Some(file) = &wanted.file {
            let plain = TextOptions { width: WIDTH_OF_FILES, color: false };
            ordain_checks::write_file(file, render(wanted.format, plain).as_bytes())?;
        }
    }
    let shown = args.format.iter().find(|wanted| wanted.file.is_none()).map(|wanted| wanted.format);
    let format = if args.json { Format::Json } else { shown.unwrap_or(Format::Text) };
    if format != Format::Text || shown.is_none() && !args.format.is_empty() {
        // Nobody reads a table here; a log still says what failed.
        let _ = io::stderr().lock().write_all(render_summary(report).as_bytes());
    }
    if args.format.iter().all(|wanted| wanted.file.is_some()) && !args.format.is_empty() && !args.json {
        return Ok(());
    }
    let text = render(format, text_options());
    match io::stdout().lock().write_all(text.as_bytes()) {
        // The reader of our output has gone, which is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// What checks gave in earlier runs, the oldest first.
fn earlier(checks: &Checks, report: &RunReport) -> Vec<PastResult> {
    let history = checks.history().unwrap_or_default();
    let past = history.values().flatten().map(|past| &past.result);
    past.filter(|past| past.run_id != report.run_id).cloned().collect()
}

fn text_options() -> TextOptions {
    let color =
        io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // A file or a pipe has no edge at which a sentence would have to end.
    let width = if io::stdout().is_terminal() { WIDTH } else { WIDTH_OF_FILES };
    let width = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(width);
    TextOptions { width, color }
}

/// The report with files named from the current folder where they are below it.
fn nearby(report: &RunReport) -> RunReport {
    let mut report = report.clone();
    let Ok(here) = std::env::current_dir() else { return report };
    for artifact in report.results.iter_mut().flat_map(|result| &mut result.artifacts) {
        if let Ok(below) = std::path::Path::new(artifact.as_str()).strip_prefix(&here) {
            *artifact = below.display().to_string();
        }
    }
    report
}

/// What was compiled anew and why, on stderr.
fn tell(report: &RunReport, is_interrupted: bool) {
    let mut stderr = io::stderr().lock();
    for result in &report.results {
        if let Some(why) = &result.recompiled {
            let _ = writeln!(stderr, "{}: recompiled because {}", result.check_id, crate::show::line(why));
        }
    }
    if is_interrupted {
        let _ = writeln!(stderr, "interrupted: what was finished is kept as run {}", report.run_id);
    }
}

/// Carries out `ordain check compile`.
pub(super) fn compile(args: &CompileArgs, workspace: &Arc<Workspace>) -> Outcome {
    let (mut options, files) = prepare(&args.chosen, workspace)?;
    options.is_trial = true;
    runtime::on_two_threads(Box::pin(async {
        let checks = ready(&args.chosen, &mut options, &files, workspace).await?;
        let mut bar = Bar::new(args.json);
        let ran = checks.run(task(&checks, &files, &options, &args.chosen), &mut bar).await;
        bar.finish();
        let report = match ran {
            Ok((_, Some(ran))) => ran.report,
            Ok((_, None)) => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(error.into()),
        };
        print_compiled(&report, args.json)?;
        if let Some(written) = checks.write_compiled(&files, &report).await? {
            tell_written(&written, workspace)?;
        }
        let is_broken = report.results.iter().any(ordain_checks::CheckResult::is_open);
        Ok(ExitCode::from(if is_broken { exit::ERROR } else { exit::OK }))
    }))?
}

/// What is committed, and what a run elsewhere needs besides.
fn tell_written(written: &Written, workspace: &Workspace) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "{COMPILED} has the code of {} rules in words", written.checks)?;
    if written.by_models > 0 && workspace.checks_key.as_ref() != Some(&written.key) {
        writeln!(
            stderr,
            "hint: a model wrote {} of them; `check run --frozen` runs that code with this in ordain.toml:\n[checks]\nkey = \"{}\"",
            written.by_models, written.key
        )?;
    }
    Ok(())
}

fn print_compiled(report: &RunReport, as_json: bool) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if as_json {
        return stdout.write_all(ordain_checks::report::render_json(report).as_bytes());
    }
    for result in &report.results {
        let what = match (&result.code_from, &result.recompiled) {
            (Some(CodeFrom::Cache), _) => "kept".to_owned(),
            (Some(_), Some(why)) => format!("recompiled because {}", crate::show::line(why)),
            (Some(_), None) => "compiled".to_owned(),
            (None, _) => "not compiled".to_owned(),
        };
        writeln!(stdout, "{}  {what}", crate::show::line(&result.check_id))?;
        super::rule::write_reading(&mut stdout, result)?;
    }
    Ok(())
}

/// Reads the selection and the files, and sees that pandas is there.
pub(super) fn prepare(chosen: &Chosen, workspace: &Workspace) -> Result<(CheckOptions, CheckFiles), Failure> {
    let selection = chosen.selection()?;
    let files = super::files(workspace)?;
    if files.entries.is_empty() {
        let _ = writeln!(
            io::stderr(),
            "note: there are no checks yet; `ordain check suggest TABLE` proposes some"
        );
    }
    if !chosen.select.is_empty() && !files.entries.iter().any(|entry| entry.check.is_in(&selection)) {
        let problem = format!("no check fits `{}`", chosen.select.join(","));
        return Err(Failure::usage(&problem, "see `ordain check list` for ids, tags and owners"));
    }
    let chosen_ones = files.entries.iter().map(|entry| &entry.check).filter(|check| check.is_in(&selection));
    if !chosen.executor.is_remote() && chosen_ones.into_iter().any(needs_frames) {
        super::ensure_python(workspace)?;
    }
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let jobs = chosen.jobs.map_or(processors, usize::from);
    let variables = chosen.variables.iter().cloned().collect();
    Ok((CheckOptions { selection, jobs, variables, ..CheckOptions::default() }, files))
}

/// Opens the checks and chooses who writes code for hints, if there are any.
pub(super) async fn ready(
    chosen: &Chosen,
    options: &mut CheckOptions,
    files: &CheckFiles,
    workspace: &Arc<Workspace>,
) -> Result<Checks, Failure> {
    let has_hints = files.entries.iter().any(|entry| entry.check.is_words());
    options.planner =
        if has_hints && !options.frozen { chosen.planner.choose(workspace).await? } else { Planner::Rules };
    super::open(Arc::clone(workspace), &chosen.executor).await
}
