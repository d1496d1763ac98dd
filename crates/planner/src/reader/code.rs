//! Writes the short program that carries a form out.

mod change;
mod compared;
mod holds;
mod twins;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::amounts;
use super::form::{Asked, Cond, Form, Lit, Measure, Op, Operand, Path, Select};
use super::index::{Column, Index, Sort};
use super::parse::Parser;
use super::sql::{Bound, Params, Query};
use super::words;

pub(crate) use change::offered;
use twins::{called, key_of, told_apart};

/// Rows that an answer lists.
const SHOWN: usize = 20;
/// The name of a param stands between these in a text that says its value. Unicode keeps both for use within a program.
pub(super) const PARAM: char = '\u{FDD0}';
pub(super) const PARAM_END: char = '\u{FDD1}';

/// A program with its values.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The Python.
    pub(crate) code: String,
    /// What it takes from `params`.
    pub(crate) params: Params,
    /// Whether it changes rows without an action.
    pub(crate) is_direct: bool,
}

/// Writes a form's program; `None` for what needs none.
pub(crate) fn write(parser: &Parser<'_>, form: &Form) -> Option<Written> {
    let index = parser.index;
    let mut params = Params::default();
    let comment = words::reading(index, form).replace(['\n', '\r'], " ");
    let body = Writer { index, params: &mut params }.form(parser, form)?;
    Some(Written { code: format!("# {comment}\n{body}"), params, is_direct: form.is_direct() })
}

struct Writer<'a> {
    index: &'a Index,
    params: &'a mut Params,
}

impl Writer<'_> {
    fn form(&mut self, parser: &Parser<'_>, form: &Form) -> Option<String> {
        Some(match form {
            Form::Select(select) => {
                let body = self.select(select);
                match &select.asked {
                    Asked::Holds(cond) | Asked::Share { part: cond, .. } => {
                        self.asking(&[&select.filter, cond], body)
                    }
                    _ => self.asking(&[&select.filter], body),
                }
            }
            Form::Calls(calls) => self.calls(calls),
            Form::Offer(calls) => self.offer(parser, calls)?,
            Form::Sets(sets) => self.sets(sets),
            Form::Add(table, values) => self.add(*table, values),
            Form::Remove(rows) => self.remove(rows),
            Form::If(guard, form) => {
                let head = self.guard(guard);
                let no = self.not_so(guard);
                let body = indent(&self.form(parser, form)?);
                let body =
                    format!("{head}\n{body}else:\n    answer_text = {no}\n    STATUS = \"not_available\"\n");
                self.asking(&[&guard.rows.filter, &guard.cond], body)
            }
            Form::Both(both) => {
                let (first, second) = (self.form(parser, &both.0)?, self.form(parser, &both.1)?);
                // A question after a change does not take the change back.
                let keeps = if both.1.is_change() { "" } else { "    STATUS = \"success\"\n" };
                format!(
                    "{first}told = answer_text\nif STATUS == \"success\":\n{}    answer_text = told + \" \" + answer_text\n{keeps}",
                    indent(&second)
                )
            }
            // What files are asked alone is written by `files`.
            Form::Talk(_) | Form::Settled(_) | Form::Output(..) => return None,
        })
    }

    /// A query in Python.
    fn query(&mut self, select: &Select, columns: &[(String, Path)], more: &[(String, Cond)]) -> String {
        let mut query = Query::new(self.index, self.params, select.table);
        let mut list: Vec<String> = Vec::new();
        for (name, cond) in more {
            list.push(format!("CASE WHEN {} THEN 1 ELSE 0 END AS {name}", query.condition(cond)));
        }
        for (name, path) in columns {
            list.push(format!("{} AS {}", query.column(path), super::sql::ident(name)));
        }
        let mut filter = vec![select.filter.clone()];
        let by = select.order.as_ref().and_then(|order| order.by.clone());
        if let Some(path) = &by {
            // The lowest has a value; of a list in some order those without one are the end.
            if !is_whole(select) {
                filter.push(Cond::Not(Box::new(Cond::Null(path.clone()))));
            }
            list.push(format!("{} AS rank", query.column(path)));
        }
        let filter = Cond::all(filter);
        let text = query.condition(&filter);
        let mut sql = if filter.is_always() { String::new() } else { format!(" WHERE {text}") };
        if let Some(order) = &select.order {
            let by = by.map_or_else(|| "t.doc_id".to_owned(), |path| query.column(&path));
            let gaps = if is_whole(select) && order.by.is_some() {
                format!("{by} IS NULL, ")
            } else {
                String::new()
            };
            let _ = write!(sql, " ORDER BY {gaps}{by}{}", if order.down { " DESC" } else { "" });
            if let (None, Some(limit)) = (&order.by, select.limit) {
                let _ = write!(sql, " LIMIT {limit}");
            }
        }
        let sql = format!("SELECT {} {}{sql}", list.join(", "), query.from());
        call(&sql, &query.used)
    }

    fn select(&mut self, select: &Select) -> String {
        match &select.asked {
            Asked::Rows | Asked::Any => self.rows(select),
            Asked::Columns(paths) => self.columns(select, paths),
            Asked::Values(path) => self.values(select, path),
            Asked::Figure { measure, by, best } => self.figure(select, measure, by, *best),
            Asked::Holds(cond) => self.holds(select, cond),
            Asked::Share { part, .. } => self.share(select, part),
            Asked::Figures { .. } | Asked::Correlation(..) | Asked::Spread(_) | Asked::Pairs(..) => {
                String::new()
            }
        }
    }

    /// Keeps the rows that are first, with those that are equal to the last of them.
    fn cut(select: &Select) -> String {
        let Some(order) = select.order.as_ref().filter(|order| order.by.is_some()) else {
            return String::new();
        };
        match (select.nth, select.limit) {
            (Some(nth), _) => format!(
                "levels = sorted({{row[\"rank\"] for row in rows}}, reverse={})\nrows = [row for row in rows if row[\"rank\"] in levels[{}:{nth}]]\n",
                if order.down { "True" } else { "False" },
                nth.saturating_sub(1),
            ),
            (None, Some(limit)) if !is_whole(select) => {
                format!(
                    "rows = [row for row in rows if row[\"rank\"] in [first[\"rank\"] for first in rows[:{limit}]]]\n"
                )
            }
            _ => String::new(),
        }
    }

    fn rows(&mut self, select: &Select) -> String {
        let shown = self.shown(select);
        let names = named(self.index, &shown);
        let found = self.query(select, &names, &[]);
        let noun = &self.index.tables[select.table].noun;
        let text = self.row_text(&names);
        let order = select
            .order
            .as_ref()
            .map(|order| words::order_words(self.index, order, select.nth, select.limit));
        let said = [self.words(&select.filter), order.unwrap_or_default()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        let said = if said.is_empty() { said } else { format!("({said})") };
        let several = words::plural(noun);
        let one = format!("{several} {said}");
        format!(
            "rows = {}\n{}answer_rows = rows\nshown = \"; \".join({text} for row in rows[:{SHOWN}])\n\
             more = f\" and {{len(rows) - {SHOWN}}} more\" if len(rows) > {SHOWN} else \"\"\n\
             answer_text = f\"{{len(rows)}} {{{} if len(rows) == 1 else {}}}{}: {{shown}}{{more}}.\" if rows else {}\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            found,
            Self::cut(select),
            single(noun),
            single(&several),
            braces(format!(" {said}").trim_end()),
            quote(&format!("No {}: there is none.", one.trim_end())),
        )
    }

    /// A condition in words, with the values of `params`: the same code says it of other values too.
    fn words(&mut self, cond: &Cond) -> String {
        let (index, params) = (self.index, &mut *self.params);
        let is = |path: &Path, op: Op, name: &str| {
            let value = json!(format!("{PARAM}{name}{PARAM_END}"));
            is_plain(name).then(|| Cond::Cmp(path.clone(), op, Operand::Lit(Lit { value, at: (0, 0) })))
        };
        let mut named = |cond: &Cond| match cond {
            Cond::Cmp(path, op, Operand::Lit(lit)) => {
                let same = |bound: &&Bound| bound.at == lit.at && bound.value == lit.value;
                let is_known = lit.at != (0, 0) || lit.value.is_number();
                let bound = params.list.iter().find(same).filter(|_| is_known)?;
                is(path, *op, &bound.name).filter(|_| lit.value.is_number() || lit.value.is_string())
            }
            Cond::Days(path, from, until) => {
                let value = json!(words::days_words(&words::value(&from.value), &words::value(&until.value)));
                let name = format!("{}_said", index.tables[path.table].columns[path.column].name);
                let name = params.bind(&name, &Lit { value, at: from.at });
                is(path, Op::Eq, &name)
            }
            _ => None,
        };
        words::filter_words(index, &cond.replaced(&mut named))
    }

    /// The filter in words, in brackets.
    fn said(&mut self, filter: &Cond) -> String {
        let words = self.words(filter);
        if words.is_empty() { String::new() } else { format!("({words})") }
    }

    /// The columns that an answer shows of a row: its name first.
    fn shown(&self, select: &Select) -> Vec<Path> {
        let table = &self.index.tables[select.table];
        let own = |column: usize| Path { hops: Vec::new(), table: select.table, column };
        let mut shown: Vec<Path> = Vec::new();
        let add = |path: Path, shown: &mut Vec<Path>| {
            if !shown.contains(&path) {
                shown.push(path);
            }
        };
        if let Some(label) = table.label {
            add(own(label), &mut shown);
            let names_one =
                matches!(&select.filter, Cond::Cmp(path, super::form::Op::Eq, _) if path.column == label);
            if names_one && select.order.is_none() {
                (0..table.columns.len())
                    .filter(|at| table.columns[*at].refers.is_none() && table.columns[*at].cut.is_none())
                    .for_each(|at| add(own(at), &mut shown));
                return shown;
            }
            let is_kept = |at: &usize| table.columns[*at].within.is_none();
            for role in ["price", "quantity"] {
                let role = self.index.role(select.table, role);
                role.filter(|at| is_kept(at)).into_iter().for_each(|at| add(own(at), &mut shown));
            }
            // Of a ledger nobody asks for names alone.
            let is_told = |at: &usize| {
                let column = &table.columns[*at];
                let is_figure = matches!(column.sort, Sort::Number | Sort::Whole | Sort::Day);
                let is_own = is_kept(at) && !self.index.is_id(select.table, *at);
                is_figure && is_own || column.before.is_some()
            };
            if table.append_only {
                (0..table.columns.len()).filter(is_told).for_each(|at| add(own(at), &mut shown));
            }
        } else {
            table.key.into_iter().for_each(|key| add(own(key), &mut shown));
            for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.cut.is_none()) {
                match column.refers.and_then(|(other, to)| Some((other, to, self.index.tables[other].label?)))
                {
                    Some((other, to, label)) => {
                        let hop = super::form::Hop { column: at, table: other, to };
                        add(Path { hops: vec![hop], table: other, column: label }, &mut shown);
                    }
                    None => add(own(at), &mut shown),
                }
            }
            shown.truncate(7);
        }
        let mut used = Vec::new();
        paths_of(&select.filter, &mut used);
        used.extend(select.order.as_ref().and_then(|order| order.by.clone()));
        used.into_iter()
            .filter(|path| self.sort(path) != Sort::Prose || path.hops.is_empty())
            .filter(|path| self.index.tables[path.table].columns[path.column].within.is_none())
            .for_each(|path| add(path, &mut shown));
        shown
    }

    fn sort(&self, path: &Path) -> Sort {
        self.index.tables[path.table].columns[path.column].sort
    }

    /// How a row is named: its name, and what else is known of it in brackets.
    fn row_text(&self, names: &[(String, Path)]) -> String {
        let mut parts = names.iter().map(|(name, path)| (name, self.cell(name, path)));
        let first = parts.next().map(|(_, cell)| cell).unwrap_or_default();
        let rest: Vec<String> =
            parts.map(|(name, cell)| format!("{} {cell}", braces(&name.replace('_', " ")))).collect();
        if rest.is_empty() { format!("f\"{first}\"") } else { format!("f\"{first} ({})\"", rest.join(", ")) }
    }

    /// A value within an f-string.
    fn cell(&self, name: &str, path: &Path) -> String {
        let column = &self.index.tables[path.table].columns[path.column];
        let sign = braces(&amounts::sign(column));
        let unit = column.unit.as_ref().filter(|_| sign.is_empty() && !column.has_nulls);
        let unit = unit.map(|unit| braces(&format!(" {unit}"))).unwrap_or_default();
        if column.sort == Sort::Number && !column.has_nulls {
            return format!("{sign}{{row['{name}']:,.2f}}{unit}");
        }
        let (gap, value) = (no_value(column), format!("row['{name}']"));
        if column.has_time {
            return format!("{{{}str({value}).replace('T', ' ')}}", gap(&value));
        }
        format!("{{{}{value}}}{unit}", gap(&value))
    }

    fn columns(&mut self, select: &Select, paths: &[Path]) -> String {
        let table = &self.index.tables[select.table];
        let own = |column: usize| Path { hops: Vec::new(), table: select.table, column };
        // A running balance is nobody's own.
        let is_newest = select.order.as_ref().is_some_and(|order| order.by.is_none());
        let label = table.label.or(table.key).filter(|_| !is_newest);
        let mut all: Vec<Path> = label.map(own).into_iter().collect();
        all.extend(paths.iter().filter(|path| Some(path.column) != label || !path.hops.is_empty()).cloned());
        let names = named(self.index, &all);
        let found = self.query(select, &names, &[]);
        let told: Vec<String> = names
            .iter()
            .filter(|(_, path)| paths.contains(path))
            .map(|(name, path)| format!("{} is {}", braces(&name.replace('_', " ")), self.cell(name, path)))
            .collect();
        let (first, first_path) = &names[0];
        let row = if paths.contains(first_path) {
            told.join(", ")
        } else {
            format!("{}: {}", self.cell(first, first_path), told.join(", "))
        };
        let none = format!("No {} {}: there is none.", words::plural(&table.noun), self.said(&select.filter));
        format!(
            "rows = {}\n{}answer_rows = rows\nanswer_text = \"; \".join(f\"{row}\" for row in rows[:{SHOWN}]) + \".\" if rows else {}\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            found,
            Self::cut(select),
            quote(&none.replace("  ", " ")),
        )
    }

    fn values(&mut self, select: &Select, path: &Path) -> String {
        let mut query = Query::new(self.index, self.params, select.table);
        let column = query.column(path);
        let filter = Cond::all(vec![select.filter.clone(), Cond::Not(Box::new(Cond::Null(path.clone())))]);
        let text = query.condition(&filter);
        let sql = format!("SELECT DISTINCT {column} AS value {} WHERE {text} ORDER BY value", query.from());
        let call = call(&sql, &query.used);
        let name = words::column(self.index, path);
        let said = self.said(&select.filter);
        format!(
            "rows = {call}\nanswer_rows = rows\nanswer_text = {} + \", \".join(str(row[\"value\"]) for row in rows) + \".\" if rows else {}\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            quote(&format!("{name} {said}: ").replace("  ", " ").replace(" :", ":")),
            quote(&format!("No {name} {said}: there is none.").replace("  ", " ")),
        )
    }

    fn figure(
        &mut self,
        select: &Select,
        measure: &Measure,
        by: &[Path],
        best: Option<(bool, u64)>,
    ) -> String {
        let mut query = Query::new(self.index, self.params, select.table);
        let mut value = query.measure(measure);
        // Of what was not done there are none.
        let is_done = words::recorded(self.index, &select.filter).is_some();
        if matches!(measure, Measure::Of("sum", _)) && by.is_empty() && is_done {
            value = format!("coalesce({value}, 0)");
        }
        // Rows that are referred to are told apart by their keys: two of them may have the same name.
        let keys: Vec<Path> = by.iter().filter_map(|path| key_of(self.index, path)).collect();
        let names = named(self.index, &[by, keys.as_slice()].concat());
        let groups: Vec<String> = names.iter().map(|(_, path)| query.column(path)).collect();
        let list: Vec<String> = groups
            .iter()
            .zip(&names)
            .map(|(sql, (name, _))| format!("{sql} AS {}, ", super::sql::ident(name)))
            .collect();
        let text = query.condition(&select.filter);
        let filter = if select.filter.is_always() { String::new() } else { format!(" WHERE {text}") };
        let group = if by.is_empty() {
            String::new()
        } else {
            let down = best.is_none_or(|(down, _)| down);
            let is_time = |path: &Path| self.index.tables[path.table].columns[path.column].cut.is_some();
            let order = match best {
                None if by.iter().all(is_time) => groups.join(", "),
                _ => format!("value{}", if down { " DESC" } else { "" }),
            };
            format!(" GROUP BY {} ORDER BY {order}", groups.join(", "))
        };
        let called = if by.is_empty() { called(self.index, &select.filter) } else { None };
        let count =
            called.as_ref().map(|(key, _)| format!(", count(DISTINCT {}) AS called", query.column(key)));
        let count = count.unwrap_or_default();
        let sql = format!("SELECT {}{value} AS value{count} {}{filter}{group}", list.concat(), query.from());
        let call = call(&sql, &query.used);
        let what = words::measure_words(self.index, measure);
        let rows = words::plural(&self.index.tables[select.table].noun);
        let said = self.said(&select.filter);
        let (sign, unit) = self.unit(measure);
        let name = if by.is_empty() { "value" } else { "row['value']" };
        let format = match measure {
            Measure::Count | Measure::Distinct(_) => String::new(),
            // So little of something for each is not nothing.
            Measure::Pair(..) => {
                format!(":{{',.2f' if abs({name}) >= 0.01 or not {name} else ',.4g'}}")
            }
            Measure::Of("avg", _) | Measure::Product(..) => ":,.2f".to_owned(),
            Measure::Of(_, path) if self.sort(path) == Sort::Number => ":,.2f".to_owned(),
            Measure::Of(..) => ":,".to_owned(),
        };
        if by.is_empty() {
            let noun = &self.index.tables[select.table].noun;
            let (before, value, after) = match measure {
                Measure::Count => {
                    let count = format!(
                        "{{'is 1 ' + {} if value == 1 else f'are {{value}} ' + {}}}",
                        single(noun),
                        single(&rows)
                    );
                    ("There ".to_owned(), count, String::new())
                }
                Measure::Distinct(_) => (format!("The {what} is "), "{value}".to_owned(), String::new()),
                _ => (format!("The {what} of {rows} is {sign}"), format!("{{value{format}}}"), unit),
            };
            let sentence =
                format!("{}{value}{}", braces(&before), braces(format!("{after} {said}").trim_end()));
            let (found, twins) = called.map_or_else(Default::default, |(key, count)| {
                let rows = braces(&words::plural(&self.index.tables[key.table].noun));
                let told = format!("f\" That is of {{found['called']}} {rows} of the same name.\"");
                (
                    format!("found = {call}[0]\n"),
                    format!("if found[\"called\"] > {count}:\n    answer_text += {told}\n"),
                )
            });
            let value = if found.is_empty() { format!("{call}[0]") } else { "found".to_owned() };
            return format!(
                "{found}value = {value}[\"value\"]\nanswer_json = {{\"value\": value}}\n\
                 answer_text = f\"{}.\" if value is not None else {}\nSTATUS = \"success\" if value is not None else \"no_match\"\n{twins}",
                sentence,
                // SQL does not tell apart whether there are no rows, or none with a value.
                quote(
                    &format!("There is no {what} of {rows} {said}: none of them has a value.")
                        .replace(" :", ":")
                ),
            );
        }
        let best_rows = best.map_or_else(String::new, |(_, count)| {
            format!("rows = [row for row in rows if row[\"value\"] in [first[\"value\"] for first in rows[:{count}]]]\n")
        });
        let (told, twins) = told_apart(self.index, &names, by);
        let null = best.map_or("", |_| "rows = [row for row in rows if row[\"value\"] is not None]\n");
        format!(
            "rows = {call}\n{null}{twins}{best_rows}answer_rows = rows\n\
             shown = \"; \".join(f\"{}: \" + (\"no value\" if row[\"value\"] is None else f\"{}{{row['value']{format}}}{}\") for row in rows[:{SHOWN}])\n\
             more = f\" and {{len(rows) - {SHOWN}}} more\" if len(rows) > {SHOWN} else \"\"\n\
             answer_text = {} + shown + more + \".\" if rows else {}\nSTATUS = \"success\" if rows else \"no_match\"\n",
            told,
            braces(&sign),
            braces(&unit),
            quote(&format!("{} of {rows} {said}: ", capital(&what)).replace("  ", " ").replace(" :", ":")),
            quote(&format!("No {rows} {said}: there is none.").replace("  ", " ")),
        )
    }

    /// The text before and after a figure: a currency sign, or a unit.
    fn unit(&self, measure: &Measure) -> (String, String) {
        let Measure::Of(_, path) = measure else { return Default::default() };
        let column = &self.index.tables[path.table].columns[path.column];
        let sign = amounts::sign(column);
        let unit = column.unit.as_ref().filter(|_| sign.is_empty());
        (sign, unit.map(|unit| format!(" {unit}")).unwrap_or_default())
    }

    /// How many of the rows meet a condition, in percent.
    fn share(&mut self, select: &Select, part: &Cond) -> String {
        let mut query = Query::new(self.index, self.params, select.table);
        let (meets, filter) = (query.condition(part), query.condition(&select.filter));
        let filter = if select.filter.is_always() { String::new() } else { format!(" WHERE {filter}") };
        let sql = format!(
            "SELECT count(*) AS total, sum(CASE WHEN {meets} THEN 1 ELSE 0 END) AS part {}{filter}",
            query.from()
        );
        let call = call(&sql, &query.used);
        let rows = words::plural(&self.index.tables[select.table].noun);
        let of = format!("{rows} {}", self.said(&select.filter));
        let part = self.words(part);
        format!(
            "found = {call}[0]\nanswer_json = {{\"part\": found[\"part\"], \"total\": found[\"total\"]}}\n\
             answer_text = f\"{{found['part'] / found['total']:.1%}} of {} ({{found['part']}} of {{found['total']}}): {}.\" if found[\"total\"] else {}\n\
             STATUS = \"success\" if found[\"total\"] else \"no_match\"\n",
            braces(of.trim_end()),
            braces(&part),
            quote(&format!("There are no {}.", of.trim_end())),
        )
    }
}

/// The beginning of an expression that says `no value`, for a column that may have none.
fn no_value(column: &Column) -> impl Fn(&str) -> String {
    let has_gaps = column.has_nulls;
    move |value| if has_gaps { format!("'no value' if {value} is None else ") } else { String::new() }
}

/// Whether all rows are asked for, in some order.
fn is_whole(select: &Select) -> bool {
    select.nth.is_none() && select.limit.is_some_and(|limit| limit >= u64::from(u32::MAX))
}

pub(crate) fn indent(lines: &str) -> String {
    lines.split_inclusive('\n').flat_map(|line| ["    ", line]).collect()
}

fn call(sql: &str, used: &[String]) -> String {
    let values: Vec<String> = used.iter().map(|name| format!("params[\"{name}\"]")).collect();
    if values.is_empty() {
        format!("db.query({})", quote(sql))
    } else {
        format!("db.query({}, [{}])", quote(sql), values.join(", "))
    }
}

/// The rows of a query that are first in the order that was said, and those that are equal to them.
fn first(select: &Select, query: String) -> String {
    let Some(order) = select.order.as_ref().filter(|order| order.by.is_some()) else { return query };
    let down = if order.down { "True" } else { "False" };
    match (select.nth.unwrap_or(1), select.limit) {
        (_, Some(limit)) if limit > 1 => format!("{query}[:{limit}]"),
        (nth, _) => format!(
            "[row for rows in [{query}] for row in rows if row[\"rank\"] in sorted({{one[\"rank\"] for one in rows}}, reverse={down})[{}:{nth}]]",
            nth.saturating_sub(1),
        ),
    }
}

/// A text as Python writes it.
pub(crate) fn quote(text: &str) -> String {
    if text.contains(PARAM) { format!("f\"{}\"", braces(text)) } else { Value::from(text).to_string() }
}

/// A text within an f-string. Names of columns come from files of others: nothing in a text may become code.
pub(crate) fn braces(text: &str) -> String {
    let mut written = String::new();
    for (at, part) in text.split(PARAM).enumerate() {
        let param = part.split_once(PARAM_END).filter(|(name, _)| at > 0 && is_plain(name));
        if let Some((name, _)) = param {
            let _ = write!(written, "{{params['{name}']}}");
        }
        let quoted = Value::from(param.map_or(part, |(_, rest)| rest)).to_string();
        written += &quoted[1..quoted.len() - 1].replace('{', "{{").replace('}', "}}");
    }
    written
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name that Python can hold in single quotes within an f-string, which in older versions has no escapes there.
pub(crate) fn shown_name(name: &str) -> String {
    let shown = |character: char| match character {
        '\'' => '’',
        '"' => '”',
        '\\' => '/',
        PARAM | PARAM_END => ' ',
        other if other.is_control() => ' ',
        other => other,
    };
    name.chars().map(shown).collect()
}

/// A name in single quotes, for use within an f-string.
pub(crate) fn single(name: &str) -> String {
    format!("'{}'", shown_name(name))
}

pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Columns with a name each that no other has, and that can stand in a text of the program.
pub(crate) fn named(index: &Index, paths: &[Path]) -> Vec<(String, Path)> {
    let mut names: Vec<(String, Path)> = Vec::new();
    for path in paths {
        let table = &index.tables[path.table];
        let own = table.columns[path.column].name.clone();
        let name = if path.hops.is_empty()
            || !names.iter().any(|(known, _)| *known == own) && !matches!(own.as_str(), "name" | "title")
        {
            own
        } else {
            format!("{}_{own}", words::referred(index, path).replace(' ', "_"))
        };
        let name = shown_name(&name);
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, path.clone()));
        }
    }
    names
}

/// The columns that a condition is about.
pub(crate) fn paths_of(cond: &Cond, found: &mut Vec<Path>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|cond| paths_of(cond, found)),
        Cond::Not(inner) => paths_of(inner, found),
        Cond::Cmp(path, _, operand) => {
            found.push(path.clone());
            if let Operand::Column(other) = operand {
                found.push(other.clone());
            }
        }
        Cond::Days(path, ..) | Cond::Null(path) => found.push(path.clone()),
        Cond::Word(..) | Cond::Some(..) => {}
    }
}
