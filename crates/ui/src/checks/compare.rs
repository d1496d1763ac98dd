//! Two runs of checks side by side.

use maud::{Markup, html};
use ordain_checks::report::Difference;
use ordain_checks::{CheckStatus, Mark};

use super::status;
use crate::parts::empty;
use crate::text::{grouped, in_path, visible};

/// What the page shows.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// Runs whose reports are kept, newest first: id and when.
    pub runs: Vec<(String, String)>,
    /// The run that is compared with another.
    pub before: String,
    /// The other.
    pub after: String,
    /// How they differ.
    pub differences: Vec<Difference>,
}

/// The whole page.
pub fn compare(shown: &Comparison) -> Markup {
    let choice = |name: &str, words: &str, chosen: &str| {
        html! {
            label { (words) " " select name=(name) { @for (id, at) in &shown.runs {
                option value=(id) selected[id == chosen] { (visible(at.get(..19).unwrap_or(at)).replace('T', " ")) " · " (crate::text::short_id(id)) }
            } } }
        }
    };
    html! {
        p.crumbs { a href="/checks" { "Checks" } " / compare" }
        h1 { "Runs compared" }
        @if shown.runs.len() < 2 { (empty("There are no two runs yet.", &html! { p { a href="/checks" { "Run the checks" } } })) }
        @else {
            form.search method="get" action="/compared-checks" {
                (choice("before", "Before", &shown.before))
                (choice("after", "After", &shown.after))
                button type="submit" { "Compare" }
            }
            @if shown.differences.is_empty() { (empty("Both runs gave the same.", &html! {})) } @else {
                div.scroll tabindex="0" role="region" aria-label="Differences" { table.list {
                    thead { tr { th scope="col" { "Check" } th scope="col" { "Before" } th scope="col" { "After" } th.right scope="col" { "Failing rows before" } th.right scope="col" { "Failing rows after" } } }
                    tbody { @for one in &shown.differences { tr data-row {
                        td.wide { a href={ "/checks/" (in_path(&one.check_id)) } { (visible(&one.check_name)) } " " code.muted.below { (visible(&one.check_id)) } }
                        td { (of_run(one.before)) } td { (of_run(one.after)) }
                        td.right { (one.failed_before.map(grouped).unwrap_or_default()) }
                        td.right { (one.failed_after.map(grouped).unwrap_or_default()) }
                    } } }
                } }
            }
        }
    }
}

fn of_run(of: Option<CheckStatus>) -> Markup {
    html! { @if of.is_some() { (status(of.map(|status| Mark::of(status, None)))) } @else { span.muted { "not in this run" } } }
}
