//! Calls: what a run says to the world outside of the tables.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of a run. A call that reads is made while the plan runs; one that changes something waits in the outbox
/// until the run is committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Call {
    /// Its place in the run, from one. With the run's id it is the key under which it is sent.
    pub n: u32,
    /// Who carries it: `tool`.
    pub kind: String,
    /// What is called, such as `mail.send`.
    pub name: String,
    /// The named values that it is called with.
    pub arguments: Value,
    /// Calls with the same one are sent one after the other, in the order of their commits.
    pub lane: String,
    /// What takes it back, where its owner named something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoCall>,
    /// What a call gave that was made while the plan ran. A call without it waits for the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The call that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u32>,
    /// What became of it when the run was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<TakenBack>,
}

/// What takes a call back: values of these names are taken from what the call gave, else from what it was called with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UndoCall {
    /// What is called, such as `mail.recall`.
    pub name: String,
    /// The values that it needs.
    pub takes: Vec<String>,
}

/// What became of a call when its run was undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenBack {
    /// It had not been sent, and never will be.
    Cancelled,
    /// Another call takes it back.
    Compensated,
    /// It was sent, or may have been, and nothing takes it back.
    Final,
}

impl Call {
    /// Whether it waits for the commit.
    pub fn is_later(&self) -> bool {
        self.result.is_none()
    }

    /// The call that takes this one back, if its values are known.
    pub fn compensation(&self, n: u32, result: &Value) -> Option<Self> {
        let undo = self.undo.as_ref()?;
        let value = |name: &String| {
            let found = result.get(name).or_else(|| self.arguments.get(name))?;
            Some((name.clone(), found.clone()))
        };
        let arguments = undo.takes.iter().map(value).collect::<Option<serde_json::Map<_, _>>>()?;
        Some(Self {
            n,
            kind: self.kind.clone(),
            name: undo.name.clone(),
            arguments: Value::Object(arguments),
            lane: self.lane.clone(),
            undo: None,
            result: None,
            undoes: Some(self.n),
            taken_back: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_compensation_takes_its_values_from_the_result_then_from_the_call() {
        let undo = UndoCall { name: "mail.recall".to_owned(), takes: vec!["id".to_owned(), "to".to_owned()] };
        let call = Call {
            n: 1,
            kind: "tool".to_owned(),
            name: "mail.send".to_owned(),
            arguments: json!({ "to": "alice", "id": "mine" }),
            lane: "mail".to_owned(),
            undo: Some(undo),
            result: None,
            undoes: None,
            taken_back: None,
        };
        let back = call.compensation(2, &json!({ "id": "theirs" })).unwrap();
        assert_eq!((back.arguments, back.undoes), (json!({ "id": "theirs", "to": "alice" }), Some(1)));
        let mut poor = call;
        poor.arguments = json!({});
        assert_eq!(poor.compensation(2, &json!({ "id": "x" })), None);
    }
}
