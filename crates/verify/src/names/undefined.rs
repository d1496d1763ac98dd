//! Names that nothing defines: forgotten imports, wrong tables, slips of the pen.

use ruff_python_ast::{ExprAttribute, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashMap;

use super::Names;
use crate::data::{builtins, known_imports, stdlib};
use crate::finding::Edit;
use crate::finding_code::FindingCode;
use crate::report::{Draft, replace};
use crate::suggest::{self, suggest};

/// Names that were used without being defined, each with its first use.
#[derive(Debug, Default)]
pub(super) struct Undefined<'a> {
    found: Vec<UnknownName<'a>>,
    index: FxHashMap<&'a str, usize>,
    /// The program defines names by text, so that an undefined one proves nothing.
    pub(super) is_silent: bool,
}

#[derive(Debug)]
struct UnknownName<'a> {
    name: &'a str,
    ranges: Vec<TextRange>,
    /// What is read from it as an attribute: `now` in `datetime.now()`.
    attributes: Vec<&'a str>,
}

impl<'a> Undefined<'a> {
    /// What is known of a name that nothing defines.
    fn found(&mut self, name: &'a str) -> &mut UnknownName<'a> {
        let index = *self.index.entry(name).or_insert_with(|| {
            self.found.push(UnknownName { name, ranges: Vec::new(), attributes: Vec::new() });
            self.found.len() - 1
        });
        &mut self.found[index]
    }
}

pub(super) fn note<'a>(names: &mut Names<'a, '_, '_>, name: &'a str, range: TextRange) {
    names.undefined.found(name).ranges.push(range);
}

/// Remembers which attribute is read from a name that the program does not bind.
pub(super) fn note_attribute<'a>(names: &mut Names<'a, '_, '_>, name: &'a str, attribute: &'a ExprAttribute) {
    if names.is_provided(name) || builtins::is_builtin(name) {
        return;
    }
    let found = names.undefined.found(name);
    found.attributes.push(attribute.attr.as_str());
}

/// Reports every undefined name once, at its first use.
pub(super) fn finish(names: &mut Names<'_, '_, '_>, body: &[Stmt]) {
    let undefined = std::mem::take(&mut names.undefined);
    if undefined.is_silent || names.scopes.has_star_import {
        return;
    }
    for found in &undefined.found {
        // A name may be used only where a NameError is caught: then it was never noted.
        let Some(&range) = found.ranges.first() else { continue };
        if !names.report.has_room() {
            return;
        }
        let draft = forgotten_import(names, found, range, body)
            .or_else(|| wrong_table(names, found, range))
            .unwrap_or_else(|| undefined_name(names, found.name, range));
        names.report.add(draft);
    }
}

fn forgotten_import(
    names: &Names<'_, '_, '_>,
    found: &UnknownName<'_>,
    range: TextRange,
    body: &[Stmt],
) -> Option<Draft> {
    let name = found.name;
    let is_module = stdlib::is_stdlib(name, names.policy.python) && !found.attributes.is_empty();
    let statement = if name == "datetime"
        && found.attributes.iter().all(|attr| known_imports::DATETIME_CLASS.contains(attr))
    {
        "from datetime import datetime".to_owned()
    } else if is_module {
        format!("import {name}")
    } else if let Some(statement) = known_imports::statement(name) {
        statement
    } else if names.policy.packages.iter().any(|package| package == name) && !found.attributes.is_empty() {
        format!("import {name}")
    } else {
        return None;
    };
    let module = known_imports::module_of(&statement);
    let is_allowed = crate::data::blocked_imports::blocking(module).is_none()
        && names.is_importable(module.split('.').next().unwrap_or(module));
    if !is_allowed {
        return None;
    }
    let message = format!("`{name}` is used but never imported");
    let draft =
        Draft::new(FindingCode::MissingImport, range, message).hint(format!("add `{statement}` at the top"));
    Some(draft.edit(Some(insert_import(&statement, body))))
}

/// Puts an import before the first statement that is neither a docstring nor a `__future__` import.
fn insert_import(statement: &str, body: &[Stmt]) -> Edit {
    let is_head = |index: usize, stmt: &Stmt| match stmt {
        Stmt::Expr(inner) => index == 0 && inner.value.is_string_literal_expr(),
        Stmt::ImportFrom(import) => import.module.as_deref() == Some("__future__"),
        _ => false,
    };
    let first = body.iter().enumerate().find(|(index, stmt)| !is_head(*index, stmt));
    let at = first.map_or(TextSize::new(0), |(_, stmt)| stmt.start());
    replace(format!("add `{statement}`"), TextRange::empty(at), format!("{statement}\n"))
}

fn wrong_table(names: &Names<'_, '_, '_>, found: &UnknownName<'_>, range: TextRange) -> Option<Draft> {
    let table = found.name.strip_suffix("_tbl").or_else(|| found.name.strip_suffix("_table"))?;
    let known = || names.schema.tables.iter().filter(|table| !table.hidden).map(|table| table.name.as_str());
    let suggestion = suggest(table, known())?;
    let variable = format!("{}_tbl", suggestion.name);
    let is_certain = suggestion.is_certain && found.name.ends_with("_tbl");
    let edit = is_certain.then(|| Edit {
        title: format!("use `{variable}`"),
        replacements: found
            .ranges
            .iter()
            .map(|&range| crate::report::replacement(range, variable.clone()))
            .collect(),
    });
    let hint = if suggestion.is_near {
        format!("did you mean `{variable}`?")
    } else {
        format!("the tables are: {}", suggest::list(known()))
    };
    let message = format!("the workspace has no table `{table}`");
    Some(Draft::new(FindingCode::UnknownTable, range, message).hint(hint).edit(edit))
}

fn undefined_name(names: &Names<'_, '_, '_>, name: &str, range: TextRange) -> Draft {
    let tables = names.schema.tables.iter().map(|table| format!("{}_tbl", table.name)).collect::<Vec<_>>();
    let provided = names.policy.names.iter().chain(names.policy.helpers.iter().map(|helper| &helper.name));
    let mut known: Vec<&str> = provided.map(String::as_str).collect();
    known.extend(tables.iter().map(String::as_str));
    // A hostile program may define thousands of names; the nearest of the first few hundred will do.
    known.extend(names.scopes.names().take(300));
    known.sort_unstable();
    known.extend(builtins::names());
    let hint = match suggest(name, known) {
        Some(found) if found.is_near => format!("did you mean `{}`?", found.name),
        _ if name == "final_answer" => "set `answer_text` instead".to_owned(),
        _ => "define it, or import it, before it is used".to_owned(),
    };
    Draft::new(FindingCode::UndefinedName, range, format!("nothing defines `{name}`")).hint(hint)
}
