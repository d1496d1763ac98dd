//! The rounds of a plan: written, judged, put right, tried, until it holds or there is no point in going on.
//!
//! One loop for every kind of plan. What differs — where accepted code runs and what becomes of its effects — is a
//! [`Trial`].

use std::time::Instant;

use ordain_planner::{
    Brief, Did, Draft, Exchange, Opinion, Planner, PlannerError, Progress, Reply, Reviewed,
};
use ordain_types::{
    Diff, ErrorClass, Event, HeldBy, Outline, Round, RunState, Schema, SourceFile, Timing, Trouble,
};
use ordain_verify::{Effects, Policy, Verdict, VerifiedCode, fixed, refusal, verify};
use serde_json::Value;

use crate::error::EngineError;
use crate::story::{Attempt, End, Story, millis};

/// The longest answer that is taken from a planner's own words.
const WORDS_BYTES_MAX: usize = 2_000;

/// Where accepted code is tried.
pub(crate) trait Trial {
    /// What a trial gives that ended well.
    type Done;
    /// The rules by which code is judged.
    fn policy(&self) -> &Policy;
    /// The tables that it may use.
    fn schema(&self) -> &Schema;
    /// The verdict on a piece of code.
    fn verdict(&self, code: &str) -> Verdict {
        verify(code, self.policy(), self.schema())
    }
    /// Judges the modules that come with a draft, and lets its code import them.
    fn bring(&mut self, modules: &[SourceFile]) -> Result<(), Trouble>;
    /// Runs code that only reads, and gives what the planner is shown of it.
    async fn look(&mut self, _draft: &Draft) -> Result<String, EngineError> {
        Ok("there is nothing to look at".to_owned())
    }
    /// Whether an outline can be carried out.
    fn outlined(&self, _outline: &Outline) -> Result<(), Trouble> {
        Ok(())
    }
    /// Runs code, and keeps back what has to be looked at before it is settled: changes that are to be reviewed, and
    /// anything whose answer is worded wrongly.
    async fn keep_back(
        &mut self,
        _one: Try<'_>,
        _story: &mut Story,
        _what: KeepBack,
    ) -> Result<Kept<Self::Done>, EngineError> {
        Ok(Kept::Unable)
    }
    /// Settles what was kept back, with a better sentence where one was needed. The code runs again only if rows were
    /// changed by others meanwhile.
    async fn settle_kept(
        &mut self,
        one: Try<'_>,
        story: &mut Story,
        _sentence: Option<String>,
    ) -> Result<Tried<Self::Done>, EngineError> {
        self.run(one, story).await
    }
    /// Tries code.
    async fn run(&mut self, one: Try<'_>, story: &mut Story) -> Result<Tried<Self::Done>, EngineError>;
}

/// Code that is tried.
#[derive(Clone, Copy)]
pub(crate) struct Try<'t> {
    pub(crate) accepted: &'t Accepted,
    /// How it came about.
    pub(crate) exchange: &'t Exchange,
    /// Whether nothing more can be put right: then an answer is replaced instead of refused.
    pub(crate) is_last: bool,
}

/// Code that the verifier accepted, and what it does.
#[derive(Debug, Clone)]
pub(crate) struct Accepted {
    pub(crate) code: VerifiedCode,
    pub(crate) effects: Effects,
    /// The values of the request that the code takes from `params`.
    pub(crate) params: serde_json::Map<String, Value>,
    /// The rule by which its changes wait for a person in any case.
    pub(crate) hold: Option<HeldBy>,
    /// Whether the reader wrote it, so that it may share its cell with the owner's actions.
    pub(crate) is_readers: bool,
}

impl Accepted {
    /// Code that takes no values from the request.
    pub(crate) fn plain(code: VerifiedCode, effects: Effects) -> Self {
        Self { code, effects, params: serde_json::Map::new(), hold: None, is_readers: false }
    }
}

/// What came of a trial.
#[derive(Debug)]
pub(crate) enum Tried<D> {
    /// It ended well.
    Done(D),
    /// It went wrong and left no trace.
    Trouble { trouble: Trouble, state: RunState, attempt: Option<Box<Attempt>> },
}

/// What is kept back of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepBack {
    /// Everything is settled at once; a wrong sentence is replaced.
    Nothing,
    /// A run whose sentence is wrong.
    Words,
    /// That, and every change.
    WordsAndChanges,
}

/// What came of code some of whose work was to be kept back.
#[derive(Debug)]
pub(crate) enum Kept<D> {
    /// This trial keeps nothing back; nothing was run.
    Unable,
    /// Nothing had to be kept back, or it went wrong.
    Ended(Tried<D>),
    /// Nothing is committed, and no transaction is open.
    Back {
        /// What it did, where that is to be committed.
        did: Option<Box<Did>>,
        /// Its answer and what is wrong with it.
        wording: Option<(String, Trouble)>,
    },
}

/// How the rounds ended.
#[derive(Debug)]
pub(crate) enum Ended<D> {
    /// A trial ended well.
    Done { done: D, accepted: Accepted, draft: Box<Draft> },
    /// The planner breaks the request into steps.
    Outlined(Outline),
    /// The planner asks the person who asked.
    Asks(String),
    /// There was nothing to run, or nothing that held.
    Over(End),
}

/// How many repairs there may be, and of what a second opinion is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoundLimits {
    pub(crate) rounds: u32,
    /// Of code that may change something.
    pub(crate) review: bool,
    /// Of an outline.
    pub(crate) review_outline: bool,
}

/// Goes through the rounds of an exchange that has begun.
pub(crate) async fn rounds<T: Trial>(
    exchange: &mut Exchange,
    (planner, brief): (&Planner, &Brief),
    story: &mut Story,
    trial: &mut T,
    limits: RoundLimits,
    progress: &mut dyn Progress,
) -> Result<Ended<T::Done>, EngineError> {
    let count = if planner.can_repair() { limits.rounds + 1 } else { 1 };
    let looks = brief.forms.looks;
    let mut course = Rounds { planner, brief, story, exchange, limits, count, looks };
    let mut round = 1;
    loop {
        let failed = match course.round(round, trial, progress).await? {
            Step::Done { done, accepted, draft } => return Ok(Ended::Done { done, accepted, draft }),
            Step::Outlined(outline) => return Ok(Ended::Outlined(outline)),
            Step::Asks(question) => return Ok(Ended::Asks(question)),
            Step::Over(end) => return Ok(Ended::Over(end)),
            Step::Failed(failed) => failed,
        };
        let is_new = course.complain(&failed.trouble);
        if !is_new || round == count {
            return Ok(Ended::Over(failed.end(!is_new)));
        }
        round += 1;
    }
}

/// The rounds of one plan.
struct Rounds<'a> {
    planner: &'a Planner,
    brief: &'a Brief,
    story: &'a mut Story,
    exchange: &'a mut Exchange,
    limits: RoundLimits,
    count: u32,
    /// How often the planner may still look at the data.
    looks: u32,
}

/// How one round ended.
enum Step<D> {
    Done {
        done: D,
        accepted: Accepted,
        draft: Box<Draft>,
    },
    Outlined(Outline),
    Asks(String),
    /// There is nothing to run: a refusal, or no planner to be had.
    Over(End),
    Failed(Failed),
}

/// A round that went wrong.
struct Failed {
    trouble: Trouble,
    state: RunState,
    attempt: Option<Box<Attempt>>,
}

impl Failed {
    /// Refused before it ran.
    fn refused(trouble: Trouble) -> Self {
        Self { trouble, state: RunState::Rejected, attempt: None }
    }

    fn end(self, is_repeated: bool) -> End {
        let Self { mut trouble, state, attempt } = self;
        if is_repeated {
            trouble.message.push_str("; the planner made the same mistake twice");
        }
        End::Stopped { error: trouble.into(), state, attempt }
    }
}

impl Rounds<'_> {
    async fn round<T: Trial>(
        &mut self,
        round: u32,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Step<T::Done>, EngineError> {
        progress.stage(if round == 1 { "planning" } else { "repairing" });
        self.story.begins(round);
        match self.next(trial, progress).await? {
            Err(error) => Ok(Step::Over(End::failed(error))),
            Ok(Reply::Question(question)) => Ok(Step::Asks(cut(&question))),
            Ok(Reply::Refusal(reason)) => Ok(Step::Over(declined("unsupported_intent", &reason))),
            Ok(Reply::Unusable(trouble)) => {
                self.story.unusable(round);
                Ok(Step::Failed(Failed::refused(trouble)))
            }
            Ok(Reply::Look(_)) => {
                self.story.unusable(round);
                Ok(Step::Failed(Failed::refused(too_many_looks(self.brief.forms.looks))))
            }
            Ok(Reply::Outline(outline)) => {
                let wrong = match trial.outlined(&outline) {
                    Ok(()) => self.objection(&outline, progress).await,
                    Err(trouble) => Some(trouble),
                };
                let Some(trouble) = wrong else { return Ok(Step::Outlined(outline)) };
                self.story.unusable(round);
                Ok(Step::Failed(Failed::refused(trouble)))
            }
            Ok(Reply::Plan(draft)) => self.judge_and_run(round, draft, trial, progress).await,
        }
    }

    /// The planner's next reply, after the looks that it takes first.
    async fn next<T: Trial>(
        &mut self,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Result<Reply, PlannerError>, EngineError> {
        loop {
            let started = Instant::now();
            let reply = self.planner.next(self.brief, self.exchange, progress).await;
            self.story.timing.plan += millis(started);
            self.story.usage = self.exchange.usage;
            let draft = match reply {
                Ok(Reply::Look(draft)) if self.looks > 0 => draft,
                reply => return Ok(reply),
            };
            self.looks -= 1;
            progress.stage("looking");
            let shown = trial.look(&draft).await?;
            progress.event(&Event::Look { shown: shown.clone() });
            let what_now = match self.looks {
                0 => "That was the last look. Reply with the plan.".to_owned(),
                left => format!("Reply with the plan; {left} more look is possible."),
            };
            self.planner.show(self.exchange, &shown, &what_now);
            self.story.verdict.history.push(Round::Looked { look: draft.code, shown });
        }
    }

    async fn judge_and_run<T: Trial>(
        &mut self,
        round: u32,
        draft: Draft,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Step<T::Done>, EngineError> {
        let brought = trial.bring(&draft.modules);
        let (draft, verdict) = judge(draft, trial, &mut self.story.timing);
        self.story.judged(round, &draft, &verdict);
        let accepted = match brought.and_then(|()| accepted(&verdict, &draft)) {
            Ok(accepted) => accepted,
            Err(trouble) => return Ok(Step::Failed(Failed::refused(trouble))),
        };
        progress.stage("running");
        let is_last = round == self.count;
        let tried = if self.planner.can_repair() {
            Box::pin(self.run_kept_back(&accepted, &draft, is_last, trial, progress)).await?
        } else {
            let one = Try { accepted: &accepted, exchange: self.exchange, is_last };
            Ok(trial.run(one, self.story).await?)
        };
        match tried {
            Ok(Tried::Done(done)) => Ok(Step::Done { done, accepted, draft: Box::new(draft) }),
            Ok(Tried::Trouble { trouble, state, attempt }) => {
                Ok(Step::Failed(Failed { trouble, state, attempt }))
            }
            Err(objection) => Ok(Step::Failed(Failed::refused(objection))),
        }
    }

    /// Runs code, and settles what it did once a reviewer, who sees its changes, has no objection and its answer is worded
    /// well. Gives the objection otherwise.
    async fn run_kept_back<T: Trial>(
        &mut self,
        accepted: &Accepted,
        draft: &Draft,
        is_last: bool,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Result<Tried<T::Done>, Trouble>, EngineError> {
        let reviews = self.limits.review && self.planner.reviews();
        let what = if reviews { KeepBack::WordsAndChanges } else { KeepBack::Words };
        let one = Try { accepted, exchange: self.exchange, is_last };
        match trial.keep_back(one, self.story, what).await? {
            Kept::Ended(tried) => Ok(Ok(tried)),
            Kept::Unable => {
                // What changes nothing is not reviewed; what changes something all the same waits for a person.
                if reviews && accepted.effects.may_write {
                    match self.opinion(Reviewed::Code(draft, None), progress).await {
                        Opinion::Objection(objection) => return Ok(Err(objection)),
                        opinion => self.story.reviewed(opinion),
                    }
                }
                let one = Try { accepted, exchange: self.exchange, is_last };
                Ok(Ok(trial.run(one, self.story).await?))
            }
            Kept::Back { did, wording } => {
                if let Some(did) = did.as_deref().filter(|_| reviews) {
                    match self.opinion(Reviewed::Code(draft, Some(did)), progress).await {
                        Opinion::Objection(objection) => return Ok(Err(objection)),
                        opinion => self.story.reviewed(opinion),
                    }
                }
                let sentence = match wording {
                    Some((answer, trouble)) => {
                        let changes = did.as_deref().map(|did| &did.diff);
                        self.sentence(&answer, &trouble, changes, progress).await
                    }
                    None => None,
                };
                let one = Try { accepted, exchange: self.exchange, is_last: true };
                Ok(Ok(trial.settle_kept(one, self.story, sentence).await?))
            }
        }
    }

    /// A better sentence in the place of one that the rows do not show; `None` if none is to be had.
    async fn sentence(
        &mut self,
        answer: &str,
        trouble: &Trouble,
        changes: Option<&Diff>,
        progress: &mut dyn Progress,
    ) -> Option<String> {
        progress.stage("rewording");
        let started = Instant::now();
        let sentence = self.planner.reword((answer, changes), trouble, self.exchange).await;
        self.story.timing.plan += millis(started);
        self.story.usage = self.exchange.usage;
        sentence
    }

    /// A second opinion of an outline, where there is to be one; the trouble if there is no consent.
    async fn objection(&mut self, outline: &Outline, progress: &mut dyn Progress) -> Option<Trouble> {
        if !self.limits.review_outline || !self.planner.can_repair() {
            return None;
        }
        match self.opinion(Reviewed::Outline(outline), progress).await {
            Opinion::Consent(_) => None,
            Opinion::Objection(trouble) => Some(trouble),
            Opinion::Missing(why) => {
                let hint = "`model.review_outline` says whether there is one";
                Some(Trouble::new(ErrorClass::Review, "not-reviewed", why, hint))
            }
        }
    }

    async fn opinion(&mut self, what: Reviewed<'_>, progress: &mut dyn Progress) -> Opinion {
        progress.stage("reviewing");
        let started = Instant::now();
        let opinion = self.planner.review(self.brief, what, self.exchange, progress).await;
        self.story.timing.plan += millis(started);
        self.story.usage = self.exchange.usage;
        opinion
    }

    /// Tells the planner what was wrong; `false` if the same was wrong before.
    fn complain(&mut self, trouble: &Trouble) -> bool {
        self.story.troubled(trouble);
        self.planner.complain(self.exchange, trouble)
    }
}

/// Judges one piece of code, mechanical fixes applied.
pub(crate) fn judge<T: Trial>(mut draft: Draft, trial: &T, timing: &mut Timing) -> (Draft, Verdict) {
    let started = Instant::now();
    let mut verdict = trial.verdict(&draft.code);
    if !verdict.is_accepted() {
        let fixed = fixed(std::mem::take(&mut draft.code), |code| trial.verdict(code));
        let done = fixed.modifications.iter().map(|done| format!("line {}: {}", done.line, done.title));
        draft.modifications.extend(done);
        (draft.code, verdict) = (fixed.code, fixed.verdict);
    }
    timing.verify += millis(started);
    (draft, verdict)
}

/// The code, if the verifier accepted it and it does what its author declares.
pub(crate) fn accepted(verdict: &Verdict, draft: &Draft) -> Result<Accepted, Trouble> {
    let Some(code) = verdict.verified().cloned() else { return Err(refusal(&verdict.findings, &draft.code)) };
    if draft.has_more && verdict.effects.may_write {
        let message =
            "the program may change something, and the reply holds more than the program".to_owned();
        let hint = "reply with <execute_python>…</execute_python> and nothing around it";
        return Err(Trouble::new(ErrorClass::Reply, "more-than-a-program", message, hint));
    }
    let action = draft.declared.as_ref().and_then(|plan| plan["action"].as_str());
    if action == Some("read") && verdict.effects.may_write {
        let tables: Vec<&str> = verdict.effects.writes.keys().map(String::as_str).collect();
        let hint = "declare `mutate` if the request asks for a change, else leave the rows alone";
        let message = format!("the plan declares action `read`, and its code writes {}", tables.join(", "));
        return Err(Trouble::new(ErrorClass::Contract, "declared-read-but-writes", message, hint));
    }
    let params = draft.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
    let (effects, hold) = (verdict.effects.clone(), draft.hold.clone());
    Ok(Accepted { code, effects, params, hold, is_readers: draft.reading.is_some() })
}

/// The end of a run in which the planner gave words and no code.
pub(crate) fn declined(status: &'static str, words: &str) -> End {
    End::Declined { status, text: cut(words) }
}

fn cut(words: &str) -> String {
    words[..words.floor_char_boundary(WORDS_BYTES_MAX)].trim().to_owned()
}

fn too_many_looks(looks: u32) -> Trouble {
    let message = format!("there were {looks} looks already");
    let hint = "reply with the program now; it can look for itself";
    Trouble::new(ErrorClass::Reply, "too-many-looks", message, hint)
}
