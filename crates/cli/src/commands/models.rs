//! `ordain models`: who could write plans, and who would.

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_planner::{Candidate, Choice, ModelSettings, PlannerError, choose, survey};
use ordain_workspace::{Environment, Workspace, WorkspaceError};
use serde_json::json;

use crate::commands::eval;
use crate::failure::Outcome;
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::{Colour, coloured, line};
use crate::workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  ordain models                        what is configured and reachable, and what `auto` takes
  ordain models --model ollama:qwen    whether this one could be taken
  ordain models --json
  ordain models eval eval.jsonl        run a file of requests and count how many come out right

Names for --model: auto, rules, openai:NAME, anthropic:NAME, gemini:NAME, openrouter:NAME, ollama:NAME,
llama.cpp:NAME, vllm:NAME, lmstudio:NAME, replay:FILE, or a NAME together with `model.base_url`.
Exit code: 0 a planner is there, 2 the settings are wrong, 3 what they name is not reached.";

/// Models of one server that a person is shown.
const SHOWN_MAX: usize = 8;

/// Show who could write plans, and who would
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    #[command(flatten)]
    planner: PlannerArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Eval(eval::Args),
}

/// Carries out `ordain models`.
pub(crate) fn run(args: &Args) -> Outcome {
    if let Some(Command::Eval(args)) = &args.command {
        return eval::run(args);
    }
    let (settings, environment) = world(args)?;
    let (candidates, choice) = runtime::on_one_thread(Box::pin(async {
        let candidates = survey(&settings, |name| environment.get(name)).await;
        (candidates, choose(&settings, |name| environment.get(name)).await)
    }))?;
    let mut stdout = io::stdout().lock();
    if args.json {
        writeln!(stdout, "{:#}", as_json(&candidates, &choice))?;
    } else {
        show(&mut stdout, &candidates)?;
    }
    match choice {
        Ok(_) if args.json => Ok(ExitCode::SUCCESS),
        Ok(choice) => {
            let name = coloured(Colour::Bold, &line(&choice.planner.name()));
            writeln!(stdout, "\nplans are written by {name}: {}", line(&choice.reason))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(error.into()),
    }
}

/// The settings of the workspace, or the usual ones where there is none.
fn world(args: &Args) -> Result<(ModelSettings, Environment), WorkspaceError> {
    if args.workspace.is_named() || Workspace::find(std::path::Path::new(".")).is_ok() {
        let workspace = args.workspace.load()?;
        return Ok((args.planner.settings(&workspace), workspace.environment));
    }
    let mut settings = ModelSettings::default();
    if let Some(name) = &args.planner.model {
        settings.name.clone_from(name);
    }
    Ok((settings, Environment::default()))
}

fn as_json(candidates: &[Candidate], choice: &Result<Choice, PlannerError>) -> serde_json::Value {
    let chosen = match choice {
        Ok(choice) => json!({ "name": choice.planner.name(), "reason": choice.reason }),
        Err(error) => {
            json!({ "error": { "code": error.code, "message": error.message, "hint": error.hint } })
        }
    };
    json!({ "candidates": candidates, "chosen": chosen })
}

fn show(out: &mut impl Write, candidates: &[Candidate]) -> io::Result<()> {
    let mut grid = Grid::new(["planner", "ready", "why", "hint"]);
    for candidate in candidates {
        let served = match candidate.models.len() {
            0 => String::new(),
            count => format!(": {count} models"),
        };
        grid.row([
            line(&candidate.name),
            if candidate.is_ready { "yes" } else { "no" }.to_owned(),
            format!("{}{served}", line(&candidate.reason)),
            candidate.hint.as_deref().map(line).unwrap_or_default(),
        ]);
    }
    grid.write(out, "")?;
    for candidate in candidates.iter().filter(|candidate| !candidate.models.is_empty()) {
        let names: Vec<String> = candidate.models.iter().take(SHOWN_MAX).map(|name| line(name)).collect();
        let more = candidate.models.len().saturating_sub(SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "{} serves {}{more}", line(&candidate.name), names.join(", "))?;
    }
    Ok(())
}
