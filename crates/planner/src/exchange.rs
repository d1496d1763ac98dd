//! What is said between the engine and a planner about one brief.

use ordain_types::{BoundParam, ErrorClass, HeldBy, Outline, SourceFile, Trouble, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Everything that was said about one brief. The ledger keeps it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Exchange {
    /// The messages, the brief first.
    pub messages: Vec<Message>,
    /// What it cost.
    pub usage: Usage,
    /// Hashes of the troubles so far: the same one twice ends the exchange.
    pub troubles: Vec<String>,
    /// What it cost in dollars, where the model's price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What second opinions were asked, and what they said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Message>,
    /// What went wrong without doing harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The troubles that the model was told of, a line each.
    #[serde(skip)]
    pub(crate) told: Vec<String>,
    /// The code of the last plan, to show lines of it.
    #[serde(skip)]
    pub(crate) code: Option<String>,
    /// Whether it is about a text, not about a program.
    #[serde(skip)]
    pub(crate) is_text: bool,
    /// A reply that was cut off and is being continued.
    #[serde(skip)]
    pub(crate) partial: Option<String>,
    /// The most tokens of the next reply, once one was cut off.
    #[serde(skip)]
    pub(crate) tokens_max: Option<u32>,
}

impl Exchange {
    /// Keeps what the model said.
    pub(crate) fn said(&mut self, text: String) {
        self.messages.push(Message { speaker: Speaker::Model, text });
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Ordain, setting the rules.
    System,
    /// Ordain, with the brief or a repair message.
    Ordain,
    /// The model.
    Model,
}

/// What a planner gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Code to judge and run.
    Plan(Draft),
    /// Code that only looks at the data; what it prints comes back.
    Look(Draft),
    /// How the request is broken into steps.
    Outline(Outline),
    /// A question back to the person: something needed is missing.
    Question(String),
    /// The planner says that it will not or cannot write a plan, and why.
    Refusal(String),
    /// The reply holds no code that could be judged; the trouble says what to tell the model.
    Unusable(Trouble),
}

/// Code that a planner wrote, not yet judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// The Python.
    pub code: String,
    /// What the plan does, in a few words.
    pub title: String,
    /// What the planner says that the plan does: `<plan>`, where it gave one.
    pub declared: Option<Value>,
    /// What was put right while the reply was read.
    pub modifications: Vec<String>,
    /// Whether the reply held something besides the program: prose, or a second form.
    pub has_more: bool,
    /// What was understood, in words.
    pub reading: Option<String>,
    /// The values that the code takes from `params`.
    pub params: Vec<BoundParam>,
    /// The rule by which the change waits for a person, whatever the workspace's `[approval]` says.
    pub hold: Option<HeldBy>,
    /// Further modules that the code imports by name.
    pub modules: Vec<SourceFile>,
    /// The rows that the code of a question about files makes, where it answers with rows.
    pub rows: Option<MadeRows>,
}

/// The part of a program that makes rows, without the part that tells them to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeRows {
    /// The program up to where it has the rows.
    pub code: String,
    /// The variable that holds them.
    pub variable: &'static str,
}

impl Draft {
    /// The whole program as one text: the modules under their names, then the code.
    pub fn text(&self) -> String {
        let modules =
            self.modules.iter().map(|module| format!("# --- {} ---\n{}\n", module.name, module.code));
        modules.chain([self.code.clone()]).collect()
    }
}

/// A hash that two troubles share when they are the same mistake, wherever in the code it stands.
pub(crate) fn fingerprint(trouble: &Trouble) -> String {
    // How far a limit was passed is measured, and differs from time to time.
    let message = if trouble.class == ErrorClass::Limit { "" } else { &trouble.message };
    let text = format!("{:?}\0{}\0{message}", trouble.class, trouble.code);
    let digest = Sha256::digest(text.as_bytes());
    ordain_types::hex(&digest[..8])
}
