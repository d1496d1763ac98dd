//! `ordain mcp`: the workspace as tools for an agent, over stdin and stdout.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_cell::profile::Profile;
use ordain_checks::Checks;
use ordain_engine::{Engine, EngineSettings};
use ordain_files::open_store;
use ordain_server::http::{self, HttpOptions, Service};
use ordain_workspace::Workspace;

use crate::executor::{Chosen, ExecutorArgs};
use crate::failure::Outcome;
use crate::planner::PlannerArgs;
use crate::runtime;
use crate::switched_off;
use crate::workspace::WorkspaceArgs;

/// Cells that are made ahead: an agent calls again soon.
const IDLE_CELLS: usize = 1;

const EXAMPLES: &str = "\
Examples:
  claude mcp add shop -- ordain mcp -w /path/to/shop
  npx @modelcontextprotocol/inspector --cli ordain mcp -w /path/to/shop --method tools/list

docs/mcp.md has the configuration of Claude, Cursor and VS Code. `ordain serve` serves the same at /mcp, with keys.
Exit code: 0 the client left, 2 usage, 3 could not serve.";

/// Serve the workspace to an agent over MCP, on stdin and stdout
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Let the agent's side approve, reject and undo; without it a person does so with `ordain approve`
    #[arg(long)]
    approve: bool,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
}

/// Carries out `ordain mcp`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = args.workspace.load()?;
    args.executor.ensure_python(Profile::Core, &workspace)?;
    runtime::on_two_threads(Box::pin(serve(args, &workspace)))?
}

async fn serve(args: &Args, workspace: &Workspace) -> Outcome {
    let store = open_store(workspace).await?;
    let executor = args.executor.open(workspace, IDLE_CELLS)?;
    let planner = args.planner.choose(workspace).await?;
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut options = HttpOptions::new(&workspace.name, nowhere, workspace.state());
    options.model = workspace.model.clone();
    options.environment = workspace.environment.clone();
    options.code_enabled = switched_off::is_code_enabled();
    if let Chosen::Local(local) = &executor {
        options.local = Some(Arc::clone(local));
    }
    let engine = Engine::new(store, executor.executor(), EngineSettings::of(workspace));
    options.checks = Some(Checks::new(Arc::new(workspace.clone()), engine.clone()));
    Box::pin(http::serve_stdio(Service::new(engine, planner, options), args.approve)).await?;
    executor.close().await;
    Ok(ExitCode::SUCCESS)
}
