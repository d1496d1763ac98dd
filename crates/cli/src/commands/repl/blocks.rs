//! What is typed: blocks of Python, questions and commands.

use std::io;
use std::path::Path;

use crate::typed::{LINE_BYTES_MAX, Line, Typed};

/// Blocks of lines.
pub(super) struct Blocks(Typed);

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
        Typed::open(history).map(Self)
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.0.is_terminal()
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
            if code.len() > LINE_BYTES_MAX {
                return Err(io::Error::other("a block is larger than 1 MiB"));
            }
            if line.trim().is_empty() || !goes_on(&code) {
                return Ok(Block::Python(code));
            }
        }
    }

    fn line(&mut self, is_first: bool) -> io::Result<Option<String>> {
        Ok(match self.0.next(if is_first { ">>> " } else { "... " })? {
            Line::Text(line) => Some(line),
            Line::TakenBack => Some(String::new()),
            Line::End => None,
        })
    }

    pub(super) fn close(&mut self) {
        self.0.close();
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
