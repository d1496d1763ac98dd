//! The rounds of a plan: written, judged, put right, tried, until it holds or there is no point in going on.
//!
//! One loop for every kind of plan. What differs — where accepted code runs and what becomes of its effects — is a
//! [`Trial`].

use std::time::Instant;

use ordain_planner::{Brief, Draft, Exchange, Planner, Progress, Reply, Trouble, TroubleClass};
use ordain_types::{ModuleRecord, PlanSource, RunRecord, RunState, Schema, StepRecord};
use ordain_verify::{Effects, Finding, Policy, Severity, Verdict, VerifiedCode, apply_edits, verify};
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::outcome::run_error;

/// How often mechanical fixes are made to one draft; a fix may bring another one to light.
const FIXES_MAX: usize = 3;
/// Marks a false claim among an exchange's troubles.
const CLAIM_MARK: &str = "claim ";
/// Findings that a repair message tells.
const FINDINGS_TOLD: usize = 5;
/// The longest answer that is taken from a planner's own words.
const WORDS_BYTES_MAX: usize = 2_000;

/// Where accepted code is tried.
pub(crate) trait Trial {
    /// The rules by which code is judged.
    fn policy(&self) -> &Policy;
    /// The tables that it may use.
    fn schema(&self) -> &Schema;
    /// Judges the modules that come with a draft, and lets its code import them.
    fn bring(&mut self, modules: &[ModuleRecord]) -> Result<(), Trouble>;
    /// From now on runs count as uses of this kept plan.
    fn counts(&mut self, plan_id: Option<String>);
    /// Runs code. When nothing more can be put right (`is_last`), a false answer is replaced instead of refused.
    async fn run(
        &mut self,
        accepted: Accepted,
        record: RunRecord,
        last: Last<'_>,
    ) -> Result<Tried, EngineError>;
}

/// Code that the verifier accepted, and what it does.
#[derive(Debug, Clone)]
pub(crate) struct Accepted {
    pub(crate) code: VerifiedCode,
    pub(crate) effects: Effects,
    /// The values of the request that the code takes from `params`.
    pub(crate) params: serde_json::Map<String, Value>,
    /// Whether its changes wait for a person in any case.
    pub(crate) hold: bool,
}

impl Accepted {
    /// Code that takes no values from the request.
    pub(crate) fn plain(code: VerifiedCode, effects: Effects) -> Self {
        Self { code, effects, params: serde_json::Map::new(), hold: false }
    }
}

/// What a trial is told besides the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last<'a> {
    /// Whether nobody can put the code right any more.
    pub(crate) is_last: bool,
    /// What was said so far, for the ledger.
    pub(crate) exchange: &'a Exchange,
}

/// What came of a trial.
#[derive(Debug)]
pub(crate) enum Tried {
    /// It ended, and its record is written down.
    Done(Box<RunRecord>),
    /// It went wrong and left no trace; the record is not written down yet.
    Trouble(Trouble, Box<RunRecord>),
}

/// How the rounds ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// A trial ended well, and its record is written down.
    Done { record: Box<RunRecord>, accepted: Accepted, draft: Box<Draft> },
    /// There was nothing to run, or nothing that held. The record is complete and not written down yet.
    Over { record: Box<RunRecord>, exchange: Exchange },
}

/// How many repairs there may be, and whether a second opinion is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) rounds: u32,
    pub(crate) review: bool,
}

/// Goes through the rounds.
pub(crate) async fn rounds<T: Trial>(
    planner: &Planner,
    brief: &Brief,
    record: RunRecord,
    trial: &mut T,
    patience: Patience,
    progress: &mut dyn Progress,
) -> Result<Ended, EngineError> {
    let rounds = if planner.can_repair() { patience.rounds + 1 } else { 1 };
    let exchange = planner.begin(brief);
    let mut course = Course { planner, brief, record, exchange, is_reviewed: !patience.review, rounds };
    for round in 1..=rounds {
        let trouble = match course.round(round, trial, progress).await? {
            Step::Done { record, accepted, draft } => return Ok(Ended::Done { record, accepted, draft }),
            Step::Over => break,
            Step::Trouble(trouble) => trouble,
        };
        if !course.complain(round, &trouble) {
            break;
        }
    }
    course.record.usage = course.exchange.usage;
    Ok(Ended::Over { record: Box::new(course.record), exchange: course.exchange })
}

/// The course of one plan through its rounds.
struct Course<'a> {
    planner: &'a Planner,
    brief: &'a Brief,
    record: RunRecord,
    exchange: Exchange,
    is_reviewed: bool,
    rounds: u32,
}

/// How one round ended.
enum Step {
    Done {
        record: Box<RunRecord>,
        accepted: Accepted,
        draft: Box<Draft>,
    },
    /// There is nothing to run: a question, a refusal, or no planner to be had.
    Over,
    Trouble(Trouble),
}

impl Course<'_> {
    async fn round<T: Trial>(
        &mut self,
        round: u32,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Step, EngineError> {
        progress.stage(if round == 1 { "planning" } else { "repairing" });
        let started = Instant::now();
        let reply = self.planner.next(self.brief, &mut self.exchange, progress).await;
        self.record.timing_ms.plan += millis(started);
        self.record.usage = self.exchange.usage;
        self.record.verdict.iterations = round;
        let record = &mut self.record;
        match reply {
            Err(error) => {
                record.state = RunState::Failed;
                record.error = Some(run_error(error.code, error.message, error.hint.as_deref()));
                Ok(Step::Over)
            }
            Ok(Reply::Question(question)) => Ok(say(record, "invalid_request", &question)),
            Ok(Reply::Refusal(reason)) => Ok(say(record, "unsupported_intent", &reason)),
            Ok(Reply::Unusable(trouble)) => {
                record.verdict.accepted = false;
                record.verdict.history.push(json!({ "round": round, "accepted": false }));
                record.state = RunState::Rejected;
                Ok(Step::Trouble(trouble))
            }
            Ok(Reply::Plan(draft)) => self.judge_and_run(round, draft, trial, progress).await,
        }
    }

    async fn judge_and_run<T: Trial>(
        &mut self,
        round: u32,
        draft: Draft,
        trial: &mut T,
        progress: &mut dyn Progress,
    ) -> Result<Step, EngineError> {
        let brought = trial.bring(&draft.modules);
        let (draft, verdict) = judge(draft, trial.policy(), trial.schema(), &mut self.record);
        note(&mut self.record, round, &draft, &verdict);
        self.record.state = RunState::Rejected;
        if let Err(trouble) = brought {
            self.record.verdict.accepted = false;
            return Ok(Step::Trouble(trouble));
        }
        let accepted = match accepted(&verdict, &draft) {
            Ok(accepted) => accepted,
            Err(trouble) => return Ok(Step::Trouble(trouble)),
        };
        if let Some(objection) = self.objection(&draft.text(), progress).await {
            return Ok(Step::Trouble(objection));
        }
        progress.stage("running");
        // An answer gets one chance to be put right by its author.
        let has_claimed = self.exchange.troubles.iter().any(|mark| mark.starts_with(CLAIM_MARK));
        let last = Last { is_last: round == self.rounds || has_claimed, exchange: &self.exchange };
        match trial.run(accepted.clone(), self.record.clone(), last).await? {
            Tried::Done(record) => Ok(Step::Done { record, accepted, draft: Box::new(draft) }),
            Tried::Trouble(trouble, record) => {
                self.record = *record;
                Ok(Step::Trouble(trouble))
            }
        }
    }

    /// A second opinion, once a plan. A reviewer that cannot be reached has no objection; the other checks hold.
    async fn objection(&mut self, code: &str, progress: &mut dyn Progress) -> Option<Trouble> {
        if std::mem::replace(&mut self.is_reviewed, true) || !self.planner.can_repair() {
            return None;
        }
        progress.stage("reviewing");
        let started = Instant::now();
        let objection = self.planner.review(self.brief, code, &mut self.exchange, progress).await;
        self.record.timing_ms.plan += millis(started);
        self.record.usage = self.exchange.usage;
        objection.ok().flatten()
    }

    /// Tells the planner what was wrong; `false` if there is no point in another round.
    fn complain(&mut self, round: u32, trouble: &Trouble) -> bool {
        tell(&mut self.record, round, trouble);
        if trouble.class == TroubleClass::Claim {
            self.exchange.troubles.push(format!("{CLAIM_MARK}{}", trouble.code));
        }
        let is_new = self.planner.complain(&mut self.exchange, trouble);
        if !is_new {
            let message = format!("{}; the planner made the same mistake twice", trouble.message);
            self.record.error = Some(run_error(&trouble.code, message, trouble.hint.as_deref()));
        }
        is_new
    }
}

/// Judges one piece of code, mechanical fixes applied.
pub(crate) fn judge(
    mut draft: Draft,
    policy: &Policy,
    schema: &Schema,
    record: &mut RunRecord,
) -> (Draft, Verdict) {
    let started = Instant::now();
    let mut verdict = verify(&draft.code, policy, schema);
    for _ in 0..FIXES_MAX {
        if verdict.is_accepted() {
            break;
        }
        let (code, modifications) = apply_edits(&draft.code, &verdict.findings);
        if modifications.is_empty() {
            break;
        }
        draft.code = code;
        draft
            .modifications
            .extend(modifications.iter().map(|done| format!("line {}: {}", done.line, done.title)));
        verdict = verify(&draft.code, policy, schema);
    }
    record.timing_ms.verify += millis(started);
    (draft, verdict)
}

/// Writes a round into the record.
pub(crate) fn note(record: &mut RunRecord, round: u32, draft: &Draft, verdict: &Verdict) {
    let findings: Vec<Value> =
        verdict.findings.iter().filter_map(|finding| serde_json::to_value(finding).ok()).collect();
    record.verdict.accepted = verdict.is_accepted();
    record.verdict.iterations = round;
    let mut entry = json!({
        "round": round,
        "accepted": verdict.is_accepted(),
        "findings": findings,
        "code": draft.code,
    });
    if !draft.modules.is_empty() {
        entry["modules"] = json!(draft.modules);
    }
    record.verdict.history.push(entry);
    record.verdict.findings = findings;
    let done = draft.modifications.iter().map(|what| json!({ "round": round, "what": what }));
    record.verdict.modifications.extend(done);
    if round > 1 {
        record
            .verdict
            .modifications
            .push(json!({ "round": round, "what": "the planner wrote the code anew" }));
    }
    record.plan.steps =
        vec![StepRecord { modules: draft.modules.clone(), ..step(&draft.title, &draft.code) }];
}

fn accepted(verdict: &Verdict, draft: &Draft) -> Result<Accepted, Trouble> {
    let Some(code) = verdict.verified().cloned() else { return Err(refused(&verdict.findings)) };
    let declares_read = draft
        .declared
        .as_ref()
        .and_then(|plan| plan["action"].as_str())
        .is_some_and(|action| action == "read");
    if declares_read && verdict.effects.may_write {
        let tables: Vec<&str> = verdict.effects.writes.keys().map(String::as_str).collect();
        return Err(Trouble {
            class: TroubleClass::Contract,
            code: "declared-read-but-writes".to_owned(),
            message: format!("the plan declares action `read`, and its code writes {}", tables.join(", ")),
            line: None,
            hint: Some(
                "declare `mutate` if the request asks for a change, else leave the rows alone".to_owned(),
            ),
        });
    }
    let params = draft.params.iter().map(|param| (param.name.clone(), param.value.clone())).collect();
    Ok(Accepted { code, effects: verdict.effects.clone(), params, hold: draft.hold.is_some() })
}

/// What the verifier's findings mean for the planner.
pub(crate) fn refused(findings: &[Finding]) -> Trouble {
    let errors: Vec<&Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let told: Vec<String> = errors
        .iter()
        .take(FINDINGS_TOLD)
        .map(|finding| format!("line {}: {}", finding.line, finding.message))
        .collect();
    Trouble {
        class: TroubleClass::Verify,
        code: errors.first().map_or_else(|| "rejected".to_owned(), |finding| finding.code.to_string()),
        message: if told.is_empty() { "the plan was refused".to_owned() } else { told.join("; ") },
        line: errors.first().map(|finding| finding.line as u64),
        hint: errors.first().and_then(|finding| finding.hint.clone()),
    }
}

/// A step of a plan that has one.
pub(crate) fn step(title: &str, code: &str) -> StepRecord {
    StepRecord {
        id: "1".to_owned(),
        title: title.to_owned(),
        needs: Vec::new(),
        success: String::new(),
        code: code.to_owned(),
        modules: Vec::new(),
        state: "waiting".to_owned(),
    }
}

/// An answer in a planner's own words, without any code.
fn say(record: &mut RunRecord, status: &str, words: &str) -> Step {
    let end = words.floor_char_boundary(WORDS_BYTES_MAX);
    record.state = RunState::Declined;
    record.status = Some(status.to_owned());
    record.answer.text = Some(words[..end].trim().to_owned());
    record.error = None;
    record.verdict.accepted = true;
    Step::Over
}

fn tell(record: &mut RunRecord, round: u32, trouble: &Trouble) {
    record.error = Some(run_error(&trouble.code, trouble.message.clone(), trouble.hint.as_deref()));
    if let Some(Value::Object(entry)) = record.verdict.history.last_mut()
        && entry.get("round").and_then(Value::as_u64) == Some(u64::from(round))
    {
        entry.insert("trouble".to_owned(), json!(trouble));
    }
}

/// The planner's name in a plan's record.
pub(crate) fn signed(record: &mut RunRecord, planner: &Planner) {
    let is_model = planner.can_repair();
    record.plan.source = if is_model { PlanSource::Model } else { PlanSource::Rules };
    record.plan.model = is_model.then(|| planner.name());
}

/// Milliseconds since then, to the microsecond.
pub(crate) fn millis(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
