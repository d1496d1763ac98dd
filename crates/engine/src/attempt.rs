//! Tries accepted code on the store: one transaction, one cell, and the judgement of what they did.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::{Either, select};
use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Execution, Job, JudgedBy};
use ordain_planner::{Exchange, Trouble, TroubleClass};
use ordain_store::{BeginOptions, EntryNote, Intent, StoreError, Transaction, Violation};
use ordain_types::{Cause, InvariantResult, ModuleRecord, RunError, RunRecord, RunState, Schema};
use ordain_verify::{CORE_IMPORTS, DATA_IMPORTS, Effects, FULL_IMPORTS, Policy, VerifiedCode};
use serde_json::{Value, json};

use crate::actions::{self, Acted, Actions};
use crate::ask::{Ask, Mode};
use crate::claims::{self, Evidence, Told};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::grant::Grant;
use crate::host::TransactionHost;
use crate::outcome::{self, run_error};
use crate::rounds::{Accepted, Last, Trial, Tried, millis};

/// How often a run is tried when other runs change the same rows at the same time.
const TRIES_MAX: u32 = 12;
/// How often a run is tried when the executor is lost on which it ran.
const EXECUTORS_MAX: u32 = 4;

/// A trial on the store.
pub(crate) struct StoreTrial<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) ask: &'a Ask,
    pub(crate) policy: Policy,
    pub(crate) schema: Schema,
    pub(crate) started: Instant,
    /// The hash of the brief, for the ledger.
    pub(crate) brief_hash: Option<String>,
    /// The cached plan that is tried, to be counted.
    pub(crate) plan_id: Option<String>,
    /// What the reader took from the request, for a kept plan.
    pub(crate) params: serde_json::Map<String, Value>,
}

impl Trial for StoreTrial<'_> {
    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn bring(&mut self, modules: &[ModuleRecord]) -> Result<(), Trouble> {
        if modules.is_empty() {
            return Ok(());
        }
        let hint = Some("put everything into one program".to_owned());
        let message = "a request is carried out by one program without modules of its own".to_owned();
        Err(Trouble { class: TroubleClass::Verify, code: "modules".to_owned(), message, line: None, hint })
    }

    fn counts(&mut self, plan_id: Option<String>) {
        self.plan_id = plan_id;
    }

    async fn run(
        &mut self,
        accepted: Accepted,
        mut record: RunRecord,
        last: Last<'_>,
    ) -> Result<Tried, EngineError> {
        let mut executors_lost = 0;
        for _ in 0..TRIES_MAX {
            match Box::pin(self.attempt(&accepted, record.clone(), last)).await {
                Err(EngineError::Store(StoreError::Conflict)) => {}
                // The transaction is rolled back, so nothing of the lost run is left, and another may begin.
                Err(EngineError::Cell(error))
                    if error.may_run_again() && executors_lost + 1 < EXECUTORS_MAX =>
                {
                    executors_lost += 1;
                    record.verdict.history.push(json!({ "executor_lost": error.to_string() }));
                }
                done => return done,
            }
        }
        Err(EngineError::Contended { tries: TRIES_MAX })
    }
}

impl StoreTrial<'_> {
    /// One try: one transaction, one cell.
    async fn attempt(
        &self,
        accepted: &Accepted,
        mut record: RunRecord,
        last: Last<'_>,
    ) -> Result<Tried, EngineError> {
        let intent = if accepted.effects.may_write { Intent::Write } else { Intent::Read };
        let begin = BeginOptions { run_id: record.run_id.clone(), intent };
        let mut transaction = self.engine.store.begin(begin).await?;
        let running = Instant::now();
        let mut evidence = Evidence::default();
        let job = self.job(accepted);
        let grant = Grant::of_plan(&accepted.effects, &self.policy, &self.engine.settings.catalog);
        let (execution, acted) = match self.run_job(&mut transaction, job, grant, &mut evidence).await {
            Ok(done) => done,
            Err(error) => {
                transaction.roll_back().await?;
                return match error {
                    EngineError::Store(error @ StoreError::LockLimit { .. }) => {
                        record.timing_ms.run = millis(running);
                        record.state = RunState::Failed;
                        let trouble = store_limit(&error, Cause::LockLimit);
                        Ok(Tried::Trouble(trouble, Box::new(record)))
                    }
                    error => Err(error),
                };
            }
        };
        record.timing_ms.run = millis(running);
        record.outcome = outcome::record(&execution);
        self.engine.keep_artifacts(&record.run_id, &execution)?;
        record.status = outcome::status(&execution);
        record.answer = outcome::answer(&execution);
        let diff = transaction.diff();
        if let Some(step) = record.plan.steps.first_mut() {
            let state = if execution.cause == Cause::Ok { "done" } else { "failed" };
            state.clone_into(&mut step.state);
        }
        if let (Some(status), Cause::Ok) = (&acted.refused, execution.cause) {
            // An action that was not carried out takes back everything that the plan did.
            transaction.roll_back().await?;
            record.state = RunState::Answered;
            record.status = Some(status.clone());
            return self.write_down(record, last.exchange).await.map(|record| Tried::Done(Box::new(record)));
        }
        if let Some(error) = outcome::broken_promise(&execution, &diff, &self.policy.statuses) {
            transaction.roll_back().await?;
            record.state = if execution.cause == Cause::Ok { RunState::RolledBack } else { RunState::Failed };
            return Ok(Tried::Trouble(promise_trouble(&execution, error), Box::new(record)));
        }
        if let Some(trouble) = self.unsupported(&record, &diff, &evidence, accepted) {
            // A change is never thrown away for the words about it.
            if diff.is_empty() && !last.is_last {
                transaction.roll_back().await?;
                record.state = RunState::RolledBack;
                return Ok(Tried::Trouble(trouble, Box::new(record)));
            }
            replace_answer(&mut record, &diff, &trouble);
        }
        record.error = None;
        let rows = diff.rows();
        let holds = accepted.hold || acted.approvals.iter().any(|approval| approval.holds(rows));
        self.settle(record, transaction, last.exchange, holds).await
    }

    fn unsupported(
        &self,
        record: &RunRecord,
        diff: &ordain_types::Diff,
        evidence: &Evidence,
        accepted: &Accepted,
    ) -> Option<Trouble> {
        let told = Told {
            answer: record.answer.text.as_deref()?,
            request: &self.ask.request,
            policy: &self.engine.settings.policy,
            code: accepted.code.code(),
            diff,
        };
        claims::unsupported(told, evidence)
    }

    async fn run_job(
        &self,
        transaction: &mut Transaction,
        job: Job,
        grant: Grant,
        evidence: &mut Evidence,
    ) -> Result<(Execution, Acted), EngineError> {
        let actions = Actions {
            executor: self.engine.executor.as_ref(),
            settings: &self.engine.settings,
            schema: &self.schema,
        };
        let overdue = transaction.overdue();
        let mut host = TransactionHost::new(transaction, grant, evidence, Some(actions));
        let mut output = Discard;
        let running = self.engine.executor.run(job, &mut host, &mut output);
        let execution = match select(running, overdue).await {
            Either::Left((execution, _)) => execution,
            // Dropping the run ends its cell.
            Either::Right((Err(late), _)) => return Err(late.into()),
        };
        let acted = host.take_acted();
        Ok((host.settle::<EngineError>(execution)?, acted))
    }

    /// Commits, holds or shows what the plan did.
    async fn settle(
        &self,
        mut record: RunRecord,
        transaction: Transaction,
        exchange: &Exchange,
        holds: bool,
    ) -> Result<Tried, EngineError> {
        let committing = Instant::now();
        let rows = transaction.diff().rows();
        let before = record.clone();
        record.timing_ms.total = millis(self.started);
        let note = self.note(exchange);
        let holds = holds || self.engine.settings.approval.holds(rows);
        let settled = match self.ask.mode {
            Mode::DryRun => return self.show(record, transaction, exchange).await,
            Mode::Hold => transaction.hold(record, note).await,
            Mode::Commit if holds => transaction.hold(record, note).await,
            Mode::Commit => transaction.commit(record, note).await,
        };
        match settled {
            Ok(mut record) => {
                record.timing_ms.commit = millis(committing);
                record.timing_ms.total = millis(self.started);
                Ok(Tried::Done(Box::new(record)))
            }
            Err(StoreError::Violated { violations }) => {
                let mut record = before;
                record.state = RunState::RolledBack;
                record.invariants = broken(&violations);
                take_back(&mut record, &violations);
                Ok(Tried::Trouble(violated(&violations), Box::new(record)))
            }
            // An invariant took too long; nothing is committed that was not checked.
            Err(error @ StoreError::Timeout { .. }) => {
                let mut record = before;
                record.state = RunState::Failed;
                Ok(Tried::Trouble(store_limit(&error, Cause::Timeout), Box::new(record)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Shows what would have changed.
    async fn show(
        &self,
        mut record: RunRecord,
        mut transaction: Transaction,
        exchange: &Exchange,
    ) -> Result<Tried, EngineError> {
        let review = transaction.review().await?;
        transaction.roll_back().await?;
        let is_read = review.diff.is_empty();
        let answered = RunState::without_changes(record.status.as_deref());
        record.state = if is_read { answered } else { RunState::RolledBack };
        record.diff = review.diff;
        record.invariants = review.invariants;
        if !review.violations.is_empty() {
            take_back(&mut record, &review.violations);
            return Ok(Tried::Trouble(violated(&review.violations), Box::new(record)));
        }
        self.write_down(record, exchange).await.map(|record| Tried::Done(Box::new(record)))
    }

    /// Records a run that changed nothing.
    pub(crate) async fn write_down(
        &self,
        mut record: RunRecord,
        exchange: &Exchange,
    ) -> Result<RunRecord, EngineError> {
        record.timing_ms.total = millis(self.started);
        let mut note = self.note(exchange);
        if is_planners(&record) {
            // Nothing was tried, so the same request may be sent again under the same key.
            note.claim = None;
        }
        Ok(self.engine.store.record(record, note).await?)
    }

    fn note(&self, exchange: &Exchange) -> EntryNote {
        let ask = self.ask;
        let mode = match ask.mode {
            Mode::Commit => "commit",
            Mode::Hold => "hold",
            Mode::DryRun => "dry_run",
        };
        let mut detail = json!({ "mode": mode });
        if let Some(plan) = &ask.plan {
            detail["plan"] = json!(plan.name);
        }
        if let Some(hash) = &self.brief_hash {
            detail["brief_sha256"] = json!(hash);
        }
        if let Some(conversation) = &ask.conversation {
            detail["conversation"] = json!(conversation);
        }
        if !exchange.messages.is_empty() {
            detail["exchange"] = json!(exchange.messages);
        }
        EntryNote {
            detail,
            claim: ask.idempotency_key.clone(),
            plan: self.plan_id.clone(),
            ..EntryNote::by(&ask.who, &ask.through)
        }
    }

    fn job(&self, accepted: &Accepted) -> Job {
        let settings = &self.engine.settings;
        let mut job = Job::new(accepted.code.clone(), profile_for(&accepted.effects, &accepted.code));
        if let Some(plan) = &self.ask.plan {
            job.name.clone_from(&plan.name);
        } else {
            "plan.py".clone_into(&mut job.name);
        }
        job.limits = settings.limits.clone();
        job.values.insert("user_request".to_owned(), Value::from(self.ask.request.as_str()));
        job.tables = self.schema.tables.iter().map(|table| table.name.clone()).collect();
        let params = if accepted.params.is_empty() { &self.params } else { &accepted.params };
        job.values.insert("params".to_owned(), Value::Object(params.clone()));
        job.helpers = actions::stubbed(&settings.helpers, &settings.catalog);
        job.collect = outcome::COLLECTED.map(str::to_owned).to_vec();
        job.judged_by = Some(Arc::new(JudgedBy { policy: self.policy.clone(), schema: self.schema.clone() }));
        job
    }
}

/// The smallest profile that has what the code imports.
pub(crate) fn profile_for(effects: &Effects, code: &VerifiedCode) -> Profile {
    let top = |import: &str| import.split('.').next().unwrap_or_default().to_owned();
    let has = |packages: &[&str], import: &str| packages.contains(&top(import).as_str());
    let imports = &effects.imports;
    let beyond =
        |packages: &[&str]| imports.iter().any(|import| !has(packages, import) && has(FULL_IMPORTS, import));
    if beyond(DATA_IMPORTS) {
        Profile::Full
    } else if beyond(CORE_IMPORTS) || code.code().contains("frame(") {
        Profile::Data
    } else {
        Profile::Core
    }
}

fn promise_trouble(execution: &Execution, error: RunError) -> Trouble {
    let class = match execution.cause {
        Cause::Ok => TroubleClass::Contract,
        Cause::Error => TroubleClass::Runtime,
        _ => TroubleClass::Limit,
    };
    let line = execution.error.as_ref().and_then(|raised| raised.line);
    Trouble { class, code: error.code, message: error.message, line, hint: error.hint }
}

/// Puts a true sentence in the place of a false one, and keeps the finding.
fn replace_answer(record: &mut RunRecord, diff: &ordain_types::Diff, trouble: &Trouble) {
    let said = record.answer.text.replace(claims::plain_answer(diff));
    record.verdict.findings.push(json!({
        "code": trouble.code,
        "severity": "warning",
        "message": trouble.message,
        "hint": "the answer was replaced by a plain one that is true",
    }));
    record.verdict.modifications.push(json!({ "what": "replaced a false answer", "said": said }));
}

fn violated(violations: &[Violation]) -> Trouble {
    let messages: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let is_invariant = violations.first().is_some_and(|violation| violation.rule == "invariant");
    Trouble {
        class: TroubleClass::Invariant,
        code: if is_invariant { "invariant-broken" } else { "rule-broken" }.to_owned(),
        message: messages.join("; "),
        line: None,
        hint: Some("nothing was changed; `ordain runs show` has the rows".to_owned()),
    }
}

/// What the plan said was so is not: its changes break a rule, and nothing of them is kept.
fn take_back(record: &mut RunRecord, violations: &[Violation]) {
    let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
    record.status = Some("not_permitted".to_owned());
    record.answer = ordain_types::Answer::default();
    record.answer.text = Some(format!("Nothing was changed, because {}.", told.join("; ")));
}

fn store_limit(error: &StoreError, cause: Cause) -> Trouble {
    Trouble {
        class: TroubleClass::Limit,
        code: cause.as_str().to_owned(),
        message: error.to_string(),
        line: None,
        hint: error.hint(),
    }
}

fn broken(violations: &[Violation]) -> Vec<InvariantResult> {
    violations
        .iter()
        .filter(|violation| violation.rule == "invariant")
        .map(|violation| InvariantResult {
            name: violation.name.clone(),
            holds: false,
            rows: violation.rows.clone(),
        })
        .collect()
}

/// Whether a run ended because no planner could be had: a model that does not answer, a key that it refuses.
pub(crate) fn is_planners(record: &RunRecord) -> bool {
    record.error.as_ref().is_some_and(|error| error.code.starts_with("model-"))
}

/// The error of a trouble, for records of runs that no planner can put right.
pub(crate) fn error_of(trouble: &Trouble) -> RunError {
    run_error(&trouble.code, trouble.message.clone(), trouble.hint.as_deref())
}
