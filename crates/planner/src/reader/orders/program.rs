//! Writes the program that makes a change: the rows that it names are looked up first, and each must be just one.

use std::fmt::Write as _;

use ordain_reader::{
    Argument, Ask, Call, Change, Column, Cond, Day, Function, Measure, Path, Query, Reader, Row, Scalar, To,
};
use ordain_types::{BoundParam, Column as Stored};
use serde_json::{Value, json};

use super::{SAY, WHICH};
use crate::brief::Brief;
use crate::reader::answer::{capital, quote};

/// A program with its values.
pub(super) struct Program {
    pub(super) code: String,
    pub(super) params: Vec<BoundParam>,
}

/// Writes what a change does; nothing where a condition of it cannot be looked up.
pub(super) fn write(reader: &Reader, brief: &Brief, change: &Change, words: &str) -> Option<Program> {
    let mut writer = Writer { reader, brief, params: Vec::new(), found: Vec::new() };
    let body = writer.change(change)?;
    let comment = words.replace(['\n', '\r'], " ");
    let mut code = format!("# {comment}\n");
    if body.contains("Decimal(") {
        code.push_str("from decimal import Decimal\n\n");
    }
    let ending =
        "answer_text = \" \".join(told) if STATUS == \"success\" else told[-1] + \" Nothing was changed.\"\n";
    let body = format!("STATUS, told = \"success\", []\n{body}{ending}");
    if writer.found.is_empty() {
        code.push_str(&body);
    } else {
        let (mut looked, mut all) = (String::new(), Vec::new());
        for (at, found) in writer.found.iter().enumerate() {
            let rows = rows_of(at);
            let _ = writeln!(looked, "{rows} = {}", found.query);
            all.push(format!("({}, [row[{}] for row in {rows}])", found.called, quote(&found.key)));
        }
        let _ = write!(
            code,
            "{looked}unclear = [(called, keys) for called, keys in [{}] if len(keys) != 1]\nif unclear:\n    \
             called, keys = unclear[0]\n    \
             listed = \"; \".join(f\"{{place}}. {{called}} ({{key}})\" for place, key in enumerate(keys[:10], 1))\n    \
             answer_text = f\"{WHICH}{{listed}}.{SAY}\" if keys else f\"There is no row called {{called}}.\"\n    \
             STATUS = \"invalid_request\" if keys else \"no_match\"\nelse:\n{}",
            all.join(", "),
            indent(&body),
        );
    }
    Some(Program { code, params: writer.params })
}

/// A row to be looked up.
#[derive(PartialEq, Eq)]
struct Found {
    query: String,
    /// What the request calls it, and the key that tells rows of that name apart.
    called: String,
    key: String,
}

/// The variable with the rows of a query.
fn rows_of(at: usize) -> String {
    if at == 0 { "rows".to_owned() } else { format!("rows_{}", at + 1) }
}

struct Writer<'a> {
    reader: &'a Reader,
    brief: &'a Brief,
    params: Vec<BoundParam>,
    found: Vec<Found>,
}

impl Writer<'_> {
    /// The lines that make a change; each step puts what it did at the end of `told`, and sets `STATUS`.
    fn change(&mut self, change: &Change) -> Option<String> {
        Some(match change {
            Change::Call(call) => self.call(call),
            Change::Set { row, column, to } => self.set(row, column, to)?,
            Change::Add { table, values } => self.add(table, values),
            Change::Remove(row) => self.remove(row),
            Change::When { row, cond, is_denied, then } => self.guarded(row, cond, *is_denied, then)?,
            Change::Then(all) => {
                let mut lines = String::new();
                for (at, step) in all.iter().enumerate() {
                    let step = self.change(step)?;
                    if at == 0 {
                        lines.push_str(&step);
                    } else {
                        let _ = write!(lines, "if STATUS == \"success\":\n{}", indent(&step));
                    }
                }
                lines
            }
            Change::Undo => return None,
        })
    }

    fn call(&mut self, call: &Call) -> String {
        let given: Vec<String> = call
            .arguments
            .iter()
            .map(|(name, argument)| format!("{name}={}", self.argument(name, argument, None)))
            .collect();
        let call = format!("{}({})", call.verb, given.join(", "));
        format!("done = {call}\ntold.append(done[\"text\"])\nSTATUS = done[\"status\"]\n")
    }

    /// A change that is made only if the row meets a condition, or does not.
    fn guarded(&mut self, row: &Row, cond: &Cond, is_denied: bool, then: &Change) -> Option<String> {
        let (table, column) = (row.table.clone(), Path::own(&row.column));
        let filter = Cond::All(vec![Cond::is(column, row.value.clone()), cond.clone()]);
        let ask = Ask::Figure(Measure::One(Function::Count, None), Vec::new(), None);
        let select =
            self.reader.select(&Query { table, filter, ask }, &[], super::super::dialect(self.brief))?;
        // It is one row, and no other is looked at.
        self.row("row", row);
        let mut values = Vec::new();
        for name in &select.used {
            let param = select.params.iter().find(|param| param.name == *name)?;
            let is_fixed = !param.is_next && !matches!(param.value, Scalar::Day(Day::Relative(..)));
            values.push(is_fixed.then(|| self.bound(name, &param.value))?);
        }
        let met = format!("db.query({}, [{}])[0][\"value\"] > 0", quote(&select.text), values.join(", "));
        let unmet = self.reader.words_of_condition(row, cond, is_denied)?;
        Some(format!(
            "if {}{met}:\n{}else:\n    told.append({})\n    STATUS = \"not_available\"\n",
            if is_denied { "not " } else { "" },
            indent(&self.change(then)?),
            quote(&format!("{}.", capital(&unmet)))
        ))
    }

    /// An argument in Python: a value of the request, or the key of a row; in a column, what the column refers to.
    fn argument(&mut self, name: &str, argument: &Argument, of: Option<&Column>) -> String {
        match argument {
            Argument::Value(value) => self.bound(name, value),
            Argument::Row(row) => {
                let refers = of.and_then(|column| column.refers.as_ref()).map(|(_, column)| column.clone());
                let key = refers.unwrap_or_else(|| self.key(&row.table).into());
                format!("{}[{}]", self.row(name, row), quote(&key))
            }
            Argument::New(_) | Argument::Missing => "None".to_owned(),
        }
    }

    /// The key of a table.
    fn key(&self, table: &str) -> String {
        let key = self.reader.catalog().table(table).and_then(|table| table.key.as_deref());
        key.unwrap_or_default().to_owned()
    }

    /// What the row of a query is called.
    fn label(&self, table: &str) -> String {
        let label = self.reader.catalog().table(table).and_then(|table| table.label.as_deref());
        label.map_or_else(|| self.key(table), str::to_owned)
    }

    /// The row that is named, looked up.
    fn row(&mut self, name: &str, row: &Row) -> String {
        let value = self.bound(name, &row.value);
        let query = format!("{}_tbl.search(where({}) == {value})", row.table, quote(&row.column));
        let found = Found { query, called: value, key: self.key(&row.table) };
        let place = self.found.iter().position(|known| *known == found).unwrap_or_else(|| {
            self.found.push(found);
            self.found.len() - 1
        });
        format!("{}[0]", rows_of(place))
    }

    /// A value of the request, under a name of its own.
    fn bound(&mut self, name: &str, value: &Scalar) -> String {
        let value = match value {
            Scalar::Day(Day::On(day)) => json!(day),
            other => json!(other),
        };
        let same = |param: &&BoundParam| {
            param.value == value
                && param.name.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit()) == name
        };
        if let Some(known) = self.params.iter().find(same) {
            return format!("params[{}]", quote(&known.name));
        }
        let is_free = |name: &String| !self.params.iter().any(|param| param.name == *name);
        let mut names =
            std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}_{number}")));
        let name = names.find(is_free).unwrap_or_default();
        let words = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let at = place_of(&self.brief.request, &words);
        let said = at.and_then(|(from, to)| self.brief.request.get(from..to)).unwrap_or_default().to_owned();
        let place = quote(&name);
        self.params.push(BoundParam { name, value, said, at });
        format!("params[{place}]")
    }

    fn stored(&self, table: &str, column: &str) -> Option<&Stored> {
        self.brief.tables.iter().find(|known| known.table.name == table)?.table.column(column)
    }

    fn set(&mut self, row: &Row, column: &str, to: &To) -> Option<String> {
        let own = self.reader.catalog().column(&row.table, column)?.clone();
        let found = self.row("row", row);
        let (label, key) = (quote(&self.label(&row.table)), quote(&self.key(&row.table)));
        let (now, name) = (format!("row[{}]", quote(column)), column.replace('_', " "));
        let is_open = self.stored(&row.table, column).is_none_or(|column| column.nullable);
        let value = match to {
            To::Value(argument) => self.argument(column, argument, Some(&own)),
            To::Moved(number, _) => self.bound(column, &Scalar::Number(*number)),
            To::By(number) => format!("{now} + {}", self.bound("change", &Scalar::Number(*number))),
            To::Percent(number) => {
                let percent = self.bound("percent", &Scalar::Number(*number));
                if own.currency().is_some() {
                    format!("round({now} * (100 + {percent}) / 100, 2)")
                } else {
                    // As decimals are written, and not as floating point holds them.
                    format!("float(Decimal(str({now})) * (100 + Decimal(str({percent}))) / 100)")
                }
            }
        };
        let mut stops = String::new();
        if is_open && matches!(to, To::By(_) | To::Percent(_) | To::Moved(..)) {
            let _ = write!(
                stops,
                "if {now} is None:\n    told.append(f\"It is not known what the {name} of {{row[{label}]}} is now: say what it is to be.\")\n    STATUS = \"invalid_request\"\n"
            );
        }
        let said = |value: &str| match own.currency() {
            Some(sign) => format!("{sign}{{{value}:,.2f}}"),
            None => format!("{{{value}}}"),
        };
        let has_gap = is_open && own.currency().is_some();
        let before = if has_gap { format!("{{{now}}}") } else { said(&now) };
        let against = match to {
            To::Moved(_, is_up) => format!(
                "elif after {} {now}:\n    told.append(f\"The {name} of {{row[{label}]}} is {before}, so that would be a change the other way: say “set” if it is meant.\")\n    STATUS = \"invalid_request\"\n",
                if *is_up { "<" } else { ">" }
            ),
            _ => String::new(),
        };
        let update = format!(
            "after = {value}\nif after == {now}:\n    told.append(f\"The {name} of {{row[{label}]}} is {before} already.\")\n{against}else:\n    \
             {}_tbl.update({{{}: after}}, where({key}) == row[{key}])\n    told.append(f\"The {name} of {{row[{label}]}} is {} now; it was {before}.\")\n",
            row.table,
            quote(column),
            said("after"),
        );
        let update = if stops.is_empty() { update } else { format!("{stops}else:\n{}", indent(&update)) };
        // Within an f-string older versions of Python allow no double quotes.
        Some(format!("row = {found}\n{}", in_f_strings(&update)))
    }

    fn add(&mut self, table: &str, values: &[(String, Argument)]) -> String {
        let entries: Vec<String> = values
            .iter()
            .map(|(column, value)| {
                let own = self.reader.catalog().column(table, column).cloned();
                format!("{}: {}", quote(column), self.argument(column, value, own.as_ref()))
            })
            .collect();
        format!(
            "{table}_tbl.insert({{{}}})\ntold.append({})\n",
            entries.join(", "),
            quote(&format!("Added a row to {}.", table.replace('_', " ")))
        )
    }

    /// Rows that refer to it would refer to nothing.
    fn remove(&mut self, row: &Row) -> String {
        let found = self.row("row", row);
        let (label, key) = (self.label(&row.table), self.key(&row.table));
        let tables = self.reader.catalog().tables.iter();
        let users = tables.flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        let users =
            users.filter(|(_, column)| column.refers.as_ref().is_some_and(|(to, _)| *to == row.table));
        let used: Vec<String> = users
            .filter_map(|(table, column)| {
                let (_, to) = column.refers.as_ref()?;
                let count =
                    format!("{}_tbl.count(where({}) == row[{}])", table.name, quote(&column.name), quote(to));
                Some(format!("({}, {count})", quote(&table.name)))
            })
            .collect();
        let remove = format!(
            "{}_tbl.remove(where({key}) == row[{key}])\ntold.append(f\"Removed {{row['{label}']}}.\")\n",
            row.table,
            key = quote(&key)
        );
        if used.is_empty() {
            return format!("row = {found}\n{remove}");
        }
        format!(
            "row = {found}\nused = [(name, count) for name, count in [{}] if count]\nif used:\n    \
             told.append(f\"{{row['{label}']}} is in {{used[0][1]}} rows of {{used[0][0]}}: remove these first.\")\n    \
             STATUS = \"invalid_request\"\nelse:\n{}",
            used.join(", "),
            indent(&remove)
        )
    }
}

/// Where words stand in a request, if just once.
fn place_of(request: &str, words: &str) -> Option<(usize, usize)> {
    let is_whole = |at: usize| {
        let before = request[..at].chars().next_back();
        let after = request[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    };
    let lower = request.to_lowercase();
    if words.is_empty() || lower.len() != request.len() {
        return None;
    }
    let words_lower = words.to_lowercase();
    let mut places = lower.match_indices(&words_lower).map(|(at, _)| at);
    let at = places.find(|at| words_lower.len() == words.len() && is_whole(*at))?;
    places.all(|other| !is_whole(other)).then_some((at, at + words.len()))
}

/// Subscripts within f-strings in single quotes.
fn in_f_strings(code: &str) -> String {
    let lines = code.lines().map(|line| match line.split_once("f\"") {
        Some((before, text)) => {
            let text = text.strip_suffix("\")").unwrap_or(text);
            let single = text.replace("[\"", "['").replace("\"]", "']");
            format!("{before}f\"{single}\")\n")
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn indent(code: &str) -> String {
    code.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
