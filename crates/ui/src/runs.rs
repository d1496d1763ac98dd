//! The list of runs, newest first, with filters.

use maud::{Markup, html};
use ordain_types::{RunRecord, RunState};

use crate::live::LiveRun;
use crate::parts::{Pager, became, chip, empty};
use crate::text::{duration, grouped, lines, when};

/// Characters of a request that a row shows.
const ROW_CHARS_MAX: usize = 140;

/// Runs that one page of a search looks through.
pub const SEARCHED_MAX: u64 = 1_000;

/// The states that runs can be listed by, as they stand in the address and as people read them.
const STATES: [(Option<&str>, &str); 12] = [
    (None, "all"),
    (Some("running"), "running"),
    (Some("committed"), "committed"),
    (Some("answered"), "answered"),
    (Some("declined"), "declined"),
    (Some("held"), "for approval"),
    (Some("waiting"), "for an answer"),
    (Some("rejected"), "rejected"),
    (Some("rolled_back"), "rolled back"),
    (Some("failed"), "failed"),
    (Some("undone"), "undone"),
    (Some("conflicted"), "conflicted"),
];

/// A page of runs.
#[derive(Debug, Clone, Default)]
pub struct RunList {
    /// Runs that go on.
    pub live: Vec<LiveRun>,
    /// Runs that have ended.
    pub ended: Vec<RunRecord>,
    /// The state they are listed by.
    pub state: Option<String>,
    /// The words that their requests have.
    pub words: String,
    /// Other pages.
    pub pager: Pager,
}

/// The whole page.
pub fn page(list: &RunList) -> Markup {
    html! {
        h1 { "Runs" }
        form.search role="search" method="get" action="/runs" {
            @if let Some(state) = &list.state { input type="hidden" name="state" value=(state); }
            label { span.unseen { "Words of the request, or a run’s id" } input type="search" name="words" value=(list.words) maxlength="200" placeholder="Words, or an id"; }
            button type="submit" { "Search" }
        }
        nav.chips aria-label="Filter by state" {
            @for (value, word) in STATES {
                @let fields = value.map(|value| ("state", value)).into_iter().chain(words(list));
                @let address = Pager::address("/runs", fields);
                a href=(address) aria-current=[(list.state.as_deref() == value).then_some("true")] { (word) }
            }
        }
        @match &live_address(list) {
            Some(address) => { div #run-list hx-sse:connect=(address) hx-swap="innerMorph" { (rows(list)) } },
            None => { div #run-list { (rows(list)) } },
        }
        (list.pager.show())
    }
}

fn words(list: &RunList) -> Option<(&str, &str)> {
    Some(("words", list.words.as_str())).filter(|(_, words)| !words.is_empty())
}

/// Where the first page listens for changes; older pages and what was searched for do not change.
fn live_address(list: &RunList) -> Option<String> {
    let state = list.state.as_deref().map(|state| ("state", state));
    let is_newest = list.pager.first.is_none() && list.words.is_empty();
    is_newest.then(|| Pager::address("/runs/live", state.into_iter()))
}

/// The table alone.
pub fn rows(list: &RunList) -> Markup {
    if list.live.is_empty() && list.ended.is_empty() && !list.words.is_empty() {
        let how = html! { p { "The search looks through " (grouped(SEARCHED_MAX)) " runs at a time; the next page looks further back." } };
        return empty("No run with these words here.", &how);
    }
    if list.live.is_empty() && list.ended.is_empty() {
        let how =
            html! { p { a href="/ask" { "Ask something" } " or run " code { "ordain ask \"…\"" } "." } };
        return empty("No runs here yet.", &how);
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs" {
            table.list.stack {
                thead { tr { th scope="col" { "State" } th scope="col" { "Request" } th.extra scope="col" { "Data" } th.extra scope="col" { "Kind" } th.right.extra scope="col" { "Took" } th scope="col" { "Began" } } }
                tbody {
                    @for run in &list.live { tr data-row {
                        td { (chip("live", "running")) }
                        td.wide { a href={ "/runs/" (run.run_id) } { (lines(&run.request, ROW_CHARS_MAX)) } }
                        td.extra {} td.extra { (run.kind) } td.extra {} td { (when(&run.started_at)) }
                    } }
                    @for run in &list.ended { (row(run)) }
                }
            }
        }
    }
}

fn row(run: &RunRecord) -> Markup {
    let touches = matches!(run.state, RunState::Committed | RunState::Held | RunState::Undone);
    html! {
        tr data-row {
            td { (became(run)) }
            td.wide { a href={ "/runs/" (run.run_id.as_str()) } { (lines(&run.request, ROW_CHARS_MAX)) } }
            td.extra { @if touches { (lines(&run.receipt.text, 160)) } @else if let Some(error) = &run.error { span.muted { (lines(&error.message, 80)) } } }
            td.extra { (run.kind.as_str()) }
            td.right.nowrap.extra { (duration(run.timing_ms.total)) }
            td { (when(&run.started_at)) }
        }
    }
}
