//! The names that Python defines without an import.

pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok() || MODULE_NAMES.contains(&name)
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    NAMES.iter().copied()
}

/// Names that every module has.
const MODULE_NAMES: &[&str] = &[
    "__name__",
    "__file__",
    "__doc__",
    "__package__",
    "__loader__",
    "__spec__",
    "__builtins__",
    "__debug__",
    "__import__",
    "__build_class__",
    "__annotations__",
    "__dict__",
    "__path__",
];

/// Everything in `builtins` from 3.10 to 3.14, sorted.
const NAMES: &[&str] = words!("builtins.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(NAMES.is_sorted());
        assert!(is_builtin("print") && is_builtin("__name__") && !is_builtin("pandas"));
    }
}
