//! What went wrong, as RFC 9457 says it.
//!
//! A handler gives a [`Problem`]; the frame writes it down, since only the frame knows the request's id and which
//! shape the caller's protocol wants. Messages to the caller never hold a path, a secret or the text of an inner
//! failure; that goes to the log.

use std::ops::{Deref, DerefMut};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ordain_cell::CellError;
use ordain_checks::ChecksError;
use ordain_engine::EngineError;
use ordain_store::{RowConflict, StoreError};
use ordain_types::{ErrorClass, RunRecord};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// How many changed cells one message lists when rows have moved on.
const CELLS_MAX: usize = 20;
/// How many problems of check files one message lists.
const FILE_PROBLEMS_MAX: usize = 20;
/// The code for a request whose idempotency key is held by a run that goes on.
pub(crate) const STILL_RUNNING: &str = "still_running";
/// The code for an idempotency key that was used for something else.
pub(crate) const KEY_REUSED: &str = "idempotency_key_reused";
/// The code for checks that cannot run while others do.
pub(crate) const CHECKS_BUSY: &str = "checks_running";
/// The code for a request that is longer than any is taken.
pub(crate) const REQUEST_TOO_LONG: &str = "request_too_long";

/// The code for a run that found no place in the cluster's queue.
pub(crate) const QUEUE_FULL: &str = "queue_full";
/// The code for a run that a database lost when it crashed.
pub(crate) const RUN_LOST: &str = "run_lost";
/// The code for a run of a key that has as many as it may.
pub(crate) const CELLS_LIMIT: &str = "cells_limit";
/// The code for a session more than a key may have.
pub(crate) const SESSIONS_LIMIT: &str = "sessions_limit";
/// The code for work in a session whose node is gone.
pub(crate) const SESSION_GONE: &str = "session_gone";
/// No executor offers what the job needs.
const NOT_OFFERED: &str = "not_offered";
/// The code for work that comes while the server stops.
pub(crate) const DRAINING: &str = "draining";

/// Why a request was not carried out. It is passed up through many results, so it is one pointer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problem(Box<ProblemDetails>);

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDetails {
    /// A stable name of the kind of problem: `urn:ordain:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong, for people.
    pub detail: String,
    /// A stable name of the kind of problem, for programs.
    pub code: String,
    /// What would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Names this request; the log has it too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// The trace that the request belongs to, if it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// What is wrong with which part of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<PartProblem>,
    /// The run that this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// When another try makes sense, in seconds.
    #[serde(skip)]
    pub retry_after: Option<u64>,
    /// What happened inside, for the log alone.
    #[serde(skip)]
    pub inner: Option<String>,
}

/// What is wrong with one part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PartProblem {
    /// The part, as a JSON pointer into the body, or a parameter's name.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

impl Problem {
    /// A problem of that kind.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let details = ProblemDetails {
            kind: format!("urn:ordain:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            hint: None,
            request_id: String::new(),
            trace_id: None,
            errors: Vec::new(),
            run_id: None,
            retry_after: None,
            inner: None,
        };
        Self(Box::new(details))
    }

    /// Something inside failed that the caller can do nothing about and need not know.
    pub fn internal(inner: impl Into<String>) -> Self {
        let detail = "something failed inside the server; its log has more under this request's id";
        let mut problem = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail);
        problem.inner = Some(inner.into());
        problem
    }

    /// The same with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, naming a part of the request.
    #[must_use]
    pub fn about(mut self, pointer: &str, message: impl Into<String>) -> Self {
        self.errors.push(PartProblem { pointer: pointer.to_owned(), message: message.into() });
        self
    }

    /// The same, with the time after which another try makes sense.
    #[must_use]
    pub fn after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same, naming the run that it is about.
    #[must_use]
    pub fn of_run(mut self, run: &str) -> Self {
        self.run_id = Some(run.to_owned());
        self
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// A value in the request that is well formed and means nothing here.
    pub(crate) fn unprocessable(code: &str, pointer: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message.clone()).about(pointer, message)
    }
}

impl Deref for Problem {
    type Target = ProblemDetails;

    fn deref(&self) -> &ProblemDetails {
        &self.0
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut ProblemDetails {
        &mut self.0
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(run) = &self.run_id
            && let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{run}"))
        {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let (code, hint, detail) = (error.code(), error.hint(), error.to_string());
        let cells = match &error {
            StoreError::RowsConflict { conflicts } | StoreError::NotAsShown { conflicts } => {
                conflicts.iter().flat_map(RowConflict::cells).take(CELLS_MAX).collect()
            }
            _ => Vec::new(),
        };
        let status = match &error {
            StoreError::UnknownRun { .. }
            | StoreError::AmbiguousRun { .. }
            | StoreError::UnknownPlan { .. }
            | StoreError::UnknownTable { .. }
            | StoreError::UnknownCall { .. }
            | StoreError::UnknownKey { .. } => StatusCode::NOT_FOUND,
            StoreError::WrongState { .. }
            | StoreError::RowsConflict { .. }
            | StoreError::NotAsShown { .. }
            | StoreError::LaterColumn { .. }
            | StoreError::HiddenWrites { .. }
            | StoreError::Violated { .. }
            | StoreError::CallUnderWay { .. }
            | StoreError::CallDone { .. }
            | StoreError::KeyHeld { .. } => StatusCode::CONFLICT,
            StoreError::Conflict | StoreError::Busy | StoreError::LockLimit { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            error if error.is_callers() => StatusCode::UNPROCESSABLE_ENTITY,
            StoreError::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
            StoreError::Unreachable { .. } | StoreError::File { .. } | StoreError::CommitUnknown { .. } => {
                let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, "").after(5);
                if matches!(error, StoreError::CommitUnknown { .. }) {
                    (problem.detail, problem.hint) = (detail, hint);
                } else {
                    "the database cannot be reached at this moment".clone_into(&mut problem.detail);
                }
                problem.inner = Some(error.to_string());
                return problem;
            }
            StoreError::Ledger { .. } => {
                let detail = "the ledger cannot be written at this moment; nothing was changed";
                let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).after(5);
                problem.inner = Some(error.to_string());
                return problem;
            }
            _ => return Self::internal(detail),
        };
        let mut problem = Self::new(status, code, detail);
        problem.hint = hint;
        for cell in cells {
            let column = cell.column.map(|column| format!("/{column}")).unwrap_or_default();
            let shown =
                |value: Option<Value>| value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
            let message = format!("it was {}, and is {}", shown(cell.was), shown(cell.is));
            problem = problem.about(&format!("{}/{}{column}", cell.table, cell.row), message);
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            problem.retry_after = Some(1);
        }
        problem
    }
}

impl Problem {
    /// The problem that a run's record stands for, where the caller is to be told it as one: the same whether the end of the
    /// run was heard of or looked up.
    pub(crate) fn recorded(record: &RunRecord) -> Option<Self> {
        let error = record.error.as_ref().filter(|error| error.class == ErrorClass::Internal)?;
        let status = match error.code.as_str() {
            SESSION_GONE => StatusCode::CONFLICT,
            NOT_OFFERED => StatusCode::NOT_IMPLEMENTED,
            _ => return None,
        };
        let mut problem = Self::new(status, &error.code, error.message.clone());
        problem.hint.clone_from(&error.hint);
        Some(problem)
    }
}

impl From<CellError> for Problem {
    fn from(error: CellError) -> Self {
        let hint = error.hint();
        let mut problem = match &error {
            CellError::Busy { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "cells_busy", error.to_string()).after(1)
            }
            CellError::Sessions { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "sessions_full", error.to_string()).after(30)
            }
            CellError::File { .. } => Self::unprocessable("bad_file", "/files", error.to_string()),
            // Where the executor is, is the operator's to know.
            CellError::NotOffered { said, .. } => {
                let detail = format!("no executor takes the job: {said}");
                let mut problem = Self::new(StatusCode::NOT_IMPLEMENTED, NOT_OFFERED, detail);
                problem.inner = Some(error.to_string());
                problem
            }
            _ => {
                let detail = "no cell could be had, so no code ran";
                let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "no_cell", detail).after(5);
                problem.inner = Some(error.to_string());
                return problem.hint("the operator should look at the log and at `ordain doctor`");
            }
        };
        problem.hint = hint;
        problem
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let (detail, hint) = (error.to_string(), error.hint());
        let mut problem = match error {
            EngineError::Store(error) => return error.into(),
            EngineError::Cell(error) => return error.into(),
            EngineError::Contended { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "contended", detail).after(1)
            }
            EngineError::Running { run } => {
                let problem = Self::new(StatusCode::CONFLICT, STILL_RUNNING, detail).of_run(&run).after(1);
                return problem.hint("wait for that run; this answer's `Location` is where it is");
            }
            EngineError::KeyReused { run } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, KEY_REUSED, detail).of_run(&run)
            }
            EngineError::NotRebased { run } => {
                Self::new(StatusCode::CONFLICT, "not_rebased", detail).of_run(&run)
            }
            EngineError::Decision { .. } => Self::unprocessable("bad_decision", "", detail),
            EngineError::RequestTooLong { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, REQUEST_TOO_LONG, detail)
            }
            EngineError::Artifacts(error) => {
                let mut problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, "artifacts_not_kept", detail);
                problem.inner = Some(error.to_string());
                return problem;
            }
        };
        problem.hint = hint;
        problem
    }
}

impl From<ChecksError> for Problem {
    fn from(error: ChecksError) -> Self {
        let (detail, hint) = (error.to_string(), error.hint());
        let conflict = |code: &str, detail: String| Self::new(StatusCode::CONFLICT, code, detail);
        let mut problem = match error {
            ChecksError::Engine(error) => return error.into(),
            ChecksError::State { action, source } => {
                return Self::internal(format!("failed to {action}: {source}"));
            }
            ChecksError::Files(problems) => problems.iter().take(FILE_PROBLEMS_MAX).fold(
                conflict("bad_check_files", detail),
                |told, problem| {
                    told.about(&format!("{}:{}", problem.file, problem.line), problem.message.clone())
                },
            ),
            ChecksError::NoFiles => conflict("no_checks", detail),
            ChecksError::Busy => conflict(CHECKS_BUSY, detail).after(1),
            ChecksError::Table { .. } => conflict("bad_table", detail),
            ChecksError::Edit { .. } => conflict("check_not_changed", detail),
        };
        problem.hint = hint;
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_failure_is_kept_from_the_caller() {
        let error = StoreError::Database { message: "no such file /srv/secret/store.db".to_owned() };
        let problem = Problem::from(error);
        assert_eq!(problem.status, 500);
        let told = serde_json::to_string(&problem).unwrap();
        assert!(!told.contains("secret"), "{told}");
        assert!(problem.inner.as_deref().unwrap().contains("secret"));
    }

    #[test]
    fn what_the_database_did_otherwise_is_a_conflict_with_a_code_and_a_hint() {
        let conflict = RowConflict {
            table: "stock".to_owned(),
            key: [("id".to_owned(), Value::from(1))].into_iter().collect(),
            expected: Some([("n".to_owned(), Value::from(2))].into_iter().collect()),
            found: Some([("n".to_owned(), Value::from(3))].into_iter().collect()),
        };
        let (table, column) = ("stock".to_owned(), "iban".to_owned());
        let cases = [
            ("hidden_writes", StoreError::HiddenWrites { table: table.clone(), counted: 2, reported: 1 }),
            ("later_column", StoreError::LaterColumn { table, column }),
            ("not_as_shown", StoreError::NotAsShown { conflicts: vec![conflict] }),
        ];
        for (code, error) in cases {
            let problem = Problem::from(error);
            assert_eq!((problem.status, problem.code.as_str()), (409, code));
            assert!(problem.hint.is_some(), "{code}");
            assert_eq!(problem.errors.is_empty(), code != "not_as_shown", "the cells are named");
        }
    }

    #[test]
    fn a_busy_store_says_when_to_try_again() {
        let response = Problem::from(StoreError::Busy).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }

    /// The page that tells callers what an error is called over each protocol.
    const PAGE: &str = include_str!("../../../../docs/reference/errors.md");

    #[test]
    fn the_page_about_errors_says_what_the_code_does() {
        let said = || ("executor".to_owned(), "gone".to_owned());
        let (executor, gone) = said();
        let errors = [
            ("all cells are busy", CellError::Busy { waiting: 1 }),
            ("too many sessions", CellError::Sessions { open: 1 }),
            ("a file that cannot be given", CellError::File { name: executor, problem: gone }),
            ("the cell was lost before its job", CellError::Lost),
            (
                "no cell can be made, or no executor reached",
                CellError::Unreachable { executor: said().0, said: said().1 },
            ),
            (
                "no executor offers what the job needs",
                CellError::NotOffered { executor: said().0, said: said().1, hint: None },
            ),
        ];
        for (what, error) in errors {
            let status = crate::grpc::status_of(&error);
            let details = String::from_utf8_lossy(status.details()).into_owned();
            let problem = Problem::from(error);
            let row = PAGE.lines().find(|line| line.starts_with(&format!("| {what} |")));
            let row = row.unwrap_or_else(|| panic!("`{what}` is not told"));
            assert!(row.contains(&format!("{} `{}`", problem.status, problem.code)), "{row}");
            assert!(row.contains(&format!("`{:?}`", status.code())), "{row}: {status:?}");
            let reason = row.split('`').nth(5).unwrap();
            assert!(details.contains(reason), "{row}: {details}");
        }
    }

    #[test]
    fn every_code_on_the_page_about_errors_is_one_that_is_given() {
        let sources = [
            include_str!("problem.rs"),
            include_str!("rate.rs"),
            include_str!("caller.rs"),
            include_str!("live.rs"),
        ];
        let codes = PAGE
            .lines()
            .filter(|line| line.starts_with('|'))
            .flat_map(|line| line.split('`').skip(1).step_by(2));
        let codes = codes.filter(|code| {
            code.contains('_') && code.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
        });
        let mut count = 0;
        for code in codes {
            let written = format!("\"{code}\"");
            assert!(sources.iter().any(|source| source.contains(&written)), "nobody gives `{code}`");
            count += 1;
        }
        assert!(count > 8, "the page tells of codes");
    }
}
