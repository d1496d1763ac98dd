//! What an installer's output says: how far it is, and why it failed.

use super::ProfileError;

/// How many of the last lines are kept to explain a failure.
const LINES_KEPT_MAX: usize = 200;
/// A longer line is cut; progress bars and dumped responses can be any length.
const LINE_CHARS_MAX: usize = 400;

/// What points to the network, in the words of pip, uv and the libraries below them.
const OFFLINE: [&str; 15] = [
    "newconnectionerror",
    "name resolution",
    "name or service not known",
    "dns error",
    "network is unreachable",
    "connection refused",
    "connection reset",
    "connecttimeout",
    "readtimeout",
    "timed out",
    "error sending request",
    "connection broken",
    "proxyerror",
    "sslerror",
    "max retries exceeded",
];
const WRONG_HASH: [&str; 2] = ["do not match the hashes", "hash mismatch"];
const DISK_FULL: [&str; 2] = ["no space left on device", "disk quota exceeded"];

/// What a failed installer's output points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Offline,
    WrongHash,
    DiskFull,
    Other,
}

/// The last lines of an installer's output.
#[derive(Debug, Default)]
pub(super) struct Output {
    lines: Vec<String>,
}

impl Output {
    /// Keeps a line, without control characters: it may end up on a terminal.
    pub(super) fn push(&mut self, line: &str) {
        let line: String = line
            .chars()
            .take(LINE_CHARS_MAX)
            .filter(|c| !c.is_control())
            .collect::<String>()
            .trim_end()
            .into();
        if line.trim().is_empty() {
            return;
        }
        if self.lines.len() == LINES_KEPT_MAX {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    /// What went wrong, by the words of the output.
    pub(super) fn trouble(&self) -> Trouble {
        let any = |marks: &[&str]| self.last_with(marks).is_some();
        // A full disk can break a download, and a broken download a hash: the deepest cause comes first.
        if any(&DISK_FULL) {
            Trouble::DiskFull
        } else if any(&WRONG_HASH) {
            Trouble::WrongHash
        } else if any(&OFFLINE) {
            Trouble::Offline
        } else {
            Trouble::Other
        }
    }

    /// The last line that has one of the marks.
    fn last_with(&self, marks: &[&str]) -> Option<&str> {
        let has_mark = |line: &&String| {
            let line = line.to_lowercase();
            marks.iter().any(|mark| line.contains(mark))
        };
        self.lines.iter().rev().find(has_mark).map(|line| line.trim())
    }

    /// The last line that explains the failure.
    pub(super) fn telling_line(&self) -> String {
        // Without a network pip ends with "no matching distribution"; what it said before that is the reason.
        if self.trouble() == Trouble::Offline
            && let Some(line) = self.last_with(&OFFLINE)
        {
            let reason =
                line.rsplit_once("Failed to establish a new connection: ").map_or(line, |(_, rest)| rest);
            return without_label(reason.split("')").next().unwrap_or(reason));
        }
        let explains = |line: &&String| {
            let line = line.trim_start().to_lowercase();
            ["error", "fatal", "caused by", "cause:", "modulenotfounderror", "permissionerror", "oserror"]
                .iter()
                .any(|mark| line.starts_with(mark))
        };
        let line = self.lines.iter().rev().find(explains).or(self.lines.last());
        line.map_or_else(|| "it said nothing".into(), |line| without_label(line))
    }

    /// The error for an installer that ended with `status`.
    pub(super) fn error(&self, tool: &'static str, status: &str, folder: &std::path::Path) -> ProfileError {
        let line = self.telling_line();
        match self.trouble() {
            Trouble::Offline => ProfileError::Offline { tool, line },
            Trouble::WrongHash => ProfileError::WrongHash { tool, line },
            Trouble::DiskFull => ProfileError::DiskFull { path: folder.into() },
            Trouble::Other => ProfileError::Install { tool, status: status.to_owned(), line },
        }
    }
}

/// The line without the word that only says that it is an error.
fn without_label(line: &str) -> String {
    let line = line.trim();
    let labels = ["ERROR: ", "error: ", "cause: ", "Caused by: "];
    labels.iter().find_map(|label| line.strip_prefix(label)).unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Output {
        let mut output = Output::default();
        text.lines().for_each(|line| output.push(line));
        output
    }

    #[test]
    fn pip_without_a_network_is_recognised() {
        let output = output(
            "Collecting tinydb==4.9.0 (from -r requirements.txt (line 3))\n\
             WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(': Failed to establish a \
             new connection: [Errno -2] Name or service not known')': /simple/tinydb/\n\
             ERROR: Could not find a version that satisfies the requirement tinydb==4.9.0 (from versions: none)\n\
             ERROR: No matching distribution found for tinydb==4.9.0\n",
        );
        assert_eq!(output.trouble(), Trouble::Offline);
        assert_eq!(output.telling_line(), "[Errno -2] Name or service not known");
    }

    #[test]
    fn uv_without_a_network_is_recognised() {
        let output = output(
            "error: Request failed after 3 retries\n  Caused by: Failed to fetch: `index`\n\
               Caused by: error sending request\n  Caused by: dns error\n",
        );
        assert_eq!(output.trouble(), Trouble::Offline);
        assert_eq!(output.telling_line(), "dns error");
    }

    #[test]
    fn a_wrong_hash_and_a_full_disk_are_told_apart_from_other_failures() {
        let hash = output(
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    Got 00ff\n",
        );
        assert_eq!(hash.trouble(), Trouble::WrongHash);
        let full = output(
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        );
        assert_eq!(full.trouble(), Trouble::DiskFull);
        let other =
            output("Traceback (most recent call last):\nModuleNotFoundError: No module named 'x'\n\n");
        assert_eq!(other.trouble(), Trouble::Other);
        assert_eq!(other.telling_line(), "ModuleNotFoundError: No module named 'x'");
        assert_eq!(Output::default().telling_line(), "it said nothing");
    }

    #[test]
    fn control_characters_and_endless_lines_do_not_reach_a_terminal() {
        let output = output(&format!("error: \u{1b}[31mred\u{7}{}", "x".repeat(10_000)));
        let line = output.telling_line();
        assert!(line.starts_with("[31mred") && line.len() <= LINE_CHARS_MAX, "{line}");
    }
}
