//! Compares two builds: both measure the same in turns, and what counts is the ratio of each pair.
//!
//! Whatever else the machine does hits both of a pair nearly alike, so the ratios are steadier than the figures.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::progress;

/// The figures of one measurement by their names.
type Figures = BTreeMap<String, f64>;

/// What the pairs say of one figure.
struct Compared<'a> {
    name: &'a str,
    old: f64,
    new: f64,
    ratio: f64,
    /// The median of the ratios lies between these, in at least 95 cases of a hundred.
    interval: Option<(f64, f64)>,
}

/// Lets both programs measure in turns, and prints how the second compares with the first.
pub(crate) fn run(old: &Path, new: &Path, pairs: usize) -> anyhow::Result<()> {
    let is_json = std::env::args_os().any(|argument| argument == "--json");
    let arguments = own_arguments(std::env::args_os().skip(1));
    let mut measured = Vec::new();
    for pair in 0..pairs {
        progress(&format!("pair {} of {pairs}", pair + 1));
        // Neither is always the first.
        measured.push(if pair % 2 == 0 {
            let old = figures(old, &arguments)?;
            (old, figures(new, &arguments)?)
        } else {
            let new = figures(new, &arguments)?;
            (figures(old, &arguments)?, new)
        });
    }
    let (first, _) = measured.first().context("no pair was measured")?;
    let compared: Vec<_> = first.keys().filter_map(|name| compare(name, &measured)).collect();
    ensure!(!compared.is_empty(), "the two programs have no figure in common");
    if is_json { print_json(&compared) } else { print_table(&compared) }?;
    Ok(())
}

/// The arguments without those that ask for a comparison, so that each program measures by itself.
fn own_arguments(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut own = Vec::new();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--bin" | "--pairs") => drop(arguments.next()),
            Some("--json") => {}
            Some(text) if text.starts_with("--bin=") || text.starts_with("--pairs=") => {}
            _ => own.push(argument),
        }
    }
    own.push("--json".into());
    own
}

fn figures(program: &Path, arguments: &[OsString]) -> anyhow::Result<Figures> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "{} ended with {}", program.display(), output.status);
    let figures = serde_json::from_slice(&output.stdout);
    let figures = figures.with_context(|| format!("{} printed no figures", program.display()))?;
    let mut named = Figures::new();
    name("", &figures, &mut named);
    Ok(named)
}

/// Gives each number a name: the keys on the way to it.
fn name(prefix: &str, value: &Value, named: &mut Figures) {
    let inside = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| name(&inside(key), value, named)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| name(&inside(&at.to_string()), value, named));
        }
        Value::Number(number) => {
            named.extend(number.as_f64().map(|number| (prefix.to_owned(), number)));
        }
        _ => {}
    }
}

/// What all pairs say of a figure that both programs give, unless it is zero somewhere.
fn compare<'a>(name: &'a str, measured: &[(Figures, Figures)]) -> Option<Compared<'a>> {
    let both: Option<Vec<(f64, f64)>> =
        measured.iter().map(|(old, new)| Some((*old.get(name)?, *new.get(name)?))).collect();
    let both = both.filter(|both| both.iter().all(|(old, new)| *old > 0.0 && *new > 0.0))?;
    let sorted = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = both.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let ratios = sorted(|(old, new)| new / old);
    let at = place(ratios.len());
    let interval = at.and_then(|at| Some((*ratios.get(at)?, *ratios.get(ratios.len() - 1 - at)?)));
    Some(Compared {
        name,
        old: median(&sorted(|(old, _)| *old))?,
        new: median(&sorted(|(_, new)| *new))?,
        ratio: median(&ratios)?,
        interval,
    })
}

fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get(sorted.len().checked_sub(1)? / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// Which value from either end bounds the median with 95 % confidence; none if there are too few. Each value lies on
/// either side of the median with the same chance, so that is a count of coins.
fn place(count: usize) -> Option<usize> {
    let exponent = i32::try_from(count).ok()?;
    let (mut chance, mut tail) = (0.5_f64.powi(exponent), 0.0);
    let mut place = None;
    for at in 0..count {
        tail += chance;
        if tail > 0.025 {
            break;
        }
        place = Some(at);
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let step = (count - at) as f64 / (at + 1) as f64;
        chance *= step;
    }
    place
}

fn print_table(compared: &[Compared<'_>]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<40} {:>10} {:>10} {:>7}  95 %", "median", "old", "new", "ratio")?;
    for Compared { name, old, new, ratio, interval } in compared {
        let interval = interval.map_or_else(|| "-".to_owned(), |(low, high)| format!("{low:.3}–{high:.3}"));
        writeln!(out, "{name:<40} {old:>10.3} {new:>10.3} {ratio:>7.3}  {interval}")?;
    }
    Ok(())
}

fn print_json(compared: &[Compared<'_>]) -> io::Result<()> {
    let figures: serde_json::Map<_, _> = compared
        .iter()
        .map(|figure| {
            let Compared { name, old, new, ratio, interval } = figure;
            ((*name).to_owned(), json!({ "old": old, "new": new, "ratio": ratio, "interval": interval }))
        })
        .collect();
    writeln!(io::stdout(), "{:#}", Value::Object(figures))
}

/// The two programs to compare, if there are any.
pub(crate) fn pair(programs: &[PathBuf]) -> anyhow::Result<Option<(&Path, &Path)>> {
    match programs {
        [] => Ok(None),
        [old, new] => Ok(Some((old, new))),
        _ => anyhow::bail!("--bin names two programs, the old one and the new one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_from_noise_by_the_ratios_of_pairs() {
        let pairs: Vec<_> = [1.0, 3.0, 9.0, 2.0, 5.0, 1.0, 4.0, 2.0, 7.0]
            .iter()
            .map(|noise| {
                let figures = |factor: f64| Figures::from([("p50_ms".to_owned(), noise * factor)]);
                (figures(1.0), figures(1.5))
            })
            .collect();
        let compared = compare("p50_ms", &pairs).unwrap();
        assert!((compared.ratio - 1.5).abs() < 1e-9);
        assert!(
            compared
                .interval
                .is_some_and(|(low, high)| (low - 1.5).abs() < 1e-9 && (high - 1.5).abs() < 1e-9)
        );
        assert!(compare("p50_ms", &pairs[..5]).unwrap().interval.is_none(), "five pairs bound nothing");
        assert!(compare("absent", &pairs).is_none());
    }

    #[test]
    fn nine_pairs_are_bounded_by_the_second_from_either_end() {
        assert_eq!((place(5), place(6), place(9)), (None, Some(0), Some(1)));
    }

    #[test]
    fn each_program_gets_the_arguments_without_the_comparison() {
        let words = ["ask", "--bin", "old", "--bin=new", "--pairs", "9", "--quick", "--json"];
        assert_eq!(own_arguments(words.iter().map(OsString::from)), ["ask", "--quick", "--json"]);
    }
}
