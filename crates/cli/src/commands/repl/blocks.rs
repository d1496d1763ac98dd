//! What is typed: blocks of Python, questions and commands.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

/// The longest block that is read.
const BLOCK_BYTES_MAX: usize = 1 << 20;

/// Where blocks come from.
pub(super) enum Blocks {
    /// A person, with line editing and a history.
    Person { editor: Box<Editor<(), FileHistory>>, history: PathBuf },
    /// A program.
    Program,
}

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    Python(String),
    Question(String),
    Files,
    Nothing,
    End,
}

impl Blocks {
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
        // The first session has no history.
        let _ = editor.load_history(history);
        Ok(Self::Person { editor: Box::new(editor), history: history.to_owned() })
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// The next block.
    pub(super) fn next(&mut self) -> io::Result<Block> {
        let mut code = String::new();
        loop {
            let line = match self.line(code.is_empty())? {
                Some(line) => line,
                None if code.is_empty() => return Ok(Block::End),
                None => return Ok(Block::Python(code)),
            };
            if code.is_empty() {
                match read_command(&line) {
                    Some(block) => return Ok(block),
                    None => code.push_str(&line),
                }
            } else {
                code.push_str(&line);
            }
            code.push('\n');
            if code.len() > BLOCK_BYTES_MAX {
                return Err(io::Error::other("a block is larger than 1 MiB"));
            }
            if line.trim().is_empty() || !goes_on(&code) {
                return Ok(Block::Python(code));
            }
        }
    }

    fn line(&mut self, is_first: bool) -> io::Result<Option<String>> {
        match self {
            Self::Person { editor, .. } => match editor.readline(if is_first { ">>> " } else { "... " }) {
                Ok(line) => Ok(Some(line)),
                Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
                Err(ReadlineError::Eof) => Ok(None),
                Err(error) => Err(io::Error::other(error)),
            },
            Self::Program => {
                let mut bytes = Vec::new();
                let limit = BLOCK_BYTES_MAX as u64 + 1;
                let read = io::Read::take(io::stdin().lock(), limit).read_until(b'\n', &mut bytes)?;
                let line = String::from_utf8_lossy(&bytes);
                Ok((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
            }
        }
    }

    pub(super) fn close(&mut self) {
        if let Self::Person { editor, history } = self {
            // A history that cannot be kept is no reason to fail at the end of a session.
            let _ = editor.save_history(history);
        }
    }
}

/// A line that is no Python.
fn read_command(line: &str) -> Option<Block> {
    let line = line.trim();
    if let Some(question) = line.strip_prefix('?') {
        let question = question.trim();
        return Some(if question.is_empty() { Block::Nothing } else { Block::Question(question.to_owned()) });
    }
    match line {
        "" => Some(Block::Nothing),
        "/quit" | "/exit" => Some(Block::End),
        "/files" => Some(Block::Files),
        _ => None,
    }
}

/// Whether more lines belong to this block: it ends in `:` or `\`, or a bracket is open.
fn goes_on(code: &str) -> bool {
    let has_block = code.lines().any(|line| line.trim_end().ends_with(':'));
    let is_continued = code.trim_end_matches('\n').ends_with('\\');
    let count = |brackets: &[char]| code.matches(brackets).count();
    has_block || is_continued || count(&['(', '[', '{']) > count(&[')', ']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_commands_are_told_from_python() {
        assert_eq!(read_command("? total units"), Some(Block::Question("total units".to_owned())));
        assert_eq!(read_command("/quit"), Some(Block::End));
        assert_eq!(read_command("  "), Some(Block::Nothing));
        assert_eq!(read_command("x = 1"), None);
    }

    #[test]
    fn a_block_goes_on_until_it_can_end() {
        assert!(!goes_on("x = 1\n"));
        assert!(goes_on("for i in range(3):\n    print(i)\n"));
        assert!(goes_on("x = [1,\n"));
        assert!(!goes_on("x = [1,\n2]\n"));
    }
}
