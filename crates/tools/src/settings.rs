//! `[tools.NAME]` of `ordain.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ordain_types::{parse_bytes, parse_duration};
use serde::Deserialize;

/// How long one answer may take if nothing is said.
const TIME: Duration = Duration::from_secs(30);
/// How long it may be made to take.
const TIME_MAX: Duration = Duration::from_mins(10);
/// The largest arguments of one call if nothing is said.
pub(crate) const ARGUMENT_BYTES: u64 = 64 << 10;

/// A tool, as its owner writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// The server's program and its arguments. It runs in the workspace's folder.
    pub command: Vec<String>,
    /// Variables of the process's environment that the program is given; it gets no others but `PATH` and `HOME`.
    pub env: Vec<String>,
    /// The server's address, in place of a command.
    pub url: Option<String>,
    /// The variable that holds the token for that address.
    pub token_env: Option<String>,
    /// Verbs that only read. They are called while a plan runs, and carry their arguments out.
    pub reads: BTreeSet<String>,
    /// Verbs that change something and need no approval.
    pub allow: BTreeSet<String>,
    /// The verb that takes a verb back.
    pub undo: BTreeMap<String, String>,
    /// The argument whose values are kept in order each for itself; without it all calls of the tool are.
    pub order_by: Option<String>,
    /// The tables that a plan may read if it calls this tool; without it any.
    pub tables: Option<BTreeSet<String>>,
    /// How long one answer may take.
    pub timeout: Option<String>,
    /// How large the arguments of one call may be.
    pub arguments: Option<String>,
}

/// Variables with their values. They are never shown.
#[derive(Clone, Default)]
pub struct Secrets(pub BTreeMap<String, String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// What is wrong with a section, and which key of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {message}")]
pub struct SettingsError {
    /// The key.
    pub key: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl ToolSettings {
    /// Refuses settings that cannot be meant.
    pub fn check(&self, name: &str) -> Result<(), SettingsError> {
        let wrong = |key, message: &str| Err(SettingsError { key, message: message.to_owned() });
        let is_plain = |name: &str| {
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            name.len() <= 40
                && name.starts_with(|first: char| first.is_ascii_lowercase())
                && name.bytes().all(is_letter)
        };
        if !is_plain(name) {
            return wrong("name", "is a name of a few small letters, digits and `_`, as in `[tools.mail]`");
        }
        match (&self.url, self.command.is_empty()) {
            (None, true) => return wrong("command", "or `url` is needed: where the server is"),
            (Some(_), false) => return wrong("url", "and `command` exclude each other"),
            (Some(url), true) if !is_safe(url) => {
                return wrong("url", "must begin with https://, or with http:// on this machine");
            }
            _ => {}
        }
        if self.token_env.is_some() && self.url.is_none() {
            return wrong("token_env", "belongs to a `url`; a command is given variables with `env`");
        }
        if self.reads.iter().any(|verb| self.allow.contains(verb) || self.undo.contains_key(verb)) {
            return wrong("reads", "names a verb that `allow` or `undo` says changes something");
        }
        if let Some(text) = &self.timeout
            && parse_duration(text).is_err()
        {
            return wrong("timeout", "is no time; write one such as \"30s\"");
        }
        if let Some(text) = &self.arguments
            && parse_bytes(text).is_err()
        {
            return wrong("arguments", "is no size; write one such as \"64KiB\"");
        }
        Ok(())
    }

    /// How long one answer may take.
    pub fn time(&self) -> Duration {
        let given = self.timeout.as_deref().and_then(|text| parse_duration(text).ok());
        given.unwrap_or(TIME).min(TIME_MAX)
    }

    /// How large the arguments of one call may be.
    pub fn argument_bytes(&self) -> u64 {
        self.arguments.as_deref().and_then(|text| parse_bytes(text).ok()).unwrap_or(ARGUMENT_BYTES)
    }

    /// Where the server is, in words, without anything secret.
    pub fn place(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.command.join(" "))
    }

    /// The names of the variables that only the server may see.
    pub fn variables(&self) -> impl Iterator<Item = &String> {
        self.env.iter().chain(&self.token_env)
    }

    /// Their values, where they are set.
    pub(crate) fn secrets(&self, secrets: &Secrets) -> Vec<(String, String)> {
        self.variables().filter_map(|name| Some((name.clone(), secrets.0.get(name)?.clone()))).collect()
    }
}

/// Whether nobody on the way can read what is sent there.
fn is_safe(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    url.username().is_empty() && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_meant_are_refused_by_the_key_that_is_wrong() {
        let settings = |change: fn(&mut ToolSettings)| {
            let mut settings = ToolSettings { command: vec!["server".to_owned()], ..ToolSettings::default() };
            change(&mut settings);
            settings
        };
        assert_eq!(settings(|_| {}).check("mail"), Ok(()));
        assert_eq!(settings(|_| {}).check("Mail box").unwrap_err().key, "name");
        for (change, key) in [
            ((|all| all.command.clear()) as fn(&mut ToolSettings), "command"),
            (|all| all.url = Some("https://tools.example".to_owned()), "url"),
            (|all| all.token_env = Some("TOKEN".to_owned()), "token_env"),
            (|all| all.timeout = Some("soon".to_owned()), "timeout"),
        ] {
            assert_eq!(settings(change).check("mail").unwrap_err().key, key);
        }
        for (url, is_fine) in [
            ("https://tools.example/mcp", true),
            ("http://127.0.0.1:9/mcp", true),
            ("http://tools.example/mcp", false),
            ("https://me:secret@tools.example", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(is_safe(url), is_fine, "{url}");
        }
    }
}
