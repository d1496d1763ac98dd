//! How many sheets workbooks have, and what they are called: all of them, whether or not they hold one table.

use serde_json::Value;

use super::texts::Asking;
use crate::brief::FileBrief;
use crate::reader::code::quote;
use crate::reader::index::split_name;
use crate::reader::lexicon::singular;

impl Asking<'_> {
    /// `how many sheets`, `which sheets are there`, `list the sheets of the book`.
    pub(super) fn sheets(&self, start: usize) -> Option<(String, String)> {
        let parser = &self.parser;
        let books: Vec<(&FileBrief, &Value)> =
            self.files.iter().filter_map(|file| Some((*file, file.facts.get("sheets")?))).collect();
        // A column of that name is asked about as any other.
        if books.is_empty() || self.files.iter().any(|file| has_column(file)) {
            return None;
        }
        let begin = parser.one("how_many", start).unwrap_or(start);
        let end = parser.one("file.sheets", parser.determiners(begin))?;
        let named: Vec<&FileBrief> = books.iter().map(|(file, _)| *file).collect();
        self.tail(&named, end)?;
        let list: Vec<String> =
            books.iter().map(|(file, sheets)| format!("{}: {sheets}", quote(&file.name))).collect();
        let code = format!(
            "# The sheets that a look into each workbook found.\nsheets = {{{}}}\n\
             answer_rows = [{{\"file\": name, \"sheet\": sheet}} for name, all in sheets.items() for sheet in all]\n\
             answer_json = len(answer_rows)\n\
             answer_text = \"; \".join(f\"{{name}} has {{len(all)}} {{'sheet' if len(all) == 1 else 'sheets'}} that {{'is' if len(all) == 1 else 'are'}} not hidden: \" + \", \".join(all) for name, all in sheets.items()) + \".\"\nSTATUS = \"success\"\n",
            list.join(", ")
        );
        Some(("sheets of workbooks".to_owned(), code))
    }
}

/// Whether a table of a file has a column of sheets of its own.
fn has_column(file: &FileBrief) -> bool {
    let tables = file.facts.get("tables").and_then(Value::as_array).into_iter().flatten();
    tables.into_iter().any(|table| {
        let part = table.get("part_column").and_then(Value::as_str);
        let columns = table.get("columns").and_then(Value::as_array).into_iter().flatten();
        let names = columns.filter_map(|column| column.get("name")?.as_str());
        let is_sheet = |name: &str| split_name(name).iter().any(|word| singular(word) == "sheet");
        names.into_iter().any(|name| Some(name) != part && is_sheet(name))
    })
}
