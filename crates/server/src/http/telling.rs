//! Tells what happens in a run as its events: to those who watch it, and to those who trace it.

use std::sync::Arc;
use std::time::SystemTime;

use ordain_checks::{CheckProgress, CheckResult};
use ordain_engine::Progress;
use ordain_types::BoxFuture;
use serde_json::json;

use super::live::{CheckDone, LiveRun};

/// Tells what a planner says as events.
#[derive(Debug)]
pub(crate) struct Telling(pub(crate) Arc<LiveRun>);

impl Progress for Telling {
    fn text(&mut self, piece: &str) {
        self.0.tell("text", &json!({ "text": piece }));
    }

    fn stage(&mut self, name: &str) {
        self.0.begin_stage(name);
    }

    fn event(&mut self, event: &ordain_types::Event) {
        let mut data = json!(event);
        if let Some(line) = event.line() {
            data["line"] = line.into();
        }
        self.0.tell(event.name(), &data);
    }
}

impl CheckProgress for Telling {
    fn expect(&mut self, checks: usize) {
        self.0.tell("stage", &json!({ "stage": "running", "checks": checks }));
    }

    fn checked(&mut self, result: &CheckResult) {
        let told = json!({ "check_id": result.check_id, "status": result.status, "summary": result.summary });
        self.0.tell("check", &told);
        self.0.check_done(CheckDone {
            check_id: result.check_id.clone(),
            status: result.status.name(),
            severity: result.severity.name(),
            took_ms: result.duration_ms,
            ended: SystemTime::now(),
        });
    }

    fn stopped(&self) -> BoxFuture<'static, ()> {
        let run = Arc::clone(&self.0);
        Box::pin(async move { run.should_stop().await })
    }
}

impl ordain_cell::Output for Telling {
    fn write(&mut self, stream: ordain_cell::Stream, bytes: &[u8]) {
        let name = match stream {
            ordain_cell::Stream::Stdout => "stdout",
            ordain_cell::Stream::Stderr => "stderr",
        };
        self.0.tell(name, &json!({ "text": String::from_utf8_lossy(bytes) }));
    }
}
