//! Several figures at once, shares and correlations.

use super::frames::{Frame, ROWS, SHOWN, method, renamed_table};
use super::gaps::{gaps_of, spoken};
use super::units::{self, Unit};
use crate::reader::code::{braces, quote, single};
use crate::reader::form::{Cond, Measure, Path, Select};
use crate::reader::words;

impl Frame<'_> {
    /// The figure of all rows, or of groups: its column or what it is called, the line before it, and the expression.
    pub(super) fn valued(&mut self, measure: &Measure, rows: &str) -> Option<(String, String, String)> {
        if let Measure::Pair(pair, '/') = measure {
            let (Measure::Of("sum", left), Measure::Of("sum", right)) = pair.as_ref() else { return None };
            let (left, right) = (quote(&self.name(left)?), quote(&self.name(right)?));
            // Nothing is divided by 0.
            let by = format!("{rows}[{right}].sum(min_count=1)");
            let by = if rows == "rows" {
                format!("({by} or float(\"nan\"))")
            } else {
                format!("{by}.replace(0, float(\"nan\"))")
            };
            let value = format!("({rows}[{left}].sum(min_count=1) / {by})");
            return Some((self.figure_words(measure), String::new(), value));
        }
        let (name, line) = self.measured(measure)?;
        let value = method(measure, &format!("{rows}[{}]", quote(&name)), rows);
        Some((name, line, value))
    }

    pub(super) fn figures(&mut self, select: &Select, measures: &[Measure], by: &[Path]) -> Option<String> {
        let keys = self.keys(by)?;
        let list: Vec<String> = keys.iter().map(|(_, key)| quote(key)).collect();
        let rows = if by.is_empty() { "rows".to_owned() } else { "groups".to_owned() };
        let mut lines = String::new();
        let mut entries: Vec<String> = Vec::new();
        let mut counted: Vec<(String, Option<Unit>)> = Vec::new();
        for measure in measures {
            counted.push((self.figure_name(measure), self.unit_of(measure)));
            let (name, line) = self.measured(measure)?;
            if !lines.contains(&line) {
                lines.push_str(&line);
            }
            let value = method(measure, &format!("{rows}[{}]", quote(&name)), &rows);
            entries.push(format!("{}: {value}", quote(&self.figure_name(measure))));
        }
        let said = self.said(&select.filter);
        let units = Some(units::line(&counted)).filter(|line| !line.is_empty());
        let units = units.unwrap_or_else(|| "units = {}\n".to_owned());
        if by.is_empty() {
            return Some(format!(
                "{lines}{units}figures = {{{}}}\n\
                 answer_json = {{name: None if pd.isna(value) else value.isoformat() if hasattr(value, \"isoformat\") else float(value) for name, value in figures.items()}} if len(rows) else None\n\
                 answer_text = {} + \", \".join(f\"{{name.replace('_', ' ')}} {{shown(value, False, *units.get(name, ()))}}\" for name, value in figures.items()) + \".\" if answer_json else {}\n\
                 STATUS = \"success\" if answer_json else \"no_match\"\n",
                entries.join(", "),
                quote(&format!("Of {}{said}: ", self.noun())),
                self.none(select),
            ));
        }
        let making = format!(
            "{lines}{}groups = rows.groupby([{}])\ntable = pd.DataFrame({{{}}}).reset_index()\n",
            gaps_of(&spoken(&keys)),
            list.join(", "),
            entries.join(", "),
        );
        let telling = format!(
            "{units}answer_rows = table.head({ROWS}).to_dict(\"records\")\n\
             listed = \"; \".join(\", \".join(f\"{{name.replace('_', ' ')}} {{shown(value, False, *units.get(name, ()))}}\" for name, value in row.items()) for row in answer_rows[:{SHOWN}])\n\
             answer_text = {} + listed + \".\" + left_out if len(table) else {}\nSTATUS = \"success\" if len(table) else \"no_match\"\n",
            quote(&format!("Of {}{said}: ", self.noun())),
            self.none(select),
        );
        Some(making + &self.telling("table", telling))
    }

    pub(super) fn share(&mut self, select: &Select, part: &Cond, by: &[Path]) -> Option<String> {
        let mask = self.mask(part)?;
        // What is denied is the whole, and not the share.
        let mask = if mask.starts_with('~') { format!("({mask})") } else { mask };
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
            keys.iter().map(|(name, _)| format!("{{shown(row[{}], True)}}", single(name))).collect();
        let making = format!(
            "{}table = {mask}.groupby([{}]).mean().reset_index(name=\"share\").sort_values(\"share\", ascending=False, kind=\"stable\")\n{}",
            gaps_of(&spoken(&keys)),
            list.join(", "),
            renamed_table(&keys),
        );
        let telling = format!(
            "answer_rows = table.head({ROWS}).to_dict(\"records\")\n\
             answer_text = {} + \", \".join(f\"{} ({{row['share']:.2%}})\" for row in answer_rows[:{SHOWN}]) + \".\" + left_out if len(table) else {}\n\
             STATUS = \"success\" if len(table) else \"no_match\"\n",
            quote(&format!("Share {said} of {of}: ")),
            cells.join(", "),
            self.none(select),
        );
        Some(making + &self.telling("table", telling))
    }

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
