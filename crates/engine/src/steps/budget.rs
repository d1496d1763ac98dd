//! Budgets of a run of several steps. Reaching one stops the run with an error that says which.

use std::time::Instant;

use ordain_types::{Budgets, ErrorClass, Event, RunError, StepState, Usage, format_duration};

use super::continued::Continued;
use crate::outcome::run_error;

/// What a run has used.
#[derive(Debug, Clone)]
pub(crate) struct Spent {
    budgets: Budgets,
    started: Instant,
    pub(crate) steps: u32,
    pub(crate) usage: Usage,
    pub(crate) dollars: f64,
}

impl Spent {
    pub(crate) fn new(budgets: &Budgets) -> Self {
        let (budgets, started) = (budgets.clone(), Instant::now());
        Self { budgets, started, steps: 0, usage: Usage::default(), dollars: 0.0 }
    }

    /// The same, after what the runs before have used: a request has one budget.
    pub(crate) fn after(budgets: &Budgets, continued: Option<&Continued>) -> Self {
        let mut spent = Self::new(budgets);
        if let Some(Continued { used, steps, .. }) = continued {
            spent.add(used.usage, Some(used.dollars));
            let done = steps.iter().filter(|step| step.state == StepState::Done).count();
            spent.steps = u32::try_from(done).unwrap_or(u32::MAX);
            spent.started = spent.started.checked_sub(used.took).unwrap_or(spent.started);
        }
        spent
    }

    /// Counts what an exchange with a planner used.
    pub(crate) fn add(&mut self, usage: Usage, dollars: Option<f64>) {
        self.usage.model_calls += usage.model_calls;
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
        self.dollars += dollars.unwrap_or_default();
    }

    /// Counts a step, or says which budget does not allow it.
    pub(crate) fn step(&mut self) -> Result<(), RunError> {
        let budgets = &self.budgets;
        let reached = if self.steps >= budgets.steps {
            Some(("steps-budget", format!("{} steps", budgets.steps), "budget.steps"))
        } else if self.tokens() >= budgets.tokens {
            Some(("tokens-budget", format!("{} tokens", budgets.tokens), "budget.tokens"))
        } else if budgets.dollars.is_some_and(|dollars| self.dollars >= dollars) {
            let dollars = budgets.dollars.unwrap_or_default();
            Some(("dollars-budget", format!("${dollars}"), "budget.dollars"))
        } else if self.started.elapsed() >= budgets.wall {
            Some(("time-budget", format_duration(budgets.wall), "budget.time"))
        } else {
            None
        };
        let Some((code, limit, setting)) = reached else {
            self.steps += 1;
            return Ok(());
        };
        let message = format!("the run has used its budget of {limit} and was stopped; nothing was changed");
        let hint = format!("ask for less at once, or raise `{setting}`");
        Err(run_error(ErrorClass::Budget, code, message, Some(&hint)))
    }

    /// What is left.
    pub(crate) fn event(&self) -> Event {
        let budgets = &self.budgets;
        Event::Budget {
            steps: u64::from(budgets.steps.saturating_sub(self.steps)),
            tokens: budgets.tokens.saturating_sub(self.tokens()),
            seconds: budgets.wall.saturating_sub(self.started.elapsed()).as_secs(),
        }
    }

    fn tokens(&self) -> u64 {
        self.usage.input_tokens.saturating_add(self.usage.output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_budget_stops_the_run_with_a_code_of_its_own() {
        let few = |budgets: Budgets| {
            let mut spent = Spent::new(&budgets);
            spent.add(Usage { model_calls: 1, input_tokens: 90, output_tokens: 20 }, Some(0.5));
            spent.step().and_then(|()| spent.step()).unwrap_err().code
        };
        assert_eq!(few(Budgets { steps: 1, ..Budgets::default() }), "steps-budget");
        assert_eq!(few(Budgets { tokens: 100, ..Budgets::default() }), "tokens-budget");
        assert_eq!(few(Budgets { dollars: Some(0.4), ..Budgets::default() }), "dollars-budget");
        assert_eq!(few(Budgets { wall: Duration::ZERO, ..Budgets::default() }), "time-budget");
    }
}
