//! A run, for people.

use std::io::{self, Write};

use ordain_types::{
    CellDifference, PlanSource, ReceiptKind, RunError, RunRecord, RunState, StepRecord, format_bytes,
};
use serde_json::Value;

use super::diff::Extent;
use super::grid::Grid;
use super::{Colour, behind, cell, code, coloured, cut, diff, line, lines, rows};

/// Cells that are named at once.
const DIFFERENCES_MAX: usize = 20;

/// Writes what came of a run, the answer first. Ids, times and the plan are in `details`.
pub(crate) fn write(out: &mut impl Write, run: &RunRecord) -> io::Result<()> {
    if let Some(text) = run.said() {
        writeln!(out, "{}", lines(&text))?;
    }
    rows::write(out, &run.answer)?;
    let receipt = line(&run.receipt.text);
    let is_undoable = run.state == RunState::Committed && !run.diff.is_empty();
    let way_back = if is_undoable { " `ordain undo last` takes it back." } else { "" };
    let status = run.status.as_deref().filter(|status| *status != "success");
    let status = status.map(|status| format!(" ({})", line(status))).unwrap_or_default();
    writeln!(out, "{receipt}{status}{way_back}")?;
    if let Some(reading) = run.plan.reading.as_ref().filter(|_| run.diff.is_empty()) {
        writeln!(out, "read as  {}", cut(&line(reading), 200))?;
    }
    remarks(out, run)?;
    outcome(out, run, Extent::Short { run: run.run_id.as_str() })
}

/// Writes all that is known of a run for people: what it was about, when, how it was planned, and what came of it.
pub(crate) fn details(out: &mut impl Write, run: &RunRecord, extent: Extent<'_>) -> io::Result<()> {
    writeln!(out, "run      {}", run.run_id)?;
    writeln!(out, "request  {}", cut(&line(&run.request), 200))?;
    let status =
        if run.receipt.kind == ReceiptKind::WouldChange { Some("dry run") } else { run.status.as_deref() };
    let status = status.map(|status| format!(" ({})", line(status))).unwrap_or_default();
    writeln!(out, "state    {}{status}", state(run.state))?;
    writeln!(out, "receipt  {}", line(&run.receipt.text))?;
    writeln!(out, "began    {}", line(&run.started_at))?;
    writeln!(out, "plan     {}", plan(run))?;
    if let Some(reading) = &run.plan.reading {
        writeln!(out, "read as  {}", cut(&line(reading), 200))?;
    }
    writeln!(out, "took     {}", took(run))?;
    if run.plan.steps.len() > 1 {
        steps(&run.plan.steps).write(out, "  ")?;
    }
    if let Some(text) = run.said() {
        writeln!(out, "{}", behind("answer   ", &text))?;
    }
    remarks(out, run)?;
    outcome(out, run, extent)
}

/// What holds a run up, what it notes, and what went wrong.
fn remarks(out: &mut impl Write, run: &RunRecord) -> io::Result<()> {
    if let Some(rule) = run.held_by.as_ref().filter(|_| run.state == RunState::Held) {
        writeln!(out, "held by  {}", line(&rule.to_string()))?;
    }
    for note in &run.answer.notes {
        writeln!(out, "{}", behind("note     ", note))?;
    }
    if let Some(error) = &run.error {
        writeln!(out, "{}", behind("error    ", &error_words(error)))?;
        if let Some(hint) = &error.hint {
            writeln!(out, "{}", behind("hint     ", hint))?;
        }
    }
    Ok(())
}

/// Files, broken invariants, the diff and calls.
fn outcome(out: &mut impl Write, run: &RunRecord, extent: Extent<'_>) -> io::Result<()> {
    for file in &run.outcome.artifacts {
        // The folder is the same in every workspace that does not name another one.
        let folder = format!(".ordain/artifacts/{}", run.run_id);
        writeln!(out, "file     {folder}/{} ({})", line(&file.name), format_bytes(file.bytes))?;
    }
    for invariant in run.invariants.iter().filter(|invariant| !invariant.holds) {
        writeln!(out, "broken   {}", line(&invariant.name))?;
        diff::grid_of(&invariant.rows).write(out, "  ")?;
    }
    if let Some(rebase) = &run.rebases {
        writeln!(out, "again    the change of run {} on newer rows, which differs in", rebase.run)?;
        differences(&rebase.differences, ["was", "is"]).write(out, "  ")?;
    }
    if !run.diff.is_empty() {
        diff::write(out, &run.diff, extent)?;
    }
    for call in &run.calls {
        let when = if call.is_later() { "after the commit" } else { "made" };
        let arguments = cut(&line(&call.arguments.to_string()), 200);
        writeln!(out, "call {} {}: {} {arguments}", call.n, when, line(&call.name))?;
    }
    Ok(())
}

/// The steps and how each went.
fn steps(records: &[StepRecord]) -> Grid {
    let mut grid = Grid::new(["step", "state", "took", "what it does"]);
    for step in records {
        let took = step.took_ms.map_or_else(String::new, |ms| format!("{ms:.0} ms"));
        grid.row([line(&step.id), step.state.as_str().to_owned(), took, line(&step.title)]);
    }
    grid
}

/// Cells that are others than they were.
pub(crate) fn differences(cells: &[CellDifference], headers: [&str; 2]) -> Grid {
    let mut grid = Grid::new(["table", "row", "column", headers[0], headers[1]]);
    let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), cell);
    for it in cells.iter().take(DIFFERENCES_MAX) {
        let column = it.column.as_deref().unwrap_or("(the whole row)");
        grid.row([line(&it.table), line(&it.row), line(column), shown(&it.was), shown(&it.is)]);
    }
    grid
}

/// An error with its code, where that says more than that it is one.
pub(crate) fn error_words(error: &RunError) -> String {
    if error.code == "error" { error.message.clone() } else { format!("{}: {}", error.code, error.message) }
}

/// Writes the code of each step.
pub(crate) fn write_code(out: &mut impl Write, run: &RunRecord) -> io::Result<()> {
    for step in &run.plan.steps {
        writeln!(
            out,
            "\n{}",
            coloured(Colour::Bold, &format!("step {}: {}", line(&step.id), line(&step.title)))
        )?;
        for module in &step.modules {
            writeln!(out, "{}", coloured(Colour::Bold, &format!("module {}", line(&module.name))))?;
            code::write(out, &module.code, " ")?;
        }
        if !step.modules.is_empty() {
            writeln!(out, "{}", coloured(Colour::Bold, "program"))?;
        }
        code::write(out, &step.code, " ")?;
    }
    Ok(())
}

/// A state in its colour.
pub(crate) fn state(state: RunState) -> String {
    let colour = match state {
        RunState::Committed | RunState::Answered => Colour::Green,
        RunState::Held | RunState::Waiting | RunState::Undone | RunState::Declined => Colour::Yellow,
        RunState::Rejected | RunState::RolledBack | RunState::Failed | RunState::Conflicted => Colour::Red,
    };
    coloured(colour, state.as_str())
}

/// How long the run took, and its parts.
pub(crate) fn took(run: &RunRecord) -> String {
    let times = &run.timing_ms;
    let parts =
        [("plan", times.plan), ("verify", times.verify), ("run", times.run), ("commit", times.commit)];
    let parts: Vec<String> =
        parts.iter().filter(|(_, ms)| *ms > 0.0).map(|(name, ms)| format!("{name} {ms:.1}")).collect();
    format!("{:.1} ms ({})", times.total, parts.join(", "))
}

/// Who wrote the plan, and how many rounds it took.
pub(crate) fn plan(run: &RunRecord) -> String {
    let written =
        || run.plan.written_by.as_ref().map_or_else(String::new, |by| format!(", written by run {by}"));
    let by = match run.plan.source {
        PlanSource::File => "from a file".to_owned(),
        PlanSource::Rules => "by the reader".to_owned(),
        PlanSource::Cache => format!("from the cache{}", written()),
        PlanSource::Model => format!("by {}", line(run.plan.model.as_deref().unwrap_or("a model"))),
    };
    let rounds = match run.verdict.iterations {
        0 | 1 => String::new(),
        rounds => format!(", {rounds} rounds"),
    };
    let tokens = match run.usage.input_tokens + run.usage.output_tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    format!("{by}{rounds}{tokens}")
}
