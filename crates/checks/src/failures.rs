//! The failing rows of each check's last run, in a table of the workspace that its owner named.

use crate::{CheckResult, RunReport};
use ordain_store::{Call, Condition, Target};
use ordain_types::Row;
use serde_json::{Value, json};

/// Rows that one run writes.
const ROWS_MAX: usize = 10_000;
/// Rows that one call writes.
const BATCH_ROWS: usize = 500;

/// What a run says anew about failing rows.
#[derive(Debug)]
pub(crate) struct Failures {
    /// The checks that were judged.
    judged: Vec<Value>,
    /// Their failing rows.
    rows: Vec<Row>,
}

/// The failing rows of a run.
pub(crate) fn of(report: &RunReport) -> Failures {
    let is_judged = |result: &&CheckResult| result.evaluated.is_some() && result.kept_from.is_none();
    let judged = || report.results.iter().filter(is_judged);
    Failures {
        judged: judged().map(|result| json!(result.check_id)).collect(),
        rows: judged().flat_map(|result| rows(result, report)).take(ROWS_MAX).collect(),
    }
}

impl Failures {
    /// Puts them in place of those that the same checks had before.
    pub(crate) fn writes(self, table: &str) -> Vec<Call> {
        let condition = Condition::OneOf { path: vec!["check_id".to_owned()], values: self.judged };
        let target = Target { condition: Some(condition), ..Target::default() };
        replaced(table, target, &self.rows)
    }
}

/// Removes rows of a table and inserts others.
pub(crate) fn replaced(table: &str, target: Target, rows: &[Row]) -> Vec<Call> {
    let remove = Call::Remove { table: table.to_owned(), target };
    let insert = |rows: &[Row]| Call::Insert { table: table.to_owned(), rows: rows.to_vec(), doc_ids: None };
    std::iter::once(remove).chain(rows.chunks(BATCH_ROWS).map(insert)).collect()
}

fn rows<'a>(result: &'a CheckResult, report: &'a RunReport) -> impl Iterator<Item = Row> + 'a {
    (1..).zip(&result.samples).map(move |(place, row)| {
        let fields = [
            ("failure_id", json!(format!("{}/{place}", result.check_id))),
            ("check_id", json!(result.check_id)),
            ("check_name", json!(result.check_name)),
            ("severity", json!(result.severity)),
            ("status", json!(result.status)),
            ("owner", json!(result.owner)),
            ("target_table", json!(result.target_table.first())),
            ("row_key", json!(row.key)),
            ("row_values", json!(row.values)),
            ("run_id", json!(report.run_id)),
            ("found_at", json!(report.started_at)),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    })
}
