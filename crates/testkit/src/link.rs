//! A connection between two processes that a test can cut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Passes bytes on to a port of this machine until it is cut. What comes after a cut is refused, until it is mended.
#[derive(Debug)]
pub struct Link {
    /// Where it is reached.
    pub address: SocketAddr,
    /// The open connections; nothing while it is cut.
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Link {
    /// A link to a port.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn to(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, open) = (listener.local_addr()?, Arc::new(Mutex::new(Some(Vec::new()))));
        let accepted = Arc::clone(&open);
        thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                // Either side may be gone already; then there is nothing to pass on.
                let _ = pass_on(here, port, &accepted);
            }
        });
        Ok(Self { address, open })
    }

    /// Ends the open connections, and takes no new ones.
    pub fn cut(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        for stream in open.into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Takes connections again.
    pub fn mend(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    }
}

fn pass_on(here: TcpStream, port: u16, open: &Mutex<Option<Vec<TcpStream>>>) -> io::Result<()> {
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(open) = open.as_mut() else { return Ok(()) };
    let there = TcpStream::connect(("127.0.0.1", port))?;
    open.extend([here.try_clone()?, there.try_clone()?]);
    for (from, to) in [(here.try_clone()?, there.try_clone()?), (there, here)] {
        thread::spawn(move || {
            let _ = io::copy(&mut &from, &mut &to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}
