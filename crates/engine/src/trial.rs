//! Tries accepted code: one cell, one transaction where there are tables, and the judgement of what they did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ordain_cell::{Execution, Job, JudgedBy, NoHost, Output};
use ordain_files::Prepared;
use ordain_planner::{Draft, Exchange};
use ordain_store::{BeginOptions, Intent, Pending, StoreError, Transaction};
use ordain_types::{
    Approval, Call, Cause, Diff, ErrorClass, HeldBy, Outline, RunError, RunRecord, RunState, Schema,
    SourceFile, Trouble,
};
use ordain_verify::claims::{self, Evidence, Told};
use ordain_verify::{Policy, Verdict, load_modules, module_name, verify};
use serde_json::{Map, Value};

use crate::actions::{self, Acted, Actions};
use crate::ask::Mode;
use crate::capabilities::{Capabilities, for_tools};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::host::{TransactionHost, run_with_tables};
use crate::kept_back::KeptBack;
use crate::outcome::{self, broken_rules, run_error, store_limit, violated};
use crate::profile::Needs;
use crate::retry::{Obstacle, Retry, retry};
use crate::road::is_planners;
use crate::rounds::{Accepted, KeepBack, Kept, Trial, Tried, Try};
use crate::steps::Continued;
use crate::story::{Attempt, End, Head, Story, millis};
use crate::terms::{Duty, Reach, Terms};
use crate::tools::{Asked, Tools};
use crate::work::Work;

/// The variable in which a cell tells what it found when it read the values of files.
const READING_NOTES: &str = "reading_notes";

/// A trial of one piece of work.
pub(crate) struct RunTrial<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) work: &'a Work,
    /// What holds for it.
    pub(crate) terms: &'a Terms<'a>,
    pub(crate) prepared: Prepared,
    pub(crate) policy: Policy,
    pub(crate) schema: Schema,
    /// The hash of the brief, for the ledger.
    pub(crate) brief_hash: Option<String>,
    /// The kept plan that is tried, to be counted.
    pub(crate) plan_id: Option<String>,
    /// What the reader took from the request, for a kept plan.
    pub(crate) params: Map<String, Value>,
    /// What running the code came to last.
    pub(crate) execution: Option<Arc<Execution>>,
    pub(crate) head: Head,
    /// Where what the code prints goes. Only the one who runs the code takes hold of it.
    output: Mutex<&'a mut dyn Output>,
    /// Code that makes the modules which the plan imports.
    loader: String,
    /// What those modules import.
    module_imports: BTreeSet<String>,
    /// What tools said that were asked while the code ran, over all tries.
    pub(crate) asked: tokio::sync::Mutex<Asked>,
    /// Whether a try met another run that writes.
    writes_alone: bool,
    /// Whether a try went wrong in a cell that other runs had used before.
    runs_alone: bool,
    /// Whether what the run has come to is kept for the case that it is cut short.
    pub(crate) has_progress: AtomicBool,
    /// What waits for a reviewer or for a better sentence.
    pub(crate) kept: Option<KeptBack>,
    /// The change that a reviewer has seen.
    pub(crate) reviewed: Option<Diff>,
}

impl Trial for RunTrial<'_> {
    type Done = RunRecord;

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn verdict(&self, code: &str) -> Verdict {
        match self.work {
            Work::Exec(exec) => {
                let defined = self.engine.exec_sessions.of(exec.session.as_deref());
                exec.judge(code, &defined, &self.engine.settings.own_packages)
            }
            _ => verify(code, &self.policy, &self.schema),
        }
    }

    fn bring(&mut self, modules: &[SourceFile]) -> Result<(), Trouble> {
        let all: Vec<SourceFile> = self.given_modules().into_iter().chain(modules.iter().cloned()).collect();
        if !all.is_empty() && self.terms.modules.is_none() {
            let message = "this is carried out by one program without modules of its own".to_owned();
            let hint = "put everything into one program";
            return Err(Trouble::new(ErrorClass::Verify, "modules", message, hint));
        }
        let loaded = load_modules(&all, &self.policy)?;
        (self.loader, self.module_imports) = (loaded.loader, loaded.imports);
        // A name that another draft brought may stay: importing a missing one is an error in Python.
        self.policy.packages.extend(modules.iter().map(|module| module_name(&module.name)));
        Ok(())
    }

    async fn look(&mut self, draft: &Draft) -> Result<String, EngineError> {
        self.look_over(draft, &Pending::default()).await
    }

    fn outlined(&self, outline: &Outline) -> Result<(), Trouble> {
        self.judge_checks(outline)
    }

    async fn run(&mut self, one: Try<'_>, story: &mut Story) -> Result<Tried<RunRecord>, EngineError> {
        let tried = self.tries(one, story, KeepBack::Nothing).await?;
        tried.ok_or(EngineError::Contended { tries: 1 })
    }

    async fn keep_back(
        &mut self,
        one: Try<'_>,
        story: &mut Story,
        what: KeepBack,
    ) -> Result<Kept<RunRecord>, EngineError> {
        if !self.can_keep_back(one.accepted).await? {
            return Ok(Kept::Unable);
        }
        Ok(match self.tries(one, story, what).await? {
            Some(tried) => Kept::Ended(tried),
            None => self.kept.as_ref().map_or(Kept::Unable, KeptBack::shown),
        })
    }

    async fn settle_kept(
        &mut self,
        one: Try<'_>,
        story: &mut Story,
        sentence: Option<String>,
    ) -> Result<Tried<RunRecord>, EngineError> {
        match self.settle_back(one, story, sentence).await? {
            Some(settled) => Ok(settled),
            None => self.run(one, story).await,
        }
    }
}

impl<'a> RunTrial<'a> {
    /// Tries until no other run is in the way. `None`: what it did is kept back.
    async fn tries(
        &mut self,
        one: Try<'_>,
        story: &mut Story,
        keeps: KeepBack,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        let mut retry = Retry::default();
        loop {
            let error = match Box::pin(self.attempt(one, story, keeps)).await {
                // What given code printed is on its way to the caller already.
                Err(error @ EngineError::Cell(_)) if self.terms.duty == Duty::Nothing => return Err(error),
                Err(error) => error,
                done => return done,
            };
            match retry.after(error).await? {
                // The next try writes while no other run does.
                Obstacle::Conflict => {
                    self.engine.store.count_started_again();
                    self.writes_alone = true;
                }
                Obstacle::Database => {}
                Obstacle::Executor(lost) => story.executor_lost(&lost),
            }
        }
    }

    pub(crate) fn new(
        engine: &'a Engine,
        work: &'a Work,
        terms: &'a Terms<'a>,
        head: Head,
        prepared: Prepared,
        policy: Policy,
        output: &'a mut dyn Output,
    ) -> Self {
        // Given code is judged without the workspace's tables: it cannot reach them.
        let mut schema =
            if terms.reach == Reach::Nothing { Schema::default() } else { engine.store.schema() };
        schema.tables.extend(prepared.tables());
        let params = terms.ask.map(|ask| ask.params.clone()).unwrap_or_default();
        Self {
            engine,
            work,
            terms,
            prepared,
            policy,
            schema,
            brief_hash: None,
            plan_id: None,
            params,
            execution: None,
            head,
            output: Mutex::new(output),
            loader: String::new(),
            module_imports: BTreeSet::new(),
            asked: tokio::sync::Mutex::default(),
            writes_alone: false,
            runs_alone: false,
            has_progress: AtomicBool::new(false),
            kept: None,
            reviewed: None,
        }
    }

    /// What the run goes on from, where it does.
    pub(crate) fn continued(&self) -> Option<&Continued> {
        self.terms.ask?.continues.as_deref()
    }

    /// What is known before any code ran: what an earlier run gave.
    pub(crate) fn known(&self) -> Evidence {
        let mut evidence = Evidence::default();
        if let Some(continued) = self.continued() {
            evidence.take(None, &Value::Object(continued.inputs()));
        }
        evidence
    }

    /// The modules that came with the work.
    pub(crate) fn given_modules(&self) -> Vec<SourceFile> {
        self.terms.modules.unwrap_or_default().to_vec()
    }

    /// All files were refused: there is nothing to answer from.
    pub(crate) fn unusable_files(&self) -> Option<RunError> {
        if !self.prepared.files.is_empty() || self.prepared.refused.is_empty() {
            return None;
        }
        let refused = self.prepared.refused.iter().take(5);
        let problems: Vec<String> =
            refused.map(|refused| format!("{}: {}", refused.name, refused.problem)).collect();
        let hint = Some("give files that can be read");
        Some(run_error(ErrorClass::Files, "no-readable-file", problems.join("; "), hint))
    }

    /// One try: one transaction, one cell.
    async fn attempt(
        &mut self,
        one: Try<'_>,
        story: &mut Story,
        keeps: KeepBack,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        let Try { accepted, exchange, is_last } = one;
        let version = match keeps {
            KeepBack::Nothing => 0,
            _ => self.engine.store.data_version().await?,
        };
        let wall = self.engine.settings.limits.wall;
        let Ok(begun) = tokio::time::timeout(wall, self.begin(accepted)).await else {
            return Ok(Some(store_limit(&StoreError::Busy, Cause::Timeout, None)));
        };
        let mut transaction = begun?;
        story.plan.params.clone_from(if accepted.params.is_empty() {
            &self.params
        } else {
            &accepted.params
        });
        let running = Instant::now();
        let mut evidence = self.known();
        let (execution, acted) = match self.execute(accepted, transaction.as_mut(), &mut evidence).await {
            Ok((execution, acted)) => (Arc::new(execution), acted),
            Err(error) => {
                roll_back(transaction).await?;
                story.timing.run = millis(running);
                // In a cluster it is tried again: what kept it may have been a lost executor or a busy machine.
                let gives_up = matches!(error, EngineError::Store(StoreError::LockLimit { .. }))
                    && !self.engine.is_queued(&self.head.run_id).await;
                return match error {
                    EngineError::Store(error) if gives_up => {
                        Ok(Some(store_limit(&error, Cause::LockLimit, None)))
                    }
                    error => Err(error),
                };
            }
        };
        story.timing.run = millis(running);
        story.past_verdict(&acted.past_verdict);
        if execution.cause != Cause::Ok && self.shares_cell(accepted) {
            // What went wrong may be another run's doing: what the code does alone counts.
            roll_back(transaction).await?;
            self.runs_alone = true;
            return Box::pin(self.attempt(one, story, keeps)).await;
        }
        self.execution = Some(Arc::clone(&execution));
        if let (Duty::Nothing, Some(session)) = (self.terms.duty, &self.terms.session) {
            self.engine.exec_sessions.ran(session, accepted.code.code());
        }
        let mut attempt = outcome::attempt(&execution, self.terms.duty);
        attempt.answer.notes = self.reading_notes(accepted, &execution);
        let diff = transaction.as_ref().map(Transaction::diff).unwrap_or_default();
        attempt.calls = transaction.as_ref().map(|open| open.calls().to_vec()).unwrap_or_default();
        if let (Some(status), Cause::Ok) = (&acted.refused, execution.cause) {
            // An action that was not carried out takes back everything that the plan did.
            roll_back(transaction).await?;
            attempt.status = Some(status.clone());
            let end = End::Ended { state: RunState::Answered, attempt: Box::new(attempt) };
            return self.write_down(story, end, exchange).await.map(|record| Some(Tried::Done(record)));
        }
        if let Some(trouble) =
            outcome::broken_promise(self.terms.duty, &execution, &attempt, &diff, &self.policy.statuses)
        {
            roll_back(transaction).await?;
            attempt.outcome.partial = self.terms.keeps_partial && execution.cause != Cause::Ok;
            if attempt.outcome.partial && is_last || self.terms.duty == Duty::Nothing {
                self.engine.keep_artifacts(&self.head.run_id, &execution).await?;
            }
            let is_contract = execution.cause == Cause::Ok && self.terms.duty == Duty::Answer;
            let state = if is_contract { RunState::RolledBack } else { RunState::Failed };
            let attempt = Some(Box::new(attempt.unanswered()));
            return Ok(Some(Tried::Trouble { trouble, state, attempt }));
        }
        self.engine.keep_artifacts(&self.head.run_id, &execution).await?;
        let wording = self.unsupported(&attempt, &diff, &evidence, accepted);
        let is_changed = !diff.is_empty() || attempt.has_later_calls();
        let held_by = (accepted.hold.clone())
            .or_else(|| self.rule_that_holds(&acted.approvals, diff.rows(), &attempt.calls))
            .or_else(|| self.differs_from_review(&diff, story).then_some(HeldBy::ChangedSinceReview));
        attempt.actions_said = acted.said;
        let is_kept = match keeps {
            KeepBack::Nothing => false,
            KeepBack::Words => wording.is_some(),
            KeepBack::WordsAndChanges => wording.is_some() || is_changed,
        };
        if is_kept {
            let reviews = keeps == KeepBack::WordsAndChanges;
            let kept =
                KeptBack { attempt, evidence, wording, held_by, version, reviews, ..KeptBack::default() };
            return self.keep(transaction, kept).await;
        }
        if let Some(trouble) = wording {
            if !is_changed && !is_last {
                roll_back(transaction).await?;
                let (state, attempt) = (RunState::RolledBack, Some(Box::new(attempt.unanswered())));
                return Ok(Some(Tried::Trouble { trouble, state, attempt }));
            }
            // A change is never thrown away for the words about it.
            let said = attempt.answer.text.replace(claims::plain_answer(&diff, &attempt.actions_said));
            story.replaced(said, &trouble);
        }
        self.settle(story, attempt, transaction, exchange, held_by).await.map(Some)
    }

    /// The first rule of an action or a tool by which what the code did waits for a person.
    pub(crate) fn rule_that_holds(
        &self,
        approvals: &[(String, Approval)],
        rows: usize,
        calls: &[Call],
    ) -> Option<HeldBy> {
        let rows = self.rows_together(rows);
        let action = approvals.iter().find(|(_, mode)| mode.holds(rows));
        let held = action.map(|(action, mode)| HeldBy::Action { action: action.clone(), mode: *mode });
        held.or_else(|| ordain_tools::not_allowed(&self.engine.settings.tools, calls))
    }

    async fn begin(&self, accepted: &Accepted) -> Result<Option<Transaction>, EngineError> {
        let intent = match self.terms.reach {
            Reach::Nothing => return Ok(None),
            Reach::Writes if accepted.effects.may_write && self.writes_alone => Intent::Write,
            Reach::Writes if accepted.effects.may_write => Intent::Beside,
            Reach::Writes | Reach::Reads => Intent::Read,
        };
        let begin = BeginOptions { run_id: self.head.run_id.clone(), intent };
        let capabilities = self.engine.capabilities(&accepted.effects, &self.policy);
        let store = &self.engine.store;
        let mut transaction = match capabilities.readable() {
            Some(tables) if self.terms.reach == Reach::Writes => store.begin_on(begin, tables).await?,
            _ => store.begin(begin).await?,
        };
        transaction.count_before(self.rows_before());
        Ok(Some(transaction))
    }

    /// Rows of each table that runs of the same request changed before.
    pub(crate) fn rows_before(&self) -> BTreeMap<String, u64> {
        self.continued().map(|continued| continued.used.rows.clone()).unwrap_or_default()
    }

    /// So many rows, with those that runs of the same request changed before.
    fn rows_together(&self, rows: usize) -> usize {
        rows.saturating_add(self.continued().map_or(0, |continued| continued.used.rows_together()))
    }

    /// Runs the code. Its calls are answered from the transaction, as far as its verdict permits them.
    async fn execute(
        &mut self,
        accepted: &Accepted,
        transaction: Option<&mut Transaction>,
        evidence: &mut Evidence,
    ) -> Result<(Execution, Acted), EngineError> {
        let mut job = self.job(accepted, &self.loader);
        job.may_share = self.shares_cell(accepted);
        let executor = Arc::clone(&self.engine.executor);
        let output = &mut **self.output.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(transaction) = transaction else {
            return Ok((executor.run(job, &mut NoHost, output).await?, Acted::default()));
        };
        // Waiting for others to write is a part of the time that the run may take.
        job.limits.wall = job.limits.wall.saturating_sub(transaction.take_waited());
        let writes = self.terms.reach == Reach::Writes;
        let capabilities = match self.terms.reach {
            Reach::Writes => self.engine.capabilities(&accepted.effects, &self.policy),
            // A session's earlier turns and the modules of a program may read what this code does not name.
            _ => Capabilities::read_only(),
        };
        let actions = Actions {
            executor: self.engine.executor.as_ref(),
            settings: &self.engine.settings,
            schema: &self.schema,
            reads: for_tools(&accepted.effects, &self.policy),
            share_cell: accepted.is_readers,
        };
        let actions = writes.then_some(actions);
        let tools = Tools {
            toolbox: &self.engine.settings.tools,
            known: &self.policy.tools,
            asked: self.asked.get_mut(),
        };
        let tools = writes.then_some(tools);
        let host = TransactionHost::new(transaction, capabilities, evidence, actions).with_tools(tools);
        run_with_tables(executor.as_ref(), job, host, output).await
    }

    /// Whether the code runs in a cell in which other plans of the reader's ran before it.
    fn shares_cell(&self, accepted: &Accepted) -> bool {
        let is_readers = self.terms.reach == Reach::Writes && accepted.is_readers;
        is_readers && !self.runs_alone && self.engine.executor.shares_cells()
    }

    /// What there is to run, with the modules that it imports.
    pub(crate) fn job(&self, accepted: &Accepted, loader: &str) -> Job {
        let settings = &self.engine.settings;
        let mut job = Job::new(accepted.code.clone(), self.needs(accepted).profile());
        "plan.py".clone_into(&mut job.name);
        if let Some(plan) = self.terms.order.plan {
            job.name.clone_from(&plan.name);
        }
        job.files = self.prepared.copied();
        job.session.clone_from(&self.terms.session);
        let judged_by = JudgedBy { policy: self.policy.clone(), schema: self.schema.clone() };
        job.judged_by = Some(Arc::new(judged_by));
        job.limits = self.terms.limits.clone();
        if self.terms.duty == Duty::Nothing {
            return job;
        }
        job.collect = outcome::COLLECTED.map(str::to_owned).to_vec();
        if job.session.is_some() {
            // What an earlier turn answered is not what this one answers.
            job.values.extend(outcome::COLLECTED.map(|name| (name.to_owned(), Value::Null)));
        }
        job.values.insert("user_request".to_owned(), Value::from(self.head.request.as_str()));
        job.tables = self.engine.store.schema().tables.into_iter().map(|table| table.name).collect();
        let helpers = match self.terms.reach {
            Reach::Writes => {
                actions::stubbed(settings.helpers.source(), &settings.catalog)
                    + &ordain_tools::stubs(&self.policy.tools)
            }
            _ => settings.helpers.source().to_owned(),
        };
        job.helpers = if loader.is_empty() { helpers } else { format!("{helpers}\n{loader}") };
        if self.terms.reach == Reach::Writes {
            let params = if accepted.params.is_empty() { &self.params } else { &accepted.params };
            job.values.insert("params".to_owned(), Value::Object(params.clone()));
        }
        if let Some(continued) = self.continued() {
            job.values.insert("inputs".to_owned(), Value::Object(continued.inputs()));
        }
        if self.terms.reach == Reach::Reads {
            job.values.insert("readings".to_owned(), self.prepared.readings.clone().into());
            job.collect.push(READING_NOTES.to_owned());
        }
        job
    }

    /// Which files could not be used, how the columns that the code names were read, and what reading their values told.
    fn reading_notes(&self, accepted: &Accepted, execution: &Execution) -> Vec<String> {
        let problems = self.prepared.problems().into_iter();
        let mut notes: Vec<String> = problems.map(|refused| refused.to_string()).collect();
        if !self.prepared.briefs.is_empty() {
            notes.extend(self.prepared.notes(accepted.code.code()));
        }
        if self.terms.reach == Reach::Writes && !accepted.effects.may_write {
            notes.extend(outcome::seed_notes(&self.engine.store, &accepted.effects));
        }
        let told = execution.values.get(READING_NOTES).and_then(Value::as_array).into_iter().flatten();
        for note in told.filter_map(Value::as_str) {
            if !notes.iter().any(|known| known == note) {
                notes.push(note.to_owned());
            }
        }
        notes
    }

    fn needs<'n>(&'n self, accepted: &'n Accepted) -> Needs<'n> {
        Needs {
            effects: &accepted.effects,
            modules: &self.module_imports,
            files: self.prepared.files.iter().map(|file| file.name.as_str()).collect(),
            fixed: self.terms.profile,
        }
    }

    pub(crate) fn unsupported(
        &self,
        attempt: &Attempt,
        diff: &Diff,
        evidence: &Evidence,
        accepted: &Accepted,
    ) -> Option<Trouble> {
        // What is read from files passes no host call, so there is nothing to compare with.
        self.terms.mode()?;
        claims::unsupported(self.told(attempt, diff, accepted)?, evidence)
    }

    /// What the comparison of an answer with rows is given.
    pub(crate) fn told<'t>(
        &'t self,
        attempt: &'t Attempt,
        diff: &'t Diff,
        accepted: &'t Accepted,
    ) -> Option<Told<'t>> {
        Some(Told {
            answer: attempt.answer.text.as_deref()?,
            request: &self.head.request,
            policy: &self.engine.settings.policy,
            code: accepted.code.code(),
            diff,
        })
    }

    /// Commits, holds or shows what the plan did; or records what it answered.
    pub(crate) async fn settle(
        &self,
        story: &mut Story,
        mut attempt: Attempt,
        transaction: Option<Transaction>,
        exchange: &Exchange,
        held_by: Option<HeldBy>,
    ) -> Result<Tried<RunRecord>, EngineError> {
        let committing = Instant::now();
        let state = RunState::without_changes(attempt.status.as_deref());
        let (Some(transaction), Some(mode)) = (transaction, self.terms.mode()) else {
            self.engine.mark_formulas(&self.head.run_id, &mut attempt.outcome.artifacts).await?;
            let end = End::Ended { state, attempt: Box::new(attempt) };
            return self.write_down(story, end, exchange).await.map(Tried::Done);
        };
        if mode == Mode::DryRun {
            return self.show(story, attempt, transaction, exchange).await;
        }
        let diff = transaction.diff();
        let rebase = self.rebase(&diff, &attempt.calls);
        let approval = self.engine.settings.approval;
        let is_changed = !diff.is_empty() || attempt.has_later_calls();
        let is_wanted = self.engine.settings.review && self.terms.order.planner.reviews();
        let not_reviewed = if is_changed { story.not_reviewed(is_wanted) } else { None };
        story.held_by = match &rebase {
            // The approval covers new values in derived columns, and no other difference.
            Some(rebase) => (!rebase.is_derived).then_some(HeldBy::ChangedSinceApproval),
            None if mode == Mode::Hold => Some(HeldBy::Request),
            None => held_by.or(not_reviewed).or_else(|| {
                approval
                    .holds(self.rows_together(diff.rows()))
                    .then_some(HeldBy::Workspace { mode: approval })
            }),
        };
        story.rebases = rebase;
        let record = story.record(&self.head, End::Ended { state, attempt: Box::new(attempt.clone()) });
        let note = self.note(exchange);
        let settled = if story.held_by.is_some() {
            transaction.hold(record, note).await
        } else {
            transaction.commit(record, note).await
        };
        match settled {
            Ok(mut record) => {
                record.timing_ms.commit = millis(committing);
                record.timing_ms.total = millis(self.head.started);
                Ok(Tried::Done(record))
            }
            Err(StoreError::Violated { violations }) => {
                attempt.invariants = broken_rules(&violations);
                Ok(violated(&violations, attempt))
            }
            // An invariant took too long; nothing is committed that was not checked.
            Err(error @ StoreError::Timeout { .. }) => {
                Ok(store_limit(&error, Cause::Timeout, Some(Box::new(attempt.unanswered()))))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Shows what would have changed.
    async fn show(
        &self,
        story: &Story,
        mut attempt: Attempt,
        mut transaction: Transaction,
        exchange: &Exchange,
    ) -> Result<Tried<RunRecord>, EngineError> {
        let review = transaction.review().await?;
        transaction.roll_back().await?;
        (attempt.diff, attempt.invariants) = (review.diff, review.invariants);
        if !review.violations.is_empty() {
            return Ok(violated(&review.violations, attempt));
        }
        let unchanged = RunState::without_changes(attempt.status.as_deref());
        let is_changed = !attempt.diff.is_empty() || attempt.has_later_calls();
        let state = if is_changed { RunState::RolledBack } else { unchanged };
        let end = End::Ended { state, attempt: Box::new(attempt) };
        self.write_down(story, end, exchange).await.map(Tried::Done)
    }

    /// Records a run that changed nothing.
    pub(crate) async fn write_down(
        &self,
        story: &Story,
        end: End,
        exchange: &Exchange,
    ) -> Result<RunRecord, EngineError> {
        let record = story.record(&self.head, end);
        let mut note = self.note(exchange);
        if is_planners(&record) {
            // Nothing was tried, so the same request may be sent again under the same key.
            note.claim = None;
        }
        let engine = &self.engine;
        retry(|| async { Ok(engine.store.record(record.clone(), note.clone()).await?) }).await
    }
}

pub(crate) async fn roll_back(transaction: Option<Transaction>) -> Result<(), StoreError> {
    match transaction {
        Some(transaction) => transaction.roll_back().await,
        None => Ok(()),
    }
}
