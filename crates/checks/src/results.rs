//! The results of a run so far, and what the next run will want to know of them.

use std::collections::HashMap;
use std::path::Path;

use ordain_store::Store;
use serde_json::{Value, json};

use crate::by_sql::ByDatabase;
use crate::catalogue::Kind;
use crate::cells::CheckFindings;
use crate::change::grading_of;
use crate::compile::{Kept, Readiness, Ready, declared};
use crate::compiled::Compiled;
use crate::kinds::{self, Output};
use crate::sources::hash_text;
use crate::state::{LastRun, State};
use crate::tables::Tables;
use crate::task::CheckOptions;
use crate::transform::{self, TableRows};
use crate::{Check, CheckResult, CheckStatus, RunReport, SkipReason, grade, readings, values};

/// What a summary says where nothing was judged, and its owner allows that.
const NO_ROW: &str = "it looked at no row";

/// A check that ran, and what it came to.
pub(crate) struct Ran<'a> {
    pub(crate) check: &'a Check,
    pub(crate) ready: &'a Ready,
    pub(crate) outcome: Result<CheckFindings, String>,
    pub(crate) duration_ms: f64,
}

/// The results of a run so far.
pub(crate) struct Results<'a> {
    pub(crate) checks: Vec<&'a Check>,
    pub(crate) state: &'a mut State,
    /// The workspace's folder.
    pub(crate) root: &'a Path,
    pub(crate) options: &'a CheckOptions,
    /// The code that is kept.
    pub(crate) kept: Kept,
    /// The code that is committed, where nothing else may run.
    pub(crate) compiled: Option<Compiled>,
    pub(crate) report: RunReport,
    pub(crate) by_check: HashMap<String, CheckResult>,
    /// The rows that transformations put into tables.
    pub(crate) written: Vec<TableRows>,
}

impl Results<'_> {
    /// Takes the result of a check that is not to be run. Gives back the code of one that is.
    pub(crate) fn take(
        &mut self,
        check: &Check,
        readiness: Readiness,
        tables: &Tables,
    ) -> Option<Box<Ready>> {
        let mut result = match readiness {
            Readiness::Ready(ready) => match self.unchanged(check, &ready, tables) {
                Some(result) => result,
                None => return Some(ready),
            },
            Readiness::Skipped(reason, words) => skipped(check, reason, &words),
            Readiness::Frozen(why) => {
                let words = format!("it needs compiling, which --frozen forbids: {why}");
                skipped(check, SkipReason::Frozen, &words)
            }
            Readiness::NoRows => without_rows(check),
            Readiness::Broken(reason) => broken(check, &reason),
        };
        if result.is_open() {
            // Why a column is not there, or is not what it should be, may be told of its file.
            let facts = check.target_table.iter().filter_map(|name| tables.ready(name));
            result.notes.extend(facts.flat_map(|facts| facts.notes.clone()));
        }
        // What was counted before says nothing about a check that could not be looked at now.
        if result.code_from.is_none() && !is_filtered(&result) {
            self.state.last.remove(&check.check_id);
        }
        self.put(result);
        None
    }

    /// With `--if-changed` or `state:changed`: what is said of a check for which nothing changed that matters.
    ///
    /// Its last grade stands, and says that it was not run again: a rule that was broken is broken still, so that
    /// counts and exit code are those of a whole run.
    fn unchanged(&mut self, check: &Check, ready: &Ready, tables: &Tables) -> Option<CheckResult> {
        if !self.options.if_changed && !self.options.selection.changed {
            return None;
        }
        let last = self.state.last.get_mut(&check.check_id)?;
        let fingerprint = tables.fingerprint(&ready.tables);
        // Counts of other code say nothing about this code.
        if last.code_hash != hash_text(&ready.plan.code)
            || !ready.effects.depends_on_rows_alone()
            || last.data_fingerprint != fingerprint
            || matches!(kinds::output(check), Ok(Output::File(output)) if !self.root.join(output).exists())
        {
            return None;
        }
        // What was all right without rows may no longer be.
        if unjudged(check, ready, &last.found, tables).is_some() {
            return None;
        }
        let is_graded_alike = last.grading == grading_of(check);
        if !is_graded_alike && !last.can_grade_again(check) {
            return None;
        }
        if is_graded_alike && !self.options.if_changed {
            let mut result = skipped(check, SkipReason::Filtered, "neither its rule nor its data changed");
            if grade(check, &last.found.counts) == CheckStatus::Fail {
                show(&mut result, &last.found);
                result.summary =
                    format!("left out, and it failed in run {}: {}", last.run_id, result.summary);
            }
            return Some(result);
        }
        last.grading = grading_of(check);
        let mut result = standing_result(check, ready, last, !is_graded_alike, tables);
        result.data_fingerprint = Some(fingerprint);
        Some(result)
    }

    /// Why a check may not run: a blocking check that it depends on did not pass.
    pub(crate) fn blocked(&self, check: &Check) -> Option<String> {
        let (upstream, status) = check.depends_on.iter().find_map(|id| {
            let upstream = self.checks.iter().find(|check| check.check_id == *id && check.blocking)?;
            let status = self.status_of(upstream)?;
            // Where there was nothing to judge, nothing is wrong.
            let is_idle =
                self.by_check.get(id).is_some_and(|result| result.skipped == Some(SkipReason::NoRows));
            (!is_idle && !matches!(status, CheckStatus::Pass | CheckStatus::Warn)).then_some((id, status))
        })?;
        Some(format!("`{upstream}`, which it depends on, is {}", status.name()))
    }

    /// How a check stands in this run; one that the selection left out as unchanged stands as it last did.
    fn status_of(&self, check: &Check) -> Option<CheckStatus> {
        let result = self.by_check.get(&check.check_id)?;
        if !is_filtered(result) {
            return Some(result.status);
        }
        Some(grade(check, &self.state.last.get(&check.check_id)?.found.counts))
    }

    /// The result of a check that ran, and what is kept of it.
    pub(crate) async fn graded(&mut self, ran: Ran<'_>, tables: &Tables, store: &Store) -> CheckResult {
        let Ran { check, ready, outcome, duration_ms, .. } = ran;
        let outcome = match outcome {
            Ok(found) if check.kind == Kind::Transform && !self.options.is_trial => {
                self.published(check, found, store).await
            }
            outcome => outcome,
        };
        let mut result = result_of(check, ready, tables);
        result.duration_ms = duration_ms;
        let fingerprint = tables.fingerprint(&ready.tables);
        result.data_fingerprint = Some(fingerprint.clone());
        match outcome {
            Err(reason) => {
                result.status = CheckStatus::Error;
                result.summary.clone_from(&reason);
                result.reason = Some(reason);
                self.state.last.remove(&check.check_id);
            }
            Ok(found) if let Some((reason, words)) = unjudged(check, ready, &found, tables) => {
                // A figure that is still being learnt is shown and kept; one of no rows is none.
                if reason == SkipReason::Learning {
                    show(&mut result, &found);
                }
                set_aside(&mut result, reason, &words);
                self.state.last.remove(&check.check_id);
            }
            Ok(mut found) => {
                // Its owner says that no rows are all right.
                if found.counts.evaluated == Some(0) && !found.summary.contains(NO_ROW) {
                    found.summary.push_str("; ");
                    found.summary.push_str(NO_ROW);
                }
                result.status = grade(check, &found.counts);
                let last = LastRun {
                    run_id: self.report.run_id.clone(),
                    code_hash: hash_text(&ready.plan.code),
                    data_fingerprint: fingerprint,
                    grading: grading_of(check),
                    found,
                };
                show(&mut result, &last.found);
                self.state.last.insert(check.check_id.clone(), last);
            }
        }
        result
    }

    /// Puts what a transformation made where its owner wants it.
    async fn published(
        &mut self,
        check: &Check,
        mut found: CheckFindings,
        store: &Store,
    ) -> Result<CheckFindings, String> {
        let Some(rows) = transform::publish(self.root, self.state.folder(), check, &mut found)? else {
            return Ok(found);
        };
        if let Some(reason) = rows.refused(store).await {
            return Err(reason);
        }
        self.written.push(rows);
        Ok(found)
    }

    pub(crate) fn put(&mut self, mut result: CheckResult) {
        let check = self.checks.iter().find(|check| check.check_id == result.check_id);
        if let Some(check) = check.filter(|_| result.understood.is_none()) {
            result.understood = readings::known(check, self);
        }
        self.by_check.insert(result.check_id.clone(), result);
    }

    /// The report, in the order of the files.
    pub(crate) fn finish(mut self) -> RunReport {
        self.report.counts.extend(CheckStatus::ALL.map(|status| (status, 0)));
        for check in &self.checks {
            if let Some(result) = self.by_check.remove(&check.check_id) {
                *self.report.counts.entry(result.status).or_default() += 1;
                self.report.results.push(result);
            }
        }
        self.report
    }
}

/// A result that knows what is known before the code runs.
fn result_of(check: &Check, ready: &Ready, tables: &Tables) -> CheckResult {
    let mut result = CheckResult::new(check);
    result.code_from = Some(ready.code_from);
    result.recompiled.clone_from(&ready.recompiled);
    result.notes.clone_from(&ready.notes);
    let code = ready.by_database.as_ref().map_or(&ready.plan.code, |by| &by.text);
    result.code_hash = Some(hash_text(code));
    result.code = Some(code.clone());
    result.notes.extend(ready.by_database.as_ref().map(ByDatabase::note));
    let plan = declared(&ready.plan);
    result.understood = check.understood(&plan);
    result.notes.extend(values::notes(check, &plan, tables));
    result.plan = Some(plan);
    let facts = || ready.tables.iter().filter_map(|name| tables.ready(name));
    let columns = facts().map(|facts| {
        let columns =
            facts.table.columns.iter().map(|column| (column.name.clone(), json!(column.column_type)));
        (facts.table.name.clone(), columns.collect::<Value>())
    });
    result.compiled_against = Some(columns.collect::<Value>());
    // What was odd about the tables' files.
    result.notes.extend(facts().flat_map(|facts| facts.notes.clone()));
    result
}

/// The result that stands because nothing changed since the run that made it, graded by the record as it is now.
fn standing_result(
    check: &Check,
    ready: &Ready,
    last: &LastRun,
    is_graded_anew: bool,
    tables: &Tables,
) -> CheckResult {
    let mut result = result_of(check, ready, tables);
    result.status = grade(check, &last.found.counts);
    show(&mut result, &last.found);
    result.samples.truncate(usize::try_from(check.samples.max_rows).unwrap_or(usize::MAX));
    mask(&mut result, check);
    // Files of old runs are removed after a while, and those of a laxer mask may show what is hidden now.
    let may_show = !is_graded_anew || check.samples.mask.is_empty();
    result.artifacts.retain(|path| may_show && Path::new(path).is_file());
    result.kept_from = Some(last.run_id.clone());
    let note = if is_graded_anew {
        format!("graded anew from the counts of run {}", last.run_id)
    } else {
        format!("not run again: neither its rule nor its data changed since run {}", last.run_id)
    };
    result.notes.insert(ready.notes.len(), note);
    result
}

fn show(result: &mut CheckResult, found: &CheckFindings) {
    (result.evaluated, result.failed) = (found.counts.evaluated, found.counts.failed);
    result.failed_pct = found.counts.failed_pct();
    result.summary.clone_from(&found.summary);
    result.samples.clone_from(&found.samples);
    result.artifacts.clone_from(&found.artifacts);
    result.observed.clone_from(&found.observed);
}

fn is_filtered(result: &CheckResult) -> bool {
    result.skipped == Some(SkipReason::Filtered)
}

pub(crate) fn skipped(check: &Check, reason: SkipReason, words: &str) -> CheckResult {
    let mut result = CheckResult::new(check);
    set_aside(&mut result, reason, words);
    result
}

fn set_aside(result: &mut CheckResult, reason: SkipReason, words: &str) {
    result.status = CheckStatus::Skipped;
    result.skipped = Some(reason);
    result.reason = Some(format!("{}: {words}", reason.name()));
    words.clone_into(&mut result.summary);
}

/// Why a rule that nothing breaks was not evaluated all the same: not evaluated is not green.
fn unjudged(
    check: &Check,
    ready: &Ready,
    found: &CheckFindings,
    tables: &Tables,
) -> Option<(SkipReason, String)> {
    let plan = declared(&ready.plan);
    let kind =
        if check.is_words() { plan.get("kind").and_then(Value::as_str) } else { Some(check.kind.name()) };
    // No row has no figure, which is neither good nor bad.
    if found.counts.is_broken && kind != Some("aggregate") {
        return None;
    }
    let learning = found.is_learning.then(|| (SkipReason::Learning, found.summary.clone()));
    let judged = plan.pointer("/tables/0").and_then(Value::as_str);
    let judged = judged.or_else(|| check.target_table.first().map(String::as_str))?;
    // Code of its owner's may judge more than rows, and says so; a transformation judges nothing.
    let has_counted = check.kind == Kind::Python && found.counts.evaluated > Some(0);
    let is_excepted = check.allow_empty || has_counted || check.kind == Kind::Transform;
    if is_excepted || plan.get("judges_empty").is_some() {
        return learning;
    }
    if tables.ready(judged)?.rows == 0 {
        return Some((SkipReason::EmptyTable, no_rows(judged)));
    }
    if found.counts.evaluated == Some(0) {
        let words = format!(
            "no row of `{judged}` is one that the rule looks at, so nothing was judged; if that may be, set `allow_empty` to true in the check"
        );
        return Some((SkipReason::NoRows, words));
    }
    learning
}

pub(crate) fn no_rows(table: &str) -> String {
    format!(
        "table `{table}` has no rows, so nothing was judged; if that may be, set `allow_empty` to true in the check"
    )
}

/// The result of a check whose table has no rows.
fn without_rows(check: &Check) -> CheckResult {
    let table = check.target_table.first().map_or("", String::as_str);
    if !check.allow_empty {
        return skipped(check, SkipReason::EmptyTable, &no_rows(table));
    }
    let mut result = CheckResult::new(check);
    (result.status, result.evaluated, result.failed) = (CheckStatus::Pass, Some(0), Some(0));
    result.summary = format!("table `{table}` has no rows; {NO_ROW}");
    result
}

fn broken(check: &Check, reason: &str) -> CheckResult {
    CheckResult { reason: Some(reason.to_owned()), summary: reason.to_owned(), ..CheckResult::new(check) }
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
