//! Columns of text, aligned.

use std::io::{self, Write};

use super::cut;

/// Wider cells are cut.
pub(crate) const CELL_MAX: usize = 48;

/// Lines of cells under a heading.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        Self { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| cut(&cell, CELL_MAX)).collect());
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds cells that are never cut.
    pub(crate) fn whole_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the lines, each after `indent`. The last column is as wide as it needs to be.
    pub(crate) fn write(&self, out: &mut impl Write, indent: &str) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.heading.len())
            .map(|column| {
                let cells =
                    self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
                cells.chain([self.heading[column].chars().count()]).max().unwrap_or_default()
            })
            .collect();
        for row in std::iter::once(&self.heading).chain(&self.rows) {
            let cells: Vec<String> =
                std::iter::zip(row, &widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(out, "{indent}{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}
