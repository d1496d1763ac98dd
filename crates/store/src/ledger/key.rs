//! The key that signs the ledger, and the keys that are trusted.
//!
//! Signatures are public-key ones (Ed25519): an auditor who can check the ledger must not thereby be able to forge
//! it, which a shared secret would allow.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use super::unusable;
use crate::error::StoreError;

/// The workspace's own key.
#[derive(Debug)]
pub(super) struct Key {
    signing: SigningKey,
    /// One trusted public key a line: keys of other machines that write to the same database.
    trusted: PathBuf,
}

impl Key {
    /// Reads the key, or makes one; the flag says which.
    pub(super) fn open(state: &Path) -> Result<(Self, bool), StoreError> {
        let failed = |error: std::io::Error| unusable(error.to_string());
        let path = state.join("ledger.key");
        fs_err::create_dir_all(state).map_err(failed)?;
        let (text, is_new) = match super::read_file(&path) {
            Ok(text) => (text, false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Self::make(&path)?, true),
            Err(error) => return Err(failed(error)),
        };
        let seed = unhex::<32>(text.trim()).ok_or_else(|| StoreError::Ledger {
            message: "`ledger.key` is not a key".to_owned(),
            hint: Some(
                "restore it from a copy; without it, earlier entries count as signed by somebody else"
                    .to_owned(),
            ),
        })?;
        let key = Self { signing: SigningKey::from_bytes(&seed), trusted: state.join("ledger.trusted") };
        Ok((key, is_new))
    }

    fn make(path: &Path) -> Result<String, StoreError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| unusable(error.to_string()))?;
        let text = ordain_types::hex(&seed);
        // A finished draft takes the name only if nobody else has it, so that two processes end with one key.
        let draft = path.with_extension(format!("draft{}", std::process::id()));
        let _ = fs_err::remove_file(&draft);
        super::private_file(&draft)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| unusable(error.to_string()))?;
        let linked = fs_err::hard_link(&draft, path);
        let _ = fs_err::remove_file(&draft);
        match linked {
            Ok(()) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                super::read_file(path).map_err(|error| unusable(error.to_string()))
            }
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    /// The public half, as text.
    pub(super) fn public(&self) -> String {
        ordain_types::hex(self.signing.verifying_key().as_bytes())
    }

    pub(super) fn sign(&self, message: &str) -> String {
        ordain_types::hex(&self.signing.sign(message.as_bytes()).to_bytes())
    }

    /// The keys whose signatures count: the workspace's own, and those of the file `ledger.trusted`.
    pub(super) fn trusted(&self) -> Vec<String> {
        let listed = super::read_file(&self.trusted).unwrap_or_default();
        let listed = listed.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
        [self.public()].into_iter().chain(listed).collect()
    }
}

/// Whether a signature is good.
pub(super) fn is_signed(signer: &str, message: &str, signature: &str) -> bool {
    let (Some(signer), Some(signature)) = (unhex::<32>(signer), unhex::<64>(signature)) else { return false };
    let Ok(signer) = VerifyingKey::from_bytes(&signer) else { return false };
    signer.verify_strict(message.as_bytes(), &Signature::from_bytes(&signature)).is_ok()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}
