//! What can be wrong with a workspace, said with file, line and the nearest right name.

use std::path::Path;

/// Why a workspace was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct WorkspaceError {
    /// The file, relative to the workspace.
    pub file: String,
    /// The line, counted from one, where the fault has one.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

impl WorkspaceError {
    /// There is no workspace.
    pub(super) fn none(start: &Path) -> Self {
        Self {
            file: super::FILE.to_owned(),
            line: None,
            message: format!("there is none in `{}` nor in any folder above it", start.display()),
            hint: Some(
                "`ordain init --example sunglasses DIR` makes a workspace; `--workspace DIR` names one"
                    .to_owned(),
            ),
        }
    }

    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self { file: file.to_owned(), line: None, message: error.to_string(), hint: None }
    }

    /// An error of the parser, with the nearest right name for a wrong one.
    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_of(text, span.start));
        let full = error.message();
        let message = full.lines().next().unwrap_or_default().trim().to_owned();
        let (message, hint) = match unknown(&message) {
            Some((kind, name, known)) => {
                let nearest = ordain_types::nearest(&name, known.iter().map(String::as_str));
                let hint = nearest.map_or_else(
                    || format!("known here: {}", known.join(", ")),
                    |nearest| format!("did you mean `{nearest}`?"),
                );
                (format!("unknown {kind} `{name}`"), Some(hint))
            }
            None => (message, None),
        };
        Self { file: super::FILE.to_owned(), line, message, hint }
    }
}

/// The line that a place in a text is on, counted from one.
pub(super) fn line_of(text: &str, at: usize) -> u64 {
    text.as_bytes()[..at.min(text.len())].split(|byte| *byte == b'\n').count() as u64
}

/// What serde says of a name that it does not know: ``unknown field `a`, expected one of `b`, `c` ``.
fn unknown(message: &str) -> Option<(&'static str, String, Vec<String>)> {
    let (kind, rest) =
        match (message.strip_prefix("unknown field "), message.strip_prefix("unknown variant ")) {
            (Some(rest), _) => ("key", rest),
            (_, Some(rest)) => ("value", rest),
            _ => return None,
        };
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    let name = names.next()?;
    Some((kind, name, names.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_a_message_are_told_apart() {
        let found = unknown("unknown field `seeed`, expected one of `seed`, `key`").unwrap();
        assert_eq!(found, ("key", "seeed".to_owned(), vec!["seed".to_owned(), "key".to_owned()]));
        assert_eq!(unknown("missing field `sql`"), None);
    }
}
