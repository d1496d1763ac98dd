//! Opens a place for callers: an address, or a socket in a folder.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixSocket};

/// Callers that may wait in the system's queue until they are accepted. The usual 128 is less than a burst of callers,
/// and a client that finds no place there tries again only after a second. The system may set a smaller number.
const WAITING_MAX: u32 = 4096;
/// What a socket in a folder is written with.
const UNIX: &str = "unix:";

/// Where callers come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address of the network.
    Tcp(SocketAddr),
    /// A socket in a folder, which programs of the same user can open and nobody else.
    Unix(PathBuf),
}

impl Address {
    /// Whether programs of this machine alone can come to it.
    pub fn is_of_this_machine(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// Where a client finds it.
    pub fn url(&self) -> String {
        match self {
            Self::Tcp(address) => format!("http://{address}"),
            Self::Unix(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(UNIX) {
            Some(path) if Path::new(path).is_absolute() => Ok(Self::Unix(PathBuf::from(path))),
            Some(_) => Err(format!("write a whole path, such as {UNIX}/run/ordain/socket")),
            None => text
                .parse()
                .map(Self::Tcp)
                .map_err(|_| format!("write an address such as 127.0.0.1:8000, or {UNIX}/PATH")),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// A place that is open.
#[derive(Debug)]
pub enum Listener {
    /// At an address.
    Tcp(TcpListener),
    /// At a socket in a folder.
    Unix(UnixListener, SocketFile),
}

/// The name of a socket, which goes when its server does.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A name that is left behind is replaced by the next server.
        let _ = fs_err::remove_file(&self.0);
    }
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

/// A connection of either kind.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Connection for S {}

impl Listener {
    /// Where it is: port 0 has become a free one.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => Ok(Address::Tcp(listener.local_addr()?)),
            Self::Unix(_, file) => Ok(Address::Unix(file.0.clone())),
        }
    }

    /// The next caller, and the address that it comes from.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Connection>, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                // An answer is written at once, so waiting to fill a packet would only delay it.
                let _ = stream.set_nodelay(true);
                Ok((Box::new(stream), Some(from.ip())))
            }
            Self::Unix(listener, _) => Ok((Box::new(listener.accept().await?.0), None)),
        }
    }
}

/// Listens at a place.
pub fn listen_at(address: &Address) -> io::Result<Listener> {
    match address {
        Address::Tcp(address) => listen(*address).map(Listener::Tcp),
        Address::Unix(path) => {
            remove_left_behind(path)?;
            let socket = UnixSocket::new_stream()?;
            socket.bind(path)?;
            let file = SocketFile(path.clone());
            // Nobody can connect before `listen`.
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            Ok(Listener::Unix(socket.listen(WAITING_MAX)?, file))
        }
    }
}

/// Takes away the name of a socket at which nobody listens any more, and nothing else.
fn remove_left_behind(path: &Path) -> io::Result<()> {
    let is_socket = fs_err::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(is_refused) {
        fs_err::remove_file(path)?;
    }
    Ok(())
}

/// Listens on an address; port 0 takes a free one.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that is started again finds its port free at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for text in ["127.0.0.1:8000", "[::1]:0", "unix:/run/ordain/socket"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for wrong in ["", "8000", "unix:", "unix:here/socket", "localhost:8000"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_socket_that_was_left_behind_is_replaced_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = Address::Unix(path.clone());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let listener = listen_at(&address).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(listen_at(&address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        assert!(!path.exists());
        fs_err::write(&path, "mine").unwrap();
        listen_at(&address).unwrap_err();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "mine");
    }
}
