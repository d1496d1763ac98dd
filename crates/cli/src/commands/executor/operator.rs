//! The executor's log on stderr: a line for each event, as text or as JSON.

use std::io::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use ordain_server::grpc::log::{Log, LogEvent};
use serde::Serialize;

/// Writes for the operator.
#[derive(Debug)]
pub(crate) struct Operator {
    as_json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    ts: String,
    level: &'static str,
    target: &'static str,
    msg: String,
    #[serde(flatten)]
    event: &'a LogEvent,
}

impl Operator {
    pub(crate) fn new(as_json: bool) -> Self {
        Self { as_json }
    }
}

impl Log for Operator {
    fn write(&self, event: &LogEvent) {
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let ts = ordain_types::format_unix_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        let level = if matches!(event, LogEvent::Failed { .. }) { "error" } else { "info" };
        let mut line = Vec::new();
        // Writing to memory does not fail, and nothing is left to tell if stderr is closed.
        if self.as_json {
            let whole = Line { ts, level, target: "ordain::executor", msg: event.to_string(), event };
            let _ = ordain_cell::write_json_line(&mut line, &whole);
        } else {
            let text: String =
                event.to_string().chars().filter(|character| !character.is_control()).collect();
            let _ = writeln!(line, "{ts} {level} {text}");
        }
        let _ = io::stderr().lock().write_all(&line);
    }
}
