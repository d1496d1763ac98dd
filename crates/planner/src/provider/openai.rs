//! Speaks the chat protocol of `OpenAI`, which most servers speak too.

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::remote::{Dialect, Endpoint, Gathered, LeftOut, Remote, checked_address, checked_key, turns};
use super::{Finish, ModelRequest, ProviderError, Timeouts};
use crate::prompt::text;

/// A model behind any OpenAI-compatible server.
pub fn openai(mut endpoint: Endpoint, timeouts: Timeouts) -> Result<Remote, ProviderError> {
    endpoint.base_url = checked_address(&endpoint.base_url)?;
    checked_key(&endpoint)?;
    Remote::new(Box::new(dialect_of(endpoint)), timeouts)
}

fn dialect_of(endpoint: Endpoint) -> OpenAi {
    let left_out = LeftOut::of(&endpoint);
    OpenAi { endpoint, left_out }
}

#[derive(Debug)]
struct OpenAi {
    endpoint: Endpoint,
    left_out: LeftOut,
}

/// The two names of the largest reply.
const TOKENS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

impl OpenAi {
    fn is_openais_own(&self) -> bool {
        self.endpoint.base_url.contains("api.openai.com")
    }

    /// What the largest reply is called. `OpenAI` itself has given up the older name, which everybody else still understands.
    fn tokens(&self) -> &'static str {
        let [old, new] = TOKENS;
        let [first, second] = if self.is_openais_own() { [new, old] } else { [old, new] };
        if self.left_out.has(first) && !self.left_out.has(second) { second } else { first }
    }
}

impl Dialect for OpenAi {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, client: &Client, request: &ModelRequest) -> RequestBuilder {
        let (rules, turns) = turns(request);
        let mut messages = Vec::new();
        if !rules.is_empty() {
            messages.push(json!({ "role": "system", "content": rules }));
        }
        messages.extend(turns.into_iter().map(|(is_model, text)| {
            json!({ "role": if is_model { "assistant" } else { "user" }, "content": text })
        }));
        let mut body = json!({ "model": self.endpoint.model, "messages": messages, "stream": true });
        body[self.tokens()] = request.tokens_max.into();
        if let Some(temperature) = request.temperature
            && !self.left_out.has("temperature")
        {
            body["temperature"] = temperature.into();
        }
        if let Some(effort) = &request.effort
            && !self.left_out.has("reasoning_effort")
        {
            body["reasoning_effort"] = effort.as_str().into();
        }
        if let Some(schema) = request.purpose.schema()
            // A server that does not know the word may refuse the whole call.
            && self.is_openais_own()
            && !self.left_out.has("response_format")
        {
            let format = json!({ "name": "reply", "strict": true, "schema": schema });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": format });
        }
        if !self.left_out.has("stream_options") {
            body["stream_options"] = json!({ "include_usage": true });
        }
        let address = format!("{}/chat/completions", self.endpoint.base_url);
        let mut builder =
            client.post(address).header("content-type", "application/json").body(body.to_string());
        if let Some(key) = &self.endpoint.key {
            builder = builder.bearer_auth(key.reveal());
        }
        builder
    }

    fn take(&self, event: &Value, gathered: &mut Gathered) -> Result<(), ProviderError> {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            let said =
                error["message"].as_str().or_else(|| error.as_str()).unwrap_or("an error without words");
            let message = self.without_key(&text::line(said, 300));
            return Err(ProviderError::BadReply { message: format!("the server says: {message}") });
        }
        let usage = &event["usage"];
        if let Some(tokens) = usage["prompt_tokens"].as_u64() {
            gathered.input_tokens = tokens;
        }
        if let Some(tokens) = usage["completion_tokens"].as_u64() {
            gathered.output_tokens = tokens;
        }
        let choice = &event["choices"][0];
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        match &delta["content"] {
            Value::String(text) => gathered.text.push_str(text),
            Value::Array(parts) => {
                for text in parts.iter().filter_map(|part| part["text"].as_str()) {
                    gathered.text.push_str(text);
                }
            }
            _ => {}
        }
        let thought = delta["reasoning_content"].as_str().or_else(|| delta["reasoning"].as_str());
        gathered.thought.push_str(thought.unwrap_or_default());
        if let Some(refusal) = delta["refusal"].as_str() {
            gathered.refusal.push_str(refusal);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten().take(8) {
            let entry = gathered.calls.entry(call["index"].as_u64().unwrap_or(0)).or_default();
            entry.0.push_str(call["function"]["name"].as_str().unwrap_or_default());
            entry.1.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            gathered.finish = Some(Finish::of(finish));
        }
        Ok(())
    }

    fn adapt(&self, complaint: &str) -> Option<&'static str> {
        let [old, new] = TOKENS;
        if complaint.contains(new) {
            return Some(self.left_out.add(if complaint.contains(old) { old } else { new }));
        }
        let known = [
            ("temperature", "temperature"),
            ("reasoning_effort", "reasoning_effort"),
            ("response_format", "response_format"),
            ("json_schema", "response_format"),
            ("stream_options", "stream_options"),
        ];
        let named = known.into_iter().find(|(word, _)| complaint.contains(word));
        named.map(|(_, parameter)| self.left_out.add(parameter))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Purpose, http};
    use super::*;

    fn dialect(address: &str) -> OpenAi {
        let (provider, model) = ("openai".to_owned(), "m".to_owned());
        let endpoint = Endpoint { provider, model, base_url: address.to_owned(), key: None };
        dialect_of(endpoint)
    }

    fn body(dialect: &OpenAi, purpose: Purpose) -> String {
        let request =
            ModelRequest { messages: Vec::new(), purpose, tokens_max: 1, temperature: None, effort: None };
        let client = http::client(std::time::Duration::from_secs(1), true).unwrap();
        let request = dialect.request(&client, &request).build().unwrap();
        String::from_utf8_lossy(request.body().and_then(reqwest::Body::as_bytes).unwrap()).into_owned()
    }

    #[test]
    fn an_opinion_is_held_to_its_form_where_that_is_offered_and_until_it_is_refused() {
        let offers = dialect("https://api.openai.com/v1");
        assert!(body(&offers, Purpose::Review).contains("\"additionalProperties\":false"));
        assert!(!body(&offers, Purpose::Plan).contains("response_format"));
        assert!(!body(&dialect("http://127.0.0.1:1"), Purpose::Review).contains("response_format"));
        assert_eq!(offers.adapt("'response_format' is not supported"), Some("response_format"));
        assert!(!body(&offers, Purpose::Review).contains("response_format"));
    }
}
