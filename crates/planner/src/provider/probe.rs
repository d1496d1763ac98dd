//! Asks a server which models it serves, quickly.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::remote::checked_address;
use super::{Key, ProviderError, http};
use crate::prompt::text;

/// The longest time that the question may take.
const PROBE: Duration = Duration::from_millis(700);
const LIST_BYTES_MAX: usize = 1024 * 1024;
const MODELS_MAX: usize = 200;

/// The names of the models behind an OpenAI-compatible address.
pub(crate) async fn models_at(
    base_url: &str,
    key: Option<&Key>,
    patience: u32,
) -> Result<Vec<String>, ProviderError> {
    let base_url = checked_address(base_url)?;
    let limit = PROBE * patience;
    let ask = async {
        let mut request =
            http::client(limit, base_url.starts_with("https:"))?.get(format!("{base_url}/models"));
        if let Some(key) = key {
            request = request.bearer_auth(key.reveal());
        }
        let mut response = request.send().await.map_err(|error| http::network("the server", &error))?;
        if !response.status().is_success() {
            let (status, provider) = (response.status().as_u16(), "the server".to_owned());
            let message = "it does not list its models".to_owned();
            return Err(match status {
                401 | 403 => ProviderError::RefusedKey { provider, message },
                _ => ProviderError::Rejected { provider, status, message },
            });
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| ProviderError::Closed)? {
            body.extend_from_slice(&piece);
            if body.len() > LIST_BYTES_MAX {
                return Err(ProviderError::TooLarge { limit: LIST_BYTES_MAX as u64 });
            }
        }
        names(&body)
    };
    let late = ProviderError::Timeout { what: "the list of models", after: limit };
    timeout(limit, ask).await.unwrap_or(Err(late))
}

fn names(body: &[u8]) -> Result<Vec<String>, ProviderError> {
    let bad = |message: &str| ProviderError::BadReply { message: message.to_owned() };
    let value: Value = serde_json::from_slice(body).map_err(|_| bad("the list of models is not JSON"))?;
    let list = value["data"].as_array().ok_or_else(|| bad("there is no list of models"))?;
    let names = list.iter().filter_map(|model| model["id"].as_str()).take(MODELS_MAX);
    Ok(names.map(|name| text::line(name, 200)).collect())
}
