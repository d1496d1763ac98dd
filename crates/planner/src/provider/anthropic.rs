//! Speaks Anthropic's messages protocol.

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::remote::{Dialect, Endpoint, Gathered, LeftOut, Remote, checked_address, checked_key, turns};
use super::{Finish, ModelRequest, ProviderError, Timeouts};
use crate::prompt::text;

/// A model of Anthropic.
pub fn anthropic(mut endpoint: Endpoint, timeouts: Timeouts) -> Result<Remote, ProviderError> {
    let address = checked_address(&endpoint.base_url)?;
    // Some write the address with the version, others without.
    address.strip_suffix("/v1").unwrap_or(&address).clone_into(&mut endpoint.base_url);
    checked_key(&endpoint)?;
    let left_out = LeftOut::of(&endpoint);
    Remote::new(Box::new(Anthropic { endpoint, left_out }), timeouts)
}

#[derive(Debug)]
struct Anthropic {
    endpoint: Endpoint,
    left_out: LeftOut,
}

impl Dialect for Anthropic {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, client: &Client, request: &ModelRequest) -> RequestBuilder {
        let (rules, turns) = turns(request);
        let messages: Vec<Value> = turns
            .into_iter()
            .map(|(is_model, text)| json!({ "role": if is_model { "assistant" } else { "user" }, "content": text }))
            .collect();
        let mut body = json!({
            "model": self.endpoint.model,
            "max_tokens": request.tokens_max,
            "stream": true,
            "messages": messages,
        });
        if !rules.is_empty() {
            // The rules are the same for every request of a workspace: worth keeping on the other side.
            body["system"] = json!([{ "type": "text", "text": rules }]);
            if !self.left_out.has("cache_control") {
                body["system"][0]["cache_control"] = json!({ "type": "ephemeral" });
            }
        }
        if let Some(temperature) = request.temperature
            && !self.left_out.has("temperature")
        {
            body["temperature"] = temperature.into();
        }
        let mut builder = client
            .post(format!("{}/v1/messages", self.endpoint.base_url))
            .header("content-type", "application/json")
            .header("anthropic-version", "2023-06-01")
            .body(body.to_string());
        if let Some(key) = &self.endpoint.key {
            builder = builder.header("x-api-key", key.reveal());
        }
        builder
    }

    fn take(&self, event: &Value, gathered: &mut Gathered) -> Result<(), ProviderError> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => count(&event["message"]["usage"], gathered),
            "content_block_delta" => {
                if let Some(text) = event["delta"]["text"].as_str() {
                    gathered.text.push_str(text);
                }
                gathered.thought.push_str(event["delta"]["thinking"].as_str().unwrap_or_default());
            }
            "message_delta" => {
                count(&event["usage"], gathered);
                ended(&event["delta"]["stop_reason"], gathered);
            }
            "message_stop" => gathered.is_done = true,
            "message" => {
                for text in
                    event["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str())
                {
                    gathered.text.push_str(text);
                }
                count(&event["usage"], gathered);
                ended(&event["stop_reason"], gathered);
            }
            "error" => return Err(self.error(&event["error"])),
            _ => {}
        }
        Ok(())
    }

    fn adapt(&self, complaint: &str) -> Option<&'static str> {
        let known = ["cache_control", "temperature"];
        known
            .into_iter()
            .find(|parameter| complaint.contains(parameter))
            .map(|named| self.left_out.add(named))
    }
}

impl Anthropic {
    fn error(&self, error: &Value) -> ProviderError {
        let message =
            self.without_key(&text::line(error["message"].as_str().unwrap_or("an error without words"), 300));
        let provider = self.endpoint.provider.clone();
        match error["type"].as_str().unwrap_or_default() {
            "overloaded_error" => {
                ProviderError::Unavailable { provider, status: 529, message, retry_after: None }
            }
            "rate_limit_error" => ProviderError::RateLimit { provider, message, retry_after: None },
            _ => ProviderError::BadReply { message: format!("the server says: {message}") },
        }
    }
}

fn count(usage: &Value, gathered: &mut Gathered) {
    let tokens = |name: &str| usage[name].as_u64();
    if let Some(input) = tokens("input_tokens") {
        let kept = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        gathered.input_tokens = kept.iter().filter_map(|name| tokens(name)).fold(input, u64::saturating_add);
    }
    if let Some(output) = tokens("output_tokens") {
        gathered.output_tokens = output;
    }
}

fn ended(reason: &Value, gathered: &mut Gathered) {
    if let Some(reason) = reason.as_str() {
        gathered.finish = Some(Finish::of(reason));
    }
}
