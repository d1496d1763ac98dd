//! A run as one HTML file that needs nothing from anywhere, to be sent to somebody.

use maud::{DOCTYPE, PreEscaped, html};
use ordain_types::RunRecord;

use crate::assets;
use crate::run::{self, Details};
use crate::shell::Viewer;
use crate::text::visible;

/// Nothing may be fetched, and nothing may run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The run's page without anything to press.
pub fn page(workspace: &str, record: &RunRecord, details: &Details) -> String {
    let nobody = Viewer::default();
    let style = assets::ALL.iter().find(|asset| asset.name == "ui.css").map_or("", |asset| asset.content);
    let page = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (visible(&record.request)) " · " (visible(workspace)) }
                style { (PreEscaped(style)) }
            }
            body.report { main #main {
                (run::report(record, details, &nobody))
                footer.muted { "Run " code { (record.run_id.as_str()) } " of " (visible(workspace)) ", made by Ordain." }
            } }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}
