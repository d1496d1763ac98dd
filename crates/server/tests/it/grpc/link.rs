//! A link between a caller and an executor that a test can cut.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes bytes on until it is cut. What comes after a cut is refused, until it is mended.
pub(crate) struct Link {
    pub(crate) address: SocketAddr,
    is_cut: Arc<watch::Sender<bool>>,
}

impl Link {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let is_cut = Arc::new(watch::channel(false).0);
        let cuts = Arc::clone(&is_cut);
        tokio::spawn(async move {
            while let Ok((here, _)) = listener.accept().await {
                if !*cuts.borrow() {
                    tokio::spawn(pass_on(here, target, cuts.subscribe()));
                }
            }
        });
        Self { address, is_cut }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Something that cuts the link.
    pub(crate) fn cutter(&self) -> impl Fn() + Send + Sync + 'static {
        let is_cut = Arc::clone(&self.is_cut);
        move || {
            is_cut.send_replace(true);
        }
    }

    pub(crate) fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    pub(crate) fn mend(&self) {
        self.is_cut.send_replace(false);
    }
}

async fn pass_on(mut here: TcpStream, target: SocketAddr, mut is_cut: watch::Receiver<bool>) {
    let Ok(mut there) = TcpStream::connect(target).await else { return };
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut here, &mut there) => {}
        _ = is_cut.wait_for(|is_cut| *is_cut) => {}
    }
}
