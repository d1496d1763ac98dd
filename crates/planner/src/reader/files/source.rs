//! Where a table of files lies, as the expression that loads it.

use super::catalog::Source;
use crate::reader::code::quote;

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
