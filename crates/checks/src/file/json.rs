//! Reads JSON with its places. Comments (`//`, `/* */`, `#`) and trailing commas are allowed: people write these files.

use serde_json::Number;

use super::node::{Content, Member, Node};

/// Records inside records.
const DEPTH_MAX: usize = 64;

/// Why a text does not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: u32,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let mut reader = Reader { text, at: 0, line: 1 };
    // Some editors put a mark of order at the start.
    reader.skip('\u{feff}');
    reader.blanks()?;
    let root = reader.value(0)?;
    reader.blanks()?;
    if reader.at < text.len() {
        return Err(
            reader.wrong("something follows the end of the document", "remove it, or put all in one list")
        );
    }
    Ok(root)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("lists and records are nested too deep", "64 levels are read"));
        }
        let (line, start) = (self.line, self.at);
        let content = match self.peek() {
            None => {
                return Err(
                    self.wrong("the text ends where a value must be", "close every bracket and quote")
                );
            }
            Some('[') => Content::List(self.list(depth)?),
            Some('{') => Content::Map(self.map(depth)?),
            Some('"') => Content::Text(self.string()?),
            Some(_) => self.word()?,
        };
        Ok(Node { line, start, end: self.at, content })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Unreadable> {
        self.advance();
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.skip(']') {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            self.blanks()?;
            if !self.skip(',') && self.peek() != Some(']') {
                return Err(
                    self.wrong("a `,` or `]` is missing here", "separate the items of a list by commas")
                );
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Member>, Unreadable> {
        self.advance();
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.blanks()?;
            if self.skip('}') {
                return Ok(members);
            }
            if self.peek() != Some('"') {
                return Err(self.wrong("a name in double quotes must be here", "write \"name\": value"));
            }
            let line = self.line;
            let name = self.string()?;
            self.blanks()?;
            if !self.skip(':') {
                return Err(self.wrong("a `:` is missing here", "write \"name\": value"));
            }
            self.blanks()?;
            let value = self.value(depth + 1)?;
            if members.iter().any(|member| member.name == name) {
                return Err(Unreadable {
                    line,
                    message: format!("`{name}` stands twice in one record"),
                    hint: "keep one of the two",
                });
            }
            members.push(Member { name, line, value });
            self.blanks()?;
            if !self.skip(',') && self.peek() != Some('}') {
                return Err(
                    self.wrong("a `,` or `}` is missing here", "separate the members of a record by commas")
                );
            }
        }
    }

    /// A string, whose escapes serde reads.
    fn string(&mut self) -> Result<String, Unreadable> {
        let start = self.at;
        self.advance();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    return Err(self.wrong("a text does not end in its line", "close the double quote"));
                }
                Some('"') => break,
                Some('\\') => {
                    self.advance();
                    self.advance();
                }
                Some(_) => self.advance(),
            }
        }
        self.advance();
        // A tab inside a text is not JSON, but it is clear what is meant.
        let written = self.text[start..self.at].replace('\t', "\\t");
        serde_json::from_str(&written).map_err(|_| {
            self.wrong("a text holds an escape that JSON does not have", "write \\\\ for one \\")
        })
    }

    fn word(&mut self) -> Result<Content, Unreadable> {
        let rest = &self.text[self.at..];
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let end = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let content = match word {
            "null" => Content::Null,
            "true" => Content::Bool(true),
            "false" => Content::Bool(false),
            _ => {
                let number = serde_json::from_str::<Number>(word).map_err(|_| {
                    let shown: String = rest.chars().take(20).take_while(|c| *c != '\n').collect();
                    self.wrong(&format!("`{shown}` is not a value"), "texts stand in double quotes")
                })?;
                Content::Number(number)
            }
        };
        self.at += end;
        Ok(content)
    }

    fn blanks(&mut self) -> Result<(), Unreadable> {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with(|c: char| c.is_whitespace()) {
                self.advance();
            } else if rest.starts_with("//") || rest.starts_with('#') {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.advance();
                }
            } else if rest.starts_with("/*") {
                let Some(length) = rest.find("*/") else {
                    return Err(self.wrong("a comment does not end", "close it with */"));
                };
                let end = self.at + length + 2;
                while self.at < end {
                    self.advance();
                }
            } else {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn advance(&mut self) {
        if let Some(character) = self.peek() {
            self.at += character.len_utf8();
            self.line += u32::from(character == '\n');
        }
    }

    fn skip(&mut self, wanted: char) -> bool {
        let is_here = self.peek() == Some(wanted);
        if is_here {
            self.advance();
        }
        is_here
    }

    fn wrong(&self, message: &str, hint: &'static str) -> Unreadable {
        Unreadable { line: self.line, message: message.to_owned(), hint }
    }
}
