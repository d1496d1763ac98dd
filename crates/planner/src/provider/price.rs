//! What a call costs, for the models whose price is known. An estimate: providers change prices, and the list has a date.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The prices that this build knows.
static PRICES: LazyLock<Prices> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../prices.json")).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    as_of: String,
    #[expect(dead_code, reason = "for those who read the file")]
    source: String,
    #[serde(rename = "dollars_per_million_tokens_in_and_out")]
    models: BTreeMap<String, (f64, f64)>,
}

/// The day of the prices that this build knows.
pub fn prices_as_of() -> &'static str {
    &PRICES.as_of
}

/// What so many tokens cost in dollars; `None` if the model's price is not known.
///
/// The model is named as records name it: `openai:gpt-4.1-mini`, `openrouter:openai/gpt-4.1-mini`.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub fn cost_usd(model: &str, input_tokens: u64, output_tokens: u64) -> Option<f64> {
    let (provider, name) = model.split_once(':')?;
    let name = match provider {
        "openai" | "anthropic" | "gemini" => name,
        "openrouter" => name.split_once('/')?.1,
        _ => return None,
    };
    let (_, (input, output)) = PRICES.models.iter().find(|(known, _)| is_version_of(name, known))?;
    Some((input_tokens as f64 * input + output_tokens as f64 * output) / 1e6)
}

/// A model's name may end with a date or a build number, which does not change its price. With another word, or another
/// small number, it is another model.
fn is_version_of(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else { return false };
    let rest = rest.strip_prefix("-latest").unwrap_or(rest);
    let mut parts = rest.split(['-', '@']);
    let is_build = |part: &str| part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next() == Some("") && parts.next().is_none_or(is_build) && parts.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_have_a_price_and_others_none() {
        let cost = cost_usd("openai:gpt-4.1-mini-2025-04-14", 1_000_000, 500_000).unwrap();
        assert!((cost - 1.2).abs() < 1e-9);
        assert!(cost_usd("openrouter:openai/gpt-4.1-mini", 10, 10).is_some());
        assert!(cost_usd("anthropic:claude-haiku-4-5-20251001", 10, 10).is_some());
        assert_eq!(cost_usd("openai:gpt-4.1-turbo", 1, 1), None);
        assert_eq!(cost_usd("ollama:qwen2.5-coder", 1, 1), None);
        assert_eq!(cost_usd("rules", 1, 1), None);
        assert!(prices_as_of().starts_with("20") && PRICES.models.len() > 10);
    }

    #[test]
    fn the_price_of_a_newer_model_is_not_guessed_from_an_older_one() {
        assert!(cost_usd("openai:gpt-5-2025-08-07", 1, 1).is_some());
        assert_eq!(cost_usd("openai:gpt-5-6", 1, 1), None);
        assert_eq!(cost_usd("anthropic:claude-opus-5-9", 1, 1), None);
    }
}
