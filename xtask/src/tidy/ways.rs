//! What the pages about security say of files and tests is true: the files are there, and the ways around are tried.

use super::{Complaint, files::File};

/// Pages whose files have to be there.
const PAGES: [&str; 3] = ["SECURITY.md", "docs/promises.md", "docs/ways-around.md"];
/// The page with a row for each way around a promise.
const WAYS: &str = "docs/ways-around.md";
/// How many others of its kind stand beside each way that was found.
const VARIANTS_MIN: usize = 2;

/// Every file of the repository's code that the pages name is there.
pub(super) fn name_files(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for page in files.iter().filter(|file| PAGES.contains(&file.path.as_str())) {
        for (number, line) in page.lines() {
            for path in code(line).filter(|code| code.starts_with("crates/") && !code.contains(['*', ' '])) {
                let folder = format!("{path}/");
                if !files.iter().any(|file| file.path == path || file.path.starts_with(&folder)) {
                    complaints.push(Complaint::new(
                        page,
                        number,
                        format!("names `{path}`, which is not there"),
                    ));
                }
            }
        }
    }
    complaints
}

/// Every row has a way that was found and its variants, and each stands in one of the row's files.
pub(super) fn are_tried(files: &[File]) -> Vec<Complaint> {
    let Some(page) = files.iter().find(|file| file.path == WAYS) else { return Vec::new() };
    let rows = page.lines().filter(|(_, line)| line.starts_with("| ")).skip(1);
    rows.flat_map(|(number, line)| row(line, files).into_iter().map(move |what| (number, what)))
        .map(|(number, what)| Complaint::new(page, number, what))
        .collect()
}

/// What is wrong with a row.
fn row(line: &str, files: &[File]) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.replace('\0', "|")).collect();
    let [_, named, first, variants] = &cells[..] else { return vec!["is no row of four cells".to_owned()] };
    let texts: Vec<&str> =
        code(named).filter_map(|path| files.iter().find(|file| file.path == path)?.text.as_deref()).collect();
    let tried = code(first).chain(code(variants));
    let missing = tried.filter(|piece| !texts.iter().any(|text| text.contains(piece)));
    let mut wrong: Vec<String> =
        missing.map(|piece| format!("says `{piece}`, which is in none of its files")).collect();
    if code(first).next().is_none() || code(variants).count() < VARIANTS_MIN {
        wrong.push(format!("needs the way that was found and {VARIANTS_MIN} variants"));
    }
    wrong
}

/// The pieces of code in a line.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    const HEAD: &str = "| what | files | first | variants |\n|---|---|---|---|\n";

    #[test]
    fn a_way_around_without_two_variants_or_without_its_tests_is_noticed() {
        let page = |row: &str| format!("{HEAD}{row}\n");
        let tests = ("crates/a.rs", "fn first() fn other() x || y");
        let good = page("| a | `crates/a.rs` | `first` | `other`, `x \\|\\| y` |");
        check(are_tried, &[(WAYS, &good), tests], &[]);
        let gone = page("| a | `crates/a.rs` | `first` | `other`, `third` |");
        let said = "docs/ways-around.md:3: says `third`, which is in none of its files";
        check(are_tried, &[(WAYS, &gone), tests], &[said]);
        let few = page("| a | `crates/a.rs` | `first` | `other` |");
        let said = "docs/ways-around.md:3: needs the way that was found and 2 variants";
        check(are_tried, &[(WAYS, &few), tests], &[said]);
    }

    #[test]
    fn a_page_that_names_a_file_which_is_not_there_is_noticed() {
        let page = "held by `crates/a.rs` and `crates/b`, `crates/gone.rs`";
        let files = [("SECURITY.md", page), ("crates/a.rs", ""), ("crates/b/src/lib.rs", "")];
        check(name_files, &files, &["SECURITY.md:1: names `crates/gone.rs`, which is not there"]);
    }
}
