//! The table for people, which fits the terminal and says the same without colour.

use std::collections::BTreeSet;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::words::{by_weight, count, cut, duration, failed, sample_columns, sentence, value, visible};
use crate::mark::{Mark, Tone};
use crate::result::{CheckResult, CheckStatus, CodeFrom, RunReport, SkipReason};

/// How the table is shown.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// How many columns a line may have.
    pub width: usize,
    /// Whether statuses are coloured. True only on a terminal that wants it.
    pub color: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: 100, color: false }
    }
}

/// Failing rows shown below the table for each check; the report and the artifacts have them all.
const ROWS_MAX: usize = 5;
/// Below this width nothing can be laid out.
const WIDTH_MIN: usize = 40;
/// Wider cells of failing rows are cut.
const CELL_MAX: usize = 28;

/// The report as a table, then failing rows, then one line of totals.
pub fn render_text(report: &RunReport, options: TextOptions) -> String {
    let options = TextOptions { width: options.width.max(WIDTH_MIN), ..options };
    let mut out = String::new();
    write_table(&mut out, report, options);
    // What is odd about a file concerns all checks of its tables, and is said once.
    let mut told = BTreeSet::new();
    for result in by_weight(&report.results).into_iter().filter(|result| needs_attention(result)) {
        write_problem(&mut out, result, &mut told, options);
    }
    write_totals(&mut out, report, options);
    out
}

/// What somebody should look at, a line for each, and the totals: for a log whose results went to files.
pub fn render_summary(report: &RunReport) -> String {
    let options = TextOptions { width: usize::MAX, color: false };
    let mut out = String::new();
    for result in by_weight(&report.results).into_iter().filter(|result| needs_attention(result)) {
        let (status, severity) = (result.status.name(), result.severity.name());
        let name = visible(&format!("{} {}", result.check_id, result.check_name));
        line(&mut out, &format!("{status} {severity}: {name}: {}", visible(&sentence(result))));
    }
    write_totals(&mut out, report, options);
    out
}

/// Whether a result is shown in full below the table.
fn needs_attention(result: &CheckResult) -> bool {
    let is_left_open = matches!(result.skipped, Some(SkipReason::UpstreamFailed | SkipReason::NoRows));
    result.status.is_problem() || result.is_open() || is_left_open
}

fn write_table(out: &mut String, report: &RunReport, options: TextOptions) {
    if report.results.is_empty() {
        return;
    }
    let results = by_weight(&report.results);
    let title = |result: &&CheckResult| visible(&format!("{}  {}", result.check_id, result.check_name));
    let names: Vec<String> = results.iter().map(title).collect();
    let counts: Vec<String> = results.iter().map(|result| failed(result)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.width()).max().unwrap_or_default();
    // Status, two gaps and at least a little of the sentence are always there.
    let name_width = widest(&names).clamp(5, options.width * 2 / 5);
    let count_width = widest(&counts).max(6).min(options.width / 4);
    let rest = options.width.saturating_sub(7 + 2 + name_width + 2 + count_width + 2);
    let heading = format!("STATUS   {}  {}  SUMMARY", fit("CHECK", name_width), fit("FAILED", count_width));
    line(out, &shorten(&heading, options.width));
    for (result, (name, count)) in results.iter().zip(names.iter().zip(&counts)) {
        let status = colored(&fit(result.status.name(), 7), result.mark().tone, options);
        let sentence = shorten(&visible(&sentence(result)), rest);
        line(out, &format!("{status}  {}  {}  {sentence}", fit(name, name_width), fit(count, count_width)));
    }
}

fn write_problem<'a>(
    out: &mut String,
    result: &'a CheckResult,
    told: &mut BTreeSet<(&'a [String], &'a str)>,
    options: TextOptions,
) {
    let title = visible(&format!("{} {}", result.check_id, result.check_name));
    let severity = result.severity.name();
    let mark = colored(result.status.name(), result.mark().tone, options);
    let _ = writeln!(out, "\n{mark} {severity}: {}", shorten(&title, options.width.saturating_sub(20)));
    for part in rule_lines(result).iter().flat_map(|line| wrap(&visible(line), options.width - 2)) {
        line(out, &format!("  {part}"));
    }
    for part in wrap(&visible(&sentence(result)), options.width - 2) {
        line(out, &format!("  {part}"));
    }
    let notes = result.notes.iter().filter(|note| told.insert((&result.target_table, note)));
    for note in result.recompiled.iter().map(|why| format!("recompiled because {why}")).chain(notes.cloned())
    {
        for part in wrap(&visible(&note), options.width - 2) {
            line(out, &format!("  {part}"));
        }
    }
    write_rows(out, result, options);
    for artifact in &result.artifacts {
        line(out, &format!("  all failing rows: {}", visible(artifact)));
    }
}

/// The rule as it was written, and as it was understood.
fn rule_lines(result: &CheckResult) -> Vec<String> {
    let written = Some(&result.rule).filter(|rule| !rule.is_empty()).map(|rule| format!("rule: {rule}"));
    let understood = result.understood.as_ref().map(|rule| format!("read as: {rule}"));
    written.into_iter().chain(understood).collect()
}

fn write_rows(out: &mut String, result: &CheckResult, options: TextOptions) {
    if result.samples.is_empty() {
        return;
    }
    let (keys, values) = sample_columns(result);
    let mut lines =
        vec![keys.iter().chain(&values).map(|name| visible(&cut(name, CELL_MAX))).collect::<Vec<_>>()];
    for row in result.samples.iter().take(ROWS_MAX) {
        let cells =
            keys.iter().map(|name| row.key.get(*name)).chain(values.iter().map(|name| row.values.get(*name)));
        lines.push(
            cells
                .map(|cell| cell.map_or_else(String::new, |cell| cut(&visible(&value(cell)), CELL_MAX)))
                .collect(),
        );
    }
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| lines.iter().map(|cells| cells[column].width()).max().unwrap_or_default())
        .collect();
    for cells in &lines {
        let cells: Vec<_> = cells.iter().zip(&widths).map(|(cell, width)| fit(cell, *width)).collect();
        line(out, &shorten(&format!("    {}", cells.join("  ")), options.width));
    }
    let shown = result.samples.len().min(ROWS_MAX) as u64;
    if let Some(more) = result.failed.and_then(|failed| failed.checked_sub(shown)).filter(|more| *more > 0) {
        line(out, &format!("    … and {more} more"));
    }
}

fn write_totals(out: &mut String, report: &RunReport, options: TextOptions) {
    let total = report.results.len();
    let mut parts = vec![format!("{total} {}", if total == 1 { "check" } else { "checks" })];
    for status in CheckStatus::ALL {
        let count = count(report, status);
        if count > 0 {
            let text = format!("{count} {}", status.name().to_lowercase());
            parts.push(colored(&text, Mark::of(status, None).tone, options));
        }
    }
    let open = report.not_evaluated();
    if open > 0 {
        parts.push(format!("{open} not evaluated"));
    }
    let is_left_out = |result: &&CheckResult| {
        result.skipped == Some(SkipReason::Filtered) && result.failed.is_some_and(|failed| failed > 0)
    };
    let left_out = report.results.iter().filter(is_left_out).count();
    if left_out > 0 {
        parts.push(format!("{left_out} left out that failed last time"));
    }
    let kept = report.results.iter().filter(|result| result.kept_from.is_some()).count();
    if kept > 0 {
        parts.push(format!("{kept} not run again"));
    }
    parts.push(duration(report.duration_ms));
    if let Some(code) = code_sources(report) {
        parts.push(code);
    }
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}{}", parts.join(" · "));
}

/// Where the code came from, so that a run without planning says so.
fn code_sources(report: &RunReport) -> Option<String> {
    let of = |from: CodeFrom| report.results.iter().filter(|result| result.code_from == Some(from)).count();
    let (cached, made) = (
        of(CodeFrom::Cache),
        [
            (of(CodeFrom::Builtin), "built in"),
            (of(CodeFrom::Rules), "by the reader"),
            (of(CodeFrom::Planner), "by a model"),
        ],
    );
    let made: Vec<_> = made
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{count} {how}"))
        .collect();
    let is_frozen = |result: &&CheckResult| result.skipped == Some(SkipReason::Frozen);
    let uncompiled = report.results.iter().filter(is_frozen).count();
    let missing = (uncompiled > 0).then(|| format!("{uncompiled} not compiled"));
    let others: Vec<String> = made.into_iter().chain(missing).collect();
    match (cached, others.is_empty()) {
        (0, true) => None,
        (_, true) => Some("all code kept".to_owned()),
        (0, false) if uncompiled > 0 => Some(format!("code: {}", others.join(", "))),
        (0, false) => Some(format!("code made anew: {}", others.join(", "))),
        (_, false) => Some(format!("code: {cached} kept, {}", others.join(", "))),
    }
}

/// Blanks up to the width, or a cut.
fn fit(text: &str, width: usize) -> String {
    let text = shorten(text, width);
    let blanks = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(blanks))
}

/// The text, cut so that it takes no more columns than that.
fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut taken = 0;
    for character in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(character).unwrap_or_default();
        if taken + wide + 1 > width {
            break;
        }
        taken += wide;
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// The text in lines of at most that width, broken at blanks where there are some.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in text.split_whitespace() {
        if !current.is_empty() && current.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(&shorten(word, width));
    }
    if !current.is_empty() {
        lines.push(current);
    }
    lines
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn colored(text: &str, tone: Tone, options: TextOptions) -> String {
    if !options.color {
        return text.to_owned();
    }
    format!("\u{1b}[{}m{text}\u{1b}[0m", tone.ansi())
}
