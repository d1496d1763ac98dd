//! What a model says of an owner's policy, as one who would have to follow it.

use serde_json::Value;

use crate::prompt::{self, text};

const OPINIONS_MAX: usize = 10;
const PROBLEM_CHARS_MAX: usize = 400;

/// What a model says of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyOpinion {
    /// The line of the policy that the rule stands on.
    pub line: usize,
    /// What kind of problem it sees.
    pub kind: PolicyProblem,
    /// What it says.
    pub problem: String,
    /// What it would write instead.
    pub hint: String,
}

/// What can be wrong with a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyProblem {
    /// No program can follow it.
    CannotBeFollowed,
    /// It contradicts another one.
    Contradicts,
    /// It does not say what requests need.
    LeavesOpen,
}

/// The opinions in a reply. What names no rule of the policy, or says nothing, is left out.
pub(crate) fn opinions(reply: &Value, policy: &str) -> Vec<PolicyOpinion> {
    let lines = prompt::rule_lines(policy);
    let found = reply["findings"].as_array().into_iter().flatten().filter_map(|found| {
        let rule = usize::try_from(found["rule"].as_u64()?).ok()?.checked_sub(1)?;
        let said = |name: &str| text::line(found[name].as_str().unwrap_or_default(), PROBLEM_CHARS_MAX);
        let kind = match found["kind"].as_str()? {
            "cannot_be_followed" => PolicyProblem::CannotBeFollowed,
            "contradicts" => PolicyProblem::Contradicts,
            "leaves_open" => PolicyProblem::LeavesOpen,
            _ => return None,
        };
        let opinion =
            PolicyOpinion { line: *lines.get(rule)?, kind, problem: said("problem"), hint: said("hint") };
        (!opinion.problem.trim().is_empty()).then_some(opinion)
    });
    found.take(OPINIONS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_opinion_is_about_a_line_of_the_policy_and_others_are_left_out() {
        let policy = "# Rules\n\n1. Sell.\n\n2. Be kind.\n";
        let reply = json!({ "findings": [
            { "rule": 2, "kind": "leaves_open", "problem": "kind to whom?", "hint": "say it" },
            { "rule": 9, "kind": "leaves_open", "problem": "there is no such rule" },
            { "rule": 1, "kind": "style", "problem": "short" },
            { "rule": 1, "kind": "contradicts", "problem": " " },
            { "rule": 0, "kind": "contradicts", "problem": "x" },
            "nonsense",
        ]});
        let found = opinions(&reply, policy);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].line, found[0].problem.as_str()), (5, "kind to whom?"));
        assert_eq!(opinions(&json!({}), policy), []);
    }
}
