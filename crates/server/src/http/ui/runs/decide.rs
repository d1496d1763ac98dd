//! What a person does with a run: approve, reject, undo, rate, cancel, run again.

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_engine::{Ask, Decision as Waited, EngineError, Mode};
use ordain_store::{EntryNote, StoreError};
use ordain_types::{Grade, RunKind, RunState};
use ordain_ui::diff_hash;
use serde::Deserialize;
use serde_json::json;

use crate::http::caller::{Approve, Run};
use crate::http::checks::run::{Wanted, begin};
use crate::http::problem::Problem;
use crate::http::runs::{Decision, HowToApprove};
use crate::http::ui::ask::conversation_of;
use crate::http::ui::visit::{Nothing, Sent, Turned};

/// Characters of a comment.
const COMMENT_CHARS_MAX: usize = 500;

/// What a person was shown, and says.
#[derive(Debug, Deserialize)]
pub(crate) struct Decided {
    /// The hash of the diff that was on the page.
    #[serde(default)]
    seen: String,
    #[serde(default)]
    comment: String,
    /// Whether the code is to run again where rows have moved on.
    #[serde(default)]
    rebase: Option<String>,
    /// Rows to leave out, one a line.
    #[serde(default)]
    except: String,
}

/// Commits a held diff, if it is the one that was seen.
pub(crate) async fn approve(
    Path(run): Path<String>,
    sent: Sent<Approve, Decided>,
) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let record = service.run_seen_by(&sent.visit.caller, &run).await?;
    if record.state == RunState::Held && diff_hash(&record) != sent.form.seen {
        return Ok(back(record.run_id.as_str(), "changed"));
    }
    let names = sent.form.except.lines().map(str::trim).filter(|name| !name.is_empty());
    let except = names.map(str::to_owned).collect();
    let how = HowToApprove { rebase: sent.form.rebase.is_some(), except };
    decided(&run, Decision::Approve(how), &sent).await
}

/// Says no to a held diff.
pub(crate) async fn reject(
    Path(run): Path<String>,
    sent: Sent<Approve, Decided>,
) -> Result<Response, Turned> {
    decided(&run, Decision::Reject, &sent).await
}

/// Takes back a committed run.
pub(crate) async fn undo(Path(run): Path<String>, sent: Sent<Approve, Decided>) -> Result<Response, Turned> {
    decided(&run, Decision::Undo, &sent).await
}

async fn decided(run: &str, decision: Decision, sent: &Sent<Approve, Decided>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let seen = service.run_seen_by(&sent.visit.caller, run).await?;
    let run = seen.run_id.as_str();
    let mut note = EntryNote::by(&sent.visit.caller.id, "ui");
    let comment: String = sent.form.comment.trim().chars().take(COMMENT_CHARS_MAX).collect();
    if !comment.is_empty() {
        note.detail = json!({ "comment": comment });
    }
    let word = match decision {
        Decision::Approve(_) => "approve",
        Decision::Reject => "reject",
        Decision::Undo => "undo",
    };
    let wanted = match decision {
        Decision::Approve(_) => RunState::Committed,
        Decision::Reject => RunState::Rejected,
        Decision::Undo => RunState::Undone,
    };
    match service.decide(run, decision, note).await {
        Ok(record) if record.state == RunState::Held => Ok(back(record.run_id.as_str(), "rebased")),
        Ok(record) => Ok(back_to_form(sent.visit.headers(), record.run_id.as_str(), word)),
        // A second click, or somebody else: the page shows how it stands.
        Err(EngineError::Store(StoreError::WrongState { run, state, .. })) => {
            Ok(back_to_form(sent.visit.headers(), &run, if state == wanted { word } else { "already" }))
        }
        Err(EngineError::Store(StoreError::RowsConflict { .. })) => Ok(back(run, "conflict")),
        Err(error) => Err(error.into()),
    }
}

/// What a person answers to a run that waits.
#[derive(Debug, Deserialize)]
pub(crate) struct Answered {
    #[serde(default)]
    answer: String,
}

/// Goes on with a run that waits: with an answer or a remark, or without one with its outline as it is.
pub(crate) async fn answer(Path(run): Path<String>, sent: Sent<Run, Answered>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let caller = &sent.visit.caller;
    let record = service.run_seen_by(caller, &run).await?;
    if record.state != RunState::Waiting {
        return Ok(back(record.run_id.as_str(), "already"));
    }
    let decision = match sent.form.answer.trim() {
        "" => Waited::Approve,
        words => Waited::Respond(words.to_owned()),
    };
    let begun = service.begin_resume(caller, &record, decision, service.planner(None).await?)?;
    Ok(Redirect::to(&format!("/runs/{}", begun.about.run_id)).into_response())
}

/// What a person thinks of a run.
#[derive(Debug, Deserialize)]
pub(crate) struct Rated {
    rating: Grade,
    #[serde(default)]
    note: String,
}

/// Notes what a person thinks of a run.
pub(crate) async fn rate(Path(run): Path<String>, sent: Sent<Run, Rated>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let Rated { rating, note } = &sent.form;
    let record = service.rate_run(&sent.visit.caller, &run, *rating, Some(note), "ui").await?;
    Ok(back(record.run_id.as_str(), "rated"))
}

/// Ends a run that goes on.
pub(crate) async fn cancel(Path(run): Path<String>, sent: Sent<Run, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    match service.cancel_run(&sent.visit.caller, &run).await {
        Ok(record) => Ok(back(record.run_id.as_str(), "cancel")),
        Err(problem) if problem.code == "already_ended" => Ok(back(&run, "ended")),
        Err(problem) => Err(problem.into()),
    }
}

/// Asks the same again, as a new run.
pub(crate) async fn again(Path(run): Path<String>, sent: Sent<Run, Nothing>) -> Result<Response, Turned> {
    let service = &sent.visit.service;
    let caller = &sent.visit.caller;
    let record = service.run_seen_by(caller, &run).await?;
    let begun = match record.kind {
        RunKind::Ask => {
            let planner = service.planner(None).await?;
            // What changed rows once must not change them again by one click.
            let mode = if record.diff.is_empty() { Mode::Commit } else { Mode::Hold };
            service.begin(caller, Ask { planner, mode, ..Ask::new(&record.request, &caller.id, "ui") }, ())?
        }
        RunKind::Check => {
            caller.must_see_every_table()?;
            begin(service, caller, Wanted::named(service, &record.request).await?, None)?
        }
        RunKind::Code | RunKind::Exec | RunKind::Lost => {
            let detail = "this run had files or code of its own, which are not kept";
            return Err(Problem::unprocessable("not_repeatable", "/run", detail).into());
        }
    };
    Ok(Redirect::to(&format!("/runs/{}", begun.about.run_id)).into_response())
}

/// Back to where the form was: the conversation, or the run's page.
fn back_to_form(headers: &HeaderMap, run: &str, word: &str) -> Response {
    match conversation_of(headers) {
        Some(name) => {
            let run = ordain_ui::text::in_path(run);
            Redirect::to(&format!("/ask/{name}?done={word}#run-{run}")).into_response()
        }
        None => back(run, word),
    }
}

fn back(run: &str, word: &str) -> Response {
    Redirect::to(&format!("/runs/{}?done={word}", ordain_ui::text::in_path(run))).into_response()
}
