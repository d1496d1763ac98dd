//! What asked that a person decides on a change.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Approval;

/// The rule by which a change waits for a person. `Display` names it as the owner wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum HeldBy {
    /// The request itself was sent to be held.
    Request,
    /// `[approval]` of the workspace.
    Workspace {
        /// When changes wait.
        mode: Approval,
    },
    /// An action that was called.
    Action {
        /// The action.
        action: String,
        /// When its changes wait.
        mode: Approval,
    },
    /// A call of a verb that the owner did not allow without approval.
    Tool {
        /// The verb, as `tool.verb`.
        verb: String,
    },
    /// No action covers the change.
    DirectChange,
    /// No reviewer consented to the program, and the workspace wants one to.
    NotReviewed {
        /// Why there is no consent.
        why: String,
    },
    /// The reader, without a model, is not certain of what it understood.
    Reading {
        /// Of what it is not certain.
        doubt: String,
    },
    /// Rows changed during a review, and the change is another one than was reviewed.
    ChangedSinceReview,
    /// The change was approved, and made again on newer rows it is another one.
    ChangedSinceApproval,
}

impl fmt::Display for HeldBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => formatter.write_str("the request itself"),
            Self::Workspace { mode } => write!(formatter, "[approval] mode = \"{mode}\""),
            Self::Action { action, mode } => write!(formatter, "[actions.{action}] approval = \"{mode}\""),
            Self::Tool { verb } => write!(formatter, "a call of tools.{verb}, which `allow` does not list"),
            Self::DirectChange => {
                formatter.write_str("[policy] direct_changes = \"hold\", since no action covers this change")
            }
            Self::NotReviewed { why } => write!(formatter, "[model] review = true: {why}"),
            Self::Reading { doubt } => write!(formatter, "the reader, which is not certain: {doubt}"),
            Self::ChangedSinceReview => {
                formatter.write_str("a difference from the reviewed change, since rows changed meanwhile")
            }
            Self::ChangedSinceApproval => {
                formatter.write_str("a difference from the approved change, made again on newer rows")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_named_as_its_owner_wrote_it_and_reads_back() {
        let action = HeldBy::Action { action: "sell".to_owned(), mode: Approval::AboveRows(3) };
        assert_eq!(action.to_string(), r#"[actions.sell] approval = "rows>3""#);
        let text = serde_json::to_string(&action).unwrap();
        assert_eq!(text, r#"{"rule":"action","action":"sell","mode":"rows>3"}"#);
        assert_eq!(serde_json::from_str::<HeldBy>(&text).unwrap(), action);
        let tool = HeldBy::Tool { verb: "mail.send".to_owned() };
        assert_eq!(tool.to_string(), "a call of tools.mail.send, which `allow` does not list");
    }
}
