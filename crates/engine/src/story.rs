//! What happened in a run, and the record that is built from it, once, when the run has ended.

use std::time::Instant;

use ordain_cell::CellError;
use ordain_planner::{Consent, Draft, Opinion, Planner};
use ordain_types::{
    Answer, Call, Diff, HeldBy, InvariantResult, Judged, Modification, ModificationKind, PlanRecord,
    PlanSource, Rebase, Round, RunError, RunId, RunKind, RunOutcome, RunRecord, RunState, StepRecord,
    StepState, Strategy, Timing, Trouble, Usage, VerdictRecord,
};
use ordain_verify::Verdict;
use serde_json::json;

/// Characters of a request that are the plan's goal.
const GOAL_CHARS_MAX: usize = 500;

/// What is known of a run before anything happens.
#[derive(Debug, Clone)]
pub struct Head {
    /// The run's id.
    pub run_id: RunId,
    /// The kind of work.
    pub kind: RunKind,
    /// What is asked.
    pub request: String,
    /// How it is carried out.
    pub strategy: Strategy,
    /// When it began, as the store writes times.
    pub started_at: String,
    /// The same by the clock of this process.
    pub started: Instant,
}

/// What happened so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    /// The plan as the record has it. Of a run of one program, goal, step and reading are filled in at the end.
    pub(crate) plan: PlanRecord,
    /// The rounds so far, and what was found in the code that was judged last.
    pub(crate) verdict: VerdictRecord,
    pub(crate) usage: Usage,
    /// The change that is made again, and how it differs.
    pub(crate) rebases: Option<Rebase>,
    /// The run whose work this one goes on with.
    pub(crate) continues: Option<RunId>,
    /// The rule by which its change waits for a person.
    pub(crate) held_by: Option<HeldBy>,
    pub(crate) timing: Timing,
    /// What steps called outside of the tables, or is to be called after the commit.
    pub(crate) calls: Vec<Call>,
    /// Who consented to what, or why nobody did.
    consent: Option<Consent>,
    why_unreviewed: Option<String>,
    /// The code that was judged last.
    draft: Option<Draft>,
}

/// What running accepted code gave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempt {
    pub(crate) outcome: RunOutcome,
    pub(crate) status: Option<String>,
    pub(crate) answer: Answer,
    /// What the answer took as it was given. One that is too large is not kept.
    pub(crate) answer_bytes: u64,
    pub(crate) diff: Diff,
    /// What was called outside of the tables, or is to be.
    pub(crate) calls: Vec<Call>,
    pub(crate) invariants: Vec<InvariantResult>,
    /// What the actions that were carried out say of themselves.
    pub(crate) actions_said: Vec<String>,
}

impl Attempt {
    /// Whether it answers nothing.
    pub(crate) fn is_silent(&self) -> bool {
        self.answer.text.as_deref().is_none_or(|text| text.trim().is_empty())
    }

    /// Whether something is to be called after the commit.
    pub(crate) fn has_later_calls(&self) -> bool {
        self.calls.iter().any(Call::is_later)
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Nothing was run: the planner asks or refuses.
    Declined { status: &'static str, text: String },
    /// It could not be carried out. What its code gave is kept where there was code that ran.
    Stopped { error: RunError, state: RunState, attempt: Option<Box<Attempt>> },
    /// Its code ran to its end. Where there is a transaction, its end decides on the state.
    Ended { state: RunState, attempt: Box<Attempt> },
}

impl End {
    /// It failed, or nothing could be run.
    pub(crate) fn failed(error: impl Into<RunError>) -> Self {
        Self::Stopped { error: error.into(), state: RunState::Failed, attempt: None }
    }

    /// What was to run was refused before it did.
    pub(crate) fn rejected(trouble: Trouble) -> Self {
        Self::Stopped { error: trouble.into(), state: RunState::Rejected, attempt: None }
    }
}

impl Story {
    /// The planner writes the plan.
    pub(crate) fn planned_by(&mut self, planner: &Planner) {
        let is_model = planner.can_repair();
        self.plan.source = if is_model { PlanSource::Model } else { PlanSource::Rules };
        self.plan.model = is_model.then(|| planner.name());
    }

    /// A round began.
    pub(crate) fn begins(&mut self, round: u32) {
        self.verdict.iterations = round;
    }

    /// The run has programs of its own in several steps, each of which was accepted or never run.
    pub(crate) fn went_through(&mut self, steps: Vec<StepRecord>, source: PlanSource) {
        (self.plan.steps, self.plan.source, self.verdict.accepted) = (steps, source, true);
    }

    /// Code was judged.
    pub(crate) fn judged(&mut self, round: u32, draft: &Draft, verdict: &Verdict) {
        self.verdict.findings =
            verdict.findings.iter().filter_map(|finding| serde_json::to_value(finding).ok()).collect();
        (self.verdict.accepted, self.verdict.iterations) = (verdict.is_accepted(), round);
        self.verdict.history.push(Round::Judged(Judged {
            round,
            accepted: verdict.is_accepted(),
            findings: self.verdict.findings.clone(),
            code: Some(draft.code.clone()),
            modules: draft.modules.clone(),
            trouble: None,
        }));
        let modification = |kind, what: &str| Modification { round, kind, what: what.to_owned(), said: None };
        let fixes = draft.modifications.iter().map(|what| modification(ModificationKind::Fix, what));
        self.verdict.modifications.extend(fixes);
        if round > 1 {
            self.verdict
                .modifications
                .push(modification(ModificationKind::Rewrite, "the planner wrote the code anew"));
        }
        self.draft = Some(draft.clone());
    }

    /// There is an opinion of the program, or none.
    pub(crate) fn reviewed(&mut self, opinion: Opinion) {
        (self.consent, self.why_unreviewed) = match opinion {
            Opinion::Consent(consent) => (Some(consent), None),
            Opinion::Objection(trouble) => (None, Some(format!("the reviewer objects: {}", trouble.message))),
            Opinion::Missing(why) => (None, Some(why)),
        };
    }

    /// An earlier run of the same program was reviewed.
    pub(crate) fn consented(&mut self, consent: Consent) {
        self.consent = Some(consent);
    }

    /// What the run carries out: its program, or those of its steps that are done, and the outline.
    pub(crate) fn program(&self) -> String {
        if let Some(draft) = &self.draft {
            return draft.text();
        }
        let done = self.plan.steps.iter().filter(|step| step.state == StepState::Done);
        let steps = done.map(|step| format!("# --- step {} ---\n{}\n", step.id, step.code));
        let outline = self.plan.outline.as_ref().map(|outline| format!("{}\n", json!(outline)));
        outline.into_iter().chain(steps).collect()
    }

    /// Notes who consented to the program that is to be committed; the rule by which it waits where somebody has to and
    /// nobody did.
    pub(crate) fn not_reviewed(&mut self, is_wanted: bool) -> Option<HeldBy> {
        self.plan.model.as_ref()?;
        let why = match (&self.why_unreviewed, is_wanted) {
            (Some(why), _) => why.clone(),
            (None, true) => "nobody reviewed this program".to_owned(),
            (None, false) => "the workspace wants no review".to_owned(),
        };
        let review = Consent::review(self.consent.as_ref(), &self.program(), Some(&why));
        let is_held = is_wanted && !review.consents;
        self.verdict.review = Some(review);
        is_held.then_some(HeldBy::NotReviewed { why })
    }

    /// The code that was judged last.
    pub(crate) fn draft(&self) -> Option<&Draft> {
        self.draft.as_ref()
    }

    /// The steps of the run have been judged one by one; the run has no code of its own.
    pub(crate) fn is_of_steps(&mut self) {
        (self.draft, self.verdict.accepted) = (None, true);
    }

    /// A reply held no code.
    pub(crate) fn unusable(&mut self, round: u32) {
        self.verdict.accepted = false;
        self.verdict.history.push(Round::Judged(Judged { round, ..Judged::default() }));
    }

    /// The executor was lost on which the code ran.
    pub(crate) fn executor_lost(&mut self, lost: &CellError) {
        self.verdict.history.push(Round::ExecutorLost { executor_lost: lost.to_string() });
    }

    /// Something was wrong with the round.
    pub(crate) fn troubled(&mut self, trouble: &Trouble) {
        if let Some(Round::Judged(judged)) = self.verdict.history.last_mut() {
            judged.trouble = Some(trouble.clone());
        }
    }

    /// An answer was replaced by a plain one.
    pub(crate) fn replaced(&mut self, said: Option<String>, trouble: &Trouble) {
        let what = "the answer was replaced by a plain one";
        self.warned(&trouble.code, &trouble.message, what);
        self.new_answer(said, what);
    }

    /// An answer was replaced by a sentence that the planner wrote for it.
    pub(crate) fn reworded(&mut self, said: Option<String>, trouble: &Trouble) {
        let what = "the planner wrote the sentence anew";
        self.warned(&trouble.code, &trouble.message, what);
        self.new_answer(said, what);
    }

    /// Something that is worth knowing and stopped nothing.
    pub(crate) fn warned(&mut self, code: &str, message: &str, hint: &str) {
        let warning = json!({ "code": code, "severity": "warning", "message": message, "hint": hint });
        self.verdict.findings.push(warning);
    }

    /// The code made calls that it was judged not to make; each was refused.
    pub(crate) fn past_verdict(&mut self, refused: &[String]) {
        for message in refused {
            let is_known = self.verdict.findings.iter().any(|finding| finding["message"] == message.as_str());
            if !is_known {
                self.warned("past-its-verdict", message, "look at who wrote the code, and where it ran");
            }
        }
    }

    fn new_answer(&mut self, said: Option<String>, what: &str) {
        let (kind, what) = (ModificationKind::Answer, what.to_owned());
        self.verdict.modifications.push(Modification { round: self.verdict.iterations, kind, what, said });
    }

    /// Whether what the plan answers had to be replaced.
    pub(crate) fn has_replaced_answer(&self) -> bool {
        self.verdict.modifications.iter().any(|done| done.kind == ModificationKind::Answer)
    }

    /// The record of the run.
    pub(crate) fn record(&self, head: &Head, end: End) -> RunRecord {
        let mut record = RunRecord::new(head.run_id.clone(), head.kind, &head.request);
        record.started_at.clone_from(&head.started_at);
        record.strategy = head.strategy;
        record.verdict = self.verdict();
        record.usage = self.usage;
        record.rebases.clone_from(&self.rebases);
        record.continues.clone_from(&self.continues);
        record.held_by.clone_from(&self.held_by);
        record.timing_ms = Timing { total: millis(head.started), ..self.timing };
        let attempt = match end {
            End::Declined { status, text } => {
                record.state = RunState::Declined;
                record.verdict.accepted = true;
                let answer = Answer { text: Some(text), ..Answer::default() };
                Some(Box::new(Attempt { status: Some(status.to_owned()), answer, ..Attempt::default() }))
            }
            End::Stopped { error, state, attempt } => {
                let is_of_model = self.plan.model.is_some();
                let is_ours =
                    matches!(self.plan.source, PlanSource::Rules | PlanSource::Cache) && !is_of_model;
                let error = if is_ours { crate::outcome::in_data(error) } else { error };
                (record.state, record.error) = (state, Some(error));
                attempt
            }
            End::Ended { state, attempt } => {
                record.state = state;
                Some(attempt)
            }
        };
        record.plan = self.plan(head, attempt.as_deref());
        if let Some(attempt) = attempt {
            let Attempt { outcome, status, answer, diff, calls, invariants, .. } = *attempt;
            (record.outcome, record.status, record.answer) = (outcome, status, answer);
            (record.diff, record.calls, record.invariants) = (diff, calls, invariants);
        }
        record
    }

    /// The rounds, without the code of the last one where that is the plan's own: a record has its code once.
    fn verdict(&self) -> VerdictRecord {
        let mut verdict = self.verdict.clone();
        if let Some(Round::Judged(last)) = verdict.history.last_mut()
            && last.accepted
            && self.plan.steps.is_empty()
            && last.code.as_ref() == self.draft.as_ref().map(|draft| &draft.code)
        {
            last.code = None;
        }
        verdict
    }

    fn plan(&self, head: &Head, attempt: Option<&Attempt>) -> PlanRecord {
        let mut plan = self.plan.clone();
        plan.goal = head.request.chars().take(GOAL_CHARS_MAX).collect();
        let Some(draft) = &self.draft else { return plan };
        plan.reading.clone_from(&draft.reading);
        if plan.steps.is_empty() {
            plan.steps.push(StepRecord {
                id: "1".to_owned(),
                title: draft.title.clone(),
                code: draft.code.clone(),
                modules: draft.modules.clone(),
                state: match attempt {
                    None => StepState::Waiting,
                    Some(attempt) if attempt.outcome.error.is_none() => StepState::Done,
                    Some(_) => StepState::Failed,
                },
                params: draft.params.clone(),
                ..StepRecord::default()
            });
        }
        plan
    }
}

impl Attempt {
    /// What was not carried out has no answer and no status of its own, unless what was computed by then may be kept.
    pub(crate) fn unanswered(self) -> Self {
        if self.outcome.partial {
            return self;
        }
        Self { answer: Answer::default(), status: None, ..self }
    }
}

/// Milliseconds since then, to the microsecond.
pub fn millis(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
