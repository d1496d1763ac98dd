//! Puts together what a planner is shown.

use std::collections::BTreeSet;

use ordain_planner::reader::{self, Explained, Missed};
use ordain_planner::{
    Brief, Example, Forms, InvariantBrief, OutlineForm, Planner, PlannerError, PolicyFinding, Task, Turn,
    policy_findings,
};
use ordain_store::{CachedPlan, RunFilter};
use ordain_types::{RunKind, RunState};
use ordain_verify::Policy;

use crate::code::CodeTask;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::identity::Identity;
use crate::trial::RunTrial;
use crate::work::Work;

/// Declined requests that are read again for the words that they were declined for.
const MISSED_RUNS: u64 = 500;
/// How often a planner may look at the data before it writes a plan.
const LOOKS_MAX: u32 = 2;
/// Kept plans that are compared with a request, and words that an example shares with it at least.
const PLANS_COMPARED: u64 = 200;
const SHARED_WORDS_MIN: usize = 2;

/// What of a brief comes from the workspace and not from the request.
fn settings_digest(brief: &Brief) -> String {
    Identity::of("settings")
        .with("policy", &brief.policy)
        .with("invariants", &brief.invariants)
        .with("catalog", &*brief.catalog)
        .with("helpers", &brief.helpers)
        .with("statuses", &brief.statuses)
        .with("packages", &brief.packages)
        .with("limits", &brief.limits)
        .digest()
}

impl Engine {
    /// The brief of a piece of work that a planner is to write a plan for, and its hash.
    pub(crate) async fn brief_for(&self, trial: &RunTrial<'_>) -> Result<(Brief, String), EngineError> {
        match trial.work {
            Work::Code(task) => {
                let brief = self.code_brief(task, trial.prepared.shown(), &trial.policy).await?;
                let digest = Identity::of("brief")
                    .with("settings", &settings_digest(&brief))
                    .with("request", &brief.request)
                    .with("files", &brief.files)
                    .with("turns", &brief.turns)
                    .digest();
                Ok((brief, digest))
            }
            Work::Ask(ask) => {
                let (mut brief, hash) = self.brief(&ask.request, self.turns_before(ask).await?).await?;
                brief.forms = Forms { looks: LOOKS_MAX, outline: OutlineForm::Never };
                Ok((brief, hash))
            }
            // Given code has no planner.
            Work::Exec(_) => self.brief(trial.terms.order.request, Vec::new()).await,
        }
    }

    /// The rules by which its code is judged.
    pub(crate) async fn policy_for(&self, work: &Work) -> Result<Policy, EngineError> {
        match work {
            Work::Ask(_) => Ok(Policy::clone(&self.policy)),
            Work::Exec(exec) => {
                Ok(exec.policy(&self.exec_sessions.of(exec.session.as_deref()), &self.settings.own_packages))
            }
            Work::Code(task) => {
                let mut policy = self.code_policy(task);
                self.extend_by_session(&mut policy, task).await?;
                Ok(policy)
            }
        }
    }

    /// The brief of a request, and its hash.
    pub(crate) async fn brief(
        &self,
        request: &str,
        turns: Vec<Turn>,
    ) -> Result<(Brief, String), EngineError> {
        let settings = &self.settings;
        let mut brief = Brief::new(Task::Ask, "");
        brief.policy.clone_from(&settings.policy);
        brief.invariants = settings
            .invariants
            .iter()
            .map(|(name, sql)| InvariantBrief { name: name.clone(), sql: sql.clone() })
            .collect();
        brief.catalog = settings.catalog.clone();
        settings.helpers.source().clone_into(&mut brief.helpers);
        brief.statuses = settings.told_statuses();
        brief.packages.clone_from(&settings.packages);
        brief.limits = settings.limits.clone();
        let of_settings = self.settings_hash.get_or_init(|| settings_digest(&brief));
        request.clone_into(&mut brief.request);
        brief.turns = turns;
        brief.today = self.store.timestamp().chars().take("2026-03-14".len()).collect();
        let look = self.look().await?;
        let digest = Identity::of("brief")
            .with("settings", of_settings)
            .with("request", &brief.request)
            .with("turns", &brief.turns)
            .with("today", &brief.today)
            .with("tables", &look.hash)
            .digest();
        brief.tables = look.tables;
        look.database.clone_into(&mut brief.database);
        Ok((brief, digest))
    }

    /// Plans that were kept for requests of the same caller that share words with this one, the nearest first.
    pub(crate) async fn examples(&self, request: &str, who: &str) -> Result<Vec<Example>, EngineError> {
        let words: BTreeSet<String> = words(request).collect();
        let schema = self.store.schema();
        let plans =
            self.store.plans_after(Some(RunKind::Ask.as_str()), Some(who), None, PLANS_COMPARED).await?;
        let mut near: Vec<(usize, CachedPlan)> = plans
            .into_iter()
            .map(|plan| (self::words(&plan.request).filter(|word| words.contains(word)).count(), plan))
            .filter(|(shared, plan)| {
                *shared >= SHARED_WORDS_MIN && self.settings.stale(plan, &schema).is_none()
            })
            .collect();
        near.sort_by_key(|(shared, plan)| std::cmp::Reverse((*shared, plan.pinned)));
        Ok(near.into_iter().map(|(_, plan)| Example { request: plan.request, code: plan.code }).collect())
    }

    /// What the reader understands of a request, without carrying it out.
    pub async fn read(&self, request: &str) -> Result<Explained, EngineError> {
        let (brief, _) = self.brief(request, Vec::new()).await?;
        Ok(reader::explain(&brief))
    }

    /// What the reader understands of a question about files, without answering it.
    pub async fn read_files(&self, task: &CodeTask) -> Result<Explained, EngineError> {
        let prepared = self.prepare_files(&task.files, &task.mounted, &self.settings.limits).await?;
        let brief = self.code_brief(task, prepared.shown(), &self.code_policy(task)).await?;
        Ok(reader::explain(&brief))
    }

    /// What the owner should know about the policy, from its first line to its last.
    pub async fn policy_findings(&self) -> Result<Vec<PolicyFinding>, EngineError> {
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(policy_findings(&brief, &self.settings.tools.known()))
    }

    /// What a model says of the policy. Opinions, not facts.
    pub async fn policy_opinions(
        &self,
        planner: &Planner,
    ) -> Result<Result<Vec<PolicyFinding>, PlannerError>, EngineError> {
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(planner.read_policy(&brief).await)
    }

    /// The words for which the last requests were declined and that are still not understood, the most frequent first.
    pub async fn missed(&self) -> Result<Vec<Missed>, EngineError> {
        let declined = RunFilter { states: vec![RunState::Declined], ..RunFilter::newest(MISSED_RUNS) };
        let runs = self.store.find_runs(declined).await?;
        let asked = runs.iter().filter(|run| run.kind == RunKind::Ask).map(|run| run.request.as_str());
        let (brief, _) = self.brief("", Vec::new()).await?;
        Ok(reader::missed(&brief, asked))
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| word.len() > 2).map(str::to_lowercase)
}
