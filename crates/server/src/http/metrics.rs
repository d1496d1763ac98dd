//! Figures for Prometheus, in its text format.
//!
//! The registry is our own: a few counters and histograms with labels from small fixed sets need no library. Labels
//! never hold an id, a name that callers choose, or a path.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use ordain_checks::RunReport;
use ordain_types::{PlanSource, RunRecord, RunState};

use super::caller::{May, Read};
use super::problem::Problem;
use super::service::Service;

/// Upper bounds of the buckets of every histogram, in seconds.
const BOUNDS_S: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Upper bounds of the buckets of repairs.
const BOUNDS_ROUNDS: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0];

/// What each figure means; only figures that stand here are shown.
const HELP: [(&str, &str, &str); 18] = [
    ("ordain_approvals_pending", "gauge", "Runs whose diff waits for approval."),
    ("ordain_cache_requests_total", "counter", "Requests by whether the plan cache had a plan."),
    ("ordain_cell_ends_total", "counter", "Runs by how their code ended."),
    ("ordain_cells_active", "gauge", "Cells of this machine that run a job."),
    ("ordain_cells_idle", "gauge", "Cells of this machine that are ready and wait for a job."),
    ("ordain_check_results_total", "counter", "Results of checks by status and severity."),
    ("ordain_http_request_duration_seconds", "histogram", "Time to answer a request."),
    ("ordain_info", "gauge", "What is running."),
    ("ordain_ledger_entries_total", "counter", "Entries of the ledger."),
    ("ordain_ledger_verify_failures_total", "counter", "Checks that found the ledger damaged."),
    ("ordain_model_tokens_total", "counter", "Tokens of models."),
    ("ordain_rejections_total", "counter", "Runs that the verifier refused, by the first finding."),
    ("ordain_repair_rounds", "histogram", "Repairs of a plan before it was accepted or given up."),
    ("ordain_run_duration_seconds", "histogram", "Time from the beginning of a run to its end."),
    ("ordain_runs_active", "gauge", "Runs that go on."),
    ("ordain_runs_total", "counter", "Runs by kind and state."),
    ("ordain_stage_duration_seconds", "histogram", "Time of each stage of a run."),
    ("ordain_uptime_seconds", "gauge", "How long the server has been up."),
];

/// All figures.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counters: Mutex<BTreeMap<(&'static str, String), u64>>,
    histograms: Mutex<BTreeMap<(&'static str, String), Histogram>>,
}

#[derive(Debug, Clone)]
struct Histogram {
    bounds: &'static [f64],
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Metrics {
    /// Counts one more.
    pub(crate) fn count(&self, name: &'static str, labels: &str) {
        self.add(name, labels, 1);
    }

    /// Counts a request.
    pub(crate) fn request(&self, route: &str, method: &Method, status: u16, elapsed: Duration) {
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
        let method = known.into_iter().find(|known| *known == method.as_str()).unwrap_or("other");
        let labels = format!("route=\"{}\",method=\"{method}\",code=\"{status}\"", escaped(route));
        self.observe("ordain_http_request_duration_seconds", labels, elapsed.as_secs_f64());
    }

    /// Counts a run.
    pub(crate) fn run(&self, record: &RunRecord) {
        let kind = escaped(&record.kind);
        self.count("ordain_runs_total", &format!("kind=\"{kind}\",state=\"{}\"", record.state));
        let timing = &record.timing_ms;
        self.observe("ordain_run_duration_seconds", format!("kind=\"{kind}\""), timing.total / 1e3);
        for (stage, ms) in
            [("plan", timing.plan), ("verify", timing.verify), ("run", timing.run), ("commit", timing.commit)]
        {
            if ms > 0.0 {
                self.observe("ordain_stage_duration_seconds", format!("stage=\"{stage}\""), ms / 1e3);
            }
        }
        if record.kind == "ask" && record.plan.source != PlanSource::File {
            let result = if record.plan.source == PlanSource::Cache { "hit" } else { "miss" };
            self.count("ordain_cache_requests_total", &format!("result=\"{result}\""));
        }
        if record.state == RunState::Rejected {
            let code = record.verdict.findings.first().and_then(|finding| finding["code"].as_str());
            self.count("ordain_rejections_total", &format!("code=\"{}\"", escaped(code.unwrap_or("none"))));
        } else if timing.run > 0.0 {
            let error = record.outcome.error.as_ref();
            let cause = error.and_then(|error| error["cause"].as_str()).unwrap_or("ok");
            self.count("ordain_cell_ends_total", &format!("cause=\"{}\"", escaped(cause)));
        }
        if matches!(record.plan.source, PlanSource::Model | PlanSource::Rules)
            && record.verdict.iterations > 0
        {
            let repairs = f64::from(record.verdict.iterations - 1);
            self.observe_in(&BOUNDS_ROUNDS, "ordain_repair_rounds", format!("kind=\"{kind}\""), repairs);
        }
        let model = escaped(record.plan.model.as_deref().unwrap_or("rules"));
        for (kind, tokens) in [("input", record.usage.input_tokens), ("output", record.usage.output_tokens)] {
            if tokens > 0 {
                let labels = format!("model=\"{model}\",type=\"{kind}\"");
                self.add("ordain_model_tokens_total", &labels, tokens);
            }
        }
    }

    /// Counts the results of a run of checks.
    pub(crate) fn checks(&self, report: &RunReport) {
        for result in &report.results {
            let (status, severity) = (result.status.name(), result.severity.name());
            let labels = format!("status=\"{}\",severity=\"{severity}\"", status.to_ascii_lowercase());
            self.count("ordain_check_results_total", &labels);
        }
    }

    fn add(&self, name: &'static str, labels: &str, more: u64) {
        *lock(&self.counters).entry((name, labels.to_owned())).or_default() += more;
    }

    fn observe(&self, name: &'static str, labels: String, seconds: f64) {
        self.observe_in(&BOUNDS_S, name, labels, seconds);
    }

    fn observe_in(&self, bounds: &'static [f64], name: &'static str, labels: String, value: f64) {
        let mut histograms = lock(&self.histograms);
        let histogram = histograms.entry((name, labels)).or_insert_with(|| Histogram::new(bounds));
        for (bucket, bound) in std::iter::zip(&mut histogram.buckets, histogram.bounds) {
            *bucket += u64::from(value <= *bound);
        }
        histogram.count += 1;
        histogram.sum += value;
    }

    fn write(&self, gauges: &BTreeMap<&'static str, (String, String)>) -> String {
        let mut text = String::new();
        let (counters, histograms) = (lock(&self.counters), lock(&self.histograms));
        for (name, kind, help) in HELP {
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            if let Some((labels, value)) = gauges.get(name) {
                let _ = writeln!(text, "{name}{} {value}", braced(labels));
            }
            for ((_, labels), value) in counters.iter().filter(|((of, _), _)| *of == name) {
                let _ = writeln!(text, "{name}{} {value}", braced(labels));
            }
            for ((_, labels), histogram) in histograms.iter().filter(|((of, _), _)| *of == name) {
                histogram.write(&mut text, name, labels);
            }
        }
        text
    }
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, buckets: vec![0; bounds.len()], count: 0, sum: 0.0 }
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        for (bucket, bound) in std::iter::zip(&self.buckets, self.bounds) {
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {bucket}");
        }
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", self.count);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", self.sum);
        let _ = writeln!(text, "{name}_count{{{labels}}} {}", self.count);
    }
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", operation_id = "metrics",
    responses((status = 200, description = "Figures in the text format of Prometheus", body = String,
        content_type = "text/plain")))]
pub(crate) async fn scrape(State(service): State<Service>, _may: May<Read>) -> Result<Response, Problem> {
    let store = service.engine().store();
    let held = store.count_runs(RunState::Held).await?;
    let entries = store.newest_seq().await?;
    let info = format!(
        "version=\"{}\",planner=\"{}\",isolation=\"{}\"",
        env!("CARGO_PKG_VERSION"),
        escaped(&service.inner.planner.name()),
        escaped(&service.inner.options.isolation)
    );
    let figure = |value: String| (String::new(), value);
    let mut gauges = BTreeMap::from([
        ("ordain_approvals_pending", figure(held.to_string())),
        ("ordain_info", (info, "1".to_owned())),
        ("ordain_ledger_entries_total", figure(entries.to_string())),
        ("ordain_runs_active", figure(service.inner.live.count().to_string())),
        ("ordain_uptime_seconds", figure(service.inner.began.elapsed().as_secs().to_string())),
    ]);
    if let Some(local) = &service.inner.options.local {
        gauges.insert("ordain_cells_active", figure(local.load().running.to_string()));
        gauges.insert("ordain_cells_idle", figure(local.idle_cells().await.to_string()));
    }
    let text = service.inner.metrics.write(&gauges);
    let media_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

/// A label's value that cannot end its quotes or its line.
fn escaped(value: &str) -> String {
    value.chars().filter(|shown| !shown.is_control() && *shown != '"' && *shown != '\\').take(80).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ordain_types::RunId;

    use super::*;

    #[test]
    fn repairs_are_counted_for_plans_that_somebody_wrote() {
        let metrics = Metrics::default();
        let mut record = RunRecord::new(RunId("r".to_owned()), "ask", "buy");
        for (source, iterations) in
            [(PlanSource::Model, 1), (PlanSource::Model, 3), (PlanSource::Cache, 1), (PlanSource::File, 1)]
        {
            (record.plan.source, record.verdict.iterations) = (source, iterations);
            metrics.run(&record);
        }
        let text = metrics.write(&BTreeMap::new());
        for line in
            ["_bucket{kind=\"ask\",le=\"0\"} 1", "_bucket{kind=\"ask\",le=\"2\"} 2", "_sum{kind=\"ask\"} 2"]
        {
            assert!(text.contains(&format!("ordain_repair_rounds{line}\n")), "{text}");
        }
    }

    #[test]
    fn buckets_add_up_and_every_figure_has_its_help() {
        let metrics = Metrics::default();
        for ms in [1, 7, 40_000] {
            metrics.request("/v1/runs/{run}", &Method::GET, 200, Duration::from_millis(ms));
        }
        metrics.count("ordain_ledger_verify_failures_total", "");
        let text = metrics.write(&BTreeMap::new());
        let line = "ordain_http_request_duration_seconds_bucket{route=\"/v1/runs/{run}\",method=\"GET\",code=\"200\"";
        assert!(text.contains(&format!("{line},le=\"0.01\"}} 2\n")), "{text}");
        assert!(text.contains(&format!("{line},le=\"+Inf\"}} 3\n")), "{text}");
        assert!(text.contains("ordain_ledger_verify_failures_total 1\n"), "{text}");
        let method = Method::from_bytes(b"X-FORGED").unwrap();
        metrics.request("a\"} 9\nforged", &method, 200, Duration::ZERO);
        let text = metrics.write(&BTreeMap::new());
        assert!(text.contains("route=\"a} 9forged\",method=\"other\""), "{text}");
    }
}
