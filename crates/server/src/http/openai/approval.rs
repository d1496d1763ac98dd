//! Approval over chat: `approve <id>` and `reject <id>` as whole messages.

use ordain_store::EntryNote;
use ordain_types::{RunRecord, RunState};

use super::request::Chat;
use crate::http::caller::{Caller, Scope};
use crate::http::problem::Problem;
use crate::http::service::Service;

/// The fewest characters of an id that are taken for one.
const ID_MIN: usize = 8;
/// A run's id is that long.
const ID_MAX: usize = 26;

/// What a message decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    is_yes: bool,
    run: String,
}

impl Decision {
    /// Reads a message that is a decision and nothing else. Without an id it is about the run of the answer before it.
    pub(super) fn read(chat: &Chat) -> Option<Self> {
        let plain = chat.request.trim().trim_start_matches('/').trim_end_matches(['.', '!']);
        let plain = plain.replace(['`', '<', '>', '*'], "");
        let mut words = plain.split_whitespace();
        let is_yes = match words.next()?.to_ascii_lowercase().as_str() {
            "approve" => true,
            "reject" => false,
            _ => return None,
        };
        let run = match (words.next(), words.next()) {
            (Some(word), None) => id(word)?,
            (None, None) => asked_for(&chat.turns.last()?.answer)?,
            _ => return None,
        };
        Some(Self { is_yes, run })
    }

    /// Carries it out, and says what became of the run.
    pub(super) async fn carry_out(
        &self,
        service: &Service,
        caller: &Caller,
    ) -> Result<(RunRecord, String), Problem> {
        caller.must(Scope::Approve)?;
        let store = service.engine().store();
        let before = store.run(&self.run).await?;
        let wanted = if self.is_yes { RunState::Committed } else { RunState::Rejected };
        if before.state == wanted {
            // The client sent its message again, or somebody else was faster.
            let receipt = before.receipt.marked();
            let text = format!("{receipt}\n\nRun {} is {wanted} already; nothing more was done.", before.run_id);
            return Ok((before, text));
        }
        let note = EntryNote::by(&caller.id, "http");
        let id = before.run_id.as_str();
        let decided = if self.is_yes { store.approve(id, note).await } else { store.reject(id, note).await };
        let record = decided?;
        let text = format!("{}\n\nRun {} is {}.", record.receipt.marked(), record.run_id, record.state);
        Ok((record, text))
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

/// The run that an answer asked about.
fn asked_for(answer: &str) -> Option<String> {
    let (_, rest) = answer.rsplit_once("Reply `approve ")?;
    id(rest.split('`').next()?)
}

#[cfg(test)]
mod tests {
    use ordain_engine::Turn;

    use super::*;

    fn read(request: &str, answer: &str) -> Option<(bool, String)> {
        let turn = Turn { request: String::new(), answer: answer.to_owned(), status: None, run_id: None };
        let chat = Chat { request: request.to_owned(), turns: vec![turn], ..Chat::default() };
        Decision::read(&chat).map(|decision| (decision.is_yes, decision.run))
    }

    #[test]
    fn a_whole_message_decides_and_nothing_else_does() {
        let id = "01k9zq3v7d8w2m5n6p4r1s0t9x";
        for said in [&format!("approve {id}"), &format!("Approve `{id}`."), &format!("/approve <{id}>")] {
            assert_eq!(read(said, ""), Some((true, id.to_owned())), "{said}");
        }
        assert_eq!(read(&format!("reject {}", &id[..10]), ""), Some((false, id[..10].to_owned())));
        for said in ["approve payments", "approve all of them", "should I approve 01k9zq3v7d?", "approve", ""]
        {
            assert_eq!(read(said, "Sold one."), None, "{said}");
        }
        let asked =
            format!("Reply `approve {id}` to commit this, or `reject {id}` …");
        assert_eq!(read("approve", &asked), Some((true, id.to_owned())));
    }
}
