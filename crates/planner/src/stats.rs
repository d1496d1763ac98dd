//! Figures over many runs: how plans fared, what people think of them, and what they cost.

use std::collections::BTreeMap;

use ordain_types::{PlanSource, RunRecord};
use serde::Serialize;

use crate::provider::cost_usd;

/// Figures over runs, which are added one by one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many runs.
    pub runs: u64,
    /// By what made them.
    pub kinds: BTreeMap<String, u64>,
    /// By where they stand.
    pub states: BTreeMap<String, u64>,
    /// Plans that came from the cache.
    pub plans_cached: u64,
    /// Plans that a reader or a model wrote.
    pub plans_written: u64,
    /// Those of them whose first version held.
    pub plans_accepted_at_first: u64,
    /// Rounds in which they were written.
    pub rounds: u64,
    /// The most rounds of one plan.
    pub rounds_max: u32,
    /// What went wrong in rounds of runs and of their steps, by class.
    pub failures: BTreeMap<String, u64>,
    /// How often steps were planned anew.
    pub replans: u64,
    /// Criteria of steps.
    pub criteria: u64,
    /// Those of them that held.
    pub criteria_met: u64,
    /// What people think of the runs: `good` or `bad`.
    pub ratings: BTreeMap<String, u64>,
    /// Calls of models.
    pub model_calls: u64,
    /// Tokens given to models.
    pub input_tokens: u64,
    /// Tokens that came back.
    pub output_tokens: u64,
    /// What models cost whose price is known, in dollars.
    pub cost_usd: f64,
    /// Runs whose model has no known price.
    pub runs_without_price: u64,
}

impl Stats {
    /// Counts a run.
    pub fn add(&mut self, record: &RunRecord) {
        self.runs += 1;
        *self.kinds.entry(record.kind.to_string()).or_default() += 1;
        *self.states.entry(record.state.to_string()).or_default() += 1;
        self.plans_cached += u64::from(record.plan.source == PlanSource::Cache);
        if record.is_written() {
            let rounds = record.verdict.iterations;
            self.plans_written += 1;
            self.plans_accepted_at_first += u64::from(rounds == 1 && record.verdict.accepted);
            self.rounds += u64::from(rounds);
            self.rounds_max = self.rounds_max.max(rounds);
        }
        for class in record.failures() {
            *self.failures.entry(class.name()).or_default() += 1;
        }
        self.replans += record.plan.replans.len() as u64;
        for holds in record.criteria() {
            self.criteria += 1;
            self.criteria_met += u64::from(holds);
        }
        if let Some(rating) = &record.rating {
            *self.ratings.entry(rating.grade.as_str().to_owned()).or_default() += 1;
        }
        self.add_usage(record);
    }

    fn add_usage(&mut self, record: &RunRecord) {
        let usage = &record.usage;
        self.model_calls += usage.model_calls;
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
        if usage.input_tokens + usage.output_tokens == 0 {
            return;
        }
        match cost_of(record) {
            Some(dollars) => self.cost_usd += dollars,
            None => self.runs_without_price += 1,
        }
    }
}

/// What the tokens of a run cost in dollars; `None` if the price of its model is not known.
pub fn cost_of(record: &RunRecord) -> Option<f64> {
    let (model, usage) = (record.plan.model.as_deref()?, &record.usage);
    cost_usd(model, usage.input_tokens, usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use ordain_types::{
        CriterionJudge, CriterionRecord, ErrorClass, Grade, Judged, Rating, Round, RunId, RunKind,
        StepRecord, Trouble,
    };

    use super::*;

    #[test]
    fn runs_are_counted_by_how_their_plans_fared() {
        let mut stats = Stats::default();
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy two");
        record.plan.source = PlanSource::Model;
        record.plan.model = Some("openai:gpt-4.1-mini".to_owned());
        (record.verdict.iterations, record.verdict.accepted) = (1, true);
        (record.usage.input_tokens, record.usage.output_tokens) = (1_000_000, 0);
        stats.add(&record);
        let (code, message) = ("c".to_owned(), "m".to_owned());
        let trouble = Trouble { class: ErrorClass::Runtime, code, message, line: None, hint: None };
        let failed = Round::Judged(Judged { round: 1, trouble: Some(trouble), ..Judged::default() });
        record.verdict.iterations = 3;
        record.verdict.history.push(failed.clone());
        let (criterion, why) = ("it is short".to_owned(), None);
        let criterion = CriterionRecord { judged_by: CriterionJudge::Code, criterion, holds: false, why };
        let step = StepRecord { rounds: vec![failed], criterion: Some(criterion), ..StepRecord::default() };
        record.plan.steps.push(step);
        record.plan.replans.push("rows changed".to_owned());
        record.plan.model = Some("local:unknown".to_owned());
        let (by, at) = ("me".to_owned(), String::new());
        record.rating = Some(Rating { grade: Grade::Bad, note: None, by, at });
        stats.add(&record);
        assert_eq!((stats.plans_written, stats.plans_accepted_at_first), (2, 1));
        assert_eq!((stats.rounds, stats.rounds_max, stats.replans), (4, 3, 1));
        assert_eq!((stats.criteria, stats.criteria_met), (1, 0));
        assert_eq!(stats.failures, BTreeMap::from([("runtime".to_owned(), 2)]));
        assert_eq!(stats.ratings, BTreeMap::from([("bad".to_owned(), 1)]));
        assert!(stats.cost_usd > 0.0 && stats.runs_without_price == 1);
    }
}
