//! Which web pages may call.
//!
//! A page in the user's browser can reach a server on the user's own machine. Three checks keep foreign ones out: on a
//! loopback address `Host` must name this machine, so that a foreign name that was made to point here is refused; an
//! `Origin`, where one is sent, must be the server's own or one that the operator allows; and without one nothing is
//! changed for a page that the browser says is another site's.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use super::service::Service;

const METHODS: &str = "GET, POST, PUT, DELETE, OPTIONS";
const HEADERS: &str = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Traceparent, Tracestate, \
     X-Request-Id";
const EXPOSED: &str = "Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, \
     Link, X-Ordain-Run-Id, X-Should-Retry";
/// What the `OpenAI` client library for web pages sends of its own.
const CLIENT_HEADERS: &str = "X-Agent-Type, X-Stainless-Arch, X-Stainless-Helper-Method, X-Stainless-Lang, \
     X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Retry-Count, X-Stainless-Runtime, \
     X-Stainless-Runtime-Version, X-Stainless-Timeout";

/// Refuses a request whose `Host` or `Origin` is foreign.
pub(crate) fn check(service: &Service, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    if headers.get_all(header::HOST).iter().count() > 1 {
        let detail = "a request names one `Host`";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "bad_host", detail));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let options = &service.inner.options;
    if options.listen.is_of_this_machine() && !is_this_machine(host) && !is_named(host, &options.hosts) {
        let detail = "this server answers only to names of this machine, such as `localhost`";
        return Err(Problem::new(StatusCode::FORBIDDEN, "foreign_host", detail).hint(
            "call it by `http://127.0.0.1:PORT` or `http://localhost:PORT`; behind a proxy, the operator names it with \
             `ordain serve --host NAME`",
        ));
    }
    let is_allowed = match headers.get(header::ORIGIN) {
        Some(origin) => is_own(origin, host) || is_listed(service, origin),
        // A link may lead here from any site.
        None => request.method().is_safe() || !is_of_another_site(headers),
    };
    if is_allowed {
        return Ok(());
    }
    let detail = "web pages of this origin may not call this server";
    Err(Problem::new(StatusCode::FORBIDDEN, "foreign_origin", detail)
        .hint("the operator allows origins with `ordain serve --cors ORIGIN`"))
}

/// Answers a browser's question whether it may call, where the origin is allowed.
pub(crate) fn preflight(service: &Service, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let asks = request.method() == Method::OPTIONS && headers.contains_key("access-control-request-method");
    if !asks || !headers.get(header::ORIGIN).is_some_and(|origin| is_listed(service, origin)) {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let told = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in told {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let more = HeaderValue::from_static(CLIENT_HEADERS);
    response.headers_mut().append(header::ACCESS_CONTROL_ALLOW_HEADERS, more);
    Some(response)
}

/// Lets the page of an allowed origin read the response.
pub(crate) fn allow(service: &Service, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    if service.inner.options.cors.is_empty() {
        return;
    }
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin.filter(|origin| is_listed(service, origin)) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

fn is_listed(service: &Service, origin: &HeaderValue) -> bool {
    service.inner.options.cors.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
}

/// Whether the browser says that a page of another site sent this. Pages cannot set the header.
pub(crate) fn is_of_another_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// Whether a page came from this very server.
pub(crate) fn is_own(origin: &HeaderValue, host: &str) -> bool {
    let Ok(origin) = origin.to_str() else { return false };
    let of = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    of.is_some_and(|of| !of.is_empty() && of.eq_ignore_ascii_case(host))
}

/// Whether a host is one of the names that the operator gave.
fn is_named(host: &str, names: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    !host.contains('@') && names.iter().any(|name| name.eq_ignore_ascii_case(authority.host()))
}

/// Whether a `Host` names this machine.
fn is_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    if host.contains('@') {
        return false;
    }
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_pass() {
        for own in ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "127.8.8.8"]
        {
            assert!(is_this_machine(own), "{own}");
        }
        for foreign in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8000",
            "10.0.0.1",
            "localhost@evil.example",
            "a@localhost",
            "127.0.0.1.nip.io",
            "local host",
        ] {
            assert!(!is_this_machine(foreign), "{foreign}");
        }
    }

    #[test]
    fn an_origin_is_own_if_it_is_the_host() {
        let own = |origin: &'static str, host| is_own(&HeaderValue::from_static(origin), host);
        assert!(own("http://localhost:8000", "localhost:8000"));
        assert!(!own("http://localhost:9000", "localhost:8000"));
        assert!(!own("null", "localhost:8000"));
        assert!(!own("http://", ""));
    }
}
