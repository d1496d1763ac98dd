//! Modules that code may not import, each with its reason and the way out.

use std::sync::LazyLock;

use super::{Blocked, blocked};

/// Everything below a module is blocked too.
static LIST: LazyLock<Vec<Blocked>> = LazyLock::new(|| blocked(include_str!("blocked_imports.txt")));

/// The entry that blocks a dotted module name, if one does.
pub(crate) fn blocking(module: &str) -> Option<&'static Blocked> {
    LIST.iter().find(|entry| is_below(module, entry.name))
}

/// Whether `module` is `root` or lies below it.
pub(crate) fn is_below(module: &str, root: &str) -> bool {
    module.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_covers_what_lies_below_and_nothing_beside() {
        assert!(blocking("urllib.request").is_some());
        assert!(blocking("http.client").is_some());
        assert!(blocking("urllib.parse").is_none());
        assert!(blocking("codecs").is_none(), "`code` is not a prefix of names");
        assert!(blocking("sha").is_none());
    }
}
