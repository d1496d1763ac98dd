//! Judges whether a program was contained. Pure: the same evidence always gives the same judgement.

mod artifacts;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ordain_types::Cause;
use serde_json::Value;

use super::evidence::{Data, Evidence};
use super::observed::Observed;
use super::program::Program;
use super::word::Word;

/// What the neighbour of an attack runs, and prints.
pub(super) const NEIGHBOUR: &str = "import time; time.sleep(1); print(sum(range(1000)))";
const NEIGHBOUR_PRINTS: &[u8] = b"499500\n";
/// The probe must come to its end in this time.
const PROBE_TIME_MAX: Duration = Duration::from_secs(2);
/// How late an outcome may be.
const DEADLINE_SLACK: Duration = Duration::from_millis(500);
/// By how much the executor's memory may rise.
const MEMORY_RISE_BYTES_MAX: u64 = 128 << 20;

/// Everything that speaks against a program having been contained; nothing, if it was.
pub(super) fn judge(program: &Program, evidence: &Evidence) -> Vec<String> {
    let mut problems = evidence.run.problems.clone();
    problems.extend(cause_problem(program, &evidence.run));
    problems.extend(evidence.run.escape());
    for line in &program.prints {
        if !evidence.run.stdout.split(|byte| *byte == b'\n').any(|printed| printed == line.as_bytes()) {
            problems.push(format!("it did not print `{line}`"));
        }
    }
    for word in &program.after {
        if let Err(problem) = check(word, program, evidence) {
            problems.push(format!("{word}: {problem}"));
        }
    }
    if !evidence.is_executor_alive {
        problems.push("the executor process is gone".to_owned());
    }
    if evidence.log.windows(8).any(|window| window == b"panicked") {
        problems.push("the executor panicked".to_owned());
    }
    problems
}

fn cause_problem(program: &Program, run: &Observed) -> Option<String> {
    match run.cause {
        Some(cause) if program.outcome.contains(&cause) => None,
        Some(cause) => {
            let detail = run.record["detail"].as_str().map(|it| format!(" ({it})")).unwrap_or_default();
            let error = match &run.record["error"] {
                Value::Null => String::new(),
                error => format!(" {error}").chars().take(300).collect(),
            };
            Some(format!("its cause is {cause}{detail}{error}"))
        }
        None if run.problems.is_empty() => Some("its record names no cause".to_owned()),
        None => None,
    }
}

/// Whether a word holds, or why not.
type Holds = Result<(), String>;

fn check(word: &Word, program: &Program, evidence: &Evidence) -> Holds {
    let run = &evidence.run;
    match word {
        Word::NoLeftoverProcess => none_of(looked_at(evidence.leftovers.as_ref())?, "processes are left"),
        Word::NextCellClean => probe_is_clean(looked_at(evidence.probe.as_ref())?, evidence.lateness),
        Word::NeighbourUnharmed => neighbour_is_unharmed(looked_at(evidence.neighbour.as_ref())?),
        Word::PairIsolated => twin_is_contained(program, looked_at(evidence.twin.as_ref())?),
        Word::DeadlineWithin500ms => {
            is_in_time(evidence.times.max(1) * program.limits.wall, run, evidence.lateness)
        }
        Word::SupervisorMemoryFlat => is_flat(*looked_at(evidence.memory_bytes.as_ref())?),
        Word::StdoutTruncatedMarked => is_cut_and_marked(program, run),
        Word::ArtifactsRefused => artifacts::are_refused(program, run),
        Word::ArtifactNamesSafe => artifacts::have_safe_names(run),
        Word::ActiveContentFlagged => artifacts::are_flagged(run),
        Word::NoArtifactOutside => {
            let (before, after) = looked_at(evidence.files.as_ref())?;
            let mut outside = after.changes_since(before);
            outside.extend(evidence.pwned.iter().cloned());
            outside.extend(after.named_since("pwned", before));
            none_of(&outside, "files changed outside the artifacts")
        }
        Word::NoCoreFile => artifacts::hold_no_core_file(evidence),
        Word::NoHostFileContent => text::holds_nothing_of_the_host(evidence),
        Word::NoPacketReceived => none_of(looked_at(evidence.packets.as_ref())?, "listeners heard something"),
        Word::LogEscaped => text::is_escaped(evidence),
        Word::ResultNotForged => text::is_not_forged(&run.record),
        Word::WritesComplete => writes_are_complete(evidence),
        Word::DataUnchanged => {
            let (before, after) = looked_at(evidence.data.as_ref())?;
            if before == after { Ok(()) } else { Err("the data is not as it was".to_owned()) }
        }
        Word::DiffersBetweenCells => text::differs(run, looked_at(evidence.again.as_ref())?),
        Word::Unknown(_) => Err("there is no such word".to_owned()),
    }
}

/// Something that could not be looked at does not hold.
fn looked_at<T>(found: Option<&T>) -> Result<&T, String> {
    found.ok_or_else(|| "it could not be checked".to_owned())
}

fn none_of(found: &[String], what: &str) -> Holds {
    const SHOWN_MAX: usize = 5;
    if found.is_empty() {
        return Ok(());
    }
    let shown = found.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    Err(format!("{what} ({}): {shown}", found.len()))
}

fn ended_well(observed: &Observed, who: &str) -> Holds {
    if let Some(problem) = observed.problems.first() {
        return Err(format!("{who}: {problem}"));
    }
    match observed.cause {
        Some(Cause::Ok) => Ok(()),
        Some(cause) => Err(format!("{who} ended with {cause}")),
        None => Err(format!("{who} has no cause")),
    }
}

fn probe_is_clean(probe: &Observed, lateness: Duration) -> Holds {
    if let Some(escape) = probe.escape() {
        return Err(format!("the probe found: {escape}"));
    }
    ended_well(probe, "the probe")?;
    if probe.elapsed > PROBE_TIME_MAX + lateness {
        return Err(format!("the probe took {:?}", probe.elapsed));
    }
    Ok(())
}

fn neighbour_is_unharmed(neighbour: &Observed) -> Holds {
    ended_well(neighbour, "the neighbour")?;
    if neighbour.stdout != NEIGHBOUR_PRINTS {
        return Err("the neighbour printed something else than its sum".to_owned());
    }
    Ok(())
}

fn twin_is_contained(program: &Program, twin: &Observed) -> Holds {
    if let Some(problem) = twin.problems.first() {
        return Err(format!("the second copy: {problem}"));
    }
    if let Some(problem) = cause_problem(program, twin) {
        return Err(format!("of the second copy, {problem}"));
    }
    twin.escape().map_or(Ok(()), |escape| Err(format!("the second copy found: {escape}")))
}

fn is_in_time(wall: Duration, run: &Observed, lateness: Duration) -> Holds {
    let elapsed = run.elapsed;
    if run.cause.is_none() {
        return Err("there is no outcome".to_owned());
    }
    if run.cause == Some(Cause::Timeout) && elapsed < wall {
        return Err(format!("it timed out after {elapsed:?}, before {wall:?}"));
    }
    if elapsed > wall + DEADLINE_SLACK + lateness {
        return Err(format!("the outcome came after {elapsed:?}, the limit is {wall:?}"));
    }
    Ok(())
}

fn is_flat((before, after): (u64, u64)) -> Holds {
    let rise = after.saturating_sub(before);
    if rise < MEMORY_RISE_BYTES_MAX {
        return Ok(());
    }
    Err(format!("the executor's memory rose by {}", ordain_types::format_bytes(rise)))
}

fn is_cut_and_marked(program: &Program, run: &Observed) -> Holds {
    let bytes = run.stdout.len() + run.stderr.len();
    if bytes as u64 > program.limits.output_bytes {
        return Err(format!("{bytes} bytes of output were kept"));
    }
    if run.record["output_truncated"] != Value::Bool(true) {
        return Err("the record does not say that output was cut".to_owned());
    }
    Ok(())
}

/// The diff that the host reports is the difference of the two dumps.
fn writes_are_complete(evidence: &Evidence) -> Holds {
    let (before, after) = looked_at(evidence.data.as_ref())?;
    let reported = looked_at(evidence.run.diff.as_ref())?;
    for table in before.tables.keys().chain(after.tables.keys()) {
        let rows = |data: &Data| data.tables.get(table).and_then(Value::as_object).cloned();
        let (was, is) = (rows(before).unwrap_or_default(), rows(after).unwrap_or_default());
        let added = is.iter().filter(|(key, _)| !was.contains_key(*key)).map(|(_, row)| text(row));
        let removed = was.iter().filter(|(key, _)| !is.contains_key(*key)).map(|(_, row)| text(row));
        let changed = is.iter().filter_map(|(key, row)| {
            let old = was.get(key).filter(|old| *old != row)?;
            Some(format!("{} to {}", text(old), text(row)))
        });
        let told = reported.tables.get(table).cloned().unwrap_or_default();
        same(table, "added", &added.collect(), &told.added.iter().map(text).collect())?;
        same(table, "removed", &removed.collect(), &told.removed.iter().map(text).collect())?;
        let told = told.changed.iter().map(|row| format!("{} to {}", text(&row.before), text(&row.after)));
        same(table, "changed", &changed.collect(), &told.collect())?;
    }
    Ok(())
}

fn same(table: &str, what: &str, found: &BTreeSet<String>, told: &BTreeSet<String>) -> Holds {
    match found.symmetric_difference(told).next() {
        None => Ok(()),
        Some(row) if told.contains(row) => Err(format!("`{table}`: {what} in the diff only: {row}")),
        Some(row) => Err(format!("`{table}`: {what}, and not in the diff: {row}")),
    }
}

/// A row as text, its columns in order of their names.
fn text(row: &impl serde::Serialize) -> String {
    let fields: BTreeMap<String, Value> =
        serde_json::to_value(row).and_then(serde_json::from_value).unwrap_or_default();
    format!("{fields:?}")
}

#[cfg(test)]
mod tests;
