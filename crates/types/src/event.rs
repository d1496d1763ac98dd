//! What happens while a run goes on, told the same way to the terminal, to event streams and to clients.

use serde::Serialize;

use crate::{Outline, RunError, StepState, Strategy};

/// One thing that happened. Streams carry it under its name, with the rest as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event")]
pub enum Event {
    /// How the plan will grow.
    #[serde(rename = "strategy")]
    Strategy {
        /// The strategy.
        name: Strategy,
        /// Why this one.
        reason: String,
    },
    /// There is an outline.
    #[serde(rename = "outline")]
    Outline {
        /// The outline.
        outline: Outline,
    },
    /// The planner was shown what it looked at.
    #[serde(rename = "look")]
    Look {
        /// What it was shown.
        shown: String,
    },
    /// The model thinks aloud before it replies.
    #[serde(rename = "thought")]
    Thought {
        /// A piece of it.
        text: String,
    },
    /// A step began.
    #[serde(rename = "step.started")]
    StepStarted {
        /// Its id.
        step: String,
        /// What it does.
        title: String,
    },
    /// A step has code.
    #[serde(rename = "step.code")]
    StepCode {
        /// Its id.
        step: String,
        /// The Python.
        code: String,
    },
    /// Something was wrong with a step.
    #[serde(rename = "step.finding")]
    StepFinding {
        /// Its id.
        step: String,
        /// What was wrong.
        message: String,
    },
    /// A step printed something.
    #[serde(rename = "step.output")]
    StepOutput {
        /// Its id.
        step: String,
        /// What it printed.
        output: String,
    },
    /// A step ended.
    #[serde(rename = "step.finished")]
    StepFinished {
        /// Its id.
        step: String,
        /// How it ended.
        state: StepState,
        /// How long it took, in milliseconds.
        took_ms: f64,
        /// Why it failed, where it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RunError>,
    },
    /// The rest is planned anew.
    #[serde(rename = "replan")]
    Replan {
        /// Why.
        why: String,
    },
    /// What is left of the budgets.
    #[serde(rename = "budget")]
    Budget {
        /// Steps.
        steps: u64,
        /// Tokens.
        tokens: u64,
        /// Seconds.
        seconds: u64,
    },
    /// The run waits for a person.
    #[serde(rename = "question")]
    Question {
        /// What it asks.
        text: String,
    },
}

impl Event {
    /// The name under which streams carry it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Strategy { .. } => "strategy",
            Self::Outline { .. } => "outline",
            Self::Look { .. } => "look",
            Self::Thought { .. } => "thought",
            Self::StepStarted { .. } => "step.started",
            Self::StepCode { .. } => "step.code",
            Self::StepFinding { .. } => "step.finding",
            Self::StepOutput { .. } => "step.output",
            Self::StepFinished { .. } => "step.finished",
            Self::Replan { .. } => "replan",
            Self::Budget { .. } => "budget",
            Self::Question { .. } => "question",
        }
    }
}

impl Event {
    /// What a person reads of it, in one line; nothing of what is shown elsewhere.
    pub fn line(&self) -> Option<String> {
        match self {
            Self::Strategy { name, reason } => Some(format!("strategy {name}: {reason}")),
            Self::Outline { outline } => Some(format!("outline: {} steps", outline.steps.len())),
            Self::StepStarted { step, title } => Some(format!("step {step}: {title}")),
            Self::StepFinding { step, message } => Some(format!("step {step}: {message}")),
            Self::StepFinished { step, state, took_ms, .. } => {
                Some(format!("step {step}: {} after {took_ms:.0} ms", state.as_str()))
            }
            Self::Replan { why } => Some(format!("planned anew: {why}")),
            Self::Look { .. }
            | Self::Thought { .. }
            | Self::StepCode { .. }
            | Self::StepOutput { .. }
            | Self::Budget { .. }
            | Self::Question { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_carried_under_the_name_that_it_is_written_with() {
        let event = Event::StepStarted { step: "a".to_owned(), title: "count".to_owned() };
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(written["event"], event.name());
    }
}
