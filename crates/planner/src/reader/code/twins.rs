//! Rows of the same name: groups and figures tell them apart by their keys.

use std::fmt::Write as _;

use super::super::form::{Cond, Op, Operand, Path};
use super::super::index::Index;
use super::single;

/// The key of the row that a path names, if it is the name of a row that is referred to.
pub(super) fn key_of(index: &Index, path: &Path) -> Option<Path> {
    let key = path.hops.last()?.to;
    (index.tables[path.table].label == Some(path.column) && key != path.column)
        .then(|| Path { column: key, ..path.clone() })
}

/// The key of the rows that a condition calls by their names, and how many names.
pub(super) fn called(index: &Index, cond: &Cond) -> Option<(Path, usize)> {
    match cond {
        Cond::And(all) => all.iter().find_map(|one| called(index, one)),
        Cond::Or(all) => {
            let first = called(index, all.first()?)?;
            all.iter().all(|one| called(index, one).as_ref() == Some(&first)).then_some((first.0, all.len()))
        }
        Cond::Cmp(path, Op::Eq, Operand::Lit(_)) => {
            let table = &index.tables[path.table];
            let key = path.hops.last().map(|hop| hop.to).or(table.key)?;
            let is_name = table.label == Some(path.column) && key != path.column;
            is_name.then(|| (Path { column: key, ..path.clone() }, 1))
        }
        _ => None,
    }
}

/// How a group is told within an f-string, with the key where another group has the same name; and the names of all groups.
pub(super) fn told_apart(index: &Index, names: &[(String, Path)], by: &[Path]) -> (String, String) {
    let (mut told, mut all) = (Vec::new(), String::new());
    for (at, (name, path)) in names.iter().enumerate().filter(|(_, (_, path))| by.contains(path)) {
        let own = single(name);
        let key = key_of(index, path).and_then(|key| names.iter().find(|(_, path)| *path == key));
        let twin = key.map(|(key, _)| {
            let key = single(key);
            let _ = writeln!(
                all,
                "names_{at} = [name for name, _ in {{(row[{own}], row[{key}]) for row in rows}}]"
            );
            format!("{{' (' + str(row[{key}]) + ')' if names_{at}.count(row[{own}]) > 1 else ''}}")
        });
        let has_gaps = !path.hops.is_empty() || index.tables[path.table].columns[path.column].has_nulls;
        let gap = if has_gaps { format!("'no value' if row[{own}] is None else ") } else { String::new() };
        told.push(format!("{{{gap}row[{own}]}}{}", twin.unwrap_or_default()));
    }
    (told.join(", "), all)
}
