//! Checks: a grid by status, and one page for each check.

mod compare;
mod edit;
mod page;
mod report;

use maud::{Markup, html};
use ordain_checks::report::PastResult;
use ordain_checks::report::words::by_weight;
use ordain_checks::{Check, CheckResult, CheckStatus, Mark, Tone};

pub use compare::{Comparison, compare};
pub use edit::{Form, Preview, confirm, edit, suggestions};
pub use page::{CheckPage, page};
pub(crate) use report::report;

use crate::parts::{chip, empty};
use crate::shell::Viewer;
use crate::text::{counted, duration, grouped, in_path, visible, when};

/// Results that a sparkline shows.
pub const SPARK_MAX: usize = 30;

/// A check in the grid.
#[derive(Debug, Clone)]
pub struct Row {
    /// The check as its owner wrote it.
    pub check: Check,
    /// What its last runs gave, oldest first.
    pub history: Vec<PastResult>,
    /// How long its last run took.
    pub duration_ms: Option<f64>,
}

/// The grid.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    /// The checks.
    pub rows: Vec<Row>,
    /// What is wrong with the check files; while anything is, no check runs.
    pub problems: Vec<String>,
    /// What the rows are filtered by.
    pub filter: Filter,
    /// The run of checks that goes on, if one does.
    pub running: Option<String>,
}

/// Which checks are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The last status in lower case, or `never`.
    pub status: Option<String>,
    /// How much a failure weighs; any, where it is empty.
    pub severity: String,
    /// Who answers for it; anybody, where it is empty.
    pub owner: String,
    /// A word to select by; any, where it is empty.
    pub tag: String,
    /// A table; any, where it is empty.
    pub table: String,
    /// A part of the id, the name or the rule.
    pub text: String,
}

impl Filter {
    /// Whether a check is shown.
    pub fn holds(&self, row: &Row) -> bool {
        let check = &row.check;
        let has = |text: &str| text.to_lowercase().contains(&self.text.to_lowercase());
        let is = |wanted: &str, has: &[String]| wanted.is_empty() || has.iter().any(|one| one == wanted);
        (has(&check.check_id) || has(&check.check_name) || has(&check.rule()))
            && is(&self.severity, &[check.severity.name().to_owned()])
            && is(&self.owner, check.owner.as_slice())
            && is(&self.tag, &check.tags)
            && is(&self.table, &check.target_table)
            && self.status.as_deref().is_none_or(|status| status == row.status_name())
    }

    /// The same with another status, as an address.
    fn address(&self, status: Option<&str>) -> String {
        let fields = [
            ("status", status.unwrap_or_default()),
            ("severity", &self.severity),
            ("owner", &self.owner),
            ("tag", &self.tag),
            ("table", &self.table),
            ("text", &self.text),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={}", in_path(value))).collect();
        if given.is_empty() { "/checks".to_owned() } else { format!("/checks?{}", given.join("&")) }
    }
}

impl Row {
    fn last(&self) -> Option<&PastResult> {
        self.history.last()
    }

    fn status_name(&self) -> String {
        self.last().map_or_else(|| "never".to_owned(), |last| last.status.name().to_lowercase())
    }
}

/// The whole page.
pub fn grid(grid: &Grid, viewer: &Viewer) -> Markup {
    html! {
        div.title {
            h1 { "Checks" }
            div.acts {
                @if grid.rows.iter().any(|row| row.history.len() > 1) { a.button href="/compared-checks" { "Compare runs" } }
                @if viewer.is_admin { a.button href="/new-check" { "Add a rule" } a.button href="/suggested-checks" { "Suggest rules" } }
                @if viewer.may_run && !grid.rows.is_empty() { (run_form("/checks/run", "Run all checks", viewer)) }
            }
        }
        @if let Some(run) = &grid.running { p.notice { "Checks are running: " a href={ "/runs/" (run) } { "follow them" } "." } }
        @for problem in &grid.problems { p.notice.bad role="alert" { (visible(problem)) } }
        @if grid.rows.is_empty() && grid.problems.is_empty() {
            (empty("This workspace has no checks yet.", &html! {
                p { "A check is a standing rule about data, in " code { "checks/checks.json" } "." }
            }))
        } @else {
            (filters(grid))
            @if grid.rows.iter().any(|row| grid.filter.holds(row)) { (table(grid, viewer)) }
            @else { (empty("No check is like that.", &html! { p { a href="/checks" { "Show all " (grid.rows.len()) } } })) }
        }
    }
}

fn filters(grid: &Grid) -> Markup {
    const WORDS: [&str; 6] = ["fail", "error", "warn", "pass", "skipped", "never"];
    let any = Filter { status: None, ..grid.filter.clone() };
    let held: Vec<&Row> = grid.rows.iter().filter(|row| any.holds(row)).collect();
    let count = |word: &str| held.iter().filter(|row| row.status_name() == word).count();
    let severities = |row: &Row| vec![row.check.severity.name().to_owned()];
    html! {
        div.filters {
            nav.chips aria-label="Filter by status" {
                a href=(any.address(None)) aria-current=[grid.filter.status.is_none().then_some("true")] { "all " (held.len()) }
                @for word in WORDS {
                    @let shown = if word == "never" { "never run" } else { word };
                    a href=(any.address(Some(word))) aria-current=[(grid.filter.status.as_deref() == Some(word)).then_some("true")] { (shown) " " (count(word)) }
                }
            }
            form.search method="get" action="/checks" role="search" {
                @if let Some(status) = &grid.filter.status { input type="hidden" name="status" value=(status); }
                (choice(grid, "severity", &grid.filter.severity, severities))
                (choice(grid, "owner", &grid.filter.owner, |row| row.check.owner.iter().cloned().collect()))
                (choice(grid, "tag", &grid.filter.tag, |row| row.check.tags.clone()))
                (choice(grid, "table", &grid.filter.table, |row| row.check.target_table.clone()))
                label { span.unseen { "Search checks" } input type="search" name="text" value=(grid.filter.text) placeholder="name or rule…"; }
                button type="submit" { "Search" }
            }
        }
    }
}

/// A filter by what checks have of something; nothing, where they all have the same.
fn choice(grid: &Grid, name: &str, chosen: &str, of: impl Fn(&Row) -> Vec<String>) -> Markup {
    let values: std::collections::BTreeSet<String> = grid.rows.iter().flat_map(of).collect();
    html! {
        @if values.len() > 1 {
            label { span.unseen { (name) } select name=(name) {
                option value="" { "any " (name) }
                @for value in &values { option value=(value) selected[value == chosen] { (visible(value)) } }
            } }
        }
    }
}

fn table(grid: &Grid, viewer: &Viewer) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Checks" {
            table.list {
                thead { tr {
                    th scope="col" { "Status" } th scope="col" { "Check" } th.extra scope="col" { "Table, severity" }
                    th.extra scope="col" { "Owner and tags" } th.right scope="col" { "Failing, last 30" } th scope="col" { "Last run" }
                    @if viewer.may_run { th scope="col" { span.unseen { "Run" } } }
                } }
                tbody { @for row in grid.rows.iter().filter(|row| grid.filter.holds(row)) { (one(row, viewer)) } }
            }
        }
    }
}

fn one(row: &Row, viewer: &Viewer) -> Markup {
    let check = &row.check;
    let address = format!("/checks/{}", in_path(&check.check_id));
    html! {
        tr data-row {
            td { (status(row.last().map(PastResult::mark))) @if !check.enabled { " " span.muted { "off" } } }
            td.wide { a href=(address) { (visible(&check.check_name)) } " " code.muted.below { (visible(&check.check_id)) } @if check.blocking { " " (chip("calm", "blocking")) } }
            td.extra { (visible(&check.target_table.join(", "))) span.muted.below { (check.severity.name()) } }
            td.extra { @if let Some(owner) = &check.owner { (visible(owner)) } span.below { @for tag in &check.tags { span.tag { (visible(tag)) } " " } } }
            td.right.nowrap { @if let Some(last) = row.last() { (failing(last)) } (sparkline(&row.history)) }
            td { @if let Some(last) = row.last() { (when(&last.started_at)) @if let Some(took) = row.duration_ms { span.muted.below { (duration(took)) } } } }
            @if viewer.may_run { td { (run_form(&format!("{address}/run"), "Run", viewer)) } }
        }
    }
}

fn failing(last: &PastResult) -> Markup {
    html! {
        @if let Some(failed) = last.failed {
            (grouped(failed)) @if let Some(share) = last.failed_pct.filter(|share| *share > 0.0) { " " span.muted { "(" (ordain_checks::report::words::percent(share)) ")" } }
        }
    }
}

/// What each check of a run gave.
pub(crate) fn results(results: &[CheckResult]) -> Markup {
    html! {
        @if !results.is_empty() {
            section #results {
                h2 { "Results" }
                div.scroll tabindex="0" role="region" aria-label="Results" { table.list {
                    thead { tr { th scope="col" { "Status" } th scope="col" { "Check" } th scope="col" { "What was found" } th scope="col" { "Severity" } th.right scope="col" { "Took" } } }
                    tbody { @for result in by_weight(results) { tr data-row {
                        td { (status(Some(result.mark()))) }
                        td.wide { a href={ "/checks/" (in_path(&result.check_id)) } { (visible(&result.check_name)) } " " code.muted.below { (visible(&result.check_id)) } }
                        td { (visible(&result.summary)) }
                        td { (result.severity.name()) }
                        td.right.nowrap { (duration(result.duration_ms)) }
                    } } }
                } }
            }
        }
    }
}

/// A button that runs checks.
pub(crate) fn run_form(address: &str, words: &str, viewer: &Viewer) -> Markup {
    html! {
        form.inline method="post" action=(address) { (viewer.hidden_token()) button type="submit" { (words) } }
    }
}

/// How a result stands as a word with a shape and a colour of its own; `None` has never run.
pub(crate) fn status(mark: Option<Mark>) -> Markup {
    mark.map_or_else(|| chip("never", "never run"), |mark| chip(mark.tone.class(), mark.word))
}

/// The same from its name in an event.
pub(crate) fn status_named(name: &str) -> Markup {
    status(CheckStatus::named(name).map(|status| Mark::of(status, None)))
}

/// The last results as bars: height and colour by status, a list of words for screen readers.
pub(crate) fn sparkline(history: &[PastResult]) -> Markup {
    const WIDTH: usize = 3;
    const HEIGHT: usize = 16;
    let shown = &history[history.len().saturating_sub(SPARK_MAX)..];
    let passed = shown.iter().filter(|past| past.mark().tone == Tone::Good).count();
    html! {
        @if !shown.is_empty() {
            svg.spark width=(SPARK_MAX * WIDTH) height=(HEIGHT) viewBox={ "0 0 " (SPARK_MAX * WIDTH) " " (HEIGHT) } role="img"
                aria-label={ (passed) " of the last " (counted(shown.len(), "run", "runs")) " passed" } {
                @for (place, past) in shown.iter().enumerate() {
                    @let (class, height) = bar(past.mark());
                    rect class=(class) x=((SPARK_MAX - shown.len() + place) * WIDTH) y=(HEIGHT - height) width=(WIDTH - 1) height=(height) {}
                }
            }
        }
    }
}

const fn bar(mark: Mark) -> (&'static str, usize) {
    let height = match mark.tone {
        Tone::Good => 6,
        Tone::Wait => 10,
        Tone::Bad | Tone::Error | Tone::Open => 16,
        Tone::Off => 3,
    };
    (mark.tone.class(), height)
}
