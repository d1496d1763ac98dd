//! Looks at a table in a cell, so that checks can be proposed for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{PROFILE_CODE, Profile, Suggestion, suggest};
use ordain_cell::profile::Profile as Packages;
use ordain_cell::{InputFile, Job, Shared};
use ordain_types::{Cause, nearest};
use ordain_verify::{Contract, Policy, verify};
use serde_json::{Value, json};

use crate::cells::{Cells, file};
use crate::tables::{TableState, Tables};
use crate::{Checks, ChecksError};

/// Tables that a table may refer to; more are not looked at.
const OTHERS_MAX: usize = 50;

/// A table, as it was looked at.
#[derive(Debug, Clone)]
pub struct LookedAt {
    /// The file that it comes from, such as `data/orders.csv`.
    pub source: String,
    /// Its rows, as an Arrow file.
    pub rows: Option<PathBuf>,
    /// How its columns are read.
    pub readings: Vec<Value>,
    /// What its rows have in common.
    pub profile: Profile,
}

impl Checks {
    /// Proposes checks for a table, each with what was seen. Nothing is changed.
    pub fn suggest<'a>(
        &'a self,
        table: &'a str,
    ) -> ordain_types::BoxFuture<'a, Result<Vec<Suggestion>, ChecksError>> {
        Box::pin(async move {
            let tables = self.tables(None, &BTreeSet::new(), 2).await?;
            if tables.ready(table).is_none() {
                return Err(unknown(table, &tables));
            }
            let profile = self.profile(table, &tables).await?;
            Ok(suggest(&profile))
        })
    }

    /// Looks at every table of the files, without a change.
    pub async fn look(&self) -> Result<BTreeMap<String, Result<LookedAt, String>>, ChecksError> {
        let tables = self.tables(None, &BTreeSet::new(), 2).await?;
        let mut found = BTreeMap::new();
        for (name, state) in &tables.states {
            let looked = match state {
                TableState::Broken { reason } => Err(reason.clone()),
                TableState::Ready(facts) => Ok(LookedAt {
                    source: facts.source.clone(),
                    rows: facts.path.clone(),
                    readings: facts.readings(),
                    profile: self.profile(name, &tables).await?,
                }),
            };
            found.insert(name.clone(), looked);
        }
        Ok(found)
    }

    async fn profile(&self, table: &str, tables: &Tables) -> Result<Profile, ChecksError> {
        let schema = tables.schema();
        // The code is ours, and it is judged like any.
        let verdict = verify(PROFILE_CODE, &Policy::for_contract(Contract::Check), schema);
        let Some(code) = verdict.verified() else {
            let finding = verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
            return Err(looked(table, &format!("the code that looks at tables was refused: {finding}")));
        };
        let names = || schema.tables.iter().map(|table| table.name.as_str()).filter(|name| *name != table);
        let others: Vec<&str> = names().take(OTHERS_MAX).collect();
        let mut job = Job::new(code.clone(), Packages::Data);
        job.name = "profile.py".into();
        job.judged_by = Some(std::sync::Arc::clone(&tables.judged_by));
        job.limits = self.engine.settings().limits.clone();
        let mut files: Vec<InputFile> = Vec::new();
        for name in others.iter().copied().chain([table]) {
            if let Some(path) = tables.ready(name).and_then(|facts| facts.path.clone()) {
                let file = file(&path);
                job.frames.insert(name.to_owned(), file.name.clone());
                // Two tables of the same rows share one file.
                if !files.iter().any(|known| known.name == file.name) {
                    files.push(file);
                }
            }
        }
        job.values.insert("inputs".to_owned(), json!({"table": table, "others": others}));
        job.collect = vec!["result".to_owned()];
        let shared = Shared { files, running_max: 1, jobs: 1, cells: 1, scratch: None };
        let cells = Cells::new(self.engine.executor(), shared, None)?;
        let reads: Vec<String> = job.frames.values().cloned().collect();
        let execution = cells.run(job, &reads).await?;
        if execution.cause != Cause::Ok {
            let raised = execution.error.map(|raised| format!("{}: {}", raised.kind, raised.message));
            return Err(looked(table, &raised.unwrap_or_else(|| execution.cause.to_string())));
        }
        let result = execution.values.get("result").and_then(|result| result.get("profile"));
        serde_json::from_value(result.cloned().unwrap_or(Value::Null))
            .map_err(|error| looked(table, &format!("what was seen is not understood: {error}")))
    }
}

fn unknown(table: &str, tables: &Tables) -> ChecksError {
    if let Some(TableState::Broken { reason }) = tables.states.get(table) {
        return ChecksError::Table {
            message: format!("table `{table}` cannot be read: {reason}"),
            hint: None,
        };
    }
    let names: Vec<&str> = tables.states.keys().map(String::as_str).collect();
    let hint = match nearest(table, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "put files into `data`, or declare tables in ordain.toml".to_owned(),
        None => format!("there are: {}", names.join(", ")),
    };
    ChecksError::Table { message: format!("there is no table `{table}`"), hint: Some(hint) }
}

fn looked(table: &str, reason: &str) -> ChecksError {
    let message = format!("table `{table}` could not be looked at: {reason}");
    ChecksError::Table {
        message,
        hint: Some("raise `memory` or `wall` under `[limits]` if it is large".to_owned()),
    }
}
