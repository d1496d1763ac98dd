//! Who is signed in: random names in cookies, and the keys behind them.
//!
//! Sessions live in memory and end with the server. Of a session's name only the hash is kept, so that nothing here
//! can be used to enter. A key that is revoked ends its sessions with the next request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::http::problem::Problem;

/// How long a sign-in holds.
const LIFE: Duration = Duration::from_hours(12);
/// Sessions at once; the one that ends first makes room.
const SESSIONS_MAX: usize = 10_000;

/// Who is signed in.
#[derive(Debug)]
pub(crate) struct SignIns {
    /// What forms send back where nobody signs in, because the server is this machine's alone.
    local_token: Token,
    open: Mutex<HashMap<[u8; 32], Session>>,
}

/// A sign-in.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The key that was shown.
    pub(crate) key_id: String,
    /// What its forms send back.
    pub(crate) token: Token,
    ends: Instant,
}

/// A random text that another site cannot know.
#[derive(Debug, Clone)]
pub(crate) struct Token(pub(crate) String);

impl Token {
    pub(super) fn new() -> Result<Self, Problem> {
        let mut random = [0_u8; 32];
        getrandom::fill(&mut random).map_err(|error| Problem::internal(error.to_string()))?;
        Ok(Self(ordain_types::hex(&random)))
    }

    /// Whether a form sent this very text. It takes the same time whatever the difference.
    pub(crate) fn is(&self, given: &str) -> bool {
        !self.0.is_empty() && self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl SignIns {
    pub(crate) fn new() -> Self {
        // Without random bytes there is no token that anybody can send, and no form is taken.
        let local_token = Token::new().unwrap_or(Token(String::new()));
        Self { local_token, open: Mutex::default() }
    }

    /// What forms send back where nobody signs in.
    pub(crate) fn local_token(&self) -> &Token {
        &self.local_token
    }

    /// Opens a session for a key, and gives its name.
    pub(crate) fn open(&self, key_id: &str) -> Result<String, Problem> {
        let name = Token::new()?.0;
        let session =
            Session { key_id: key_id.to_owned(), token: Token::new()?, ends: Instant::now() + LIFE };
        let mut open = self.lock();
        let now = Instant::now();
        open.retain(|_, session| session.ends > now);
        if open.len() >= SESSIONS_MAX
            && let Some(first) = open.iter().min_by_key(|(_, session)| session.ends).map(|(name, _)| *name)
        {
            open.remove(&first);
        }
        open.insert(hash(&name), session);
        Ok(name)
    }

    /// The session of that name, if it has not ended.
    pub(crate) fn find(&self, name: &str) -> Option<Session> {
        self.lock().get(&hash(name)).filter(|session| session.ends > Instant::now()).cloned()
    }

    /// Ends a session.
    pub(crate) fn close(&self, name: &str) {
        self.lock().remove(&hash(name));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(name: &str) -> [u8; 32] {
    Sha256::digest(name.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_name_until_it_is_closed() {
        let sign_ins = SignIns::new();
        let (one, other) = (sign_ins.open("k1").unwrap(), sign_ins.open("k2").unwrap());
        assert_eq!(sign_ins.find(&one).unwrap().key_id, "k1");
        assert!(!sign_ins.find(&one).unwrap().token.is(&sign_ins.find(&other).unwrap().token.0));
        sign_ins.close(&one);
        assert!(sign_ins.find(&one).is_none() && sign_ins.find("").is_none());
        assert_eq!(sign_ins.find(&other).unwrap().key_id, "k2");
    }

    #[test]
    fn an_empty_token_is_nobodys() {
        assert!(!Token(String::new()).is(""));
        assert!(Token("a".to_owned()).is("a") && !Token("a".to_owned()).is("b"));
    }
}
