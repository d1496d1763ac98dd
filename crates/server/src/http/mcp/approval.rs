//! Asks the person behind a client to approve a held change.
//!
//! The question shows the diff, and its state names the run and the hash of that diff. Both come back with the answer
//! and are held against the store, so what is approved is what was shown, on whichever server the answer arrives. The
//! state grants nothing: deciding needs the scope, and a caller that has it could name any run that it sees.

use axum::http::StatusCode;
use ordain_types::{RunRecord, RunState};
use ordain_ui::diff_hash;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde::Deserialize as _;
use serde_json::json;

use super::super::caller::Scope;
use super::super::openai::reply;
use super::super::problem::Problem;
use super::super::runs::{Decision, HowToApprove};
use super::Mcp;

/// The name of the question among those that one result may ask.
pub(super) const QUESTION: &str = "approve";

impl Mcp {
    /// Whether the client's person is asked about a run.
    pub(super) fn asks(&self, record: &RunRecord, context: &RequestContext<RoleServer>) -> bool {
        let can_ask = || {
            let client = context.client_capabilities().and_then(|client| client.elicitation);
            client.is_some_and(|asking| asking.form.is_some() || asking.url.is_none())
        };
        record.state == RunState::Held && self.decides && self.caller.may(Scope::Approve) && can_ask()
    }

    /// Asks: newer clients by a result that they come back from, older ones by a request on the open connection.
    pub(super) async fn ask_to_approve(
        &self,
        record: RunRecord,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Problem> {
        let is_new = |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        if context.protocol_version().is_some_and(is_new) {
            let state = format!("{}:{}", record.run_id, diff_hash(&record));
            return Ok(InputRequiredResult::new(Some(questions(&record)?), Some(state)).into());
        }
        match context.peer.create_elicitation(question(&record)?).await {
            Ok(answer) => Ok(self.settle(&record, &answer).await?.into()),
            // Nobody could be asked, so the change waits for somebody who can be.
            Err(_gone) => Ok(self.result(&record).await.into()),
        }
    }

    /// The run that this or another server asked about, if the state that came back is the one that was sent.
    pub(super) async fn asked_about(&self, state: &str) -> Result<RunRecord, Problem> {
        let (run, shown) = state.split_once(':').unwrap_or((state, ""));
        let record = self.service.run_seen_by(&self.caller, run).await?;
        if diff_hash(&record) != shown {
            let detail = "the answer is about another change than the one that waits";
            return Err(Problem::new(StatusCode::CONFLICT, "other_change", detail)
                .hint("look at the run again with `run`"));
        }
        Ok(record)
    }

    /// Takes the answer to a question about a run.
    pub(super) async fn answered(
        &self,
        record: &RunRecord,
        answers: Option<&InputResponses>,
    ) -> Result<CallToolResult, Problem> {
        self.settle(record, &answer_in(answers)?).await
    }

    /// Carries out what the person chose. Closing the question leaves the change waiting.
    pub(super) async fn settle(
        &self,
        record: &RunRecord,
        answer: &ElicitResult,
    ) -> Result<CallToolResult, Problem> {
        let chosen = answer.content.as_ref().and_then(|content| content["decision"].as_str());
        let decision = match (&answer.action, chosen) {
            (ElicitationAction::Accept, Some("approve")) => Decision::Approve(HowToApprove::default()),
            (ElicitationAction::Accept, Some("reject")) | (ElicitationAction::Decline, _) => Decision::Reject,
            (ElicitationAction::Accept, _) => {
                let message = "the answer is neither `approve` nor `reject`";
                return Err(Problem::unprocessable("bad_answer", "/decision", message));
            }
            _ => return Ok(self.result(record).await),
        };
        self.decide(record.run_id.as_str(), decision).await
    }
}

/// The person's answer among those that came back.
pub(super) fn answer_in(answers: Option<&InputResponses>) -> Result<ElicitResult, Problem> {
    let answer = answers.and_then(|answers| answers.get(QUESTION));
    let read = answer.and_then(|answer| ElicitResult::deserialize(answer).ok());
    read.ok_or_else(|| {
        Problem::unprocessable("bad_answer", "/inputResponses/approve", "there is no answer to the question")
    })
}

/// The question as a result holds it.
pub(super) fn questions(record: &RunRecord) -> Result<InputRequests, Problem> {
    let asked = InputRequest::Elicitation(ElicitRequest::new(question(record)?));
    Ok(InputRequests::from([(QUESTION.to_owned(), asked)]))
}

fn question(record: &RunRecord) -> Result<ElicitRequestParams, Problem> {
    let message = format!(
        "{}\n{}\nRun {}. Approve this change?",
        record.receipt.marked(),
        reply::lines(record),
        record.run_id
    );
    let decision = json!({ "type": "string", "enum": ["approve", "reject"], "title": "Decision" });
    let schema =
        json!({ "type": "object", "properties": { "decision": decision }, "required": ["decision"] });
    let asked = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    serde_json::from_value(asked).map_err(|error| Problem::internal(error.to_string()))
}
