//! Writes a demand as the code of a check: pandas over the frames of its tables, which sets `result`.
//!
//! A condition is written twice, as where it is so and as where it is not: a comparison with a missing value is neither. A
//! value that is there and cannot be read as its column's type is within no bounds and equal to nothing.

mod cells;
mod whole;

use std::collections::{BTreeMap, BTreeSet};

use crate::algebra::{Claim, Cond, Demand, Expr, Name, Op, Path, TextTest};
use crate::catalog::{Catalog, Holds, Source};

/// The code of a check, and what it looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The Python.
    pub code: String,
    /// The columns that are looked at, by table.
    pub columns: BTreeMap<String, Vec<String>>,
}

/// Where a condition is so, and where it is not, as expressions.
#[derive(Debug, Clone)]
struct Mark {
    so: String,
    not: String,
}

/// Code in the making.
#[derive(Debug)]
struct Writer<'a> {
    catalog: &'a Catalog,
    imports: BTreeSet<&'static str>,
    lines: Vec<String>,
    /// Variables by what they hold.
    variables: BTreeMap<String, String>,
    columns: BTreeMap<String, BTreeSet<String>>,
}

/// The rows that an expression is about: a table, and the variable that holds its frame.
#[derive(Debug, Clone)]
struct Frame {
    table: Name,
    variable: String,
}

/// Writes a demand over a catalog. The sentence is what it says, for the reader of the code.
pub(crate) fn program(demand: &Demand, catalog: &Catalog, sentence: &str, narrowed: &[String]) -> Program {
    let mut writer = Writer {
        catalog,
        imports: BTreeSet::new(),
        lines: Vec::new(),
        variables: BTreeMap::new(),
        columns: BTreeMap::new(),
    };
    let rows = Frame { table: demand.table.clone(), variable: "rows".to_owned() };
    writer.line(format!("rows = frame({})", text(&demand.table)));
    writer.lines.extend(narrowed.iter().cloned());
    writer.columns.entry(demand.table.to_string()).or_default();
    let end = match &demand.claim {
        Claim::Every(test) => writer.every(&rows, &demand.when, test, sentence),
        Claim::Share(test, op, percent) => writer.share(&rows, &demand.when, test, *op, *percent),
        Claim::Bounds(figure, bounds) => writer.bounds(&rows, &demand.when, figure, bounds),
    };
    let mut code = format!("# {}\n", sentence.replace(['\n', '\r'], " "));
    for import in &writer.imports {
        code.push_str(import);
        code.push('\n');
    }
    if !writer.imports.is_empty() {
        code.push('\n');
    }
    for line in &writer.lines {
        code.push_str(line);
        code.push('\n');
    }
    code.push_str(&end);
    let columns = writer.columns.into_iter().map(|(table, names)| (table, names.into_iter().collect()));
    Program { code, columns: columns.collect() }
}

/// A text as Python writes it.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as the inner part of an f-string.
fn spoken(words: &str) -> String {
    let quoted = text(words);
    let inner = quoted.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or_default();
    inner.replace('{', "{{").replace('}', "}}")
}

/// What the rows of a table are called: `orders` where that is its name, and `rows` where its name is no plural.
pub fn rows_of(table: &str) -> String {
    let is_plural = table.ends_with('s')
        && !table.ends_with("ss")
        && table.chars().all(|c| c.is_alphabetic() || c == '_');
    if is_plural { table.replace('_', " ") } else { "rows".to_owned() }
}

fn names<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    format!("[{}]", names.into_iter().map(|name| text(name)).collect::<Vec<_>>().join(", "))
}

const fn sign(op: Op) -> &'static str {
    match op {
        Op::Equal => "==",
        Op::Below => "<",
        Op::AtMost => "<=",
        Op::Above => ">",
        Op::AtLeast => ">=",
    }
}

/// The comparison that is so where this one is not.
const fn opposite(op: Op) -> &'static str {
    match op {
        Op::Equal => "!=",
        Op::Below => ">=",
        Op::AtMost => ">",
        Op::Above => "<=",
        Op::AtLeast => "<",
    }
}

impl Writer<'_> {
    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn pandas(&mut self) {
        self.imports.insert("import pandas as pd");
    }

    /// The variable that holds a value, set where it is first needed.
    fn variable(&mut self, kind: &str, value: String) -> String {
        if let Some(known) = self.variables.get(&value) {
            return known.clone();
        }
        let number = self.variables.values().filter(|known| known.starts_with(kind)).count();
        let name = if number == 0 { kind.to_owned() } else { format!("{kind}_{}", number + 1) };
        self.line(format!("{name} = {value}"));
        self.variables.insert(value, name.clone());
        name
    }

    fn uses(&mut self, table: &str, column: &str) {
        self.columns.entry(table.to_owned()).or_default().insert(column.to_owned());
    }

    fn every(&mut self, rows: &Frame, when: &Cond, test: &Cond, sentence: &str) -> String {
        let among = self.chosen(rows, when);
        let Mark { so, not } = self.mark(rows, test, &among.so);
        // A value that cannot be read is as demanded nowhere.
        let unread = self.unread_in(rows, test);
        let bad = unread.iter().fold(not, |bad, unread| format!("({bad} | {unread})"));
        let all = format!("({so} | {bad})");
        let chosen =
            |marked: String| if among.so.is_empty() { marked } else { format!("{} & {marked}", among.so) };
        // And so is a row of which nobody can tell whether the rule is about it.
        let also = |marked: String| {
            if among.not.is_empty() { marked } else { format!("({marked}) | {}", among.not) }
        };
        self.line(format!("failing = {}", also(chosen(bad))));
        self.line(format!("judged = {}", also(chosen(all))));
        self.line("evaluated, failed = int(judged.sum()), int(failing.sum())");
        let unread: Vec<String> =
            unread.into_iter().chain((!among.not.is_empty()).then_some(among.not)).collect();
        let mut more = "";
        if !unread.is_empty() {
            self.line(format!("unread_rows = int((failing & ({})).sum())", unread.join(" | ")));
            more = " + (f\"; values of {unread_rows} of them cannot be read\" if unread_rows else \"\")";
        }
        let mut own = BTreeSet::new();
        columns_in(test, &mut own);
        format!(
            "result = {{\n    \"status\": \"FAIL\" if failed else \"PASS\",\n    \
             \"summary\": f\"{{failed:,}} of {{evaluated:,}} {} break the rule: {}\"{more},\n    \
             \"evaluated\": evaluated,\n    \"failed\": failed,\n    \"columns\": {},\n    \
             \"failed_rows\": rows[failing],\n}}\n",
            spoken(&rows_of(&rows.table)),
            spoken(sentence),
            names(&own)
        )
    }

    /// The rows that a rule is about: where its condition is so, and where nobody can tell because a value cannot be read.
    /// Nothing stands for all rows and for none.
    fn chosen(&mut self, rows: &Frame, when: &Cond) -> Mark {
        if when.is_always() {
            return Mark { so: String::new(), not: String::new() };
        }
        let mark = self.mark(rows, when, "");
        let unclear = self.unread_in(rows, when).map(|unread| {
            let unclear = format!("{unread} & ~{}", certainly(&mark.not));
            self.variable("unclear", unclear)
        });
        Mark { so: self.variable("chosen", mark.so), not: unclear.unwrap_or_default() }
    }

    /// Where a value that a condition compares is there and cannot be read.
    fn unread_in(&mut self, rows: &Frame, cond: &Cond) -> Option<String> {
        let mut compared = BTreeSet::new();
        compared_in(cond, &mut compared);
        let names: Vec<Name> =
            compared.into_iter().filter(|name| self.may_be_unread(&rows.table, name)).collect();
        (!names.is_empty()).then(|| self.unread(rows, &names))
    }

    /// Whether a column may hold values that cannot be read as its type.
    fn may_be_unread(&self, table: &str, column: &str) -> bool {
        self.catalog
            .column(table, column)
            .is_some_and(|column| !matches!(column.holds, Holds::Text | Holds::Time | Holds::Nested))
    }

    /// Where a value of some columns is there and cannot be read.
    fn unread(&mut self, rows: &Frame, columns: &[Name]) -> String {
        let variable = &rows.variable;
        let places = format!(
            "[place for name in {} for place in {variable}.attrs.get(\"misfits\", {{}}).get(name, ())]",
            names(columns)
        );
        self.variable("unread", format!("{variable}.index.isin({places})"))
    }

    /// The marks of a condition. `among` marks the rows that are compared with each other; nothing is all of them.
    fn mark(&mut self, rows: &Frame, cond: &Cond, among: &str) -> Mark {
        match cond {
            Cond::All(all) => self.joined(rows, all, among, true),
            Cond::Any(any) => self.joined(rows, any, among, false),
            Cond::Not(inner) => {
                let Mark { so, not } = self.mark(rows, inner, among);
                Mark { so: not, not: so }
            }
            Cond::Compare { left, op, right } => self.compared(rows, left, *op, right),
            Cond::In { column, values } => self.listed(rows, column, values),
            Cond::Null(path) => {
                let value = self.column(rows, path);
                let gap = format!("{value}.isna()");
                match self.unread_of(rows, path) {
                    Some(unread) => Mark {
                        so: format!("({gap} & ~{unread})"),
                        not: format!("({value}.notna() | {unread})"),
                    },
                    None => Mark { so: gap, not: format!("{value}.notna()") },
                }
            }
            Cond::Text(path, test) => self.text_test(rows, path, test),
            Cond::Weekday(path, days) => {
                let days: Vec<String> = days.iter().map(|day| (day - 1).to_string()).collect();
                let value = self.days(rows, &Expr::Column(path.clone())).0;
                let found = format!("{value}.dt.dayofweek.isin([{}])", days.join(", "));
                Self::found(&value, &found)
            }
            Cond::Exists { link, filter, op, count } => {
                let counts = self.counts(rows, link, filter);
                let key = format!("{}[{}].notna()", rows.variable, text(&link.key));
                self.uses(&rows.table, &link.key);
                Mark {
                    so: format!("({key} & ({counts} {} {count}))", sign(*op)),
                    not: format!("({key} & ({counts} {} {count}))", opposite(*op)),
                }
            }
            Cond::Unique(columns) => self.unique(rows, columns, among),
            Cond::Depends(left, right) => self.depends(rows, left, right, among),
            Cond::Apart { start, end, by } => self.apart(rows, start, end, by, among),
        }
    }

    fn joined(&mut self, rows: &Frame, all: &[Cond], among: &str, is_all: bool) -> Mark {
        let marks: Vec<Mark> = all.iter().map(|cond| self.mark(rows, cond, among)).collect();
        let (so, not) = if is_all { (" & ", " | ") } else { (" | ", " & ") };
        let of = |pick: fn(&Mark) -> &String, by: &str, none: &str| {
            let parts: Vec<&str> = marks.iter().map(|mark| pick(mark).as_str()).collect();
            if parts.is_empty() {
                format!("{}.index.{none}()", rows.variable)
            } else {
                format!("({})", parts.join(by))
            }
        };
        let (all_of, none_of) = if is_all { ("notna", "isna") } else { ("isna", "notna") };
        Mark { so: of(|mark| &mark.so, so, all_of), not: of(|mark| &mark.not, not, none_of) }
    }

    /// Marks by an expression that is true where a value of a column is as wanted.
    fn found(value: &str, found: &str) -> Mark {
        Mark { so: format!("({value}.notna() & {found})"), not: format!("({value}.notna() & ~{found})") }
    }

    /// Where a column's own value cannot be read.
    fn unread_of(&mut self, rows: &Frame, path: &Path) -> Option<String> {
        (path.hops.is_empty() && self.may_be_unread(&rows.table, &path.column))
            .then(|| self.unread(rows, std::slice::from_ref(&path.column)))
    }

    fn text_test(&mut self, rows: &Frame, path: &Path, test: &TextTest) -> Mark {
        let owner = path.owner(&rows.table).clone();
        let holds = self.catalog.column(&owner, &path.column).map_or(Holds::Text, |column| column.holds);
        // What is read as the type is of it.
        if holds != Holds::Text && matches!(test, TextTest::Number | TextTest::Whole | TextTest::Date) {
            let value = self.column(rows, path);
            let found = match test {
                TextTest::Whole => format!("({value} % 1 == 0)"),
                _ => format!("{value}.notna()"),
            };
            return Self::found(&value, &found);
        }
        let texts = self.texts(rows, path);
        let is_so = self.text_predicate(test);
        let fits = format!("{texts}.isin({{text for text in {texts}.dropna().unique() if {is_so}}})");
        let fits = self.variable("fits", fits);
        Mark { so: fits.clone(), not: format!("({texts}.notna() & ~{fits})") }
    }

    /// The texts of a column as they stand in its source.
    fn texts(&mut self, rows: &Frame, path: &Path) -> String {
        let owner = path.owner(&rows.table).clone();
        let source = self.catalog.column(&owner, &path.column).map_or(Source::Lost, |column| column.source);
        let value = self.column(rows, path);
        let written = match source {
            Source::Same | Source::Lost => return value,
            Source::Digits => {
                format!("{value}.astype(\"Int64\").astype(\"object\").map(str, na_action=\"ignore\")")
            }
            Source::IsoDay => format!("{value}.dt.strftime(\"%Y-%m-%d\")"),
        };
        self.pandas();
        let unread = format!(
            "pd.Series(dict({}.attrs.get(\"misfits\", {{}}).get({}, {{}})), dtype=\"object\")",
            rows.variable,
            text(&path.column)
        );
        let written = if path.hops.is_empty() { format!("{written}.fillna({unread})") } else { written };
        self.variable("texts", written)
    }

    /// Whether a `text` is as wanted.
    fn text_predicate(&mut self, test: &TextTest) -> String {
        match test {
            TextTest::Contains(part) => format!("{} in text", text(part)),
            TextTest::Starts(part) => format!("text.startswith({})", text(part)),
            TextTest::Ends(part) => format!("text.endswith({})", text(part)),
            TextTest::Word(word) => {
                let pattern = format!("\\b{}\\b", crate::mention::escaped(word));
                self.regex(&pattern, "search", "re.IGNORECASE")
            }
            TextTest::Matches(pattern) => self.regex(pattern, "fullmatch", "re.DOTALL"),
            TextTest::Length(Some(low), Some(high)) if low == high => format!("len(text) == {low}"),
            TextTest::Length(low, high) => {
                let low = low.map(|low| format!("{low} <= ")).unwrap_or_default();
                let high = high.map(|high| format!(" <= {high}")).unwrap_or_default();
                format!("{low}len(text){high}")
            }
            TextTest::Number => {
                self.regex("\\s*[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?\\s*", "fullmatch", "re.ASCII")
            }
            TextTest::Whole => self.regex("\\s*[-+]?\\d+(\\.0*)?\\s*", "fullmatch", "re.ASCII"),
            TextTest::Date => {
                self.regex("\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d)?)?", "fullmatch", "re.ASCII")
            }
        }
    }

    /// A pattern as a predicate. Letters are those of every alphabet; Python has no name for them.
    fn regex(&mut self, pattern: &str, method: &str, flags: &str) -> String {
        self.imports.insert("import re");
        let mut parts: Vec<String> = Vec::new();
        let mut rest = pattern;
        while let Some(at) = rest.find("\\p{") {
            let end = rest[at..].find('}').map_or(rest.len(), |end| at + end + 1);
            let (variable, method) = match &rest[at..end] {
                "\\p{Lu}" => ("capitals", "isupper"),
                "\\p{Ll}" => ("small_letters", "islower"),
                _ => ("letters", "isalpha"),
            };
            parts.extend((at > 0).then(|| text(&rest[..at])));
            let all = format!("\"\".join(filter(str.{method}, map(chr, range(0x3000))))");
            parts.push(self.variable(variable, all));
            rest = &rest[end..];
        }
        parts.extend((!rest.is_empty()).then(|| text(rest)));
        let compiled = format!("re.compile({}, {flags})", parts.join(" + "));
        let form = self.variable("form", compiled);
        format!("{form}.{method}(text)")
    }
}

/// The columns of the row itself in a condition.
fn columns_in(cond: &Cond, found: &mut BTreeSet<Name>) {
    let mut add = |path: &Path| {
        found.insert(path.hops.first().map_or(&path.column, |hop| &hop.column).clone());
    };
    match cond {
        Cond::All(all) | Cond::Any(all) => all.iter().for_each(|cond| columns_in(cond, found)),
        Cond::Not(inner) => columns_in(inner, found),
        Cond::Compare { left, right, .. } => {
            expr_columns(left, found);
            expr_columns(right, found);
        }
        Cond::In { column, .. } | Cond::Null(column) | Cond::Text(column, _) | Cond::Weekday(column, _) => {
            add(column);
        }
        Cond::Exists { link, .. } => {
            found.insert(link.key.clone());
        }
        Cond::Unique(columns) => columns.iter().for_each(add),
        Cond::Apart { start, end, by } => {
            add(start);
            add(end);
            by.iter().for_each(add);
        }
        Cond::Depends(left, right) => {
            add(left);
            add(right);
        }
    }
}

fn expr_columns(expr: &Expr, found: &mut BTreeSet<Name>) {
    match expr {
        Expr::Column(path) => {
            found.insert(path.hops.first().map_or(&path.column, |hop| &hop.column).clone());
        }
        Expr::Value(_) => {}
        Expr::Calc(_, parts) => parts.iter().for_each(|part| expr_columns(part, found)),
        Expr::Fold(_, _, link, _) => {
            found.insert(link.key.clone());
        }
    }
}

/// Where an expression is true: of what is missing it is not.
fn certainly(marked: &str) -> String {
    format!("({marked}).fillna(False).astype(\"bool\")")
}

/// The columns of the row itself whose values are compared: not where all that is asked is whether there is one, or another.
fn compared_in(cond: &Cond, found: &mut BTreeSet<Name>) {
    match cond {
        Cond::All(all) | Cond::Any(all) => all.iter().for_each(|cond| compared_in(cond, found)),
        Cond::Not(inner) => compared_in(inner, found),
        Cond::Null(_) | Cond::Unique(_) => {}
        // The text of a value that cannot be read is known.
        Cond::Text(_, test) if !matches!(test, TextTest::Number | TextTest::Whole | TextTest::Date) => {}
        other => columns_in(other, found),
    }
}
