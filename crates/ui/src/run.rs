//! One run: request, stages, answer with its receipt, diff, plan, code with findings, rounds, invariants and timing.

mod graph;
mod rounds;
mod stages;

use maud::{Markup, html};
use ordain_checks::CheckResult;
use ordain_store::LedgerEntry;
use ordain_types::{
    Artifact, CodeError, PlanSource, QuestionKind, RunKind, RunRecord, RunState, format_bytes,
};
use serde_json::Value;

use crate::approvals::{Conflict, conflicts};
use crate::code::listing;
use crate::diff;
use crate::parts::{answer_rows, became, chip, facts, fold, json, receipt, state};
use crate::shell::Viewer;
use crate::text::{advice, counted, duration, in_path, lines, short_id, visible, when};

/// Characters of a request that a heading shows.
const HEADING_CHARS_MAX: usize = 300;
/// Characters of output that a page shows.
const OUTPUT_CHARS_MAX: usize = 20_000;

/// What a run page shows besides the record.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// What happened in the run, in order: the event's name and its data, while the server still has them.
    pub events: Vec<(String, String)>,
    /// The entries of the ledger that are about the run: place, kind, who and when.
    pub entries: Vec<Entry>,
    /// What was said to a model and what it said, for admins alone: who, and what.
    pub exchange: Vec<(String, String)>,
    /// Rows that are no longer as they were when a held run saw them.
    pub conflicts: Vec<Conflict>,
    /// What each check of the run gave, while its report is kept.
    pub checks: Vec<CheckResult>,
    /// What its model cost, where the price is known.
    pub cost: Option<RunCost>,
    /// Where the server listens, if one shows the page.
    pub server: Option<String>,
}

/// What the tokens of a run cost, by the prices of a day.
#[derive(Debug, Clone, Copy)]
pub struct RunCost {
    /// Dollars.
    pub usd: f64,
    /// The day of the prices.
    pub prices_as_of: &'static str,
}

/// An entry of the ledger that is about a run.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its place.
    pub seq: u64,
    /// What it records.
    pub kind: String,
    /// Who did it.
    pub who: String,
    /// What they said about it.
    pub comment: Option<String>,
    /// When.
    pub at: String,
}

impl Entry {
    /// What a page shows of an entry.
    pub fn of(entry: &LedgerEntry) -> Self {
        let body: Value = serde_json::from_str(entry.body.get()).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            seq: entry.seq,
            kind: entry.kind.clone(),
            who: text(&body["who"]).unwrap_or_default(),
            comment: text(&body["detail"]["comment"]).or_else(|| text(&body["detail"]["detail"]["comment"])),
            at: entry.at.clone(),
        }
    }
}

/// The whole page.
pub fn page(record: &RunRecord, details: &Details, viewer: &Viewer) -> Markup {
    html! { (heading(record)) (body(record, details, viewer)) }
}

/// The page as a file that somebody is sent.
pub(crate) fn report(record: &RunRecord, details: &Details, nobody: &Viewer) -> Markup {
    html! { (request(record)) (body(record, details, nobody)) }
}

/// The page below its heading.
pub fn body(record: &RunRecord, details: &Details, viewer: &Viewer) -> Markup {
    html! {
        (meta(record))
        (stages::bar(record, details.entries.iter().any(|entry| entry.kind == "approve")))
        (answer(record))
        @if record.state != RunState::Held { (decision(record, false, viewer)) }
        (rating(record, viewer))
        @if !details.conflicts.is_empty() { (conflicts(&details.conflicts)) }
        @if !record.diff.is_empty() { section #diff { h2 { "Diff" } (diff::of_run(record)) } }
        @if record.state == RunState::Held { (decision(record, !details.conflicts.is_empty(), viewer)) }
        (crate::checks::results(&details.checks))
        (invariants(record))
        @if details.checks.is_empty() { (plan(record)) }
        @else { (fold(&html! { "The code of " (counted(record.plan.steps.len(), "check", "checks")) }, false, &plan(record))) }
        (rounds::section(record))
        (prompts(&details.exchange))
        (output(record))
        (rest(record, details, viewer))
    }
}

fn heading(record: &RunRecord) -> Markup {
    html! {
        p.crumbs { a href="/runs" { "Runs" } " / " code { (short_id(record.run_id.as_str())) } }
        (request(record))
    }
}

/// What was asked.
fn request(record: &RunRecord) -> Markup {
    let is_long = record.request.chars().count() > HEADING_CHARS_MAX;
    html! {
        h1.request { (lines(&record.request, HEADING_CHARS_MAX)) }
        @if is_long { (fold(&html! { "The whole request" }, false, &html! { pre tabindex="0" { (lines(&record.request, 1 << 20)) } })) }
    }
}

/// State, kind, times and who wrote the plan, in one line.
fn meta(record: &RunRecord) -> Markup {
    html! {
        p.meta {
            (became(record)) " "
            @if let Some(status) = record.status.as_ref().filter(|_| record.kind != RunKind::Check) { span.muted { "status " } code { (visible(status)) } " · " }
            span { (record.kind.as_str()) } " · " (when(&record.started_at)) " · " (duration(record.timing_ms.total))
            " · " (writer(record))
        }
        @if let Some(reading) = &record.plan.reading { p.meta { span.muted { "read as " } (visible(reading)) } }
    }
}

/// Who wrote the plan.
fn writer(record: &RunRecord) -> Markup {
    let plan = &record.plan;
    html! {
        @match plan.source {
            PlanSource::Model => { "plan by " (visible(plan.model.as_deref().unwrap_or("a model"))) },
            PlanSource::Rules => { "plan by the reader" },
            PlanSource::File => { "plan given by the caller" },
            PlanSource::Cache => {
                "plan from the cache"
                @if let Some(run) = &plan.written_by { ", written in " a href={ "/runs/" (run.as_str()) } { (short_id(run.as_str())) } }
            },
        }
    }
}

/// What a person can decide: commit or reject a held diff, take back a committed one. A diff with conflicts is
/// committed on the rows of today, or held anew if more than derived columns differs.
pub(crate) fn decision(record: &RunRecord, has_conflicts: bool, viewer: &Viewer) -> Markup {
    let action = |verb: &str| format!("/runs/{}/{verb}", record.run_id);
    let rows = counted(record.diff.rows(), "row", "rows");
    html! {
        @match record.state {
            RunState::Held if viewer.may_approve => {
                form.decide.bar method="post" action=(action("approve")) {
                    (viewer.hidden_token())
                    input type="hidden" name="seen" value=(diff::diff_hash(record));
                    label.grow { span.unseen { "Comment" } input type="text" name="comment" maxlength="500" placeholder="Comment (optional)" autocomplete="off"; }
                    @if has_conflicts {
                        button.primary type="submit" name="rebase" value="yes" title="The same code on the rows of today" { "Commit on today’s rows" }
                    } @else {
                        label { span.unseen { "Rows to leave out, each as table/key on a line of its own" } textarea name="except" rows="1" maxlength="2000" placeholder="Leave out: table/key" autocomplete="off" {} }
                        button.primary type="submit" { "Commit " (rows) }
                    }
                    button.danger type="submit" formaction=(action("reject")) { "Reject" }
                }
            }
            RunState::Waiting => { (question(record, viewer)) },
            RunState::Held => { p.notice { "It waits for someone whose key has the scope `approve`." } },
            RunState::Committed if viewer.may_approve && !record.diff.is_empty() => {
                form.decide.bare method="post" action=(action("undo")) {
                    (viewer.hidden_token())
                    button type="submit" { "Undo " (rows) }
                }
            }
            _ => {}
        }
    }
}

/// What a run asks, or the outline that it shows, and a form to answer.
fn question(record: &RunRecord, viewer: &Viewer) -> Markup {
    let asked = record.plan.questions.last().filter(|question| question.answer.is_none());
    let kind = asked.map(|question| question.kind).unwrap_or_default();
    // An outline or a run that was cut short may go on without a word.
    let needs_words = kind == QuestionKind::Planner;
    let (hint, button) = if needs_words {
        ("Your answer", "Answer")
    } else {
        ("What should be different (optional)", "Go on")
    };
    let address = |verb: &str| format!("/runs/{}/{verb}", record.run_id);
    html! {
        @if let Some(question) = asked { p.said { (lines(&question.text, 2000)) } }
        @if let Some(outline) = record.plan.outline.as_ref().filter(|_| kind == QuestionKind::Outline) {
            ol.outline { @for step in &outline.steps { li { (visible(&step.title)) @if !step.success.is_empty() { span.muted { " · done when " (visible(&step.success)) } } } } }
        }
        @if viewer.may_run {
            form.decide.bar method="post" action=(address("answer")) {
                (viewer.hidden_token())
                label.grow { span.unseen { "Your answer" } input type="text" name="answer" maxlength="16000" required[needs_words] autocomplete="off" placeholder=(hint); }
                button.primary type="submit" { (button) }
                @if viewer.may_approve { button.danger type="submit" formnovalidate formaction=(address("reject")) { "Reject" } }
            }
        } @else { p.notice { "It waits for an answer of someone whose key has the scope " code { "run" } "." } }
    }
}

/// What somebody thinks of the run, and a form to say so.
fn rating(record: &RunRecord, viewer: &Viewer) -> Markup {
    html! {
        @if let Some(rating) = &record.rating {
            p.meta #rating {
                (chip(rating.grade.as_str(), &format!("rated {}", rating.grade.as_str()))) " by " code { (visible(&rating.by)) } " · " (when(&rating.at))
                @if let Some(note) = &rating.note { " · “" (lines(note, 2000)) "”" }
            }
        }
        @if viewer.may_run {
            (fold(&html! { @if record.rating.is_some() { "Rate it anew" } @else { "Did it do what you wanted?" } }, false, &html! {
                form.rate.bar method="post" action={ "/runs/" (record.run_id.as_str()) "/rate" } {
                    (viewer.hidden_token())
                    label.grow { span.unseen { "Why" } input type="text" name="note" maxlength="2000" placeholder="Why (optional)" autocomplete="off"; }
                    button type="submit" name="rating" value="good" { "Good" }
                    button type="submit" name="rating" value="bad" { "Bad" }
                }
            }))
        }
    }
}

/// The answer, its receipt, and why there is none.
pub(crate) fn answer(record: &RunRecord) -> Markup {
    let is_made = record.diff.is_empty() || record.state == RunState::Committed;
    html! {
        section.answer #answer aria-label="Answer" {
            // Words of a change that was not made must not be read before that.
            @if !is_made { (receipt(record)) (held_by(record)) }
            @if let Some(text) = &record.answer.text {
                p.said.muted[!is_made] { @if !is_made { span.not-made { (unmade(record.state)) } } (advice(text, 20_000)) }
            }
            @if let Some(error) = &record.error {
                div.problem {
                    p { strong { (visible(&error.message)) } " " code.muted { (visible(&error.code)) } }
                    @if let Some(hint) = &error.hint { p.hint { (advice(hint, 2000)) } }
                }
            }
            @if is_made { (receipt(record)) }
            @if let Some(rows) = &record.answer.rows { (answer_rows(rows, &record.answer.columns)) }
            @if let Some(value) = &record.answer.json { (fold(&html! { "Value" }, false, &json(value))) }
            @for note in &record.answer.notes { p.muted { (visible(note)) } }
            (artifacts(record))
        }
    }
}

/// The rule that asked for a decision.
pub(crate) fn held_by(record: &RunRecord) -> Markup {
    let rule = record.held_by.as_ref().filter(|_| record.state == RunState::Held);
    html! { @if let Some(rule) = rule { p.meta { span.muted { "held by " } (visible(&rule.to_string())) } } }
}

/// What stands before the words of a change that was not made, or is not there any more.
pub(crate) fn unmade(state: RunState) -> &'static str {
    match state {
        RunState::Held | RunState::Waiting => "Its answer, once it is committed:",
        RunState::Undone => "Its answer, before it was undone:",
        _ => "Its answer, had it been committed:",
    }
}

fn artifacts(record: &RunRecord) -> Markup {
    let address = |artifact: &Artifact| format!("/runs/{}/files/{}", record.run_id, in_path(&artifact.name));
    html! {
        @if !record.outcome.artifacts.is_empty() {
            ul.files aria-label="Files" {
                @for artifact in &record.outcome.artifacts {
                    li {
                        a href=(address(artifact)) download { (crate::icons::icon("file")) (visible(&artifact.name)) }
                        " " span.muted { (format_bytes(artifact.bytes)) }
                        @for warning in &artifact.warnings { " " (chip("wait", &visible(warning))) }
                        @if artifact.media_type.starts_with("image/png") {
                            img.artifact loading="lazy" src={ (address(artifact)) "?show" } alt={ "Picture " (visible(&artifact.name)) };
                        }
                    }
                }
            }
        }
    }
}

fn invariants(record: &RunRecord) -> Markup {
    html! {
        @if !record.invariants.is_empty() {
            section #invariants {
                h2 { "Invariants" }
                ul.plain {
                    @for invariant in &record.invariants {
                        li {
                            (chip(if invariant.holds { "good" } else { "bad" }, if invariant.holds { "holds" } else { "broken" }))
                            " " (visible(&invariant.name))
                            @if !invariant.rows.is_empty() {
                                (answer_rows(&Value::Array(invariant.rows.iter().filter_map(|row| serde_json::to_value(row).ok()).collect()), &[]))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The plan: its steps, each with its code and what the verifier found in it.
pub(crate) fn plan(record: &RunRecord) -> Markup {
    html! {
        @if !record.plan.steps.is_empty() {
            section #plan {
                h2 { "Plan" }
                @if !record.plan.goal.is_empty() && record.plan.goal != record.request { p { (visible(&record.plan.goal)) } }
                @if let Some(plan) = &record.plan.plan_id { p.muted { "Kept as plan " a href={ "/plans/" (in_path(plan)) } { (short_id(plan)) } } }
                (graph::of(&record.plan.steps))
                ol.steps {
                    @for step in &record.plan.steps {
                        li id={ "step-" (in_path(&step.id)) } {
                            p.step-title { strong { (visible(&step.title)) } " " span.muted { (step.state.as_str()) }
                                @if !step.needs.is_empty() { span.muted { " · needs " (visible(&step.needs.join(", "))) } }
                            }
                            @if !step.success.is_empty() { p.muted { "Done when: " (visible(&step.success)) } }
                            (listing(&step.code, &record.verdict.findings, &format!("step-{}", in_path(&step.id))))
                            @for module in &step.modules {
                                (fold(&html! { "Module " code { (visible(&module.name)) } }, false, &listing(&module.code, &[], &in_path(&module.name))))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was said to a model, and what it said.
fn prompts(exchange: &[(String, String)]) -> Markup {
    html! {
        @if !exchange.is_empty() {
            section #prompts {
                h2 { "Prompts and replies" }
                @for (speaker, text) in exchange {
                    (fold(&html! { (visible(speaker)) " " span.muted { (counted(text.chars().count(), "character", "characters")) } }, false, &html! { pre tabindex="0" { (lines(text, 100_000)) } }))
                }
            }
        }
    }
}

fn output(record: &RunRecord) -> Markup {
    let outcome = &record.outcome;
    let printed = [("Printed", &outcome.stdout), ("Printed to stderr", &outcome.stderr)];
    html! {
        @if outcome.error.is_some() || printed.iter().any(|(_, text)| !text.is_empty()) {
            section #output {
                h2 { "Output" }
                @if let Some(error) = &outcome.error { (raised(error)) }
                @for (title, text) in printed.iter().filter(|(_, text)| !text.is_empty()) {
                    h3 { (title) }
                    pre.output tabindex="0" { (lines(text, OUTPUT_CHARS_MAX)) }
                }
            }
        }
    }
}

fn raised(error: &CodeError) -> Markup {
    html! {
        div.problem { p {
            @if let Some(line) = error.line { a href={ "#step-1-L" (line) } { "Line " (line) } ": " }
            strong {
                @if let Some(kind) = &error.kind { (visible(kind)) ": " }
                (visible(error.message.as_deref().unwrap_or_default()))
            }
            " " code.muted { (error.cause.as_str()) }
        } }
    }
}

fn rest(record: &RunRecord, details: &Details, viewer: &Viewer) -> Markup {
    let whole = serde_json::to_value(record).unwrap_or_default();
    html! {
        section #timing { h2 { "Timing and use" } (timing(record, details.cost)) }
        @if !details.entries.is_empty() {
            section #ledger {
                h2 { "Ledger" }
                ol.plain { @for entry in &details.entries {
                    li { @if viewer.is_admin { a href={ "/ledger/" (entry.seq) } { "#" (entry.seq) } } @else { "#" (entry.seq) } " " strong { (visible(&entry.kind)) } " by " code { (visible(&entry.who)) } " · " (when(&entry.at))
                        @if let Some(comment) = &entry.comment { " · “" (visible(comment)) "”" } }
                } }
            }
        }
        section #more {
            h2 { "More" }
            @if viewer.may_run && matches!(record.kind, RunKind::Ask | RunKind::Check) {
                form.inline method="post" action={ "/runs/" (record.run_id.as_str()) "/again" } {
                    (viewer.hidden_token())
                    button type="submit" { (again_words(record)) }
                }
            }
            (fold(&html! { "Repeat from a terminal" }, false, &terminal(record, details.server.as_deref())))
            @if !details.events.is_empty() { (fold(&html! { "Events" }, false, &events(&details.events))) }
            (fold(&html! { "The whole record" }, false, &json(&whole)))
        }
    }
}

/// What the button says that asks the same again: a change is not made twice by one click.
fn again_words(record: &RunRecord) -> &'static str {
    if record.diff.is_empty() { "Run again" } else { "Run again and hold" }
}

fn timing(record: &RunRecord, cost: Option<RunCost>) -> Markup {
    let (timing, usage) = (&record.timing_ms, &record.usage);
    let stages =
        [("plan", timing.plan), ("verify", timing.verify), ("run", timing.run), ("commit", timing.commit)];
    // What was not reached took no time.
    let reached = stages.into_iter().filter(|(_, took)| *took > 0.0);
    let mut shown: Vec<_> = reached.map(|(stage, took)| (stage, html! { (duration(took)) })).collect();
    shown.push(("all", html! { strong { (duration(timing.total)) } }));
    if usage.model_calls > 0 {
        shown.push(("model calls", html! { (usage.model_calls) }));
        shown.push(("tokens in", html! { (crate::text::grouped(usage.input_tokens)) }));
        shown.push(("tokens out", html! { (crate::text::grouped(usage.output_tokens)) }));
        let unknown = || html! { span.muted { "the price of this model is not known" } };
        let known = |cost: RunCost| html! { (format!("${:.4}", cost.usd)) span.muted { " by the prices of " (cost.prices_as_of) } };
        shown.push(("cost", cost.map_or_else(unknown, known)));
    }
    facts(&shown)
}

/// How to ask the same on a command line and over HTTP.
fn terminal(record: &RunRecord, server: Option<&str>) -> Markup {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let body = quoted(&serde_json::json!({ "request": record.request }).to_string());
    let asked = match record.kind {
        RunKind::Ask => Some(("ask", "requests")),
        RunKind::Code => Some(("code", "code")),
        RunKind::Check | RunKind::Exec | RunKind::Lost => None,
    };
    html! {
        @if let Some((command, route)) = asked {
            pre tabindex="0" { (lines(&format!("ordain {command} {}", quoted(&record.request)), 4000)) }
            @if let Some(server) = server { pre tabindex="0" { (lines(&format!("curl -s http://{server}/v1/{route} -H 'Content-Type: application/json' -d {body}"), 4000)) } }
        }
        pre tabindex="0" { "ordain runs show " (record.run_id.as_str()) }
    }
}

fn events(events: &[(String, String)]) -> Markup {
    html! {
        ol.events { @for (name, data) in events.iter().take(500) { li { code { (visible(name)) } " " span.muted { (lines(data, 500)) } } } }
    }
}

/// A run in a conversation: the answer and its receipt, with diff and plan one click away.
pub fn card(record: &RunRecord, viewer: &Viewer) -> Markup {
    html! {
        (answer(record))
        div.one-click {
            @if !record.diff.is_empty() {
                (fold(&html! { "Diff " span.muted { (counted(record.diff.rows(), "row", "rows")) } }, record.state == RunState::Held, &diff::of_run(record)))
            }
            // What is decided on is read first.
            (decision(record, false, viewer))
            @if !record.plan.steps.is_empty() {
                (fold(&html! { "Plan and code " span.muted { (writer(record)) } }, false, &html! {
                    @for step in &record.plan.steps {
                        p.step-title { (visible(&step.title)) }
                        (listing(&step.code, &record.verdict.findings, &format!("{}-{}", record.run_id, in_path(&step.id))))
                    }
                }))
            }
            p.meta { (state(record.state)) " " (duration(record.timing_ms.total)) " · " a href={ "/runs/" (record.run_id.as_str()) } { "Open the run" } }
        }
    }
}
