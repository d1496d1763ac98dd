//! Shows what goes on while a plan is made and run: to stderr, and only to a person.

use std::io::{self, IsTerminal as _, Write};

use ordain_checks::CheckProgress;
use ordain_engine::Progress;
use ordain_types::Event;

use super::{Colour, line, tinted};

/// Shows stages, and a model's words as they come.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Whether anything is shown: a person looks, and a model takes its time.
    is_on: bool,
    /// Whether the model's words are shown too.
    words: bool,
    /// Whether the cursor stands behind words.
    is_open: bool,
}

impl Shown {
    /// For a planner; the reader is done before anybody could read.
    pub(crate) fn new(is_model: bool, words: bool) -> Self {
        Self { is_on: is_model && io::stderr().is_terminal(), words, is_open: false }
    }

    /// Ends what is shown.
    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(io::stderr());
        }
    }
}

impl CheckProgress for Shown {}

impl Progress for Shown {
    fn text(&mut self, piece: &str) {
        if self.is_on && self.words {
            self.is_open = true;
            let piece: Vec<String> = piece.split('\n').map(line).collect();
            let _ = write!(
                io::stderr(),
                "{}",
                tinted(Colour::Dim, &piece.join("\n"), io::stderr().is_terminal())
            );
        }
    }

    fn event(&mut self, event: &Event) {
        if let Some(said) = event.line() {
            self.stage(&said);
        }
    }

    fn stage(&mut self, name: &str) {
        if self.is_on {
            self.finish();
            let _ = writeln!(io::stderr(), "{}", tinted(Colour::Dim, &format!("… {}", line(name)), true));
        }
    }
}
