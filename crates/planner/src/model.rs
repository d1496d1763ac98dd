//! The planner that asks a model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ordain_types::{Diff, ErrorClass, Event, Trouble, Usage};
use serde_json::Value;

use crate::brief::Brief;
use crate::consent::{Consent, Opinion};
use crate::exchange::{Exchange, Message, Reply, Speaker};
use crate::planner::{Judgement, PlannerError, Progress};
use crate::policy;
use crate::policy_check::PolicyFinding;
use crate::prompt::{self, Reviewed, steps, text};
use crate::provider::{Completion, Finish, ModelRequest, Piece, Provider, ProviderError, Purpose, cost_usd};
use crate::repair;
use crate::reply::{self, TRUNCATED, TRUNCATED_AGAIN};

/// How often a JSON object is asked for.
const OBJECTS_MAX: usize = 2;

/// The most tokens that are ever asked for.
const TOKENS_MAX: u32 = 64_000;
/// A verdict or an outline is short, but models that think aloud need room.
const SIDE_TOKENS_MAX: u32 = 4_000;
const OUTLINE_CHARS_MAX: usize = 8_000;

/// What the workspace says about its model.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of the workspace")]
pub struct ModelSettings {
    /// `auto`, `rules`, or a provider and a model's name.
    pub name: String,
    /// Where an OpenAI-compatible server listens.
    pub base_url: Option<String>,
    /// Further models that callers may name: the name that they write, and what it stands for.
    pub others: BTreeMap<String, String>,
    /// Whether the model is shown values of rows beside the schema.
    pub samples: bool,
    /// Whether the reader is asked before the model, and the model only where the reader does not understand a request.
    pub reader_first: bool,
    /// Whether a second opinion of the code is asked.
    pub review: bool,
    /// Whether a second opinion of an outline is asked.
    pub review_outline: bool,
    /// How freely the model chooses its words.
    pub temperature: Option<f64>,
    /// The most tokens of a reply.
    pub tokens_max: u32,
    /// How long a reply may take, all attempts together.
    pub timeout: Duration,
    /// Whether the model gets the short prompt; `None` leaves it to the model's name.
    pub is_small: Option<bool>,
    /// How much the model thinks before it replies; `None` leaves it to the provider.
    pub effort: Option<String>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            name: "auto".to_owned(),
            base_url: None,
            others: BTreeMap::new(),
            samples: true,
            reader_first: false,
            review: true,
            review_outline: false,
            temperature: None,
            tokens_max: 4_000,
            timeout: Duration::from_mins(3),
            is_small: None,
            effort: None,
        }
    }
}

/// A model behind a provider.
#[derive(Debug, Clone)]
pub struct Model {
    provider: Arc<dyn Provider>,
    settings: ModelSettings,
}

impl Model {
    /// A model that is asked as the settings say.
    pub fn new(provider: Arc<dyn Provider>, settings: ModelSettings) -> Self {
        Self { provider, settings }
    }

    /// The name under which records know it.
    pub fn name(&self) -> String {
        self.provider.name()
    }

    /// Whether the model gets the short prompt.
    pub fn is_small(&self) -> bool {
        self.settings.is_small.unwrap_or_else(|| is_small_name(&self.provider.name()))
    }

    pub(crate) fn begin(&self, brief: &Brief) -> Exchange {
        Exchange { messages: prompt::opening(&self.shown(brief), self.is_small()), ..Exchange::default() }
    }

    /// The brief as the model may see it.
    fn shown<'a>(&self, brief: &'a Brief) -> Cow<'a, Brief> {
        if self.settings.samples { Cow::Borrowed(brief) } else { Cow::Owned(brief.without_values()) }
    }

    pub(crate) async fn next(
        &self,
        brief: &Brief,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Reply, PlannerError> {
        progress.stage(if exchange.troubles.is_empty() { "planning" } else { "repairing" });
        let tokens = exchange.tokens_max.unwrap_or(self.settings.tokens_max);
        let messages = exchange.messages.clone();
        let completion = match self.ask(messages, Purpose::Plan, tokens, exchange, progress).await {
            Ok(completion) => completion,
            Err(ProviderError::TooLarge { .. }) => {
                exchange.said("(a reply far too long, left out)".to_owned());
                return Ok(reply::unusable(
                    "reply-too-long",
                    "the reply was far too long to be read",
                    Some("write a short program"),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        exchange.said(completion.text.clone());
        if let Some(refusal) = completion.refusal {
            return Ok(Reply::Refusal(text::line(&refusal, 600)));
        }
        let whole = match exchange.partial.take() {
            Some(partial) => reply::splice(&partial, &completion.text),
            None => completion.text,
        };
        let mut reply = reply::read(&whole, completion.finish, &self.shown(brief));
        if let Reply::Unusable(trouble) = &mut reply
            && trouble.code == TRUNCATED
        {
            // Going on is tried once, and only where there is something to go on from.
            let is_second = exchange.tokens_max.is_some();
            if is_second || whole.trim().is_empty() {
                TRUNCATED_AGAIN.clone_into(&mut trouble.code);
            } else {
                exchange.partial = Some(whole);
            }
            exchange.tokens_max = Some(tokens.saturating_mul(2).min(TOKENS_MAX));
        }
        if let Reply::Plan(draft) | Reply::Look(draft) = &reply {
            exchange.code = Some(draft.code.clone());
        }
        Ok(reply)
    }

    pub(crate) fn complain(exchange: &mut Exchange, trouble: &Trouble) {
        if trouble.code != TRUNCATED {
            exchange.partial = None;
        }
        repair::tell(exchange, trouble);
    }

    /// Whether it gives second opinions of code.
    pub(crate) fn reviews(&self) -> bool {
        self.settings.review
    }

    pub(crate) async fn review(
        &self,
        brief: &Brief,
        what: Reviewed<'_>,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Opinion {
        progress.stage("reviewing");
        let what = match what {
            Reviewed::Code(draft, Some(_)) if !self.settings.samples => Reviewed::Code(draft, None),
            what => what,
        };
        let mut messages = prompt::review(&self.shown(brief), what);
        exchange
            .reviews
            .extend(messages.iter().filter(|message| message.speaker == Speaker::Ordain).cloned());
        let opened = messages.len();
        let verdict =
            self.ask_object(&mut messages, Purpose::Review, is_verdict, exchange, &mut Unheard).await;
        let said = messages.split_off(opened).into_iter().filter(|message| message.speaker == Speaker::Model);
        exchange.reviews.extend(said);
        match verdict {
            Ok(Some(verdict)) if verdict["ok"] == true => {
                Opinion::Consent(Consent::to(&what.text(), self.name()))
            }
            Ok(Some(verdict)) => Opinion::Objection(objection(&verdict)),
            Ok(None) => Opinion::Missing("the review was not understood twice".to_owned()),
            Err(error) => {
                exchange.notes.push(format!("the review failed: {error}"));
                Opinion::Missing(format!("the review failed: {error}"))
            }
        }
    }

    pub(crate) async fn reword(
        &self,
        (answer, changes): (&str, Option<&Diff>),
        trouble: &Trouble,
        exchange: &mut Exchange,
    ) -> Option<String> {
        repair::ask_sentence(exchange, answer, trouble, changes.filter(|_| self.settings.samples));
        let messages = exchange.messages.clone();
        match self.ask(messages, Purpose::Sentence, SIDE_TOKENS_MAX, exchange, &mut Unheard).await {
            Ok(completion) => {
                exchange.said(completion.text.clone());
                let is_finished = completion.finish == Finish::Stop && completion.refusal.is_none();
                is_finished.then(|| reply::sentence(&completion.text)).flatten()
            }
            Err(error) => {
                // The plain sentence that takes its place needs nobody.
                exchange.notes.push(format!("no better sentence was to be had: {error}"));
                None
            }
        }
    }

    pub(crate) async fn outline(
        &self,
        brief: &Brief,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Value, PlannerError> {
        progress.stage("outlining");
        let mut messages = prompt::outline(&self.shown(brief));
        let has_steps = |outline: &Value| outline["steps"].is_array();
        let Some(outline) =
            self.ask_object(&mut messages, Purpose::Outline, has_steps, exchange, progress).await?
        else {
            let message = "the outline is not a JSON object with `steps`".to_owned();
            return Err(ProviderError::BadReply { message }.into());
        };
        // The code that is written next follows it.
        if let Some(opening) = exchange.messages.last_mut() {
            let shown = text::cut(&text::value(&outline, 500), OUTLINE_CHARS_MAX);
            let _ = write!(opening.text, "\n<outline>\n{shown}\n</outline>\n");
        }
        Ok(outline)
    }

    /// What it says of the policy, as one who would have to follow it.
    pub(crate) async fn read_policy(&self, brief: &Brief) -> Result<Vec<PolicyFinding>, PlannerError> {
        let (mut messages, mut exchange) = (prompt::policy_reading(&self.shown(brief)), Exchange::default());
        let has_findings = |reply: &Value| reply["findings"].is_array();
        let reply = self
            .ask_object(&mut messages, Purpose::Policy, has_findings, &mut exchange, &mut Unheard)
            .await?;
        let unread =
            || ProviderError::BadReply { message: "it is not a JSON object with `findings`".to_owned() };
        Ok(policy::opinions(&reply.ok_or_else(unread)?, &brief.policy))
    }

    /// Whether what a step gave meets its criterion. What cannot be read twice is no yes.
    pub(crate) async fn judge(
        &self,
        brief: &Brief,
        result: &Value,
        exchange: &mut Exchange,
    ) -> Result<Judgement, PlannerError> {
        let mut messages = steps::criterion(&self.shown(brief), result);
        let said =
            self.ask_object(&mut messages, Purpose::Criterion, is_verdict, exchange, &mut Unheard).await?;
        let Some(said) = said else {
            let why = Some("the judgement was not understood twice".to_owned());
            return Ok(Judgement { holds: false, why });
        };
        let why = said["problem"].as_str().filter(|why| !why.trim().is_empty());
        Ok(Judgement { holds: said["ok"] == true, why: why.map(|why| text::line(why, 600)) })
    }

    /// The text of a step.
    pub(crate) async fn write_text(
        &self,
        brief: &Brief,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<String, PlannerError> {
        if exchange.messages.is_empty() {
            exchange.messages = steps::text(&self.shown(brief));
            exchange.is_text = true;
        }
        let messages = exchange.messages.clone();
        let completion =
            self.ask(messages, Purpose::Text, self.settings.tokens_max, exchange, progress).await?;
        exchange.said(completion.text.clone());
        if completion.finish != Finish::Stop || completion.refusal.is_some() {
            let message = "the text was cut off or refused".to_owned();
            return Err(ProviderError::BadReply { message }.into());
        }
        Ok(reply::prose(&completion.text))
    }

    /// Asks for one JSON object, and once more if what came is none; `None` if that is none either. What was said is
    /// added to the messages.
    async fn ask_object(
        &self,
        messages: &mut Vec<Message>,
        purpose: Purpose,
        is_it: fn(&Value) -> bool,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Option<Value>, ProviderError> {
        for _ in 0..OBJECTS_MAX {
            let completion = self.ask(messages.clone(), purpose, SIDE_TOKENS_MAX, exchange, progress).await?;
            // A yes or a no is the whole of a finished reply. What is only read may stand in more.
            let is_finished = completion.finish == Finish::Stop && completion.refusal.is_none();
            let is_decision = matches!(purpose, Purpose::Review | Purpose::Criterion);
            let read = if is_decision { reply::only_object } else { reply::object };
            let found = is_finished.then(|| read(&completion.text)).flatten().filter(is_it);
            messages.push(Message { speaker: Speaker::Model, text: completion.text });
            if found.is_some() {
                return Ok(found);
            }
            let again = "Reply with the JSON object alone, in the form that was asked for.".to_owned();
            messages.push(Message { speaker: Speaker::Ordain, text: again });
        }
        Ok(None)
    }

    async fn ask(
        &self,
        messages: Vec<Message>,
        purpose: Purpose,
        tokens_max: u32,
        exchange: &mut Exchange,
        progress: &mut dyn Progress,
    ) -> Result<Completion, ProviderError> {
        let effort = self.settings.effort.clone();
        let request = ModelRequest { messages, purpose, tokens_max, temperature: self.temperature(), effort };
        exchange.usage.model_calls += 1;
        let mut heard = |piece: Piece<'_>| match piece {
            Piece::Reply(text) => progress.text(text),
            Piece::Thought(text) => progress.event(&Event::Thought { text: text.to_owned() }),
        };
        let completion = self.provider.call(&request, &mut heard).await?;
        let Usage { input_tokens, output_tokens, .. } = &mut exchange.usage;
        *input_tokens = input_tokens.saturating_add(completion.input_tokens);
        *output_tokens = output_tokens.saturating_add(completion.output_tokens);
        exchange.cost_usd = cost_usd(&self.provider.name(), *input_tokens, *output_tokens);
        Ok(completion)
    }

    /// The same brief should give the same plan, so the model is asked to choose freely only where it insists on it.
    fn temperature(&self) -> Option<f64> {
        let name = self.provider.name();
        let insists = ["openai:o1", "openai:o3", "openai:o4", "openai:gpt-5"]
            .iter()
            .any(|start| name.starts_with(start));
        self.settings.temperature.or((!insists).then_some(0.0))
    }
}

/// Takes progress of a side question and shows nothing.
struct Unheard;

impl Progress for Unheard {
    fn text(&mut self, _piece: &str) {}
    fn stage(&mut self, _name: &str) {}
}

/// Whether an object is a yes or a no, and not both: a yes names no problem.
fn is_verdict(said: &Value) -> bool {
    let is_empty = |key: &str| match &said[key] {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    said["ok"] == false || said["ok"] == true && ["problem", "line", "hint"].into_iter().all(is_empty)
}

fn objection(verdict: &Value) -> Trouble {
    let said = |key: &str| {
        verdict[key].as_str().filter(|said| !said.trim().is_empty()).map(|said| text::line(said, 600))
    };
    Trouble {
        class: ErrorClass::Review,
        code: "review".to_owned(),
        message: said("problem").unwrap_or_else(|| "it does not do what was asked".to_owned()),
        line: verdict["line"].as_u64().filter(|line| (1..100_000).contains(line)),
        hint: said("hint"),
    }
}

/// Whether a name tells of four billion parameters or fewer: `qwen2.5-coder:1.5b`.
fn is_small_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split(|character: char| !(character.is_ascii_alphanumeric() || character == '.'));
    words.any(|word| {
        let billions = word.strip_suffix('b').and_then(|number| number.parse::<f64>().ok());
        let millions = word.strip_suffix('m').and_then(|number| number.parse::<f64>().ok());
        billions.or(millions.map(|millions| millions / 1000.0)).is_some_and(|billions| billions <= 4.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_models_are_known_by_their_names() {
        for name in
            ["ollama:qwen2.5-coder:1.5b", "local:SmolLM2-135M-Instruct", "ollama:llama3.2:3b-instruct"]
        {
            assert!(is_small_name(name), "{name}");
        }
        for name in ["openai:gpt-4.1-mini", "ollama:llama3.1:70b", "ollama:codellama:7b", "replay:a.jsonl"] {
            assert!(!is_small_name(name), "{name}");
        }
    }
}
