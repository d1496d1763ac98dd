//! Shows a program's output as it comes.

use std::io::{self, IsTerminal, Write};

use ordain_cell::{Output, Stream};

/// Passes output on to this process's own streams. On a terminal, control characters are shown instead of obeyed:
/// the program's text is hostile and could otherwise forge what the user sees.
#[derive(Debug)]
pub(super) struct Live {
    is_stdout_terminal: bool,
    is_stderr_terminal: bool,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            is_stdout_terminal: io::stdout().is_terminal(),
            is_stderr_terminal: io::stderr().is_terminal(),
        }
    }
}

impl Output for Live {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        // A reader that went away has seen enough; the execution still holds everything.
        let _ = match stream {
            Stream::Stdout => pass_on(&mut io::stdout().lock(), bytes, self.is_stdout_terminal),
            Stream::Stderr => pass_on(&mut io::stderr().lock(), bytes, self.is_stderr_terminal),
        };
    }
}

fn pass_on(to: &mut dyn Write, bytes: &[u8], is_terminal: bool) -> io::Result<()> {
    if is_terminal {
        to.write_all(&harmless(bytes))?
    } else {
        to.write_all(bytes)?
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
