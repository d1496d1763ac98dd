//! Connections to an executor: where, how encrypted, and with which credentials.

use std::path::PathBuf;
use std::time::Duration;

use ordain_cell::Level;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

use super::Client;
use crate::grpc::convert::MESSAGE_BYTES_MAX;
use crate::grpc::proto::executor_client::ExecutorClient;
use crate::trace;

/// How long a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// How often a silent executor is asked whether it is there, and how long it may take to say so.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How executors are reached.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Certificates, for addresses that begin with `https`.
    pub tls: RemoteTls,
    /// The secret that the executor asks for.
    pub token: Option<String>,
    /// Connections to one executor.
    pub connections: usize,
    /// The isolation below which nothing is taken from an executor.
    pub minimum: Level,
    /// How much longer than its code a job may take, for the network and the executor's queue.
    pub grace: Duration,
    /// The token may travel unencrypted to other machines, for a network that encrypts by itself.
    pub allow_plaintext: bool,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            tls: RemoteTls::default(),
            token: None,
            connections: 2,
            minimum: Level::Full,
            grace: Duration::from_secs(10),
            allow_plaintext: false,
        }
    }
}

impl std::fmt::Debug for RemoteOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RemoteOptions")
            .field("tls", &self.tls)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("connections", &self.connections)
            .field("minimum", &self.minimum)
            .field("grace", &self.grace)
            .field("allow_plaintext", &self.allow_plaintext)
            .finish()
    }
}

/// Where the certificates of a caller lie.
#[derive(Debug, Clone, Default)]
pub struct RemoteTls {
    /// The authorities that the executor's certificate has to come from, PEM.
    pub ca: Option<PathBuf>,
    /// The caller's own certificate, PEM.
    pub certificate: Option<PathBuf>,
    /// Its private key, PEM.
    pub key: Option<PathBuf>,
    /// The name in the executor's certificate, where it is not that of the address.
    pub domain: Option<String>,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// It is not an address of an executor.
    #[error("`{address}` is not an address of an executor")]
    Address {
        /// The address.
        address: String,
    },
    /// It asks for TLS, and nobody says whose certificates to trust.
    #[error("`{address}` needs the certificate of an authority")]
    Authority {
        /// The address.
        address: String,
    },
    /// A certificate comes without its key, or a key without its certificate.
    #[error("a certificate needs a key and a key a certificate")]
    HalfAnIdentity,
    /// A certificate or key could not be read.
    #[error("cannot use the certificates for `{address}`: {said}")]
    Certificates {
        /// The address.
        address: String,
        /// What is wrong.
        said: String,
    },
    /// The token would travel for all to read.
    #[error(
        "`{address}` is on another machine and not encrypted, so that the token would travel for all to read"
    )]
    Plaintext {
        /// The address.
        address: String,
    },
    /// The token cannot be sent.
    #[error("the token holds characters that cannot be sent")]
    Token,
    /// No address was given.
    #[error("no executor is named")]
    Nobody,
}

impl ConnectError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Address { .. } => "write it as http://HOST:PORT or https://HOST:PORT",
            Self::Authority { .. } => "let ORDAIN_EXECUTOR_CA name the file",
            Self::HalfAnIdentity => "set both ORDAIN_EXECUTOR_CLIENT_CERT and ORDAIN_EXECUTOR_CLIENT_KEY",
            Self::Certificates { .. } => "all files are PEM",
            Self::Plaintext { .. } => {
                "use https:// and ORDAIN_EXECUTOR_CA, or ORDAIN_EXECUTOR_ALLOW_PLAINTEXT=true on a network that encrypts by itself"
            }
            Self::Token => "a token has only visible ASCII characters",
            Self::Nobody => "name one or several, separated by commas",
        };
        Some(hint.to_owned())
    }
}

/// Puts the token into every call, and where the caller stands in its trace.
#[derive(Debug, Clone)]
pub(crate) struct Credentials(Option<MetadataValue<Ascii>>);

impl Interceptor for Credentials {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        trace::hand_on(|name, value| {
            if let Ok(value) = value.parse() {
                request.metadata_mut().insert(name, value);
            }
        });
        Ok(request)
    }
}

/// The clients of an executor, each with a connection of its own.
pub(super) fn clients(address: &str, options: &RemoteOptions) -> Result<Vec<Client>, ConnectError> {
    let endpoint = endpoint(address, options)?;
    let credentials = Credentials(match &options.token {
        None => None,
        Some(token) => {
            let mut value: MetadataValue<Ascii> =
                format!("Bearer {token}").parse().map_err(|_| ConnectError::Token)?;
            value.set_sensitive(true);
            Some(value)
        }
    });
    let client = |_| {
        let channel = InterceptedService::new(endpoint.connect_lazy(), credentials.clone());
        ExecutorClient::new(channel)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    };
    Ok((0..options.connections.max(1)).map(client).collect())
}

fn endpoint(address: &str, options: &RemoteOptions) -> Result<Endpoint, ConnectError> {
    let wrong = || ConnectError::Address { address: address.chars().take(200).collect() };
    let is_encrypted = address.starts_with("https://");
    if !is_encrypted && !address.starts_with("http://") {
        return Err(wrong());
    }
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|_| wrong())?;
    // A password in an address would end up in logs and errors.
    if endpoint.uri().host().is_none_or(str::is_empty) || address.contains('@') {
        return Err(wrong());
    }
    let endpoint = endpoint
        .connect_timeout(CONNECT_TIME_MAX)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(8 << 20);
    if !is_encrypted {
        let is_exposed = options.token.is_some() && !options.allow_plaintext;
        if is_exposed && !endpoint.uri().host().is_some_and(is_this_machine) {
            return Err(ConnectError::Plaintext { address: address.to_owned() });
        }
        return Ok(endpoint);
    }
    let said = |said: String| ConnectError::Certificates { address: address.to_owned(), said };
    endpoint.tls_config(tls(address, &options.tls)?).map_err(|error| {
        let source = std::error::Error::source(&error);
        said(source.map_or_else(|| error.to_string(), ToString::to_string))
    })
}

/// Whether what is sent to a host stays on this machine.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn tls(address: &str, files: &RemoteTls) -> Result<ClientTlsConfig, ConnectError> {
    let read = |path: &PathBuf| {
        fs_err::read(path).map_err(|error| ConnectError::Certificates {
            address: address.to_owned(),
            said: error.to_string(),
        })
    };
    let ca = files.ca.as_ref().ok_or_else(|| ConnectError::Authority { address: address.to_owned() })?;
    let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca)?));
    config = match (&files.certificate, &files.key) {
        (None, None) => config,
        (Some(certificate), Some(key)) => config.identity(Identity::from_pem(read(certificate)?, read(key)?)),
        _ => return Err(ConnectError::HalfAnIdentity),
    };
    Ok(match &files.domain {
        Some(domain) => config.domain_name(domain),
        None => config,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_is_read_strictly() {
        let options = RemoteOptions::default();
        for good in ["http://127.0.0.1:50051", "http://[::1]:50051", "http://executor.internal:9"] {
            assert!(clients(good, &options).is_ok(), "{good}");
        }
        for bad in
            ["", "127.0.0.1:50051", "ftp://x:1", "http://", "http://user:secret@host:1", "http://a b:1"]
        {
            assert!(matches!(clients(bad, &options), Err(ConnectError::Address { .. })), "{bad}");
        }
        let no_authority = clients("https://127.0.0.1:50051", &options).unwrap_err();
        assert!(matches!(no_authority, ConnectError::Authority { .. }));
    }

    #[test]
    fn a_token_does_not_show_itself() {
        let options = RemoteOptions { token: Some("secret".to_owned()), ..RemoteOptions::default() };
        assert!(!format!("{options:?}").contains("secret"));
    }
}
