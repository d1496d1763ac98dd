//! `ordain tools`: the MCP servers whose verbs plans may call.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use ordain_tools::{Snapshot, SnapshotFile, ToolSettings, Toolbox};
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::commands::outbox;
use crate::failure::{FAILED, Failure, Outcome};
use crate::runtime;
use crate::show::grid::Grid;
use crate::show::{cut, line};
use crate::workspace::{Group, RecordArgs};

const EXAMPLES: &str = "\
Examples:
  ordain tools add mail -- python3 tools/mail.py      name a server by its program,
  ordain tools add crm --url https://crm.example/mcp  or by its address
  ordain tools review mail                            what it offers, or what differs from what was reviewed
  ordain tools review mail --accept                   pin that in tools.lock.json; plans may call it now
  ordain tools call mail address_of '{\"customer\": \"Alice\"}'

Which verbs only read, which need no approval and what takes a verb back stands in `[tools.NAME]` of ordain.toml.";

pub(crate) type Args = Group<RecordArgs, Command>;

/// Add, list, show, review or call the tools that plans may call
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Name a server in ordain.toml
    Add {
        /// What plans call it
        name: String,
        /// Its address
        #[arg(long)]
        url: Option<String>,
        /// Its program and arguments, after `--`
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// The tools, and whether they were reviewed
    List,
    /// The verbs of a tool, as they were reviewed
    Show {
        /// The tool
        name: String,
    },
    /// Ask a server what it offers, and compare that with what was reviewed
    Review {
        /// The tool
        name: String,
        /// Pin what it offers now
        #[arg(long)]
        accept: bool,
    },
    /// Call a verb by hand, outside of any run
    Call {
        /// The tool
        name: String,
        /// The verb
        verb: String,
        /// Its arguments, as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Calls that are sent after the commit: list, send, retry or drop them
    Outbox {
        #[command(subcommand)]
        command: outbox::Command,
    },
}

/// Carries out `ordain tools`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = args.shared.workspace.load()?;
    let tools = &workspace.tools;
    match &args.command {
        Command::Add { name, url, command } => add(&workspace, name, url.as_deref(), command),
        Command::List => list(args, tools),
        Command::Show { name } => show(args, tools, name),
        Command::Review { name, accept } => {
            runtime::on_one_thread(Box::pin(review(args, &workspace, name, *accept)))?
        }
        Command::Outbox { command } => outbox::run(&args.shared, command),
        Command::Call { name, verb, arguments } => {
            let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
                return Err(Failure::usage(
                    "the arguments are not a JSON object",
                    "write them as '{\"name\": \"value\"}'",
                ));
            };
            let result = runtime::on_one_thread(Box::pin(tools.call(name, verb, &arguments, None)))??;
            writeln!(io::stdout(), "{result:#}")?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn add(workspace: &Workspace, name: &str, url: Option<&str>, command: &[String]) -> Outcome {
    let settings =
        ToolSettings { url: url.map(str::to_owned), command: command.to_vec(), ..ToolSettings::default() };
    if let Err(error) = settings.check(name) {
        return Err(Failure::usage(error.to_string(), "`ordain tools add --help` has examples"));
    }
    if workspace.tools.settings(name).is_some() {
        return Err(Failure::usage(format!("there is a tool `{name}` already"), "change it in ordain.toml"));
    }
    let place = match url {
        Some(url) => format!("url = {}", json!(url)),
        None => format!("command = {}", json!(command)),
    };
    let path = workspace.root.join("ordain.toml");
    let text = fs_err::read_to_string(&path)?;
    fs_err::write(&path, format!("{text}\n[tools.{name}]\n{place}\n"))?;
    writeln!(
        io::stderr(),
        "added `{name}` to ordain.toml; next: ordain config trust {0} && ordain tools review {name}",
        workspace.root.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn list(args: &Args, tools: &Toolbox) -> Outcome {
    let mut out = io::stdout().lock();
    let verbs = |name: &str| tools.reviewed(name).map(|snapshot| snapshot.verbs.len());
    let place = |name: &str| tools.settings(name).map(ToolSettings::place).unwrap_or_default();
    if args.shared.json {
        let told: Vec<Value> = tools
            .names()
            .map(|name| json!({ "name": name, "place": place(name), "reviewed": verbs(name).is_some(), "verbs": verbs(name) }))
            .collect();
        writeln!(out, "{:#}", json!(told))?;
        return Ok(ExitCode::SUCCESS);
    }
    if tools.is_empty() {
        writeln!(io::stderr(), "no tools; `ordain tools add NAME -- COMMAND` names one")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["tool", "verbs", "where"]);
    for name in tools.names() {
        let verbs = verbs(name).map_or_else(|| "not reviewed".to_owned(), |count| count.to_string());
        grid.row([name.to_owned(), verbs, line(&place(name))]);
    }
    grid.write(&mut out, "")?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &Args, tools: &Toolbox, name: &str) -> Outcome {
    let (Some(settings), Some(snapshot)) = (tools.settings(name), tools.reviewed(name)) else {
        let hint =
            format!("`ordain tools list` shows the tools; `ordain tools review {name} --accept` pins one");
        return Err(Failure::usage(format!("there is no reviewed tool `{name}`"), &hint));
    };
    verbs(args, name, settings, snapshot)
}

fn verbs(args: &Args, name: &str, settings: &ToolSettings, snapshot: &Snapshot) -> Outcome {
    let mut out = io::stdout().lock();
    if args.shared.json {
        writeln!(out, "{:#}", json!(snapshot))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["verb", "arguments", "when", "approval", "taken back by", "it says"]);
    for (verb, offer) in &snapshot.tool(name, settings).verbs {
        let arguments: Vec<&str> = offer.params.keys().map(String::as_str).collect();
        let is_free = offer.reads || settings.allow.contains(verb);
        grid.row([
            line(verb),
            line(&arguments.join(", ")),
            if offer.reads { "at once" } else { "after the commit" }.to_owned(),
            if is_free { "" } else { "needed" }.to_owned(),
            settings
                .undo
                .get(verb)
                .map_or_else(|| if offer.reads { "" } else { "nothing" }.to_owned(), |back| line(back)),
            cut(&line(&offer.description), 60),
        ]);
    }
    grid.write(&mut out, "")?;
    Ok(ExitCode::SUCCESS)
}

async fn review(args: &Args, workspace: &Workspace, name: &str, accept: bool) -> Outcome {
    let tools = &workspace.tools;
    let offered = tools.look(name).await?;
    let known = tools.reviewed(name).cloned().unwrap_or_default();
    let differences = known.differences(&offered);
    if let Some(settings) = tools.settings(name) {
        verbs(args, name, settings, &offered)?;
    }
    let mut err = io::stderr().lock();
    for difference in &differences {
        writeln!(err, "{}", line(&difference.to_string()))?;
    }
    if accept {
        let mut file = SnapshotFile::read(&workspace.root).map_err(anyhow::Error::msg)?;
        file.0.insert(name.to_owned(), offered);
        file.write(&workspace.root).context("tools.lock.json could not be written")?;
        writeln!(err, "pinned in tools.lock.json")?;
    } else if differences.is_empty() {
        writeln!(err, "it offers what was reviewed")?;
    } else {
        writeln!(err, "pin this with `ordain tools review {name} --accept`")?;
        return Ok(ExitCode::from(FAILED));
    }
    Ok(ExitCode::SUCCESS)
}
