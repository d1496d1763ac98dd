//! Markdown for a job summary or a pull request's comment.

use std::fmt::Write;

use super::words::{acts, by_weight, count, cut, duration, failed, sample_columns, sentence, value};
use crate::mark::Mark;
use crate::result::{CheckResult, CheckStatus, RunReport};

/// Lines in the table, those that someone should look at first. A job summary may not pass a mebibyte.
const CHECKS_MAX: usize = 500;
/// Checks whose failing rows are shown.
const DETAILS_MAX: usize = 30;
/// Failing rows shown for each.
const ROWS_MAX: usize = 10;
/// Longer texts are cut.
const TEXT_MAX: usize = 300;
/// A reason that is longer than a cell stands whole below the table, up to this.
const REASON_MAX: usize = 2000;

/// The report as Markdown.
pub fn render_markdown(report: &RunReport) -> String {
    let mut out = String::new();
    write_head(&mut out, report);
    write_table(&mut out, report);
    write_reasons(&mut out, report);
    let problems =
        report.results.iter().filter(|result| result.status.is_problem() && !result.samples.is_empty());
    for result in problems.clone().take(DETAILS_MAX) {
        write_rows(&mut out, result);
    }
    let left_out = problems.count().saturating_sub(DETAILS_MAX);
    if left_out > 0 {
        let _ = writeln!(out, "\nFailing rows of {left_out} more checks are in the full report.");
    }
    out
}

fn write_head(out: &mut String, report: &RunReport) {
    let parts: Vec<_> = CheckStatus::ALL
        .into_iter()
        .filter(|status| count(report, *status) > 0)
        .map(|status| {
            let icon = Mark::of(status, None).tone.icon();
            format!("{icon} {} {}", count(report, status), status.name())
        })
        .chain(
            Some(report.not_evaluated()).filter(|open| *open > 0).map(|open| format!("{open} not evaluated")),
        )
        .collect();
    let _ = writeln!(out, "### Checks of {}\n", escape(&report.workspace));
    let _ = writeln!(
        out,
        "{} · {} in {} · run {}\n",
        if parts.is_empty() { "no check ran".to_owned() } else { parts.join(" · ") },
        report.results.len(),
        duration(report.duration_ms),
        escape(&report.run_id)
    );
}

fn write_table(out: &mut String, report: &RunReport) {
    if report.results.is_empty() {
        return;
    }
    out.push_str(
        "| | status | severity | check | rule | failed | summary |\n|---|---|---|---|---|---:|---|\n",
    );
    let results = by_weight(&report.results);
    for result in results.iter().take(CHECKS_MAX) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | **{}** {} | {} | {} | {} |",
            result.mark().tone.icon(),
            result.status.name(),
            result.severity.name(),
            escape(&result.check_id),
            escape(&result.check_name),
            escape(result.understood.as_deref().unwrap_or(&result.rule)),
            escape(&failed(result)),
            escape(&sentence(result))
        );
    }
    if results.len() > CHECKS_MAX {
        let _ = writeln!(out, "\n{} more checks are in the full report.", results.len() - CHECKS_MAX);
    }
}

/// Why checks were not evaluated, where a cell of the table is too short for it.
fn write_reasons(out: &mut String, report: &RunReport) {
    let open = by_weight(&report.results).into_iter().filter(|result| result.is_open());
    let long =
        open.map(|result| (result, sentence(result))).filter(|(_, why)| why.chars().count() > TEXT_MAX);
    for (result, why) in long.take(DETAILS_MAX) {
        let _ = writeln!(out, "\n**{}** {}", escape(&result.check_id), escape_up_to(&why, REASON_MAX));
    }
}

fn write_rows(out: &mut String, result: &CheckResult) {
    let (keys, values) = sample_columns(result);
    let title = escape(&format!("{} {}", result.check_id, result.check_name));
    let _ = writeln!(out, "\n<details><summary>{title}: {}</summary>\n", escape(&failed(result)));
    let heading: Vec<_> = keys.iter().chain(&values).map(|name| escape(name)).collect();
    let _ = writeln!(out, "| {} |\n|{}", heading.join(" | "), "---|".repeat(heading.len().max(1)));
    for row in result.samples.iter().take(ROWS_MAX) {
        let cells =
            keys.iter().map(|name| row.key.get(*name)).chain(values.iter().map(|name| row.values.get(*name)));
        let cells: Vec<_> =
            cells.map(|cell| cell.map(|cell| escape(&value(cell))).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if result.samples.len() > ROWS_MAX {
        let _ = writeln!(out, "\n{} more rows are in the full report.", result.samples.len() - ROWS_MAX);
    }
    out.push_str("\n</details>\n");
}

/// Text that stays text: no markup, no mention, no break of the line or the cell.
fn escape(text: &str) -> String {
    escape_up_to(text, TEXT_MAX)
}

fn escape_up_to(text: &str, characters_max: usize) -> String {
    let mut out = String::new();
    for character in cut(text, characters_max).chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // As entities they mean nothing to Markdown, in a cell and inside HTML alike; a mention would call someone.
            '@' | '#' | ':' | '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '!' | '(' | ')' | '{'
            | '}' | '$' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            _ if acts(character) => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}
