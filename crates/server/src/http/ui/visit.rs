//! Who looks at a page, and forms that only a page of this server can have sent.

use std::marker::PhantomData;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use ordain_types::RunState;
use ordain_ui::{Markup, Notice, Place, Shell, Theme, Viewer};
use serde::de::DeserializeOwned;

use super::reply;
use super::sign_ins::Token;
use crate::http::body;
use crate::http::caller::{Asked, Caller, Scope};
use crate::http::cors;
use crate::http::frame::Context;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// The cookie with the name of the session.
pub(super) const SESSION: &str = "ordain_session";
/// The cookie with the theme.
pub(super) const THEME: &str = "ordain_theme";
/// Bytes of a form without files.
const FORM_BYTES_MAX: usize = 256 << 10;

/// Someone who looks at a page, and has the scope for it.
#[derive(Debug)]
pub(crate) struct Visit<S> {
    pub(crate) service: Service,
    pub(crate) caller: Caller,
    pub(crate) viewer: Viewer,
    theme: Theme,
    here: String,
    token: Token,
    headers: HeaderMap,
    scope: PhantomData<fn() -> S>,
}

/// Why a page is not shown.
#[derive(Debug)]
pub(crate) enum Turned {
    /// Nobody is signed in; the page that was asked for is kept.
    SignIn(String),
    /// Something else.
    Problem(Problem),
}

impl<P: Into<Problem>> From<P> for Turned {
    fn from(problem: P) -> Self {
        Self::Problem(problem.into())
    }
}

impl IntoResponse for Turned {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::SignIn(next) => {
                let address = format!("/sign-in?next={}", ordain_ui::text::in_path(&next));
                let mut response = Redirect::to(&address).into_response();
                // A part of a page is fetched by a script, which is to leave the page as a whole.
                if let Ok(address) = HeaderValue::from_str(&address) {
                    response.headers_mut().insert("hx-redirect", address);
                }
                response
            }
        }
    }
}

impl<S: Asked> FromRequestParts<Service> for Visit<S> {
    type Rejection = Turned;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Turned> {
        let has_key = parts.headers.contains_key(header::AUTHORIZATION);
        let sign_ins = &service.inner.sign_ins;
        let (caller, token, is_signed_in) = if has_key || !service.inner.options.needs_keys() {
            (service.identify(&parts.headers).await?, sign_ins.local_token().clone(), false)
        } else {
            let here =
                if parts.method == axum::http::Method::GET { parts.uri.to_string() } else { "/".to_owned() };
            let name = cookie(&parts.headers, SESSION);
            let Some(session) = name.and_then(|name| sign_ins.find(name)) else {
                return Err(Turned::SignIn(here));
            };
            let Ok(caller) = service.caller_of_id(&session.key_id).await else {
                return Err(Turned::SignIn(here));
            };
            (caller, session.token, true)
        };
        service.admit(&caller, parts.extensions.get::<Context>(), S::SCOPE)?;
        let viewer = Viewer {
            signed_in_as: is_signed_in.then(|| caller.id.clone()),
            may_run: caller.may(Scope::Run),
            may_approve: caller.may(Scope::Approve),
            sees_every_table: caller.must_see_every_table().is_ok(),
            is_admin: caller.may(Scope::Admin),
            token: token.0.clone(),
        };
        let theme = cookie(&parts.headers, THEME).and_then(Theme::named).unwrap_or_default();
        let here = parts.uri.path().to_owned();
        let (service, headers) = (service.clone(), parts.headers.clone());
        Ok(Self { service, caller, viewer, theme, here, token, headers, scope: PhantomData })
    }
}

impl<S> Visit<S> {
    /// The frame of a page: navigation and footer.
    pub(crate) async fn shell(&self, notice: Option<Notice>) -> Result<Shell, Problem> {
        Ok(Shell {
            workspace: self.service.inner.options.workspace.clone(),
            viewer: self.viewer.clone(),
            theme: self.theme,
            here: self.here.clone(),
            waiting: self.waiting().await?,
            notice,
        })
    }

    /// A whole page.
    pub(crate) async fn page(&self, place: Place, title: &str, content: &Markup) -> Result<Response, Turned> {
        self.page_after(None, place, title, content).await
    }

    /// A whole page that says what was done a moment ago.
    pub(crate) async fn page_after(
        &self,
        done: Option<&str>,
        place: Place,
        title: &str,
        content: &Markup,
    ) -> Result<Response, Turned> {
        let shell = self.shell(reply::notice(done)).await?;
        Ok(reply::html(&self.headers, shell.page(place, title, content)))
    }

    /// What the browser sent besides the page's address.
    pub(crate) const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// How many runs wait for this visitor's decision.
    async fn waiting(&self) -> Result<u64, Problem> {
        if !self.viewer.may_approve {
            return Ok(0);
        }
        let store = self.service.engine().store();
        Ok(store.count_runs(RunState::Held).await? + store.count_runs(RunState::Waiting).await?)
    }

    /// Refuses a form that no page of this visitor sent.
    pub(crate) fn check(&self, token: &str) -> Result<(), Problem> {
        if self.token.is(token) {
            return Ok(());
        }
        let detail = "this form is not of a page that is open now";
        Err(Problem::new(StatusCode::FORBIDDEN, "stale_form", detail)
            .hint("load the page again and repeat it"))
    }
}

/// A form that holds nothing but its token.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Nothing {}

/// A form, and who sent it.
#[derive(Debug)]
pub(crate) struct Sent<S, T> {
    pub(crate) visit: Visit<S>,
    pub(crate) form: T,
}

impl<S: Asked, T: DeserializeOwned> FromRequest<Service> for Sent<S, T> {
    type Rejection = Turned;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Turned> {
        let (mut parts, body) = request.into_parts();
        let visit = Visit::<S>::from_request_parts(&mut parts, service).await?;
        same_site(&parts.headers)?;
        let bytes = body::read(body, FORM_BYTES_MAX, service).await?;
        let fields: Vec<(String, String)> = read_form(&bytes)?;
        let token = fields.iter().find(|(name, _)| name == "token").map_or("", |(_, token)| token);
        visit.check(token)?;
        Ok(Self { visit, form: read_form(&bytes)? })
    }
}

/// Reads a form as browsers send it.
pub(super) fn read_form<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_urlencoded::from_bytes(bytes).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "bad_form", format!("the form is not understood: {error}"))
    })
}

/// Refuses what a page of another site made the browser send. Browsers say so in headers that pages cannot set.
pub(super) fn same_site(headers: &HeaderMap) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_foreign = cors::is_of_another_site(headers)
        || headers.get(header::ORIGIN).is_some_and(|origin| !cors::is_own(origin, host));
    if is_foreign {
        let detail = "forms are taken from pages of this server alone";
        return Err(Problem::new(StatusCode::FORBIDDEN, "foreign_origin", detail));
    }
    Ok(())
}

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(of, _)| *of == name).map(|(_, value)| value).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a_ordain_theme=x; ordain_theme=dark;b=c"));
        assert_eq!(cookie(&headers, THEME), Some("dark"));
        assert_eq!(cookie(&headers, SESSION), None);
    }

    #[test]
    fn forms_of_other_sites_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost:8000"));
        assert!(same_site(&headers).is_ok());
        headers.insert(header::ORIGIN, HeaderValue::from_static("http://localhost:8000"));
        assert!(same_site(&headers).is_ok());
        headers.insert("sec-fetch-site", HeaderValue::from_static("same-site"));
        assert!(same_site(&headers).is_err());
        headers.remove("sec-fetch-site");
        headers.insert(header::ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert!(same_site(&headers).is_err());
        headers.insert(header::ORIGIN, HeaderValue::from_static("null"));
        assert!(same_site(&headers).is_err());
    }
}
