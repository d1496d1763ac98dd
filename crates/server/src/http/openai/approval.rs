//! Approval over chat: `approve` and `reject` as whole messages.
//!
//! Text decides nothing: an answer repeats what rows and plans say, so a question that stands in one may be anybody's.
//! What a bare `approve` is about is what this server itself asked that key in that conversation ([`Questions`]);
//! for any other run the message has to name its id.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ordain_store::EntryNote;
use ordain_types::{RunId, RunRecord, RunState};

use super::request::Chat;
use crate::http::caller::{Caller, Scope};
use crate::http::problem::Problem;
use crate::http::runs::{Decision as Choice, HowToApprove};
use crate::http::service::Service;

/// The fewest characters of an id that are taken for one.
const ID_MIN: usize = 8;
/// A run's id is that long.
const ID_MAX: usize = 26;
/// Held runs that are remembered for one caller. Older ones need their id.
const QUESTIONS_MAX: usize = 100;

/// The held runs that callers were asked about, each in its conversation. A restart forgets them; then an id is needed.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    of_callers: Mutex<HashMap<String, VecDeque<Question>>>,
}

#[derive(Debug)]
struct Question {
    conversation: String,
    run: RunId,
}

impl Questions {
    /// Remembers that a caller was shown a held run in a conversation.
    pub(super) fn ask(&self, who: &str, conversation: &str, run: &RunId) {
        let mut all = self.lock();
        let questions = all.entry(who.to_owned()).or_default();
        if questions.iter().any(|asked| asked.run == *run && asked.conversation == conversation) {
            return;
        }
        if questions.len() >= QUESTIONS_MAX {
            questions.pop_front();
        }
        questions.push_back(Question { conversation: conversation.to_owned(), run: run.clone() });
    }

    /// The runs that a caller was shown in a conversation.
    fn asked(&self, who: &str, conversation: &str) -> Vec<RunId> {
        let all = self.lock();
        let of_caller = all.get(who).into_iter().flatten();
        of_caller.filter(|asked| asked.conversation == conversation).map(|asked| asked.run.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Question>>> {
        self.of_callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a message decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    is_yes: bool,
    /// The run's id, where the message names it.
    named: Option<String>,
}

/// What became of a decision: the run that it was about, if it was about one, and what is said of it.
pub(super) type Decided = (Option<RunRecord>, String);

impl Decision {
    /// Reads a message that is a decision and nothing else.
    pub(super) fn read(request: &str) -> Option<Self> {
        let plain = request.trim().trim_start_matches('/').trim_end_matches(['.', '!']);
        let plain = plain.replace(['`', '<', '>', '*'], "");
        let mut words = plain.split_whitespace();
        let is_yes = match words.next()?.to_ascii_lowercase().as_str() {
            "approve" => true,
            "reject" => false,
            _ => return None,
        };
        match (words.next(), words.next()) {
            (Some(word), None) => Some(Self { is_yes, named: Some(id(word)?) }),
            (None, None) => Some(Self { is_yes, named: None }),
            _ => None,
        }
    }

    /// Carries it out, and says what became of the run.
    pub(super) async fn carry_out(
        &self,
        service: &Service,
        caller: &Caller,
        chat: &Chat,
    ) -> Result<Decided, Problem> {
        caller.must(Scope::Approve)?;
        let run = match &self.named {
            Some(named) => named.clone(),
            None => match service.inner.questions.asked(&caller.id, &chat.asked_before).as_slice() {
                [run] => run.to_string(),
                asked => return Ok((None, self.unclear(asked))),
            },
        };
        let before = service.run_seen_by(caller, &run).await?;
        let wanted = if self.is_yes { RunState::Committed } else { RunState::Rejected };
        if before.state == wanted {
            // The client sent its message again, or somebody else was faster.
            let receipt = before.receipt.marked();
            let text =
                format!("{receipt}\n\nRun {} is {wanted} already; nothing more was done.", before.run_id);
            return Ok((Some(before), text));
        }
        let note = EntryNote::by(&caller.id, "http");
        let decision = if self.is_yes { Choice::Approve(HowToApprove::default()) } else { Choice::Reject };
        let record = service.decide(before.run_id.as_str(), decision, note).await?;
        let text = format!("{}\n\nRun {} is {}.", record.receipt.marked(), record.run_id, record.state);
        Ok((Some(record), text))
    }

    /// What is said when the message names no run and the conversation does not make it certain which one is meant.
    fn unclear(&self, asked: &[RunId]) -> String {
        let word = if self.is_yes { "approve" } else { "reject" };
        match asked.last() {
            None => format!(
                "Nothing was decided: the last answer of this conversation did not ask for approval. Look at the run \
                 that you mean (`GET /v1/runs/ID`) and write `{word} ID`."
            ),
            Some(last) => format!(
                "Nothing was decided: {} runs wait in this conversation. Write which one, such as `{word} {last}`.",
                asked.len()
            ),
        }
    }
}

/// The words that ask for a decision.
pub(super) fn question(record: &RunRecord) -> String {
    let id = &record.run_id;
    format!("Reply `approve {id}` to commit this, or `reject {id}` to drop it.")
}

/// A word as a run's id. Ids begin with a digit, so no word of a language is one.
fn id(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let is_id = (ID_MIN..=ID_MAX).contains(&word.len())
        && word.starts_with(|first: char| first.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    is_id.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: &str) -> Option<(bool, Option<String>)> {
        Decision::read(request).map(|decision| (decision.is_yes, decision.named))
    }

    #[test]
    fn a_whole_message_decides_and_nothing_else_does() {
        let id = "01k9zq3v7d8w2m5n6p4r1s0t9x";
        for said in [&format!("approve {id}"), &format!("Approve `{id}`."), &format!("/approve <{id}>")] {
            assert_eq!(read(said), Some((true, Some(id.to_owned()))), "{said}");
        }
        assert_eq!(read(&format!("reject {}", &id[..10])), Some((false, Some(id[..10].to_owned()))));
        assert_eq!(read("Approve."), Some((true, None)));
        for said in ["approve payments", "approve all of them", "should I approve 01k9zq3v7d?", ""] {
            assert_eq!(read(said), None, "{said}");
        }
    }

    #[test]
    fn a_question_is_known_to_its_caller_and_its_conversation_alone() {
        let questions = Questions::default();
        let run = RunId("01k9zq3v7d8w2m5n6p4r1s0t9x".to_owned());
        questions.ask("a", "talk", &run);
        questions.ask("a", "talk", &run);
        assert_eq!(questions.asked("a", "talk"), [run]);
        assert!(questions.asked("b", "talk").is_empty() && questions.asked("a", "other").is_empty());
        for place in 0..QUESTIONS_MAX {
            questions.ask("a", "flood", &RunId(place.to_string()));
        }
        assert!(questions.asked("a", "talk").is_empty());
        assert_eq!(questions.lock()["a"].len(), QUESTIONS_MAX);
    }
}
