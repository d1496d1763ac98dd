//! The failing rows of each check's last run, in a table of the workspace that its owner named.

use ordain_checks::{CheckResult, RunReport};
use ordain_store::{BeginOptions, Call, Condition, EntryNote, Intent, Store, Target};
use ordain_types::{Row, RunRecord};
use serde_json::{Value, json};

use super::transform::TableRows;
use crate::error::EngineError;

/// Rows that one run writes.
const ROWS_MAX: usize = 10_000;
/// Rows that one call writes.
const BATCH_ROWS: usize = 500;

/// What a run says anew about failing rows.
#[derive(Debug)]
pub(super) struct Failures {
    /// The checks that were judged.
    judged: Vec<Value>,
    /// Their failing rows.
    rows: Vec<Row>,
}

/// The failing rows of a run.
pub(super) fn of(report: &RunReport) -> Failures {
    let is_judged = |result: &&CheckResult| result.evaluated.is_some() && result.kept_from.is_none();
    let judged = || report.results.iter().filter(is_judged);
    Failures {
        judged: judged().map(|result| json!(result.check_id)).collect(),
        rows: judged().flat_map(|result| rows(result, report)).take(ROWS_MAX).collect(),
    }
}

/// Puts failing rows in place of those that the same checks had before, and rows of transformations in place of their
/// tables', and records the run with them.
pub(super) async fn record(
    store: &Store,
    failures: Option<(&str, Failures)>,
    tables: &[TableRows],
    record: RunRecord,
    note: EntryNote,
) -> Result<RunRecord, EngineError> {
    let begin = BeginOptions { run_id: record.run_id.clone(), intent: Intent::Write };
    let mut transaction = store.begin(begin).await?;
    for call in &record.calls {
        transaction.note_call(call.clone());
    }
    for table in tables {
        table.write(&mut transaction).await?;
    }
    if let Some((table, failures)) = failures {
        let condition = Condition::OneOf { path: vec!["check_id".to_owned()], values: failures.judged };
        let target = Target { condition: Some(condition), ..Target::default() };
        transaction.carry_out(Call::Remove { table: table.to_owned(), target }).await?;
        for rows in failures.rows.chunks(BATCH_ROWS) {
            let rows = rows.to_vec();
            transaction.carry_out(Call::Insert { table: table.to_owned(), rows, doc_ids: None }).await?;
        }
    }
    Ok(transaction.commit(record, note).await?)
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
