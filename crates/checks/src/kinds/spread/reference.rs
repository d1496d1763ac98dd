//! A reference that a check writes down: values or bins, each with its weight.

use serde_json::{Map, Value};

use super::super::emit::Code;
use super::super::literal;
use super::super::params::{CompileError, Params};

const WANTED: &str = "{\"values\": […], \"weights\": […]}, {\"bins\": […], \"weights\": […]} or {\"table\": …, \"column\": …}, with weights that add up to 1";

/// A reference that is written down.
pub(super) enum Weights {
    Values {
        known: Vec<Value>,
        weights: Vec<f64>,
    },
    /// Bins with finite ends; `tails` is the weight below the first and above the last.
    Bins {
        bins: Vec<f64>,
        weights: Vec<f64>,
        tails: (f64, f64),
    },
}

impl Weights {
    /// `None` if the reference is a column of a table.
    pub(super) fn read(
        params: &Params<'_>,
        reference: &Map<String, Value>,
    ) -> Result<Option<Self>, CompileError> {
        let wrong = || params.wrong("reference", WANTED);
        let list = |name: &str| reference.get(name).and_then(Value::as_array);
        let numbers =
            |list: &Vec<Value>| list.iter().map(end).collect::<Option<Vec<f64>>>().ok_or_else(wrong);
        let Some(weights) = list("weights") else {
            return if reference.contains_key("table") { Ok(None) } else { Err(wrong()) };
        };
        let weights = numbers(weights)?;
        let tails = match list("tail_weights") {
            None => (0.0, 0.0),
            Some(tails) => match numbers(tails)?[..] {
                [low, high] => (low, high),
                _ => return Err(wrong()),
            },
        };
        let sum = weights.iter().sum::<f64>() + tails.0 + tails.1;
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if weights.is_empty() || !weights.iter().all(is_weight) || (sum - 1.0).abs() > 1e-6 {
            return Err(wrong());
        }
        match (list("values"), list("bins")) {
            (Some(known), None) if known.len() == weights.len() && tails == (0.0, 0.0) => {
                Ok(Some(Self::Values { known: known.clone(), weights }))
            }
            (None, Some(bins)) if bins.len() == weights.len() + 1 => {
                Self::bins(numbers(bins)?, weights, tails).ok_or_else(wrong).map(Some)
            }
            _ => Err(wrong()),
        }
    }

    /// Bins that reach to infinity are tails.
    fn bins(mut bins: Vec<f64>, mut weights: Vec<f64>, mut tails: (f64, f64)) -> Option<Self> {
        if bins.first() == Some(&f64::NEG_INFINITY) {
            bins.remove(0);
            tails.0 += weights.remove(0);
        }
        if bins.last() == Some(&f64::INFINITY) {
            bins.pop();
            tails.1 += weights.pop()?;
        }
        let is_rising = bins.windows(2).all(|pair| pair[0] < pair[1]);
        (is_rising && bins.len() > 1 && bins.iter().all(|bin| bin.is_finite())).then_some(Self::Bins {
            bins,
            weights,
            tails,
        })
    }

    /// Writes `actual` and `expected`. Weight held back goes to what the reference does not know: `tail` to other
    /// values or the ends, `internal` to bins without weight.
    pub(super) fn write(self, code: &mut Code, tail: f64, internal: f64) -> Result<(), CompileError> {
        match self {
            Self::Values { known, weights } => {
                if internal > 0.0 {
                    return Err(CompileError::param(
                        "`internal_weight` is for bins, and the reference has values",
                        "leave it out, or use `tail_weight`",
                    ));
                }
                values(code, known, &weights, tail);
            }
            Self::Bins { bins, weights, tails } => {
                let is_open = (tails.0 > 0.0, tails.1 > 0.0);
                if tail > 0.0 && is_open == (true, true) {
                    return Err(CompileError::param(
                        "`tail_weight` is for ends without weight, and both ends of the reference have some",
                        "leave it out",
                    ));
                }
                let expected = held_back(&weights, tails, tail, internal);
                code.line(format!("bins = np.array({})", self::numbers(&bins)));
                code.line(format!("expected = np.array({})", self::numbers(&expected)));
                code.line("inside, _ = np.histogram(values, bins=bins)");
                code.line("counts = np.concatenate([[(values < bins[0]).sum()], inside, [(values > bins[-1]).sum()]])");
                code.line("actual = counts / max(len(values), 1)");
            }
        }
        Ok(())
    }
}

/// The end of a bin: a number, or infinity in words.
fn end(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("-inf" | "-Infinity") => Some(f64::NEG_INFINITY),
        Some("inf" | "Infinity") => Some(f64::INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

fn values(code: &mut Code, known: Vec<Value>, weights: &[f64], tail: f64) {
    code.line(format!("known = {}", literal::value(&Value::Array(known))));
    code.line(format!("expected = np.array({})", numbers(weights)));
    code.line("shares = values.value_counts(normalize=True)");
    code.line("others = shares[~shares.index.isin(known)].to_numpy()");
    code.line("actual = np.array([*(shares.get(value, 0.0) for value in known), *others])");
    code.line(format!("unknown = np.full(len(others), {tail} / max(len(others), 1))"));
    code.line(format!("expected = np.concatenate([expected * (1 - {tail}), unknown])"));
}

/// Weights of the lower end, the bins and the upper end once some is held back.
fn held_back(weights: &[f64], tails: (f64, f64), tail: f64, internal: f64) -> Vec<f64> {
    let empty = weights.iter().filter(|weight| **weight == 0.0).fold(0.0, |count, _| count + 1.0);
    let internal = if empty > 0.0 { internal } else { 0.0 };
    let left = 1.0 - tail - internal;
    let closed = [tails.0, tails.1].iter().filter(|weight| **weight == 0.0).fold(0.0, |count, _| count + 1.0);
    let end = |weight: f64| if weight == 0.0 { tail / f64::max(closed, 1.0) } else { weight * left };
    let bin = |weight: &f64| if *weight == 0.0 { internal / empty } else { weight * left };
    [end(tails.0)].into_iter().chain(weights.iter().map(bin)).chain([end(tails.1)]).collect()
}

/// Numbers as a Python list.
pub(super) fn numbers(numbers: &[f64]) -> String {
    format!("[{}]", listed(numbers))
}

/// Numbers with commas between them, each with all its digits.
pub(super) fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(weights: &[f64], tails: (f64, f64), tail: f64, internal: f64, expected: &[f64]) {
        let given = held_back(weights, tails, tail, internal);
        assert_eq!(given.len(), expected.len());
        for (given, expected) in given.iter().zip(expected) {
            assert!((given - expected).abs() < 1e-12, "{given} is not {expected}");
        }
        assert!((given.iter().sum::<f64>() - 1.0).abs() < 1e-12, "weights add up to 1: {given:?}");
    }

    #[test]
    fn weight_held_back_goes_to_what_has_none() {
        check(&[0.5, 0.5], (0.0, 0.0), 0.0, 0.0, &[0.0, 0.5, 0.5, 0.0]);
        check(&[0.5, 0.5], (0.0, 0.0), 0.2, 0.0, &[0.1, 0.4, 0.4, 0.1]);
        check(&[0.5, 0.0, 0.5], (0.0, 0.0), 0.2, 0.2, &[0.1, 0.3, 0.2, 0.3, 0.1]);
    }

    #[test]
    fn an_end_that_has_weight_shares_in_what_is_left() {
        check(&[0.5, 0.25], (0.0, 0.25), 0.2, 0.0, &[0.2, 0.4, 0.2, 0.2]);
        // Without an empty bin nothing is held back for one.
        check(&[0.5, 0.5], (0.0, 0.0), 0.0, 0.3, &[0.0, 0.5, 0.5, 0.0]);
    }

    #[test]
    fn bins_that_reach_to_infinity_are_ends() {
        let weights =
            Weights::bins(vec![f64::NEG_INFINITY, 0.0, 1.0, f64::INFINITY], vec![0.2, 0.5, 0.3], (0.0, 0.0));
        let Some(Weights::Bins { bins, weights, tails }) = weights else { panic!("these are bins") };
        assert_eq!((bins, weights, tails), (vec![0.0, 1.0], vec![0.5], (0.2, 0.3)));
        for bins in [vec![1.0, 0.0], vec![0.0, 0.0], vec![0.0, f64::NAN]] {
            assert!(Weights::bins(bins, vec![1.0], (0.0, 0.0)).is_none());
        }
    }
}
