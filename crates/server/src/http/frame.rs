//! What happens around every request, whatever its route: an id, a look at `Host` and `Origin`, the end of panics, the
//! writing of problems, figures and the log.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{self, Poll};
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;

use super::cors;
use super::drain::Rest;
use super::log::Line;
use super::openai;
use super::problem::Problem;
use super::rate::{OpenRequest, Shown};
use super::service::Service;
use super::ui;
use super::uploads::{Sent, TooMuch, Uploading};
use crate::trace::{self, Kind, Span, TraceContext};

/// Names a request, in both directions.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that a caller may choose.
const REQUEST_ID_MAX: usize = 64;

/// What is found out about a request on its way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context(Arc<RequestFacts>);

#[derive(Debug, Default)]
struct RequestFacts {
    request_id: String,
    /// Where it stands in its trace, and the name of that trace.
    trace: Option<(TraceContext, String)>,
    who: OnceLock<String>,
    run_id: OnceLock<String>,
    rate: OnceLock<Shown>,
    /// What of the body has come, for as long as the request goes on.
    uploading: Uploading,
    sent: Mutex<Option<Sent>>,
    /// The caller's place among its open requests, until the answer has been read.
    open: OnceLock<OpenRequest>,
}

impl Context {
    fn new(request_id: String, trace: Option<TraceContext>, uploading: Uploading) -> Self {
        let trace = trace.map(|context| (context.clone(), context.trace()));
        Self(Arc::new(RequestFacts { request_id, trace, uploading, ..RequestFacts::default() }))
    }

    /// Counts bytes of the body that came.
    pub(crate) fn takes(&self, bytes: usize) -> Result<(), TooMuch> {
        let mut sent = self.0.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let who = || self.0.who.get().map_or(super::caller::LOCAL, String::as_str);
        sent.get_or_insert_with(|| self.0.uploading.begin(who())).add(bytes)
    }

    /// Keeps the caller's place until the answer has been read.
    pub(crate) fn holds(&self, open: OpenRequest) {
        let _ = self.0.open.set(open);
    }

    fn trace_id(&self) -> Option<&str> {
        self.0.trace.as_ref().map(|(_, id)| id.as_str())
    }

    /// Who calls. The first word stands.
    pub(crate) fn is_by(&self, who: &str) {
        let _ = self.0.who.set(who.to_owned());
    }

    /// The run that the request is about.
    pub(crate) fn is_about(&self, run: &str) {
        let _ = self.0.run_id.set(run.to_owned());
    }

    /// How the caller's key stands.
    pub(crate) fn has_rate(&self, shown: Shown) {
        let _ = self.0.rate.set(shown);
    }
}

/// Puts the frame around the routes.
pub(crate) fn around(routes: Router, service: &Service) -> Router {
    // A route must have been found before the figures can be told by its template, so the layer is inside.
    routes.layer(middleware::from_fn_with_state(service.clone(), frame))
}

async fn frame(State(service): State<Service>, mut request: Request, next: Next) -> Response {
    let (began, began_at) = (Instant::now(), SystemTime::now());
    let caller = trace::taken_from(|name| request.headers().get(name)?.to_str().ok());
    let place = service.inner.options.tracer.place(caller.as_ref());
    let uploading = service.inner.uploading.clone();
    let context = Context::new(request_id(request.headers()), place.clone(), uploading);
    request.extensions_mut().insert(context.clone());
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned());
    // Where nothing is served, the address says which protocol the caller speaks.
    let spoken = if route == "unmatched" { request.uri().path().to_owned() } else { route.clone() };
    let origin = request.headers().get(header::ORIGIN).cloned();
    let form = ui::ProblemForm::wanted(&route, request.headers());
    let (request, rest) = Rest::of(request, &context);
    let refused = cors::check(&service, &request);
    let mut response = match refused {
        Err(problem) => problem.into_response(),
        Ok(()) => match cors::preflight(&service, &request) {
            Some(response) => response,
            None => match AssertUnwindSafe(trace::scope_opt(place, next.run(request))).catch_unwind().await {
                Ok(response) => response,
                Err(_panic) => Problem::internal("a handler panicked").into_response(),
            },
        },
    };
    response = written(response, &context, &spoken, form);
    if let Some(rest) = rest {
        rest.clear(&mut response).await;
    }
    cors::allow(&service, origin.as_ref(), response.headers_mut());
    finish(response.headers_mut(), &context);
    tell(&service, &context, &Seen { method: &method, route: &route, began, began_at, caller }, &response);
    if context.0.open.get().is_some() {
        // The place is the caller's until the last piece of the answer is on its way.
        return response.map(|body| Body::new(Holding { body, _context: context }));
    }
    response
}

/// An answer that keeps what its request holds until it has been read.
struct Holding {
    body: Body,
    _context: Context,
}

impl HttpBody for Holding {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

/// What the log and the figures say of a request.
struct Seen<'a> {
    method: &'a Method,
    route: &'a str,
    began: Instant,
    began_at: SystemTime,
    caller: Option<TraceContext>,
}

fn tell(service: &Service, context: &Context, seen: &Seen<'_>, response: &Response) {
    let status = response.status().as_u16();
    let elapsed = seen.began.elapsed();
    service.inner.metrics.request(seen.route, seen.method, status, elapsed);
    trace_request(service, context, seen, status);
    service.inner.log.request(&Line {
        request_id: &context.0.request_id,
        method: seen.method.as_str(),
        route: seen.route,
        status,
        elapsed,
        who: context.0.who.get().map(String::as_str),
        run_id: context.0.run_id.get().map(String::as_str),
        trace_id: context.trace_id(),
        trouble: response.extensions().get::<Trouble>().map(|trouble| trouble.0.as_str()),
    });
}

/// The span of a request. An answer that is a stream has ended when it begins to flow.
fn trace_request(service: &Service, context: &Context, seen: &Seen<'_>, status: u16) {
    let Some((place, _)) = &context.0.trace else { return };
    let mut span =
        Span::new(place.clone(), format!("{} {}", seen.method, seen.route), Kind::Server, seen.began_at)
            .text("http.request.method", seen.method.as_str())
            .text("http.route", seen.route)
            .number("http.response.status_code", u64::from(status))
            .text("ordain.request.id", context.0.request_id.as_str())
            .maybe("ordain.run.id", context.0.run_id.get().map(String::as_str));
    span.parent = seen.caller.as_ref().map(|caller| caller.span_id);
    let error = (status >= 500).then(|| status.to_string());
    service.inner.options.tracer.take(span.failed(error.as_deref()));
}

/// What failed inside, on its way to the log.
#[derive(Debug, Clone)]
struct Trouble(String);

/// Writes the problem that a response carries, if it carries one.
fn written(mut response: Response, context: &Context, route: &str, form: ui::ProblemForm) -> Response {
    let Some(mut problem) = response.extensions_mut().remove::<Problem>() else { return response };
    problem.request_id.clone_from(&context.0.request_id);
    problem.trace_id = context.trace_id().map(str::to_owned);
    let (media_type, body) = form.render(&problem).unwrap_or_else(|| rendered(&problem, route));
    let (mut parts, _) = response.into_parts();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    parts.headers.remove(header::CONTENT_LENGTH);
    if problem.status == StatusCode::UNAUTHORIZED.as_u16() {
        parts.headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ordain\""));
    }
    if media_type.starts_with("text/html") {
        parts.headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(ui::POLICY));
    }
    if let Some(inner) = problem.inner.take() {
        parts.extensions.insert(Trouble(inner));
    }
    Response::from_parts(parts, Body::from(body))
}

/// A problem in the shape of the route's protocol. Protocols that have a shape of their own are told apart here.
fn rendered(problem: &Problem, route: &str) -> (&'static str, String) {
    if openai::has_route(route) {
        return ("application/json", openai::error::body(problem).to_string());
    }
    ("application/problem+json", serde_json::to_string(problem).unwrap_or_default())
}

fn finish(headers: &mut HeaderMap, context: &Context) {
    if let Ok(id) = HeaderValue::from_str(&context.0.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(rate) = context.0.rate.get() {
        rate.write(headers);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let usual = [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in usual {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// The caller's id for the request if it is a plain one, else one of ours.
fn request_id(headers: &HeaderMap) -> String {
    let is_plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= REQUEST_ID_MAX
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_plain);
    given.map_or_else(new_id, str::to_owned)
}

fn new_id() -> String {
    let mut random = [0_u8; 10];
    // An id that is not random is still an id; no request fails for want of it.
    let _ = getrandom::fill(&mut random);
    format!("req_{}", ordain_types::hex(&random))
}

/// There is no such route.
pub(crate) async fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_such_route", "there is nothing at this address")
        .hint("`/docs` shows what there is; chat clients use `/v1/chat/completions`")
}

/// The route does not know the method.
pub(crate) async fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take that method",
    )
    .hint("`/docs` shows what there is")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_id_is_kept_only_if_it_is_plain() {
        let mut headers = HeaderMap::new();
        assert!(request_id(&headers).starts_with("req_"));
        headers.insert(REQUEST_ID, HeaderValue::from_static("trace-1.a_B"));
        assert_eq!(request_id(&headers), "trace-1.a_B");
        for odd in ["", "a b", "a\tb", "{\"forged\":1}", &"x".repeat(65)] {
            headers.insert(REQUEST_ID, HeaderValue::from_str(odd).unwrap());
            assert!(request_id(&headers).starts_with("req_"), "{odd}");
        }
    }
}
