//! A run on its way: what each check came to so far, and what the next run will want to know of it.

use std::collections::HashMap;
use std::path::Path;

use ordain_checks::change::{self, grading_of};
use ordain_checks::{Check, CheckResult, CheckStatus, CodeFrom, RunReport, SkipReason, grade};
use ordain_types::Schema;
use serde_json::{Value, json};

use super::compile::{Ready, Standing};
use super::execute::Found;
use super::run::CheckOptions;
use super::sources::hash_text;
use super::state::{KeptCheck, LastRun, State};
use super::tables::Tables;

/// What a check's run came to.
pub(super) struct Done<'a> {
    pub(super) check: &'a Check,
    pub(super) ready: &'a Ready,
    pub(super) outcome: Result<Found, String>,
    /// The worker that is free again.
    pub(super) worker: usize,
    pub(super) duration_ms: f64,
}

/// A run on its way.
pub(super) struct Going<'a> {
    pub(super) checks: Vec<&'a Check>,
    pub(super) state: &'a mut State,
    pub(super) options: &'a CheckOptions,
    pub(super) report: RunReport,
    pub(super) is_frozen: bool,
    /// The tables that there were.
    pub(super) schema: Schema,
    pub(super) results: HashMap<String, CheckResult>,
}

impl Going<'_> {
    /// Takes note of where a check stands. Gives back what is to be run.
    pub(super) fn settle(
        &mut self,
        check: &Check,
        kept: Option<&KeptCheck>,
        standing: Standing,
        tables: &Tables,
    ) -> Option<Box<Ready>> {
        let result = match standing {
            Standing::Ready(ready) => match self.unchanged(check, kept, &ready, tables) {
                Some(result) => result,
                None => return Some(ready),
            },
            Standing::Skipped(reason, words) => skipped(check, reason, &words),
            Standing::Frozen(why) => {
                self.is_frozen = true;
                skipped(
                    check,
                    SkipReason::Frozen,
                    &format!("it needs compiling, which --frozen forbids: {why}"),
                )
            }
            Standing::Broken(reason) => broken(check, &reason),
        };
        // What was counted before says nothing about a check that could not be looked at now; its code is kept, because
        // the next run decides anew whether it still fits.
        let is_seen = result.code_from.is_some() || is_filtered(&result);
        if !is_seen && let Some(kept) = self.state.checks.get_mut(&check.check_id) {
            kept.last = None;
        }
        self.put(result);
        None
    }

    /// With `--if-changed` or `state:changed`: what is said of a check for which nothing changed that matters.
    ///
    /// Its last grade stands, and says that it was not run again: a rule that was broken is broken still, so that
    /// counts and exit code are those of a whole run.
    fn unchanged(
        &mut self,
        check: &Check,
        kept: Option<&KeptCheck>,
        ready: &Ready,
        tables: &Tables,
    ) -> Option<CheckResult> {
        if !self.options.if_changed && !self.options.selection.wants_changed() {
            return None;
        }
        let (kept, last) = kept.and_then(|kept| Some((kept, kept.last.as_ref()?)))?;
        let fingerprint = tables.fingerprint(&ready.tables);
        if ready.recompiled.is_some()
            || !ready.effects.depends_on_rows_alone()
            || last.data_fingerprint != fingerprint
        {
            return None;
        }
        let is_graded_alike = kept.grading == grading_of(check);
        if is_graded_alike && !self.options.if_changed {
            return Some(skipped(check, SkipReason::Filtered, "neither its rule nor its data changed"));
        }
        let mut result = standing_result(check, ready, last, !is_graded_alike);
        result.data_fingerprint = Some(fingerprint);
        result.notes.extend(notes_on(&ready.tables, tables));
        if let Some(kept) = self.state.checks.get_mut(&check.check_id) {
            kept.grading = grading_of(check);
        }
        Some(result)
    }

    /// Why a check may not run: a blocking check that it depends on did not pass.
    pub(super) fn blocked(&self, check: &Check) -> Option<String> {
        let (upstream, status) = check.depends_on.iter().find_map(|id| {
            let upstream = self.checks.iter().find(|check| check.check_id == *id && check.blocking)?;
            let status = self.status_of(upstream)?;
            (!matches!(status, CheckStatus::Pass | CheckStatus::Warn)).then_some((id, status))
        })?;
        Some(format!("`{upstream}`, which it depends on, is {}", status.name()))
    }

    /// How a check stands in this run; one that the selection left out as unchanged stands as it last did.
    fn status_of(&self, check: &Check) -> Option<CheckStatus> {
        let result = self.results.get(&check.check_id)?;
        if !is_filtered(result) {
            return Some(result.status);
        }
        let last = self.state.checks.get(&check.check_id)?.last.as_ref()?;
        Some(grade(check, &last.counts))
    }

    /// The result of a check that ran, and what is kept of it.
    pub(super) fn graded(&mut self, done: Done<'_>, tables: &Tables) -> CheckResult {
        let Done { check, ready, outcome, duration_ms, .. } = done;
        let mut result = result_of(check, ready);
        result.duration_ms = duration_ms;
        let fingerprint = tables.fingerprint(&ready.tables);
        result.data_fingerprint = Some(fingerprint.clone());
        result.notes.extend(notes_on(&ready.tables, tables));
        let mut kept = ready.kept.clone();
        kept.grading = grading_of(check);
        kept.check_name.clone_from(&check.check_name);
        match outcome {
            Err(reason) => {
                result.status = CheckStatus::Error;
                result.summary.clone_from(&reason);
                result.reason = Some(reason);
                kept.last = None;
            }
            Ok(mut found) => {
                if found.counts.evaluated == Some(0) {
                    found.summary.push_str("; it looked at no row");
                }
                result.status = grade(check, &found.counts);
                (result.evaluated, result.failed) = (found.counts.evaluated, found.counts.failed);
                result.failed_pct = found.counts.failed_pct();
                result.summary.clone_from(&found.summary);
                result.samples.clone_from(&found.samples);
                result.artifacts.clone_from(&found.artifacts);
                result.observed.clone_from(&found.observed);
                kept.last = Some(LastRun {
                    run_id: self.report.run_id.clone(),
                    data_fingerprint: fingerprint,
                    counts: found.counts,
                    summary: found.summary,
                    samples: found.samples,
                    artifacts: found.artifacts,
                    observed: found.observed,
                });
            }
        }
        self.state.checks.insert(check.check_id.clone(), kept);
        result
    }

    /// Keeps code that was made anew before it runs: a check that is blocked, or a run that is stopped, must not cost its
    /// planning again.
    pub(super) fn keep_code(&mut self, check: &Check, ready: &Ready) {
        if ready.code_from != CodeFrom::Cache {
            // Counts of other code say nothing about this code.
            let kept = KeptCheck { last: None, ..ready.kept.clone() };
            self.state.checks.insert(check.check_id.clone(), kept);
        }
    }

    /// A check whose code was made ready and not run.
    pub(super) fn compiled(&mut self, check: &Check, ready: &Ready) {
        let mut result = result_of(check, ready);
        result.status = CheckStatus::Skipped;
        "compiled, not run".clone_into(&mut result.summary);
        let mut kept = ready.kept.clone();
        if kept.last.is_none() {
            kept.last = self.state.checks.get(&check.check_id).and_then(|kept| kept.last.clone());
        }
        // Counts of other code say nothing about this code.
        if ready.recompiled.is_some() {
            kept.last = None;
        }
        self.state.checks.insert(check.check_id.clone(), kept);
        self.put(result);
    }

    pub(super) fn put(&mut self, result: CheckResult) {
        self.results.insert(result.check_id.clone(), result);
    }

    /// The report, in the order of the files.
    pub(super) fn finish(mut self) -> RunReport {
        self.report.counts.extend(CheckStatus::ALL.map(|status| (status, 0)));
        for check in &self.checks {
            if let Some(result) = self.results.remove(&check.check_id) {
                *self.report.counts.entry(result.status).or_default() += 1;
                self.report.results.push(result);
            }
        }
        self.report
    }
}

/// A result that knows what is known before the code runs.
fn result_of(check: &Check, ready: &Ready) -> CheckResult {
    let mut result = blank(check);
    result.code_from = Some(ready.code_from);
    result.recompiled.clone_from(&ready.recompiled);
    result.notes.clone_from(&ready.notes);
    result.code_hash = Some(hash_text(&ready.kept.code));
    result.code = Some(ready.kept.code.clone());
    result.plan = Some(ready.kept.plan.clone());
    result.understood = check.understood(&ready.kept.plan);
    let columns = ready.kept.against.schema.iter().map(|(table, columns)| {
        let columns = columns.iter().map(|(name, kind)| (name.clone(), json!(change::word(*kind))));
        (table.clone(), columns.collect::<Value>())
    });
    result.compiled_against = Some(columns.collect());
    result
}

/// The result that stands because nothing changed since the run that made it, graded by the record as it is now.
fn standing_result(check: &Check, ready: &Ready, last: &LastRun, is_graded_anew: bool) -> CheckResult {
    let mut result = result_of(check, ready);
    result.status = grade(check, &last.counts);
    result.summary.clone_from(&last.summary);
    result.samples.clone_from(&last.samples);
    result.samples.truncate(usize::try_from(check.samples.max_rows).unwrap_or(usize::MAX));
    mask(&mut result, check);
    // Files of old runs are removed after a while, and those of a laxer mask may show what is hidden now.
    if !is_graded_anew || check.samples.mask.is_empty() {
        let is_there = |path: &&String| Path::new(path).is_file();
        result.artifacts = last.artifacts.iter().filter(is_there).cloned().collect();
    }
    result.observed.clone_from(&last.observed);
    (result.evaluated, result.failed) = (last.counts.evaluated, last.counts.failed);
    result.failed_pct = last.counts.failed_pct();
    result.kept_from = Some(last.run_id.clone());
    result.notes.push(if is_graded_anew {
        format!("graded anew from the counts of run {}", last.run_id)
    } else {
        format!("not run again: neither its rule nor its data changed since run {}", last.run_id)
    });
    result
}

fn is_filtered(result: &CheckResult) -> bool {
    result.skipped == Some(SkipReason::Filtered)
}

/// What was odd about the files of these tables.
fn notes_on(names: &std::collections::BTreeSet<String>, tables: &Tables) -> Vec<String> {
    names.iter().filter_map(|name| tables.ready(name)).flat_map(|facts| facts.notes.clone()).collect()
}

fn blank(check: &Check) -> CheckResult {
    CheckResult {
        check_id: check.check_id.clone(),
        check_name: check.check_name.clone(),
        status: CheckStatus::Error,
        reason: None,
        severity: check.severity,
        owner: check.owner.clone(),
        tags: check.tags.clone(),
        target_table: check.target_table.clone(),
        kind: check.kind.clone(),
        rule: check.rule(),
        understood: None,
        skipped: None,
        evaluated: None,
        failed: None,
        failed_pct: None,
        summary: String::new(),
        samples: Vec::new(),
        artifacts: Vec::new(),
        code_from: None,
        recompiled: None,
        notes: Vec::new(),
        code: None,
        code_hash: None,
        plan: None,
        compiled_against: None,
        data_fingerprint: None,
        observed: None,
        kept_from: None,
        duration_ms: 0.0,
    }
}

pub(super) fn skipped(check: &Check, reason: SkipReason, words: &str) -> CheckResult {
    let name = json!(reason).as_str().unwrap_or_default().to_owned();
    CheckResult {
        status: CheckStatus::Skipped,
        skipped: Some(reason),
        reason: Some(format!("{name}: {words}")),
        summary: words.to_owned(),
        ..blank(check)
    }
}

fn broken(check: &Check, reason: &str) -> CheckResult {
    CheckResult { reason: Some(reason.to_owned()), summary: reason.to_owned(), ..blank(check) }
}

/// Hides what the owner has since asked to hide.
fn mask(result: &mut CheckResult, check: &Check) {
    for row in &mut result.samples {
        for column in &check.samples.mask {
            for values in [&mut row.key, &mut row.values] {
                if let Some(value) = values.get_mut(column) {
                    *value = json!("•••");
                }
            }
        }
    }
}
