//! Lines that are typed: edited by a person at a terminal, or read from standard input.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

/// The longest line; what is longer comes in pieces.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;

/// Where lines come from.
pub(crate) enum Typed {
    /// A person, with line editing and a history.
    Person { editor: Box<Editor<(), FileHistory>>, history: PathBuf },
    /// A program.
    Program,
}

/// What was typed.
pub(crate) enum Line {
    Text(String),
    /// A line that was taken back.
    TakenBack,
    End,
}

impl Typed {
    /// Lines with the history that is kept in a file.
    pub(crate) fn open(history: &Path) -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Ok(Self::Program);
        }
        let config = Config::builder()
            .auto_add_history(true)
            .max_history_size(2_000)
            .map_err(io::Error::other)?
            .build();
        let mut editor = Editor::with_history(config, FileHistory::new()).map_err(io::Error::other)?;
        // The first time there is no history.
        let _ = editor.load_history(history);
        Ok(Self::Person { editor: Box::new(editor), history: history.to_owned() })
    }

    /// Whether a person types.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// The next line, without its end.
    pub(crate) fn next(&mut self, prompt: &str) -> io::Result<Line> {
        match self {
            Self::Person { editor, .. } => match editor.readline(prompt) {
                Ok(line) => Ok(Line::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(Line::TakenBack),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(io::Error::other(error)),
            },
            Self::Program => {
                let mut bytes = Vec::new();
                let limit = LINE_BYTES_MAX as u64 + 1;
                let read = io::Read::take(io::stdin().lock(), limit).read_until(b'\n', &mut bytes)?;
                let line = String::from_utf8_lossy(&bytes);
                Ok(if read == 0 {
                    Line::End
                } else {
                    Line::Text(line.trim_end_matches(['\n', '\r']).to_owned())
                })
            }
        }
    }

    /// Keeps the history.
    pub(crate) fn close(&mut self) {
        if let Self::Person { editor, history } = self {
            // A history that cannot be kept is no reason to fail at the end.
            let _ = editor.save_history(history);
        }
    }
}
