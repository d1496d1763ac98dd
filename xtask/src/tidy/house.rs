//! How large the house is: a page with the lines of each crate, so that growth is seen in a diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::files::File;

/// Where the page is.
pub(super) const PAGE: &str = "docs/house.md";
/// Crates that nobody gets with the program.
const UNSHIPPED: [&str; 2] = ["bench", "testkit"];
/// Sizes are said in steps of so many lines: a small change leaves the page, and the work of others on it, alone.
const STEP: usize = 500;

/// The page as it should be.
pub(super) fn page(files: &[File]) -> String {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.ending() == "rs") {
        let Some((folder, path)) =
            file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if path != "tests.rs" && !path.ends_with("/tests.rs") && !path.contains("/tests/") {
            *sizes.entry(folder).or_default() += lines(file);
        }
    }
    let mut page = String::from(
        "# The house\n\nLines of Rust in `src` without tests, in steps of 500. `cargo xtask tidy` writes this page.\n\n\
         | crate | lines |\n|---|---|\n",
    );
    let (unshipped, shipped): (Vec<_>, Vec<_>) =
        sizes.into_iter().partition(|(name, _)| UNSHIPPED.contains(name));
    let total = shipped.iter().map(|(_, lines)| lines).sum();
    for (name, lines) in shipped {
        let _ = writeln!(page, "| `{name}` | {} |", rounded(lines));
    }
    let _ = writeln!(page, "| **shipped together** | **{}** |", rounded(total));
    for (name, lines) in unshipped {
        let _ = writeln!(page, "| `{name}` (development only) | {} |", rounded(lines));
    }
    page
}

/// The lines of a file without its tests.
fn lines(file: &File) -> usize {
    let mut lines = file.lines().map(|(_, line)| line.trim()).peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            count += 1;
        } else if !lines.next().is_some_and(|tests| tests.ends_with(';')) {
            // A module of tests comes last.
            break;
        }
    }
    count
}

fn rounded(lines: usize) -> String {
    let lines = lines.div_ceil(STEP) * STEP;
    match (lines / 1000, lines % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_what_is_shipped_without_tests() {
        let file = |path: &str, text: String| File { path: path.into(), text: Some(text) };
        let files = [
            file("crates/store/src/a.rs", "#[cfg(test)]\nmod tests;\n".to_owned() + &"x\n".repeat(501)),
            file("crates/store/src/b.rs", "#[cfg(test)]\nmod tests {\n".to_owned() + &"x\n".repeat(900)),
            file("crates/store/src/a/tests.rs", "x\n".repeat(900)),
            file("crates/store/tests/it/main.rs", "x\n".repeat(900)),
            file("crates/bench/src/main.rs", "x\n".repeat(10)),
        ];
        let page = page(&files);
        assert!(page.contains("| `store` | 1,000 |\n| **shipped together** | **1,000** |"), "{page}");
        assert!(page.contains("| `bench` (development only) | 500 |"), "{page}");
    }
}
