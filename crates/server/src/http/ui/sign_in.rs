//! Signing in with a key, signing out, and the choice of a theme.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use ordain_ui::Theme;
use serde::Deserialize;

use super::reply;
use super::visit::{Nothing, SESSION, Sent, THEME, Turned, cookie, read_form, same_site};
use crate::http::body::{self, Query};
use crate::http::caller::Read;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Bytes of the form.
const FORM_BYTES_MAX: usize = 16 << 10;

/// Where to go afterwards.
#[derive(Debug, Deserialize)]
pub(super) struct Next {
    next: Option<String>,
}

/// The page that asks for a key.
pub(super) async fn page(State(service): State<Service>, headers: HeaderMap, query: Query<Next>) -> Response {
    if !service.inner.options.needs_keys() {
        return Redirect::to("/").into_response();
    }
    let next = inside(query.next.as_deref());
    reply::html(&headers, ordain_ui::sign_in::page(&service.inner.options.workspace, next, None))
}

/// The key, and where to go.
#[derive(Debug, Deserialize)]
struct Entered {
    key: String,
    #[serde(default)]
    next: Option<String>,
}

/// Opens a session for a good key.
pub(super) async fn enter(
    State(service): State<Service>,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    same_site(&parts.headers)?;
    let entered: Entered = read_form(&body::read(body, FORM_BYTES_MAX, &service).await?)?;
    let next = inside(entered.next.as_deref());
    match service.caller_of_key(entered.key.trim()).await {
        Ok(caller) => {
            let name = service.inner.sign_ins.open(&caller.id)?;
            Ok(with_cookie(Redirect::to(next), &parts.headers, SESSION, &name, "HttpOnly; "))
        }
        Err(problem) if problem.status == 401 => {
            let page =
                ordain_ui::sign_in::page(&service.inner.options.workspace, next, Some(&problem.detail));
            Ok((axum::http::StatusCode::UNAUTHORIZED, reply::html(&parts.headers, page)).into_response())
        }
        Err(problem) => Err(problem),
    }
}

/// Ends the session.
pub(super) async fn leave(
    State(service): State<Service>,
    headers: HeaderMap,
    sent: Sent<Read, Nothing>,
) -> Result<Response, Turned> {
    drop(sent);
    if let Some(name) = cookie(&headers, SESSION) {
        service.inner.sign_ins.close(name);
    }
    Ok(with_cookie(Redirect::to("/sign-in"), &headers, SESSION, "", "HttpOnly; Max-Age=0; "))
}

/// Which theme.
#[derive(Debug, Deserialize)]
pub(super) struct Chosen {
    theme: String,
    back: Option<String>,
}

/// Keeps a theme in a cookie, and shows the page again that it was chosen on.
pub(super) async fn theme(headers: HeaderMap, sent: Sent<Read, Chosen>) -> Result<Response, Turned> {
    let theme = Theme::named(&sent.form.theme)
        .ok_or_else(|| Problem::unprocessable("bad_form", "/theme", "there are auto, light and dark"))?;
    let back = inside(sent.form.back.as_deref());
    Ok(with_cookie(Redirect::to(back), &headers, THEME, theme.name(), "Max-Age=31536000; "))
}

/// An address on this server; another is the start. Browsers drop tabs and line breaks and take a backslash for a slash
/// before they read an address, so that only what they leave as it is counts.
fn inside(next: Option<&str>) -> &str {
    let is_inside = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    next.filter(is_inside).unwrap_or("/")
}

fn with_cookie(to: Redirect, headers: &HeaderMap, name: &str, value: &str, how: &str) -> Response {
    // Behind a proxy that speaks TLS the cookie must not travel without it.
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes() == b"https");
    let secure = if is_secure { "Secure; " } else { "" };
    let mut response = to.into_response();
    if let Ok(text) = HeaderValue::from_str(&format!("{name}={value}; {how}{secure}SameSite=Lax; Path=/")) {
        response.headers_mut().insert(header::SET_COOKIE, text);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_never_leads_to_another_site() {
        for inside_it in ["/", "/runs/abc?x=1#diff"] {
            assert_eq!(inside(Some(inside_it)), inside_it);
        }
        for elsewhere in [
            "",
            "//evil.example",
            "http://evil.example",
            "/\\evil.example",
            "/a\r\nb",
            "/\t/evil.example",
            "/ /evil",
            "runs",
        ] {
            assert_eq!(inside(Some(elsewhere)), "/", "{elsewhere:?}");
        }
        assert_eq!(inside(None), "/");
    }
}
