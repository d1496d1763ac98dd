//! `ordain schedule`: what runs by the clock, when it is due next, and running it by hand.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ordain_cell::profile::Profile;
use ordain_checks::exit::{self, Gate};
use ordain_checks::{ChecksError, Due, Schedules};
use ordain_files::{open_store, profile_for_files};
use ordain_store::{ScheduleMark, Store};
use ordain_types::RunRecord;
use ordain_workspace::{Scheduled, ScheduledTask, Workspace};
use serde_json::json;

use crate::commands::{ask, check};
use crate::engine;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, INTERRUPTED, Outcome};
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::line;
use crate::show::progress::Shown;
use crate::switched_off;
use crate::workspace::{Group, RecordArgs};

/// Due times that are listed for each schedule.
const NEXT_LISTED: usize = 3;
/// How often checks are tried again while another run of checks goes on.
const BUSY_POLL: Duration = Duration::from_millis(200);

const EXAMPLES: &str = "\
Examples:
  ordain schedule list                   what runs by the clock, and the next times
  ordain schedule run \"low stock\"        carry one out now, whatever the time is
  ordain schedule run --due              carry out what is due, and end: for cron, systemd or a CronJob

`ordain serve` carries out what is due by itself. Schedules are `[[schedules]]` in ordain.toml, and the `schedule` of
checks. A due time is carried out once, by whichever process comes first. Times that were missed are carried out later,
once for all of them, unless `catch_up = false`. Exit code: 0 nothing was due or all went well, else that of the first run
that did not.";

pub(crate) type Args = Group<RecordArgs, Command>;

/// List what runs by the clock, or run it
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Every schedule with its next times and its last run
    List,
    /// Carry out one schedule now, or all that are due
    Run(RunArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The schedule's name
    #[arg(required_unless_present = "due")]
    name: Option<String>,
    /// Carry out what is due instead
    #[arg(long, conflicts_with = "name")]
    due: bool,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain schedule …`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = Arc::new(args.shared.workspace.load()?);
    runtime::on_two_threads(Box::pin(async {
        match &args.command {
            Command::List => list(args, workspace).await,
            Command::Run(run) => tokio::select! {
                ran = carry_out(args, run, &workspace) => ran,
                _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(INTERRUPTED)),
            },
        }
    }))?
}

async fn list(args: &Args, workspace: Arc<Workspace>) -> Outcome {
    let listed = Schedules::of(&workspace)?;
    let marks = open_store(&workspace).await?.schedule_marks().await?;
    show(args, &listed, &marks)?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &Args, listed: &[Scheduled], marks: &BTreeMap<String, ScheduleMark>) -> io::Result<()> {
    let now = unix_seconds();
    let last_run = |name: &str| marks.get(name).and_then(|mark| mark.run_id.as_ref());
    let mut out = io::stdout().lock();
    if args.shared.json {
        let listed: Vec<_> = listed
            .iter()
            .map(|scheduled| {
                json!({ "name": scheduled.name, "schedule": scheduled.written, "kind": scheduled.task.kind(),
                    "request": scheduled.task.request(), "catch_up": scheduled.catch_up,
                    "next": next(scheduled, now), "last_run": last_run(&scheduled.name) })
            })
            .collect();
        return writeln!(out, "{:#}", json!(listed));
    }
    if listed.is_empty() {
        return writeln!(
            io::stderr(),
            "nothing runs by the clock: see `[[schedules]]` and the `schedule` of checks"
        );
    }
    let mut grid = Grid::new(["name", "schedule", "what", "next", "last run"]);
    for scheduled in listed {
        let next = next(scheduled, now).into_iter().next().unwrap_or_else(|| "never".to_owned());
        let what = format!("{}: {}", scheduled.task.kind().as_str(), scheduled.task.request());
        let run = last_run(&scheduled.name).map(ToString::to_string).unwrap_or_default();
        let next = match marks.get(&scheduled.name).filter(|mark| mark.at > now) {
            Some(_) => format!("{next} (its last time has not come yet; it counts as now)"),
            None => next,
        };
        grid.row([line(&scheduled.name), line(&scheduled.written), line(&what), next, run]);
    }
    grid.write(&mut out, "")
}

fn next(scheduled: &Scheduled, now: i64) -> Vec<String> {
    let after = |at: &i64| scheduled.schedule.next_after(*at);
    let times = std::iter::successors(scheduled.schedule.next_after(now), after);
    times.take(NEXT_LISTED).map(|at| scheduled.schedule.local(at)).collect()
}

/// Carries out what is named or due.
async fn carry_out(args: &Args, run: &RunArgs, workspace: &Arc<Workspace>) -> Outcome {
    let planner = run.planner.choose(workspace).await?;
    let can_repair = planner.can_repair();
    let checks = check::open(Arc::clone(workspace), &run.executor).await?;
    let store = checks.store().clone();
    let by_hand =
        ByHand { args, run, workspace, store, can_repair, schedules: Schedules::new(checks, planner) };
    let Some(name) = &run.name else { return by_hand.due().await };
    let listed = Schedules::of(workspace)?;
    let Some(found) = listed.iter().find(|scheduled| scheduled.name == *name) else {
        let near = ordain_types::nearest(name, listed.iter().map(|scheduled| scheduled.name.as_str()));
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| "`ordain schedule list` shows them".to_owned());
        return Err(Failure::usage(format!("there is no schedule `{name}`"), &hint));
    };
    by_hand.one(&found.task, None).await.map(|(_, code)| code)
}

/// Schedules that a person, or an outside scheduler, has carried out.
struct ByHand<'a> {
    args: &'a Args,
    run: &'a RunArgs,
    workspace: &'a Workspace,
    store: Store,
    can_repair: bool,
    schedules: Schedules,
}

impl ByHand<'_> {
    /// Carries out what is due, one after the other. What could not be carried out stays due.
    async fn due(&self) -> Outcome {
        let due = self.schedules.due(unix_seconds()).await?;
        if due.is_empty() {
            let _ = writeln!(io::stderr(), "nothing is due");
        }
        let mut first = ExitCode::SUCCESS;
        for due in due {
            let (record, code) = self.one(&due.scheduled.task, Some(&due)).await?;
            self.schedules.done(&due, Some(&record.run_id)).await?;
            if first == ExitCode::SUCCESS {
                first = code;
            }
        }
        Ok(first)
    }

    /// Carries out one task and prints what came of it.
    async fn one(&self, task: &ScheduledTask, due: Option<&Due>) -> Result<(RunRecord, ExitCode), Failure> {
        self.ensure(task)?;
        let mut shown = Shown::new(self.can_repair, false);
        let ran = loop {
            let idempotency_key = due.map(Due::idempotency_key);
            match self.schedules.run(task.clone(), (idempotency_key, None), &mut shown).await {
                Err(ChecksError::Busy) => tokio::time::sleep(BUSY_POLL).await,
                ran => break ran,
            }
        };
        shown.finish();
        let (record, checked) = ran?;
        engine::send_calls(&self.store, &self.workspace.tools, &record).await?;
        // A reader of our output that has gone changes nothing about the run.
        let _ = ask::print(&record, self.args.shared.json, false);
        let code = checked.map_or_else(
            || engine::exit_code(&record),
            |checked| {
                let results = &checked.report.results;
                ExitCode::from(exit::exit_code(results, Gate::default()))
            },
        );
        Ok((record, code))
    }

    /// Sees that the task may run, and that Python is set up for it.
    fn ensure(&self, task: &ScheduledTask) -> Result<(), Failure> {
        let profile = match task {
            ScheduledTask::Code { .. } if !switched_off::is_code_enabled() => {
                return Err(switched_off::refused());
            }
            ScheduledTask::Ask(_) => Profile::Core,
            ScheduledTask::Checks { .. } => Profile::Data,
            ScheduledTask::Code { files, .. } => {
                let names = files.iter().map(|file| file.to_string_lossy());
                profile_for_files(names.collect::<Vec<_>>().iter().map(AsRef::as_ref))
            }
        };
        self.run.executor.ensure_python(profile, self.workspace)
    }
}

fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
