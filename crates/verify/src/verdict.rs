//! What the verifier says of a piece of code, and the proof of its acceptance.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::contract::Contract;
use crate::effects::Effects;
use crate::finding::{Finding, Severity};

/// Code that the verifier accepted.
///
/// It has no public constructor and cannot be deserialised, so holding one is the proof that [`crate::verify`]
/// accepted exactly this text:
///
/// ```compile_fail,E0451
/// let forged = ordain_verify::VerifiedCode {
///     code: "import socket".to_owned(),
///     contract: ordain_verify::Contract::Ask,
/// };
/// ```
///
/// ```compile_fail,E0277
/// let forged: ordain_verify::VerifiedCode = serde_json::from_str(r#"{"code":"import socket"}"#).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedCode {
    code: String,
    contract: Contract,
}

impl VerifiedCode {
    /// The Python source, byte for byte as it was judged.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The contract under which it was accepted.
    pub fn contract(&self) -> Contract {
        self.contract
    }
}

/// What the verifier says of a piece of code.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The reasons, in the order of the source.
    pub findings: Vec<Finding>,
    /// How many more there were than the policy's limit lets through.
    pub findings_left_out: usize,
    /// What the code reads, writes and depends on. Empty if it could not be parsed, and under the open contract.
    pub effects: Effects,
    verified: Option<VerifiedCode>,
}

impl Verdict {
    /// Accepts the code if no finding is an error. The only place that makes a [`VerifiedCode`].
    pub(crate) fn new(
        code: &str,
        contract: Contract,
        findings: Vec<Finding>,
        findings_left_out: usize,
        effects: Effects,
    ) -> Self {
        // Errors that were left out stand behind errors that are listed, so the list alone decides.
        let is_accepted = findings.iter().all(|finding| finding.severity != Severity::Error);
        let verified = is_accepted.then(|| VerifiedCode { code: code.to_owned(), contract });
        Self { findings, findings_left_out, effects, verified }
    }

    /// A verdict on bytes that are not even text.
    pub(crate) fn rejected(finding: Finding) -> Self {
        Self { findings: vec![finding], findings_left_out: 0, effects: Effects::default(), verified: None }
    }

    /// Whether the code may run.
    pub fn is_accepted(&self) -> bool {
        self.verified.is_some()
    }

    /// The proof of acceptance, if the code was accepted.
    pub fn verified(&self) -> Option<&VerifiedCode> {
        self.verified.as_ref()
    }

    /// The proof of acceptance, if the code was accepted.
    pub fn into_verified(self) -> Option<VerifiedCode> {
        self.verified
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Verdict", 4)?;
        fields.serialize_field("accepted", &self.is_accepted())?;
        fields.serialize_field("findings", &self.findings)?;
        fields.serialize_field("findings_left_out", &self.findings_left_out)?;
        fields.serialize_field("effects", &self.effects)?;
        fields.end()
    }
}
