//! Figures over time: a table that everybody can read, which a script draws as a chart where there are scripts.

use maud::{Markup, html};

use crate::text::grouped;

/// Figures for each day, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What each column counts, and the class that colours it: `good`, `bad`, `wait`, `calm`, `off`.
    pub series: Vec<(String, &'static str)>,
    /// The day and one figure for each column.
    pub days: Vec<(String, Vec<u64>)>,
}

/// The chart, and the table behind it.
pub(crate) fn show(chart: &Chart) -> Markup {
    html! {
        figure.chart data-chart {
            figcaption { (chart.title) }
            div.canvas aria-hidden="true" {}
            details.fold {
                summary { "The figures" span.unseen { " of: " (chart.title) } }
                div.scroll tabindex="0" role="region" aria-label=(chart.title) {
                    table {
                        thead { tr {
                            th scope="col" { "Day" }
                            @for (name, class) in &chart.series { th.right scope="col" data-colour=(class) { (name) } }
                        } }
                        tbody { @for (day, figures) in &chart.days { tr {
                            th scope="row" { (day) }
                            @for figure in figures { td.right { (grouped(*figure)) } }
                        } } }
                    }
                }
            }
        }
    }
}
