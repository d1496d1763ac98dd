//! Writes the short program that carries a form out.

use std::fmt::Write as _;

use ordain_types::DirectChanges;
use serde_json::{Value, json};

use super::form::{Argument, Asked, Call, Cond, Form, Lit, Operand, Path, Select, Set, To};
use super::index::{Index, Sort};
use super::order;
use super::parse::Parser;
use super::sql::{Params, Query};
use super::words;

/// Rows that an answer lists.
const SHOWN: usize = 20;

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
    let body = match form {
        Form::Select(select) => Writer { index, params: &mut params }.select(select),
        Form::Calls(calls) => Writer { index, params: &mut params }.calls(calls),
        Form::Offer(calls) => Writer { index, params: &mut params }.offer(parser, calls)?,
        Form::Sets(sets) => Writer { index, params: &mut params }
            .sets(sets, index.catalog.policy.direct_changes == DirectChanges::Hold),
        // What files are asked alone is written by `files`.
        Form::Talk(_) | Form::Output(..) => return None,
    };
    let is_direct = matches!(form, Form::Sets(_));
    Some(Written { code: format!("# {comment}\n{body}"), params, is_direct })
}

struct Writer<'a> {
    index: &'a Index,
    params: &'a mut Params,
}

/// A query in Python: its text, and the columns that it gives by name.
struct Found {
    call: String,
}

impl Writer<'_> {
    fn query(&mut self, select: &Select, columns: &[(String, Path)], more: &[(String, Cond)]) -> Found {
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
            filter.push(Cond::Not(Box::new(Cond::Null(path.clone()))));
            list.push(format!("{} AS rank", query.column(path)));
        }
        let filter = Cond::all(filter);
        let text = query.condition(&filter);
        let mut sql = if filter.is_always() { String::new() } else { format!(" WHERE {text}") };
        if let Some(order) = &select.order {
            let by = by.map_or_else(|| "t.doc_id".to_owned(), |path| query.column(&path));
            let _ = write!(sql, " ORDER BY {by}{}", if order.down { " DESC" } else { "" });
            if let (None, Some(limit)) = (&order.by, select.limit) {
                let _ = write!(sql, " LIMIT {limit}");
            }
        }
        let sql = format!("SELECT {} {}{sql}", list.join(", "), query.from());
        Found { call: call(&sql, &query.used) }
    }

    fn select(&mut self, select: &Select) -> String {
        match &select.asked {
            Asked::Rows | Asked::Any => self.rows(select),
            Asked::Columns(paths) => self.columns(select, paths),
            Asked::Values(path) => self.values(select, path),
            Asked::Figure { measure, by, best } => self.figure(select, measure, by, *best),
            Asked::Holds(cond) => self.holds(select, cond),
            Asked::Figures { .. }
            | Asked::Share { .. }
            | Asked::Correlation(..)
            | Asked::Spread(_)
            | Asked::Pairs(..) => String::new(),
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
            (None, Some(limit)) if limit < 100_000 => {
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
        let filter = words::filter_words(self.index, &select.filter);
        let said = [filter, order.unwrap_or_default()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        let said = if said.is_empty() { said } else { format!("({said})") };
        let one = format!("{} {said}", words::plural(noun));
        format!(
            "rows = {}\n{}answer_rows = rows\nshown = \"; \".join({text} for row in rows[:{SHOWN}])\n\
             more = f\" and {{len(rows) - {SHOWN}}} more\" if len(rows) > {SHOWN} else \"\"\n\
             answer_text = f\"{{len(rows)}} {}: {{shown}}{{more}}.\" if rows else {}\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            found.call,
            Self::cut(select),
            braces(one.trim_end()),
            quote(&format!("No {}: there is none.", one.trim_end())),
        )
    }

    /// The filter in words, in brackets.
    fn said(&self, filter: &Cond) -> String {
        let words = words::filter_words(self.index, filter);
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
                    .filter(|at| table.columns[*at].refers.is_none())
                    .for_each(|at| add(own(at), &mut shown));
                return shown;
            }
            self.index.role(select.table, "price").into_iter().for_each(|at| add(own(at), &mut shown));
        } else {
            table.key.into_iter().for_each(|key| add(own(key), &mut shown));
            for (at, column) in table.columns.iter().enumerate() {
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
            parts.map(|(name, cell)| format!("{} {cell}", name.replace('_', " "))).collect();
        if rest.is_empty() { format!("f\"{first}\"") } else { format!("f\"{first} ({})\"", rest.join(", ")) }
    }

    /// A value within an f-string.
    fn cell(&self, name: &str, path: &Path) -> String {
        let column = &self.index.tables[path.table].columns[path.column];
        let is_money = column.unit.as_deref() == Some("USD");
        let sign = if is_money { "$" } else { "" };
        if column.sort == Sort::Number && !column.has_nulls {
            return format!("{sign}{{row['{name}']:,.2f}}");
        }
        if column.has_time {
            return format!("{{str(row['{name}']).replace('T', ' ')}}");
        }
        format!("{{row['{name}']}}")
    }

    fn columns(&mut self, select: &Select, paths: &[Path]) -> String {
        let table = &self.index.tables[select.table];
        let own = |column: usize| Path { hops: Vec::new(), table: select.table, column };
        let label = table.label.or(table.key);
        let mut all: Vec<Path> = label.map(own).into_iter().collect();
        all.extend(paths.iter().filter(|path| Some(path.column) != label || !path.hops.is_empty()).cloned());
        let names = named(self.index, &all);
        let found = self.query(select, &names, &[]);
        let told: Vec<String> = names
            .iter()
            .filter(|(_, path)| paths.contains(path))
            .map(|(name, path)| format!("{} is {}", name.replace('_', " "), self.cell(name, path)))
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
            found.call,
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
        measure: &super::form::Measure,
        by: &[Path],
        best: Option<(bool, u64)>,
    ) -> String {
        let mut query = Query::new(self.index, self.params, select.table);
        let value = query.measure(measure);
        let names = named(self.index, by);
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
            format!(" GROUP BY {} ORDER BY value{}", groups.join(", "), if down { " DESC" } else { "" })
        };
        let sql = format!("SELECT {}{value} AS value {}{filter}{group}", list.concat(), query.from());
        let call = call(&sql, &query.used);
        let what = words::measure_words(self.index, measure);
        let rows = words::plural(&self.index.tables[select.table].noun);
        let said = self.said(&select.filter);
        let format = match measure {
            super::form::Measure::Count | super::form::Measure::Distinct(_) => "",
            super::form::Measure::Of("avg", _) | super::form::Measure::Product(..) => ":,.2f",
            super::form::Measure::Of(_, path) if self.sort(path) == Sort::Number => ":,.2f",
            super::form::Measure::Of(..) => ":,",
        };
        if by.is_empty() {
            let sentence = match measure {
                super::form::Measure::Count => format!("There are {{value}} {rows} {said}"),
                super::form::Measure::Distinct(_) => format!("The {what} is {{value}} {said}"),
                _ => format!("The {what} of {rows} is {{value{format}}} {said}"),
            };
            return format!(
                "value = {call}[0][\"value\"]\nanswer_json = {{\"value\": value}}\n\
                 answer_text = f\"{}.\" if value is not None else {}\nSTATUS = \"success\" if value is not None else \"no_match\"\n",
                braces_but_value(sentence.trim_end()),
                quote(&format!("No {rows} {said}: there is none.").replace("  ", " ")),
            );
        }
        let best_rows = best.map_or_else(String::new, |(_, count)| {
            format!("rows = [row for row in rows if row[\"value\"] in [first[\"value\"] for first in rows[:{count}]]]\n")
        });
        let keys: Vec<String> = names.iter().map(|(name, _)| format!("{{row['{name}']}}")).collect();
        let null = if matches!(measure, super::form::Measure::Of(..) | super::form::Measure::Product(..)) {
            "rows = [row for row in rows if row[\"value\"] is not None]\n"
        } else {
            ""
        };
        format!(
            "rows = {call}\n{null}{best_rows}answer_rows = rows\n\
             shown = \"; \".join(f\"{}: {{row['value']{format}}}\" for row in rows[:{SHOWN}])\n\
             more = f\" and {{len(rows) - {SHOWN}}} more\" if len(rows) > {SHOWN} else \"\"\n\
             answer_text = {} + shown + more + \".\" if rows else {}\nSTATUS = \"success\" if rows else \"no_match\"\n",
            keys.join(", "),
            quote(&format!("{} of {rows} {said}: ", capital(&what)).replace("  ", " ").replace(" :", ":")),
            quote(&format!("No {rows} {said}: there is none.").replace("  ", " ")),
        )
    }

    fn holds(&mut self, select: &Select, cond: &Cond) -> String {
        let mut plain = select.clone();
        plain.filter = Cond::all(vec![select.filter.clone()]);
        let mut shown: Vec<Path> = Vec::new();
        let table = &self.index.tables[select.table];
        shown.extend(table.label.or(table.key).map(|column| Path {
            hops: Vec::new(),
            table: select.table,
            column,
        }));
        paths_of(cond, &mut shown);
        shown.dedup();
        let names = named(self.index, &shown);
        let found = self.query(&plain, &names, &[("holds".to_owned(), cond.clone())]);
        let text = self.row_text(&names);
        let asked = words::filter_words(self.index, cond);
        let is_stock = matches!(cond, Cond::Cmp(path, super::form::Op::Gt, Operand::Lit(Lit { value, .. })) if *value == json!(0) && Some(path.column) == self.index.role(select.table, "quantity"));
        let no =
            if is_stock { "No, out of stock".to_owned() } else { format!("No, it is not so that {asked}") };
        let count = match &select.filter {
            Cond::Or(all) => all.len(),
            _ => 1,
        };
        format!(
            "rows = {}\nanswer_rows = rows\nshown = \"; \".join({text} for row in rows[:{SHOWN}])\n\
             is_so = len(rows) >= {count} and all(row[\"holds\"] for row in rows)\n\
             answer_text = ({} if is_so else {}) + shown + \".\" if rows else \"There is no such row.\"\n\
             STATUS = \"success\" if rows else \"no_match\"\n",
            found.call,
            quote(&format!("Yes, {asked}: ")),
            quote(&format!("{no}: ")),
        )
    }

    /// The rows that arguments describe, each as a query for key and label.
    fn lookups(
        &mut self,
        calls: &[Call],
        with: &[(String, Path)],
    ) -> (Vec<String>, Vec<Vec<(String, Slot)>>) {
        let mut queries: Vec<String> = Vec::new();
        let mut slots = Vec::new();
        for call in calls {
            let mut given = Vec::new();
            for (name, argument) in &call.arguments {
                let slot = match argument {
                    Argument::Value(lit) => Slot::Param(self.params.bind(name, lit)),
                    Argument::Row(select) => {
                        let query = self.lookup(select, with);
                        let place = queries.iter().position(|known| *known == query).unwrap_or_else(|| {
                            queries.push(query);
                            queries.len() - 1
                        });
                        Slot::Row(place)
                    }
                };
                given.push((name.clone(), slot));
            }
            slots.push(given);
        }
        (queries, slots)
    }

    fn lookup(&mut self, select: &Select, with: &[(String, Path)]) -> String {
        let table = &self.index.tables[select.table];
        let own = |column: usize| Path { hops: Vec::new(), table: select.table, column };
        let key = table.key.unwrap_or(0);
        let mut columns =
            vec![("key".to_owned(), own(key)), ("label".to_owned(), own(table.label.unwrap_or(key)))];
        columns.extend(with.iter().filter(|(_, path)| path.table == select.table).cloned());
        let first = if select.order.as_ref().is_some_and(|order| order.by.is_some()) {
            format!("[:{}]", select.limit.unwrap_or(1))
        } else {
            String::new()
        };
        format!("{}{first}", self.query(select, &columns, &[]).call)
    }

    fn calls(&mut self, calls: &[Call]) -> String {
        let (queries, slots) = self.lookups(calls, &[]);
        let made: Vec<String> = calls
            .iter()
            .zip(&slots)
            .map(|(call, given)| {
                let arguments: Vec<String> =
                    given.iter().map(|(name, slot)| format!("{name}={}", slot.python())).collect();
                format!("{}({})", self.index.catalog.actions[call.action].name, arguments.join(", "))
            })
            .collect();
        let run = format!(
            "done = [{}]\nfailed = [one for one in done if one[\"status\"] != \"success\"]\n\
             answer_text = \" \".join(one[\"text\"] for one in failed[:1] or done) + (\" Nothing was changed.\" if failed else \"\")\nSTATUS = failed[0][\"status\"] if failed else \"success\"\n",
            made.join(", "),
        );
        guarded(&queries, &run)
    }

    fn offer(&mut self, parser: &Parser<'_>, calls: &[Call]) -> Option<String> {
        let action = &self.index.catalog.actions[calls.first()?.action];
        let (item, count, table, price) = order::priced(parser, action)?;
        let path = |column: usize| Path { hops: Vec::new(), table, column };
        let mut with = vec![("price".to_owned(), path(price))];
        let stock = self.index.role(table, "quantity");
        with.extend(stock.map(|stock| ("stock".to_owned(), path(stock))));
        let (queries, slots) = self.lookups(calls, &with);
        let mut parts = Vec::new();
        for given in &slots {
            let find = |wanted: &str| given.iter().find(|(name, _)| name == wanted).map(|(_, slot)| slot);
            let (Slot::Row(row), Slot::Param(number)) = (find(&item)?, find(&count)?) else { return None };
            parts.push(format!("(params[\"{number}\"], found[{row}][0])"));
        }
        let short = if stock.is_some() {
            "short = [row for count, row in wanted if row[\"stock\"] < count]\n"
        } else {
            "short = []\n"
        };
        let verb = action.words.first().map_or("do it", String::as_str);
        let is_sale = action.words.iter().any(|word| word == "sell");
        let ask = if is_sale { "Shall I sell them?".to_owned() } else { format!("Shall I {verb} them?") };
        let run = format!(
            "wanted = [{}]\ntotal = sum(count * row[\"price\"] for count, row in wanted)\nnames = \" and \".join(f\"{{count}} {{row['label']}}\" for count, row in wanted)\n\
             {short}answer_text = f\"{{names}} would come to ${{total:,.2f}}. {ask}\"\nif short:\n    \
             answer_text = f\"{{names}} would come to ${{total:,.2f}}, but only {{short[0]['stock']}} {{short[0]['label']}} are left.\"\nSTATUS = \"success\"\n",
            parts.join(", "),
        );
        Some(guarded(&queries, &run))
    }

    fn sets(&mut self, sets: &[Set], is_held: bool) -> String {
        let mut queries = Vec::new();
        let mut lines = String::new();
        let mut told = Vec::new();
        for set in sets {
            let table = &self.index.tables[set.rows.table];
            let column = &table.columns[set.column];
            let path = Path { hops: Vec::new(), table: set.rows.table, column: set.column };
            let count = match &set.rows.filter {
                Cond::Or(names) => names.len(),
                _ => 1,
            };
            let query = self.lookup(&set.rows, &[("now".to_owned(), path)]);
            let place = queries.len();
            queries.push((query, count));
            let value = match &set.to {
                To::Value(lit) => format!("params[\"{}\"]", self.params.bind(&column.name, lit)),
                To::By(lit) => format!("row[\"now\"] + params[\"{}\"]", self.params.bind("change", lit)),
                To::Percent(lit) => {
                    let name = self.params.bind("percent", lit);
                    format!("round(row[\"now\"] * (100 + params[\"{name}\"]) / 100, 2)")
                }
            };
            let key = table.key.map_or("", |key| table.columns[key].name.as_str());
            let _ = write!(
                lines,
                "for row in found[{place}]:\n    row[\"after\"] = {value}\n    {}_tbl.update({{{}: row[\"after\"]}}, where({}) == row[\"key\"])\n",
                table.name,
                quote(&column.name),
                quote(key),
            );
            told.push(format!(
                "[f\"the {} of {{row['label']}} from {{row['now']}} to {{row['after']}}\" for row in found[{place}]]",
                words::column(self.index, &Path { hops: Vec::new(), table: set.rows.table, column: set.column })
            ));
        }
        let counts: Vec<String> = queries.iter().map(|(_, count)| count.to_string()).collect();
        let list: Vec<String> = queries.into_iter().map(|(query, _)| query).collect();
        format!(
            "found = [{}]\nif [len(rows) for rows in found] == [{}]:\n{}    answer_text = {} + \"; \".join({}) + \".\"\n    STATUS = \"success\"\n\
             else:\n    answer_text = \"Which one do you mean? \" + \"; \".join(row[\"label\"] for rows in found for row in rows[:10])\n    STATUS = \"invalid_request\"\n",
            list.join(", "),
            counts.join(", "),
            indent(&lines),
            quote(if is_held { "Nothing was changed yet, a person must approve it: " } else { "Changed " }),
            told.join(" + "),
        )
    }
}

/// Where a call takes a value from.
enum Slot {
    Param(String),
    Row(usize),
}

impl Slot {
    fn python(&self) -> String {
        match self {
            Self::Param(name) => format!("params[\"{name}\"]"),
            Self::Row(place) => format!("found[{place}][0][\"key\"]"),
        }
    }
}

/// Runs lines only if every row that was described is exactly one; otherwise asks which.
fn guarded(queries: &[String], run: &str) -> String {
    if queries.is_empty() {
        return run.to_owned();
    }
    format!(
        "found = [{}]\nunclear = [rows for rows in found if len(rows) != 1]\nif unclear:\n    \
         names = \", \".join(str(row[\"label\"]) for row in unclear[0][:10])\n    \
         answer_text = f\"Which one do you mean: {{names}}?\" if names else \"There is none like that.\"\n    \
         STATUS = \"invalid_request\" if names else \"no_match\"\nelse:\n{}",
        queries.join(", "),
        indent(run),
    )
}

fn indent(lines: &str) -> String {
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

/// A text as Python writes it.
pub(crate) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text within an f-string.
pub(crate) fn braces(text: &str) -> String {
    let quoted = quote(text);
    quoted[1..quoted.len() - 1].replace('{', "{{").replace('}', "}}")
}

fn braces_but_value(text: &str) -> String {
    let start = text.find("{value").unwrap_or(0);
    let end = text[start..].find('}').map_or(start, |end| start + end + 1);
    format!("{}{}{}", braces(&text[..start]), &text[start..end], braces(&text[end..]))
}

pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Columns with a name each that no other has.
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
            format!("{}_{own}", table.noun.replace(' ', "_"))
        };
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
