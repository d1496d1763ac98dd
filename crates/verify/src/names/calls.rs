//! Judges which functions are used.

use ruff_python_ast::{Expr, ExprCall, ExprName};
use ruff_text_size::{Ranged, TextRange};

use super::scopes::{Meaning, text_of};
use super::{Names, attributes, undefined};
use crate::data::{blocked_calls, blocked_imports, builtins, foreign};
use crate::finding::Severity;
use crate::finding_code::FindingCode;
use crate::policy::Policy;
use crate::report::Draft;

/// Judges a name where its value is used.
pub(super) fn name<'a>(names: &mut Names<'a, '_, '_>, expr: &'a ExprName) {
    let name = expr.id.as_str();
    if let Meaning::Bound(_) = names.scopes.meaning(name, names.scope) {
        return;
    }
    if names.policy.helper(name).is_some() {
        names.effects.helpers.insert(name.to_owned());
    }
    // What is given under the name of a builtin does not lift the block on that builtin.
    if names.is_provided(name) && !builtins::is_builtin(name) {
        return;
    }
    if builtins::is_builtin(name) {
        builtin(names, name, expr.range());
    } else if names.guards.names == 0 {
        undefined::note(names, name, expr.range());
    }
}

fn builtin(names: &mut Names<'_, '_, '_>, name: &str, range: TextRange) {
    if name == "globals" {
        // The program may define names by text now, so an undefined one proves nothing.
        names.undefined.is_silent = true;
    }
    if ATTRIBUTES_BY_TEXT.contains(&name) && !names.is_callee(range) {
        uncalled(names, name, range);
        return;
    }
    if matches!(name, "__builtins__" | "__loader__" | "__spec__") {
        attributes::attribute_name(names, name, range);
        return;
    }
    let policy = names.policy;
    // Whether a plan may open a file depends on the path, which only the flow knows.
    if name == "open" || policy.allowed_calls.iter().any(|allowed| allowed == name) {
        return;
    }
    let (reason, instead) = if let Some(entry) = blocked_calls::blocking(name, policy.contract) {
        (entry.reason, entry.instead)
    } else if policy.blocked_calls.iter().any(|blocked| blocked == name) {
        ("the policy of this workspace blocks it", "do without it")
    } else {
        return;
    };
    blocked(names, range, name, reason, instead);
}

/// Judges a member of a module: `os.system`.
pub(super) fn member(names: &mut Names<'_, '_, '_>, expr: &Expr) {
    let Some(path) = names.path(expr) else { return };
    if ["operator.attrgetter", "operator.methodcaller"].contains(&path.as_str())
        && !names.is_callee(expr.range())
    {
        uncalled(names, &path, expr.range());
    }
    if let Some((reason, instead)) = member_refusal(&path, names.policy) {
        blocked(names, expr.range(), &path, reason, &instead);
    }
}

/// Why a member of a module may not be used, if it may not, and what to do instead.
pub(crate) fn member_refusal(path: &str, policy: &Policy) -> Option<(&'static str, String)> {
    let is_allowed = policy.allowed_calls.iter().any(|allowed| allowed == path);
    // An import that was refused has said it already.
    if is_allowed || blocked_imports::blocking(path).is_some() {
        return None;
    }
    if let Some(entry) = blocked_calls::blocking(path, policy.contract) {
        return Some((entry.reason, entry.instead.to_owned()));
    }
    if policy.blocked_calls.iter().any(|blocked| blocked == path) {
        return Some(("the policy of this workspace blocks it", "do without it".to_owned()));
    }
    if let Some(module) = foreign::reached(path, policy.python) {
        let reason = "it reaches a module through another one, so that no import tells of it";
        return Some((reason, format!("write `import {}`", module.trim_start_matches('_'))));
    }
    let member = path.rsplit('.').next().unwrap_or(path);
    if member == "__dict__" {
        let reason = "it opens everything that a module has imported for itself";
        return Some((reason, "name the attributes that you need".to_owned()));
    }
    let is_private = policy.contract.is_plan() && member.starts_with('_') && !member.starts_with("__");
    is_private.then(|| ("it is private to its module", "use what the module offers to everybody".to_owned()))
}

/// Builtin functions that reach attributes by text. Only a call shows which.
const ATTRIBUTES_BY_TEXT: &[&str] = &["getattr", "setattr", "delattr"];

fn uncalled(names: &mut Names<'_, '_, '_>, name: &str, range: TextRange) {
    let message = format!("`{name}` may only be called, with the attribute's name written there");
    let draft = Draft::new(FindingCode::BlockedCall, range, message);
    names.report.add(draft.hint("name the attribute, or choose the function from a dict of your own"));
}

/// Judges a call whose arguments decide.
pub(super) fn call<'a>(names: &mut Names<'a, '_, '_>, call: &'a ExprCall, path: Option<&str>) {
    for function in ATTRIBUTES_BY_TEXT {
        if names.is_builtin(&call.func, function) {
            attribute_by_text(names, call, function);
            return;
        }
    }
    if let Expr::Attribute(attribute) = &*call.func
        && matches!(attribute.attr.as_str(), "format" | "format_map")
        && let Some(text) = text_of(&attribute.value)
    {
        attributes::format_text(names, text, attribute.value.range());
        return;
    }
    if let Some(path) = path {
        by_arguments(names, call, path);
    }
}

/// Functions that are harmless or not, depending on how they are called.
fn by_arguments<'a>(names: &mut Names<'a, '_, '_>, call: &'a ExprCall, path: &str) {
    let range = call.func.range();
    match path {
        "yaml.load" | "yaml.load_all" => {
            let loader = call.arguments.find_argument_value("Loader", 1);
            if !loader.is_some_and(|loader| names.report.text(loader.range()).contains("Safe")) {
                let reason = "it builds any Python object from the text";
                blocked(names, range, path, reason, "use `yaml.safe_load`");
            }
        }
        "numpy.load" => {
            let pickles = call.arguments.find_argument_value("allow_pickle", 2);
            if matches!(pickles, Some(Expr::BooleanLiteral(literal)) if literal.value) {
                let reason = "pickled data runs code when it is loaded";
                blocked(names, range, path, reason, "leave `allow_pickle` out");
            }
        }
        "operator.attrgetter" | "operator.methodcaller" => {
            let function = path.rsplit('.').next().unwrap_or(path);
            // What follows the name of a method are its arguments.
            let texts = if function == "attrgetter" { call.arguments.args.len() } else { 1 };
            for argument in call.arguments.args.iter().take(texts) {
                match text_of(argument) {
                    Some(text) => {
                        for part in text.split('.') {
                            attributes::attribute_of_anything(names, part, argument.range());
                        }
                    }
                    None => computed_attribute(names, call, function),
                }
            }
        }
        _ if path.starts_with("pandas.read_") => {
            if let Some(address) = call.arguments.args.first().and_then(text_of)
                && ["http://", "https://", "ftp://", "s3://"].iter().any(|scheme| address.starts_with(scheme))
            {
                let range = call.arguments.args[0].range();
                blocked(names, range, path, "a cell has no network", "give the data as a file or a table");
            }
        }
        _ => {}
    }
}

fn attribute_by_text<'a>(names: &mut Names<'a, '_, '_>, call: &'a ExprCall, function: &str) {
    let [owner, argument, ..] = &*call.arguments.args else {
        return computed_attribute(names, call, function);
    };
    if owner.is_starred_expr() {
        return computed_attribute(names, call, function);
    }
    let known: Vec<&str> = match argument {
        Expr::StringLiteral(literal) => vec![literal.value.to_str()],
        Expr::Name(name) => match names.scopes.meaning(name.id.as_str(), names.scope) {
            Meaning::Bound(binding) => binding.texts.clone().unwrap_or_default(),
            Meaning::Free => Vec::new(),
        },
        _ => Vec::new(),
    };
    for attribute in &known {
        attributes::attribute_of_anything(names, attribute, argument.range());
    }
    if known.is_empty() {
        computed_attribute(names, call, function);
    }
}

/// General programs may compute names; a plan's effects must be known.
fn computed_attribute(names: &mut Names<'_, '_, '_>, call: &ExprCall, function: &str) {
    if names.policy.allowed_calls.iter().any(|allowed| allowed == function) {
        return;
    }
    let message =
        format!("`{function}` may not be given a computed name: which attribute it reaches cannot be known");
    let severity = if names.policy.contract.is_plan() { Severity::Error } else { Severity::Warning };
    let draft = Draft::new(FindingCode::BlockedCall, call.range(), message).severity(severity);
    names.report.add(draft.hint("name the attribute, or choose the function from a dict of your own"));
}

fn blocked(names: &mut Names<'_, '_, '_>, range: TextRange, name: &str, reason: &str, instead: &str) {
    let draft = Draft::new(FindingCode::BlockedCall, range, format!("`{name}` may not be used: {reason}"));
    names.report.add(draft.hint(instead));
}
