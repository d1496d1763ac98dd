//! The Python that reads a table out of a file.

use super::catalog::Source;
use super::python::{Code, list, text};

/// Above this a table of text is read in pieces.
const BIG_BYTES: u64 = 24 << 20;
/// Above this many values a table that is packed on disk is.
const BIG_VALUES: u64 = 4_000_000;

impl Source {
    /// Whether the table is too large to be read whole without thought.
    pub(super) fn is_big(&self) -> bool {
        let is_long = match self.kind.as_str() {
            "csv" | "tsv" | "dat" | "jsonl" | "ndjson" => self.bytes > BIG_BYTES,
            "parquet" => self.rows.saturating_mul(self.columns.len() as u64) > BIG_VALUES,
            _ => false,
        };
        is_long && self.files.len() == 1
    }

    /// Adds the lines that read it into a variable, every column with the type that was found.
    pub(super) fn read_into(&self, variable: &str, code: &mut Code) {
        code.import("import pandas as pd");
        if let [file] = self.files.as_slice() {
            code.add(format!("{variable} = {}", self.expression(&text(file))));
        } else {
            // Pieces of one table: the same columns in every file.
            code.add(format!("names = {}", list(&self.files)));
            let expression = self.expression("name");
            code.add(format!("{variable} = pd.concat([{expression} for name in names], ignore_index=True)"));
        }
    }

    fn expression(&self, file: &str) -> String {
        self.table
            .as_ref()
            .map_or_else(|| format!("frame({file})"), |table| format!("frame({file}, {})", text(table)))
    }
}
