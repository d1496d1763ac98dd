//! Tools: how a plan's calls of other systems are answered, and how calls are sent after the commit.
//!
//! In its cell `tools.mail.send(…)` is a stub that asks the host. A verb that the owner lists under `reads` is called at
//! once, and what it gave is kept for as long as the run is tried, so that a second try does not call again. Any other
//! verb is noted in the transaction: it is part of what is approved, and [`deliver`] sends it after the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ordain_cell::HostError;
use ordain_store::{SendOutcome, Store, StoreError, Taken, Transaction};
use ordain_tools::{NOTIFY, ToolError, Toolbox};
use ordain_types::{Call, Tool, UndoCall, Verb};
use ordain_verify::claims::Evidence;
use serde_json::{Map, Value, json};

/// Calls that one run may make.
pub(crate) const CALLS_MAX: usize = 100;
/// The kind under which calls of tools are kept in the outbox.
const KIND: &str = "tool";
/// The field by which the place of a result that is not there yet is known.
const HANDLE: &str = "ordain_call";
/// Besides the time of two answers, how long a sender may hold a call.
const LEASE_MORE: Duration = Duration::from_secs(10);

/// What reading calls gave, over all tries of a run.
pub(crate) type Asked = BTreeMap<String, Value>;

/// Answers the tool calls of one plan.
pub(crate) struct Tools<'a> {
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) known: &'a [Tool],
    pub(crate) asked: &'a mut Asked,
}

impl Tools<'_> {
    /// Answers one call: with what it gave, or with a handle for what it will give.
    pub(crate) async fn call(
        &mut self,
        (tool, verb): (&str, &str),
        arguments: &Map<String, Value>,
        transaction: &mut Transaction,
        evidence: &mut Evidence,
    ) -> Result<Value, HostError> {
        let name = format!("{tool}.{verb}");
        let known = self.known.iter().find(|known| known.name == tool);
        let known = known.and_then(|known| Some((known, known.verbs.get(verb)?)));
        let Some((known, offer)) = known else {
            return Err(HostError::new("unknown_tool", format!("there is no tool `{name}`")));
        };
        let Some(Value::Object(given)) = arguments.get("arguments") else {
            return Err(HostError::new("invalid_arguments", "a tool is called with named values"));
        };
        self.check(&name, tool, offer, given)?;
        if transaction.calls().len() >= CALLS_MAX {
            let message = format!("a run may make at most {CALLS_MAX} calls of tools");
            return Err(HostError::new("too_many_calls", message));
        }
        let mut call = self.described(&name, known, verb, given);
        if !offer.reads {
            let n = transaction.note_call(call);
            return Ok(json!({ HANDLE: format!("{}:{n}", transaction.run_id()) }));
        }
        let key = asked_for(&name, &Value::Object(given.clone()));
        let result = if let Some(result) = self.asked.get(&key) {
            result.clone()
        } else {
            let made = self.toolbox.call(tool, verb, given, None).await.map_err(|error| refusal(&error))?;
            self.asked.entry(key).or_insert(made).clone()
        };
        evidence.take(None, &result);
        call.result = Some(result.clone());
        transaction.note_call(call);
        Ok(result)
    }

    fn check(
        &self,
        name: &str,
        tool: &str,
        offer: &Verb,
        given: &Map<String, Value>,
    ) -> Result<(), HostError> {
        if let Some(wrong) = offer.wrong(given) {
            return Err(HostError::new("invalid_arguments", format!("`{name}`: {wrong}")));
        }
        if given.values().any(holds_handle) {
            let message =
                "the result of a call is there after the commit; ask for the next step in a further run";
            return Err(HostError::new("result_not_there", message));
        }
        let text = Value::Object(given.clone()).to_string();
        if let Some(variable) = self.toolbox.secret_in(&text) {
            let message =
                format!("the arguments of `{name}` hold the value of `{variable}`, which is a secret");
            return Err(HostError::new("secret_in_arguments", message));
        }
        let most = self.toolbox.argument_bytes(tool);
        if text.len() as u64 > most {
            let message =
                format!("the arguments of `{name}` are larger than {}", ordain_types::format_bytes(most));
            return Err(HostError::new("arguments_too_large", message));
        }
        Ok(())
    }

    fn described(&self, name: &str, tool: &Tool, verb: &str, given: &Map<String, Value>) -> Call {
        let settings = self.toolbox.settings(&tool.name);
        let by = settings.and_then(|settings| settings.order_by.as_ref()).and_then(|by| given.get(by));
        let back = settings.and_then(|settings| settings.undo.get(verb));
        let undo = back.and_then(|back| {
            let takes = tool.verbs.get(back)?.required.iter().cloned().collect();
            Some(UndoCall { name: format!("{}.{back}", tool.name), takes })
        });
        Call {
            n: 0,
            kind: KIND.to_owned(),
            name: name.to_owned(),
            arguments: Value::Object(given.clone()),
            lane: by.map_or_else(|| tool.name.clone(), |value| format!("{}:{value}", tool.name)),
            undo,
            result: None,
            undoes: None,
            taken_back: None,
        }
    }
}

/// The key under which the result of a reading call is kept.
pub(crate) fn asked_for(name: &str, arguments: &Value) -> String {
    format!("{name} {arguments}")
}

/// Whether one of the calls that code was judged to make waits for the commit.
pub(crate) fn calls_later(known: &[Tool], calls: &BTreeSet<String>) -> bool {
    let reads = |call: &String| {
        let (tool, verb) = call.split_once('.').unwrap_or_default();
        let known = known.iter().find(|known| known.name == tool);
        known.and_then(|known| known.verbs.get(verb)).is_some_and(|verb| verb.reads)
    };
    calls.iter().any(|call| !reads(call))
}

/// Asks what became of the calls of a run that may have arrived, so that undoing it takes back what did.
pub async fn settle_unknown(store: &Store, toolbox: &Toolbox, run: &str) -> Result<(), StoreError> {
    let run = store.run(run).await?.run_id;
    if store.hurry_unknown(&run).await? {
        deliver(store, toolbox).await?;
    }
    Ok(())
}

/// Sends every call that may be sent now, one after the other; how many were tried.
pub async fn deliver(store: &Store, toolbox: &Toolbox) -> Result<usize, StoreError> {
    let lease = toolbox.longest() * 2 + LEASE_MORE;
    let mut tried = 0;
    while let Some(taken) = store.take_call(lease).await? {
        let outcome = send(toolbox, &taken).await;
        store.settle_call(&taken, outcome).await?;
        tried += 1;
    }
    Ok(tried)
}

async fn send(toolbox: &Toolbox, taken: &Taken) -> SendOutcome {
    let Call { kind, name, arguments, .. } = &taken.call;
    let sent = match (kind.as_str(), arguments) {
        (NOTIFY, message) => {
            let name = name.strip_prefix("notify.").unwrap_or(name);
            toolbox.send_results(name, message, &taken.key).await
        }
        (KIND, Value::Object(arguments)) => {
            let (tool, verb) = name.split_once('.').unwrap_or_default();
            toolbox.call(tool, verb, arguments, Some(&taken.key)).await
        }
        (KIND, _) => return SendOutcome::Refused("its arguments are not named values".to_owned()),
        _ => return SendOutcome::Refused(format!("nobody here sends calls of the kind `{kind}`")),
    };
    match sent {
        Ok(result) => SendOutcome::Sent(result),
        Err(error @ ToolError::NoAnswer { .. }) => SendOutcome::Unknown(error.to_string()),
        Err(error @ ToolError::Unreachable { .. }) => SendOutcome::Failed(error.to_string()),
        Err(error @ (ToolError::Refused { .. } | ToolError::Changed { .. })) => {
            SendOutcome::Refused(error.to_string())
        }
    }
}

fn holds_handle(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(HANDLE) || fields.values().any(holds_handle),
        Value::Array(items) => items.iter().any(holds_handle),
        _ => false,
    }
}

fn refusal(error: &ToolError) -> HostError {
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    HostError::new(error.code(), message)
}
