//! Actions: the verbs that a workspace declares, each with a grant for its own tables.
//!
//! A plan calls `sell(item=…)`; in its cell that name is a stub that asks the host. The host runs the owner's function in
//! a second cell, with the values as JSON. So what a plan can change through an action is what the owner wrote, whatever
//! the plan's code does. A plan of the reader's is Ordain's own code: the host lets its cell run the function, with the
//! same grant until the stub says that it is done, and saves the second cell.

use std::fmt::Write as _;

use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Executor, HostError, Job};
use ordain_store::{StoreError, Transaction};
use ordain_types::{Action, Approval, Catalog, Cause, Schema};
use ordain_verify::claims::Evidence;
use ordain_verify::{Contract, Policy, VerifiedCode, verify};
use serde_json::{Map, Value};

use crate::engine::EngineSettings;
use crate::grant::Grant;
use crate::host::TransactionHost;

/// The call by which a stub reaches the host.
pub(crate) const CALL: &str = "action.run";
/// The call by which a stub says what came of an action that its own cell ran.
pub(crate) const DONE: &str = "action.done";
/// What an action's program gives back.
const RESULT: &str = "action_result";
/// Calls of actions that one run may make.
const CALLS_MAX: usize = 1_000;

/// What the host needs to run actions.
#[derive(Clone, Copy)]
pub(crate) struct Actions<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) settings: &'a EngineSettings,
    pub(crate) schema: &'a Schema,
    /// Whether they run in the plan's own cell.
    pub(crate) share_cell: bool,
}

/// What the actions of a run came to.
#[derive(Debug, Default)]
pub(crate) struct Acted {
    calls: usize,
    /// The status of the first action that was not carried out.
    pub(crate) refused: Option<String>,
    /// When the changes of each wait for a person.
    pub(crate) approvals: Vec<(String, Approval)>,
    /// What the actions that were carried out say of themselves, in their owner's words.
    pub(crate) said: Vec<String>,
}

impl Acted {
    /// What came of an action that its plan's own cell ran.
    pub(crate) fn done(&mut self, name: &str, done: &Map<String, Value>) -> Result<Value, HostError> {
        match done.get("error").and_then(Value::as_str) {
            Some(said) => Err(failed(name, said)),
            None => self.note(name, done.get("result").cloned().unwrap_or_default()),
        }
    }

    /// Notes what an action says of itself.
    fn note(&mut self, name: &str, result: Value) -> Result<Value, HostError> {
        match (result["text"].as_str(), result["status"].as_str()) {
            (Some(text), Some("success")) => self.said.push(text.to_owned()),
            (Some(_), Some(status)) => {
                self.refused = self.refused.take().or_else(|| Some(status.to_owned()));
            }
            _ => {
                let message = format!("the action `{name}` gave back no dictionary with `text` and `status`");
                return Err(HostError::new("action_failed", message));
            }
        }
        Ok(result)
    }
}

fn failed(name: &str, said: &str) -> HostError {
    HostError::new("action_failed", format!("the action `{name}` failed: {said}"))
}

/// Why an action gave nothing back.
pub(crate) enum Stop {
    /// The plan gets an error.
    Refused(HostError),
    /// The store failed; the run cannot go on.
    Store(StoreError),
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        Self::Refused(error)
    }
}

/// The helpers with a stub in the place of each action.
pub(crate) fn stubbed(helpers: &str, catalog: &Catalog) -> String {
    let mut source = helpers.to_owned();
    for action in &catalog.actions {
        let name = &action.name;
        let _ = write!(
            source,
            "\n\ndef {name}(*args, _function={name}, **named):\n    return db.act(\"{name}\", _function, args, named)\n",
        );
    }
    source
}

impl<'a> Actions<'a> {
    /// Permits a call: the action that is meant, and the values that it is called with.
    pub(crate) fn permit(
        self,
        arguments: &Map<String, Value>,
        acted: &mut Acted,
    ) -> Result<(&'a Action, Map<String, Value>), HostError> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(action) = self.settings.catalog.actions.iter().find(|action| action.name == name) else {
            return Err(HostError::new("unknown_action", "there is no action of that name"));
        };
        acted.calls += 1;
        if acted.calls > CALLS_MAX {
            let message = format!("a run may call at most {CALLS_MAX} actions");
            return Err(HostError::new("too_many_actions", message));
        }
        if let Some(table) = self.unseen_table(action) {
            let message = format!("`{name}` uses table `{table}`, which this caller may not see");
            return Err(HostError::new("not_permitted", message));
        }
        let params = params(action, arguments.get("params"))?;
        acted.approvals.push((action.name.clone(), action.approval));
        Ok((action, params))
    }

    /// Runs one action in a cell of its own, in the plan's transaction.
    pub(crate) async fn run(
        self,
        action: &Action,
        params: Map<String, Value>,
        transaction: &mut Transaction,
        evidence: &mut Evidence,
        acted: &mut Acted,
    ) -> Result<Value, Stop> {
        let name = action.name.as_str();
        let job = self.job(action, params).map_err(|message| HostError::new("action_refused", message))?;
        transaction.acts_as(Some(name));
        let mut host = TransactionHost::new(transaction, self.grant(action), evidence, None);
        let execution = self.executor.run(job, &mut host, &mut Discard).await;
        let failure = host.take_failure();
        transaction.acts_as(None);
        if let Some(failure) = failure {
            return Err(Stop::Store(failure));
        }
        let execution = execution.map_err(|error| HostError::new("action_failed", error.to_string()))?;
        if execution.cause != Cause::Ok {
            let said = execution.error.as_ref().map(|raised| format!("{}: {}", raised.kind, raised.message));
            let said = said.unwrap_or_else(|| execution.cause.as_str().to_owned());
            return Err(failed(name, &said).into());
        }
        let result = execution.values.get(RESULT).cloned().unwrap_or_default();
        Ok(acted.note(name, result)?)
    }

    /// The first declared table that the action uses and that the caller does not see.
    fn unseen_table(&self, action: &Action) -> Option<&str> {
        let used = &self.settings.helpers.rests_on(&action.name).tables;
        let is_seen = |name: &str| self.schema.table(name).is_some_and(|table| !table.hidden);
        let mut declared = self.settings.catalog.tables.keys().map(String::as_str);
        declared.find(|name| used.contains(*name) && !is_seen(name))
    }

    /// Any visible table may be read, and the action's own written.
    pub(crate) fn grant(&self, action: &Action) -> Grant {
        if !action.writes.is_empty() {
            return Grant::writing(&action.writes);
        }
        let used = &self.settings.helpers.rests_on(&action.name).tables;
        let tables = self.schema.tables.iter().map(|table| &table.name);
        Grant::writing(&tables.filter(|name| used.contains(*name)).cloned().collect::<Vec<_>>())
    }

    fn job(&self, action: &Action, params: Map<String, Value>) -> Result<Job, String> {
        let mut job = Job::new(self.code(action)?, Profile::Core);
        "action.py".clone_into(&mut job.name);
        job.limits = self.settings.limits.clone();
        job.is_within = true;
        job.values.insert("params".to_owned(), Value::Object(params));
        job.tables =
            self.schema.tables.iter().filter(|table| !table.hidden).map(|table| table.name.clone()).collect();
        self.settings.helpers.source().clone_into(&mut job.helpers);
        job.collect = vec![RESULT.to_owned()];
        Ok(job)
    }

    /// The program of an action: one call of the owner's function.
    fn code(&self, action: &Action) -> Result<VerifiedCode, String> {
        let mut policy = Policy::for_contract(Contract::Exec);
        policy.names.push("params".to_owned());
        policy.helpers = self.settings.helpers.known().to_vec();
        let code = format!("{RESULT} = {}(**params)\n", action.name);
        let verdict = verify(&code, &policy, self.schema);
        let finding = || verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        verdict.verified().cloned().ok_or_else(finding)
    }
}

/// The values that an action is called with: those that it declares, defaults filled in, and no other.
fn params(action: &Action, given: Option<&Value>) -> Result<Map<String, Value>, HostError> {
    let wrong = |message: String| Err(HostError::new("invalid_params", message));
    let Some(Value::Object(given)) = given else {
        return wrong("an action is called with named values".to_owned());
    };
    if let Some(name) = given.keys().find(|name| !action.params.contains_key(*name)) {
        return wrong(format!("`{}` takes no `{}`", action.name, name.chars().take(40).collect::<String>()));
    }
    let mut params = Map::new();
    for (name, param) in &action.params {
        let value = given.get(name).filter(|value| !value.is_null()).or(param.default.as_ref());
        let Some(value) = value else { return wrong(format!("`{}` needs `{name}`", action.name)) };
        let is_outside = value.as_f64().is_some_and(|number| {
            param.min.is_some_and(|min| number < min) || param.max.is_some_and(|max| number > max)
        });
        let is_count = param.kind == Some(ordain_types::ParamKind::Count);
        if is_outside || (is_count && !value.is_i64() && !value.is_u64()) {
            return wrong(format!("`{name}` of `{}` may not be {value}", action.name));
        }
        params.insert(name.clone(), value.clone());
    }
    Ok(params)
}
