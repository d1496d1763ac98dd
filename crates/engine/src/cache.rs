//! The plan cache: kept plans are tried again, and good ones are kept, the same way for every kind of plan.

use std::time::Instant;

use ordain_planner::{Draft, Exchange, Planner};
use ordain_store::CachedPlan;
use ordain_types::{PlanSource, RunId, RunRecord};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::fingerprint::{RULES, hash};
use crate::rounds::{self, Accepted, Last, Trial, Tried, millis};

/// What a plan is kept under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Under<'a> {
    /// What the plan is for: `ask` or `code`.
    pub(crate) kind: &'a str,
    /// The key of exactly what was asked.
    pub(crate) exact: &'a str,
    /// The key of its shape, where plans of its kind are shared by shape.
    pub(crate) shape: Option<&'a str>,
}

impl Engine {
    /// Tries the kept plans that still hold. Gives what went wrong with those that did not do.
    pub(crate) async fn try_kept<T: Trial>(
        &self,
        under: Under<'_>,
        planner: &Planner,
        record: &RunRecord,
        trial: &mut T,
    ) -> Result<(Option<RunRecord>, Vec<Value>), EngineError> {
        let mut history = Vec::new();
        for plan in self.store.find_plans(under.kind, under.exact, under.shape).await? {
            // Whoever points Ordain to a model wants its plans and not those of the rules.
            let is_outdone = planner.can_repair() && plan.source == "rules";
            if is_outdone {
                continue;
            }
            if let Some(why) = self.settings.stale(&plan, trial.schema()) {
                history.push(json!({ "round": 0, "cached_plan": plan.plan_id, "stale": why }));
                continue;
            }
            let mut record = record.clone();
            record.plan.source = PlanSource::Cache;
            record.plan.model.clone_from(&plan.model);
            record.plan.written_by = Some(RunId(plan.run_id.clone()));
            record.plan.plan_id = Some(plan.plan_id.clone());
            let draft = Draft { code: plan.code, title: plan.title, ..Draft::default() };
            let judging = Instant::now();
            let verdict = self.verdicts.on(&draft.code, trial.policy(), trial.schema());
            record.timing_ms.verify = millis(judging);
            rounds::note(&mut record, 1, &draft, &verdict);
            let Some(code) = verdict.verified().cloned() else { continue };
            let accepted = Accepted::plain(code, verdict.effects.clone());
            trial.counts(Some(plan.plan_id.clone()));
            let exchange = Exchange::default();
            let tried = trial.run(accepted, record, Last { is_last: false, exchange: &exchange }).await?;
            trial.counts(None);
            match tried {
                Tried::Done(record) => return Ok((Some(*record), history)),
                Tried::Trouble(trouble, _) => {
                    history.push(json!({ "round": 0, "cached_plan": plan.plan_id, "trouble": trouble }));
                }
            }
        }
        Ok((None, history))
    }

    /// Keeps a plan, and gives its id.
    pub(crate) async fn keep(
        &self,
        under: Under<'_>,
        record: &RunRecord,
        accepted: &Accepted,
        draft: &Draft,
    ) -> Result<String, EngineError> {
        let schema = self.store.schema();
        let mut components = self.settings.ground(&schema).components(&accepted.effects);
        if record.plan.source == PlanSource::Rules {
            components.insert(RULES.to_owned(), ordain_planner::RULES_VERSION.to_string());
        }
        let plan = CachedPlan {
            plan_id: hash(&format!("{}\0{}\0{}", under.kind, under.exact, draft.code)),
            kind: under.kind.to_owned(),
            exact: under.exact.to_owned(),
            shape: under.shape.map(str::to_owned),
            request: record.request.clone(),
            title: draft.title.clone(),
            code: draft.code.clone(),
            source: if record.plan.source == PlanSource::Model { "model" } else { "rules" }.to_owned(),
            model: record.plan.model.clone(),
            run_id: record.run_id.to_string(),
            components,
            pinned: false,
            uses: 0,
            created_at: String::new(),
            last_used_at: String::new(),
        };
        self.store.keep_plan(&plan).await?;
        Ok(plan.plan_id)
    }
}
