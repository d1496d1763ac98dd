//! Whether a step succeeded: an expression, judged by the verifier and evaluated in a cell of its own, or a sentence
//! that a model judges.

use ordain_planner::StepBrief;
use ordain_types::{Cause, CriterionJudge, CriterionRecord, ErrorClass, Outline, RESULT, Trouble};
use ordain_verify::{Verdict, refusal, verify};
use serde_json::{Map, Value};

use super::cell::{Program, Shared, unanswering};
use super::look::printed;
use crate::error::EngineError;
use crate::rounds::Accepted;
use crate::trial::RunTrial;

impl RunTrial<'_> {
    /// Whether the expressions of an outline can be evaluated at all.
    pub(crate) fn judge_checks(&self, outline: &Outline) -> Result<(), Trouble> {
        for step in &outline.steps {
            let Some(check) = &step.check else { continue };
            let verdict = self.verdict_of_check(check);
            if !verdict.is_accepted() {
                let why = refusal(&verdict.findings, check).message;
                let message = format!("the `check` of step `{}` cannot be evaluated: {why}", step.id);
                let hint = "it is one Python expression over `result`, `inputs` and tables";
                return Err(Trouble::new(ErrorClass::Reply, "bad-check", message, hint));
            }
        }
        Ok(())
    }

    /// Evaluates the expression of a step over what the step gave and over the rows as they are after it.
    pub(crate) async fn check_step(
        &self,
        transaction: &Shared,
        step: &StepBrief,
        result: &Value,
    ) -> Result<Option<CriterionRecord>, EngineError> {
        let Some(check) = &step.step.check else { return Ok(None) };
        let verdict = self.verdict_of_check(check);
        let record = |holds, why| CriterionRecord {
            judged_by: CriterionJudge::Code,
            criterion: check.clone(),
            holds,
            why,
        };
        let Some(code) = verdict.verified().cloned() else {
            return Ok(Some(record(false, Some(refusal(&verdict.findings, check).message))));
        };
        let accepted = Accepted::plain(code, verdict.effects.clone());
        let mut inputs: Map<String, Value> = step.inputs.clone();
        inputs.insert(RESULT.to_owned(), result.clone());
        let policy = &unanswering(&self.policy, true);
        let program = Program { accepted: &accepted, policy, inputs, files: Vec::new(), session: None };
        let ran = self.run_in(transaction, program).await?;
        if ran.execution.cause != Cause::Ok {
            return Ok(Some(record(false, Some(printed(&ran.execution)))));
        }
        let holds = ran.execution.values.get(RESULT) == Some(&Value::Bool(true));
        Ok(Some(record(holds, None)))
    }

    fn verdict_of_check(&self, check: &str) -> Verdict {
        let code = format!("{RESULT} = inputs[\"{RESULT}\"]\n{RESULT} = bool((\n{check}\n))\n");
        verify(&code, &unanswering(&self.policy, true), &self.schema)
    }
}

/// A criterion that did not hold, for the planner.
pub(crate) fn unmet(record: &CriterionRecord) -> Trouble {
    let why = record.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    Trouble {
        class: ErrorClass::Criterion,
        code: "criterion-not-met".to_owned(),
        message: format!("`{}` does not hold{why}", record.criterion),
        line: None,
        hint: None,
    }
}
