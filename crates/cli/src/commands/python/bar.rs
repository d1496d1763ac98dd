//! How a set-up looks while it runs: a bar on a terminal, a line for each phase elsewhere.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ordain_cell::profile::{Phase, Profile, Progress};

/// The bar, on stderr.
#[derive(Debug)]
pub(crate) struct Bar {
    profile: Profile,
    /// `None` when stderr is no terminal.
    line: Option<ProgressBar>,
    /// The phase that was last shown, with its total, so that it is shown once.
    last: Option<(Phase, Option<usize>)>,
}

impl Bar {
    /// Nothing is shown before the first phase begins.
    pub(crate) fn new(profile: Profile) -> Self {
        let hidden = || ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let line = io::stderr().is_terminal().then(hidden);
        Self { profile, line, last: None }
    }
}

impl Progress for Bar {
    fn phase(&mut self, phase: Phase, total: Option<usize>) {
        if self.last.replace((phase, total)) == Some((phase, total)) {
            return;
        }
        let unit = match (phase, total) {
            (Phase::Compiling, _) => "files",
            (_, Some(1)) => "package",
            _ => "packages",
        };
        let Some(bar) = &self.line else {
            let total = total.map(|total| format!(" {total} {unit}")).unwrap_or_default();
            // Progress is a courtesy: a closed stderr does not stop a set-up.
            let _ = writeln!(io::stderr(), "python profile {}: {phase}{total}", self.profile);
            return;
        };
        let start = format!("{{spinner}} python profile {}: {phase}", self.profile);
        let template = match total {
            Some(_) => format!("{start} {{bar:24}} {{pos}}/{{len}} {unit} {{msg}}"),
            None => format!("{start} {{elapsed}} {{msg}}"),
        };
        match total {
            Some(total) => bar.set_length(total as u64),
            None => bar.unset_length(),
        }
        bar.set_position(0);
        bar.set_message("");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn done(&mut self, count: usize) {
        if let Some(bar) = &self.line {
            bar.set_position(count as u64);
        }
    }

    fn package(&mut self, name: &str) {
        if let Some(bar) = &self.line {
            bar.set_message(name.to_owned());
        }
    }

    fn message(&mut self, message: &str) {
        let line = format!("python profile {}: {message}", self.profile);
        match &self.line {
            // Above the bar, so that it stays readable when the bar moves on.
            Some(bar) => bar.println(line),
            None => {
                let _ = writeln!(io::stderr(), "{line}");
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.line {
            bar.finish_and_clear();
        }
    }
}
