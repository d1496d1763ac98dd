//! Rows that a figure or a group leaves out since they have no value: the answer says how many.

use super::frames::Frame;
use crate::reader::code::quote;
use crate::reader::form::Measure;
use crate::reader::words;

impl Frame<'_> {
    /// The rows that a figure leaves out since they have no value: what is missing, and its column.
    pub(super) fn measured_gaps(&self, measure: &Measure, name: &str) -> Vec<(String, String)> {
        let said = match measure {
            Measure::Of("avg" | "median" | "std" | "var", path) => words::column(self.index, path),
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
