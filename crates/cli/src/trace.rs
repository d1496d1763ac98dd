//! Traces of the long-running commands, by the variables of `OpenTelemetry`.

use ordain_server::trace::{TraceSettings, Tracer};

use crate::failure::Failure;

/// Begins to send spans, if the environment names a collector. Has to be called inside a tokio runtime.
pub(crate) fn tracer(service: &str) -> Result<Tracer, Failure> {
    let settings = TraceSettings::from_environment(service, &|name| std::env::var(name).ok());
    let tracer = settings.and_then(|settings| settings.map_or_else(|| Ok(Tracer::default()), Tracer::new));
    Ok(tracer?)
}
