//! Shares of rows, and how two columns go together.

use super::frames::{Frame, ROWS, SHOWN, single};
use super::gaps::{gaps_of, spoken};
use crate::reader::code::{braces, quote};
use crate::reader::form::{Cond, Path, Select};
use crate::reader::words;

impl Frame<'_> {
    /// How large a part of the rows meets a condition.
    pub(super) fn share(&mut self, select: &Select, part: &Cond, by: &[Path]) -> Option<String> {
        let mask = self.mask(part)?;
        let said = format!("where {}", words::filter_words(self.index, part));
        let of = format!("{}{}", self.noun(), self.said(&select.filter));
        if by.is_empty() {
            return Some(format!(
                "answer_json = float({mask}.mean()) if len(rows) else None\n\
                 answer_text = f\"{{answer_json:.2%}} of {} are those {}.\" if len(rows) else {}\nSTATUS = \"success\" if len(rows) else \"no_match\"\n",
                braces(&of),
                braces(&said),
                self.none(select),
            ));
        }
        let keys = self.keys(by)?;
        let list: Vec<String> = keys.iter().map(|(_, key)| format!("rows[{}]", quote(key))).collect();
        let cells: Vec<String> =
            keys.iter().map(|(_, key)| format!("{{shown(row[{}])}}", single(key))).collect();
        Some(format!(
            "{}table = {mask}.groupby([{}]).mean().reset_index(name=\"share\").sort_values(\"share\", ascending=False, kind=\"stable\")\n\
             answer_rows = table.head({ROWS}).to_dict(\"records\")\n\
             answer_text = {} + \", \".join(f\"{} ({{row['share']:.2%}})\" for row in answer_rows[:{SHOWN}]) + \".\" + left_out if len(table) else {}\n\
             STATUS = \"success\" if len(table) else \"no_match\"\n",
            gaps_of(&spoken(&keys)),
            list.join(", "),
            quote(&format!("Share {said} of {of}: ")),
            cells.join(", "),
            self.none(select),
        ))
    }

    /// How two columns go together.
    pub(super) fn correlation(&mut self, select: &Select, left: &Path, right: &Path) -> Option<String> {
        let (a, b) = (self.column(left)?, self.column(right)?);
        Some(format!(
            "value = {a}.corr({b})\nis_there = not pd.isna(value)\nanswer_json = float(value) if is_there else None\n\
             answer_text = f\"The correlation of {} and {} is {{value:.4f}}{}.\" if is_there else \"There are too few values for a correlation.\"\n\
             STATUS = \"success\" if is_there else \"no_match\"\n",
            braces(&words::column(self.index, left)),
            braces(&words::column(self.index, right)),
            braces(&self.said(&select.filter)),
        ))
    }
}
