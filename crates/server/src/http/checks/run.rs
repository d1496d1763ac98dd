//! `POST /v1/checks/run` and `POST /v1/checks/{check}/run`: runs checks as one run, which can be watched and cancelled
//! like any other.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use ordain_checks::file::CheckFiles;
use ordain_checks::{CheckOptions, CheckTask, ChecksError, RunReport, Selection};
use ordain_engine::Planner;
use ordain_types::{RunId, RunRecord};
use serde::Deserialize;
use utoipa::ToSchema;

use super::super::answer;
use super::super::body::{self, Path};
use super::super::caller::{Caller, May, Run};
use super::super::frame::Context;
use super::super::live::LiveRun;
use super::super::order::WorkOrder;
use super::super::problem::{Problem, ProblemDetails};
use super::super::schema::RunRecord as RunRecordSchema;
use super::super::service::Service;
use super::super::wait::Wait;
use super::{find, look, read, schema, served};

/// Bytes of a body that says which checks.
const BODY_BYTES_MAX: usize = 64 << 10;
/// What a run of all checks is called.
const ALL_WORDS: &str = "run all checks";

/// Which checks, and how. Without a body all of them run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NewCheckRun {
    /// Terms such as `id:CHK-002`, `tag:integrity`, `owner:…`, `table:…`, `severity:high`, `state:changed`.
    #[schema(example = json!(["severity:high"]))]
    select: Vec<String>,
    /// Leave out checks whose rule and data are as they were.
    if_changed: bool,
    /// Compile nothing that needs a planner; such checks are skipped.
    frozen: bool,
}

/// Run all checks, or those that are selected
///
/// The answer is the report with one result for each check. A check that fails is a result, not an error. One run of
/// checks goes on at a time.
#[utoipa::path(post, path = "/v1/checks/run", tag = "checks", operation_id = "run_checks",
    params(answer::RunHeaders),
    request_body = NewCheckRun,
    responses(
        (status = 200, description = "The run has ended; this is its report", body = schema::CheckReport),
        (status = 202, description = "The run goes on; `Location` is where it is", body = RunRecordSchema),
    ))]
pub(crate) async fn all(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    request: Request,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let (parts, body) = request.into_parts();
    let new: NewCheckRun = body::read_optional(body, &parts.headers, BODY_BYTES_MAX, &service).await?;
    let wanted = Wanted::selected(&service, new).await?;
    answer_with_report(&service, &may.caller, &context, &parts.headers, wanted).await
}

/// Run one check
#[utoipa::path(post, path = "/v1/checks/{check}/run", tag = "checks", operation_id = "run_check",
    params(
        ("check" = String, Path, description = "the check's id"),
        answer::RunHeaders,
    ),
    responses(
        (status = 200, description = "The run has ended; this is its report", body = schema::CheckReport),
        (status = 202, description = "The run goes on; `Location` is where it is", body = RunRecordSchema),
        (status = 422, description = "The idempotency key was used for something else", body = ProblemDetails,
            content_type = "application/problem+json"),
    ))]
pub(crate) async fn one(
    State(service): State<Service>,
    may: May<Run>,
    Extension(context): Extension<Context>,
    Path(check): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    may.caller.must_see_every_table()?;
    let wanted = Wanted::one(&service, &check).await?;
    answer_with_report(&service, &may.caller, &context, &headers, wanted).await
}

/// What is to be run.
pub(crate) struct Wanted {
    pub(crate) files: CheckFiles,
    pub(crate) options: CheckOptions,
    /// What was asked, for people.
    pub(crate) words: String,
    /// The protocol over which it was asked.
    pub(crate) through: String,
}

impl Wanted {
    /// The checks that a body selects.
    pub(crate) async fn selected(service: &Service, new: NewCheckRun) -> Result<Self, Problem> {
        let mut selection = Selection::default();
        for (place, terms) in new.select.iter().enumerate() {
            selection.add(terms).map_err(|error| {
                let pointer = format!("/select/{place}");
                Problem::unprocessable("bad_selection", &pointer, error.to_string()).hint(error.hint)
            })?;
        }
        let files = look(service, read).await?;
        let words = if new.select.is_empty() { ALL_WORDS.to_owned() } else { new.select.join(",") };
        let options = CheckOptions {
            selection,
            if_changed: new.if_changed,
            frozen: new.frozen,
            ..CheckOptions::default()
        };
        Ok(Self { files, options, words, through: "http".to_owned() })
    }

    /// Every check.
    pub(crate) async fn all(service: &Service) -> Result<Self, Problem> {
        let files = look(service, read).await?;
        Ok(Self {
            files,
            options: CheckOptions::default(),
            words: ALL_WORDS.to_owned(),
            through: "http".to_owned(),
        })
    }

    /// The checks of an earlier run, by the words that it was recorded with.
    pub(crate) async fn named(service: &Service, words: &str) -> Result<Self, Problem> {
        match words.strip_prefix("run check ") {
            Some(check) => Self::one(service, check).await,
            None => Self::all(service).await,
        }
    }

    /// One check.
    pub(crate) async fn one(service: &Service, check: &str) -> Result<Self, Problem> {
        let files = look(service, read).await?;
        find(files.clone(), check)?;
        let options = CheckOptions { selection: Selection::only(check), ..CheckOptions::default() };
        Ok(Self { files, options, words: format!("run check {check}"), through: "http".to_owned() })
    }
}

impl Wanted {
    /// The task for it, as this node carries it out.
    pub(crate) fn task(self, service: &Service, who: &str) -> Result<CheckTask, Problem> {
        if self.files.entries.is_empty() && self.files.problems.is_empty() {
            return Err(ChecksError::NoFiles.into());
        }
        let selection = &self.options.selection;
        let is_chosen = self.files.entries.iter().any(|entry| entry.check.is_in(selection));
        if !is_chosen && self.files.problems.is_empty() {
            let problem = Problem::unprocessable("nothing_selected", "/select", "no check is selected");
            return Err(problem.hint("`GET /v1/checks` shows ids, tags and owners"));
        }
        let has_hints = self.files.entries.iter().any(|entry| entry.check.is_words());
        let planner = if has_hints { service.inner.planner.clone() } else { Planner::Rules };
        Ok(CheckTask {
            request: self.words,
            options: CheckOptions { jobs: CheckOptions::jobs_here(), planner, ..self.options },
            ..served(service)?.task(self.files, who, &self.through)
        })
    }
}

async fn answer_with_report(
    service: &Service,
    caller: &Caller,
    context: &Context,
    headers: &HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    let claim = answer::idempotency_key(headers, &caller.id)?;
    let run = begin(service, caller, wanted, claim)?;
    let wait = Wait::read(headers);
    let Some(ended) = answer::ended(&run, context, wait).await else {
        return Ok(answer::place(&run, wait));
    };
    let record = (*ended).as_ref().map_err(Problem::clone)?;
    let report = report_of(service, record).await?;
    Ok(answer::finished(answer::json(&report), record, &run, wait))
}

/// Begins to run checks.
pub(crate) fn begin(
    service: &Service,
    caller: &Caller,
    wanted: Wanted,
    claim: Option<String>,
) -> Result<Arc<LiveRun>, Problem> {
    let mut task = wanted.task(service, &caller.id)?;
    task.origin.idempotency_key = claim;
    service.begin(caller, WorkOrder::Check(Box::new(task)), ())
}

/// The report of a run that has ended.
pub(crate) async fn report_of(service: &Service, record: &RunRecord) -> Result<RunReport, Problem> {
    let run: RunId = record.run_id.clone();
    if let Some(error) = &record.error {
        let mut problem = Problem::new(StatusCode::CONFLICT, &error.code, error.message.clone());
        problem.hint.clone_from(&error.hint);
        return Err(problem.of_run(run.as_str()));
    }
    look(service, move |checks| {
        checks.state()?.report(run.as_str()).ok_or_else(|| {
            let detail = "the report of that run is no longer kept";
            let problem = Problem::new(StatusCode::CONFLICT, "report_gone", detail).of_run(run.as_str());
            problem.hint("its record is kept: this answer's `Location` is where it is")
        })
    })
    .await
}
