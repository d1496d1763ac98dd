//! Figures in a row: a table that everybody can read, which a script draws as a chart where there are scripts.

use maud::{Markup, html};
use serde_json::Value;

use crate::assets;
use crate::text::{grouped, visible};

/// Rows of an answer that are drawn: fewer show nothing, more cannot be told apart.
const DRAWN: std::ops::RangeInclusive<usize> = 3..=366;
/// Names below a chart that can still be read.
const NAMES_MAX: usize = 40;
/// Columns of figures that are drawn.
const SERIES_MAX: usize = 4;
/// The colours of the columns of an answer.
const COLOURS: [&str; SERIES_MAX] = ["calm", "good", "wait", "error"];

/// Figures for each day, time or name, in order.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What each column counts, and the class that colours it: `good`, `bad`, `wait`, `calm`, `off`.
    pub series: Vec<(String, &'static str)>,
    /// What each row is of, and one figure for each column.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Whether the columns are parts of a whole.
    pub is_stacked: bool,
}

/// The chart, and the table behind it.
pub(crate) fn show(chart: &Chart) -> Markup {
    html! {
        figure.chart data-chart data-stacked[chart.is_stacked] data-script=(assets::address("uplot.js")) data-style=(assets::address("uplot.css")) {
            figcaption { (visible(&chart.title)) }
            div.canvas aria-hidden="true" {}
            details.fold {
                summary { "The figures" span.unseen { " of: " (visible(&chart.title)) } }
                div.scroll tabindex="0" role="region" aria-label=(visible(&chart.title)) {
                    table {
                        thead { tr {
                            th scope="col" { "Day" }
                            @for (name, class) in &chart.series { th.right scope="col" data-colour=(class) { (visible(name)) } }
                        } }
                        tbody { @for (name, figures) in &chart.rows { tr {
                            th scope="row" { (visible(name)) }
                            @for figure in figures { td.right { (shown(*figure)) } }
                        } } }
                    }
                }
            }
        }
    }
}

/// A count as a figure of a chart.
#[expect(clippy::cast_precision_loss, reason = "a chart shows no more than a few digits")]
pub fn count(count: u64) -> f64 {
    count as f64
}

/// A figure for people and for the script.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked")]
fn shown(figure: f64) -> String {
    let is_count = figure.fract() == 0.0 && (0.0..1e15).contains(&figure);
    if is_count { grouped(figure as u64) } else { figure.to_string() }
}

/// A chart of an answer whose rows are a series: one column names them, each name once, and others are figures.
pub(crate) fn of_rows(rows: &[Value]) -> Option<Chart> {
    let names: Vec<&str> = rows.first()?.as_object()?.keys().map(String::as_str).collect();
    let all = |name: &str, test: fn(&Value) -> bool| rows.iter().all(|row| row.get(name).is_some_and(test));
    let texts = |name: &str| -> Vec<&str> { rows.iter().filter_map(|row| row.get(name)?.as_str()).collect() };
    let labels: Vec<&str> = names.iter().copied().filter(|name| all(name, Value::is_string)).collect();
    let [label] = labels[..] else { return None };
    let labels = texts(label);
    let is_distinct = labels.iter().collect::<std::collections::HashSet<_>>().len() == labels.len();
    let are_dates = labels.iter().all(|label| is_date(label));
    let is_short = labels.len() <= NAMES_MAX || are_dates;
    let figures: Vec<&str> = names.into_iter().filter(|name| all(name, Value::is_number)).collect();
    let is_drawn = DRAWN.contains(&rows.len()) && (1..=SERIES_MAX).contains(&figures.len());
    if !is_distinct || !is_short || !is_drawn {
        return None;
    }
    let row = |row: &Value| {
        let of = figures.iter().map(|name| row[*name].as_f64().unwrap_or_default()).collect();
        (row[label].as_str().unwrap_or_default().to_owned(), of)
    };
    let mut rows: Vec<(String, Vec<f64>)> = rows.iter().map(row).collect();
    if are_dates {
        // The answer may be in the order of its figures; time goes on from left to right.
        rows.sort_by(|one, other| one.0.cmp(&other.0));
    }
    Some(Chart {
        title: format!("{} by {label}", figures.join(", ")).replace('_', " "),
        series: figures.iter().zip(COLOURS).map(|(name, colour)| ((*name).to_owned(), colour)).collect(),
        rows,
        is_stacked: false,
    })
}

/// Whether a text is `2026-03` or `2026-03-01`.
fn is_date(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text.len(), 7 | 10) && text.split('-').all(is_digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_a_chart_only_if_they_are_a_series() {
        let rows = |value: Value| value.as_array().unwrap().clone();
        let months = rows(json!([{"month": "2026-03", "total": 1234}, {"month": "2026-01", "total": 2.5},
            {"month": "2026-02", "total": -1}]));
        let chart = of_rows(&months).unwrap();
        assert_eq!(chart.title, "total by month");
        let figures: Vec<String> = chart.rows.iter().map(|(_, figures)| shown(figures[0])).collect();
        assert_eq!(figures, ["2.5", "-1", "1,234"]);
        for not in [
            json!([{"month": "2026-01", "total": 1}, {"month": "2026-02", "total": 2}]),
            json!([{"name": "a", "total": 1}, {"name": "a", "total": 2}, {"name": "b", "total": 2}]),
            json!([{"name": "a", "total": null}, {"name": "b", "total": 2}, {"name": "c", "total": 2}]),
            json!([{"name": "a", "of": "x"}, {"name": "b", "of": "y"}, {"name": "c", "of": "z"}]),
            json!([1, 2, 3]),
        ] {
            assert!(of_rows(&rows(not.clone())).is_none(), "{not}");
        }
    }
}
