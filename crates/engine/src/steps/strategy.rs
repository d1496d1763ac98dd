//! Which way a plan grows: one program, an outline, or step by step.

use ordain_planner::{Brief, Exchange, Forms, OutlineForm, Planner, Progress, Reply, Stage, reader};
use ordain_types::{ErrorClass, Event, Outline, QuestionKind, RunRecord, StepRecord, Strategy};

use super::budget::Spent;
use super::plan::{PlanRun, record_of};
use super::react::ReactRun;
use crate::ask::{Ask, Decision};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::outcome::run_error;
use crate::rounds::{self, Ended, RoundLimits};
use crate::story::{End, Story};
use crate::tools;
use crate::trial::RunTrial;

/// The question that an outline waits with.
const SHALL_IT: &str = "Shall this outline be carried out?";

/// Whether the reader answers a request although a model is configured: the workspace says so, and it is certain.
pub(crate) fn is_readers(trial: &RunTrial<'_>, brief: &Brief, planner: &Planner) -> bool {
    let Some(ask) = trial.terms.ask else { return false };
    if !trial.engine.settings.reader_first
        || ask.strategy != Strategy::Auto
        || ask.resumed.is_some()
        || !planner.can_repair()
    {
        return false;
    }
    matches!(reader::plan(brief), Reply::Plan(draft) if draft.reading.is_some() && draft.hold.is_none())
}

/// Notes which strategy is taken and why.
pub(crate) fn take(
    strategy: Strategy,
    reason: &str,
    story: &mut Story,
    trial: &mut RunTrial<'_>,
    progress: &mut dyn Progress,
) {
    trial.head.strategy = strategy;
    story.plan.reason = Some(reason.to_owned());
    progress.event(&Event::Strategy { name: strategy, reason: reason.to_owned() });
}

impl Engine {
    /// Carries out a request by another strategy than one program. `None`: one program it is.
    pub(crate) async fn by_strategy(
        &self,
        (planner, brief): (&Planner, &mut Brief),
        story: &mut Story,
        trial: &mut RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<RunRecord>, EngineError> {
        let Some(ask) = trial.terms.ask else { return Ok(None) };
        if let Some(resumed) = &ask.resumed {
            return self.resume(ask, &resumed.record, (planner, brief), story, trial, progress).await;
        }
        let strategy = if ask.outline.is_some() { Strategy::Plan } else { ask.strategy };
        match strategy {
            Strategy::Direct => Ok(None),
            Strategy::Auto => {
                brief.forms.outline = OutlineForm::Allowed;
                Ok(None)
            }
            Strategy::Plan | Strategy::React if !planner.can_repair() => {
                let message = format!("the strategy `{strategy}` needs a model");
                let hint = Some("set `model.name`, or take `direct`");
                let error = run_error(ErrorClass::Planner, "strategy-needs-model", message, hint);
                trial.write_down(story, End::failed(error), &Exchange::default()).await.map(Some)
            }
            Strategy::React => {
                take(Strategy::React, "it was asked for", story, trial, progress);
                self.react((planner, brief), story, trial, progress, &[]).await.map(Some)
            }
            Strategy::Plan => {
                take(Strategy::Plan, "it was asked for", story, trial, progress);
                self.plan((planner, brief), ask.outline.clone(), story, trial, progress).await.map(Some)
            }
        }
    }

    /// Carries out an outline: the given one, or one that the planner is asked for.
    async fn plan(
        &self,
        (planner, brief): (&Planner, &mut Brief),
        given: Option<Outline>,
        story: &mut Story,
        trial: &mut RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let mut exchange = Exchange::default();
        if let Some(outline) = given {
            if let Err(trouble) = trial.judge_checks(&outline) {
                return trial.write_down(story, End::rejected(trouble), &exchange).await;
            }
            return self.outlined((planner, brief), outline, (story, &mut exchange), trial, progress).await;
        }
        brief.forms.outline = OutlineForm::Required;
        exchange = planner.begin(brief);
        let (rounds, review_outline) = (self.settings.rounds, self.settings.review_outline);
        let limits = RoundLimits { rounds, review: false, review_outline };
        let asked = (planner, &*brief);
        match rounds::rounds(&mut exchange, asked, story, trial, limits, progress).await? {
            Ended::Outlined(outline) => {
                self.outlined((planner, brief), outline, (story, &mut exchange), trial, progress).await
            }
            Ended::Asks(question) => ask_back(question, story, trial, &exchange).await,
            Ended::Over(end) => trial.write_down(story, end, &exchange).await,
            // A program is not among the forms that the brief allows.
            Ended::Done { done, .. } => Ok(done),
        }
    }

    /// Carries out an outline that the planner gave, unless a person wants to see it first.
    pub(crate) async fn outlined(
        &self,
        (planner, brief): (&Planner, &Brief),
        outline: Outline,
        (story, exchange): (&mut Story, &mut Exchange),
        trial: &RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RunRecord, EngineError> {
        let is_approved = |ask: &Ask| {
            ask.outline.is_some()
                || matches!(&ask.resumed, Some(resumed) if !matches!(resumed.decision, Decision::Respond(_)))
        };
        if let Some(ask) = trial.terms.ask
            && (ask.show_plan || self.settings.holds_outlines)
            && !is_approved(ask)
        {
            story.plan.steps = outline.in_order().unwrap_or_default().into_iter().map(record_of).collect();
            progress.event(&Event::Outline { outline: outline.clone() });
            story.plan.outline = Some(outline);
            story.is_of_steps();
            return trial.wait(story, (QuestionKind::Outline, SHALL_IT.to_owned()), exchange).await;
        }
        self.carry_out_outline((planner, brief), outline, (story, exchange), trial, progress, &[]).await
    }

    async fn carry_out_outline(
        &self,
        asked: (&Planner, &Brief),
        outline: Outline,
        (story, exchange): (&mut Story, &mut Exchange),
        trial: &RunTrial<'_>,
        progress: &mut dyn Progress,
        earlier: &[StepRecord],
    ) -> Result<RunRecord, EngineError> {
        let mut spent = Spent::after(&self.settings.budgets, trial.continued());
        spent.add(story.usage, exchange.cost_usd);
        let run = PlanRun::new(trial, asked, outline, spent, progress);
        Box::pin(run.carry_out(story, exchange, earlier)).await
    }

    /// Goes step by step in a session.
    pub(crate) async fn react(
        &self,
        (planner, brief): (&Planner, &Brief),
        story: &mut Story,
        trial: &RunTrial<'_>,
        progress: &mut dyn Progress,
        earlier: &[StepRecord],
    ) -> Result<RunRecord, EngineError> {
        let stage = Stage::React { steps: self.settings.budgets.steps };
        let brief = Brief { stage, forms: Forms::default(), ..brief.clone() };
        let mut exchange = planner.begin(&brief);
        exchange.usage = story.usage;
        let spent = Spent::after(&self.settings.budgets, trial.continued());
        let run = ReactRun::new(trial, (planner, &brief), spent, progress);
        Box::pin(run.carry_out(story, &mut exchange, earlier)).await
    }

    /// Goes on with a run that waited. `None`: it goes on as one program, with the answer in its brief.
    async fn resume(
        &self,
        ask: &Ask,
        record: &RunRecord,
        (planner, brief): (&Planner, &mut Brief),
        story: &mut Story,
        trial: &mut RunTrial<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Option<RunRecord>, EngineError> {
        let Some(resumed) = &ask.resumed else { return Ok(None) };
        story.plan.questions.clone_from(&record.plan.questions);
        story.plan.reason.clone_from(&record.plan.reason);
        story.usage = record.usage;
        let asked = record
            .calls
            .iter()
            .filter_map(|call| Some((tools::asked_for(&call.name, &call.arguments), call.result.clone()?)));
        trial.asked.get_mut().extend(asked);
        trial.head.strategy = record.strategy;
        trial.head.started_at.clone_from(&record.started_at);
        if let Some(question) = story.plan.questions.last_mut() {
            let yes = "yes".to_owned();
            question.answer = Some(match &resumed.decision {
                Decision::Respond(text) => text.clone(),
                Decision::Approve | Decision::Edit(_) => yes,
            });
        }
        let answers = story.plan.questions.iter().filter(|question| question.kind == QuestionKind::Planner);
        brief.answers = answers.cloned().collect();
        let is_respond = matches!(resumed.decision, Decision::Respond(_));
        let outline = match &resumed.decision {
            Decision::Edit(outline) => Some(outline.clone()),
            Decision::Approve | Decision::Respond(_) => record.plan.outline.clone(),
        };
        let was_shown =
            story.plan.questions.last().is_some_and(|question| question.kind == QuestionKind::Outline);
        match (record.strategy, outline) {
            (Strategy::React, _) => {
                self.react((planner, brief), story, trial, progress, &record.plan.steps).await.map(Some)
            }
            // A remark about an outline asks for another one.
            (_, Some(_)) if was_shown && is_respond => {
                self.plan((planner, brief), None, story, trial, progress).await.map(Some)
            }
            (_, Some(outline)) => {
                if let Err(trouble) = trial.judge_checks(&outline) {
                    let end = End::rejected(trouble);
                    return trial.write_down(story, end, &Exchange::default()).await.map(Some);
                }
                let said = (story, &mut Exchange::default());
                let steps = &record.plan.steps;
                self.carry_out_outline((planner, brief), outline, said, trial, progress, steps)
                    .await
                    .map(Some)
            }
            (strategy, None) => {
                if strategy == Strategy::Auto {
                    brief.forms.outline = OutlineForm::Allowed;
                }
                Ok(None)
            }
        }
    }
}

/// A question of the planner: in a conversation the next message answers it; elsewhere the run waits.
pub(crate) async fn ask_back(
    question: String,
    story: &mut Story,
    trial: &RunTrial<'_>,
    exchange: &Exchange,
) -> Result<RunRecord, EngineError> {
    let can_wait = matches!(trial.terms.ask, Some(ask)
        if ask.planner.can_repair() && ask.conversation.is_none() && ask.turns.is_none());
    if can_wait {
        return trial.wait(story, (QuestionKind::Planner, question), exchange).await;
    }
    trial.write_down(story, rounds::declined("invalid_request", &question), exchange).await
}
