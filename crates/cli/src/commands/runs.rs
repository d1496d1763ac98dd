//! `ordain runs`: what was asked, and what came of it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_planner::cost_of;
use ordain_planner::provider::prices_as_of;
use ordain_store::{RunFilter, Store};
use ordain_types::{Grade, RunState};
use ordain_ui::run::{Details, Entry, RunCost};
use serde_json::{Value, json};

use crate::commands::answer::{self, ResumeArgs};
use crate::commands::{explain, stats};
use crate::failure::Outcome;
use crate::show::diff::Extent;
use crate::show::grid::Grid;
use crate::show::{line, run as show_run};
use crate::workspace::{Group, PageArgs, RecordArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain runs list                    the newest runs
  ordain runs list --state held       what waits for approval
  ordain runs list --state waiting    what waits for an answer or a decision on its outline
  ordain runs show 06ewdk             one run, by its id or the beginning of it
  ordain runs show 06ewdk --code      with the code that ran
  ordain runs show 06ewdk --all       with every row that it changed
  ordain runs report 06ewdk --out run.html    an HTML file to send to somebody
  ordain runs rate 06ewdk bad --note 'wrong customer'    say what you think of it
  ordain runs answer 06ewdk \"for the owner\"   answer the question of a run that waits
  ordain runs resume 06ewdk --outline o.json   carry out an outline that waits, here as it was edited
  ordain runs stats --since 7d        how plans fared, and what they cost
  ordain runs missed                  the words that requests were declined for";

pub(crate) type Args = Group<RecordArgs, Command>;

/// List runs, or show one
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// The newest runs
    List {
        /// Only runs in this state
        #[arg(long, value_name = "STATE", value_parser = state)]
        state: Option<RunState>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// One run
    Show {
        /// The run's id, or the beginning of it
        id: String,
        /// With the code that ran
        #[arg(long)]
        code: bool,
        /// Every row of its diff, and the whole of every value
        #[arg(long)]
        all: bool,
    },
    /// Say whether a run did what was wanted; the ledger keeps it, and `ordain runs stats` counts it
    Rate {
        /// The run's id, or the beginning of it
        id: String,
        /// `good` or `bad`
        #[arg(value_parser = grade)]
        rating: Grade,
        /// Why
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Answer the question of a run that waits
    Answer {
        /// The run's id, or the beginning of it
        id: String,
        /// The answer, in words
        answer: String,
        #[command(flatten)]
        resume: ResumeArgs,
    },
    /// Go on with a run that waits for a decision on its outline
    Resume {
        /// The run's id, or the beginning of it
        id: String,
        /// The outline as it was edited
        #[arg(long, value_name = "FILE.json")]
        outline: Option<PathBuf>,
        #[command(flatten)]
        resume: ResumeArgs,
    },
    Stats(stats::Args),
    /// The words that requests were declined for, and what would teach them
    Missed,
    /// One run as an HTML file to send to somebody; it needs nothing from anywhere
    Report {
        /// The run's id, or the beginning of it
        id: String,
        /// As one HTML file; there is no other form, so it need not be said
        #[arg(long)]
        html: bool,
        /// The file to write; without it the page goes to stdout
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Carries out `ordain runs`.
pub(crate) fn run(args: Args) -> Outcome {
    let workspace = args.shared.workspace.clone();
    let as_json = args.shared.json;
    match &args.command {
        Command::Answer { id, answer, resume } => {
            return answer::run(id, answer, resume, &workspace, as_json);
        }
        Command::Resume { id, outline, resume } => {
            return answer::run_resume(id, outline.as_deref(), resume, &workspace, as_json);
        }
        Command::Missed => return explain::missed(&workspace, as_json),
        _ => {}
    }
    let name = workspace.load().map(|workspace| workspace.name).unwrap_or_default();
    with_store(&workspace, |store| show(store, args, name))
}

async fn show(store: Store, args: Args, name: String) -> Outcome {
    let as_json = args.shared.json;
    let mut stdout = io::stdout().lock();
    match args.command {
        Command::List { state, page } => {
            let states = state.into_iter().collect();
            let runs = store.find_owned_runs(RunFilter { states, ..RunFilter::newest(page.limit) }).await?;
            if as_json {
                let listed: Vec<Value> = runs
                    .into_iter()
                    .map(|run| {
                        let mut listed = json!(run.record);
                        listed["who"] = json!(run.who);
                        listed["decided_by"] = json!(run.decided_by);
                        listed
                    })
                    .collect();
                writeln!(stdout, "{:#}", json!(listed))?;
                return Ok(ExitCode::SUCCESS);
            }
            let mut grid = Grid::new(["run", "who", "state", "status", "rows", "began", "request"]);
            for owned in runs {
                let run = owned.record;
                grid.row([
                    run.run_id.to_string(),
                    line(owned.who.as_deref().unwrap_or_default()),
                    run.state.to_string(),
                    line(run.status.as_deref().unwrap_or_default()),
                    run.diff.rows().to_string(),
                    line(&run.started_at),
                    line(&run.request),
                ]);
            }
            grid.write(&mut stdout, "")?;
        }
        Command::Show { id, code, all } => {
            let run = store.run(&id).await?;
            if as_json {
                writeln!(stdout, "{}", serde_json::to_string_pretty(&run.told()).map_err(io::Error::from)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            let extent = if all { Extent::All } else { Extent::Short { run: run.run_id.as_str() } };
            show_run::details(&mut stdout, &run, extent)?;
            if code {
                show_run::write_code(&mut stdout, &run)?;
            }
        }
        Command::Rate { id, rating, note: why } => {
            let run = store.rate(&id, rating, why.as_deref(), note()).await?;
            if as_json {
                writeln!(stdout, "{:#}", json!(run.rating))?;
            } else {
                writeln!(stdout, "run {} is rated {}", run.run_id, rating.as_str())?;
            }
        }
        Command::Stats(args) => stats::write_figures(&mut stdout, &store, &args, as_json).await?,
        // They need more than the store, and were carried out before.
        Command::Answer { .. } | Command::Resume { .. } | Command::Missed => {}
        Command::Report { id, html: _, out } => {
            let run = store.run(&id).await?;
            let entries = store.entries_of_run(&run.run_id).await?;
            let cost = cost_of(&run).map(|usd| RunCost { usd, prices_as_of: prices_as_of() });
            let entries = entries.iter().map(Entry::of).collect();
            let details = Details { entries, cost, ..Details::default() };
            let page = ordain_ui::report::page(&name, &run, &details);
            match out {
                Some(file) => {
                    fs_err::write(&file, page)?;
                    writeln!(io::stderr(), "wrote {}", file.display())?;
                }
                None => stdout.write_all(page.as_bytes())?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn grade(text: &str) -> Result<Grade, String> {
    Grade::named(text).ok_or_else(|| "a run is `good` or `bad`".to_owned())
}

fn state(text: &str) -> Result<RunState, String> {
    RunState::named(text).ok_or_else(|| {
        let known = RunState::ALL.map(RunState::as_str);
        match ordain_types::nearest(text, known) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the states are {}", known.join(", ")),
        }
    })
}
