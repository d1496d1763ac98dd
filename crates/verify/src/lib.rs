//! Judges a plan's code before it may run.
//!
//! [`verify`] never runs the code and does no IO, so the same code and policy always give the same [`Verdict`].
//!
//! Invariant: [`VerifiedCode`] has no public constructor. Holding one is the proof that its code was accepted,
//! and a cell takes nothing else.

/// Code that the verifier accepted.
#[derive(Debug, Clone)]
pub struct VerifiedCode {
    code: String,
}

impl VerifiedCode {
    /// The Python source.
    pub fn code(&self) -> &str {
        &self.code
    }
}

/// What the verifier says of a piece of code.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The proof of acceptance, if it was accepted.
    pub verified: Option<VerifiedCode>,
}

/// Judges code under the open contract: any program may run, only the jail defends.
pub fn verify(code: &str) -> Verdict {
    Verdict { verified: Some(VerifiedCode { code: code.to_owned() }) }
}
