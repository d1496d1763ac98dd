//! `ordain plans promote`: a plan that did well becomes an action of the workspace, a function in `helpers.py` and its
//! declaration in `ordain.toml`. What would be written is shown first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use ordain_store::{CachedPlan, Store};
use ordain_types::{RunRecord, Schema};
use ordain_verify::{Contract, Policy, verify};
use ordain_workspace::Workspace;
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::show::line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan's id, or the beginning of it
    id: String,
    /// The action's name: that of its function
    #[arg(long)]
    name: String,
    /// Words that ask for it; several with further `--word` [default: the name]
    #[arg(long = "word", value_name = "WORDS")]
    words: Vec<String>,
    /// Write both files
    #[arg(long)]
    yes: bool,
}

/// Shows the action, and writes it if that is wanted.
pub(super) async fn run(args: &Args, store: &Store, root: &Path) -> Outcome {
    let plan = store.plan(&args.id).await?;
    let written_by = store.run(&plan.run_id).await?;
    let action = Action::of(&plan, &written_by, args, &store.schema())?;
    let mut out = io::stdout().lock();
    for (file, added) in action.files() {
        writeln!(out, "--- {file}\n+++ {file}")?;
        for text in added.lines() {
            writeln!(out, "+{}", line(text))?;
        }
    }
    drop(out);
    if !args.yes {
        writeln!(io::stderr(), "nothing is written yet; `--yes` writes it")?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Err(problem) = action.write(root) {
        let hint = "nothing was written; give another `--name` or `--word`, or put the action in by hand";
        return Err(Failure::usage(&problem, hint));
    }
    writeln!(io::stderr(), "`{}` is an action now; plans and the reader can call it", args.name)?;
    Ok(ExitCode::SUCCESS)
}

/// An action made of a plan.
struct Action {
    function: String,
    declaration: String,
}

impl Action {
    fn of(plan: &CachedPlan, written_by: &RunRecord, args: &Args, schema: &Schema) -> Result<Self, Failure> {
        if plan.kind != "ask" {
            return Err(Failure::usage(
                format!("plan `{}` is of the kind `{}`", plan.plan_id, line(&plan.kind)),
                "only plans of requests can be actions",
            ));
        }
        if !is_identifier(&args.name) {
            return Err(Failure::usage(
                format!("`{}` is no name of a function", line(&args.name)),
                "use letters, digits and `_`",
            ));
        }
        // Moving code into a function changes the inside of such a text.
        if ["\"\"\"", "'''"].iter().any(|quotes| plan.code.contains(quotes)) {
            return Err(Failure::usage(
                "its code holds a text over several lines".to_owned(),
                "put the function in by hand",
            ));
        }
        let verdict = verify(&plan.code, &Policy::for_contract(Contract::Ask), schema);
        if verdict.effects.provided.contains("user_request") {
            return Err(Failure::usage(
                "its code reads the words of the request".to_owned(),
                "an action is called with values alone",
            ));
        }
        let params = params(written_by);
        let names: Vec<&str> = params.keys().map(String::as_str).collect();
        let mut function = format!("\n\ndef {}({}):\n", args.name, names.join(", "));
        let title = title(plan).replace(['"', '\\'], " ");
        let _ = writeln!(function, "    \"\"\"{}\"\"\"", line(title.trim()));
        let pairs: Vec<String> = names.iter().map(|name| format!("\"{name}\": {name}")).collect();
        let _ = writeln!(function, "    params = {{{}}}", pairs.join(", "));
        for text in plan.code.lines() {
            let _ =
                if text.trim().is_empty() { writeln!(function) } else { writeln!(function, "    {text}") };
        }
        function.push_str("    return {\"text\": answer_text, \"status\": STATUS}\n");
        Ok(Self { function, declaration: declaration(args, plan, &params) })
    }

    fn files(&self) -> [(&'static str, &str); 2] {
        [("helpers.py", &self.function), ("ordain.toml", &self.declaration)]
    }

    /// Adds it to both files, and takes that back if the workspace cannot be read with it.
    fn write(&self, root: &Path) -> Result<(), String> {
        let mut before = Vec::new();
        let written = self.files().iter().try_for_each(|(file, added)| {
            let path = root.join(file);
            let old = std::fs::read(&path).unwrap_or_default();
            let text = [old.as_slice(), added.as_bytes()].concat();
            before.push((path.clone(), old));
            fs_err::write(&path, text).map_err(|error| error.to_string())
        });
        let loaded =
            written.and_then(|()| Workspace::load(root).map(drop).map_err(|error| error.to_string()));
        if loaded.is_err() {
            for (path, old) in before {
                let _ = fs_err::write(path, old);
            }
        }
        loaded
    }
}

/// The values that a plan takes, with what each was in the run that wrote it.
fn params(written_by: &RunRecord) -> BTreeMap<String, Value> {
    let of_plan = written_by.plan.params.iter().map(|(name, value)| (name.clone(), value.clone()));
    let steps = written_by.plan.steps.iter().flat_map(|step| &step.params);
    let of_steps = steps.map(|param| (param.name.clone(), param.value.clone()));
    of_plan.chain(of_steps).filter(|(name, _)| is_identifier(name)).collect()
}

fn declaration(args: &Args, plan: &CachedPlan, params: &BTreeMap<String, Value>) -> String {
    let quoted = |text: &str| Value::from(line(text)).to_string();
    let words = if args.words.is_empty() { vec![args.name.replace('_', " ")] } else { args.words.clone() };
    let words: Vec<String> = words.iter().map(|words| quoted(words)).collect();
    let mut text = format!("\n[[actions]]\nname = {}\nwords = [{}]\n", quoted(&args.name), words.join(", "));
    let _ = writeln!(text, "description = {}", quoted(title(plan)));
    for (name, value) in params {
        let kind = match value {
            Value::Number(number) if number.is_u64() => "count",
            Value::Number(_) => "number",
            _ => "text",
        };
        let _ = writeln!(text, "params.{name} = {{ type = \"{kind}\" }}");
    }
    text
}

/// What the plan does; where its author did not say it, what was asked.
fn title(plan: &CachedPlan) -> &str {
    if plan.title.trim().is_empty() { &plan.request } else { &plan.title }
}

fn is_identifier(name: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    !name.starts_with(|sign: char| sign.is_ascii_digit()) && !name.is_empty() && name.chars().all(is_part)
}
