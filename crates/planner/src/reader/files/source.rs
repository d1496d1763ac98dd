//! Where a table of files lies, as the expression that loads it, and how its rows are put together with those of others.

use super::catalog::Source;
use super::frames::Frame;
use crate::reader::code::quote;
use crate::reader::form::{Cond, Path};
use crate::reader::words;

impl Frame<'_> {
    /// Rows to which rows of another table refer.
    pub(super) fn referred(
        &mut self,
        table: usize,
        column: usize,
        to: usize,
        inner: &Cond,
    ) -> Option<String> {
        let mut other = Frame::new(self.index, self.sources, "other", table);
        let mask = if inner.is_always() { None } else { Some(other.mask(inner)?) };
        let refers = (table, column);
        let column = quote(&self.index.tables[table].columns[column].name);
        self.before.push(other.loading());
        let at = self.before.len();
        let rows = mask.map_or_else(|| "other".to_owned(), |mask| format!("other[{mask}]"));
        self.before.push(format!("all_{at} = other[{column}]\nknown_{at} = {rows}[{column}].dropna()\n"));
        let own = format!("{}[{}]", self.variable, quote(&self.index.tables[self.table].columns[to].name));
        self.after.push(self.matched(&format!("all_{at}"), &own, refers, (self.table, to)));
        Some(format!("{own}.isin(known_{at})"))
    }

    /// The lines that refuse to join two columns that have no value in common: one does not refer to the other then, however
    /// they are called.
    pub(super) fn matched(&self, from: &str, to: &str, refers: (usize, usize), of: (usize, usize)) -> String {
        let name = |(table, column): (usize, usize)| {
            let table = &self.index.tables[table];
            format!("{} of {}", table.columns[column].name, table.name)
        };
        let said = quote(&format!(
            "no value of {} is in {}, so their rows cannot be put together",
            name(refers),
            name(of)
        ));
        format!(
            "if {from}.notna().any() and {to}.notna().any() and not {from}.dropna().isin({to}).any():\n    raise ValueError({said})\n"
        )
    }

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
