//! What chat front ends ask behind the user's back: titles, tags, follow-ups, search queries.
//!
//! They send such prompts to the same model as the conversation. Here they are answered by a template: planning one
//! would cost a model call and could touch data that nobody asked to touch.

use serde_json::json;

/// How front ends begin such a prompt.
const MARK: &str = "### Task:";
/// Longer titles are cut.
const TITLE_WORDS_MAX: usize = 6;
const TITLE_CHARS_MAX: usize = 60;

/// The answer to a prompt of that kind; `None` if it is a request like any other.
pub(super) fn answer(prompt: &str, first: Option<&str>, workspace: &str) -> Option<String> {
    let prompt = prompt.trim_start();
    let task = match prompt.strip_prefix(MARK) {
        Some(rest) => rest.split("\n###").next().unwrap_or_default().to_lowercase(),
        None if is_title_prompt(prompt) => "title".to_owned(),
        None => return None,
    };
    let has = |word: &str| task.contains(word);
    let is_json = prompt.to_lowercase().contains("json");
    let title = title(history(prompt).or(first).unwrap_or_default(), workspace);
    Some(match () {
        () if has("title") && is_json => json!({ "title": title }).to_string(),
        () if has("title") => title,
        () if has("follow-up") || has("follow up") => json!({ "follow_ups": [] }).to_string(),
        () if has("tag") => json!({ "tags": [workspace] }).to_string(),
        () if has("quer") => json!({ "queries": [] }).to_string(),
        () if has("autocomplet") || has("completion") => json!({ "text": "" }).to_string(),
        () if has("emoji") => "💬".to_owned(),
        () if has("prompt") && is_json => json!({ "prompt": "" }).to_string(),
        () => "Only requests about this workspace's data are carried out here.".to_owned(),
    })
}

/// Whether a prompt without the mark asks for the title of a conversation.
fn is_title_prompt(prompt: &str) -> bool {
    let start: String = prompt.chars().take(200).collect::<String>().to_lowercase();
    let verbs = ["generate ", "create ", "provide ", "write ", "suggest ", "please generate ", "summarize "];
    let wants = start.contains("title") && (start.contains("conversation") || start.contains("chat"));
    verbs.iter().any(|verb| start.starts_with(verb)) && (wants || start.contains("-5 word title"))
}

/// What the person said first in the history that such a prompt quotes.
fn history(prompt: &str) -> Option<&str> {
    let (_, rest) = prompt.rsplit_once("<chat_history>")?;
    let line = rest.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.strip_prefix("USER:").or_else(|| line.strip_prefix("user:")).unwrap_or(line).trim())
}

fn title(said: &str, workspace: &str) -> String {
    let words: Vec<&str> = said.split_whitespace().take(TITLE_WORDS_MAX).collect();
    let short: String =
        words.join(" ").chars().filter(|shown| !shown.is_control()).take(TITLE_CHARS_MAX).collect();
    let mut letters = short.trim_end_matches(['.', ',', '?', '!']).chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => workspace.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "### Chat History:\n<chat_history>\nUSER: do you have round sunglasses under $100?\n\
        ASSISTANT: Yes.\n</chat_history>";

    #[test]
    fn prompts_of_front_ends_are_answered_in_the_shape_they_ask_for() {
        let ask = |task: &str| {
            let prompt = format!("### Task:\n{task}\n### Output:\nJSON format\n{HISTORY}");
            answer(&prompt, None, "shop").unwrap()
        };
        let title = ask("Generate a concise, 3-5 word title with an emoji summarizing the chat history.");
        assert_eq!(title, r#"{"title":"Do you have round sunglasses under"}"#);
        assert_eq!(ask("Generate 1-3 broad tags categorizing the chat."), r#"{"tags":["shop"]}"#);
        assert_eq!(ask("Suggest 3-5 relevant follow-up questions."), r#"{"follow_ups":[]}"#);
        assert_eq!(ask("Analyze the chat to decide on search queries."), r#"{"queries":[]}"#);
        let plain = "Generate a concise, 3-5 word title for this conversation.";
        assert_eq!(answer(plain, Some("buy 3 moons"), "shop").unwrap(), "Buy 3 moons");
    }

    #[test]
    fn requests_about_data_are_left_alone() {
        for request in ["buy 3 moons", "create a table of titles", "which title sold most?", "tags of SG001"]
        {
            assert_eq!(answer(request, None, "shop"), None, "{request}");
        }
    }
}
