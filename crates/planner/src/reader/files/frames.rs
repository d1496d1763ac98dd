//! Writes questions about files as pandas code.

use std::fmt::Write as _;

use serde_json::Value;

use super::catalog::Source;
use super::chart;
use super::compared;
use super::gaps::{gaps_of, spoken};
use super::source::load;
use super::units::{self, Unit};
use crate::exchange::MadeRows;
use crate::reader::code::{braces, capital, named, paths_of, quote, shown_name, single};
use crate::reader::form::{Asked, Cond, Form, Hop, Measure, Op, Operand, Output, Path, Select};
use crate::reader::index::{Index, Period, Sort};
use crate::reader::words;

/// Rows that an answer names.
pub(super) const SHOWN: usize = 20;
/// Rows that an answer brings.
pub(super) const ROWS: usize = 200;

/// The program of a form, and the part of it that makes rows; `None` where there is none. `before` are lines that come before
/// rows are left out.
pub(crate) fn write(
    index: &Index,
    sources: &[Source],
    form: &Form,
    before: &str,
) -> Option<(String, Option<MadeRows>)> {
    let (select, output) = match form {
        Form::Select(select) => (select, None),
        Form::Output(output, select) => (select, Some(*output)),
    };
    let mut frame = Frame::new(index, sources, "rows", select.table);
    let mask = match &select.filter {
        filter if filter.is_always() => None,
        filter => Some(frame.mask(filter)?),
    };
    let is_in_pieces = sources[select.table].is_big;
    let body =
        if is_in_pieces { frame.pieces(select, mask.as_deref())? } else { frame.answer(select, output)? };
    let comment = words::reading(index, form).replace(['\n', '\r'], " ");
    frame.every.insert_str(0, before);
    let mut code = format!("# {comment}\nimport pandas as pd\n{SHOWN_HELPER}\n");
    if !is_in_pieces {
        code.push_str(&frame.loading());
    }
    if !frame.called.is_empty() {
        let mask = mask.map(|mask| format!("rows = rows[{mask}]\n")).unwrap_or_default();
        code.push_str(&compared::asked(
            &frame.called,
            &[&frame.every, &mask, &body].map(String::as_str).concat(),
        ));
        return Some((code, None));
    }
    if !is_in_pieces {
        code.push_str(&frame.every);
        if let Some(mask) = mask {
            let _ = writeln!(code, "rows = rows[{mask}]");
        }
    }
    code.push_str(&body);
    let rows = frame.told.take().and_then(|told| {
        let made = code.strip_suffix(told.code.as_str())?.to_owned();
        Some(MadeRows { code: made, ..told })
    });
    Some((code, rows))
}

const SHOWN_HELPER: &str = "

def shown(value, is_id=False, before=\"\", after=\"\"):
    \"\"\"A value for people: thousands set apart, days without a time, numbers with what they count.\"\"\"
    if hasattr(value, \"item\"):
        value = value.item()
    if not isinstance(value, list) and pd.isna(value):
        return \"no value\"
    if hasattr(value, \"strftime\"):
        return str(value)[:16].removesuffix(\" 00:00\")
    if is_id:
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f\"{before}{value:,}{after}\"
    if isinstance(value, float):
        digits = f\"{value:,.2f}\" if abs(value) >= 1 or value == 0 else f\"{value:.4g}\"
        return before + (digits.rstrip(\"0\").rstrip(\".\") if \".\" in digits else digits) + after
    return str(value)

";

/// One table in the making: its joins and the columns that are computed.
pub(super) struct Frame<'a> {
    pub(super) index: &'a Index,
    pub(super) sources: &'a [Source],
    pub(super) variable: String,
    pub(super) table: usize,
    pub(super) joins: Vec<(Vec<Hop>, String)>,
    pub(super) cuts: Vec<usize>,
    /// Lines that load other tables.
    pub(super) before: Vec<String>,
    /// Lines that follow once the table itself is loaded.
    pub(super) after: Vec<String>,
    /// Rows of which one is compared with, and the column: of several it is asked which.
    pub(super) called: Vec<(String, String)>,
    /// The rows that the program makes, with the code that tells them.
    told: Option<MadeRows>,
    /// The line that keeps all groups before rows are left out, where one without rows counts too.
    every: String,
}

impl<'a> Frame<'a> {
    pub(super) fn new(index: &'a Index, sources: &'a [Source], variable: &str, table: usize) -> Self {
        let variable = variable.to_owned();
        let (joins, cuts, before, after) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (called, told, every) = (Vec::new(), None, String::new());
        Self { index, sources, variable, table, joins, cuts, before, after, called, told, every }
    }

    /// Notes that a variable holds the rows of the answer, and gives back the code that tells them.
    pub(super) fn telling(&mut self, variable: &'static str, code: String) -> String {
        let left_out = (variable == "table").then_some("left_out");
        self.told = Some(MadeRows { code: code.clone(), variable, left_out });
        code
    }

    /// The lines that load the table with everything that was asked for.
    pub(super) fn loading(&self) -> String {
        let mut text: String = self.before.concat();
        let _ = writeln!(text, "{} = {}", self.variable, load(&self.sources[self.table]));
        for (hops, prefix) in &self.joins {
            let Some((last, before)) = hops.split_last() else { continue };
            let owner = before.last().map_or(self.table, |hop| hop.table);
            let left = &self.index.tables[owner].columns[last.column].name;
            let left = match self.joins.iter().find(|(path, _)| path == before) {
                Some((_, prefix)) => format!("{prefix}{left}"),
                None => left.clone(),
            };
            let right = format!("{prefix}{}", self.index.tables[last.table].columns[last.to].name);
            let (key, column) = (quote(&right), &self.index.tables[last.table].columns[last.to].name);
            let said = format!("{column} stands more than once in {}", self.index.tables[last.table].name);
            // A value that stands there twice would count a row twice: then there is no answer. No value is no key.
            let _ = write!(
                text,
                "other = {1}.add_prefix({2})\nother = other[other[{key}].notna()]\n\
                 if other[{key}].duplicated().any():\n    raise ValueError({3} + \": \" + str(other[{key}][other[{key}].duplicated()].iloc[0]))\n{5}\
                 {0} = {0}.merge(other, how=\"left\", left_on={4}, right_on={key})\n",
                self.variable,
                load(&self.sources[last.table]),
                quote(prefix),
                quote(&said),
                quote(&left),
                self.matched(
                    &format!("{}[{}]", self.variable, quote(&left)),
                    &format!("other[{key}]"),
                    (owner, last.column),
                    (last.table, last.to)
                ),
            );
        }
        text.push_str(&self.after.concat());
        for cut in &self.cuts {
            text.push_str(&self.cut_line(*cut));
        }
        text
    }

    /// The name of a column within the loaded table.
    pub(super) fn name(&mut self, path: &Path) -> Option<String> {
        let column = &self.index.tables[path.table].columns[path.column];
        if path.hops.is_empty() {
            if column.cut.is_some() && !self.cuts.contains(&path.column) {
                self.cuts.push(path.column);
            }
            return Some(column.name.clone());
        }
        // A period of another table's day is not computed there.
        if column.cut.is_some() {
            return None;
        }
        Some(format!("{}{}", self.prefix(&path.hops), column.name))
    }

    fn prefix(&mut self, hops: &[Hop]) -> String {
        if let Some((_, prefix)) = self.joins.iter().find(|(known, _)| known == hops) {
            return prefix.clone();
        }
        if hops.len() > 1 {
            self.prefix(&hops[..hops.len() - 1]);
        }
        let table = hops.last().map_or(0, |hop| hop.table);
        let mut prefix = format!("{}.", self.index.tables[table].name);
        while self.joins.iter().any(|(_, known)| *known == prefix) {
            prefix.insert(0, '_');
        }
        self.joins.push((hops.to_vec(), prefix.clone()));
        prefix
    }

    pub(super) fn column(&mut self, path: &Path) -> Option<String> {
        let name = self.name(path)?;
        Some(format!("{}[{}]", self.variable, quote(&name)))
    }

    /// A condition as a mask.
    pub(super) fn mask(&mut self, cond: &Cond) -> Option<String> {
        Some(match cond {
            Cond::And(all) => self.joined(all, " & ")?,
            Cond::Or(all) => self.joined(all, " | ")?,
            Cond::Not(inner) => match inner.as_ref() {
                Cond::Null(path) => self.present(path)?,
                other => format!("~{}", self.mask(other)?),
            },
            Cond::Null(path) => self.missing(path)?,
            Cond::Cmp(path, op, operand) => {
                let left = self.column(path)?;
                let left = match operand {
                    Operand::Column(other) | Operand::Of(other, _) => self.beside(path, other, left, true),
                    Operand::Lit(_) => left,
                };
                let sign = if *op == Op::Eq { "==" } else { op.sign() };
                format!("({left} {sign} {})", self.operand(path, operand)?)
            }
            Cond::Days(path, from, until) => {
                let left = self.column(path)?;
                let (from, until) = (self.day(path, &from.value), self.day(path, &until.value));
                format!("(({left} >= {from}) & ({left} < {until}))")
            }
            Cond::Some(link, inner) => self.referred(link.table, link.column, link.to, inner)?,
            // The words of long texts are not known of files.
            Cond::Word(..) => return None,
        })
    }

    fn joined(&mut self, all: &[Cond], by: &str) -> Option<String> {
        let parts: Option<Vec<String>> = all.iter().map(|cond| self.mask(cond)).collect();
        Some(format!("({})", parts?.join(by)))
    }

    fn operand(&mut self, path: &Path, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Column(other) => {
                let column = self.column(other)?;
                Some(self.beside(other, path, column, true))
            }
            Operand::Lit(lit) if self.index.tables[path.table].columns[path.column].sort == Sort::Day => {
                Some(self.day(path, &lit.value))
            }
            Operand::Lit(lit) => Some(literal(&lit.value)),
            Operand::Of(of, cond) => self.of_called(path, of, cond),
        }
    }

    pub(super) fn noun(&self) -> String {
        words::plural(&self.index.tables[self.table].noun)
    }

    pub(super) fn said(&self, filter: &Cond) -> String {
        let parts = self.sources[self.table].parts.iter().filter_map(|(_, table)| table.as_deref());
        let parts: Vec<&str> = parts.collect();
        let sheets = if parts.len() > 1 { format!("of {}", parts.join(", ")) } else { String::new() };
        let clock = self.clock(filter).unwrap_or_default();
        let said = [sheets, words::filter_words(self.index, filter), clock];
        let said: Vec<String> = said.into_iter().filter(|words| !words.is_empty()).collect();
        if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
    }

    pub(super) fn none(&self, select: &Select) -> String {
        quote(&format!("No {}{}: there is none.", self.noun(), self.said(&select.filter)))
    }

    /// Where there are rows, and no figure of them.
    pub(super) fn nothing(&self, select: &Select, measure: &Measure) -> String {
        match measure {
            Measure::Count | Measure::Distinct(_) => self.none(select),
            // One value differs from no other.
            Measure::Of("std" | "var", _) => quote(&format!(
                "There is no {} of {}{}: there are fewer than two values.",
                self.figure_words(measure),
                self.noun(),
                self.said(&select.filter)
            )),
            _ => quote(&format!(
                "There is no {} of {}{}: none of them has a value.",
                self.figure_words(measure),
                self.noun(),
                self.said(&select.filter)
            )),
        }
    }

    fn answer(&mut self, select: &Select, output: Option<Output>) -> Option<String> {
        let body = match &select.asked {
            Asked::Rows | Asked::Any => self.rows(select, &self.shown(select))?,
            Asked::Columns(paths) => {
                let label = self.index.tables[select.table].label.map(|column| Path {
                    hops: Vec::new(),
                    table: select.table,
                    column,
                });
                let all: Vec<Path> = label
                    .into_iter()
                    .filter(|label| !paths.contains(label))
                    .chain(paths.iter().cloned())
                    .collect();
                self.rows(select, &all)?
            }
            Asked::Values(path) => self.values(select, path)?,
            Asked::Holds(cond) => self.holds(select, cond)?,
            Asked::Figure { measure, by, .. } if by.is_empty() => self.figure(select, measure)?,
            Asked::Figure { measure, by, best } => {
                self.groups(select, measure, &self.with_labels(by), *best)?
            }
            Asked::Figures { measures, by } => self.figures(select, measures, by)?,
            Asked::Share { part, by } => self.share(select, part, by)?,
            Asked::Correlation(left, right) => self.correlation(select, left, right)?,
            Asked::Spread(path) => chart::spread(&self.column(path)?, &words::column(self.index, path)),
            Asked::Pairs(left, right) => {
                let (x, y) = (self.column(left)?, self.column(right)?);
                chart::pairs((&x, &words::column(self.index, left)), (&y, &words::column(self.index, right)))
            }
        };
        match output {
            None => Some(body),
            Some(output) => Some(format!("{body}{}", chart::output(output, self.series(select).as_ref()))),
        }
    }

    /// The groups, and the names of rows that a group's column refers to: a customer is shown by name too.
    fn with_labels(&self, by: &[Path]) -> Vec<Path> {
        let mut all = by.to_vec();
        for path in by.iter().filter(|path| path.hops.is_empty()) {
            let refers = self.index.tables[path.table].columns[path.column].refers;
            if let Some((table, to)) = refers
                && let Some(label) = self.index.tables[table].label
            {
                all.push(Path { hops: vec![Hop { column: path.column, table, to }], table, column: label });
            }
        }
        all
    }

    /// The names of a group and its figure, where the answer is a series.
    fn series(&self, select: &Select) -> Option<(String, String)> {
        match &select.asked {
            Asked::Figure { measure, by, .. } if by.len() == 1 => {
                let key = named(self.index, by).into_iter().next().map(|(name, _)| name)?;
                Some((key, self.figure_name(measure)))
            }
            _ => None,
        }
    }

    /// The columns of a row that an answer shows: its name, and what was asked about.
    fn shown(&self, select: &Select) -> Vec<Path> {
        let table = &self.index.tables[select.table];
        let own = |column: usize| Path { hops: Vec::new(), table: select.table, column };
        let plain: Vec<usize> =
            (0..table.columns.len()).filter(|at| table.columns[*at].cut.is_none()).collect();
        let mut shown: Vec<Path> = Vec::new();
        shown.extend(plain.first().map(|first| own(*first)));
        shown.extend(table.label.map(own));
        let mut used = Vec::new();
        paths_of(&select.filter, &mut used);
        used.extend(select.order.as_ref().and_then(|order| order.by.clone()));
        shown.extend(used);
        shown.extend(plain.into_iter().map(own));
        let mut kept: Vec<Path> = Vec::new();
        for path in shown {
            if !kept.contains(&path) && kept.len() < 6 {
                kept.push(path);
            }
        }
        kept
    }

    fn rows(&mut self, select: &Select, paths: &[Path]) -> Option<String> {
        let columns: Option<Vec<(String, String)>> = named(self.index, paths)
            .into_iter()
            .map(|(name, path)| Some((name, self.name(&path)?)))
            .collect();
        let columns = columns?;
        let order = match &select.order {
            Some(order) => self.ordered(order.by.as_ref(), order.down, select)?,
            None => String::new(),
        };
        let ids: Vec<bool> = named(self.index, paths)
            .iter()
            .map(|(_, path)| self.index.is_id(path.table, path.column))
            .collect();
        let counted: Vec<(String, Option<Unit>)> =
            named(self.index, paths).into_iter().map(|(name, path)| (name, self.unit(&path))).collect();
        let cell = |at: usize, name: &str| {
            if ids[at] {
                return format!("{{shown(row[{}], True)}}", single(name));
            }
            units::cell(name, counted[at].1.as_ref())
        };
        let mut parts = columns.iter().enumerate().map(|(at, (name, _))| (name, cell(at, name)));
        let first = parts.next().map(|(_, cell)| cell).unwrap_or_default();
        let rest: Vec<String> =
            parts.map(|(name, cell)| format!("{} {cell}", braces(&name.replace('_', " ")))).collect();
        let row = if rest.is_empty() { first } else { format!("{first} ({})", rest.join(", ")) };
        let by_file = select.order.as_ref().filter(|order| order.by.is_none());
        let by_file = by_file.map(|order| words::order_words(self.index, order, select.nth, select.limit));
        let by_file = by_file.map_or_else(String::new, |order| format!(", {order}"));
        let said = format!("{}{}{by_file}", self.noun(), self.said(&select.filter));
        let list: Vec<String> = columns.iter().map(|(_, column)| quote(column)).collect();
        let telling = format!(
            "{}answer_rows = rows.head({ROWS}).to_dict(\"records\")\n\
             named = rows[[{}]].head({SHOWN}){}.to_dict(\"records\")\n\
             listed = \"; \".join(f\"{row}\" for row in named)\n\
             more = f\" and {{len(rows) - {SHOWN}}} more\" if len(rows) > {SHOWN} else \"\"\n\
             answer_text = f\"{{len(rows):,}} {}: {{listed}}{{more}}.\" if len(rows) else {}\n\
             STATUS = \"success\" if len(rows) else \"no_match\"\n",
            units::line(&counted),
            list.join(", "),
            renamed(&columns),
            braces(&said),
            self.none(select),
        );
        Some(order + &self.telling("rows", telling))
    }

    /// Sorts rows, and keeps the first ones with those that are equal to the last of them.
    fn ordered(&mut self, by: Option<&Path>, down: bool, select: &Select) -> Option<String> {
        let Some(path) = by else {
            return Some(match select.limit {
                Some(limit) if limit < 100_000 && down => format!("rows = rows.tail({limit})\n"),
                Some(limit) if limit < 100_000 => format!("rows = rows.head({limit})\n"),
                _ => String::new(),
            });
        };
        let (column, name) = (self.column(path)?, self.name(path)?);
        let mut text = format!(
            "rows = rows[{column}.notna()].sort_values({}, ascending={}, kind=\"stable\")\n",
            quote(&name),
            if down { "False" } else { "True" }
        );
        match (select.nth, select.limit) {
            (Some(nth), _) => {
                let _ = write!(
                    text,
                    "levels = list(dict.fromkeys({column}))\nrows = rows[{column}.isin(levels[{}:{nth}])]\n",
                    nth.saturating_sub(1)
                );
            }
            (None, Some(limit)) if limit < 100_000 => {
                let _ = writeln!(text, "rows = rows[{column}.isin({column}.head({limit}))]");
            }
            _ => {}
        }
        Some(text)
    }

    fn values(&mut self, select: &Select, path: &Path) -> Option<String> {
        let column = self.column(path)?;
        let name = words::column(self.index, path);
        let said = self.said(&select.filter);
        let (before, after) = self.unit(path).unwrap_or_default();
        Some(format!(
            "values = sorted({column}.dropna().drop_duplicates(), key=str)\n\
             answer_rows = [{{{}: value}} for value in values[:{ROWS}]]\n\
             answer_text = f\"{{len(values):,}} {}: \" + \", \".join(shown(value, False, {}, {}) for value in values[:{SHOWN}]) + (\" …\" if len(values) > {SHOWN} else \"\") + \".\" if values else {}\n\
             STATUS = \"success\" if values else \"no_match\"\n",
            quote(&name),
            braces(&format!("different {name}{said}")),
            quote(&before),
            quote(&after),
            self.none(select),
        ))
    }

    /// A column, or a product, that a figure is computed of; and the line that makes it.
    pub(super) fn measured(&mut self, measure: &Measure) -> Option<(String, String)> {
        match measure {
            Measure::Count => Some((String::new(), String::new())),
            Measure::Of("sum", path) if !path.hops.is_empty() => Some((self.name(path)?, self.once(path))),
            Measure::Distinct(path) | Measure::Of(_, path) => Some((self.name(path)?, String::new())),
            Measure::Product(_, left, right) => {
                let name = self.product(left, right);
                let (left, right) = (self.column(left)?, self.column(right)?);
                let line = format!("{}[{}] = {left} * {right}\n", self.variable, quote(&name));
                Some((name, line))
            }
            // What two columns come to is in none.
            Measure::Pair(..) => None,
        }
    }

    /// What one column times another is called: a quantity times a price is revenue.
    fn product(&self, left: &Path, right: &Path) -> String {
        let is = |path: &Path, role: &str| self.index.role(path.table, role) == Some(path.column);
        if is(left, "quantity") && is(right, "price") {
            return "revenue".to_owned();
        }
        format!("{} times {}", words::column(self.index, left), words::column(self.index, right))
    }

    /// The column of the answer that holds a figure.
    pub(super) fn figure_name(&self, measure: &Measure) -> String {
        match measure {
            Measure::Count => "number".to_owned(),
            other => shown_name(&self.figure_words(other).replace(' ', "_")),
        }
    }

    /// The formula of a figure that no column holds.
    pub(super) fn note(&self, measure: &Measure) -> String {
        match measure {
            Measure::Product(_, left, right) if self.product(left, right) == "revenue" => {
                format!(
                    " (revenue is {} times {})",
                    words::column(self.index, left),
                    words::column(self.index, right)
                )
            }
            _ => String::new(),
        }
    }

    /// A figure in words.
    pub(super) fn figure_words(&self, measure: &Measure) -> String {
        match measure {
            Measure::Product(function, left, right) if self.product(left, right) == "revenue" => {
                format!("{} revenue", if *function == "avg" { "average" } else { "total" })
            }
            other => words::measure_words(self.index, other),
        }
    }

    /// The sentence that tells a figure.
    pub(super) fn sentence(&self, select: &Select, measure: &Measure) -> String {
        let (noun, said) = (self.noun(), self.said(&select.filter));
        if *measure == Measure::Count {
            return format!("There are {{shown(value)}} {}.", braces(&format!("{noun}{said}")));
        }
        let (before, after) = self.unit_of(measure).unwrap_or_default();
        format!(
            "The {} of {} is {}{{shown(value)}}{}.",
            braces(&self.figure_words(measure)),
            braces(&noun),
            braces(&before),
            braces(&format!("{after}{said}{}", self.note(measure)))
        )
    }

    fn figure(&mut self, select: &Select, measure: &Measure) -> Option<String> {
        let (name, line, value) = self.valued(measure, "rows")?;
        let gaps = gaps_of(&self.measured_gaps(measure, &name));
        let is_count = matches!(measure, Measure::Count | Measure::Distinct(_));
        let test = if is_count { "True" } else { "len(rows) and not pd.isna(value)" };
        Some(format!(
            "{line}{gaps}value = {value}\nis_there = {test}\nanswer_json = (value.item() if hasattr(value, \"item\") else value) if is_there else None\n\
             answer_text = f\"{}{{left_out}}\" if is_there else {} if len(rows) else {}\nSTATUS = \"success\" if is_there else \"no_match\"\n",
            self.sentence(select, measure),
            self.nothing(select, measure),
            self.none(select),
        ))
    }

    pub(super) fn keys(&mut self, by: &[Path]) -> Option<Vec<(String, String)>> {
        named(self.index, by).into_iter().map(|(name, path)| Some((name, self.name(&path)?))).collect()
    }

    fn groups(
        &mut self,
        select: &Select,
        measure: &Measure,
        by: &[Path],
        best: Option<(bool, u64)>,
    ) -> Option<String> {
        let keys = self.keys(by)?;
        let figure = self.figure_name(measure);
        let list: Vec<String> = keys.iter().map(|(_, key)| quote(key)).collect();
        let groups = format!("rows.groupby([{}])", list.join(", "));
        let (name, line, value) = self.valued(measure, &groups)?;
        let gaps = gaps_of(&[spoken(&keys), self.measured_gaps(measure, &name)].concat());
        // The fewest of something may be none at all: then no row is left that would name the group.
        let mut used = Vec::new();
        paths_of(&select.filter, &mut used);
        let is_fewest = *measure == Measure::Count && best.is_some_and(|(down, _)| !down);
        let mut filled = String::new();
        if is_fewest && !used.is_empty() && !by.iter().any(|path| used.contains(path)) {
            let list = list.join(", ");
            self.every = format!("every = rows[[{list}]].dropna().drop_duplicates()\n");
            filled = format!(
                "table = every.merge(table, how=\"left\", on=[{list}])\ntable[{0}] = table[{0}].fillna(0).astype(\"int64\")\n",
                quote(&figure)
            );
        }
        Some(format!(
            "{line}{gaps}table = {value}.reset_index(name={})\n{filled}{}",
            quote(&figure),
            self.grouped(select, measure, by, best, &keys)
        ))
    }

    /// Puts a table of groups in order and tells it.
    pub(super) fn grouped(
        &mut self,
        select: &Select,
        measure: &Measure,
        by: &[Path],
        best: Option<(bool, u64)>,
        keys: &[(String, String)],
    ) -> String {
        let figure = quote(&self.figure_name(measure));
        let rename = renamed_table(keys);
        let is_time = |path: &Path| {
            self.index.tables[path.table].columns[path.column]
                .cut
                .is_some_and(|(_, period)| period != Period::Weekday)
        };
        let order = match best {
            Some((down, count)) => format!(
                "table = table[table[{figure}].notna()].sort_values({figure}, ascending={}, kind=\"stable\")\ntable = table[table[{figure}].isin(table[{figure}].head({count}))]\n",
                if down { "False" } else { "True" }
            ),
            None if by.iter().all(is_time) => {
                let names: Vec<String> = keys.iter().map(|(name, _)| quote(name)).collect();
                format!("table = table.sort_values([{}], kind=\"stable\")\n", names.join(", "))
            }
            None => format!("table = table.sort_values({figure}, ascending=False, kind=\"stable\")\n"),
        };
        // What rows are grouped by is no quantity.
        let cells: Vec<String> =
            keys.iter().map(|(name, _)| format!("{{shown(row[{}], True)}}", single(name))).collect();
        let said: Vec<String> = keys.iter().map(|(name, _)| name.replace('_', " ")).collect();
        let title = format!(
            "{} by {}{}{}: ",
            capital(&self.figure_words(measure)),
            said.join(" and "),
            self.said(&select.filter),
            self.note(measure)
        );
        let counted = [(self.figure_name(measure), self.unit_of(measure))];
        let telling = format!(
            "{}answer_rows = table.head({ROWS}).to_dict(\"records\")\n\
             listed = \", \".join(f\"{} ({})\" for row in answer_rows[:{SHOWN}])\n\
             more = f\" and {{len(table) - {SHOWN}}} more\" if len(table) > {SHOWN} else \"\"\n\
             answer_text = f\"{}{{listed}}{{more}}.{{left_out}}\" if len(table) else {}\nSTATUS = \"success\" if len(table) else \"no_match\"\n",
            units::line(&counted),
            cells.join(", "),
            units::cell(&counted[0].0, counted[0].1.as_ref()),
            braces(&title),
            self.nothing(select, measure),
        );
        rename + &order + &self.telling("table", telling)
    }
}

/// A figure of a column, or of the rows.
pub(super) fn method(measure: &Measure, column: &str, rows: &str) -> String {
    match measure {
        Measure::Count if rows == "rows" => "len(rows)".to_owned(),
        Measure::Count => format!("{rows}.size()"),
        Measure::Distinct(_) => format!("{column}.nunique()"),
        Measure::Pair(..) => String::new(),
        Measure::Of("avg", _) | Measure::Product("avg", ..) => format!("{column}.mean()"),
        // Where every value is missing there is no total; it is not 0.
        Measure::Of("sum", _) | Measure::Product("sum", ..) => format!("{column}.sum(min_count=1)"),
        Measure::Of(function, _) | Measure::Product(function, ..) => format!("{column}.{function}()"),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

/// Gives columns the names that the answer has for them: pairs of name and column.
fn renamed(columns: &[(String, String)]) -> String {
    let list: Vec<String> = columns
        .iter()
        .filter(|(name, column)| name != column)
        .map(|(name, column)| format!("{}: {}", quote(column), quote(name)))
        .collect();
    if list.is_empty() { String::new() } else { format!(".rename(columns={{{}}})", list.join(", ")) }
}

/// The line that gives the columns of `table` their names, where they differ.
pub(super) fn renamed_table(keys: &[(String, String)]) -> String {
    let renamed = renamed(keys);
    if renamed.is_empty() { renamed } else { format!("table = table{renamed}\n") }
}
