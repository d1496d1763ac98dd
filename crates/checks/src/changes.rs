//! What changed since checks were compiled, told without compiling or running anything.

use ordain_engine::why_stale;
use ordain_planner::Planner;
use ordain_types::BoxFuture;
use serde::Serialize;

use crate::change::grading_of;
use crate::compile::{Kept, rule_of, wanted_tables};
use crate::file::CheckFiles;
use crate::sources::hash_text;
use crate::state::State;
use crate::tables::Tables;
use crate::{Check, Checks, ChecksError};

/// What the next run will do with a check, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The check.
    pub check_id: String,
    /// `keep` or `re-plan`.
    pub plan: &'static str,
    /// `keep` or `rebuild`.
    pub code: &'static str,
    /// `keep`, `re-grade` or `run`: what has to be done even with `--if-changed`.
    pub run: &'static str,
    /// Why; empty if nothing changed that matters.
    pub why: String,
    /// What changed and does not matter.
    pub notes: Vec<String>,
}

impl Checks {
    /// Says for every check what changed.
    pub fn changes<'a>(
        &'a self,
        files: &'a CheckFiles,
        jobs: usize,
    ) -> BoxFuture<'a, Result<Vec<Change>, ChecksError>> {
        Box::pin(async move {
            let (state, kept) = (self.state()?, self.kept().await?);
            let checks: Vec<_> = files.entries.iter().map(|entry| &entry.check).collect();
            let (wanted, called) = wanted_tables(&checks);
            let tables = self.tables(Some(&wanted), &called, jobs).await?;
            Ok(checks.into_iter().map(|check| self.change(check, &state, &kept, &tables)).collect())
        })
    }

    fn change(&self, check: &Check, state: &State, kept: &Kept, tables: &Tables) -> Change {
        let rule = rule_of(check, tables);
        let inputs = self.fingerprint_inputs(tables, &rule);
        let told = |plan, code, run, why: &str, notes| Change {
            check_id: check.check_id.clone(),
            plan,
            code,
            run,
            why: why.to_owned(),
            notes,
        };
        let why_not = |plan| why_stale(plan, inputs, &Planner::Rules);
        let plans = kept.of(&check.check_id);
        let Some(plan) = plans.iter().find(|plan| why_not(plan).is_none()) else {
            let why = plans.first().and_then(why_not).unwrap_or_else(|| "it was never compiled".to_owned());
            return told("re-plan", "rebuild", "run", &why, Vec::new());
        };
        let names = plan.components.keys().filter_map(|name| name.strip_prefix("table "));
        let names: Vec<String> = names.map(str::to_owned).collect();
        let names = if names.is_empty() { &check.target_table } else { &names };
        let code_hash = hash_text(&plan.code);
        let last = state.last.get(&check.check_id).filter(|last| last.code_hash == code_hash);
        let (run, why) = match last {
            Some(last) if last.data_fingerprint != tables.fingerprint(names) => ("run", "its data changed"),
            None => ("run", "its last run gave no result"),
            Some(last) if last.grading != grading_of(check) => {
                let run = if last.can_grade_again(check) { "re-grade" } else { "run" };
                (run, "severity, thresholds or samples changed")
            }
            Some(_) => ("keep", ""),
        };
        told("keep", "keep", run, why, inputs.notes(&plan.components))
    }
}
