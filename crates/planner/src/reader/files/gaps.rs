//! Rows that a figure or a group leaves out since they have no value: the answer says how many.

use super::frames::Frame;
use crate::reader::code::quote;
use crate::reader::form::{Measure, Path};
use crate::reader::words;

impl Frame<'_> {
    /// The mask of the rows with a value, whether or not it can be read.
    pub(super) fn present(&mut self, path: &Path) -> Option<String> {
        let name = &self.index.tables[path.table].columns[path.column].name;
        if self.sources[path.table].unread.contains(name) {
            return Some(format!("~{}", self.missing(path)?));
        }
        Some(format!("{}.notna()", self.column(path)?))
    }

    /// The mask of the rows without a value. One that is there and cannot be read is no gap.
    pub(super) fn missing(&mut self, path: &Path) -> Option<String> {
        let column = self.column(path)?;
        let source = &self.sources[path.table];
        let name = &self.index.tables[path.table].columns[path.column].name;
        if !source.unread.contains(name) {
            return Some(format!("{column}.isna()"));
        }
        // What cannot be read is known by its place in its file, which rows of several tables or pieces do not have.
        if !path.hops.is_empty() || !self.joins.is_empty() || source.parts.len() > 1 || source.is_big {
            return None;
        }
        let (rows, name) = (&self.variable, quote(name));
        Some(format!("({column}.isna() & ~{rows}.index.isin(list({rows}.attrs[\"misfits\"][{name}])))"))
    }

    /// The rows that a figure leaves out since they have no value: what is missing, and its column.
    pub(super) fn measured_gaps(&self, measure: &Measure, name: &str) -> Vec<(String, String)> {
        let said = match measure {
            Measure::Of("avg" | "median" | "std" | "var", path) => {
                let (said, table) = (words::column(self.index, path), &self.index.tables[path.table]);
                // Some of these rows have a value.
                let is_unread = self.sources[path.table].unread.contains(&table.columns[path.column].name);
                if is_unread { format!("a readable {said}") } else { said }
            }
            Measure::Product("avg", ..) => "revenue".to_owned(),
            _ => return Vec::new(),
        };
        vec![(said, name.to_owned())]
    }
}

/// The names of groups as people say them, each with its column.
pub(super) fn spoken(keys: &[(String, String)]) -> Vec<(String, String)> {
    keys.iter().map(|(name, key)| (name.replace('_', " "), key.clone())).collect()
}

/// The lines that count the rows without a value in some columns, and say so.
pub(super) fn gaps_of(columns: &[(String, String)]) -> String {
    if columns.is_empty() {
        return "left_out = \"\"\n".to_owned();
    }
    let counts = columns
        .iter()
        .map(|(said, column)| format!("{}: int(rows[{}].isna().sum())", quote(said), quote(column)));
    format!("gaps = {{{}}}\n{LEFT_OUT}", counts.collect::<Vec<_>>().join(", "))
}

/// Says of how many rows the figures know nothing.
pub(super) const LEFT_OUT: &str = "left_out = \", \".join(f\"{count:,} without {name}\" for name, count in gaps.items() if count)\n\
     left_out = f\" Left out: {left_out}.\" if left_out else \"\"\n";
