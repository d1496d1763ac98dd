//! Helpers that every workspace has, unless its owner wrote others under their names.

const SOURCE: &str = include_str!("../python/built_in.py");

/// The owner's helpers, and ours behind them where the names are free.
pub(super) fn completed(mut helpers: String) -> String {
    // A file that is not Python is reported where it is judged, with its own lines.
    let Ok(known) = ordain_verify::helpers_of(&helpers) else { return helpers };
    for function in SOURCE.split("\n\n\n") {
        let name = function.trim_start_matches("def ").split('(').next().unwrap_or_default();
        if !known.iter().any(|helper| helper.name == name) {
            if !helpers.is_empty() {
                helpers.push_str("\n\n");
            }
            helpers.push_str(function.trim_end());
            helpers.push('\n');
        }
    }
    helpers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_s_helpers_come_before_ours() {
        let own = "def now():\n    return 'noon'\n".to_owned();
        let helpers = completed(own);
        assert!(helpers.starts_with("def now():\n    return 'noon'\n\n\ndef next_id(table)"), "{helpers}");
        assert_eq!(helpers.matches("def now(").count(), 1);
        assert_eq!(completed(String::new()).matches("def ").count(), 2);
        assert_eq!(completed("def (".to_owned()), "def (");
    }
}
