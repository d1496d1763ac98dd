//! TLS to PostgreSQL.
//!
//! A connection that leaves the machine is encrypted, and the server must show a certificate for its name that a trusted
//! authority signed; whatever `sslmode` says short of `disable`, nothing weaker is accepted. On the machine itself a
//! socket needs none of that.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::chain;
use crate::error::StoreError;

/// A connection string, read: how to connect, and with which certificates.
pub(super) fn configured(url: &str) -> Result<(Config, Option<MakeRustlsConnect>), StoreError> {
    let written = Written::of(url);
    // The parser's message names the option that it did not understand, never the password.
    let mut config: Config = written
        .rest
        .parse()
        .map_err(|error: tokio_postgres::Error| StoreError::Unreachable { message: chain(&error) })?;
    let is_wanted = match written.mode.as_deref() {
        Some("disable") => false,
        Some("require" | "verify-ca" | "verify-full") => true,
        None | Some("prefer" | "allow") => !is_local(&config),
        Some(other) => return Err(unusable(format!("`sslmode` is `{other}`, which is not a mode"))),
    };
    config.ssl_mode(if is_wanted { SslMode::Require } else { SslMode::Disable });
    let tls = if is_wanted { Some(MakeRustlsConnect::new(client(written.root)?)) } else { None };
    Ok((config, tls))
}

/// What a connection string says about TLS, and the rest of it.
struct Written {
    rest: String,
    mode: Option<String>,
    root: Option<PathBuf>,
}

impl Written {
    /// Both forms: `postgres://…?sslmode=…` and `host=… sslmode=…`.
    fn of(url: &str) -> Self {
        let is_url = url.contains("://");
        let (start, options, between) = match url.split_once('?') {
            Some((start, options)) if is_url => (format!("{start}?"), options, '&'),
            _ if is_url => (url.to_owned(), "", '&'),
            _ => (String::new(), url, ' '),
        };
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        for option in options.split(between).filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => root = Some(PathBuf::from(value.replace("%2F", "/"))),
                _ => rest.push(option),
            }
        }
        Self { rest: format!("{start}{}", rest.join(&between.to_string())), mode, root }
    }
}

/// Whether every host is this machine.
fn is_local(config: &Config) -> bool {
    let is_loopback = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    };
    config.get_hosts().iter().all(is_loopback) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn client(root: Option<PathBuf>) -> Result<ClientConfig, StoreError> {
    let mut roots = RootCertStore::empty();
    match root {
        Some(path) => {
            let unreadable = |error: String| unusable(format!("`sslrootcert` {}: {error}", path.display()));
            let certificates =
                CertificateDer::pem_file_iter(&path).map_err(|error| unreadable(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
                roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn unusable(message: String) -> StoreError {
    StoreError::Unreachable { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_encrypted(url: &str) -> bool {
        configured(url).unwrap().1.is_some()
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_the_owner_says_otherwise() {
        assert!(is_encrypted("postgres://u:p@db.example.org/shop"));
        assert!(is_encrypted("postgres://u:p@10.0.0.7/shop?sslmode=prefer"));
        assert!(is_encrypted("postgres://u@localhost,db.example.org/shop"));
        assert!(is_encrypted("host=db.example.org user=u sslmode=verify-full"));
        assert!(is_encrypted("postgres://u:p@127.0.0.1/shop?connect_timeout=5&sslmode=require"));
        assert!(!is_encrypted("postgres://u:p@127.0.0.1/shop"));
        assert!(!is_encrypted("postgres://u:p@[::1]:5433/shop"));
        assert!(!is_encrypted("postgres://u@%2Fvar%2Frun/shop"));
        assert!(!is_encrypted("postgres://u:p@db.example.org/shop?sslmode=disable"));
        assert!(configured("postgres://u:p@db.example.org/shop?sslmode=sometimes").is_err());
        assert!(configured("postgres://u@db.example.org/shop?sslrootcert=/no/such/file").is_err());
    }

    /// A server that speaks the first words of PostgreSQL's protocol, with or without TLS.
    async fn reached(with_tls: Option<(rcgen::CertifiedKey<rcgen::KeyPair>, PathBuf)>) -> (bool, Vec<u8>) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let root = with_tls.as_ref().map(|(_, root)| format!("&sslrootcert={}", root.display()));
        let url = format!(
            "postgres://u:secret@localhost:{port}/shop?sslmode=verify-full{}",
            root.unwrap_or_default()
        );
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 8];
            socket.read_exact(&mut request).await.unwrap();
            let Some((pair, _)) = with_tls else {
                socket.write_all(b"N").await.unwrap();
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest).await;
                return (false, rest);
            };
            socket.write_all(b"S").await.unwrap();
            let config = tokio_rustls::rustls::ServerConfig::builder_with_provider(Arc::new(
                crypto::ring::default_provider(),
            ))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![pair.cert.der().clone()],
                tokio_rustls::rustls::pki_types::PrivateKeyDer::try_from(pair.signing_key.serialize_der())
                    .unwrap(),
            )
            .unwrap();
            let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
            let Ok(mut stream) = acceptor.accept(socket).await else { return (false, Vec::new()) };
            let mut startup = vec![0; 8];
            let was_read = stream.read_exact(&mut startup).await.is_ok();
            (was_read, startup)
        });
        let (config, tls) = configured(&url).unwrap();
        let connecting =
            tokio::time::timeout(std::time::Duration::from_secs(20), config.connect(tls.unwrap()));
        let connected = connecting.await.expect("it ends");
        assert!(connected.is_err(), "no such server is a database");
        server.await.unwrap()
    }

    fn certificate(folder: &std::path::Path, name: &str) -> (rcgen::CertifiedKey<rcgen::KeyPair>, PathBuf) {
        let pair = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let path = folder.join(format!("{name}.pem"));
        std::fs::write(&path, pair.cert.pem()).unwrap();
        (pair, path)
    }

    #[tokio::test]
    async fn nothing_is_said_to_a_server_without_tls_or_with_another_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(reached(None).await, (false, Vec::new()));
        let (pair, _) = certificate(folder.path(), "localhost");
        let (_, stranger) = certificate(folder.path(), "other.example.org");
        assert!(!reached(Some((pair, stranger.clone()))).await.0, "an unknown authority");
        let (pair, root) = certificate(folder.path(), "third.example.org");
        assert!(!reached(Some((pair, root))).await.0, "another name");
        let (pair, root) = certificate(folder.path(), "localhost");
        assert!(reached(Some((pair, root))).await.0, "the right name, and the right authority");
    }
}
