//! Traces of the long-running commands, by the variables of `OpenTelemetry`.

use std::process::ExitCode;

use ordain_server::trace::{TraceSettings, Tracer};

use crate::failure::{self, USAGE};

/// Begins to send spans, if the environment names a collector. A failure is printed and becomes the exit code. Has to be
/// called inside a tokio runtime.
pub(crate) fn tracer(service: &str) -> Result<Tracer, ExitCode> {
    let settings = TraceSettings::from_environment(service, &|name| std::env::var(name).ok());
    let tracer = settings.and_then(|settings| settings.map_or_else(|| Ok(Tracer::default()), Tracer::new));
    tracer.map_err(|error| {
        failure::print(&error, error.hint().as_deref());
        ExitCode::from(USAGE)
    })
}
