//! `GET /metrics`: what the server counts, and what it looks at when it is asked.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use ordain_checks::RunReport;
use ordain_planner::provider::cost_usd;
use ordain_types::{Cause, PlanSource, Round, RunKind, RunRecord, RunState};

use super::caller::{May, Metrics as OfMetrics};
use super::problem::Problem;
use super::service::Service;
use crate::figures::{Figures, Gauge, Help, MEDIA_TYPE, escaped};

/// The label of what is in no list.
const OTHER: &str = "other";
/// Upper bounds of the buckets of repairs.
const BOUNDS_ROUNDS: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0];

/// What each figure means.
const HELP: [Help; 38] = [
    ("ordain_approvals_pending", "gauge", "Runs whose diff waits for approval."),
    ("ordain_cache_requests_total", "counter", "Requests by whether the plan cache had a plan."),
    ("ordain_cell_ends_total", "counter", "Runs by how their code ended."),
    ("ordain_cells_active", "gauge", "Cells of this machine that run a job."),
    ("ordain_cells_idle", "gauge", "Cells of this machine that are ready and wait for a job."),
    ("ordain_check_results_total", "counter", "Results of checks by status and severity."),
    ("ordain_cluster_connected", "gauge", "Whether this node is connected to the cluster's NATS servers."),
    ("ordain_cluster_offered_again_total", "counter", "Accepted runs that had no message in the queue."),
    (
        "ordain_cluster_taken_again_total",
        "counter",
        "Runs that this node took after another attempt at them.",
    ),
    ("ordain_cluster_parts_total", "counter", "Parts of runs of checks that this node took."),
    ("ordain_cluster_taken_total", "counter", "Runs that this node took from the cluster's queue."),
    ("ordain_cluster_working", "gauge", "Runs of the cluster's queue that this node carries out."),
    ("ordain_connections_open", "gauge", "Connections that are open."),
    ("ordain_criteria_total", "counter", "Criteria of steps by whether they held."),
    ("ordain_declined_total", "counter", "Requests that were not carried out, by what their plan says."),
    ("ordain_executors", "gauge", "Executors by whether they get jobs."),
    ("ordain_http_request_duration_seconds", "histogram", "Time to answer a request."),
    ("ordain_info", "gauge", "What is running."),
    ("ordain_ledger_entries_total", "counter", "Entries of the ledger."),
    ("ordain_ledger_verify_failures_total", "counter", "Checks that found the ledger damaged."),
    ("ordain_model_cost_usd_total", "counter", "Estimated cost of models whose price is known, in dollars."),
    ("ordain_model_tokens_total", "counter", "Tokens of models."),
    ("ordain_queue_depth", "gauge", "Jobs that wait for a cell, here or at the executors."),
    ("ordain_ratings_total", "counter", "Runs that people marked as good or bad."),
    ("ordain_recompiles_total", "counter", "Kept plans that were stale and made anew, by why."),
    ("ordain_rejections_total", "counter", "Runs that the verifier refused, by the first finding."),
    ("ordain_repair_rounds", "histogram", "Repairs of a plan before it was accepted or given up."),
    ("ordain_replans_total", "counter", "How often the steps of a run were planned anew."),
    (
        "ordain_round_failures_total",
        "counter",
        "Rounds of runs and steps in which something was wrong, by class.",
    ),
    ("ordain_run_duration_seconds", "histogram", "Time from the beginning of a run to its end."),
    ("ordain_runs_active", "gauge", "Runs that go on."),
    ("ordain_runs_total", "counter", "Runs by kind and state."),
    ("ordain_stage_duration_seconds", "histogram", "Time of each stage of a run."),
    ("ordain_store_commits_in_flight", "gauge", "Commits of all servers that are on their way to the disk."),
    (
        "ordain_store_commits_in_flight_max",
        "gauge",
        "The most commits of this server that were on their way to the disk at once, since it started.",
    ),
    (
        "ordain_store_started_again_total",
        "counter",
        "Tries of runs that began because another run had got in the way.",
    ),
    ("ordain_trace_spans_total", "counter", "Spans by what became of them, where a collector is configured."),
    ("ordain_uptime_seconds", "gauge", "How long the server has been up."),
];

/// What the server counts. Labels come from what the program and its operator name: nothing that a caller, a plan or a row
/// says becomes one.
#[derive(Debug)]
pub(crate) struct Metrics {
    figures: Figures,
    /// The models that the operator configured, as they were met.
    models: Mutex<BTreeSet<String>>,
    /// The statuses that plans of the workspace may set.
    statuses: BTreeSet<String>,
}

impl Metrics {
    /// No figures yet, of a server with its own planner and the statuses of its workspace.
    pub(crate) fn new(planner: &str, statuses: BTreeSet<String>) -> Self {
        let models = BTreeSet::from(["rules".to_owned(), planner.to_owned()]);
        Self { figures: Figures::default(), models: Mutex::new(models), statuses }
    }

    /// Takes a model that the operator lists for callers into the labels.
    pub(crate) fn has_model(&self, name: &str) {
        self.models().insert(name.to_owned());
    }

    fn models(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more.
    pub(crate) fn count(&self, name: &'static str, labels: &str) {
        self.figures.count(name, labels);
    }

    /// Counts a request.
    pub(crate) fn request(&self, route: &str, method: &Method, status: u16, elapsed: Duration) {
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
        let method = known.into_iter().find(|known| *known == method.as_str()).unwrap_or("other");
        let labels = format!("route=\"{}\",method=\"{method}\",code=\"{status}\"", escaped(route));
        self.figures.observe("ordain_http_request_duration_seconds", &labels, elapsed.as_secs_f64());
    }

    /// Counts a run.
    pub(crate) fn run(&self, record: &RunRecord) {
        let kind = record.kind.as_str();
        self.count("ordain_runs_total", &format!("kind=\"{kind}\",state=\"{}\"", record.state));
        if record.state == RunState::Declined {
            let status = match record.status.as_deref() {
                Some(status) if self.statuses.contains(status) => escaped(status),
                Some(_) => OTHER.to_owned(),
                None => "none".to_owned(),
            };
            self.count("ordain_declined_total", &format!("kind=\"{kind}\",status=\"{status}\""));
        }
        self.stages(record, kind);
        if record.kind == RunKind::Ask && record.plan.source != PlanSource::File {
            let result = if record.plan.source == PlanSource::Cache { "hit" } else { "miss" };
            self.count("ordain_cache_requests_total", &format!("result=\"{result}\""));
        }
        for round in &record.verdict.history {
            let Round::Stale { stale: why, .. } = round else { continue };
            self.count("ordain_recompiles_total", &format!("reason=\"{}\"", reason(why)));
        }
        if record.state == RunState::Rejected {
            let code = record.verdict.findings.first().and_then(|finding| finding["code"].as_str());
            self.count("ordain_rejections_total", &format!("code=\"{}\"", escaped(code.unwrap_or("none"))));
        } else if record.timing_ms.run > 0.0 {
            let cause = record.outcome.error.as_ref().map_or(Cause::Ok, |error| error.cause);
            self.count("ordain_cell_ends_total", &format!("cause=\"{cause}\""));
        }
        for class in record.failures() {
            self.count("ordain_round_failures_total", &format!("class=\"{}\"", class.name()));
        }
        for _ in &record.plan.replans {
            self.count("ordain_replans_total", "");
        }
        for holds in record.criteria() {
            self.count("ordain_criteria_total", &format!("met=\"{}\"", if holds { "yes" } else { "no" }));
        }
        if record.is_written() {
            let repairs = f64::from(record.verdict.iterations - 1);
            let labels = format!("kind=\"{kind}\"");
            self.figures.observe_in(&BOUNDS_ROUNDS, "ordain_repair_rounds", &labels, repairs);
        }
        self.model(record);
    }

    fn stages(&self, record: &RunRecord, kind: &str) {
        let timing = &record.timing_ms;
        self.figures.observe("ordain_run_duration_seconds", &format!("kind=\"{kind}\""), timing.total / 1e3);
        for (stage, ms) in
            [("plan", timing.plan), ("verify", timing.verify), ("run", timing.run), ("commit", timing.commit)]
        {
            if ms > 0.0 {
                self.figures.observe(
                    "ordain_stage_duration_seconds",
                    &format!("stage=\"{stage}\""),
                    ms / 1e3,
                );
            }
        }
    }

    /// Counts what a run used of a model, also where its plan came to nothing.
    fn model(&self, record: &RunRecord) {
        let (input, output) = (record.usage.input_tokens, record.usage.output_tokens);
        let name = record.plan.model.as_deref().unwrap_or("rules");
        let model = escaped(if self.models().contains(name) { name } else { OTHER });
        for (kind, tokens) in [("input", input), ("output", output)] {
            if tokens > 0 {
                let labels = format!("model=\"{model}\",type=\"{kind}\"");
                self.figures.add("ordain_model_tokens_total", &labels, as_figure(tokens));
            }
        }
        if let Some(dollars) = cost_usd(name, input, output).filter(|dollars| *dollars > 0.0) {
            self.figures.add("ordain_model_cost_usd_total", &format!("model=\"{model}\""), dollars);
        }
    }

    /// Counts the results of a run of checks.
    pub(crate) fn checks(&self, report: &RunReport) {
        for result in &report.results {
            let (status, severity) = (result.status.name(), result.severity.name());
            let labels = format!("status=\"{}\",severity=\"{severity}\"", status.to_ascii_lowercase());
            self.count("ordain_check_results_total", &labels);
            if let Some(why) = &result.recompiled {
                self.count("ordain_recompiles_total", &format!("reason=\"{}\"", reason(why)));
            }
        }
    }
}

/// Why code was made anew, as one of a few words: the sentence itself names tables and columns.
fn reason(why: &str) -> &'static str {
    const STARTS: [(&str, &str); 10] = [
        ("the policy", "policy"),
        ("helper ", "helper"),
        ("the verifier", "verifier"),
        ("the plan API", "verifier"),
        ("the reader", "rules"),
        ("the rules of table ", "schema"),
        ("the columns of ", "schema"),
        ("table ", "schema"),
        ("column ", "schema"),
        ("columns ", "schema"),
    ];
    // What is left is the rule of a check: its kind, its hint, its parameters.
    STARTS.into_iter().find(|(start, _)| why.starts_with(start)).map_or("rule", |(_, reason)| reason)
}

/// A count as Prometheus has it. Counts beyond 2^53 lose their last digits, as they do there.
#[expect(clippy::cast_precision_loss, reason = "figures of Prometheus are floating-point numbers")]
fn as_figure(count: u64) -> f64 {
    count as f64
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", operation_id = "metrics",
    responses((status = 200, description = "Figures in the text format of Prometheus", body = String,
        content_type = "text/plain")))]
pub(crate) async fn scrape(
    State(service): State<Service>,
    _may: May<OfMetrics>,
) -> Result<Response, Problem> {
    let store = service.engine().store();
    let held = store.count_runs(RunState::Held).await?;
    let entries = store.newest_seq().await?;
    let writers = store.writers().await?;
    let info = format!(
        "version=\"{}\",planner=\"{}\",isolation=\"{}\"",
        env!("CARGO_PKG_VERSION"),
        escaped(&service.inner.planner.name()),
        escaped(&service.inner.options.isolation)
    );
    let connections = service.inner.connections.load(std::sync::atomic::Ordering::Relaxed);
    let mut gauges = vec![
        figure("ordain_approvals_pending", &held),
        figure("ordain_connections_open", &connections),
        ("ordain_info", info, "1".to_owned()),
        figure("ordain_ledger_entries_total", &entries),
        figure("ordain_runs_active", &service.inner.live.count()),
        figure("ordain_store_commits_in_flight", &writers.commits_in_flight),
        figure("ordain_store_commits_in_flight_max", &writers.commits_in_flight_max),
        figure("ordain_store_started_again_total", &writers.started_again),
        figure("ordain_uptime_seconds", &service.inner.began.elapsed().as_secs()),
    ];
    gauges.extend(service.inner.options.tracer.figures());
    if let Some(local) = &service.inner.options.local {
        let load = local.load();
        gauges.push(figure("ordain_cells_active", &load.running));
        gauges.push(figure("ordain_cells_idle", &local.idle_cells().await));
        gauges.push(figure("ordain_queue_depth", &load.waiting));
    }
    if let Some(pool) = &service.inner.options.executors {
        let members = pool.members();
        let well = members.iter().filter(|member| member.is_well).count();
        for (state, count) in [("well", well), ("sick", members.len() - well)] {
            gauges.push(("ordain_executors", format!("state=\"{state}\""), count.to_string()));
        }
        gauges.push(figure("ordain_queue_depth", &members.iter().map(|member| member.waiting).sum::<u64>()));
    }
    let cluster = &service.inner.options.cluster;
    if cluster.is_shared() {
        gauges.push(figure("ordain_cluster_connected", &u8::from(cluster.is_connected())));
        gauges.push(figure("ordain_cluster_working", &service.inner.working.count()));
    }
    let text = service.inner.metrics.figures.write(&HELP, &gauges);
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE))], text).into_response())
}

/// A figure without labels.
fn figure(name: &'static str, value: &impl ToString) -> Gauge {
    (name, String::new(), value.to_string())
}

#[cfg(test)]
mod tests {
    use ordain_types::RunId;

    use super::*;

    #[test]
    fn repairs_are_counted_for_plans_that_somebody_wrote() {
        let metrics = Metrics::new("rules", BTreeSet::new());
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy");
        for (source, iterations) in
            [(PlanSource::Model, 1), (PlanSource::Model, 3), (PlanSource::Cache, 1), (PlanSource::File, 1)]
        {
            (record.plan.source, record.verdict.iterations) = (source, iterations);
            metrics.run(&record);
        }
        let text = metrics.figures.write(&HELP, &[]);
        for line in
            ["_bucket{kind=\"ask\",le=\"0\"} 1", "_bucket{kind=\"ask\",le=\"2\"} 2", "_sum{kind=\"ask\"} 2"]
        {
            assert!(text.contains(&format!("ordain_repair_rounds{line}\n")), "{text}");
        }
    }

    #[test]
    fn a_stale_plan_is_counted_by_one_word_of_its_reason() {
        let metrics = Metrics::new("rules", BTreeSet::new());
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy");
        let whys = [
            "the policy changed",
            "helper get_balance changed",
            "the verifier is version 3, it was 2",
            "the reader is version 3, it was 2",
            "column price of items changed real → text",
            "table items is gone",
            "the columns of items changed",
            "the rules of table items changed",
        ];
        let stale = |why: &str| Round::Stale { cached_plan: "p".to_owned(), stale: why.to_owned() };
        record.verdict.history = whys.map(stale).into();
        metrics.run(&record);
        let text = metrics.figures.write(&HELP, &[]);
        for line in ["policy\"} 1", "helper\"} 1", "verifier\"} 1", "rules\"} 1", "schema\"} 4"] {
            assert!(text.contains(&format!("ordain_recompiles_total{{reason=\"{line}\n")), "{text}");
        }
        assert_eq!(reason("calculation_hint changed"), "rule");
    }

    #[test]
    fn buckets_add_up_and_every_figure_has_its_help() {
        let metrics = Metrics::new("rules", BTreeSet::new());
        for ms in [1, 7, 40_000] {
            metrics.request("/v1/runs/{run}", &Method::GET, 200, Duration::from_millis(ms));
        }
        metrics.count("ordain_ledger_verify_failures_total", "");
        let text = metrics.figures.write(&HELP, &[]);
        let line = "ordain_http_request_duration_seconds_bucket{route=\"/v1/runs/{run}\",method=\"GET\",code=\"200\"";
        assert!(text.contains(&format!("{line},le=\"0.01\"}} 2\n")), "{text}");
        assert!(text.contains(&format!("{line},le=\"+Inf\"}} 3\n")), "{text}");
        assert!(text.contains("ordain_ledger_verify_failures_total 1\n"), "{text}");
        let method = Method::from_bytes(b"X-FORGED").unwrap();
        metrics.request("a\"} 9\nforged", &method, 200, Duration::ZERO);
        let text = metrics.figures.write(&HELP, &[]);
        assert!(text.contains("route=\"a} 9forged\",method=\"other\""), "{text}");
    }
}
