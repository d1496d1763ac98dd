//! Parts of the programs that carry forms out.

use std::fmt::Write as _;

use serde_json::Value;

use super::form::{Cond, Operand, Path};
use super::index::Index;
use super::words;

/// The name of a param stands between these in a text that says its value. Unicode keeps both for use within a program.
pub(super) const PARAM: char = '\u{FDD0}';
pub(super) const PARAM_END: char = '\u{FDD1}';

/// Lines within a block.
pub(crate) fn indent(lines: &str) -> String {
    lines.split_inclusive('\n').flat_map(|line| ["    ", line]).collect()
}

/// A text as Python writes it.
pub(crate) fn quote(text: &str) -> String {
    if text.contains(PARAM) { format!("f\"{}\"", braces(text)) } else { Value::from(text).to_string() }
}

/// A text within an f-string. Names of columns come from files of others: nothing in a text may become code.
pub(crate) fn braces(text: &str) -> String {
    let mut written = String::new();
    for (at, part) in text.split(PARAM).enumerate() {
        let param = part.split_once(PARAM_END).filter(|(name, _)| at > 0 && is_plain(name));
        if let Some((name, _)) = param {
            let _ = write!(written, "{{params['{name}']}}");
        }
        let quoted = Value::from(param.map_or(part, |(_, rest)| rest)).to_string();
        written += &quoted[1..quoted.len() - 1].replace('{', "{{").replace('}', "}}");
    }
    written
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name that Python can hold in single quotes within an f-string, which in older versions has no escapes there.
pub(crate) fn shown_name(name: &str) -> String {
    let shown = |character: char| match character {
        '\'' => '’',
        '"' => '”',
        '\\' => '/',
        PARAM | PARAM_END => ' ',
        other if other.is_control() => ' ',
        other => other,
    };
    name.chars().map(shown).collect()
}

/// A name in single quotes, for use within an f-string.
pub(crate) fn single(name: &str) -> String {
    format!("'{}'", shown_name(name))
}

pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Columns with a name each that no other has, and that can stand in a text of the program.
pub(crate) fn named(index: &Index, paths: &[Path]) -> Vec<(String, Path)> {
    let mut names: Vec<(String, Path)> = Vec::new();
    for path in paths {
        let table = &index.tables[path.table];
        let own = table.columns[path.column].name.clone();
        let name = if path.hops.is_empty()
            || !names.iter().any(|(known, _)| *known == own) && !matches!(own.as_str(), "name" | "title")
        {
            own
        } else {
            format!("{}_{own}", words::referred(index, path).replace(' ', "_"))
        };
        let name = shown_name(&name);
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, path.clone()));
        }
    }
    names
}

/// The columns that a condition is about.
pub(crate) fn paths_of(cond: &Cond, found: &mut Vec<Path>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|cond| paths_of(cond, found)),
        Cond::Not(inner) => paths_of(inner, found),
        Cond::Cmp(path, _, operand) => {
            found.push(path.clone());
            if let Operand::Column(other) = operand {
                found.push(other.clone());
            }
        }
        Cond::Days(path, ..) | Cond::Null(path) => found.push(path.clone()),
        Cond::Word(..) | Cond::Some(..) => {}
    }
}
