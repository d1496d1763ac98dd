//! What a model says of an owner's policy, as one who would have to follow it.

use serde_json::Value;

use crate::policy_check::PolicyFinding;
use crate::prompt::{self, text};

const OPINIONS_MAX: usize = 10;
const PROBLEM_CHARS_MAX: usize = 400;

/// The opinions in a reply. What names no rule of the policy, or says nothing, is left out.
pub(crate) fn opinions(reply: &Value, policy: &str) -> Vec<PolicyFinding> {
    let lines = prompt::rule_lines(policy);
    let found = reply["findings"].as_array().into_iter().flatten().filter_map(|found| {
        let rule = usize::try_from(found["rule"].as_u64()?).ok()?.checked_sub(1)?;
        let said = |name: &str| text::line(found[name].as_str().unwrap_or_default(), PROBLEM_CHARS_MAX);
        let code = match found["kind"].as_str()? {
            "cannot_be_followed" => "cannot-be-followed",
            "contradicts" => "contradicts",
            "leaves_open" => "leaves-open",
            _ => return None,
        };
        let (line, message, hint) = (Some(*lines.get(rule)?), said("problem"), said("hint"));
        (!message.trim().is_empty()).then_some(PolicyFinding { code, line, message, hint })
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
        assert_eq!((found[0].line, found[0].message.as_str()), (Some(5), "kind to whom?"));
        assert_eq!(opinions(&json!({}), policy), []);
    }
}
