//! Who calls, and whether they may.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::figures::Figures;
use crate::grpc::status::{Reason, status};

/// The other end of a connection, as the transport knows it.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// The fingerprint of its certificate, if it has shown one that holds.
    pub(crate) certificate: Option<String>,
}

/// Who a call counts as. Sessions belong to a caller, and the log names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Caller(pub(crate) String);

/// A secret that callers share. Only its hash is kept.
#[derive(Clone)]
pub(crate) struct Token([u8; 32]);

impl Token {
    pub(crate) fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Compares hashes, and those in constant time, so that the time tells nothing of the secret.
    pub(crate) fn is(&self, given: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(given.as_bytes()).into();
        self.0.ct_eq(&given).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Lets nobody through who has to show the token and does not.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) token: Option<Arc<Token>>,
    pub(crate) figures: Arc<Figures>,
}

impl Interceptor for Door {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.token {
            let given = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
            let given = given.and_then(|value| value.strip_prefix("Bearer "));
            if !given.is_some_and(|given| token.is(given)) {
                // Which method they wanted is not known at the door.
                super::metrics::handled(&self.figures, "any", tonic::Code::Unauthenticated);
                return Err(status(
                    Reason::Unauthenticated,
                    "this executor asks for a token",
                    Some("send the metadata `authorization: Bearer TOKEN`"),
                ));
            }
        }
        let certificate = request.extensions().get::<Peer>().and_then(|peer| peer.certificate.clone());
        let caller = match (certificate, &self.token) {
            (Some(fingerprint), _) => format!("certificate:{fingerprint}"),
            (None, Some(_)) => "token".to_owned(),
            (None, None) => "anybody".to_owned(),
        };
        request.extensions_mut().insert(Caller(caller));
        Ok(request)
    }
}

/// Who calls.
pub(crate) fn caller<T>(request: &Request<T>) -> Caller {
    request.extensions().get::<Caller>().cloned().unwrap_or_else(|| Caller("anybody".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knock(token: Option<&str>, header: Option<&str>) -> bool {
        let mut door =
            Door { token: token.map(|token| Arc::new(Token::new(token))), figures: Arc::default() };
        let mut request = Request::new(());
        if let Some(header) = header {
            request.metadata_mut().insert("authorization", header.parse().unwrap());
        }
        door.call(request).is_ok()
    }

    #[test]
    fn only_the_very_token_opens_the_door() {
        assert!(knock(None, None));
        assert!(knock(Some("secret"), Some("Bearer secret")));
        for wrong in [None, Some("secret"), Some("Bearer "), Some("Bearer secret "), Some("Basic secret")] {
            assert!(!knock(Some("secret"), wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_token_does_not_show_itself() {
        assert_eq!(format!("{:?}", Token::new("secret")), "Token(…)");
    }
}
