//! What went wrong, as a page or as a part of one.

use maud::{Markup, html};

use crate::shell::{Place, alone};
use crate::text::visible;

/// What is shown of a problem.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The status in words.
    pub title: &'a str,
    /// What went wrong.
    pub detail: &'a str,
    /// What would help.
    pub hint: Option<&'a str>,
    /// Names the request; the log has it too.
    pub request_id: &'a str,
}

/// A whole page. It needs nothing from the workspace, which may be what is broken.
pub fn page(problem: Problem<'_>) -> String {
    let content = html! {
        h1 { (visible(problem.title)) }
        (part(problem))
        nav.chips aria-label="Screens" { @for place in Place::LISTED { @let (address, word, _) = place.link(); a href=(address) { (word) } } }
    };
    alone(problem.title, &content)
}

/// The same inside a page that stays.
pub fn part(problem: Problem<'_>) -> Markup {
    html! {
        div.problem role="alert" {
            p { strong { (visible(problem.detail)) } }
            @if let Some(hint) = problem.hint { p.hint { (visible(hint)) } }
            p.muted { "Request " code { (visible(problem.request_id)) } }
        }
    }
}
