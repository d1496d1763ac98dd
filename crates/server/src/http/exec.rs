//! `POST /v1/exec`: runs given code in a cell, with files.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use ordain_cell::profile::Profile;
use ordain_engine::{Exec, Judgement, Origin};
use ordain_types::{Limits, SourceFile, parse_bytes, parse_duration};
use serde::Deserialize;
use utoipa::ToSchema;

use super::answer::{RunAnswers, RunHeaders};
use super::caller::Caller;
use super::files::{Form, NewFile, Posted, Uploads, WithFiles, Work, route_with_files};
use super::live::LiveRun;
use super::order::WorkOrder;
use super::problem::Problem;
use super::requests::shortened;
use super::service::Service;
use super::session_book::session_name;

/// Longer names are no names.
const NAME_MAX: usize = 100;

/// Code to run, and how.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExec {
    /// The Python.
    #[schema(example = "print(1 + 1)")]
    pub(crate) code: String,
    /// The name that tracebacks show.
    #[serde(default)]
    #[schema(example = "main.py")]
    pub(crate) name: Option<String>,
    /// Files that the code can read as `files[name]`.
    #[serde(default)]
    pub(crate) files: Vec<NewFile>,
    /// The Python packages it finds: `core`, `data` or `full`.
    #[serde(default)]
    #[schema(example = "core")]
    pub(crate) profile: Option<String>,
    /// How long it may run, at most as long as the workspace allows.
    #[serde(default)]
    #[schema(example = "5s")]
    pub(crate) timeout: Option<String>,
    /// How much memory it may use, at most as much as the workspace allows.
    #[serde(default)]
    #[schema(example = "256MiB")]
    pub(crate) memory: Option<String>,
    /// Keep variables for later code of the same session and caller.
    #[serde(default)]
    pub(crate) session: Option<String>,
    /// `exec` refuses code that does not fit a cell; `open` looks at syntax and size only.
    #[serde(default)]
    #[schema(example = "exec")]
    pub(crate) policy: Option<String>,
}

route_with_files! {
    /// Run given code in a cell
    ///
    /// The code sees no tables. Files come as base64 in JSON, or as parts of a form. The answer is the run's record with
    /// what was printed, raised and left in `artifacts`; refused and failed code has a record too.
    route "/v1/exec", "exec", NewExec, ExecForm,
    known: "code, name, profile, timeout, memory, session and policy",
    needed: code, texts: [name, profile, timeout, memory, session, policy], flags: []
}

impl Work for NewExec {
    async fn begin(
        self,
        service: &Service,
        caller: &Caller,
        uploads: Uploads,
        (claim, through): (Option<String>, &str),
    ) -> Result<Arc<LiveRun>, Problem> {
        let session = session_name(caller, self.session.as_deref())?;
        let entered = service.enter_session(caller, session.as_deref())?;
        let mut exec = into_exec(self, &uploads, service, caller, through)?;
        exec.session = session;
        exec.origin.idempotency_key = claim;
        service.begin(caller, WorkOrder::Exec(Box::new(exec)), (uploads, entered))
    }
}

fn into_exec(
    new: NewExec,
    uploads: &Uploads,
    service: &Service,
    caller: &Caller,
    through: &str,
) -> Result<Exec, Problem> {
    let name = new.name.unwrap_or_else(|| "main.py".to_owned());
    check_name(&name, "/name")?;
    let profile = match new.profile.as_deref() {
        None => Profile::Core,
        Some(name) => name.parse::<Profile>().map_err(|_| {
            let message = format!("there is no profile `{}`", shortened(name));
            Problem::unprocessable("bad_body", "/profile", message).hint("there are core, data and full")
        })?,
    };
    let judgement = match new.policy.as_deref() {
        None | Some("exec") => Judgement::Exec,
        Some("open") if service.inner.options.allow_open => Judgement::Open,
        Some("open") => {
            let detail = "this server does not run code under the policy `open`, where only the jail defends";
            return Err(Problem::new(StatusCode::FORBIDDEN, "open_not_allowed", detail)
                .hint("use `exec`; the operator allows it with `ordain serve --allow-open`"));
        }
        Some(_) => return Err(Problem::unprocessable("bad_body", "/policy", "there are `exec` and `open`")),
    };
    let limits = limits(new.timeout.as_deref(), new.memory.as_deref(), &service.engine().settings().limits)?;
    Ok(Exec {
        given: SourceFile { code: new.code, name },
        judgement,
        profile,
        limits,
        files: uploads.input_files(),
        session: None,
        origin: Origin::new(&caller.id, through),
    })
}

pub(crate) fn check_name(name: &str, pointer: &str) -> Result<(), Problem> {
    if name.is_empty() || name.len() > NAME_MAX || name.contains(char::is_control) {
        let message = format!("a name has 1 to {NAME_MAX} bytes of plain text");
        return Err(Problem::unprocessable("bad_body", pointer, message));
    }
    Ok(())
}

fn limits(timeout: Option<&str>, memory: Option<&str>, most: &Limits) -> Result<Limits, Problem> {
    let mut limits = most.clone();
    if let Some(text) = timeout {
        let wall = parse_duration(text)
            .map_err(|error| Problem::unprocessable("bad_body", "/timeout", error.to_string()))?;
        if wall > most.wall || wall.is_zero() {
            let message = format!("code may run for at most {}", ordain_types::format_duration(most.wall));
            return Err(Problem::unprocessable("above_limit", "/timeout", message));
        }
        limits.wall = wall;
    }
    if let Some(text) = memory {
        let bytes = parse_bytes(text)
            .map_err(|error| Problem::unprocessable("bad_body", "/memory", error.to_string()))?;
        if bytes > most.memory_bytes || bytes == 0 {
            let message = format!("code may use at most {}", ordain_types::format_bytes(most.memory_bytes));
            return Err(Problem::unprocessable("above_limit", "/memory", message));
        }
        limits.memory_bytes = bytes;
        // The size of the work folder stays, so that a cell that is ready can be taken.
        limits.work_bytes = Some(most.work_bytes());
    }
    Ok(limits)
}
