//! Why a call gave nothing back, told apart by whether it may have arrived.

/// Why a tool did not answer. Nothing in it holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The server could not be reached or started: the call did not arrive.
    #[error("the tool `{tool}` cannot be reached: {message}")]
    Unreachable {
        /// The tool.
        tool: String,
        /// What happened.
        message: String,
    },
    /// The server was given the call and no answer came: it may have been carried out.
    #[error("the tool `{tool}` did not answer: {message}")]
    NoAnswer {
        /// The tool.
        tool: String,
        /// What happened.
        message: String,
    },
    /// The server refused the call.
    #[error("the tool `{tool}` refused the call: {message}")]
    Refused {
        /// The tool.
        tool: String,
        /// What it says.
        message: String,
    },
    /// The server offers something else than was reviewed.
    #[error("the tool `{tool}` has changed since it was reviewed: {message}")]
    Changed {
        /// The tool.
        tool: String,
        /// What changed.
        message: String,
    },
}

impl ToolError {
    /// A stable name of the kind of error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "tool_unreachable",
            Self::NoAnswer { .. } => "tool_no_answer",
            Self::Refused { .. } => "tool_refused",
            Self::Changed { .. } => "tool_changed",
        }
    }

    /// What would help.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } | Self::NoAnswer { .. } => {
                Some("check its `command` or `url` in ordain.toml with `ordain tools show`")
            }
            Self::Changed { .. } => Some("look at the difference with `ordain tools review`, and accept it"),
            Self::Refused { .. } => None,
        }
    }
}
