//! Messages with descriptors on a local socket that keeps message boundaries: how a supervisor speaks to its zygote, and a
//! command to the resident helper.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ordain_lockdown::control::{MESSAGE_BYTES, Report};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The most descriptors that come with one message.
const DESCRIPTORS_MAX: usize = 9;

/// A message and the descriptors that came with it.
#[derive(Debug)]
pub(crate) struct Received {
    bytes: [u8; MESSAGE_BYTES],
    length: usize,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Received {
    /// The message itself.
    pub(crate) fn message(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Two connected sockets. The runtime can watch the first.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}

/// The runtime watches any stream-like socket as a stream; messages are read from it by `recvmsg` alone.
pub(crate) fn watched(socket: OwnedFd) -> io::Result<UnixStream> {
    UnixStream::from_std(std::os::unix::net::UnixStream::from(socket))
}

/// Sends a message with descriptors.
pub(crate) fn send(socket: BorrowedFd<'_>, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next message; `None` when the other side is gone.
pub(crate) async fn receive(socket: &UnixStream) -> io::Result<Option<Received>> {
    loop {
        socket.readable().await?;
        match socket.try_io(Interest::READABLE, || receive_now(socket.as_fd())) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            received => return received,
        }
    }
}

/// The next report and its descriptors; `None` when the other side is gone.
pub(crate) async fn receive_report(socket: &UnixStream) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let Some(received) = receive(socket).await? else { return Ok(None) };
    let report = Report::decode(received.message()).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((report, received.descriptors)))
}

fn receive_now(socket: BorrowedFd<'_>) -> io::Result<Option<Received>> {
    let mut bytes = [0; MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let pieces = &mut [IoSliceMut::new(&mut bytes)];
    let length = rustix::net::recvmsg(socket, pieces, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes;
    let mut descriptors = Vec::new();
    for item in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = item {
            descriptors.extend(rights);
        }
    }
    Ok((length > 0).then_some(Received { bytes, length, descriptors }))
}
