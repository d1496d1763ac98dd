//! The environment of a workspace: the process's own, and the file `.env` behind it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::error::WorkspaceError;
use super::inside;
use super::settings::{SETTINGS, is_declared, is_of_process};

const FILE: &str = ".env";
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The variables that hold for a workspace.
#[derive(Clone, Default)]
pub struct Environment {
    file: BTreeMap<String, String>,
    /// Stands for the process's environment in tests.
    given: Option<BTreeMap<String, String>>,
}

/// Where a variable was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSource {
    /// In the environment of the process.
    Process,
    /// In the workspace's `.env`.
    File,
}

impl Environment {
    /// Reads the workspace's `.env`, if there is one.
    pub fn read(root: &Path) -> Result<Self, WorkspaceError> {
        let text = inside::text(root, FILE, FILE_BYTES_MAX)?.unwrap_or_default();
        Ok(Self { file: parse(&text)?, given: None })
    }

    /// An environment of given variables, apart from the process's.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { file: BTreeMap::new(), given: Some(variables.into_iter().collect()) }
    }

    /// The value of a variable. Empty means not set.
    pub fn get(&self, name: &str) -> Option<String> {
        self.find(name).map(|(value, _)| value)
    }

    /// The value of a variable, and where it was found. The process comes before the file.
    pub fn find(&self, name: &str) -> Option<(String, VariableSource)> {
        let own = match &self.given {
            Some(given) => given.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        let is_set = |value: &String| !value.trim().is_empty();
        let own = own.filter(is_set).map(|value| (value, VariableSource::Process));
        // A workspace comes from somewhere else; it may give settings, not steer other programs' variables.
        own.or_else(|| {
            let value = self.file.get(name).filter(|value| is_declared(name) && is_set(value))?;
            Some((value.clone(), VariableSource::File))
        })
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be keys.
        formatter.debug_set().entries(self.file.keys()).finish()
    }
}

pub(super) fn parse(text: &str) -> Result<BTreeMap<String, String>, WorkspaceError> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let number = index as u64 + 1;
        let Some((name, value)) = line.split_once('=') else {
            return Err(wrong(Some(number), "the line is not NAME=VALUE".to_owned()));
        };
        let name = name.trim();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(wrong(Some(number), "a name has letters, digits and `_` only".to_owned()));
        }
        if name.starts_with("ORDAIN_") && !is_declared(name) {
            let known = SETTINGS.iter().flat_map(|setting| setting.variables);
            let hint =
                ordain_types::nearest(name, known.copied()).map(|near| format!("did you mean `{near}`?"));
            return Err(WorkspaceError { hint, ..wrong(Some(number), format!("unknown variable `{name}`")) });
        }
        if is_of_process(name) {
            let hint = "a workspace may come from somebody else; set it in the environment".to_owned();
            let message = format!("`{name}` is not taken from a workspace");
            return Err(WorkspaceError { hint: Some(hint), ..wrong(Some(number), message) });
        }
        variables.insert(name.to_owned(), unquoted(value.trim()));
    }
    Ok(variables)
}

/// The value without its quotes; without quotes, up to a comment.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote)
            && let Some((inner, _)) = inner.split_once(quote)
        {
            return inner.to_owned();
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value).trim_end().to_owned()
}

fn wrong(line: Option<u64>, message: String) -> WorkspaceError {
    WorkspaceError { file: FILE.to_owned(), line, message, hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_variables_is_read_with_quotes_and_comments() {
        let read =
            parse("# keys\nexport OPENAI_API_KEY=\"a b\" # mine\nORDAIN_MODEL=rules # none\n\nX='#'\n")
                .unwrap();
        assert_eq!(read["OPENAI_API_KEY"], "a b");
        assert_eq!(read["ORDAIN_MODEL"], "rules");
        assert_eq!(read["X"], "#");
    }

    #[test]
    fn a_slip_is_an_error_with_its_line() {
        let error = parse("A=1\nnonsense").unwrap_err();
        assert_eq!(error.to_string(), ".env:2: the line is not NAME=VALUE");
        let error = parse("ORDAIN_MODLE=x").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `ORDAIN_MODEL`?"));
        let error = parse("ORDAIN_EXECUTOR=http://elsewhere:1").unwrap_err();
        assert_eq!(error.to_string(), ".env:1: `ORDAIN_EXECUTOR` is not taken from a workspace");
    }
}
