//! A model behind HTTP: what all remote providers share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ordain_types::Mask;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{
    Call, Completion, Finish, Heard, Key, ModelRequest, Provider, ProviderError, Timeouts, http, retry,
};

/// Where a model is served.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// What records call the provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The address of the service, without a route.
    pub base_url: String,
    /// The key, where one is needed.
    pub key: Option<Key>,
}

/// How one provider speaks.
pub(super) trait Dialect: fmt::Debug + Send + Sync {
    /// Where it is reached, and what it is called.
    fn endpoint(&self) -> &Endpoint;
    /// Builds the request.
    fn request(&self, client: &Client, request: &ModelRequest) -> RequestBuilder;
    /// Takes one event of a stream, or a whole reply.
    fn take(&self, event: &Value, gathered: &mut Gathered) -> Result<(), ProviderError>;
    /// Leaves a parameter out from now on, if that is what the server complains about.
    fn adapt(&self, _complaint: &str) -> Option<&'static str> {
        None
    }
    /// The text without our key, should the other side repeat it.
    fn without_key(&self, text: &str) -> String {
        redacted(self.endpoint().key.as_ref(), text)
    }
}

/// Models of which it is known what they refuse; a server whose callers name more begins anew.
const REMEMBERED_MAX: usize = 1000;
/// How often a request is sent again without what the server refused.
const ADAPTED_MAX: u32 = 8;

/// What a model's server refused to take, which requests leave out from then on: for as long as the process lives, since a
/// provider is made anew for each request that names its model.
#[derive(Debug, Clone, Default)]
pub(super) struct LeftOut(Arc<Mutex<BTreeSet<&'static str>>>);

impl LeftOut {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        static REMEMBERED: Mutex<BTreeMap<(String, String), LeftOut>> = Mutex::new(BTreeMap::new());
        let mut remembered = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.entry((endpoint.base_url.clone(), endpoint.model.clone())).or_default().clone()
    }

    /// Whether a parameter is left out.
    pub(super) fn has(&self, parameter: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(parameter)
    }

    /// Leaves a parameter out from now on. Another request may have been first; this one is sent again all the same.
    pub(super) fn add(&self, parameter: &'static str) -> &'static str {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(parameter);
        parameter
    }
}

/// More tokens than any reply has, whatever a server says.
const TOKENS_MAX: u64 = 100_000_000;

/// What has come of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) text: String,
    /// What the model thinks before its reply, since the last event. It is shown and not kept.
    pub(super) thought: String,
    pub(super) refusal: String,
    pub(super) finish: Option<Finish>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// Calls of tools by their place: name and arguments.
    pub(super) calls: BTreeMap<u64, (String, String)>,
    pub(super) events: u64,
    pub(super) is_done: bool,
}

impl Gathered {
    pub(super) fn size(&self) -> usize {
        let calls = self.calls.values().map(|(name, arguments)| name.len() + arguments.len());
        self.text.len() + self.refusal.len() + calls.sum::<usize>()
    }

    pub(super) fn completion(mut self) -> Completion {
        for (name, arguments) in self.calls.values() {
            // The reader of replies knows calls of tools as JSON.
            self.text.push_str(&json!({ "name": name, "arguments": arguments }).to_string());
        }
        Completion {
            text: self.text,
            finish: self.finish.unwrap_or(Finish::Length),
            refusal: (!self.refusal.is_empty()).then_some(self.refusal),
            input_tokens: self.input_tokens.min(TOKENS_MAX),
            output_tokens: self.output_tokens.min(TOKENS_MAX),
        }
    }
}

/// A model behind HTTP.
#[derive(Debug)]
pub struct Remote {
    dialect: Box<dyn Dialect>,
    client: Client,
    timeouts: Timeouts,
}

impl Remote {
    pub(super) fn new(dialect: Box<dyn Dialect>, timeouts: Timeouts) -> Result<Self, ProviderError> {
        Ok(Self { dialect, client: http::client(timeouts.connect, true)?, timeouts })
    }

    async fn attempts(
        &self,
        request: &ModelRequest,
        heard: &mut Heard<'_>,
    ) -> Result<Completion, ProviderError> {
        let start = Instant::now();
        let (mut attempt, mut adapted) = (1, 0);
        loop {
            let left = self.timeouts.total.saturating_sub(start.elapsed());
            let sent = self.dialect.request(&self.client, request);
            let once = http::converse(&*self.dialect, sent, &self.timeouts, heard);
            let error = match timeout(left, once).await {
                Ok(Ok(completion)) => return Ok(completion),
                Ok(Err(error)) => error,
                Err(_) => {
                    return Err(ProviderError::Timeout { what: "the reply", after: self.timeouts.total });
                }
            };
            if matches!(error, ProviderError::Unsupported { .. }) && adapted < ADAPTED_MAX {
                adapted += 1;
                continue;
            }
            let left = self.timeouts.total.saturating_sub(start.elapsed());
            match retry::delay(&error, attempt, random(), left) {
                Some(delay) => sleep(delay).await,
                None => return Err(error),
            }
            attempt += 1;
        }
    }
}

impl Provider for Remote {
    fn name(&self) -> String {
        format!("{}:{}", self.dialect.endpoint().provider, self.dialect.endpoint().model)
    }

    fn call<'a>(&'a self, request: &'a ModelRequest, heard: &'a mut Heard<'_>) -> Call<'a> {
        Box::pin(self.attempts(request, heard))
    }
}

/// A number between 0 and 1. Without a source of randomness the middle does.
fn random() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

/// Checks an address and takes the slash from its end.
pub(super) fn checked_address(address: &str) -> Result<String, ProviderError> {
    let trimmed = address.trim().trim_end_matches('/');
    let wrong = || ProviderError::Address { address: crate::prompt::text::line(address, 100) };
    let url = reqwest::Url::parse(trimmed).map_err(|_| wrong())?;
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        return Err(wrong());
    }
    Ok(trimmed.to_owned())
}

/// A key that can stand in a header.
pub(super) fn checked_key(endpoint: &Endpoint) -> Result<(), ProviderError> {
    let is_sound = |key: &Key| key.reveal().bytes().all(|byte| byte.is_ascii_graphic());
    if endpoint.key.as_ref().is_none_or(is_sound) {
        return Ok(());
    }
    Err(ProviderError::RefusedKey {
        provider: endpoint.provider.clone(),
        message: "it holds characters that no key has".to_owned(),
    })
}

/// The text without the key, however it is spelled there.
fn redacted(key: Option<&Key>, text: &str) -> String {
    Mask::new(key.map(|key| ("key", key.reveal()))).hide(text)
}

/// The messages as turns of two sides, the rules apart: neighbours of one side joined, none empty.
pub(super) fn turns(request: &ModelRequest) -> (String, Vec<(bool, String)>) {
    use crate::exchange::Speaker;
    let mut rules = String::new();
    let mut turns: Vec<(bool, String)> = Vec::new();
    for message in &request.messages {
        let is_model = match message.speaker {
            Speaker::System => {
                rules.push_str(&message.text);
                continue;
            }
            Speaker::Ordain => false,
            Speaker::Model => true,
        };
        let text = if message.text.trim().is_empty() { "(nothing)" } else { &message.text };
        match turns.last_mut() {
            Some((last, joined)) if *last == is_model => {
                joined.push_str("\n\n");
                joined.push_str(text);
            }
            _ => turns.push((is_model, text.to_owned())),
        }
    }
    (rules, turns)
}
