//! Traces: which request led to which run, and how long its parts took, for tools that speak `OpenTelemetry`.
//!
//! Nothing leaves unless an endpoint is configured ([`TraceSettings`]). Spans are made where the work is, put into a
//! bounded queue and sent by a task of their own ([`Tracer`]): a request never waits for a collector, and what does
//! not fit is dropped and counted. Where a piece of work stands in its trace is known to the task that does it
//! ([`current`]), so that the parts in between need not pass it on. Prompts, code and rows are never in a span; the
//! ledger holds them.

mod cell;
mod context;
mod export;
mod json;
mod settings;
mod span;

pub use cell::traced;
pub(crate) use context::{TraceContext, current, hand_on, scope_opt, taken_from};
pub use export::Tracer;
pub use settings::{TraceSettings, TraceSettingsError};
pub(crate) use span::{Attribute, Kind, Span};
