//! Spans as the JSON of OTLP, which every collector takes over HTTP.

use serde_json::{Value, json};

use super::span::{Attribute, Span, nanos};

/// What a request to a collector holds: so many spans of this one service.
pub(super) fn request(resource: &[(String, String)], spans: &[Span]) -> Value {
    let resource: Vec<Value> = resource
        .iter()
        .map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } }))
        .collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{
            "scope": { "name": "ordain", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }] })
}

fn span(span: &Span) -> Value {
    let attributes: Vec<Value> = span
        .attributes
        .iter()
        .map(|(name, value)| json!({ "key": name, "value": attribute(value) }))
        .collect();
    let mut written = json!({
        "traceId": ordain_types::hex(&span.context.trace_id),
        "spanId": ordain_types::hex(&span.context.span_id),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.began).to_string(),
        "endTimeUnixNano": nanos(span.ended).to_string(),
        "attributes": attributes,
        "flags": u8::from(span.context.is_sampled),
        "status": match &span.error {
            Some(error) => json!({ "code": 2, "message": error }),
            None => json!({}),
        },
    });
    if let Some(parent) = span.parent {
        written["parentSpanId"] = Value::from(ordain_types::hex(&parent));
    }
    if let Some(state) = &span.context.state {
        written["traceState"] = Value::from(&**state);
    }
    written
}

fn attribute(value: &Attribute) -> Value {
    match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        // Numbers of 64 bits are text in this JSON.
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
        Attribute::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| json!({ "stringValue": text })).collect();
            json!({ "arrayValue": { "values": values } })
        }
    }
}
