//! Judges which functions are used.

use ruff_python_ast::{Expr, ExprCall, ExprName};
use ruff_text_size::{Ranged, TextRange};

use super::scopes::{Meaning, text_of};
use super::{Names, attributes, undefined};
use crate::data::blocked_calls;
use crate::data::builtins;
use crate::finding::Severity;
use crate::finding_code::FindingCode;
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
    if matches!(name, "__builtins__" | "__loader__" | "__spec__") {
        attributes::attribute_name(names, name, range);
        return;
    }
    let policy = names.policy;
    // Whether a plan may open a file depends on the path, which only the flow knows.
    if name == "open" || policy.allowed_calls.iter().any(|allowed| allowed == name) {
        return;
    }
    let (reason, instead) = if let Some(entry) = blocked_calls::blocking_builtin(name, policy.contract) {
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
    let policy = names.policy;
    if policy.allowed_calls.contains(&path) {
        return;
    }
    if let Some(entry) = blocked_calls::blocking_member(&path, policy.contract) {
        // An import that was refused has said it already.
        if crate::data::blocked_imports::blocking(&path).is_none() {
            blocked(names, expr.range(), &path, entry.reason, entry.instead);
        }
    } else if policy.blocked_calls.contains(&path) {
        blocked(names, expr.range(), &path, "the policy of this workspace blocks it", "do without it");
    }
}

/// Judges a call whose arguments decide.
pub(super) fn call<'a>(names: &mut Names<'a, '_, '_>, call: &'a ExprCall, path: Option<&str>) {
    for function in ["getattr", "setattr", "delattr"] {
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
            for argument in &call.arguments.args {
                for part in text_of(argument).unwrap_or_default().split('.') {
                    attributes::attribute_name(names, part, argument.range());
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
    let Some(argument) = call.arguments.args.get(1) else { return };
    let known: Vec<&str> = match argument {
        Expr::StringLiteral(literal) => vec![literal.value.to_str()],
        Expr::Name(name) => match names.scopes.meaning(name.id.as_str(), names.scope) {
            Meaning::Bound(binding) => binding.texts.clone().unwrap_or_default(),
            Meaning::Free => Vec::new(),
        },
        _ => Vec::new(),
    };
    for attribute in &known {
        attributes::attribute_name(names, attribute, argument.range());
    }
    if known.is_empty() && !names.policy.allowed_calls.iter().any(|allowed| allowed == function) {
        let message = format!(
            "`{function}` may not be given a computed name: which attribute it reaches cannot be known"
        );
        let severity = if names.policy.contract.is_plan() { Severity::Error } else { Severity::Warning };
        let draft = Draft::new(FindingCode::BlockedCall, call.range(), message).severity(severity);
        names.report.add(draft.hint("name the attribute, or choose the function from a dict of your own"));
    }
}

fn blocked(names: &mut Names<'_, '_, '_>, range: TextRange, name: &str, reason: &str, instead: &str) {
    let draft = Draft::new(FindingCode::BlockedCall, range, format!("`{name}` may not be used: {reason}"));
    names.report.add(draft.hint(instead));
}
