//! What changed since checks were compiled, told without compiling or running anything.

use std::collections::BTreeSet;

use ordain_checks::change::{self, Staleness, grading_of};
use ordain_checks::file::CheckFiles;
use ordain_verify::VERIFIER_VERSION;
use serde::Serialize;

use super::Checks;
use super::compile::wanted_tables;
use super::error::ChecksError;
use super::state::LastRun;

/// What the next run will do with a check, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The check.
    pub check_id: String,
    /// `keep` or `re-plan`.
    pub plan: &'static str,
    /// `keep`, `rebuild` or `verify again`.
    pub code: &'static str,
    /// `keep`, `re-grade` or `run`: what has to be done even with `--if-changed`.
    pub run: &'static str,
    /// Why; empty if nothing changed that matters.
    pub why: String,
    /// What changed and does not matter.
    pub notes: Vec<String>,
}

impl Checks {
    /// Goes through the change matrix for every check.
    pub fn changes<'a>(
        &'a self,
        files: &'a CheckFiles,
        jobs: usize,
    ) -> ordain_types::BoxFuture<'a, Result<Vec<Change>, ChecksError>> {
        Box::pin(async move {
            let state = self.state()?;
            let checks: Vec<_> = files.entries.iter().map(|entry| &entry.check).collect();
            let (wanted, called) = wanted_tables(&checks);
            let tables = self.tables(Some(&wanted), &called, jobs).await?;
            let schema = tables.schema();
            let mut changes = Vec::new();
            for check in checks {
                let told = |plan, code, run, why: String, notes| Change {
                    check_id: check.check_id.clone(),
                    plan,
                    code,
                    run,
                    why,
                    notes,
                };
                let Some(kept) = state.checks.get(&check.check_id) else {
                    changes.push(told(
                        "re-plan",
                        "rebuild",
                        "run",
                        "it was never compiled".to_owned(),
                        Vec::new(),
                    ));
                    continue;
                };
                let (staleness, notes) = change::staleness(check, &kept.against, schema, VERIFIER_VERSION);
                let looked_at: BTreeSet<String> = kept.against.schema.keys().cloned().collect();
                let is_same_data = |last: &LastRun| last.data_fingerprint == tables.fingerprint(&looked_at);
                changes.push(match staleness {
                    Staleness::Recompile(why) => told("re-plan", "rebuild", "run", why, notes),
                    Staleness::VerifyAgain(why) => told("keep", "verify again", "run", why, notes),
                    Staleness::Fresh if kept.last.is_none() => {
                        told("keep", "keep", "run", "its last run gave no result".to_owned(), notes)
                    }
                    Staleness::Fresh if !kept.last.as_ref().is_some_and(is_same_data) => {
                        told("keep", "keep", "run", "its data changed".to_owned(), notes)
                    }
                    Staleness::Fresh if kept.grading != grading_of(check) => told(
                        "keep",
                        "keep",
                        "re-grade",
                        "severity, thresholds or samples changed".to_owned(),
                        notes,
                    ),
                    Staleness::Fresh => told("keep", "keep", "keep", String::new(), notes),
                });
            }
            Ok(changes)
        })
    }
}
