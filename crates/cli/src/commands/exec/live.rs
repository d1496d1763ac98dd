//! Shows a program's output as it comes.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc;

use ordain_cell::{Output, Stream};
use tokio::sync::oneshot;

/// Passes output on to this process's own streams. On a terminal, control characters are shown instead of obeyed:
/// the program's text is hostile and could otherwise forge what the user sees.
///
/// A thread of its own writes, because a reader that pauses may hold up a write for as long as it likes, and neither
/// the program's limits nor Ctrl-C may wait for that. What it has not written yet is at most the limit of output.
#[derive(Debug, Default)]
pub(super) struct Live {
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    pieces: mpsc::Sender<(Stream, Vec<u8>)>,
    done: oneshot::Receiver<()>,
}

impl Live {
    /// Waits until everything is written.
    pub(super) async fn finish(self) {
        if let Some(Writer { pieces, done }) = self.writer {
            drop(pieces);
            let _ = done.await;
        }
    }
}

impl Output for Live {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let writer = self.writer.get_or_insert_with(start_writer);
        // A writer that is gone has told nobody, and the execution still holds everything.
        let _ = writer.pieces.send((stream, bytes.to_owned()));
    }
}

fn start_writer() -> Writer {
    let (pieces, received) = mpsc::channel::<(Stream, Vec<u8>)>();
    let (is_done, done) = oneshot::channel();
    std::thread::spawn(move || {
        let is_stdout_terminal = io::stdout().is_terminal();
        let is_stderr_terminal = io::stderr().is_terminal();
        for (stream, bytes) in received {
            // A reader that went away has seen enough; the execution still holds everything.
            let _ = match stream {
                Stream::Stdout => pass_on(&mut io::stdout().lock(), &bytes, is_stdout_terminal),
                Stream::Stderr => pass_on(&mut io::stderr().lock(), &bytes, is_stderr_terminal),
            };
        }
        let _ = is_done.send(());
    });
    Writer { pieces, done }
}

fn pass_on(to: &mut dyn Write, bytes: &[u8], is_terminal: bool) -> io::Result<()> {
    if is_terminal {
        to.write_all(&harmless(bytes))?;
    } else {
        to.write_all(bytes)?;
    }
    to.flush()
}

/// The bytes with every control character but newline and tab made visible, as in `^[`.
fn harmless(bytes: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\n' | b'\t' => shown.push(*byte),
            b'\r' => {}
            0..0x20 => shown.extend([b'^', byte + 0x40]),
            0x7f => shown.extend(b"^?"),
            _ => shown.push(*byte),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        assert_eq!(harmless(b"a\x1b[2Jb\r\n\tc\x7f"), b"a^[[2Jb\n\tc^?");
    }
}
