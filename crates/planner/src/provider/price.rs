//! What a call costs, for the models whose price is known. An estimate: providers change prices.

/// Dollars for a million tokens given to and by models whose names begin so; longer beginnings come first.
const PRICES: [(&str, f64, f64); 19] = [
    ("gpt-4.1-mini", 0.40, 1.60),
    ("gpt-4.1-nano", 0.10, 0.40),
    ("gpt-4.1", 2.00, 8.00),
    ("gpt-4o-mini", 0.15, 0.60),
    ("gpt-4o", 2.50, 10.00),
    ("gpt-5-mini", 0.25, 2.00),
    ("gpt-5-nano", 0.05, 0.40),
    ("o4-mini", 1.10, 4.40),
    ("o3-mini", 1.10, 4.40),
    ("o3", 2.00, 8.00),
    ("claude-haiku-4-5", 1.00, 5.00),
    ("claude-opus-4-5", 5.00, 25.00),
    ("claude-sonnet-4-5", 3.00, 15.00),
    ("claude-sonnet-4", 3.00, 15.00),
    ("claude-3-5-haiku", 0.80, 4.00),
    ("claude-3-7-sonnet", 3.00, 15.00),
    ("gemini-2.5-flash-lite", 0.10, 0.40),
    ("gemini-2.5-flash", 0.30, 2.50),
    ("gemini-2.5-pro", 1.25, 10.00),
];

/// What so many tokens cost in dollars; `None` if nobody told us the model's price.
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
    let (_, input, output) = PRICES.iter().find(|(start, _, _)| is_version_of(name, start))?;
    Some((input_tokens as f64 * input + output_tokens as f64 * output) / 1e6)
}

/// A model's name may end with a date, which does not change its price; with another word it is another model.
fn is_version_of(name: &str, start: &str) -> bool {
    let Some(rest) = name.strip_prefix(start) else { return false };
    let rest = rest.strip_prefix("-latest").unwrap_or(rest);
    rest.chars().all(|character| character.is_ascii_digit() || character == '-' || character == '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_have_a_price_and_others_none() {
        let cost = cost_usd("openai:gpt-4.1-mini-2025-04-14", 1_000_000, 500_000).unwrap();
        assert!((cost - 1.2).abs() < 1e-9);
        assert!(cost_usd("openrouter:openai/gpt-4.1-mini", 10, 10).is_some());
        assert_eq!(cost_usd("openai:gpt-4.1-turbo", 1, 1), None);
        assert_eq!(cost_usd("ollama:qwen2.5-coder", 1, 1), None);
        assert_eq!(cost_usd("rules", 1, 1), None);
    }
}
