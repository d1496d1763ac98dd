//! Actions: the verbs that a workspace declares, each with its own tables.
//!
//! A plan calls `sell(item=…)`; in its cell that name is a stub that asks the host. The host runs the owner's function in
//! a second cell, with the values as JSON. So what a plan can change through an action is what the owner wrote, whatever
//! the plan's code does. A plan of the reader's is Ordain's own code: the host lets its cell run the function, with the
//! same list of what it may reach until the stub says that it is done, and saves the second cell.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Executor, HostError, Job};
use ordain_store::{Call as TableCall, Reply, StoreError, Transaction};
use ordain_types::{Action, Approval, Catalog, Cause, Param, ParamKind, Schema};
use ordain_verify::claims::Evidence;
use ordain_verify::{Contract, Policy, VerifiedCode, verify};
use serde_json::{Map, Value, json};

use crate::capabilities::{Capabilities, NOT_GRANTED};
use crate::engine::EngineSettings;
use crate::host::TransactionHost;

/// What an action's program gives back.
const RESULT: &str = "action_result";
/// Refused calls that a record lists.
const REFUSALS_MAX: usize = 8;
/// Calls of actions that one run may make.
const CALLS_MAX: usize = 1_000;

/// What the host needs to run actions.
#[derive(Clone)]
pub(crate) struct Actions<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) settings: &'a EngineSettings,
    pub(crate) schema: &'a Schema,
    /// The tables that they may read, where the plan calls a tool that is limited to some.
    pub(crate) reads: Option<BTreeSet<String>>,
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
    /// Calls that were refused because the code was judged not to make them.
    pub(crate) past_verdict: Vec<String>,
}

impl Acted {
    /// Notes a call that was refused.
    pub(crate) fn refuse(&mut self, error: &HostError) {
        if error.kind == NOT_GRANTED && self.past_verdict.len() < REFUSALS_MAX {
            self.past_verdict.push(error.message.clone());
        }
    }

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
    /// The action that is meant, and the values that it is called with.
    pub(crate) fn read(
        &self,
        name: &str,
        given: Option<&Value>,
        acted: &mut Acted,
    ) -> Result<(&'a Action, Map<String, Value>), HostError> {
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
        let params = params(action, given)?;
        acted.approvals.push((action.name.clone(), action.approval));
        Ok((action, params))
    }

    /// Runs one action in a cell of its own, in the plan's transaction.
    pub(crate) async fn run(
        &self,
        action: &Action,
        params: Map<String, Value>,
        transaction: &mut Transaction,
        evidence: &mut Evidence,
        acted: &mut Acted,
    ) -> Result<Value, Stop> {
        let name = action.name.as_str();
        let job = self.job(action, params).map_err(|message| HostError::new("action_refused", message))?;
        transaction.acts_as(Some(name));
        let mut host = TransactionHost::new(transaction, self.capabilities(action), evidence, None);
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

    /// What an action may reach: any visible table to read, and its own to write.
    pub(crate) fn capabilities(&self, action: &Action) -> Capabilities {
        let used = &self.settings.helpers.rests_on(&action.name).tables;
        let tables = self.schema.tables.iter().map(|table| &table.name);
        let named = || tables.filter(|name| used.contains(*name)).cloned().collect::<Vec<_>>();
        let writes = if action.writes.is_empty() { named() } else { action.writes.clone() };
        let own = Capabilities::of_action(&writes);
        match &self.reads {
            Some(tables) => own.reading(tables.clone()),
            None => own,
        }
    }

    /// Holds the values that name what a column holds against the rows.
    pub(crate) async fn check_values(
        &self,
        action: &Action,
        params: &Map<String, Value>,
        transaction: &mut Transaction,
    ) -> Result<(), Stop> {
        for (name, value) in params {
            let param = &action.params[name];
            let Some(column) = param.column.as_ref() else { continue };
            // A name may be that of somebody new; the reader asks back where the request does not say so.
            if param.kind == Some(ParamKind::Name) {
                continue;
            }
            let is_default = param.default.as_ref() == Some(value);
            let condition = json!({ "op": "eq", "path": [column.column], "value": value });
            let asked = json!({ "table": column.table, "where": condition });
            let wrong = |error: &StoreError| Stop::Refused(HostError::new(error.code(), error.to_string()));
            let call = TableCall::parse("count", asked).map_err(|error| wrong(&error))?;
            transaction.acts_as(Some(&action.name));
            let counted = transaction.carry_out(call).await;
            transaction.acts_as(None);
            match counted {
                Ok(Reply::Count { count: Some(0), .. }) if !is_default => {
                    let message = format!(
                        "`{name}` of `{}` is a value of `{}.{}`, and no row there has {value}",
                        action.name, column.table, column.column
                    );
                    return Err(HostError::new("invalid_params", message).into());
                }
                Ok(_) => {}
                Err(error) if error.is_callers() => return Err(wrong(&error)),
                Err(error) => return Err(Stop::Store(error)),
            }
        }
        Ok(())
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
        if let Some(wanted) = misfit(param, value) {
            return wrong(format!("`{name}` of `{}` may not be {value}: it is {wanted}", action.name));
        }
        params.insert(name.clone(), value.clone());
    }
    Ok(params)
}

/// What a value of a param is, where this value is none.
fn misfit(param: &Param, value: &Value) -> Option<String> {
    let is_whole = value.is_i64() || value.is_u64();
    let is_text = |fits: fn(&str) -> bool| value.as_str().is_some_and(fits);
    let (fits, wanted) = match param.kind {
        Some(ParamKind::Count) => (is_whole, "a whole number"),
        Some(ParamKind::Number | ParamKind::Money | ParamKind::Percent) => (value.is_number(), "a number"),
        Some(ParamKind::Name | ParamKind::Text) => (value.is_string(), "a text"),
        Some(ParamKind::Date) => (is_text(is_day), "a day such as \"2026-03-14\""),
        Some(ParamKind::Time) => (is_text(is_time), "a time of day such as \"14:30\""),
        None => (!value.is_array() && !value.is_object(), "one value"),
    };
    if !fits {
        return Some(wanted.to_owned());
    }
    let (least, most) = (param.min, param.max);
    let is_bounded = least.is_some() || most.is_some();
    let is_inside =
        |number: f64| least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    if !is_bounded || value.as_f64().is_some_and(is_inside) {
        return None;
    }
    let bounds = [least.map(|least| format!("at least {least}")), most.map(|most| format!("at most {most}"))];
    Some(format!("a number of {}", bounds.into_iter().flatten().collect::<Vec<_>>().join(" and ")))
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && ordain_types::is_timestamp(&format!("{text}T00:00:00Z"))
}

fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let is_part = |part: &str, below: u32| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u32>().is_ok_and(|number| number < below)
    };
    match parts.as_slice() {
        [hour, minute] => is_part(hour, 24) && is_part(minute, 60),
        [hour, minute, second] => is_part(hour, 24) && is_part(minute, 60) && is_part(second, 60),
        _ => false,
    }
}
