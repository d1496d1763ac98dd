//! `cargo xtask tidy`: the rules of the repository that no lint knows.
//!
//! A rule is a function from the files to complaints. All of them run in this program's tests too, so `cargo test`
//! alone is enough to notice.

mod crates;
mod files;
mod house;
mod links;
mod modules;
mod text;
mod ways;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use crate::step::{root, say};
use files::File;

/// Judges all files at once, since some rules are about how files belong together.
type Rule = fn(&[File]) -> Vec<Complaint>;

/// The rules, in the order in which they are reported.
const RULES: [Rule; 16] = [
    modules::says_why_it_exists,
    modules::is_reached,
    text::is_short,
    text::ends_clean,
    text::has_no_leftover_marker,
    text::names_no_local_path,
    text::quotes_sums_for_the_shell,
    words::are_ours,
    links::resolve,
    crates::are_on_the_map,
    crates::depend_as_drawn,
    crates::inherit_the_lints,
    crates::come_from_the_public_registry,
    crates::stay_pure,
    ways::name_files,
    ways::are_tried,
];

/// One thing that is against a rule.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    path: String,
    /// Counted from one; zero when the whole file is meant.
    line: usize,
    what: String,
}

impl Complaint {
    fn new(file: &File, line: usize, what: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, what: what.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

pub(crate) fn run() -> Result<()> {
    let mut files = files::read_all(root())?;
    let page = house::page(&files);
    if !files.iter().any(|file| file.path == house::PAGE && file.text.as_ref() == Some(&page)) {
        std::fs::write(root().join(house::PAGE), page)?;
        say(&format!("tidy: {} is new", house::PAGE));
        files = files::read_all(root())?;
    }
    let complaints = judge(&files);
    for complaint in &complaints {
        say(&complaint.to_string());
    }
    if !complaints.is_empty() {
        bail!("tidy has {} complaints", complaints.len());
    }
    say(&format!("tidy: {} files are in order", files.len()));
    Ok(())
}

fn judge(files: &[File]) -> Vec<Complaint> {
    RULES.iter().flat_map(|rule| rule(files)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let files = files::read_all(root()).unwrap();
        let complaints: Vec<_> = judge(&files).iter().map(Complaint::to_string).collect();
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    }

    /// Asserts what one rule says about files given as path and text, each complaint as it is shown.
    #[track_caller]
    pub(super) fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| File { path: (*path).into(), text: Some((*text).into()) })
            .collect();
        let complaints: Vec<_> = rule(&files).iter().map(Complaint::to_string).collect();
        assert_eq!(complaints, expected);
    }
}
