//! Who calls, and what they may do.
//!
//! Every handler that needs a caller takes a [`May`] with the scope that it asks for. Getting one is where the key is
//! compared, where it may have expired or been revoked, and where its rate limit counts.

use std::marker::PhantomData;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use ordain_store::{CallerKey, KeyState};

use super::frame::Context;
use super::problem::Problem;
use super::service::Service;

/// Who calls without a key, on a loopback address.
pub(crate) const LOCAL: &str = "local";
/// What tools send that insist on some key, where none is needed.
const NO_KEY: &str = "none";

/// What a key allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Look at the server's figures, and at no row.
    Metrics,
    /// Look at tables, checks, figures, and what the key itself did.
    Read,
    /// Ask, and run code. It includes `read`.
    Run,
    /// See held runs and decide on them. It includes `read`.
    Approve,
    /// Everything, of all callers: their runs, plans and conversations, and the ledger with its prompts.
    Admin,
}

ordain_types::names!(Scope, as_str { Metrics = "metrics", Read = "read", Run = "run", Approve = "approve", Admin = "admin" });

impl Scope {
    /// Whether having this scope is enough where `wanted` is asked for.
    fn allows(self, wanted: Self) -> bool {
        match wanted {
            Self::Metrics => true,
            Self::Read => self != Self::Metrics,
            _ => self == wanted || self == Self::Admin,
        }
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::named(text);
        found.ok_or_else(|| {
            format!("there is no scope `{text}`; there are metrics, read, run, approve and admin")
        })
    }
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The key's id, or `local`: the ledger's `who`.
    pub(crate) id: String,
    /// The key, unless the call is local.
    pub(crate) key: Option<CallerKey>,
}

impl Caller {
    /// Whether it has the scope.
    pub(crate) fn may(&self, wanted: Scope) -> bool {
        let Some(key) = &self.key else { return true };
        // Who decides on what others change has to see all of it.
        if self.is_limited() && matches!(wanted, Scope::Approve | Scope::Admin) {
            return false;
        }
        let scopes = key.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok());
        scopes.into_iter().any(|scope| scope.allows(wanted))
    }

    /// Refuses a caller that has not the scope.
    pub(crate) fn must(&self, wanted: Scope) -> Result<(), Problem> {
        if self.may(wanted) {
            return Ok(());
        }
        let detail = format!("this needs a key with the scope `{wanted}`");
        let hint = format!("make one with `ordain keys create --scope {wanted}`");
        Err(Problem::new(StatusCode::FORBIDDEN, "scope_missing", detail).hint(hint))
    }
}

/// The proof that the caller may do something.
#[derive(Debug)]
pub(crate) struct May<S> {
    pub(crate) caller: Caller,
    scope: PhantomData<S>,
}

/// A scope as a type, so that a handler's signature tells what it asks for.
pub(crate) trait Asked {
    const SCOPE: Scope;
}

macro_rules! asked {
    ($($name:ident),*) => {$(
        #[doc = "See [`Scope`]."]
        #[derive(Debug)]
        pub(crate) struct $name;
        impl Asked for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )*};
}
asked!(Metrics, Read, Run, Approve, Admin);

impl<S: Asked> FromRequestParts<Service> for May<S> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Problem> {
        let caller = service.identify(&parts.headers).await?;
        service.admit(&caller, parts.extensions.get::<Context>(), S::SCOPE)?;
        Ok(Self { caller, scope: PhantomData })
    }
}

impl Service {
    /// Counts a request of a caller, and refuses one that has used up its rate or has not the scope.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        context: Option<&Context>,
        scope: Scope,
    ) -> Result<(), Problem> {
        if let Some(context) = context {
            context.is_by(&caller.id);
        }
        let shown = self.inner.rates.request(caller, &self.inner.options);
        if let (Some(context), Some(shown)) = (context, &shown) {
            context.has_rate(shown.clone());
        }
        if let Some(problem) = shown.and_then(|shown| shown.refusal()) {
            return Err(problem);
        }
        caller.must(scope)?;
        let open = self.inner.rates.open(caller, &self.inner.options)?;
        if let (Some(context), Some(open)) = (context, open) {
            context.holds(open);
        }
        Ok(())
    }

    /// The caller of a key as it is sent, if the key is good.
    pub(crate) async fn caller_of_key(&self, text: &str) -> Result<Caller, Problem> {
        let (id, secret) = ordain_store::split_key(text).ok_or_else(bad_key)?;
        let found = self.inner.keys.find(id).await?;
        // The secret first: only its owner learns that a key has expired.
        let now = self.engine().store().timestamp();
        let key = found.filter(|key| key.has_secret(secret, &now)).ok_or_else(bad_key)?;
        self.caller_with(key)
    }

    /// The caller of a key that was proved before, if it is still good.
    pub(crate) async fn caller_of_id(&self, key_id: &str) -> Result<Caller, Problem> {
        let key = self.inner.keys.find(key_id).await?.ok_or_else(bad_key)?;
        self.caller_with(key)
    }

    fn caller_with(&self, key: CallerKey) -> Result<Caller, Problem> {
        let how = match key.state(&self.engine().store().timestamp()) {
            KeyState::Good => {
                self.inner.keys.was_used(&key.key_id);
                return Ok(Caller { id: key.key_id.clone(), key: Some(key) });
            }
            KeyState::Revoked => "was revoked",
            KeyState::Expired => "has expired",
            KeyState::Altered => "is not the one that the ledger knows",
        };
        let problem = Problem::new(StatusCode::UNAUTHORIZED, "key_ended", format!("the key {how}"));
        Err(problem.hint("make a new one with `ordain keys create` or `ordain keys rotate`"))
    }

    /// Finds out who calls.
    pub(crate) async fn identify(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let given = bearer(headers)?;
        match given {
            Some(text) if ordain_store::split_key(text).is_some() => self.caller_of_key(text).await,
            None | Some(NO_KEY) if !self.inner.options.needs_keys() => {
                Ok(Caller { id: LOCAL.to_owned(), key: None })
            }
            Some(_) => Err(bad_key()),
            None => Err(no_key()),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| bad_key())?;
    let scheme_end = text.find(' ').unwrap_or(text.len());
    let (scheme, token) = text.split_at(scheme_end);
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(no_key());
    }
    Ok(Some(token.trim()))
}

fn no_key() -> Problem {
    let detail = "this server needs a key: `Authorization: Bearer ordain_…`";
    Problem::new(StatusCode::UNAUTHORIZED, "key_missing", detail)
        .hint("the operator makes one with `ordain keys create`")
}

fn bad_key() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "key_unknown", "the key is not known here")
        .hint("check that it is whole, and that it is this workspace's; a server that needs no key takes none, or the word `none`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_and_approve_include_read_and_nothing_else() {
        assert!(Scope::Run.allows(Scope::Read) && Scope::Approve.allows(Scope::Read));
        assert!(!Scope::Run.allows(Scope::Approve) && !Scope::Approve.allows(Scope::Run));
        assert!(Scope::Read.allows(Scope::Metrics) && !Scope::Metrics.allows(Scope::Read));
        assert!(!Scope::Read.allows(Scope::Run) && !Scope::Run.allows(Scope::Admin));
        assert!(Scope::ALL.into_iter().all(|scope| Scope::Admin.allows(scope)));
    }

    #[test]
    fn only_bearer_tokens_are_read() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers).unwrap(), None);
        headers.insert(header::AUTHORIZATION, "bearer  abc".parse().unwrap());
        assert_eq!(bearer(&headers).unwrap(), Some("abc"));
        headers.insert(header::AUTHORIZATION, "Basic abc".parse().unwrap());
        assert!(bearer(&headers).is_err());
    }
}
