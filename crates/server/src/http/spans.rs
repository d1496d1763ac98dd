//! A run as spans: the run itself, and what is known of its parts.
//!
//! Planning begins and ends where the run said so; a cell's job has its own span, made around it. Verification and
//! commit are known by how long they took, not by when: verification is shown right before the code first ran, and
//! commit at the end of the run.

use std::time::{Duration, SystemTime};

use ordain_types::RunRecord;

use super::live::{CheckDone, Ended, LiveRun};
use crate::trace::{Attribute, Kind, Span, TraceContext, Tracer};

/// Tells of a run that has ended.
pub(crate) fn tell(tracer: &Tracer, run: &LiveRun, ended: &Ended) {
    let Some(place) = run.trace.as_ref().filter(|_| tracer.is_on()) else { return };
    let kind = run.about.kind;
    let mut span =
        Span::new(place.span.clone(), format!("invoke_agent {kind}"), Kind::Internal, run.began_at)
            .text("gen_ai.operation.name", "invoke_agent")
            .text("gen_ai.agent.name", kind.as_str())
            .text("ordain.run.id", run.about.run_id.as_str());
    span.parent = Some(place.parent);
    match ended {
        Ok(record) => tracer.take(of_record(span, record)),
        Err(problem) => tracer.take(span.failed(Some(&problem.code))),
    }
}

/// Sends a span for each part of a run, from the node that carried the run out.
pub(crate) fn tell_parts(tracer: &Tracer, run: &LiveRun, ended: &Ended) {
    let (Some(place), Ok(record)) = (run.trace.as_ref().filter(|_| tracer.is_on()), ended) else { return };
    for part in parts(record, run, &place.span, SystemTime::now()) {
        tracer.take(part);
    }
}

fn of_record(span: Span, record: &RunRecord) -> Span {
    let error = record.error.as_ref().map(|error| error.code.as_str());
    let span = span
        .text("ordain.run.state", record.state.as_str())
        .text("ordain.plan.source", source(record))
        .maybe("ordain.run.status", record.status.as_deref())
        .maybe("gen_ai.request.model", record.plan.model.as_deref());
    let span = if record.usage.model_calls > 0 {
        span.number("gen_ai.usage.input_tokens", record.usage.input_tokens)
            .number("gen_ai.usage.output_tokens", record.usage.output_tokens)
    } else {
        span
    };
    span.failed(error)
}

fn parts(record: &RunRecord, run: &LiveRun, place: &TraceContext, now: SystemTime) -> Vec<Span> {
    let timing = &record.timing_ms;
    let stages = run.stages();
    let ran = stages.iter().find(|(name, _)| name == "running").map_or(now, |(_, began)| *began);
    let verified = back(ran, timing.verify).max(run.began_at);
    let mut parts = plans(record, &stages, place, (run.began_at, verified));
    parts.extend(run.checks().into_iter().map(|done| check(&done, place)));
    if timing.verify > 0.0 {
        parts.push(verification(record, place, verified, ran));
    }
    if timing.commit > 0.0 {
        let rows = |count: fn(&ordain_types::TableDiff) -> usize| {
            record.diff.tables.values().map(count).sum::<usize>() as u64
        };
        parts.push(
            Span::below(place, "commit_changes", back(now, timing.commit).max(run.began_at), now)
                .number("ordain.diff.rows_added", rows(|table| table.added.len()))
                .number("ordain.diff.rows_changed", rows(|table| table.changed.len()))
                .number("ordain.diff.rows_removed", rows(|table| table.removed.len())),
        );
    }
    parts
}

/// Planning, each repair and each review, with the call of a model below it where there was one.
fn plans(
    record: &RunRecord,
    stages: &[(String, SystemTime)],
    place: &TraceContext,
    (began, verified): (SystemTime, SystemTime),
) -> Vec<Span> {
    let mut spans = Vec::new();
    for (at, (stage, from)) in stages.iter().enumerate() {
        if !matches!(stage.as_str(), "planning" | "repairing" | "reviewing") {
            continue;
        }
        let next = stages.get(at + 1).map_or(verified, |(_, next)| *next);
        // The plan is judged between its last word and its first step.
        let until = if next > verified && *from <= verified { verified } else { next };
        spans.push(plan(record, stage, place, (*from, until)));
        if record.usage.model_calls > 0 {
            spans.push(chat(record, &spans[spans.len() - 1].context, (*from, until)));
        }
    }
    // A kept plan is found without a word.
    if spans.is_empty() && record.timing_ms.plan > 0.0 {
        let until = (began + millis(record.timing_ms.plan)).min(verified);
        spans.push(plan(record, "planning", place, (began, until)));
    }
    spans
}

fn plan(
    record: &RunRecord,
    stage: &str,
    place: &TraceContext,
    (from, until): (SystemTime, SystemTime),
) -> Span {
    Span::below(place, format!("plan {}", record.kind), from, until)
        .text("gen_ai.operation.name", "plan")
        .text("ordain.plan.stage", stage)
        .text("ordain.plan.source", source(record))
}

fn chat(record: &RunRecord, place: &TraceContext, (from, until): (SystemTime, SystemTime)) -> Span {
    let model = record.plan.model.as_deref().unwrap_or("unknown");
    let (provider, name) = model.split_once(':').unwrap_or(("unknown", model));
    let span = Span::below(place, format!("chat {name}"), from, until)
        .text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", provider)
        .text("gen_ai.request.model", name);
    Span { kind: Kind::Client, ..span }
}

fn verification(record: &RunRecord, place: &TraceContext, from: SystemTime, until: SystemTime) -> Span {
    let code = |finding: &serde_json::Value| finding["code"].as_str().map(str::to_owned);
    let codes: Vec<String> = record.verdict.findings.iter().filter_map(code).collect();
    let verdict = if record.verdict.accepted { "accepted" } else { "rejected" };
    let mut span = Span::below(place, "verify_plan", from, until)
        .text("ordain.verdict", verdict)
        .number("ordain.verdict.iterations", u64::from(record.verdict.iterations));
    if !codes.is_empty() {
        span.attributes.push(("ordain.finding.codes", Attribute::Texts(codes)));
    }
    span
}

fn check(done: &CheckDone, place: &TraceContext) -> Span {
    Span::below(place, "run_check", back(done.ended, done.took_ms), done.ended)
        .text("ordain.check.id", done.check_id.as_str())
        .text("ordain.check.status", done.status)
        .text("ordain.check.severity", done.severity)
}

fn source(record: &RunRecord) -> &'static str {
    match record.plan.source {
        ordain_types::PlanSource::Model => "model",
        ordain_types::PlanSource::Rules => "rules",
        ordain_types::PlanSource::Cache => "cache",
        ordain_types::PlanSource::File => "file",
    }
}

fn back(from: SystemTime, ms: f64) -> SystemTime {
    from.checked_sub(millis(ms)).unwrap_or(from)
}

fn millis(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}
