//! The lists that the rules read: names with their reasons, apart from the code that uses them.

/// The lines of a text file, each a word, as a list that the program has from the start.
macro_rules! words {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const WORDS: [&str; $crate::data::count(TEXT)] = $crate::data::lines(TEXT);
        &WORDS
    }};
}

pub(crate) mod blocked_calls;
pub(crate) mod blocked_imports;
pub(crate) mod builtins;
pub(crate) mod dunders;
pub(crate) mod foreign;
pub(crate) mod known_imports;
pub(crate) mod profiles;
pub(crate) mod stdlib;

use crate::contract::Contract;

/// How many lines a text has; each ends with a line break.
const fn count(text: &str) -> usize {
    let (bytes, mut at, mut count) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The lines of a text that has so many.
const fn lines<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let (mut found, mut rest, mut index) = ([""; COUNT], text, 0);
    while index < COUNT {
        let mut end = 0;
        while rest.as_bytes()[end] != b'\n' {
            end += 1;
        }
        let (line, after) = rest.split_at(end);
        (found[index], rest) = (line, after.split_at(1).1);
        index += 1;
    }
    found
}

/// A name that code may not use.
#[derive(Debug)]
pub(crate) struct Blocked {
    /// The dotted name.
    pub(crate) name: &'static str,
    /// Why.
    pub(crate) reason: &'static str,
    /// What to do instead.
    pub(crate) instead: &'static str,
    /// Whether only plans (contracts `ask` and `check`) are kept from it.
    plans_only: bool,
}

impl Blocked {
    /// Whether it is blocked under a contract.
    pub(crate) const fn holds(&self, contract: Contract) -> bool {
        !self.plans_only || contract.is_plan()
    }
}

/// Reads a list of blocked names. A line `# reason -> what to do instead` is about the names below it, each on a line of
/// its own; `name -> something else` says what to do instead of that one, and `plans: name` blocks it in plans alone.
pub(crate) fn blocked(text: &'static str) -> Vec<Blocked> {
    let (mut reason, mut usual) = ("", "");
    let mut list = Vec::new();
    for line in text.lines() {
        let (left, instead) = line.split_once(" -> ").unwrap_or((line, ""));
        if let Some(heading) = left.strip_prefix("# ") {
            (reason, usual) = (heading, instead);
            continue;
        }
        let (name, plans_only) = left.strip_prefix("plans: ").map_or((left, false), |name| (name, true));
        list.push(Blocked {
            name,
            reason,
            instead: if instead.is_empty() { usual } else { instead },
            plans_only,
        });
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blocked_name_has_its_reason_and_what_to_do_instead() {
        for text in [include_str!("data/blocked_calls.txt"), include_str!("data/blocked_imports.txt")] {
            let list = blocked(text);
            assert!(list.len() > 50);
            for Blocked { name, reason, instead, .. } in list {
                assert!(!name.contains(' ') && !reason.is_empty() && !instead.is_empty(), "{name}");
            }
        }
    }
}
