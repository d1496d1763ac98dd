//! Has a planner write a program that the verifier accepts, to be run later: checks are compiled first, and run together.

use ordain_planner::{Brief, Draft, Exchange, Planner, Progress};
use ordain_types::{ErrorClass, Schema, SourceFile, Trouble};
use ordain_verify::Policy;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::rounds::{self, Ended, RoundLimits, Trial, Tried, Try};
use crate::story::{End, Story};

impl Engine {
    /// Has a program written in an exchange that has begun, with repairs. Gives the reason where there is none.
    pub async fn compile(
        &self,
        (planner, brief): (&Planner, &Brief),
        exchange: &mut Exchange,
        (policy, schema): (&Policy, &Schema),
        progress: &mut dyn Progress,
    ) -> Result<Draft, String> {
        let mut trial = Compiling { policy, schema };
        let limits = RoundLimits { rounds: self.settings.rounds, ..RoundLimits::default() };
        let (asked, mut story) = ((planner, brief), Story::default());
        let ended = rounds::rounds(exchange, asked, &mut story, &mut trial, limits, progress).await;
        match ended.map_err(|error| error.to_string())? {
            Ended::Done { draft, .. } => Ok(*draft),
            Ended::Asks(question) => Err(format!("the rule is not clear: {question}")),
            // It is one program; an outline is not among the forms that its brief allows.
            Ended::Outlined(_) => Err("the rule was broken into steps".to_owned()),
            Ended::Over(end) => Err(why_not(end)),
        }
    }
}

/// A trial that ends when the code is accepted.
struct Compiling<'a> {
    policy: &'a Policy,
    schema: &'a Schema,
}

impl Trial for Compiling<'_> {
    type Done = ();

    fn policy(&self) -> &Policy {
        self.policy
    }

    fn schema(&self) -> &Schema {
        self.schema
    }

    fn bring(&mut self, _modules: &[SourceFile]) -> Result<(), Trouble> {
        Ok(())
    }

    async fn run(&mut self, _one: Try<'_>, _story: &mut Story) -> Result<Tried<()>, EngineError> {
        Ok(Tried::Done(()))
    }
}

/// Why there is no program.
fn why_not(end: End) -> String {
    match end {
        End::Declined { text, .. } => text,
        End::Stopped { error, .. } => {
            let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            match error.class {
                ErrorClass::Planner => format!("{}{hint}", error.message),
                _ => format!("its code was refused: {}", error.message),
            }
        }
        End::Ended { .. } => "the code was not compiled".to_owned(),
    }
}
