//! Speaks Gemini's content protocol.

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::remote::{Dialect, Endpoint, Gathered, LeftOut, Remote, checked_address, checked_key, turns};
use super::{Finish, ModelRequest, ProviderError, Timeouts};
use crate::prompt::text;

/// A model of Gemini.
pub fn gemini(mut endpoint: Endpoint, timeouts: Timeouts) -> Result<Remote, ProviderError> {
    let address = checked_address(&endpoint.base_url)?;
    // Some write the address with the version, others without.
    let plain = address.strip_suffix("/v1beta").or_else(|| address.strip_suffix("/v1")).unwrap_or(&address);
    plain.clone_into(&mut endpoint.base_url);
    checked_key(&endpoint)?;
    // The name becomes part of the route.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !endpoint.model.chars().all(is_plain) {
        let message = "a name has letters, digits, `-`, `.` and `_` only".to_owned();
        let (provider, model) = (endpoint.provider, text::line(&endpoint.model, 100));
        return Err(ProviderError::UnknownModel { provider, model, message });
    }
    let left_out = LeftOut::of(&endpoint);
    Remote::new(Box::new(Gemini { endpoint, left_out }), timeouts)
}

#[derive(Debug)]
struct Gemini {
    endpoint: Endpoint,
    left_out: LeftOut,
}

impl Dialect for Gemini {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, client: &Client, request: &ModelRequest) -> RequestBuilder {
        let (rules, turns) = turns(request);
        let contents: Vec<Value> = turns
            .into_iter()
            .map(|(is_model, text)| {
                json!({ "role": if is_model { "model" } else { "user" }, "parts": [{ "text": text }] })
            })
            .collect();
        let mut body =
            json!({ "contents": contents, "generationConfig": { "maxOutputTokens": request.tokens_max } });
        if !rules.is_empty() {
            body["systemInstruction"] = json!({ "parts": [{ "text": rules }] });
        }
        if let Some(temperature) = request.temperature
            && !self.left_out.has("temperature")
        {
            body["generationConfig"]["temperature"] = temperature.into();
        }
        if request.purpose.schema().is_some() {
            body["generationConfig"]["responseMimeType"] = "application/json".into();
        }
        let route = format!("v1beta/models/{}:streamGenerateContent?alt=sse", self.endpoint.model);
        let mut builder = client
            .post(format!("{}/{route}", self.endpoint.base_url))
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(key) = &self.endpoint.key {
            // In a header and not in the address, which proxies write down.
            builder = builder.header("x-goog-api-key", key.reveal());
        }
        builder
    }

    fn take(&self, event: &Value, gathered: &mut Gathered) -> Result<(), ProviderError> {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            let said = error["message"].as_str().unwrap_or("an error without words");
            let message = self.without_key(&text::line(said, 300));
            return Err(ProviderError::BadReply { message: format!("the server says: {message}") });
        }
        let usage = &event["usageMetadata"];
        if let Some(tokens) = usage["promptTokenCount"].as_u64() {
            gathered.input_tokens = tokens;
        }
        if let Some(tokens) = usage["candidatesTokenCount"].as_u64() {
            gathered.output_tokens = tokens.saturating_add(usage["thoughtsTokenCount"].as_u64().unwrap_or(0));
        }
        if event["promptFeedback"]["blockReason"].is_string() {
            gathered.finish = Some(Finish::Filtered);
        }
        let candidate = &event["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            let to = if part["thought"] == true { &mut gathered.thought } else { &mut gathered.text };
            to.push_str(part["text"].as_str().unwrap_or_default());
        }
        if let Some(finish) = candidate["finishReason"].as_str() {
            gathered.finish = Some(Finish::of(finish));
        }
        Ok(())
    }

    fn adapt(&self, complaint: &str) -> Option<&'static str> {
        complaint.contains("temperature").then(|| self.left_out.add("temperature"))
    }
}
