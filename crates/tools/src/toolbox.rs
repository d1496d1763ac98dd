//! Makes the calls: one conversation for each tool, kept as long as it works.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ordain_types::{Mask, Tool};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::error::ToolError;
use crate::http::HttpWire;
use crate::notify::Notify;
use crate::session::{Session, Wire, WireError};
use crate::settings::{ARGUMENT_BYTES, Secrets, ToolSettings};
use crate::snapshot::{Offer, Snapshot, SnapshotFile};
use crate::stdio::StdioWire;

/// The tool whose verbs are the addresses of `[notify.NAME]`, unless the owner has one of that name.
pub const NOTIFY: &str = "notify";
/// Verbs of one server.
const VERBS_MAX: usize = 200;
/// Pages of its list.
const PAGES_MAX: usize = 50;
/// The largest result of one call.
const RESULT_BYTES_MAX: usize = 1 << 20;
/// The longest text of a server that is repeated.
const SAID_CHARS_MAX: usize = 500;

/// The tools of a workspace. Clones share their conversations.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    inner: Arc<Inner>,
    notify: Arc<BTreeMap<String, Notify>>,
}

#[derive(Debug, Default)]
struct Inner {
    root: PathBuf,
    settings: BTreeMap<String, ToolSettings>,
    reviewed: BTreeMap<String, Snapshot>,
    secrets: Secrets,
    open: Mutex<BTreeMap<String, Arc<Mutex<Option<Session>>>>>,
}

impl Toolbox {
    /// The tools of a workspace's folder, with what was reviewed of them and the variables that they are given.
    pub fn new(
        root: PathBuf,
        settings: BTreeMap<String, ToolSettings>,
        reviewed: SnapshotFile,
        secrets: Secrets,
    ) -> Self {
        let inner = Inner { root, settings, reviewed: reviewed.0, secrets, open: Mutex::default() };
        Self { inner: Arc::new(inner), notify: Arc::default() }
    }

    /// The same toolbox, with addresses for results of checks.
    #[must_use]
    pub fn with_notify(self, notify: BTreeMap<String, Notify>) -> Self {
        Self { notify: Arc::new(notify), ..self }
    }

    /// The addresses for results of checks, by name.
    pub fn notify(&self) -> impl Iterator<Item = (&str, &Notify)> {
        self.notify.iter().map(|(name, notify)| (name.as_str(), notify))
    }

    /// Sends results of checks to an address. `key` names the message, so that a repeated one can be told.
    pub async fn send_results(&self, name: &str, message: &Value, key: &str) -> Result<Value, ToolError> {
        match self.notify.get(name) {
            Some(notify) => notify.send(name, message, key).await,
            None => Err(refused(&format!("notify.{name}"), "it is not declared any more")),
        }
    }

    /// How long one call may take at most.
    pub fn longest(&self) -> Duration {
        let tools = self.inner.settings.values().map(ToolSettings::time).max();
        tools.unwrap_or_default().max(crate::notify::TIME)
    }

    /// The names of the tools, reviewed or not.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inner.settings.keys().map(String::as_str)
    }

    /// What was reviewed of a tool.
    pub fn reviewed(&self, tool: &str) -> Option<&Snapshot> {
        self.inner.reviewed.get(tool)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inner.settings.is_empty()
    }

    /// How a tool is set up.
    pub fn settings(&self, tool: &str) -> Option<&ToolSettings> {
        self.inner.settings.get(tool)
    }

    /// How large the arguments of one call may be.
    pub fn argument_bytes(&self, tool: &str) -> u64 {
        self.settings(tool).map_or(ARGUMENT_BYTES, ToolSettings::argument_bytes)
    }

    /// The tools as plans know them: those that were reviewed, and the addresses for notifications.
    pub fn known(&self) -> Vec<Tool> {
        let known = self.inner.reviewed.iter().filter_map(|(name, snapshot)| {
            let settings = self.inner.settings.get(name)?;
            Some(snapshot.tool(name, settings))
        });
        known.chain(self.notifications()).collect()
    }

    /// Each address is a verb that takes a text, and for mail perhaps a subject.
    fn notifications(&self) -> Option<Tool> {
        let is_own = !self.notify.is_empty() && !self.inner.settings.contains_key(NOTIFY);
        let verbs = || self.notify.iter().map(|(name, notify)| (name.clone(), notify.verb())).collect();
        is_own.then(|| Tool { name: NOTIFY.to_owned(), verbs: verbs(), tables: None })
    }

    /// What a tool's server offers now.
    pub async fn look(&self, tool: &str) -> Result<Snapshot, ToolError> {
        let settings = self.named(tool)?;
        let looked = async {
            let mut session = Session::begin(self.wire(settings)?).await?;
            list(&mut session).await
        };
        let mask = self.mask(settings);
        match tokio::time::timeout(settings.time(), looked).await {
            Ok(Ok(snapshot)) => snapshot.map_err(|message| refused(tool, &message)),
            Ok(Err(error)) => Err(of_wire(tool, error, &mask)),
            Err(_) => Err(unreachable(tool, "it does not answer")),
        }
    }

    /// Calls a verb that was reviewed. `key` names the call, so that a server can tell a repeated one.
    pub async fn call(
        &self,
        tool: &str,
        verb: &str,
        arguments: &Map<String, Value>,
        key: Option<&str>,
    ) -> Result<Value, ToolError> {
        if tool == NOTIFY && !self.inner.settings.contains_key(NOTIFY) {
            let message = Value::Object(arguments.clone());
            return self.send_results(verb, &message, key.unwrap_or_default()).await;
        }
        let settings = self.named(tool)?;
        let kept = Arc::clone(self.inner.open.lock().await.entry(tool.to_owned()).or_default());
        let mut kept = kept.lock().await;
        // A conversation that was given up in the middle is not used again. A server may change its list while one goes
        // on, so it is looked at again before anything is changed.
        let session = match kept.take() {
            Some(session) if key.is_none() => session,
            open => self.begin(tool, settings, open).await?,
        };
        let (session, said) = self.ask(tool, settings, session, verb, arguments, key).await?;
        *kept = Some(session);
        said
    }

    async fn ask(
        &self,
        tool: &str,
        settings: &ToolSettings,
        mut session: Session,
        verb: &str,
        arguments: &Map<String, Value>,
        key: Option<&str>,
    ) -> Result<(Session, Result<Value, ToolError>), ToolError> {
        let mask = self.mask(settings);
        let params = json!({ "name": verb, "arguments": arguments });
        let asked = tokio::time::timeout(settings.time(), session.ask("tools/call", params, key)).await;
        let said = match asked {
            Err(_) => {
                let time = ordain_types::format_duration(settings.time());
                return Err(no_answer(tool, &format!("nothing came within {time}")));
            }
            Ok(Err(error)) => return Err(of_wire(tool, error, &mask)),
            Ok(Ok(Err(message))) => Err(refused(tool, &mask.hide(&message))),
            Ok(Ok(Ok(result))) => {
                given(tool, result, &mask).and_then(|given| self.fitting(tool, verb, given))
            }
        };
        Ok((session, said))
    }

    /// A result, if it is of the shape that was reviewed.
    fn fitting(&self, tool: &str, verb: &str, given: Value) -> Result<Value, ToolError> {
        let offer = self.reviewed(tool).and_then(|reviewed| reviewed.verbs.get(verb));
        match offer.and_then(|offer| offer.output.as_ref()) {
            Some(schema) if !ordain_types::fits(&given, schema) => {
                let message = format!(
                    "the result of `{verb}` is not what it was reviewed to give; it may have been carried out"
                );
                Err(refused(tool, &message))
            }
            _ => Ok(given),
        }
    }

    /// The variable whose value stands in a text, if one does, however it is spelled: secrets are not sent with calls.
    pub fn secret_in(&self, text: &str) -> Option<&str> {
        let found = mask(self.inner.secrets.0.iter()).found_in(text)?.to_owned();
        self.inner.secrets.0.get_key_value(&found).map(|(name, _)| name.as_str())
    }

    /// The mask for what only the server of a tool may see.
    fn mask(&self, settings: &ToolSettings) -> Mask {
        let known = &self.inner.secrets.0;
        mask(settings.variables().filter_map(|name| known.get_key_value(name)))
    }

    /// Begins a conversation, unless one is open, and holds what the server offers against what was reviewed.
    async fn begin(
        &self,
        tool: &str,
        settings: &ToolSettings,
        open: Option<Session>,
    ) -> Result<Session, ToolError> {
        let Some(reviewed) = self.inner.reviewed.get(tool) else {
            let message = "it was never reviewed".to_owned();
            return Err(ToolError::Changed { tool: tool.to_owned(), message });
        };
        let begun = async {
            if let Some(mut session) = open
                && let Ok(offered) = list(&mut session).await
            {
                return Ok((session, offered));
            }
            // A server that ended meanwhile is begun with anew.
            let mut session = Session::begin(self.wire(settings)?).await?;
            let offered = list(&mut session).await?;
            Ok((session, offered))
        };
        let begun = tokio::time::timeout(settings.time(), begun).await;
        let begun = begun.map_err(|_| unreachable(tool, "it does not answer"))?;
        // Nothing was called yet, so nothing can have been carried out.
        let (session, offered) = begun.map_err(|error| {
            let (WireError::NotSent(message) | WireError::NoAnswer(message) | WireError::NotTaken(message)) =
                error;
            unreachable(tool, &self.mask(settings).hide(&message))
        })?;
        let offered = offered.map_err(|message| refused(tool, &message))?;
        match reviewed.differences(&offered).first() {
            None => Ok(session),
            Some(difference) => {
                let message = self.mask(settings).hide(&difference.to_string());
                Err(ToolError::Changed { tool: tool.to_owned(), message })
            }
        }
    }

    fn wire(&self, settings: &ToolSettings) -> Result<Wire, WireError> {
        let secrets = settings.secrets(&self.inner.secrets);
        if let Some(name) = settings.variables().find(|name| !secrets.iter().any(|(known, _)| known == *name))
        {
            return Err(WireError::NotSent(format!("the variable `{name}` is not set")));
        }
        match &settings.url {
            Some(url) => {
                let token = settings.token_env.as_ref();
                let token = token.and_then(|name| secrets.iter().find(|(known, _)| known == name));
                HttpWire::new(url, token.map(|(_, value)| value.clone())).map(Wire::Http)
            }
            None => StdioWire::start(&settings.command, &secrets, &self.inner.root).map(Wire::Stdio),
        }
    }

    fn named(&self, tool: &str) -> Result<&ToolSettings, ToolError> {
        self.inner
            .settings
            .get(tool)
            .ok_or_else(|| unreachable(tool, "there is no tool of that name in ordain.toml"))
    }
}

/// What a server offers, page by page.
async fn list(session: &mut Session) -> Result<Result<Snapshot, String>, WireError> {
    let (mut verbs, mut cursor) = (BTreeMap::new(), Value::Null);
    for _ in 0..PAGES_MAX {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let mut page = match session.ask("tools/list", params, None).await? {
            Ok(page) => page,
            Err(message) => return Ok(Err(message)),
        };
        for mut offered in page["tools"].as_array_mut().into_iter().flatten().map(Value::take) {
            let Some(name) = offered["name"].as_str().map(str::to_owned) else { continue };
            let output = Some(offered["outputSchema"].take()).filter(|schema| !schema.is_null());
            let description = offered["description"].as_str().unwrap_or_default().to_owned();
            verbs.insert(name, Offer { description, input: offered["inputSchema"].take(), output });
            if verbs.len() > VERBS_MAX {
                return Ok(Err(format!("it offers more than {VERBS_MAX} verbs")));
            }
        }
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            return Ok(Ok(Snapshot { verbs }));
        }
    }
    Ok(Err(format!("its list has more than {PAGES_MAX} pages")))
}

/// What a call gave: the structured content, else its text.
fn given(tool: &str, mut result: Value, mask: &Mask) -> Result<Value, ToolError> {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    let text = texts.join("\n");
    if result["isError"] == true {
        return Err(refused(tool, &mask.hide(&text)));
    }
    let mut given = match result["structuredContent"].take() {
        Value::Null => json!({ "text": text }),
        structured => structured,
    };
    if given.to_string().len() > RESULT_BYTES_MAX {
        let limit = ordain_types::format_bytes(RESULT_BYTES_MAX as u64);
        return Err(refused(tool, &format!("its result is larger than {limit}")));
    }
    // A server that repeats its own secret tells nobody.
    mask.hide_in(&mut given);
    Ok(given)
}

fn of_wire(tool: &str, error: WireError, mask: &Mask) -> ToolError {
    match error {
        WireError::NotSent(message) | WireError::NotTaken(message) => unreachable(tool, &mask.hide(&message)),
        WireError::NoAnswer(message) => no_answer(tool, &mask.hide(&message)),
    }
}

fn mask<'a>(secrets: impl Iterator<Item = (&'a String, &'a String)>) -> Mask {
    Mask::new(secrets.map(|(name, value)| (name.as_str(), value.as_str())))
}

pub(crate) fn unreachable(tool: &str, message: &str) -> ToolError {
    ToolError::Unreachable { tool: tool.to_owned(), message: short(message) }
}

pub(crate) fn no_answer(tool: &str, message: &str) -> ToolError {
    ToolError::NoAnswer { tool: tool.to_owned(), message: short(message) }
}

pub(crate) fn refused(tool: &str, message: &str) -> ToolError {
    ToolError::Refused { tool: tool.to_owned(), message: short(message) }
}

fn short(text: &str) -> String {
    let plain = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    plain.take(SAID_CHARS_MAX).collect()
}
