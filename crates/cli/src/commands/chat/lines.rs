//! Lines of a conversation: edited by a person at a terminal, or read from standard input.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

/// Longer lines are no requests.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Where lines come from.
pub(super) enum Lines {
    /// A person, with line editing and a history.
    Person { editor: Box<Editor<(), FileHistory>>, history: PathBuf },
    /// A program.
    Program,
}

/// What was said.
pub(super) enum Said {
    Text(String),
    /// An empty line, or one that was taken back.
    Nothing,
    End,
}

impl Lines {
    pub(super) fn open(history: &Path) -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Ok(Self::Program);
        }
        let config = Config::builder()
            .auto_add_history(true)
            .max_history_size(2_000)
            .map_err(io::Error::other)?
            .build();
        let mut editor = Editor::with_history(config, FileHistory::new()).map_err(io::Error::other)?;
        // The first conversation has no history.
        let _ = editor.load_history(history);
        Ok(Self::Person { editor: Box::new(editor), history: history.to_owned() })
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    pub(super) fn next(&mut self) -> io::Result<Said> {
        let text = match self {
            Self::Person { editor, .. } => match editor.readline("> ") {
                Ok(text) => text,
                Err(ReadlineError::Interrupted) => return Ok(Said::Nothing),
                Err(ReadlineError::Eof) => return Ok(Said::End),
                Err(error) => return Err(io::Error::other(error)),
            },
            Self::Program => {
                let mut bytes = Vec::new();
                let read =
                    io::Read::take(io::stdin().lock(), LINE_BYTES_MAX).read_until(b'\n', &mut bytes)?;
                if read == 0 {
                    return Ok(Said::End);
                }
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let text = text.trim();
        Ok(if text.is_empty() { Said::Nothing } else { Said::Text(text.to_owned()) })
    }

    pub(super) fn close(&mut self) {
        if let Self::Person { editor, history } = self {
            // A history that cannot be kept is no reason to fail at the end of a talk.
            let _ = editor.save_history(history);
        }
    }
}
