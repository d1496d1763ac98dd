//! Second opinions: consent is a value that says to which program it was given.

use ordain_types::{Review, Trouble};
use sha2::{Digest, Sha256};

/// What a second opinion came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// The reviewer consents, to what it was shown and to nothing else.
    Consent(Consent),
    /// It does not do what was asked.
    Objection(Trouble),
    /// There is none that could be read, and why.
    Missing(String),
}

/// Consent to one program. Only a review gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    by: String,
    program_sha256: String,
}

impl Consent {
    /// What a reviewer consents to.
    pub(crate) fn to(program: &str, by: String) -> Self {
        Self { by, program_sha256: sha256(program) }
    }

    /// The consent that an earlier run recorded, if it did.
    pub fn recorded(review: &Review) -> Option<Self> {
        let by = review.by.clone().filter(|_| review.consents)?;
        Some(Self { by, program_sha256: review.program_sha256.clone() })
    }

    /// Whether it was given to this program.
    pub fn covers(&self, program: &str) -> bool {
        self.program_sha256 == sha256(program)
    }

    /// What the record says about the review of a program: who consented to it, or why nobody did.
    pub fn review(consent: Option<&Self>, program: &str, why_not: Option<&str>) -> Review {
        let program_sha256 = sha256(program);
        let given = consent.filter(|consent| consent.program_sha256 == program_sha256);
        let why = given.is_none().then(|| why_not.map(str::to_owned)).flatten();
        Review { by: given.map(|given| given.by.clone()), consents: given.is_some(), program_sha256, why }
    }
}

fn sha256(text: &str) -> String {
    ordain_types::hex(&Sha256::digest(text.as_bytes()))
}
