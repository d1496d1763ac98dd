//! The host of a plan's code: the run's open transaction.

use ordain_cell::{Host, HostCall, HostError, HostFuture};
use ordain_store::{Call, Reply, StoreError, Transaction};
use serde_json::Value;

use crate::actions::{Acted, Actions};
use crate::claims::Evidence;
use crate::grant::Grant;

/// Calls of the table interface begin with this.
const TABLE_CALL: &str = "table.";

/// Answers a plan's calls from one transaction.
pub(crate) struct TransactionHost<'a> {
    transaction: &'a mut Transaction,
    /// What the code was judged to do.
    grant: Grant,
    /// The first error that was not the plan's own. The transaction cannot be used after it.
    failure: Option<StoreError>,
    /// What the plan was given to see.
    evidence: &'a mut Evidence,
    /// What runs the workspace's actions; nothing inside of an action.
    actions: Option<Actions<'a>>,
    acted: Acted,
}

impl<'a> TransactionHost<'a> {
    pub(crate) fn new(
        transaction: &'a mut Transaction,
        grant: Grant,
        evidence: &'a mut Evidence,
        actions: Option<Actions<'a>>,
    ) -> Self {
        transaction.let_queries_see(grant.readable());
        Self { transaction, grant, failure: None, evidence, actions, acted: Acted::default() }
    }

    /// What went wrong with the store itself, if anything did, and what became of actions.
    pub(crate) fn into_parts(self) -> (Option<StoreError>, Acted) {
        (self.failure, self.acted)
    }

    async fn answer(&mut self, call: HostCall) -> Result<Value, HostError> {
        if let (crate::actions::CALL, Some(actions)) = (call.name.as_str(), self.actions) {
            let done = actions.run(&call.arguments, self.transaction, self.evidence, &mut self.acted).await;
            self.transaction.let_queries_see(self.grant.readable());
            return done;
        }
        let Some(operation) = call.name.strip_prefix(TABLE_CALL) else {
            return Err(HostError::new("unknown_function", "plans can call tables and nothing else"));
        };
        let call = Call::parse(operation, Value::Object(call.arguments)).map_err(|error| refusal(&error))?;
        self.grant.check(&call)?;
        match self.transaction.carry_out(call).await.map(Reply::into_value) {
            Ok(value) => {
                self.evidence.take(&value);
                Ok(value)
            }
            Err(error) if error.is_callers() => Err(refusal(&error)),
            Err(error) => {
                // What the database says of itself is not for the plan to read.
                let told = HostError::new("store_failed", "the store failed; the run will be rolled back");
                self.failure.get_or_insert(error);
                Err(told)
            }
        }
    }
}

impl Host for TransactionHost<'_> {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(self.answer(call))
    }
}

/// An error of the plan's making, with the hint that helps to put it right.
fn refusal(error: &StoreError) -> HostError {
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    HostError::new(error.code(), message)
}
