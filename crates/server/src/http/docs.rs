//! `/openapi.json`, `/docs` and `/redoc`: the contract, to read and to try, from the binary alone.
//!
//! Swagger UI is two of the files that pages load (`ordain_ui::assets`). `/redoc` is a page of our own without any script.

mod page;

use std::sync::OnceLock;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;

use ordain_ui::assets::address;

use super::openapi;
use super::service::Service;

/// Swagger UI sets styles on elements, and shows pictures that are written in its styles.
const EXPLORER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The picture that browsers ask for by themselves, and show beside a page's title.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" \
     rx=\"3\" fill=\"#1b1b1f\"/><path d=\"M4 8.5l3 3 5-6\" fill=\"none\" stroke=\"#7fd6a1\" stroke-width=\"2\"/></svg>\n";
/// Swagger UI of this version has no dark colours: its light ones are turned around, and what was dark already is not.
const EXPLORER_STYLE: &str = "nav{font:15px system-ui,sans-serif;padding:.75rem 20px}nav a{color:#3b4151}\
     @media(prefers-color-scheme:dark){body{background:#17171a}nav a{color:#9cf}\
     #explorer{filter:invert(.9) hue-rotate(180deg)}#explorer .microlight{filter:invert(1) hue-rotate(180deg)}}";
const START: &str = "window.ui = SwaggerUIBundle({\n  url: \"/openapi.json\",\n  dom_id: \"#explorer\",\n  \
     deepLinking: true,\n  presets: [SwaggerUIBundle.presets.apis],\n  layout: \"BaseLayout\",\n  \
     validatorUrl: null,\n});\n";

/// The routes of this module. They need no key: they say what the program is, not what the workspace holds.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/openapi.json", get(async || text("application/json", document())))
        .route(
            "/docs",
            get(async |State(service): State<Service>| {
                with_policy(Html(explorer(service.inner.options.ui)).into_response(), EXPLORER_POLICY)
            }),
        )
        .route("/favicon.ico", get(async || text("image/svg+xml", ICON)))
        .route("/docs/start.js", get(async || text("text/javascript; charset=utf-8", START)))
        .route("/assets/{hash}/{name}", get(super::ui::asset))
        .route(
            "/redoc",
            get(async || with_policy(text("text/html; charset=utf-8", reference()), PAGE_POLICY)),
        )
}

/// The page to try each operation on, which leads back to the web UI where there is one.
fn explorer(has_ui: bool) -> String {
    let home = if has_ui { "<a href=\"/\">← Ordain</a> · " } else { "" };
    let (style, script) = (address("swagger-ui.css"), address("swagger-ui.js"));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>Ordain API</title>\n<link rel=\"stylesheet\" \
         href=\"{style}\">\n<style>{EXPLORER_STYLE}</style>\n</head>\n<body>\n<nav>{home}<a \
         href=\"/redoc\">To read</a></nav>\n<div id=\"explorer\"></div>\n<script \
         src=\"{script}\"></script>\n<script src=\"/docs/start.js\"></script>\n</body>\n</html>\n"
    )
}

fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| openapi::document().to_string())
}

fn reference() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| page::write(&openapi::document()))
}

fn text(media_type: &'static str, body: &'static str) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(media_type))], body).into_response()
}

fn with_policy(mut response: Response, policy: &'static str) -> Response {
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}
