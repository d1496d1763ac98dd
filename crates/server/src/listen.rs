//! Opens an address for callers.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// Callers that may wait in the system's queue until they are accepted. The usual 128 is less than a burst of callers,
/// and a client that finds no place there tries again only after a second. The system may set a smaller number.
const WAITING_MAX: u32 = 4096;

/// Listens on an address; port 0 takes a free one.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that is started again finds its port free at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}
