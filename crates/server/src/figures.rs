//! Figures for Prometheus, in its text format.
//!
//! The registry is our own: a few counters and histograms with labels from small fixed sets need no library. Labels
//! never hold an id, a name that callers choose, or a path. The server and the executor each say what their figures
//! mean; only figures that are so described are shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How the text format calls itself.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Sets of labels that one figure may have. What comes beyond them is counted under the label `other`.
const SERIES_MAX: usize = 500;

/// Upper bounds of the buckets of times, in seconds.
pub(crate) const BOUNDS_S: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// A figure's name, its kind (`counter`, `gauge`, `histogram`) and what it means.
pub(crate) type Help = (&'static str, &'static str, &'static str);

/// A figure that is looked at when it is asked for: name, labels, value.
pub(crate) type Gauge = (&'static str, String, String);

type Series<T> = Mutex<BTreeMap<&'static str, BTreeMap<String, T>>>;

/// All figures that are counted.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    counters: Series<f64>,
    histograms: Series<Histogram>,
}

#[derive(Debug, Clone)]
struct Histogram {
    bounds: &'static [f64],
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Figures {
    /// Counts one more.
    pub(crate) fn count(&self, name: &'static str, labels: &str) {
        self.add(name, labels, 1.0);
    }

    /// Counts so much more.
    pub(crate) fn add(&self, name: &'static str, labels: &str, more: f64) {
        let mut counters = lock(&self.counters);
        *series(counters.entry(name).or_default(), labels, || 0.0) += more;
    }

    /// Puts a time into its bucket.
    pub(crate) fn observe(&self, name: &'static str, labels: &str, seconds: f64) {
        self.observe_in(&BOUNDS_S, name, labels, seconds);
    }

    /// Puts a value into its bucket.
    pub(crate) fn observe_in(&self, bounds: &'static [f64], name: &'static str, labels: &str, value: f64) {
        let mut histograms = lock(&self.histograms);
        let histogram = series(histograms.entry(name).or_default(), labels, || Histogram::new(bounds));
        for (bucket, bound) in std::iter::zip(&mut histogram.buckets, histogram.bounds) {
            *bucket += u64::from(value <= *bound);
        }
        histogram.count += 1;
        histogram.sum += value;
    }

    /// Everything as text, in the order of the descriptions.
    pub(crate) fn write(&self, help: &[Help], gauges: &[Gauge]) -> String {
        let mut text = String::new();
        let (counters, histograms) = (lock(&self.counters), lock(&self.histograms));
        for (name, kind, help) in help {
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (_, labels, value) in gauges.iter().filter(|(of, ..)| of == name) {
                let _ = writeln!(text, "{name}{} {value}", braced(labels));
            }
            for (labels, value) in counters.get(name).into_iter().flatten() {
                let _ = writeln!(text, "{name}{} {value}", braced(labels));
            }
            for (labels, histogram) in histograms.get(name).into_iter().flatten() {
                histogram.write(&mut text, name, labels);
            }
        }
        text
    }
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, buckets: vec![0; bounds.len()], count: 0, sum: 0.0 }
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        for (bucket, bound) in std::iter::zip(&self.buckets, self.bounds) {
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {bucket}");
        }
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", self.count);
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", self.sum);
        let _ = writeln!(text, "{name}_count{{{labels}}} {}", self.count);
    }
}

/// A label's value that cannot end its quotes or its line.
pub(crate) fn escaped(value: &str) -> String {
    value.chars().filter(|shown| !shown.is_control() && *shown != '"' && *shown != '\\').take(80).collect()
}

fn series<'a, T>(all: &'a mut BTreeMap<String, T>, labels: &str, new: impl FnOnce() -> T) -> &'a mut T {
    let is_known = all.contains_key(labels) || all.len() < SERIES_MAX;
    let labels = if is_known { labels } else { "other=\"true\"" };
    all.entry(labels.to_owned()).or_insert_with(new)
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: [Help; 2] = [("a_total", "counter", "A."), ("b_seconds", "histogram", "B.")];

    #[test]
    fn whole_counts_have_no_fraction_and_sums_of_money_have() {
        let figures = Figures::default();
        figures.count("a_total", "x=\"1\"");
        figures.add("a_total", "x=\"1\"", 2.0);
        figures.add("a_total", "x=\"2\"", 0.0125);
        let text = figures.write(&HELP, &[]);
        assert!(
            text.contains("a_total{x=\"1\"} 3\n") && text.contains("a_total{x=\"2\"} 0.0125\n"),
            "{text}"
        );
    }

    #[test]
    fn labels_that_grow_without_end_are_gathered_under_one() {
        let figures = Figures::default();
        for number in 0..2 * SERIES_MAX {
            figures.count("a_total", &format!("x=\"{number}\""));
            figures.observe("b_seconds", &format!("x=\"{number}\""), 0.1);
        }
        let text = figures.write(&HELP, &[]);
        assert!(text.contains("a_total{other=\"true\"} 500\n"), "{text}");
        assert!(text.contains("b_seconds_count{other=\"true\"} 500\n"), "{text}");
    }
}
