//! Accepts connections: so many at once and no more, and each has to come to its point in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::caller::Peer;
use super::tls::Tls;

/// How long a caller may take to shake hands.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// How long to wait when the machine has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection, plain or encrypted.
pub(crate) struct Connection {
    bytes: Bytes,
    peer: Peer,
    _place: OwnedSemaphorePermit,
}

enum Bytes {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Accepts connections until the receiver is dropped.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    connections_max: usize,
    accepted: mpsc::Sender<io::Result<Connection>>,
) {
    let places = Arc::new(Semaphore::new(connections_max));
    // While all places are taken, further callers wait in the kernel's queue and cost nothing here.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let stream = tokio::select! {
            stream = listener.accept() => stream,
            () = accepted.closed() => return,
        };
        let Ok((stream, _)) = stream else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (tls, accepted) = (tls.clone(), accepted.clone());
        tokio::spawn(async move {
            let shaken = tokio::time::timeout(HANDSHAKE_TIME_MAX, shake_hands(stream, tls.as_deref(), place));
            // Whoever does not manage that is nobody to tell.
            if let Ok(Ok(connection)) = shaken.await {
                let _ = accepted.send(Ok(connection)).await;
            }
        });
    }
}

async fn shake_hands(
    stream: TcpStream,
    tls: Option<&Tls>,
    place: OwnedSemaphorePermit,
) -> io::Result<Connection> {
    // Host calls are small and each waits for its answer.
    stream.set_nodelay(true)?;
    let Some(tls) = tls else {
        let peer = Peer { certificate: None };
        return Ok(Connection { bytes: Bytes::Plain(stream), peer, _place: place });
    };
    let stream = tls.acceptor().accept(stream).await?;
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    let certificate = shown.map(|certificate| fingerprint(certificate));
    let peer = Peer { certificate };
    Ok(Connection { bytes: Bytes::Encrypted(Box::new(stream)), peer, _place: place })
}

fn fingerprint(certificate: &[u8]) -> String {
    Sha256::digest(certificate).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.bytes {
            Bytes::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Bytes::Encrypted(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.bytes {
            Bytes::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Bytes::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.bytes {
            Bytes::Plain(stream) => Pin::new(stream).poll_flush(context),
            Bytes::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.bytes {
            Bytes::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Bytes::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
