//! The owner's conditions in `ordain.toml`: `price < 50`, `status = "open" and due_on is null`.

use serde_json::json;

use super::form::{Cond, Lit, Op, Operand, Path};
use super::index::Index;

/// Reads a condition on the columns of a table; `None` if it is none.
pub(crate) fn condition(index: &Index, table: usize, text: &str) -> Option<Cond> {
    let ors: Option<Vec<Cond>> =
        split(text, " or ").into_iter().map(|part| all(index, table, part)).collect();
    Some(Cond::any(ors?))
}

fn all(index: &Index, table: usize, text: &str) -> Option<Cond> {
    let ands: Option<Vec<Cond>> =
        split(text, " and ").into_iter().map(|part| one(index, table, part.trim())).collect();
    Some(Cond::all(ands?))
}

/// Parts between a joining word that stands outside of quotes.
fn split<'a>(text: &'a str, by: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    let lower = text.to_lowercase();
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, _) if at >= start && lower.get(at..).is_some_and(|rest| rest.starts_with(by)) => {
                parts.push(&text[start..at]);
                start = at + by.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn one(index: &Index, table: usize, text: &str) -> Option<Cond> {
    let columns = &index.tables[table].columns;
    let path = |name: &str| {
        let column = columns.iter().position(|column| column.name == name.trim())?;
        Some(Path { hops: Vec::new(), table, column })
    };
    let lower = text.to_lowercase();
    if let Some(name) = lower.strip_suffix(" is not null") {
        return path(&text[..name.len()]).map(|path| Cond::Not(Box::new(Cond::Null(path))));
    }
    if let Some(name) = lower.strip_suffix(" is null") {
        return path(&text[..name.len()]).map(Cond::Null);
    }
    let signs = [
        ("<=", Op::Le),
        (">=", Op::Ge),
        ("!=", Op::Eq),
        ("<>", Op::Eq),
        ("<", Op::Lt),
        (">", Op::Gt),
        ("=", Op::Eq),
    ];
    let (sign, op) = *signs.iter().find(|(sign, _)| text.contains(sign))?;
    let (left, right) = text.split_once(sign)?;
    let left = path(left)?;
    let right = right.trim();
    let operand = match path(right) {
        Some(column) => Operand::Column(column),
        None => Operand::Lit(Lit { value: literal(right)?, at: (0, 0) }),
    };
    let cond = Cond::Cmp(left, op, operand);
    Some(if matches!(sign, "!=" | "<>") { Cond::Not(Box::new(cond)) } else { cond })
}

fn literal(text: &str) -> Option<serde_json::Value> {
    let quoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    match (quoted('\'').or_else(|| quoted('"')), text) {
        (Some(inner), _) => Some(json!(inner)),
        (None, "true") => Some(json!(true)),
        (None, "false") => Some(json!(false)),
        (None, number) => number.parse::<f64>().ok().map(super::parse::as_json),
    }
}
