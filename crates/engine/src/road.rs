//! The one road that every piece of work takes: claim, brief, plan, verdict, job, settlement, record.

use std::sync::Arc;
use std::time::Instant;

use ordain_cell::{Execution, Output};
use ordain_files::Prepared;
use ordain_planner::{Brief, Draft, Exchange, Planner, Progress};
use ordain_types::{BoxFuture, ErrorClass, RunError, RunId, RunKind, RunRecord, Strategy};

use crate::cache::CacheKey;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::programs::Opened;
use crate::rounds::{self, Ended, RoundLimits, Trial as _, Tried, Try};
use crate::steps;
use crate::story::{End, Head, Story, millis};
use crate::terms::Terms;
use crate::trial::RunTrial;
use crate::work::{Order, Work};

/// What came of a piece of work.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) record: RunRecord,
    pub(crate) prepared: Prepared,
    /// What running the code came to last; nothing if none ran now.
    pub(crate) execution: Option<Arc<Execution>>,
}

impl Engine {
    /// Carries out a piece of work. What is refused or fails has a record too, and a ledger entry.
    pub(crate) fn carry_out<'a>(
        &'a self,
        work: Work,
        progress: &'a mut dyn Progress,
        output: &'a mut dyn Output,
    ) -> BoxFuture<'a, Result<Finished, EngineError>> {
        // The run is a large future; callers should not have to carry it on their stacks.
        Box::pin(async move {
            let terms = Terms::of(&work, &self.settings);
            let order = terms.order;
            let head = match self.open(&order, work.fingerprint()).await? {
                Opened::Now(head) => head,
                Opened::Before(record) => {
                    let prepared = Prepared::default();
                    return Ok(Finished { record: *record, prepared, execution: None });
                }
            };
            let run_id = head.run_id.clone();
            let finished = self.go(&work, &terms, head, progress, output).await;
            match &finished {
                Ok(finished) => {
                    if is_planners(&finished.record) {
                        self.release_key(&order, &run_id).await;
                    }
                    self.remember(&terms, &finished.record).await?;
                }
                Err(error) => self.give_up(&order, &run_id, Some(error)).await,
            }
            finished
        })
    }

    /// Whether a run is in the queue of a cluster. While the store cannot be asked, it may be.
    pub(crate) async fn is_queued(&self, run: &RunId) -> bool {
        !matches!(self.store.queued(run).await, Ok(None))
    }

    async fn go(
        &self,
        work: &Work,
        terms: &Terms<'_>,
        head: Head,
        progress: &mut dyn Progress,
        output: &mut dyn Output,
    ) -> Result<Finished, EngineError> {
        let started = head.started;
        let mut story = Story::default();
        story.continues = terms.ask.and_then(|ask| ask.continues.as_ref()).map(|from| from.run.clone());
        let prepared = self.prepare(work, progress).await?;
        story.timing.plan = millis(started);
        let policy = self.policy_for(work).await?;
        let mut trial = RunTrial::new(self, work, terms, head, prepared, policy, output);
        let record = Box::pin(self.plan_and_run(&mut trial, story, progress)).await?;
        let RunTrial { prepared, execution, .. } = trial;
        Ok(Finished { record, prepared, execution })
    }

    async fn plan_and_run(
        &self,
        trial: &mut RunTrial<'_>,
        mut story: Story,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let nothing = Exchange::default();
        let order = trial.terms.order;
        if let Some(error) = trial.unusable_files() {
            return trial.write_down(&story, End::failed(error), &nothing).await;
        }
        if let Err(trouble) = trial.bring(&[]) {
            return trial.write_down(&story, End::rejected(trouble), &nothing).await;
        }
        trial.restore_session().await?;
        if let Some(plan) = order.plan {
            let draft = Draft {
                code: plan.code.clone(),
                title: plan.name.clone(),
                modules: trial.given_modules(),
                ..Draft::default()
            };
            return self.with_given(draft, story, trial).await;
        }
        story.planned_by(order.planner);
        story.plan.reason = trial.terms.reason.map(str::to_owned);
        if order.request.trim().is_empty() {
            let text = "The request is empty; say what you would like to know or change.".to_owned();
            let end = End::Declined { status: "invalid_request", text };
            return trial.write_down(&story, end, &nothing).await;
        }
        self.with_planner(story, trial, progress).await
    }

    /// Runs the code that the caller gave: nobody can put it right.
    async fn with_given(
        &self,
        draft: Draft,
        mut story: Story,
        trial: &mut RunTrial<'_>,
    ) -> Result<RunRecord, EngineError> {
        let exchange = Exchange::default();
        let (draft, verdict) = rounds::judge(draft, trial, &mut story.timing);
        story.judged(1, &draft, &verdict);
        let accepted = match rounds::accepted(&verdict, &draft) {
            Ok(accepted) => accepted,
            Err(trouble) => {
                story.troubled(&trouble);
                return trial.write_down(&story, End::rejected(trouble), &exchange).await;
            }
        };
        let one = Try { accepted: &accepted, exchange: &exchange, is_last: true };
        match trial.run(one, &mut story).await? {
            Tried::Done(record) => Ok(record),
            Tried::Trouble { trouble, state, attempt } => {
                story.troubled(&trouble);
                let end = End::Stopped { error: trouble.into(), state, attempt };
                trial.write_down(&story, end, &exchange).await
            }
        }
    }

    /// Finds a kept plan, or has the planner write one.
    async fn with_planner(
        &self,
        mut story: Story,
        trial: &mut RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let (order, planning) = (trial.terms.order, Instant::now());
        let (mut brief, brief_hash) = self.brief_for(trial).await?;
        let key = CacheKey::of(order.kind, &brief, order.planner, &order.origin.who);
        trial.params = key.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
        trial.brief_hash = Some(brief_hash);
        // A planner is held to the packages that its brief names; a given plan may use what is set up.
        trial.policy.packages.clone_from(&brief.packages);
        story.timing.plan += millis(planning);
        let is_resumed = trial.terms.ask.is_some_and(|ask| ask.resumed.is_some() || ask.continues.is_some());
        let is_cached = order.cache && key.is_usable && trial.given_modules().is_empty() && !is_resumed;
        if is_cached && let Some(record) = self.try_kept(&key, order.planner, &mut story, trial).await? {
            return Ok(record);
        }
        if steps::is_readers(trial, &brief, order.planner)
            && let Some(record) = self.by_reader(&brief, &mut story, trial, progress).await?
        {
            return Ok(record);
        }
        if is_cached && order.kind == RunKind::Ask && order.planner.can_repair() {
            brief.examples = self.examples(order.request, &order.origin.who).await?;
        }
        let asked = (order.planner, &mut brief);
        if let Some(record) = Box::pin(self.by_strategy(asked, &mut story, trial, progress)).await? {
            return Ok(record);
        }
        let limits = RoundLimits {
            rounds: self.settings.rounds,
            review: self.settings.review,
            review_outline: self.settings.review_outline,
        };
        let mut exchange = order.planner.begin(&brief);
        let asked = (order.planner, &brief);
        match rounds::rounds(&mut exchange, asked, &mut story, trial, limits, progress).await? {
            Ended::Done { done: mut record, accepted, draft } => {
                let is_lasting = !is_of_its_day(&draft.code, order.request);
                if is_cached
                    && is_lasting
                    && draft.modules.is_empty()
                    && self.is_worth_keeping(&record, &story)
                {
                    record.plan.plan_id = Some(self.keep(&key, &record, &accepted, &draft).await?);
                }
                Ok(record)
            }
            Ended::Asks(question) => steps::ask_back(question, &mut story, trial, &exchange).await,
            Ended::Outlined(outline) => {
                let reason = "the planner replied with an outline";
                steps::take(Strategy::Plan, reason, &mut story, trial, progress);
                let said = (&mut story, &mut exchange);
                self.outlined((order.planner, &brief), outline, said, trial, progress).await
            }
            Ended::Over(end) if is_for_react(&order, &end) => {
                let reason = "one program failed on data that its author had not seen";
                steps::take(Strategy::React, reason, &mut story, trial, progress);
                self.react((order.planner, &brief), &mut story, trial, progress, &[]).await
            }
            Ended::Over(end) => trial.write_down(&story, end, &exchange).await,
        }
    }

    /// Carries out a request that the reader understands, without a model. `None` if that did not do after all.
    async fn by_reader(
        &self,
        brief: &Brief,
        story: &mut Story,
        trial: &mut RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<RunRecord>, EngineError> {
        let mut own = story.clone();
        own.planned_by(&Planner::Rules);
        steps::take(Strategy::Direct, "the reader understood every word", &mut own, trial, progress);
        let mut exchange = Exchange::default();
        let limits = RoundLimits::default();
        let asked = (&Planner::Rules, brief);
        match rounds::rounds(&mut exchange, asked, &mut own, trial, limits, progress).await? {
            Ended::Done { done: record, .. } => Ok(Some(record)),
            Ended::Asks(_) | Ended::Outlined(_) | Ended::Over(_) => {
                trial.head.strategy = trial.terms.order.strategy;
                Ok(None)
            }
        }
    }

    /// Whether a plan has shown that it does what was asked.
    fn is_worth_keeping(&self, record: &RunRecord, story: &Story) -> bool {
        let is_answer = record.status.as_deref().is_some_and(|status| {
            matches!(status, "success" | "no_match" | "insufficient_stock")
                || self.settings.statuses.contains_key(status)
        });
        // A plan whose answer had to be replaced would need it replaced again.
        record.error.is_none() && is_answer && !story.has_replaced_answer()
    }
}

/// Whether code names a year that the request does not: it was written for the day of its brief, and for no other.
fn is_of_its_day(code: &str, request: &str) -> bool {
    let is_year = |number: &&str| number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    let numbers = code.split(|letter: char| !letter.is_ascii_digit());
    numbers.filter(is_year).any(|year| !request.contains(year))
}

/// Whether a program failed on what it met in the data, where the strategy is open.
fn is_for_react(order: &Order<'_>, end: &End) -> bool {
    let is_open = order.strategy == Strategy::Auto && order.planner.can_repair();
    is_open && matches!(end, End::Stopped { error, .. } if error.class == ErrorClass::Runtime)
}

/// Whether a run ended because no planner could be had, so that nothing was tried.
pub(crate) fn is_planners(record: &RunRecord) -> bool {
    record.error.as_ref().is_some_and(|error: &RunError| error.class == ErrorClass::Planner)
}
