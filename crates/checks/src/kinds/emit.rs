//! Writes the code of a kind: one frame, a mark for judged rows, a mark for failing rows, a result.

use std::collections::{BTreeMap, BTreeSet};

use ordain_reader::rows_of;
use ordain_types::{Asked, Column, ColumnType, Table, TableRule, Test};

use super::{BySql, CheckPlan, CompiledKind};
use super::{filter, literal};

/// Code in the making.
#[derive(Debug)]
pub(super) struct Code {
    table: String,
    imports: BTreeSet<&'static str>,
    lines: Vec<String>,
    end: String,
    plan: CheckPlan,
    /// Columns whose values have a type that a value in a file may not fit.
    typed: Vec<String>,
    /// What becomes of rows whose value is there and does not fit.
    unread: Unread,
    /// The typed columns by which rows are chosen.
    choosing: Vec<String>,
    /// Whether it is about some of the rows only.
    is_limited: bool,
    /// The rows to which the rule applies.
    applies: Option<Test>,
    /// Whether a filter in pandas' own language chooses rows, which no database reads.
    is_filtered: bool,
    /// What the rule asks, where a database can judge it, and the lines that take up what it counted.
    asks: Option<Asked>,
    counted_lines: Vec<String>,
    counted_end: String,
    /// The typed ones of the judged columns.
    judged: Vec<String>,
}

/// What becomes of rows with a value that cannot be read as its column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// They fail: such a value is within no bounds and compares with nothing.
    Fail,
    /// They pass: all that is asked is whether there is a value, or whether it is another one.
    Pass,
}

impl Code {
    /// Code that looks at a table as `rows`.
    pub(super) fn new(table: &Table) -> Self {
        let mut code = Self::empty();
        code.table.clone_from(&table.name);
        let is_typed = |column: &&Column| {
            !matches!(column.column_type, ColumnType::Text | ColumnType::Json | ColumnType::Any)
        };
        code.typed = table.columns.iter().filter(is_typed).map(|column| column.name.clone()).collect();
        code.load("rows", &table.name);
        code
    }

    /// Code that looks at nothing yet.
    pub(super) fn empty() -> Self {
        Self {
            table: String::new(),
            imports: BTreeSet::new(),
            lines: Vec::new(),
            end: String::new(),
            plan: CheckPlan::default(),
            typed: Vec::new(),
            unread: Unread::Fail,
            choosing: Vec::new(),
            applies: None,
            is_limited: false,
            is_filtered: false,
            asks: None,
            counted_lines: Vec::new(),
            counted_end: String::new(),
            judged: Vec::new(),
        }
    }

    /// Notes what the rule asks, so that a database can judge it.
    pub(super) fn asks(&mut self, asks: Asked) {
        self.asks = Some(asks);
    }

    /// One line of code that takes up what a database counted, where the usual code looks at rows.
    pub(super) fn counted_line(&mut self, line: impl Into<String>) {
        self.counted_lines.push(line.into());
    }

    /// Adds a line to both forms of the code: the one in which pandas counts and the one in which a database has counted.
    pub(super) fn line_of_both(&mut self, line: impl Into<String>) {
        let line = line.into();
        self.counted_lines.push(line.clone());
        self.line(line);
    }

    /// Notes that a table without rows is judged like any other.
    pub(super) fn judges_empty(&mut self) {
        self.plan.judges_empty = true;
    }

    /// Lets rows pass whose value cannot be read.
    pub(super) fn pass_unread(&mut self) {
        self.unread = Unread::Pass;
    }

    /// The places of values that cannot be read in the typed ones of these columns, as an expression.
    pub(super) fn unread_places(&self, columns: &[String]) -> Option<String> {
        let typed = self.typed_of(columns);
        (!typed.is_empty()).then(|| {
            format!(
                "[place for name in {} for place in rows.attrs.get(\"misfits\", {{}}).get(name, ())]",
                literal::names(&typed)
            )
        })
    }

    fn typed_of(&self, columns: &[String]) -> Vec<String> {
        columns.iter().filter(|name| self.typed.contains(name)).cloned().collect()
    }

    /// Takes a table under a name.
    pub(super) fn load(&mut self, variable: &str, table: &str) {
        self.line(format!("{variable} = frame({})", literal::text(table)));
        if !self.plan.tables.iter().any(|known| known == table) {
            self.plan.tables.push(table.to_owned());
        }
        self.step(format!("take table `{table}`"));
    }

    /// Keeps the rows of a table that meet a pandas query.
    pub(super) fn filter(&mut self, filter: &str, table: &Table) {
        self.is_limited = true;
        match self.unclear(&filter::columns(filter, table)) {
            None => self.choose("rows", "rows", filter, table),
            Some(unclear) => {
                self.choose("rows", "chosen", filter, table);
                self.line(format!("rows = rows[rows.index.isin(chosen.index) | {unclear}]"));
            }
        }
        self.step(format!("keep the rows where {filter}"));
        self.is_filtered = true;
    }

    /// Puts the rows of a variable that meet a pandas query into another one.
    pub(super) fn choose(&mut self, rows: &str, into: &str, filter: &str, table: &Table) {
        let lines = filter::lines(filter, table, rows, into);
        if lines.len() > 1 {
            self.import("import pandas as pd");
        }
        for line in lines {
            self.line(line);
        }
    }

    /// The rows for which nobody can tell whether they are chosen, because a value in one of these columns cannot be read, as
    /// an expression. They are kept, and fail.
    pub(super) fn unclear(&mut self, columns: &[String]) -> Option<String> {
        let places = self.unread_places(columns)?;
        self.choosing.extend(columns.iter().filter(|name| self.typed.contains(name)).cloned());
        Some(format!("rows.index.isin({places})"))
    }

    /// The columns by which rows are chosen, and others.
    pub(super) fn with_choosing(&self, columns: &[String]) -> Vec<String> {
        [columns, &self.choosing].concat()
    }

    /// Notes to which rows the rule applies: every sentence about it says so.
    pub(super) fn only_where(&mut self, test: Test) {
        self.applies = Some(test);
        self.is_limited = true;
    }

    fn with_rows(&self, rule: &str) -> String {
        self.applies
            .as_ref()
            .map_or_else(|| rule.to_owned(), |test| format!("{rule}, where {}", test.words()))
    }

    /// One line of code.
    pub(super) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// A module that the code needs, as it is imported.
    pub(super) fn import(&mut self, import: &'static str) {
        self.imports.insert(import);
    }

    /// One step of the plan.
    pub(super) fn step(&mut self, step: impl Into<String>) {
        self.plan.steps.push(step.into());
    }

    /// Notes that columns of the judged table are looked at.
    pub(super) fn uses(&mut self, columns: &[String]) {
        let table = self.table.clone();
        self.uses_of(&table, columns);
    }

    /// Notes that columns of a table are looked at.
    pub(super) fn uses_of(&mut self, table: &str, columns: &[String]) {
        let known = self.plan.columns.entry(table.to_owned()).or_default();
        for column in columns {
            if !known.contains(column) {
                known.push(column.clone());
            }
        }
    }

    /// Ends code that has marked `judged` and `failing` rows. `rule` says what must hold, `failure` what failing rows
    /// do, after "3 of 10 rows".
    pub(super) fn end_with_rows(&mut self, rule: &str, failure: &str, columns: &[String]) {
        if let Some(places) = self.unread_places(columns).filter(|_| self.unread == Unread::Pass) {
            self.line(format!("unread = rows.index.isin({places})"));
            self.line("judged, failing = judged | unread, failing & ~unread");
        }
        let failing =
            if self.unread == Unread::Fail { self.with_choosing(columns) } else { self.choosing.clone() };
        let places = self.unread_places(&failing);
        if let Some(places) = &places {
            self.line(format!("unread = rows.index.isin({places})"));
            self.step("mark the rows whose value cannot be read as its column's type");
        }
        let called = rows_of(&self.table);
        self.end_with_groups((rule, failure), &called, columns, places.is_some());
    }

    /// The same where `rows` are no longer those of the table, with what they are called; `unread` marks those that rest on a
    /// value that cannot be read.
    pub(super) fn end_with_groups(
        &mut self,
        (rule, failure): (&str, &str),
        called: &str,
        columns: &[String],
        has_unread: bool,
    ) {
        let mut unread = "";
        if has_unread {
            self.line("judged, failing = judged | unread, failing | unread");
            self.line("unread = int(unread.sum())");
            self.counted_line("unread = counted.get(\"unread\", 0)");
            unread = " + (f\"; values of {unread} of them cannot be read\" if unread else \"\")";
        }
        self.judged = self.typed_of(columns);
        self.plan.intent = self.with_rows(rule);
        let failure = self.with_rows(failure);
        self.step("count the rows that are judged and those that fail");
        "every failing row".clone_into(&mut self.plan.output);
        let result = format!(
            "result = {{\n    \
                 \"status\": \"FAIL\" if failed else \"PASS\",\n    \
                 \"summary\": f\"{{failed:,}} of {{evaluated:,}} {} {}\"{unread},\n    \
                 \"evaluated\": evaluated,\n    \
                 \"failed\": failed,\n    \
                 \"columns\": {},\n    \
                 \"failed_rows\": ",
            literal::spoken(called),
            literal::spoken(&failure),
            literal::names(columns),
        );
        self.end = format!(
            "evaluated, failed = int(judged.sum()), int(failing.sum())\n{result}rows[failing],\n}}\n"
        );
        self.counted_end = format!(
            "evaluated, failed = counted[\"evaluated\"], counted[\"failed\"]\n{result}counted[\"rows\"],\n}}\n"
        );
    }

    /// Ends code that has decided `holds` about the table as a whole and knows what it `observed`. The summary is the
    /// inner part of an f-string.
    pub(super) fn end_with_verdict(&mut self, rule: &str, summary: &str) {
        self.plan.intent = self.with_rows(rule);
        "whether it holds, and what was observed".clone_into(&mut self.plan.output);
        let used = self.plan.columns.get(&self.table).cloned().unwrap_or_default();
        let mut unread = String::new();
        let mut evaluated = "1";
        if let Some(places) = self.unread_places(&self.with_choosing(&used)) {
            // A figure that leaves values out is none.
            self.line(format!("unread = int(rows.index.isin({places}).sum())"));
            self.counted_line("unread = counted[\"unread\"]");
            self.line_of_both("holds = holds and not unread");
            unread.push_str(" + (f\"; {unread} values cannot be read\" if unread else \"\")");
        }
        if self.is_limited && !self.plan.judges_empty {
            self.line("kept = len(rows)");
            self.counted_line("kept = counted[\"rows\"]");
            unread.push_str(" + (\"\" if kept else \"; it looked at no row\")");
            evaluated = "1 if kept or not holds else 0";
        }
        self.end = format!(
            "result = {{\n    \
                 \"status\": \"PASS\" if holds else \"FAIL\",\n    \
                 \"summary\": f\"{summary}\"{unread},\n    \
                 \"evaluated\": {evaluated},\n    \
                 \"failed\": 0 if holds else 1,\n    \
                 \"observed\": observed,\n\
             }}\n"
        );
        self.judged = self.typed_of(&used);
        self.counted_end.clone_from(&self.end);
    }

    /// One more line after the result is set.
    pub(super) fn also(&mut self, line: &str) {
        self.end.push_str(line);
        self.end.push('\n');
    }

    /// Ends code in its own way.
    pub(super) fn end_with(&mut self, rule: &str, output: &str, end: String) {
        self.plan.intent = self.with_rows(rule);
        output.clone_into(&mut self.plan.output);
        self.end = end;
    }

    /// Its lines after the one that takes the table, behind what they import.
    pub(super) fn into_lines(self) -> Vec<String> {
        let imports = self.imports.iter().map(|import| (*import).to_owned());
        imports.chain(self.lines.into_iter().skip(1)).collect()
    }

    /// The code and its plan.
    pub(super) fn finish(self) -> CompiledKind {
        let intent = format!("# {}\n", self.plan.intent.replace(['\n', '\r'], " "));
        let is_whole = !self.is_filtered;
        let by_sql = self.asks.filter(|_| is_whole).map(|asks| BySql {
            rule: TableRule { table: self.table, when: self.applies, asks },
            unread: self.judged,
            lets_unread_pass: self.unread == Unread::Pass,
            before: intent.clone(),
            after: [self.counted_lines, vec![self.counted_end]].concat().join("\n"),
        });
        let (imports, lines, end, plan, mut code) = (self.imports, self.lines, self.end, self.plan, intent);
        for import in &imports {
            code.push_str(import);
            code.push('\n');
        }
        if !imports.is_empty() {
            code.push('\n');
        }
        for line in lines {
            code.push_str(&line);
            code.push('\n');
        }
        code.push_str(&end);
        let columns: BTreeMap<_, _> =
            plan.columns.into_iter().filter(|(_, columns)| !columns.is_empty()).collect();
        CompiledKind { code, plan: CheckPlan { columns, ..plan }, by_sql }
    }
}

/// A column of `rows`, as an expression.
pub(super) fn column(name: &str) -> String {
    format!("rows[{}]", literal::text(name))
}
