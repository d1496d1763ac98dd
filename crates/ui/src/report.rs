//! A run, or what checks gave, as one HTML file that needs nothing from anywhere, to be sent to somebody.

use maud::{Markup, PreEscaped, html};
use ordain_checks::RunReport;
use ordain_checks::report::PastResult;
use ordain_types::RunRecord;

use crate::assets;
use crate::run::{self, Details};
use crate::shell::{Theme, Viewer, document};
use crate::text::visible;

/// Nothing may be fetched, and nothing may run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A run's page without anything to press.
pub fn page(workspace: &str, record: &RunRecord, details: &Details) -> String {
    let title = format!("{} · {workspace}", record.request);
    let content = run::report(record, details, &Viewer::default());
    file(&title, workspace, record.run_id.as_str(), &content)
}

/// What checks gave. `history` is of earlier runs, the oldest first.
pub fn checks(report: &RunReport, history: &[PastResult]) -> String {
    let title = format!("Checks of {}", report.workspace);
    file(&title, &report.workspace, &report.run_id, &crate::checks::report(report, history))
}

fn file(title: &str, workspace: &str, run: &str, content: &Markup) -> String {
    let style = assets::ALL.iter().find(|asset| asset.name == "ui.css").map_or("", |asset| asset.content);
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(POLICY);
        meta name="referrer" content="no-referrer";
        style { (PreEscaped(style)) }
    };
    let body = html! { body.report { main #main {
        (content)
        footer.muted { "Run " code { (visible(run)) } " of " (visible(workspace)) ", made by Ordain." }
    } } };
    document(Theme::Auto, title, &head, &body) + "\n"
}
