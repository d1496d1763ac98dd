//! `ordain plans`: the plans that are kept, and whether they still hold.

mod promote;

use std::io::{self, Write};
use std::process::ExitCode;

use ordain_engine::EngineSettings;
use ordain_store::{CachedPlan, Store};
use ordain_types::Schema;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::{code, cut, line};
use crate::workspace::{self, Group, PageArgs, RecordArgs};

const EXAMPLES: &str = "\
Examples:
  ordain plans list                what is kept, how often it was used, and what made a plan stale
  ordain plans show 3fa9           one plan, by its id or the beginning of it, with its code
  ordain plans pin 3fa9            prefer this plan, and never drop it for room
  ordain plans evict --stale       drop every plan that no longer holds
  ordain plans promote 3fa9 --name sell_pair        show it as an action of the workspace
  ordain plans promote 3fa9 --name sell_pair --yes  write helpers.py and ordain.toml

A plan is used again for the same request, and for every request of the same shape (other numbers, other
names from the tables), until the policy, a helper or a column that it uses changes.";

pub(crate) type Args = Group<RecordArgs, Command>;

/// List, show, pin or drop the plans that are kept
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// The plans that are kept, pinned ones first, then the last used
    List {
        /// Only plans of this kind: `ask`, `code` or `check`
        #[arg(long)]
        kind: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// One plan, with its code and all that it was compiled against
    Show {
        /// The plan's id, or the beginning of it
        id: String,
    },
    /// Prefer a plan, and never drop it for room
    Pin {
        /// The plan's id, or the beginning of it
        id: String,
        /// Let it go again
        #[arg(long)]
        off: bool,
    },
    /// Turn a plan that did well into an action of the workspace
    Promote(promote::Args),
    /// Drop plans
    Evict {
        /// Ids of plans, or the beginnings of them
        #[arg(required_unless_present_any = ["stale", "all"])]
        ids: Vec<String>,
        /// Every plan that no longer holds
        #[arg(long)]
        stale: bool,
        /// Every plan that is not pinned
        #[arg(long)]
        all: bool,
    },
}

/// The kept plans and what they are compared with.
struct Kept {
    store: Store,
    settings: EngineSettings,
    schema: Schema,
}

impl Kept {
    fn stale(&self, plan: &CachedPlan) -> Option<String> {
        self.settings.stale(plan, &self.schema)
    }
}

/// Carries out `ordain plans`.
pub(crate) fn run(args: &Args) -> Outcome {
    let workspace = args.shared.workspace.load()?;
    let (root, settings) = (workspace.root.clone(), EngineSettings::of(&workspace));
    workspace::with_store(&args.shared.workspace, |store| async move {
        let kept = Kept { schema: store.schema(), store, settings };
        match &args.command {
            Command::List { kind, page } => list(args, &kept, kind.as_deref(), page.limit).await?,
            Command::Show { id } => show(args, &kept, id).await?,
            Command::Pin { id, off } => pin(args, &kept, id, !off).await?,
            Command::Promote(promoted) => return promote::run(promoted, &kept.store, &root).await,
            Command::Evict { ids, stale, all } => evict(args, &kept, ids, *stale, *all).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(args: &Args, kept: &Kept, kind: Option<&str>, limit: u64) -> Result<(), Failure> {
    let plans = kept.store.plans(kind, limit).await?;
    let mut out = io::stdout().lock();
    if args.shared.json {
        let plans: Vec<Value> = plans.iter().map(|plan| described(plan, kept)).collect();
        writeln!(out, "{:#}", json!(plans))?;
        return Ok(());
    }
    if plans.is_empty() {
        writeln!(io::stderr(), "no plans are kept yet; `ordain ask` keeps those that worked")?;
        return Ok(());
    }
    let mut grid = Grid::new(["plan", "kind", "by", "used", "usable", "first asked as"]);
    for plan in &plans {
        let holds = match (kept.stale(plan), plan.pinned) {
            (Some(why), _) => format!("stale: {why}"),
            (None, true) => "yes, pinned".to_owned(),
            (None, false) => "yes".to_owned(),
        };
        grid.row([
            plan.plan_id.chars().take(12).collect(),
            line(&plan.kind),
            line(plan.model.as_deref().unwrap_or(plan.source.as_str())),
            if plan.uses == 1 { "once".to_owned() } else { format!("{} times", plan.uses) },
            line(&holds),
            cut(&line(&plan.request), 60),
        ]);
    }
    grid.write(&mut out, "")?;
    Ok(())
}

async fn show(args: &Args, kept: &Kept, id: &str) -> Result<(), Failure> {
    let plan = kept.store.plan(id).await?;
    let mut out = io::stdout().lock();
    if args.shared.json {
        writeln!(out, "{:#}", described(&plan, kept))?;
        return Ok(());
    }
    writeln!(out, "plan     {}", plan.plan_id)?;
    writeln!(out, "request  {}", cut(&line(&plan.request), 200))?;
    writeln!(
        out,
        "by       {}, run {}",
        line(plan.model.as_deref().unwrap_or(plan.source.as_str())),
        line(&plan.run_id)
    )?;
    writeln!(out, "kept     {}; used {} times, last {}", plan.created_at, plan.uses, plan.last_used_at)?;
    writeln!(
        out,
        "usable   {}",
        kept.stale(&plan).map_or_else(|| "yes".to_owned(), |why| format!("no: {}", line(&why)))
    )?;
    writeln!(out, "\ncompiled against")?;
    for (name, state) in &plan.components {
        writeln!(out, "  {}  {}", line(name), line(state))?;
    }
    writeln!(out)?;
    code::write(&mut out, &plan.code, "")?;
    Ok(())
}

async fn pin(args: &Args, kept: &Kept, id: &str, pinned: bool) -> Result<(), Failure> {
    let plan = kept.store.pin_plan(id, pinned).await?;
    let mut out = io::stdout().lock();
    if args.shared.json {
        writeln!(out, "{:#}", described(&plan, kept))?;
    } else {
        writeln!(out, "plan {} is {}pinned", plan.plan_id, if pinned { "" } else { "no longer " })?;
    }
    Ok(())
}

async fn evict(args: &Args, kept: &Kept, ids: &[String], stale: bool, all: bool) -> Result<(), Failure> {
    let mut evicted = Vec::new();
    for id in ids {
        evicted.push(kept.store.evict_plan(id).await?);
    }
    if stale || all {
        for plan in kept.store.plans(None, u64::MAX).await? {
            let goes = (all && !plan.pinned) || (stale && kept.stale(&plan).is_some());
            if goes {
                evicted.push(kept.store.evict_plan(&plan.plan_id).await?);
            }
        }
    }
    let mut out = io::stdout().lock();
    if args.shared.json {
        let ids: Vec<&str> = evicted.iter().map(|plan| plan.plan_id.as_str()).collect();
        writeln!(out, "{:#}", json!({ "evicted": ids }))?;
    } else {
        writeln!(
            out,
            "{} dropped",
            if evicted.len() == 1 { "1 plan".to_owned() } else { format!("{} plans", evicted.len()) }
        )?;
    }
    Ok(())
}

/// A plan with what there is to say of it today.
fn described(plan: &CachedPlan, kept: &Kept) -> Value {
    let mut value = json!(plan);
    value["stale"] = json!(kept.stale(plan));
    value
}
