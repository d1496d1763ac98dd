//! A hostile program and its header.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ordain_types::{Cause, Limits, QuantityError};
use serde::{Deserialize, Serialize};

use super::word::Word;

/// A program of a catalogue, with what its header says.
#[derive(Debug, Clone)]
pub struct Program {
    /// The file's name.
    pub file: String,
    /// The number that the file's name starts with, which orders a round.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What it attacks.
    pub class: Class,
    /// What it tries, for people.
    pub tries: String,
    /// What comes of it, for people.
    pub expected: String,
    /// The causes that count as contained.
    pub outcome: Vec<Cause>,
    /// What must hold afterwards.
    pub after: Vec<Word>,
    /// What it may use.
    pub limits: ProgramLimits,
    /// The architecture that it is for, if only one.
    pub arch: Option<String>,
    /// Lines that must stand in its stdout. Programs that must be allowed say so with them.
    pub prints: Vec<String>,
    /// Its whole text.
    pub source: String,
}

/// What a program attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Class {
    Resource,
    Channel,
    Network,
    Files,
    Artifact,
    Process,
    Kernel,
    Language,
    State,
    /// It attacks nothing: an honest neighbour of an attack, which must work.
    Allowed,
}

/// The limits of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramLimits {
    /// Wall-clock time.
    pub wall: Duration,
    /// Memory.
    pub memory_bytes: u64,
    /// Processes and threads together.
    pub pids: u32,
    /// Stdout and stderr together.
    pub output_bytes: u64,
    /// All artifacts together.
    pub artifact_bytes: u64,
    /// Number of artifacts.
    pub artifacts: u32,
}

/// Why a header does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The file's name is not `NN_name.py`.
    #[error("the file's name is not a number, an underscore and a name")]
    FileName,
    /// The file is not UTF-8.
    #[error("the file is not UTF-8")]
    NotText,
    /// A field stands twice.
    #[error("the field `{0}` stands twice")]
    Twice(String),
    /// A field that nobody knows.
    #[error("there is no field `{0}`")]
    UnknownField(String),
    /// A field that must be there is not.
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    /// A field's value cannot be read.
    #[error("the field `{field}` cannot be read: {problem}")]
    Value {
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
}

const MIB: u64 = 1 << 20;

impl Default for ProgramLimits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(3),
            memory_bytes: 256 * MIB,
            pids: 64,
            output_bytes: MIB,
            artifact_bytes: 16 * MIB,
            artifacts: 100,
        }
    }
}

impl ProgramLimits {
    /// The same, as an executor takes them.
    pub fn limits(&self) -> Limits {
        Limits {
            wall: self.wall,
            memory_bytes: self.memory_bytes,
            processes: self.pids,
            output_bytes: self.output_bytes,
            artifact_bytes: self.artifact_bytes,
            artifacts: self.artifacts,
            ..Limits::default()
        }
    }

    /// Reads `key=value` pairs on top of the defaults.
    fn parse(text: &str) -> Result<Self, HeaderError> {
        let wrong = |problem: String| HeaderError::Value { field: "limits", problem };
        let quantity = |error: QuantityError| wrong(error.to_string());
        let count = |text: &str| text.parse().map_err(|_| wrong(format!("`{text}` is not a number")));
        let mut limits = Self::default();
        for pair in text.split_whitespace() {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| wrong(format!("`{pair}` is not key=value")))?;
            match key {
                "wall" => limits.wall = ordain_types::parse_duration(value).map_err(quantity)?,
                "memory" => limits.memory_bytes = ordain_types::parse_bytes(value).map_err(quantity)?,
                "pids" => limits.pids = count(value)?,
                "output" => limits.output_bytes = ordain_types::parse_bytes(value).map_err(quantity)?,
                "artifacts" => {
                    let (bytes, number) = value
                        .split_once('/')
                        .ok_or_else(|| wrong(format!("`{value}` is not bytes/count")))?;
                    limits.artifact_bytes = ordain_types::parse_bytes(bytes).map_err(quantity)?;
                    limits.artifacts = count(number)?;
                }
                _ => return Err(wrong(format!("there is no limit `{key}`"))),
            }
        }
        Ok(limits)
    }
}

impl Program {
    /// Reads a program from its file's name and content.
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, HeaderError> {
        let (number, stem) = number_and_name(file).ok_or(HeaderError::FileName)?;
        let source = std::str::from_utf8(content).map_err(|_| HeaderError::NotText)?;
        let header = Header::read(source)?;
        let name = header.require("name")?;
        if name != stem {
            let problem = format!("it is `{name}`, the file says `{stem}`");
            return Err(HeaderError::Value { field: "name", problem });
        }
        header.choice("oracle", &["inband", "host", "both"])?;
        Ok(Self {
            file: file.to_owned(),
            number,
            name: name.to_owned(),
            class: header.value("class")?,
            // For people, and still part of the header: a program that does not say what it tries tests nothing.
            tries: header.require("tries")?.to_owned(),
            expected: header.require("expected")?.to_owned(),
            outcome: header.causes()?,
            after: header.words()?,
            limits: ProgramLimits::parse(header.get("limits").unwrap_or(""))?,
            arch: header.get("arch").map(str::to_owned),
            prints: header.prints.iter().map(|line| (*line).to_owned()).collect(),
            source: source.to_owned(),
        })
    }
}

/// `07_name.py` as 7 and `name`.
fn number_and_name(file: &str) -> Option<(u32, &str)> {
    let (number, name) = file.strip_suffix(".py")?.split_once('_')?;
    number.parse().ok().filter(|_| !name.is_empty()).map(|number| (number, name))
}

/// The fields of a header, as written.
struct Header<'a> {
    fields: Vec<(&'a str, &'a str)>,
    prints: Vec<&'a str>,
}

const FIELDS: [&str; 9] =
    ["name", "class", "tries", "expected", "outcome", "after", "limits", "arch", "oracle"];

impl<'a> Header<'a> {
    /// Takes the comment lines at the start, each of which must be a field.
    fn read(source: &'a str) -> Result<Self, HeaderError> {
        let mut header = Header { fields: Vec::new(), prints: Vec::new() };
        for line in source.lines().map_while(|line| line.strip_prefix('#')) {
            let (field, value) =
                line.split_once(':').ok_or_else(|| HeaderError::UnknownField(line.trim().to_owned()))?;
            let (field, value) = (field.trim(), value.trim());
            if field == "prints" {
                header.prints.push(value);
                continue;
            }
            if !FIELDS.contains(&field) {
                return Err(HeaderError::UnknownField(field.to_owned()));
            }
            if header.get(field).is_some() {
                return Err(HeaderError::Twice(field.to_owned()));
            }
            header.fields.push((field, value));
        }
        Ok(header)
    }

    fn get(&self, field: &str) -> Option<&'a str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
    }

    fn require(&self, field: &'static str) -> Result<&'a str, HeaderError> {
        self.get(field).filter(|value| !value.is_empty()).ok_or(HeaderError::Missing(field))
    }

    fn choice(&self, field: &'static str, choices: &[&str]) -> Result<&'a str, HeaderError> {
        let value = self.require(field)?;
        if choices.contains(&value) {
            return Ok(value);
        }
        Err(HeaderError::Value { field, problem: format!("`{value}` is none of {}", choices.join(", ")) })
    }

    /// A value of a type that names its own choices.
    fn value<T: for<'de> Deserialize<'de>>(&self, field: &'static str) -> Result<T, HeaderError> {
        read_choice(field, self.require(field)?)
    }

    fn causes(&self) -> Result<Vec<Cause>, HeaderError> {
        self.require("outcome")?.split(',').map(|cause| read_choice("outcome", cause.trim())).collect()
    }

    fn words(&self) -> Result<Vec<Word>, HeaderError> {
        match self.require("after")? {
            "none" => Ok(Vec::new()),
            words => Ok(words.split(',').map(|word| Word::parse(word.trim())).collect()),
        }
    }
}

fn read_choice<T: for<'de> Deserialize<'de>>(field: &'static str, text: &str) -> Result<T, HeaderError> {
    serde_json::from_value(text.into())
        .map_err(|error| HeaderError::Value { field, problem: error.to_string() })
}

/// A program, or the file whose header does not parse and why.
pub(super) type Read = Result<Program, (String, HeaderError)>;

/// Reads every program of a folder, in order of number.
pub(super) fn read_folder(folder: &Path) -> std::io::Result<Vec<Read>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "py") {
            paths.push(path);
        }
    }
    let mut programs = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let content = fs_err::read(&path)?;
        programs.push(Program::parse(&file, &content).map_err(|error| (file, error)));
    }
    programs.sort_by_key(order);
    Ok(programs)
}

fn order(read: &Read) -> (u32, String) {
    let file = match read {
        Ok(program) => &program.file,
        Err((file, _)) => file,
    };
    (number_and_name(file).map_or(u32::MAX, |(number, _)| number), file.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
# name: fork_bomb
# class: resource
# tries: os.fork() in a loop
# expected: refused: no more than the limit
# outcome: ok, process_limit
# after: no-leftover-process,no-such-word
# limits: wall=500ms memory=1GiB pids=8 output=2KiB artifacts=3MiB/7
# arch: x86_64
# oracle: both
# prints: 1, 2: three
import os
# after: none
";

    #[test]
    fn a_header_is_read_to_its_last_field() {
        let program = Program::parse("01_fork_bomb.py", GOOD.as_bytes()).unwrap();
        assert_eq!((program.number, program.name.as_str(), program.class), (1, "fork_bomb", Class::Resource));
        assert_eq!(program.outcome, [Cause::Ok, Cause::ProcessLimit]);
        assert_eq!(program.after, [Word::NoLeftoverProcess, Word::Unknown("no-such-word".to_owned())]);
        assert_eq!(program.arch.as_deref(), Some("x86_64"));
        assert_eq!(program.prints, ["1, 2: three"]);
        let limits = ProgramLimits {
            wall: Duration::from_millis(500),
            memory_bytes: 1024 * MIB,
            pids: 8,
            output_bytes: 2048,
            artifact_bytes: 3 * MIB,
            artifacts: 7,
        };
        assert_eq!(program.limits, limits);
    }

    #[test]
    fn a_header_that_does_not_parse_is_refused() {
        let check = |file: &str, from: &str, to: &str, expected: &str| {
            let text = GOOD.replacen(from, to, 1);
            let error = Program::parse(file, text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(expected), "{from} → {to}: {error}");
        };
        let file = "01_fork_bomb.py";
        check("fork_bomb.py", "", "", "not a number");
        check("02_thread_bomb.py", "", "", "`name` cannot be read");
        check(file, "# outcome: ok, process_limit\n", "", "`outcome` is missing");
        check(file, "process_limit", "processlimit", "`outcome` cannot be read");
        check(file, "resource", "resources", "`class` cannot be read");
        check(file, "oracle: both", "oracle: all", "`oracle` cannot be read");
        check(file, "# tries", "# attempts", "no field `attempts`");
        check(file, "# arch: x86_64", "# after: none", "`after` stands twice");
        check(file, "wall=500ms", "wall=soon", "`limits` cannot be read");
        check(file, "pids=8", "cpus=8", "no limit `cpus`");
        check(file, "artifacts=3MiB/7", "artifacts=7", "not bytes/count");
        check(file, "# oracle: both\n", "", "`oracle` is missing");
        assert_eq!(Program::parse(file, b"# name: \xff").unwrap_err(), HeaderError::NotText);
    }
}
