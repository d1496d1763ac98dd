//! Where a table of files lies, as the expression that loads it.

use super::catalog::Source;
use super::frames::Frame;
use crate::reader::code::quote;
use crate::reader::form::Path;
use crate::reader::words;

impl Frame<'_> {
    /// The lines that refuse to add up values of another table's rows to which several rows refer.
    pub(super) fn once(&self, path: &Path) -> String {
        let Some(hop) = path.hops.first() else { return String::new() };
        let key = quote(&self.index.tables[self.table].columns[hop.column].name);
        let (rows, of) = (&self.variable, words::column(self.index, path));
        let said =
            quote(&format!("{of} would be counted more than once: several {} refer to one row", self.noun()));
        format!("if {rows}[{key}].dropna().duplicated().any():\n    raise ValueError({said})\n")
    }
}

/// The expression that loads a table, every column with the type that was found.
pub(super) fn load(source: &Source) -> String {
    let one = |file: &str, table: Option<&str>| match table {
        Some(table) => format!("frame({file}, {table})"),
        None => format!("frame({file})"),
    };
    match source.parts.as_slice() {
        [(file, table)] => one(&quote(file), table.as_deref().map(quote).as_deref()),
        several => {
            let pairs: Vec<String> = several
                .iter()
                .map(|(file, table)| match table {
                    Some(table) => format!("({}, {})", quote(file), quote(table)),
                    None => quote(file),
                })
                .collect();
            let (names, load) = match several[0].1 {
                Some(_) => ("file, table", one("file", Some("table"))),
                None => ("file", one("file", None)),
            };
            format!("pd.concat([{load} for {names} in [{}]], ignore_index=True)", pairs.join(", "))
        }
    }
}
