//! One word for each thing, in code and prose.

use super::{Complaint, files::File, text::has_word};

/// What was said once or is said elsewhere, and our word for it.
const RETIRED: [(&str, &str); 11] = [
    ("audit log", "ledger"),
    ("audit trail", "ledger"),
    ("event log", "ledger"),
    ("txn", "transaction"),
    ("sandboxed job", "run"),
    ("code snippet", "code"),
    ("guardrail", "invariant"),
    ("guardrails", "invariants"),
    ("human in the loop", "approval"),
    ("human-in-the-loop", "approval"),
    ("dry run mode", "`--dry-run`"),
];
/// Endings of files in which we speak.
const SPOKEN: [&str; 6] = ["rs", "md", "py", "html", "proto", "toml"];
/// The table above is the one place that names them.
const TABLE: &str = "xtask/src/tidy/words.rs";

/// No file uses a retired word.
pub(super) fn are_ours(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| SPOKEN.contains(&file.ending()) && file.path != TABLE) {
        for (number, line) in file.lines() {
            // Ids such as `TXN001` are data of shops, not words of ours.
            let line = line.replace("TXN", "").to_lowercase();
            for (retired, ours) in RETIRED.iter().filter(|(retired, _)| has_word(&line, retired)) {
                complaints.push(Complaint::new(
                    file,
                    number,
                    format!("says “{retired}”; our word is {ours}"),
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::{super::tests::check, *};

    #[test]
    fn a_retired_word_is_found_in_prose_and_in_code() {
        check(
            are_ours,
            &[
                ("a.md", "The Audit log of runs.\nThe ledger of runs.\n"),
                ("b.rs", "let txn = 1;\nlet txns = 2;\n"),
                ("c.json", "\"audit log\""),
            ],
            &["a.md:1: says “audit log”; our word is ledger", "b.rs:1: says “txn”; our word is transaction"],
        );
    }
}
