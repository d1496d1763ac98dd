//! Judges `import` statements.

use ruff_python_ast::{StmtImport, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange};

use super::Names;
use super::calls::member_refusal;
use crate::contract::Contract;
use crate::data::blocked_imports::{self, is_below};
use crate::data::{profiles, stdlib};
use crate::finding::Severity;
use crate::finding_code::FindingCode;
use crate::report::{Draft, replace};
use crate::suggest::{self, suggest};

pub(super) fn import<'a>(names: &mut Names<'a, '_, '_>, import: &'a StmtImport) {
    for alias in &import.names {
        module(names, alias.name.as_str(), alias.name.range());
    }
}

pub(super) fn import_from<'a>(names: &mut Names<'a, '_, '_>, import: &'a StmtImportFrom) {
    if import.level > 0 {
        let draft = Draft::new(
            FindingCode::UnknownImport,
            import.range(),
            "a plan is one file: there is nothing to import relative to it",
        );
        names.report.add(draft.hint("import by full name, or define the function here"));
        return;
    }
    let Some(from) = &import.module else { return };
    let is_known = module(names, from.as_str(), from.range());
    for alias in &import.names {
        if &alias.name == "*" {
            star(names, from.as_str(), alias.range());
        } else if is_known {
            let path = format!("{from}.{}", alias.name);
            if !blocked_module(names, &path, alias.name.range()) {
                blocked_member(names, &path, alias.name.range());
            }
        }
    }
}

/// Judges one module; whether it may be imported.
fn module(names: &mut Names<'_, '_, '_>, path: &str, range: TextRange) -> bool {
    names.effects.imports.insert(path.to_owned());
    if blocked_module(names, path, range) {
        return false;
    }
    let top = path.split('.').next().unwrap_or(path);
    if names.is_importable(top) {
        return true;
    }
    unknown(names, top, path, range);
    false
}

/// Reports a module that may not be imported; whether it did.
fn blocked_module(names: &mut Names<'_, '_, '_>, path: &str, range: TextRange) -> bool {
    let policy = names.policy;
    if policy.allowed_imports.iter().any(|allowed| is_below(path, allowed)) {
        return false;
    }
    let (reason, instead) = if let Some(entry) = blocked_imports::blocking(path) {
        (entry.reason, entry.instead)
    } else if policy.blocked_imports.iter().any(|blocked| is_below(path, blocked)) {
        ("the policy of this workspace blocks it", "do without it")
    } else {
        return false;
    };
    let draft =
        Draft::new(FindingCode::BlockedImport, range, format!("`{path}` may not be imported: {reason}"));
    names.report.add(draft.hint(instead));
    true
}

fn blocked_member(names: &mut Names<'_, '_, '_>, path: &str, range: TextRange) {
    if let Some((reason, instead)) = member_refusal(path, names.policy) {
        let message = format!("`{path}` may not be used: {reason}");
        names.report.add(Draft::new(FindingCode::BlockedCall, range, message).hint(instead));
    }
}

fn star(names: &mut Names<'_, '_, '_>, module: &str, range: TextRange) {
    let general = names.policy.contract == Contract::Exec;
    let severity = if general { Severity::Warning } else { Severity::Error };
    let message = format!("`from {module} import *` hides which names the code uses");
    let draft = Draft::new(FindingCode::StarImport, range, message).severity(severity);
    names.report.add(draft.hint("import the names that are used"));
}

fn unknown(names: &mut Names<'_, '_, '_>, top: &str, path: &str, range: TextRange) {
    let python = names.policy.python;
    let mut edit = None;
    let (message, hint) = if let Some(changed) = stdlib::changed(top) {
        let message = if python.minor < changed.since {
            format!("`{top}` is new in Python 3.{}; the cell runs {python}", changed.since)
        } else {
            format!("`{top}` was removed in Python 3.{}; the cell runs {python}", changed.until)
        };
        (message, "use another module".to_owned())
    } else if top == "helpers" && !names.policy.helpers.is_empty() {
        let list = suggest::list(names.policy.helpers.iter().map(|helper| helper.name.as_str()));
        ("helpers are defined already and need no import".to_owned(), format!("call them by name: {list}"))
    } else {
        let message = format!("`{top}` is neither in the standard library nor in the profile");
        let module = profiles::PACKAGE_MODULES.iter().find(|(package, _)| package.eq_ignore_ascii_case(top));
        let known = || {
            let packages = names.policy.packages.iter().map(String::as_str);
            packages.chain(stdlib::stdlib_modules(python).map(|name| -> &str { name }))
        };
        let nearest = match module {
            Some((_, module)) if names.is_importable(module) => Some((*module, false)),
            _ => suggest(top, known())
                .filter(|found| found.is_near)
                .map(|found| (found.name, found.is_certain)),
        };
        if let Some((name, true)) = nearest {
            edit = Some(replace(format!("import `{name}`"), range, path.replacen(top, name, 1)));
        }
        let hint = if let Some((name, _)) = nearest {
            format!("did you mean `{name}`?")
        } else {
            let list = suggest::list(names.policy.packages.iter().map(String::as_str));
            format!("the profile has the standard library and: {list}")
        };
        (message, hint)
    };
    let severity = if names.guards.imports > 0 { Severity::Warning } else { Severity::Error };
    let draft = Draft::new(FindingCode::UnknownImport, range, message).severity(severity);
    names.report.add(draft.hint(hint).edit(edit));
}
