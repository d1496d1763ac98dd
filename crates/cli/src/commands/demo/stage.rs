//! Shows the scenes of the tour.

use std::io::{self, BufRead as _, IsTerminal as _, Write};

use ordain_types::RunRecord;

use crate::show::diff::Extent;
use crate::show::{Colour, behind, code, coloured, diff, run as show_run};

/// Lines of a plan that are shown unless all are wanted.
const LINES_SHOWN: usize = 32;

/// Where scenes are shown.
pub(super) struct Stage {
    number: u32,
    waits: bool,
    full: bool,
}

impl Stage {
    /// A pause needs somebody who presses Enter.
    pub(super) fn new(pause: bool, full: bool) -> Self {
        let waits = pause && io::stdin().is_terminal();
        Self { number: 0, waits, full }
    }

    /// Opens a scene.
    pub(super) fn scene(&mut self, title: &str) -> io::Result<()> {
        if self.waits && self.number > 0 {
            write!(io::stderr(), "{}", coloured(Colour::Dim, "\nEnter goes on "))?;
            io::stderr().flush()?;
            tokio::task::block_in_place(|| io::stdin().lock().read_line(&mut String::new()))?;
        }
        self.number += 1;
        let title = coloured(Colour::Bold, &format!("{}. {title}", self.number));
        writeln!(io::stdout(), "\n{title}")
    }

    /// Shows code, from its second step on where the first one only reads the request.
    pub(super) fn code(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let start = if self.full { None } else { text.find("\n# 2)") };
        let shown = text[start.map_or(0, |start| start + 1)..].trim_end();
        let total = shown.lines().count();
        let cut = if self.full { total } else { total.min(LINES_SHOWN) };
        let part: Vec<&str> = shown.lines().take(cut).collect();
        if start.is_some() {
            let note = "# 1) Read the request: words, numbers and names come from it. (left out here)";
            writeln!(out, "        {}", coloured(Colour::Dim, note))?;
        }
        code::write(&mut out, &part.join("\n"), "   ")?;
        if cut < total {
            writeln!(out, "        {}", coloured(Colour::Dim, &format!("… {} more lines", total - cut)))?;
        }
        writeln!(out)
    }
}

/// Shows what is asked.
pub(super) fn asks(request: &str) -> io::Result<()> {
    writeln!(io::stdout(), "\n   > {request}\n")
}

/// Shows the verdict on a run's code.
pub(super) fn verdict(run: &RunRecord) -> io::Result<()> {
    let word = if run.verdict.accepted { "accepted" } else { "refused" };
    let steps = run.timing_ms.verify;
    writeln!(io::stdout(), "   verdict  {word} in {steps:.1} ms; plan {}", show_run::plan(run))
}

/// Shows what changed and what was answered.
pub(super) fn outcome(run: &RunRecord) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if let Some(error) = &run.error {
        writeln!(out, "{}", behind("   stopped  ", &error.message))?;
    } else if let Some(answer) = &run.answer.text {
        writeln!(out, "{}", behind("   answer   ", answer))?;
    }
    let status = run.status.as_deref().unwrap_or("no status");
    writeln!(out, "   state    {} ({status})", show_run::state(run.state))?;
    writeln!(out, "{}", behind("   receipt  ", &run.receipt.text))?;
    if run.error.is_none() && !run.diff.is_empty() {
        let mut text = Vec::new();
        diff::write(&mut text, &run.diff, Extent::Short { run: run.run_id.as_str() })?;
        writeln!(out)?;
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "   {line}")?;
        }
    }
    Ok(())
}

/// Shows one line.
pub(super) fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "   {text}")
}
