//! What is printed about the figures.

use std::io::{self, Write};

use ordain_cell::profile::Installed;
use serde_json::{Value, json};

use super::Figures;
use crate::sample::{Sample, rounded};

/// How many times quicker the second is than the first, by their medians.
fn ratio(peer: &Sample, ours: &Sample) -> Option<f64> {
    (!peer.is_empty() && !ours.is_empty()).then(|| peer.p50() / ours.p50())
}

pub(crate) fn print_json(figures: &Figures) -> io::Result<()> {
    let number = |value: Option<f64>| value.map_or(Value::Null, |value| json!(rounded(value)));
    let mut p50 = serde_json::Map::new();
    let mut p95 = serde_json::Map::new();
    let mut min = serde_json::Map::new();
    for (name, _, sample) in rows(figures) {
        if !sample.is_empty() {
            p50.insert(name.to_owned(), json!(rounded(sample.p50())));
            p95.insert(name.to_owned(), json!(rounded(sample.p95())));
            min.insert(name.to_owned(), json!(rounded(sample.min())));
        }
    }
    let record = json!({
        "ratios": {
            "warm_trivial_vs_python": number(ratio(&figures.python_trivial, &figures.warm_trivial)),
            "warm_pandas_vs_python": number(ratio(&figures.python_pandas, &figures.warm_pandas)),
            "exec_trivial_vs_python": number(ratio(&figures.python_trivial, &figures.exec_trivial)),
            "exec_pandas_vs_python": number(ratio(&figures.python_pandas, &figures.exec_pandas)),
            "fresh_vs_bubblewrap": number(ratio(&figures.bubblewrap_trivial, &figures.fresh_trivial)),
        },
        "sustained_per_s": {
            "trivial": rounded(figures.sustained_trivial),
            "pandas": rounded(figures.sustained_pandas),
        },
        "idle_cell_pss_mb": { "core": number(figures.idle_core_mb), "data": number(figures.idle_data_mb) },
        "p50_ms": p50,
        "p95_ms": p95,
        "min_ms": min,
    });
    writeln!(io::stdout(), "{record:#}")
}

fn rows(figures: &Figures) -> [(&'static str, &'static str, &Sample); 9] {
    [
        ("python_trivial", "python3 -c, print(1+1)", &figures.python_trivial),
        ("bubblewrap_trivial", "bubblewrap, print(1+1)", &figures.bubblewrap_trivial),
        ("fresh_trivial", "fresh cell, print(1+1)", &figures.fresh_trivial),
        ("warm_trivial", "warm cell, print(1+1)", &figures.warm_trivial),
        ("exec_trivial", "ordain exec, print(1+1)", &figures.exec_trivial),
        ("python_pandas", "python3 -c, pandas", &figures.python_pandas),
        ("fresh_pandas", "fresh cell, pandas", &figures.fresh_pandas),
        ("warm_pandas", "warm cell, pandas", &figures.warm_pandas),
        ("exec_pandas", "ordain exec, pandas", &figures.exec_pandas),
    ]
}

pub(crate) fn print_table(figures: &Figures, data: &Installed) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "Python {}, milliseconds", data.interpreter.version_text())?;
    writeln!(out, "{:<26}{:>10}{:>10}{:>10}", "", "p50", "p95", "min")?;
    for (_, label, sample) in rows(figures) {
        if sample.is_empty() {
            writeln!(out, "{label:<26}{:>10}", "not installed")?;
        } else {
            writeln!(out, "{label:<26}{:>10.3}{:>10.3}{:>10.3}", sample.p50(), sample.p95(), sample.min())?;
        }
    }
    writeln!(out)?;
    for (label, ratio) in [
        ("warm cell against python3, print(1+1)", ratio(&figures.python_trivial, &figures.warm_trivial)),
        ("warm cell against python3, pandas", ratio(&figures.python_pandas, &figures.warm_pandas)),
        ("ordain exec against python3, print(1+1)", ratio(&figures.python_trivial, &figures.exec_trivial)),
        ("ordain exec against python3, pandas", ratio(&figures.python_pandas, &figures.exec_pandas)),
        ("fresh cell against bubblewrap", ratio(&figures.bubblewrap_trivial, &figures.fresh_trivial)),
    ] {
        match ratio {
            Some(ratio) => writeln!(out, "{label:<44}{ratio:>8.1}×")?,
            None => writeln!(out, "{label:<44}{:>9}", "n/a")?,
        }
    }
    writeln!(out, "{:<44}{:>8.0}/s", "sustained, creation and teardown included", figures.sustained_trivial)?;
    writeln!(out, "{:<44}{:>8.0}/s", "sustained, pandas", figures.sustained_pandas)?;
    for (label, weight) in [("core", figures.idle_core_mb), ("data", figures.idle_data_mb)] {
        if let Some(weight) = weight {
            writeln!(out, "{:<44}{weight:>6.2} MB", format!("idle cell, proportional memory, {label}"))?;
        }
    }
    Ok(())
}
