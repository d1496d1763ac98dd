//! Timings of one thing, and what is said about them.

use std::time::Duration;

/// Timings in milliseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    millis: Vec<f64>,
}

impl Sample {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.millis.push(duration.as_secs_f64() * 1e3);
    }

    /// Takes all timings of another sample.
    pub(crate) fn join(&mut self, other: Self) {
        self.millis.extend(other.millis);
    }

    /// How many timings there are.
    pub(crate) fn count(&self) -> usize {
        self.millis.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.millis.is_empty()
    }

    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    pub(crate) fn p95(&self) -> f64 {
        self.quantile(0.95)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.quantile(0.99)
    }

    pub(crate) fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The value below which that share of the timings lies.
    fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.millis.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a position in a short list"
        )]
        let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}

/// Rounds to three decimals, for records.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_taken_from_the_sorted_timings() {
        let mut sample = Sample::default();
        for millis in [5, 1, 4, 2, 3] {
            sample.add(Duration::from_millis(millis));
        }
        assert!((sample.p50() - 3.0).abs() < 1e-9);
        assert!((sample.min() - 1.0).abs() < 1e-9);
        assert!((sample.p95() - 5.0).abs() < 1e-9);
    }
}
