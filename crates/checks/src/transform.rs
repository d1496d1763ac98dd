//! Puts the rows that a transformation made where their owner wants them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ordain_store::{BeginOptions, Call, Intent, Store, Target};
use ordain_types::Row;

use crate::cells::CheckFindings;
use crate::failures::replaced;
use crate::kinds::Output;
use crate::read::write_file;
use crate::sources::hash_of;
use crate::{Check, kinds};

/// The file with what transformations wrote last, each by its path.
const WRITTEN: &str = "written.json";

/// Rows that a transformation writes to a table.
const ROWS_MAX: usize = 100_000;

/// The rows of a table, in place of all that it has.
#[derive(Debug, Clone)]
pub(crate) struct TableRows {
    table: String,
    rows: Vec<Row>,
}

/// Puts a file in its place; gives back the rows of a table, which are written with the run's record.
pub(crate) fn publish(
    root: &Path,
    state: &Path,
    check: &Check,
    found: &mut CheckFindings,
) -> Result<Option<TableRows>, String> {
    let made = found.artifacts.first().ok_or("its table did not come out of the cell")?.clone();
    match kinds::output(check).map_err(|error| error.to_string())? {
        Output::File(output) => put_file(root, state, output, &made, found).map(|()| None),
        Output::Table(table) => {
            let rows = rows_of(Path::new(&made))?;
            found.artifacts.clear();
            found.summary = format!("written to table {table}: {}", found.summary);
            Ok(Some(TableRows { table: table.to_owned(), rows }))
        }
    }
}

fn rows_of(made: &Path) -> Result<Vec<Row>, String> {
    let text = fs_err::read_to_string(made).map_err(|error| error.to_string())?;
    let rows: Result<Vec<Row>, _> = text.lines().take(ROWS_MAX + 1).map(serde_json::from_str).collect();
    match rows {
        Ok(rows) if rows.len() > ROWS_MAX => {
            Err(format!("it makes more than {ROWS_MAX} rows; write them to a file"))
        }
        rows => rows.map_err(|error| format!("its rows cannot be read: {error}")),
    }
}

impl TableRows {
    /// Why the rows do not fit their table, tried without leaving anything behind.
    pub(crate) async fn refused(&self, store: &Store) -> Option<String> {
        match self.tried(store).await {
            Ok(()) => None,
            Err(error) => Some(format!("its rows do not fit table `{}`: {error}", self.table)),
        }
    }

    async fn tried(&self, store: &Store) -> Result<(), ordain_store::StoreError> {
        let run_id = store.new_run_id()?;
        let mut transaction = store.begin(BeginOptions { run_id, intent: Intent::Write }).await?;
        let mut written = Ok(());
        for call in self.writes() {
            written = transaction.carry_out(call).await.map(drop);
            if written.is_err() {
                break;
            }
        }
        transaction.roll_back().await?;
        written
    }

    /// Puts the rows in place of those that the table has.
    pub(crate) fn writes(&self) -> Vec<Call> {
        replaced(&self.table, Target { all: true, ..Target::default() }, &self.rows)
    }
}

/// Puts the file in its place. One that somebody else wrote or changed is left alone.
fn put_file(
    root: &Path,
    state: &Path,
    output: &str,
    made: &str,
    found: &mut CheckFindings,
) -> Result<(), String> {
    let failed = |error: io::Error| format!("{output} cannot be written: {error}");
    let mut written: BTreeMap<String, String> = fs_err::read(state.join(WRITTEN))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let target = root.join(output);
    must_be_inside(root, &target).map_err(failed)?;
    if target.exists() && written.get(output) != Some(&hash_of(&target).map_err(failed)?) {
        return Err(format!(
            "{output} was not written by this transformation, or was changed since; move it away"
        ));
    }
    let bytes = fs_err::read(Path::new(made)).map_err(failed)?;
    write_file(&target, &bytes).map_err(failed)?;
    written.insert(output.to_owned(), hash_of(&target).map_err(failed)?);
    let text = serde_json::to_vec(&written).map_err(io::Error::from).map_err(failed)?;
    write_file(&state.join(WRITTEN), &text).map_err(failed)?;
    found.summary = format!("written to {output}: {}", found.summary);
    Ok(())
}

/// A link in the path may lead out of the workspace.
fn must_be_inside(root: &Path, target: &Path) -> io::Result<()> {
    let there = target.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(root);
    let is_link = fs_err::symlink_metadata(target).is_ok_and(|metadata| metadata.is_symlink());
    if is_link || !fs_err::canonicalize(there)?.starts_with(fs_err::canonicalize(root)?) {
        return Err(io::Error::other("a link leads out of the workspace"));
    }
    Ok(())
}
