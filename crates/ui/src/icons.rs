//! Small pictures, drawn in the colour of the text beside them. They are never alone: a word stands next to each.

use maud::{Markup, PreEscaped, html};

/// A picture by its name.
pub(crate) fn icon(name: &str) -> Markup {
    let path = match name {
        "overview" => "M2 9h5V2H2zM9 14h5V7H9zM2 14h5v-3H2zM9 5h5V2H9z",
        "ask" => "M2 3h12v8H8l-3 3v-3H2z",
        "runs" => "M3 3v10l9-5z",
        "approvals" => "M3 8.5l3.2 3.2L13 4.5",
        "checks" => "M2 4l1.5 1.5L6 3M2 11l1.5 1.5L6 10M8.5 4.5H14M8.5 11.5H14",
        "tables" => "M2 3h12v10H2zM2 6.5h12M6.5 6.5V13",
        "plans" => "M4 2h6l3 3v9H4zM6.5 8h4M6.5 11h4",
        "ledger" => "M4 4h3v3H4zM9 9h3v3H9zM7 5.5h2.5V9",
        "keys" => "M10.5 2.5a3 3 0 1 1-2 5.3L3 13.3V11h2V9h2l.8-1.2a3 3 0 0 1 2.7-5.3z",
        "settings" => "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 3v3M4 10v3",
        "receipt" => "M3.5 2h9v12l-2.2-1.4L8 14l-2.3-1.4L3.5 14zM6 5.5h4M6 8.5h4",
        "file" => "M4 2h5l3 3v9H4zM9 2v3h3",
        "theme" => "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
        _ => "M8 8h.01",
    };
    html! {
        svg.icon viewBox="0 0 16 16" aria-hidden="true" focusable="false" {
            path d=(path) fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round" {}
        }
    }
}

/// The mark of the program.
pub(crate) fn mark() -> Markup {
    PreEscaped(
        "<svg class=\"mark\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect width=\"16\" height=\"16\" rx=\"4\" \
         class=\"mark-ground\"/><path d=\"M4 8.4l2.9 2.9L12 5.4\" fill=\"none\" class=\"mark-line\" stroke-width=\"2\"/></svg>"
            .to_owned(),
    )
}
