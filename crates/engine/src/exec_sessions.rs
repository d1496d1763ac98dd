//! What earlier code of a session defined, so that later code is judged with it.
//!
//! A session's code comes piece by piece, and each piece is judged alone. Names that an earlier piece set are given to
//! the verifier as names that are there. Imports are judged again together with the new code, because what a module's
//! member may do is known only beside its import.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use ordain_types::Schema;
use ordain_verify::{Policy, Severity, Verdict, glance, verify};

/// Sessions that are remembered; the code of others needs its names and imports anew.
const SESSIONS_MAX: usize = 1000;
/// Names and imports of one session.
const NAMES_MAX: usize = 2000;

/// The sessions of given code, by their whole names.
#[derive(Debug, Default)]
pub(crate) struct ExecSessions(Mutex<HashMap<String, Defined>>);

/// What a session's code has defined so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defined {
    names: BTreeSet<String>,
    /// Import statements as they stood, each once.
    imports: Vec<String>,
    /// The names that they set.
    imported: BTreeSet<String>,
}

impl ExecSessions {
    /// What a session has defined.
    pub(crate) fn of(&self, session: Option<&str>) -> Defined {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        session.and_then(|session| all.get(session)).cloned().unwrap_or_default()
    }

    /// Adds what code defines that ran in a session. A piece that failed half-way may have defined it all the same.
    pub(crate) fn ran(&self, session: &str, code: &str) {
        let Some(seen) = glance(code) else { return };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SESSIONS_MAX && !all.contains_key(session) {
            all.clear();
        }
        let defined = all.entry(session.to_owned()).or_default();
        for import in seen.imports {
            if defined.imports.len() < NAMES_MAX && !defined.imports.contains(&import) {
                defined.imports.push(import);
            }
        }
        let room = NAMES_MAX.saturating_sub(defined.names.len());
        defined.names.extend(seen.assigned.into_iter().chain(seen.defined).take(room));
        defined.imported.extend(seen.imported.into_iter().take(room));
    }

    /// Forgets a session that has ended.
    pub(crate) fn ended(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

impl Defined {
    /// Every name that the session has.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.names.iter().chain(&self.imported).cloned()
    }

    /// The verdict on the next piece of code.
    pub(crate) fn judge(&self, code: &str, mut policy: Policy) -> Verdict {
        policy.names.extend(self.names.iter().cloned());
        if self.imports.is_empty() {
            return verify(code, &policy, &Schema::default());
        }
        let before = self.imports.join("\n");
        let lines = before.lines().count();
        let mut together = verify(&format!("{before}\n{code}"), &policy, &Schema::default());
        if !together.is_accepted() {
            together.findings.retain(|finding| finding.line > lines);
            for finding in &mut together.findings {
                (finding.line, finding.end_line) =
                    (finding.line - lines, finding.end_line.saturating_sub(lines));
                // It was made for the text with the imports before it.
                finding.edit = None;
            }
            if together.findings.iter().any(|finding| finding.severity == Severity::Error) {
                return together;
            }
        }
        policy.names.extend(self.imported.iter().cloned());
        verify(code, &policy, &Schema::default())
    }
}
