//! The rounds of a plan: written, judged, put right, tried, until it holds or there is no point in going on.
//!
//! One loop for every kind of plan. What differs — where accepted code runs and what becomes of its effects — is a
//! [`Trial`].

use std::time::Instant;

use ordain_planner::{Brief, Draft, Exchange, Planner, Progress, Reply, Trouble, TroubleClass};
use ordain_types::{PlanSource, RunRecord, RunState, Schema, StepRecord};
use ordain_verify::{Effects, Finding, Policy, Severity, Verdict, VerifiedCode, apply_edits, verify};
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::outcome::run_error;

/// How often mechanical fixes are made to one draft; a fix may bring another one to light.
const FIXES_MAX: usize = 3;
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
    Done { record: Box<RunRecord>, accepted: Accepted, draft: Draft },
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
    mut record: RunRecord,
    trial: &mut T,
    patience: Patience,
    progress: &mut dyn Progress,
) -> Result<Ended, EngineError> {
    let mut exchange = planner.begin(brief);
    let rounds = if planner.can_repair() { patience.rounds + 1 } else { 1 };
    let mut is_reviewed = !patience.review;
    for round in 1..=rounds {
        let started = Instant::now();
        progress.stage(if round == 1 { "planning" } else { "repairing" });
        let reply = planner.next(brief, &mut exchange, progress).await;
        record.timing_ms.plan += millis(started);
        record.usage = exchange.usage;
        record.verdict.iterations = round;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                record.state = RunState::Failed;
                record.error = Some(run_error(error.code, error.message, error.hint.as_deref()));
                return Ok(Ended::Over { record: Box::new(record), exchange });
            }
        };
        let trouble = match reply {
            Reply::Question(question) => {
                say(&mut record, "invalid_request", &question);
                return Ok(Ended::Over { record: Box::new(record), exchange });
            }
            Reply::Refusal(reason) => {
                say(&mut record, "unsupported_intent", &reason);
                return Ok(Ended::Over { record: Box::new(record), exchange });
            }
            Reply::Unusable(trouble) => {
                record.verdict.accepted = false;
                record.verdict.history.push(json!({ "round": round, "accepted": false, "trouble": trouble }));
                record.state = RunState::Rejected;
                trouble
            }
            Reply::Plan(draft) => {
                let (draft, verdict) = judge(draft, trial.policy(), trial.schema(), &mut record);
                note(&mut record, round, &draft, &verdict);
                match accepted(&verdict, &draft) {
                    Err(trouble) => {
                        record.state = RunState::Rejected;
                        trouble
                    }
                    Ok(accepted) => {
                        let objection = if is_reviewed {
                            None
                        } else {
                            is_reviewed = true;
                            let started = Instant::now();
                            progress.stage("reviewing");
                            let objection = planner.review(brief, &draft.code, &mut exchange, progress).await;
                            record.timing_ms.plan += millis(started);
                            record.usage = exchange.usage;
                            // A reviewer that cannot be reached has no objection; the other checks hold all the same.
                            objection.ok().flatten()
                        };
                        if let Some(objection) = objection {
                            record.state = RunState::Rejected;
                            objection
                        } else {
                            progress.stage("running");
                            let claimed = exchange.troubles.iter().any(|mark| mark.starts_with("claim"));
                            let last = Last { is_last: round == rounds || claimed, exchange: &exchange };
                            match trial.run(accepted.clone(), record, last).await? {
                                Tried::Done(record) => return Ok(Ended::Done { record, accepted, draft }),
                                Tried::Trouble(trouble, tried) => {
                                    record = *tried;
                                    trouble
                                }
                            }
                        }
                    }
                }
            }
        };
        tell(&mut record, round, &trouble);
        if trouble.class == TroubleClass::Claim {
            exchange.troubles.push(format!("claim {}", trouble.code));
        }
        if !planner.complain(&mut exchange, &trouble) {
            record.error = Some(run_error(
                &trouble.code,
                format!("{}; the planner made the same mistake twice", trouble.message),
                trouble.hint.as_deref(),
            ));
            break;
        }
    }
    record.usage = exchange.usage;
    Ok(Ended::Over { record: Box::new(record), exchange })
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
    record.verdict.history.push(json!({
        "round": round,
        "accepted": verdict.is_accepted(),
        "findings": findings,
        "code": draft.code,
    }));
    record.verdict.findings = findings;
    let done = draft.modifications.iter().map(|what| json!({ "round": round, "what": what }));
    record.verdict.modifications.extend(done);
    if round > 1 {
        record
            .verdict
            .modifications
            .push(json!({ "round": round, "what": "the planner wrote the code anew" }));
    }
    record.plan.steps = vec![step(&draft.title, &draft.code)];
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
    Ok(Accepted { code, effects: verdict.effects.clone() })
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
        state: "waiting".to_owned(),
    }
}

/// An answer in a planner's own words, without any code.
fn say(record: &mut RunRecord, status: &str, words: &str) {
    let end = words.floor_char_boundary(WORDS_BYTES_MAX);
    record.state = RunState::Answered;
    record.status = Some(status.to_owned());
    record.answer.text = Some(words[..end].trim().to_owned());
    record.error = None;
    record.verdict.accepted = true;
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
