//! The host of a plan's code: the run's open transaction.

use futures_util::future::{Either, select};
use ordain_cell::{
    CellError, Discard, Execution, Executor, Host, HostCall, HostError, HostFuture, Job, Output,
};
use ordain_store::{BeginOptions, Call, Intent, Reply, StoreError, Transaction};
use ordain_types::Cause;
use ordain_verify::claims::Evidence;
use serde_json::{Map, Value, json};

use crate::actions::{self, Acted, Actions, Stop};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::grant::Grant;
use crate::tools::Tools;

/// Calls of the table interface begin with this.
pub(crate) const TABLE_CALL: &str = "table.";

/// Runs a job whose calls are answered from the transaction, as far as they are granted, until the transaction's time
/// is over.
pub(crate) async fn run_with_tables(
    executor: &dyn Executor,
    job: Job,
    mut host: TransactionHost<'_>,
    output: &mut dyn Output,
) -> Result<(Execution, Acted), EngineError> {
    let overdue = host.transaction.overdue();
    let execution = match select(executor.run(job, &mut host, output), overdue).await {
        Either::Left((execution, _)) => execution,
        // Dropping the run ends its cell.
        Either::Right((Err(late), _)) => return Err(late.into()),
    };
    let acted = host.take_acted();
    Ok((host.settle::<EngineError>(execution)?, acted))
}

impl Engine {
    /// Runs a job that may read the store's tables through calls, in a transaction that is rolled back.
    pub async fn run_reading(&self, executor: &dyn Executor, mut job: Job) -> Result<Execution, EngineError> {
        job.tables = self.store.schema().tables.into_iter().map(|table| table.name).collect();
        let begin = BeginOptions { run_id: self.store.new_run_id()?, intent: Intent::Read };
        let mut transaction = self.store.begin(begin).await?;
        let mut evidence = Evidence::default();
        let host = TransactionHost::new(&mut transaction, Grant::read_only(), &mut evidence, None);
        let ran = run_with_tables(executor, job, host, &mut Discard).await;
        transaction.roll_back().await?;
        ran.map(|(execution, _)| execution)
    }
}

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
    /// What answers calls of tools; nothing inside of an action.
    tools: Option<Tools<'a>>,
    /// The action that the plan's own cell runs now, and its grant.
    acting: Option<(String, Grant)>,
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
        let (failure, tools, acting, acted) = (None, None, None, Acted::default());
        Self { transaction, grant, failure, evidence, actions, tools, acting, acted }
    }

    /// The same, with tools that the plan may call.
    #[must_use]
    pub(crate) fn with_tools(mut self, tools: Option<Tools<'a>>) -> Self {
        self.tools = tools;
        self
    }

    /// What became of actions.
    pub(crate) fn take_acted(&mut self) -> Acted {
        std::mem::take(&mut self.acted)
    }

    /// What went wrong with the store itself, if anything did.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        self.failure.take()
    }

    /// The same host for code that has called actions before.
    pub(crate) fn having_acted(self, acted: Acted) -> Self {
        Self { acted, ..self }
    }

    /// What the execution came to, with the store's own failures counted in.
    pub(crate) fn settle<E: From<CellError> + From<StoreError>>(
        self,
        execution: Result<Execution, CellError>,
    ) -> Result<Execution, E> {
        settled(self.failure, execution)
    }

    async fn answer(&mut self, call: HostCall) -> Result<Value, HostError> {
        if let Some((name, _)) = self.acting.take_if(|_| call.name == actions::DONE) {
            self.act_as(None);
            return self.acted.done(&name, &call.arguments);
        }
        let is_plans = self.acting.is_none();
        if let (actions::CALL, Some(actions), true) = (call.name.as_str(), self.actions.clone(), is_plans) {
            return self.act(actions, &call.arguments).await;
        }
        if let (crate::tools::CALL, Some(tools), true) = (call.name.as_str(), &mut self.tools, is_plans) {
            return tools.call(&call.arguments, self.transaction, self.evidence).await;
        }
        let Some(operation) = call.name.strip_prefix(TABLE_CALL) else {
            return Err(HostError::new("unknown_function", "plans can call tables and nothing else"));
        };
        let table = call.arguments.get("table").and_then(Value::as_str).map(str::to_owned);
        let call = Call::parse(operation, Value::Object(call.arguments)).map_err(|error| refusal(&error))?;
        self.acting.as_ref().map_or(&self.grant, |(_, grant)| grant).check(&call)?;
        match self.transaction.carry_out(call).await.map(Reply::into_value) {
            Ok(value) => {
                self.evidence.take(table.as_deref(), &value);
                Ok(value)
            }
            Err(error) if error.is_callers() => Err(refusal(&error)),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Runs an action in a cell of its own, or lets the plan's cell run it.
    async fn act(
        &mut self,
        actions: Actions<'a>,
        arguments: &Map<String, Value>,
    ) -> Result<Value, HostError> {
        self.grant.act(arguments.get("name").and_then(Value::as_str).unwrap_or_default())?;
        let (action, params) = actions.permit(arguments, &mut self.acted)?;
        actions.check_values(action, &params, self.transaction).await.map_err(|stop| match stop {
            Stop::Refused(error) => error,
            Stop::Store(failure) => self.fail(failure),
        })?;
        if actions.share_cell {
            self.act_as(Some((action.name.clone(), actions.grant(action))));
            return Ok(json!({ "params": params }));
        }
        let done = actions.run(action, params, self.transaction, self.evidence, &mut self.acted).await;
        self.act_as(None);
        match done {
            Ok(result) => Ok(json!({ "result": result })),
            Err(Stop::Refused(error)) => Err(error),
            Err(Stop::Store(failure)) => Err(self.fail(failure)),
        }
    }

    /// Answers the calls from now on as those of an action, or of the plan itself again.
    fn act_as(&mut self, acting: Option<(String, Grant)>) {
        self.transaction.acts_as(acting.as_ref().map(|(name, _)| name.as_str()));
        let grant = acting.as_ref().map_or(&self.grant, |(_, grant)| grant);
        self.transaction.let_queries_see(grant.readable());
        self.acting = acting;
    }

    /// Keeps what the database says of itself, which is not for the plan to read.
    fn fail(&mut self, failure: StoreError) -> HostError {
        self.failure.get_or_insert(failure);
        HostError::new("store_failed", "the store failed; the run will be rolled back")
    }
}

impl Host for TransactionHost<'_> {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(self.answer(call))
    }
}

/// What an execution came to, with the store's own failures counted in: they end a run as its limits do, with a cause
/// and a record. An error that another try may not meet is given back as it is.
pub(crate) fn settled<E: From<CellError> + From<StoreError>>(
    failure: Option<StoreError>,
    execution: Result<Execution, CellError>,
) -> Result<Execution, E> {
    let Some(failure) = failure else { return Ok(execution?) };
    if matches!(
        failure,
        StoreError::Conflict | StoreError::Busy | StoreError::Unreachable { .. } | StoreError::File { .. }
    ) {
        return Err(failure.into());
    }
    let mut execution = execution?;
    execution.cause = match failure {
        StoreError::Timeout { .. } => Cause::Timeout,
        _ => Cause::StoreFailed,
    };
    execution.error = None;
    execution.detail = Some(failure.to_string());
    Ok(execution)
}

/// An error of the plan's making, with the hint that helps to put it right.
fn refusal(error: &StoreError) -> HostError {
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    HostError::new(error.code(), message)
}
