//! Where results of checks go: a POST to an address, signed where the owner gives a secret, or an e-mail.

use std::fmt;
use std::time::Duration;

use ordain_types::Verb;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode, Url, redirect};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::ToolError;
use crate::mail::Mail;

/// How long an address may take to answer.
pub(crate) const TIME: Duration = Duration::from_secs(15);
/// SHA-256 works on blocks of this many bytes.
const BLOCK_BYTES: usize = 64;

/// `[notify.NAME]` of a workspace.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotifySettings {
    /// The address, or `env:NAME` for one that is a secret.
    pub url: String,
    /// How the message is written.
    #[serde(default)]
    pub form: NotifyForm,
    /// When it is sent.
    #[serde(default)]
    pub on: Occasion,
    /// The environment variable with the secret that signs, or with the password of a mail server.
    pub secret: Option<String>,
    /// Who logs in at a mail server.
    pub user: Option<String>,
    /// The address that mail comes from.
    pub from: Option<String>,
    /// The addresses that mail goes to.
    #[serde(default)]
    pub to: Vec<String>,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotifyForm {
    /// Counts and results, as JSON.
    #[default]
    Json,
    /// One text, as Slack, Mattermost and others take it.
    Slack,
    /// An e-mail; the address is that of a mail server.
    Mail,
}

/// When a message is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Occasion {
    /// When a check failed, warned or could not be evaluated.
    #[default]
    Problem,
    /// When a check has another status than in its run before.
    Change,
    /// After every run.
    Always,
}

/// An address with its secret.
#[derive(Clone)]
pub struct Notify {
    /// How it is set up.
    pub settings: NotifySettings,
    url: String,
    secret: Option<String>,
    mail: Option<Mail>,
}

impl fmt::Debug for Notify {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address may be all that it takes to write there.
        formatter.debug_struct("Notify").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Notify {
    /// An address, with variables looked up. The error says what is wrong.
    pub fn new(settings: NotifySettings, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let look_up = |name: &str| {
            variable(name).ok_or_else(|| format!("the environment variable `{name}` is not set"))
        };
        let url = match settings.url.strip_prefix("env:") {
            Some(name) => look_up(name)?,
            None => settings.url.clone(),
        };
        let parsed = Url::parse(&url).map_err(|error| format!("`url` is not an address: {error}"))?;
        let secret = settings.secret.as_deref().map(look_up).transpose()?;
        let is_mail = settings.form == NotifyForm::Mail;
        match parsed.scheme() {
            "https" if !is_mail => {}
            "http" if !is_mail && is_here(&parsed) => {}
            "smtp" | "smtps" if is_mail => {}
            _ if is_mail => return Err("`url` begins with smtp:// or smtps:// for mail".to_owned()),
            _ => return Err("`url` begins with https:// (http:// for this machine alone)".to_owned()),
        }
        if !is_mail && (settings.user.is_some() || settings.from.is_some() || !settings.to.is_empty()) {
            return Err("`user`, `from` and `to` belong to `form = \"mail\"`".to_owned());
        }
        let mail = is_mail.then(|| Mail::new(&settings, &parsed, secret.as_deref())).transpose()?;
        Ok(Self { settings, url, secret, mail })
    }

    /// The verb by which plans send a text there.
    pub(crate) fn verb(&self) -> Verb {
        let text = || serde_json::json!({ "type": "string" });
        let subject = self.mail.is_some().then(|| ("subject".to_owned(), text()));
        let what = if self.mail.is_some() { "Sends an e-mail" } else { "Sends a text" };
        Verb {
            params: [("text".to_owned(), text())].into_iter().chain(subject).collect(),
            required: ["text".to_owned()].into(),
            reads: false,
            description: format!("{what} to people."),
        }
    }

    /// Sends a message. `key` names it, so that a repeated one can be told.
    pub(crate) async fn send(&self, name: &str, message: &Value, key: &str) -> Result<Value, ToolError> {
        let tool = || format!("notify.{name}");
        if let Some(mail) = &self.mail {
            return Box::pin(mail.send(&tool(), message, key)).await;
        }
        let client = Client::builder().redirect(redirect::Policy::none()).timeout(TIME).build();
        let client =
            client.map_err(|error| ToolError::Unreachable { tool: tool(), message: error.to_string() })?;
        let body = message.to_string();
        let mut request =
            client.post(&self.url).header(CONTENT_TYPE, "application/json").header("idempotency-key", key);
        if let Some(secret) = &self.secret {
            request = request.header(
                "x-ordain-signature",
                format!("sha256={}", signature(secret.as_bytes(), body.as_bytes())),
            );
        }
        let sent = request.body(body).send().await.map_err(|error| {
            let error = error.without_url();
            if error.is_connect() {
                ToolError::Unreachable { tool: tool(), message: error.to_string() }
            } else {
                ToolError::NoAnswer { tool: tool(), message: error.to_string() }
            }
        })?;
        let status = sent.status();
        let message = format!("it answered {status}");
        match status {
            _ if status.is_success() => Ok(serde_json::json!({ "status": status.as_u16() })),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                Err(ToolError::Unreachable { tool: tool(), message })
            }
            _ if status.is_server_error() => Err(ToolError::Unreachable { tool: tool(), message }),
            _ => Err(ToolError::Refused { tool: tool(), message }),
        }
    }
}

/// Whether an address is one of this machine.
pub(crate) fn is_here(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// HMAC-SHA256 in hexadecimal (RFC 2104).
fn signature(secret: &[u8], message: &[u8]) -> String {
    let mut key = [0_u8; BLOCK_BYTES];
    if secret.len() > BLOCK_BYTES {
        key[..32].copy_from_slice(&Sha256::digest(secret));
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let keyed = |pad: u8, message: &[u8]| {
        let mut hash = Sha256::new();
        hash.update(key.map(|byte| byte ^ pad));
        hash.update(message);
        hash.finalize()
    };
    ordain_types::hex(&keyed(0x5c, &keyed(0x36, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        assert_eq!(
            signature(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            signature(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn an_address_is_encrypted_or_of_this_machine() {
        let notify = |url: &str| {
            let settings = serde_json::from_value(serde_json::json!({ "url": url })).unwrap();
            Notify::new(settings, |name| (name == "HOOK").then(|| "https://example.com/x".to_owned()))
        };
        for right in ["https://example.com/x", "http://127.0.0.1:8080/", "env:HOOK"] {
            assert!(notify(right).is_ok(), "{right}");
        }
        for wrong in
            ["http://example.com/", "ftp://example.com", "nonsense", "env:OTHER", "smtps://example.com"]
        {
            assert!(notify(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn mail_that_cannot_be_sent_is_refused_when_the_workspace_is_opened() {
        let told = |change: Value| {
            let mut settings = serde_json::json!({
                "url": "smtps://mail.example.com", "form": "mail", "from": "ordain@example.com", "to": ["a@example.com"],
            });
            settings.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let settings = serde_json::from_value(settings).unwrap();
            Notify::new(settings, |_| Some("s3cret".to_owned())).err().unwrap_or_default()
        };
        assert_eq!(told(serde_json::json!({})), "");
        assert_eq!(told(serde_json::json!({ "user": "ordain", "secret": "PASSWORD" })), "");
        for (change, wanted) in [
            (serde_json::json!({ "url": "https://example.com" }), "begins with smtp:// or smtps://"),
            (serde_json::json!({ "url": "smtps://ordain@example.com" }), "`url` takes no user"),
            (serde_json::json!({ "user": "ordain" }), "`user` and `secret` belong together"),
            (serde_json::json!({ "from": null }), "`from` is missing"),
            (serde_json::json!({ "to": [] }), "`to` is missing"),
            (
                serde_json::json!({ "to": ["a@example.com\r\nBcc: b@example.com"] }),
                "is not an e-mail address",
            ),
            (serde_json::json!({ "form": "json" }), "begins with https://"),
        ] {
            assert!(told(change.clone()).contains(wanted), "{change}: {}", told(change.clone()));
        }
    }
}
