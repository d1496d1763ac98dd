//! Runs one program of a run of several steps: a look, a step, a criterion. Each in a cell, over the rows with the
//! pending changes laid on them, in a transaction that is rolled back afterwards.

use std::sync::Arc;

use futures_util::future::{Either, select};
use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Execution, Host, HostCall, HostError, HostFuture, InputFile, JudgedBy};
use ordain_store::{BeginOptions, Intent, Pending, ReadDigest, StoreError, Transaction};
use ordain_tools::Toolbox;
use ordain_types::{Call, FRAME, RESULT};
use ordain_verify::claims::Evidence;
use ordain_verify::{Contract, Policy};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::continued::Continued;
use crate::actions::{Acted, Actions};
use crate::capabilities::{Capabilities, TABLE_CALL, for_tools};
use crate::error::EngineError;
use crate::host::{TransactionHost, settled};
use crate::outcome::COLLECTED;
use crate::rounds::Accepted;
use crate::tools::{Asked, Tools};
use crate::trial::RunTrial;

/// What the reads of one step may take in memory; of a step that reads more, nothing can be compared later.
const READ_BYTES_MAX: usize = 4 << 20;
const READS_MAX: usize = 10_000;

/// A transaction that steps share which run side by side; their calls are answered one at a time.
pub(crate) type Shared = Arc<Mutex<Transaction>>;

/// A program to run.
#[derive(Debug)]
pub(crate) struct Program<'p> {
    pub(crate) accepted: &'p Accepted,
    /// The rules by which it was accepted.
    pub(crate) policy: &'p Policy,
    /// What the code finds in `inputs`.
    pub(crate) inputs: Map<String, Value>,
    /// Files that earlier steps left.
    pub(crate) files: Vec<InputFile>,
    /// The cell whose Python state lives on from program to program.
    pub(crate) session: Option<String>,
}

/// What running a program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) execution: Execution,
    pub(crate) evidence: Evidence,
    /// What it read before it wrote; `None` if that was too much to be kept.
    pub(crate) reads: Option<Vec<ReadDigest>>,
    pub(crate) acted: Acted,
    /// What it called outside of the tables, or is to call after the commit.
    pub(crate) calls: Vec<Call>,
}

/// The rules for a program that need not answer: a step in the middle, or a look, which may not write either.
pub(crate) fn unanswering(policy: &Policy, read_only: bool) -> Policy {
    Policy { contract: Contract::Exec, read_only: read_only || policy.read_only, ..policy.clone() }
}

impl RunTrial<'_> {
    /// Begins a transaction over the rows with pending changes laid on them.
    pub(crate) async fn begin_over(
        &self,
        pending: &Pending,
        intent: Intent,
    ) -> Result<Transaction, StoreError> {
        let (run_id, store) = (self.head.run_id.clone(), &self.engine.store);
        let is_laid = intent == Intent::Read && !pending.is_empty();
        // Laying changes is writing, as far as the database is concerned; others may write meanwhile.
        let intent = if is_laid { Intent::Beside } else { intent };
        let begun = store.begin(BeginOptions { run_id, intent });
        let begun = timeout(self.engine.settings.limits.wall, begun).await;
        let mut transaction = begun.map_err(|_elapsed| StoreError::Busy)??;
        transaction.count_before(self.rows_before());
        transaction.lay(pending).await?;
        Ok(transaction)
    }

    /// Runs a program. Its calls are answered from the transaction, as far as its verdict permits them.
    pub(crate) async fn run_in(
        &self,
        transaction: &Shared,
        program: Program<'_>,
    ) -> Result<Ran, EngineError> {
        let accepted = program.accepted;
        let mut job = self.job(accepted, "");
        let judged_by = JudgedBy { policy: program.policy.clone(), schema: self.schema.clone() };
        job.judged_by = Some(Arc::new(judged_by));
        job.collect.push(RESULT.to_owned());
        let mut inputs = self.continued().map(Continued::inputs).unwrap_or_default();
        inputs.extend(program.inputs);
        job.files.extend(program.files);
        if inputs.values().any(holds_frame) {
            job.profile = job.profile.max(Profile::Data);
        }
        job.values.insert("inputs".to_owned(), Value::Object(inputs));
        if program.session.is_some() {
            job.session = program.session;
            // A session keeps its first profile, so it gets all packages.
            job.profile = Profile::Full;
            let answers = COLLECTED.into_iter().chain([RESULT]);
            job.values.extend(answers.map(|name| (name.to_owned(), Value::Null)));
        }
        let engine = self.engine;
        let actions = Actions {
            executor: engine.executor.as_ref(),
            settings: &engine.settings,
            schema: &self.schema,
            reads: for_tools(&accepted.effects, &self.policy),
            share_cell: false,
        };
        let mut host = StepHost {
            toolbox: &engine.settings.tools,
            asked: &self.asked,
            policy: program.policy,
            transaction,
            capabilities: engine.capabilities(&accepted.effects, program.policy),
            actions,
            evidence: Evidence::default(),
            acted: Acted::default(),
            failure: None,
            reads: Reads::default(),
            calls: Vec::new(),
        };
        let (overdue, waited) = {
            let mut open = transaction.lock().await;
            (open.overdue(), open.take_waited())
        };
        // Waiting for others to write is a part of the time that a program may take.
        job.limits.wall = job.limits.wall.saturating_sub(waited);
        let mut unheard = Discard;
        let execution = match select(engine.executor.run(job, &mut host, &mut unheard), overdue).await {
            Either::Left((execution, _)) => execution,
            // Dropping the run ends its cell.
            Either::Right((Err(late), _)) => return Err(late.into()),
        };
        let StepHost { evidence, acted, failure, reads, calls, .. } = host;
        let execution = settled::<EngineError>(failure, execution)?;
        Ok(Ran { execution, evidence, reads: reads.kept(), acted, calls })
    }
}

/// Whether a value that a step gave is a frame, or holds one.
fn holds_frame(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_frame),
        Value::Object(fields) => fields.iter().any(|(name, value)| name == FRAME || holds_frame(value)),
        _ => false,
    }
}

/// Answers a program's calls from a transaction that others may use too, and keeps digests of what it read.
struct StepHost<'a> {
    toolbox: &'a Toolbox,
    asked: &'a Mutex<Asked>,
    policy: &'a Policy,
    transaction: &'a Shared,
    capabilities: Capabilities,
    actions: Actions<'a>,
    evidence: Evidence,
    acted: Acted,
    failure: Option<StoreError>,
    reads: Reads,
    calls: Vec<Call>,
}

impl StepHost<'_> {
    async fn answer(&mut self, call: HostCall) -> Result<Value, HostError> {
        let operation = call.name.strip_prefix(TABLE_CALL).map(str::to_owned);
        let arguments = Value::Object(call.arguments.clone());
        let mut transaction = self.transaction.lock().await;
        let mut asked = self.asked.lock().await;
        let tools = Tools { toolbox: self.toolbox, known: &self.policy.tools, asked: &mut asked };
        let called = transaction.calls().len();
        let mut host = TransactionHost::new(
            &mut transaction,
            self.capabilities.clone(),
            &mut self.evidence,
            Some(self.actions.clone()),
        )
        .having_acted(std::mem::take(&mut self.acted))
        .with_tools(Some(tools));
        let answer = host.call(call).await;
        self.acted = host.take_acted();
        let failure = host.take_failure();
        self.failure = self.failure.take().or(failure);
        self.calls.extend_from_slice(&transaction.calls()[called..]);
        if let Ok(reply) = &answer {
            self.reads.note(operation.as_deref(), &arguments, reply);
        }
        answer
    }
}

impl Host for StepHost<'_> {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(self.answer(call))
    }
}

/// Digests of what a program read.
#[derive(Debug, Default)]
struct Reads {
    list: Vec<ReadDigest>,
    bytes: usize,
    /// What is read after a write depends on that write, and on nothing that is not covered already.
    has_written: bool,
}

impl Reads {
    fn note(&mut self, operation: Option<&str>, arguments: &Value, reply: &Value) {
        if self.has_written || operation == Some("tables") {
            return;
        }
        match operation.and_then(|operation| ReadDigest::of(operation, arguments, reply)) {
            Some(read) if self.bytes <= READ_BYTES_MAX && self.list.len() <= READS_MAX => {
                self.bytes += read.bytes();
                self.list.push(read);
            }
            Some(_) => {}
            None => self.has_written = true,
        }
    }

    fn kept(self) -> Option<Vec<ReadDigest>> {
        let is_cut = self.bytes > READ_BYTES_MAX || self.list.len() > READS_MAX;
        (!is_cut).then_some(self.list)
    }
}
