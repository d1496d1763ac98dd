//! What an evaluation found, for people and for programs.

use std::io::{self, Write};

use ordain_planner::provider::{cost_usd, prices_as_of};
use ordain_types::Strategy;
use serde::Serialize;

/// What came of one run of one case.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Judged {
    pub(super) line: usize,
    pub(super) request: String,
    pub(super) run: u32,
    /// What is wrong; empty where the run is right.
    pub(super) wrong: Vec<String>,
    /// What the first plan would have come to, if it was sent back.
    pub(super) sent_back: Option<SentBack>,
    /// Replies that were judged.
    pub(super) rounds: usize,
    /// Looks at the data before the plan.
    pub(super) looks: usize,
    /// Lines of the program, where it changed something.
    pub(super) lines: Option<usize>,
    pub(super) status: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) plan: String,
    pub(super) total_ms: f64,
    pub(super) plan_ms: f64,
    pub(super) model_calls: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A first plan that one of our own checks, or a reviewer, sent back.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct SentBack {
    pub(super) by_review: bool,
    /// Whether its rows were right.
    pub(super) is_right: bool,
}

/// The figures of an evaluation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Report {
    pub(super) planner: String,
    pub(super) strategy: Strategy,
    pub(super) cases: usize,
    pub(super) runs: usize,
    pub(super) right: usize,
    /// Percent of runs that are right.
    pub(super) share: f64,
    /// Percent of cases of which every run is right.
    pub(super) every_run_share: f64,
    pub(super) from_cache: usize,
    /// Replies that were judged, on average of the runs for which the planner wrote a plan.
    pub(super) rounds_each: f64,
    pub(super) looks: usize,
    /// First plans with right rows that our own checks sent back.
    pub(super) false_alarms: usize,
    /// First plans with wrong rows that a reviewer sent back.
    pub(super) reviews_right: usize,
    /// First plans with right rows that a reviewer sent back.
    pub(super) reviews_wrong: usize,
    /// Lines of a program that changes something, in the middle of all.
    pub(super) change_lines_p50: Option<usize>,
    pub(super) model_calls: u64,
    pub(super) calls_each: f64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// In dollars; nothing where the model's price is not known.
    pub(super) cost_usd: Option<f64>,
    pub(super) total_ms_p50: f64,
    pub(super) total_ms_max: f64,
    pub(super) failures: Vec<Judged>,
}

impl Report {
    /// Counts what was judged.
    pub(super) fn of(planner: &str, strategy: Strategy, runs_each: u32, judged: Vec<Judged>) -> Self {
        let runs = judged.len();
        let cases = runs / runs_each.max(1) as usize;
        let right = judged.iter().filter(|one| one.wrong.is_empty()).count();
        let broken: std::collections::BTreeSet<usize> =
            judged.iter().filter(|one| !one.wrong.is_empty()).map(|one| one.line).collect();
        let mut times: Vec<f64> = judged.iter().map(|one| one.total_ms).collect();
        times.sort_by(f64::total_cmp);
        let mut lines: Vec<usize> = judged.iter().filter_map(|one| one.lines).collect();
        lines.sort_unstable();
        let written = judged.iter().filter(|one| one.model_calls > 0).count();
        let rounds: usize = judged.iter().filter(|one| one.model_calls > 0).map(|one| one.rounds).sum();
        let sum = |of: fn(&Judged) -> u64| judged.iter().map(of).sum::<u64>();
        let (model_calls, input_tokens, output_tokens) =
            (sum(|one| one.model_calls), sum(|one| one.input_tokens), sum(|one| one.output_tokens));
        let sent_back =
            |is: fn(SentBack) -> bool| judged.iter().filter(|one| one.sent_back.is_some_and(is)).count();
        Self {
            planner: planner.to_owned(),
            strategy,
            cases,
            runs,
            right,
            share: percent(right, runs),
            every_run_share: percent(cases - broken.len().min(cases), cases),
            from_cache: judged.iter().filter(|one| one.plan == "cache").count(),
            rounds_each: average(rounds, written),
            looks: judged.iter().map(|one| one.looks).sum(),
            false_alarms: sent_back(|one| one.is_right),
            reviews_right: sent_back(|one| one.by_review && !one.is_right),
            reviews_wrong: sent_back(|one| one.by_review && one.is_right),
            change_lines_p50: lines.get(lines.len() / 2).copied(),
            model_calls,
            calls_each: average(usize::try_from(model_calls).unwrap_or(usize::MAX), written),
            input_tokens,
            output_tokens,
            cost_usd: cost_usd(planner, input_tokens, output_tokens),
            total_ms_p50: times.get(times.len() / 2).copied().unwrap_or_default(),
            total_ms_max: times.last().copied().unwrap_or_default(),
            failures: judged.into_iter().filter(|one| !one.wrong.is_empty()).collect(),
        }
    }

    /// Writes the report for people.
    pub(super) fn write(&self, to: &mut dyn Write, file: &str, runs_each: u32) -> io::Result<()> {
        for failure in &self.failures {
            writeln!(to, "{file}:{}: {}", failure.line, crate::show::line(&failure.request))?;
            for wrong in &failure.wrong {
                writeln!(to, "    {}", crate::show::line(wrong))?;
            }
            let answer = failure.answer.as_deref().unwrap_or("none");
            writeln!(to, "    answer: {}", crate::show::line(answer))?;
        }
        writeln!(to, "planner   {}, strategy {}", self.planner, self.strategy.as_str())?;
        writeln!(to, "right     {} of {} runs, {:.1} %", self.right, self.runs, self.share)?;
        if runs_each > 1 {
            writeln!(
                to,
                "pass^{runs_each}    {:.1} % of {} cases in every run",
                self.every_run_share, self.cases
            )?;
        }
        writeln!(to, "cache     {} runs used a plan that was kept", self.from_cache)?;
        writeln!(
            to,
            "model     {} calls, {} tokens in, {} out, {}",
            self.model_calls,
            self.input_tokens,
            self.output_tokens,
            self.cost_usd.map_or_else(
                || "price unknown".to_owned(),
                |cost| format!("${cost:.4} at the prices of {}", prices_as_of())
            ),
        )?;
        if self.model_calls > 0 {
            let lines = self.change_lines_p50.map_or_else(|| "none".to_owned(), |lines| lines.to_string());
            writeln!(
                to,
                "plans     {:.1} calls and {:.1} rounds each, {} looks, {} false alarms; lines of a change {lines} p50",
                self.calls_each, self.rounds_each, self.looks, self.false_alarms
            )?;
            writeln!(
                to,
                "reviews   {} plans were stopped rightly, {} wrongly",
                self.reviews_right, self.reviews_wrong
            )?;
        }
        writeln!(to, "time      {:.1} ms p50, {:.1} ms at most", self.total_ms_p50, self.total_ms_max)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below the limit")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below the limit")]
fn average(whole: usize, parts: usize) -> f64 {
    if parts == 0 { 0.0 } else { whole as f64 / parts as f64 }
}
