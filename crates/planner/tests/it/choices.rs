//! Who is chosen to write plans, and why.

use ordain_planner::{ModelSettings, choose, choose_listed, survey};

use crate::server::{Server, json};

const MODELS: &str = r#"{"data":[{"id":"nomic-embed-text"},{"id":"llama3.2:3b"},{"id":"qwen2.5-coder:7b"}]}"#;

fn named(name: &str) -> ModelSettings {
    ModelSettings { name: name.to_owned(), ..ModelSettings::default() }
}

/// An environment; local servers of this machine stay out of the tests by an address where nobody listens.
fn with(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

#[tokio::test]
async fn a_key_decides_where_nothing_is_set_and_the_first_one_wins() {
    for (environment, name) in [
        (&[("OPENAI_API_KEY", "a"), ("GEMINI_API_KEY", "b")][..], "openai:gpt-4.1-mini"),
        (&[("ANTHROPIC_API_KEY", "a")][..], "anthropic:claude-sonnet-4-5"),
        (&[("GEMINI_API_KEY", "a"), ("API_KEY", "b")][..], "gemini:gemini-2.5-flash"),
        (&[("API_KEY", "a"), ("OPENAI_API_KEY", "  ")][..], "openrouter:openai/gpt-4.1-mini"),
    ] {
        let choice = choose(&named("auto"), with(environment)).await.unwrap();
        assert_eq!(choice.planner.name(), name);
        assert!(choice.reason.contains("a key for"), "{}", choice.reason);
    }
}

#[tokio::test]
async fn what_is_named_is_taken_or_fails_with_its_reason() {
    let rules = choose(&named("rules"), with(&[("OPENAI_API_KEY", "a")])).await.unwrap();
    assert_eq!(rules.planner.name(), "rules");
    let named_one = choose(&named("openai:gpt-x"), with(&[("ORDAIN_API_KEY", "a")])).await.unwrap();
    assert_eq!(
        (named_one.planner.name().as_str(), named_one.reason.as_str()),
        ("openai:gpt-x", "`openai:gpt-x` is set")
    );
    for (name, code, hint) in [
        ("openai:gpt-x", "model-no-key", "OPENAI_API_KEY"),
        ("gemini", "model-no-key", "GEMINI_API_KEY"),
        ("opnai:gpt-x", "model-unknown-provider", "`openai`"),
        ("replay:/nowhere.jsonl", "model-replay-mismatch", "cassette"),
    ] {
        let error = choose(&named(name), |_| None).await.unwrap_err();
        assert_eq!(error.code, code, "{name}");
        assert!(error.hint.unwrap().contains(hint), "{name}");
    }
}

#[tokio::test]
async fn an_address_is_asked_for_its_models() {
    let server = Server::start(vec![json("200 OK", MODELS), json("200 OK", MODELS)]).await;
    let settings = ModelSettings { base_url: Some(server.url.clone()), ..named("auto") };
    let choice = choose(&settings, |_| None).await.unwrap();
    let host = server.url.trim_start_matches("http://").trim_end_matches("/v1");
    assert_eq!(
        choice.planner.name(),
        format!("local@{host}:qwen2.5-coder:7b"),
        "the record names who was called"
    );
    let candidates = survey(&settings, |_| None).await;
    assert!(candidates[0].is_ready && candidates[0].models.len() == 3, "{candidates:?}");
    assert!(candidates.iter().any(|candidate| candidate.name == "rules" && candidate.is_ready));
    let without_key = candidates.iter().find(|candidate| candidate.name.starts_with("openai:")).unwrap();
    assert_eq!(without_key.hint.as_deref(), Some("set OPENAI_API_KEY"));
}

#[tokio::test]
async fn a_providers_key_does_not_travel_to_an_address_of_the_workspace() {
    let server = Server::start(vec![json("200 OK", MODELS)]).await;
    let settings = ModelSettings { base_url: Some(server.url.clone()), ..named("auto") };
    choose(&settings, with(&[("OPENAI_API_KEY", "sk-own")])).await.unwrap();
    assert!(!server.requests()[0].contains("sk-own"));
}

#[tokio::test]
async fn the_key_without_a_name_goes_to_one_receiver() {
    let house = with(&[("ORDAIN_API_KEY", "sk-house")]);
    let ready = async |settings: &ModelSettings| -> Vec<String> {
        let candidates = survey(settings, &house).await.into_iter().filter(|candidate| candidate.is_ready);
        let names = candidates.map(|candidate| candidate.name).filter(|name| name.contains(':'));
        names.filter(|name| !name.contains("127.0.0.1")).collect()
    };
    assert_eq!(ready(&named("anthropic:claude")).await, ["anthropic:claude-sonnet-4-5"]);
    assert!(ready(&named("auto")).await.is_empty());
    let others = [("openai:gpt-x".to_owned(), "openai:gpt-x".to_owned())].into();
    let settings = ModelSettings { others, ..named("anthropic:claude") };
    let error = choose_listed(&settings, "openai:gpt-x", &house).await.unwrap_err();
    assert_eq!(error.code, "model-no-key", "the key is the other provider's");
    let server = Server::start(vec![json("200 OK", MODELS)]).await;
    let settings = ModelSettings { base_url: Some(server.url.clone()), ..named("openai:gpt-x") };
    assert!(ready(&settings).await.is_empty(), "the key is the address's");
    assert!(server.requests()[0].contains("sk-house"));
}

#[tokio::test]
async fn a_caller_names_a_model_of_the_list_or_none() {
    let others = [("fast".to_owned(), "openai:gpt-x".to_owned())].into();
    let settings = ModelSettings { others, ..named("rules") };
    let keys = with(&[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")]);
    for name in ["fast", "openai:gpt-x"] {
        let choice = choose_listed(&settings, name, &keys).await.unwrap();
        assert_eq!(choice.planner.name(), "openai:gpt-x", "{name}");
    }
    assert_eq!(choose_listed(&settings, "rules", &keys).await.unwrap().planner.name(), "rules");
    for name in ["openai:gpt-y", "anthropic:claude", "lmstudio:x", "replay:/etc/hostname", "auto"] {
        let error = choose_listed(&settings, name, &keys).await.unwrap_err();
        assert_eq!(error.code, "model-not-listed", "{name}");
        assert!(error.hint.unwrap().contains("auto, rules, fast"), "{name}");
    }
}
