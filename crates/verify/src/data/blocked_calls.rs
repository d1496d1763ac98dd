//! Functions that code may not call, each with its reason and the way out.

use std::sync::LazyLock;

use super::{Blocked, blocked};
use crate::contract::Contract;

/// A builtin has no dot. A trailing `*` stands for any ending.
static LIST: LazyLock<Vec<Blocked>> = LazyLock::new(|| blocked(include_str!("blocked_calls.txt")));

/// The entry that blocks a function, if one does: a builtin by its name, one of a module by its dotted name.
pub(crate) fn blocking(path: &str, contract: Contract) -> Option<&'static Blocked> {
    let covers = |name: &str| name.strip_suffix('*').map_or(path == name, |start| path.starts_with(start));
    LIST.iter().find(|entry| covers(entry.name) && entry.holds(contract))
}
