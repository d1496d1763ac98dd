//! A case of an evaluation: a request, what came before it, and what must come of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ordain_types::{Diff, Row, RunRecord, TableDiff};
use serde::Deserialize;
use serde_json::Value;

use super::end::{self, TableEnd, Tables};

/// The largest file of cases that is read.
pub(super) const FILE_BYTES_MAX: u64 = 16 << 20;

/// One case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) request: String,
    #[serde(default)]
    pub(super) turns: Vec<EarlierTurn>,
    /// Files, by their paths from the file of cases: with them the request is a question about files.
    pub(super) files: Option<Vec<PathBuf>>,
    expect: Expect,
    /// The line of the file that it stands on.
    #[serde(skip)]
    pub(super) line: usize,
}

/// A turn that came before the request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EarlierTurn {
    pub(super) request: String,
    pub(super) answer: String,
    pub(super) status: Option<String>,
}

/// What must come of a request. What is not named is not looked at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    status: Option<String>,
    diff: Option<BTreeMap<String, TableExpect>>,
    /// How all tables are in the end, told by what differs from their seeds.
    end: Option<BTreeMap<String, TableEnd>>,
    answer_contains: Texts,
    answer_not_contains: Texts,
    unchanged: Option<bool>,
}

/// What must change in one table: rows by key, and rows that are added.
#[derive(Debug, Clone, Default, Deserialize)]
struct TableExpect {
    #[serde(default)]
    added: Vec<BTreeMap<String, Value>>,
    /// Key, column, and its value before and after.
    #[serde(flatten)]
    changed: BTreeMap<String, BTreeMap<String, (Value, Value)>>,
}

/// One text or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "OneOrMany")]
struct Texts(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Texts {
    fn from(texts: OneOrMany) -> Self {
        match texts {
            OneOrMany::One(text) => Self(vec![text]),
            OneOrMany::Many(texts) => Self(texts),
        }
    }
}

/// Reads the cases of a file. The error names the line.
pub(super) fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.trim().is_empty() || line.trim_start().starts_with("//") {
            continue;
        }
        let mut case: Case = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        case.line = number;
        if !case.expect.says_something() {
            return Err(format!("line {number}: `expect` names nothing to look at"));
        }
        let ends =
            [case.expect.unchanged == Some(true), case.expect.diff.is_some(), case.expect.end.is_some()];
        if ends.into_iter().filter(|is_said| *is_said).count() > 1 {
            return Err(format!(
                "line {number}: say `unchanged`, `diff` or `end`; together they contradict each other"
            ));
        }
        cases.push(case);
    }
    if cases.is_empty() {
        return Err("the file holds no case".to_owned());
    }
    Ok(cases)
}

impl Case {
    /// What is wrong with a run that found and left the tables so; nothing if it is right.
    pub(super) fn judge(&self, record: &RunRecord, before: &Tables, after: &Tables) -> Vec<String> {
        let mut wrong = Vec::new();
        let expect = &self.expect;
        // A run that was stopped for its status, such as by an invariant, has both.
        let is_wanted = expect.status.is_some() && expect.status == record.status;
        if let Some(error) = record.error.as_ref().filter(|_| !is_wanted) {
            wrong.push(format!("the run ended with `{}`: {}", error.code, error.message));
        }
        let status = record.status.as_deref().unwrap_or("none");
        if let Some(wanted) = expect.status.as_deref().filter(|wanted| *wanted != status) {
            wrong.push(format!("status: expected {wanted}, got {status}"));
        }
        let answer = record.answer.text.clone().unwrap_or_default();
        let lower = answer.to_lowercase();
        for text in expect.answer_contains.0.iter().filter(|text| !lower.contains(&text.to_lowercase())) {
            wrong.push(format!("answer: expected `{text}` in it"));
        }
        for text in expect.answer_not_contains.0.iter().filter(|text| lower.contains(&text.to_lowercase())) {
            wrong.push(format!("answer: expected no `{text}` in it"));
        }
        wrong.extend(self.judge_rows(&record.diff, before, after));
        wrong
    }

    /// What is wrong with the rows, whatever was said about them.
    pub(super) fn judge_rows(&self, diff: &Diff, before: &Tables, after: &Tables) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.expect.unchanged == Some(true) {
            wrong.extend(end::judge(&BTreeMap::new(), before, after));
        }
        if let Some(tables) = &self.expect.diff {
            wrong.extend(judge_diff(tables, diff));
        }
        if let Some(tables) = &self.expect.end {
            wrong.extend(end::judge(tables, before, after));
        }
        wrong
    }

    /// Whether the case says how the rows are in the end.
    pub(super) fn says_rows(&self) -> bool {
        self.expect.unchanged == Some(true) || self.expect.diff.is_some() || self.expect.end.is_some()
    }
}

impl Expect {
    fn says_something(&self) -> bool {
        self.status.is_some()
            || self.diff.is_some()
            || self.end.is_some()
            || self.unchanged.is_some()
            || !self.answer_contains.0.is_empty()
            || !self.answer_not_contains.0.is_empty()
    }
}

/// Every table that changed must be named, every row that changed, and every column of it.
fn judge_diff(tables: &BTreeMap<String, TableExpect>, diff: &Diff) -> Vec<String> {
    let mut wrong = Vec::new();
    for (table, change) in diff.tables.iter().filter(|(_, change)| !change.is_empty()) {
        if !tables.contains_key(table) {
            wrong.push(format!("{table}: expected no change, got {} rows", change.rows()));
        }
    }
    let nothing = TableDiff::default();
    for (table, expected) in tables {
        let change = diff.tables.get(table).unwrap_or(&nothing);
        if !change.removed.is_empty() {
            wrong.push(format!("{table}: {} rows were removed", change.removed.len()));
        }
        judge_changed(table, expected, change, &mut wrong);
        if expected.added.len() != change.added.len() {
            wrong.push(format!(
                "{table}: expected {} added rows, got {}",
                expected.added.len(),
                change.added.len()
            ));
        }
        for (index, (fields, row)) in expected.added.iter().zip(&change.added).enumerate() {
            for (column, value) in fields.iter().filter(|(column, value)| !row_has(row, column, value)) {
                let got = row.get(column).unwrap_or(&Value::Null);
                wrong
                    .push(format!("{table}: row {} added: {column}: expected {value}, got {got}", index + 1));
            }
        }
    }
    wrong
}

fn judge_changed(table: &str, expected: &TableExpect, change: &TableDiff, wrong: &mut Vec<String>) {
    let mut left = expected.changed.clone();
    for row in &change.changed {
        let key = row.key.fields.iter().map(|(_, value)| plain(value)).collect::<Vec<_>>().join(",");
        let mut columns = left.remove(&key).unwrap_or_default();
        for (column, after) in &row.after.fields {
            let before = row.before.get(column).unwrap_or(&Value::Null);
            match columns.remove(column) {
                Some((from, to)) if same(&from, before) && same(&to, after) => {}
                Some((from, to)) => wrong
                    .push(format!("{table} {key} {column}: expected {from} → {to}, got {before} → {after}")),
                None if before == after => {}
                None => wrong.push(format!("{table} {key} {column}: not expected: {before} → {after}")),
            }
        }
    }
    wrong.extend(left.keys().map(|key| format!("{table} {key}: expected a change, got none")));
}

fn row_has(row: &Row, column: &str, value: &Value) -> bool {
    row.get(column).is_some_and(|found| same(found, value))
}

/// Numbers are the same when their values are: 160 and 160.0 in JSON are not told apart by people.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => (left - right).abs() < 1e-9 * left.abs().max(1.0),
        _ => left == right,
    }
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use ordain_types::{RowChange, RunId, RunKind};
    use serde_json::json;

    use super::*;

    fn record(stock_after: i64) -> RunRecord {
        let row = |value: Value| serde_json::from_value::<Row>(value).unwrap();
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy");
        record.status = Some("success".to_owned());
        record.answer.text = Some("Sold 2 Moon.".to_owned());
        let changed = RowChange {
            key: row(json!({"id": "M"})),
            before: row(json!({"id": "M", "stock": 12})),
            after: row(json!({"id": "M", "stock": stock_after})),
        };
        let change = TableDiff { changed: vec![changed], ..TableDiff::default() };
        record.diff.tables.insert("items".to_owned(), change);
        record
    }

    fn case(expect: &Value) -> Case {
        let text = json!({"request": "buy", "expect": expect}).to_string();
        parse(&text).unwrap().remove(0)
    }

    fn judged(case: &Case, record: &RunRecord) -> Vec<String> {
        case.judge(record, &Tables::new(), &Tables::new())
    }

    #[test]
    fn a_diff_is_right_only_when_every_change_is_named() {
        let wanted = case(&json!({"diff": {"items": {"M": {"stock": [12, 10.0]}}}}));
        assert_eq!(judged(&wanted, &record(10)), Vec::<String>::new());
        assert_eq!(judged(&wanted, &record(9)), ["items M stock: expected 12 → 10.0, got 12 → 9"]);
        let other = case(&json!({"diff": {}}));
        assert_eq!(judged(&other, &record(10)), ["items: expected no change, got 1 rows"]);
        let more = case(&json!({"diff": {"items": {"M": {"stock": [12, 10]}, "added": [{"id": "N"}]}}}));
        assert_eq!(judged(&more, &record(10)), ["items: expected 1 added rows, got 0"]);
    }

    #[test]
    fn answers_and_statuses_are_compared() {
        let wanted = case(
            &json!({"status": "no_match", "answer_contains": "classic", "answer_not_contains": ["moon"]}),
        );
        assert_eq!(judged(&wanted, &record(10)).len(), 3);
    }

    #[test]
    fn a_malformed_case_is_an_error_with_its_line() {
        let good = r#"{"request": "a", "expect": {"status": "success"}}"#;
        for (bad, part) in [
            (r#"{"request": "a"}"#, "missing field `expect`"),
            (r#"{"request": "a", "expect": {}}"#, "names nothing"),
            (r#"{"request": "a", "expect": {"stats": "success"}}"#, "unknown field `stats`"),
            (r#"{"request": "a", "expect": {"unchanged": true, "diff": {}}}"#, "contradict"),
            ("{", "EOF"),
        ] {
            let error = parse(&format!("{good}\n{bad}\n")).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(part), "{error}");
        }
        assert!(parse("").unwrap_err().contains("no case"));
    }
}
