//! Listeners that hear whatever a program manages to send.
//!
//! Each is tried by the runner itself, before a round and before every look at what was heard: an ear that does not
//! hear would report silence for ever.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Where the listeners on the network are.
const ADDRESS: &str = "127.0.0.1:47131";
/// The name of the abstract socket.
const ABSTRACT: &str = "attack-canary";
/// How long another round may hold the address.
const BIND_TIME_MAX: Duration = Duration::from_mins(5);
/// How long a listener may take to hear the runner.
const HEAR_TIME_MAX: Duration = Duration::from_mins(1);
/// How long a connection may stay silent before it is taken for what it is.
const SILENCE: Duration = Duration::from_millis(200);

/// What was heard, by whom.
#[derive(Debug, Default)]
struct Heard {
    foreign: Vec<String>,
    own: usize,
}

type Ears = Arc<(Mutex<Heard>, Condvar)>;

/// The listeners of a round.
#[derive(Debug)]
pub(super) struct Listeners {
    ears: Ears,
    socket: PathBuf,
    token: String,
}

/// Something that takes connections.
trait Accept: Send + 'static {
    fn accept_one(&self) -> std::io::Result<Box<dyn Read>>;
}

impl Accept for TcpListener {
    fn accept_one(&self) -> std::io::Result<Box<dyn Read>> {
        let (stream, _) = self.accept()?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Box::new(stream))
    }
}

impl Accept for UnixListener {
    fn accept_one(&self) -> std::io::Result<Box<dyn Read>> {
        let (stream, _) = self.accept()?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Box::new(stream))
    }
}

impl Listeners {
    /// Holds the round's address, waiting until an earlier round has let it go. One round runs at a time: they share
    /// this address and the canary's folder.
    pub(super) fn bind() -> Result<TcpListener> {
        let started = Instant::now();
        loop {
            match TcpListener::bind(ADDRESS) {
                Ok(listener) => return Ok(listener),
                Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error).context(format!("failed to listen on {ADDRESS}")),
            }
            if started.elapsed() > BIND_TIME_MAX {
                bail!(
                    "{ADDRESS} is in use\nhint: wait for the other round to end, or end what listens there"
                );
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Starts all of them. Only the runner itself knows the token.
    pub(super) fn start(tcp: TcpListener, socket: &Path, token: String) -> Result<Self> {
        let ears = Ears::default();
        let udp = UdpSocket::bind(ADDRESS).context("failed to listen for datagrams")?;
        let unix = UnixListener::bind(socket).context("failed to listen on the canary's socket")?;
        let unnamed = UnixListener::bind_addr(&SocketAddr::from_abstract_name(ABSTRACT)?)
            .context("failed to listen on the abstract socket")?;
        listen("tcp", tcp, &ears, &token);
        listen("unix", unix, &ears, &token);
        listen("abstract", unnamed, &ears, &token);
        listen_datagrams(udp, &ears, &token);
        let listeners = Self { ears, socket: socket.to_owned(), token };
        listeners.heard().context("the listeners do not hear")?;
        Ok(listeners)
    }

    /// What anybody but the runner sent since the last call.
    pub(super) fn heard(&self) -> Result<Vec<String>> {
        self.lock().own = 0;
        let token = self.token.as_bytes();
        TcpStream::connect(ADDRESS)?.write_all(token)?;
        UnixStream::connect(&self.socket)?.write_all(token)?;
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(ABSTRACT)?)?.write_all(token)?;
        UdpSocket::bind("127.0.0.1:0")?.send_to(token, ADDRESS)?;
        // Each listener takes things in the order in which they came, so having heard the runner it has heard all
        // that came before.
        let waited = |heard: &mut Heard| heard.own < 4;
        let (mut heard, time) = self
            .ears
            .1
            .wait_timeout_while(self.lock(), HEAR_TIME_MAX, waited)
            .unwrap_or_else(PoisonError::into_inner);
        if time.timed_out() {
            bail!("only {} of 4 listeners heard the runner itself", heard.own);
        }
        Ok(std::mem::take(&mut heard.foreign))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.ears.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listen(name: &'static str, listener: impl Accept, ears: &Ears, token: &str) {
    let (ears, token) = (Arc::clone(ears), token.to_owned());
    std::thread::spawn(move || {
        while let Ok(mut stream) = listener.accept_one() {
            let mut said = vec![0; token.len()];
            // A client that connects and says nothing, or not enough, is not the runner.
            let is_own = stream.read_exact(&mut said).is_ok() && said == token.as_bytes();
            note(&ears, is_own, name);
        }
    });
}

fn listen_datagrams(socket: UdpSocket, ears: &Ears, token: &str) {
    let (ears, token) = (Arc::clone(ears), token.to_owned());
    std::thread::spawn(move || {
        let mut datagram = [0; 256];
        while let Ok(length) = socket.recv(&mut datagram) {
            note(&ears, &datagram[..length] == token.as_bytes(), "udp");
        }
    });
}

fn note(ears: &Ears, is_own: bool, name: &str) {
    let mut heard = ears.0.lock().unwrap_or_else(PoisonError::into_inner);
    if is_own {
        heard.own += 1;
    } else {
        heard.foreign.push(name.to_owned());
    }
    ears.1.notify_all();
}
