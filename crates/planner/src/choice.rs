//! Chooses who writes plans, and says why.
//!
//! What is named is taken or fails with its reason; nothing else is taken in its place. `auto` goes through what is
//! configured, then through servers on this machine that answer quickly, and ends with the reader.

use ordain_types::BoxFuture;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::model::{Model, ModelSettings};
use crate::planner::{Planner, PlannerError};
use crate::provider::{self, Endpoint, Key, Provider, ProviderError, Replay, Timeouts, probe};

/// Who writes plans, and why.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The planner.
    pub planner: Planner,
    /// Why it was chosen, in words for a person.
    pub reason: String,
}

/// A planner that could be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// What `--model` would name it.
    pub name: String,
    /// Whether it can be used now, as far as can be told without asking it for a plan.
    pub is_ready: bool,
    /// Why, or why not.
    pub reason: String,
    /// What would make it ready.
    pub hint: Option<String>,
    /// The models that it serves, where it told.
    pub models: Vec<String>,
}

/// A provider whose address is known.
struct KnownProvider {
    name: &'static str,
    base_url: &'static str,
    /// Variables that hold its key, the first one to be named in hints.
    keys: &'static [&'static str],
    /// The model that `auto` takes.
    model: &'static str,
}

const KNOWN: [KnownProvider; 4] = [
    KnownProvider {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        model: "gpt-4.1-mini",
    },
    KnownProvider {
        name: "anthropic",
        base_url: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY"],
        model: "claude-sonnet-4-5",
    },
    KnownProvider {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        model: "gemini-2.5-flash",
    },
    KnownProvider {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY", "API_KEY"],
        model: "openai/gpt-4.1-mini",
    },
];

/// Servers that people run on their own machine, on their usual ports.
const LOCAL: [(&str, &str); 4] = [
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("lmstudio", "http://127.0.0.1:1234/v1"),
];
const ANY_KEY: &str = "ORDAIN_API_KEY";

/// Chooses the planner that the settings and the environment call for.
pub fn choose(
    settings: &ModelSettings,
    environment: impl Fn(&str) -> Option<String>,
) -> BoxFuture<'_, Result<Choice, PlannerError>> {
    let keys = Keys::read(settings, environment);
    Box::pin(chosen(settings, keys))
}

/// Chooses the planner that a caller names: the reader, or a model that the settings list. Who gets the schema and whose
/// key is used is the operator's choice, so that nothing else that a caller writes is looked at.
pub fn choose_listed<'a>(
    settings: &'a ModelSettings,
    name: &'a str,
    environment: impl Fn(&str) -> Option<String>,
) -> BoxFuture<'a, Result<Choice, PlannerError>> {
    let keys = Keys::read(settings, environment);
    Box::pin(listed(settings, name, keys))
}

async fn listed(settings: &ModelSettings, name: &str, keys: Keys) -> Result<Choice, PlannerError> {
    if name == "rules" {
        return Ok(Choice { planner: Planner::Rules, reason: "the reader is asked for".to_owned() });
    }
    if name == settings.name {
        return chosen(settings, keys).await;
    }
    let own = |model: &String| ModelSettings { name: model.clone(), ..settings.clone() };
    if let Some(model) = settings.others.get(name) {
        return chosen(&own(model), keys).await;
    }
    // A node of a cluster gets the name under which records know it.
    for model in settings.others.values().filter(|model| model.contains(':')) {
        if let Ok(choice) = chosen(&own(model), keys.clone()).await
            && choice.planner.name() == name
        {
            return Ok(choice);
        }
    }
    let names: Vec<&str> =
        ["auto", "rules"].into_iter().chain(settings.others.keys().map(String::as_str)).collect();
    Err(PlannerError {
        code: "model-not-listed",
        message: format!("`{}` is no model that callers may name here", crate::prompt::text::line(name, 100)),
        hint: Some(format!(
            "leave `model` out, or write one of {}; the operator lists them in `model.others`",
            crate::prompt::text::line(&names.join(", "), 500)
        )),
        is_passing: false,
    })
}

async fn chosen(settings: &ModelSettings, keys: Keys) -> Result<Choice, PlannerError> {
    Ok(match settings.name.trim() {
        "rules" => Choice { planner: Planner::Rules, reason: "the reader is set".to_owned() },
        "auto" | "" => automatic(settings, &keys).await?,
        name => named(name, settings, &keys).await?,
    })
}

/// Looks at everything that could be chosen.
pub fn survey(
    settings: &ModelSettings,
    environment: impl Fn(&str) -> Option<String>,
) -> BoxFuture<'_, Vec<Candidate>> {
    let keys = Keys::read(settings, environment);
    Box::pin(surveyed(settings, keys))
}

async fn surveyed(settings: &ModelSettings, keys: Keys) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    if let Some(base_url) = &settings.base_url {
        let found = probe::models_at(base_url, keys.of_address.as_ref(), 3).await;
        candidates.push(served(&format!("server at {}", crate::prompt::text::line(base_url, 100)), found));
    }
    for known in &KNOWN {
        let has_key = keys.of(known).is_some();
        candidates.push(Candidate {
            name: format!("{}:{}", known.name, known.model),
            is_ready: has_key,
            reason: if has_key { "a key is set".to_owned() } else { "there is no key".to_owned() },
            hint: (!has_key).then(|| format!("set {}", known.keys[0])),
            models: Vec::new(),
        });
    }
    for (name, base_url) in LOCAL {
        let base_url = keys.local_address(name, base_url);
        candidates.push(served(name, probe::models_at(&base_url, None, 1).await.and_then(usable)));
    }
    candidates.push(Candidate {
        name: "rules".to_owned(),
        is_ready: true,
        reason: "the reader is always there".to_owned(),
        hint: None,
        models: Vec::new(),
    });
    candidates
}

fn served(name: &str, found: Result<Vec<String>, ProviderError>) -> Candidate {
    match found {
        Ok(models) if !models.is_empty() => Candidate {
            name: name.to_owned(),
            is_ready: true,
            reason: "the server answers".to_owned(),
            hint: None,
            models,
        },
        Ok(_) => Candidate {
            name: name.to_owned(),
            is_ready: false,
            reason: "the server answers but serves no model".to_owned(),
            hint: Some("load a model, for Ollama by `ollama pull`".to_owned()),
            models: Vec::new(),
        },
        Err(error) => Candidate {
            name: name.to_owned(),
            is_ready: false,
            reason: error.to_string(),
            hint: Some("start the server, or set `model.base_url`".to_owned()),
            models: Vec::new(),
        },
    }
}

/// The keys that the environment holds, each for one receiver.
#[derive(Clone)]
struct Keys {
    /// For the server at `model.base_url`.
    of_address: Option<Key>,
    known: Vec<(&'static str, Key)>,
    ollama: Option<String>,
    openai_address: Option<String>,
}

impl Keys {
    fn read(settings: &ModelSettings, environment: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        // The key without a provider's name is the one of the address that is set, else of the provider that is set.
        let any = set(ANY_KEY).map(|key| Key::new(&key));
        let (of_address, of_provider) = if settings.base_url.is_some() { (any, None) } else { (None, any) };
        let provider = settings.name.trim().split(':').next();
        let known = KNOWN.iter().filter_map(|known| {
            let own = known.keys.iter().find_map(|name| set(name)).map(|key| Key::new(&key));
            let key = own.or_else(|| of_provider.clone().filter(|_| provider == Some(known.name)))?;
            Some((known.name, key))
        });
        Self {
            known: known.collect(),
            of_address,
            ollama: set("OLLAMA_HOST"),
            openai_address: set("OPENAI_BASE_URL"),
        }
    }

    fn of(&self, known: &KnownProvider) -> Option<&Key> {
        self.known.iter().find(|(name, _)| *name == known.name).map(|(_, key)| key)
    }

    fn local_address(&self, name: &str, usual: &str) -> String {
        match &self.ollama {
            Some(host) if name == "ollama" => {
                let host = host.trim().trim_end_matches('/').replace("0.0.0.0", "127.0.0.1");
                let host = if host.contains("://") { host } else { format!("http://{host}") };
                let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
                format!("{host}{}/v1", if has_port { "" } else { ":11434" })
            }
            _ => usual.to_owned(),
        }
    }
}

async fn automatic(settings: &ModelSettings, keys: &Keys) -> Result<Choice, PlannerError> {
    if let Some(base_url) = &settings.base_url {
        // An address is as good as a name: the address is used as it is, or it fails.
        let models = usable(probe::models_at(base_url, keys.of_address.as_ref(), 8).await?)?;
        let model = preferred(&models).ok_or_else(|| no_model(base_url))?;
        let planner = compatible("local", &model, base_url, keys.of_address.clone(), settings)?;
        return Ok(Choice {
            planner,
            reason: "`model.base_url` is set; this is a model that it serves".to_owned(),
        });
    }
    for known in &KNOWN {
        if let Some(key) = keys.of(known) {
            let planner = remote(known, known.model, Some(key.clone()), None, keys, settings)?;
            return Ok(Choice { planner, reason: format!("a key for {} is set", known.name) });
        }
    }
    for (name, base_url) in LOCAL {
        let base_url = keys.local_address(name, base_url);
        let found = probe::models_at(&base_url, None, 1).await.and_then(usable);
        if let Some(model) = found.ok().and_then(|models| preferred(&models)) {
            let planner = compatible(name, &model, &base_url, None, settings)?;
            return Ok(Choice {
                planner,
                reason: format!("no key is set, and a server answers at {base_url}"),
            });
        }
    }
    let reason = "no key is set and no local model server answers, so the reader writes the plan";
    Ok(Choice { planner: Planner::Rules, reason: reason.to_owned() })
}

async fn named(name: &str, settings: &ModelSettings, keys: &Keys) -> Result<Choice, PlannerError> {
    let reason = format!("`{}` is set", crate::prompt::text::line(name, 100));
    let (provider, model) = name.split_once(':').unwrap_or((name, ""));
    if provider == "replay" {
        let replay = Replay::open(Path::new(model))?;
        return Ok(Choice { planner: planner(Arc::new(replay), settings), reason });
    }
    if let Some(known) = KNOWN.iter().find(|known| known.name == provider) {
        let model = if model.is_empty() { known.model } else { model };
        // A key goes to its own provider only, and an address gets the key that was set for it.
        let key = if settings.base_url.is_some() { keys.of_address.clone() } else { keys.of(known).cloned() };
        let planner = remote(known, model, key, settings.base_url.as_deref(), keys, settings)?;
        return Ok(Choice { planner, reason });
    }
    if let Some((local, usual)) = LOCAL.iter().find(|(local, _)| *local == provider) {
        let base_url = settings.base_url.clone().unwrap_or_else(|| keys.local_address(local, usual));
        let model = if model.is_empty() {
            let models = usable(probe::models_at(&base_url, keys.of_address.as_ref(), 4).await?)?;
            preferred(&models).ok_or_else(|| no_model(&base_url))?
        } else {
            model.to_owned()
        };
        let key = keys.of_address.clone();
        return Ok(Choice { planner: compatible(local, &model, &base_url, key, settings)?, reason });
    }
    match &settings.base_url {
        Some(base_url) => {
            let planner = compatible("local", name, base_url, keys.of_address.clone(), settings)?;
            Ok(Choice { planner, reason: format!("{reason} with its `base_url`") })
        }
        None => Err(unknown(name, provider)),
    }
}

fn unknown(name: &str, provider: &str) -> PlannerError {
    let known: Vec<&str> = KNOWN.iter().map(|known| known.name).chain(LOCAL.map(|(name, _)| name)).collect();
    let nearest = ordain_types::nearest(provider, known.iter().copied().chain(["rules", "auto", "replay"]));
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "write auto, rules, PROVIDER:MODEL with one of {}, or set `model.base_url`",
            known.join(", ")
        ),
    };
    PlannerError {
        code: "model-unknown-provider",
        message: format!("`{}` names no provider that is known", crate::prompt::text::line(name, 100)),
        hint: Some(hint),
        is_passing: false,
    }
}

fn remote(
    known: &KnownProvider,
    model: &str,
    key: Option<Key>,
    base_url: Option<&str>,
    keys: &Keys,
    settings: &ModelSettings,
) -> Result<Planner, ProviderError> {
    if key.is_none() && base_url.is_none() {
        return Err(ProviderError::NoKey { provider: known.name.to_owned(), variable: known.keys[0] });
    }
    let own = keys.openai_address.as_deref().filter(|_| known.name == "openai").unwrap_or(known.base_url);
    let base_url = base_url.unwrap_or(own);
    let endpoint = Endpoint {
        provider: called(known.name, base_url),
        model: model.to_owned(),
        base_url: base_url.to_owned(),
        key,
    };
    let timeouts = Timeouts::within(settings.timeout);
    let provider = match known.name {
        "anthropic" => provider::anthropic(endpoint, timeouts)?,
        "gemini" => provider::gemini(endpoint, timeouts)?,
        _ => provider::openai(endpoint, timeouts)?,
    };
    Ok(planner(Arc::new(provider), settings))
}

fn compatible(
    provider: &str,
    model: &str,
    base_url: &str,
    key: Option<Key>,
    settings: &ModelSettings,
) -> Result<Planner, ProviderError> {
    let endpoint = Endpoint {
        provider: called(provider, base_url),
        model: model.to_owned(),
        base_url: base_url.to_owned(),
        key,
    };
    let provider = provider::openai(endpoint, Timeouts::within(settings.timeout))?;
    Ok(planner(Arc::new(provider), settings))
}

/// Who is really called, for records: a provider at its own address, or the server at another one.
fn called(provider: &str, base_url: &str) -> String {
    let known = KNOWN.iter().map(|known| (known.name, known.base_url));
    let is_own = known.chain(LOCAL).any(|usual| usual == (provider, base_url.trim_end_matches('/')));
    if is_own {
        return provider.to_owned();
    }
    let host =
        base_url.split("://").last().unwrap_or(base_url).split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{provider}@{}", crate::prompt::text::line(host, 100))
}

fn planner(provider: Arc<dyn Provider>, settings: &ModelSettings) -> Planner {
    Planner::Model(Model::new(provider, settings.clone()))
}

/// Leaves out what cannot write plans: models for embeddings, and Ordain itself on its usual port.
#[expect(clippy::unnecessary_wraps, reason = "it stands in chains of results")]
fn usable(models: Vec<String>) -> Result<Vec<String>, ProviderError> {
    let fits = |name: &String| {
        let lower = name.to_ascii_lowercase();
        !lower.contains("embed") && !lower.contains("rerank") && !lower.starts_with("ordain")
    };
    Ok(models.into_iter().filter(fits).collect())
}

/// A model that was made for code, else the first.
fn preferred(models: &[String]) -> Option<String> {
    let coder = models.iter().find(|name| name.to_ascii_lowercase().contains("code"));
    coder.or(models.first()).cloned()
}

fn no_model(base_url: &str) -> ProviderError {
    ProviderError::UnknownModel {
        provider: format!("the server at {}", crate::prompt::text::line(base_url, 100)),
        model: "auto".to_owned(),
        message: "it serves no model that could write a plan".to_owned(),
    }
}
