//! Calls of tools: in the one form `tools.NAME.verb(argument=value)`, of verbs and arguments that were reviewed.
//!
//! Whatever else code does with `tools` is refused, so that the text tells every call that it may make.

use ordain_types::{Tool, Verb, nearest};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged as _, TextRange};

use super::Names;
use super::scopes::Meaning;
use crate::effects::Effects;
use crate::finding_code::FindingCode;
use crate::policy::Policy;
use crate::report::{Draft, Report};

/// The name under which the cell gives tools to plans.
pub(crate) const TOOLS: &str = "tools";

/// Judges a call, if it is one of a tool, and gives the place of its `tools`.
pub(super) fn call(names: &mut Names<'_, '_, '_>, call: &ast::ExprCall) -> Option<TextRange> {
    let Expr::Attribute(verb) = &*call.func else { return None };
    let Expr::Attribute(tool) = &*verb.value else { return None };
    let Expr::Name(base) = &*tool.value else { return None };
    if base.id.as_str() != TOOLS || !matches!(names.scopes.meaning(TOOLS, names.scope), Meaning::Free) {
        return None;
    }
    let (tool_name, verb_name) = (tool.attr.as_str(), verb.attr.as_str());
    let policy = names.policy;
    match find(&policy.tools, tool_name, verb_name) {
        Ok(known) => {
            if let Some(message) = wrong_arguments(known, call) {
                add(names, call.range(), format!("`{tool_name}.{verb_name}`: {message}"));
            }
            if !known.reads {
                names.effects.may_write = true;
                if policy.read_only {
                    let message =
                        format!("`{tool_name}.{verb_name}` changes something, and this code may only read");
                    names.report.add(Draft::new(FindingCode::WriteInReadOnly, call.range(), message));
                }
            }
            names.effects.calls.insert(format!("{tool_name}.{verb_name}"));
        }
        Err(message) => add(names, call.func.range(), message),
    }
    Some(base.range())
}

/// Refuses a `tools` that is not called where it stands.
pub(super) fn name(names: &mut Names<'_, '_, '_>, name: &ast::ExprName) {
    let is_tools = name.id.as_str() == TOOLS && !names.policy.tools.is_empty();
    if is_tools
        && names.tools_called != Some(name.range())
        && matches!(names.scopes.meaning(TOOLS, names.scope), Meaning::Free)
    {
        add(names, name.range(), "a tool can only be called, and only by its name".to_owned());
    }
}

/// Refuses code that reads a table whose rows a tool that it calls may not be given.
pub(super) fn tables(policy: &Policy, effects: &Effects, report: &mut Report<'_>) {
    for tool in &policy.tools {
        let is_called = effects.calls.iter().any(|call| call.split('.').next() == Some(tool.name.as_str()));
        let Some(tables) = tool.tables.as_ref().filter(|_| is_called) else { continue };
        if let Some(table) = effects.reads.keys().find(|table| !tables.contains(*table)) {
            let message =
                format!("code that calls the tool `{}` may not read the table `{table}`", tool.name);
            let draft = Draft::new(FindingCode::UnknownTool, TextRange::default(), message);
            report.add(draft.hint("the owner names the tables with `tables` in its section of ordain.toml"));
        }
    }
}

fn add(names: &mut Names<'_, '_, '_>, range: TextRange, message: String) {
    let known: Vec<String> = names
        .policy
        .tools
        .iter()
        .flat_map(|tool| tool.verbs.iter().map(|(verb, known)| shown(&tool.name, verb, known)))
        .collect();
    let draft = Draft::new(FindingCode::UnknownTool, range, message);
    names.report.add(if known.is_empty() {
        draft.hint("this workspace has no tools; `[tools.NAME]` in ordain.toml names them")
    } else {
        draft.hint(format!(
            "write it as one of {}",
            known.iter().take(10).cloned().collect::<Vec<_>>().join("; ")
        ))
    });
}

fn shown(tool: &str, verb: &str, known: &Verb) -> String {
    let arguments: Vec<String> = known
        .params
        .keys()
        .map(|name| if known.required.contains(name) { format!("{name}=…") } else { format!("[{name}=…]") })
        .collect();
    format!("tools.{tool}.{verb}({})", arguments.join(", "))
}

fn find<'p>(tools: &'p [Tool], tool: &str, verb: &str) -> Result<&'p Verb, String> {
    let names = || tools.iter().map(|tool| tool.name.as_str());
    let Some(known) = tools.iter().find(|known| known.name == tool) else {
        let meant =
            nearest(tool, names()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        return Err(format!("there is no tool `{tool}`{meant}"));
    };
    known.verbs.get(verb).ok_or_else(|| {
        let meant = nearest(verb, known.verbs.keys().map(String::as_str));
        let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("the tool `{tool}` has no verb `{verb}`{meant}")
    })
}

fn wrong_arguments(verb: &Verb, call: &ast::ExprCall) -> Option<String> {
    if !call.arguments.args.is_empty() {
        return Some("every argument is given by its name".to_owned());
    }
    let mut given = Vec::new();
    for keyword in &call.arguments.keywords {
        let Some(name) = &keyword.arg else {
            return Some("every argument is given by its own name".to_owned());
        };
        if !verb.params.contains_key(name.as_str()) {
            let meant = nearest(name.as_str(), verb.params.keys().map(String::as_str));
            let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return Some(format!("there is no argument `{name}`{meant}"));
        }
        given.push(name.as_str());
    }
    let missing = verb.required.iter().find(|name| !given.contains(&name.as_str()))?;
    Some(format!("the argument `{missing}` is missing"))
}
