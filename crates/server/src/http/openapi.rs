//! The `OpenAPI` 3.1 document: made from the code, served, and kept in the repository so that a change of the contract
//! shows in review.

use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Required, ResponseBuilder, SecurityRequirement,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::openai::{self, OpenAiError, OpenAiErrorDetails};
use super::problem::{PartProblem, ProblemDetails};
use super::schema;

/// What every route may answer besides what it says itself.
const ALWAYS: [(&str, &str); 6] = [
    ("400", "The request is not understood"),
    ("401", "The key is missing, not known, revoked or expired"),
    ("403", "The key has not the scope, or the caller's `Host` or `Origin` is foreign"),
    ("429", "The key has used what it may; `Retry-After` says when to come back"),
    ("500", "Something failed inside the server"),
    ("503", "The server cannot do it at this moment; `Retry-After` says when to come back"),
];
/// What a route that takes a name may answer.
const NAMED: [(&str, &str); 1] = [("404", "There is no such thing")];
/// What a route that changes something may answer.
const CHANGING: [(&str, &str); 2] =
    [("409", "It is not in the state for it, or is being done already"), ("507", "There is no room left")];
/// What a route that takes a body may answer.
const WITH_BODY: [(&str, &str); 4] = [
    ("408", "The body took too long"),
    ("413", "The body, or a part of it, is too large"),
    ("415", "The body is of a kind that is not taken"),
    ("422", "The body is well formed and means nothing here"),
];

/// The document, whole.
pub fn document() -> serde_json::Value {
    let mut document = super::documented().into_openapi();
    for (path, item) in &mut document.paths.paths {
        // A request may name the run that it goes on from, and a run of checks may not be there.
        let is_named = path.contains('{')
            || matches!(path.as_str(), "/v1/requests" | "/v1/checks/accept" | "/v1/check-report");
        let all = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in all.into_iter().flatten() {
            complete(operation, is_named);
        }
        for operation in [&mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten() {
            add(operation, &CHANGING);
        }
        // A table that cannot be read suggests nothing.
        if path == "/v1/data/{table}/suggestions"
            && let Some(operation) = item.get.as_mut()
        {
            add(operation, &CHANGING[..1]);
        }
        // A body that may be left out would be described as one that may be null.
        if matches!(path.as_str(), "/v1/checks/run" | "/v1/runs/{run}/approve")
            && let Some(RefOr::T(body)) =
                item.post.as_mut().and_then(|operation| operation.request_body.as_mut())
        {
            body.required = Some(Required::False);
        }
        if openai::has_route(path) {
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                speak_openai(operation);
            }
        }
    }
    let mut document = serde_json::to_value(document).unwrap_or_default();
    schema::add_to(&mut document);
    document
}

/// What the document says before any route is added.
pub(crate) fn base() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Ordain")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Code is the plan: requests become Python plans that are verified, run in a jailed cell inside one \
             transaction, and recorded. Errors are RFC 9457 problems with a stable `code`.",
        ))
        .license(Some(license))
        .build();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key that `ordain keys create` made. On a loopback address none is needed."))
        .build();
    let components = ComponentsBuilder::new()
        .security_scheme("key", SecurityScheme::Http(bearer))
        .schema(ProblemDetails::name(), ProblemDetails::schema())
        .schema(PartProblem::name(), PartProblem::schema())
        .schema(OpenAiError::name(), OpenAiError::schema())
        .schema(OpenAiErrorDetails::name(), OpenAiErrorDetails::schema())
        .build();
    let tags = [
        ("requests", "Ask something of the workspace's data"),
        ("read", "What the reader understands, while a request is typed"),
        ("openai", "The same for chat clients: completions and models"),
        ("code", "Answer questions about files with code"),
        ("exec", "Run given code in a cell"),
        ("runs", "What was carried out, and what a person decides on it"),
        ("checks", "Standing rules about data"),
        ("plans", "Plans that are kept and used again"),
        ("tables", "The workspace's tables"),
        ("ledger", "The record of everything"),
        ("sessions", "Conversations and sessions"),
        ("operations", "Health, version and figures"),
    ];
    let tags = tags.map(|(name, text)| TagBuilder::new().name(name).description(Some(text)).build());
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([
            SecurityRequirement::default(),
            SecurityRequirement::new("key", std::iter::empty::<String>()),
        ]))
        .tags(Some(tags))
        .build()
}

/// Problems of routes of the other protocol have its shape.
fn speak_openai(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        let RefOr::T(response) = response else { continue };
        if response.content.shift_remove("application/problem+json").is_some() {
            let schema = RefOr::Ref(Ref::from_schema_name(OpenAiError::name()));
            let content = ContentBuilder::new().schema(Some(schema)).build();
            response.content.insert("application/json".to_owned(), RefOr::T(content));
        }
    }
}

fn complete(operation: &mut Operation, is_named: bool) {
    add(operation, &ALWAYS);
    if is_named {
        add(operation, &NAMED);
    }
    if operation.request_body.is_some() {
        add(operation, &WITH_BODY);
    }
}

fn add(operation: &mut Operation, answers: &[(&str, &str)]) {
    for (status, description) in answers {
        let content =
            ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name("Problem")))).build();
        let response = ResponseBuilder::new()
            .description(*description)
            .content("application/problem+json", content)
            .build();
        let responses = &mut operation.responses.responses;
        match responses.get_mut(*status) {
            None => {
                responses.insert((*status).to_owned(), RefOr::T(response));
            }
            // What the route says itself stands, and a problem may come instead.
            Some(RefOr::T(said)) => {
                said.content.extend(response.content);
            }
            Some(_) => {}
        }
    }
}
