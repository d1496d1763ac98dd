//! What an executor tells its operator.
//!
//! Every job is logged, refused ones too. Texts of callers and of code never reach the log as they are: what is told of
//! a job is made here, by the supervisor.

use std::fmt;

use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// The executor takes calls.
    Listening {
        /// Where.
        address: String,
        /// Whether connections are encrypted.
        tls: bool,
        /// Whether callers need a certificate.
        client_certificates: bool,
        /// Whether callers need the token.
        token: bool,
        /// How well cells are isolated.
        isolation: String,
        /// Where its figures are, if they are served.
        #[serde(skip_serializing_if = "Option::is_none")]
        metrics: Option<String>,
    },
    /// A job, from its call to its end.
    Job {
        /// The call: `Execute` or `Run`.
        method: &'static str,
        /// Who called.
        caller: String,
        /// The Python packages.
        profile: String,
        /// Why it ended, if it ran or was judged.
        cause: Option<&'static str>,
        /// The status of the call.
        code: String,
        /// How long it took.
        ms: f64,
    },
    /// Something failed that the caller was not told in full.
    Failed {
        /// What failed.
        what: String,
    },
    /// Certificates were read again.
    Reloaded,
    /// No new calls are taken; running jobs may end.
    Stopping {
        /// How many run.
        running: usize,
    },
    /// All cells are gone.
    Stopped,
}

/// Takes what an executor tells.
pub trait Log: Send + Sync + 'static {
    /// Takes one event.
    fn write(&self, event: &LogEvent);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Log for Quiet {
    fn write(&self, _event: &LogEvent) {}
}

impl fmt::Display for LogEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening { address, tls, client_certificates, token, isolation, metrics } => {
                let who = match (client_certificates, token) {
                    (true, true) => "callers need a certificate and the token",
                    (true, false) => "callers need a certificate",
                    (false, true) => "callers need the token",
                    (false, false) => "anybody on this machine may call",
                };
                let how = if *tls { "TLS" } else { "no TLS" };
                write!(formatter, "listening on {address}, {how}, {who}, isolation `{isolation}`")?;
                metrics.iter().try_for_each(|at| write!(formatter, ", figures on http://{at}/metrics"))
            }
            Self::Job { method, caller, profile, cause, code, ms } => {
                let cause = cause.unwrap_or("-");
                write!(
                    formatter,
                    "{method} caller={caller} profile={profile} cause={cause} code={code} {ms} ms"
                )
            }
            Self::Failed { what } => write!(formatter, "failed: {what}"),
            Self::Reloaded => formatter.write_str("certificates were read again"),
            Self::Stopping { running } => write!(formatter, "stopping; {running} jobs run"),
            Self::Stopped => formatter.write_str("stopped"),
        }
    }
}
