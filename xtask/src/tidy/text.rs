//! Rules for the text of any file.

use super::{Complaint, files::File};
use crate::step::root;

/// Endings of files that people read and edit.
const WRITTEN: [&str; 12] =
    ["rs", "py", "md", "toml", "js", "mjs", "ts", "css", "html", "proto", "sh", "sql"];
/// A longer file has two ideas in it.
const LINES_MAX: usize = 1000;
/// What someone meant to come back to. Each is split, so that this file is not a finding itself.
const MARKERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("dbg", "!("),
];
/// Where people keep their own files.
const HOMES: [&str; 2] = [concat!("/ho", "me/"), concat!("/Us", "ers/")];
/// Names that stand for anyone's folder in documentation and tests.
const ANYONE: [&str; 4] = ["user", "you", "someone", "ordain"];
/// Programs that try to read other people's files name them.
const ATTACKS: &str = "crates/cell/tests/attacks/";

/// No file is longer than one idea.
pub(super) fn is_short(files: &[File]) -> Vec<Complaint> {
    let long = |file: &File| {
        let count = file.lines().count();
        (count > LINES_MAX).then(|| Complaint::new(file, 0, format!("has {count} lines, over {LINES_MAX}")))
    };
    written(files).filter_map(long).collect()
}

/// No blanks at line ends, one line break at the end of the file.
pub(super) fn ends_clean(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in written(files) {
        // Two blanks break a line in Markdown, but nobody sees them.
        for (number, _) in file.lines().filter(|(_, line)| line.ends_with([' ', '\t', '\r'])) {
            complaints.push(Complaint::new(file, number, "has blanks at the end of the line"));
        }
        let text = file.text.as_deref().unwrap_or("");
        if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
            complaints.push(Complaint::new(file, 0, "does not end with exactly one line break"));
        }
    }
    complaints
}

/// Nothing is left to come back to: it is done, or it is an issue.
pub(super) fn has_no_leftover_marker(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in written(files) {
        for (number, line) in file.lines() {
            for marker in MARKERS.iter().filter(|marker| has_word(line, marker)) {
                complaints.push(Complaint::new(file, number, format!("has a leftover marker: {marker}")));
            }
        }
    }
    complaints
}

/// No file knows where somebody's checkout or home folder is.
pub(super) fn names_no_local_path(files: &[File]) -> Vec<Complaint> {
    let root = root().to_string_lossy();
    // A checkout right below the file system's root has too short a path to look for.
    let root = (root.matches('/').count() > 1).then_some(&*root);
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with(ATTACKS)) {
        for (number, line) in file.lines() {
            let local = root.filter(|root| line.contains(root)).map(str::to_owned).or_else(|| home(line));
            if let Some(local) = local {
                complaints.push(Complaint::new(file, number, format!("names a local path: {local}")));
            }
        }
    }
    complaints
}

/// A sum such as `$100` in a command that people copy is safe from the shell: between double quotes it becomes `00`.
pub(super) fn quotes_sums_for_the_shell(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in written(files) {
        for (number, line) in file.lines() {
            let command = line.split_once("ordain ").map_or("", |(_, command)| command);
            let is_open = |text: &str| text.matches('"').count() % 2 == 1;
            let is_sum = |(at, _): (usize, &str)| {
                command[at + 1..].starts_with(|c: char| c.is_ascii_digit()) && is_open(&command[..at])
            };
            if command.match_indices('$').any(is_sum) {
                complaints.push(Complaint::new(
                    file,
                    number,
                    "has a sum between double quotes in a command; use single ones",
                ));
            }
        }
    }
    complaints
}

/// Somebody's home folder in the line.
fn home(line: &str) -> Option<String> {
    HOMES.iter().find_map(|homes| {
        let name: String = line.split_once(homes)?.1.chars().take_while(|c| c.is_alphanumeric()).collect();
        (!name.is_empty() && !ANYONE.contains(&name.as_str())).then(|| format!("{homes}{name}"))
    })
}

/// Whether the word stands in the line with no letter, digit or underscore right beside it.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let after = &line[at + word.len()..];
        let ends_open = word.ends_with(|c: char| !c.is_alphanumeric());
        !is_part(line[..at].chars().next_back()) && (ends_open || !is_part(after.chars().next()))
    })
}

fn written(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| WRITTEN.contains(&file.ending()))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::check, *};

    #[test]
    fn a_long_file_is_found_unless_it_is_made_by_a_program() {
        let long = "x\n".repeat(1001);
        check(
            is_short,
            &[("a.rs", &long), ("b.rs", &long[2..]), ("requirements.txt", &long)],
            &["a.rs: has 1001 lines, over 1000"],
        );
    }

    #[test]
    fn blanks_at_line_ends_and_a_missing_last_break_are_found() {
        check(
            ends_clean,
            &[("a.md", "one \ntwo\t\nthree\n"), ("b.md", "one"), ("c.md", "one\n\n"), ("d.md", "")],
            &[
                "a.md:1: has blanks at the end of the line",
                "a.md:2: has blanks at the end of the line",
                "b.md: does not end with exactly one line break",
                "c.md: does not end with exactly one line break",
            ],
        );
    }

    #[test]
    fn leftover_markers_are_found_as_whole_words() {
        let (first, second) = (MARKERS[1], MARKERS[3]);
        let text = format!("// {first}: later\n    {second})\nmy_{second})\n/tmp/XXXXXX\n");
        check(
            has_no_leftover_marker,
            &[("a.rs", &text)],
            &[
                &format!("a.rs:1: has a leftover marker: {first}"),
                &format!("a.rs:2: has a leftover marker: {second}"),
            ],
        );
    }

    #[test]
    fn a_sum_that_the_shell_would_eat_is_found() {
        let quoted = |quote: &str| format!("ordain ask {quote}under ${}{quote}\n", 100);
        check(
            quotes_sums_for_the_shell,
            &[("a.md", &quoted("\"")), ("b.rs", &quoted("\\\"")), ("c.md", &quoted("'"))],
            &[
                "a.md:1: has a sum between double quotes in a command; use single ones",
                "b.rs:1: has a sum between double quotes in a command; use single ones",
            ],
        );
    }

    #[test]
    fn a_path_of_somebodys_machine_is_found() {
        let home = HOMES[0];
        let here = root().to_string_lossy().into_owned();
        let text = format!("cd {here}/crates\n{home}marie/x\n{home}user/x\n{home}\n");
        check(
            names_no_local_path,
            &[("a.md", &text), ("crates/cell/tests/attacks/a.py", &text)],
            &[
                &format!("a.md:1: names a local path: {here}"),
                &format!("a.md:2: names a local path: {home}marie"),
            ],
        );
    }
}
