//! Where a piece of work stands in its trace, as the W3C writes it: `traceparent` and `tracestate`.

use std::fmt;
use std::sync::Arc;

/// The longest `tracestate` that is handed on.
const STATE_BYTES_MAX: usize = 512;

/// A span's place in its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace_id: [u8; 16],
    pub(crate) span_id: [u8; 8],
    /// Whether somebody records this trace.
    pub(crate) is_sampled: bool,
    /// What other tools have to say of the trace; it is handed on as it came.
    pub(crate) state: Option<Arc<str>>,
}

tokio::task_local! {
    static CURRENT: TraceContext;
}

/// The place of what this task does, if it has one.
pub(crate) fn current() -> Option<TraceContext> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Does some work at a place of a trace.
pub(crate) async fn scope<F: Future>(context: TraceContext, work: F) -> F::Output {
    CURRENT.scope(context, work).await
}

/// Does some work at a place of a trace, if there is one.
pub(crate) async fn scope_opt<F: Future>(context: Option<TraceContext>, work: F) -> F::Output {
    match context {
        Some(context) => scope(context, work).await,
        None => work.await,
    }
}

/// Reads the caller's place from its headers. What is not well formed counts as nothing, as the W3C says.
pub(crate) fn taken_from<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<TraceContext> {
    let mut context = TraceContext::parse(header("traceparent")?)?;
    let state = header("tracestate").filter(|state| !state.is_empty() && state.len() <= STATE_BYTES_MAX);
    context.state = state.map(Arc::from);
    Some(context)
}

/// The headers that hand the place of this task on.
pub(crate) fn hand_on(mut set: impl FnMut(&'static str, String)) {
    if let Some(context) = current() {
        set("traceparent", context.to_string());
        if let Some(state) = &context.state {
            set("tracestate", state.to_string());
        }
    }
}

impl TraceContext {
    /// The first span of a trace.
    pub(crate) fn root(is_sampled: bool) -> Self {
        Self { trace_id: random(), span_id: random(), is_sampled, state: None }
    }

    /// A span below this one.
    pub(crate) fn child(&self) -> Self {
        Self { span_id: random(), ..self.clone() }
    }

    /// The trace's name, in hexadecimal digits.
    pub(crate) fn trace(&self) -> String {
        ordain_types::hex(&self.trace_id)
    }

    fn parse(text: &str) -> Option<Self> {
        let version = text.get(..2)?;
        let later = match text.get(55..)? {
            "" => false,
            more if version != "00" && more.starts_with('-') => true,
            _ => return None,
        };
        let mut parts = text.get(..55)?.split('-');
        let (_, trace_id, span_id, flags) =
            (bytes::<1>(parts.next()?)?, parts.next()?, parts.next()?, parts.next()?);
        if version == "ff" || parts.next().is_some() || (later && version == "00") {
            return None;
        }
        let (trace_id, span_id) = (bytes::<16>(trace_id)?, bytes::<8>(span_id)?);
        let is_named = trace_id != [0; 16] && span_id != [0; 8];
        let [flags] = bytes::<1>(flags)?;
        is_named.then_some(Self { trace_id, span_id, is_sampled: flags & 1 == 1, state: None })
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        write!(formatter, "00-{}-{}-{flags:02x}", self.trace(), ordain_types::hex(&self.span_id))
    }
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    // The specification has small letters only.
    let is_plain = text.len() == 2 * N && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut read = [0; N];
    for (place, byte) in read.iter_mut().enumerate().filter(|_| is_plain) {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    is_plain.then_some(read)
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // A name of zeros means none. Without random bytes all spans would have one name; they still would have one.
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_place_is_read_and_written_as_the_w3c_says() {
        let context = TraceContext::parse(GOOD).unwrap();
        assert!(context.is_sampled);
        assert_eq!(context.to_string(), GOOD);
        assert!(!TraceContext::parse(&GOOD.replace("-01", "-00")).unwrap().is_sampled);
        // A later version may have more behind it.
        assert!(TraceContext::parse(&format!("{}-more", GOOD.replacen("00", "01", 1))).is_some());
        let child = context.child();
        assert_eq!(child.trace_id, context.trace_id);
        assert_ne!(child.span_id, context.span_id);
    }

    #[test]
    fn what_is_not_well_formed_counts_as_nothing() {
        for wrong in [
            "",
            "00",
            &GOOD.to_uppercase(),
            &GOOD.replacen("00", "ff", 1),
            &format!("{GOOD}-more"),
            &format!("{GOOD}x"),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace("4b", "ä"),
            &GOOD.replace("-01", "-0"),
            "00-4bf92f3577b34da6a3ce929d0e0e47-3600f067aa0ba902b7-01xxx",
        ] {
            assert_eq!(TraceContext::parse(wrong), None, "{wrong}");
        }
    }
}
