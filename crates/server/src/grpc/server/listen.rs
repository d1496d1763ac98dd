//! Accepts connections: so many at once and no more, and each has to come to its point in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::ServeOptions;
use super::caller::Peer;
use super::tls::Tls;

/// How long to wait when the machine has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// What every HTTP/2 connection begins with.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection, plain or encrypted.
pub(crate) struct Connection {
    bytes: Bytes,
    /// The part of the preface that has not been read again yet.
    preface: &'static [u8],
    peer: Peer,
    _place: OwnedSemaphorePermit,
}

enum Bytes {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// What connections may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    connections_max: usize,
    handshake_max: Duration,
}

impl Bounds {
    pub(crate) fn of(options: &ServeOptions) -> Self {
        Self { connections_max: options.connections_max, handshake_max: options.handshake_max }
    }
}

/// Accepts connections until the receiver is dropped.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    bounds: Bounds,
    accepted: mpsc::Sender<io::Result<Connection>>,
) {
    let places = Arc::new(Semaphore::new(bounds.connections_max));
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
            let shaken =
                tokio::time::timeout(bounds.handshake_max, shake_hands(stream, tls.as_deref(), place));
            // A handshake that fails is dropped: no caller is known yet.
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
    let (bytes, certificate) = match tls {
        None => (Bytes::Plain(stream), None),
        Some(tls) => {
            let stream = tls.acceptor().accept(stream).await?;
            let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let certificate = shown.map(|certificate| fingerprint(certificate));
            (Bytes::Encrypted(Box::new(stream)), certificate)
        }
    };
    let mut connection = Connection { bytes, preface: &[], peer: Peer { certificate }, _place: place };
    // A client that opens a connection and says nothing would otherwise hold its place for ever.
    let mut said = [0; PREFACE.len()];
    connection.read_exact(&mut said).await?;
    if said != *PREFACE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    connection.preface = PREFACE;
    Ok(connection)
}

fn fingerprint(certificate: &[u8]) -> String {
    ordain_types::hex(&Sha256::digest(certificate)[..16])
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
        if !self.preface.is_empty() {
            let (now, later) = self.preface.split_at(buffer.remaining().min(self.preface.len()));
            buffer.put_slice(now);
            self.preface = later;
            return Poll::Ready(Ok(()));
        }
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
