//! Certificates for one test: an authority, and what it signs.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// An authority with a folder of its own.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// A certificate and its key, as files.
pub(crate) struct Pair {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two certificates of one name look self-signed to some libraries.
        params.distinguished_name.push(DnType::CommonName, "test authority");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    /// The authority's own certificate.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A certificate for a name, signed by the authority.
    pub(crate) fn sign(&self, name: &str) -> Pair {
        let pair = Pair {
            certificate: self.folder.path().join(format!("{name}.pem")),
            key: self.folder.path().join(format!("{name}.key")),
        };
        self.sign_into(name, &pair.certificate, &pair.key);
        pair
    }

    /// The same, into given files.
    pub(crate) fn sign_into(&self, name: &str, certificate: &Path, key_file: &Path) {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        fs_err::write(certificate, signed.pem()).unwrap();
        fs_err::write(key_file, key.serialize_pem()).unwrap();
    }
}
