//! Programs that change rows: calls of actions, and changes that no action covers.

use std::fmt::Write as _;

use super::{Writer, braces, first, indent, quote};
use crate::reader::amounts;
use crate::reader::form::{Argument, Call, Cond, Path, Select, Set, To};
use crate::reader::order;
use crate::reader::parse::Parser;
use crate::reader::words;

/// How a question begins that rows answer, by their numbers.
const WHICH: &str = "Which one do you mean? ";

impl Writer<'_> {
    pub(super) fn add(&mut self, table: usize, values: &[(usize, Argument)]) -> String {
        let shape = &self.index.tables[table];
        let mut queries = Vec::new();
        let mut row = Vec::new();
        for (at, argument) in values {
            let name = &shape.columns[*at].name;
            let value = match argument {
                Argument::Value(lit) => format!("params[\"{}\"]", self.params.bind(name, lit)),
                Argument::Row(select) => {
                    queries.push(self.lookup(select, &[]));
                    self.referred(table, *at, queries.len() - 1)
                }
            };
            row.push(format!("{}: {value}", quote(name)));
        }
        let run = format!(
            "row = {{{}}}\n{}_tbl.insert(row)\nanswer_text = {} + \", \".join(f\"{{name.replace('_', ' ')}} {{value}}\" for name, value in row.items()) + \".\"\nSTATUS = \"success\"\n",
            row.join(", "),
            shape.name,
            quote(&format!("Added {} with ", words::a(&shape.noun))),
        );
        guarded(&queries, &run)
    }

    /// What a column holds that refers to the row which a query found.
    fn referred(&self, table: usize, column: usize, query: usize) -> String {
        let to = self.index.tables[table].columns[column].refers;
        let is_key = to.is_none_or(|(other, to)| self.index.tables[other].key == Some(to));
        format!("found[{query}][0][\"{}\"]", if is_key { "key" } else { "label" })
    }

    pub(super) fn remove(&mut self, rows: &Select) -> String {
        let query = self.lookup(rows, &[]);
        let table = &self.index.tables[rows.table];
        let key = table.key.map_or("", |key| table.columns[key].name.as_str());
        let remove = format!(
            "{}_tbl.remove(where({}) == row[\"key\"])\nanswer_text = f\"Removed {{row['label']}}.\"\nSTATUS = \"success\"\n",
            table.name,
            quote(key),
        );
        // Rows that refer to it would refer to nothing.
        let tables = self.index.tables.iter().filter(|other| other.name != table.name);
        let columns = tables.flat_map(|other| other.columns.iter().map(move |column| (other, column)));
        let users = columns.filter(|(_, column)| column.refers == table.key.map(|key| (rows.table, key)));
        let used: Vec<String> = users
            .map(|(other, column)| {
                let rows =
                    format!("{}_tbl.count(where({}) == row[\"key\"])", other.name, quote(&column.name));
                format!("({}, {rows})", quote(&other.name))
            })
            .collect();
        let run = if used.is_empty() {
            format!("row = found[0][0]\n{remove}")
        } else {
            format!(
                "row = found[0][0]\nused = [(name, count) for name, count in [{}] if count]\nif used:\n    \
                 answer_text = f\"{{row['label']}} is in {{used[0][1]}} rows of {{used[0][0]}}: remove these first. Nothing was changed.\"\n    \
                 STATUS = \"invalid_request\"\nelse:\n{}",
                used.join(", "),
                indent(&remove),
            )
        };
        guarded(&[query], &run)
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
        let query = self.query(select, &columns, &[]);
        first(select, query)
    }

    pub(super) fn calls(&mut self, calls: &[Call]) -> String {
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

    pub(super) fn offer(&mut self, parser: &Parser<'_>, calls: &[Call]) -> Option<String> {
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
        let sign = braces(&amounts::sign(&self.index.tables[table].columns[price]));
        let verb = action.words.first().map_or("do it", String::as_str);
        let is_sale = action.words.iter().any(|word| word == "sell");
        let ask =
            if is_sale { "Shall I sell them?".to_owned() } else { braces(&format!("Shall I {verb} them?")) };
        let run = format!(
            "wanted = [{}]\ntotal = sum(count * row[\"price\"] for count, row in wanted)\nnames = \" and \".join(f\"{{count}} {{row['label']}}\" for count, row in wanted)\n\
             {short}answer_text = f\"{{names}} would come to {sign}{{total:,.2f}}. {ask}\"\nif short:\n    \
             answer_text = f\"{{names}} would come to {sign}{{total:,.2f}}, but only {{short[0]['stock']}} {{short[0]['label']}} are left.\"\nSTATUS = \"success\"\n",
            parts.join(", "),
        );
        Some(guarded(&queries, &run))
    }

    pub(super) fn sets(&mut self, sets: &[Set]) -> String {
        let mut queries = Vec::new();
        let mut lines = String::new();
        let mut against: Vec<String> = Vec::new();
        let mut blank: Vec<String> = Vec::new();
        let mut is_exact = false;
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
            let (mut rounded, mut stays) = (String::new(), " already");
            let value = match &set.to {
                To::Value(lit) => format!("params[\"{}\"]", self.params.bind(&column.name, lit)),
                To::Row(select) => {
                    queries.push((self.lookup(select, &[]), 1));
                    self.referred(set.rows.table, set.column, place + 1)
                }
                To::Moved(lit, up) => {
                    let value = format!("params[\"{}\"]", self.params.bind(&column.name, lit));
                    let sign = if *up { "<" } else { ">" };
                    against.push(format!(
                        "[row for row in found[{place}] if row[\"now\"] is not None and {value} {sign} row[\"now\"]]"
                    ));
                    value
                }
                To::By(lit) => format!("row[\"now\"] + params[\"{}\"]", self.params.bind("change", lit)),
                To::Percent(lit) => {
                    let name = self.params.bind("percent", lit);
                    if amounts::currency_of(column).is_some() {
                        // Money has hundredths: that it is rounded is said.
                        stays = " also after it is rounded to 2 decimals";
                        rounded = format!(
                            "{{' (rounded to 2 decimals)' if abs(row['after'] * 100 - row['now'] * (100 + params['{name}'])) > 1e-6 else ''}}"
                        );
                        format!("round(row[\"now\"] * (100 + params[\"{name}\"]) / 100, 2)")
                    } else {
                        // As decimals are written, and not as floating point holds them.
                        is_exact = true;
                        format!(
                            "float(Decimal(str(row[\"now\"])) * (100 + Decimal(str(params[\"{name}\"]))) / 100)"
                        )
                    }
                }
            };
            if matches!(set.to, To::By(_) | To::Percent(_)) && column.has_nulls {
                blank.push(format!("[row for row in found[{place}] if row[\"now\"] is None]"));
            }
            let key = table.key.map_or("", |key| table.columns[key].name.as_str());
            let name = braces(&column.name.replace('_', " "));
            let _ = write!(
                lines,
                "for row in found[{place}]:\n    row[\"after\"] = {value}\n    if row[\"after\"] == row[\"now\"]:\n        same.append(f\"the {name} of {{row['label']}} is {{row['now']}}{stays}\")\n        continue\n    \
                 {}_tbl.update({{{}: row[\"after\"]}}, where({}) == row[\"key\"])\n    changed.append(f\"the {name} of {{row['label']}} from {{row['now']}} to {{row['after']}}{rounded}\")\n",
                table.name,
                quote(&column.name),
                quote(key),
            );
        }
        let counts: Vec<String> = queries.iter().map(|(_, count)| count.to_string()).collect();
        let list: Vec<String> = queries.into_iter().map(|(query, _)| query).collect();
        // `raise … to 20`, where it is 27: it is asked what is meant. What is not known cannot be raised.
        let stops = stopped(&[
            (
                "turned",
                against,
                "It is {turned[0]['now']} for {turned[0]['label']} now, so that would be a change the other way. Say “set” if it is meant.",
            ),
            (
                "blank",
                blank,
                "It is not known what it is for {blank[0]['label']} now: say “set” and what it is to be. Nothing was changed.",
            ),
        ]);
        let import = if is_exact { "from decimal import Decimal\n\n" } else { "" };
        format!(
            "{import}found = [{}]\nchanged, same = [], []\nunclear = [rows for rows, count in zip(found, [{}]) if len(rows) != count]\n{stops}if not unclear:\n{}    answer_text = \"Changed \" + \"; \".join(changed) + \".\" if changed else \"Nothing was changed: \" + \"; \".join(same) + \".\"\n    STATUS = \"success\"\n\
             else:\n    names = \"; \".join(str(row[\"label\"]) for row in unclear[0][:10])\n    answer_text = f\"That fits several rows: {{names}}. Name each one that is meant.\" if names else \"There is none like that.\"\n    STATUS = \"invalid_request\" if names else \"no_match\"\n",
            list.join(", "),
            counts.join(", "),
            indent(&lines),
        )
    }
}

/// The lines before an `if` that stop where some rows are found, and say why.
fn stopped(stops: &[(&str, Vec<String>, &str)]) -> String {
    let (mut rows, mut branches) = (String::new(), String::new());
    for (name, found, why) in stops.iter().filter(|(_, found, _)| !found.is_empty()) {
        let _ = writeln!(rows, "{name} = {}", found.join(" + "));
        let _ = write!(
            branches,
            "if {name}:\n    answer_text = f\"{why}\"\n    STATUS = \"invalid_request\"\nel"
        );
    }
    rows + &branches
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
         twins = [row[\"label\"] for row in unclear[0]]\n    \
         names = \"; \".join(f\"{{place}}. {{row['label']}}\" + (f\" ({{row['key']}})\" if twins.count(row[\"label\"]) > 1 else \"\") for place, row in enumerate(unclear[0][:10], 1))\n    \
         answer_text = f\"{WHICH}{{names}}. Say the number.\" if names else \"There is none like that.\"\n    \
         STATUS = \"invalid_request\" if names else \"no_match\"\nelse:\n{}",
        queries.join(", "),
        indent(run),
    )
}

/// The rows that an answer asks about, in the order of their numbers.
pub(crate) fn offered(answer: &str) -> Vec<String> {
    let Some(list) = answer.strip_prefix(WHICH).and_then(|rest| rest.strip_suffix(". Say the number."))
    else {
        return Vec::new();
    };
    let rows = list.split("; ").enumerate();
    rows.map_while(|(at, row)| row.strip_prefix(&format!("{}. ", at + 1)).map(str::to_owned)).collect()
}
