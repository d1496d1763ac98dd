//! What can go wrong between us and a model, each with its remedy.

use std::time::Duration;

use ordain_types::{format_bytes, format_duration};

use crate::planner::PlannerError;

/// Why a model gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// There is no key.
    #[error("there is no key for {provider}")]
    NoKey {
        /// Whose key.
        provider: String,
        /// The variable that would hold it.
        variable: &'static str,
    },
    /// The key is not accepted.
    #[error("{provider} refuses the key: {message}")]
    RefusedKey {
        /// Who refuses.
        provider: String,
        /// In its words.
        message: String,
    },
    /// The account is out of credit.
    #[error("{provider} asks for payment: {message}")]
    NoCredit {
        /// Who asks.
        provider: String,
        /// In its words.
        message: String,
    },
    /// There is no such model.
    #[error("{provider} does not serve `{model}`: {message}")]
    UnknownModel {
        /// Who was asked.
        provider: String,
        /// For what.
        model: String,
        /// Its answer.
        message: String,
    },
    /// Too many calls.
    #[error("{provider} asks to slow down: {message}")]
    RateLimit {
        /// Who asks.
        provider: String,
        /// In its words.
        message: String,
        /// For how long.
        retry_after: Option<Duration>,
    },
    /// The messages do not fit into the model.
    #[error("the brief is too long for the model: {message}")]
    ContextTooLong {
        /// In the provider's words.
        message: String,
    },
    /// The request is not understood.
    #[error("{provider} rejects the request with status {status}: {message}")]
    Rejected {
        /// Who rejects.
        provider: String,
        /// The status.
        status: u16,
        /// In its words.
        message: String,
    },
    /// The server has a fault of its own.
    #[error("{provider} fails with status {status}: {message}")]
    Unavailable {
        /// Who fails.
        provider: String,
        /// The status.
        status: u16,
        /// In its words.
        message: String,
        /// When to come back.
        retry_after: Option<Duration>,
    },
    /// The server is not reached.
    #[error("{provider} is not reached: {message}")]
    Network {
        /// Who.
        provider: String,
        /// Why.
        message: String,
    },
    /// It takes too long.
    #[error("{what} took longer than {}", format_duration(*after))]
    Timeout {
        /// Which part.
        what: &'static str,
        /// Its limit.
        after: Duration,
    },
    /// The reply is not what the protocol says.
    #[error("the reply is not understood: {message}")]
    BadReply {
        /// What is wrong with it.
        message: String,
    },
    /// The reply is larger than anything that we read.
    #[error("the reply is larger than {}", format_bytes(*limit))]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The connection ended in the middle of the reply.
    #[error("the connection was closed in the middle of the reply")]
    Closed,
    /// The server does not take a parameter; the next attempt leaves it out.
    #[error("the server does not take `{parameter}`")]
    Unsupported {
        /// Which.
        parameter: &'static str,
    },
    /// The address of the server is no address.
    #[error("`{address}` is not the address of a server")]
    Address {
        /// What was given.
        address: String,
    },
    /// A recorded reply does not fit.
    #[error("cassette: {message}")]
    Replay {
        /// What differs.
        message: String,
    },
}

impl ProviderError {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoKey { .. } => "model-no-key",
            Self::RefusedKey { .. } => "model-refused-key",
            Self::NoCredit { .. } => "model-no-credit",
            Self::UnknownModel { .. } => "model-unknown",
            Self::RateLimit { .. } => "model-rate-limit",
            Self::ContextTooLong { .. } => "model-context-too-long",
            Self::Rejected { .. } | Self::Unsupported { .. } => "model-request-rejected",
            Self::Unavailable { .. } => "model-unavailable",
            Self::Network { .. } => "model-network",
            Self::Timeout { .. } => "model-timeout",
            Self::BadReply { .. } => "model-bad-reply",
            Self::TooLarge { .. } => "model-reply-too-large",
            Self::Closed => "model-reply-cut-off",
            Self::Address { .. } => "model-bad-base-url",
            Self::Replay { .. } => "model-replay-mismatch",
        }
    }

    /// What would help.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKey { variable, .. } => {
                format!("set {variable}, in the environment or in the workspace's .env; `--model rules` needs no key")
            }
            Self::RefusedKey { .. } => "check the key and whether it may use this model; `ordain config` shows where it comes from".to_owned(),
            Self::NoCredit { .. } => "add credit, or choose another model; `ordain models` lists what is there".to_owned(),
            Self::UnknownModel { .. } => "check the name; `ordain models` lists what is configured and reachable".to_owned(),
            Self::RateLimit { retry_after: Some(after), .. } => {
                format!("try again in {}", format_duration(*after))
            }
            Self::RateLimit { .. } => "try again a little later".to_owned(),
            Self::ContextTooLong { .. } => {
                "hide tables or columns that plans do not need, shorten the policy, or choose a model with a longer context".to_owned()
            }
            Self::Rejected { .. } | Self::Unsupported { .. } => {
                "check `model.name`, `model.base_url` and the other settings under [model]".to_owned()
            }
            Self::Unavailable { .. } => "the fault is on the other side; try again later".to_owned(),
            Self::Network { .. } => {
                "check the network, the proxy variables and `model.base_url`; `--model rules` needs no network".to_owned()
            }
            Self::Timeout { .. } => "raise `model.timeout`, or choose a faster model".to_owned(),
            Self::BadReply { .. } => "check that `model.base_url` is an OpenAI-compatible server".to_owned(),
            Self::TooLarge { .. } => "lower `model.max_tokens`, or choose another model".to_owned(),
            Self::Closed => "try again; a proxy in between may cut long replies".to_owned(),
            Self::Address { .. } => "write it as http://127.0.0.1:11434/v1".to_owned(),
            Self::Replay { .. } => "a cassette replays recorded replies in order and only to the messages it expects".to_owned(),
        }
    }

    /// Whether the same call may succeed a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::RateLimit { .. }
            | Self::Unavailable { .. }
            | Self::Network { .. }
            | Self::Timeout { .. }
            | Self::Unsupported { .. }
            | Self::Closed => true,
            Self::NoKey { .. }
            | Self::RefusedKey { .. }
            | Self::NoCredit { .. }
            | Self::UnknownModel { .. }
            | Self::ContextTooLong { .. }
            | Self::Rejected { .. }
            | Self::BadReply { .. }
            | Self::TooLarge { .. }
            | Self::Address { .. }
            | Self::Replay { .. } => false,
        }
    }

    /// How long the other side asks us to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimit { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            Self::Unsupported { .. } => Some(Duration::ZERO),
            _ => None,
        }
    }
}

impl From<ProviderError> for PlannerError {
    fn from(error: ProviderError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
            hint: Some(error.hint()),
            is_passing: error.is_passing(),
        }
    }
}
