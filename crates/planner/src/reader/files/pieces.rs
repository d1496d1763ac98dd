//! Figures of tables that are too large to be read whole.

use super::frames::Frame;
use super::gaps::{LEFT_OUT, spoken};
use crate::reader::code::{paths_of, quote};
use crate::reader::form::{Asked, Measure, Path, Select};

impl Frame<'_> {
    /// A figure of a table that is read piece by piece: of each piece only sums, counts and extremes are kept.
    pub(super) fn pieces(&mut self, select: &Select, mask: Option<&str>) -> Option<String> {
        let Asked::Figure { measure, by, best } = &select.asked else { return None };
        let keys = self.keys(by)?;
        let (name, line) = self.measured(measure)?;
        let (kept, joined) = match measure {
            Measure::Count => ("size()", "sum()"),
            Measure::Of("sum", _) | Measure::Product("sum", ..) => ("sum(min_count=1)", "sum(min_count=1)"),
            Measure::Of("min", _) => ("min()", "min()"),
            Measure::Of("max", _) => ("max()", "max()"),
            Measure::Of("avg", _) | Measure::Product("avg", ..) => ("agg([\"sum\", \"count\"])", "sum()"),
            Measure::Distinct(_) => ("", "nunique()"),
            _ => return None,
        };
        let [(file, _)] = self.sources[self.table].parts.as_slice() else { return None };
        if !self.joins.is_empty() || !self.before.is_empty() {
            return None;
        }
        let mut needed: Vec<Path> = by.clone();
        paths_of(&select.filter, &mut needed);
        match measure {
            Measure::Of(_, path) | Measure::Distinct(path) => needed.push(path.clone()),
            Measure::Product(_, left, right) => needed.extend([left.clone(), right.clone()]),
            Measure::Count | Measure::Pair(..) => {}
        }
        let columns = &self.index.tables[self.table].columns;
        let mut names: Vec<&str> = needed
            .iter()
            .map(|path| columns[path.column].cut.map_or(path.column, |(day, _)| day))
            .map(|column| columns[column].name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            names.extend(columns.first().map(|column| column.name.as_str()));
        }
        let list: Vec<String> = names.iter().map(|name| quote(name)).collect();
        let cuts: String =
            self.cuts.iter().flat_map(|cut| ["    ".to_owned(), self.cut_line(*cut)]).collect();
        let filter = mask.map_or_else(String::new, |mask| format!("    rows = rows[{mask}]\n"));
        let line = if line.is_empty() { line } else { format!("    {line}") };
        // Without groups all rows are one.
        let group: Vec<String> = keys.iter().map(|(_, key)| quote(key)).collect();
        let group =
            if group.is_empty() { "lambda row: 0".to_owned() } else { format!("[{}]", group.join(", ")) };
        let of = if *measure == Measure::Count { String::new() } else { format!("[{}]", quote(&name)) };
        let level = if keys.len() > 1 { format!("list(range({}))", keys.len()) } else { "0".to_owned() };
        let is_mean = kept.starts_with("agg");
        let mean = if is_mean { "parts = parts[\"sum\"] / parts[\"count\"]\n" } else { "" };
        let file = quote(file);
        let gaps = [spoken(&keys), self.measured_gaps(measure, &name)].concat();
        let empty: Vec<String> = gaps.iter().map(|(said, _)| format!("{}: 0", quote(said))).collect();
        let count = |(said, column): &(String, String)| {
            format!("    gaps[{}] += int(rows[{}].isna().sum())\n", quote(said), quote(column))
        };
        let head = format!(
            "parts, gaps = [], {{{}}}\nfor rows in frame.pieces({file}, columns=[{}]):\n{cuts}{filter}{line}{}",
            empty.join(", "),
            list.join(", "),
            gaps.iter().map(count).collect::<String>()
        );
        let read = if kept.is_empty() {
            let all: Vec<String> = keys.iter().map(|(_, key)| quote(key)).chain([quote(&name)]).collect();
            let all = all.join(", ");
            format!(
                "{head}    # Only what differs from all pieces before is kept.\n    \
                 parts = [pd.concat([*parts, rows[[{all}]].drop_duplicates()]).drop_duplicates()]\n\
                 parts = parts[0].groupby({group}){of}.{joined}\n"
            )
        } else {
            format!(
                "{head}    # Only one row for each group is kept of a piece.\n    parts.append(rows.groupby({group}){of}.{kept})\n\
                 parts = pd.concat(parts).groupby(level={level}).{joined}\n{mean}"
            )
        };
        if keys.is_empty() {
            let empty = if *measure == Measure::Count { "0" } else { "None" };
            return Some(format!(
                "{read}{LEFT_OUT}value = parts.iloc[0] if len(parts) else {empty}\nvalue = None if pd.isna(value) else getattr(value, \"item\", lambda: value)()\nanswer_json = value\n\
                 answer_text = f\"{}{{left_out}}\" if value is not None else {}\nSTATUS = \"success\" if value is not None else \"no_match\"\n",
                self.sentence(select, measure),
                self.nothing(select, measure),
            ));
        }
        let figure = quote(&self.figure_name(measure));
        Some(format!(
            "{read}{LEFT_OUT}table = parts.reset_index(name={figure})\n{}",
            self.grouped(select, measure, by, *best, &keys)
        ))
    }
}
