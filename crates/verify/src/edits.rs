//! Applies the edits that findings carry.

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Replacement};
use crate::finding_code::FindingCode;
use crate::verdict::Verdict;

/// How often edits are applied to one piece of code: one may bring another finding to light, but not for long.
const FIXES_MAX: usize = 5;

/// One change that was made to the code, as a run's record lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modification {
    /// The finding that it puts right.
    pub code: FindingCode,
    /// The line of that finding before the change.
    pub line: usize,
    /// What was done: "import `re`".
    pub title: String,
}

/// Applies every edit that the findings carry, and says what was done.
///
/// An edit that would touch text which an earlier one has changed is left for another round: judge the new code
/// again and apply again. The result is a suggestion like any other code and needs its own verdict.
pub fn apply_edits(code: &str, findings: &[Finding]) -> (String, Vec<Modification>) {
    let mut chosen: Vec<&Replacement> = Vec::new();
    let mut modifications = Vec::new();
    for finding in findings {
        let Some(edit) = &finding.edit else { continue };
        let fits = edit.replacements.iter().all(|new| {
            code.get(new.start..new.end).is_some() && chosen.iter().all(|old| new == *old || apart(old, new))
        });
        if !fits || edit.replacements.is_empty() {
            continue;
        }
        for new in &edit.replacements {
            if !chosen.contains(&new) {
                chosen.push(new);
            }
        }
        let modification = Modification { code: finding.code, line: finding.line, title: edit.title.clone() };
        if !modifications.contains(&modification) {
            modifications.push(modification);
        }
    }
    chosen.sort();
    let mut fixed = String::with_capacity(code.len() + 64);
    let mut at = 0;
    for replacement in chosen {
        fixed.push_str(&code[at..replacement.start]);
        fixed.push_str(&replacement.text);
        at = replacement.end;
    }
    fixed.push_str(&code[at..]);
    (fixed, modifications)
}

/// Code after every change that its findings are certain of.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The code.
    pub code: String,
    /// The verdict on it.
    pub verdict: Verdict,
    /// What was changed.
    pub modifications: Vec<Modification>,
}

/// Judges code, applies the edits that the verdict carries and judges it again, until there is nothing more to apply.
pub fn fixed(code: String, judge: impl Fn(&str) -> Verdict) -> Fixed {
    let verdict = judge(&code);
    let mut fixed = Fixed { code, verdict, modifications: Vec::new() };
    for _ in 0..FIXES_MAX {
        let (code, made) = apply_edits(&fixed.code, &fixed.verdict.findings);
        if made.is_empty() {
            break;
        }
        fixed.verdict = judge(&code);
        fixed.code = code;
        fixed.modifications.extend(made);
    }
    fixed
}

/// Whether two replacements touch different text. Two insertions at one place may both stand.
fn apart(left: &Replacement, right: &Replacement) -> bool {
    let are_insertions = left.start == left.end && right.start == right.end;
    are_insertions || left.end <= right.start || right.end <= left.start
}
