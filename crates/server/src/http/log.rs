//! What the server tells its operator: one line for each request, to stderr.
//!
//! A line holds the route's template and never its path, and texts of callers are escaped, so that nobody can forge
//! a line. Prompts, code and rows are in the ledger and never here.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// How lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For a person at a terminal.
    Text,
    /// No lines.
    #[default]
    Off,
}

/// Writes lines.
#[derive(Debug)]
pub(crate) struct Log {
    format: LogFormat,
}

/// What is logged about one request.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) method: &'a str,
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    pub(crate) elapsed: Duration,
    pub(crate) who: Option<&'a str>,
    pub(crate) run_id: Option<&'a str>,
    pub(crate) trace_id: Option<&'a str>,
    pub(crate) trouble: Option<&'a str>,
}

#[derive(Serialize)]
struct Json<'a> {
    ts: String,
    level: &'static str,
    target: &'static str,
    msg: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Log {
    pub(crate) fn new(format: LogFormat) -> Self {
        Self { format }
    }

    /// Tells of a request.
    pub(crate) fn request(&self, line: &Line<'_>) {
        let ms = (line.elapsed.as_secs_f64() * 1e6).round() / 1e3;
        let level = if line.status >= 500 { "error" } else { "info" };
        let json = Json {
            request_id: Some(line.request_id),
            method: Some(line.method),
            route: Some(line.route),
            status: Some(line.status),
            ms: Some(ms),
            actor: line.who,
            run_id: line.run_id,
            trace_id: line.trace_id,
            error: line.trouble,
            ..plain(level, "request")
        };
        self.write(&json, || {
            let run = line.run_id.map(|run| format!(" run {run}")).unwrap_or_default();
            let trouble = line.trouble.map(|trouble| format!(": {trouble}")).unwrap_or_default();
            format!("{} {} {} {ms:.1} ms{run}{trouble}", line.status, line.method, line.route)
        });
    }

    /// Tells of something that failed in a run.
    pub(crate) fn trouble(&self, run_id: &str, what: &str) {
        let json = Json { run_id: Some(run_id), error: Some(what), ..plain("error", "run failed") };
        self.write(&json, || format!("run {run_id} failed: {what}"));
    }

    /// Tells of something that happened to the server itself.
    pub(crate) fn event(&self, what: &str) {
        self.write(&plain("info", what), || what.to_owned());
    }

    fn write(&self, json: &Json<'_>, text: impl FnOnce() -> String) {
        let mut line = Vec::new();
        match self.format {
            LogFormat::Off => return,
            LogFormat::Json => {
                let _ = ordain_cell::write_json_line(&mut line, json);
            }
            LogFormat::Text => {
                let shown: String =
                    text().chars().map(|shown| if shown.is_control() { ' ' } else { shown }).collect();
                line.extend_from_slice(shown.as_bytes());
                line.push(b'\n');
            }
        }
        // Nothing is left to tell if stderr is closed.
        let _ = io::stderr().lock().write_all(&line);
    }
}

fn plain<'a>(level: &'static str, msg: &'a str) -> Json<'a> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ts = ordain_types::format_unix_millis(u64::try_from(since.as_millis()).unwrap_or_default());
    Json {
        ts,
        level,
        target: "ordain::http",
        msg,
        request_id: None,
        method: None,
        route: None,
        status: None,
        ms: None,
        actor: None,
        run_id: None,
        trace_id: None,
        error: None,
    }
}
