//! What numbers of files count, in answers: a currency, a unit, percent.

use super::frames::Frame;
use crate::reader::amounts;
use crate::reader::code::{quote, single};
use crate::reader::form::{Measure, Path};
use crate::reader::index::Sort;

/// The texts before and after a number: `CHF ` and nothing, nothing and ` kg`.
pub(super) type Unit = (String, String);

impl Frame<'_> {
    /// What the numbers of a column count, where that is known.
    pub(super) fn unit(&self, path: &Path) -> Option<Unit> {
        let column = &self.index.tables[path.table].columns[path.column];
        if !matches!(column.sort, Sort::Number | Sort::Whole) {
            return None;
        }
        let sign = amounts::sign(column);
        if !sign.is_empty() {
            return Some((sign, String::new()));
        }
        Some((String::new(), format!(" {}", column.unit.as_ref()?)))
    }

    /// What a figure counts.
    pub(super) fn unit_of(&self, measure: &Measure) -> Option<Unit> {
        match measure {
            // The unit of a variance is another one.
            Measure::Count | Measure::Distinct(_) | Measure::Of("var", _) | Measure::Pair(..) => None,
            Measure::Of(_, path) => self.unit(path),
            // So many of something at a price each are money; of two units nothing is known.
            Measure::Product(_, left, right) => match (self.unit(left), self.unit(right)) {
                (None, Some(unit)) | (Some(unit), None) if !unit.0.is_empty() => Some(unit),
                _ => None,
            },
        }
    }
}

/// The line that says what the numbers of an answer's columns count.
pub(super) fn line(columns: &[(String, Option<Unit>)]) -> String {
    let known = columns.iter().filter_map(|(name, unit)| Some((name, unit.as_ref()?)));
    let listed: Vec<String> = known
        .map(|(name, (before, after))| format!("{}: ({}, {})", quote(name), quote(before), quote(after)))
        .collect();
    if listed.is_empty() { String::new() } else { format!("units = {{{}}}\n", listed.join(", ")) }
}

/// A value of an answer's row within an f-string.
pub(super) fn cell(name: &str, unit: Option<&Unit>) -> String {
    let name = single(name);
    match unit {
        Some(_) => format!("{{shown(row[{name}], False, *units[{name}])}}"),
        None => format!("{{shown(row[{name}])}}"),
    }
}
