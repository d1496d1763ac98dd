//! The plan cache: kept plans are tried again, and good ones are kept, the same way for every kind of plan.

use ordain_planner::{Brief, Consent, Draft, Exchange, Planner, Reply, question_key};
use ordain_store::{CachedPlan, PlanAuthor};
use ordain_types::{BoundParam, PlanSource, Round, RunId, RunKind, RunRecord};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::fingerprint::{Components, DAY, FingerprintInputs, RULES, hash};
use crate::rounds::{Accepted, Trial as _, Tried, Try};
use crate::story::{Story, millis};
use crate::trial::RunTrial;

/// What a plan is found by.
pub(crate) struct CacheKey {
    kind: RunKind,
    /// The key of exactly what was asked, or of what was read in it.
    exact: String,
    /// Whether plans are kept for it.
    pub(crate) is_usable: bool,
    /// What the reader took from the request, for a kept plan.
    pub(crate) params: Vec<BoundParam>,
    /// The request as the reader read it, with its own values.
    reading: Option<String>,
    /// The day that a model is told.
    today: String,
}

impl CacheKey {
    /// The key of a brief. Plans that a model wrote belong to the caller whose request made them; the reader's hold nothing of
    /// anybody's.
    pub(crate) fn of(kind: RunKind, brief: &Brief, planner: &Planner, who: &str) -> Self {
        let key = Self::of_anybody(kind, brief, planner);
        match planner {
            Planner::Rules => key,
            Planner::Model(_) => {
                let (exact, today) = (hash(&format!("of\0{who}\0{}", key.exact)), brief.today.clone());
                Self { exact, today, ..key }
            }
        }
    }

    fn of_anybody(kind: RunKind, brief: &Brief, planner: &Planner) -> Self {
        match (kind, planner) {
            // Only the files' schemas are part of the key of a question about files.
            (RunKind::Ask, Planner::Rules) => Self::of_reading(brief),
            (RunKind::Ask, Planner::Model(_)) => Self::of_words(brief),
            _ => Self {
                kind,
                exact: hash(&question_key(brief)),
                is_usable: brief.turns.is_empty(),
                params: Vec::new(),
                reading: None,
                today: String::new(),
            },
        }
    }

    /// Why a plan does not do today that a model wrote, if so. The model was told the day, and nobody sees whether the plan holds
    /// it: as a date, a month or rows of that day.
    fn of_another_day(&self, plan: &CachedPlan) -> Option<String> {
        let day = plan.components.get(DAY).filter(|day| **day != self.today && !plan.pinned)?;
        Some(format!("a model wrote it that was told that the day is {day}"))
    }

    /// The key of what the reader reads: requests share a plan if the same code comes of both, with values of their own.
    fn of_reading(brief: &Brief) -> Self {
        let kind = RunKind::Ask;
        let Reply::Plan(draft) = ordain_planner::reader::plan(brief) else {
            let (exact, params, today) = (String::new(), Vec::new(), String::new());
            return Self { kind, exact, is_usable: false, params, reading: None, today };
        };
        Self {
            kind,
            exact: hash(&format!("ask\0read\0{}", without_reading(&draft.code))),
            is_usable: draft.hold.is_none() && draft.reading.is_some(),
            params: draft.params,
            reading: draft.reading,
            today: String::new(),
        }
    }

    /// The key of a request's exact words and signs, and of the conversation that it is part of: what was said before may
    /// give the same words another meaning.
    fn of_words(brief: &Brief) -> Self {
        let words = ordain_planner::reader::spoken(&brief.request);
        let turns: Vec<&str> =
            brief.turns.iter().flat_map(|turn| [turn.request.as_str(), turn.answer.as_str()]).collect();
        let exact = hash(&format!("ask\0{words}\0{}", serde_json::json!(turns)));
        let (kind, params, today) = (RunKind::Ask, Vec::new(), String::new());
        Self { kind, exact, is_usable: true, params, reading: None, today }
    }
}

/// A plan of the reader without its first line: that is the reading in words, which holds the values of one request.
fn without_reading(code: &str) -> &str {
    code.split_once('\n').map_or("", |(_, code)| code)
}

impl Engine {
    /// Tries the kept plans that still hold, and notes what was wrong with those that did not do.
    pub(crate) async fn try_kept(
        &self,
        key: &CacheKey,
        planner: &Planner,
        story: &mut Story,
        trial: &mut RunTrial<'_>,
    ) -> Result<Option<RunRecord>, EngineError> {
        for plan in self.store.find_plans(key.kind.as_str(), Some(&key.exact)).await? {
            let cached_plan = plan.plan_id.clone();
            let inputs = self.settings.fingerprint_inputs(trial.schema());
            if let Some(stale) = key.of_another_day(&plan).or_else(|| why_stale(&plan, inputs, planner)) {
                story.verdict.history.push(Round::Stale { cached_plan, stale });
                continue;
            }
            match self.try_one(key, plan, story.clone(), trial).await? {
                Some(Tried::Done(record)) => return Ok(Some(record)),
                Some(Tried::Trouble { trouble, .. }) => {
                    story.verdict.history.push(Round::KeptFailed { cached_plan, trouble });
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Judges a kept plan and tries it; `None` if the verifier refuses it now.
    async fn try_one(
        &self,
        key: &CacheKey,
        plan: CachedPlan,
        mut story: Story,
        trial: &mut RunTrial<'_>,
    ) -> Result<Option<Tried<RunRecord>>, EngineError> {
        let planner = trial.terms.order.planner;
        story.plan.source = PlanSource::Cache;
        story.plan.model = plan.model;
        story.plan.written_by = Some(RunId(plan.run_id.clone()));
        story.plan.plan_id = Some(plan.plan_id.clone());
        // The plan was kept for another request: what is said about this run has this run's values.
        let (reading, params) = (key.reading.clone(), key.params.clone());
        let title = reading.clone().unwrap_or(plan.title);
        let draft = Draft { code: plan.code, title, reading, params, ..Draft::default() };
        let judging = std::time::Instant::now();
        let verdict = self.verdicts.on(&draft.code, trial.policy(), trial.schema());
        story.timing.verify = millis(judging);
        story.judged(1, &draft, &verdict);
        let Some(code) = verdict.verified().cloned() else { return Ok(None) };
        if plan.source == PlanAuthor::Model && verdict.effects.may_write {
            // Consent to it stands in the record of the run for which it was written.
            let writer = self.store.run(&plan.run_id).await.ok();
            let review = writer.and_then(|writer| writer.verdict.review);
            let consent = review.as_ref().and_then(Consent::recorded);
            match consent.filter(|consent| consent.covers(&draft.text())) {
                Some(consent) => story.consented(consent),
                None if self.settings.review && planner.reviews() => return Ok(None),
                None => {}
            }
        }
        let mut accepted = Accepted::plain(code, verdict.effects.clone());
        accepted.is_readers = plan.source == PlanAuthor::Rules;
        if trial.params.is_empty() && verdict.effects.provided.contains("params") {
            // The same words mean the same values; the run that wrote the plan has them.
            let Ok(writer) = self.store.run(&plan.run_id).await else { return Ok(None) };
            let params = writer.plan.steps.into_iter().flat_map(|step| step.params);
            accepted.params = params.map(|param| (param.name, param.value)).collect();
        }
        // From now on the run counts as a use of this plan.
        trial.plan_id = Some(plan.plan_id);
        let one = Try { accepted: &accepted, exchange: &Exchange::default(), is_last: false };
        let tried = trial.run(one, &mut story).await;
        trial.plan_id = None;
        tried.map(Some)
    }

    /// Keeps a plan, and gives its id.
    pub(crate) async fn keep(
        &self,
        key: &CacheKey,
        record: &RunRecord,
        accepted: &Accepted,
        draft: &Draft,
    ) -> Result<String, EngineError> {
        let schema = self.store.schema();
        let code = if key.reading.is_some() { without_reading(&draft.code) } else { &draft.code };
        let mut components = self.settings.fingerprint_inputs(&schema).components(&accepted.effects, false);
        if !key.today.is_empty() {
            components.insert(DAY.to_owned(), key.today.clone());
        }
        let plan = CachedPlan {
            title: draft.title.clone(),
            model: record.plan.model.clone(),
            ..cached_plan(Written {
                kind: key.kind,
                exact: &key.exact,
                request: &record.request,
                code,
                source: match record.plan.source {
                    PlanSource::Model => PlanAuthor::Model,
                    _ => PlanAuthor::Rules,
                },
                run_id: &record.run_id,
                components,
            })
        };
        self.store.keep_plans(std::slice::from_ref(&plan)).await?;
        Ok(plan.plan_id)
    }
}

/// Code that was accepted, and what it was written for.
#[derive(Debug)]
pub struct Written<'a> {
    /// The kind of work.
    pub kind: RunKind,
    /// What the plan is found by.
    pub exact: &'a str,
    /// What was asked.
    pub request: &'a str,
    /// The code.
    pub code: &'a str,
    /// Who wrote it.
    pub source: PlanAuthor,
    /// The run that it was written for.
    pub run_id: &'a RunId,
    /// What it depends on.
    pub components: Components,
}

/// A plan as it is kept.
pub fn cached_plan(written: Written<'_>) -> CachedPlan {
    let Written { kind, exact, request, code, source, run_id, mut components } = written;
    if source == PlanAuthor::Rules {
        components.insert(RULES.to_owned(), ordain_planner::RULES_VERSION.to_string());
    }
    CachedPlan {
        plan_id: hash(&format!("{kind}\0{exact}\0{code}")),
        kind: kind.as_str().to_owned(),
        exact: exact.to_owned(),
        declared: None,
        request: request.to_owned(),
        title: String::new(),
        code: code.to_owned(),
        source,
        model: None,
        run_id: run_id.to_string(),
        components,
        pinned: false,
        uses: 0,
        created_at: String::new(),
        last_used_at: String::new(),
    }
}

/// Why a kept plan is not used again; `None` if it is.
pub fn why_stale(plan: &CachedPlan, inputs: FingerprintInputs<'_>, planner: &Planner) -> Option<String> {
    // With a model configured, its plans are wanted and not the reader's. A plan that answered a request stays good under
    // another model; the code of a check is compiled again, so that a better model improves it.
    let name = planner.name();
    let other = match plan.source {
        PlanAuthor::Rules => Some("the reader"),
        PlanAuthor::Model if plan.kind == RunKind::Check.as_str() => {
            plan.model.as_deref().filter(|model| *model != name)
        }
        _ => None,
    };
    match other.filter(|_| planner.can_repair() && !plan.pinned) {
        Some(other) => Some(format!("{other} wrote it, and now {name} is to write it")),
        None => inputs.stale(&plan.components),
    }
}

#[cfg(test)]
mod tests {
    use ordain_planner::{Task, Turn};

    use super::*;

    #[test]
    fn the_same_words_in_two_conversations_or_with_other_capitals_find_no_plan_of_each_other() {
        let key = |request: &str, before: Option<&str>| {
            let turn = |request: &str| Turn {
                request: request.to_owned(),
                answer: "3.".to_owned(),
                status: None,
                run_id: None,
            };
            let turns = before.map(turn).into_iter().collect();
            CacheKey::of_words(&Brief { turns, ..Brief::new(Task::Ask, request) }).exact
        };
        let (bookings, sales) = ("bookings in April?", "sales in April?");
        assert_ne!(key("and in May?", Some(bookings)), key("and in May?", Some(sales)));
        assert_ne!(key("and in May?", Some(bookings)), key("and in May?", None));
        assert_ne!(key("call it \"ABC\"", None), key("call it \"abc\"", None));
        assert_eq!(key("Bookings in May?", None), key("bookings in May?", None));
    }
    #[test]
    fn a_plan_of_a_model_does_not_answer_today_with_the_day_that_it_was_written() {
        let brief =
            |day: &str| Brief { today: day.to_owned(), ..Brief::new(Task::Ask, "what came in today?") };
        let key = |day: &str| CacheKey { today: day.to_owned(), ..CacheKey::of_words(&brief(day)) };
        let run_id = RunId("06".to_owned());
        let components = [(DAY.to_owned(), "2026-03-14".to_owned())].into();
        let mut plan = cached_plan(Written {
            kind: RunKind::Ask,
            exact: "x",
            request: "what came in today?",
            code: "rows = orders_tbl.search(where('day') == '2026-03-14')",
            source: PlanAuthor::Model,
            run_id: &run_id,
            components,
        });
        assert_eq!(key("2026-03-14").of_another_day(&plan), None);
        assert!(key("2026-03-15").of_another_day(&plan).is_some_and(|why| why.contains("2026-03-14")));
        plan.pinned = true;
        assert_eq!(key("2026-03-15").of_another_day(&plan), None, "its owner says that it is good");
    }
}
