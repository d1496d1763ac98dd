//! The certificates of an executor: read from files, and read again when the operator says so.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, version};

use super::ServeError;

/// Where the certificates lie.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The executor's certificate and those that stand behind it, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// The authorities whose certificates callers have to show, PEM. Without it callers show none.
    pub client_ca: Option<PathBuf>,
}

/// What connections are accepted with, at this moment.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    pub(crate) fn read(files: TlsFiles) -> Result<Self, ServeError> {
        let config = RwLock::new(Arc::new(read(&files)?));
        Ok(Self { files, config })
    }

    /// Reads the files again. If they are not good, what held before still holds.
    pub(crate) fn reload(&self) -> Result<(), ServeError> {
        let config = Arc::new(read(&self.files)?);
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(files: &TlsFiles) -> Result<ServerConfig, ServeError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(|error| ServeError::Tls { what: "the TLS versions".to_owned(), said: error.to_string() })?;
    let chain = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(wrong(&files.key))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(wrong(path))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().map_err(wrong(path))?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(wrong(&files.certificate))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn certificates(path: &std::path::Path) -> Result<Vec<CertificateDer<'static>>, ServeError> {
    let read = CertificateDer::pem_file_iter(path).map_err(wrong(path))?;
    let certificates = read.collect::<Result<Vec<_>, _>>().map_err(wrong(path))?;
    if certificates.is_empty() {
        return Err(wrong(path)("it holds no certificate"));
    }
    Ok(certificates)
}

fn wrong<E: ToString>(path: &std::path::Path) -> impl FnOnce(E) -> ServeError {
    let what = format!("`{}`", path.display());
    move |error| ServeError::Tls { what, said: error.to_string() }
}
