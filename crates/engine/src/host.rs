//! The host of a plan's code: the run's open transaction.

use futures_util::future::{Either, select};
use ordain_cell::{
    CellError, Discard, Execution, Executor, Host, HostCall, HostError, HostFuture, Job, Output,
};
use ordain_store::{BeginOptions, Intent, Reply, StoreError, Transaction};
use ordain_types::Cause;
use ordain_verify::claims::Evidence;
use serde_json::{Value, json};

use crate::actions::{Acted, Actions, Stop};
use crate::capabilities::{Capabilities, Permitted};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tools::Tools;

/// Runs a job whose calls are answered from the transaction, as far as they are permitted, until the transaction's time
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
        let host = TransactionHost::new(&mut transaction, Capabilities::read_only(), &mut evidence, None);
        let ran = run_with_tables(executor, job, host, &mut Discard).await;
        transaction.roll_back().await?;
        ran.map(|(execution, _)| execution)
    }
}

/// Answers a plan's calls from one transaction.
pub(crate) struct TransactionHost<'a> {
    transaction: &'a mut Transaction,
    /// What the code may reach.
    capabilities: Capabilities,
    /// The first error that was not the plan's own. The transaction cannot be used after it.
    failure: Option<StoreError>,
    /// What the plan was given to see.
    evidence: &'a mut Evidence,
    /// What runs the workspace's actions; nothing inside of an action.
    actions: Option<Actions<'a>>,
    /// What answers calls of tools; nothing inside of an action.
    tools: Option<Tools<'a>>,
    /// The action that the plan's own cell runs now, and what it may reach.
    acting: Option<(String, Capabilities)>,
    acted: Acted,
}

impl<'a> TransactionHost<'a> {
    pub(crate) fn new(
        transaction: &'a mut Transaction,
        capabilities: Capabilities,
        evidence: &'a mut Evidence,
        actions: Option<Actions<'a>>,
    ) -> Self {
        transaction.let_queries_see(capabilities.readable());
        let (failure, tools, acting, acted) = (None, None, None, Acted::default());
        Self { transaction, capabilities, failure, evidence, actions, tools, acting, acted }
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
        let table = call.arguments.get("table").and_then(Value::as_str).map(str::to_owned);
        let permitted = self.acting.as_ref().map_or(&self.capabilities, |(_, own)| own).permit(call);
        match permitted.inspect_err(|error| self.acted.refuse(error))? {
            Permitted::Table(call) => match self.transaction.carry_out(call).await.map(Reply::into_value) {
                Ok(value) => {
                    self.evidence.take(table.as_deref(), &value);
                    Ok(value)
                }
                Err(error) if error.is_callers() => Err(refusal(&error)),
                Err(error) => Err(self.fail(error)),
            },
            Permitted::Action(name, given) => self.act(&name, given.get("params")).await,
            Permitted::ActionDone(done) => {
                let Some((name, _)) = self.acting.take() else { return Err(not_here()) };
                self.act_as(None);
                self.acted.done(&name, &done)
            }
            Permitted::Tool { tool, verb, arguments } => {
                let Some(tools) = &mut self.tools else { return Err(not_here()) };
                tools.call((&tool, &verb), &arguments, self.transaction, self.evidence).await
            }
        }
    }

    /// Runs an action in a cell of its own, or lets the plan's cell run it.
    async fn act(&mut self, name: &str, given: Option<&Value>) -> Result<Value, HostError> {
        let Some(actions) = self.actions.clone() else { return Err(not_here()) };
        let (action, params) = actions.read(name, given, &mut self.acted)?;
        actions.check_values(action, &params, self.transaction).await.map_err(|stop| match stop {
            Stop::Refused(error) => error,
            Stop::Store(failure) => self.fail(failure),
        })?;
        if actions.share_cell {
            self.act_as(Some((action.name.clone(), actions.capabilities(action).until_done())));
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
    fn act_as(&mut self, acting: Option<(String, Capabilities)>) {
        self.transaction.acts_as(acting.as_ref().map(|(name, _)| name.as_str()));
        let own = acting.as_ref().map_or(&self.capabilities, |(_, own)| own);
        self.transaction.let_queries_see(own.readable());
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
pub(crate) fn refusal(error: &StoreError) -> HostError {
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    HostError::new(error.code(), message)
}

fn not_here() -> HostError {
    HostError::new("unknown_function", "this cannot be called here")
}
